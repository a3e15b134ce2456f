/**
 * The stack may be exhausted anywhere in a call, and the thread survives that. A call that throws, or whose promise
 * rejects, has then taken nothing, and waits for nothing. A call that has settled promises in the core loses none of
 * them.
 */
import { Arena, Mutex, Semaphore, TimeoutError, type WaitOptions } from 'taketurns';
import { Channel, number } from 'taketurns/channel';
import { KeyedRateLimiter, RateLimiter } from 'taketurns/keyed';
import { CountingSemaphore } from 'taketurns/p0514';
import { Barrier, Condition, RwLock, WaitGroup } from 'taketurns/sync';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { R_PAGE } from '../../src/border/numbers.js';
import type { Signal } from '../../src/common/signals.js';
import { LOCK } from '../../src/look/rate-page.js';
import { HEADS, planAt } from '../../src/look/rate-regions.js';
import { measureWaits } from '../../src/report/measure.js';
import { recruit } from '../support/dying.js';
import { membershipOf } from '../support/membership.js';
import { Memory } from '../support/memory.js';
import { nearTheEnd } from '../support/stack.js';
import { team } from '../support/team.js';
import { turn } from '../support/until.js';

/** A call that is made where the stack ends. */
interface Try {
  /** Makes the call. It answers undefined if it throws. */
  call(): unknown;
  /** After a call that has failed: what the object has. */
  has(): unknown;
  /** What it must have. */
  readonly expected: unknown;
  /** Ends a call that has not failed. */
  end(answer: unknown): unknown;
}

const semaphore = (permits: number, ask: (s: Semaphore) => unknown) => (): Try => {
  const s = new Semaphore(permits);
  return {
    call: () => ask(s),
    has: () => [s.waiting, s.available],
    expected: [0, permits],
    async end(answer) {
      if (permits === 0) s.release();
      await answer;
      expect([s.waiting, s.available]).toEqual([0, 0]);
    },
  };
};

/** Another promise of the thread waits before, and is served before the look. */
const behind = (ask: (s: Semaphore) => unknown) => (): Try => {
  const s = new Semaphore(0);
  const first = s.acquireAsync();
  return {
    call: () => ask(s),
    has() {
      s.release();
      return [s.waiting, s.available];
    },
    expected: [0, 0],
    async end(answer) {
      s.release(2);
      await Promise.all([first, answer]);
      expect([s.waiting, s.available]).toEqual([0, 0]);
    },
  };
};

const mutex = (isLocked: boolean, ask: (m: Mutex) => unknown) => (): Try => {
  const m = new Mutex();
  if (isLocked) m.lock();
  return {
    call: () => ask(m),
    has() {
      if (isLocked) m.unlock();
      return [m.waiting, m.locked];
    },
    expected: [0, false],
    async end(answer) {
      if (isLocked) m.unlock();
      await answer;
      expect([m.waiting, m.held]).toEqual([0, true]);
      m.unlock();
    },
  };
};

const rwLock = (ask: (l: RwLock) => unknown) => (): Try => {
  const l = new RwLock();
  const first = l.tryWrite();
  return {
    call: () => ask(l),
    has() {
      first?.unlock();
      return [l.waiting, l.writing, l.tryLockWrite()];
    },
    expected: [0, false, true],
    async end(answer) {
      first?.unlock();
      await answer;
      l.unlockWrite();
      expect([l.waiting, l.writing]).toEqual([0, false]);
    },
  };
};

const reader = (ask: (l: RwLock) => unknown) => (): Try => {
  const l = new RwLock();
  const first = l.tryWrite();
  return {
    call: () => ask(l),
    has() {
      first?.unlock();
      return [l.tryLockWrite(), l.readers];
    },
    expected: [true, 0],
    async end(answer) {
      first?.unlock();
      await answer;
      l.unlockRead();
      expect([l.readers, l.tryLockWrite()]).toEqual([0, true]);
    },
  };
};

const guard = (ask: (l: RwLock) => { unlock(): void } | undefined) => (): Try => {
  const l = new RwLock();
  return {
    call: () => ask(l),
    has: () => [l.tryLockWrite(), l.readers],
    expected: [true, 0],
    end(answer) {
      (answer as { unlock(): void }).unlock();
      expect([l.readers, l.tryLockWrite()]).toEqual([0, true]);
    },
  };
};

const task = (): Try => {
  const g = new WaitGroup();
  return {
    call: () => g.hold(),
    has: () => g.pending,
    expected: 0,
    end: () => expect(g.pending).toBe(1),
  };
};

const barrier = (): Try => {
  const b = new Barrier(2);
  return {
    call: () => b.arriveAndWaitAsync(),
    has: () => b.broken || b.inspect().arrived === 0,
    expected: true,
    async end(answer) {
      await b.arriveAndWaitAsync();
      expect(await answer).toBe(0);
    },
  };
};

const channel = (): Try => {
  const c = new Channel<number>({ capacity: 2, codec: number });
  return {
    call: () => c.receiveAsync(),
    has() {
      c.trySend(1);
      const told = [c.waiting, c.tryReceive()?.value];
      c.dispose();
      return told;
    },
    expected: [0, 1],
    async end(answer) {
      c.send(1);
      expect(await answer).toBe(1);
      c.dispose();
    },
  };
};

/** A request that waits for a rate, while nobody else does. */
const rate =
  (ask: (r: RateLimiter) => unknown): (() => Try) =>
  () => {
    const r = new RateLimiter(2, 1000, { burst: 2 });
    r.spend(2);
    return {
      call: () => ask(r),
      has() {
        const told = [r.waiting, r.inspect().taken, r.dueIn(2) > 0];
        r.spend(-2);
        const last = [...told, r.tryTake(2), r.tryTake()];
        r.dispose();
        return last;
      },
      expected: [0, 2, true, true, false],
      async end(answer) {
        r.spend(-2);
        await answer;
        expect([r.waiting, r.inspect().taken]).toEqual([0, 1]);
        r.dispose();
      },
    };
  };

/** Permits that are free. */
const freeRate =
  (ask: (r: RateLimiter) => unknown): (() => Try) =>
  () => {
    const r = new RateLimiter(2, 100_000, { burst: 2 });
    return {
      call: () => ask(r),
      has: () => [r.waiting, r.inspect().taken, r.tryTake(2), r.dispose()],
      expected: [0, 0, true, undefined],
      async end(answer) {
        await answer;
        expect([r.waiting, r.inspect().taken, r.tryTake()]).toEqual([0, 1, true]);
        r.dispose();
      },
    };
  };

// Time-outs would break the lists of timers of Node: it does not expect that its stack ends there.
const long = { signal: new AbortController().signal };
const tries: Record<string, () => Try> = {
  'Semaphore.acquireAsync': semaphore(0, (s) => s.acquireAsync()),
  'Semaphore.acquireAsync behind another': behind((s) => s.acquireAsync()),
  'Semaphore.acquireAsync with a signal': semaphore(0, (s) => s.acquireAsync(1, long)),
  'Semaphore.acquireAsync with a signal, behind another': behind((s) => s.acquireAsync(1, long)),
  'Semaphore.hold': semaphore(1, (s) => s.hold()),
  'Semaphore.hold with options': semaphore(1, (s) => s.hold(1, long)),
  'Semaphore.tryHold': semaphore(1, (s) => s.tryHold()),
  'Mutex.lockAsync': mutex(true, (m) => m.lockAsync()),
  'Mutex.lockAsync with a signal': mutex(true, (m) => m.lockAsync(long)),
  'Mutex.holdAsync of a free lock': mutex(false, (m) => m.holdAsync()),
  'Mutex.hold': mutex(false, (m) => m.hold()),
  'Mutex.hold with options': mutex(false, (m) => m.hold(long)),
  'Mutex.tryHold': mutex(false, (m) => m.tryHold()),
  'RwLock.lockWriteAsync': rwLock((l) => l.lockWriteAsync()),
  'RwLock.lockWriteAsync with a signal': rwLock((l) => l.lockWriteAsync(long)),
  'RwLock.lockReadAsync': reader((l) => l.lockReadAsync()),
  'RwLock.read': guard((l) => l.read()),
  'RwLock.tryRead': guard((l) => l.tryRead()),
  'RwLock.write': guard((l) => l.write()),
  'RwLock.tryWrite': guard((l) => l.tryWrite()),
  'RwLock.update': guard((l) => l.update()),
  'WaitGroup.hold': task,
  'Barrier.arriveAndWaitAsync': barrier,
  'Channel.receiveAsync': channel,
  'RateLimiter.takeAsync': rate((r) => r.takeAsync()),
  'RateLimiter.takeAsync with a signal': rate((r) => r.takeAsync(1, long)),
  'RateLimiter.limit': rate((r) => r.limit(() => {})()),
  "RateLimiter.limit until: 'end'": rate((r) => r.limit(() => {}, { until: 'end' })()),
  'RateLimiter.tryTake of free permits': freeRate((r) => r.tryTake() || undefined),
  'RateLimiter.takeAsync of free permits': freeRate((r) => r.takeAsync()),
  'RateLimiter.take of free permits': freeRate((r) => r.take()),
};

describe('with an exhausted stack', () => {
  it.each(Object.entries(tries))('%s has taken nothing, and waits for nothing, if it fails', async (_name, begin) => {
    // An engine may not compile a function where the stack ends.
    for (let i = 0; i < 20; i++) {
      const { call, end } = begin();
      await end(call());
    }
    let fails = 0;
    for (let above = 0, fits = 0; fits < 10; above++) {
      const { call, has, expected, end } = begin();
      const answer = nearTheEnd(above, () => [call()]);
      const failed = answer === undefined || (await Promise.race([fate(answer[0]), turn()])) === 'fails';
      // What is left of the call goes on when the thread has returned to its event loop.
      await turn();
      if (failed) {
        fails++;
        expect([above, has()]).toEqual([above, expected]);
      } else {
        fits++;
        await end(answer[0]);
      }
    }
    expect(fails).toBeGreaterThan(0);
  });
});

describe('if the stack is exhausted when `holdAsync` of a free mutex makes its promise', () => {
  it('the lock is free', async () => {
    const m = new Mutex();
    const { resolve } = Promise;
    Promise.resolve = () => {
      throw new RangeError('Maximum call stack size exceeded');
    };
    let held: Promise<unknown>;
    try {
      held = m.holdAsync();
    } finally {
      Promise.resolve = resolve;
    }
    await expect(held).rejects.toThrow('Maximum call stack');
    expect(m.locked).toBe(false);
  });
});

/** A call that settles promises, made where the stack ends. */
interface Settling {
  call(): void;
  /** Makes the call again if it has had no effect, and looks whether every promise has learned of it. */
  check(): Promise<void>;
}

const releases =
  (isEntered: boolean, widths: readonly number[], robust: boolean, way: 'release' | 'add' = 'release') =>
  async (): Promise<Settling> => {
    const arena = new Arena();
    const sum = widths.reduce((all, n) => all + n);
    const s = new Semaphore(robust ? sum : 0, { arena, robust });
    if (robust) s.acquire(sum);
    let has = 0;
    const ask = () => {
      for (const n of widths)
        s.acquireAsync(n).then(() => {
          has += n;
        });
    };
    ask();
    if (isEntered) await turn();
    return {
      call: () => s[way](sum),
      async check() {
        if (s.waiting > 0) s[way](sum);
        await turn();
        expect([has, s.waiting, s.available]).toEqual([sum, 0, 0]);
        // The wait elements are sound: they serve again, and in the end none is left.
        ask();
        expect(() => s.acquire({ timeout: 1 })).toThrow(TimeoutError);
        ask();
        s.release(sum);
        await turn();
        s.release(sum);
        await turn();
        expect([has, s.waiting, s.available]).toEqual([3 * sum, 0, 0]);
        expect(new Memory(arena).standing).toEqual([]);
      },
    };
  };

/** Gives back one permit of several, for the first of several promises. */
const releasesOne = async (): Promise<Settling> => {
  const s = new Semaphore(0);
  let has = 0;
  for (let i = 0; i < 3; i++)
    s.acquireAsync().then(() => {
      has++;
    });
  return {
    call: () => s.release(),
    async check() {
      if (s.waiting === 3) s.release();
      await turn();
      expect([has, s.waiting, s.available]).toEqual([1, 2, 0]);
      s.release(2);
      await turn();
      expect([has, s.waiting, s.available]).toEqual([3, 0, 0]);
    },
  };
};

const cancels = (isEntered: boolean) => async (): Promise<Settling> => {
  const arena = new Arena();
  const s = new Semaphore(0, { arena });
  const errors: string[] = [];
  for (const n of [1, 1, 2, 1, 3]) s.acquireAsync(n).catch(({ name }) => errors.push(name));
  if (isEntered) await turn();
  return {
    call: () => s.cancelAll(),
    async check() {
      s.cancelAll();
      await turn();
      expect([errors, s.waiting]).toEqual([Array(5).fill('CancelledError'), 0]);
      const next = s.acquireAsync(2);
      s.release(2);
      await next;
      expect([s.available, new Memory(arena).standing]).toEqual([0, []]);
    },
  };
};

const unlocks = (isEntered: boolean) => async (): Promise<Settling> => {
  const m = new Mutex();
  m.lock();
  const has: number[] = [];
  for (const i of [0, 1]) m.lockAsync().then(() => has.push(i));
  if (isEntered) await turn();
  return {
    call: () => m.unlock(),
    async check() {
      if (has.length === 0) m.unlock();
      await turn();
      expect([has, m.held, m.waiting]).toEqual([[0], true, 1]);
      m.unlock();
      await turn();
      expect([has, m.held, m.waiting]).toEqual([[0, 1], true, 0]);
      m.unlock();
      expect(m.tryLock()).toBe(true);
      m.unlock();
    },
  };
};

const cancelsLocks = (isEntered: boolean) => async (): Promise<Settling> => {
  const m = new Mutex();
  m.lock();
  const errors: string[] = [];
  // The first one is the head.
  for (let i = 0; i < 3; i++) m.lockAsync().catch(({ name }) => errors.push(name));
  if (isEntered) await turn();
  return {
    call: () => m.cancelAll(),
    async check() {
      if (errors.length === 0) m.cancelAll();
      await turn();
      expect([errors, m.waiting, m.held]).toEqual([Array(3).fill('CancelledError'), 0, true]);
      const next = m.lockAsync();
      m.unlock();
      await next;
      m.unlock();
      expect(m.locked).toBe(false);
    },
  };
};

const signals = async (): Promise<Settling> => {
  const s = new CountingSemaphore(0);
  let has = 0;
  for (let i = 0; i < 3; i++)
    s.waitAsync().then(() => {
      has++;
    });
  await turn();
  return {
    call: () => s.signal(3),
    async check() {
      if (has === 0) s.signal(3);
      await turn();
      expect([has, s.value]).toEqual([3, 0]);
      s.signal();
      expect([s.tryWait(), s.tryWait()]).toEqual([true, false]);
    },
  };
};

const notifies = async (): Promise<Settling> => {
  const m = new Mutex();
  const c = new Condition(m);
  let has = 0;
  for (let i = 0; i < 2; i++) {
    m.lock();
    c.waitAsync().then(() => {
      has++;
      m.unlock();
    });
  }
  await turn();
  return {
    call: () => c.notify(2),
    async check() {
      if (c.waiting > 0) c.notify(2);
      await turn();
      await turn();
      expect([has, c.waiting, m.waiting, m.locked]).toEqual([2, 0, 0, false]);
    },
  };
};

const rates = (act: (r: RateLimiter) => void, name: string | undefined) => async (): Promise<Settling> => {
  const r = new RateLimiter(5, 1_000_000, { burst: 5 });
  r.spend(5);
  const ends: (string | undefined)[] = [];
  const all = [...[1, 1, 1].map((n) => r.takeAsync(n)), r.limit(() => {})(), r.takeAsync()];
  for (const each of all) {
    each.then(
      () => ends.push(undefined),
      (error) => ends.push(error.name),
    );
  }
  await turn();
  return {
    call: () => act(r),
    async check() {
      if (r.waiting > 0) act(r);
      await turn();
      await turn();
      expect([ends, r.waiting]).toEqual([Array(5).fill(name), 0]);
      expect([r.inspect().taken, r.tryTake()]).toEqual([5, false]);
      r.spend(-5);
      expect([r.inspect().taken, r.tryTake(5), r.tryTake()]).toEqual([0, true, false]);
      r.dispose();
    },
  };
};

const settlings: Record<string, () => Promise<Settling>> = {
  'Semaphore.release': releases(false, [1], false),
  'Semaphore.release, of a promise that is entered': releases(true, [1], false),
  'Semaphore.release, of many promises': releases(true, [1, 1, 2, 2, 2, 1], false),
  'Semaphore.release, for the first of several promises': releasesOne,
  'Semaphore.release, robust': releases(true, [1, 1, 2], true),
  'Semaphore.add': releases(true, [1, 1, 2], false, 'add'),
  'Semaphore.cancelAll': cancels(false),
  'Semaphore.cancelAll, of promises that are entered': cancels(true),
  'Mutex.unlock': unlocks(false),
  'Mutex.unlock, of promises that are entered': unlocks(true),
  'Mutex.cancelAll': cancelsLocks(false),
  'Mutex.cancelAll, of promises that are entered': cancelsLocks(true),
  'CountingSemaphore.signal': signals,
  'Condition.notify': notifies,
  'RateLimiter.cancelAll': rates((r) => r.cancelAll(), 'CancelledError'),
  'RateLimiter.spend, of less than nothing': rates((r) => r.spend(-5), undefined),
};

describe('with an exhausted stack, a call that settles promises', () => {
  it.each(Object.entries(settlings))('%s: no promise is lost', async (_name, begin) => {
    for (let i = 0; i < 20; i++) {
      const { call, check } = await begin();
      call();
      await turn();
      await check();
    }
    let fails = 0;
    for (let above = 0, fits = 0; fits < 10; above++) {
      const { call, check } = await begin();
      const answer = nearTheEnd(above, () => {
        call();
        return true;
      });
      if (answer === undefined) fails++;
      else fits++;
      await turn();
      await check();
    }
    expect(fails).toBeGreaterThan(0);
  });
});

function fate(answer: unknown): Promise<'fits' | 'fails'> {
  return Promise.resolve(answer).then(
    () => 'fits',
    () => 'fails',
  );
}

describe('if an exception ends the call by which the head of a mutex takes the lock', () => {
  const crowd = team(2, { core: true });

  it('the thread gives the lock back, and the next waiter has it', async () => {
    const mutex = new Mutex({ bypass: 0 });
    const [owner, next] = [0, 1].map((i) => (call: string) => crowd[i]?.run(call, { handle: mutex.handle }));
    await owner?.('mutex-hold');
    const { core } = membershipOf(Arena.default);
    const { compete } = core;
    let last: unknown;
    core.compete = (...given) => {
      owner?.('mutex-unlock');
      last = next?.('mutex-hold');
      compete(...given);
      throw new RangeError('Maximum call stack size exceeded');
    };
    try {
      expect(() => mutex.lock()).toThrow('Maximum call stack');
    } finally {
      core.compete = compete;
    }
    expect(mutex.held).toBe(false);
    await last;
    expect([mutex.locked, mutex.held, mutex.waiting]).toEqual([true, false, 0]);
    await next?.('mutex-unlock');
    expect(mutex.tryLock()).toBe(true);
    mutex.unlock();
  });
});

describe('if an exception ends the call by which a promise that is the head of a mutex takes the lock', () => {
  it('the promise has the lock before the next promise queues up', async () => {
    const mutex = new Mutex();
    mutex.lock();
    const first = mutex.lockAsync();
    const { core } = membershipOf(Arena.default);
    const { reserveLock } = core;
    core.reserveLock = (...given) => {
      reserveLock(...given);
      throw new RangeError('Maximum call stack size exceeded');
    };
    try {
      expect(() => mutex.unlock()).toThrow('Maximum call stack');
    } finally {
      core.reserveLock = reserveLock;
    }
    const second = mutex.lockAsync();
    await first;
    expect([mutex.held, mutex.waiting]).toEqual([true, 1]);
    mutex.unlock();
    await second;
    mutex.unlock();
    expect(mutex.tryLock()).toBe(true);
    mutex.unlock();
  });
});

describe('if the stack is exhausted while the end of a wait is measured', () => {
  it('the promises are told, and a thread keeps what it has got', async () => {
    const arena = new Arena();
    const membership = membershipOf(arena);
    let measured = 0;
    const onWait = (): never => {
      measured++;
      throw new RangeError('Maximum call stack size exceeded');
    };
    measureWaits(membership.core, membership, { onWait }, () => 0);
    const semaphore = new Semaphore(0, { arena });
    const served = [semaphore.acquireAsync(), semaphore.acquireAsync()];
    semaphore.release();
    await served[0];
    const cancelled = semaphore.acquireAsync(1, long).catch(({ name }) => name);
    semaphore.release();
    await served[1];
    semaphore.cancelAll();
    expect(await cancelled).toBe('CancelledError');
    const mutex = new Mutex({ arena });
    mutex.lock();
    const next = mutex.lockAsync();
    mutex.unlock();
    await next;
    expect([mutex.held, semaphore.waiting, semaphore.available]).toEqual([true, 0, 0]);
    expect(() => semaphore.acquire({ timeout: 1 })).toThrow(TimeoutError);
    expect(measured).toBe(5);
  });

  it('a request for a rate keeps what it has got, and who measures is told when the lock is free', async () => {
    const arena = new Arena();
    const membership = membershipOf(arena);
    const limiter = new RateLimiter(1, 100, { arena });
    const memory = new Int32Array(arena.handle.memory.buffer);
    const lock = (): number => memory[(memory[(limiter.handle.address + R_PAGE) / 4] as number) / 4 + LOCK] as number;
    const locks: number[] = [];
    const onWait = (): never => {
      locks.push(lock());
      throw new RangeError('Maximum call stack size exceeded');
    };
    measureWaits(membership.core, membership, { onWait }, () => 0);
    const requests = [1, 2, 3].map(() => limiter.takeAsync());
    const call = limiter.limit(() => 7)();
    limiter.take();
    expect(await Promise.all([...requests, call])).toEqual([undefined, undefined, undefined, 7]);
    limiter.pause(1_000_000);
    expect(await limiter.takeAsync({ timeout: 1 }).catch(({ name }) => name)).toBe('TimeoutError');
    const ended = limiter.takeAsync().catch(({ name }) => name);
    limiter.cancelAll();
    expect(await ended).toBe('CancelledError');
    // The first request of all has not waited.
    expect(locks).toEqual([0, 0, 0, 0, 0, 0]);
  });
});

interface Aborts {
  readonly signal: Signal;
  /** Throws what the listeners throw. The listener of an AbortSignal may throw nothing. */
  abort(): void;
}

function abortable(): Aborts {
  const listeners = new Set<() => void>();
  const state = { aborted: false };
  return {
    signal: {
      get aborted() {
        return state.aborted;
      },
      reason: new Error('aborted'),
      addEventListener: (_, listener) => void listeners.add(listener),
      removeEventListener: (_, listener) => void listeners.delete(listener),
    },
    abort() {
      state.aborted = true;
      for (const listener of listeners) listener();
    },
  };
}

describe('if an exception ends a call of a rate', () => {
  const builtins: [Record<string, (...args: never[]) => unknown>, string][] = [
    [Math as never, 'max'],
    [Atomics as never, 'add'],
    [Atomics as never, 'load'],
    [Atomics as never, 'store'],
    [Map.prototype as never, 'get'],
    [Map.prototype as never, 'delete'],
    [Array.prototype as never, 'push'],
  ];
  /** The call that is cut; how many wait then, and how many of these are due and have not been told yet. */
  const acts: Record<string, [asked: number, due: number, (limiter: RateLimiter, aborts: Aborts) => void]> = {
    cancelAll: [5, 3, (limiter) => limiter.cancelAll()],
    spend: [5, 3, (limiter) => limiter.spend(-1)],
    resize: [5, 3, (limiter) => limiter.resize(1)],
    takeAsync: [5, 3, (limiter, { signal }) => void limiter.takeAsync({ signal }).catch(() => {})],
    'the first takeAsync': [0, 0, (limiter, { signal }) => void limiter.takeAsync({ signal }).catch(() => {})],
    'a signal': [5, 3, (_, { abort }) => abort()],
  };
  /** What the program does between the cut and the recovery. */
  const next: Record<string, (abort: () => void, ask: () => void) => void> = {
    nothing: () => {},
    ask: (_, ask) => ask(),
    abort: (abort) => abort(),
    'abort, and ask': (abort, ask) => {
      abort();
      ask();
      ask();
    },
  };
  const each = Object.keys(acts).flatMap((act) => Object.keys(next).map((then) => [act, then] as const));

  it.each(each)('in %s, then %s: each request ends once, and no cell is lost or has two owners', async (act, then) => {
    const [waiting, due, call] = acts[act] as (typeof acts)[string];
    let cuts = 0;
    for (const [owner, name] of builtins) {
      const original = owner[name] as (...args: never[]) => unknown;
      for (let left = 1, isCut = true; isCut; left++) {
        const limiter = new RateLimiter(5, 1_000_000, { burst: 5, arena: new Arena() });
        limiter.spend(5);
        const aborts = abortable();
        const { signal, abort } = aborts;
        const ends: string[] = [];
        let asked = 0;
        const ask = (waits: WaitOptions = {}): void => {
          asked++;
          limiter.takeAsync(waits).then(
            () => ends.push('begun'),
            (error) => ends.push(error.name),
          );
        };
        for (let i = 0; i < waiting; i++) ask(act === 'a signal' ? { signal } : {});
        await turn();
        limiter.spend(-due);
        let calls = 0;
        const cut = (run: () => void): void => {
          owner[name] = function (this: unknown, ...args: never[]) {
            if (++calls === left) throw new RangeError('Maximum call stack size exceeded');
            return original.apply(this, args);
          };
          try {
            run();
          } catch {
          } finally {
            owner[name] = original;
          }
        };
        cut(() => call(limiter, aborts));
        isCut = calls >= left;
        if (isCut) cuts++;
        next[then]?.(abort, ask);
        await turn();
        await turn();
        abort();
        limiter.cancelAll();
        await turn();
        const what = [act, then, name, left];
        expect([...what, ends.length, limiter.waiting]).toEqual([...what, asked, 0]);
        // Each cell has one owner.
        limiter.resize(5, 1_000_000, { burst: 5 });
        limiter.spend(-limiter.inspect().taken);
        limiter.spend(5);
        for (let i = 0; i < 10; i++) ask();
        expect([...what, limiter.waiting]).toEqual([...what, 10]);
        limiter.spend(-5);
        await turn();
        limiter.spend(-5);
        await turn();
        const last = ends.slice(-10);
        expect([...what, last, limiter.waiting]).toEqual([...what, Array(10).fill('begun'), 0]);
        limiter.dispose();
      }
    }
    expect(cuts).toBeGreaterThan(0);
  });
});

/** Functions of the engine that calls of a rate call. A test cuts a call there. */
const builtins: [Record<string, (...args: never[]) => unknown>, string][] = [
  [Math as never, 'max'],
  [Atomics as never, 'add'],
  [Atomics as never, 'load'],
  [Atomics as never, 'store'],
  [Atomics as never, 'compareExchange'],
  [Map.prototype as never, 'get'],
  [Map.prototype as never, 'set'],
  [Map.prototype as never, 'delete'],
  [Array.prototype as never, 'push'],
];

describe("if an exception ends a call of the library in a call of limit that counts until: 'end'", () => {
  /** Whether the call waits, how its function ends, and in which functions of the library the exception is thrown. */
  it.each([
    ['free permits', false, 'later', /RateQueue\.run|#stay/],
    ['free permits, and the function throws at once', false, 'throws', /RateQueue\.run|#stay/],
    ['a call whose turn comes', true, 'later', /#begin|#stay/],
  ] as const)('no permit stays open: %s', async (_, waits, how, within) => {
    let cuts = 0;
    for (const [owner, name] of builtins) {
      const original = owner[name] as (...args: never[]) => unknown;
      for (let left = 1, isCut = true; isCut; left++) {
        const limiter = new RateLimiter(2, 1_000_000, { burst: 2, arena: new Arena() });
        if (waits) limiter.spend(2);
        let [runs, ends, calls] = [0, 0, 0];
        const call = limiter.limit(
          () => {
            runs++;
            if (how === 'throws') throw new Error('no');
            return turn();
          },
          { until: 'end' },
        );
        const { stackTraceLimit } = Error;
        Error.stackTraceLimit = 50;
        owner[name] = function (this: unknown, ...args: never[]) {
          if (within.test(`${new Error().stack}`) && ++calls === left)
            throw new RangeError('Maximum call stack size exceeded');
          return original.apply(this, args);
        };
        try {
          const end = (): void => void ends++;
          call().then(end, end);
          if (waits) limiter.spend(-2);
          for (let i = 0; i < 30; i++) await undefined;
        } finally {
          owner[name] = original;
          Error.stackTraceLimit = stackTraceLimit;
        }
        isCut = calls >= left;
        if (isCut) cuts++;
        for (let i = 0; i < 4; i++) await turn();
        const what = [name, left];
        expect([...what, ends, limiter.waiting]).toEqual([...what, 1, 0]);
        expect([...what, limiter.dueIn(2) < Infinity]).toEqual([...what, true]);
        const { taken } = limiter.inspect();
        expect(taken).toBeGreaterThanOrEqual(runs);
        limiter.spend(-taken);
        expect([...what, limiter.tryTake(2)]).toEqual([...what, true]);
        limiter.dispose();
      }
    }
    expect(cuts).toBeGreaterThan(0);
  });
});

/** The messages of the rejections that nobody handles, until the test is over. The runner of the tests hears none. */
function rejectionsReported(): string[] {
  const reported: string[] = [];
  const listeners = process.rawListeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', (error: Error) => reported.push(error.message));
  onTestFinished(() => {
    process.removeAllListeners('unhandledRejection');
    for (const listener of listeners) process.on('unhandledRejection', listener as never);
  });
  return reported;
}

/** Throws at a call of a function of the engine, if the stack has this function of the library. Returns how to end it. */
function cutAt(owner: object, name: string, within: RegExp, left: number): () => number {
  const functions = owner as Record<string, (...args: never[]) => unknown>;
  const original = functions[name] as (...args: never[]) => unknown;
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 50;
  let calls = 0;
  functions[name] = function (this: unknown, ...args: never[]) {
    if (within.test(`${new Error().stack}`) && ++calls === left)
      throw new RangeError('Maximum call stack size exceeded');
    return original.apply(this, args);
  };
  return () => {
    functions[name] = original;
    Error.stackTraceLimit = stackTraceLimit;
    return calls;
  };
}

describe('if an exception ends a call when the schedule of a rate has decided about a promise, and no call follows', () => {
  /** The call; how many permits each of three promises waits for; how each ends; and where the call is cut. */
  const acts: Record<string, [(r: RateLimiter, abort: () => void) => void, number, string, object, string, RegExp]> = {
    spend: [(r) => r.spend(-5), 1, 'begun', Map.prototype, 'delete', /#decide/],
    'spend, before it is decided': [(r) => r.spend(-5), 1, 'begun', Math, 'max', /#isDecided/],
    cancelAll: [(r) => r.cancelAll('why'), 1, 'CancelledError: why', Map.prototype, 'delete', /#decide/],
    resize: [(r) => r.resize(1), 2, 'RangeError: undefined', Map.prototype, 'delete', /#decide/],
    'a signal': [(_, abort) => abort(), 1, 'Error: undefined', Map.prototype, 'delete', /#decide/],
    'a signal, while the request leaves': [(_, abort) => abort(), 1, 'Error: undefined', Math, 'max', /#leaves/],
  };
  it.each(Object.keys(acts))('the promise is told what was decided: %s', async (act) => {
    const [call, permits, expected, owner, name, within] = acts[act] as (typeof acts)[string];
    const reported = rejectionsReported();
    let cuts = 0;
    for (let left = 1, isCut = true; isCut; left++) {
      const arena = new Arena();
      const limiter = new RateLimiter(5, 1_000_000, { burst: 5, arena });
      limiter.spend(5);
      const { signal, abort } = abortable();
      const ends: string[] = [];
      for (let i = 0; i < 3; i++)
        limiter.takeAsync(permits, { signal }).then(
          () => ends.push('begun'),
          (error) => ends.push(`${error.name}: ${error.cause}`),
        );
      await turn();
      const end = cutAt(owner, name, within, left);
      try {
        call(limiter, abort);
        for (let i = 0; i < 30; i++) await undefined;
      } catch {
      } finally {
        isCut = end() >= left;
      }
      if (isCut) cuts++;
      for (let i = 0; i < 4; i++) await turn();
      expect([left, ...ends]).toEqual([left, expected, expected, expected]);
      const words = new Int32Array(arena.handle.memory.buffer);
      expect(words[(words[(limiter.handle.address + R_PAGE) / 4] as number) / 4 + LOCK]).toBe(0);
      expect([left, limiter.waiting, limiter.inspect().taken]).toEqual([left, 0, expected === 'begun' ? 3 : 5]);
      limiter.dispose();
    }
    // A cut in a microtask of the library reaches the user.
    expect(new Set(reported)).toEqual(new Set(reported.length > 0 ? ['Maximum call stack size exceeded'] : []));
    expect(cuts).toBeGreaterThan(0);
  });

  it('a cut cancelAll goes on, and its reason is not that of a later one', async () => {
    const arena = new Arena();
    const limiter = new RateLimiter(1, 1_000_000, { arena });
    limiter.take();
    const fails = () => limiter.takeAsync().then(String, (error) => error);
    const first = fails();
    const end = cutAt(AbortController.prototype, 'abort', /#goOn/, 1);
    expect(() => limiter.cancelAll('why')).toThrow('call stack');
    end();
    expect((await first).cause).toBe('why');
    await turn();
    const second = fails();
    await turn();
    const other = recruit(arena, false);
    await other.run('rates', { handle: limiter.handle, does: 'cancel' });
    expect('cause' in (await second)).toBe(false);
    await other.kill();
  });

  it('a thread that was cut with the lock lets go of it', async () => {
    const arena = new Arena();
    const limiter = new RateLimiter(1, 1_000_000, { arena });
    const words = new Int32Array(arena.handle.memory.buffer);
    const lock = (): number | undefined => words[(words[(limiter.handle.address + R_PAGE) / 4] as number) / 4 + LOCK];
    const end = cutAt(Math, 'max', /tryTake/, 1);
    expect(() => limiter.tryTake()).toThrow('call stack');
    end();
    expect(lock()).not.toBe(0);
    await turn();
    expect([lock(), limiter.inspect().taken]).toEqual([0, 0]);
  });
});

describe('if the stack is exhausted in a call for a key', () => {
  it('the next call for another key lets go of the lock of the first', () => {
    const arena = new Arena();
    const users = new KeyedRateLimiter(1, 1_000_000, { arena });
    const memory = new Int32Array(arena.handle.memory.buffer);
    const { address } = users.handle;
    const { regions, head } = planAt(memory, address);
    /** The regions of which a thread has the lock. */
    const locked = (): number[] => {
      const first = (memory[(address + R_PAGE) / 4] as number) / 4 + 2 * HEADS;
      return Array.from({ length: regions }, (_, region) => region).filter(
        (region) => memory[first + 2 * head * region] !== 0,
      );
    };
    /** Makes a call that is cut when it has the lock: there it reads the time, which is the greater of two. */
    const cut = (key: number): number => {
      const max = vi.spyOn(Math, 'max').mockImplementationOnce(() => {
        throw new RangeError('Maximum call stack size exceeded');
      });
      expect(() => users.tryTake(key)).toThrow('call stack');
      max.mockRestore();
      expect(locked()).toHaveLength(1);
      return locked()[0] as number;
    };
    // The keys come to all regions, and seldom twice to the same.
    const cutIn = new Set(Array.from({ length: 100 }, (_, key) => cut(key)));
    expect(cutIn.size).toBe(regions);
    expect([users.tryTake(1), users.tryTake(1)]).toEqual([true, false]);
    expect(locked()).toEqual([]);
  });
});
