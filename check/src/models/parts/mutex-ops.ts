/**
 * The ops of a mutex. They do what src/mutex/mutex.ts does around the core. In the text of a program each letter stands for
 * one op, and bars stand between the programs of two threads:
 *
 *     L  lock
 *     B  lock with a time-out
 *     C  lock by a thread that is the head already
 *     c  lock that an exception cuts short while the thread sleeps as the head
 *     q  lock that an exception cuts short when the thread stands in the queue
 *     r  goes round the event loop, and completes a call which was cut short
 *     T  tryLock
 *     U  unlock, if the thread has the lock
 *     v  the first call of an unlock, without the call that must follow
 *     D  dispose
 *     K  cancelAll
 *     a  lockAsync
 *     t  lockAsync with a signal
 *     x  fires the signal of the first waiting promise that has a signal
 *     d  runs the event loop until no promise waits. A promise that gets the lock unlocks it in a microtask
 *     S  reaps each thread that dies
 *     w  waits until thread 0 is dead
 *     Z  sleeps until the thread is killed
 *
 * An exclamation mark behind a letter says that an exception may end one call of the op anywhere. `r` must follow, and
 * U, since the thread may be the owner.
 */
import { Violation } from '../../engine/search/violation.js';
import { ADMITTED, CANCELLED, constant, LEAVE, QUEUED, REFUSED, TIMED_OUT } from '../../scene/layout.js';
import type { Op } from '../../scene/model.js';
import { beginsToWait, expectAsked } from '../../scene/ops/acquire.js';
import { call, dispose } from '../../scene/ops/calls.js';
import { asleep, awaitDeath, supervise, untilDead } from '../../scene/ops/deaths.js';
import type { Scene } from '../../scene/scene.js';
import { PHASE } from '../../scene/words.js';
import { abort, cancelAll, lockAsync, loop, unlocking } from './mutex-promises.js';
import { CONTENDED, expectClosed, HAS, has, mutex, ownerOf, STAGE, setGuess } from './mutex-words.js';

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
 * Asks whether owners have died. Returns true if there is no need to ask. A thread asks when it has locked by any call
 * but `lock` of the core: `lock` does not take a lock whose owner has died, so it leaves nothing to ask.
 */
function asks(scene: Scene, t: number): boolean {
  has(scene, t);
  if (scene.model.learns !== true) return true;
  scene.set(t, PHASE, asked);
  scene.call(t, 'ownersDied', mutex(scene));
  return false;
}

/** `lock()`. With a time-out, the time may run out in every sleep. Then the thread cancels the request. */
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
          return answer === CANCELLED || expectClosed(scene, t, scene.result(t));
        default:
          return true;
      }
    },
  };
}

/**
 * A call of `lock()` that an exception ends while the thread sleeps as the head. The next call of `lock()` of this
 * thread first cancels the interrupted request.
 */
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

/** A call of `lock()` that an exception ends when the thread stands in the queue. */
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
 * Resets the guess of the thread, after the thread has unlocked. The guess may be any word that says that nobody waits,
 * so the reset does no harm. It makes more states equal.
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

/** The op that a letter of a program stands for, with an exclamation mark or without. */
export function mutexOp(letter: string): Op {
  if (letter.length === 1) return opOf(letter);
  if (letter[1] !== '!') throw new Error(`a program has no ${letter}`);
  // If the exception comes after the thread has taken the lock, or before it has given the lock back, it has the lock.
  return {
    ...opOf(letter[0] as string),
    cut: (scene, t) => scene.set(t, HAS, Number(ownerOf(scene) === t + 1)),
  };
}

function opOf(letter: string): Op {
  switch (letter) {
    case 'L':
      return lock(false);
    case 'B':
      return lock(true);
    case 'T':
      return tryLock();
    case 'U':
      return unlock();
    case 'v':
      return call('unlock', (scene, t) => {
        scene.set(t, HAS, 0);
        return [mutex(scene)];
      });
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
      return call('finishPendingCall', () => []);
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
