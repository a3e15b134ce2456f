/**
 * The ops that release. A thread gives permits back, or makes them. Then it settles its promises that have become due.
 */
import { Violation } from '../../engine/search/violation.js';
import { ADMITTED, constant } from '../layout.js';
import type { Op } from '../model.js';
import type { Scene } from '../scene.js';
import { FLUSH_DUE, GOT, LOCAL } from '../words.js';
import { firstRun, flushSoon, fulfil, settle, settling } from './promises.js';

const OVER_MAX = constant('ANSWER_OVER_MAX');

// These words of a thread say how far a release has got.
const STAGE = LOCAL; // 0: not begun; 1: in release; 2: in finishRelease; 3: settling promises; 4: in releaseToOwn
const WIDTH = LOCAL + 1;

/**
 * Goes on with a release. Returns true when the release is done. With `adds` the call is `add(n)`, which settles the
 * promises of its own thread after the release.
 */
export function releasing(
  scene: Scene,
  t: number,
  width: number,
  semaphore: number,
  own: boolean,
  adds = false,
): boolean {
  const at = scene.semaphores[semaphore];
  const robust = own ? scene.robust(t, semaphore) : 0;
  const answer = scene.result(t);
  switch (scene.get(t, STAGE)) {
    case 0:
      if (semaphore === 0 && !adds && firstRun(scene, t) !== 0) {
        scene.releasingToOwn(t, semaphore, width, own);
        scene.set(t, STAGE, 4);
        // The thread plans a rest before, because the call may take the run out of the waiting array.
        scene.set(t, FLUSH_DUE, 1);
        scene.call(t, 'releaseToOwn', at, width, firstRun(scene, t), robust);
        return false;
      }
      return begin(scene, t, width, semaphore, own, adds);
    case 4:
      if (answer === 0) return begin(scene, t, width, semaphore, own, adds);
      fulfil(scene, t, 1);
      break;
    case 1:
      if (answer === ADMITTED) break;
      if (answer === OVER_MAX) {
        // There is room for what a thread has acquired, unless others make permits.
        if (own) throw new Violation(`thread ${t}'s release of its own permits is refused`);
        scene.refused(t);
        break;
      }
      scene.set(t, STAGE, 2);
      finishRelease(scene, t, at, width, answer, semaphore === 0 && !adds ? firstRun(scene, t) : 0, robust);
      return false;
    case 2: {
      if (answer < 0) throw new Violation(`thread ${t}'s release is answered ${answer}`);
      const run = firstRun(scene, t);
      if (adds && run !== 0 && settle(scene, t)) {
        scene.set(t, STAGE, 3);
        return false;
      }
      if (answer === 0) break;
      fulfil(scene, t, answer);
      if (firstRun(scene, t) === run) {
        scene.set(t, FLUSH_DUE, 1);
        break;
      }
      if (!settle(scene, t)) break;
      scene.set(t, STAGE, 3);
      return false;
    }
    default:
      if (settling(scene, t)) return false;
      flushSoon(scene, t);
  }
  scene.set(t, STAGE, 0);
  return true;
}

/** Begins a release as if no promise of the thread waited. */
function begin(scene: Scene, t: number, width: number, semaphore: number, own: boolean, adds: boolean): false {
  const at = scene.semaphores[semaphore];
  const robust = own ? scene.robust(t, semaphore) : 0;
  scene.releasing(t, semaphore, width, own);
  scene.set(t, STAGE, 1);
  if (adds) scene.call(t, 'add', at, width);
  else if (robust === 0) {
    const within = scene.hasMax(semaphore) ? 'Within' : '';
    if (width === 1) scene.call(t, `releaseOne${within}`, at);
    else scene.call(t, `release${within}`, at, width);
  } else scene.call(t, 'releaseRobust', at, width, robust);
  return false;
}

/** Calls the function of the core that finishes a release in a thread whose first run is `run`; 0 if it has none. */
export function finishRelease(
  scene: Scene,
  t: number,
  at: number,
  width: number,
  answered: number,
  run: number,
  attachment: number,
): void {
  if (run === 0) scene.call(t, 'finishRelease', at, width, answered, attachment);
  else scene.call(t, 'finishReleaseAndSettle', at, width, answered, run, attachment);
}

/**
 * Goes on with a release that a call of a counter has begun. `answered` is what the call `release` would have answered.
 * Returns true when the release is done and the promises of the thread are settled.
 */
export function finishing(scene: Scene, t: number, width: number, answered: number, semaphore = 0): boolean {
  if (scene.get(t, STAGE) !== 0) return releasing(scene, t, width, semaphore, false);
  if (answered === ADMITTED) return true;
  scene.set(t, STAGE, 2);
  finishRelease(scene, t, scene.semaphores[semaphore], width, answered, firstRun(scene, t), 0);
  return false;
}

/** Gives back the permits that the thread has got of this semaphore, if any. */
export function release(semaphore = 0): Op {
  return {
    text: 'release',
    next(scene, t) {
      if (scene.get(t, STAGE) === 0) {
        const width = scene.get(t, GOT + semaphore);
        if (width === 0) return true;
        scene.set(t, GOT + semaphore, 0);
        scene.set(t, WIDTH, width);
      }
      return releasing(scene, t, scene.get(t, WIDTH), semaphore, true);
    },
  };
}

/** `add(n)`, which makes permits. */
export function add(n = 1, semaphore = 0): Op {
  return { text: `add(${n})`, next: (scene, t) => releasing(scene, t, n, semaphore, false, true) };
}

/** `release(n)` by a thread that holds no permits, so it makes permits. */
export function post(n = 1, semaphore = 0): Op {
  return { text: `post(${n})`, next: (scene, t) => releasing(scene, t, n, semaphore, false) };
}
