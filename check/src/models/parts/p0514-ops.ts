/**
 * The work that src/papers/p0514/semaphore.ts does around the core for blocked threads and promises. The ops are
 * machines of a few phases. The event loop of scene/ops/event-loop.ts runs the continuations. The models are in
 * p0514.ts.
 */

import { Violation } from '../../engine/search/violation.js';
import { ADMITTED, ANSWER_CLOSED, constant, INTERRUPTED, MORE, QUEUED, REFUSED } from '../../scene/layout.js';
import type { Op } from '../../scene/model.js';
import { acquire, acquireFor, tryAcquire } from '../../scene/ops/acquire.js';
import { call } from '../../scene/ops/calls.js';
import type { Jobs } from '../../scene/ops/event-loop.js';
import { arrive, REJECTED_CANCELLED, ready, settle, settling } from '../../scene/ops/promises.js';
import { finishing } from '../../scene/ops/release.js';
import type { Scene } from '../../scene/scene.js';
import { GOT, LOCAL, PHASE } from '../../scene/words.js';

const O_COUNTER = constant('O_COUNTER');
export const NOTIFY = { S: constant('NOTIFY_ALL'), O: constant('NOTIFY_ONE'), N: constant('NOTIFY_NONE') };
const GIVE_BACK = constant('GIVE_BACK');
const OVER_MAX = constant('ANSWER_OVER_MAX');
const MOST_WAITING = constant('MOST_WAITING');
const HANDED_LATE = constant('HANDED_LATE');

/** A word of a thread with several counts. Each constant below is the bit at which a count begins. */
const TALLY = GOT + 1;
export const TAKEN = 0;
export const SIGNALLED = 8;
/** How many permits the thread has handed on to the queue, less those that it has taken from the queue. */
export const HANDED = 16;
/**
 * How many promises of the thread wait for a short while before they look again. Each of the three kinds of promises
 * (see `LATER`) has its own count of two bits.
 */
const NAPS = 24;
// Words within an operation or a continuation. While it runs, the event loop needs no word but PHASE.
const STAGE = LOCAL + 4;
const ANSWER = LOCAL + 1; // the answer of the call of the counter whose release is not finished
/** Of a taker that leaves: how many permits it still wants, plus how many it holds << 8. */
const LEAVES = LOCAL + 3;

const tally = (scene: Scene, t: number, what: number): number => (scene.get(t, TALLY) << (24 - what)) >> 24;
const naps = (scene: Scene, t: number, kind: number): number => (scene.get(t, TALLY) >>> (NAPS + 2 * kind)) & 3;

function count(scene: Scene, t: number, what: number, more: number): void {
  const mask = 0xff << what;
  const all = scene.get(t, TALLY);
  scene.set(t, TALLY, (all & ~mask) | ((all + (more << what)) & mask));
}

export const total = (scene: Scene, what: number): number =>
  scene.threadNumbers.reduce((sum, t) => sum + tally(scene, t, what), 0);

export const counter = (scene: Scene): number => (scene.semaphores[0] as number) + O_COUNTER;

/** Notes that the thread has taken n permits: from the queue, or from the value if `fromQueue` is false. */
function through(scene: Scene, t: number, initial: number, n: number, fromQueue = true): true {
  scene.set(t, LEAVES, 0);
  count(scene, t, TAKEN, n);
  if (fromQueue) count(scene, t, HANDED, -n);
  const taken = total(scene, TAKEN);
  const there = initial + total(scene, SIGNALLED);
  if (taken > there) throw new Violation(`${taken} have been taken, and ${there} were there`);
  return true;
}

const COUNTING = 1;
const QUEUEING = 2;
const LEAVING = 3;
const LEAVING_CLOSED = 4;
const LOOKING = 5;
const CLOSING = 6; // the counter is closed, so the queue is closed too
const REJECTING = 7; // the promises of the thread learn that the queue is closed; cancelWaiting follows
const TELLING_LAST = 8; // like REJECTING, but no call follows
const SIGNALLING = 9;
const RELEASING = 10;
const HANDING = 11; // finishes the release of what countDown has handed on
const BACK = 12; // gives back what a leaving taker holds
const BACK_ON = 13; // finishes the release of what BACK has handed on to the queue
const LAST_TRY = 14; // the time is over, and the taker tries to take what it lacks from the value

const queueOf = (scene: Scene): number => scene.semaphores[0] as number;

/** Calls countDown or countUp, which may add permits to grant. */
function callCounter(scene: Scene, t: number, name: 'countDown' | 'countUp', ...more: number[]): void {
  scene.handing(t, true);
  scene.call(t, name, queueOf(scene), ...more);
}

/**
 * Takes up the answer of countDown, less QUEUED, or of countUp. The answer says how many permits the call has handed on
 * to the queue, and whether the thread has to finish their release.
 */
function takeUp(scene: Scene, t: number, answer: number): void {
  count(scene, t, HANDED, answer & MOST_WAITING);
  scene.set(t, ANSWER, answer);
}

/** Finishes the release that the call of the counter has begun. Returns true at the end. */
function handing(scene: Scene, t: number): boolean {
  const answer = scene.get(t, ANSWER);
  const answered = answer <= MOST_WAITING ? ADMITTED : answer < HANDED_LATE ? MORE : INTERRUPTED;
  if (!finishing(scene, t, answer & MOST_WAITING, answered)) return false;
  scene.set(t, ANSWER, 0);
  return true;
}

/** `wait(n)`, or `tryWaitFor(ms, n)`. */
export function wait(initial: number, timed = false, n = 1): Op {
  const queue = timed ? acquireFor(n) : acquire(n);
  const look = tryAcquire();
  return {
    ...queue,
    text: `${timed ? 'tryWaitFor' : 'wait'}(${n})`,
    next(scene, t) {
      const to = (stage: number): void => scene.set(t, STAGE, stage);
      switch (scene.get(t, STAGE)) {
        case 0:
          to(COUNTING);
          callCounter(scene, t, 'countDown', n);
          return false;
        case COUNTING:
          scene.handing(t, false);
          if (scene.result(t) === ADMITTED) return through(scene, t, initial, n, false);
          if (scene.result(t) < QUEUED) return closes(scene, t);
          takeUp(scene, t, scene.result(t) - QUEUED);
          to(HANDING);
          return this.next(scene, t);
        case HANDING:
          if (!handing(scene, t)) return false;
          to(QUEUEING);
          return this.next(scene, t);
        case QUEUEING: {
          const got = scene.get(t, GOT);
          if (!queue.next(scene, t)) return false;
          if (scene.get(t, GOT) > got) return through(scene, t, initial, n);
          scene.set(t, LEAVES, n);
          return refused(scene, t);
        }
        case LEAVING:
          if (!leaves(scene, t, n)) {
            scene.set(t, PHASE, 0);
            to(LOOKING);
            return this.next(scene, t);
          }
          return triesLast(scene, t, n);
        case LAST_TRY:
          return hasMore(scene, t, n) ? through(scene, t, initial, n) : givesUp(scene, t);
        case LOOKING: {
          const got = scene.get(t, GOT);
          if (!look.next(scene, t)) return false;
          if (scene.get(t, GOT) === got) return refused(scene, t);
          return finds(scene, t) === n ? through(scene, t, initial, n) : leave(scene, t, LEAVING);
        }
        case LEAVING_CLOSED:
          return wasHanded(scene, t, n) ? through(scene, t, initial, n) : isClosed(scene, t);
        case REJECTING:
          return !settling(scene, t) && leave(scene, t, LEAVING_CLOSED);
        case BACK:
        case BACK_ON:
          return givesBack(scene, t);
        default:
          return closes(scene, t);
      }
    },
  };
}

/**
 * Takes up an answer by which the queue refuses a permit. If the queue is closed, the promises of the thread learn this
 * first. Then the taker leaves.
 */
function refused(scene: Scene, t: number): false {
  if (scene.result(t) !== ANSWER_CLOSED) return leave(scene, t, LEAVING);
  scene.set(t, STAGE, REJECTING);
  return !settle(scene, t) && leave(scene, t, LEAVING_CLOSED);
}

/**
 * Begins to leave. The permits that the taker still wants are taken off the word `waiting`, except those that have been
 * handed on to the queue already.
 */
function leave(scene: Scene, t: number, stage: number): false {
  scene.set(t, STAGE, stage);
  scene.call(t, 'cancelWaiting', queueOf(scene), scene.get(t, LEAVES) & 0xff);
  return false;
}

/**
 * Takes up the answer of cancelWaiting. Returns false if the taker must look into the queue for permits that were
 * handed on. Otherwise the taker has left.
 */
function leaves(scene: Scene, t: number, n: number): boolean {
  const left = scene.result(t);
  const held = scene.get(t, LEAVES) >> 8;
  if (left < 0 || left + held > n) throw new Violation(`thread ${t} has ${held} of ${n}, and is to look for ${left}`);
  scene.set(t, LEAVES, left | (held << 8));
  return left === 0;
}

/** Begins the last try of a taker that has left, for what it does not hold. */
function triesLast(scene: Scene, t: number, n: number): false {
  scene.set(t, STAGE, LAST_TRY);
  scene.call(t, 'tryCountDown', queueOf(scene), n - (scene.get(t, LEAVES) >> 8));
  return false;
}

/** Takes up the answer of the last try. Returns whether the taker has all that it wanted. */
function hasMore(scene: Scene, t: number, n: number): boolean {
  if (scene.result(t) !== ADMITTED) return false;
  // The permits of the value count as handed on, since `through` counts all n as taken from the queue.
  count(scene, t, HANDED, n - (scene.get(t, LEAVES) >> 8));
  return true;
}

/** After the last try: gives back what the taker holds. Returns true at the end. */
function givesUp(scene: Scene, t: number): boolean {
  if (scene.get(t, LEAVES) >> 8 === 0) return true;
  scene.set(t, STAGE, BACK);
  return givesBack(scene, t);
}

/**
 * Takes up the answer of cancelWaiting on a closed semaphore. Returns whether all that the taker wanted was handed on.
 */
const wasHanded = (scene: Scene, t: number, n: number): boolean => scene.result(t) + (scene.get(t, LEAVES) >> 8) === n;

/** Notes that a taker that leaves has found a permit in the queue. Returns how many it holds now. */
function finds(scene: Scene, t: number): number {
  const leaves = scene.get(t, LEAVES) - 1 + (1 << 8);
  scene.set(t, LEAVES, leaves);
  return leaves >> 8;
}

/** Gives back what a taker that has left holds. Returns true at the end. */
function givesBack(scene: Scene, t: number): boolean {
  const held = scene.get(t, LEAVES) >> 8;
  if (held > 0) {
    scene.set(t, LEAVES, 0);
    count(scene, t, HANDED, -held);
    callCounter(scene, t, 'countUp', held, GIVE_BACK);
    return false;
  }
  if (scene.get(t, STAGE) === BACK) {
    const answer = scene.result(t);
    scene.handing(t, false);
    if (answer < 0) throw new Violation(`thread ${t} gives back, and is answered ${answer}`);
    takeUp(scene, t, answer);
    scene.set(t, STAGE, BACK_ON);
  }
  return handing(scene, t);
}

function isClosed(scene: Scene, t: number): true {
  if (scene.machine.words[(counter(scene) + 4) >> 2] > -0x20000000)
    throw new Violation(`thread ${t} learns that the semaphore is closed`);
  return true;
}

/**
 * Goes on after an answer that the counter is closed. Closes the queue too, and lets the thread's promises learn of
 * this. Returns true at the end.
 */
function closes(scene: Scene, t: number): boolean {
  switch (scene.get(t, STAGE)) {
    case CLOSING:
      scene.set(t, STAGE, TELLING_LAST);
      return !settle(scene, t);
    case TELLING_LAST:
      return !settling(scene, t);
    default:
      isClosed(scene, t);
      scene.set(t, STAGE, CLOSING);
      scene.call(t, 'dispose', queueOf(scene));
      return false;
  }
}

export function tryWait(initial: number, n = 1): Op {
  return {
    text: `tryWait(${n})`,
    next(scene, t) {
      if (scene.get(t, STAGE) === 0) {
        scene.set(t, STAGE, COUNTING);
        scene.call(t, 'tryCountDown', queueOf(scene), n);
        return false;
      }
      if (scene.get(t, STAGE) !== COUNTING) return closes(scene, t);
      if (scene.result(t) === ADMITTED) return through(scene, t, initial, n, false);
      return scene.result(t) === REFUSED || closes(scene, t);
    },
  };
}

/** `dispose()` */
export const disposing = (): Op => ({
  text: 'dispose',
  next: (scene, t) => (scene.get(t, STAGE) === 0 ? disposes(scene, t) : closes(scene, t)),
});

/** Begins to dispose; `closes` does the rest. */
function disposes(scene: Scene, t: number): false {
  scene.set(t, STAGE, COUNTING);
  scene.call(t, 'closeCounter', queueOf(scene));
  return false;
}

// --- Promises -------------------------------------------------------------------------------------------

/**
 * A promise may wait for a short while before it looks again. When this while is over, its continuation learns LATER
 * less the kind of the promise. A promise of kind 0 wants 1 permit and holds none, kind 1 wants 2 and holds none, kind
 * 2 wants 1 and holds 1. No promise of a model wants more.
 */
const LATER = 13;
const KINDS = [1, 2, 1 | (1 << 8)];

/** `waitAsync(n)`, or `tryWaitForAsync(ms, n)`. */
export function waitAsync(timed = false, n = 1): Op {
  const arrival = arrive(n, timed, true);
  return {
    ...arrival,
    text: `${timed ? 'tryWaitForAsync' : 'waitAsync'}(${n})`,
    next(scene, t) {
      switch (scene.get(t, STAGE)) {
        case 0:
          scene.set(t, STAGE, COUNTING);
          callCounter(scene, t, 'countDown', n);
          return false;
        case COUNTING:
          scene.handing(t, false);
          if (scene.result(t) === ADMITTED) {
            // A continuation counts its permits as taken from the queue. So permits of the value count as handed on.
            count(scene, t, HANDED, n);
            ready(scene, t, n);
            return true;
          }
          if (scene.result(t) < QUEUED) return closes(scene, t);
          takeUp(scene, t, scene.result(t) - QUEUED);
          scene.set(t, STAGE, HANDING);
          return this.next(scene, t);
        case HANDING:
          if (!handing(scene, t)) return false;
          scene.set(t, STAGE, QUEUEING);
          return arrival.next(scene, t);
        case QUEUEING:
          return arrival.next(scene, t);
        default:
          return closes(scene, t);
      }
    },
  };
}

/** What a continuation does after it has taken permits. */
type Then = 'nothing' | 'signals' | 'disposes';

/** Runs the continuation of a promise that wants n permits of the queue. Returns true at the end. */
function goesOn(scene: Scene, t: number, outcome: number, initial: number, then: Then, n: number): boolean {
  const answer = scene.result(t);
  const to = (stage: number): void => scene.set(t, STAGE, stage);
  const taken = (): boolean => {
    through(scene, t, initial, n);
    if (then === 'disposes') return disposes(scene, t);
    if (then === 'nothing') return true;
    to(SIGNALLING);
    countUp(scene, t, n, NOTIFY.S);
    return false;
  };
  const looks = (): false => {
    to(LOOKING);
    scene.call(t, 'tryAcquire', queueOf(scene), 1);
    return false;
  };
  switch (scene.get(t, STAGE)) {
    case 0:
      if (outcome === n) return taken();
      if (outcome >= REJECTED_CANCELLED) {
        scene.set(t, LEAVES, n);
        return leave(scene, t, outcome === REJECTED_CANCELLED ? LEAVING : LEAVING_CLOSED);
      }
      scene.set(t, LEAVES, KINDS[LATER - outcome] as number);
      return leave(scene, t, LEAVING);
    case LEAVING:
      return leaves(scene, t, n) ? triesLast(scene, t, n) : looks();
    case LAST_TRY:
      return hasMore(scene, t, n) ? taken() : givesUp(scene, t);
    case LEAVING_CLOSED:
      if (wasHanded(scene, t, n)) return taken();
      scene.set(t, LEAVES, 0);
      return isClosed(scene, t);
    case LOOKING:
      if (answer === ANSWER_CLOSED) return refused(scene, t);
      if (answer !== ADMITTED) {
        count(scene, t, NAPS, 1 << (2 * KINDS.indexOf(scene.get(t, LEAVES))));
        scene.set(t, LEAVES, 0);
        return true;
      }
      scene.admittedNow(t, 0, 1);
      return finds(scene, t) === n ? taken() : leave(scene, t, LEAVING);
    case REJECTING:
      return !settling(scene, t) && leave(scene, t, LEAVING_CLOSED);
    case BACK:
    case BACK_ON:
      return givesBack(scene, t);
    case SIGNALLING:
      hands(scene, t);
      to(RELEASING);
      return handing(scene, t);
    case RELEASING:
      return handing(scene, t);
    default:
      return closes(scene, t);
  }
}

export const jobs = (initial: number, then: Then, n = 1): Jobs => ({
  goOn: (scene, t, answer) => goesOn(scene, t, answer, initial, then, n),
  timed: true,
  isSet: (scene, t) => KINDS.some((_, kind) => naps(scene, t, kind) > 0),
  fire(scene, t) {
    const kind = KINDS.findIndex((_, k) => naps(scene, t, k) > 0);
    count(scene, t, NAPS, -1 << (2 * kind));
    ready(scene, t, LATER - kind);
  },
});

function countUp(scene: Scene, t: number, permits: number, notify: number): void {
  count(scene, t, SIGNALLED, permits);
  callCounter(scene, t, 'countUp', permits, notify);
}

/** Takes up the answer of countUp. */
function hands(scene: Scene, t: number): void {
  const answer = scene.result(t);
  scene.handing(t, false);
  if (answer < 0) throw new Violation(`thread ${t}'s signal is answered ${answer}`);
  takeUp(scene, t, answer);
}

export function signal(permits: number, notify: number, ifTaken = false, mayBeTooMany = false): Op {
  return {
    text: `signal(${permits}, ${notify})`,
    next(scene, t) {
      const phase = scene.get(t, PHASE);
      if (phase === 0) {
        if (ifTaken && tally(scene, t, TAKEN) === tally(scene, t, SIGNALLED)) return true;
        scene.set(t, PHASE, 1);
        countUp(scene, t, permits, notify);
        return false;
      }
      if (phase === 1) {
        if (mayBeTooMany && scene.result(t) === OVER_MAX) {
          scene.handing(t, false);
          count(scene, t, SIGNALLED, -permits);
          return true;
        }
        hands(scene, t);
        scene.set(t, PHASE, 2);
      }
      return handing(scene, t);
    },
  };
}

/** Signals more than the value can hold. The call must be refused and change nothing. */
export const signalTooMany = (count: number): Op =>
  call(
    'countUp',
    (scene) => [scene.semaphores[0] as number, count, 0],
    (answer, _, t) => {
      if (answer !== OVER_MAX) throw new Violation(`thread ${t}'s signal is answered ${answer}`);
    },
  );
