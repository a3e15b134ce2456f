/** A bad argument causes an error that names the argument, its range and the value given, and changes nothing. */
import { Arena, Mutex, Semaphore, TimeoutError } from 'taketurns';
import * as algorithms from 'taketurns/algorithms';
import * as keyed from 'taketurns/keyed';
import * as p0514 from 'taketurns/p0514';
import * as sync from 'taketurns/sync';
import * as tasks from 'taketurns/tasks';
import { describe, expect, it } from 'vitest';
import { failure } from '../support/failure.js';
import { runProgram } from '../support/program.js';

const { ChainSemaphore, ChannelSemaphore, LocationSemaphore, TicketSemaphore, TwaSemaphore } = algorithms;
const { CapacitorLock, ClhLock, LifoLock, McsLock, ReciprocatingLock, TicketLock, TtsLock, TwaLock } = algorithms;
const locks = [TtsLock, TicketLock, TwaLock, McsLock, ClhLock, LifoLock, ReciprocatingLock] as const;
const MOST = 2 ** 31 - 1;

/** Each entry has a bad number, its text in the message, and the class of the error. */
const bad: [unknown, string, typeof RangeError | typeof TypeError][] = [
  [0, '0', RangeError],
  [-1, '-1', RangeError],
  [-0, '0', RangeError],
  [0.5, '0.5', RangeError],
  [1.5, '1.5', RangeError],
  [Number.NaN, 'NaN', RangeError],
  [Number.POSITIVE_INFINITY, 'Infinity', RangeError],
  [Number.NEGATIVE_INFINITY, '-Infinity', RangeError],
  [2 ** 31, '2147483648', RangeError],
  [2 ** 32, '4294967296', RangeError],
  [2 ** 32 + 1, '4294967297', RangeError],
  [2 ** 53 + 1, '9007199254740992', RangeError],
  ['1', '"1"', TypeError],
  ['', '""', TypeError],
  [1n, '1n', TypeError],
  [null, 'null', TypeError],
  [true, 'true', TypeError],
  [[1], 'an array', TypeError],
  [{}, 'an object (Object)', TypeError],
  [Object.create(null), 'an object (no prototype)', TypeError],
  [Symbol('s'), 'Symbol(s)', TypeError],
];

describe.each(['acquire', 'acquireAsync', 'tryAcquire', 'release', 'hold', 'holdAsync'] as const)('%s', (method) => {
  const takesOptions = method !== 'tryAcquire' && method !== 'release';

  it.each(bad)('refuses %s', async (value, shown, Kind) => {
    // An object is the options, and an empty one is none.
    if (takesOptions && shown.startsWith('an object')) return;
    const allowed =
      takesOptions && Array.isArray(value)
        ? () => 'options must be of { timeout, signal }'
        : (max: number) => `permits must be an integer from 1 to ${max} (its max)`;
    for (const max of [4, MOST]) {
      const semaphore = new Semaphore(2, { max });
      const error = await failure(() => semaphore[method](value as never));
      expect(error).toBeInstanceOf(Kind);
      expect(error.constructor).toBe(Kind);
      expect(error.message).toBe(`Semaphore.${method}: ${allowed(max)}, got ${shown}`);
      expect(semaphore.available).toBe(2);
      expect(semaphore.waiting).toBe(0);
    }
  });

  it('refuses more than max', async () => {
    const semaphore = new Semaphore(4);
    const error = await failure(() => semaphore[method](5));
    expect(error).toBeInstanceOf(RangeError);
    expect(error.message).toContain('from 1 to 4 (its max), got 5');
    expect(semaphore.available).toBe(4);
    expect(semaphore.waiting).toBe(0);
  });

  it('takes undefined for 1', async () => {
    const semaphore = new Semaphore(2, { max: 3 });
    await semaphore[method](undefined);
    expect(semaphore.available).toBe(method === 'release' ? 3 : 1);
  });
});

it.each(['acquire', 'acquireAsync', 'hold', 'holdAsync'] as const)(
  '%s takes options in place of permits, and nothing that only looks like them',
  async (method) => {
    const semaphore = new Semaphore(4);
    const acquire = semaphore[method] as (options: unknown, more?: unknown) => unknown;
    const { signal } = new AbortController();
    for (const options of [{}, { timeout: 1 }, { signal }, { timeout: undefined, signal, more: undefined }]) {
      await acquire.call(semaphore, options);
    }
    expect(semaphore.available).toBe(0);
    expect(await failure(() => acquire.call(semaphore, { timeout: 1 }))).toBeInstanceOf(TimeoutError);
    const aborted = { signal: AbortSignal.abort(new SyntaxError('aborted')) };
    expect((await failure(() => acquire.call(semaphore, aborted))).message).toBe('aborted');
    expect((await failure(() => acquire.call(semaphore, { timeout: -1 }))).message).toContain('timeout must be');
    semaphore.release();
    for (const [first, second, allowed] of [
      [signal, undefined, 'options must be of { timeout, signal }, got an object (AbortSignal)'],
      [{ permits: 1 }, undefined, 'options must be of { timeout, signal }, got "permits"'],
      [{ timeout: 1 }, { timeout: 1 }, 'permits must be an integer'],
    ]) {
      const error = await failure(() => acquire.call(semaphore, first, second));
      expect(error).toBeInstanceOf(TypeError);
      expect(error.message).toContain(allowed);
    }
    expect([semaphore.available, semaphore.waiting]).toEqual([1, 0]);
  },
);

it('acquireAsync and holdAsync reject, and never throw', async () => {
  const semaphore = new Semaphore(1);
  for (const method of ['acquireAsync', 'holdAsync'] as const) {
    let promise: Promise<unknown> | undefined;
    expect(() => {
      promise = semaphore[method](-1);
    }).not.toThrow();
    await expect(promise).rejects.toBeInstanceOf(RangeError);
  }
});

describe('release past max', () => {
  it.each([
    [1, 1, 1],
    [4, 3, 2],
    [10, 10, 10],
    [MOST, MOST, 1],
    [MOST, MOST, MOST],
    [MOST, 2, MOST - 1],
    [MOST - 1, MOST - 1, 1],
  ])('max %i, %i available, %i more', (max, permits, more) => {
    const semaphore = new Semaphore(permits, { max });
    let error: Error | undefined;
    try {
      semaphore.release(more);
    } catch (thrown) {
      error = thrown as Error;
    }
    expect(error).toBeInstanceOf(RangeError);
    expect(error?.message).toBe(
      `Semaphore.release: ${more} more would make more than ${max} (its max) available of the Semaphore; ${permits} are: ` +
        'give back as many as were taken',
    );
    expect(semaphore.available).toBe(permits);
    if (max > permits) {
      semaphore.release(max - permits);
      expect(semaphore.available).toBe(max);
    }
    semaphore.acquire(max);
    expect(semaphore.available).toBe(0);
    semaphore.release(max);
    expect(semaphore.available).toBe(max);
  });

  it('is allowed as far as waiters take the permits at once', async () => {
    const semaphore = new Semaphore(0, { max: 3 });
    const waits = [semaphore.acquireAsync(2), semaphore.acquireAsync(2)];
    semaphore.release(3);
    semaphore.release(3);
    expect(semaphore.available).toBe(2);
    await Promise.all(waits);
    expect(() => semaphore.release(2)).toThrow(RangeError);
    expect(semaphore.available).toBe(2);
    semaphore.release();
    expect(semaphore.available).toBe(3);
  });
});

describe('making a semaphore', () => {
  const notPermits = bad.filter(([value]) => value !== 0);

  it.each(notPermits)('refuses %s permits', (value, shown, Kind) => {
    if (Object.is(value, -0)) return;
    for (const make of [
      Semaphore,
      TicketSemaphore,
      TwaSemaphore,
      ChainSemaphore,
      ChannelSemaphore,
      LocationSemaphore,
    ]) {
      expect(() => new make(value as never)).toThrow(Kind);
      expect(() => new make(value as never)).toThrow(
        `${make.name}: permits must be an integer from 0 to ${MOST}, got ${shown}`,
      );
    }
  });

  it('refuses to be made without permits', () => {
    expect(() => new (Semaphore as never as new () => Semaphore)()).toThrow(
      `Semaphore: permits must be an integer from 0 to ${MOST}, got undefined`,
    );
  });

  it('refuses more permits than max', () => {
    expect(() => new Semaphore(5, { max: 4 })).toThrow(RangeError);
    expect(() => new Semaphore(5, { max: 4 })).toThrow('Semaphore: permits must be an integer from 0 to 4, got 5');
  });

  it.each(bad)('refuses a max of %s', (value, shown, Kind) => {
    expect(() => new Semaphore(0, { max: value as never })).toThrow(Kind);
    expect(() => new Semaphore(0, { max: value as never })).toThrow(
      `Semaphore: max must be an integer from 1 to ${MOST}, got ${shown}`,
    );
  });

  it.each([-1, 1_000_001, 0.5, Number.NaN, '10', 10n])('refuses to spin %s times', (spin) => {
    const Kind = typeof spin === 'number' ? RangeError : TypeError;
    for (const make of [TicketSemaphore, TwaSemaphore, ChainSemaphore, ChannelSemaphore, LocationSemaphore]) {
      expect(() => new make(0, { spin: spin as never })).toThrow(Kind);
      expect(() => new make(0, { spin: spin as never })).toThrow(
        `${make.name}: spin must be an integer from 0 to 1000000, got `,
      );
    }
  });

  it.each([-1, 2 ** 31, 0.5, Number.NaN, '1', 1n])('refuses a threshold of %s', (threshold) => {
    for (const Kind of [TwaSemaphore, ChainSemaphore, ChannelSemaphore, LocationSemaphore]) {
      expect(() => new Kind(0, { threshold: threshold as never })).toThrow(
        `${Kind.name}: threshold must be an integer from 0 to ${MOST}, got `,
      );
    }
  });

  it('refuses a first ticket that is no valid ticket', () => {
    for (const make of [TicketSemaphore, TwaSemaphore, ChainSemaphore, ChannelSemaphore, LocationSemaphore]) {
      for (const firstTicket of [-1n, 2n ** 61n + 1n]) {
        expect(() => new make(0, { firstTicket })).toThrow(
          new RangeError(`${make.name}: firstTicket must be from 0n to 2n ** 61n, got ${firstTicket}n`),
        );
      }
      expect(() => new make(0, { firstTicket: 1 as never })).toThrow(
        new TypeError(`${make.name}: firstTicket must be a bigint, got 1`),
      );
    }
  });

  it.each([null, 5, 'arena', true])('refuses %s for options', (options) => {
    expect(() => new Semaphore(1, options as never)).toThrow(
      /^Semaphore: options must be of { max, robust, arena }, got /,
    );
  });

  it.each([null, 5, {}, 'arena'])('refuses %s for an arena', (arena) => {
    expect(() => new Semaphore(1, { arena: arena as never })).toThrow(/^Semaphore: arena must be an Arena, got /);
  });
});

/** What is no options, though an object, or has one that nobody knows: its name, and what an error shows. */
const foreign: [string, unknown, string][] = [
  ['an unknown option', { robus: true }, 'got "robus"'],
  ['an unknown option beside others', { arena: undefined, timeot: null }, 'got "timeot"'],
  ['an inherited one', Object.create({ signals: 1 }), 'got "signals"'],
  [
    'one of a class',
    new (class {
      times = 5;
    })(),
    'got "times"',
  ],
  ['a signal', new AbortController().signal, 'got an object (AbortSignal)'],
  ['a controller', new AbortController(), 'got an object (AbortController)'],
  ['no elements', [], 'got an array'],
  ['elements', [5], 'got an array'],
  ['a map', new Map(), 'got an object (Map)'],
  ['an arena', new Arena({ objects: 1 }), 'got an object (Arena)'],
  ['a function', function wait() {}, 'got a function (wait)'],
  ['a class', class Five {}, 'got a function (Five)'],
  ['a symbol', Symbol('five'), 'got Symbol(five)'],
];

const inner = new TtsLock();

/** Every call that takes options, with the name that its errors begin with. */
const calls: [string, (options: never) => unknown][] = [
  ['Arena', (o) => new Arena(o)],
  ['Semaphore', (o) => new Semaphore(1, o)],
  ['Semaphore.open', (o) => Semaphore.open('options', 1, o)],
  ['Semaphore.open', (o) => Semaphore.open('options', undefined, o)],
  ['Mutex', (o) => new Mutex(o)],
  ['Mutex.open', (o) => Mutex.open('options', o)],
  ...([sync.RwLock, sync.WaitGroup, sync.Event, sync.Once] as const).flatMap(
    (Class): [string, (options: never) => unknown][] => [
      [Class.name, (o) => new Class(o)],
      [`${Class.name}.open`, (o) => Class.open('options', o)],
    ],
  ),
  ...([sync.Latch, sync.Barrier] as const).flatMap((Class): [string, (options: never) => unknown][] => [
    [Class.name, (o) => new Class(1, o)],
    [`${Class.name}.open`, (o) => Class.open('options', 1, o)],
  ]),
  ['BinarySemaphore', (o) => new p0514.BinarySemaphore(0, o)],
  ['CountingSemaphore', (o) => new p0514.CountingSemaphore(0, o)],
  ['AtomicSemaphore', (o) => new p0514.AtomicSemaphore(o)],
  ...([TicketSemaphore, TwaSemaphore, ChainSemaphore, ChannelSemaphore, LocationSemaphore] as const).map(
    (Class) => [Class.name, (o: never) => new Class(1, o)] as [string, (options: never) => unknown],
  ),
  ['MultilaneSemaphore', (o) => new algorithms.MultilaneSemaphore(1, o)],
  ['EventCount', (o) => new algorithms.EventCount(o)],
  ['Sequencer', (o) => new algorithms.Sequencer(o)],
  ...locks.flatMap((Class): [string, (options: never) => unknown][] => [
    [Class.name, (o) => new Class(o)],
    [`${Class.name}.open`, (o) => Class.open('options', o)],
  ]),
  ['Capacitor', (o) => new algorithms.Capacitor(1, o)],
  ['CapacitorLock', (o) => new CapacitorLock(inner, o)],
  ['addressWaitUntil', (o) => algorithms.addressWaitUntil(1, () => true, o)],
  ['addressSignal', (o) => algorithms.addressSignal(1, o)],
  ['addressSignalPolite', (o) => algorithms.addressSignalPolite(1, o)],
  ['keyMonitor', (o) => algorithms.keyMonitor(1, o)],
  ['keyWait', (o) => algorithms.keyWait(1, -1n, o)],
  ['keyWaitLazy', (o) => algorithms.keyWaitLazy(1, -1n, o)],
  ['keySignal', (o) => algorithms.keySignal(1, o)],
  ['keySignalPolite', (o) => algorithms.keySignalPolite(1, o)],
  ['channelOf', (o) => algorithms.channelOf(1, o)],
  ['locationOf', (o) => algorithms.locationOf(1, o)],
  ['locationWait', (o) => algorithms.locationWait(1, o)],
  ['locationWakeAll', (o) => algorithms.locationWakeAll(1, o)],
  ['locationWakeAllPolite', (o) => algorithms.locationWakeAllPolite(1, o)],
  ['atomicWait', (o) => p0514.atomicWait(words, 0, 1, o)],
  ['atomicTryWaitFor', (o) => p0514.atomicTryWaitFor(words, 0, 1, 0, o)],
  ['atomicTryWaitUntil', (o) => p0514.atomicTryWaitUntil(words, 0, 1, 0, o)],
  ['atomicWaitAsync', (o) => p0514.atomicWaitAsync(words, 0, 1, o)],
  ['atomicTryWaitForAsync', (o) => p0514.atomicTryWaitForAsync(words, 0, 1, 0, o)],
  ['atomicTryWaitUntilAsync', (o) => p0514.atomicTryWaitUntilAsync(words, 0, 1, 0, o)],
  ['atomicSignal', (o) => p0514.atomicSignal(words, 0, p0514.Notify.all, o)],
];
const words = new Int32Array(new SharedArrayBuffer(4));

describe.each(calls)('the options of %s', (name, call) => {
  it.each([
    [null, 'null'],
    [5, '5'],
    ['x', '"x"'],
    [true, 'true'],
  ])('must not be %s', async (options, shown) => {
    const error = await failure(() => call(options as never));
    expect(error.constructor).toBe(TypeError);
    // A string may be meant for a name, which `open` takes.
    const asName = 'an object, got "x": a name comes first in \\w+\\.open\\("x"\\)';
    const allowed = `(${asName}|of {.+}, got ${shown})`;
    expect(error.message).toMatch(new RegExp(`^${name}: options must be ${allowed}$`));
  });

  it.each(foreign)('must not be %s', async (_, options, shown) => {
    const objects = Arena.default.stats().objects.used;
    const error = await failure(() => call(options as never));
    expect(error.constructor).toBe(TypeError);
    expect(error.message.startsWith(`${name}: `)).toBe(true);
    expect(error.message).toMatch(/^[\w.]+: options must be of \{( \w+,?)+ \}( \(perhaps \w+\))?, got /);
    expect(error.message).toContain(shown);
    expect(Arena.default.stats().objects.used).toBe(objects);
  });

  it('must not name anything else for an arena', async () => {
    if (name === 'Arena') return;
    for (const arena of [null, 5, {}]) {
      const { message } = await failure(() => call({ arena } as never));
      expect(message.startsWith(`${name}: arena must be an Arena, got `)).toBe(true);
    }
  });
});

it.each(
  [Arena, Semaphore, Mutex, ...Object.values(algorithms), ...Object.values(p0514)].filter((it) =>
    Object.hasOwn(it, 'from'),
  ),
)('%o.from refuses what is no handle', (Class) => {
  const { name, from } = Class as unknown as { name: string; from(handle: unknown): unknown };
  for (const handle of [undefined, null, 5, 'x', {}, []]) {
    expect(() => from.call(Class, handle)).toThrow(TypeError);
    expect(() => from.call(Class, handle)).toThrow(
      new RegExp(
        `^${name}.from: handle must be the handle of an? ${name}( of this process| \\(its [.]handle, not the object\\)), got `,
      ),
    );
  }
});

describe('null is no missing value', () => {
  const arena = new Arena();
  it.each<[string, (option: never) => unknown]>([
    ...['max', 'robust'].map((name): [string, () => unknown] => [
      `Semaphore: ${name}`,
      () => new Semaphore(1, { [name]: null }),
    ]),
    ['Mutex.open: bypass', (bypass) => Mutex.open('null', { arena, bypass })],
    ...['policy', 'spin'].map((name): [string, () => unknown] => [
      `BinarySemaphore: ${name}`,
      () => new p0514.BinarySemaphore(1, { [name]: null }),
    ]),
    ...['objects', 'threads', 'waiters', 'slots', 'chains', 'bytes', 'watch'].map((name): [string, () => unknown] => [
      `Arena: ${name}`,
      () => new Arena({ [name]: null }),
    ]),
    ['TwaSemaphore: threshold', (threshold) => new TwaSemaphore(1, { threshold })],
    ['ChainSemaphore: wake', (wake) => new ChainSemaphore(1, { wake })],
    ['MultilaneSemaphore: lanes', (lanes) => new algorithms.MultilaneSemaphore(1, { lanes })],
    ['TwaLock: waiting', (waiting) => new TwaLock({ waiting })],
    ['CapacitorLock: bypass', (bypass) => new CapacitorLock(new TtsLock(), { bypass })],
    ['KeyedSemaphore.open: permits', (permits) => keyed.KeyedSemaphore.open('null', permits, { arena })],
    ['Semaphore.open: permits', (permits) => Semaphore.open('null', permits, { arena })],
    ['RateLimiter: burst', (burst) => new keyed.RateLimiter(1, 1, { burst })],
    ['Mutex.waitForUnlock: options', (options) => new Mutex().waitForUnlock(options)],
    ['Barrier.arriveAndWait: options', (options) => new sync.Barrier(1).arriveAndWait(options)],
    ['Semaphore: max', (max) => new tasks.Semaphore(1, { max })],
    ['RateLimiter: burst', (burst) => new tasks.RateLimiter(1, 1, { burst })],
    ['Event: set', (set) => new tasks.Event({ set })],
    ['Channel: capacity', (capacity) => new tasks.Channel({ capacity })],
  ])('%s', async (what, call) => {
    const error = await failure(() => call(null as never));
    expect([error.constructor, error.message]).toEqual([
      TypeError,
      expect.stringMatching(new RegExp(`^${what} must be .+, got null$`)),
    ]);
  });
});

it('a pause of NaN: the error says what to write if Retry-After is a date', async () => {
  const limiters = [keyed.RateLimiter, tasks.RateLimiter].map((Class) => new Class(1, 1000));
  const users = [keyed.KeyedRateLimiter, tasks.KeyedRateLimiter].map((Class) => new Class(1, 1000));
  const pauses = [
    ...limiters.map((limiter) => (ms: number) => limiter.pause(ms)),
    ...users.map((limiter) => (ms: number) => limiter.pause('Ann', ms)),
  ];
  const inAnHour = new Date(Date.now() + 3_600_000).toUTCString();
  const before = new Date(0).toUTCString();
  for (const pause of pauses) {
    const error = await failure(() => pause(1000 * Number(inAnHour)));
    expect(error.constructor).toBe(RangeError);
    const [, advice] = /got NaN: if Retry-After is a date, write (.+)$/.exec(error.message) ?? [];
    const advised = new Function('date', `return ${advice}`) as (date: string) => number;
    pause(advised(before));
    pause(advised(inAnHour));
  }
  // The hour of the header has whole seconds.
  for (const limiter of limiters) expect(limiter.dueIn()).toBeGreaterThan(3_500_000);
  for (const limiter of users) expect(limiter.dueIn('Ann')).toBeGreaterThan(3_500_000);
});

it.each([
  new keyed.KeyedMutex(),
  new keyed.KeyedSemaphore(2),
  new keyed.KeyedRateLimiter(1, 1000),
  new tasks.KeyedMutex(),
  new tasks.KeyedSemaphore(2),
  new tasks.KeyedRateLimiter(1, 1000),
])(
  'inspect of %s takes a key without a value for none of the keys',
  async (table: { inspect(key?: never): unknown }) => {
    const { name } = table.constructor;
    const error = await failure(() => table.inspect(undefined));
    expect([error.constructor, error.message]).toEqual([
      TypeError,
      `${name}.inspect: key must be a string or a safe integer, got undefined: for all keys write inspect()`,
    ]);
    expect(table.inspect()).not.toHaveProperty('key');
  },
);

describe('making an arena', () => {
  it.each([
    ['objects', 1, 2 ** 20],
    ['threads', 1, 2 ** 12 - 1],
    ['waiters', 8, 4_000_000],
    ['slots', 1, 2 ** 16],
    ['chains', 1, 2 ** 16],
  ] as const)('refuses a bad number of %s', (option, least, most) => {
    for (const value of [least - 1, most + 1, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => new Arena({ [option]: value })).toThrow(
        new RangeError(`Arena: ${option} must be an integer from ${least} to ${most}, got ${value}`),
      );
    }
    for (const value of ['16', 16n]) {
      expect(() => new Arena({ [option]: value as never })).toThrow(TypeError);
      expect(() => new Arena({ [option]: value as never })).toThrow(
        `Arena: ${option} must be an integer from ${least} to ${most}, got `,
      );
    }
  });

  it.each(['slots', 'chains'])('refuses %s that are no power of two', (option) => {
    for (const value of [3, 6, 1000, 65535]) {
      expect(() => new Arena({ [option]: value })).toThrow(
        new RangeError(`Arena: ${option} must be a power of two from 1 to 65536, got ${value}`),
      );
    }
  });
});

type Waits = [string, () => { toString(): string; dispose(): void }, (it: never, options: never) => unknown];
const run = (): never => {
  throw new SyntaxError('it must not run');
};
const locked = (): Mutex => {
  const mutex = new Mutex();
  mutex.lock();
  return mutex;
};

/** Every call that may wait: its name in errors, an object, and the call. */
const waits: Waits[] = [
  ...(['acquire', 'acquireAsync', 'hold', 'holdAsync'] as const).flatMap((method): Waits[] => [
    [`Semaphore.${method}`, () => new Semaphore(2), (it: Semaphore, o) => it[method](o)],
    [`Semaphore.${method}`, () => new Semaphore(0), (it: Semaphore, o) => it[method](1, o)],
  ]),
  ['Semaphore.runExclusive', () => new Semaphore(2), (it: Semaphore, o) => it.runExclusive(run, o)],
  ['Semaphore.runExclusive', () => new Semaphore(2), (it: Semaphore, o) => it.runExclusive(run, 1, o)],
  ...(['lock', 'lockAsync', 'hold', 'holdAsync', 'waitForUnlock', 'waitForUnlockAsync'] as const).flatMap(
    (method): Waits[] =>
      [() => new Mutex(), locked].map((make) => [`Mutex.${method}`, make, (it: Mutex, o: never) => it[method](o)]),
  ),
  ['Mutex.runExclusive', () => new Mutex(), (it: Mutex, o) => it.runExclusive(run, o)],
  ...(
    ['lockRead', 'lockReadAsync', 'read', 'readAsync', 'lockWrite', 'lockWriteAsync', 'write', 'writeAsync'] as const
  ).map((method): Waits => [`RwLock.${method}`, () => new sync.RwLock(), (it: sync.RwLock, o) => it[method](o)]),
  ...(['update', 'updateAsync'] as const).map(
    (method): Waits => [`RwLock.${method}`, () => new sync.RwLock(), (it: sync.RwLock, o) => it[method](o)],
  ),
  ...(['wait', 'waitAsync'] as const).flatMap((method): Waits[] => [
    [`Latch.${method}`, () => new sync.Latch(1), (it: sync.Latch, o) => it[method](o)],
    [`WaitGroup.${method}`, () => new sync.WaitGroup(), (it: sync.WaitGroup, o) => it[method](o)],
    [`Event.${method}`, () => new sync.Event(), (it: sync.Event, o) => it[method](o)],
    [`Condition.${method}`, () => new sync.Condition(locked()), (it: sync.Condition, o) => it[method](o)],
    [
      `Condition.${method}For`,
      () => new sync.Condition(locked()),
      (it: sync.Condition, o) => it[method === 'wait' ? 'waitFor' : 'waitForAsync'](run, o),
    ],
  ]),
  ...(['arriveAndWait', 'arriveAndWaitAsync'] as const).flatMap((method): Waits[] =>
    [1, 2].map((n) => [`Barrier.${method}`, () => new sync.Barrier(n), (it: sync.Barrier, o: never) => it[method](o)]),
  ),
  ...(['run', 'runAsync'] as const).map(
    (method): Waits => [`Once.${method}`, () => new sync.Once(), (it: sync.Once, o) => it[method](run, o)],
  ),
];

describe.each(waits)('the options of %s', (name, make, call) => {
  const method = name.replace('waitAsyncFor', 'waitForAsync');
  const allowed = /RwLock.*read.*Async/i.test(name) ? '{ timeout, signal, within }' : '{ timeout, signal }';

  it.each(foreign)('must not be %s, and nothing has changed', async (_, options, shown) => {
    const it = make();
    const before = `${it}`;
    const error = await failure(() => call(it as never, options as never));
    const message = error.message.replace(/ \(perhaps \w+\)|: write { signal }$/g, '');
    // A function or a symbol may be a bad number of permits.
    if (typeof options === 'object') expect(message).toBe(`${method}: options must be of ${allowed}, ${shown}`);
    expect(error.message).toContain(shown);
    expect(error).toBeInstanceOf(TypeError);
    expect(`${it}`).toBe(before);
    it.dispose();
  });

  it('may be inherited, or undefined, or have symbols', async () => {
    for (const options of [
      Object.create({ timeout: 0 }),
      { timeout: 0, timout: undefined, [Symbol('timout')]: 5 },
      new (class {
        timeout = 0;
      })(),
      Object.assign(Object.create(null), { timeout: 0 }),
    ]) {
      const it = make();
      const answer = await Promise.resolve()
        .then(() => call(it as never, options as never))
        .catch((error) => error);
      if (answer instanceof Error) expect(answer.message).toMatch(/^timed out after 0 ms|must not run$/);
      it.dispose();
    }
  });
});

it('an inherited signal or arena counts', async () => {
  const arena = new Arena();
  const defaults = (own: object) => Object.create(Object.create({ arena }), Object.getOwnPropertyDescriptors(own));
  const event = new sync.Event(Object.create(defaults({ set: true })));
  const count = new algorithms.EventCount(Object.create(defaults({ first: 5n })));
  const capacitor = new CapacitorLock(inner, Object.create(defaults({ bypass: 7, semaphore: 'ticket' })));
  for (const { handle } of [event, new sync.Latch(1, defaults({})), count, { handle: capacitor.handle.capacitor }])
    expect(Arena.from(handle.arena)).toBe(arena);
  expect([event.isSet, count.read(), capacitor.bypass]).toEqual([true, 5n, 7]);
  expect(capacitor.handle.capacitor.semaphore).toBe('ticket');
  const condition = new sync.Condition(locked());
  const inherits = Object.create({ signal: AbortSignal.timeout(5) });
  await expect(condition.waitForAsync(() => false, inherits)).rejects.toThrow('timeout');
});

it('what a page has put on all objects is no option', () => {
  Object.defineProperty(Object.prototype, 'extended', {
    value: 1,
    enumerable: true,
    configurable: true,
    writable: true,
  });
  try {
    const mutex = new Mutex({ bypass: 0 });
    mutex.lock({ timeout: 5 });
    expect(() => mutex.hold({ extends: 1 } as never)).toThrow('got "extends"');
    mutex.unlock();
  } finally {
    delete (Object.prototype as { extended?: unknown }).extended;
  }
});

it.each([
  ['a huge string', 'x'.repeat(1e6), /^"x{99}"\.\.\. \(1000000 characters\)$/],
  [
    'a function with a long name',
    Object.defineProperty(() => {}, 'name', { value: 'f'.repeat(1e6) }),
    /^a function \(f{80,}$/,
  ],
  [
    'a class',
    class Long {
      text = 'x'.repeat(200);
    },
    /^a function \(Long\)$/,
  ],
  ['a symbol with a long name', Symbol('s'.repeat(1e6)), /^Symbol\(s{92}$/],
  ['a constructor that throws', Object.defineProperty({}, 'constructor', { get: run }), /^an object$/],
  [
    'a constructor whose name throws',
    {
      constructor: {
        get name() {
          return run();
        },
      },
    },
    /^an object$/,
  ],
  ['a constructor whose name is a symbol', { constructor: { name: Symbol('s') } }, /^an object$/],
  ['a proxy that throws', new Proxy({}, { get: run, getPrototypeOf: run, ownKeys: run, has: run }), /^an object$/],
  [
    'a revoked proxy',
    (() => {
      const { proxy, revoke } = Proxy.revocable({}, {});
      revoke();
      return proxy;
    })(),
    /^an object$/,
  ],
] as [string, unknown, RegExp][])('an error shows %s in a few words', (_, value, shown) => {
  const semaphore = new Semaphore(1);
  for (const call of [() => semaphore.release(value as never), () => new Semaphore(value as never)])
    expect(/, got (.*?)(: a name comes first in .*)?$/.exec(catching(call).message)?.[1]).toMatch(shown);
  expect(semaphore.available).toBe(1);
});

function catching(call: () => unknown): Error {
  try {
    call();
  } catch (error) {
    return error as Error;
  }
  throw new Error('it did not fail');
}

it('the likely mistakes of a new user are told with what to write instead, and which object it is', async () => {
  const { out } = await runProgram('first-mistakes');
  expect(out).toBe('69 mistakes\n');
});
