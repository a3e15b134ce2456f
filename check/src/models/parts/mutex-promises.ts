/**
 * The work that src/mutex/mutex.ts, src/runtime/head-promise.ts and src/runtime/doorbell.ts do around the core for promises
 * of a mutex. The ops are machines of a few phases, since the search must be able to stop between any two accesses.
 *
 * The promises of a thread are in a queue. The first of them may be the head; those behind it stand in runs.
 */

import { Violation } from '../../engine/search/violation.js';
import {
  ADMITTED,
  ANSWER_CLOSED,
  CANCELLED,
  constant,
  E_HELD,
  ELEMENT_SIZE,
  OBJECT_SIZE,
  REFUSED,
  TICKET,
} from '../../scene/layout.js';
import type { Op } from '../../scene/model.js';
import { noteWaiter, noteWaiters } from '../../scene/ops/asking.js';
import { eventLoop } from '../../scene/ops/event-loop.js';
import { ready } from '../../scene/ops/promises.js';
import type { Scene } from '../../scene/scene.js';
import {
  ASKED_TO_LEAVE,
  ASKING,
  FLUSH_DUE,
  HEAD_LEAVES,
  HEAD_SEEN,
  PHASE,
  QUEUE,
  SEEN,
  TAKEN,
} from '../../scene/words.js';
import {
  ALONE,
  ARRIVING,
  CANCELLING,
  CONTENDED,
  expectClosed,
  forgetArrival,
  HAS,
  HEAD_PROMISE,
  has,
  ITS_TICKET,
  KIND,
  mutex,
  promiseAt,
  queued,
  RUN,
  remove,
  STAGE,
  UNLOCKING_TO_OWN,
  WAITS,
} from './mutex-words.js';

const MORE = constant('MORE');
const ANSWER_NOT_HELD = constant('ANSWER_NOT_HELD');

// Stages: each says which call of the core is under way.
const TRYING = 1; // the head promise tries to take the lock
const SETTLING = 2;
const TRYING_NEWS = 3; // like TRYING, for a promise that has just become the head; then the thread goes on SETTLING
const DROPPING = 4;
const UNLOCKING = 5;
const WAKING = 6;
const OBEYING = 7; // the thread compares the count of cancelAll with the count that it has seen
const LEAVING = 8; // the first run leaves, because of cancelAll
const NOT_LEFT = 9; // promises of the run were due before it could leave: they are settled
const TRYING_TO_LEAVE = 10; // after NOT_LEFT: the promise that has become the head tries to take the lock
const LEAVING_AS_HEAD = 11;
const LEFT = 12; // the thread settles the tombstone of a run that has left because of cancelAll
const LEFT_ALONE = 13; // the thread settles the tombstone of a promise whose signal has fired
const OBEYING_AS_HEAD = 14; // like OBEYING, for the head: it compares with the count that it has seen itself

function head(scene: Scene, t: number): boolean {
  return scene.get(t, HEAD_PROMISE) === 1;
}

/** The first promise becomes the head. It has seen the count `seen` of cancelAll. */
function becomeHead(scene: Scene, t: number, seen: number): void {
  scene.set(t, HEAD_PROMISE, 1);
  scene.set(t, HEAD_SEEN, seen);
  scene.set(t, FLUSH_DUE, 1);
}

/** The promise that is the head does not wait any more. */
function removeHead(scene: Scene, t: number): void {
  remove(scene, t);
  scene.set(t, HEAD_PROMISE, 0);
  scene.set(t, HEAD_SEEN, 0);
}

/** The number of the first run, or 0. The head is in no run. */
function firstRun(scene: Scene, t: number): number {
  const n = scene.get(t, HEAD_PROMISE);
  return scene.get(t, QUEUE) > n ? scene.get(t, promiseAt(n) + RUN) : 0;
}

/** The number of the run that the next promise may join, or 0. */
function lastRun(scene: Scene, t: number): number {
  const last = promiseAt(scene.get(t, QUEUE) - 1);
  return firstRun(scene, t) !== 0 && scene.get(t, last + KIND) !== ALONE ? scene.get(t, last + RUN) : 0;
}

function call(scene: Scene, t: number, stage: number, name: string, ...args: number[]): true {
  scene.set(t, STAGE, stage);
  scene.call(t, name, ...args);
  return true;
}

/** Lets the head try to take the lock. */
function tryHead(scene: Scene, t: number, stage: number): true {
  return call(scene, t, stage, 'reserveLock', mutex(scene), scene.attachment(t, 0));
}

/** Settles the promises that are due. Returns whether a call is under way. `goesOn` takes up its answer. */
function settle(scene: Scene, t: number): boolean {
  const run = firstRun(scene, t);
  if (run !== 0) return call(scene, t, SETTLING, 'settle', run, scene.attachment(t, 0));
  scene.set(t, STAGE, 0);
  return false;
}

function drop(scene: Scene, t: number): boolean {
  const run = firstRun(scene, t);
  // When a library object has learnt that the mutex is closed, it tells the head too.
  if (run === 0) return head(scene, t) ? tryHead(scene, t, TRYING) : settle(scene, t);
  const n = scene.get(t, HEAD_PROMISE);
  while (firstRun(scene, t) === run) remove(scene, t, n);
  return call(scene, t, DROPPING, 'dropRun', run);
}

/** Takes up the answer of the call under way. Returns whether another call is under way now. */
function goesOn(scene: Scene, t: number): boolean {
  const answer = scene.result(t);
  const stage = scene.get(t, STAGE);
  switch (stage) {
    case TRYING:
    case TRYING_NEWS:
      if (answer !== REFUSED) {
        if (answer === ADMITTED) {
          has(scene, t);
          ready(scene, t, 1);
        } else expectClosed(scene, t, answer);
        removeHead(scene, t);
        flushSoon(scene, t);
      } else if (stage === TRYING) return obey(scene, t, OBEYING_AS_HEAD);
      // The rest looks after the new head.
      return settle(scene, t);
    case SETTLING:
      if (answer < 0) {
        expectClosed(scene, t, answer);
        return drop(scene, t);
      }
      if (answer === 0) {
        scene.set(t, STAGE, 0);
        return false;
      }
      if (answer !== 1 || head(scene, t)) throw new Violation(`thread ${t} has more than one head promise`);
      becomeHead(scene, t, scene.get(t, SEEN));
      return tryHead(scene, t, TRYING_NEWS);
    case OBEYING: {
      const isNew = answer !== scene.get(t, SEEN);
      scene.set(t, SEEN, answer);
      scene.set(t, STAGE, 0);
      return isNew ? leave(scene, t) : leaveAsHead(scene, t);
    }
    case OBEYING_AS_HEAD:
      scene.set(t, STAGE, 0);
      if (answer === scene.get(t, HEAD_SEEN)) return false;
      scene.set(t, HEAD_LEAVES, 1);
      return obey(scene, t);
    case LEAVING: {
      const run = firstRun(scene, t);
      scene.set(t, CANCELLING, 0);
      if (answer !== CANCELLED && answer !== MORE)
        return call(scene, t, NOT_LEFT, 'settle', run, scene.attachment(t, 0));
      remove(scene, t, scene.get(t, HEAD_PROMISE));
      return answer === MORE ? call(scene, t, LEFT, 'finishCancelRun') : leave(scene, t);
    }
    case LEFT:
      return leave(scene, t);
    case LEFT_ALONE:
      return settle(scene, t);
    case NOT_LEFT:
      if (answer < 0) {
        expectClosed(scene, t, answer);
        return drop(scene, t);
      }
      if (answer !== 1 || head(scene, t)) throw new Violation(`thread ${t} has ${answer} promises that cannot leave`);
      // It is older than the call of cancelAll, also if it leaves later.
      becomeHead(scene, t, scene.get(t, SEEN) - 1);
      return tryHead(scene, t, TRYING_TO_LEAVE);
    case TRYING_TO_LEAVE:
      if (answer !== REFUSED) {
        if (answer === ADMITTED) {
          has(scene, t);
          ready(scene, t, 1);
        } else expectClosed(scene, t, answer);
        removeHead(scene, t);
      }
      return leave(scene, t);
    case LEAVING_AS_HEAD:
      scene.set(t, CANCELLING, 0);
      removeHead(scene, t);
      flushSoon(scene, t);
      return settle(scene, t);
    case DROPPING:
      return drop(scene, t);
    case UNLOCKING_TO_OWN:
      if (answer === 0) return call(scene, t, UNLOCKING, 'unlock', mutex(scene));
      has(scene, t);
      ready(scene, t, 1);
      remove(scene, t);
      becomeHead(scene, t, scene.get(t, SEEN));
      break;
    case UNLOCKING:
      if (answer === ANSWER_NOT_HELD) throw new Violation(`thread ${t} cannot unlock`);
      if (answer !== MORE) break;
      return head(scene, t) ? tryHead(scene, t, TRYING) : call(scene, t, WAKING, 'wakeHead', mutex(scene));
  }
  scene.set(t, STAGE, 0);
  return false;
}

function flushSoon(scene: Scene, t: number): void {
  if (firstRun(scene, t) !== 0) scene.set(t, FLUSH_DUE, 1);
}

/**
 * Begins to compare the count of cancelAll with the count that the promises in the queue have seen, or the head. Returns
 * whether a call is under way. `goesOn` takes up its answer.
 */
export function obey(scene: Scene, t: number, stage = OBEYING): boolean {
  scene.set(t, STAGE, 0);
  return scene.model.asks === true && call(scene, t, stage, 'asks', mutex(scene));
}

/** Lets the promises in the queue leave, and then the head if it is to leave too. */
function leave(scene: Scene, t: number): boolean {
  const run = firstRun(scene, t);
  if (run === 0) return leaveAsHead(scene, t);
  scene.set(t, CANCELLING, scene.get(t, HEAD_PROMISE) + 1);
  return call(scene, t, LEAVING, 'cancelRun', run);
}

function leaveAsHead(scene: Scene, t: number): boolean {
  const leaves = scene.get(t, HEAD_LEAVES) === 1 && head(scene, t);
  scene.set(t, STAGE, 0);
  scene.set(t, HEAD_LEAVES, 0);
  if (!leaves) return false;
  scene.set(t, CANCELLING, 1);
  return call(scene, t, LEAVING_AS_HEAD, 'cancelHead', mutex(scene), scene.attachment(t, 0));
}

/** `cancelAll()`. The promises of the thread itself leave before it returns. */
export function cancelAll(): Op {
  return {
    text: 'cancelAll',
    next(scene, t) {
      const phase = scene.get(t, PHASE);
      scene.set(t, PHASE, Math.min(phase + 1, 3));
      if (phase === 0) {
        scene.hostLoad(t, mutex(scene) + TICKET);
        return false;
      }
      if (phase === 1) {
        noteWaiters(scene, mutex(scene));
        noteHead(scene);
        scene.set(t, ASKING, scene.get(t, ASKING) + 3);
        scene.call(t, 'askAll', mutex(scene));
        return false;
      }
      if (phase === 4) return true;
      scene.set(t, ASKING, scene.get(t, ASKING) & ~1);
      if (phase === 2) scene.set(t, HEAD_LEAVES, 1);
      if (phase === 2 ? obey(scene, t) : goesOn(scene, t)) return false;
      scene.set(t, PHASE, 4);
      scene.call(t, 'wakeHead', mutex(scene));
      return false;
    },
  };
}

/** Notes the thread that is the head, by its ticket. */
function noteHead(scene: Scene): void {
  for (const t of scene.threadNumbers) {
    const e = scene.regions.elements + (scene.attachment(t, 0) - 1) * ELEMENT_SIZE;
    if (scene.machine.words[(e + E_HELD) >> 2] !== 0 && !head(scene, t)) noteWaiter(scene, t, scene.get(t, TAKEN));
  }
}

/** Checks, at the end, that nobody who was asked to leave still waits. */
export function checkLeft(scene: Scene): void {
  for (let t = 0; t < scene.threads; t++) {
    if (scene.dead(t) || scene.finished(t)) continue;
    const tickets = scene.get(t, WAITS) === 1 ? [scene.get(t, TAKEN)] : [];
    for (let n = 0; n < scene.get(t, QUEUE); n++) tickets.push(scene.get(t, promiseAt(n) + ITS_TICKET));
    const stayed = tickets.find((ticket) => (scene.get(t, ASKED_TO_LEAVE) >> ticket) & 1);
    if (stayed !== undefined) throw new Violation(`thread ${t} waits with ticket ${stayed}, and was asked to leave`);
  }
}

/**
 * `unlock()` by the owner. Returns whether a call is under way. If a call is under way, the next call of `unlocking`
 * takes up its answer.
 */
export function unlocking(scene: Scene, t: number): boolean {
  if (scene.get(t, STAGE) !== 0) return goesOn(scene, t);
  scene.set(t, HAS, 0);
  const run = firstRun(scene, t);
  if (!head(scene, t) || run === 0) return call(scene, t, UNLOCKING, 'unlock', mutex(scene));
  // The thread plans a rest before, because the call may take the run out of the waiting array.
  scene.set(t, FLUSH_DUE, 1);
  return call(scene, t, UNLOCKING_TO_OWN, 'unlockToOwn', mutex(scene), run, scene.attachment(t, 0));
}

// The phases of lockAsync.
const BEGIN = 0;
const LOCKED = 1;
const TRIED = 2;
const ARRIVED = 3;
const REST = 4;
const OBEYS = 5;

/** `lockAsync()`, whose continuation unlocks; `loop` runs it. */
export function lockAsync(alone: boolean): Op {
  return {
    text: `lockAsync(${alone ? '{ signal }' : ''})`,
    next(scene, t) {
      const m = mutex(scene);
      const answer = scene.result(t);
      const go = (phase: number, name: string, ...args: number[]): false => {
        scene.set(t, PHASE, phase);
        scene.call(t, name, ...args);
        return false;
      };
      const locked = (): true => {
        has(scene, t);
        ready(scene, t, 1);
        return true;
      };
      const arrive = (): false => {
        scene.set(t, ARRIVING, alone ? ALONE : 1);
        return go(ARRIVED, 'arrive', m, 1, alone ? 0 : lastRun(scene, t), scene.attachment(t, 0));
      };
      const closed = (): boolean => {
        expectClosed(scene, t, answer);
        scene.set(t, PHASE, REST);
        return !(head(scene, t) ? tryHead(scene, t, TRYING) : settle(scene, t));
      };
      switch (scene.get(t, PHASE)) {
        case BEGIN:
          return go(LOCKED, 'lock', m);
        case LOCKED:
          if (answer === ADMITTED) return locked();
          if (answer !== CONTENDED) throw new Violation(`lock is answered ${answer}`);
          return go(TRIED, 'tryLock', m);
        case TRIED:
          if (answer === ADMITTED) return locked();
          if (answer !== REFUSED) return closed();
          if (obey(scene, t)) {
            scene.set(t, PHASE, OBEYS);
            return false;
          }
          return arrive();
        case OBEYS:
          return goesOn(scene, t) ? false : arrive();
        case ARRIVED:
          scene.set(t, ARRIVING, 0);
          if (answer === ANSWER_CLOSED) {
            forgetArrival(scene, t);
            return closed();
          }
          if (answer < 0) throw new Violation(`thread ${t} is answered ${answer}`);
          if (scene.get(t, QUEUE) === 0) scene.set(t, FLUSH_DUE, 1);
          queued(scene, t, answer);
          if (answer > 0) return true;
          becomeHead(scene, t, scene.get(t, SEEN));
          scene.set(t, PHASE, REST);
          tryHead(scene, t, TRYING);
          return false;
        default:
          return !goesOn(scene, t);
      }
    },
  };
}

/** Fires the signal of the first waiting promise that has one. */
export function abort(): Op {
  return {
    text: 'abort',
    next(scene, t) {
      const phase = scene.get(t, PHASE);
      scene.set(t, PHASE, 1);
      if (phase === 1 && scene.get(t, CANCELLING) === 0) return !goesOn(scene, t);
      const waiting = scene.get(t, QUEUE);
      let n = 0;
      if (phase === 0) {
        while (n < waiting && scene.get(t, promiseAt(n) + KIND) !== ALONE) n++;
        if (n === waiting) return true;
        scene.set(t, CANCELLING, n + 1);
        if (n === 0 && head(scene, t)) scene.call(t, 'cancelHead', mutex(scene), scene.attachment(t, 0));
        else scene.call(t, 'cancelRun', scene.get(t, promiseAt(n) + RUN));
        return false;
      }
      n = scene.get(t, CANCELLING) - 1;
      scene.set(t, CANCELLING, 0);
      const answer = scene.result(t);
      const isHead = n === 0 && head(scene, t);
      if (isHead) removeHead(scene, t);
      else if (answer === CANCELLED || answer === MORE) remove(scene, t, n);
      else if (answer !== ADMITTED) expectClosed(scene, t, answer);
      flushSoon(scene, t);
      if (!isHead && answer === MORE) return !call(scene, t, LEFT_ALONE, 'finishCancelRun');
      return !settle(scene, t);
    },
  };
}

/** Whether the head is noted: the bit of a mutex is that of its place among the objects. */
function isNoted(scene: Scene, noted: number): boolean {
  return ((noted >>> (mutex(scene) / OBJECT_SIZE)) & 1) === 1;
}

/** The event loop, until no promise waits. */
export const loop = (): Op =>
  eventLoop({
    goOn: (scene, t) => !unlocking(scene, t),
    firstRun,
    settle,
    settling: goesOn,
    obey,
    look: (scene, t, noted) => head(scene, t) && isNoted(scene, noted) && tryHead(scene, t, TRYING),
  });
