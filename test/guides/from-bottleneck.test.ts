/** The rows of docs/guides/from-bottleneck.md. */
import Bottleneck from 'bottleneck';
import { KeyedRateLimiter, KeyedSemaphore, RateLimiter, Semaphore } from 'taketurns/tasks';
import { begins, guide, mostAtOnce, mostWithin, outcome, pause, span } from './rows.js';

const add = async (a: number, b: number): Promise<number> => a + b;
const never = (): Promise<never> => new Promise(() => {});

guide('from-bottleneck.md', {
  '`maxConcurrent: n`': [
    () => mostAtOnce((f) => new Bottleneck({ maxConcurrent: 2 }).wrap(f), 6),
    () => mostAtOnce((f) => new Semaphore(2).limit(f), 6),
    2,
  ],
  '`minTime: ms`': [
    async () => span(await begins((f) => new Bottleneck({ minTime: 50 }).wrap(f), 4)) > 50,
    async () => span(await begins((f) => new RateLimiter(1, 50).limit(f), 4)) > 50,
    true,
  ],
  '`reservoir: n`, `reservoirRefreshInterval: ms`': [
    // Five calls just before the reservoir is filled up, and five more then.
    async () => {
      const filled = { reservoir: 5, reservoirRefreshAmount: 5, reservoirRefreshInterval: 1500 };
      const limiter = new Bottleneck(filled);
      await pause(1000);
      const times = await begins((f) => limiter.wrap(f), 10);
      await limiter.disconnect();
      return mostWithin(750, times);
    },
    async () => {
      const rate = new RateLimiter(5, 1500, { burst: 5 });
      await pause(1000);
      return mostWithin(750, await begins((f) => rate.limit(f), 10));
    },
    10,
    5,
  ],
  '`limiter.schedule(f, ...args)`': [
    () => new Bottleneck({ minTime: 1 }).schedule(add, 1, 2),
    async () => {
      const rate = new RateLimiter(10, 10);
      const wrapped = await rate.limit(add)(1, 2);
      await rate.takeAsync();
      return wrapped === (await add(1, 2)) && wrapped;
    },
    3,
  ],
  '`limiter.submit`, with a callback': null,
  'the `weight` of a job': [
    async () => {
      const limiter = new Bottleneck({ reservoir: 5, maxConcurrent: 5 });
      await limiter.schedule({ weight: 3 }, add, 1, 2);
      return limiter.currentReservoir();
    },
    async () => {
      const [rate, pool] = [new RateLimiter(5, 60_000, { burst: 5 }), new Semaphore(5)];
      await rate.takeAsync(3);
      await pool.acquireAsync(3);
      return rate.tryTake(3) || pool.available !== 2 ? 'wrong' : 5 - rate.inspect().taken;
    },
    2,
  ],
  'the `priority` of a job': null,
  'the `expiration` of a job': null,
  '`highWater`, `strategy`': [
    async () => {
      const strategy = Bottleneck.strategy.OVERFLOW;
      const limiter = new Bottleneck({ maxConcurrent: 1, highWater: 1, strategy });
      const call = limiter.wrap(async (n: number) => pause(300).then(() => n));
      const ends = await Promise.all([1, 2, 3].map((n) => outcome(() => call(n))));
      return ends.map((end) => (typeof end === 'number' ? end : 'refused'));
    },
    async () => {
      const pool = new Semaphore(1);
      const call = pool.limit(async (n: number) => pause(300).then(() => n));
      const callOrRefuse = (n: number) => (pool.waiting >= 1 ? 'refused' : call(n));
      return Promise.all([1, 2, 3].map(callOrRefuse));
    },
    [1, 2, 'refused'],
  ],
  '`limiter.chain(other)`': [
    () =>
      mostAtOnce((f) => {
        const limiter = new Bottleneck({ minTime: 1 });
        limiter.chain(new Bottleneck({ maxConcurrent: 1 }));
        return limiter.wrap(f);
      }, 4),
    () => mostAtOnce((f) => new Semaphore(1).limit(new RateLimiter(1, 1).limit(f)), 4),
    1,
  ],
  '`new Bottleneck.Group()`, `group.key(k)`': [
    async () => {
      const group = new Bottleneck.Group({ maxConcurrent: 1, reservoir: 2 });
      const most = await Promise.all(['a', 'b'].map((key) => mostAtOnce((f) => group.key(key).wrap(f), 2)));
      return [most, await group.key('a').currentReservoir(), await group.key('c').currentReservoir()];
    },
    async () => {
      const [pools, rates] = [new KeyedSemaphore(1), new KeyedRateLimiter(2, 60_000, { burst: 2 })];
      const wrap = (key: string) => (f: (n: number) => Promise<number>) => (n: number) =>
        pools.limit((_: string, n: number) => rates.limit((_: string, n: number) => f(n))(key, n))(key, n);
      const most = await Promise.all(['a', 'b'].map((key) => mostAtOnce(wrap(key), 2)));
      return [most, 2 - rates.inspect('a').taken, 2 - rates.inspect('c').taken];
    },
    [[1, 1], 0, 2],
  ],
  '`limiter.stop()`': [
    async () => {
      const limiter = new Bottleneck({ reservoir: 0 });
      const waits = outcome(() => limiter.schedule(add, 1, 2));
      await limiter.stop({ dropWaitingJobs: true });
      return [await waits, await outcome(() => limiter.schedule(add, 1, 2))].map((end) => `${end}`.slice(0, 7));
    },
    async () => {
      const rate = new RateLimiter(1, 60_000);
      await rate.takeAsync();
      const waits = outcome(() => rate.takeAsync());
      rate.dispose();
      return [await waits, await outcome(() => rate.takeAsync())].map((end) => `${end}`.slice(0, 7));
    },
    ['refused', 'refused'],
  ],
  'the event `failed`, with a number of milliseconds, which tries again': null,
  '`limiter.counts()`': [
    () => {
      const limiter = new Bottleneck({ maxConcurrent: 1 });
      for (let i = 0; i < 3; i++) limiter.schedule(never).catch(() => {});
      const { RECEIVED, QUEUED, RUNNING, EXECUTING } = limiter.counts();
      return RECEIVED + QUEUED + RUNNING + EXECUTING;
    },
    () => {
      const [pool, rate] = [new Semaphore(1), new RateLimiter(1, 60_000)];
      for (let i = 0; i < 3; i++) {
        pool.runExclusive(never);
        rate.takeAsync();
      }
      const { out, waiting } = pool.inspect();
      return rate.inspect().taken + rate.inspect().waiting === out + waiting && out + waiting;
    },
    3,
  ],
  "`datastore: 'redis'`": null,
});
