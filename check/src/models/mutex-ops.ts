/**
 * The ops of a mutex, which do what src/mutex.ts does around the core. A program is text, with bars between threads:
 *
 *     L lock     B lock with a time-out     T tryLock     U unlock, if locked     D dispose     S reap threads that die
 *     a lockAsync     t the same with a signal     x abort the first promise with a signal
 *     d the event loop, until no promise waits; a promise that has the lock unlocks it in a microtask
 *     c lock that is cut short in its sleep as the head
 *     q lock that is cut short in the queue     r the end of a call that was cut short, in a microtask
 *     C lock, by a thread that is the head already
 *     Z sleep until killed     w wait until thread 0 is dead     K cancelAll
 */
import { Violation } from '../engine/search/violation.js';
import { ADMITTED, CLOSED_OBJECT, constant, LEAVE, QUEUED, REFUSED, TIMED_OUT } from '../scene/layout.js';
import type { Op } from '../scene/model.js';
import { beginsToWait, expectAsked } from '../scene/ops/acquire.js';
import { call, dispose } from '../scene/ops/calls.js';
import { asleep, awaitDeath, supervise, untilDead } from '../scene/ops/deaths.js';
import type { Scene } from '../scene/scene.js';
import { PHASE } from '../scene/words.js';
import { abort, cancelAll, lockAsync, loop, unlocking } from './mutex-promises.js';
import { CONTENDED, expectClosed, HAS, has, mutex, STAGE, setGuess } from './mutex-words.js';

const HEAD = constant('HEAD');

const begin = 0;
const tried = 1;
const queued = 2;
const parked = 3;
const competes = 4;
const cancels = 5;
const cancelsHead = 6;
const asked = 7;
const reserves = 8;

/**
 * Called when the thread has locked by any call but `lock` of the core, which refuses a lock whose owner has died. Asks
 * whether owners have died. Returns true if there is no need to ask.
 */
function asks(scene: Scene, t: number): boolean {
  has(scene, t);
  if (scene.model.learns !== true) return true;
  scene.set(t, PHASE, asked);
  scene.call(t, 'ownersDied', mutex(scene));
  return false;
}

/** `lock()`. With a time-out, every sleep may run out; then the request is cancelled. */
function lock(timed: boolean, isHeadNow = false): Op {
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
          beginsToWait(scene, t);
          return isHeadNow ? compete() : go(tried, 'lock');
        case tried:
          if (answer === ADMITTED) return has(scene, t);
          if (answer !== CONTENDED) throw new Violation(`lock is answered ${answer}`);
          if (!timed) return go(queued, 'queue', attachment);
          scene.set(t, PHASE, reserves);
          scene.call(t, 'reserveSecond');
          return false;
        case reserves:
          if (answer === 0) throw new Violation(`thread ${t} finds no element`);
          return go(queued, 'queue', attachment);
        case queued:
          if (answer === ADMITTED) return asks(scene, t);
          if (answer === HEAD) return compete();
          if (answer !== QUEUED) return expectClosed(scene, t, answer);
          scene.set(t, PHASE, parked);
          if (timed) scene.call(t, 'parkFor', 1, 0, 0, attachment);
          else scene.call(t, 'park', 0, attachment);
          return false;
        case parked:
          if (answer === ADMITTED) return compete();
          if (answer === LEAVE) expectAsked(scene, t);
          if (answer >= TIMED_OUT) return go(cancels, 'cancel', attachment);
          return expectClosed(scene, t, answer);
        case competes:
          if (answer === ADMITTED) return asks(scene, t);
          if (answer === LEAVE) expectAsked(scene, t);
          if (answer >= TIMED_OUT) return go(cancelsHead, 'cancelHead', attachment);
          return expectClosed(scene, t, answer);
        case cancels:
          if (answer === ADMITTED) return compete();
          return answer === REFUSED || expectClosed(scene, t, scene.result(t));
        default:
          return true;
      }
    },
  };
}

/** `lock()`, which an exception ends in its sleep as the head. The next lock of its thread cancels it first. */
function cutLock(): Op {
  const sleeping = asleep();
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
      else return sleeping.next(scene, t) as boolean;
      return false;
    },
  };
}

/** `lock()`, which an exception ends once the thread is in the queue. */
function cutInLine(): Op {
  return {
    text: 'lock, cut short in line',
    next(scene, t) {
      const phase = scene.get(t, PHASE);
      scene.set(t, PHASE, phase + 1);
      if (phase === 1) return scene.result(t) === ADMITTED ? has(scene, t) : true;
      scene.call(t, 'queue', mutex(scene), scene.attachment(t, 0));
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

/**
 * Resets the guess of the thread, after it has unlocked. The guess may be any word for which nobody waits, so this
 * makes more states equal.
 */
function forget(scene: Scene, t: number): void {
  if (!scene.model.forgets) return;
  if (scene.model.relative) setGuess(scene, t);
  else scene.clear(t, 'mutex/guess');
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

/** The op that a letter of a program stands for. */
export function mutexOp(letter: string): Op {
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
    case 'q':
      return cutInLine();
    case 'r':
      return call('tryLock', () => [CLOSED_OBJECT]);
    case 'Z':
      return awaitDeath();
    case 'w':
      return untilDead();
    case 'K':
      return cancelAll();
    case 'D':
      return dispose(0, 'mutexDispose');
    case 'S':
      return supervise();
    default:
      throw new Error(`a program has no ${letter}`);
  }
}
