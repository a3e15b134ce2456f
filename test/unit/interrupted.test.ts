/**
 * A thread survives an interruption in the middle of a call: the runtime ends the call by an exception that no code of
 * the library sees. The thread's request for a semaphore leaves the queue when the thread waits again; its request
 * for a mutex leaves the line soon after. The thread's later calls must still be right.
 */
import { runInThisContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { Arena, ArenaFullError, Mutex, Semaphore, TimeoutError } from 'taketurns';
import { TtsLock } from 'taketurns/algorithms';
import { Channel } from 'taketurns/channel';
import { type Histogram, type Metric, metrics, startMetrics } from 'taketurns/metrics';
import { CountingSemaphore } from 'taketurns/p0514';
import { Barrier, BrokenBarrierError, Condition, Event, Latch, Once, WaitGroup } from 'taketurns/sync';
import { describe, expect, it, vi } from 'vitest';
// The membership gives this thread's own core, for half a call.
import { afterInterrupt } from '../../src/runtime/interrupts.js';
import { membershipOf, replaceable } from '../support/membership.js';
import { at, Memory } from '../support/memory.js';
import { roundsInCi } from '../support/rounds.js';
import { team } from '../support/team.js';
import { tuned } from '../support/tuned.mjs';
import { turn, until } from '../support/until.js';

/** Calls `semaphore.acquire()` and interrupts it while it is parked. */
function interruptedAcquire(semaphore: Semaphore): void {
  Object.assign(globalThis, { interrupted: semaphore });
  expect(() => runInThisContext('interrupted.acquire()', { timeout: 50 })).toThrow(/timed out/);
}

describe('after an interrupted acquire', () => {
  it.each(['released', 'cancelled', 'neither'])(
    'the memory of the semaphore is used again, and the end of the thread leaves it alone (%s)',
    (how) => {
      const arena = new Arena({ objects: 1 });
      const semaphore = new Semaphore(0, { arena });
      const { address } = semaphore.handle;
      interruptedAcquire(semaphore);
      if (how === 'released') semaphore.release();
      if (how === 'cancelled') semaphore.cancelAll();
      semaphore.dispose();
      const next = new Semaphore(1, { arena });
      expect(next.handle.address).toBe(address);
      next.acquire();
      const memory = new Memory(arena);
      const words = () => [memory.long(address + at('GRANT')), memory.long(address + at('TICKET'))];
      const before = words();
      arena.dispose();
      expect(words()).toEqual(before);
    },
  );

  it('the next acquire does not take the grant of the interrupted one', () => {
    const semaphore = new Semaphore(0, { arena: new Arena() });
    interruptedAcquire(semaphore);
    interruptedAcquire(semaphore);
    // The second call has cancelled the first request.
    expect(semaphore.waiting).toBe(1);
    expect(semaphore.tryAcquire()).toBe(false);
  });

  it('the next request of the thread takes the place of the interrupted one', async () => {
    const semaphore = new Semaphore(0, { arena: new Arena() });
    interruptedAcquire(semaphore);
    let served = false;
    semaphore.acquireAsync().then(() => {
      served = true;
    });
    expect(semaphore.waiting).toBe(1);
    semaphore.release();
    await until(() => served, 'served');
  });

  it('other semaphores of the thread work as ever', () => {
    const arena = new Arena();
    interruptedAcquire(new Semaphore(0, { arena }));
    const other = new Semaphore(1, { arena });
    for (let i = 0; i < 3; i++) {
      other.acquire();
      expect(other.tryAcquire()).toBe(false);
      other.release();
    }
    expect(other.available).toBe(1);
    interruptedAcquire(new Semaphore(0, { arena }));
  });

  it('a release by the thread still wakes the waiters whose turn has come', async () => {
    const arena = new Arena();
    const semaphore = new Semaphore(0, { arena });
    const log: string[] = [];
    semaphore.acquireAsync().then(() => log.push('first'));
    interruptedAcquire(semaphore);
    semaphore.acquireAsync().then(() => log.push('last'));
    semaphore.release(3);
    await until(() => log.length === 2, 'both are in');
    expect(log).toEqual(['first', 'last']);
  });
});

describe('after an interrupted acquire, in an arena that is full', () => {
  it('the thread takes permits that are free, and waits by the element of the interrupted request', async () => {
    const arena = new Arena({ waiters: 8, objects: 3, threads: 2, watch: false });
    const [free, exhausted, other] = [1, 0, 0].map((permits) => new Semaphore(permits, { arena })) as [
      Semaphore,
      Semaphore,
      Semaphore,
    ];
    // Requests of different widths take an element each.
    const asked = Array.from({ length: 64 }, (_, i) => exhausted.acquireAsync(1 + (i % 2)));
    await expect(asked[63]).rejects.toThrow(ArenaFullError);
    interruptedAcquire(other);
    free.acquire();
    expect([free.available, free.waiting]).toEqual([0, 0]);
    interruptedAcquire(free);
    expect([other.waiting, free.waiting]).toEqual([0, 1]);
    exhausted.dispose();
    await Promise.allSettled(asked);
  });
});

describe('after an interrupted acquire, a wait on a condition', () => {
  it('has its place in line before the mutex is unlocked, so that no notification is missed', () => {
    const arena = new Arena();
    const mutex = new Mutex({ arena });
    const condition = new Condition(mutex);
    interruptedAcquire(new Semaphore(0, { arena }));
    mutex.lock();
    const seen: number[] = [];
    // What a condition calls to unlock.
    const giveBack = Symbol.for('taketurns:giveBack');
    const unlock = (): void => {
      seen.push(condition.waiting);
      mutex.unlock();
      expect(condition.notify()).toBe(1);
    };
    Object.assign(mutex, { [giveBack]: unlock });
    expect(condition.wait({ timeout: 10_000 })).toBe(true);
    expect(seen).toEqual([1]);
    expect(mutex.held).toBe(true);
  });
});

describe('after an interrupted wait', () => {
  const makers = {
    Latch: (arena: Arena) => new Latch(1, { arena }),
    Event: (arena: Arena) => new Event({ arena }),
    WaitGroup: (arena: Arena) => {
      const group = new WaitGroup({ arena });
      group.add();
      return group;
    },
  };

  it.each(Object.entries(makers))('for a %s, the call no longer counts as one that waits', async (_, make) => {
    const object = make(new Arena());
    Object.assign(globalThis, { interrupted: object });
    const interrupt = (): void =>
      expect(() => runInThisContext('interrupted.wait()', { timeout: 50 })).toThrow(/timed out/);
    interrupt();
    interrupt();
    // The second call has found what the first has left. It itself is over at the next iteration of the event loop.
    expect(object.waiting).toBe(1);
    expect(object.wait({ timeout: 1 })).toBe(false);
    expect(object.waiting).toBe(0);
    interrupt();
    await until(() => object.waiting === 0, 'it does not count');
    expect(object.inspect().waiters).toEqual([]);
  });
});

it('the time of an interrupted wait is not counted as that of the next wait', async () => {
  const arena = new Arena();
  startMetrics(arena);
  const semaphore = tuned(new Semaphore(0, { arena }), { spin: 0 });
  interruptedAcquire(semaphore);
  await new Promise((resolve) => setTimeout(resolve, 200));
  const before = performance.now();
  expect(() => semaphore.acquire({ timeout: 20 })).toThrow(TimeoutError);
  const most = performance.now() - before;
  const waits = metrics(arena).find(({ name }) => name === 'taketurns.wait.duration') as Metric;
  const value = waits.points[0]?.value as Histogram;
  expect(value.count).toBe(1);
  expect(value.sum * 1000).toBeLessThan(most + 100);
});

describe('after an interrupted acquire, the first object of another module', () => {
  it.each([
    ['algorithms', (arena: Arena) => new TtsLock({ arena })],
    ['channel', (arena: Arena) => new Channel({ arena })],
    ['sync', (arena: Arena) => new Latch(1, { arena })],
  ])('of %s does not make the thread forget the interrupted call', (_, make) => {
    const arena = new Arena();
    interruptedAcquire(new Semaphore(0, { arena }));
    make(arena);
    expect(() => new Semaphore(0, { arena }).acquire({ timeout: 5 })).toThrow(TimeoutError);
    expect(new CountingSemaphore(0, { arena }).tryWaitFor(5)).toBe(false);
  });
});

describe('after an interrupted action of a barrier', () => {
  it('the barrier is broken for those that wait', async () => {
    const barrier = new Barrier(2, {
      action() {
        for (;;);
      },
    });
    const other = barrier.arriveAndWaitAsync();
    Object.assign(globalThis, { interrupted: barrier });
    expect(() => runInThisContext('interrupted.arriveAndWait()', { timeout: 50 })).toThrow(/timed out/);
    await expect(other).rejects.toThrow(BrokenBarrierError);
  });
});

describe('after an interrupted function of a Once', () => {
  it.each(['run', 'runAsync'] as const)('%s: a call that waits does the work', async (call) => {
    const once = new Once();
    Object.assign(globalThis, { interrupted: once });
    expect(() => runInThisContext(`interrupted.${call}(() => { for (;;); })`, { timeout: 50 })).toThrow(/timed out/);
    await undefined;
    expect(await once.runAsync(() => {})).toBe(true);
    expect([once.done, once.waiting]).toEqual([true, 0]);
  });
});

describe('a thread that waits again and again', () => {
  it('runs what comes after an interrupt once when it returns to its event loop', async () => {
    let runs = 0;
    const expectInterrupt = afterInterrupt(() => runs++);
    for (let round = 1; round <= 2; round++) {
      for (let i = 0; i < 10; i++) expectInterrupt();
      await turn();
      expect(runs).toBe(round);
    }
  });

  it('runs it once for all the calls that the thread awaits until then', async () => {
    let runs = 0;
    const expectInterrupt = afterInterrupt(() => runs++);
    for (let i = 0; i < 10; i++) {
      expectInterrupt();
      await undefined;
    }
    await turn();
    expect(runs).toBe(1);
  });

  it('has no microtask for each of its waits, which would pile up if it never returns', () => {
    const arena = new Arena();
    const mutex = new Mutex({ arena });
    const condition = new Condition(mutex);
    const queued = vi.spyOn(globalThis, 'queueMicrotask');
    try {
      mutex.lock();
      for (let i = 0; i < 10; i++) condition.wait({ timeout: 0.01 });
      mutex.unlock();
      expect(queued).not.toHaveBeenCalled();
    } finally {
      queued.mockRestore();
    }
  });
});

describe('after calls for promises that were cut short', () => {
  const calls = {
    'Semaphore.acquireAsync': 'semaphore.acquireAsync()',
    'Semaphore.acquireAsync, of 1 or 2': 'semaphore.acquireAsync(1 + (i++ % 2))',
    'Semaphore.acquireAsync with a signal': 'semaphore.acquireAsync(1, { signal })',
    'Mutex.lockAsync': 'mutex.lockAsync()',
  };

  it.each(Object.entries(calls))('%s: the core waits for nobody whom JavaScript does not know', async (_name, call) => {
    for (let round = 0; round < 30; round++) {
      const arena = new Arena({ waiters: 100_000 });
      const semaphore = new Semaphore(0, { arena });
      const mutex = new Mutex({ arena });
      const served = semaphore.acquireAsync();
      semaphore.release();
      await served;
      const { used } = arena.stats().elements;
      mutex.lock();
      const { signal } = new AbortController();
      Object.assign(globalThis, { interrupted: { semaphore, mutex, signal, i: 0 } });
      const code = `with (interrupted) for (;;) ${call}`;
      expect(() => runInThisContext(code, { timeout: 1 + (round % 3) })).toThrow(/timed out/);
      while (semaphore.waiting > 0) semaphore.release(1000);
      semaphore.drain();
      while (mutex.held) mutex.unlock();
      await new Promise(setImmediate);
      // The call that was cut short may have left its promise as the head, before the promise had reserved the lock. Then
      // the promise has got the lock only now. Nobody has this promise, but the thread is the owner.
      while (mutex.held) mutex.unlock();
      expect([semaphore.waiting, mutex.waiting, mutex.locked]).toEqual([0, 0, false]);
      expect(arena.stats().elements.used).toBe(used);
      semaphore.release();
      expect(semaphore.tryAcquire()).toBe(true);
      arena.dispose();
    }
  });
});

describe('after calls that settle promises were cut short', () => {
  const ask = (n: string | number) => `list[list.length] = semaphore.acquireAsync(${n});`;
  const lock = 'list[list.length] = mutex.lockAsync();';
  const calls = {
    'Semaphore.release': `${ask(1)} ${ask(1)} semaphore.release(2)`,
    'Semaphore.release, for 1 or 2': `${ask('1 + (i++ % 2)')} ${ask(1)} semaphore.release(2)`,
    'Semaphore.cancelAll': `${ask(1)} ${ask(1)} semaphore.cancelAll()`,
    'Semaphore.cancelAll, for 1 and 2': `${ask(1)} ${ask(1)} ${ask(2)} semaphore.cancelAll()`,
    'Mutex.unlock': `${lock} ${lock} mutex.unlock()`,
  };

  it.each(Object.entries(calls))('%s: no promise is lost', async (_name, call) => {
    for (let round = 0; round < roundsInCi(60, 15); round++) {
      const arena = new Arena({ waiters: 100_000 });
      const semaphore = new Semaphore(0, { arena });
      const mutex = new Mutex({ arena });
      mutex.lock();
      const list: Promise<void>[] = [];
      Object.assign(globalThis, { interrupted: { semaphore, mutex, list, i: 0 } });
      const code = `with (interrupted) for (;;) { ${call} }`;
      expect(() => runInThisContext(code, { timeout: 1 + (round % 3) })).toThrow(/timed out/);
      let pending = list.length;
      const over = (): void => {
        pending--;
      };
      for (const promise of list) promise.then(over, over);
      await new Promise(setImmediate);
      await new Promise(setImmediate);
      // Whom the core has served or cancelled knows it by now. A call that was cut short may have left a request of
      // which this test has no promise.
      expect(pending).toBeLessThanOrEqual(semaphore.waiting + mutex.waiting);
      while (semaphore.waiting > 0) semaphore.release(1000);
      for (let i = 0; mutex.held || i < 2; i++) {
        if (mutex.held) mutex.unlock();
        await new Promise(setImmediate);
      }
      expect([pending, semaphore.waiting, mutex.waiting, mutex.locked]).toEqual([0, 0, 0, false]);
      arena.dispose();
    }
  });
});

describe('after an interrupted open', () => {
  it('the next open uses the draft', () => {
    const arena = new Arena({ threads: 1 });
    const core = replaceable(membershipOf(arena).core);
    const { openName } = core;
    core.openName = () => {
      throw new Error('interrupted');
    };
    for (let i = 0; i < 5; i++) expect(() => Semaphore.open('name', 1, { arena })).toThrow('interrupted');
    core.openName = openName;
    expect(Semaphore.open('name', 1, { arena }).available).toBe(1);
    expect(Semaphore.open('name', undefined, { arena }).available).toBe(1);
  });
});

describe('after an interrupted release', () => {
  it('the next release that wakes a waiter finishes it, promises of the thread included', async () => {
    const arena = new Arena();
    const first = new Semaphore(0, { arena });
    const second = new Semaphore(0, { arena });
    const log: string[] = [];
    first.acquireAsync().then(() => log.push('first'));
    second.acquireAsync().then(() => log.push('second'));
    // An exhausted stack would leave the second half undone: it is never called.
    expect(membershipOf(arena).core.release(first.handle.address, 1)).not.toBe(0);
    second.release();
    await until(() => log.length === 2, 'both are in');
    expect(first.available + second.available).toBe(0);
  });
});

describe('after an interrupted wait for a mutex', () => {
  const worker = team(1, { core: true });

  it('the next wait ends', async () => {
    const [held, other] = [new Mutex(), new Mutex()];
    other.lock();
    worker[0]?.run('mutex-die', { handle: held.handle, other: other.handle });
    await until(() => held.locked, 'the worker has the lock');
    Object.assign(globalThis, { interrupted: held });
    expect(() => runInThisContext('interrupted.lock()', { timeout: 50 })).toThrow(/execution timed out/);
    // If the core still took the thread for asleep, it would never wake up again.
    expect(() => runInThisContext('interrupted.lock({ timeout: 20 })', { timeout: 10_000 })).toThrow(TimeoutError);
    expect(held.waiting).toBe(0);
    other.unlock();
  });

  it.each(['this thread', 'another thread'])(
    'the memory of the mutex is used again, if %s disposes of it',
    async (who) => {
      const arena = new Arena({ objects: 2 });
      const mutex = new Mutex({ arena });
      const { handle } = mutex;
      const stranger = new Semaphore(0, { arena });
      await worker[0]?.run('mutex-take-or-dispose', { handle, disposes: false });
      Object.assign(globalThis, { interrupted: mutex });
      expect(() => runInThisContext('interrupted.lock()', { timeout: 50 })).toThrow(/timed out/);
      if (who === 'this thread') Mutex.from(handle).dispose();
      await worker[0]?.run('mutex-take-or-dispose', { handle, disposes: true });
      // The library object has not noticed, but the thread lets go of the memory for the next mutex.
      const next = new Mutex({ arena });
      expect(next.handle.address).toBe(handle.address);
      const before = new Memory(arena).long(handle.address + at('GRANT'));
      expect(next.tryLock()).toBe(true);
      expect(new Memory(arena).long(handle.address + at('GRANT'))).toBe(before);
      expect(next.waiting).toBe(0);
      expect(stranger.available).toBe(0);
    },
  );
});

describe('an interrupted wait for a mutex', () => {
  const crowd = team(3, { core: true });
  const [owner, second, third] = [0, 1, 2].map(
    (i) =>
      (call: string, { handle }: Mutex) =>
        crowd[i]?.run(call, { handle }),
  );

  function interruptedLock(mutex: Mutex): void {
    Object.assign(globalThis, { interrupted: mutex });
    expect(() => runInThisContext('interrupted.lock()', { timeout: 50 })).toThrow(/timed out/);
  }

  it('holds nobody up as the head, though its thread makes no call', async () => {
    const mutex = new Mutex({ bypass: 0 });
    await owner?.('mutex-hold', mutex);
    interruptedLock(mutex);
    const next = second?.('mutex-hold', mutex);
    await owner?.('mutex-unlock', mutex);
    await next;
    expect([mutex.locked, mutex.waiting]).toEqual([true, 0]);
    await second?.('mutex-unlock', mutex);
  });

  it('holds nobody up in line, though its thread makes no call', async () => {
    const mutex = new Mutex({ bypass: 0 });
    await owner?.('mutex-hold', mutex);
    const next = second?.('mutex-hold', mutex);
    await until(() => mutex.waiting === 1, 'the second waits');
    interruptedLock(mutex);
    expect(mutex.waiting).toBe(2);
    const last = third?.('mutex-hold', mutex);
    await until(() => mutex.waiting === 2, 'the interrupted request is gone, and the third waits');
    await owner?.('mutex-unlock', mutex);
    await next;
    await second?.('mutex-unlock', mutex);
    await last;
    expect([mutex.locked, mutex.waiting]).toEqual([true, 0]);
    await third?.('mutex-unlock', mutex);
  });

  it('leaves the line where the arena is full, though its thread makes no call', async () => {
    const arena = new Arena({ waiters: 8, objects: 3, threads: 4, watch: false });
    const mutex = new Mutex({ arena, bypass: 0 });
    const other = new Semaphore(0, { arena });
    await owner?.('mutex-hold', mutex);
    const next = second?.('mutex-hold', mutex);
    await until(() => mutex.waiting === 1, 'the second waits');
    // Requests of different widths take an element each.
    const permits = Array.from({ length: 64 }, (_, i) => 1 + (i % 2));
    await crowd[2]?.run('promise', { handle: other.handle, permits });
    const { used, capacity } = arena.stats().elements;
    expect(used).toBe(capacity);
    interruptedLock(mutex);
    expect(mutex.waiting).toBe(2);
    await until(() => mutex.waiting === 1, 'the interrupted request is gone');
    expect(() => mutex.lock({ timeout: 1 })).toThrow(ArenaFullError);
    expect(mutex.tryLock()).toBe(false);
    await crowd[2]?.run('dispose', { handle: other.handle });
    await until(() => arena.stats().elements.used < capacity, 'there is room');
    expect(() => mutex.lock({ timeout: 1 })).toThrow(TimeoutError);
    expect(mutex.waiting).toBe(1);
    await owner?.('mutex-unlock', mutex);
    await next;
    expect([mutex.locked, mutex.waiting]).toEqual([true, 0]);
    await second?.('mutex-unlock', mutex);
  });
});

describe('a cancellation that was cut short, of a request for a mutex', () => {
  // The interrupted thread had no other spare yet. The element may have gone its way since.
  it.each([
    ['is a tombstone', 'TOMBSTONE', 0],
    ['is out of the queue', 'RESERVED', 0],
    ['stands for a request of another thread', 'WAITING', 1],
  ])('is left as it is where its element %s', (_what, state, others) => {
    const arena = new Arena();
    const mutex = new Mutex({ arena });
    const memory = new Memory(arena);
    const { address, generation } = mutex.handle;
    const { core } = membershipOf(arena);
    // Another thread has the lock, and one more is the head.
    memory.write(address + at('M_WORD'), BigInt(at('M_WAITER') + 2));
    memory.write(address + at('TICKET'), 1n);
    const number = core.attach(address, generation, at('KIND_MUTEX'));
    expect(core.queue(address, number)).toBe(at('QUEUED'));
    const [element] = memory.elementsIn(at('WAITING')) as [number];
    const words = () => ['E_STATE', 'E_REQUEST', 'E_CELLS'].map((word) => memory.long(element + at(word)));
    const [now, request] = words() as [bigint, bigint];
    memory.write(element + at('E_STATE'), now + BigInt(at(state) - at('WAITING')));
    memory.write(element + at('E_REQUEST'), request + (BigInt(others) << BigInt(at('OWNER_SHIFT'))));
    const before = words();
    core.finishPendingCall();
    expect(words()).toEqual(before);
    expect([memory.long(address + at('TICKET')), mutex.waiting]).toEqual([2n, 2]);
  });
});

describe('after an interrupted call, a promise that is the head of a mutex', () => {
  const crowd = team(1, { core: true });

  /** Makes a mutex that a worker holds, and a promise of this thread that is its head. */
  async function head(patience?: { timeout: number }) {
    const mutex = new Mutex();
    await crowd[0]?.run('mutex-hold', { handle: mutex.handle });
    return { mutex, promise: patience ? mutex.lockAsync(patience) : mutex.lockAsync() };
  }

  /** Checks that a semaphore admits no request for the sake of an acquire that was cut short. */
  function expectNoPermit(): void {
    const semaphore = new Semaphore(0);
    expect(() => semaphore.acquire(1, { timeout: 5 })).toThrow(TimeoutError);
    expect(semaphore.available).toBe(0);
  }

  it('gets the lock: the next acquire does not take the grant of the interrupted one', async () => {
    const { mutex, promise } = await head();
    interruptedAcquire(new Semaphore(0));
    await crowd[0]?.run('mutex-unlock', { handle: mutex.handle });
    await promise;
    expectNoPermit();
    mutex.unlock();
  });

  it('cancels: the next acquire is not admitted either', async () => {
    const { mutex, promise } = await head({ timeout: 80 });
    interruptedAcquire(new Semaphore(0));
    await expect(promise).rejects.toThrow(TimeoutError);
    expectNoPermit();
    await crowd[0]?.run('mutex-unlock', { handle: mutex.handle });
  });

  it('gets the lock: the interrupted call waits for the other mutex no more', async () => {
    const { mutex, promise } = await head();
    const other = new Mutex({ bypass: 0 });
    await crowd[0]?.run('mutex-hold', { handle: other.handle });
    Object.assign(globalThis, { interrupted: other });
    expect(() => runInThisContext('interrupted.lock()', { timeout: 50 })).toThrow(/timed out/);
    await crowd[0]?.run('mutex-unlock', { handle: mutex.handle });
    await promise;
    expect(other.waiting).toBe(0);
    await crowd[0]?.run('mutex-unlock', { handle: other.handle });
    other.lock();
    other.unlock();
    mutex.unlock();
  });
});

describe('exclusion', () => {
  it('a cut call for one object takes no other object from the thread: nobody else is in its section', async () => {
    const ROUNDS = 20;
    const arena = new Arena();
    const mutex = new Mutex({ arena });
    const other = new Semaphore(0, { arena });
    // Whether this thread is in the section, how often the other one was in it too, and the rounds begun and over.
    const notes = new Int32Array(new SharedArrayBuffer(16));
    const [INSIDE, BOTH, BEGUN, OVER] = [0, 1, 2, 3];
    const code = `
      const { Mutex } = require('taketurns');
      const { handle, buffer, rounds } = require('node:worker_threads').workerData;
      const mutex = Mutex.from(handle);
      const notes = new Int32Array(buffer);
      for (let i = 0; i < rounds; i++) {
        Atomics.wait(notes, ${BEGUN}, i);
        mutex.lock();
        if (Atomics.load(notes, ${INSIDE}) === 1) Atomics.add(notes, ${BOTH}, 1);
        mutex.unlock();
        Atomics.add(notes, ${OVER}, 1);
      }
    `;
    const worker = new Worker(code, {
      eval: true,
      workerData: { handle: mutex.handle, buffer: notes.buffer, rounds: ROUNDS },
    });
    const end = new Promise((resolve) => worker.once('exit', resolve));
    Object.assign(globalThis, { interrupted: other });
    for (let i = 0; i < ROUNDS; i++) {
      mutex.lock();
      Atomics.store(notes, INSIDE, 1);
      Atomics.store(notes, BEGUN, i + 1);
      Atomics.notify(notes, BEGUN);
      await until(() => mutex.waiting === 1, 'the other thread waits for the lock');
      expect(() => runInThisContext('interrupted.acquire()', { timeout: 5 })).toThrow(/timed out/);
      // The next call puts in order what the cut call has left. The thread goes on in its section.
      expect(() => other.acquire({ timeout: 1 })).toThrow(TimeoutError);
      expect(mutex.held).toBe(true);
      await turn();
      Atomics.store(notes, INSIDE, 0);
      mutex.unlock();
      await until(() => Atomics.load(notes, OVER) === i + 1, 'the other thread has had its turn');
    }
    expect(notes[BOTH]).toBe(0);
    await end;
  });
});
