/**
 * Models of the mutex. Programs as text, one thread between bars:
 *
 *     L lock     B lock with a time-out     T tryLock     U unlock what was locked     D dispose     S reap whoever dies
 *     a lockAsync     t the same with a signal     x abort the first of those     d the event loop, until no promise
 *     waits: what a promise has locked it unlocks, as a microtask
 *     c lock that is cut short in its sleep as the eldest
 *     C lock, of a thread that is the eldest already
 *     Z sleep until it is killed     w wait until thread 0 is dead
 *
 * What is checked besides what a scene checks: the lock goes from nobody to the thread that takes it, and back by
 * its owner alone; and from when it has taken its ticket a waiter, thread or promise, is overtaken no more often
 * than the bound says.
 */

import { Violation } from '../engine/search/violation.js';
import {
  ADMITTED,
  ANSWER_CLOSED,
  constant,
  O_LIFE,
  QUEUED,
  REFUSED,
  TICKET,
  TIMED_OUT,
} from '../scene/layout.js';
import type { Model, Op } from '../scene/model.js';
import { asleep, awaitDeath, call, dispose, mourn, supervise } from '../scene/ops.js';
import type { Scene } from '../scene/scene.js';
import { GOT, LOCAL, PHASE, RESULT } from '../scene/words.js';
import { abort, lockAsync, loop, unlocking } from './mutex-promises.js';
import { CONTENDED, expectClosed, HAS, has, M_WORD, mutex, STAGE, WAITS, wrote } from './mutex-words.js';
import { partsOf } from './program.js';

const O_DIED = constant('O_DIED');
/** Of an object's life (core/objects.ts). */
const DISPOSED = 3;
const M_LIMIT = constant('M_LIMIT');
const M_PACE = constant('M_PACE');
const M_TURN = constant('M_TURN');
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
  /** Whether whoever locks asks, but by the fast way, whether owners have died. */
  readonly learns?: boolean;
  readonly asleep?: readonly number[];
  readonly deaths?: number;
  readonly undead?: boolean;
  readonly extra?: number;
  readonly aged?: boolean;
  /** The thread that begins with the lock. */
  readonly locked?: number;
  /** Whether that has unlocked before the others start. */
  readonly free?: boolean;
  /** What the count of overtakings may reach at first. */
  readonly limit?: number;
  /** The count of overtakings at which the turn is over for an eldest that is awake, if it is not the limit. */
  readonly over?: number;
  /** The pace that has been measured. */
  readonly pace?: number;
  /** The thread that begins as the eldest. */
  readonly eldest?: number;
  /** Whether that is dead. */
  readonly dead?: boolean;
  /** The thread that must be told that the mutex is closed, if it is, though the owner never unlocks. */
  readonly told?: number;
  /** What is left of a turn at the end, if anybody has waited. */
  readonly turn?: number;
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
const asked = 7;

/** Whoever has not locked by the fast way asks whether owners have died; true if it need not. */
function asks(scene: Scene, t: number): boolean {
  has(scene, t);
  if (scene.model.learns !== true) return true;
  scene.set(t, PHASE, asked);
  scene.call(t, 'ownersDied', mutex(scene));
  return false;
}

/** `lock()`; with a time-out every sleep may run out, and then it gives up. */
function lock(timed: boolean, isEldest = false): Op {
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
          return isEldest ? compete() : go(tried, 'lock');
        case tried:
          if (answer === ADMITTED) return has(scene, t);
          if (answer !== CONTENDED) throw new Violation(`lock is answered ${answer}`);
          return go(queued, 'queue', attachment);
        case queued:
          if (answer === ADMITTED) return asks(scene, t);
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
          if (answer === ADMITTED) return asks(scene, t);
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

/** `lock()`, which an exception ends in its sleep as the eldest: when its thread locks again, it has given up. */
function cutLock(): Op {
  const rest = asleep();
  return {
    text: 'lock, cut short',
    next(scene, t) {
      const m = mutex(scene);
      const answer = scene.result(t);
      const phase = scene.get(t, PHASE);
      scene.set(t, PHASE, phase + 1);
      if (phase === 0) scene.call(t, 'lock', m);
      else if (answer === ADMITTED && phase < 3) return has(scene, t);
      else if (phase === 1) scene.call(t, 'queue', m, scene.attachment(t, 0));
      else if (answer === QUEUED) scene.call(t, 'park', 0, scene.attachment(t, 0));
      else return rest.next(scene, t) as boolean;
      return false;
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
      if (scene.get(t, PHASE) === asked) return true;
      if (scene.result(t) === ADMITTED) return asks(scene, t);
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
    case 'C':
      return lock(false, true);
    case 'c':
      return cutLock();
    case 'Z':
      return awaitDeath();
    case 'w':
      return mourn();
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

/** Whoever has waited leaves a turn behind to the next. */
function checkLimit(scene: Scene, turn: number): void {
  const m = mutex(scene);
  const word = (address: number): number => scene.machine.words[address >> 2] as number;
  const left = word(m + M_LIMIT) - (word(m + M_WORD + 4) >> COUNT_BIT);
  if (word(m + TICKET) !== 0 && left !== turn)
    throw new Violation(`${left} overtakings are left of the last turn, not ${turn}`);
}

/** Who took the mark of a death off the word has learnt of all. */
function checkLearnt(scene: Scene): void {
  const word = (offset: number): number => scene.machine.words[(mutex(scene) + offset) >> 2] as number;
  if ((word(M_WORD) & M_DIED) === 0 && word(O_DIED) !== 0)
    throw new Violation(`nobody learns that ${word(O_DIED)} owners have died`);
}

function checkTold(scene: Scene, who: number): void {
  const state = (scene.machine.words[(mutex(scene) + O_LIFE) >> 2] as number) >>> 24;
  if (state === DISPOSED && !scene.finished(who)) throw new Violation(`thread ${who} is not told`);
}

export function mutexModel(line: MutexLine): Model {
  const parts = partsOf(line.program);
  const programs = parts.map((part) => part.split(/\s+/).filter(Boolean).map(op));
  const named = line.locked ?? line.eldest ?? line.told;
  // Who gives up leaves an element behind, and takes another; a promise has one, and its thread a second spare.
  const givers = (line.program.match(/[Bat]/g) ?? []).length;
  return {
    name: `mutex: ${line.name}`,
    programs,
    ...(named === undefined && !line.program.includes('D') ? { alike: parts } : {}),
    arena: {
      buckets: line.buckets ?? 1,
      elements: programs.length + (line.extra ?? givers),
      attached: programs.length,
    },
    ...(line.mortal === undefined ? {} : { deaths: line.deaths ?? 1, mortal: line.mortal }),
    ...(line.asleep === undefined ? {} : { asleep: line.asleep }),
    mayWait: line.told !== undefined,
    leaves: line.told !== undefined,
    undead: line.undead ?? false,
    long: line.long ?? false,
    ...(line.preemptions === undefined ? {} : { preemptions: line.preemptions }),
    forgets: line.forgets ?? false,
    learns: line.learns ?? false,
    aged: line.aged ?? false,
    wrote: (scene, t, address, before) => wrote(scene, t, address, before, line.bound ?? line.bypass),
    end: (scene) => {
      if (line.told === undefined) checkWord(scene);
      else checkTold(scene, line.told);
      if (line.learns) checkLearnt(scene);
      if (line.turn !== undefined) checkLimit(scene, line.turn);
    },
    objects: (scene) => {
      const m = scene.semaphore({
        permits: 1,
        kind: constant('KIND_MUTEX'),
        max: line.bypass,
        spin: line.spin ?? 0,
        robust: true,
      });
      if (line.locked !== undefined) {
        scene.callNow(line.locked, 'lock', m);
        if (!line.free) scene.set(line.locked, HAS, 1);
      }
      if (line.eldest !== undefined) {
        scene.callNow(line.eldest, 'lock', m);
        scene.callNow(line.eldest, 'queue', m, scene.attachment(line.eldest, 0));
        if (line.free) scene.callNow(line.locked ?? 0, 'unlock', m);
        if (line.dead) scene.kill(line.eldest);
        else scene.set(line.eldest, WAITS, 1);
      }
      if (line.count !== undefined) {
        scene.machine.hostStore32(m + M_WORD + 4, line.count << COUNT_BIT);
        scene.machine.hostStore32(m + M_LIMIT, line.count);
      }
      if (line.limit !== undefined) scene.machine.hostStore32(m + M_LIMIT, line.limit);
      if (line.over !== undefined) {
        scene.machine.hostStore32(m + M_TURN, line.over);
        // Else compete sets it, and the limit.
        scene.clear(line.eldest ?? 0, 'mutex/first');
      }
      if (line.pace !== undefined) scene.machine.hostStore32(m + M_PACE, line.pace);
    },
  };
}

/** Where the count of overtakings, which has 29 bits, wraps soon. */
const WRAP = 2 ** 29 - 1;

const FAR = 2 ** 29 - 5;

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
    preemptions: 4,
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
  {
    name: '1 waits, 1 polls',
    program: 'U | C U | L U',
    bypass: 1,
    locked: 0,
    eldest: 1,
    spin: 2,
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

/** The pace of a lock whose sections are long: its eldest reserves it before it sleeps, and not only the second time. */
const slow = { pace: 1 };

const longSections: MutexLine[] = [
  { name: '2x2', program: 'L U L U | L U L U', bypass: 1, ...slow },
  { name: '2x3', program: 'L U L U L U | L U L U L U', bypass: 2, forgets: true, long: true, ...slow },
  { name: '3x1', program: 'L U | L U | L U', bypass: 1, long: true, ...slow },
  { name: '3x1 polling', program: 'L U | L U | L U', bypass: 1, spin: 1, long: true, ...slow },
  { name: 'time-out', program: 'B U | L U | B U', bypass: 1, long: true, ...slow },
  { name: 'time-out, again', program: 'B U B U | L U L U', bypass: 1, ...slow },
  { name: 'dispose, timed', program: 'L U | B U | D', bypass: 1, ...slow },
  { name: 'die, any', program: 'L U | L U | S', bypass: 1, mortal: [0, 1], ...slow },
  { name: 'promise, overtaken', program: 'a d | L U L U', bypass: 1, ...slow },
  { name: 'undead', program: 'L U | L U | S', bypass: 1, mortal: [0, 1], undead: true, ...slow },
].map((line) => ({ ...line, name: `${line.name}, slow` }));

/** The eldest is awake, and may end the turn of the owner before its limit. */
const turnsOver: MutexLine[] = [
  { name: 'at once', program: 'U L U L U | C U' },
  { name: 'at once, of three', program: 'U L U | C U | L U', spin: 1, long: true },
  { name: 'at once, another in time', program: 'U | C U | B U', spin: 1, long: true },
  { name: 'at once, the owner in time', program: 'U B U B U | C U' },
  { name: 'at once, the owner tries', program: 'U T U T U | C U' },
  { name: 'at once, the eldest dies', program: 'U L U | C U | S', mortal: [1] },
  { name: 'at once, the owner dies', program: 'U L U | C U | S', mortal: [0] },
  { name: 'at once, dispose', program: 'U L U | C U | D' },
  { name: 'after one', program: 'U L U L U | C U', over: 1 },
].map((line) => ({
  bypass: 4,
  locked: 0,
  eldest: 1,
  limit: 2,
  over: 0,
  spin: 2,
  ...line,
  name: `the turn is over, ${line.name}`,
}));

/** Few states each. */
const small: MutexLine[] = [
  { name: 'alone', program: 'L U T U L U a d t x d', bypass: 1 },
  { name: 'alone, forgetful', program: 'L U T U L U', bypass: 1, forgets: true },
  { name: 'alone, disposed of', program: 'L D U', bypass: 1 },
  { name: '2x1', program: 'L U | L U', bypass: 1 },
  { name: '2x1, first come first served', program: 'L U | L U', bypass: 0 },
  { name: '2x1 polling', program: 'L U | L U', bypass: 1, spin: 1 },
  { name: '2x1 wrap', program: 'L U | L U', bypass: 1, count: WRAP },
  { name: 'cut short', program: 'c U L U | T U T U', bypass: 1 },
  { name: 'cut short behind another', program: 'c U L U | L U', bypass: 1 },
  { name: '2, one tries', program: 'L U | T U T U', bypass: 1 },
  { name: '2, one in time', program: 'L U | B U', bypass: 1 },
  { name: '2 in time', program: 'B U | B U', bypass: 1 },
  { name: '2, disposed of', program: 'L U | L D', bypass: 1 },
  { name: '2, a promise', program: 'L U | a d', bypass: 1 },
  { name: '2, of elements used before', program: 'a d L U | B U', bypass: 1, aged: true },
  { name: '2 promises, first come first served', program: 'a d | a d', bypass: 0 },
  { name: '2, a promise gives up', program: 'L U | t x d', bypass: 1 },
  { name: '2, a promise disposed of', program: 'L D | a d', bypass: 1 },
  { name: '2x1, a turn of 2', program: 'L U | L U', bypass: 4, turn: 2 },
  { name: '2x1, a turn of 2, wrap', program: 'L U | L U', bypass: 4, turn: 2, count: WRAP },
  { name: '2, a turn of 2', program: 'L U L U | L U', bypass: 4, turn: 2 },
  {
    name: 'killed asleep, undead',
    program: 'C U | U | S',
    bypass: 1,
    locked: 1,
    eldest: 0,
    mortal: [0],
    undead: true,
  },
  { name: '2x1, far below 0', program: 'L U | L U', bypass: 0, count: FAR },
  { name: '2, one tries, far below 0', program: 'L U | T U T U', bypass: 0, count: FAR },
  { name: '2x1, overtaken, far below 0', program: 'L U | L U L U', bypass: 0, count: FAR, forgets: true },
  { name: '2x1, overtaken, far below 0, remembered', program: 'L U | L U L U', bypass: 0, count: FAR },
  ...[
    { name: 'one behind the eldest', program: 'C U | L U' },
    { name: 'one behind the eldest, of elements used before', program: 'C U | L U', aged: true },
    { name: 'one behind the eldest, 2 buckets', program: 'C U | L U', buckets: 2 as const },
    { name: 'a promise behind the eldest', program: 'C U | a d' },
    { name: 'one in time behind the eldest', program: 'C U | B U' },
    { name: 'one in time behind the eldest, of elements used before', program: 'C U | B U', aged: true },
    { name: 'a promise that gives up behind the eldest', program: 'C U | t x d' },
    { name: 'one behind the eldest, which disposes', program: 'C D | L U' },
    { name: 'one behind the eldest, which is cut short', program: 'C U | c U L U' },
  ].map((line) => ({ ...line, bypass: 0, locked: 1, free: true, eldest: 0 })),
  { name: '1 waits, 1 tries', program: 'U | L U | T U', bypass: 1, locked: 0 },
  {
    name: 'the owner disposes, before the eldest and one',
    program: 'D U | C U | L U',
    locked: 0,
    eldest: 1,
    bypass: 1,
  },
  { name: 'die, who disposes', program: 'D | L U | S', bypass: 1, mortal: [0] },
  { name: 'die, who disposes, of a promise', program: 'D | a d | S', bypass: 1, mortal: [0] },
  { name: 'die, the owner disposes', program: 'D | C U | S', bypass: 1, locked: 0, eldest: 1, mortal: [0] },
  {
    name: 'die, who disposes while it is held',
    program: 'D | | C U | S',
    bypass: 1,
    locked: 1,
    eldest: 2,
    mortal: [0],
    told: 2,
  },
  { name: 'die, another disposes', program: 'D | U | C U | S', bypass: 1, locked: 1, eldest: 2, mortal: [0] },
  {
    name: 'die, the owner, before the eldest',
    program: 'U | C U | S',
    bypass: 1,
    locked: 0,
    eldest: 1,
    mortal: [0],
  },
  { name: 'a dead eldest', program: '| U | S', bypass: 1, locked: 1, eldest: 0, dead: true, mortal: [0] },
  {
    name: 'a dead eldest, and one polls',
    program: '| U | L U | S',
    bypass: 3,
    spin: 1,
    locked: 1,
    eldest: 0,
    limit: 3,
    dead: true,
    mortal: [0],
  },
  {
    name: 'a dead eldest before a newcomer',
    program: '| L U | S',
    bypass: 0,
    locked: 1,
    free: true,
    eldest: 0,
    dead: true,
    mortal: [0],
  },
  {
    name: 'a dead eldest before a promise',
    program: '| a d | S',
    bypass: 0,
    locked: 1,
    free: true,
    eldest: 0,
    dead: true,
    mortal: [0],
  },
  {
    name: 'a dead eldest, and who reaps it',
    program: '| U | S | S',
    bypass: 1,
    locked: 1,
    eldest: 0,
    dead: true,
    mortal: [0, 2],
    deaths: 2,
  },
  { name: 'killed asleep, the owner', program: 'L Z | S', bypass: 1, mortal: [0], asleep: [0] },
  {
    name: 'killed asleep, before a newcomer',
    program: 'L Z | w L U | S',
    bypass: 1,
    mortal: [0],
    asleep: [0],
  },
  { name: 'killed asleep, a waiter', program: 'L U | L U | S', bypass: 1, mortal: [0], asleep: [0] },
  { name: 'killed asleep, a promise', program: 'a d | L U | S', bypass: 1, mortal: [0], asleep: [0] },
  { name: 'killed asleep, who has disposed', program: 'L D Z | S', bypass: 1, mortal: [0], asleep: [0] },
  {
    name: 'killed asleep, and who reaps it',
    program: 'L Z | S | S',
    bypass: 1,
    mortal: [0, 1],
    asleep: [0],
    deaths: 2,
  },
  { name: 'learns of a death', program: 'L U | L U | S', bypass: 1, mortal: [0], learns: true },
  {
    name: 'a newcomer learns of a death',
    program: 'L Z | w T U L U | S',
    bypass: 1,
    mortal: [0],
    asleep: [0],
    learns: true,
  },
  { name: 'killed, alone', program: 'L U T U a d | S', bypass: 1, mortal: [0] },
];

/**
 * Thread 0 has the lock, thread 1 is the eldest, thread 2 is the next in line, and behind it, if that is said, stand
 * promises of thread 3. What is done here leaves so many who wait.
 */
function inLine(
  name: string,
  {
    promises = 0,
    dead = false,
    by = 3,
    done,
    left,
  }: { promises?: number; dead?: boolean; by?: 2 | 3; done: Op; left: number },
): Model {
  return {
    name: `mutex: in line, ${name}`,
    programs: [[], [], by === 2 ? [done] : [], by === 3 ? [done] : []],
    arena: { buckets: 2, elements: 10, attached: 4 },
    ...(dead ? { deaths: 1, mortal: [2] } : {}),
    leaves: true,
    objects: (scene) => {
      const m = scene.semaphore({ permits: 1, kind: constant('KIND_MUTEX'), max: 1, robust: true });
      for (const t of [0, 1, 2]) {
        if (scene.callNow(t, 'lock', m) === ADMITTED) continue;
        scene.callNow(t, 'queue', m, scene.attachment(t, 0));
      }
      for (let i = 0; i < promises; i++)
        scene.set(3, GOT + i, scene.callNow(3, 'arrive', m, 1, 0, scene.attachment(3, 0)));
      if (dead) scene.kill(2);
    },
    end: (scene) => {
      const word = scene.machine.words[(mutex(scene) + M_WORD) >> 2] as number;
      const waiters = Math.floor(word / constant('M_WAITER'));
      if (waiters !== left) throw new Violation(`${waiters} are said to wait, not ${left}`);
    },
  };
}

const gives = (): Op => call('giveUp', (scene, t) => [mutex(scene), scene.attachment(t, 0)]);
const promiseGives = (): Op => call('giveUpRun', (scene) => [scene.get(3, GOT)]);

const closedInLine: Model = {
  name: 'mutex: in line, closed while it is held',
  programs: [
    [],
    [
      call('lock', (scene) => [mutex(scene)]),
      call(
        'queue',
        (scene, t) => [mutex(scene), scene.attachment(t, 0)],
        (answer) => {
          if (answer !== ANSWER_CLOSED) throw new Violation(`queue is answered ${answer}`);
        },
      ),
    ],
  ],
  arena: { attached: 2 },
  leaves: true,
  objects: (scene) => {
    const m = scene.semaphore({ permits: 1, kind: constant('KIND_MUTEX'), max: 1, robust: true });
    scene.callNow(0, 'lock', m);
    scene.callNow(0, 'mutexDispose', m);
  },
  end: (scene) => {
    const tickets = scene.machine.words[(mutex(scene) + TICKET) >> 2];
    if (tickets !== 0) throw new Violation(`${tickets} tickets of a closed mutex are taken`);
  },
};

/** What a promise that is the eldest does, until the mutex is closed. */
const reserveUntilClosed = (): Op => ({
  text: 'reserve until it is closed',
  next(scene, t) {
    const phase = scene.get(t, PHASE);
    scene.set(t, PHASE, (phase + 1) % 3);
    if (phase === 0) scene.hostLoad(t, scene.doorbell(t));
    else if (phase === 1) {
      scene.set(t, LOCAL, scene.get(t, RESULT));
      scene.call(t, 'reserveLock', mutex(scene), scene.attachment(t, 0));
    } else {
      if (scene.result(t) === ANSWER_CLOSED) return true;
      scene.hostWait(t, scene.doorbell(t), scene.get(t, LOCAL));
    }
    return false;
  },
});

/** Thread 0 dies while it disposes of the mutex, which thread 1 holds and a promise of thread 2 waits for. */
const halfDisposed: Model = {
  name: 'mutex: die, who disposes while it is held, of a promise',
  programs: [[dispose(0, 'mutexDispose')], [], [reserveUntilClosed()], [supervise()]],
  arena: { elements: 8, attached: 4 },
  deaths: 1,
  mortal: [0],
  mayWait: true,
  leaves: true,
  objects: (scene) => {
    const m = scene.semaphore({ permits: 1, kind: constant('KIND_MUTEX'), max: 1, robust: true });
    scene.callNow(1, 'lock', m);
    scene.callNow(2, 'arrive', m, 1, 0, scene.attachment(2, 0));
  },
  end: (scene) => checkTold(scene, 2),
};

const ofLine: readonly Model[] = [
  halfDisposed,
  closedInLine,
  inLine('the last gives up', { by: 2, done: gives(), left: 1 }),
  inLine('one gives up', { promises: 1, by: 2, done: gives(), left: 2 }),
  inLine('the last promise gives up', { promises: 1, done: promiseGives(), left: 2 }),
  inLine('a promise gives up', { promises: 2, done: promiseGives(), left: 3 }),
  inLine('the last is dead', { dead: true, done: supervise(), left: 1 }),
  inLine('one is dead', { promises: 1, dead: true, done: supervise(), left: 2 }),
];

export const mutexes: readonly Model[] = [
  ...[...small, ...lines, ...longSections, ...turnsOver].map(mutexModel),
  ...ofLine,
];
