/** A thread that has loaded the package twice is one thread to the arena, and another version lives beside this one. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Arena, ArenaFullError, CancelledError, DisposedError, Mutex, Semaphore } from 'taketurns';
import { CapacitorLock, McsLock, TtsLock } from 'taketurns/algorithms';
import { Channel, number, Watch } from 'taketurns/channel';
import { RateLimiter } from 'taketurns/keyed';
import { describe, expect, it } from 'vitest';
import { ANOTHER_VERSION, copy, folderOfCopy } from '../support/copies.js';
import { failure } from '../support/failure.js';
import { at } from '../support/memory.js';
import { runProgram } from '../support/program.js';

describe('two copies of the package in one thread', () => {
  it('attach it once, and have one default arena', async () => {
    const other = await copy();
    expect(other.Arena).not.toBe(Arena);
    const arena = new Arena();
    expect(other.Arena.from(arena.handle).thread).toEqual(arena.thread);
    expect(arena.threads).toBe(1);
    expect(other.Arena.default.thread).toEqual(Arena.default.thread);
    expect(other.Arena.default.handle).toEqual(Arena.default.handle);
    const made = new other.Arena();
    expect(Arena.from(made.handle).thread).toEqual(made.thread);
    expect(() => made.makeDefault()).toThrow(/has a default arena already/);
  });

  it('have one keeper', async () => {
    const other = await copy();
    const keeper = ({ handle }: Arena) => new Int32Array(handle.memory.buffer)[at('KEEPER') / 4];
    const name = keeper(new Arena());
    expect(name).toBeGreaterThan(1);
    expect(keeper(new other.Arena())).toBe(name);
  });

  it('are one owner of a lock: it does not wait for itself, and unlocks through either', async () => {
    const other = await copy();
    const mutex = new Mutex();
    const same = other.Mutex.from(mutex.handle);
    mutex.lock();
    expect(() => same.lock({ timeout: 1000 })).toThrow(/has the Mutex, and would wait for itself/);
    same.unlock();
    expect(mutex.locked).toBe(false);
    const locks = [
      [new McsLock(), other.McsLock],
      [new TtsLock(), other.TtsLock],
      [new CapacitorLock(new TtsLock()), other.CapacitorLock],
    ] as const;
    for (const [lock, Other] of locks) {
      const twin = Other.from(lock.handle as never);
      lock.lock();
      expect(() => twin.lock()).toThrow(/this thread holds the lock already/);
      twin.unlock();
      lock.lock();
      lock.unlock();
    }
  });

  it('share the promises of the thread: whichever releases settles them, in order', async () => {
    const other = await copy();
    const semaphore = new Semaphore(0);
    const same = other.Semaphore.from(semaphore.handle);
    const order: number[] = [];
    const promises = [semaphore, same, semaphore, same].map((s, i) => s.acquireAsync().then(() => order.push(i)));
    same.release(2);
    semaphore.release(2);
    await Promise.all(promises);
    expect(order).toEqual([0, 1, 2, 3]);
  });

  it('wait in one queue for a rate limiter, and end each request with an error of their own', async () => {
    const other = await copy();
    const limiter = new RateLimiter(1, 1_000_000, { arena: new Arena() });
    const same = other.RateLimiter.from(limiter.handle);
    limiter.take();
    const ours = failure(() => limiter.takeAsync());
    const theirs = failure(() => same.takeAsync());
    expect([limiter.waiting, same.waiting]).toEqual([2, 2]);
    limiter.cancelAll();
    expect(await ours).toBeInstanceOf(CancelledError);
    expect(await theirs).toBeInstanceOf(other.CancelledError);
  });

  it('end the loops over a channel and a watch of either', async () => {
    const other = await import(pathToFileURL(join(folderOfCopy(), 'channel/index.js')).href);
    const arena = new Arena({ bytes: 1 << 16 });
    const channel = new Channel({ codec: number, arena });
    const watch = new Watch(1, { codec: number, arena });
    const sameChannel: Channel<number> = other.Channel.from(channel.handle, other.number);
    const sameWatch: Watch<number> = other.Watch.from(watch.handle, other.number);
    channel.send(1);
    channel.close();
    watch.close();
    expect([[...sameChannel], [...sameWatch]]).toEqual([[1], [1]]);
    const all: number[] = [];
    for await (const one of sameChannel) all.push(one);
    for await (const one of sameWatch) all.push(one);
    expect(all).toEqual([1]);
  });

  it('know the errors of one another', async () => {
    const other = await copy();
    const semaphore = other.Semaphore.from(new Semaphore(0, { arena: new Arena() }).handle);
    const waits = semaphore.acquireAsync();
    semaphore.dispose();
    const error = await waits.catch((error: unknown) => error);
    expect(error).toBeInstanceOf(DisposedError);
    expect(error).toBeInstanceOf(other.DisposedError);
    expect(error).not.toBeInstanceOf(ArenaFullError);
    class Own extends DisposedError {}
    expect(error).not.toBeInstanceOf(Own);
    expect(new Own('over')).toBeInstanceOf(Own);
    expect(new Own('over')).toBeInstanceOf(DisposedError);
  });
});

describe('another version in the same thread', () => {
  it('has a default arena of its own, with private objects', async () => {
    const semaphore = new Semaphore(1);
    const other = await copy(ANOTHER_VERSION);
    const theirs = new other.Semaphore(3);
    theirs.acquire();
    expect([theirs.available, semaphore.available]).toEqual([2, 1]);
    expect(other.Arena.default.handle.memory).not.toBe(Arena.default.handle.memory);
  });

  it('refuses the handles of this one, and the other way round', async () => {
    const other = await copy(ANOTHER_VERSION);
    const refused =
      /^Arena.from: the memory of the handle holds no shared arena of this version of the package: all threads need one/;
    expect(() => other.Semaphore.from(new Semaphore(1).handle)).toThrow(refused);
    expect(() => Semaphore.from(new other.Semaphore(1).handle)).toThrow(refused);
  });
});

describe.each([
  ['copy', []],
  ['version', ANOTHER_VERSION],
] as const)('with another %s of the package', (_, changes) => {
  it('a process ends, and exit handlers may still use both', async () => {
    const folder = folderOfCopy(changes);
    expect(await runProgram('two-copies', [folder])).toEqual({ code: 0, out: '1 1\n', err: '' });
  });

  it('what a worker holds by both comes back, however it ends, while the main thread blocks', async () => {
    const folder = folderOfCopy(changes);
    expect(await runProgram('copies-die', [folder])).toEqual({ code: 0, out: 'all came back\n', err: '' });
  });
});
