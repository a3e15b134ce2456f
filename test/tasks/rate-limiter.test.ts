/** RateLimiter: never one over in any window, in the order of the calls, whatever clocks and timers do. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { failure } from '../support/failure.js';
import { isSettled } from '../support/settled.js';

/** A clock that the test moves, with timers that may fire early. */
class Clock {
  time = 1000;
  /** Which part of its time a timer leaves out. */
  early = 0;
  #last = 0;
  readonly #timers = new Map<number, { at: number; run: () => void }>();

  readonly globals = {
    performance: { now: () => this.time },
    setTimeout: (run: () => void, milliseconds: number) => {
      this.#timers.set(++this.#last, { at: this.time + Math.max(milliseconds, 1) * (1 - this.early), run });
      return this.#last;
    },
    clearTimeout: (timer: number) => this.#timers.delete(timer),
  };

  get pending(): number {
    return this.#timers.size;
  }

  /** Moves the clock, and fires the timers that are due, each at its time. */
  async advance(milliseconds: number): Promise<void> {
    const end = this.time + milliseconds;
    for (;;) {
      for (let i = 0; i < 5; i++) await undefined;
      const [next] = [...this.#timers].sort(([, a], [, b]) => a.at - b.at);
      if (next === undefined || next[1].at > end) break;
      this.#timers.delete(next[0]);
      this.time = next[1].at;
      next[1].run();
    }
    this.time = end;
  }
}

type Tasks = typeof import('taketurns/tasks');
let clock: Clock;
let tasks: Tasks;

beforeEach(async () => {
  clock = new Clock();
  vi.stubGlobal('performance', clock.globals.performance);
  vi.stubGlobal('setTimeout', clock.globals.setTimeout);
  vi.stubGlobal('clearTimeout', clock.globals.clearTimeout);
  vi.resetModules();
  tasks = await import('../../src/tasks/index.js');
});
afterEach(() => {
  vi.unstubAllGlobals();
});

/** Notes when the permits of a limiter go, and how many. */
class Notes {
  readonly given: { time: number; permits: number; label: number }[] = [];
  note(permits: number, label = 0): void {
    this.given.push({ time: clock.time, permits, label });
  }
  /** The most permits in a window of this length that begins with one of them. */
  most(per: number): number {
    return Math.max(
      0,
      ...this.given.map(({ time: from }) =>
        this.given
          .filter(({ time }) => time >= from && time - from < per)
          .reduce((sum, { permits }) => sum + permits, 0),
      ),
    );
  }
}

describe('in any window', () => {
  it('there is never one permit too many, and the order is that of the calls', async () => {
    const step = fc.record({
      wait: fc.integer({ min: 0, max: 90 }),
      permits: fc.integer({ min: 1, max: 5 }),
      call: fc.constantFrom('take', 'take', 'take', 'try', 'abort'),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          permits: fc.integer({ min: 5, max: 8 }),
          per: fc.integer({ min: 1, max: 300 }),
          burst: fc.integer({ min: 1, max: 5 }),
          early: fc.constantFrom(0, 0.01, 0.5),
        }),
        fc.array(step, { maxLength: 40 }),
        async ({ permits, per, burst, early }, steps) => {
          clock.early = early;
          const limiter = new tasks.RateLimiter(permits, per, { burst });
          const notes = new Notes();
          const all: Promise<unknown>[] = [];
          for (const [label, { wait, permits: n, call }] of steps.entries()) {
            if (call === 'try') {
              const waited = limiter.waiting > 0;
              if (limiter.tryTake(n)) {
                expect(waited).toBe(false);
                notes.note(n, label);
              }
            } else {
              const controller = new AbortController();
              const options = call === 'abort' ? { signal: controller.signal } : {};
              const taken = limiter.takeAsync(n, options).then(
                () => notes.note(n, label),
                () => {},
              );
              all.push(taken);
              await clock.advance(wait);
              controller.abort();
              // The abort may let the next request through, and the note of that comes in a microtask.
              await clock.advance(0);
            }
          }
          await clock.advance(10 * per * 40);
          await Promise.all(all);
          expect(notes.most(per)).toBeLessThanOrEqual(permits);
          const labels = notes.given.map(({ label }) => label);
          expect(labels).toEqual([...labels].sort((a, b) => a - b));
          expect([limiter.waiting, clock.pending]).toEqual([0, 0]);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('as many go as may, over a long time', async () => {
    for (const burst of [1, 3, 10]) {
      const limiter = new tasks.RateLimiter(10, 1000, { burst });
      const notes = new Notes();
      const all = Array.from({ length: 100 }, () => limiter.takeAsync().then(() => notes.note(1)));
      const begun = clock.time;
      await clock.advance(10_100);
      await Promise.all(all);
      expect(notes.most(1000)).toBe(10);
      expect((notes.given.at(-1)?.time as number) - begun).toBeLessThanOrEqual(9_910);
    }
  });

  it('a late timer costs nothing on average: the intervals may be shorter than a timer can wait', async () => {
    const limiter = new tasks.RateLimiter(1000, 1000);
    const notes = new Notes();
    const all = Array.from({ length: 3000 }, () => limiter.takeAsync().then(() => notes.note(1)));
    const begun = clock.time;
    await clock.advance(3100);
    await Promise.all(all);
    expect(notes.most(1000)).toBeLessThanOrEqual(1000);
    expect((notes.given.at(-1)?.time as number) - begun).toBeLessThanOrEqual(3010);
  });

  it('the log stays short, and forgets nothing too early', async () => {
    const limiter = new tasks.RateLimiter(5000, 1000, { burst: 5000 });
    const notes = new Notes();
    for (let i = 0; i < 6000; i++) {
      if (limiter.tryTake()) notes.note(1);
      clock.time += 0.3;
    }
    expect(limiter.inspect().taken).toBeLessThanOrEqual(5000);
    expect(notes.most(1000)).toBeLessThanOrEqual(5000);
  });
});

describe('a burst', () => {
  it('is by choice: without it permits go evenly', async () => {
    const even = new tasks.RateLimiter(4, 1000);
    const notes = new Notes();
    const all = Array.from({ length: 5 }, () => even.takeAsync().then(() => notes.note(1)));
    const begun = clock.time;
    await clock.advance(2000);
    await Promise.all(all);
    for (const [i, { time }] of notes.given.entries()) {
      expect(time - begun).toBeGreaterThanOrEqual(i * 250 - 5);
      expect(time - begun).toBeLessThanOrEqual(i * 250 + 5);
    }
  });

  it('goes at once after a pause, and then none until the window is over', async () => {
    const limiter = new tasks.RateLimiter(4, 1000, { burst: 4 });
    expect([1, 2, 3, 4, 5].map(() => limiter.tryTake())).toEqual([true, true, true, true, false]);
    clock.time += 999;
    expect(limiter.tryTake()).toBe(false);
    clock.time += 1;
    expect([limiter.tryTake(4), limiter.inspect().taken]).toEqual([true, 4]);
  });
});

describe('a clock', () => {
  it('that goes back lets no permit go too early, and stops nobody for ever', async () => {
    const limiter = new tasks.RateLimiter(2, 100, { burst: 2 });
    expect([limiter.tryTake(), limiter.tryTake(), limiter.tryTake()]).toEqual([true, true, false]);
    clock.time -= 10_000;
    expect(limiter.tryTake()).toBe(false);
    clock.time += 99;
    expect(limiter.tryTake()).toBe(false);
    clock.time += 1;
    expect([limiter.tryTake(), limiter.tryTake(), limiter.tryTake()]).toEqual([true, true, false]);
  });

  it('that a test replaces later stands still for others only', async () => {
    const limiter = new tasks.RateLimiter(1, 50);
    await limiter.takeAsync();
    vi.stubGlobal('performance', { now: () => 0 });
    vi.stubGlobal('setTimeout', () => 0);
    const next = limiter.takeAsync();
    await clock.advance(60);
    await next;
  });
});

describe('a call of a limited function', () => {
  it('is dated when it begins, also behind a busy iteration of the event loop', async () => {
    const limiter = new tasks.RateLimiter(5, 100, { burst: 5 });
    const notes = new Notes();
    const call = limiter.limit((label: number) => notes.note(1, label));
    const all = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((label) => call(label));
    clock.time += 90;
    await clock.advance(300);
    await Promise.all(all);
    expect(notes.most(100)).toBe(5);
    expect(notes.given.map(({ label }) => label)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it('waits again, in its old place, if the window has passed before it begins', async () => {
    const limiter = new tasks.RateLimiter(2, 40, { burst: 2 });
    const notes = new Notes();
    const call = limiter.limit((label: number) => notes.note(1, label));
    const all = [1, 2, 3, 4, 5].map((label) => call(label));
    clock.time += 100;
    await clock.advance(200);
    await Promise.all(all);
    expect(notes.most(40)).toBe(2);
    expect(notes.given.map(({ label }) => label)).toEqual([1, 2, 3, 4, 5]);
  });

  it('is not overtaken by tryTake, if it waits again', async () => {
    const limiter = new tasks.RateLimiter(1, 40);
    const notes = new Notes();
    const call = limiter.limit(() => notes.note(1));
    const wait = call();
    clock.time += 100;
    expect(limiter.tryTake()).toBe(false);
    await clock.advance(0);
    await wait;
    expect(notes.given.length).toBe(1);
  });

  it('may count until a window after its end', async () => {
    const limiter = new tasks.RateLimiter(2, 50, { burst: 2 });
    const times: [begun: number, ended: number][] = [];
    const call = limiter.limit(
      async () => {
        const begun = clock.time;
        await new Promise<void>((done) => clock.globals.setTimeout(done, 30));
        times.push([begun, clock.time]);
      },
      { permits: 1, until: 'end' },
    );
    const all = Array.from({ length: 6 }, () => call());
    await clock.advance(0);
    expect(limiter.inspect()).toMatchObject({ taken: 2, waiting: 4 });
    expect(limiter.dueIn()).toBe(Infinity);
    await clock.advance(400);
    await Promise.all(all);
    const begun = clock.time - 400;
    expect(times.map(([from, to]) => [from - begun, to - begun])).toEqual(
      [0, 0, 80, 80, 160, 160].map((from) => [from, from + 30]),
    );
  });
});

describe('a request', () => {
  it('that leaves has taken nothing, and those behind it move up', async () => {
    const limiter = new tasks.RateLimiter(4, 1000, { burst: 4 });
    await limiter.takeAsync(3);
    const heavy = failure(() => limiter.takeAsync(4, { timeout: 100 }));
    const light = limiter.takeAsync();
    expect(limiter.inspect().waiters).toEqual([
      { permits: 4, left: 1000 },
      { permits: 1, left: 2000 },
    ]);
    await clock.advance(101);
    expect((await heavy).message).toBe('timed out after 100 ms waiting for 4 permits of the RateLimiter (1 waiting)');
    await light;
    expect([limiter.inspect().taken, limiter.waiting, clock.pending]).toEqual([4, 0, 0]);
    const none = await failure(() => limiter.takeAsync({ timeout: 0 }));
    expect(none.name).toBe('TimeoutError');
  });

  it('ends with the limiter', async () => {
    const limiter = new tasks.RateLimiter(1, 1000);
    await limiter.takeAsync();
    const waits = [limiter.takeAsync(), limiter.takeAsync()].map((wait) => failure(() => wait));
    limiter.dispose();
    expect((await Promise.all(waits)).map(({ name }) => name)).toEqual(['DisposedError', 'DisposedError']);
    expect([clock.pending, String(limiter)]).toEqual([0, 'RateLimiter(disposed)']);
    expect((await failure(() => limiter.takeAsync())).name).toBe('DisposedError');
  });

  it('may be a call of a limited function: calls may overlap', async () => {
    const limiter = new tasks.RateLimiter(2, 100, { burst: 2 });
    const owner = {
      more: 100,
      add: limiter.limit(async function (this: unknown, a: number, b: number) {
        return (this as { more: number }).more + a + b;
      }),
    };
    const [one, two, three] = [owner.add(1, 2), owner.add(3, 4), owner.add(5, 6)];
    expect([await one, await two, limiter.waiting]).toEqual([103, 107, 1]);
    await clock.advance(101);
    expect(await three).toBe(111);
  });

  it('is one of 100,000 that wait, at a cost that does not grow', async () => {
    const limiter = new tasks.RateLimiter(100_000, 1000, { burst: 100_000 });
    await limiter.takeAsync(100_000);
    const controller = new AbortController();
    const waits = Array.from({ length: 100_000 }, (_, i) =>
      limiter.takeAsync(1, i % 2 ? { signal: controller.signal } : {}),
    );
    const outcomes = Promise.allSettled(waits);
    controller.abort();
    expect(limiter.waiting).toBe(50_000);
    await clock.advance(1001);
    expect((await outcomes).filter(({ status }) => status === 'fulfilled').length).toBe(50_000);
  });
});

it.each([
  [() => new tasks.RateLimiter(0, 1), 'RateLimiter: permits must be an integer from 1 to 2147483647, got 0'],
  [() => new tasks.RateLimiter(1, 0), 'RateLimiter: per must be an integer from 1 to 2147483647, got 0'],
  [() => new tasks.RateLimiter(2, 1, { burst: 3 }), 'burst must be an integer from 1 to 2 (its permits), got 3'],
  [
    () => new tasks.RateLimiter(2, 1, { bursts: 3 } as never),
    'RateLimiter: options must be of { burst } (perhaps burst), got "bursts"',
  ],
  [
    () => new tasks.RateLimiter(2, 1).tryTake(3),
    'RateLimiter.tryTake: permits must be an integer from 1 to 2 (its permits), got 3',
  ],
  [() => new tasks.RateLimiter(2, 1).limit(1 as never), 'RateLimiter.limit: run must be a function, got 1'],
])('bad arguments are named: %#', async (call, message) => {
  expect((await failure(call)).message).toContain(message);
});

it('a wait that nobody awaits is no wait', async () => {
  const limiter = new tasks.RateLimiter(1, 10);
  await limiter.takeAsync();
  const next = limiter.takeAsync();
  expect(await isSettled(next)).toBe(false);
  await clock.advance(11);
  expect(await isSettled(next)).toBe(true);
});
