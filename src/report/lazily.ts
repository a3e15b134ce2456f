/**
 * Loads what few threads need only when they need it, on Node, in Deno and in Bun. All threads would pay for it when
 * they start. A thread that blocks can only load by `require`, so these bundles are CommonJS:
 *
 *     dist/node/youngest.cjs    to look for deadlocks, after the thread has blocked for a while
 *     dist/node/measure.cjs     to measure waits, if metrics have begun
 */
import { createRequire } from 'node:module';
import type * as measuring from './measure.js';
import { NONE } from './verdicts.js';
import type * as youngest from './youngest.js';

const loaded: Record<string, unknown> = {};

/** Returns a module; undefined if a program was bundled without the file. */
function load<T>(file: string): T | undefined {
  try {
    loaded[file] ??= createRequire(import.meta.url)(file);
  } catch {
    // A wait for a lock must not fail because nobody can look at it.
  }
  return loaded[file] as T | undefined;
}

const looking = () => load<typeof youngest>('./youngest.cjs');

export const ownCircle: typeof youngest.ownCircle = (...given) => looking()?.ownCircle(...given) ?? NONE;
export const likelyMistake: typeof youngest.likelyMistake = (...given) => looking()?.likelyMistake(...given);
export const nameText: typeof youngest.nameText = (...given) => looking()?.nameText(...given);
export const measureWaits: typeof measuring.measureWaits = (...given) =>
  load<typeof measuring>('./measure.cjs')?.measureWaits(...given);
