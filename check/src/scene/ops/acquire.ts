/** The ops that acquire, blocking or not. They do what src/semaphore/semaphore.ts and src/runtime do around the core. */
import { Violation } from '../../engine/search/violation.js';
import { ADMITTED, ANSWER_CLOSED, CANCELLED, LEAVE, QUEUED, REFUSED, TIMED_OUT } from '../layout.js';
import type { Op, Waiting } from '../model.js';
import type { Scene } from '../scene.js';
import { ASKING, BEGAN, GOT, PHASE } from '../words.js';

export function admitted(scene: Scene, t: number, semaphore: number, width: number): void {
  scene.admittedNow(t, semaphore, width);
  scene.set(t, GOT + semaphore, scene.get(t, GOT + semaphore) + width);
}

/** Takes a ticket: each acquire begins in this way. */
function begin(scene: Scene, t: number, semaphore: number, n: number): void {
  const robust = scene.robust(t, semaphore);
  beginsToWait(scene, t);
  if (robust === 0 && n === 1) scene.call(t, 'acquireOne', scene.semaphores[semaphore]);
  else if (robust === 0) scene.call(t, 'acquire', scene.semaphores[semaphore], n);
  else scene.call(t, 'acquireRobust', scene.semaphores[semaphore], n, robust);
}

/** `acquire(n)` blocks. It ends without permits if the semaphore is disposed of. */
export function acquire(n = 1, semaphore = 0): Waiting {
  return {
    text: `acquire(${n})`,
    semaphore,
    width: n,
    next(scene, t) {
      const phase = scene.get(t, PHASE);
      const robust = scene.robust(t, semaphore);
      scene.set(t, PHASE, phase + 1);
      if (phase === 0) {
        begin(scene, t, semaphore, n);
        return false;
      }
      const answer = scene.result(t);
      if (answer === ADMITTED) {
        admitted(scene, t, semaphore, n);
        return true;
      }
      if (phase === 1) {
        scene.call(t, 'enqueue', scene.semaphores[semaphore], n, answer, robust);
        return false;
      }
      if (phase === 2 && answer === QUEUED) {
        scene.call(t, 'park', 0, robust);
        return false;
      }
      if (phase === 3 && answer === LEAVE) {
        expectAsked(scene, t, semaphore);
        scene.call(t, 'cancel', scene.semaphores[semaphore], robust);
        return false;
      }
      if (phase === 4 && answer === CANCELLED) return true;
      return expectClosed(scene, t, answer, semaphore);
    },
  };
}

/**
 * `acquire(n, { timeout })`. Every sleep may time out, and then the request is cancelled. With `patient` the thread
 * waits a second time before it cancels, as after a wake-up for no reason. If no element is free, a cancelled request
 * could leave no tombstone. So in this case the call does not wait: it only tries.
 */
export function acquireFor(n = 1, semaphore = 0, patient = false): Waiting {
  return {
    text: `acquire(${n}, timeout)`,
    semaphore,
    width: n,
    next(scene, t) {
      const at = scene.semaphores[semaphore];
      const phase = scene.get(t, PHASE);
      const answer = scene.result(t);
      const robust = scene.robust(t, semaphore);
      const to = (next: number): void => scene.set(t, PHASE, next);
      const parkFor = (): false => {
        scene.call(t, 'parkFor', 1, 0, 0, robust);
        return false;
      };
      if (phase === 0) {
        to(1);
        scene.call(t, 'reserveSecond');
        return false;
      }
      if (phase === 1 && answer === 0) {
        to(7);
        if (robust === 0) scene.call(t, 'tryAcquire', at, n);
        else scene.call(t, 'tryAcquireRobust', at, n, robust);
        return false;
      }
      if (phase === 1) {
        to(2);
        begin(scene, t, semaphore, n);
        return false;
      }
      if (answer === ADMITTED) {
        admitted(scene, t, semaphore, n);
        return true;
      }
      if (phase === 2) {
        to(3);
        scene.call(t, 'enqueue', at, n, answer, robust);
        return false;
      }
      if (phase === 3 && answer === QUEUED) {
        to(patient ? 4 : 5);
        return parkFor();
      }
      if (answer === TIMED_OUT || answer === LEAVE) {
        if (answer === LEAVE) expectAsked(scene, t, semaphore);
        else if (phase === 4) {
          to(5);
          return parkFor();
        }
        to(6);
        scene.call(t, 'cancel', at, robust);
        return false;
      }
      if (answer === (phase === 7 ? REFUSED : CANCELLED) && phase >= 6) return true;
      return expectClosed(scene, t, answer, semaphore);
    },
  };
}

/**
 * Notes that a wait of the thread begins. A cancelAll may end this wait only if it is under way now or is called later.
 */
export function beginsToWait(scene: Scene, t: number): void {
  if (!scene.model.asks) return;
  const underWay = scene.threadNumbers.filter((u) => scene.get(u, ASKING) & 1).length;
  scene.set(t, BEGAN, timesAsked(scene) - underWay);
}

/**
 * Throws unless a cancelAll of the first semaphore may have ended the wait of the thread: this cancelAll was under way
 * when the wait began, or was called later.
 */
export function expectAsked(scene: Scene, t: number, semaphore = 0): void {
  if (!scene.model.asks || semaphore !== 0 || timesAsked(scene) <= scene.get(t, BEGAN))
    throw new Violation(`thread ${t} is to leave, and nobody has asked it to`);
}

function timesAsked(scene: Scene): number {
  return scene.threadNumbers.reduce((sum, t) => sum + (scene.get(t, ASKING) >> 1), 0);
}

/** Throws unless the answer says that the semaphore is closed, and the semaphore is closed. */
export function expectClosed(scene: Scene, t: number, answer: number, semaphore: number): true {
  if (answer !== ANSWER_CLOSED) throw new Violation(`thread ${t} is answered ${answer}`);
  if (!scene.closed(semaphore)) throw new Violation(`thread ${t} learns that the semaphore is closed`);
  return true;
}

/**
 * `drain()`. The next release gives back the permits that the drain got. If `all` is given, the drain must get either
 * no permits or `all` permits. A model gives `all` if no call in it takes or gives back fewer permits at a time.
 */
export function drain(all = 0, semaphore = 0): Op {
  return {
    text: 'drain',
    next(scene, t) {
      if (scene.get(t, PHASE) === 0) {
        scene.set(t, PHASE, 1);
        scene.call(t, 'drain', scene.semaphores[semaphore], scene.robust(t, semaphore));
        return false;
      }
      const answer = scene.result(t);
      if (answer === 0) return true;
      if (answer < 0) return expectClosed(scene, t, answer, semaphore);
      if (all > 0 && answer !== all) throw new Violation(`thread ${t} drains ${answer} of ${all} permits`);
      admitted(scene, t, semaphore, answer);
      return true;
    },
  };
}

/** `reduce(n)`: n permits are taken back for good, at once or once they are granted. */
export function reduce(n = 1, semaphore = 0): Op {
  return {
    text: `reduce(${n})`,
    next(scene, t) {
      if (scene.get(t, PHASE) === 0) {
        scene.set(t, PHASE, 1);
        scene.reducing(t, semaphore, n);
        scene.call(t, 'reduce', scene.semaphores[semaphore], n);
        return false;
      }
      const answer = scene.result(t);
      return answer === ADMITTED || expectClosed(scene, t, answer, semaphore);
    },
  };
}

/** `tryAcquire(n)`. The next release gives back the permits that this call got. */
export function tryAcquire(n = 1, semaphore = 0): Op {
  return {
    text: `tryAcquire(${n})`,
    next(scene, t) {
      if (scene.get(t, PHASE) === 0) {
        scene.set(t, PHASE, 1);
        const robust = scene.robust(t, semaphore);
        if (robust === 0) scene.call(t, 'tryAcquire', scene.semaphores[semaphore], n);
        else scene.call(t, 'tryAcquireRobust', scene.semaphores[semaphore], n, robust);
        return false;
      }
      const answer = scene.result(t);
      if (answer === REFUSED) return true;
      if (answer !== ADMITTED) return expectClosed(scene, t, answer, semaphore);
      admitted(scene, t, semaphore, n);
      return true;
    },
  };
}
