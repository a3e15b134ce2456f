/**
 * Recovery stays right when handles are of other arenas, callbacks throw, a reaping is cut short, or a record has gone
 * to another thread. dying.test.ts has the deaths themselves.
 */
import { Arena, Semaphore } from 'taketurns';
import { describe, expect, it } from 'vitest';
import { instantiate } from '../../src/runtime/instance.js';
import { at, firstObject } from '../support/memory.js';
import { Member } from '../support/team.js';
import { until } from '../support/until.js';

const robust = (arena = new Arena()) => new Semaphore(1, { robust: true, arena });

/** Makes a worker hold a permit of the semaphore, and kills it. */
async function die(semaphore: Semaphore, arena: Arena, watched = true): Promise<void> {
  const member = new Member();
  if (watched) arena.watch(member.worker);
  await member.run('enter', { handle: semaphore.handle });
  await member.kill();
}

describe('a handle of a thread', () => {
  it('belongs to one arena', () => {
    const [one, other] = [new Arena(), new Arena()];
    expect(() => one.reap(other.thread)).toThrow(new TypeError('Arena.reap: thread is of another arena'));
  });

  it('must name a record that was ever in use', () => {
    const arena = new Arena({ threads: 1 });
    expect(() => arena.reap({ ...arena.thread, thread: 7 })).toThrow(
      new RangeError('Arena.reap: thread.thread must be an integer from 1 to 1, got 7'),
    );
    expect(() => arena.reap({ ...arena.thread, life: 0 })).toThrow(RangeError);
    expect(() => arena.reap(5 as never)).toThrow(TypeError);
    expect(() => arena.reap(arena.thread)).toThrow('Arena.reap: a thread cannot declare itself dead');
  });
});

describe('the first request after a death', () => {
  it.each([
    ['hold', (s: Semaphore) => s.hold().ownerDied],
    ['hold with a time-out of 0', (s: Semaphore) => s.hold(1, { timeout: 0 }).ownerDied],
    ['hold with a time-out', (s: Semaphore) => s.hold(1, { timeout: 50 }).ownerDied],
    ['holdAsync', async (s: Semaphore) => (await s.holdAsync()).ownerDied],
    ['holdAsync with a time-out', async (s: Semaphore) => (await s.holdAsync(1, { timeout: 50 })).ownerDied],
  ])('learns of it by %s, and the next one does not', async (_, hold) => {
    const arena = new Arena();
    const semaphore = robust(arena);
    const told: number[] = [];
    semaphore.onOwnerDied = (deaths) => told.push(deaths);
    await die(semaphore, arena);
    // The keeper may have been the first to see the death, and may still be reaping.
    await until(() => semaphore.available > 0, 'the permit is back');
    expect(await hold(semaphore)).toBe(true);
    semaphore.release();
    expect(await hold(semaphore)).toBe(false);
    expect(told).toEqual([1]);
  });

  it('gets a promise without a value', async () => {
    const arena = new Arena();
    const semaphore = robust(arena);
    await die(semaphore, arena);
    expect(await semaphore.acquireAsync()).toBe(undefined);
  });

  it('passes the report and the permits on when its callback throws', async () => {
    const arena = new Arena();
    const semaphore = robust(arena);
    await die(semaphore, arena);
    semaphore.onOwnerDied = () => {
      throw new Error('cannot repair');
    };
    expect(() => semaphore.acquire()).toThrow('cannot repair');
    expect(semaphore.available).toBe(1);
    await expect(semaphore.acquireAsync()).rejects.toThrow('cannot repair');
    semaphore.onOwnerDied = () => {
      semaphore.release();
      throw new Error('has released');
    };
    expect(() => semaphore.acquire()).toThrow('has released');
    semaphore.onOwnerDied = undefined;
    expect(semaphore.hold().ownerDied).toBe(true);
    expect(semaphore.inspect()).toMatchObject({ available: 0, out: 1, ownerDeaths: 1 });
  });

  it('learns of it though the callback acquires and releases itself', async () => {
    const arena = new Arena();
    const semaphore = new Semaphore(2, { robust: true, arena });
    await die(semaphore, arena);
    semaphore.onOwnerDied = () => semaphore.hold().release();
    expect(semaphore.hold().ownerDied).toBe(true);
  });
});

describe('a robust semaphore', () => {
  it('has permits from the beginning, since none can be made later', () => {
    expect(() => new Semaphore(0, { robust: true, arena: new Arena() })).toThrow(
      'Semaphore: permits must be an integer from 1 to 2147483647 (of a robust one: only holders can release), got 0',
    );
    // What is wrong there is another thing.
    expect(() => new Semaphore(5, { max: 3, robust: true, arena: new Arena() })).toThrow(
      'Semaphore: permits must be an integer from 1 to 3, got 5',
    );
  });

  it('refuses what the thread does not hold, and changes nothing', () => {
    const semaphore = new Semaphore(2, { robust: true, arena: new Arena() });
    semaphore.acquire();
    expect(() => semaphore.release(2)).toThrow(
      'Semaphore.release: this thread holds 1 permit of the Semaphore, which is robust, got 2: ' +
        'the thread that takes permits gives them back',
    );
    expect(semaphore.inspect()).toMatchObject({ available: 1, out: 1 });
    semaphore.release();
    expect(semaphore.available).toBe(2);
  });
});

describe('reaping', () => {
  it('goes on when this thread has been cut short in it', async () => {
    const arena = new Arena({ watch: false });
    const semaphore = robust(arena);
    await die(semaphore, arena, false);
    const words = new BigInt64Array(arena.handle.memory.buffer);
    const { thread, life } = arena.thread;
    // Memory is as it is when an exhausted stack has ended a call of reap.
    words[at('REAPER') >> 3] = (BigInt(thread) << 32n) | BigInt(life);
    expect(arena.reap({ ...arena.thread, thread: 2 })).toBe(true);
    expect(semaphore.available).toBe(1);
    expect(words[at('REAPER') >> 3]).toBe(0n);
  });

  it('is done by the keeper, which is not registered; no thread takes over from it, and the next keeper goes on', async () => {
    const arena = new Arena({ watch: false });
    const semaphore = robust(arena);
    await die(semaphore, arena, false);
    const { memory } = arena.handle;
    const reaper = new BigInt64Array(memory.buffer, at('REAPER'), 1);
    // Memory is as it is when a keeper is in the middle of it.
    reaper[0] = BigInt(at('DEAD'));
    const dead = { ...arena.thread, thread: 2 };
    expect(arena.reap(dead)).toBe(true);
    expect([semaphore.available, reaper[0]]).toEqual([0, BigInt(at('DEAD'))]);
    const core = instantiate(memory as WebAssembly.Memory);
    core.open();
    expect(core.reap(2, dead.life, 0)).toBe(at('GONE'));
    expect([semaphore.available, reaper[0]]).toEqual([1, 0n]);
    expect(core.threadCount()).toBe(1);
  });

  it('clears the record, so that the next thread is not taken for the dead one', async () => {
    const arena = new Arena();
    const semaphore = robust(arena);
    await die(semaphore, arena);
    const words = new Int32Array(arena.handle.memory.buffer);
    const word = (offset: number) => words[offset >> 2] as number;
    const names = firstObject() + word(at('H_OBJECTS')) * at('OBJECT_SIZE');
    const threads = names + (word(at('H_OBJECTS')) + word(at('H_THREADS')) + 1) * at('NAME_SIZE');
    const ids = [1, 2].map((thread) => word(threads + thread * at('THREAD_SIZE') + at('T_RUNTIME_ID')));
    expect(ids[0]).not.toBe(0);
    expect(ids[1]).toBe(0);
  });
});
