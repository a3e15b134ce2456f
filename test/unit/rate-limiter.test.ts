/** RateLimiter of threads: never one over in any window, in the order of the calls, also if threads die. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Arena, ArenaFullError, CancelledError, DisposedError, Semaphore, TimeoutError } from 'taketurns';
import { RateLimiter } from 'taketurns/keyed';
import { describe, expect, it, vi } from 'vitest';
import { R_PAGE } from '../../src/border/numbers.js';
import { Cells, SCHEDULE } from '../../src/common/schedule.js';
import { LOCK, NUMBERS, whoIs } from '../../src/look/rate-page.js';
import { commonClock } from '../../src/runtime/rate-clock.js';
import { copy } from '../support/copies.js';
import { recruit } from '../support/dying.js';
import { failure } from '../support/failure.js';
import { membershipOf } from '../support/membership.js';
import { runProgram } from '../support/program.js';
import { roundsInCi } from '../support/rounds.js';
import { watch } from '../support/settled.js';
import { turn, until } from '../support/until.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Longer than any test. */
const LONG = 1_000_000;

const fresh = (permits: number, per: number, burst = permits) => {
  const arena = new Arena();
  return { arena, limiter: new RateLimiter(permits, per, { burst, arena }) };
};

/** A thread that lives, and can stop while it has the lock of a limiter. */
async function stopped(arena: Arena, limiter: RateLimiter) {
  const other = recruit(arena, false);
  limiter.spend(1);
  const waits = failure(() => other.run('rates', { handle: limiter.handle, does: 'wait' }));
  await until(() => limiter.waiting === 1, 'it waits');
  const thread = limiter.inspect().waiters[0]?.thread ?? 0;
  limiter.cancelAll();
  await waits;
  limiter.spend(-1);
  const words = new Int32Array(arena.handle.memory.buffer);
  const lock = (words[(limiter.handle.address + R_PAGE) / 4] as number) / 4 + LOCK;
  const who = whoIs(thread, membershipOf(arena).core.lifeIfAlive(thread));
  return {
    stops: () => Atomics.store(words, lock, who),
    goesOn: () => Atomics.store(words, lock, 0),
    kill: () => other.kill(),
  };
}

describe('a rate limiter', () => {
  it('gives a burst, and then nothing until the window is over', async () => {
    const { limiter } = fresh(5, LONG);
    limiter.take(2);
    await limiter.takeAsync();
    expect([limiter.tryTake(3), limiter.tryTake(2), limiter.tryTake()]).toEqual([false, true, false]);
    expect(limiter.inspect()).toEqual({
      permits: 5,
      per: LONG,
      burst: 5,
      taken: 5,
      waiting: 0,
      timeouts: 0,
      waiters: [],
    });
    expect(String(limiter)).toBe('RateLimiter(5 in 1000000 ms, 0 waiting)');
    expect(await failure(() => limiter.take({ timeout: 5 }))).toBeInstanceOf(TimeoutError);
    expect(await failure(() => limiter.takeAsync(2, { timeout: 5 }))).toBeInstanceOf(TimeoutError);
    expect(await failure(() => limiter.take(1, { timeout: 0 }))).toBeInstanceOf(TimeoutError);
    expect(await failure(() => limiter.takeAsync({ timeout: 0 }))).toBeInstanceOf(TimeoutError);
    expect(limiter.inspect()).toMatchObject({ taken: 5, waiting: 0, timeouts: 4 });
    limiter.dispose();
  });

  it('gives one permit at a time without a burst', () => {
    const { limiter } = fresh(5, LONG, 1);
    expect([limiter.tryTake(), limiter.tryTake()]).toEqual([true, false]);
  });

  it('goes on when the window is over, in the order of the calls', async () => {
    const { limiter } = fresh(2, 300);
    limiter.take(2);
    const order: number[] = [];
    const waits = [1, 2, 1, 2].map((permits, i) => watch(limiter.takeAsync(permits), i, order));
    expect(limiter.waiting).toBe(4);
    expect(limiter.tryTake()).toBe(false);
    await until(() => waits.every(({ state }) => state === 'fulfilled'), 'all go');
    expect(order).toEqual([0, 1, 2, 3]);
    limiter.take(2);
    expect(limiter.inspect().taken).toBe(2);
  });

  it('lets those behind move up when a request leaves', async () => {
    const { limiter } = fresh(3, 50);
    limiter.take(2);
    const abortion = new AbortController();
    const heavy = failure(() => limiter.takeAsync(3, { signal: abortion.signal }));
    const light = limiter.takeAsync();
    await turn();
    abortion.abort(new SyntaxError('enough'));
    expect((await heavy).message).toBe('enough');
    await light;
  });

  it('ends waits by cancelAll and by dispose', async () => {
    const { limiter } = fresh(1, LONG);
    limiter.take();
    const reason = new Error('over');
    const cancelled = [limiter.takeAsync(), limiter.takeAsync(), limiter.takeAsync()].map((wait) =>
      failure(() => wait),
    );
    limiter.cancelAll(reason);
    for (const error of await Promise.all(cancelled)) expect(error).toBeInstanceOf(CancelledError);
    const slept = failure(() => limiter.takeAsync());
    await turn();
    limiter.cancelAll(reason);
    expect((await slept).cause).toBe(reason);
    const disposed = [limiter.takeAsync(), limiter.takeAsync()].map((wait) => failure(() => wait));
    await turn();
    limiter.dispose();
    for (const error of await Promise.all(disposed)) expect(error).toBeInstanceOf(DisposedError);
    expect(() => limiter.take()).toThrow(DisposedError);
    expect(() => limiter.tryTake()).toThrow(DisposedError);
    expect([limiter.waiting, String(limiter)]).toEqual([0, 'RateLimiter(disposed)']);
  });

  it('gives the reason of cancelAll to a promise that has the turn and has not gone on', async () => {
    const { limiter } = fresh(1, LONG);
    limiter.take();
    const reason = new Error('over');
    limiter.takeAsync({ timeout: 5 }).catch(() => limiter.cancelAll(reason));
    expect((await failure(() => limiter.takeAsync())).cause).toBe(reason);
  });

  it('gives no reason of an earlier cancelAll to a promise that another thread cancels', async () => {
    const { arena, limiter } = fresh(1, LONG);
    limiter.take();
    limiter.cancelAll(new Error('before'));
    const other = recruit(arena, false);
    const cancelled = failure(() => limiter.takeAsync());
    await other.run('rates', { handle: limiter.handle, does: 'cancel' });
    const error = await cancelled;
    expect(error).toBeInstanceOf(CancelledError);
    expect('cause' in error).toBe(false);
    await other.kill();
  });

  it('says in the error of a time-out how many wait', async () => {
    const { limiter } = fresh(1, LONG);
    limiter.take();
    const longer = failure(() => limiter.takeAsync());
    const few = await failure(() => limiter.takeAsync({ timeout: 1 }));
    expect(few.message).toBe('timed out after 1 ms waiting for 1 permit of the RateLimiter (1 waiting)');
    limiter.cancelAll();
    await longer;
  });

  it('lets a thread block while a promise of it waits in front', async () => {
    const { limiter } = fresh(1, 30);
    limiter.take();
    const first = limiter.takeAsync();
    limiter.take();
    await first;
  });

  it('calls the signal while others may use the limiter, and listens no more when the request ended meanwhile', async () => {
    const { limiter } = fresh(1, LONG);
    limiter.take();
    const { signal } = new AbortController();
    const seen: unknown[] = [];
    const listeners = new Set<unknown>();
    const add = (_: string, listener: unknown): void => {
      listeners.add(listener);
      seen.push(limiter.waiting, limiter.tryTake(), limiter.inspect().taken);
      limiter.cancelAll();
    };
    Object.defineProperty(signal, 'addEventListener', { value: add });
    Object.defineProperty(signal, 'removeEventListener', {
      value: (_: string, listener: unknown) => listeners.delete(listener),
    });
    expect(await failure(() => limiter.takeAsync({ signal }))).toBeInstanceOf(CancelledError);
    expect(seen).toEqual([1, false, 1]);
    expect([...listeners]).toEqual([]);
    expect(limiter.waiting).toBe(0);
  });

  it('says that it has been disposed of, also when another limiter of fewer permits has its memory', async () => {
    const arena = new Arena({ objects: 1, bytes: 4096 });
    const limiter = new RateLimiter(5, LONG, { arena });
    limiter.dispose();
    const other = new RateLimiter(3, LONG, { arena });
    expect(await failure(() => limiter.take(5))).toBeInstanceOf(DisposedError);
    expect(await failure(() => limiter.takeAsync(5))).toBeInstanceOf(DisposedError);
    expect(await failure(() => limiter.dueIn(5))).toBeInstanceOf(DisposedError);
    expect(limiter.toString()).toBe('RateLimiter(disposed)');
    expect(other.inspect().taken).toBe(0);
  });

  it('calls a function for each of its permits', async () => {
    const { limiter } = fresh(2, LONG);
    const double = limiter.limit(async function (this: { by: number }, n: number) {
      return n * this.by;
    });
    expect(await double.call({ by: 2 }, 4)).toBe(8);
    expect(limiter.inspect().taken).toBe(1);
  });

  it.each([
    [() => new RateLimiter(0, 1), 'RateLimiter: permits must be an integer from 1 to 2147483647, got 0'],
    [() => new RateLimiter(1, 2 ** 31), 'RateLimiter: per must be an integer from 1 to 2147483647, got 2147483648'],
    [
      () => new RateLimiter(2, 1, { burst: 3 }),
      'RateLimiter: burst must be an integer from 1 to 2 (its permits), got 3',
    ],
    [
      () => fresh(2, 1).limiter.take(3),
      'RateLimiter.take: permits must be an integer from 1 to 2 (its permits), got 3',
    ],
    [
      () => fresh(2, 1).limiter.tryTake(0),
      'RateLimiter.tryTake: permits must be an integer from 1 to 2 (its permits), got 0',
    ],
    [() => fresh(2, 1).limiter.take({ timeout: -1 }), 'RateLimiter.take: timeout must be'],
    [() => new RateLimiter(1, 1, { bursts: 1 } as never), 'perhaps burst'],
  ])('says what is wrong with an argument (%#)', (call, text) => {
    expect(call).toThrow(text);
  });

  it('is one in all threads, by its name and by its handle, and leaves nothing', async () => {
    const arena = new Arena();
    const limiter = RateLimiter.open('rate', 200, LONG, { burst: 200, arena });
    expect(() => RateLimiter.open('rate', 200, LONG, { burst: 2, arena })).toThrow(
      /it exists already with (permits|burst) 200, not 2/,
    );
    expect(() => RateLimiter.open('rate', 2, LONG, { arena })).toThrow(
      /it exists already with (permits|burst) 200, not 2/,
    );
    RateLimiter.open('rate', 200, LONG, { burst: 200, arena }).take(100);
    const other = recruit(arena, false);
    expect(await other.run('rates', { handle: limiter.handle, does: 'try', permits: [100, 1] })).toEqual([true, false]);
    expect([limiter.tryTake(), limiter.inspect().taken]).toEqual([false, 200]);
    await other.kill();
    limiter.dispose();
    expect(arena.stats().objects.used).toBe(0);
  });

  it('gives no permit too many because a collection has taken its library objects', async () => {
    const arena = new Arena();
    const taken = () => RateLimiter.open('collected', 2, LONG, { burst: 2, arena }).tryTake();
    const given: boolean[] = [];
    for (let i = 0; i < 5; i++) {
      given.push(taken());
      for (let j = 0; j < 3; j++) {
        await turn();
        collect();
      }
    }
    expect(given).toEqual([true, true, false, false, false]);
  });

  it('goes with its library objects when its permits do not count any more', async () => {
    const arena = new Arena();
    for (let i = 0; i < 5; i++) RateLimiter.open(`collected ${i}`, 1, 20, { arena }).take();
    for (let i = 0; i < 500 && arena.stats().objects.used > 0; i++) {
      await turn();
      collect();
      // A thread that attaches to an object looks at others.
      new Semaphore(1, { arena }).dispose();
    }
    expect(arena.stats().objects.used).toBe(0);
  });

  it('leaves nothing when the arena has no room for it', () => {
    const arena = new Arena({ objects: 12, bytes: 4 * 4096 });
    const limiters: RateLimiter[] = [];
    const make = () => limiters.push(new RateLimiter(1, LONG, { arena }));
    expect(() => {
      for (;;) make();
    }).toThrow(/no page of 4096 bytes|no room for another object/);
    expect(arena.stats().objects.used).toBe(limiters.length);
    limiters.pop()?.dispose();
    make();
    expect(make).toThrow(ArenaFullError);
    for (const limiter of limiters) limiter.dispose();
    expect(arena.stats().objects.used).toBe(0);
  });

  it('rejects promises for which the arena has no sleeper, and goes on when it has one', async () => {
    const arena = new Arena({ objects: 3, waiters: 8 });
    const limiter = new RateLimiter(1, 300, { arena });
    const semaphore = new Semaphore(0, { arena });
    let isFull = false;
    // Requests for the same number of permits would share a waiter.
    for (let i = 0; !isFull; i++)
      await Promise.race([
        turn(),
        semaphore.acquireAsync(1 + (i % 2)).catch((error) => {
          if (error instanceof ArenaFullError) isFull = true;
        }),
      ]);
    limiter.take();
    const rejected = [limiter.takeAsync(), limiter.limit(() => {})()].map((wait) => failure(() => wait));
    for (const error of await Promise.all(rejected)) expect(error).toBeInstanceOf(ArenaFullError);
    expect(limiter.inspect()).toMatchObject({ waiting: 0, taken: 1 });
    semaphore.cancelAll();
    await limiter.takeAsync();
  });

  it('rejects promises for which the arena has no place to sleep in', async () => {
    const arena = new Arena({ objects: 1, bytes: 4096 });
    const limiter = new RateLimiter(1, LONG, { arena });
    limiter.take();
    expect(await failure(() => limiter.takeAsync())).toBeInstanceOf(ArenaFullError);
    expect(limiter.inspect()).toMatchObject({ waiting: 0, taken: 1 });
    limiter.spend(-1);
    await limiter.takeAsync();
  });

  it('is not held by a call of open that asks for other numbers', async () => {
    const arena = new Arena();
    const other = recruit(arena, false);
    await other.run('rates', { opens: ['rate', 200, LONG, 200], arena: arena.handle, does: 'try', permits: [1] });
    for (const [permits, per, burst] of [
      [200, LONG, 2],
      [200, 5, 200],
      [201, LONG, 200],
    ] as const)
      expect(() => RateLimiter.open('rate', permits, per, { burst, arena })).toThrow(
        /exists already with \w+ \d+, not \d+$/,
      );
    await other.kill();
    expect(arena.stats().objects.used).toBe(0);
  });

  it.skipIf(!process.getBuiltinModule)(
    'has the clock of all threads, though a test has stopped it before',
    async () => {
      const arena = new Arena();
      const limiter = new RateLimiter(1, 1, { arena });
      // Jest gives each file of tests a process of its own, and may replace its clock before the file loads anything.
      vi.stubGlobal('process', Object.create(process, { hrtime: { value: () => [0, 0] } }));
      const other = await copy().finally(() => vi.unstubAllGlobals());
      limiter.take();
      const same = other.RateLimiter.from(limiter.handle);
      await until(() => same.tryTake(), 'its window is over');
    },
  );

  it('dates the permits of a limited function when it is called, also behind a busy iteration of the event loop', async () => {
    const limiter = new RateLimiter(5, 100, { burst: 5, arena: new Arena() });
    const begun: number[] = [];
    const call = limiter.limit(() => void begun.push(performance.now()));
    const from = performance.now();
    const all = Array.from({ length: 10 }, () => call());
    expect(begun.length).toBe(5);
    while (performance.now() - from < 90);
    await Promise.all(all);
    expect((begun[5] as number) - from).toBeGreaterThan(99.9);
  });

  it('tells when permits are due, pauses, counts what was spent, and changes its numbers', async () => {
    const { limiter } = fresh(4, LONG, 4);
    expect(limiter.dueIn(4)).toBe(0);
    limiter.spend(3);
    expect([limiter.tryTake(2), limiter.inspect().taken]).toEqual([false, 3]);
    expect(limiter.dueIn(2)).toBeGreaterThan(LONG / 2);
    limiter.spend(-2);
    expect([limiter.tryTake(3), limiter.tryTake()]).toEqual([true, false]);
    limiter.resize(6, LONG, { burst: 6 });
    expect([limiter.permits, limiter.burst, limiter.tryTake(2), limiter.tryTake()]).toEqual([6, 6, true, false]);
    const heavy = failure(() => limiter.takeAsync(6));
    limiter.resize(5);
    expect((await heavy).message).toBe('RateLimiter: a request waits for 6 permits, and since resize there are 5');
    limiter.resize(50, LONG, { burst: 50 });
    limiter.pause(LONG);
    expect(limiter.tryTake()).toBe(false);
    expect(limiter.dueIn()).toBeGreaterThan(LONG / 2);
  });

  it("counts the permits of a call until its end, if it is to: until: 'end'", async () => {
    const { limiter } = fresh(1, 20);
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const call = limiter.limit(() => ended, { until: 'end' });
    const first = call();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect([limiter.tryTake(), limiter.dueIn()]).toEqual([false, Infinity]);
    const second = limiter.limit(() => performance.now())();
    const at = performance.now();
    end();
    await first;
    expect((await second) - at).toBeGreaterThan(19.9);
  });

  it('gives the result of such a call though another thread has stopped in the lock, and counts the end later', async () => {
    const { arena, limiter } = fresh(1, LONG);
    const other = await stopped(arena, limiter);
    const call = limiter.limit(
      async () => {
        other.stops();
        return 'done';
      },
      { until: 'end' },
    );
    expect(await call()).toBe('done');
    other.goesOn();
    await until(() => limiter.dueIn() < Infinity, 'the end counts');
    expect(limiter.inspect().taken).toBe(1);
    await other.kill();
  });

  it('tells a thread that blocks in it that all are cancelled, or that the limiter goes', async () => {
    for (const how of ['cancelAll', 'dispose'] as const) {
      const { arena, limiter } = fresh(1, LONG);
      limiter.take();
      const other = recruit(arena, false);
      const blocked = failure(() => other.run('rates', { handle: limiter.handle, does: 'wait' }));
      await until(() => limiter.waiting === 1, 'it waits');
      limiter[how]();
      expect((await blocked).message).toMatch(how === 'dispose' ? /disposed of/ : /cancelled/);
      await other.kill();
    }
  });

  it('stays attached to one clock when the clock of the computer is set between two starts of threads', () => {
    const shared = new Float64Array([Number.NaN]);
    let time = 1_000_000;
    let set = 0;
    const epoch = () => Math.floor(time + set);
    // As in Deno and Bun: the origin of a thread is the time of the computer's clock at its start.
    const start = () => {
      const origin = set;
      return commonClock(shared, 0, { read: () => time + origin, epoch, hasSettableOrigin: true });
    };
    const first = start();
    expect(first()).toBe(time);
    for (const step of [3_600_000, -7_200_000, 15]) {
      set += step;
      time += 100;
      first();
      const later = start();
      time += 100.25;
      expect(Math.abs(later() - first())).toBeLessThan(2);
    }
    const same = start();
    const before = first();
    expect(Math.abs(same() - before)).toBeLessThan(2);
  });

  it('goes on when a thread dies that waits for its permits, or in the queue', async () => {
    const { arena, limiter } = fresh(1, LONG);
    limiter.take();
    const [first, second] = [recruit(arena, false), recruit(arena, false)];
    for (const [i, worker] of [first, second].entries()) {
      worker.run('rates', { handle: limiter.handle, does: 'wait' });
      await until(() => limiter.waiting === i + 1, 'it waits');
    }
    const waits = failure(() => limiter.takeAsync(1, { timeout: 60_000 }));
    expect(limiter.waiting).toBe(3);
    await first.kill();
    await second.kill();
    expect(limiter.waiting).toBe(1);
    limiter.cancelAll();
    expect(await waits).toBeInstanceOf(CancelledError);
    expect([limiter.tryTake(), limiter.waiting]).toEqual([false, 0]);
  });

  it('goes on when a thread dies whose call counts until its end', async () => {
    const { code, out, err } = await runProgram('rate-dies-open', [], 30_000);
    expect([code, err, out.trim().split('\n')]).toEqual([0, '', ['promise', 'blocked']]);
  });

  it('goes on when a thread dies, or is cut, while it has the lock', async () => {
    const { out, err } = await runProgram('rate-dies-in-lock', [], 60_000);
    expect(err).toBe('');
    expect(JSON.parse(out)).toEqual({
      wasCut: true,
      afterCut: true,
      whileItHasTheLock: false,
      afterDeath: true,
      one: false,
      taken: 3,
      waiting: 0,
    });
  });

  it('takes back what a thread has written that died before it had written all', () => {
    const { arena, limiter } = fresh(2, LONG);
    limiter.take();
    const { buffer } = arena.handle.memory;
    const words = new Int32Array(buffer);
    const page = words[(limiter.handle.address + R_PAGE) / 4] as number;
    const schedule = page / 8 + NUMBERS;
    const floats = new Float64Array(buffer);
    const cells = new Cells(floats, schedule + SCHEDULE, true);
    const changed = [...Array(SCHEDULE).keys()].filter((i) => ![2, LONG].includes(floats[schedule + i] as number));
    expect(changed.length).toBeGreaterThan(8);
    // Without the rollback nothing has been taken.
    for (const i of changed) cells.set(schedule + i, 0);
    const NOBODY = (1 << 25) + 7; // the number of a thread whose record another life has
    words[page / 4 + LOCK] = NOBODY;
    expect([limiter.tryTake(), limiter.tryTake()]).toEqual([true, false]);
    expect(limiter.inspect()).toMatchObject({ permits: 2, per: LONG, burst: 2, taken: 2 });
    // It has died in the midst of `resize`.
    for (const i of [2, LONG].map((n) => floats.indexOf(n, schedule))) cells.set(i, 9);
    words[page / 4 + LOCK] = NOBODY;
    expect([limiter.permits, limiter.per]).toEqual([9, 9]);
    limiter.resize(1);
    expect(limiter.inspect()).toMatchObject({ permits: 1, per: LONG, burst: 1 });
  });

  it('refuses a request for more permits than there are since it was checked', async () => {
    const { limiter } = fresh(3, LONG);
    const shrink = () => ({
      get timeout() {
        limiter.resize(1);
        return 1000;
      },
    });
    const message = 'RateLimiter: a request waits for 3 permits, and since resize there are 1';
    expect((await failure(() => limiter.takeAsync(3, shrink()))).message).toBe(message);
    limiter.resize(3);
    expect(() => limiter.take(3, shrink())).toThrow(message);
    expect(limiter.inspect()).toMatchObject({ waiting: 0, timeouts: 2 });
  });

  it('says who waits, and for how long if all go on time', async () => {
    const { arena, limiter } = fresh(2, LONG);
    limiter.take(2);
    const other = recruit(arena, false);
    other.run('rates', { handle: limiter.handle, does: 'wait' }).catch(() => {});
    await until(() => limiter.waiting === 1, 'it waits');
    const ours = failure(() => limiter.takeAsync(2));
    const [first, second, ...more] = limiter.inspect().waiters;
    expect([first?.permits, second?.permits, more.length]).toEqual([1, 2, 0]);
    expect([first?.thread === second?.thread, second?.thread]).toEqual([false, arena.thread.thread]);
    expect(first?.left).toBeGreaterThan(LONG / 2);
    expect(second?.left).toBeGreaterThan(LONG);
    limiter.cancelAll();
    await ours;
    expect(limiter.inspect().waiters).toEqual([]);
    await other.kill();
  });

  it('gives no permit too many to 8 threads, some of which die', async () => {
    const { code, out, err } = await runProgram('rate-history-threads', [roundsInCi(20_000, 5000), 5], 60_000);
    expect([code, err, JSON.parse(out).wrong]).toEqual([0, '', []]);
  });
});
