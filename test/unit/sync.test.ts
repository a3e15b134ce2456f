/** The objects of taketurns/sync: what a user sees of them. check/src/models/phases.ts searches their interleavings. */
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext, runInThisContext } from 'node:vm';
import { threadId, Worker } from 'node:worker_threads';
import { Arena, ArenaFullError, DisposedError, Semaphore, TimeoutError } from 'taketurns';
import { Barrier, BrokenBarrierError, Event, Latch, Once, WaitGroup } from 'taketurns/sync';
import { describe, expect, it, vi } from 'vitest';
import { shared } from '../support/shared.js';
import { until } from '../support/until.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const WORKER = new URL('../workers/sync.mjs', import.meta.url);
/** For what never happens. */
const timeout = 10_000;

type Call = readonly [method: string, ...args: unknown[]];
type Ended = { readonly method: string; readonly value?: unknown; readonly error?: string };

/** A thread that makes calls on an object, one after the other. */
class Caller {
  readonly worker: Worker;
  readonly ended: Ended[] = [];

  constructor(object: { readonly handle: unknown }, calls: readonly Call[], stays = false) {
    this.worker = new Worker(WORKER, { workerData: { handle: object.handle, calls, stays } });
    this.worker.on('message', (message: Ended | { begins: string }) => {
      if ('method' in message) this.ended.push(message);
    });
  }

  async done(calls = 1): Promise<Ended> {
    await until(() => this.ended.length >= calls, 'the calls have ended');
    return this.ended[calls - 1] as Ended;
  }
}

/** Starts threads that make one call each, and waits until all of them wait. */
async function waiters(object: { readonly handle: unknown; readonly waiting: number }, count: number, ...call: Call) {
  const callers = Array.from({ length: count }, () => new Caller(object, [call]));
  await until(() => object.waiting === count, 'all wait');
  return callers;
}

describe('a name', () => {
  it('stands for objects that began alike', () => {
    Barrier.open('parties', 2);
    Latch.open('count', 3);
    Event.open('event');
    expect(() => Barrier.open('parties', 3)).toThrow(
      'Barrier.open: name "parties": it exists already with number of parties 2, not 3',
    );
    expect(() => Latch.open('count', 2)).toThrow('with first count 3, not 2');
    expect(() => Event.open('event', { set: true })).toThrow('with set false, not true');
  });
});

describe('a Latch', () => {
  it('lets threads and promises go on together when its count is 0', async () => {
    const latch = new Latch(3);
    const threads = await waiters(latch, 2, 'wait');
    const promises = [latch.waitAsync(), latch.waitAsync()];
    expect(latch.waiting).toBe(4);
    const { count, waiters: all } = latch.inspect();
    expect([count, ...all.map(({ calls }) => calls).sort()]).toEqual([3, 1, 1, 2]);
    const ids = [threadId, ...threads.map(({ worker }) => worker.threadId)];
    expect(all.map((waiter) => waiter.threadId).sort()).toEqual(ids.sort());
    const waited = all.map((waiter) => waiter.waited);
    expect(waited).toEqual(waited.toSorted((a, b) => b - a));
    latch.countDown();
    latch.countDown(2);
    expect(await Promise.all(promises)).toEqual([true, true]);
    for (const thread of threads) expect(await thread.done()).toEqual({ method: 'wait', value: true });
    expect(latch.wait()).toBe(true);
    expect([latch.count, latch.waiting]).toEqual([0, 0]);
  });

  it('is open at once with a count of 0', async () => {
    const latch = new Latch(0);
    expect([latch.wait(), await latch.waitAsync()]).toEqual([true, true]);
  });

  it('opens by the calls of other threads, while this one blocks', () => {
    const latch = new Latch(2);
    for (const _ of [1, 2]) new Caller(latch, [['countDown']]);
    expect(latch.wait({ timeout })).toBe(true);
  });

  it('answers false when the time has passed, and rejects with the reason of a signal', async () => {
    const latch = new Latch(1);
    expect(latch.wait({ timeout: 5 })).toBe(false);
    expect(latch.wait({ timeout: 0 })).toBe(false);
    expect(await latch.waitAsync({ timeout: 5 })).toBe(false);
    const abort = new AbortController();
    const promise = latch.waitAsync({ signal: abort.signal });
    abort.abort(new Error('enough'));
    await expect(promise).rejects.toThrow('enough');
    expect(() => latch.wait({ signal: abort.signal })).toThrow('enough');
    expect(latch.waiting).toBe(0);
    latch.countDown();
    expect(await latch.waitAsync({ timeout: 0 })).toBe(true);
  });

  it('takes no more than its count', () => {
    const latch = new Latch(2);
    expect(() => latch.countDown(3)).toThrow(
      new RangeError('Latch.countDown: n must be at most the count, which is 2, got 3'),
    );
    expect(latch.count).toBe(2);
    for (const bad of [0, -1, 1.5, '1', 2 ** 30])
      expect(() => latch.countDown(bad as number)).toThrow(/Latch.countDown: n/);
    for (const bad of [-1, 1.5, '1', 2 ** 30, undefined])
      expect(() => new Latch(bad as number)).toThrow(/Latch: count/);
    expect(() => new Latch(1, null as never)).toThrow('Latch: options must be of { arena }, got null');
    expect(() => new Latch(1, { spin: 0 } as object)).toThrow('Latch: options must be of { arena }, got "spin"');
  });

  it('that was opened and disposed of lets those go on who waited', async () => {
    const latch = new Latch(1);
    const threads = await waiters(latch, 2, 'wait');
    const promise = latch.waitAsync();
    latch.countDown();
    latch.dispose();
    expect(await promise).toBe(true);
    for (const thread of threads) expect(await thread.done()).toEqual({ method: 'wait', value: true });
  });
});

describe('an Event', () => {
  it('keeps those waiting who come after reset, and lets those go on who came before', async () => {
    const event = new Event();
    const [thread] = await waiters(event, 1, 'wait');
    const promise = event.waitAsync();
    event.set();
    event.reset();
    expect(await promise).toBe(true);
    expect(await thread?.done()).toEqual({ method: 'wait', value: true });
    expect(event.isSet).toBe(false);
    expect(event.wait({ timeout: 5 })).toBe(false);
    event.set();
    event.set();
    expect([event.isSet, event.wait(), event.inspect().isSet]).toEqual([true, true, true]);
    event.reset();
    event.reset();
    event.set();
    expect(event.isSet).toBe(true);
  });

  it('may be set from the start', () => {
    expect(new Event({ set: true }).wait()).toBe(true);
    expect(() => new Event({ set: 1 as never })).toThrow('Event: set must be true or false, got 1');
  });
});

describe('a WaitGroup', () => {
  it('is waited for until all tasks are done, again and again', async () => {
    const group = new WaitGroup();
    for (const _ of [1, 2]) {
      group.add(3);
      const [thread] = await waiters(group, 1, 'wait');
      const promise = group.waitAsync();
      group.done(2);
      expect(group.pending).toBe(1);
      group.done();
      expect(await promise).toBe(true);
      expect(await thread?.done()).toEqual({ method: 'wait', value: true });
    }
    expect(() => group.done()).toThrow(
      new RangeError('WaitGroup.done: n must be at most the pending tasks, which are 0, got 1'),
    );
    group.add(2 ** 30 - 1);
    expect(() => group.add()).toThrow(/WaitGroup.add: there may be 1073741823 tasks/);
    expect(group.pending).toBe(2 ** 30 - 1);
  });

  it('counts tasks of hold and run until they are over', async () => {
    const group = new WaitGroup();
    const held = group.hold();
    let end = (): void => {};
    const run = group.run(() => new Promise<void>((resolve) => (end = resolve)));
    expect(group.inspect()).toMatchObject({ pending: 2, deaths: 0, holders: [{ tasks: 2 }] });
    held.done();
    held.done();
    expect([group.pending, held.held]).toEqual([1, false]);
    end();
    await run;
    expect(group.pending).toBe(0);
    await expect(group.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await expect(group.run(5 as never)).rejects.toThrow('WaitGroup.run: task must be a function, got 5');
    expect(group.pending).toBe(0);
    expect(await group.run(() => 7)).toBe(7);
  });

  it('gets the tasks of a dead thread back, and not those of others', async () => {
    const group = new WaitGroup();
    group.add();
    const caller = new Caller(group, [['hold'], ['hold']], true);
    await caller.done(2);
    expect(group.pending).toBe(3);
    caller.worker.terminate();
    await until(() => group.pending === 1, 'the tasks of the dead are done');
    await until(() => group.deaths === 1, 'the death is counted');
    const last = new Caller(group, [['hold']], true);
    await last.done();
    group.done();
    last.worker.terminate();
    expect(group.wait({ timeout }), 'while this thread blocks').toBe(true);
  });
});

describe('a Barrier', () => {
  it('lets all go on when the last has come, round after round', async () => {
    const barrier = new Barrier(3);
    const threads = [1, 2].map(() => new Caller(barrier, [['arriveAndWait'], ['arriveAndWait'], ['leave']], true));
    const first = barrier.arriveAndWait({ timeout });
    const second = await barrier.arriveAndWaitAsync({ timeout });
    for (const [round, own] of [first, second].entries()) {
      const others = await Promise.all(threads.map((thread) => thread.done(round + 1)));
      expect([own, ...others.map(({ value }) => value as number)].sort()).toEqual([0, 1, 2]);
    }
    await Promise.all(threads.map((thread) => thread.done(3)));
    expect(barrier.inspect()).toMatchObject({ parties: 3, arrived: 0, broken: false, waiters: [] });
    expect(barrier.inspect().members).toHaveLength(1);
    for (const { worker } of threads) await worker.terminate();
    await sleep(50);
    expect(barrier.broken).toBe(false);
  });

  it('runs the action of the last to come before the others go on', async () => {
    const log: string[] = [];
    const barrier = new Barrier(2, { action: () => log.push('action') });
    const arrivals = [1, 2].map(async (i) => {
      await barrier.arriveAndWaitAsync();
      log.push(`${i} goes on`);
    });
    await Promise.all(arrivals);
    expect(log[0]).toBe('action');
    expect(log).toHaveLength(3);
  });

  it('is broken for ever by one that gives up', async () => {
    const barrier = new Barrier(4);
    const [thread] = await waiters(barrier, 1, 'arriveAndWait');
    const promise = barrier.arriveAndWaitAsync();
    expect(() => barrier.arriveAndWait({ timeout: 5 })).toThrow(TimeoutError);
    await expect(promise).rejects.toThrow(BrokenBarrierError);
    expect(await thread?.done()).toEqual({ method: 'arriveAndWait', error: 'BrokenBarrierError' });
    expect(barrier.broken).toBe(true);
    expect(() => barrier.arriveAndWait()).toThrow(BrokenBarrierError);
    await expect(barrier.arriveAndWaitAsync()).rejects.toThrow(BrokenBarrierError);
  });

  it('is broken by a signal and by an action that throws', async () => {
    const one = new Barrier(2);
    const abort = new AbortController();
    const promise = one.arriveAndWaitAsync({ signal: abort.signal });
    abort.abort(new Error('enough'));
    await expect(promise).rejects.toThrow('enough');
    expect(one.broken).toBe(true);
    const two = new Barrier(2, {
      action: () => {
        throw new Error('no');
      },
    });
    const first = two.arriveAndWaitAsync();
    expect(() => two.arriveAndWait()).toThrow('no');
    await expect(first).rejects.toThrow(BrokenBarrierError);
  });

  it('is broken by the death of one that has come once, while this thread blocks', async () => {
    const barrier = new Barrier(2);
    const caller = new Caller(barrier, [['arriveAndWait']], true);
    barrier.arriveAndWait({ timeout });
    await caller.done();
    caller.worker.terminate();
    expect(() => barrier.arriveAndWait({ timeout })).toThrow(BrokenBarrierError);
  });

  it('counts its rounds, and not the one in which it was broken', async () => {
    const barrier = new Barrier(2);
    for (let round = 0; round < 3; round++) {
      expect([barrier.round, barrier.inspect().round]).toEqual([round, round]);
      const rounds = [barrier.arriveAndWaitAsync(), barrier.arriveAndWaitAsync()];
      await Promise.all(rounds);
    }
    await expect(barrier.arriveAndWaitAsync({ timeout: 1 })).rejects.toThrow(TimeoutError);
    expect([barrier.broken, barrier.round]).toEqual([true, 3]);
    expect(`${barrier}`).toBe('Barrier(broken, 0 waiting)');
    barrier.dispose();
    expect(barrier.round).toBe(0);
  });

  it('refuses a bad number of parties', () => {
    for (const bad of [0, 65_536, 1.5, '2', undefined])
      expect(() => new Barrier(bad as number)).toThrow(/Barrier: parties/);
    expect(() => new Barrier(2, { action: 5 as never })).toThrow('Barrier: action must be a function, got 5');
    expect(new Barrier(1).arriveAndWait()).toBe(0);
  });
});

describe('a Once', () => {
  it('is run by one, and the others wait for that', async () => {
    const once = new Once();
    let end = (): void => {};
    const run = once.runAsync(() => new Promise<void>((resolve) => (end = resolve)));
    const [thread] = await waiters(once, 1, 'run', { code: '' });
    const promise = once.runAsync(() => {});
    expect(once.inspect()).toMatchObject({ done: false, deaths: 0, waiters: [{ calls: 1 }, { calls: 1 }] });
    expect(once.inspect().runner).toBeTypeOf('number');
    expect(() => once.run(() => {}, { timeout: 5 })).toThrow(TimeoutError);
    end();
    expect([await run, await promise]).toEqual([true, false]);
    expect(await thread?.done()).toEqual({ method: 'run', value: false });
    expect([once.done, once.run(() => {})]).toEqual([true, false]);
  });

  it('is not poisoned by one that fails', async () => {
    const once = new Once();
    expect(() =>
      once.run(() => {
        throw new Error('no');
      }),
    ).toThrow('no');
    await expect(once.runAsync(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(() => once.run((() => Promise.resolve()) as () => void)).toThrow('use runAsync');
    expect(once.done).toBe(false);
    expect(once.run(() => {})).toBe(true);
    expect(once.done).toBe(true);
    expect(() => once.run(5 as never)).toThrow('Once.run: fn must be a function, got 5');
  });

  it('that is done and disposed of just afterwards lets those go on who waited', async () => {
    const once = new Once();
    const first = once.runAsync(async () => {});
    const [second, third] = [once.runAsync(() => {}), once.runAsync(() => {})];
    expect(await first).toBe(true);
    once.dispose();
    expect([await second, await third]).toEqual([false, false]);
    await expect(once.runAsync(() => {})).rejects.toThrow(DisposedError);
    expect(() => once.run(() => {})).toThrow(DisposedError);
  });

  it('that fails and is disposed of just afterwards does not count as done', async () => {
    const once = new Once();
    const first = once.runAsync(() => Promise.reject(new Error('no')));
    const second = once.runAsync(() => {}).catch(({ name }) => name);
    await first.catch(() => once.dispose());
    expect(['DisposedError', true]).toContain(await second);
  });

  it('is run by another if its thread dies', async () => {
    const once = new Once();
    const caller = new Caller(once, [
      ['run', { code: 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)' }],
    ]);
    await until(() => once.inspect().runner !== undefined, 'it is run');
    caller.worker.terminate();
    expect(once.run(() => {}, { timeout })).toBe(true);
    await until(() => once.inspect().deaths === 1, 'the death is counted');
  });
});

describe('a Once that would wait for itself', () => {
  it('says so, and nothing has changed', async () => {
    const once = new Once();
    const message = 'Once.run: this thread or a promise of it runs the Once already, and would wait for itself';
    expect(() => once.run(() => void once.run(() => {}))).toThrow(message);
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const first = once.runAsync(() => ended);
    expect(() => once.run(() => {})).toThrow(message);
    const second = once.runAsync(() => {});
    end();
    expect([await first, await second, once.done]).toEqual([true, false, true]);
  });

  it('is run by another when the runtime has interrupted its function', async () => {
    const once = new Once();
    Object.assign(globalThis, { onceForTest: once });
    const interrupted = () => runInThisContext('onceForTest.run(() => { for (;;); })', { timeout: 50 });
    expect(interrupted).toThrow(/timed out/);
    const other = new Caller(once, [['run', { code: '' }]]);
    expect(await other.done()).toEqual({ method: 'run', value: true });
    expect(once.done).toBe(true);
  });
});

describe('at a bad moment', () => {
  it('a round that was broken is broken, though the barrier is disposed of before the promises hear of it', async () => {
    const barrier = new Barrier(3);
    const promise = barrier.arriveAndWaitAsync();
    const gone = barrier.arriveAndWaitAsync({ timeout: 1 }).catch((error: Error) => {
      barrier.dispose();
      return error.name;
    });
    await expect(promise).rejects.toThrow(BrokenBarrierError);
    expect(await gone).toBe('TimeoutError');
  });

  it('a round is not complete when it is aborted after another thread has disposed of the barrier', async () => {
    const barrier = new Barrier(2);
    const abort = new AbortController();
    const promise = barrier.arriveAndWaitAsync({ signal: abort.signal });
    Barrier.from(barrier.handle)[Symbol.dispose]();
    abort.abort();
    await expect(promise).rejects.toThrow(DisposedError);
  });

  it('another thread disposes, and nothing is set, done or broken by that', async () => {
    const [event, once, barrier] = [new Event(), new Once(), new Barrier(2)];
    for (const object of [event, once, barrier]) await new Caller(object, [['dispose']]).done();
    expect([event.isSet, once.done, barrier.broken]).toEqual([false, false, false]);
  });

  it('an opening counts that came before the abort or the end of the time', async () => {
    const event = new Event();
    const abort = new AbortController();
    const waits = [event.waitAsync({ signal: abort.signal }), event.waitAsync({ timeout: 20 })];
    event.set();
    event.reset();
    abort.abort();
    for (const end = performance.now() + 40; performance.now() < end; );
    expect(await Promise.all(waits)).toEqual([true, true]);
  });

  it('a signal that is aborted between two waits of a call is heard', async () => {
    const once = new Once();
    const abort = new AbortController();
    let fail = (): void => {};
    const first = once.runAsync(() => new Promise<void>((_, reject) => (fail = () => reject(new Error('no')))));
    const second = once.runAsync(() => {
      abort.abort(new Error('enough'));
      return new Promise<void>(() => {});
    });
    const third = once.runAsync(() => {}, { signal: abort.signal });
    fail();
    await expect(first).rejects.toThrow('no');
    await expect(third).rejects.toThrow('enough');
    second.catch(() => {});
    once.dispose();
  });

  it('warns once of a function of runAsync that calls it again, and of nothing else', async () => {
    const warnings: string[] = [];
    const emit = vi.spyOn(process, 'emitWarning').mockImplementation((text) => void warnings.push(String(text)));
    try {
      const once = new Once();
      const again = Once.from(once.handle);
      const inner: Promise<boolean>[] = [];
      await once.runAsync(async () => {
        const { signal } = new AbortController();
        inner.push(
          once.runAsync(() => {}, { timeout: 10_000 }),
          once.runAsync(() => {}, { signal }),
        );
        expect(warnings).toEqual([]);
        inner.push(
          once.runAsync(() => {}),
          once.runAsync(() => {}),
        );
        expect(warnings.length).toBe(1);
        expect(warnings[0]).toMatch(/^Once: a function that runAsync runs .* it waits for itself$/);
        inner.push(again.runAsync(() => {}));
        expect(warnings.length).toBe(2);
        await null;
        inner.push(Once.from(once.handle).runAsync(() => {}));
      });
      expect(await Promise.all(inner)).toEqual(inner.map(() => false));
      const other = new Once();
      const failed = other.runAsync(() => {
        throw new Error('no');
      });
      await expect(failed).rejects.toThrow('no');
      const [first, second] = [other.runAsync(async () => {}), other.runAsync(() => {})];
      expect(await Promise.all([first, second, once.runAsync(() => {})])).toEqual([true, false, false]);
      expect(warnings.length).toBe(2);
    } finally {
      emit.mockRestore();
    }
  });

  it('a wait that is over leaves nothing pending, so that its object is freed', async () => {
    const arena = new Arena({ objects: 64 });
    for (let i = 0; i < 200; i++) {
      await new Event({ arena }).waitAsync({ timeout: 1 });
      if (i % 16 === 0) collect();
      await sleep(0);
    }
  });

  it('calls that wait again at once start one Atomics.waitAsync each time, and not more and more', async () => {
    const { waitAsync } = Atomics;
    let calls = 0;
    Atomics.waitAsync = ((...args: Parameters<typeof waitAsync>) => {
      calls++;
      return waitAsync.apply(Atomics, args);
    }) as typeof waitAsync;
    try {
      const event = new Event();
      const waits = [event.waitAsync()];
      for (let i = 0; i < 50; i++) {
        event.set();
        event.reset();
        waits.push(event.waitAsync());
        await sleep(1);
      }
      event.set();
      await Promise.all(waits);
    } finally {
      Atomics.waitAsync = waitAsync;
    }
    expect(calls).toBeLessThan(100);
  });

  it('options that look at another object change nothing', () => {
    const [event, other] = [new Event(), new Latch(1)];
    other.countDown();
    const options = {
      get timeout() {
        other.wait({ timeout: 0 });
        return 5;
      },
    };
    expect(event.wait(options)).toBe(false);
  });

  it('a done too many does not leave a record of the task behind', () => {
    const group = new WaitGroup();
    const held = group.hold();
    group.done();
    held.done();
    expect(group.inspect()).toMatchObject({ pending: 0, holders: [] });
  });

  it('a function that returns a promise is refused where nobody would wait for that', () => {
    const once = new Once();
    const fails = () => Promise.reject(new Error('nobody hears this'));
    expect(() => once.run(fails as unknown as () => void)).toThrow('use runAsync');
    const barrier = new Barrier(1, { action: fails as unknown as () => void });
    expect(() => barrier.arriveAndWait()).toThrow('Barrier: action must not return a promise');
    expect(barrier.broken).toBe(true);
  });

  it('a signal that takes no listener rejects with its error', async () => {
    const signal = {
      aborted: false,
      reason: undefined,
      addEventListener() {
        throw new Error('no listeners');
      },
      removeEventListener() {},
    };
    await expect(new Latch(1).waitAsync({ signal })).rejects.toThrow('no listeners');
  });
});

const kinds = [
  ['Latch', () => new Latch(1), Latch, [1], 'wait'],
  ['Event', () => new Event(), Event, [], 'wait'],
  ['WaitGroup', () => new WaitGroup(), WaitGroup, [], 'wait'],
  ['Barrier', () => new Barrier(3), Barrier, [3], 'arriveAndWait'],
  ['Once', () => new Once(), Once, [], 'run'],
] as const;

describe.each(kinds)('%s', (kind, make, Class, args, wait) => {
  const find = (handle: unknown) => Class.from(handle as never);
  const open = (...given: unknown[]) => (Class.open as (...given: unknown[]) => { dispose(): void })(...given);

  it('is shared by handle and by name', () => {
    const object = make();
    expect(object.handle.kind).toBe(kind);
    expect(find(object.handle)).toBeInstanceOf(Class);
    expect(() => find(new Semaphore(1).handle)).toThrow(`must be of a ${kind}, but it is of a Semaphore`);
    expect(() => Semaphore.from(object.handle as never)).toThrow(`but it is of a ${kind}`);
    const named = open(`sync ${kind}`, ...args);
    open(`sync ${kind}`, ...args);
    named.dispose();
  });

  it('tells those who wait that it is disposed of', async () => {
    const object = make();
    if (kind === 'WaitGroup') (object as WaitGroup).add();
    if (kind === 'Once') (object as Once).runAsync(() => new Promise<void>(() => {})).catch(() => {});
    const given = kind === 'Once' ? [{ code: '' }] : [];
    const [thread] = await waiters(object, 1, wait, ...given);
    const promise = (object as unknown as Record<string, (fn: () => void) => Promise<unknown>>)[
      kind === 'Once' ? 'runAsync' : `${wait}Async`
    ]?.call(object, ...((kind === 'Once' ? [() => {}] : []) as [() => void]));
    object.dispose();
    await expect(promise).rejects.toThrow(DisposedError);
    expect(await thread?.done()).toEqual({ method: wait, error: 'DisposedError' });
    expect(object.disposed).toBe(true);
    expect(() => object.handle).toThrow(DisposedError);
    expect(object.waiting).toBe(0);
    object.dispose();
  });

  it('rejects its promises when the thread leaves the arena', async () => {
    const arena = new Arena();
    const object = new (Class as new (...given: unknown[]) => InstanceType<typeof Class>)(...args, { arena });
    if (kind === 'WaitGroup') (object as WaitGroup).add();
    if (kind === 'Once') (object as Once).runAsync(() => new Promise<void>(() => {})).catch(() => {});
    const method = kind === 'Once' ? 'runAsync' : `${wait}Async`;
    const given = kind === 'Once' ? [() => {}] : [];
    const promise = (object as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>)[method]?.call(
      object,
      ...given,
    );
    arena.dispose();
    await expect(promise).rejects.toThrow(DisposedError);
    expect(object.disposed).toBe(true);
  });

  it('takes no room when it has been disposed of', () => {
    const arena = new Arena({ objects: 2, threads: 2, waiters: 8 });
    for (let i = 0; i < 1000; i++)
      new (Class as new (...given: unknown[]) => { dispose(): void })(...args, { arena }).dispose();
    expect(arena.stats().objects.used).toBe(0);
    const kept = [1, 2].map(() => shared(new (Class as new (...given: unknown[]) => Latch)(...args, { arena })));
    expect(() => new (Class as new (...given: unknown[]) => object)(...args, { arena })).toThrow(ArenaFullError);
    expect(kept).toHaveLength(2);
  });
});
