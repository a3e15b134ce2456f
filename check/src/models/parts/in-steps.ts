/** An op that consists of steps. */
import type { Op } from '../../scene/model.js';
import type { Scene } from '../../scene/scene.js';
import { PHASE, RESULT } from '../../scene/words.js';

/** Begins a call or an access, and returns the number of the next step, or OVER. It gets the answer of the last call. */
export type Step = (scene: Scene, t: number, answer: number) => number;
export const OVER = -1;

export function inSteps(text: string, ...steps: readonly Step[]): Op {
  return {
    text,
    next(scene, t) {
      const next = (steps[scene.get(t, PHASE)] as Step)(scene, t, scene.result(t));
      if (next !== OVER) scene.set(t, PHASE, next);
      return next === OVER;
    },
  };
}

/** An op that makes one call after the other, whatever they answer. It is over where it makes no call. */
export function inCalls(
  text: string,
  ...calls: readonly ((scene: Scene, t: number) => readonly [name: string, ...args: number[]] | undefined)[]
): Op {
  const steps = calls.map(
    (call, i): Step =>
      (scene, t) => {
        const made = call(scene, t);
        if (made === undefined) return OVER;
        const [name, ...args] = made;
        scene.call(t, name, ...args);
        return i + 1;
      },
  );
  return inSteps(text, ...steps, () => OVER);
}

/** The value that the last access of an op has found. */
export const seen = (scene: Scene, t: number): number => scene.get(t, RESULT);
