/**
 * What others check of a barrier, as far as `Barrier` promises the same: CyclicBarrierTest of JSR-166's TCK, tst-barrier1
 * to 4 of glibc (nptl), BarrierTests of CPython (Lib/test/lock_tests.py), tests/sync_barrier.rs of tokio and
 * libcxx/test/std/thread/thread.barrier of LLVM. Each test names the case that it follows.
 *
 * A broken barrier stays broken here: where the others reset one, these tests dispose of it and open the name anew. A
 * blocked thread cannot be interrupted: where the others do that, it dies, or a promise is aborted.
 */
import { Arena, TimeoutError } from 'taketurns';
import { Barrier, BrokenBarrierError } from 'taketurns/sync';
import { describe, expect, it } from 'vitest';
import { callers } from '../support/callers.js';
import { isSettled, watch } from '../support/settled.js';
import { Member } from '../support/team.js';
import { turn, until } from '../support/until.js';

const THREADS = 5;
const { members, call } = callers(THREADS);
/** For what never happens. */
const timeout = 60_000;

/** Returns the numbers from 0 to n - 1. */
const upTo = (n: number) => Array.from({ length: n }, (_, i) => i);

/** Has the first threads meet round after round; checks the lockstep and the places, and returns when all have ended. */
async function lockstep(barrier: Barrier, threads: number, rounds: number, options = {}): Promise<void> {
  const words = new Int32Array(new SharedArrayBuffer(4 * threads));
  const args = { handle: barrier.handle, rounds, words, ...options };
  const results = await Promise.all(
    members
      .slice(0, threads)
      .map((member, index) => member.run<{ places: number[]; behind: number }>('meet-in-rounds', { ...args, index })),
  );
  for (const { behind } of results) expect(behind).toBe(0);
  for (let round = 0; round < rounds; round++) {
    expect(results.map(({ places }) => places[round]).sort()).toEqual(upTo(threads));
  }
  expect([barrier.broken, barrier.waiting, barrier.inspect().arrived]).toEqual([false, 0, 0]);
}

describe('CyclicBarrierTest', () => {
  it('testConstructor1, testConstructor2: a negative number of parties is refused', () => {
    expect(() => new Barrier(-1)).toThrow(RangeError);
    expect(() => new Barrier(-1, { action: () => {} })).toThrow(RangeError);
  });

  it('testGetParties: it has the parties that were given, and nobody waits', () => {
    const barrier = new Barrier(2);
    expect([barrier.parties, barrier.waiting, Barrier.from(barrier.handle).parties]).toEqual([2, 0, 2]);
  });

  it('testSingleParty, testBarrierAction: one party does not wait, and runs the action each time', async () => {
    let count = 0;
    const barrier = new Barrier(1, { action: () => void count++ });
    expect([barrier.arriveAndWait(), await barrier.arriveAndWaitAsync(), barrier.waiting]).toEqual([0, 0, 0]);
    expect(count).toBe(2);
  });

  it('testTwoParties: two threads meet four times', async () => {
    const barrier = new Barrier(2);
    const theirs = [1, 2, 3, 4].map(() => call<number>(0, barrier, 'arriveAndWait'));
    const mine = theirs.map(() => barrier.arriveAndWait({ timeout }));
    const places = (await Promise.all(theirs)).map((place, round) => [place, mine[round]].sort());
    expect(places).toEqual(mine.map(() => [0, 1]));
    await call(0, barrier, 'leave');
  });

  it.each([
    ['testAwait1_Interrupted_BrokenBarrier', []],
    ['testAwait2_Interrupted_BrokenBarrier', [{ timeout }]],
  ])('%s: one that is aborted breaks it for the others', async (_, given) => {
    const barrier = new Barrier(4);
    const thread = call(0, barrier, 'arriveAndWait', ...given);
    const promise = barrier.arriveAndWaitAsync(...given);
    const abort = new AbortController();
    const aborted = barrier.arriveAndWaitAsync({ ...given[0], signal: abort.signal });
    await until(() => barrier.waiting === 3, 'all wait');
    abort.abort(new Error('interrupted'));
    await expect(aborted).rejects.toThrow('interrupted');
    await expect(promise).rejects.toThrow(BrokenBarrierError);
    await expect(thread).rejects.toMatchObject({ name: 'BrokenBarrierError' });
    expect([barrier.broken, barrier.waiting]).toEqual([true, 0]);
  });

  it.each([
    ['testAwait1_Interrupted_BrokenBarrier', []],
    ['testAwait2_Interrupted_BrokenBarrier', [{ timeout }]],
  ])('%s: one that dies as it waits breaks it for the others', async (_, given) => {
    const barrier = new Barrier(3);
    const dying = new Member();
    const death = dying.run('call', { handle: barrier.handle, method: 'arriveAndWait', args: given });
    const thread = call(0, barrier, 'arriveAndWait', ...given);
    await until(() => barrier.waiting === 2, 'both wait');
    await dying.kill();
    await expect(thread).rejects.toMatchObject({ name: 'BrokenBarrierError' });
    await expect(death).rejects.toThrow('the worker has exited');
    await until(() => barrier.waiting === 0, 'nobody waits');
  });

  it('testAwait3_TimeoutException: one that waits in vain gets a TimeoutError', async () => {
    const barrier = new Barrier(2);
    await expect(call(0, barrier, 'arriveAndWait', { timeout: 5 })).rejects.toMatchObject({ name: 'TimeoutError' });
    await expect(new Barrier(2).arriveAndWaitAsync({ timeout: 5 })).rejects.toThrow(TimeoutError);
    expect(barrier.broken).toBe(true);
  });

  it.each([
    ['testAwait4_Timeout_BrokenBarrier', [{ timeout }]],
    ['testAwait5_Timeout_BrokenBarrier', []],
  ])('%s: one that waits in vain breaks it for the others', async (_, given) => {
    const barrier = new Barrier(3);
    const other = call(0, barrier, 'arriveAndWait', ...given);
    await until(() => barrier.waiting === 1, 'the other waits');
    await expect(call(1, barrier, 'arriveAndWait', { timeout: 5 })).rejects.toMatchObject({ name: 'TimeoutError' });
    await expect(other).rejects.toMatchObject({ name: 'BrokenBarrierError' });
  });

  it('testReset_BrokenBarrier: those who wait are told when it is disposed of', async () => {
    const barrier = new Barrier(3);
    const waits = [call(0, barrier, 'arriveAndWait'), call(1, barrier, 'arriveAndWait')];
    await until(() => barrier.waiting === 2, 'both wait');
    barrier.dispose();
    for (const wait of waits) await expect(wait).rejects.toMatchObject({ name: 'DisposedError' });
  });

  it.each([
    ['testResetAfterInterrupt', (barrier: Barrier) => barrier.arriveAndWaitAsync({ signal: AbortSignal.timeout(5) })],
    ['testResetAfterTimeout', (barrier: Barrier) => barrier.arriveAndWaitAsync({ timeout: 5 })],
    ['testResetAfterCommandException', async (barrier: Barrier) => barrier.arriveAndWait()],
  ] as const)('%s: a broken one is made anew under its name', async (test, breaks) => {
    const fails = test === 'testResetAfterCommandException';
    for (let round = 0; round < 2; round++) {
      const action = () => {
        throw new Error('the command fails');
      };
      const barrier = Barrier.open(test, fails ? 2 : 3, fails ? { action } : {});
      const other = call(0, barrier, 'arriveAndWait');
      await until(() => barrier.waiting === 1, 'the other waits');
      await expect(breaks(barrier)).rejects.toThrow();
      await expect(other).rejects.toMatchObject({ name: 'BrokenBarrierError' });
      expect([barrier.broken, barrier.waiting]).toEqual([true, 0]);
      barrier.dispose();
      const anew = Barrier.open(test, 1);
      expect([anew.broken, anew.arriveAndWait()]).toEqual([false, 0]);
      anew.dispose();
    }
  });
});

describe('tst-barrier of glibc', () => {
  it('tst-barrier1: a count of 0 is refused, and one of 1 lets its thread be the serial one', () => {
    expect(() => new Barrier(0)).toThrow(RangeError);
    const barrier = new Barrier(1);
    expect(barrier.arriveAndWait()).toBe(barrier.parties - 1);
    barrier.dispose();
  });

  it('tst-barrier2: one that is found in two ways is the same', async () => {
    const named = Barrier.open('tst-barrier2', 2);
    for (let round = 0; round < 20; round++) {
      const other = call(0, named, 'arriveAndWait');
      Barrier.open('tst-barrier2', 2).arriveAndWait({ timeout });
      await other;
    }
    named.dispose();
  });

  it('tst-barrier3: those of 1 to 5 parties let all go on at once, and one of them is the last', async () => {
    const handles = upTo(THREADS).map((i) => new Barrier(i + 1).handle);
    const words = new Int32Array(new SharedArrayBuffer(4 * 2 * THREADS));
    const jobs = members.map((member, index) =>
      member.run<number>('meet-in-steps', { handles, rounds: 20, words, index }),
    );
    expect(await Promise.all(jobs)).toEqual(members.map(() => 0));
  });

  it('tst-barrier4: one may be disposed of by the first that goes on', async () => {
    const arena = new Arena({ objects: 64, threads: 16, waiters: 64 });
    const args = { arena: arena.handle, name: 'tst-barrier4', parties: THREADS, rounds: 30 };
    const jobs = members.map((member) => member.run<number>('meet-and-destroy', args));
    const disposed = await Promise.all(jobs);
    expect(disposed.reduce((sum, count) => sum + count)).toBe(2 * 30);
  });
});

describe('BarrierTests', () => {
  it.each([
    ['test_barrier', 1],
    ['test_barrier_10', 10],
    ['test_barrier, at random moments', 200],
  ])('%s, test_wait_return: it is passed in lockstep, and each has a place', async (_, rounds) => {
    await lockstep(new Barrier(THREADS), THREADS, rounds, { think: rounds === 200 ? 3000 : 0 });
  });

  it('the same with promises', () => lockstep(new Barrier(THREADS), THREADS, 50, { asks: 'arriveAndWaitAsync' }));

  it('test_action: the action has run once when those who waited go on', async () => {
    let count = 0;
    const barrier = new Barrier(THREADS, { action: () => void count++ });
    const seen = upTo(THREADS).map(() => barrier.arriveAndWaitAsync().then(() => count));
    expect(await Promise.all(seen)).toEqual(seen.map(() => 1));
  });

  it('test_abort: one that ends between two rounds breaks it for all others', async () => {
    const barrier = new Barrier(THREADS);
    const args = { handle: barrier.handle, which: THREADS >> 1 };
    const own = members.map(() => new Member());
    const ends = await Promise.allSettled(own.map((member) => member.run<string>('meet-and-end', args)));
    const broken = ends.filter((end) => end.status === 'fulfilled' && end.value === 'BrokenBarrierError');
    expect(broken).toHaveLength(THREADS - 1);
    expect(ends.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    expect(barrier.broken).toBe(true);
    for (const member of own) await member.kill();
  });

  it('test_timeout: when one is late, one gets a TimeoutError and the others find it broken', async () => {
    const barrier = new Barrier(THREADS);
    const waits = upTo(THREADS - 1).map((i) => call(i, barrier, 'arriveAndWait', { timeout: 20 }));
    const ends = (await Promise.allSettled(waits)).map((end) => (end as PromiseRejectedResult).reason.name);
    expect(ends.filter((name) => name === 'TimeoutError')).toHaveLength(1);
    expect(ends.filter((name) => name === 'BrokenBarrierError')).toHaveLength(THREADS - 2);
    expect(() => barrier.arriveAndWait()).toThrow(BrokenBarrierError);
  });
});

describe('sync_barrier.rs', () => {
  it('single: each call of one party is the leader', async () => {
    const barrier = new Barrier(1);
    for (let i = 0; i < 3; i++) expect(await barrier.arriveAndWaitAsync()).toBe(0);
  });

  it('tango: the first waits, and one of two is the leader', async () => {
    const barrier = new Barrier(2);
    const first = barrier.arriveAndWaitAsync();
    expect(await isSettled(first)).toBe(false);
    expect([await barrier.arriveAndWaitAsync(), await first].sort()).toEqual([0, 1]);
  });

  it('lots: 99 of 100 wait, in ten rounds, and one is the leader', async () => {
    const barrier = new Barrier(100);
    for (let round = 0; round < 10; round++) {
      const waits = upTo(99).map(() => barrier.arriveAndWaitAsync());
      const settling = waits.map((wait) => watch(wait, ''));
      await turn();
      expect(settling.map(({ state }) => state)).toEqual(waits.map(() => 'pending'));
      waits.push(barrier.arriveAndWaitAsync());
      const places = await Promise.all(waits);
      expect(places.toSorted((a, b) => a - b)).toEqual(upTo(100));
    }
  });
});

describe('thread.barrier', () => {
  it('max: the most parties', () => {
    expect(new Barrier(65_535).parties).toBe(65_535);
    expect(() => new Barrier(65_536)).toThrow(RangeError);
  });

  it('completion: the action of one side runs once a round, if that side is the last', async () => {
    let count = 0;
    const barrier = new Barrier(2, { action: () => void count++ });
    let last = 0;
    for (let round = 0; round < 10; round++) {
      const other = call<number>(0, barrier, 'arriveAndWait');
      if (barrier.arriveAndWait({ timeout }) === 1) last++;
      await other;
    }
    expect(count).toBe(last);
    await call(0, barrier, 'leave');
  });

  it('arrive_and_drop: a thread that has left and ends breaks nothing, and another may take its part', async () => {
    const barrier = new Barrier(2);
    const leaving = new Member();
    const round = leaving.run('meet-in-rounds', {
      ...{ handle: barrier.handle, rounds: 1, index: 0 },
      words: new Int32Array(new SharedArrayBuffer(4)),
    });
    barrier.arriveAndWait({ timeout });
    await round;
    await leaving.leave();
    const other = call<number>(0, barrier, 'arriveAndWait');
    barrier.arriveAndWait({ timeout });
    await other;
    expect(barrier.broken).toBe(false);
  });
});
