/** Runs: promises of one thread share an element, and enter the waiting array when the thread can sleep. */
import { Arena, Mutex, Semaphore } from 'taketurns';
import { describe, expect, it } from 'vitest';
// The membership gives this thread's own core, for half a call.
import { membershipOf } from '../support/membership.js';
import { at, Memory } from '../support/memory.js';
import { watch } from '../support/settled.js';
import { type Member, team } from '../support/team.js';
import { tuned } from '../support/tuned.mjs';
import { reactions, turn, until } from '../support/until.js';

const crowd = team(1, { core: true });
const member = () => crowd[0] as Member;
const upTo = (n: number) => Array.from({ length: n }, (_, i) => i);

describe.each([1, 2, 1024])('a run (slots %i)', (slots) => {
  const arena = new Arena({ slots });
  const memory = new Memory(arena);

  it.each([1, 3])('takes one element for any number of promises, and %i permits each', async (permits) => {
    const semaphore = new Semaphore(0, { arena });
    const log: number[] = [];
    for (const i of upTo(100)) watch(semaphore.acquireAsync(permits), i, log);
    expect(memory.standing).toEqual([at('AWAKE')]);
    expect(memory.cells).toBe(0);
    await turn();
    expect(memory.standing).toEqual([at('WAITING')]);
    // A heavy request is also entered under its first ticket, if that belongs to another bucket.
    expect(memory.cells).toBe(permits > 1 && slots > 2 ? 2 : 1);
    // A run that this thread settles leaves the array, until the thread can sleep.
    semaphore.release(10 * permits + permits - 1);
    await reactions();
    expect(log).toEqual(upTo(10));
    expect(memory.standing).toEqual([at('AWAKE')]);
    expect(memory.cells).toBe(0);
    for (const i of upTo(50)) watch(semaphore.acquireAsync(permits), 100 + i, log);
    await turn();
    expect(memory.standing).toEqual([at('WAITING')]);
    await member().run('release', { handle: semaphore.handle, times: 70 * permits });
    semaphore.release(70 * permits);
    await until(() => log.length === 150, 'all are in');
    expect(log).toEqual(upTo(150));
    expect(memory.standing).toEqual([]);
    expect(memory.cells).toBe(0);
    semaphore.dispose();
  });

  it('ends where another number of permits is asked for', async () => {
    const semaphore = new Semaphore(0, { arena });
    const log: number[] = [];
    for (const [i, permits] of [1, 1, 2, 2, 1, 3, 3, 3].entries()) watch(semaphore.acquireAsync(permits), i, log);
    expect(memory.standing).toHaveLength(4);
    expect(semaphore.waiting).toBe(8);
    await turn();
    // Only the first run is entered.
    expect(memory.standing.toSorted()).toEqual([at('WAITING'), at('AWAKE'), at('AWAKE'), at('AWAKE')]);
    expect(memory.cells).toBe(1);
    semaphore.release(5);
    await reactions();
    expect(log).toEqual([0, 1, 2]);
    await member().run('release', { handle: semaphore.handle, permits: [8] });
    await until(() => log.length === 7, 'all but one are in');
    expect(semaphore.waiting).toBe(1);
    semaphore.dispose();
    expect(memory.cells).toBe(0);
    expect(memory.standing).toEqual([]);
  });

  it('ends where another thread takes a ticket', async () => {
    const semaphore = tuned(new Semaphore(0, { arena }), { spin: 0 });
    const { handle } = semaphore;
    const log: string[] = [];
    const mine = (name: string) => watch(semaphore.acquireAsync(), name, log);
    mine('a');
    mine('b');
    const entered = member()
      .run('enter', { handle })
      .then(() => log.push('worker'));
    await until(() => semaphore.waiting === 3, 'the worker stands in line');
    mine('c');
    mine('d');
    expect(memory.standing).toHaveLength(3);
    semaphore.release(2);
    await reactions();
    expect(log).toEqual(['a', 'b']);
    await turn();
    // c stands behind the worker, and is entered.
    semaphore.release();
    await entered;
    expect(log).toEqual(['a', 'b', 'worker']);
    await member().run('release', { handle });
    await until(() => log.length === 4, 'c is in');
    expect(semaphore.waiting).toBe(1);
    semaphore.release();
    await until(() => log.length === 5, 'd is in');
    expect(log).toEqual(['a', 'b', 'worker', 'c', 'd']);
    semaphore.dispose();
  });

  it('that is not entered sees a grant, though the releasing thread could not see the run', async () => {
    const semaphore = new Semaphore(0, { arena });
    const log: number[] = [];
    for (const i of upTo(3)) watch(semaphore.acquireAsync(), i, log);
    memory.beginRelease(semaphore, 2);
    await until(() => log.length === 2, 'two are in');
    expect(log).toEqual([0, 1]);
    expect(semaphore.waiting).toBe(1);
    semaphore.dispose();
  });

  it.each([1, 2, 5])('that is being entered sees a simultaneous grant of its %i permits', (permits) => {
    const { core } = membershipOf(arena);
    const semaphore = new Semaphore(0, { arena });
    const run = core.arrive(semaphore.handle.address, permits, 0, 0);
    expect(core.settle(run, 0)).toBe(0);
    // The release looks for waiters now, and finds none.
    memory.beginRelease(semaphore, permits);
    expect(core.enterRun(run)).toBe(1);
    expect(core.settle(run, 0)).toBe(1);
    expect(memory.cells).toBe(0);
    semaphore.dispose();
  });

  it('that is not entered sees that the semaphore has been closed', async () => {
    const semaphore = new Semaphore(0, { arena });
    const { handle } = semaphore;
    const settlings = upTo(3).map((i) => watch(semaphore.acquireAsync(1 + (i >> 1)), i));
    const told = new Int32Array(new SharedArrayBuffer(4));
    member().run('dispose', { handle, told });
    expect(Atomics.wait(told, 0, 0, 20_000)).not.toBe('timed-out');
    expect(memory.standing).toEqual([at('AWAKE'), at('AWAKE')]);
    await until(() => settlings.every(({ state }) => state === 'rejected'), 'all are told');
    expect(memory.standing).toEqual([]);
  });

  it('is counted by other threads, entered or not', async () => {
    const semaphore = new Semaphore(0, { arena });
    const { handle } = semaphore;
    for (const _ of upTo(5)) watch(semaphore.acquireAsync(2), 0);
    const told = new Int32Array(new SharedArrayBuffer(4));
    member().run('waiting', { handle, told });
    expect(Atomics.wait(told, 0, 0, 20_000)).not.toBe('timed-out');
    expect(told[0]).toBe(5);
    expect(await member().run('waiting', { handle })).toBe(5);
    watch(semaphore.acquireAsync(2), 0);
    expect(await member().run('waiting', { handle })).toBe(6);
    semaphore.release(3);
    expect(semaphore.waiting).toBe(5);
    expect(await member().run('waiting', { handle })).toBe(5);
    semaphore.dispose();
  });
});

describe('a thread gives what it has to its own next promise', () => {
  const arena = new Arena();

  /** Notes each call of these functions of the core from now on. */
  function noted(): string[] {
    const calls: string[] = [];
    const { core } = membershipOf(arena);
    for (const name of ['reserveLock', 'settle', 'finishReleaseAndSettle', 'releaseToOwn', 'unlockToOwn'] as const) {
      const call = core[name] as (...given: number[]) => number;
      core[name] = ((...given: number[]) => {
        calls.push(name);
        return call(...given);
      }) as never;
    }
    return calls;
  }

  it('by one call of the core for each promise of a Mutex but the first and the last', async () => {
    const mutex = new Mutex({ arena });
    mutex.lock();
    const calls = noted();
    const order: number[] = [];
    const all = upTo(5).map((i) =>
      mutex.lockAsync().then(() => {
        order.push(i);
        mutex.unlock();
      }),
    );
    mutex.unlock();
    await Promise.all(all);
    expect(order).toEqual(upTo(5));
    expect(calls).toEqual(['reserveLock', ...Array(4).fill('unlockToOwn'), 'reserveLock']);
    expect([mutex.locked, mutex.waiting]).toEqual([false, 0]);
  });

  it('by one call of the core for each promise of a Semaphore', async () => {
    const semaphore = new Semaphore(0, { arena });
    const calls = noted();
    const all = upTo(5).map(() => semaphore.acquireAsync());
    for (const _ of all) semaphore.release();
    await Promise.all(all);
    expect(calls).toEqual(Array(5).fill('releaseToOwn'));
    expect([semaphore.available, semaphore.waiting]).toEqual([0, 0]);
  });

  it('out of a run that another thread sees, and that other threads see again afterwards', async () => {
    const semaphore = new Semaphore(0, { arena });
    const calls = noted();
    const log: number[] = [];
    for (const i of upTo(2)) watch(semaphore.acquireAsync(), i, log);
    await turn();
    semaphore.release();
    expect(calls.at(-1)).toBe('releaseToOwn');
    await turn();
    expect(log).toEqual([0]);
    await member().run('release', { handle: semaphore.handle });
    await until(() => log.length === 2, 'the other thread makes the second promise due');
    semaphore.dispose();
  });
});
