/**
 * Measures how long the writers and readers of a RwLock wait, if all of them lock and unlock in tight loops:
 *
 *     node bench/programs/rw-waits.mjs [writers 16] [readers 2] [seconds 5] [runs 10] [split]
 *
 * With `split` a writer takes its turn by `update` and then upgrades. So the script measures two waits apart: the wait
 * in the queue, and the wait until the readers inside have left.
 */
import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { RwLock } from 'taketurns/sync';

/** Waits in microseconds: how many lasted less than 1, 2, 4 and so on, and the longest. */
class Waits {
  counts = new Array(32).fill(0);
  longest = 0;

  note(milliseconds) {
    const microseconds = milliseconds * 1000;
    this.counts[Math.max(0, 32 - Math.clz32(microseconds))]++;
    this.longest = Math.max(this.longest, microseconds);
  }

  add({ counts, longest }) {
    for (const [i, count] of counts.entries()) this.counts[i] += count;
    this.longest = Math.max(this.longest, longest);
  }

  toString() {
    const all = this.counts.reduce((sum, count) => sum + count, 0);
    let median = 0;
    for (let below = this.counts[0]; below * 2 < all; below += this.counts[median]) median++;
    return `${all} waits, median below ${2 ** median} us, longest ${(this.longest / 1000).toFixed(2)} ms`;
  }
}

function loop({ handle, role, seconds, split }) {
  const lock = RwLock.from(handle);
  const waits = { [role]: new Waits(), ...(split && role === 'writers' && { 'of these, in line': new Waits() }) };
  const end = performance.now() + seconds * 1000;
  for (let now = performance.now(); now < end; ) {
    const begun = now;
    let held;
    if (role === 'readers') held = lock.read();
    else if (split) {
      const found = lock.update();
      waits['of these, in line'].note(performance.now() - begun);
      held = found.upgrade();
    } else held = lock.write();
    waits[role].note(performance.now() - begun);
    held.unlock();
    now = performance.now();
  }
  return waits;
}

if (isMainThread) {
  const [writers, readers, seconds, runs] = [16, 2, 5, 10].map((usual, i) => Number(process.argv[2 + i] ?? usual));
  const split = process.argv[6] === 'split';
  for (let run = 1; run <= runs; run++) {
    const { handle } = new RwLock();
    const roles = [...new Array(writers).fill('writers'), ...new Array(readers).fill('readers')];
    const workers = roles.map(
      (role) => new Worker(new URL(import.meta.url), { workerData: { handle, role, seconds, split } }),
    );
    await Promise.all(workers.map((worker) => once(worker, 'message')));
    for (const worker of workers) worker.postMessage('go');
    const all = {};
    for (const [answer] of await Promise.all(workers.map((worker) => once(worker, 'message'))))
      for (const [role, waits] of Object.entries(answer)) {
        all[role] ??= new Waits();
        all[role].add(waits);
      }
    for (const [role, waits] of Object.entries(all)) console.log(`run ${run}: ${role}: ${waits}`);
  }
} else {
  parentPort.postMessage('ready');
  parentPort.once('message', () => parentPort.postMessage(loop(workerData)));
}
