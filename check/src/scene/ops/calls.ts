/** The ops that make a single call or wait. */
import { MORE } from '../layout.js';
import type { Op } from '../model.js';
import type { Scene } from '../scene.js';
import { PHASE } from '../words.js';

/** `dispose()`, by the function of the object's kind. */
export function dispose(semaphore = 0, name = 'dispose'): Op {
  return {
    text: 'dispose',
    next(scene, t) {
      if (scene.get(t, PHASE) === 1) return true;
      scene.set(t, PHASE, 1);
      scene.call(t, name, scene.semaphores[semaphore]);
      return false;
    },
  };
}

/** Sleeps on the doorbell of thread `of`. The op stands for a waitAsync of thread `of` before its doorbell rings. */
export function listen(of: number): Op {
  return {
    text: 'listen',
    next(scene, t) {
      if (scene.get(t, PHASE) === 1) return true;
      scene.set(t, PHASE, 1);
      scene.hostWait(t, scene.doorbell(of), 0);
      return false;
    },
  };
}

/** Cancels a run. If the run leaves a tombstone, `finishCancelRun` settles the tombstone. */
export function cancelRun(run: (scene: Scene, t: number) => number): Op {
  return {
    text: 'cancelRun',
    next(scene, t) {
      const phase = scene.get(t, PHASE);
      if (phase === 2 || (phase === 1 && scene.result(t) !== MORE)) return true;
      scene.set(t, PHASE, phase + 1);
      if (phase === 0) scene.call(t, 'cancelRun', run(scene, t));
      else scene.call(t, 'finishCancelRun');
      return false;
    },
  };
}

/** Calls one of the core's functions, and passes the answer to `then`. */
export function call(
  name: string,
  args: (scene: Scene, t: number) => number[],
  then: (answer: number, scene: Scene, t: number) => void = () => {},
): Op {
  return {
    text: name,
    next(scene, t) {
      if (scene.get(t, PHASE) === 0) {
        scene.set(t, PHASE, 1);
        scene.call(t, name, ...args(scene, t));
        return false;
      }
      then(scene.result(t), scene, t);
      return true;
    },
  };
}
