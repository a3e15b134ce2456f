/** Functions that run under permits or a lock: `runExclusive` and `limit`, across threads. */
import { Mutex, Semaphore, TimeoutError } from 'taketurns';
import { afterEach, beforeEach, describe, expect, expectTypeOf, it, vi } from 'vitest';
import { failure } from '../support/failure.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('runExclusive of a semaphore', () => {
  it('holds one permit while the function runs, and answers with its result', async () => {
    const semaphore = new Semaphore(2);
    const result = await semaphore.runExclusive(async () => {
      expect(semaphore.available).toBe(1);
      await turn();
      return semaphore.available;
    });
    expect(result).toBe(1);
    expect(semaphore.available).toBe(2);
    expect(await semaphore.runExclusive(() => 'plain')).toBe('plain');
  });

  it('holds as many permits as it is told, and takes options with them or in their place', async () => {
    const semaphore = new Semaphore(3);
    expect(await semaphore.runExclusive(() => semaphore.available, 2)).toBe(1);
    expect(await semaphore.runExclusive(() => semaphore.available, 3, { timeout: 10 })).toBe(0);
    expect(await semaphore.runExclusive(() => semaphore.available, { timeout: 10 })).toBe(2);
    semaphore.acquire(2);
    const run = vi.fn();
    expect(await failure(() => semaphore.runExclusive(run, 2, { timeout: 1 }))).toBeInstanceOf(TimeoutError);
    semaphore.acquire();
    expect(await failure(() => semaphore.runExclusive(run, { timeout: 1 }))).toBeInstanceOf(TimeoutError);
    expect(run).not.toHaveBeenCalled();
    expect(semaphore.waiting).toBe(0);
  });

  it('gives the permits back when the function throws or rejects', async () => {
    const semaphore = new Semaphore(2);
    const thrown = semaphore.runExclusive(() => {
      throw new SyntaxError('thrown');
    }, 2);
    await expect(thrown).rejects.toThrow('thrown');
    await expect(semaphore.runExclusive(async () => Promise.reject(new Error('later')))).rejects.toThrow('later');
    expect(semaphore.available).toBe(2);
  });

  it('refuses what is not a function, and a bad number, with nothing taken', async () => {
    const semaphore = new Semaphore(2);
    const error = await failure(() => semaphore.runExclusive('run' as never));
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toBe('Semaphore.runExclusive: run must be a function, got "run"');
    expect(await failure(() => semaphore.runExclusive(() => 1, 3))).toBeInstanceOf(RangeError);
    expect(semaphore.available).toBe(2);
  });
});

describe('limit', () => {
  it('runs as many calls at a time as there are permits, in the order of the calls', async () => {
    const semaphore = new Semaphore(2);
    let running = 0;
    let most = 0;
    const order: number[] = [];
    const limited = semaphore.limit(async (n: number) => {
      order.push(n);
      most = Math.max(most, ++running);
      await turn();
      running--;
      return n * n;
    });
    const results = await Promise.all([1, 2, 3, 4, 5].map((n) => limited(n)));
    expect(results).toEqual([1, 4, 9, 16, 25]);
    expect(order).toEqual([1, 2, 3, 4, 5]);
    expect(most).toBe(2);
    expect(semaphore.available).toBe(2);
  });

  it('takes as many permits for each call as it is told', async () => {
    const semaphore = new Semaphore(3);
    const limited = semaphore.limit(() => semaphore.available, 3);
    expect(await Promise.all([limited(), limited()])).toEqual([0, 0]);
    expect(semaphore.available).toBe(3);
  });

  it('passes all arguments and `this`, and keeps their types', async () => {
    const semaphore = new Semaphore(1);
    const joined = semaphore.limit((a: string, b: number, ...rest: boolean[]) => [a, b, ...rest]);
    expectTypeOf(joined).parameters.toEqualTypeOf<[a: string, b: number, ...rest: boolean[]]>();
    expectTypeOf(joined).returns.toEqualTypeOf<Promise<(string | number | boolean)[]>>();
    expectTypeOf(semaphore.limit(async () => 1)).returns.toEqualTypeOf<Promise<number>>();
    expect(await joined('a', 1, true, false)).toEqual(['a', 1, true, false]);
    const counter = {
      count: 2,
      times: semaphore.limit(function (this: { count: number }, n: number) {
        return this.count * n;
      }),
    };
    expect(await counter.times(4)).toBe(8);
  });

  it('rejects with the error of the function, and gives the permit back', async () => {
    const semaphore = new Semaphore(1);
    const limited = semaphore.limit((): void => {
      throw new SyntaxError('no');
    });
    await expect(limited()).rejects.toThrow('no');
    expect(semaphore.available).toBe(1);
  });

  it('refuses what is not a function, and a bad number, at once', () => {
    const semaphore = new Semaphore(2);
    expect(() => semaphore.limit(1 as never)).toThrow('Semaphore.limit: run must be a function, got 1');
    expect(() => semaphore.limit(() => 1, 3)).toThrow(RangeError);
    expect(() => semaphore.limit(() => 1, 3)).toThrow('Semaphore.limit: permits must be an integer from 1 to 2');
  });
});

describe('a function of Mutex.runExclusive that locks again', () => {
  let warnings: string[];
  beforeEach(() => {
    warnings = [];
    vi.spyOn(process, 'emitWarning').mockImplementation(((message: string) => warnings.push(message)) as never);
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it('is warned of once, by whichever call and library object it asks', async () => {
    const mutex = new Mutex();
    const other = Mutex.from(mutex.handle);
    for (const ask of [() => mutex.runExclusive(() => {}), () => mutex.lockAsync().then(() => mutex.unlock())]) {
      let inner: Promise<void> | undefined;
      await mutex.runExclusive(() => {
        inner = ask();
      });
      await inner;
    }
    expect(warnings).toEqual([
      'Mutex: a function of runExclusive asks for the same lock. If it awaits the lock, it waits for itself: do not lock ' +
        'again in the function, or give a timeout',
    ]);
    let inner: Promise<unknown> | undefined;
    await mutex.runExclusive(() => {
      inner = other.holdAsync().then((held) => held.unlock());
    });
    await inner;
    expect(warnings).toHaveLength(2);
  });

  it('is not warned of if it gives a time-out, or if the calls stand side by side', async () => {
    const mutex = new Mutex();
    const error = await failure(() => mutex.runExclusive(() => mutex.runExclusive(() => {}, { timeout: 1 })));
    expect(error).toBeInstanceOf(TimeoutError);
    await failure(() =>
      mutex.runExclusive(() => {
        throw new Error('thrown');
      }),
    );
    await Promise.all([1, 2, 3].map(() => mutex.runExclusive(turn)));
    expect(warnings).toEqual([]);
    expect(mutex.locked).toBe(false);
  });
});
