/** The ops of the semaphores of the papers' listings, in the module of the algorithms. They block without time-outs. */
import { ADMITTED, MORE, QUEUED } from '../layout.js';
import type { Op, Waiting } from '../model.js';
import { GOT, PHASE } from '../words.js';
import { admitted, expectClosed } from './acquire.js';

/** The names of the functions of a listing's semaphore. */
export interface Listing {
  readonly acquire: string;
  /** The function that must follow an acquire that answers QUEUED. */
  readonly await?: string;
  readonly release: string;
  /** The function that must follow a release that answers MORE. */
  readonly post?: string;
  readonly dispose: string;
}

/** Acquires one permit of a listing's semaphore, and blocks until the thread has the permit. */
export function acquireOf({ acquire: name, await: following }: Listing, semaphore = 0): Waiting {
  return {
    text: name,
    semaphore,
    width: 1,
    next(scene, t) {
      if (scene.get(t, PHASE) === 0) {
        scene.set(t, PHASE, 1);
        scene.call(t, name, scene.semaphores[semaphore]);
        return false;
      }
      if (following !== undefined && scene.result(t) === QUEUED) {
        scene.call(t, following, scene.semaphores[semaphore]);
        return false;
      }
      if (scene.result(t) !== ADMITTED) return expectClosed(scene, t, scene.result(t), semaphore);
      admitted(scene, t, semaphore, 1);
      return true;
    },
  };
}

/** Releases one permit that the thread has got. If `posted` is not 0, makes `posted` permits instead. */
export function releaseOf({ release: name, post: following }: Listing, semaphore = 0, posted = 0): Op {
  return {
    text: posted === 0 ? name : `${name}(${posted})`,
    next(scene, t) {
      const phase = scene.get(t, PHASE);
      if (phase === 1 && following !== undefined && scene.result(t) === MORE) {
        scene.set(t, PHASE, 2);
        scene.call(t, following, scene.semaphores[semaphore]);
        return false;
      }
      if (phase > 0) return true;
      scene.set(t, PHASE, 1);
      const got = posted === 0 ? scene.get(t, GOT + semaphore) : 0;
      const width = posted === 0 ? 1 : posted;
      scene.releasing(t, semaphore, width, got > 0);
      if (got > 0) scene.set(t, GOT + semaphore, got - 1);
      if (/^(chain|channel|location).*Conservative$/.test(name)) scene.call(t, name, scene.semaphores[semaphore]);
      else scene.call(t, name, scene.semaphores[semaphore], width);
      return false;
    },
  };
}
