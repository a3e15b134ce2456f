/**
 * The core, step by step. These tests do by hand, in shared memory, what other threads may do between two steps of the
 * core, so that rare interleavings happen each time.
 */
import { Arena, ArenaFullError, Mutex, Semaphore, TimeoutError } from 'taketurns';
import { describe, expect, it } from 'vitest';
import { membershipOf } from '../support/membership.js';
import { at, Memory } from '../support/memory.js';
import { watch } from '../support/settled.js';
import { type Member, team } from '../support/team.js';
import { tuned } from '../support/tuned.mjs';
import { turn, until } from '../support/until.js';

const crowd = team(1, { core: true });
const member = () => crowd[0] as Member;

describe.each([1, 2, 1024])('a thread that has queued and not yet entered its bucket (slots %i)', (slots) => {
  const arena = new Arena({ slots });
  const run = (semaphore: Semaphore, permits: number, between: object) =>
    member().run<number[]>('queue-then-park', { handle: semaphore.handle, permits, between });

  it.each([1, 2, 5])(
    'sees a grant of all its %i permits, though the releasing thread could not see it',
    async (permits) => {
      const semaphore = tuned(new Semaphore(0, { arena }), { spin: 0 });
      expect(await run(semaphore, permits, { grant: permits })).toEqual([at('QUEUED'), at('ADMITTED')]);
      expect(new Memory(arena).cells).toBe(0);
      semaphore.dispose();
    },
  );

  it('sleeps on a grant that is not enough, until the rest comes', async () => {
    const semaphore = tuned(new Semaphore(0, { arena }), { spin: 0 });
    const answers = run(semaphore, 3, { grant: 2 });
    await until(() => new Memory(arena).cells > 0, 'it has entered');
    expect(semaphore.waiting).toBe(1);
    semaphore.release();
    expect(await answers).toEqual([at('QUEUED'), at('ADMITTED')]);
    semaphore.dispose();
  });

  it('sees that the semaphore has been closed, though the closing thread could not see it', async () => {
    const semaphore = tuned(new Semaphore(0, { arena }), { spin: 0 });
    expect(await run(semaphore, 2, { close: true })).toEqual([at('QUEUED'), at('ANSWER_CLOSED')]);
    expect(new Memory(arena).cells).toBe(0);
  });
});

describe.each([1, 2, 1024])('a release that was set aside half-way (slots %i)', (slots) => {
  it('wakes, when it goes on, no waiter whose turn has not come', async () => {
    const arena = new Arena({ slots });
    const semaphore = tuned(new Semaphore(0, { arena }), { spin: 0 });
    const { handle } = semaphore;
    const log: string[] = [];
    const enter = (name: string) => semaphore.acquireAsync().then(() => log.push(name));
    enter('a');
    enter('b');
    // The first half grants a its permit, and wakes nobody.
    expect(await member().run('half-release', { handle, permits: 1 })).toBe(at('MORE'));
    // This thread finds both due when it releases itself. Their cells in the array are then free for c.
    semaphore.release();
    await until(() => log.length === 2, 'a and b are in');
    enter('c');
    await member().run('other-half', { handle, permits: 1 });
    expect(semaphore.waiting).toBe(1);
    semaphore.release();
    await until(() => log.length === 3, 'c is in');
    expect(log).toEqual(['a', 'b', 'c']);
    expect(new Memory(arena).cells).toBe(0);
    expect(semaphore.available).toBe(0);
  });
});

describe.each([1, 2, 1024])('a thread that cancels while it blocks (slots %i)', (slots) => {
  it('leaves a due promise of its own to the releasing thread that has yet to ring', async () => {
    const arena = new Arena({ slots });
    const rings = () => new Memory(arena).doorbell(arena.thread.thread);
    /** Returns whether the other thread was in time. */
    const trial = async (timeout: number) => {
      const semaphore = tuned(new Semaphore(0, { arena }), { spin: 0 });
      const { handle } = semaphore;
      const promise = watch(semaphore.acquireAsync(), 'promise');
      await turn();
      const before = rings();
      const told = new Int32Array(new SharedArrayBuffer(8));
      const half = member().run('stand-behind', { handle, others: 2, permits: 2, told });
      // By then the promise is due. This request has one permit of its two, and leaves both to the one behind it.
      expect(() => semaphore.acquire(2, { timeout })).toThrow(TimeoutError);
      const inTime = Atomics.load(told, 0) === 1;
      Atomics.store(told, 1, 1);
      const answer = await half;
      if (!inTime) {
        await member().run('other-half', { handle, permits: 2 });
        return false;
      }
      expect(answer).toBe(at('MORE'));
      await turn();
      expect(rings(), 'rings before the other one goes on').toBe(before);
      expect(promise.state).toBe('pending');
      await member().run('other-half', { handle, permits: 2 });
      await until(() => promise.state === 'fulfilled', 'the promise is told');
      expect(rings()).toBe(before + 1);
      expect(semaphore.waiting).toBe(0);
      expect(semaphore.available).toBe(0);
      return true;
    };
    let timeout = 100;
    while (!(await trial(timeout))) timeout *= 2;
  });
});

describe('the head of a mutex', () => {
  it('whose wait is cut into several sleeps sets the limit of the turn once', () => {
    const arena = new Arena();
    const mutex = tuned(new Mutex({ arena }), { spin: 0 });
    const { address, generation } = mutex.handle;
    const { core, memory } = membershipOf(arena);
    const words = new Int32Array(memory.buffer);
    const word = (name: string) => (address + at(name)) >> 2;
    // Another thread has the lock.
    words[word('M_WORD')] = 2;
    const number = core.attach(address, generation, at('KIND_MUTEX'));
    expect(core.queue(address, number)).toBe(at('HEAD'));
    expect(core.compete(address, 1_000_000n, number)).toBe(at('TIMED_OUT'));
    const limit = words[word('M_LIMIT')];
    expect(limit).toBeGreaterThan(0);
    // It is overtaken a hundred times.
    (words[word('M_WORD') + 1] as number) += 100 << 3;
    expect(core.compete(address, 1_000_000n, number)).toBe(at('TIMED_OUT'));
    expect(words[word('M_LIMIT')]).toBe(limit);
    core.cancelHead(address, number);
    mutex.dispose();
  });
});

describe('a mutex with nearly as many waiters as it can count', () => {
  /** Makes a mutex that another thread holds, with so many waiters that this thread need not make. */
  function crowded(waiters: number) {
    const arena = new Arena();
    const mutex = new Mutex({ arena });
    const words = new BigInt64Array(membershipOf(arena).memory.buffer);
    const word = (mutex.handle.address + at('M_WORD')) >> 3;
    words[word] = BigInt(at('M_WAITER')) * BigInt(waiters) + 2n;
    return { mutex, countAgain: (waiters: number) => (words[word] = BigInt(at('M_WAITER')) * BigInt(waiters) + 2n) };
  }
  const MOST = at('MOST_WAITERS');

  it('refuses one more, a thread or a promise, and counts it no more', async () => {
    const { mutex } = crowded(MOST);
    expect(mutex.waiting).toBe(MOST);
    expect(() => mutex.lock({ timeout: 50 })).toThrow(ArenaFullError);
    expect(() => mutex.lock()).toThrow(/520,192 requests wait/);
    await expect(mutex.lockAsync()).rejects.toThrow(ArenaFullError);
    await expect(mutex.holdAsync({ timeout: 50 })).rejects.toThrow(/520,192 requests wait/);
    expect(mutex.waiting).toBe(MOST);
  });

  it('takes the last thread', () => {
    const { mutex } = crowded(MOST - 1);
    expect(() => mutex.lock({ timeout: 20 })).toThrow(TimeoutError);
    expect(mutex.waiting).toBe(MOST - 1);
  });

  it('takes the last promise, and no other', async () => {
    const { mutex, countAgain } = crowded(MOST - 1);
    const last = mutex.lockAsync();
    expect(mutex.waiting).toBe(MOST);
    await expect(mutex.lockAsync()).rejects.toThrow(ArenaFullError);
    expect(mutex.waiting).toBe(MOST);
    // The others go.
    countAgain(1);
    mutex.dispose();
    await expect(last).rejects.toThrow('disposed');
  });
});
