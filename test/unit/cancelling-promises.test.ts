/** Promises cancel by a time-out or a signal, while others wait behind them or are settled before them. */
import { getEventListeners } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Arena, DisposedError, Mutex, Semaphore, TimeoutError } from 'taketurns';
import { CountingSemaphore } from 'taketurns/p0514';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ask, tombstones, upTo } from '../support/cancelling.js';
import { at, Memory } from '../support/memory.js';
import { watch } from '../support/settled.js';
import { type Member, team } from '../support/team.js';
import { tuned } from '../support/tuned.mjs';
import { reactions, turn, until } from '../support/until.js';

const crowd = team(4, { core: true });
const member = () => crowd[0] as Member;
const other = () => crowd[1] as Member;
const LONG = 600_000;

/** Every kind of promise that ends by a time-out, where nothing is to be had. */
const timed: [string, (timeout: number) => Promise<unknown>][] = [
  ['acquireAsync', (timeout) => new Semaphore(0).acquireAsync(1, { timeout })],
  ['holdAsync', (timeout) => new Semaphore(0).holdAsync(1, { timeout })],
  ['lockAsync', (timeout) => locked().lockAsync({ timeout })],
  ['lockAsync behind another', (timeout) => lockedWithHead().lockAsync({ timeout })],
  ['tryWaitForAsync', (timeout) => new CountingSemaphore(0).tryWaitForAsync(timeout)],
];

function locked(): Mutex {
  const mutex = new Mutex();
  mutex.lock();
  return mutex;
}

function lockedWithHead(): Mutex {
  const mutex = locked();
  mutex.lockAsync({ signal: AbortSignal.timeout(50) }).catch(() => {});
  return mutex;
}

describe.each(timed)('the time-out of %s', (_, wait) => {
  it.each([1.7, 5.7])('is never early: %d ms', async (timeout) => {
    for (let i = 0; i < 10; i++) {
      const begun = performance.now();
      await wait(timeout).catch((error) => expect(error).toBeInstanceOf(TimeoutError));
      expect(performance.now() - begun).toBeGreaterThanOrEqual(timeout);
    }
  });
});

/** Lets another thread release while this thread is not in its event loop. */
function releaseUnseen(semaphore: Semaphore, permits: number): void {
  const done = new Int32Array(new SharedArrayBuffer(4));
  member().run('release-and-tell', { handle: semaphore.handle, permits: [permits], done });
  expect(Atomics.wait(done, 0, 0, 20_000)).not.toBe('timed-out');
}

describe.each([
  ['not entered', reactions],
  ['entered', turn],
])('a promise (%s)', (_, pass) => {
  it('rejects with the reason of its signal, and those behind it move up', async () => {
    const arena = new Arena();
    const semaphore = new Semaphore(0, { arena });
    const log: number[] = [];
    const requests = upTo(4).map((i) => ask(semaphore, 1, i, log));
    await pass();
    const reason = new Error('not any more');
    requests[1]?.abort(reason);
    expect(semaphore.waiting).toBe(3);
    await reactions();
    expect(requests[1]).toMatchObject({ state: 'rejected', error: reason });
    semaphore.release(2);
    await reactions();
    expect(log).toEqual([0, 2]);
    expect(semaphore.waiting).toBe(1);
    semaphore.release(2);
    await reactions();
    expect(log).toEqual([0, 2, 3]);
    expect(semaphore.available).toBe(1);
    expect(new Memory(arena).standing).toEqual([]);
  });

  it('last in line leaves no trace', async () => {
    const arena = new Arena();
    const memory = new Memory(arena);
    const semaphore = new Semaphore(0, { arena });
    const [a, b] = [ask(semaphore, 1), ask(semaphore, 2)];
    await pass();
    b.abort();
    a.abort();
    await reactions();
    expect([a.state, b.state]).toEqual(['rejected', 'rejected']);
    expect(memory.standing).toEqual([]);
    expect(memory.long(semaphore.handle.address + at('TICKET'))).toBe(0n);
  });

  it('all together leave one element at most, however often', () => {
    const arena = new Arena();
    const semaphore = new Semaphore(0, { arena });
    const memory = new Memory(arena);
    for (let i = 0; i < 20; i++) {
      for (const n of [1, 1, 2]) semaphore.acquireAsync(n).catch(() => {});
      semaphore.cancelAll();
      expect(memory.standing.length).toBeLessThanOrEqual(1);
    }
    semaphore.release();
    expect([semaphore.available, memory.standing, memory.cells]).toEqual([1, [], 0]);
  });

  it.each([0, 1, 2])('at the head that wants 3 and was granted %i frees the light ones behind it', async (granted) => {
    const arena = new Arena();
    const semaphore = new Semaphore(0, { arena });
    const log: number[] = [];
    const heavy = ask(semaphore, 3, 3, log);
    const light = upTo(3).map((i) => watch(semaphore.acquireAsync(), i, log));
    await pass();
    if (granted) semaphore.release(granted);
    await reactions();
    expect(log).toEqual([]);
    heavy.abort();
    await reactions();
    expect(heavy.state).toBe('rejected');
    expect(log).toEqual(upTo(granted));
    expect(semaphore.waiting).toBe(3 - granted);
    semaphore.release(3);
    await reactions();
    expect(light.every(({ state }) => state === 'fulfilled')).toBe(true);
    expect(log).toEqual([0, 1, 2]);
    expect(semaphore.available).toBe(granted);
    expect(new Memory(arena).standing).toEqual([]);
  });

  it('at the head frees blocked threads behind it, and promises of others', async () => {
    const semaphore = tuned(new Semaphore(0), { spin: 0 });
    const heavy = ask(semaphore, 3);
    await pass();
    const { handle } = semaphore;
    const one = member().run('enter', { handle });
    const two = other().run('enter', { handle, async: true });
    await until(() => semaphore.waiting === 3, 'they stand in line');
    semaphore.release(2);
    expect(semaphore.waiting).toBe(3);
    heavy.abort();
    await Promise.all([one, two]);
    expect(heavy.state).toBe('rejected');
    expect(semaphore.available).toBe(0);
    expect(semaphore.waiting).toBe(0);
  });

  it('that is granted first stays fulfilled', async () => {
    const semaphore = new Semaphore(0);
    const requests = [ask(semaphore, 1), ask(semaphore, 2)] as const;
    await pass();
    semaphore.release();
    requests[0].abort();
    semaphore.release(2);
    requests[1].abort();
    await turn();
    expect(requests.map(({ state }) => state)).toEqual(['fulfilled', 'fulfilled']);
    expect(semaphore.available).toBe(0);
  });

  it.each([
    ['the only one', 0],
    ['one of three', 2],
  ])('%s, granted by another thread and then aborted, has its permits or does not', async (_, behind) => {
    const arena = new Arena();
    const semaphore = new Semaphore(0, { arena });
    const log: number[] = [];
    const first = ask(semaphore, 2, -1, log);
    const rest = upTo(behind).map((i) => watch(semaphore.acquireAsync(2), i, log));
    await pass();
    releaseUnseen(semaphore, 2);
    first.abort();
    await until(() => first.state !== 'pending', 'it is settled');
    // If the first promise did not get the permits, the next one has them, and no promise settles without them.
    expect(semaphore.available + 2 * log.length).toBe(2);
    expect(semaphore.waiting).toBe(behind + 1 - log.length - (first.state === 'rejected' ? 1 : 0));
    if (behind) semaphore.release(2 * behind);
    await until(() => rest.every(({ state }) => state === 'fulfilled'), 'the others are in');
    const others = first.state === 'fulfilled' ? [-1, ...upTo(behind)] : upTo(behind);
    expect(log).toEqual(others);
    expect(semaphore.available).toBe(2 * (behind + 1 - others.length));
    expect(new Memory(arena).standing).toEqual([]);
  });

  it('that cancels is not granted afterwards', async () => {
    const semaphore = new Semaphore(0);
    const requests = upTo(3).map((i) => ask(semaphore, 1, i));
    await pass();
    for (const request of requests.slice(0, 2)) request.abort();
    releaseUnseen(semaphore, 3);
    await until(() => requests[2]?.state === 'fulfilled', 'the third is in');
    await turn();
    expect(requests.map(({ state }) => state)).toEqual(['rejected', 'rejected', 'fulfilled']);
    expect(semaphore.available).toBe(2);
  });

  it.each([
    ['front to back', (order: number[]) => order],
    ['back to front', (order: number[]) => order.reverse()],
    ['the odd ones first', (order: number[]) => order.sort((a, b) => (b % 2) - (a % 2))],
  ])('and its neighbours leave one tombstone at most: %s', async (_, reorder) => {
    const arena = new Arena();
    const memory = new Memory(arena);
    const semaphore = new Semaphore(0, { arena });
    const log: number[] = [];
    const front = watch(semaphore.acquireAsync(), -1, log);
    const requests = upTo(9).map((i) => ask(semaphore, 1 + (i % 3), i, log));
    const back = watch(semaphore.acquireAsync(), 9, log);
    await pass();
    for (const i of reorder(upTo(9))) {
      requests[i]?.abort();
      expect(tombstones(memory)).toBeLessThanOrEqual(semaphore.waiting + 1);
    }
    expect(tombstones(memory)).toBe(1);
    expect(semaphore.waiting).toBe(2);
    // One release passes all tombstones.
    semaphore.release(2);
    await reactions();
    expect([front.state, back.state]).toEqual(['fulfilled', 'fulfilled']);
    expect(log).toEqual([-1, 9]);
    expect(semaphore.available).toBe(0);
    expect(memory.standing).toEqual([]);
    expect(memory.cells).toBe(0);
  });

  it('is one of several that share a signal', async () => {
    const arena = new Arena();
    const semaphore = new Semaphore(0, { arena });
    const controller = new AbortController();
    const { signal } = controller;
    const log: number[] = [];
    const settlings = upTo(30).map((i) => watch(semaphore.acquireAsync(1 + (i % 2), { signal }), i, log));
    const plain = watch(semaphore.acquireAsync(), 30, log);
    await pass();
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    semaphore.release(2);
    await reactions();
    expect(log).toEqual([0]);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    controller.abort();
    await reactions();
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    // The second had one of its two permits. The third got it before its own turn to cancel.
    expect(log).toEqual([0, 2]);
    expect(semaphore.available).toBe(0);
    expect(semaphore.waiting).toBe(1);
    expect(settlings.every(({ state }) => state !== 'pending')).toBe(true);
    semaphore.release();
    await reactions();
    expect(plain.state).toBe('fulfilled');
    expect(semaphore.available).toBe(0);
    expect(new Memory(arena).standing).toEqual([]);
  });

  // The listener also reaches a request that was just granted by the cancelling of another one on the same signal.
  it('last in line, granted because another request of its signal cancelled, keeps its permit', async () => {
    const arena = new Arena();
    const semaphore = new Semaphore(0, { arena });
    const controller = new AbortController();
    const { signal } = controller;
    const heavy = watch(semaphore.acquireAsync(3, { signal }), 3);
    const light = watch(semaphore.acquireAsync(1, { signal }), 1);
    await pass();
    semaphore.release();
    controller.abort();
    await reactions();
    expect([heavy.state, light.state]).toEqual(['rejected', 'fulfilled']);
    expect(semaphore.available).toBe(0);
    expect(semaphore.tryAcquire()).toBe(false);
    expect(new Memory(arena).standing).toEqual([]);
    semaphore.release();
    expect(semaphore.available).toBe(1);
  });

  it('is rejected once by an abort and a dispose together, and nothing is left', async () => {
    const arena = new Arena();
    const memory = new Memory(arena);
    for (const first of ['abort', 'dispose here', 'dispose elsewhere'] as const) {
      const semaphore = new Semaphore(0, { arena });
      const requests = upTo(3).map((i) => ask(semaphore, 1 + i, i));
      const plain = watch(semaphore.acquireAsync(), 3);
      await pass();
      if (first === 'dispose elsewhere') {
        const told = new Int32Array(new SharedArrayBuffer(4));
        member()
          .run('dispose', { handle: semaphore.handle })
          .then(() => Atomics.store(told, 0, 1));
        await until(() => plain.state !== 'pending', 'they are told');
      }
      if (first === 'dispose here') semaphore.dispose();
      for (const request of requests) request.abort();
      if (first === 'abort') semaphore.dispose();
      await until(() => plain.state === 'rejected', 'it is told');
      expect(plain.error).toBeInstanceOf(DisposedError);
      for (const { state, error } of requests) {
        expect(state).toBe('rejected');
        if (first === 'abort') expect(error).toMatchObject({ name: 'AbortError' });
        else expect(error).toBeInstanceOf(DisposedError);
      }
      expect(memory.standing).toEqual([]);
      expect(memory.cells).toBe(0);
    }
  });
});

describe('promises that cancel and those that do not', () => {
  // They settle in turn, not some reactions later than the plain promise behind them.
  it('are settled in the order of their turns', async () => {
    const semaphore = new Semaphore(0);
    const log: number[] = [];
    for (const i of upTo(8)) watch(semaphore.acquireAsync(1, i % 2 ? undefined : { timeout: LONG }), i, log);
    semaphore.release(8);
    await reactions();
    expect(log).toEqual(upTo(8));
  });

  // A request that is admitted at once first settles the promises that are due and not settled yet.
  it('are settled in order when one more comes with a time-out', async () => {
    for (const timeout of [0, LONG]) {
      const semaphore = new Semaphore(0);
      const log: string[] = [];
      watch(semaphore.acquireAsync(), 'first', log);
      releaseUnseen(semaphore, 2);
      watch(semaphore.acquireAsync(1, { timeout }), 'second', log);
      await until(() => log.length === 2, 'both are in');
      expect(log, `time-out ${timeout}`).toEqual(['first', 'second']);
    }
  });

  it('stand in runs again once the last of them has gone', async () => {
    const arena = new Arena();
    const memory = new Memory(arena);
    const semaphore = new Semaphore(0, { arena });
    const log: number[] = [];
    watch(semaphore.acquireAsync(), 0, log);
    const impatient = ask(semaphore, 1, 1, log);
    impatient.abort();
    for (const i of [2, 3, 4]) watch(semaphore.acquireAsync(), i, log);
    expect(memory.standing).toHaveLength(1);
    semaphore.release(4);
    await reactions();
    expect(log).toEqual([0, 2, 3, 4]);
    expect(semaphore.available).toBe(0);
  });
});

describe('a signal that is not the AbortSignal of the runtime', () => {
  /** What a signal must have, and no more. */
  function plain() {
    const listeners = new Set<() => void>();
    return {
      aborted: false,
      reason: undefined as unknown,
      addEventListener: (_: 'abort', listener: () => void) => void listeners.add(listener),
      removeEventListener: (_: 'abort', listener: () => void) => void listeners.delete(listener),
      listeners,
      abort(reason?: unknown) {
        this.aborted = true;
        this.reason = reason;
        for (const listener of listeners) listener();
      },
    };
  }
  const waits: [string, (signal: never) => { promise: Promise<unknown>; waiting: () => number; give: () => void }][] = [
    [
      'acquireAsync',
      (signal) => {
        const semaphore = new Semaphore(0);
        const promise = semaphore.acquireAsync(1, { signal });
        return { promise, waiting: () => semaphore.waiting, give: () => semaphore.release() };
      },
    ],
    [
      'lockAsync',
      (signal) => {
        const mutex = locked();
        const promise = mutex.lockAsync({ signal });
        return { promise, waiting: () => mutex.waiting, give: () => mutex.unlock() };
      },
    ],
  ];

  it.each(waits)('cancels %s with its reason, or with an AbortError if it has none', async (_, wait) => {
    for (const reason of [new Error('enough'), null, undefined]) {
      const signal = plain();
      const { promise, waiting } = wait(signal as never);
      signal.abort(reason);
      if (reason === undefined) await expect(promise).rejects.toMatchObject({ name: 'AbortError' });
      else expect(await promise.catch((error) => error)).toBe(reason);
      expect([waiting(), signal.listeners.size]).toEqual([0, 0]);
      const late = wait(signal as never);
      if (reason === undefined) await expect(late.promise).rejects.toMatchObject({ name: 'AbortError' });
      else expect(await late.promise.catch((error) => error)).toBe(reason);
      expect(late.waiting()).toBe(0);
    }
  });

  it.each(waits)('is refused by %s if it lacks a function', async (name, wait) => {
    for (const lacking of ['addEventListener', 'removeEventListener', 'aborted'] as const) {
      const { promise, waiting } = wait({ ...plain(), [lacking]: undefined } as never);
      await expect(promise).rejects.toThrow(
        new RegExp(`^(Semaphore|Mutex)\\.${name}: signal must be an AbortSignal, got an object`),
      );
      expect(waiting()).toBe(0);
    }
  });

  it.each(waits)('whose addEventListener throws cancels %s with that error', async (_, wait) => {
    const reason = new Error('no listeners here');
    const addEventListener = () => {
      throw reason;
    };
    const { promise, waiting } = wait(Object.assign(plain(), { addEventListener }) as never);
    expect(await promise.catch((error) => error)).toBe(reason);
    expect(waiting()).toBe(0);
  });

  it('whose addEventListener gives what the promise waits for', async () => {
    const semaphore = new Semaphore(0);
    const mutex = locked();
    for (const [give, wait] of [
      [() => semaphore.release(), (signal: never) => semaphore.acquireAsync(1, { signal, timeout: 60_000 })],
      [() => mutex.unlock(), (signal: never) => mutex.lockAsync({ signal, timeout: 60_000 })],
    ] as const) {
      const signal = plain();
      const { addEventListener } = signal;
      signal.addEventListener = (event, listener) => {
        addEventListener(event, listener);
        give();
      };
      await wait(signal as never);
      await reactions();
      expect(signal.listeners.size).toBe(0);
    }
  });

  it('whose addEventListener throws cancels no promise but its own', async () => {
    const mutex = new Mutex();
    mutex.lock();
    const addEventListener = () => {
      throw new Error('no listeners here');
    };
    const first = mutex.lockAsync({ signal: Object.assign(plain(), { addEventListener }) as never });
    mutex.unlock();
    const second = mutex.lockAsync();
    await first;
    mutex.unlock();
    await second;
  });

  it.each(waits)('whose removeEventListener throws: %s ends all the same', async (_, wait) => {
    const reason = new Error('no way back');
    const thrown: unknown[] = [];
    const listeners = process.rawListeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection');
    process.on('unhandledRejection', (error) => thrown.push(error));
    onTestFinished(() => {
      process.removeAllListeners('unhandledRejection');
      for (const listener of listeners) process.on('unhandledRejection', listener as never);
    });
    const removeEventListener = () => {
      throw reason;
    };
    const { promise, waiting, give } = wait(Object.assign(plain(), { removeEventListener }) as never);
    give();
    await promise;
    expect(waiting()).toBe(0);
    // Node tells of rejections that nobody handles when the microtasks have run.
    await new Promise((resolve) => setImmediate(resolve));
    expect(thrown).toEqual([reason]);
  });
});

describe('a promise that another thread has made the head of a mutex, of which its own thread has not heard', () => {
  it.each(['abort', 'time-out'])('leaves by an %s', async (how) => {
    const mutex = new Mutex();
    const words = new Int32Array(new SharedArrayBuffer(8));
    const code = `
      const { workerData: { handle, words } } = require('node:worker_threads');
      import('taketurns').then(({ Mutex }) => {
        const mutex = Mutex.from(handle);
        Atomics.store(words, 0, 1);
        mutex.lock();
        Atomics.store(words, 0, 2);
        Atomics.notify(words, 0);
        Atomics.wait(words, 1, 0);
        mutex.unlock();
      });`;
    mutex.lock();
    const worker = new Worker(code, { eval: true, workerData: { handle: mutex.handle, words } });
    await until(() => mutex.waiting === 1, 'the other thread waits');
    const controller = new AbortController();
    const promise = mutex
      .lockAsync(how === 'abort' ? { signal: controller.signal } : { timeout: 100 })
      .catch((error: unknown) => error);
    mutex.unlock();
    // This thread does not return to its event loop until the other is the owner, and the promise the head.
    Atomics.wait(words, 0, 1, 20_000);
    controller.abort('enough');
    const answer = await Promise.race([promise, new Promise((resolve) => setTimeout(resolve, 1000, 'waits on'))]);
    Atomics.store(words, 1, 1);
    Atomics.notify(words, 1);
    if (how === 'abort') expect(answer).toBe('enough');
    else expect(answer).toBeInstanceOf(TimeoutError);
    await until(() => !mutex.locked, 'the other thread has unlocked');
    expect(mutex.waiting).toBe(0);
    await worker.terminate();
  });
});
