/**
 * Loads what a thread needs to look for deadlocks only when it looks, on Node, in Deno and in Bun: after it has blocked
 * for a while. Few threads ever do, and all threads would pay for it when they start. A thread that blocks can only
 * load by `require`, so the bundle of youngest.ts is CommonJS: dist/node/youngest.cjs.
 */
import { createRequire } from 'node:module';
import { NONE } from './verdicts.js';
import type * as youngest from './youngest.js';

let loaded: typeof youngest | undefined;

/** Returns the module; undefined if a program was bundled without the file. */
function load(): typeof youngest | undefined {
  try {
    loaded ??= createRequire(import.meta.url)('./youngest.cjs') as typeof youngest;
  } catch {
    // A wait for a lock must not fail because nobody can look at it.
  }
  return loaded;
}

export const ownCircle: typeof youngest.ownCircle = (...given) => load()?.ownCircle(...given) ?? NONE;
export const nameText: typeof youngest.nameText = (...given) => load()?.nameText(...given);
