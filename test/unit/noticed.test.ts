/**
 * Deaths are noticed with nobody's help. In most tests the main thread starts the worker, ends it and blocks, and its
 * event loop never turns in between; so it hears nothing from the runtime.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { Arena, Mutex, Semaphore } from 'taketurns';
import { describe, expect, it } from 'vitest';
import { expectBuried, upTo } from '../support/dying.js';
import { runProgram } from '../support/program.js';
import { Member } from '../support/team.js';
import { until } from '../support/until.js';

const HOLDER = new URL('../workers/holder.mjs', import.meta.url);
/** For a death that is never noticed. One that is noticed takes some milliseconds. */
const DEADLINE = 10_000;

type Way =
  | 'sleeps'
  | 'computes'
  | 'needs too much memory'
  | 'turns its loop'
  | 'starts another'
  | 'leaves and comes back';

/** Starts a worker that holds the mutex or a permit, and blocks this thread until it does. */
function start(held: Mutex | Semaphore, way: Way, options = {}): Worker {
  const told = new Int32Array(new SharedArrayBuffer(12));
  const worker = new Worker(HOLDER, { ...options, workerData: { handle: held.handle, told, way } });
  worker.on('error', () => {});
  if (Atomics.wait(told, 0, 0, DEADLINE) === 'timed-out') throw new Error('the worker holds nothing');
  return worker;
}

describe('a thread that blocks hears of a death', () => {
  it.each(['sleeps', 'computes', 'turns its loop', 'starts another', 'leaves and comes back'] as const)(
    'of an unwatched owner that %s and is terminated',
    (way) => {
      const arena = new Arena();
      const mutex = new Mutex({ arena });
      start(mutex, way).terminate();
      mutex.lock({ timeout: DEADLINE });
      expect(mutex.inspect().ownerDeaths).toBe(way === 'leaves and comes back' ? 4 : 1);
      mutex.unlock();
    },
  );

  it('of a watched worker, in the three lines that the README shows', () => {
    const arena = new Arena();
    const safe = new Semaphore(1, { arena, robust: true });
    const worker = start(safe, 'sleeps');
    arena.watch(worker);
    worker.terminate();
    using mine = safe.hold(1, { timeout: DEADLINE });
    expect(mine.ownerDied).toBe(true);
  });

  it.each([true, false])('of a worker that runs out of memory (watched: %s)', (watched) => {
    const arena = new Arena();
    const mutex = new Mutex({ arena });
    const worker = start(mutex, 'needs too much memory', { resourceLimits: { maxOldGenerationSizeMb: 24 } });
    if (watched) arena.watch(worker);
    mutex.lock({ timeout: DEADLINE });
    expect(mutex.inspect().ownerDeaths).toBe(1);
    mutex.unlock();
  });

  it('of a worker whose exit listeners were removed, or throw', async () => {
    const arena = new Arena();
    const mutex = new Mutex({ arena });
    const worker = start(mutex, 'sleeps');
    arena.watch(worker);
    worker.removeAllListeners('exit');
    await worker.terminate();
    mutex.lock({ timeout: DEADLINE });
    mutex.unlock();
    expect(await runProgram('exit-listener-throws')).toEqual({ code: 0, out: 'noticed\n', err: '' });
  });

  it('of a default arena that the worker has inherited', async () => {
    expect(await runProgram('noticed-default')).toEqual({ code: 0, out: 'noticed\n', err: '' });
  });
});

describe('an arena has the keeper of the thread that shared it first', () => {
  it('and not one that ends with another thread', async () => {
    expect(await runProgram('keeper-of-another')).toEqual({ code: 0, out: 'noticed\n', err: '' });
  });
});

describe('a thread that lives', () => {
  it('keeps what it holds, however often it collects and whatever its event loop does', async () => {
    const arena = new Arena();
    const semaphore = new Semaphore(3, { arena, robust: true });
    const workers = (['sleeps', 'computes', 'turns its loop'] as const).map((way) => start(semaphore, way));
    const busy = new Member(undefined, { core: true });
    await busy.run('collect', { handle: semaphore.handle });
    await sleep(200);
    expect(arena.threads).toBe(5);
    expect([semaphore.available, semaphore.inspect().ownerDeaths]).toEqual([0, 0]);
    await Promise.all([busy.kill(), ...workers.map((worker) => worker.terminate())]);
    await until(() => arena.threads === 1, 'they are reaped');
    expect(semaphore.available).toBe(3);
    expectBuried(arena);
  });
});

describe('records of threads come back', () => {
  it('when workers that nobody watches are terminated one after the other', async () => {
    const arena = new Arena({ threads: 4 });
    const semaphore = new Semaphore(1, { arena, robust: true });
    for (const _ of upTo(20)) {
      await start(semaphore, 'sleeps').terminate();
      semaphore.acquire(1, { timeout: DEADLINE });
      semaphore.release();
    }
    await until(() => arena.threads === 1, 'all are reaped');
    expectBuried(arena);
  });

  it('when workers end in every way, some at once', async () => {
    const { code, out, err } = await runProgram('workers-in-turn', [40]);
    expect(err).toBe('');
    expect(JSON.parse(out)).toEqual({ workers: 40, threads: 1, available: 4 });
    expect(code).toBe(0);
  });
});

describe('an arena that watches nobody', () => {
  it('leaves a dead thread to arena.watch and arena.reap', async () => {
    const [arena, watching] = [new Arena({ watch: false }), new Arena()];
    const mutexes = [arena, watching].map((each) => new Mutex({ arena: each }));
    const workers = mutexes.map((mutex) => start(mutex as Mutex, 'sleeps'));
    await Promise.all(workers.map((worker) => worker.terminate()));
    await until(() => watching.threads === 1, 'the other arena notices its own');
    expect(arena.threads).toBe(2);
  });

  it.each([0, 'no', {}])('refuses watch: %o', (watch) => {
    expect(() => new Arena({ watch: watch as never })).toThrow(/^Arena: watch must be true or false, got /);
  });
});
