/** `waiting` is one number for an object, whoever says it: the object, `inspect`, `stats` or a report. */
import { Worker } from 'node:worker_threads';
import { Arena, Mutex, Semaphore } from 'taketurns';
import { Channel, number } from 'taketurns/channel';
import { KeyedMutex } from 'taketurns/keyed';
import { report } from 'taketurns/report';
import { Condition, Event, Latch, RwLock } from 'taketurns/sync';
import { describe, expect, it } from 'vitest';
import { until } from '../support/until.js';

/** What a report and the stats of the arena say. */
function told(arena: Arena): Record<string, number> {
  const { objects, threads, waiting } = report(arena);
  const stats = arena.stats();
  const sum = (list: readonly { readonly waiting: number }[]) => list.reduce((all, one) => all + one.waiting, 0);
  return {
    report: waiting,
    objects: sum(objects),
    threads: sum(threads),
    stats: stats.waiting,
    threadsOfStats: sum(stats.threads),
  };
}

const all = (waiting: number) => ({
  report: waiting,
  objects: waiting,
  threads: waiting,
  stats: waiting,
  threadsOfStats: waiting,
});

describe('waiting', () => {
  it('counts the promises in queues, at the head of a mutex and for the end of a phase', async () => {
    const arena = new Arena();
    const semaphore = new Semaphore(0, { arena });
    const mutex = new Mutex({ arena });
    const latch = new Latch(1, { arena });
    const event = new Event({ arena });
    const lock = new RwLock({ arena });
    const channel = new Channel({ codec: number, capacity: 1, arena });
    const keyed = new KeyedMutex({ arena });
    mutex.lock();
    lock.lockWrite();
    const key = keyed.hold('a');
    const waits = [
      semaphore.acquireAsync(),
      semaphore.acquireAsync(2),
      mutex.lockAsync(),
      mutex.lockAsync(),
      latch.waitAsync(),
      latch.waitAsync(),
      event.waitAsync(),
      lock.readAsync(),
      lock.writeAsync(),
      channel.receiveAsync(),
      keyed.holdAsync('a'),
    ];
    const counts = [semaphore, mutex, latch, event, lock, channel, keyed].map(({ waiting }) => waiting);
    expect(counts).toEqual([2, 2, 2, 1, 2, 1, 1]);
    expect([semaphore.inspect().waiting, mutex.inspect().waiting, keyed.inspect().waiting]).toEqual([2, 2, 1]);
    expect(lock.inspect().waiters.map(({ calls }) => calls)).toEqual([1, 1]);
    expect(told(arena)).toEqual(all(waits.length));
    key.unlock();
    for (const object of [semaphore, mutex, latch, event, lock, channel, keyed]) object.dispose();
    await Promise.allSettled(waits);
    expect(told(arena)).toEqual(all(0));
  });

  it('does not count a thread that was notified, and sleeps until the mutex is free', async () => {
    const arena = new Arena();
    const mutex = new Mutex({ arena });
    const condition = new Condition(mutex);
    const program = 'mutex.lock(); condition.wait(); mutex.unlock(); say("over");';
    const url = new URL('../workers/condition.mjs', import.meta.url);
    const workers = [1, 2].map(() => new Worker(url, { workerData: { handle: condition.handle, program } }));
    const over = Promise.all(workers.map((worker) => new Promise((resolve) => worker.once('message', resolve))));
    await until(() => condition.waiting === 2, 'both wait');
    await until(() => mutex.tryLock(), 'both have unlocked the mutex');
    await until(() => arena.stats().threads.filter(({ blocked }) => blocked).length === 2, 'both sleep');
    expect([told(arena), condition.inspect().waiting]).toEqual([all(2), 2]);
    // The second one sleeps until the first one has had the mutex.
    condition.notifyAll();
    await until(() => mutex.waiting === 1, 'the first one waits for the mutex');
    expect([condition.waiting, condition.inspect().waiting, told(arena)]).toEqual([0, 0, all(1)]);
    expect(condition.inspect().waiters).toHaveLength(1);
    mutex.unlock();
    await over;
  });
});
