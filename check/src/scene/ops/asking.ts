/** The op of cancelAll, and the check that every request that waited when cancelAll began has left. */
import { Violation } from '../../engine/search/violation.js';
import { constant, E_REQUEST, E_START, ELEMENT_SIZE, STATE_MASK, TICKET, WAITING } from '../layout.js';
import type { Op } from '../model.js';
import type { Scene } from '../scene.js';
import { objectIn } from '../set-up.js';
import { ASKED_TO_LEAVE, ASKING, PHASE, PROMISES, QUEUE } from '../words.js';
import { flushSoon, isLearning, obey, settling } from './promises.js';

const OWNER_SHIFT = constant('OWNER_SHIFT');
const ASYNC = constant('ASYNC');

/** Notes which requests wait for the object, by their tickets. The tickets of a model are below 31. */
export function noteWaiters(scene: Scene, object: number): void {
  const { elements, end } = scene.regions;
  const { words } = scene.machine;
  for (let e = elements; e < end; e += ELEMENT_SIZE) {
    const who = words[(e + E_REQUEST + 4) >> 2] >>> (OWNER_SHIFT - 32);
    if ((words[e >> 2] & STATE_MASK) !== WAITING || (who & ASYNC) !== 0 || objectIn(scene, e) !== object) continue;
    noteWaiter(scene, who - 1, words[(e + E_START) >> 2]);
  }
  for (const t of scene.threadNumbers) {
    // The wait of a promise begins only when its thread has learnt the count of cancelAll.
    if (isLearning(scene, t)) continue;
    for (let n = 0; n < scene.get(t, QUEUE); n++) noteWaiter(scene, t, scene.get(t, PROMISES + 4 * n + 2));
  }
}

/** Notes that a request of thread t waits with this ticket. */
export function noteWaiter(scene: Scene, t: number, ticket: number): void {
  scene.set(t, ASKED_TO_LEAVE, scene.get(t, ASKED_TO_LEAVE) | (1 << ticket));
}

/** `cancelAll()`. The promises of the thread itself leave before it returns. */
export function cancelAll(): Op {
  return {
    text: 'cancelAll',
    next(scene, t) {
      const phase = scene.get(t, PHASE);
      scene.set(t, PHASE, phase + 1);
      if (phase === 0) {
        // TICKET is a word that the checks read. So the search tries this load before and after each access of the
        // other threads.
        scene.hostLoad(t, scene.semaphores[0] + TICKET);
        return false;
      }
      if (phase === 1) {
        noteWaiters(scene, scene.semaphores[0]);
        scene.set(t, ASKING, scene.get(t, ASKING) + 3);
        scene.call(t, 'askAll', scene.semaphores[0]);
        return false;
      }
      scene.set(t, ASKING, scene.get(t, ASKING) & ~1);
      if (phase === 2 ? obey(scene, t) : settling(scene, t)) return false;
      flushSoon(scene, t);
      return true;
    },
  };
}

/** Checks, at the end, that nobody who was asked to leave still waits. */
export function checkLeft(scene: Scene): void {
  scene.waiters((t, semaphore, _, lo) => {
    if (semaphore === 0 && (scene.get(t, ASKED_TO_LEAVE) >> lo) & 1)
      throw new Violation(`thread ${t} waits with ticket ${lo}, and was asked to leave`);
  });
}
