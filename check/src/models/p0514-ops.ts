/**
 * The work of src/p0514/semaphore.ts around the core, as machines of a few phases, for blocked threads and promises.
 * The event loop of scene/ops/event-loop.ts runs the continuations. The models are in p0514.ts.
 */

import { Violation } from '../engine/search/violation.js';
import { ADMITTED, ANSWER_CLOSED, constant, QUEUED, REFUSED } from '../scene/layout.js';
import type { Op } from '../scene/model.js';
import { acquire, acquireFor, tryAcquire } from '../scene/ops/acquire.js';
import { call } from '../scene/ops/calls.js';
import type { Jobs } from '../scene/ops/event-loop.js';
import { arrive, CANCELLED, ready, settle, settling } from '../scene/ops/promises.js';
import { releasing } from '../scene/ops/release.js';
import type { Scene } from '../scene/scene.js';
import { GOT, LOCAL, PHASE } from '../scene/words.js';

const O_COUNTER = constant('O_COUNTER');
export const NOTIFY = { S: constant('NOTIFY_ALL'), O: constant('NOTIFY_ONE'), N: constant('NOTIFY_NONE') };

/** The word in which a thread counts. Each constant is the bit at which a count begins. */
const TALLY = GOT + 1;
export const TAKEN = 0;
export const SIGNALLED = 8;
export const HANDED = 16;
/** The promises of the thread that look again after a short while. */
const NAPS = 24;
// Words within an operation or a continuation. While one runs, the event loop needs none but PHASE.
const STAGE = LOCAL + 4;
const WIDTH = LOCAL + 1;

const tally = (scene: Scene, t: number, what: number): number => (scene.get(t, TALLY) >> what) & 0xff;

function count(scene: Scene, t: number, what: number, more: number): void {
  scene.set(t, TALLY, scene.get(t, TALLY) + (more << what));
}

export const total = (scene: Scene, what: number): number =>
  scene.threadNumbers.reduce((sum, t) => sum + tally(scene, t, what), 0);

export const counter = (scene: Scene): number => (scene.semaphores[0] as number) + O_COUNTER;

function through(scene: Scene, t: number, initial: number): true {
  count(scene, t, TAKEN, 1);
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
const TELLING_LAST = 8; // the same, but nothing follows
const SIGNALLING = 9;
const RELEASING = 10;

const queueOf = (scene: Scene): number => scene.semaphores[0] as number;

/** `wait()`, or `tryWaitFor(ms)`. */
export function wait(initial: number, timed = false): Op {
  const queue = timed ? acquireFor() : acquire();
  const look = tryAcquire();
  return {
    ...queue,
    text: timed ? 'tryWaitFor' : 'wait',
    next(scene, t) {
      const to = (stage: number): void => scene.set(t, STAGE, stage);
      switch (scene.get(t, STAGE)) {
        case 0:
          to(COUNTING);
          scene.call(t, 'countDown', queueOf(scene));
          return false;
        case COUNTING:
          if (scene.result(t) === ADMITTED) return through(scene, t, initial);
          if (scene.result(t) !== QUEUED) return closes(scene, t);
          to(QUEUEING);
          return this.next(scene, t);
        case QUEUEING: {
          const got = scene.get(t, GOT);
          if (!queue.next(scene, t)) return false;
          return scene.get(t, GOT) > got ? through(scene, t, initial) : refused(scene, t);
        }
        case LEAVING:
          if (scene.result(t) === REFUSED) return true;
          scene.set(t, PHASE, 0);
          to(LOOKING);
          return this.next(scene, t);
        case LOOKING: {
          const got = scene.get(t, GOT);
          if (!look.next(scene, t)) return false;
          return scene.get(t, GOT) > got ? through(scene, t, initial) : refused(scene, t);
        }
        case LEAVING_CLOSED:
          return scene.result(t) === REFUSED ? isClosed(scene, t) : through(scene, t, initial);
        case REJECTING:
          return !settling(scene, t) && leave(scene, t, LEAVING_CLOSED);
        default:
          return closes(scene, t);
      }
    },
  };
}

/** The queue has not answered with a permit. If it is closed, the promises of the thread learn that first. */
function refused(scene: Scene, t: number): false {
  if (scene.result(t) !== ANSWER_CLOSED) return leave(scene, t, LEAVING);
  scene.set(t, STAGE, REJECTING);
  return !settle(scene, t) && leave(scene, t, LEAVING_CLOSED);
}

function leave(scene: Scene, t: number, stage: number): false {
  scene.set(t, STAGE, stage);
  scene.call(t, 'cancelWaiting', queueOf(scene));
  return false;
}

function isClosed(scene: Scene, t: number): true {
  if (scene.machine.words[(counter(scene) + 4) >> 2] > -0x20000000)
    throw new Violation(`thread ${t} learns that the semaphore is closed`);
  return true;
}

/** The counter is closed: closes the queue too, and lets the thread's promises learn of it. Returns true at the end. */
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

export function tryWait(initial: number): Op {
  return {
    text: 'tryWait',
    next(scene, t) {
      if (scene.get(t, STAGE) === 0) {
        scene.set(t, STAGE, COUNTING);
        scene.call(t, 'tryCountDown', queueOf(scene));
        return false;
      }
      if (scene.get(t, STAGE) !== COUNTING) return closes(scene, t);
      if (scene.result(t) === ADMITTED) return through(scene, t, initial);
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

const FULFILLED = 1;
/** What a promise is settled with when the short while is over after which it looks again. */
const LATER = 13;

/** `waitAsync()`, or `tryWaitForAsync(ms)`. */
export function waitAsync(timed = false): Op {
  const arrival = arrive(1, timed, true);
  return {
    ...arrival,
    text: timed ? 'tryWaitForAsync' : 'waitAsync',
    next(scene, t) {
      switch (scene.get(t, STAGE)) {
        case 0:
          scene.set(t, STAGE, COUNTING);
          scene.call(t, 'countDown', queueOf(scene));
          return false;
        case COUNTING:
          if (scene.result(t) === ADMITTED) {
            ready(scene, t, FULFILLED);
            return true;
          }
          if (scene.result(t) !== QUEUED) return closes(scene, t);
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

/** What a continuation does after it has taken something. */
type Then = 'nothing' | 'signals' | 'disposes';

/** Runs the continuation of a promise of the queue. Returns true at its end. */
function goesOn(scene: Scene, t: number, outcome: number, initial: number, then: Then): boolean {
  const answer = scene.result(t);
  const to = (stage: number): void => scene.set(t, STAGE, stage);
  const taken = (): boolean => {
    through(scene, t, initial);
    if (then === 'disposes') return disposes(scene, t);
    if (then === 'nothing') return true;
    to(SIGNALLING);
    countUp(scene, t, 1, NOTIFY.S);
    return false;
  };
  switch (scene.get(t, STAGE)) {
    case 0:
      if (outcome === FULFILLED) return taken();
      if (outcome !== LATER) return leave(scene, t, outcome === CANCELLED ? LEAVING : LEAVING_CLOSED);
      to(LOOKING);
      scene.call(t, 'tryAcquire', queueOf(scene), 1);
      return false;
    case LEAVING:
      if (answer !== REFUSED) count(scene, t, NAPS, 1);
      return true;
    case LEAVING_CLOSED:
      return answer === REFUSED ? isClosed(scene, t) : taken();
    case LOOKING:
      if (answer !== ADMITTED) return refused(scene, t);
      scene.admittedNow(t, 0, 1);
      return taken();
    case REJECTING:
      return !settling(scene, t) && leave(scene, t, LEAVING_CLOSED);
    case SIGNALLING:
      if (!hands(scene, t)) return true;
      to(RELEASING);
      break;
    case RELEASING:
      break;
    default:
      return closes(scene, t);
  }
  return releasing(scene, t, scene.get(t, WIDTH), 0, false);
}

export const jobs = (initial: number, then: Then): Jobs => ({
  goOn: (scene, t, answer) => goesOn(scene, t, answer, initial, then),
  timed: true,
  isSet: (scene, t) => tally(scene, t, NAPS) > 0,
  fire(scene, t) {
    count(scene, t, NAPS, -1);
    ready(scene, t, LATER);
  },
});

function countUp(scene: Scene, t: number, permits: number, notify: number): void {
  count(scene, t, SIGNALLED, permits);
  scene.call(t, 'countUp', scene.semaphores[0] as number, permits, notify);
}

/** Takes up the answer of countUp. Returns whether a release must follow. */
function hands(scene: Scene, t: number): boolean {
  const handed = scene.result(t);
  if (handed < 0) throw new Violation(`thread ${t}'s signal is answered ${handed}`);
  count(scene, t, HANDED, handed);
  scene.set(t, WIDTH, handed);
  return handed > 0;
}

export function signal(permits: number, notify: number, ifTaken = false): Op {
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
        if (!hands(scene, t)) return true;
        scene.set(t, PHASE, 2);
      }
      return releasing(scene, t, scene.get(t, WIDTH), 0, false);
    },
  };
}

/** Signals more than the value can hold; the call is refused and changes nothing. */
export const signalTooMany = (count: number): Op =>
  call(
    'countUp',
    (scene) => [scene.semaphores[0] as number, count, 0],
    (answer, _, t) => {
      if (answer !== constant('ANSWER_OVER_MAX')) throw new Violation(`thread ${t}'s signal is answered ${answer}`);
    },
  );
