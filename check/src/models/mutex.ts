/**
 * Models of the mutex. Programs as text, one thread between bars:
 *
 *     L lock     B lock with a time-out     T tryLock     U unlock what was locked     D dispose     S reap whoever dies
 *     a lockAsync     t the same with a signal     x abort the first of those     d the event loop, until no promise
 *     waits: what a promise has locked it unlocks, as a microtask
 *
 * What is checked besides what a scene checks: the lock goes from nobody to the thread that takes it, and back by
 * its owner alone; and from when it has taken its ticket a waiter, thread or promise, is overtaken no more often
 * than the bound says.
 */
import { ADMITTED, constant, QUEUED, REFUSED, TIMED_OUT } from '../scene/layout.js';
import { dispose, supervise } from '../scene/ops.js';
import { type Model, type Op, type Scene, Violation } from '../scene/scene.js';
import { PHASE } from '../scene/words.js';
import { abort, lockAsync, loop, unlocking } from './mutex-promises.js';
import { CONTENDED, expectClosed, HAS, has, M_WORD, mutex, STAGE, wrote } from './mutex-words.js';

const M_DIED = constant('M_DIED');
const M_CLOSED = constant('M_CLOSED');
const ELDEST = constant('ELDEST');
/** Bits of the word from here on count overtakings, and this many in the upper half of it. */
const COUNT_BIT = 3;

export interface MutexLine {
  readonly name: string;
  readonly program: string;
  readonly bypass: number;
  /** How often a waiter may be overtaken, if that is to be another bound than the mutex is made with. */
  readonly bound?: number;
  readonly spin?: number;
  readonly buckets?: 1 | 2;
  /** What overtakings begin at. */
  readonly count?: number;
  readonly long?: boolean;
  readonly mortal?: readonly number[];
  readonly undead?: boolean;
  readonly extra?: number;
  readonly forgets?: boolean;
  readonly preemptions?: number;
}

const begin = 0;
const tried = 1;
const queued = 2;
const parked = 3;
const competes = 4;
const givesUp = 5;
const forgoes = 6;

/** `lock()`; with a time-out every sleep may run out, and then it gives up. */
function lock(timed: boolean): Op {
  return {
    text: timed ? 'lock(timeout)' : 'lock',
    next(scene, t) {
      const m = mutex(scene);
      const attachment = scene.attachment(t, 0);
      const forEver = timed ? [1, 0] : [-1, -1];
      const go = (phase: number, name: string, ...args: number[]): false => {
        scene.set(t, PHASE, phase);
        scene.call(t, name, m, ...args);
        return false;
      };
      const compete = (): false => go(competes, 'compete', ...forEver, attachment);
      const answer = scene.result(t);
      switch (scene.get(t, PHASE)) {
        case begin:
          return go(tried, 'lock');
        case tried:
          if (answer === ADMITTED) return has(scene, t);
          if (answer !== CONTENDED) throw new Violation(`lock is answered ${answer}`);
          return go(queued, 'queue', attachment);
        case queued:
          if (answer === ADMITTED) return has(scene, t);
          if (answer === ELDEST) return compete();
          if (answer !== QUEUED) return expectClosed(scene, t, answer);
          scene.set(t, PHASE, parked);
          if (timed) scene.call(t, 'parkFor', 1, 0, 0, attachment);
          else scene.call(t, 'park', 0, attachment);
          return false;
        case parked:
          if (answer === ADMITTED) return compete();
          if (answer === TIMED_OUT) return go(givesUp, 'giveUp', attachment);
          return expectClosed(scene, t, answer);
        case competes:
          if (answer === ADMITTED) return has(scene, t);
          if (answer === TIMED_OUT) return go(forgoes, 'forgo', attachment);
          return expectClosed(scene, t, answer);
        case givesUp:
          if (answer === ADMITTED) return compete();
          return answer === REFUSED || expectClosed(scene, t, scene.result(t));
        default:
          return true;
      }
    },
  };
}

function tryLock(): Op {
  return {
    text: 'tryLock',
    next(scene, t) {
      if (scene.get(t, PHASE) === begin) {
        scene.set(t, PHASE, tried);
        scene.call(t, 'tryLock', mutex(scene));
        return false;
      }
      if (scene.result(t) === ADMITTED) return has(scene, t);
      return scene.result(t) === REFUSED || expectClosed(scene, t, scene.result(t));
    },
  };
}

/** What the thread has seen last of the word is only a guess, so that it may begin with any: here with one. */
function forget(scene: Scene, t: number): void {
  if (scene.model.forgets) scene.clear(t, 'mutex/guess');
}

function unlock(): Op {
  return {
    text: 'unlock',
    next(scene, t) {
      if (scene.get(t, STAGE) === 0 && scene.get(t, HAS) === 0) return true;
      if (unlocking(scene, t)) return false;
      forget(scene, t);
      return true;
    },
  };
}

function op(letter: string): Op {
  switch (letter) {
    case 'L':
      return lock(false);
    case 'B':
      return lock(true);
    case 'T':
      return tryLock();
    case 'U':
      return unlock();
    case 'a':
      return lockAsync(false);
    case 't':
      return lockAsync(true);
    case 'x':
      return abort();
    case 'd':
      return loop();
    case 'D':
      return dispose(0, 'mutexDispose');
    case 'S':
      return supervise();
    default:
      throw new Error(`a program has no ${letter}`);
  }
}

function checkWord(scene: Scene): void {
  const at = (mutex(scene) + M_WORD) >> 2;
  const low = scene.machine.words[at] & ~M_DIED;
  if (scene.closed(0)) {
    if ((low & M_CLOSED) === 0) throw new Violation('a mutex is disposed of, and its word not closed');
    return;
  }
  for (let t = 0; t < scene.threads; t++) if (!scene.dead(t) && scene.get(t, HAS) === 1) return;
  if (low !== 0 || (scene.machine.words[at + 1] & ((1 << COUNT_BIT) - 1)) !== 0)
    throw new Violation(`the word ends as 0x${(low >>> 0).toString(16)}`);
}

export function mutexModel(line: MutexLine): Model {
  const programs = line.program.split('|').map((text) => text.trim().split(/\s+/).map(op));
  const givers = (line.program.match(/[Bat]/g) ?? []).length;
  return {
    name: `mutex: ${line.name}`,
    programs,
    arena: {
      buckets: line.buckets ?? 1,
      elements: programs.length + (line.extra ?? givers),
      attached: programs.length,
    },
    ...(line.mortal === undefined ? {} : { deaths: 1, mortal: line.mortal }),
    undead: line.undead ?? false,
    long: line.long ?? false,
    ...(line.preemptions === undefined ? {} : { preemptions: line.preemptions }),
    forgets: line.forgets ?? false,
    wrote: (scene, t, address, before) => wrote(scene, t, address, before, line.bound ?? line.bypass),
    end: checkWord,
    objects: (scene) => {
      const m = scene.semaphore({
        permits: 1,
        kind: constant('KIND_MUTEX'),
        max: line.bypass,
        spin: line.spin ?? 0,
        robust: true,
      });
      if (line.count !== undefined) {
        scene.machine.hostStore32(m + M_WORD + 4, line.count << COUNT_BIT);
        scene.machine.hostStore32(m + constant('M_LIMIT'), line.count);
      }
    },
  };
}

/** Where the count of overtakings, which has 29 bits, wraps soon. */
const WRAP = 2 ** 29 - 1;

const lines: MutexLine[] = [
  { name: '2x2', program: 'L U L U | L U L U', bypass: 1 },
  { name: '2x2, forgetful', program: 'L U L U | L U L U', bypass: 1, forgets: true },
  { name: '3x1', program: 'L U | L U | L U', bypass: 1, long: true },
  { name: '3x1, first come first served', program: 'L U | L U | L U', bypass: 0, long: true },
  { name: '3x1 polling', program: 'L U | L U | L U', bypass: 1, spin: 1, long: true },
  { name: '2x3', program: 'L U L U L U | L U L U L U', bypass: 2, forgets: true, long: true },
  {
    name: '2x3 wrap',
    program: 'L U L U L U | L U L U L U',
    bypass: 2,
    count: WRAP,
    forgets: true,
    long: true,
  },
  { name: '3, one twice', program: 'L U L U | L U | L U', bypass: 1, forgets: true, long: true },
  {
    name: '3x2',
    program: 'L U L U | L U L U | L U L U',
    bypass: 1,
    forgets: true,
    preemptions: 3,
    long: true,
  },
  {
    name: '3, one twice, 2 buckets',
    program: 'L U L U | L U | L U',
    bypass: 2,
    buckets: 2,
    forgets: true,
    long: true,
  },
  { name: 'overtaken', program: 'L U | L U L U L U', bypass: 1 },
  { name: 'try', program: 'L U | T U T U | L U', bypass: 1, long: true },
  { name: 'time-out', program: 'B U | L U | B U', bypass: 1, long: true },
  { name: 'time-outs', program: 'B U | B U | B U', bypass: 1, long: true },
  { name: 'time-out, again', program: 'B U B U | L U L U', bypass: 1 },
  { name: 'dispose', program: 'L U | L U | D', bypass: 1 },
  { name: 'dispose, timed', program: 'L U | B U | D', bypass: 1 },
  { name: 'die', program: 'L U | L U | S', bypass: 1, mortal: [0] },
  { name: 'die, any', program: 'L U | L U | S', bypass: 1, mortal: [0, 1] },
  { name: 'die, of three', program: 'L U | L U | L U | S', bypass: 1, mortal: [0], long: true },
  { name: 'die, overtaking', program: 'L U L U | L U L U | S', bypass: 1, mortal: [0], long: true },
  { name: 'die, timed', program: 'B U | L U | S', bypass: 1, mortal: [0, 1] },
  { name: 'promise', program: 'a d | L U', bypass: 1 },
  { name: 'promise, again', program: 'a d a d | L U', bypass: 1 },
  { name: 'promise, overtaken', program: 'a d | L U L U', bypass: 1 },
  { name: 'promise and try', program: 'a d | T U T U', bypass: 1 },
  { name: 'promises of one', program: 'a a d | L U', bypass: 1 },
  { name: 'promises of one, 3', program: 'a a a d | L U', bypass: 1 },
  { name: 'promises of one and its thread', program: 'L a a U d | L U', bypass: 1 },
  { name: 'promises of two', program: 'a d | a d', bypass: 1 },
  { name: 'promises of two and a thread', program: 'a d | a d | L U', bypass: 1, long: true },
  { name: 'promise and two threads', program: 'a d | L U | L U', bypass: 1, long: true },
  { name: 'promise, abort', program: 't x d | L U', bypass: 1 },
  { name: 'promises, abort of the first', program: 't a x d | L U', bypass: 1 },
  { name: 'promises, abort of the last', program: 'a t x d | L U', bypass: 1 },
  { name: 'promises, abort between', program: 't x d | L U | a d', bypass: 1, long: true },
  { name: 'promises dispose', program: 'a t d | L U | D', bypass: 1, long: true },
  { name: 'promise, die', program: 'a d | L U | S', bypass: 1, mortal: [0, 1] },
  { name: 'promises, die', program: 'a a d | L U | S', bypass: 1, mortal: [0, 1] },
  { name: 'promise, die, abort', program: 't x d | L U | S', bypass: 1, mortal: [0, 1] },
  { name: 'undead', program: 'L U | L U | S', bypass: 1, mortal: [0, 1], undead: true },
  { name: 'undead, timed', program: 'B U | B U | S', bypass: 1, mortal: [0], undead: true },
  {
    name: 'undead, of three',
    program: 'L U | L U | L U | S',
    bypass: 1,
    mortal: [0],
    undead: true,
    long: true,
  },
];

export const mutexes: readonly Model[] = lines.map(mutexModel);
