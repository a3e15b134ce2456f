/** The ops of promises, all on semaphore 0. They do what Promises and Doorbell (src/runtime/) do around the core. */
import { Violation } from '../../engine/search/violation.js';
import { ADMITTED, ANSWER_FULL, CANCELLED, MORE } from '../layout.js';
import type { Op } from '../model.js';
import type { Scene } from '../scene.js';
import { ASKED_TO_LEAVE, FLUSH_DUE, LOCAL, MOST_PROMISES, PHASE, PROMISES, QUEUE, READY, SEEN } from '../words.js';
import { expectClosed } from './acquire.js';

// These words say how far an op has got within a phase.
const SETTLING = LOCAL + 2; // 0 if the thread does not settle promises, or else one of these values:
const IN_SETTLE = 1; // the thread is in the call `settle`
const DROPPING = 2; // the thread cancels runs of a closed semaphore
const COMPARING = 3; // the thread compares the count of cancelAll with the count that it has seen
const LEAVING = 4; // the thread cancels a run because of cancelAll
const NOT_LEFT = 5; // the thread settles promises that were due before the run could leave
const FIRST = 6; // the thread learns the count of cancelAll for its first promise
const LEFT = 7; // the thread settles the tombstone of a run that has left because of cancelAll
const LEFT_ALONE = 8; // the thread settles the tombstone of a promise that has left alone
const ANSWER = LOCAL + 3; // the answer of arrive

export function firstRun(scene: Scene, t: number): number {
  return scene.get(t, QUEUE) > 0 ? scene.get(t, PROMISES) : 0;
}

/** Returns the run that the next promise may join: the last run, unless a promise with a signal has this run alone. */
function lastRun(scene: Scene, t: number): number {
  const last = PROMISES + 4 * (scene.get(t, QUEUE) - 1);
  return scene.get(t, QUEUE) > 0 && (scene.get(t, last + 1) & ALONE) === 0 ? scene.get(t, last) : 0;
}

/** Takes a promise out of the queue, the first by default. */
function shift(scene: Scene, t: number, from = PROMISES): void {
  const left = scene.get(t, QUEUE) - 1;
  // A later promise may get the same ticket.
  scene.set(t, ASKED_TO_LEAVE, scene.get(t, ASKED_TO_LEAVE) & ~(1 << scene.get(t, from + 2)));
  scene.set(t, QUEUE, left);
  for (let i = from; i < PROMISES + 4 * MOST_PROMISES; i++) {
    scene.set(t, i, i < PROMISES + 4 * left ? scene.get(t, i + 4) : 0);
  }
}

/** Rejects a promise, and takes it out of the queue. If its rejection is caught, a continuation is ready. */
function reject(scene: Scene, t: number, why: number, at = PROMISES): void {
  if ((scene.get(t, at + 1) & CAUGHT) !== 0) ready(scene, t, why);
  shift(scene, t, at);
}

/** Fulfils `count` promises of the first run. */
export function fulfil(scene: Scene, t: number, count: number): void {
  const run = firstRun(scene, t);
  for (let i = 0; i < count; i++) {
    if (firstRun(scene, t) !== run || run === 0) {
      throw new Violation(`thread ${t} is to fulfil ${count} promises of a run that has ${i}`);
    }
    const width = scene.get(t, PROMISES + 1) & (ALONE - 1);
    scene.admitted(t, 0, width, scene.get(t, PROMISES + 2), scene.get(t, PROMISES + 3));
    ready(scene, t, width);
    shift(scene, t);
  }
}

/**
 * Queues a continuation as a microtask. READY has four bits for each continuation, which say what it learns. The
 * continuation that runs next has the lowest bits.
 */
export function ready(scene: Scene, t: number, answer: number): void {
  if (answer > 15) throw new Error(`a model's promises ask for at most 15 permits, got ${answer}`);
  const list = scene.get(t, READY);
  let bits = 0;
  while (((list >>> bits) & 15) !== 0) bits += 4;
  if (bits > 28) throw new Error("a model's thread has at most 8 continuations");
  scene.set(t, READY, list | (answer << bits));
}

export function flushSoon(scene: Scene, t: number): void {
  if (scene.get(t, QUEUE) > 0) scene.set(t, FLUSH_DUE, 1);
}

/** Begins to settle the promises that are due. Returns whether a call is under way. `settling` takes up its answer. */
export function settle(scene: Scene, t: number): boolean {
  const run = firstRun(scene, t);
  scene.set(t, SETTLING, run === 0 ? 0 : IN_SETTLE);
  if (run !== 0) scene.call(t, 'settle', run, scene.robust(t, 0));
  return run !== 0;
}

/** Goes on settling. Returns whether another call is under way. */
export function settling(scene: Scene, t: number): boolean {
  const stage = scene.get(t, SETTLING);
  const count = scene.result(t);
  if (stage === DROPPING) return cancelRuns(scene, t);
  if (stage === COMPARING) {
    const isNew = count !== scene.get(t, SEEN);
    scene.set(t, SEEN, count);
    scene.set(t, SETTLING, 0);
    return isNew && leave(scene, t);
  }
  if (stage === LEAVING) return left(scene, t);
  if (stage === LEFT) return leave(scene, t);
  if (stage === LEFT_ALONE) return settle(scene, t);
  if (stage === FIRST) {
    scene.set(t, SEEN, count);
    scene.set(t, SETTLING, 0);
    return false;
  }
  if (count > 0) {
    fulfil(scene, t, count);
    return stage === NOT_LEFT ? leave(scene, t) : settle(scene, t);
  }
  if (stage === NOT_LEFT && count === 0) throw new Violation(`a run of thread ${t} can neither leave nor be settled`);
  if (count < 0) {
    expectClosed(scene, t, count, 0);
    return cancelRuns(scene, t);
  }
  scene.set(t, SETTLING, 0);
  return false;
}

/** Says whether the thread learns the count of cancelAll for its first promise. */
export function isLearning(scene: Scene, t: number): boolean {
  return scene.get(t, SETTLING) === FIRST;
}

/** Begins to compare the count of cancelAll. Returns whether a call is under way. `settling` takes up its answer. */
export function obey(scene: Scene, t: number): boolean {
  if (!scene.model.asks) return false;
  scene.set(t, SETTLING, COMPARING);
  scene.call(t, 'asks', scene.semaphores[0]);
  return true;
}

/** Begins to cancel all promises of the thread, because cancelAll has been called. */
function leave(scene: Scene, t: number): boolean {
  const run = firstRun(scene, t);
  scene.set(t, SETTLING, run === 0 ? 0 : LEAVING);
  if (run !== 0) scene.call(t, 'cancelRun', run);
  return run !== 0;
}

function left(scene: Scene, t: number): boolean {
  const run = firstRun(scene, t);
  const answer = scene.result(t);
  if (answer === CANCELLED || answer === MORE) {
    while (firstRun(scene, t) === run) reject(scene, t, REJECTED_CANCELLED);
    return answer === MORE ? finishCancelling(scene, t, LEFT) : leave(scene, t);
  }
  scene.set(t, SETTLING, NOT_LEFT);
  scene.call(t, 'settle', run, scene.robust(t, 0));
  return true;
}

/** Begins to settle the tombstone of a run that has been cancelled. */
function finishCancelling(scene: Scene, t: number, stage: number): true {
  scene.set(t, SETTLING, stage);
  scene.call(t, 'finishCancelRun');
  return true;
}

function cancelRuns(scene: Scene, t: number): boolean {
  const run = firstRun(scene, t);
  scene.set(t, SETTLING, run === 0 ? 0 : DROPPING);
  if (run === 0) return false;
  while (firstRun(scene, t) === run) reject(scene, t, REJECTED_CLOSED);
  scene.call(t, 'dropRun', run);
  return true;
}

// Flags in a promise's width.
const ALONE = 256; // the promise may cancel, and has a run of its own
const CAUGHT = 512; // the program catches the rejection of the promise

// A continuation learns the width of a promise that is fulfilled, or one of these numbers if the promise is rejected.
/** The promise was cancelled, or the arena had no room for it. */
export const REJECTED_CANCELLED = 14;
const REJECTED_CLOSED = 15;

// Phases of arrive. OBEYS: earlier promises leave, because cancelAll was called. OBEYED: the new promise learns the
// count of cancelAll.
const OBEYS = 10;
const OBEYED = 11;

/** `acquireAsync(n)`. `eventLoop` runs the continuation; after a rejection, only if `caught` is true. */
export function arrive(n = 1, alone = false, caught = false): Op {
  return {
    text: `acquireAsync(${n}${alone ? ', signal' : ''})`,
    next(scene, t) {
      const phase = scene.get(t, PHASE);
      if (phase === OBEYS) {
        if (settling(scene, t)) return false;
        flushSoon(scene, t);
      } else if (phase === OBEYED) return !settling(scene, t);
      else scene.set(t, PHASE, phase + 1);
      if (phase === 0 && scene.get(t, QUEUE) > 0 && obey(scene, t)) {
        scene.set(t, PHASE, OBEYS);
        return false;
      }
      if (phase === 0 || phase === OBEYS) {
        scene.set(t, PHASE, 1);
        scene.call(t, 'arrive', scene.semaphores[0], n, alone ? 0 : lastRun(scene, t), scene.robust(t, 0));
        return false;
      }
      if (phase === 1) {
        const answer = scene.result(t);
        if (answer > 0) {
          queued(scene, t, answer, n | (alone ? ALONE : 0) | (caught ? CAUGHT : 0));
          if (scene.get(t, QUEUE) > 1 || !scene.model.asks) return true;
          // This promise is the first, so no promise can leave here. It only learns the count.
          scene.set(t, PHASE, OBEYED);
          scene.set(t, SETTLING, FIRST);
          scene.call(t, 'asks', scene.semaphores[0]);
          return false;
        }
        scene.set(t, ANSWER, answer);
        if (settle(scene, t)) return false;
      } else {
        if (settling(scene, t)) return false;
        flushSoon(scene, t);
      }
      const answer = scene.get(t, ANSWER);
      if (answer === ADMITTED) {
        scene.admittedNow(t, 0, n);
        ready(scene, t, n);
        return true;
      }
      if (caught) ready(scene, t, answer === ANSWER_FULL ? REJECTED_CANCELLED : REJECTED_CLOSED);
      return (caught && answer === ANSWER_FULL) || expectClosed(scene, t, answer, 0);
    },
    // The other promises of the thread are settled before the scene learns that this promise was granted.
    granted: (scene, t) =>
      scene.get(t, PHASE) > 1 && scene.get(t, PHASE) < OBEYS && scene.get(t, ANSWER) === ADMITTED ? n : 0,
  };
}

function queued(scene: Scene, t: number, run: number, width: number): true {
  const waiting = scene.get(t, QUEUE);
  if (waiting === MOST_PROMISES) throw new Error(`a model's thread has at most ${MOST_PROMISES} promises`);
  const at = PROMISES + 4 * waiting;
  scene.set(t, at, run);
  scene.set(t, at + 1, width);
  scene.set(t, at + 2, scene.ticketLo(t));
  scene.set(t, at + 3, scene.ticketHi(t));
  scene.set(t, QUEUE, waiting + 1);
  if (waiting === 0) scene.set(t, FLUSH_DUE, 1);
  return true;
}

/** Returns where the nth promise that may cancel stands or, if there are fewer, the end of the queue. */
export function patient(scene: Scene, t: number, n = 1): number {
  const end = PROMISES + 4 * scene.get(t, QUEUE);
  let at = PROMISES - 4;
  for (let left = n; left > 0 && at < end; ) {
    at += 4;
    if (at < end && (scene.get(t, at + 1) & ALONE) !== 0) left--;
  }
  return at;
}

/** Takes up the answer of cancelRun. Returns whether another call is under way. `settling` takes up its answer. */
export function cancelled(scene: Scene, t: number, at: number): boolean {
  const answer = scene.result(t);
  if (answer === CANCELLED || answer === MORE) reject(scene, t, REJECTED_CANCELLED, at);
  else if (answer !== ADMITTED) expectClosed(scene, t, answer, 0);
  return answer === MORE ? finishCancelling(scene, t, LEFT_ALONE) : settle(scene, t);
}

/** Fires the signal of the nth promise that has one, if that promise waits. */
export function abort(n = 1): Op {
  return {
    text: n === 1 ? 'abort' : `abort ${n}`,
    next(scene, t) {
      const phase = scene.get(t, PHASE);
      scene.set(t, PHASE, phase + 1);
      const at = patient(scene, t, n);
      if (phase === 0) {
        if (at === PROMISES + 4 * scene.get(t, QUEUE)) return true;
        scene.call(t, 'cancelRun', scene.get(t, at));
        return false;
      }
      if (phase === 1) {
        if (cancelled(scene, t, at)) return false;
      } else if (settling(scene, t)) return false;
      flushSoon(scene, t);
      return true;
    },
  };
}

/** Enters the first run in the waiting array. A thread enters it before it sleeps, if no promise is due. */
export function flush(): Op {
  return {
    text: 'flush',
    next(scene, t) {
      if (scene.get(t, PHASE) === 1) return true;
      scene.set(t, PHASE, 1);
      scene.call(t, 'enterRun', firstRun(scene, t));
      return false;
    },
  };
}
