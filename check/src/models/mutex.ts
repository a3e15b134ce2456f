/**
 * Models of the mutex. Programs as text, one thread between bars:
 *
 *     L lock     B lock with a time-out     T tryLock     U unlock what was locked     D dispose     S reap whoever dies
 *     a lockAsync, up to when it has the lock
 *
 * What is checked besides what a scene checks: the lock goes from nobody to the thread that takes it, and back by
 * its owner alone; and from when it has taken its ticket a waiter is overtaken no more often than the bound says.
 */
import { ADMITTED, ANSWER_CLOSED, constant, QUEUED, REFUSED, TICKET, TIMED_OUT } from '../scene/layout.js';
import { dispose, supervise } from '../scene/ops.js';
import { type Model, type Op, type Scene, Violation } from '../scene/scene.js';
import { GOT, PHASE, PROMISES, TAKEN } from '../scene/words.js';

const M_WORD = constant('M_WORD');
const M_OWNER = constant('M_OWNER');
const M_DIED = constant('M_DIED');
const M_CLOSED = constant('M_CLOSED');
/** What can change of the number of waiters in a model. */
const FEW_WAITERS = 7 * constant('M_WAITER');
const ELDEST = constant('ELDEST');
const CONTENDED = constant('CONTENDED');
const MORE = constant('MORE');
const ANSWER_NOT_HELD = constant('ANSWER_NOT_HELD');
/** Bits of the word from here on count overtakings, and this many in the upper half of it. */
const COUNT_BIT = 3;

/** Whether the thread has the lock, as it knows. */
const HAS = GOT + 1;
/** Whether it has taken a ticket, and how often it has been overtaken since. */
const WAITS = PROMISES;
const OVERTAKEN = PROMISES + 1;

interface Line {
  readonly name: string;
  readonly program: string;
  readonly bypass: number;
  readonly spin?: number;
  readonly buckets?: 1 | 2;
  /** What overtakings begin at. */
  readonly count?: number;
  readonly long?: boolean;
  readonly mortal?: readonly number[];
  readonly undead?: boolean;
  readonly extra?: number;
  readonly forgets?: boolean;
}

function mutex(scene: Scene): number {
  return scene.semaphores[0];
}

function ownerOf(scene: Scene): number {
  return scene.machine.words[(mutex(scene) + M_WORD) >> 2] & M_OWNER;
}

function has(scene: Scene, t: number): true {
  if (ownerOf(scene) !== t + 1) throw new Violation(`thread ${t} has been told that it has the lock`);
  for (let u = 0; u < scene.threads; u++) {
    if (u !== t && !scene.dead(u) && scene.get(u, HAS) === 1)
      throw new Violation(`threads ${t} and ${u} have the lock`);
  }
  scene.set(t, HAS, 1);
  return true;
}

function expectClosed(scene: Scene, t: number): true {
  if (scene.result(t) !== ANSWER_CLOSED || !scene.closed(0))
    throw new Violation(`thread ${t} is answered ${scene.result(t)}`);
  scene.set(t, WAITS, 0);
  scene.set(t, OVERTAKEN, 0);
  return true;
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
          if (answer !== QUEUED) return expectClosed(scene, t);
          scene.set(t, PHASE, parked);
          if (timed) scene.call(t, 'parkFor', 1, 0, 0, attachment);
          else scene.call(t, 'park', 0, attachment);
          return false;
        case parked:
          if (answer === ADMITTED) return compete();
          if (answer === TIMED_OUT) return go(givesUp, 'giveUp', attachment);
          return expectClosed(scene, t);
        case competes:
          if (answer === ADMITTED) return has(scene, t);
          if (answer === TIMED_OUT) return go(forgoes, 'forgo', attachment);
          return expectClosed(scene, t);
        case givesUp:
          if (answer === ADMITTED) return compete();
          return answer === REFUSED || expectClosed(scene, t);
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
      return scene.result(t) === REFUSED || expectClosed(scene, t);
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
      if (scene.get(t, PHASE) === begin) {
        if (scene.get(t, HAS) === 0) return true;
        scene.set(t, HAS, 0);
        scene.set(t, PHASE, tried);
        scene.call(t, 'unlock', mutex(scene));
        return false;
      }
      if (scene.get(t, PHASE) === tried) {
        if (scene.result(t) === ANSWER_NOT_HELD) throw new Violation(`thread ${t} cannot unlock`);
        forget(scene, t);
        if (scene.result(t) !== MORE) return true;
        scene.set(t, PHASE, queued);
        scene.call(t, 'wakeEldest', mutex(scene));
        return false;
      }
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
    case 'D':
      return dispose(0, 'mutexDispose');
    case 'S':
      return supervise();
    default:
      throw new Error(`a program has no ${letter}`);
  }
}

/** Looks at each change of the mutex. */
function wrote(scene: Scene, t: number, address: number, before: number, bypass: number): void {
  const m = mutex(scene);
  if (address === m + TICKET) {
    scene.set(t, WAITS, 1);
    scene.set(t, OVERTAKEN, 0);
    return;
  }
  if (address !== m + M_WORD) return;
  const was = before & M_OWNER;
  const is = ownerOf(scene);
  if (was === is) {
    // One waiter less, and nobody has taken the lock: it gives up.
    if ((before & FEW_WAITERS) > (scene.machine.words[address >> 2] & FEW_WAITERS)) {
      scene.set(t, WAITS, 0);
      scene.set(t, OVERTAKEN, 0);
    }
    return;
  }
  if (was !== 0) {
    if (is !== 0) throw new Violation(`thread ${t} passes the lock from ${was} to ${is}`);
    if (was !== t + 1 && !scene.dead(was - 1)) throw new Violation(`thread ${t} unlocks for ${was}`);
    return;
  }
  if (is !== t + 1) throw new Violation(`thread ${t} makes ${is} the owner`);
  const mine = scene.get(t, WAITS) === 1 ? scene.get(t, TAKEN) : 0x7fffffff;
  for (let u = 0; u < scene.threads; u++) {
    if (u === t || scene.dead(u) || scene.get(u, WAITS) === 0 || scene.get(u, TAKEN) >= mine) continue;
    const overtaken = scene.get(u, OVERTAKEN) + 1;
    scene.set(u, OVERTAKEN, overtaken);
    if (overtaken > bypass) throw new Violation(`thread ${u} is overtaken ${overtaken} times`);
  }
  scene.set(t, WAITS, 0);
  scene.set(t, OVERTAKEN, 0);
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

function modelOf(line: Line): Model {
  const programs = line.program.split('|').map((text) => text.trim().split(/\s+/).map(op));
  const givers = (line.program.match(/B/g) ?? []).length;
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
    forgets: line.forgets ?? false,
    wrote: (scene, t, address, before) => wrote(scene, t, address, before, line.bypass),
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

const lines: Line[] = [
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
];

export const mutexes: readonly Model[] = lines.map(modelOf);
