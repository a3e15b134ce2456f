/** The op of cancelAll, and the check that all have left who waited when it began. */
import { Violation } from '../../engine/search/violation.js';
import { AWAKE, constant, E_END, E_REQUEST, E_START, ELEMENT_SIZE, STATE_MASK, WAITING } from '../layout.js';
import type { Op } from '../model.js';
import type { Scene } from '../scene.js';
import { objectIn } from '../set-up.js';
import { ASKED_TO_LEAVE, ASKING, PHASE } from '../words.js';
import { flushSoon, obey, settling } from './promises.js';

const THREAD_MASK = constant('THREAD_MASK');
const ASYNC = constant('ASYNC');

/** Notes who waits, by the first tickets of their requests, which are below 31 in a model. */
export function noteWaiters(scene: Scene, object: number): void {
  const { elements, end } = scene.regions;
  const { words } = scene.machine;
  for (let e = elements; e < end; e += ELEMENT_SIZE) {
    const state = words[e >> 2] & STATE_MASK;
    if ((state !== WAITING && state !== AWAKE) || objectIn(scene, e) !== object) continue;
    const who = words[(e + E_REQUEST + 4) >> 2] >>> 19;
    const t = (who & THREAD_MASK) - 1;
    const from = words[(e + E_START) >> 2];
    const to = (who & ASYNC) !== 0 ? words[(e + E_END) >> 2] : from + 1;
    for (let ticket = from; ticket < to; ticket++)
      scene.set(t, ASKED_TO_LEAVE, scene.get(t, ASKED_TO_LEAVE) | (1 << ticket));
  }
}

/** `cancelAll()`. The promises of the thread itself leave before it returns. */
export function cancelAll(): Op {
  return {
    text: 'cancelAll',
    next(scene, t) {
      const phase = scene.get(t, PHASE);
      scene.set(t, PHASE, phase + 1);
      if (phase === 0) {
        noteWaiters(scene, scene.semaphores[0]);
        scene.set(t, ASKING, 1);
        scene.call(t, 'askAll', scene.semaphores[0]);
        return false;
      }
      scene.set(t, ASKING, 0);
      if (phase === 1 ? obey(scene, t) : settling(scene, t)) return false;
      flushSoon(scene, t);
      return true;
    },
  };
}

/** Checks, at the end, that nobody waits who was asked to leave. */
export function checkLeft(scene: Scene): void {
  scene.waiters((t, semaphore, _, lo) => {
    if (semaphore === 0 && (scene.get(t, ASKED_TO_LEAVE) >> lo) & 1)
      throw new Violation(`thread ${t} waits with ticket ${lo}, and was asked to leave`);
  });
}
