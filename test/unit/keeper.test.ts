/** The keeper of Node: what it bears, and how it ends (src/host/keeper.ts). What it is for is tested in noticed.test.ts. */
import { Worker } from 'node:worker_threads';
import { Arena, Mutex } from 'taketurns';
import { describe, expect, it, onTestFinished } from 'vitest';
import { at } from '../support/memory.js';
import { runProgram } from '../support/program.js';
import { until } from '../support/until.js';

const DEADLINE = 10_000;

function start(name: string, workerData?: object): Worker {
  const worker = new Worker(new URL(`../workers/${name}.mjs`, import.meta.url), { workerData });
  onTestFinished(async () => {
    await worker.terminate();
  });
  return worker;
}

/** Blocks until a worker has said something. */
function hear(told: Int32Array, word = 0): void {
  expect(Atomics.wait(told, word, 0, DEADLINE)).not.toBe('timed-out');
}

const shared = () => new Int32Array(new SharedArrayBuffer(12));

describe('the keeper', () => {
  it('hears of a death in 500 arenas at once', async () => {
    const small = { objects: 2, waiters: 8, threads: 4, slots: 8, chains: 8 };
    const mutexes = Array.from({ length: 500 }, () => new Mutex({ arena: new Arena(small) }));
    const told = shared();
    const worker = start('locks-all', { handles: mutexes.map(({ handle }) => handle), told });
    hear(told);
    expect(mutexes.every(({ locked }) => locked)).toBe(true);
    await worker.terminate();
    await until(() => mutexes.every(({ locked }) => !locked), 'all are reaped');
  });

  it('hears of the death of a thread for which an arena had no room at first', () => {
    const arena = new Arena({ threads: 2 });
    const mutex = new Mutex({ arena });
    const first = shared();
    const last = shared();
    const holder = start('locks-all', { handles: [new Mutex({ arena }).handle], told: first });
    hear(first);
    const worker = start('refused-once', { handle: mutex.handle, told: last });
    hear(last);
    holder.terminate();
    hear(last, 1);
    worker.terminate();
    mutex.lock({ timeout: DEADLINE });
    mutex.unlock();
  });

  it('hears of the death of a thread that has registered and not announced itself', async () => {
    const arena = new Arena();
    // The keeper is up when it has heard of a first death.
    const first = shared();
    const holder = start('locks-all', { handles: [new Mutex({ arena }).handle], told: first });
    hear(first);
    await holder.terminate();
    await until(() => arena.threads === 1, 'the first thread is reaped');
    const told = shared();
    const worker = start('registers', { handle: arena.handle, told });
    hear(told);
    expect(arena.threads).toBe(2);
    await worker.terminate();
    await until(() => arena.threads === 1, 'the second thread is reaped');
  });

  it('knows nothing of an arena that a worker keeps to itself', async () => {
    const told = shared();
    new Arena().handle;
    const worker = start('own-arena', { told });
    const memory = await new Promise<WebAssembly.Memory>((resolve) => worker.once('message', resolve));
    expect(new Int32Array(memory.buffer)[at('KEEPER') / 4]).toBe(0);
  });
});

describe('a keeper for which the system has no room', () => {
  it('starts later, and finds all threads', async () => {
    expect(await runProgram('keeper-later')).toEqual({ code: 0, out: 'true true\ndone\n', err: '' });
  });
});

describe('a keeper that ends before the program', () => {
  it('is replaced, and the next one ends what it began', async () => {
    const words = ['KEEPER', 'REAPER', 'DEAD'].map((name) => at(name));
    expect(await runProgram('keeper-ends', words)).toEqual({ code: 0, out: 'true\ndone\n', err: '' });
  });
});

describe('a keeper that another thread has started', () => {
  it.each([
    ['has ended before the main thread attaches', 'ended'],
    ['has ended, and only workers attach', 'workers'],
    ['has ended, while a thread blocks that it has never answered', 'blocked'],
    ['ends before it has sent a port', 'unanswered'],
  ])('%s', async (_, scene) => {
    expect(await runProgram('keeper-foreign', [scene, at('KEEPER')])).toEqual({ code: 0, out: 'done\n', err: '' });
  });
});
