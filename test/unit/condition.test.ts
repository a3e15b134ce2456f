/** What a user sees of a Condition. check/src/models/condition-object.ts searches its interleavings. */
import { Worker } from 'node:worker_threads';
import { Arena, ArenaFullError, DisposedError, Mutex, Semaphore } from 'taketurns';
import { Condition } from 'taketurns/sync';
import { describe, expect, it } from 'vitest';
import { until } from '../support/until.js';

const WORKER = new URL('../workers/condition.mjs', import.meta.url);
/** For what never happens. */
const timeout = 10_000;

const words = (): Int32Array => new Int32Array(new SharedArrayBuffer(64));

/** A thread that runs a program on a condition. */
class Runner {
  readonly worker: Worker;
  readonly said: unknown[] = [];

  constructor(condition: Condition, program: string, shared = words()) {
    this.worker = new Worker(WORKER, { workerData: { handle: condition.handle, program, words: shared } });
    this.worker.on('message', (value: unknown) => this.said.push(value));
  }

  async says(count = 1): Promise<unknown[]> {
    await until(() => this.said.length >= count, 'it has answered');
    return this.said;
  }
}

function make(): { mutex: Mutex; condition: Condition } {
  const mutex = new Mutex();
  return { mutex, condition: new Condition(mutex) };
}

const WAITS = 'mutex.lock(); const answer = condition.wait(); say([answer, mutex.held]); mutex.unlock();';

/** Starts threads that wait, one after the other. */
async function waiters(condition: Condition, count: number, program = WAITS, shared = words()): Promise<Runner[]> {
  const all: Runner[] = [];
  for (let i = 1; i <= count; i++) {
    all.push(new Runner(condition, program, shared));
    await until(() => condition.waiting === i, 'it waits');
  }
  return all;
}

describe('Condition.wait', () => {
  it('unlocks the mutex, waits for a notification, and locks the mutex again', async () => {
    const { mutex, condition } = make();
    const [waiter] = (await waiters(condition, 1)) as [Runner];
    await until(() => mutex.tryLock(), 'it has unlocked the mutex');
    expect([condition.notify(), condition.waiting]).toEqual([1, 0]);
    mutex.unlock();
    expect(await waiter.says()).toEqual([[true, true]]);
  });

  it('is notified in the order of the waits, as many as are asked for', async () => {
    const { mutex, condition } = make();
    const all = await waiters(condition, 5);
    const gone = (): number[] => all.map((one) => one.said.length);
    mutex.lock();
    expect([condition.notify(), condition.waiting]).toEqual([1, 4]);
    mutex.unlock();
    await all[0]?.says();
    expect(gone()).toEqual([1, 0, 0, 0, 0]);
    expect([condition.notify(2), condition.waiting]).toEqual([2, 2]);
    await all[1]?.says();
    await all[2]?.says();
    expect(gone()).toEqual([1, 1, 1, 0, 0]);
    expect([condition.notify(3), condition.notifyAll(), condition.waiting]).toEqual([2, 0, 0]);
    for (const one of all) expect(await one.says()).toEqual([[true, true]]);
  });

  it('notifies all, threads and promises, and each once', async () => {
    const { mutex, condition } = make();
    const threads = await waiters(condition, 3);
    mutex.lock();
    const promise = condition.waitAsync();
    expect([mutex.held, condition.waiting]).toEqual([false, 4]);
    const notifier = new Runner(condition, 'mutex.lock(); say(condition.notifyAll()); mutex.unlock();');
    expect(await promise).toBe(true);
    expect(mutex.held).toBe(true);
    mutex.unlock();
    for (const thread of threads) expect(await thread.says()).toEqual([[true, true]]);
    expect(await notifier.says()).toEqual([4]);
  });

  it('keeps no notification for later', async () => {
    const { mutex, condition } = make();
    expect([condition.notify(), condition.notifyAll(), condition.notify(Infinity)]).toEqual([0, 0, 0]);
    mutex.lock();
    expect(condition.wait({ timeout: 5 })).toBe(false);
    expect(await condition.waitAsync({ timeout: 5 })).toBe(false);
    expect(mutex.held).toBe(true);
  });

  it('does not count those who have given up', async () => {
    const { mutex, condition } = make();
    const abort = new AbortController();
    mutex.lock();
    const first = condition.waitAsync({ signal: abort.signal });
    const second = new Runner(condition, WAITS);
    await until(() => condition.waiting === 2, 'both wait');
    abort.abort('enough');
    await expect(first).rejects.toBe('enough');
    mutex.unlock();
    expect([condition.waiting, condition.notifyAll(), condition.notifyAll()]).toEqual([1, 1, 0]);
    expect(await second.says()).toEqual([[true, true]]);
    expect(condition.inspect()).toMatchObject({ waiting: 0, timeouts: 1, waiters: [] });
    mutex.lock();
    expect(condition.wait({ timeout: 5 })).toBe(false);
  });

  it('counts those behind one who has given up', async () => {
    const { mutex, condition } = make();
    const [thread] = (await waiters(condition, 1)) as [Runner];
    const abort = new AbortController();
    mutex.lock();
    const second = condition.waitAsync({ signal: abort.signal });
    await mutex.lockAsync();
    const third = condition.waitAsync();
    abort.abort('enough');
    expect([condition.notifyAll(), condition.waiting, condition.notifyAll()]).toEqual([2, 0, 0]);
    const ends = [second, third].map((wait) => wait.catch((reason) => reason).finally(() => mutex.unlock()));
    expect(await Promise.all(ends)).toEqual(['enough', true]);
    expect(await thread.says()).toEqual([[true, true]]);
  });

  it('answers false when the time has passed, as the owner, also if another has the mutex then', async () => {
    const { mutex, condition } = make();
    const owner = new Runner(
      condition,
      'mutex.lock(); words[1] = 1; Atomics.wait(words, 0, 0, 300); mutex.unlock(); say(1)',
    );
    mutex.lock();
    expect(condition.wait({ timeout: 0 })).toBe(false);
    expect(condition.wait({ timeout: 100 })).toBe(false);
    expect(mutex.held).toBe(true);
    mutex.unlock();
    await owner.says();
  });

  it('lets the others in while it waits for no time at all', async () => {
    const { mutex, condition } = make();
    const shared = words();
    mutex.lock();
    const other = new Runner(condition, 'mutex.lock(); Atomics.store(words, 0, 1); mutex.unlock(); say(1)', shared);
    for (const end = Date.now() + timeout; Atomics.load(shared, 0) === 0 && Date.now() < end; )
      condition.wait({ timeout: 0 });
    mutex.unlock();
    expect(await other.says()).toEqual([1]);
  });

  it('is used with guards, which unlock once', async () => {
    const { mutex, condition } = make();
    const guard = mutex.hold();
    setTimeout(() => condition.notify(), 5);
    expect(await condition.waitAsync()).toBe(true);
    guard.unlock();
    expect(mutex.locked).toBe(false);
  });
});

describe('Condition.waitFor', () => {
  it('asks only as the owner, and first before any waiting', async () => {
    const { mutex, condition } = make();
    mutex.lock();
    let asked = 0;
    expect(condition.waitFor(() => ++asked === 1)).toBe(true);
    const shared = words();
    new Runner(
      condition,
      'mutex.lock(); words[0] = 1; condition.notify(); words[0] = 2; condition.notify(); mutex.unlock();',
      shared,
    );
    const held: boolean[] = [];
    const ready = (): boolean => {
      held.push(mutex.held);
      return shared[0] === 2;
    };
    expect(condition.waitFor(ready, { timeout })).toBe(true);
    expect(held.every(Boolean)).toBe(true);
    expect(await condition.waitForAsync(ready)).toBe(true);
    expect(mutex.held).toBe(true);
  });

  it('answers what it was told last', async () => {
    const { mutex, condition } = make();
    mutex.lock();
    expect(condition.waitFor(() => false, { timeout: 5 })).toBe(false);
    expect(await condition.waitForAsync(() => false, { timeout: 5 })).toBe(false);
    const end = Date.now() + 20;
    expect(condition.waitFor(() => Date.now() >= end, { timeout: 30 })).toBe(true);
    expect(condition.waitFor(() => false, { timeout: 0 })).toBe(false);
  });

  it('throws what the function throws, and stays the owner', async () => {
    const { mutex, condition } = make();
    mutex.lock();
    const fail = (): boolean => {
      throw new Error('mine');
    };
    expect(() => condition.waitFor(fail)).toThrow('mine');
    await expect(condition.waitForAsync(fail)).rejects.toThrow('mine');
    expect(() => condition.waitFor((async () => true) as never)).toThrow(/must not return a promise/);
    expect(() => condition.waitFor(1 as never)).toThrow(/ready must be a function, got 1/);
    expect(mutex.held).toBe(true);
  });

  it('passes items from thread to thread, each once', async () => {
    const { mutex, condition } = make();
    const shared = words();
    // Word 0 counts items in a buffer of 2, word 1 what was put, word 2 the sum that was taken.
    const both = new Condition(mutex);
    const take = `for (let i = 0; i < 500; i++) {
      mutex.lock();
      condition.waitFor(() => words[0] > 0);
      words[0]--; words[2]++;
      condition.notifyAll();
      mutex.unlock();
    }
    say('done');`;
    const put = `for (let i = 0; i < 500; i++) {
      mutex.lock();
      condition.waitFor(() => words[0] < 2);
      words[0]++; words[1]++;
      condition.notifyAll();
      mutex.unlock();
    }
    say('done');`;
    const all = [put, take, put, take].map((program) => new Runner(condition, program, shared));
    for (const one of all) expect(await one.says()).toEqual(['done']);
    expect([...shared.subarray(0, 3)]).toEqual([0, 1000, 1000]);
    both.dispose();
  });
});

describe('Condition.waitAsync', () => {
  it('rejects with the reason of a signal, as the owner again', async () => {
    const { mutex, condition } = make();
    const abort = new AbortController();
    mutex.lock();
    const waits = condition.waitAsync({ signal: abort.signal });
    expect(mutex.held).toBe(false);
    abort.abort('enough');
    await expect(waits).rejects.toBe('enough');
    expect([mutex.held, condition.waiting]).toEqual([true, 0]);
    await expect(condition.waitAsync({ signal: abort.signal })).rejects.toBe('enough');
    expect(() => condition.wait({ signal: abort.signal })).toThrow('enough');
    expect(mutex.held).toBe(true);
  });

  it('takes turns with other promises of its thread, and is notified by its own thread', async () => {
    const { mutex, condition } = make();
    const order: string[] = [];
    const wait = async (name: string): Promise<void> => {
      await using _ = await mutex.holdAsync();
      expect(await condition.waitAsync()).toBe(true);
      order.push(name);
    };
    const all = [wait('a'), wait('b'), wait('c')];
    await until(() => condition.waiting === 3, 'all wait');
    expect(condition.notify()).toBe(1);
    await all[0];
    expect(order).toEqual(['a']);
    expect(condition.notifyAll()).toBe(2);
    await Promise.all(all);
    expect(order).toEqual(['a', 'b', 'c']);
    expect(mutex.locked).toBe(false);
  });

  it('lets those behind it go on while its event loop is busy', async () => {
    const { mutex, condition } = make();
    const shared = words();
    mutex.lock();
    const promise = condition.waitAsync();
    const [thread] = (await waitersBehind(condition, 1)) as [Runner];
    new Runner(condition, 'Atomics.wait(words, 0, 0); condition.notifyAll();', shared);
    await until(() => Atomics.notify(shared, 0) > 0, 'the notifier is ready');
    // This thread stays busy until the other has the mutex.
    for (const end = Date.now() + timeout; !mutex.locked && Date.now() < end; );
    expect([mutex.locked, mutex.held]).toEqual([true, false]);
    expect(await thread.says()).toEqual(['locked']);
    expect(await promise).toBe(true);
  });
});

async function waitersBehind(condition: Condition, before: number): Promise<Runner[]> {
  const one = new Runner(
    condition,
    `mutex.lock(); condition.wait(); say('locked'); Atomics.wait(words, 1, 0, 300); mutex.unlock();`,
  );
  await until(() => condition.waiting === before + 1, 'it waits');
  return [one];
}

describe('a Condition that ends', () => {
  it('rejects all who wait when it is disposed of, and they are owners again', async () => {
    const { mutex, condition } = make();
    const tell = `mutex.lock();
      try { condition.wait(); } catch (error) { say([error.name, mutex.held]); }
      mutex.unlock();
      say('unlocked');`;
    const threads = await waiters(condition, 2, tell);
    mutex.lock();
    const promise = condition.waitAsync();
    condition.dispose();
    await expect(promise).rejects.toThrow(DisposedError);
    expect(mutex.held).toBe(true);
    mutex.unlock();
    for (const thread of threads) expect(await thread.says(2)).toEqual([['DisposedError', true], 'unlocked']);
    expect(mutex.locked).toBe(false);
    expect([condition.disposed, condition.waiting, String(condition)]).toEqual([true, 0, 'Condition(disposed)']);
    expect(() => condition.notify()).toThrow(DisposedError);
    expect(() => condition.handle).toThrow(DisposedError);
    mutex.lock();
    expect(() => condition.wait()).toThrow(DisposedError);
    expect(mutex.held).toBe(true);
  });

  it('throws when its mutex has been disposed of, and lets the others go on', async () => {
    const { mutex, condition } = make();
    const tell = 'mutex.lock(); try { condition.wait(); } catch (error) { say([error.name, mutex.held]); }';
    const threads = await waiters(condition, 3, tell);
    mutex.dispose();
    expect(condition.notifyAll()).toBe(3);
    for (const thread of threads) expect(await thread.says()).toEqual([['DisposedError', false]]);
    expect(() => new Condition(mutex)).toThrow(DisposedError);
  });

  it('goes on when a waiter dies, and notifies the next in its place', async () => {
    const { condition } = make();
    const [dies, next] = (await waiters(condition, 2)) as [Runner, Runner];
    Arena.default.watch(dies.worker);
    await dies.worker.terminate();
    await until(() => condition.waiting === 1, 'it has been reaped');
    expect(condition.notify()).toBe(1);
    expect(await next.says()).toEqual([[true, true]]);
  });

  it('wakes the next when one dies that has been notified and waits for the mutex', async () => {
    const { mutex, condition } = make();
    const [dies, next] = (await waiters(condition, 2)) as [Runner, Runner];
    mutex.lock();
    expect(condition.notifyAll()).toBe(2);
    await until(() => mutex.waiting >= 1, 'one waits for the mutex');
    await dies.worker.terminate();
    mutex.unlock();
    expect(await next.says()).toEqual([[true, true]]);
  });
});

/** Waits, and is interrupted after so many milliseconds; then the thread goes back to its event loop. */
const INTERRUPTED = (ms: number) => `globalThis.condition = condition;
  mutex.lock();
  try { vm.runInThisContext('condition.wait()', { timeout: ${ms} }); } catch (error) { say(error.code); }
  setInterval(() => {}, 10_000);`;

describe('a Condition at a bad moment', () => {
  it('forgets a waiter whose wait an exception has ended', async () => {
    const { condition } = make();
    const [first] = (await waiters(condition, 1, INTERRUPTED(200))) as [Runner];
    expect(await first.says()).toEqual(['ERR_SCRIPT_EXECUTION_TIMEOUT']);
    await until(() => condition.waiting === 0, 'its request is cancelled');
    const second = new Runner(condition, WAITS);
    await until(() => condition.waiting === 1, 'the next waits');
    expect(condition.notifyAll()).toBe(1);
    expect(await second.says()).toEqual([[true, true]]);
  });

  it('wakes the next though an exception ends the wait of the one that was woken', async () => {
    const { mutex, condition } = make();
    const first = new Runner(condition, INTERRUPTED(1000));
    await until(() => condition.waiting === 1, 'it waits');
    const second = new Runner(condition, WAITS);
    await until(() => condition.waiting === 2, 'the next waits');
    mutex.lock();
    expect(condition.notifyAll()).toBe(2);
    expect(await first.says()).toEqual(['ERR_SCRIPT_EXECUTION_TIMEOUT']);
    mutex.unlock();
    expect(await second.says()).toEqual([[true, true]]);
  });

  it('lets those go on who were notified before it was disposed of', async () => {
    const { condition } = make();
    const threads = await waiters(condition, 3);
    // A thread that has not come to its sleep yet may find only that the condition is closed.
    const sleep = () => condition.inspect().waiters.every(({ waited }) => waited > 0);
    await until(sleep, 'they sleep');
    expect(condition.notifyAll()).toBe(3);
    condition.dispose();
    for (const thread of threads) expect(await thread.says()).toEqual([[true, true]]);
  });

  it('does not block a thread whose promise waits before it', async () => {
    const { mutex, condition } = make();
    mutex.lock();
    const promise = condition.waitAsync();
    await mutex.lockAsync();
    expect(() => condition.wait()).toThrow(/a promise of this thread waits for the mutex or on the condition/);
    expect(mutex.held).toBe(true);
    condition.notify();
    mutex.unlock();
    expect(await promise).toBe(true);
  });

  it.each(['notified', 'late'])(
    'does not block a thread whose promise was %s and does not have the mutex yet',
    async (how) => {
      const { mutex, condition } = make();
      mutex.lock();
      const promise = condition.waitAsync(how === 'late' ? { timeout: 1 } : {});
      mutex.lock();
      if (how === 'notified') expect(condition.notify()).toBe(1);
      else await until(() => condition.waiting === 0, 'it has left');
      expect(() => condition.wait()).toThrow(/a promise of this thread waits for the mutex or on the condition/);
      expect(mutex.held).toBe(true);
      mutex.unlock();
      expect(await promise).toBe(how === 'notified');
      expect(condition.wait({ timeout: 1 })).toBe(false);
      mutex.unlock();
    },
  );

  it.each([Number.NaN, 0, undefined])('is not disposed of because a promise is aborted for %s', async (reason) => {
    const { mutex, condition } = make();
    const controller = new AbortController();
    mutex.lock();
    const promise = condition.waitAsync({ signal: controller.signal });
    controller.abort(reason);
    await expect(promise).rejects.toBe(controller.signal.reason);
    expect([condition.disposed, mutex.held]).toEqual([false, true]);
    mutex.unlock();
  });

  it('does not swallow the death of an owner, of which nobody is told', async () => {
    const { mutex, condition } = make();
    mutex.lock();
    const waits = condition.waitAsync();
    const owner = new Runner(condition, "mutex.lock(); say('locked'); Atomics.wait(words, 0, 0);");
    await owner.says();
    await owner.worker.terminate();
    setTimeout(() => condition.notify(), 5);
    expect(await waits).toBe(true);
    mutex.unlock();
    const next = mutex.hold();
    expect(next.ownerDied).toBe(true);
    next.unlock();
    // With a callback it is told at once, and not again.
    let told = 0;
    mutex.onOwnerDied = (deaths) => {
      told += deaths;
    };
    const again = new Runner(condition, "mutex.lock(); say('locked'); Atomics.wait(words, 0, 0);");
    await again.says();
    const second = condition.waitAsync.bind(condition);
    await again.worker.terminate();
    await mutex.lockAsync();
    expect(told).toBe(1);
    expect(await second({ timeout: 1 })).toBe(false);
    mutex.unlock();
    using last = mutex.hold();
    expect([told, last.ownerDied]).toEqual([1, false]);
  });

  it('is the owner again, however full the arena is', async () => {
    const arena = new Arena({ waiters: 8, objects: 16 });
    const mutex = new Mutex({ arena });
    const condition = new Condition(mutex);
    const semaphore = new Semaphore(0, { arena });
    const guard = mutex.hold();
    const waits = condition.waitAsync();
    const shared = words();
    const owner = new Runner(
      condition,
      "mutex.lock(); say('locked'); Atomics.wait(words, 0, 0); mutex.unlock();",
      shared,
    );
    await owner.says();
    const abort = new AbortController();
    const all: Promise<unknown>[] = [];
    let isFull = false;
    while (!isFull) {
      const waited = semaphore.acquireAsync(1, { signal: abort.signal }).catch((error) => {
        isFull ||= error instanceof ArenaFullError;
      });
      all.push(waited);
      await Promise.race([waited, null]);
      await null;
    }
    condition.notify();
    setTimeout(() => {
      abort.abort();
      Atomics.store(shared, 0, 1);
      Atomics.notify(shared, 0);
    }, 20);
    expect([await waits, mutex.held]).toEqual([true, true]);
    guard.unlock();
    await Promise.all(all);
  });

  it('says that the mutex has been disposed of', async () => {
    const { mutex, condition } = make();
    const { handle } = condition;
    mutex.lock();
    mutex.dispose();
    expect(() => condition.wait()).toThrow(DisposedError);
    await expect(condition.waitAsync()).rejects.toThrow(DisposedError);
    const before = Arena.default.stats().elements.used;
    for (let i = 0; i < 10; i++) expect(() => Condition.from(handle)).toThrow(DisposedError);
    expect(Arena.default.stats().elements.used).toBe(before);
  });
});

describe('a bad use of a Condition', () => {
  it('is refused, and changes nothing', async () => {
    const { mutex, condition } = make();
    expect(() => condition.wait()).toThrow(
      /Condition.wait: this thread is not the owner of the Mutex, so lock it first/,
    );
    expect(() => condition.waitFor(() => true)).toThrow(/not the owner/);
    await expect(condition.waitAsync()).rejects.toThrow(/not the owner/);
    await expect(condition.waitForAsync(() => true)).rejects.toThrow(/not the owner/);
    mutex.lock();
    expect(() => condition.wait({ timeout: -1 })).toThrow(RangeError);
    expect(() => condition.wait({ timeout: 'x' as never })).toThrow(TypeError);
    expect(() => condition.wait(5 as never)).toThrow(TypeError);
    for (const count of [0, -1, 1.5, 2 ** 31, Number.NaN]) expect(() => condition.notify(count)).toThrow(RangeError);
    expect(() => condition.notify('1' as never)).toThrow(/Condition.notify: count must be an integer/);
    expect([mutex.held, condition.waiting]).toEqual([true, 0]);
  });

  it('is refused where a promise of the thread waits for the mutex', async () => {
    const { mutex, condition } = make();
    mutex.lock();
    const promise = mutex.lockAsync();
    expect(() => condition.wait({ timeout: 5 })).toThrow(/a promise of this thread waits for the mutex/);
    expect(mutex.held).toBe(true);
    mutex.unlock();
    await promise;
  });

  it('is refused without a mutex', () => {
    expect(() => new Condition(undefined as never)).toThrow(
      /Condition: mutex must be a Mutex of taketurns, got undefined/,
    );
    expect(() => new Condition(new Semaphore(1) as never)).toThrow(/must be of a Mutex, but it is of a Semaphore/);
    expect(() => Condition.from(new Semaphore(1).handle as never)).toThrow(/must be of a Condition/);
    expect(() => Condition.open('no mutex', undefined as never)).toThrow(TypeError);
    const [one, other] = [make().condition.handle, make().condition.handle];
    expect(() => Condition.from({ ...one, mutex: other.mutex })).toThrow(/its mutex is not that of the condition/);
  });

  it('is refused with the mutex of another arena, though its place is the same', () => {
    const [one, other] = [new Arena(), new Arena()].map((arena) => new Mutex({ arena })) as [Mutex, Mutex];
    const { address, generation } = one.handle;
    expect(other.handle).toMatchObject({ address, generation });
    const mixed = { ...new Condition(one).handle, mutex: other.handle };
    expect(() => Condition.from(mixed)).toThrow(/its mutex is not that of the condition/);
  });
});

describe('the handle of a Condition', () => {
  it('brings the mutex along', () => {
    const { mutex, condition } = make();
    const other = Condition.from(structuredClone(condition.handle));
    other.mutex.lock();
    expect(mutex.held).toBe(true);
    expect(other.wait({ timeout: 1 })).toBe(false);
  });

  it('stands for one object by its name, with one mutex', () => {
    const { mutex } = make();
    const one = Condition.open('by name', mutex);
    const same = Condition.open('by name', Mutex.from(mutex.handle));
    expect(same.handle.address).toBe(one.handle.address);
    expect(() => Condition.open('by name', new Mutex())).toThrow(TypeError);
    expect(() => Condition.open('by name', new Mutex())).toThrow(/"by name" is one of another mutex/);
    expect(() => Condition.open('', mutex)).toThrow(RangeError);
  });

  it('lies in the arena of the mutex', () => {
    const arena = new Arena();
    const mutex = new Mutex({ arena });
    expect(new Condition(mutex).handle.arena).toEqual(mutex.handle.arena);
  });

  it('is shown in a debugger by who waits', async () => {
    const { condition } = make();
    await waiters(condition, 1);
    expect(String(condition)).toBe('Condition(1 waiting)');
    expect(condition.inspect()).toMatchObject({ waiting: 1, timeouts: 0, waiters: [{ blocked: true, requests: 1 }] });
    condition.notify();
  });
});
