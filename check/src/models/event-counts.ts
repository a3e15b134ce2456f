/**
 * Models of event counts and sequencers, which hold no permits. In the text of a program, bars stand between the
 * programs of two threads, as in program.ts. The ops are these:
 *
 *     A3  await(3)
 *     V2  advance(2)
 *     T   ticket()
 *     M   await of the ticket that T took
 *     P2  read(), which must answer 2
 *     C   read(), which must answer that the count is closed
 *     D   dispose
 *
 * When await returns, the count has reached the value for which the thread waited, or the count is closed. At the end
 * nobody sleeps.
 */

import { Violation } from '../engine/search/violation.js';
import { ADMITTED, ANSWER_CLOSED, C_HEAD, constant, GRANT, LINE, TICKET } from '../scene/layout.js';
import type { Model, Op } from '../scene/model.js';
import { call, dispose } from '../scene/ops/calls.js';
import type { Scene } from '../scene/scene.js';
import { GOT } from '../scene/words.js';
import { partsOf } from './parts/program.js';

const EVENT_COUNT = constant('KIND_EVENT_COUNT');
const WAKE_PASS = constant('WAKE_PASS');
const FOR_EVER = constant('FOR_EVER');
const FAR_PARKS = constant('FAR_PARKS');

function expectReached(answer: number, scene: Scene, value: number): void {
  if (scene.closed(0)) {
    if (answer !== ADMITTED && answer !== ANSWER_CLOSED) throw new Violation(`await is answered ${answer}`);
    return;
  }
  if (answer !== ADMITTED) throw new Violation(`await is answered ${answer}`);
  if (scene.grantMinus(0, value, 0) < 0) throw new Violation(`await(${value}) returns too early`);
}

function op(word: string): Op {
  const n = Number(word.slice(1) || 1);
  const at = (scene: Scene): number => scene.semaphores[0];
  switch (word[0]) {
    case 'A':
      return call(
        'eventAwait',
        (scene) => [at(scene), n, 0],
        (answer, scene) => expectReached(answer, scene, n),
      );
    case 'V':
      return call('eventAdvance', (scene) => [at(scene), n]);
    case 'P':
      return call(
        'eventRead',
        (scene) => [at(scene)],
        (answer) => {
          if (answer !== n) throw new Violation(`read answers ${answer}, not ${n}`);
        },
      );
    case 'C':
      return call(
        'eventRead',
        (scene) => [at(scene)],
        (_, scene, t) => {
          if (scene.machine.resultHi(t) >= 0) throw new Violation('read does not answer that the count is closed');
        },
      );
    case 'T':
      return call(
        'sequencerTicket',
        (scene) => [scene.semaphores[1]],
        (ticket, scene, t) => scene.set(t, GOT, ticket + 1),
      );
    case 'M':
      return call(
        'eventAwait',
        (scene, t) => [at(scene), scene.get(t, GOT) - 1, 0],
        (answer, scene, t) => {
          const ticket = scene.get(t, GOT) - 1;
          expectReached(answer, scene, ticket);
          // A thread whose await has returned is alone until it advances: no other thread may have advanced meanwhile.
          if (scene.grantMinus(0, ticket, 0) !== 0) throw new Violation(`two have ticket ${ticket}`);
          scene.set(t, GOT, 0);
        },
      );
    default:
      return dispose(0, 'eventDispose');
  }
}

interface More {
  readonly buckets?: number;
  readonly chains?: number;
  readonly long?: boolean;
  readonly threshold?: number;
  readonly spin?: number;
}

function model(name: string, program: string, more: More = {}): Model {
  const symmetric = partsOf(program);
  const programs = symmetric.map((part) => part.split(/\s+/).map(op));
  return {
    name: `event count: ${name}`,
    program: 'algorithms',
    programs,
    symmetric,
    arena: { buckets: more.buckets ?? 1, chains: more.chains ?? more.buckets ?? 1, elements: programs.length },
    long: more.long ?? false,
    leaves: true,
    objects: (scene) => {
      for (let t = 0; t < programs.length; t++) scene.callNow(t, 'prepare');
      const { threshold = 0, spin = 0 } = more;
      scene.semaphore({ permits: 0, kind: EVENT_COUNT, wake: WAKE_PASS, threshold, spin });
      scene.semaphore({ permits: 0, kind: constant('KIND_SEQUENCER') });
    },
    end: (scene) => {
      const { words } = scene.machine;
      for (let chain = scene.regions.chains; chain < scene.regions.buckets; chain += LINE) {
        if (words[(chain + C_HEAD) >> 2] !== 0) throw new Violation('a chain is not empty at the end');
      }
      const advanced = [...program.matchAll(/V(\d*)/g)].reduce((sum, [, n]) => sum + Number(n || 1), 0);
      if (!scene.closed(0) && words[(scene.semaphores[0] + GRANT) >> 2] !== advanced)
        throw new Violation(`the count is not ${advanced}`);
      const tickets = (program.match(/T/g) ?? []).length;
      if (words[(scene.semaphores[1] + TICKET) >> 2] !== tickets) throw new Violation(`not ${tickets} tickets`);
    },
  };
}

export const models: readonly Model[] = [
  model('two await one value', 'A1 | A1 | V1'),
  model('two values', 'A1 | A2 | V1 V1'),
  model('two values in one step', 'A1 | A2 | V2', { buckets: 2 }),
  model('a value passed over', 'A2 A3 | A1 | V3'),
  model('two advance', 'A2 | A1 | V1 | V1', { long: true }),
  model('in turn', 'A1 V1 A3 | V1 A2 V1', { buckets: 2 }),
  model('mutual exclusion by a sequencer', 'T M V1 | T M V1 | T M V1', { long: true }),
  model('read', 'V2 P2 D C'),
  model('two by a sequencer', 'T M V1 | T M V1'),
  model('dispose', 'A1 | A2 | D'),
  model('dispose and advance', 'A1 | V1 | D'),
  model('two values in one step, more chains than buckets', 'A1 | A2 | V2', { chains: 4 }),
  model('dispose, more chains than buckets', 'A1 | A2 | D', { chains: 4 }),
  // Near waiters.
  ...[1, 2].flatMap((threshold) => [
    model(`threshold ${threshold}: two values, polling`, 'A1 | A3 | V1 V1 V1', { threshold, spin: 1, long: true }),
    model(`threshold ${threshold}: two await one value`, 'A2 | A2 | V1 V1', { threshold, long: true }),
    model(`threshold ${threshold}: two values in one step`, 'A2 | A3 | V3', { threshold, buckets: 2 }),
    model(`threshold ${threshold}: mutual exclusion by a sequencer`, 'T M V1 | T M V1 | T M V1', {
      threshold,
      long: true,
    }),
    model(`threshold ${threshold}: two by a sequencer, spinning`, 'T M V1 | T M V1', { threshold, spin: FOR_EVER }),
    model(`threshold ${threshold}: dispose`, 'A1 | A3 | D', { threshold }),
  ]),
  model('far waiters park, near ones spin', 'A1 | A3 | V1 V1 V1', { threshold: 1 | FAR_PARKS, spin: FOR_EVER }),
];
