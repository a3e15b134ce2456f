import { TimeoutError as TimeoutErrorOfTaketurns } from 'taketurns';
import { expect, onTestFinished, test, vi } from 'vitest';
import { CancelledError, DisposedError, LeaseLostError, TimeoutError } from '../src/errors.js';
import { onForms } from './forms.js';
import { noting, onServers, sleep, until } from './setting.js';

/** A signal that is aborted when somebody begins to listen to it. */
function abortedWhileItListens(): { signal: AbortSignal; listeners: Set<() => void> } {
  const listeners = new Set<() => void>();
  const signal = {
    aborted: false,
    reason: 'enough',
    addEventListener(_: 'abort', listener: () => void) {
      listeners.add(listener);
      this.aborted = true;
      listener();
    },
    removeEventListener: (_: 'abort', listener: () => void) => void listeners.delete(listener),
  };
  return { signal: signal as never, listeners };
}

onForms('objects', ({ join, cut, forget, known }) => {
  test('permits go to requests in the order of their arrival', async () => {
    const [a, b] = [await join(), await join()];
    const [mine, yours] = [await a.semaphore('db', 2), await b.semaphore('db', 2)];
    const held = await mine.holdAsync(2);
    const order: string[] = [];
    const heavy = yours.holdAsync(2).then(noting(order, 'heavy'));
    await until(async () => (await mine.inspect())?.waiting === 1);
    const light = mine.holdAsync().then(noting(order, 'light'));
    await until(async () => (await mine.inspect())?.waiting === 2);
    expect(await mine.tryHold()).toBeUndefined();
    await held.release(1);
    expect(held.permits).toBe(1);
    expect(await yours.tryHold()).toBeUndefined();
    await held.release();
    expect(held.held).toBe(false);
    const second = await heavy;
    expect(order).toEqual(['heavy']);
    expect(second.token).toBeGreaterThan(held.token);
    await second.release();
    const third = await light;
    expect(third.token).toBeGreaterThan(second.token);
    await third.release();
    expect(await mine.inspect()).toMatchObject({ free: 2, waiting: 0, holders: [], queue: [] });
  });

  test('a process whose waiters hand a mutex to each other by promises alone hears that others wait', async () => {
    const [a, b] = [await join({ turn: 0 }), await join({ turn: 0 })];
    const [mine, yours] = [await a.mutex('m', { bypass: 1_000_000 }), await b.mutex('m', { bypass: 1_000_000 })];
    let count = 0;
    let isServed = false;
    const inTurn = async () => {
      while (!isServed) {
        await using _ = await mine.holdAsync();
        count++;
      }
    };
    const first = await mine.holdAsync();
    const loops = [inTurn(), inTurn()];
    await until(async () => (await mine.inspect())?.waiting === 2);
    const other = yours.holdAsync().then((held) => {
      isServed = true;
      return held.unlock();
    });
    await first.unlock();
    await Promise.all([other, ...loops]);
    // Otherwise the process would hear of the waiters only when it has used all passes that it was lent, 4,095.
    expect(count).toBeLessThan(2000);
  });

  test('a guard gives back once, at the end of its scope', async () => {
    const semaphore = await (await join()).semaphore('db', 3);
    {
      await using held = await semaphore.holdAsync(2);
      expect(String(held)).toBe('HeldPermits(2)');
      await held.release(1);
    }
    expect((await semaphore.inspect())?.free).toBe(3);
    const held = await semaphore.holdAsync(2);
    await Promise.all([held.release(), held.release()]);
    expect((await semaphore.inspect())?.free).toBe(3);
    expect(() => held.release(1)).toThrow('at most the 0 that the guard holds, got 1');
  });

  test('a guard that is lost gives back nothing, and throws no error of its own', async () => {
    const semaphore = await (await join()).semaphore('db', 3);
    const held = await semaphore.holdAsync(2);
    expect(await semaphore.revoke(held.proof)).toBe(true);
    await until(() => held.signal.aborted);
    await Promise.all([held.release(2), held.release(1), held.release()]);
    expect(() => held.release(0)).toThrow(
      'must be an integer of 1 or more, and at most the 0 that the guard holds, got 0',
    );
    expect(() => held.release('1' as never)).toThrow(TypeError);
    expect((await semaphore.inspect())?.free).toBe(3);
  });

  test('a time-out leaves the queue, and lets those behind it pass', async () => {
    const semaphore = await (await join()).semaphore('db', 2);
    const held = await semaphore.holdAsync();
    const heavy = semaphore.holdAsync(2, { timeout: 20 });
    const light = semaphore.holdAsync(1);
    const error = await heavy.catch((error: unknown) => error);
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toBeInstanceOf(TimeoutErrorOfTaketurns);
    expect(String(error)).toBe('TimeoutError: timed out after 20 ms waiting for 2 permits of the semaphore "db"');
    await (await light).release();
    await held.release();
    expect(await semaphore.inspect()).toMatchObject({ free: 2, waiting: 0 });
  });

  test('a signal ends a request at once with its reason, and nothing is lost', async () => {
    const semaphore = await (await join()).semaphore('db', 1);
    const held = await semaphore.holdAsync();
    const controller = new AbortController();
    const waiting = semaphore.holdAsync(1, { signal: controller.signal });
    const unsent = semaphore.holdAsync(1, { signal: controller.signal });
    controller.abort('enough');
    await expect(waiting).rejects.toBe('enough');
    await expect(unsent).rejects.toBe('enough');
    await expect(semaphore.holdAsync(1, { signal: controller.signal })).rejects.toBe('enough');
    await held.release();
    await until(async () => (await semaphore.inspect())?.free === 1);
    // This request is granted and aborted at the same time. The permits go back.
    const late = new AbortController();
    const granted = semaphore.holdAsync(1, { signal: late.signal });
    await new Promise((resolve) => setImmediate(resolve));
    late.abort('late');
    await granted.then(
      (guard) => guard.release(),
      (error) => expect(error).toBe('late'),
    );
    await until(async () => (await semaphore.inspect())?.free === 1);
  });

  test('a signal that takes no listener ends its request with its error, and nothing is lost', async () => {
    const mutex = await (await join()).mutex('m');
    const removeEventListener = (): void => {};
    const addEventListener = (): void => {
      throw new Error('no listeners here');
    };
    const signal = { aborted: false, addEventListener, removeEventListener } as never;
    await expect(mutex.holdAsync({ signal })).rejects.toThrow('no listeners here');
    expect(await mutex.inspect()).toMatchObject({ free: 1, waiting: 0 });
    Object.assign(signal, { addEventListener: removeEventListener });
    await (await mutex.holdAsync({ signal })).unlock();
  });

  test('a signal that is aborted while it takes the listener ends its request, of which no time-out is told', async () => {
    const space = await join();
    const mutex = await space.mutex('m');
    const events: string[] = [];
    space.on('metric', ({ event }) => events.push(event));
    const { signal, listeners } = abortedWhileItListens();
    await expect(mutex.holdAsync({ signal, timeout: 20 })).rejects.toBe('enough');
    await sleep(40);
    expect(events).toEqual([]);
    expect(listeners.size).toBe(0);
    expect(await mutex.inspect()).toMatchObject({ free: 1, waiting: 0 });
  });

  test('a signal that keeps its listener harms no other request', async () => {
    const [a, b] = await Promise.all([join(), join()]);
    const [mine, yours] = [await a.semaphore('s', 2), await b.semaphore('s', 2)];
    const first = await yours.holdAsync(2);
    const reason = new Error('no way back');
    const removeEventListener = (): void => {
      throw reason;
    };
    const signal = { aborted: false, addEventListener() {}, removeEventListener } as never;
    const thrown: unknown[] = [];
    // The error comes from a microtask. Without a listener Node makes it an uncaught exception.
    const listeners = process.rawListeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection');
    process.on('unhandledRejection', (error) => thrown.push(error));
    onTestFinished(() => {
      process.removeAllListeners('unhandledRejection');
      for (const listener of listeners) process.on('unhandledRejection', listener as never);
    });
    const holding = [mine.holdAsync(1, { signal }), mine.holdAsync(1)];
    await until(async () => (await mine.inspect())?.waiting === 2);
    await first.release();
    for (const held of await Promise.all(holding)) await held.release();
    await until(() => thrown.length > 0);
    expect(thrown).toEqual([reason]);
    expect(await mine.inspect()).toMatchObject({ free: 2, waiting: 0 });
  });

  test('runExclusive gives back when the function fails', async () => {
    const semaphore = await (await join()).semaphore('db', 2);
    const run = semaphore.runExclusive(async (held) => {
      expect(held.permits).toBe(2);
      throw new Error('no');
    }, 2);
    await expect(run).rejects.toThrow('no');
    expect((await semaphore.inspect())?.free).toBe(2);
    expect(await semaphore.runExclusive(({ token }) => typeof token)).toBe('bigint');
    const double = semaphore.limit(async (x: number) => 2 * x, 2);
    expect(await Promise.all([1, 2, 3].map(double))).toEqual([2, 4, 6]);
    expect(() => semaphore.limit(double, 3)).toThrow('Semaphore.limit: permits must be an integer from 1 to 2, got 3');
  });

  test('limit of a mutex and of a semaphore: a time-out, a signal and cancelAll end the waits of its calls', async () => {
    const space = await join();
    const mutex = await space.mutex('m');
    const pool = await space.semaphore('db', 2);
    const ways = [
      { what: 'Mutex', taken: () => mutex.holdAsync(), limit: mutex.limit.bind(mutex), object: mutex },
      { what: 'Semaphore', taken: () => pool.holdAsync(2), limit: pool.limit.bind(pool), object: pool },
    ];
    for (const { what, taken, limit, object } of ways) {
      const held = await taken();
      const run = vi.fn(async (n: number) => 2 * n);
      await expect(limit(run, { timeout: 1 })(1)).rejects.toThrow(TimeoutError);
      await expect(limit(run, { signal: AbortSignal.abort('over') })(1)).rejects.toBe('over');
      const controller = new AbortController();
      const aborted = limit(run, { signal: controller.signal })(1);
      controller.abort(new Error('the server shuts down'));
      await expect(aborted).rejects.toThrow('the server shuts down');
      const cancelled = limit(run)(1);
      await until(async () => (await object.inspect())?.waiting === 1);
      await Promise.all([expect(cancelled).rejects.toThrow(CancelledError), object.cancelAll()]);
      expect(run).not.toHaveBeenCalled();
      const call = limit(run, { timeout: 60_000 })(4);
      await held[Symbol.asyncDispose]();
      expect(await call).toBe(8);
      expect(() => limit(run, { timeout: -1 })).toThrow(`${what}.limit: timeout must be from 0 to`);
      expect(() => limit(run, { timeOut: 5 } as never)).toThrow(
        `${what}.limit: options must be of { timeout, signal }`,
      );
      expect(() => limit(5 as never)).toThrow(`${what}.limit: run must be a function, got 5`);
    }
    expect(await pool.limit(async () => (await pool.inspect())?.free, 2, { timeout: 60_000 })()).toBe(0);
  });

  test('a mutex is passed on within a process, at most bypass times past a waiter', async () => {
    const [a, b] = [await join({ turn: 10_000 }), await join()];
    const [mine, yours] = [await a.mutex('m', { bypass: 3 }), await b.mutex('m', { bypass: 3 })];
    const first = await mine.holdAsync();
    const order: string[] = [];
    const done: Promise<unknown>[] = [];
    done.push(
      yours.holdAsync().then((guard) => {
        order.push('yours');
        return guard.unlock();
      }),
    );
    await until(async () => (await mine.inspect())?.waiting === 1);
    for (let i = 0; i < 10; i++) {
      done.push(
        mine.holdAsync().then((guard) => {
          order.push(`mine ${guard.token & 4095n}`);
          return guard.unlock();
        }),
      );
    }
    await until(async () => (await mine.inspect())?.waiting === 11);
    await first.unlock();
    await Promise.all(done);
    expect(order.length).toBe(11);
    expect(order.slice(0, 4)).toEqual(['mine 1', 'mine 2', 'mine 3', 'yours']);
    expect(await mine.inspect()).toMatchObject({ free: 1, waiting: 0 });
  });

  test('with a bypass of 0 a mutex is first come, first served', async () => {
    const [a, b] = [await join(), await join()];
    const [mine, yours] = [await a.mutex('m', { bypass: 0 }), await b.mutex('m', { bypass: 0 })];
    const first = await mine.holdAsync();
    const order: string[] = [];
    const done = [
      yours.holdAsync().then((guard) => {
        order.push('yours');
        return guard.unlock();
      }),
    ];
    await until(async () => (await mine.inspect())?.waiting === 1);
    done.push(
      mine.holdAsync().then((guard) => {
        order.push('mine');
        return guard.unlock();
      }),
    );
    await until(async () => (await mine.inspect())?.waiting === 2);
    await first.unlock();
    await Promise.all(done);
    expect(order).toEqual(['yours', 'mine']);
    expect(await mine.tryHold().then((guard) => guard?.unlock())).toBeUndefined();
  });

  test('a thousand ephemeral mutexes in one tick', async () => {
    const space = await join();
    const first = await space.mutex('first');
    const held = await first.holdAsync();
    const mutexes = await Promise.all(
      Array.from({ length: 1000 }, (_, i) => space.mutex(`each ${i}`, { ephemeral: true })),
    );
    // The unlock before these requests makes the number of operations odd.
    const returned = held.unlock();
    const all = await Promise.all(mutexes.map((mutex) => mutex.holdAsync()));
    await returned;
    await Promise.all(all.map((each) => each.unlock()));
  });

  test('tokens of a mutex rise over passes and processes', async () => {
    const spaces = [await join(), await join()];
    const tokens: bigint[] = [];
    await Promise.all(
      spaces.flatMap((space) =>
        Array.from({ length: 4 }, async () => {
          const mutex = await space.mutex('m');
          for (let i = 0; i < 50; i++) await mutex.runExclusive(({ token }) => tokens.push(token));
        }),
      ),
    );
    expect(tokens.length).toBe(400);
    for (let i = 1; i < tokens.length; i++) expect(tokens[i]).toBeGreaterThan(tokens[i - 1] as bigint);
  });

  test('readers read together, a writer writes alone, in the order of their arrival', async () => {
    const [a, b] = [await join(), await join()];
    const [mine, yours] = [await a.rwLock('r'), await b.rwLock('r')];
    const readers = [await mine.readAsync(), await yours.readAsync()];
    expect(await mine.tryWrite()).toBeUndefined();
    const writing = yours.writeAsync();
    await until(async () => (await mine.inspect())?.waiting === 1);
    expect(await mine.tryRead()).toBeUndefined();
    for (const reader of readers) await reader.unlock();
    const writer = await writing;
    expect(await mine.tryRead()).toBeUndefined();
    const reader = writer.downgrade();
    expect([writer.held, reader.held]).toEqual([false, true]);
    await (await mine.readAsync()).unlock();
    expect(await mine.tryWrite()).toBeUndefined();
    await reader.unlock();
    await (await mine.tryWrite())?.unlock();
    expect((await mine.inspect())?.free).toBe(2 ** 20);
  });

  test('what is opened twice must agree, and the error says how it differs', async () => {
    const [a, b] = [await join(), await join()];
    await a.semaphore('x', 2);
    for (const space of [a, b]) {
      const exists = '"x" exists already, as a semaphore (max 2), not a';
      await expect(space.semaphore('x', 3)).rejects.toThrow(`Space.semaphore: ${exists} semaphore (max 3)`);
      await expect(space.mutex('x')).rejects.toThrow(`Space.mutex: ${exists} mutex (bypass 4096)`);
      await expect(space.rwLock('x')).rejects.toThrow(`Space.rwLock: ${exists} rwlock`);
      await expect(space.semaphore('x', 2, { robust: true })).rejects.toThrow(RangeError);
    }
    await a.semaphore('x', 2);
  });

  test('a name that another process has disposed of and made anew is opened with its new settings', async () => {
    const [a, b] = [await join(), await join()];
    const old = await a.semaphore('db', 4);
    await (await b.semaphore('db', 4)).dispose();
    const yours = await b.semaphore('db', 8);
    await expect(a.semaphore('db', 4)).rejects.toThrow('exists already, as a semaphore (max 8), not');
    const mine = await a.semaphore('db', 8);
    const held = await mine.holdAsync(8);
    expect((await yours.inspect())?.free).toBe(0);
    // Handles of the object that is gone stay handles of that one.
    await expect(old.holdAsync()).rejects.toThrow(DisposedError);
    await old.dispose();
    expect((await (await a.semaphore('db', 8)).inspect())?.free).toBe(0);
    await held.release();
    await yours.dispose();
    await (await (await a.mutex('db')).holdAsync()).unlock();
  });

  test('a name that is made anew with the same settings is another object', async () => {
    const [a, b] = [await join(), await join()];
    const old = await a.semaphore('db', 4);
    await (await b.semaphore('db', 4)).dispose();
    const yours = await b.semaphore('db', 4);
    const mine = await a.semaphore('db', 4);
    await expect(old.holdAsync()).rejects.toThrow(DisposedError);
    const held = await mine.holdAsync(4);
    await old.dispose();
    expect((await yours.inspect())?.free).toBe(0);
    await held.release();
  });

  test('a name that had other settings for a while can be opened again', async () => {
    const [a, b] = [await join(), await join()];
    const old = await a.semaphore('db', 4);
    await forget();
    const other = await b.semaphore('db', 8);
    await expect(old.holdAsync()).rejects.toThrow(RangeError);
    const yours = await a.semaphore('db', 8);
    await (await yours.holdAsync(8)).release();
    await other.dispose();
    const mine = await a.semaphore('db', 4);
    await (await mine.holdAsync(4)).release();
    await expect(old.holdAsync()).rejects.toThrow(RangeError);
  });

  test('dispose ends the waits of all processes, and frees the name', async () => {
    const [a, b] = [await join(), await join()];
    const [mine, yours] = [await a.semaphore('x', 1), await b.semaphore('x', 1)];
    const held = await mine.holdAsync();
    const waits = [mine.holdAsync(), yours.holdAsync()].map((wait) => wait.catch((error: unknown) => error));
    await until(async () => (await mine.inspect())?.waiting === 2);
    await mine.dispose();
    await mine.dispose();
    for (const error of await Promise.all(waits)) expect(error).toBeInstanceOf(DisposedError);
    await expect(yours.holdAsync()).rejects.toThrow(DisposedError);
    const other = await a.semaphore('x', 3);
    await held.release();
    expect(await other.inspect()).toMatchObject({ max: 3, free: 3 });
    await expect(yours.holdAsync()).rejects.toThrow('"x" has been disposed of');
  });

  test('what is held of a disposed object stays so over a cut connection, until it is given back', async () => {
    const [a, b] = [await join(), await join()];
    const [pool, yours] = [await a.semaphore('x', 3, { robust: true }), await b.semaphore('x', 3, { robust: true })];
    const [held, other] = [await pool.holdAsync(2), await pool.holdAsync()];
    await yours.dispose();
    const cutAndResume = async () => {
      const resumed = new Promise<void>((resolve) => {
        a.on('resumed', resolve);
      });
      await cut();
      await resumed;
    };
    await cutAndResume();
    expect([held.held, other.held]).toEqual([true, true]);
    // The hold no longer keeps others out, so a resource that asks gets the answer no.
    expect(await pool.validate(held.proof)).toBe(false);
    const next = await b.semaphore('x', 1);
    expect(await next.validate(held.proof)).toBe(false);
    const mine = await next.holdAsync();
    await held.release(1);
    await cutAndResume();
    expect([held.held, held.permits, other.held]).toEqual([true, 1, true]);
    // The permits that go back belong to no object any more, and nothing is left of these holds.
    await Promise.all([held.release(), other.release()]);
    expect(await next.inspect()).toMatchObject({ max: 1, free: 0 });
    await mine.release();
    expect(await next.inspect()).toMatchObject({ max: 1, free: 1 });
    expect(await known()).toEqual({ objects: 1, requests: 0 });
  });

  test('cancelAll ends the waits of all processes, and nothing else', async () => {
    const [a, b] = [await join(), await join()];
    const [mine, yours] = [await a.semaphore('x', 1), await b.semaphore('x', 1)];
    const held = await mine.holdAsync();
    const waits = [mine.holdAsync(), yours.holdAsync()].map((wait) => wait.catch((error: unknown) => error));
    await until(async () => (await mine.inspect())?.waiting === 2);
    await yours.cancelAll();
    for (const error of await Promise.all(waits)) expect(error).toBeInstanceOf(CancelledError);
    expect(held.held).toBe(true);
    await held.release();
    await (await yours.holdAsync()).release();
  });

  test('an ephemeral object leaves nothing behind', async () => {
    const [a, b] = [await join(), await join()];
    const [mine, yours] = [await a.mutex('user 7', { ephemeral: true }), await b.mutex('user 7', { ephemeral: true })];
    expect((await known()).objects).toBe(0);
    const held = await mine.holdAsync();
    const waiting = yours.holdAsync();
    await until(async () => (await mine.inspect())?.waiting === 1);
    await expect(b.mutex('user 7', { ephemeral: true, bypass: 1 }).then((m) => m.holdAsync())).rejects.toThrow(
      RangeError,
    );
    await held.unlock();
    await (await waiting).unlock();
    expect(await known()).toEqual({ objects: 0, requests: 0 });
  });

  test('the proof of a guard holds while the guard does', async () => {
    const [a, b] = [await join(), await join()];
    const [mine, yours] = [await a.semaphore('x', 2), await b.semaphore('x', 2)];
    const held = await mine.holdAsync();
    expect(await yours.validate(held.proof)).toBe(true);
    expect(await (await b.semaphore('y', 2)).validate(held.proof)).toBe(false);
    await held.release();
    expect(await yours.validate(held.proof)).toBe(false);
    await expect(yours.validate('x')).rejects.toThrow(
      'Semaphore.validate: proof must be the proof of a guard, got "x"',
    );
  });

  test('a handle whose name is of another object by now disposes of nothing', async () => {
    const mine = await (await join()).semaphore('x', 4);
    await forget();
    const yours = await (await join()).semaphore('x', 8);
    const held = await yours.holdAsync(8);
    const waiting = yours.holdAsync();
    await until(async () => (await yours.inspect())?.waiting === 1);
    await expect(mine.holdAsync()).rejects.toThrow(RangeError);
    await expect(mine.dispose()).rejects.toThrow(RangeError);
    await held.release();
    await (await waiting).release();
  });
});

onServers('objects on a server', ({ join, key, another }) => {
  test('a hundred promises in a tick are few calls', async () => {
    const space = await join();
    const semaphore = await space.semaphore('db', 100);
    const client = another();
    const calls = async () => Number(/cmdstat_evalsha:calls=(\d+)/.exec(await client.info('commandstats'))?.[1]);
    const before = await calls();
    await Promise.all(Array.from({ length: 100 }, async () => (await semaphore.holdAsync()).release()));
    // A call has at most 320 arguments. A request takes five of them, and a return nine. The permits of each answer go
    // back at once, and a beat may come.
    expect((await calls()) - before).toBeLessThanOrEqual(7);
  });

  test('a robust object tells the next holder of a death, until somebody has repaired it', async () => {
    const [a, b] = [await join({ lease: 500 }), await join({ lease: 500 })];
    const [mine, yours] = [await a.mutex('m', { robust: true }), await b.mutex('m', { robust: true })];
    const held = await mine.holdAsync();
    expect(held.ownerDied).toBe(false);
    // This ends the lease of the holder whenever the holder has renewed it, as if its process were stopped.
    const client = another();
    const stopped = setInterval(() => void client.zadd(key('leases'), 'XX', -1, held.proof.slice(0, 16)), 5);
    const deaths: number[] = [];
    yours.onOwnerDied = (count) => {
      if (deaths.push(count) === 1) throw new Error('cannot be repaired');
    };
    const [failing, behind] = [yours.holdAsync(), yours.holdAsync()];
    await expect(failing).rejects.toThrow('cannot be repaired');
    clearInterval(stopped);
    // The next holder is told of the death, although it is of the same process.
    const repairing = await behind;
    expect(deaths).toEqual([1, 1]);
    expect(repairing.ownerDied).toBe(true);
    await repairing.unlock();
    const next = await yours.holdAsync();
    expect(next.ownerDied).toBe(false);
    await until(() => !held.held);
    expect(held.signal.reason).toBeInstanceOf(LeaseLostError);
    await next.unlock();
  });
});
