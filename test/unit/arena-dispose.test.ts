/** `arena.dispose()`: a thread leaves an arena, as if it had ended. */
import { Arena, DisposedError, Mutex, Semaphore } from 'taketurns';
import { channelOf, keySignal, keyWait, McsLock, TicketSemaphore } from 'taketurns/algorithms';
import { AtomicSemaphore, atomicWaitAsync, CountingSemaphore } from 'taketurns/p0514';
import { describe, expect, it } from 'vitest';
import { failure } from '../support/failure.js';
import { at, Memory } from '../support/memory.js';
import { runProgram } from '../support/program.js';
import { Member, team } from '../support/team.js';

const crowd = team(1, { core: true });
const GONE = new DisposedError('the arena has been disposed of');

describe('after dispose', () => {
  it('every use of the arena throws', () => {
    const arena = new Arena();
    const { handle, thread } = arena;
    arena.dispose();
    expect(() => arena.handle).toThrow(GONE);
    expect(() => arena.thread).toThrow(GONE);
    expect(() => arena.threads).toThrow(GONE);
    expect(() => arena.stats()).toThrow(GONE);
    expect(() => arena.makeDefault()).toThrow(GONE);
    expect(() => arena.reap(thread)).toThrow(GONE);
    expect(() => new Semaphore(1, { arena })).toThrow(GONE);
    expect(() => Semaphore.open('late', 1, { arena })).toThrow(GONE);
    expect(() => new McsLock({ arena })).toThrow(GONE);
    expect(() => keySignal(5, { arena })).toThrow(GONE);
    arena.dispose();
    expect(handle.kind).toBe('Arena');
  });

  it('the objects of the thread throw, and giving back has no effect', () => {
    const arena = new Arena();
    const semaphore = new Semaphore(2, { arena });
    const mutex = new Mutex({ arena });
    const lock = new McsLock({ arena });
    const ticket = new TicketSemaphore(1, { arena });
    const counting = new CountingSemaphore(1, { arena });
    const held = [semaphore.hold(), mutex.hold()];
    lock.lock();
    ticket.acquire();
    lock.unlock();
    arena.dispose();
    for (const guard of held) guard[Symbol.dispose]();
    semaphore.release();
    for (const use of [
      () => semaphore.acquire(),
      () => semaphore.tryAcquire(),
      () => semaphore.handle,
      () => mutex.lock(),
      () => mutex.tryLock(),
      () => lock.lock(),
      () => ticket.acquire(),
      () => counting.wait(),
    ])
      expect(use).toThrow(DisposedError);
  });

  it('calls with a time-out take no element, which nobody would free', () => {
    for (const make of [(arena: Arena) => new Semaphore(1, { arena }), (arena: Arena) => new Mutex({ arena })]) {
      const arena = new Arena();
      const memory = new Memory(arena);
      const object = make(arena);
      arena.dispose();
      expect(() => object.hold({ timeout: 5 })).toThrow(DisposedError);
      expect(memory.elementsIn(at('RESERVED'))).toEqual([]);
    }
  });

  it('what is reached by a key throws', () => {
    const arena = new Arena();
    const channel = channelOf(7, { arena });
    const sequence = channel.monitor();
    arena.dispose();
    expect(() => channel.monitor()).toThrow(GONE);
    expect(() => channel.wait(sequence)).toThrow(GONE);
    expect(() => channel.signal()).toThrow(GONE);
    expect(() => keyWait(7, sequence, { arena })).toThrow(GONE);
  });

  it('promises reject', async () => {
    const arena = new Arena();
    const semaphore = new Semaphore(0, { arena });
    const mutex = new Mutex({ arena });
    const atomic = new AtomicSemaphore({ arena });
    mutex.lock();
    const words = new Int32Array(new SharedArrayBuffer(4));
    const promises = [
      semaphore.acquireAsync(),
      semaphore.acquireAsync(2),
      semaphore.acquireAsync(1, { timeout: 100_000 }),
      mutex.lockAsync(),
      mutex.lockAsync(),
      mutex.lockAsync({ signal: new AbortController().signal }),
      atomic.waitAsync(words, 0, 0),
      atomicWaitAsync(words, 0, 0, { arena }),
    ];
    // By now the doorbell listens.
    await new Promise((resolve) => setTimeout(resolve, 10));
    arena.dispose();
    for (const result of await Promise.allSettled(promises)) {
      expect(result.status).toBe('rejected');
      expect((result as PromiseRejectedResult).reason).toBeInstanceOf(DisposedError);
    }
  });

  it('an AtomicSemaphore throws, and does not touch what another thread has made in its place', () => {
    const arena = new Arena();
    const { handle } = arena;
    const atomic = new AtomicSemaphore({ arena });
    const words = new Int32Array(new SharedArrayBuffer(4));
    arena.dispose();
    const mutex = new Mutex({ arena: Arena.from(handle) });
    for (const use of [() => atomic.tryWaitFor(words, 0, 0, 1), () => atomic.handle])
      expect(use).toThrow(DisposedError);
    atomic.signal(words, 0);
    atomic.dispose();
    expect(Mutex.from(mutex.handle).tryLock()).toBe(true);
  });

  it('a wait of a CountingSemaphore takes nothing from what is made in its place', async () => {
    const arena = new Arena();
    const { handle } = arena;
    const late = failure(() => new CountingSemaphore(0, { arena }).waitAsync());
    // By now the doorbell listens.
    await new Promise((resolve) => setTimeout(resolve, 10));
    arena.dispose();
    const next = new CountingSemaphore(0, { arena: Arena.from(handle) });
    const wait = next.waitAsync();
    expect(await late).toBeInstanceOf(DisposedError);
    next.signal();
    await wait;
    expect(next.value).toBe(0);
  });

  it('the end of a watched web worker of Bun is no error', async () => {
    expect(await runProgram('watched-in-bun')).toEqual({ code: 0, out: 'heard\n', err: '' });
  });

  it('a default arena stays', () => {
    expect(() => Arena.default.dispose()).toThrow(
      /^Arena.dispose: this is the default arena of the thread, .* dispose of these objects instead$/,
    );
    expect(new Semaphore(1).tryAcquire()).toBe(true);
  });

  it('ends a using scope', () => {
    let kept: Arena;
    {
      using arena = new Arena();
      kept = arena;
      expect(arena.threads).toBe(1);
    }
    expect(() => kept.threads).toThrow(GONE);
  });
});

describe('objects', () => {
  it('that no other thread has open are freed when their thread leaves, but for those of a handle', async () => {
    const arena = new Arena();
    const semaphore = new Semaphore(0, { arena });
    const member = crowd[0] as Member;
    await member.run('attempts', { handle: semaphore.handle, rounds: 1 });
    new Semaphore(1, { arena });
    new McsLock({ arena }).lock();
    Semaphore.open('named', 1, { arena });
    Semaphore.open('sent', 1, { arena }).handle;
    expect(arena.stats().objects.used).toBe(5);
    const { handle } = arena;
    arena.dispose();
    const again = Arena.from(handle);
    expect(again.stats().objects.used).toBe(2);
    expect(Semaphore.open('sent', undefined, { arena: again }).available).toBe(1);
    expect(() => Semaphore.open('named', undefined, { arena: again })).toThrow(/nothing of that name/);
  });
});

describe('other threads', () => {
  it('go on: they get what the thread held, and its place', async () => {
    const arena = new Arena();
    const robust = new Semaphore(3, { arena, robust: true });
    const { handle } = robust;
    const member = crowd[0] as Member;
    await member.run('attempts', { handle, rounds: 1 });
    robust.acquire(2);
    expect(arena.threads).toBe(2);
    const kept = arena.handle;
    arena.dispose();

    const again = Arena.from(kept);
    expect(again).not.toBe(arena);
    expect(again.threads).toBe(2);
    expect(again.stats().objects.used).toBe(1);
    const found = Semaphore.from(handle);
    expect(found.available).toBe(2);
    let deaths = 0;
    found.onOwnerDied = (count) => {
      deaths += count;
    };
    await member.run('release', { handle: new Semaphore(0, { arena: again }).handle });
    found.acquire();
    expect(deaths).toBe(1);
    again.dispose();
  });

  it.each([false, true])('do not take one that leaves and comes back for dead (its loop turns: %s)', async (turn) => {
    const arena = new Arena();
    const mutex = new Mutex({ arena });
    const member = new Member(undefined, { core: true });
    await member.run('leave-and-lock', { handle: mutex.handle, times: 20, turn });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(mutex.locked).toBe(true);
    expect(mutex.inspect().ownerDeaths).toBe(20);
    expect(arena.threads).toBe(2);
    // Its real death is noticed, while this thread blocks.
    member.worker.terminate();
    mutex.lock({ timeout: 10_000 });
    expect(mutex.inspect().ownerDeaths).toBe(21);
    arena.dispose();
  });

  it('wait on, and are woken by each other', async () => {
    const arena = new Arena();
    const semaphore = new Semaphore(0, { arena });
    const member = crowd[0] as Member;
    const waiting = member.run('hold-and-tell', { handle: semaphore.handle });
    const handle = arena.handle;
    while (arena.stats().waiting === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    const own = semaphore.acquireAsync();
    const { handle: semaphoreHandle } = semaphore;
    arena.dispose();
    await expect(own).rejects.toThrow(DisposedError);
    Arena.from(handle);
    const again = Semaphore.from(semaphoreHandle);
    expect(again.waiting).toBe(1);
    again.release();
    await waiting;
  });
});
