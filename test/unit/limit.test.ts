/** `limit` of all classes that have it: `{ timeout, signal }` end the waits of its calls, and `cancelAll` does too. */
import * as main from 'taketurns';
import * as keyed from 'taketurns/keyed';
import * as tasks from 'taketurns/tasks';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { failure } from '../support/failure.js';

const { CancelledError, TimeoutError } = main;
const threads = { ...main, ...keyed };
type Run = (key: string) => unknown;
type Options = { timeout?: number; signal?: AbortSignal };
type Call = (key: string) => Promise<unknown>;

/**
 * Each class, as an object of which nothing is free: how `limit` is called with options, and how all goes back. The
 * permit of a RateLimiter comes back by itself when `per` milliseconds are over.
 */
const classes = [threads, tasks].flatMap((all) => {
  const of = all === threads ? 'taketurns' : 'taketurns/tasks';
  return [
    {
      name: `Semaphore of ${of}`,
      async taken(_per?: number) {
        const semaphore = new all.Semaphore(1, { max: 1 });
        await semaphore.acquireAsync();
        return {
          object: semaphore,
          limit: (run: Run, options?: Options): Call => semaphore.limit(run, 1, options) as Call,
          inPlace: (run: Run, options: Options): Call => semaphore.limit(run, options) as Call,
          giveBack: () => semaphore.release(),
        };
      },
    },
    {
      name: `Mutex of ${of}`,
      async taken(_per?: number) {
        const mutex = new all.Mutex();
        await mutex.lockAsync();
        return {
          object: mutex,
          limit: (run: Run, options?: Options): Call => mutex.limit(run, options) as Call,
          inPlace: (run: Run, options: Options): Call => mutex.limit(run, options) as Call,
          giveBack: () => mutex.unlock(),
        };
      },
    },
    {
      name: `KeyedMutex of ${of}`,
      async taken(_per?: number) {
        const table = new all.KeyedMutex();
        const held = await table.holdAsync('a');
        return {
          object: table,
          limit: (run: Run, options?: Options): Call => table.limit(run, options) as Call,
          inPlace: (run: Run, options: Options): Call => table.limit(run, options) as Call,
          giveBack: () => held.unlock(),
        };
      },
    },
    {
      name: `KeyedSemaphore of ${of}`,
      async taken(_per?: number) {
        const table = new all.KeyedSemaphore(1);
        const held = await table.holdAsync('a');
        return {
          object: table,
          limit: (run: Run, options?: Options): Call => table.limit(run, 1, options) as Call,
          inPlace: (run: Run, options: Options): Call => table.limit(run, options) as Call,
          giveBack: () => held.release(),
        };
      },
    },
    {
      name: `RateLimiter of ${of}`,
      async taken(per = 60_000) {
        const limiter = new all.RateLimiter(1, per);
        await limiter.takeAsync();
        return {
          object: limiter,
          limit: (run: Run, options?: Options): Call => limiter.limit(run, 1, options) as Call,
          inPlace: (run: Run, options: Options): Call => limiter.limit(run, options) as Call,
          giveBack: () => {},
        };
      },
    },
  ];
});

describe.each(classes)('limit of $name', ({ taken }) => {
  const never: Run = () => {
    throw new SyntaxError('it must not run');
  };

  it('ends the wait of a call by its time-out', async () => {
    const { limit, inPlace } = await taken();
    expect(await failure(() => limit(never, { timeout: 0 })('a'))).toBeInstanceOf(TimeoutError);
    expect(await failure(() => inPlace(never, { timeout: 1 })('a'))).toBeInstanceOf(TimeoutError);
  });

  it('ends the waits of all calls by one signal, and refuses later calls', async () => {
    const { object, limit } = await taken();
    const controller = new AbortController();
    const call = limit(never, { signal: controller.signal });
    const waits = [failure(() => call('a')), failure(() => call('a'))];
    controller.abort(new Error('the server shuts down'));
    for (const wait of [...waits, failure(() => call('a'))]) expect((await wait).message).toBe('the server shuts down');
    expect(object.waiting).toBe(0);
  });

  it('takes a signal that is aborted already', async () => {
    const { limit } = await taken();
    const call = limit(never, { signal: AbortSignal.abort('over') });
    await expect(call('a')).rejects.toBe('over');
  });

  it('ends the waits of all calls by cancelAll, and lets later calls run', async () => {
    const { object, limit, giveBack } = await taken(1000);
    const call = limit((key) => `${key} ran`);
    const waits = [failure(() => call('a')), failure(() => call('a'))];
    object.cancelAll(new Error('the server shuts down'));
    for (const wait of waits) {
      const error = await wait;
      expect(error).toBeInstanceOf(CancelledError);
      expect((error.cause as Error).message).toBe('the server shuts down');
    }
    giveBack();
    expect(await call('a')).toBe('a ran');
  });

  it('runs a call in its turn, and keeps the options with which it was made', async () => {
    const { limit, giveBack } = await taken(1000);
    const options: Options = Object.create({ timeout: 60_000 });
    const call = limit((key) => `${key} ran`, options);
    options.timeout = 0;
    const wait = call('a');
    giveBack();
    expect(await wait).toBe('a ran');
  });

  it('checks its options when it is called', async () => {
    const { limit } = await taken();
    expect(() => limit(never, { timeout: -1 })).toThrow(/limit: timeout must be from 0 to /);
    expect(() => limit(never, { signal: 5 as never })).toThrow(/limit: signal must be an AbortSignal, got 5/);
    expect(() => limit(never, { timeOut: 5 } as never)).toThrow(
      /limit: options must be of { (until, )?timeout, signal } \(perhaps/,
    );
    expect(() => limit(never, null as never)).toThrow(TypeError);
    expect(() => limit('run' as never, {})).toThrow(/limit: run must be a function, got "run"/);
  });
});

it('the function that limit returns has the types of its own', () => {
  function save(this: { path: string }, key: 'a' | 'b', sum: number): Promise<string> {
    return Promise.resolve(`${this.path} ${key} ${sum}`);
  }
  type Saves = (this: { path: string }, key: 'a' | 'b', sum: number) => Promise<string>;
  for (const all of [threads, tasks]) {
    expectTypeOf(new all.Semaphore(1).limit(save)).toEqualTypeOf<Saves>();
    expectTypeOf(new all.Semaphore(1).limit(save, 1, { timeout: 5 })).toEqualTypeOf<Saves>();
    expectTypeOf(new all.Semaphore(1).limit(save, { timeout: 5 })).toEqualTypeOf<Saves>();
    expectTypeOf(new all.Mutex().limit(save, { timeout: 5 })).toEqualTypeOf<Saves>();
    expectTypeOf(new all.KeyedMutex().limit(save, { timeout: 5 })).toEqualTypeOf<Saves>();
    expectTypeOf(new all.KeyedSemaphore(1).limit(save, 1, { timeout: 5 })).toEqualTypeOf<Saves>();
    expectTypeOf(new all.KeyedSemaphore(1).limit(save, { timeout: 5 })).toEqualTypeOf<Saves>();
    expectTypeOf(new all.RateLimiter(1, 1).limit(save, { timeout: 5 })).toEqualTypeOf<Saves>();
    // @ts-expect-error: an option with an unknown name.
    expect(() => new all.Mutex().limit(save, { timeOut: 5 })).toThrow(TypeError);
    // @ts-expect-error: the key of this function is no key.
    new all.KeyedMutex().limit((_key: object) => 1);
  }
});
