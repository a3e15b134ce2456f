/**
 * Waits for a latch, and tells how often the thread has fallen asleep meanwhile. If a wait with a time-out is woken too
 * early, the thread falls asleep again.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { Arena } from 'taketurns';
import { Latch } from 'taketurns/sync';
import { Membership } from '../../dist/runtime/membership.js';
import { syncOf } from '../../dist/sync/compiled.js';

const latch = Latch.from(workerData);
const sync = syncOf(Membership.of(Arena.from(workerData.arena).handle.memory));
const { sleepInPhase } = sync;
let sleeps = 0;
sync.sleepInPhase = (...given) => {
  sleeps++;
  return sleepInPhase(...given);
};
latch.wait({ timeout: 60_000 });
parentPort.postMessage(sleeps);
