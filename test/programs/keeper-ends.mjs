/**
 * The first thread to share an arena is a worker, so the keeper is the worker's child. The worker ends while another
 * thread is dead, and its keeper ends with it.
 */
import { Worker } from 'node:worker_threads';
import { Arena, Mutex } from 'taketurns';

/** The addresses of two words of an arena, and the life of a reaper that is not registered. */
const [keeperAt, reaperAt, dead] = process.argv.slice(2).map(Number);
const start = (name, workerData) => new Worker(new URL(`../workers/${name}.mjs`, import.meta.url), { workerData });
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const sharer = start('shares-first');
const handle = await new Promise((resolve) => sharer.once('message', resolve));
const mutex = Mutex.from(handle);
const { buffer } = handle.arena.memory;
const keeper = () => Atomics.load(new Int32Array(buffer), keeperAt / 4);
const reaper = new BigInt64Array(buffer, reaperAt, 1);
const told = new Int32Array(new SharedArrayBuffer(8));
const holder = start('locks-all', { handles: [handle], told });
const thread = await new Promise((resolve) => holder.once('message', resolve));
const first = keeper();
// This word says that a keeper is reaping, as if a keeper had been stopped while it reaps. So this thread leaves the
// dead thread to that keeper.
Atomics.store(reaper, 0, BigInt(dead));
Arena.from(handle.arena).reap(thread);
console.log(mutex.locked);
sharer.postMessage('end');
while ([0, first].includes(keeper())) await sleep(1);
mutex.lock();
mutex.unlock();
holder.terminate();
while (Atomics.load(reaper, 0) !== 0n) await sleep(1);
console.log('done');
