/** Rates of all processes of a space. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { startServer } from '../servers/servers.js';
import { CancelledError, DisposedError, TimeoutError } from '../src/errors.js';
import type { RateLimiter } from '../src/objects/rate-limiter.js';
import { Space } from '../src/space/space.js';
import { onEachServer } from './each-server.js';
import { onForms } from './forms.js';
import { onServers, until } from './setting.js';

/** Longer than any test. */
const LONG = 1_000_000;

const failure = async (work: Promise<unknown>): Promise<Error> => {
  const result = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(result).toBeInstanceOf(Error);
  return result as Error;
};

/** The most calls in a window of so many milliseconds. */
function mostIn(begins: readonly number[], per: number): number {
  const sorted = [...begins].sort((a, b) => a - b);
  let [most, first] = [0, 0];
  for (const [at, time] of sorted.entries()) {
    while (time - (sorted[first] as number) >= per) first++;
    most = Math.max(most, at - first + 1);
  }
  return most;
}

onForms('rates', ({ join, cut, forget }) => {
  test('a burst goes at once, and then nothing until the window is over', async () => {
    const [a, b] = [await join(), await join()];
    const [mine, yours] = [
      await a.rateLimiter('api', 5, LONG, { burst: 5 }),
      await b.rateLimiter('api', 5, LONG, { burst: 5 }),
    ];
    await mine.takeAsync(2);
    expect(await yours.tryTake(4)).toBe(false);
    expect(await yours.tryTake(3)).toBe(true);
    expect([await mine.tryTake(), await yours.tryTake()]).toEqual([false, false]);
    expect(await mine.inspect()).toMatchObject({ permits: 5, per: LONG, burst: 5, taken: 5, reserved: 0 });
    expect(await yours.dueIn()).toBeGreaterThan(LONG / 2);
    expect(String(mine)).toBe(`RateLimiter("api": 5 in ${LONG} ms)`);
  });

  test('a listener for metrics does not come between the look at the clock and the call', async () => {
    const space = await join();
    const order: string[] = [];
    space.on('metric', ({ event }) => order.push(event));
    const rate = await space.rateLimiter('api', 5, LONG, { burst: 5 });
    await rate.limit(() => order.push('call'))();
    const fails = rate.limit(() => {
      throw new Error('no');
    });
    expect((await failure(fails())).message).toBe('no');
    expect(order).toEqual(['call', 'begin', 'begin']);
  });

  test('no window has one too many, and the dates are those of the order of the calls', async () => {
    const [a, b] = [await join(), await join()];
    const options = { burst: 5, slack: 100 };
    const rates = [await a.rateLimiter('api', 10, 200, options), await b.rateLimiter('api', 10, 200, options)];
    const begins: number[] = [];
    const order: number[] = [];
    const calls = Array.from({ length: 40 }, (_, i) => {
      const begin = (rates[i % 2] as RateLimiter).limit(() => {
        begins.push(performance.now());
        if (i % 2 === 0) order.push(i);
      });
      return begin();
    });
    await Promise.all(calls);
    expect(begins.length).toBe(40);
    expect(mostIn(begins, 200)).toBeLessThanOrEqual(10);
  });

  test('a time-out rejects at once if the date is later, and takes nothing', async () => {
    const space = await join();
    const rate = await space.rateLimiter('api', 2, LONG, { burst: 2 });
    await rate.takeAsync();
    expect(await failure(rate.takeAsync(2, { timeout: 60_000 }))).toBeInstanceOf(TimeoutError);
    expect(await rate.tryTake()).toBe(true);
  });

  test('what a signal gives back is a hole, which the next request takes', async () => {
    const [a, b] = [await join(), await join()];
    const [mine, yours] = [await a.rateLimiter('api', 1, LONG), await b.rateLimiter('api', 1, LONG)];
    await mine.takeAsync();
    const abortion = new AbortController();
    const wait = failure(mine.takeAsync({ signal: abortion.signal }));
    await until(async () => (await yours.inspect()).reserved === 1);
    const behind = await yours.dueIn();
    expect(behind).toBeGreaterThan(1.5 * LONG);
    abortion.abort(new SyntaxError('enough'));
    expect((await wait).message).toBe('enough');
    await until(async () => (await yours.inspect()).reserved === 0);
    expect(await yours.dueIn()).toBeLessThan(1.2 * LONG);
  });

  test('a pause moves the dates of those who wait', async () => {
    const [a, b] = [await join(), await join()];
    const [mine, yours] = [await a.rateLimiter('api', 1, 300), await b.rateLimiter('api', 1, 300)];
    await mine.takeAsync();
    const before = performance.now();
    const wait = mine.limit(() => performance.now())();
    await until(async () => (await yours.inspect()).reserved === 1);
    await mine.pause(1500);
    expect(await yours.tryTake()).toBe(false);
    expect((await wait) - before).toBeGreaterThan(1500);
  });

  test('a pause that another process makes is heard before the date', async () => {
    const [a, b] = [await join(), await join()];
    const options = { burst: 2 };
    const [mine, yours] = [await a.rateLimiter('api', 2, 400, options), await b.rateLimiter('api', 2, 400, options)];
    await mine.takeAsync(2);
    const before = performance.now();
    const waits = [mine.limit(() => performance.now())(), mine.limit(() => performance.now())()];
    await until(async () => (await yours.inspect()).reserved === 2);
    await yours.pause(900);
    const [first, second] = (await Promise.all(waits)) as [number, number];
    expect(first - before).toBeGreaterThan(900);
    expect(second - before).toBeGreaterThan(900);
  });

  test('cancelAll ends the waits of all processes, and their dates are free', async () => {
    const [a, b] = [await join(), await join()];
    const options = { burst: 2 };
    const [mine, yours] = [await a.rateLimiter('api', 2, LONG, options), await b.rateLimiter('api', 2, LONG, options)];
    await mine.takeAsync(2);
    const waits = [failure(mine.takeAsync()), failure(yours.takeAsync())];
    await until(async () => (await yours.inspect()).reserved === 2);
    await mine.cancelAll();
    for (const error of await Promise.all(waits)) expect(error).toBeInstanceOf(CancelledError);
    await until(async () => (await yours.inspect()).reserved === 0);
    const later = failure(mine.takeAsync({ timeout: 10_000 }));
    expect(await later).toBeInstanceOf(TimeoutError);
  });

  test('waiting counts the requests of this process, however they end', async () => {
    const [a, b] = [await join(), await join()];
    const options = { burst: 2 };
    const [mine, yours] = [await a.rateLimiter('api', 2, LONG, options), await b.rateLimiter('api', 2, LONG, options)];
    const users = a.keyedRateLimiter('users', 1, LONG);
    for (const key of ['Ann', 'Bob']) await users.takeAsync(key);
    await mine.takeAsync(2);
    expect(await mine.tryTake()).toBe(false);
    expect([mine.waiting, yours.waiting, users.waiting]).toEqual([0, 0, 0]);
    const abortion = new AbortController();
    const waits = [
      failure(mine.takeAsync({ signal: abortion.signal })),
      failure(mine.limit(() => {})()),
      failure(users.takeAsync('Ann')),
      failure(users.takeAsync('Bob')),
    ];
    expect([mine.waiting, yours.waiting, users.waiting]).toEqual([2, 0, 2]);
    await until(async () => (await yours.inspect()).reserved === 2);
    expect([mine.waiting, yours.waiting, users.waiting]).toEqual([2, 0, 2]);
    abortion.abort(new SyntaxError('enough'));
    await waits[0];
    await users.cancelAll('Ann');
    await waits[2];
    expect([mine.waiting, users.waiting]).toEqual([1, 1]);
    await failure(mine.takeAsync({ timeout: 1 }));
    expect(mine.waiting).toBe(1);
    await a.close();
    await Promise.all(waits);
    expect([mine.waiting, users.waiting]).toEqual([0, 0]);
  });

  test('a call that runs does not wait any more', async () => {
    const rate = await (await join()).rateLimiter('api', 1, LONG);
    expect(await rate.limit(() => rate.waiting)()).toBe(0);
  });

  test('the dates of a process that has ended are free', async () => {
    const [a, b] = [await join(), await join()];
    const [mine, yours] = [await a.rateLimiter('api', 1, LONG), await b.rateLimiter('api', 1, LONG)];
    await mine.takeAsync();
    const wait = failure(mine.takeAsync());
    await until(async () => (await yours.inspect()).reserved === 1);
    await a.close();
    expect(await wait).toBeInstanceOf(DisposedError);
    await until(async () => (await yours.inspect()).reserved === 0);
    expect(await yours.dueIn()).toBeLessThan(1.2 * LONG);
  });

  test('each key has a rate of its own', async () => {
    const [a, b] = [await join(), await join()];
    const [mine, yours] = [
      a.keyedRateLimiter('users', 2, LONG, { burst: 2 }),
      b.keyedRateLimiter('users', 2, LONG, { burst: 2 }),
    ];
    await mine.takeAsync('Ann', 2);
    expect([await yours.tryTake('Ann'), await yours.tryTake('Bob'), await yours.tryTake(1)]).toEqual([
      false,
      true,
      true,
    ]);
    expect(await yours.tryTake('1', 2)).toBe(true);
    expect(await mine.limit((key: string, n: number) => `${key} ${n}`)('Bob', 5)).toBe('Bob 5');
    expect(await mine.dueIn('Ann')).toBeGreaterThan(LONG / 2);
    await mine.spend('Ann', -1);
    expect((await yours.inspect('Ann')).taken).toBe(1);
    const wait = failure(mine.takeAsync('Ann', 2));
    await until(async () => (await yours.inspect('Ann')).reserved === 2);
    await yours.cancelAll('Ann');
    expect(await wait).toBeInstanceOf(CancelledError);
    await yours.pause('Carl', LONG);
    expect(await mine.tryTake('Carl')).toBe(false);
    expect(String(mine)).toBe(`KeyedRateLimiter("users": 2 in ${LONG} ms)`);
    // The rate of this name is another one.
    expect(await (await a.rateLimiter('users', 1, LONG)).tryTake()).toBe(true);
  });

  test('a key counts by the numbers of each caller', async () => {
    const space = await join();
    const few = space.keyedRateLimiter('users', 1, LONG);
    const many = space.keyedRateLimiter('users', 3, LONG, { burst: 3 });
    expect([await few.tryTake('Ann'), await few.tryTake('Ann')]).toEqual([true, false]);
    expect([await many.tryTake('Ann', 2), await many.tryTake('Ann')]).toEqual([true, false]);
  });

  test('spend goes into debt, and gives back what was not used', async () => {
    const space = await join();
    const rate = await space.rateLimiter('tokens', 100, LONG, { burst: 100 });
    await rate.takeAsync(40);
    await rate.spend(100);
    expect(await rate.inspect()).toMatchObject({ taken: 140 });
    expect(await rate.tryTake()).toBe(false);
    await rate.spend(-100);
    expect(await rate.inspect()).toMatchObject({ taken: 40 });
    expect(await rate.tryTake(60)).toBe(true);
  });

  test('resize gives other numbers to all, and whoever opens the rate later gets them too', async () => {
    const [a, b] = [await join(), await join()];
    const [mine, yours] = [
      await a.rateLimiter('api', 2, LONG, { burst: 2 }),
      await b.rateLimiter('api', 2, LONG, { burst: 2 }),
    ];
    await mine.takeAsync(2);
    await yours.resize(5, LONG, { burst: 5 });
    expect(await mine.tryTake(3)).toBe(true);
    expect(mine.permits).toBe(5);
    expect(await mine.tryTake()).toBe(false);
    expect((await a.rateLimiter('api', 2, LONG)).permits).toBe(5);
    await yours.resize(1);
    expect((await failure(mine.takeAsync(3))).message).toBe('"api" has 1 permit in a window, and 3 are asked for');
  });

  test('a rate with other numbers is refused, and the error says which it has', async () => {
    const space = await join();
    const rate = await space.rateLimiter('api', 2, LONG);
    await rate.takeAsync();
    const error = await failure(space.rateLimiter('api', 3, LONG));
    expect(error).toBeInstanceOf(RangeError);
    expect(error.message).toBe(
      `Space.rateLimiter: "api" exists already, as a rate of 2 in ${LONG} ms with a burst of 1, not 3 in ${LONG} ms with a burst of 1`,
    );
  });

  test('what a process knows to be taken counts also after the space has lost its data', async () => {
    const space = await join();
    const rate = await space.rateLimiter('api', 3, LONG, { burst: 3 });
    await rate.takeAsync(3);
    await forget();
    expect(await rate.tryTake()).toBe(false);
    // Later than the second in which a new history waits for those who know what was lost.
    await sleep(1200);
    expect(await rate.tryTake()).toBe(false);
  });

  test('a pause goes on after the space has lost its data', async () => {
    const [a, b] = [await join(), await join()];
    const [mine, yours] = [await a.rateLimiter('api', 3, 300), await b.rateLimiter('api', 3, 300)];
    await mine.pause(LONG);
    await forget();
    await until(async () => (await yours.dueIn()) > LONG / 2);
  });

  test('a process that has not asked for long pauses those who wait', async () => {
    const early = await join();
    const options = { burst: 9, slack: 50 };
    const old = await early.rateLimiter('api', 9, 600, options);
    await old.takeAsync(9);
    await old.takeAsync(9);
    // The state of the rate goes, and with it what was given: a new process knows less than this one.
    await sleep(1500);
    const rate = await (await join()).rateLimiter('api', 9, 600, options);
    await rate.takeAsync(7);
    const before = performance.now();
    const wait = rate.limit(() => performance.now(), 3)();
    await sleep(50);
    await old.pause(1500);
    expect((await wait) - before).toBeGreaterThan(1500);
  });

  test('a process that has not asked for long cancels those who wait', async () => {
    const early = await join();
    const options = { burst: 9, slack: 50 };
    const old = await early.rateLimiter('api', 9, 300, options);
    await old.takeAsync(9);
    await old.takeAsync(9);
    await sleep(1000);
    const rate = await (await join()).rateLimiter('api', 9, 300, options);
    await rate.pause(LONG);
    const wait = failure(rate.takeAsync());
    await sleep(50);
    await old.cancelAll();
    expect(await wait).toBeInstanceOf(CancelledError);
  });

  test('other numbers than those of an open limiter are refused, also if the server knows none', async () => {
    const space = await join();
    const rate = await space.rateLimiter('api', 2, LONG);
    expect(await failure(space.rateLimiter('api', 3, LONG))).toBeInstanceOf(RangeError);
    expect(rate.permits).toBe(2);
    await rate.resize(5);
    await forget();
    expect((await space.rateLimiter('api', 2, LONG)).permits).toBe(5);
  });

  test('a quota of a day goes on when all processes have ended', async () => {
    const space = await join();
    const numbers = ['quota', 2, 86_400_000, { burst: 2 }] as const;
    await (await space.rateLimiter(...numbers)).takeAsync(2);
    await space.close();
    const rate = await (await join()).rateLimiter(...numbers);
    expect(await rate.tryTake()).toBe(false);
    expect(await rate.dueIn()).toBeGreaterThan(86_000_000);
  });

  test('a wait goes on over a cut of the connections', async () => {
    const space = await join();
    const rate = await space.rateLimiter('api', 1, 300);
    await rate.takeAsync();
    const wait = rate.takeAsync();
    await cut();
    await wait;
    await rate.takeAsync();
  });

  test('close ends all waits', async () => {
    const space = await join();
    const rate = await space.rateLimiter('api', 1, LONG);
    await rate.takeAsync();
    const wait = failure(rate.takeAsync());
    await until(async () => (await rate.inspect()).reserved === 1);
    await space.close();
    expect(await wait).toBeInstanceOf(DisposedError);
    expect(await failure(rate.takeAsync())).toBeInstanceOf(DisposedError);
  });
});

onServers('rates', ({ another, key, join, end }) => {
  test('an answer that comes later than the slack allows uses up no permit', async () => {
    const rate = await (await join()).rateLimiter('api', 1, LONG, { slack: 20 });
    await rate.inspect();
    // The process is busy for longer than the slack between any two events.
    let isOver = false;
    const block = (): void => {
      const end = performance.now() + 40;
      while (performance.now() < end);
      if (!isOver) setImmediate(block);
    };
    block();
    const isTaken = await rate.tryTake();
    isOver = true;
    expect(isTaken).toBe(true);
    expect(await rate.inspect()).toMatchObject({ taken: 1 });
    expect(await rate.tryTake()).toBe(false);
  });

  test('a process that has lost its session gives up the dates that are free again', async () => {
    const [a, b] = [await join({ lease: 500 }), await join({ lease: 500 })];
    const [mine, yours] = [await a.rateLimiter('api', 1, 2000), await b.rateLimiter('api', 1, 2000)];
    await mine.takeAsync();
    const begins: number[] = [];
    const note = (): number => begins.push(performance.now());
    const wait = mine.limit(note)();
    await until(async () => (await yours.inspect()).reserved === 1);
    const { sessions } = await a.inspect();
    for (const { session } of sessions) await end(session);
    await until(async () => (await yours.inspect()).reserved === 0);
    await Promise.all([wait, yours.limit(note)()]);
    const [first = 0, second = 0] = begins;
    expect(Math.abs(second - first)).toBeGreaterThan(1990);
  });

  test('the server forgets a key when nothing of it counts', async () => {
    const space = await join();
    const users = space.keyedRateLimiter('users', 1, 50, { slack: 1000 });
    for (let user = 0; user < 20; user++) await users.takeAsync(user);
    await until(async () => (await another().keys(`${key('rate:')}*`)).length === 0);
    expect(await users.tryTake(0)).toBe(true);
  });
});

onEachServer((binary) => {
  test('a quota of a day goes on after a restart of the server', async () => {
    const server = await startServer({ server: binary, args: ['--appendonly', 'yes', '--appendfsync', 'always'] });
    onTestFinished(() => server.kill());
    const client = new Redis(server.url, { lazyConnect: true });
    client.on('error', () => {});
    const space = await Space.connect(client, { space: 'quota', lease: 500 });
    const rate = await space.rateLimiter('quota', 2, 86_400_000, { burst: 2 });
    await rate.takeAsync(2);
    await server.restart({ kill: true, keepData: true });
    const other = await Space.connect(client, { space: 'quota', lease: 500 });
    const again = await other.rateLimiter('quota', 2, 86_400_000, { burst: 2 });
    expect(await again.tryTake()).toBe(false);
    expect(await again.dueIn()).toBeGreaterThan(86_000_000);
    await space.close();
    await other.close();
    client.disconnect();
  });

  test('what is given back while no server answers goes back when one does', async () => {
    const server = await startServer({ server: binary, args: ['--appendonly', 'yes', '--appendfsync', 'always'] });
    onTestFinished(() => server.kill());
    const client = new Redis(server.url, { lazyConnect: true });
    client.on('error', () => {});
    const space = await Space.connect(client, { space: 'tokens' });
    const rate = await space.rateLimiter('tokens', 100, LONG, { burst: 100 });
    await rate.takeAsync(40);
    const trouble = new Promise<void>((resolve) => space.on('trouble', () => resolve()));
    const restarted = server.restart({ kill: true, keepData: true });
    await trouble;
    await rate.spend(-30);
    expect(await rate.inspect()).toMatchObject({ taken: 10 });
    await restarted;
    await space.close();
    client.disconnect();
  });
}, 'first');
