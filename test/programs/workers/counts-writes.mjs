/**
 * Counts what a thread of hangs.mjs writes while it hangs. The library takes `writeSync` when it is loaded, so this module
 * comes before the library.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { isMainThread, workerData } from 'node:worker_threads';

/** The word of the gate that counts warnings. */
export const TOLD = 2;

if (!isMainThread) {
  const { writeSync } = fs;
  fs.writeSync = (...given) => {
    Atomics.add(workerData.gate, TOLD, 1);
    return writeSync(...given);
  };
  syncBuiltinESMExports();
}
