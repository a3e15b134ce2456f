/** The ops that die, wait for deaths, and reap. */
import { ALIVE, constant, LIFE_STATE, STILL_AWAKE, THREAD_SIZE } from '../layout.js';
import type { Op } from '../model.js';
import type { Scene } from '../scene.js';
import { LOCAL, PHASE } from '../words.js';

const NEVER = constant('NEVER');
const REAPING = LOCAL + 1; // the number of the thread that is being reaped, plus 1; or 0

/** Reaps each thread that dies. */
export function supervise(): Op {
  return {
    text: 'reap',
    supervises: true,
    next(scene, t) {
      const reaping = scene.get(t, REAPING) - 1;
      if (reaping >= 0) {
        if (scene.terminated(reaping)) scene.setReaped(reaping, scene.result(t) !== STILL_AWAKE);
        scene.set(t, REAPING, 0);
      }
      const reaped = scene.get(t, LOCAL);
      for (let u = 0; u < scene.threads; u++) {
        const terminated = scene.terminated(u);
        if ((!scene.dead(u) && !terminated) || (reaped >> u) & 1) continue;
        scene.set(t, LOCAL, reaped | (1 << u));
        scene.set(t, REAPING, u + 1);
        scene.call(t, 'reap', u + 1, ALIVE, Number(terminated));
        return false;
      }
      return scene.allDead ? true : undefined;
    },
  };
}

export const recordOf = (scene: Scene, t: number): number => scene.regions.threads + (t + 1) * THREAD_SIZE;

/** Makes the thread's record say ASLEEP, as it does after an exception has ended a call in its sleep. */
export const asleep = (): Op => ({
  text: 'asleep',
  next(scene, t) {
    if (scene.global(t, 'pending-call/pendingCall') === 0) return true;
    const record = recordOf(scene, t);
    const life = scene.machine.hostLoad32(record);
    const slept = (life & ~LIFE_STATE) | constant('ASLEEP');
    if (life === slept) return true;
    scene.hostCmpxchg(t, record, life, slept);
    return false;
  },
});

/** Sleeps until it is killed. */
export function awaitDeath(): Op {
  return {
    text: 'await death',
    supervises: true,
    next(scene, t) {
      if (scene.get(t, PHASE) === 1) return true;
      scene.set(t, PHASE, 1);
      scene.hostWait(t, NEVER, 0);
      return false;
    },
  };
}

/** Waits until thread 0 is dead. */
export function untilDead(): Op {
  return {
    text: 'untilDead',
    supervises: true,
    next: (scene) => (scene.dead(0) ? true : undefined),
  };
}

/** Reaps thread 0 if it is dead. */
export function reapNow(): Op {
  return {
    text: 'reap now',
    next(scene, t) {
      if (scene.get(t, PHASE) === 1 || !scene.dead(0)) return true;
      scene.set(t, PHASE, 1);
      scene.call(t, 'reap', 1, ALIVE, 0);
      return false;
    },
  };
}
