/**
 * Models of a capacitor around an unfair lock. The ops do what src/algorithms/capacitor-lock.ts does around the core.
 *
 *     L  lock: arrive, then the inner lock        U  unlock, if locked: the inner lock, then depart
 *     K  lock, with whenContended                 D  dispose of the capacitor
 *     Y  tryLock                                  X  depart with nobody inside: refused
 *
 * At every step the lock has at most one owner, and no more threads than the bound have overtaken a waiter, that is,
 * have got the lock before it with a later ticket. At the end nobody is inside.
 */

import { Violation } from '../engine/search/violation.js';
import {
  ADMITTED,
  ANSWER_CLOSED,
  ANSWER_NOT_HELD,
  constant,
  GRANT,
  O_OWNER,
  OBJECT_SIZE,
  REFUSED,
  TICKET,
} from '../scene/layout.js';
import type { Model, Op } from '../scene/model.js';
import type { Scene } from '../scene/scene.js';
import { GOT, LOCAL, PHASE, PROMISES } from '../scene/words.js';
import { closed, digits, without, word } from './locks.js';
import { partsOf } from './program.js';

/** The owner of the inner lock: thread + 1. */
export const HOLDER = PROMISES;
/** The threads with a ticket and without the lock, in the order of the tickets: thread + 1, 4 bits each. */
const QUEUE = PROMISES + 1;
/** How often each of them has been overtaken: 4 bits for each thread. */
const PASSED = PROMISES + 2;

const MORE = constant('MORE');
const O_DEPARTED = constant('O_DEPARTED');
const KIND = constant('KIND_CAPACITOR');
const ON_GRANT = -1;

interface Line {
  readonly name: string;
  readonly program: string;
  readonly bypass: number;
  /** How often a waiter may be overtaken; bypass - 1 by default. */
  readonly bound?: number;
  readonly threshold?: number;
  readonly lanes?: number;
  readonly spin?: number;
  readonly first?: bigint;
  readonly buckets?: 1 | 2;
  readonly long?: boolean;
}

export function capacitorOf(scene: Scene): number {
  return ([...scene.watched][0] as number) - TICKET;
}

export function innerOf(scene: Scene): number {
  return capacitorOf(scene) + OBJECT_SIZE;
}

function laneOf(scene: Scene, i: number): number {
  return innerOf(scene) + (1 + i) * OBJECT_SIZE;
}

/** The thread has taken a ticket: it stands behind the others that have. */
export function arrived(scene: Scene, t: number): void {
  const queue = scene.get(0, QUEUE);
  scene.set(0, QUEUE, queue + (t + 1) * 16 ** digits(queue).filter((d) => d !== 0).length);
}

export function admitted(scene: Scene, t: number, bound: number): void {
  const holder = scene.get(0, HOLDER);
  if (holder !== 0) throw new Violation(`threads ${holder - 1} and ${t} both hold the lock`);
  scene.set(0, HOLDER, t + 1);
  const queue = scene.get(0, QUEUE);
  for (const who of digits(queue)) {
    if (who === t + 1 || who === 0) break;
    const passed = scene.get(0, PASSED) + 16 ** (who - 1);
    scene.set(0, PASSED, passed);
    if (((passed >> (4 * (who - 1))) & 15) > bound)
      throw new Violation(`thread ${who - 1} is overtaken more than ${bound} times`);
  }
  scene.set(0, QUEUE, without(queue, t + 1));
  scene.set(0, PASSED, scene.get(0, PASSED) & ~(15 << (4 * t)));
}

/** The phases of an op. */
const IDLE = 1;
const TRY_INNER = 2;
const ARRIVE = 3;
const AWAIT = 4;
const TRY_ARRIVE = 5;
const INNER = 6;
const OWN = 7;
const DEPART = 8;
const DISOWN = 9;
const UNLOCK = 10;
const OPEN = 11;

/** How a thread got the lock: through the capacitor, or past it. */
const ARRIVED = 1;
const PAST = 2;

function locking(letter: string, lanes: number, bound: number): Op {
  const trying = letter === 'Y';
  return {
    text: { L: 'lock', K: 'lock when contended', Y: 'tryLock' }[letter] as string,
    next(scene, t) {
      const at = capacitorOf(scene);
      const answer = scene.result(t);
      const call = (phase: number, name: string, ...args: number[]): false => {
        scene.set(t, PHASE, phase);
        scene.call(t, name, ...args);
        return false;
      };
      const arrive = (): false => {
        if (trying) return call(TRY_ARRIVE, 'capacitorTryArrive', at);
        if (lanes === 0) return call(ARRIVE, 'capacitorArrive', at);
        return call(ARRIVE, 'capacitorArriveInLanes', at, lanes);
      };
      const got = (how: number): false => {
        admitted(scene, t, bound);
        scene.set(t, GOT, how);
        return call(OWN, 'capacitorOwn', at, how === ARRIVED ? 1 : 0);
      };
      const inner = (): false => call(INNER, trying ? 'ttsTryLock' : 'ttsLock', innerOf(scene));
      const refused = (): true => {
        if (answer !== ANSWER_CLOSED && answer !== REFUSED) throw new Violation(`thread ${t} is answered ${answer}`);
        if (answer === ANSWER_CLOSED && !closed(scene, at))
          throw new Violation(`thread ${t} learns that the capacitor is closed`);
        scene.set(0, QUEUE, without(scene.get(0, QUEUE), t + 1));
        scene.set(0, PASSED, scene.get(0, PASSED) & ~(15 << (4 * t)));
        return true;
      };
      switch (scene.get(t, PHASE)) {
        case 0:
          return letter === 'K' ? call(IDLE, 'capacitorIsIdle', at) : arrive();
        case IDLE:
          return answer === 1 ? call(TRY_INNER, 'ttsTryLock', innerOf(scene)) : arrive();
        case TRY_INNER:
          return answer === ADMITTED ? got(PAST) : arrive();
        case ARRIVE:
          if (answer > 0) return call(AWAIT, 'capacitorAwait', laneOf(scene, answer - 1));
          return answer === ADMITTED ? inner() : refused();
        case AWAIT:
        case TRY_ARRIVE:
          return answer === ADMITTED ? inner() : refused();
        case INNER:
          if (answer === ADMITTED) return got(ARRIVED);
          if (answer !== REFUSED) throw new Violation(`thread ${t} is answered ${answer} by the inner lock`);
          refused();
          return departing(scene, t, lanes);
        case OWN:
          return true;
        default:
          return departing(scene, t, lanes);
      }
    },
  };
}

/** Departs. Returns true when that is done. */
function departing(scene: Scene, t: number, lanes: number): boolean {
  const at = capacitorOf(scene);
  const answer = scene.result(t);
  const phase = scene.get(t, PHASE);
  if (phase !== DEPART && phase !== OPEN) {
    scene.set(t, PHASE, DEPART);
    scene.call(t, lanes === 0 ? 'capacitorDepart' : 'capacitorDepartFromLanes', at);
    return false;
  }
  if (phase === DEPART) {
    if (answer === ADMITTED) return true;
    if (answer !== MORE || lanes === 0) throw new Violation(`thread ${t}'s departure is answered ${answer}`);
    scene.set(t, PHASE, OPEN);
  }
  const i = scene.get(t, LOCAL);
  if (i === lanes) return true;
  scene.set(t, LOCAL, i + 1);
  scene.call(t, 'capacitorOpenLane', at, laneOf(scene, i), i, lanes);
  return false;
}

function unlocking(lanes: number): Op {
  return {
    text: 'unlock',
    next(scene, t) {
      const held = scene.get(t, GOT);
      switch (scene.get(t, PHASE)) {
        case 0:
          if (held === 0) return true;
          scene.set(0, HOLDER, 0);
          scene.set(t, PHASE, DISOWN);
          scene.call(t, 'capacitorDisown', capacitorOf(scene));
          return false;
        case DISOWN:
          if (scene.result(t) !== (held === ARRIVED ? 1 : 0))
            throw new Violation(`thread ${t} forgets how it has got the lock: ${scene.result(t)}`);
          scene.set(t, PHASE, UNLOCK);
          scene.call(t, 'ttsUnlock', innerOf(scene));
          return false;
        case UNLOCK:
          if (scene.result(t) !== ADMITTED) throw new Violation(`thread ${t} does not hold the inner lock`);
          scene.set(t, GOT, 0);
          if (held === PAST) return true;
      }
      return departing(scene, t, lanes);
    },
  };
}

function calling(text: string, name: string, lanes: number, expected?: number): Op {
  return {
    text,
    next(scene, t) {
      const phase = scene.get(t, PHASE);
      if (phase === 1 && expected !== undefined && scene.result(t) !== expected)
        throw new Violation(`thread ${t} is answered ${scene.result(t)}, not ${expected}`);
      if (phase > lanes) return true;
      scene.set(t, PHASE, phase + 1);
      scene.call(t, name, phase === 0 ? capacitorOf(scene) : laneOf(scene, phase - 1));
      return false;
    },
  };
}

function op(letter: string, lanes: number, bound: number): Op {
  if (letter === 'U') return unlocking(lanes);
  if (letter === 'D') return calling('dispose', 'capacitorDispose', lanes);
  if (letter === 'X') return calling('depart, nobody inside', 'capacitorDepart', 0, ANSWER_NOT_HELD);
  if ('LKY'.includes(letter)) return locking(letter, lanes, bound);
  throw new Error(`a capacitor's program has no ${letter}`);
}

export function capacitorModel(line: Line): Model {
  const { bypass, lanes = 0, bound = bypass - 1, spin = 0, first = 0n } = line;
  const threshold = line.threshold ?? ON_GRANT;
  const parts = partsOf(line.program);
  return {
    name: `Capacitor: ${line.name}`,
    program: 'algorithms',
    programs: parts.map((part) => part.split(/\s+/).map((letter) => op(letter, lanes, bound))),
    symmetric: parts,
    arena: { buckets: line.buckets ?? 1, elements: 1, objects: 2 + lanes },
    long: line.long ?? false,
    objects: (scene) => {
      scene.watched.add(scene.object(KIND, spin, threshold, bypass, first) + TICKET);
      scene.object(constant('KIND_TTS_LOCK'), 0, 0);
      for (let i = 0; i < lanes; i++) scene.object(KIND, spin, threshold, bypass, first);
    },
    written: (scene, t, address, before) => {
      if (word(scene, address) !== before) arrived(scene, t);
    },
    end: (scene) => {
      const at = capacitorOf(scene);
      if (word(scene, at + O_OWNER) !== 0 || word(scene, innerOf(scene)) !== 0)
        throw new Violation('somebody is said to hold the lock at the end');
      if (closed(scene, at)) return;
      const grant = word(scene, at + GRANT);
      const inside = word(scene, at + TICKET) - (grant - bypass) - word(scene, at + O_DEPARTED);
      if (inside !== 0) throw new Violation(`${inside} are said to be inside at the end`);
      for (let i = 0; i < lanes; i++) {
        if (word(scene, laneOf(scene, i) + GRANT) !== grant) throw new Violation(`lane ${i} is not as open`);
      }
    },
  };
}

const three = 'L U L U | L U L U | L U L U';
const WRAP = 2n ** 32n - 2n;

/** T threads, platoons of B: with T < B a thread can pass another several times, with T >= B threads have to wait. */
export const capacitors: readonly Model[] = (
  [
    { name: '2x1, B = 1', program: 'L U | L U', bypass: 1 },
    { name: '2x2, B = 1', program: 'L U L U | L U L U', bypass: 1 },
    { name: '2x1 polling, B = 1', program: 'L U | L U', bypass: 1, spin: 2 },
    { name: '2 lanes: 2x1, B = 1', program: 'L U | L U', bypass: 1, lanes: 2 },
    { name: '3x2, B = 1', program: three, bypass: 1, long: true },
    { name: '3x2, B = 2', program: three, bypass: 2, long: true },
    { name: '3x2, B = 3', program: three, bypass: 3, long: true },
    { name: '3x2, B = 4', program: three, bypass: 4, long: true },
    { name: '2x3, B = 2', program: 'L U L U L U | L U L U L U', bypass: 2 },
    { name: '2x4, B = 3', program: 'L U L U L U L U | L U L U L U L U', bypass: 3 },
    { name: 'polling', program: 'L U | L U | L U', bypass: 2, spin: 1 },
    { name: 'wrap', program: 'L U L U | L U L U', bypass: 2, first: WRAP },
    { name: 'try', program: 'L U | Y U Y U | L U', bypass: 2 },
    { name: 'misuse', program: 'X L U X', bypass: 2 },
    { name: 'dispose', program: 'L U | L U | D', bypass: 1 },
    ...[0, 1, 2].flatMap(
      (threshold) =>
        [
          { name: `twa ${threshold}: 2x1, B = 1`, program: 'L U | L U', bypass: 1, threshold },
          {
            name: `twa ${threshold}: 2x1, B = 2, 2 buckets`,
            program: 'L U | L U',
            bypass: 2,
            threshold,
            buckets: 2,
          },
          { name: `twa ${threshold}: 3x1, B = 1`, program: 'L U | L U | L U', bypass: 1, threshold },
          {
            name: `twa ${threshold}: 3x1 and 1, B = 2`,
            program: 'L U L U | L U | L U',
            bypass: 2,
            threshold,
            long: true,
          },
          {
            name: `twa ${threshold}: 4x1, B = 2, 2 buckets`,
            program: 'L U | L U | L U | L U',
            bypass: 2,
            threshold,
            buckets: 2,
            long: true,
          },
          { name: `twa ${threshold}: dispose`, program: 'L U | L U | D', bypass: 1, threshold },
        ] as const,
    ),
    { name: '1 lane: 3x1, B = 1', program: 'L U | L U | L U', bypass: 1, lanes: 1 },
    { name: '2 lanes: 3x2, B = 1', program: three, bypass: 1, lanes: 2, long: true },
    { name: '2 lanes: 3x2, B = 2', program: three, bypass: 2, lanes: 2, long: true },
    { name: '3 lanes: 3x1 and 1, B = 1', program: 'L U L U | L U | L U', bypass: 1, lanes: 3, long: true },
    {
      name: '2 lanes: wrap, polling',
      program: 'L U L U | L U L U',
      bypass: 1,
      lanes: 2,
      first: WRAP,
      spin: 1,
    },
    { name: '2 lanes: yielding', program: 'L U L U | L U L U', bypass: 1, lanes: 2, spin: -1 },
    { name: '2 lanes: dispose', program: 'L U | L U | D', bypass: 1, lanes: 2 },
    {
      name: 'when contended: 3x2, B = 1',
      program: 'K U K U | K U K U | K U K U',
      bypass: 1,
      bound: 2,
      long: true,
    },
    {
      name: 'when contended: 3x2, B = 2',
      program: 'K U K U | K U K U | K U K U',
      bypass: 2,
      bound: 3,
      long: true,
    },
    { name: 'when contended: try', program: 'K U | Y U Y U | K U', bypass: 1, bound: 2 },
  ] satisfies Line[]
).map(capacitorModel);
