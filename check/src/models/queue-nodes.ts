/**
 * Models of the pools of queue nodes (core/papers/nodes.ts): threads that hold several locks at once.
 *
 *     L3  locks the third lock
 *     N3  locks the third lock, or is refused because no node is free
 *     U3  unlocks the third lock
 *     E   gives the nodes of the thread back, as at its end
 *
 * No two threads use one lock. At the end every node is clean, and is either in the pool of one thread or back in the
 * arena.
 */

import { Violation } from '../engine/search/violation.js';
import { ADMITTED, ANSWER_FULL, ANSWER_NOT_HELD, constant, TICKET } from '../scene/layout.js';
import type { Model, Op } from '../scene/model.js';
import { call } from '../scene/ops/calls.js';
import type { Scene } from '../scene/scene.js';
import { GOT } from '../scene/words.js';
import { checkNodes } from './locks.js';
import { partsOf } from './parts/program.js';

const lockOf = (scene: Scene, n: number): number => ([...scene.watched][n - 1] as number) - TICKET;

function op(text: string): Op {
  const n = Number(text.slice(1));
  switch (text[0]) {
    case 'L':
    case 'N':
      return call(
        'mcsLock',
        (scene) => [lockOf(scene, n)],
        (answer, scene, t) => {
          if (answer === ANSWER_FULL && text[0] === 'N') scene.set(t, GOT, 1);
          else if (answer !== ADMITTED) throw new Violation(`lock ${n} answers ${answer}`);
        },
      );
    case 'U':
      return call(
        'mcsUnlock',
        (scene) => [lockOf(scene, n)],
        (answer, scene, t) => {
          const expected = scene.get(t, GOT) === 1 ? ANSWER_NOT_HELD : ADMITTED;
          if (answer !== expected) throw new Violation(`unlock ${n} answers ${answer}`);
        },
      );
    default:
      return call('returnNodes', () => []);
  }
}

function model(name: string, program: string, elements: number): Model {
  const parts = partsOf(program);
  const locks = Math.max(...(program.match(/\d/g) ?? []).map(Number));
  return {
    name: `queue nodes: ${name}`,
    program: 'algorithms',
    programs: parts.map((part) => part.split(/\s+/).map(op)),
    arena: { buckets: 1, elements, objects: locks },
    aged: true,
    objects: (scene) => {
      for (let n = 0; n < locks; n++) scene.watched.add(scene.object(constant('KIND_MCS_LOCK'), 0, 0) + TICKET);
    },
    end: checkNodes,
  };
}

export const models: readonly Model[] = [
  model('of one lock', 'L1 U1 L1 U1 E', 1),
  model('of two locks', 'L1 L2 U1 U2 L2 L1 U2 U1', 2),
  model('more than a thread keeps', 'L1 L2 L3 L4 L5 L6 U1 U2 U3 U4 U5 U6 L1 L2 U1 U2 E', 6),
  model('of two threads', 'N1 U1 E | N2 U2 E', 1),
];
