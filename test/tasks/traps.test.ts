/** What breaks queues of promises: callbacks that call back, guards given back twice, a crowd, an end in the midst. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createRequire } from 'node:module';
import * as threads from 'taketurns';
import * as sync from 'taketurns/sync';
import {
  Barrier,
  BrokenBarrierError,
  CancelledError,
  Condition,
  DisposedError,
  Event,
  KeyedMutex,
  KeyedSemaphore,
  Latch,
  Mutex,
  Once,
  RateLimiter,
  RwLock,
  Semaphore,
  TimeoutError,
  WaitGroup,
  type WaitOptions,
} from 'taketurns/tasks';
import { describe, expect, it, vi } from 'vitest';
import { failure } from '../support/failure.js';
import { roundsInCi } from '../support/rounds.js';
import { isSettled, watch } from '../support/settled.js';
import { reactions, turn } from '../support/until.js';

interface Wait {
  wait(options: { signal?: AbortSignal; timeout?: number }): Promise<unknown>;
  /** Lets the wait end. */
  give(): void;
  dispose(): void;
  waiting(): number;
}

const waits: Record<string, () => Wait> = {
  'Semaphore.acquireAsync': () => {
    const s = new Semaphore(0);
    return {
      wait: (options) => s.acquireAsync(1, options),
      give: () => s.release(),
      dispose: () => s.dispose(),
      waiting: () => s.waiting,
    };
  },
  'Mutex.lockAsync': () => {
    const m = new Mutex();
    m.tryLock();
    return {
      wait: (options) => m.lockAsync(options),
      give: () => m.unlock(),
      dispose: () => m.dispose(),
      waiting: () => m.waiting,
    };
  },
  'Condition.waitAsync': () => {
    const m = new Mutex();
    const c = new Condition(m);
    return {
      // The caller of each wait must own the mutex, and owns it afterwards.
      wait(options) {
        m.tryLock();
        return c.waitAsync(options).finally(() => m.unlock());
      },
      give: () => c.notify(),
      dispose: () => c.dispose(),
      waiting: () => c.waiting,
    };
  },
  'Latch.waitAsync': () => {
    const l = new Latch(1);
    return {
      wait: (options) => l.waitAsync(options),
      give: () => l.countDown(),
      dispose: () => l.dispose(),
      waiting: () => l.waiting,
    };
  },
  'RwLock.lockReadAsync': () => {
    const l = new RwLock();
    l.tryLockWrite();
    return {
      wait: (options) => l.lockReadAsync(options),
      give: () => l.unlockWrite(),
      dispose: () => l.dispose(),
      waiting: () => l.waiting,
    };
  },
  'RwLock.lockWriteAsync': () => {
    const l = new RwLock();
    l.tryLockRead();
    return {
      wait: (options) => l.lockWriteAsync(options),
      give: () => l.unlockRead(),
      dispose: () => l.dispose(),
      waiting: () => l.waiting,
    };
  },
  'KeyedMutex.holdAsync': () => {
    const k = new KeyedMutex();
    const held = k.tryHold('a');
    return {
      wait: (options) => k.holdAsync('a', options),
      give: () => held?.unlock(),
      dispose: () => k.dispose(),
      waiting: () => k.waiting,
    };
  },
};

type Run = (run: () => unknown, options?: WaitOptions) => Promise<unknown>;
interface Runner {
  readonly object: { readonly waiting: number; dispose(): void; cancelAll(): void };
  readonly run: Run;
}

/** The objects whose `runExclusive` lets one function in at a time. */
const exclusive: Record<string, () => Runner> = {
  Semaphore() {
    const object = new Semaphore(1);
    return { object, run: (run, options = {}) => object.runExclusive(run, options) };
  },
  Mutex() {
    const object = new Mutex();
    return { object, run: (run, options) => object.runExclusive(run, options) };
  },
  KeyedMutex() {
    const object = new KeyedMutex();
    return { object, run: (run, options) => object.runExclusive('key', run, options) };
  },
  KeyedSemaphore() {
    const object = new KeyedSemaphore(2);
    return { object, run: (run, options = {}) => object.runExclusive('key', run, 2, options) };
  },
};
const runner = (name: string): Runner => (exclusive[name] as () => Runner)();

/** A signal of which `listens` runs in `addEventListener`. */
function calling(listens: (listener: () => void) => void): AbortSignal & { listeners: number } {
  const signal = {
    aborted: false,
    reason: new Error('enough'),
    listeners: 0,
    addEventListener(_: string, listener: () => void) {
      signal.listeners++;
      listens(listener);
    },
    removeEventListener() {
      signal.listeners--;
    },
  };
  return signal as never;
}

const names = Object.keys(waits);
const made = (name: string): Wait => (waits[name] as () => Wait)();

describe('a signal that calls back while it takes a listener', () => {
  it.each(names)('%s: it gives what is waited for', async (name) => {
    const { wait, give, waiting } = made(name);
    const signal = calling(() => give());
    await wait({ signal });
    await turn();
    expect([waiting(), signal.listeners]).toEqual([0, 0]);
  });

  it.each(names)('%s: it disposes of the object', async (name) => {
    const { wait, dispose, waiting } = made(name);
    const signal = calling(() => dispose());
    expect(await failure(() => wait({ signal }))).toBeInstanceOf(DisposedError);
    await turn();
    expect([waiting(), signal.listeners]).toEqual([0, 0]);
  });

  it.each(names)('%s: it is aborted', async (name) => {
    const { wait, waiting } = made(name);
    const signal = calling((listener) => {
      Object.assign(signal, { aborted: true });
      listener();
    });
    expect(await failure(() => wait({ signal }))).toBe(signal.reason);
    await turn();
    expect([waiting(), signal.listeners]).toEqual([0, 0]);
  });

  it.each(names)('%s: it throws', async (name) => {
    const { wait, waiting } = made(name);
    const signal = calling(() => {
      throw new SyntaxError('no listeners');
    });
    expect((await failure(() => wait({ signal }))).name).toBe('SyntaxError');
    expect(waiting()).toBe(0);
  });

  it.each(names)('%s: it has no reason, as in the oldest engines', async (name) => {
    const { wait } = made(name);
    let abort = (): void => {};
    const signal = calling((listener) => {
      abort = listener;
    });
    Object.assign(signal, { reason: undefined });
    const error = failure(() => wait({ signal }));
    Object.assign(signal, { aborted: true });
    abort();
    expect((await error).name).toBe('AbortError');
  });
});

describe('the head', () => {
  it.each(names)('%s: is aborted as it is woken', async (name) => {
    const { wait, give, waiting } = made(name);
    const controller = new AbortController();
    const head = watch(wait({ signal: controller.signal }), 'head');
    const next = watch(wait({}), 'next');
    give();
    controller.abort(new SyntaxError('too late'));
    await turn();
    expect([head.state, waiting()]).toEqual(['fulfilled', next.state === 'pending' ? 1 : 0]);
  });

  it.each(names)('%s: is woken as it is aborted', async (name) => {
    const { wait, give, waiting } = made(name);
    const controller = new AbortController();
    const head = watch(wait({ signal: controller.signal }), 'head');
    const next = watch(wait({}), 'next');
    controller.abort(new SyntaxError('enough'));
    give();
    await turn();
    expect([head.state, next.state, waiting()]).toEqual(['rejected', 'fulfilled', 0]);
  });

  it.each(names)('%s: its time passes, and those behind are served', async (name) => {
    const { wait, give, waiting } = made(name);
    const head = wait({ timeout: 3 }).catch((error) => error);
    const next = wait({});
    // The promises of a latch and of a condition answer false; the others are rejected.
    const answer = await head;
    expect(answer === false || answer instanceof TimeoutError).toBe(true);
    give();
    await next;
    expect(waiting()).toBe(0);
  });
});

describe('a crowd', () => {
  const MANY = roundsInCi(100_000, 20_000);

  it.each(names)('%s: all leave by one signal, from a queue in which others stand', async (name) => {
    const { wait, give, waiting } = made(name);
    const controller = new AbortController();
    const first = wait({});
    const all = Promise.allSettled(Array.from({ length: MANY }, () => wait({ signal: controller.signal })));
    const last = watch(wait({}), 'last');
    controller.abort(new SyntaxError('enough'));
    await turn();
    expect(waiting()).toBe(2);
    give();
    await first;
    expect((await all).filter(({ status }) => status === 'rejected').length).toBe(MANY);
    expect(['pending', 'fulfilled']).toContain(last.state);
  });

  it.each(Object.keys(exclusive))('of which each second one leaves by a signal of its own: %s', async (name) => {
    const many = name === 'Semaphore' ? MANY : MANY / 5;
    const order: number[] = [];
    const controllers = Array.from({ length: many }, () => new AbortController());
    const { object, run } = runner(name);
    let open = (): void => {};
    const first = run(() => new Promise<void>((resolve) => (open = resolve)));
    const all = Promise.allSettled(
      controllers.map(({ signal }, i) =>
        run(
          () => {
            order.push(i);
          },
          i % 4 === 3 ? { signal, timeout: 600_000 } : { signal },
        ),
      ),
    );
    for (const [i, controller] of controllers.entries()) if (i % 2) controller.abort(i);
    expect(object.waiting).toBe(many / 2);
    await turn();
    open();
    await first;
    const outcomes = await all;
    expect(outcomes.every((outcome, i) => outcome.status === (i % 2 ? 'rejected' : 'fulfilled'))).toBe(true);
    expect(outcomes[777]).toEqual({ status: 'rejected', reason: 777 });
    expect(order).toEqual(Array.from({ length: many / 2 }, (_, i) => 2 * i));
    expect(object.waiting).toBe(0);
  });

  it('is served in its order, one after the other, and each wakes the next', async () => {
    const s = new Semaphore(1);
    const order: number[] = [];
    await Promise.all(
      Array.from({ length: MANY }, async (_, i) => {
        await s.acquireAsync();
        order.push(i);
        s.release();
      }),
    );
    expect(order).toEqual(order.map((_, i) => i));
    expect([order.length, s.available]).toEqual([MANY, 1]);
  });

  it('leaves from the back and from the midst, one by one', async () => {
    const s = new Semaphore(0);
    const controllers = Array.from({ length: 20_000 }, () => new AbortController());
    const all = Promise.allSettled(controllers.map(({ signal }, i) => s.acquireAsync(1 + (i % 3), { signal })));
    for (const controller of controllers.reverse()) if (Number(controller.signal.aborted) === 0) controller.abort();
    await all;
    expect([s.waiting, s.available, s.inspect().timeouts]).toEqual([0, 0, 20_000]);
  });

  it('ends by dispose and by cancelAll', async () => {
    const [s, m] = [new Semaphore(0), new Mutex()];
    m.tryLock();
    const waits = Array.from({ length: MANY }, (_, i) => (i % 2 ? s.acquireAsync() : m.lockAsync()));
    const outcomes = Promise.allSettled(waits);
    s.dispose();
    m.cancelAll();
    const kinds = new Set((await outcomes).map((outcome) => (outcome as PromiseRejectedResult).reason.constructor));
    expect(kinds).toEqual(new Set([CancelledError, DisposedError]));
    expect([s.waiting, m.waiting]).toEqual([0, 0]);
  });
});

describe('a guard', () => {
  it('of permits gives back once, in parts', async () => {
    const s = new Semaphore(4);
    const held = await s.holdAsync(3);
    held.release(2);
    expect([held.permits, s.available, String(held)]).toEqual([1, 3, 'HeldPermits(1)']);
    expect(() => held.release(2)).toThrow(
      'HeldPermits.release: permits must be an integer from 1 to 1 (what it holds)',
    );
    held.release();
    held.release();
    await held[Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')]();
    expect([held.held, s.available]).toEqual([false, 4]);
  });

  it('of a lock gives back once, though another has the lock by then', async () => {
    const m = new Mutex();
    const held = await m.holdAsync();
    const next = m.holdAsync();
    held.unlock();
    await next;
    held.unlock();
    expect([m.locked, String(held), String(await next)]).toEqual([true, 'HeldLock(unlocked)', 'HeldLock(held)']);
  });

  it('of a RwLock holds nothing once it has been upgraded or downgraded', async () => {
    const l = new RwLock();
    const update = await l.updateAsync();
    const write = await update.upgradeAsync();
    update.unlock();
    expect([update.held, write.held, l.writing]).toEqual([false, true, true]);
    const read = write.downgrade();
    expect(() => write.downgrade()).toThrow('HeldWrite.downgrade: this guard does not hold the lock any more');
    write.unlock();
    expect([read.held, l.readers, l.writing]).toEqual([true, 1, false]);
    read.unlock();
    read.unlock();
    expect(l.readers).toBe(0);
  });

  it('of a reader comes as soon as the writer gives up for which it waited, also by one signal', async () => {
    const lock = new RwLock();
    using held = await lock.readAsync();
    const controller = new AbortController();
    const { signal } = controller;
    const writer = failure(() => lock.writeAsync({ signal }));
    await turn();
    const reader = lock.readAsync({ signal });
    await turn();
    controller.abort();
    expect([lock.writing, lock.readers, lock.waiting]).toEqual([false, 2, 0]);
    expect([(await writer).name, (await reader).held, held.held]).toEqual(['AbortError', true, true]);
  });

  it('of a RwLock, the error of a writer that readers keep out tells of the readers', async () => {
    const lock = new RwLock();
    using _ = await lock.readAsync();
    await expect(lock.writeAsync({ timeout: 5 })).rejects.toThrow(/^timed out after 5 ms .* the RwLock \(1 reader\)$/);
  });

  it('of a RwLock that was unlocked behind its back takes nothing from others', async () => {
    const lock = new RwLock();
    for (const end of ['unlock', 'downgrade'] as const) {
      const written = await lock.writeAsync();
      lock.unlockWrite();
      const turn = await lock.updateAsync();
      expect(() => written[end]()).toThrow('RwLock.unlockWrite: nobody writes');
      expect([written.held, turn.held, lock.readers, lock.tryLockWrite()]).toEqual([false, true, 0, false]);
      turn.unlock();
    }
    expect(lock.tryLockWrite()).toBe(true);
  });

  it('of a reader that was unlocked behind its back lets nobody in beside a writer', async () => {
    const lock = new RwLock();
    const held = await lock.readAsync();
    lock.unlockRead();
    const written = await lock.writeAsync();
    await expect(lock.readAsync({ within: held })).rejects.toThrow(
      /within must be a HeldRead of this lock that is held/,
    );
    expect([lock.readers, lock.writing]).toEqual([0, true]);
    written.unlock();
  });

  it('whose scope ends while it is upgraded gives the turn back if the upgrade fails', async () => {
    const l = new RwLock();
    const reads = await l.readAsync();
    const update = await l.updateAsync();
    const controller = new AbortController();
    const fails = failure(() => update.upgradeAsync({ signal: controller.signal }));
    update.unlock();
    const next = l.writeAsync();
    controller.abort(new SyntaxError('enough'));
    expect((await fails).name).toBe('SyntaxError');
    reads.unlock();
    (await next).unlock();
    expect([l.writing, l.waiting]).toEqual([false, 0]);
  });

  it('of a task counts once', async () => {
    const g = new WaitGroup();
    const task = g.hold();
    task.done();
    task.done();
    expect([g.pending, String(task)]).toEqual([0, 'HeldTask(done)']);
  });
});

it('readings that overlap by a try, or by a promise without within, keep no writer out', async () => {
  const lock = new RwLock();
  const held = await lock.readAsync();
  const written = lock.writeAsync();
  expect([lock.tryRead(), lock.tryLockRead()]).toEqual([undefined, false]);
  const next = lock.readAsync();
  // One within the reading does not wait for the writer, which waits for it.
  const within = await lock.readAsync({ within: held });
  held.unlock();
  expect([lock.tryRead(), lock.readers, lock.writing]).toEqual([undefined, 1, true]);
  within.unlock();
  (await written).unlock();
  (await next).unlock();
  expect([lock.readers, lock.writing, lock.waiting]).toEqual([0, false, 0]);
});

describe('a callback of the user that calls the object', () => {
  it('an action of a barrier whose calls belong to the next round', async () => {
    const answers: unknown[] = [];
    const barrier: Barrier = new Barrier(2, {
      action() {
        if (barrier.round === 0) barrier.arriveAndWaitAsync().then((index) => answers.push(`inside ${index}`));
      },
    });
    answers.push(...(await Promise.all([barrier.arriveAndWaitAsync(), barrier.arriveAndWaitAsync()])));
    expect(answers).toEqual([0, 1]);
    expect(await barrier.arriveAndWaitAsync()).toBe(1);
    await turn();
    expect([answers, barrier.round, barrier.broken]).toEqual([[0, 1, 'inside 0'], 2, false]);
  });

  it('an action that makes a whole round of its own, and then throws', async () => {
    const answerOf = (call: Promise<number>): Promise<unknown> => call.catch((error) => error.name);
    const inside: Promise<unknown>[] = [];
    const barrier: Barrier = new Barrier(2, {
      action() {
        if (inside.length > 0) return;
        for (let i = 0; i < 2; i++) inside.push(answerOf(barrier.arriveAndWaitAsync()));
        throw new SyntaxError('it fails');
      },
    });
    const outside = [0, 1].map(() => answerOf(barrier.arriveAndWaitAsync()));
    expect(await Promise.all(outside)).toEqual(['BrokenBarrierError', 'SyntaxError']);
    expect([await Promise.all(inside), barrier.round, barrier.broken]).toEqual([[0, 1], 1, true]);
  });

  it('an action that aborts one who has arrived breaks the round for all', async () => {
    const controller = new AbortController();
    const barrier = new Barrier(3, { action: () => controller.abort(new SyntaxError('enough')) });
    const calls = [{ signal: controller.signal }, {}, {}].map((options) =>
      failure(() => barrier.arriveAndWaitAsync(options)),
    );
    const [aborted, ...others] = await Promise.all(calls);
    expect(aborted?.name).toBe('SyntaxError');
    for (const error of others) expect(error).toBeInstanceOf(BrokenBarrierError);
  });

  it('an action that disposes of the barrier, throws or returns a promise', async () => {
    for (const [action, name] of [
      [(b: Barrier) => b.dispose(), 'DisposedError'],
      [() => Promise.reject(new Error('unheard')), 'TypeError'],
      [() => JSON.parse('?'), 'SyntaxError'],
    ] as const) {
      const barrier: Barrier = new Barrier(1, { action: () => action(barrier) as undefined });
      expect((await failure(() => barrier.arriveAndWaitAsync())).name).toBe(name);
    }
  });

  it('a function of Once that throws lets a waiter try, and one that disposes ends all', async () => {
    const once = new Once();
    const fails = failure(() =>
      once.runAsync(async () => {
        await turn();
        throw new SyntaxError('it fails');
      }),
    );
    const [second, third] = [once.runAsync(() => {}), once.runAsync(() => {})];
    expect((await fails).name).toBe('SyntaxError');
    expect([await second, await third, once.done]).toEqual([true, false, true]);
    const ends = new Once();
    const runs = ends.runAsync(async () => {
      await turn();
      ends.dispose();
    });
    expect((await failure(() => ends.runAsync(() => {}))).name).toBe('DisposedError');
    expect([await runs, ends.done]).toEqual([true, false]);
  });

  it('a Once that is done and disposed of just afterwards lets those go on who waited', async () => {
    const once = new Once();
    const work = turn();
    const first = once.runAsync(() => work);
    const waits = [once.runAsync(() => {}), once.runAsync(() => {})];
    await work.then(() => once.dispose());
    expect(await first).toBe(true);
    expect(await Promise.all(waits)).toEqual([false, false]);
    expect((await failure(() => once.runAsync(() => {}))).name).toBe('DisposedError');
  });

  it('a function of Once that fails lets the waiters try in their order, before those who come later', async () => {
    const once = new Once();
    const order: number[] = [];
    const run = (index: number): Promise<unknown> =>
      once
        .runAsync(async () => {
          order.push(index);
          await null;
          throw new SyntaxError('it fails');
        })
        .catch(() => {});
    const calls = [run(0), run(1), run(2)];
    for (let i = 3; i < 20; i++) {
      await null;
      calls.push(run(i));
    }
    await Promise.all(calls);
    expect(order).toEqual(Array.from({ length: 20 }, (_, i) => i));
    expect([once.waiting, once.done]).toEqual([0, false]);
  });

  it.each(Object.keys(exclusive))(
    'a function of %s that disposes of it: the others are refused, and its answer stays',
    async (name) => {
      const { object, run } = runner(name);
      const answer = run(async () => {
        await null;
        object.dispose();
        return 'done';
      });
      const others = [run(() => 'never'), run(() => 'never', { timeout: 5 })].map((call) => failure(() => call));
      expect(await answer).toBe('done');
      for (const error of await Promise.all(others)) expect(error).toBeInstanceOf(DisposedError);
      expect(await failure(() => run(() => 'never'))).toBeInstanceOf(DisposedError);
      expect(object.waiting).toBe(0);
    },
  );

  it.each(Object.keys(exclusive))(
    'a function of %s that aborts one who waits, cancels the others and asks again',
    async (name) => {
      const { object, run } = runner(name);
      const controller = new AbortController();
      const later: Promise<unknown>[] = [];
      const first = run(() => {
        controller.abort('enough');
        expect(object.waiting).toBe(1);
        object.cancelAll();
        later.push(run(() => 'later'));
      });
      const aborted = run(() => 'never', { signal: controller.signal }).catch((reason) => reason);
      const cancelled = failure(() => run(() => 'never'));
      await first;
      expect([await aborted, await cancelled, await later[0]]).toEqual(['enough', expect.any(CancelledError), 'later']);
      expect(object.waiting).toBe(0);
    },
  );

  it.each(names)('%s: a listener of the same signal disposes of the object, or waits again', async (name) => {
    const { wait, dispose, waiting } = made(name);
    const controller = new AbortController();
    const again: Promise<unknown>[] = [];
    controller.signal.addEventListener('abort', () => {
      again.push(wait({ signal: controller.signal }).catch((reason) => reason));
      dispose();
    });
    const errors = [wait({ signal: controller.signal }), wait({})].map((call) => failure(() => call));
    controller.abort(new SyntaxError('enough'));
    expect((await Promise.all(errors)).map(({ name: kind }) => kind)).toEqual(['DisposedError', 'DisposedError']);
    expect([await again[0], waiting()]).toEqual([controller.signal.reason, 0]);
  });

  it('a condition whose mutex has been disposed of, before or by the function that it asks', async () => {
    for (const disposes of [false, true]) {
      const m = new Mutex();
      const c = new Condition(m);
      await m.lockAsync();
      if (!disposes) m.dispose();
      const waits = disposes ? () => c.waitForAsync(() => Boolean(m.dispose())) : () => c.waitAsync();
      expect(await failure(waits)).toBeInstanceOf(DisposedError);
    }
  });

  it.each(Object.keys(exclusive))('%s runs each function in the asynchronous context of its call', async (name) => {
    const context = new AsyncLocalStorage<number>();
    const { run } = runner(name);
    const seen: unknown[] = [];
    const calls = [1, 2, 3].map((n) =>
      context.run(n, () =>
        run(async () => {
          seen.push(context.getStore());
          await null;
          seen.push(context.getStore());
        }),
      ),
    );
    await Promise.all(calls);
    expect(seen).toEqual([1, 1, 2, 2, 3, 3]);
  });

  it('getters of options that call the object', async () => {
    const s = new Semaphore(1);
    const options = {
      get timeout() {
        s.tryAcquire();
        return 5;
      },
    };
    expect((await failure(() => s.acquireAsync(1, options))).name).toBe('TimeoutError');
    expect([s.available, s.waiting]).toEqual([0, 0]);
  });

  it('a condition whose signal unlocks the mutex: the promise is in the queue by then', async () => {
    const m = new Mutex();
    const c = new Condition(m);
    await m.lockAsync();
    const signal = calling(() => m.tryLock());
    const waited = c.waitAsync({ signal });
    expect([c.waiting, m.locked]).toEqual([1, true]);
    c.notify();
    m.unlock();
    expect([await waited, m.locked]).toEqual([true, true]);
  });
});

describe('fake timers that come after the library was loaded', () => {
  it('do not stop a time-out', async () => {
    vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'queueMicrotask', 'Date', 'performance'],
    });
    vi.stubGlobal('performance', { now: () => Number.NaN });
    vi.stubGlobal('Date', { now: () => Number.NaN });
    try {
      const s = new Semaphore(0);
      expect((await failure(() => s.acquireAsync(1, { timeout: 5 }))).message).toBe(
        'timed out after 5 ms waiting for 1 permit of the Semaphore (0 available, 0 waiting)',
      );
      const limiter = new RateLimiter(1, 5);
      await limiter.takeAsync();
      await limiter.takeAsync();
      const k = new KeyedMutex();
      using held = k.tryHold('key');
      expect((await failure(() => k.holdAllAsync(['a', 'key'], { timeout: 5 }))).name).toBe('TimeoutError');
      expect([held?.held, await new Latch(1).waitAsync({ timeout: 5 })]).toEqual([true, false]);
    } finally {
      vi.unstubAllGlobals();
      vi.useRealTimers();
    }
  });
});

async function broken(Class: typeof Barrier): Promise<never> {
  const barrier = new Class(2);
  await barrier.arriveAndWaitAsync({ timeout: 0 }).catch(() => {});
  await barrier.arriveAndWaitAsync();
  throw new Error('the barrier is not broken');
}

const optionsOf: Record<string, (options: WaitOptions) => Promise<unknown>> = {
  'Semaphore.acquireAsync': (options) => new Semaphore(1).acquireAsync(options),
  'Semaphore.acquireAsync of two': (options) => new Semaphore(2).acquireAsync(2, options),
  'Semaphore.runExclusive': (options) => new Semaphore(2).runExclusive(() => {}, 1, options),
  'Mutex.lockAsync': (options) => new Mutex().lockAsync(options),
  'Mutex.waitForUnlockAsync': (options) => new Mutex().waitForUnlockAsync(options),
  'RwLock.readAsync': (options) => new RwLock().readAsync(options),
  'RwLock.updateAsync': (options) => new RwLock().updateAsync(options),
  'HeldUpdate.upgradeAsync': async (options) => (await new RwLock().updateAsync()).upgradeAsync(options),
  'Barrier.arriveAndWaitAsync': (options) => new Barrier(1).arriveAndWaitAsync(options),
  'Latch.waitAsync': (options) => new Latch(0).waitAsync(options),
  'Once.runAsync': (options) => new Once().runAsync(() => {}, options),
  'KeyedMutex.holdAsync': (options) => new KeyedMutex().holdAsync('a', options),
  'KeyedMutex.holdAllAsync': (options) => new KeyedMutex().holdAllAsync(['a'], options),
  'KeyedSemaphore.holdAsync': (options) => new KeyedSemaphore(1).holdAsync('a', options),
  'RateLimiter.takeAsync': (options) => new RateLimiter(1, 1).takeAsync(options),
  async 'Condition.waitAsync'(options) {
    const mutex = new Mutex();
    await mutex.lockAsync();
    return new Condition(mutex).waitAsync(options);
  },
};

describe('the errors', () => {
  it('of a broken barrier are known to the classes of sync and of the copy that bundlers get', async () => {
    expect(createRequire(import.meta.url)('taketurns/tasks').Barrier).toBe(Barrier);
    const twin = await import('../../dist/tasks/index.js');
    expect(twin.Barrier).not.toBe(Barrier);
    for (const Class of [Barrier, twin.Barrier] as (typeof Barrier)[]) {
      const error = await failure(() => broken(Class));
      for (const Known of [BrokenBarrierError, twin.BrokenBarrierError, sync.BrokenBarrierError]) {
        expect([error instanceof Known, error.name]).toEqual([true, 'BrokenBarrierError']);
      }
    }
  });

  it.each(Object.entries(optionsOf))('of %s refuse what is no object of options', async (_, call) => {
    const { signal } = new AbortController();
    for (const bad of [null, false, 0, '', 'now', [], () => {}, new Map(), signal]) {
      expect((await failure(() => call(bad as never))).message).toMatch(/must be (of \{|an integer)/);
    }
    expect((await failure(() => call({ timeOut: 5 } as never))).message).toMatch(
      /options must be of \{ timeout, signal(, within)? \} \(perhaps timeout\), got "timeOut"/,
    );
    const deaf = { aborted: false, reason: 0, addEventListener() {} };
    expect((await failure(() => call({ signal: deaf as never }))).message).toMatch(/signal must be an AbortSignal/);
  });

  it('are known to the classes of the other entry, by instanceof', async () => {
    const s = new Semaphore(0);
    const late = await failure(() => s.acquireAsync(1, { timeout: 0 }));
    const cancelled = failure(() => s.acquireAsync());
    s.cancelAll('why');
    expect([late instanceof threads.TimeoutError, late instanceof threads.DisposedError]).toEqual([true, false]);
    expect([(await cancelled) instanceof threads.CancelledError, (await cancelled).cause]).toEqual([true, 'why']);
    s.dispose();
    s.dispose();
    expect(() => s.tryAcquire()).toThrow(threads.DisposedError);
    expect(s.release()).toBe(undefined);
    expect([s.available, s.disposed, String(s)]).toEqual([0, true, 'Semaphore(disposed)']);
  });

  it.each([
    [() => new Semaphore(-1), RangeError, 'Semaphore: permits must be an integer from 0 to 2147483647, got -1'],
    [
      () => new Semaphore('1' as never),
      TypeError,
      'Semaphore: permits must be an integer from 0 to 2147483647, got "1"',
    ],
    [
      () => new Semaphore(1, { maximum: 2 } as never),
      TypeError,
      'Semaphore: options must be of { max } (perhaps max), got "maximum"',
    ],
    [() => new Semaphore(1, 2 as never), TypeError, 'Semaphore: options must be of { max }, got 2'],
    [
      () => new Semaphore(1).acquireAsync(0),
      RangeError,
      'Semaphore.acquireAsync: permits must be an integer from 1 to',
    ],
    [
      () => new Semaphore(1, { max: 2 }).release(2),
      RangeError,
      '2 more would make more than 2 (its max) available; 1 are: give back as many as were taken',
    ],
    [
      () => new Semaphore(1, { max: 2 }).add(2),
      RangeError,
      '2 more would make more than 2 (its max) available; 1 are: make it with a greater max',
    ],
    [
      () => new Semaphore(1).acquireAsync({ timeout: -1 }),
      RangeError,
      'timeout must be from 0 to 2147483647 milliseconds',
    ],
    [() => new Semaphore(1).acquireAsync({ timeout: '1' as never }), TypeError, 'or Infinity, got "1"'],
    [
      () => new Semaphore(1).acquireAsync({ signal: {} as never }),
      TypeError,
      'signal must be an AbortSignal, got an object',
    ],
    [() => new Mutex().lockAsync(new AbortController().signal as never), TypeError, 'must be of { timeout, signal }'],
    [
      () => new (Mutex as new (options: object) => Mutex)({ bypass: 0 }),
      TypeError,
      'Mutex: options must be left out, got ',
    ],
    [() => new Mutex().unlock(), Error, 'Mutex.unlock: nobody is the owner'],
    [() => new Mutex().runExclusive(1 as never), TypeError, 'Mutex.runExclusive: run must be a function, got 1'],
    [() => new Condition({} as never), TypeError, 'Condition: mutex must be a Mutex of taketurns/tasks, got an object'],
    [() => new Condition(new Mutex()).waitAsync(), Error, 'Condition.waitAsync: nobody is the owner of the mutex'],
    [() => new Condition(new Mutex()).notify(0), RangeError, 'Condition.notify: count must be an integer from 1 to'],
    [() => new Event({ set: 1 as never }), TypeError, 'Event: set must be true or false, got 1'],
    [
      () => new Latch(1).countDown(2),
      RangeError,
      'Latch.countDown: n must be an integer from 1 to 1 (the count), got 2',
    ],
    [
      () => new WaitGroup().done(),
      RangeError,
      'WaitGroup.done: n must be at least 1 and at most 0 (the pending tasks), got 1',
    ],
    [() => new Barrier(0), RangeError, 'Barrier: parties must be an integer from 1 to 65535, got 0'],
    [() => new Once().runAsync(1 as never), TypeError, 'Once.runAsync: fn must be a function, got 1'],
    [() => new RwLock().unlockRead(), Error, 'RwLock.unlockRead: nobody reads'],
    [() => new RwLock().unlockWrite(), Error, 'RwLock.unlockWrite: nobody writes'],
    [() => new RwLock().lockReadAsync({ within: {} as never }), TypeError, 'within must be a HeldRead of this lock'],
  ])('name the argument, what was given and what is allowed: %#', async (call, Kind, message) => {
    const error = await failure(call);
    expect(error.constructor).toBe(Kind);
    expect(error.message).toContain(message);
  });
});

it('a wait for an unlock takes nothing from others, though a wrong call has unlocked before it goes on', async () => {
  const m = new Mutex();
  await m.lockAsync();
  const waited = m.waitForUnlockAsync();
  m.unlock();
  m.unlock();
  await waited;
  expect([m.locked, m.waiting]).toEqual([false, 0]);
});

it('a promise that is fulfilled at once is settled before those that come later', async () => {
  const s = new Semaphore(1);
  const log: string[] = [];
  watch(s.acquireAsync(), 'first', log);
  watch(s.acquireAsync(), 'second', log);
  s.release();
  await reactions();
  expect(log).toEqual(['first', 'second']);
  expect(await isSettled(s.acquireAsync())).toBe(false);
});
