/**
 * How a thread that hangs tells of it, on Node, in Deno and in Bun. `process.emitWarning` and `console` print in a
 * later turn of an event loop: that of the thread, which never comes, or that of the main thread, which may hang as
 * well. So the text goes straight to the standard error of the process.
 */
import { writeSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { threadName } from '../host/newer-threads.js';
import { variable } from './environment.js';
import * as lazily from './lazily.js';
import type { Looking } from './looking-host.js';
import { tell } from './report-mode.js';

/** The name that newer Nodes give a worker without one. */
const NO_NAME = 'WorkerThread';
const isQuiet = variable('NODE_NO_WARNINGS') === '1' || process.execArgv.includes('--no-warnings');

export const surroundings: Looking = {
  look: lazily.ownCircle,
  likelyMistake: lazily.likelyMistake,
  nameText: lazily.nameText,
  measure: lazily.measureWaits,
  say(message) {
    if (isQuiet) return;
    try {
      writeSync(2, `(node:${process.pid}) TaketurnsWarning: ${message}\n`);
    } catch {
      // The standard error may be closed, or a full pipe.
    }
  },
  tellArena: tell && ((memory, id) => tell?.({ memory, id })),
  tellStack: tell && ((id, thread, at, stack) => tell?.({ id, thread, at, stack })),
  isMain: isMainThread && !('WorkerGlobalScope' in globalThis),
  // Node 20 does not tell a worker its name.
  threadLabel: threadName && threadName !== NO_NAME ? threadName : '',
};
