/** The rows of docs/guides/from-limiter.md. */
import * as limiter from 'limiter';
import { RateLimiter } from 'taketurns/tasks';
import { begins, guide, mostWithin, pause } from './rows.js';

const HOUR = 3_600_000;
const hourly = (n: number): limiter.RateLimiter => new limiter.RateLimiter({ tokensPerInterval: n, interval: HOUR });

guide('from-limiter.md', {
  '`new RateLimiter({ tokensPerInterval: n, interval: ms })`': [
    // One call, then four at the end of its interval, and others at the beginning of the next.
    async () => {
      const theirs = new limiter.RateLimiter({ tokensPerInterval: 5, interval: 1500 });
      const wrap = (f: (n: number) => Promise<number>) => (n: number) => theirs.removeTokens(1).then(() => f(n));
      return mostWithin(750, await begins(wrap, 1, 1000, 9)) > 5;
    },
    async () => mostWithin(750, await begins((f) => new RateLimiter(5, 1500, { burst: 5 }).limit(f), 1, 1000, 9)) > 5,
    true,
    false,
  ],
  "`interval: 'second'`": [
    async () => {
      const theirs = new limiter.RateLimiter({ tokensPerInterval: 1, interval: 'second' });
      const times = await begins((f) => (n) => theirs.removeTokens(1).then(() => f(n)), 2);
      return mostWithin(900, times);
    },
    async () => mostWithin(900, await begins((f) => new RateLimiter(1, 1000).limit(f), 2)),
    1,
  ],
  '`await limiter.removeTokens(k)`': [
    async () => {
      const theirs = hourly(5);
      await theirs.removeTokens(3);
      return [theirs.tryRemoveTokens(3), theirs.tryRemoveTokens(2)];
    },
    async () => {
      const rate = new RateLimiter(5, HOUR, { burst: 5 });
      await rate.takeAsync(3);
      return [rate.tryTake(3), rate.tryTake(2)];
    },
    [false, true],
  ],
  '`limiter.tryRemoveTokens(k)`': [
    () => {
      const theirs = hourly(2);
      return [theirs.tryRemoveTokens(1), theirs.tryRemoveTokens(2), theirs.tryRemoveTokens(1)];
    },
    () => {
      const rate = new RateLimiter(2, HOUR, { burst: 2 });
      return [rate.tryTake(1), rate.tryTake(2), rate.tryTake(1)];
    },
    [true, false, true],
  ],
  '`limiter.getWaitTime(k)`': [
    () => {
      const theirs = hourly(1);
      const before = theirs.getWaitTime(1);
      theirs.tryRemoveTokens(1);
      return [before, theirs.getWaitTime(1) > HOUR / 2];
    },
    () => {
      const rate = new RateLimiter(1, HOUR);
      const before = rate.dueIn(1);
      rate.tryTake(1);
      return [before, rate.dueIn(1) > HOUR / 2];
    },
    [0, true],
  ],
  '`limiter.getTokensRemaining()`': [
    () => {
      const theirs = hourly(5);
      theirs.tryRemoveTokens(3);
      return Math.floor(theirs.getTokensRemaining());
    },
    () => {
      const rate = new RateLimiter(5, HOUR, { burst: 5 });
      rate.tryTake(3);
      return rate.dueIn(2) === 0 && rate.permits - rate.inspect().taken;
    },
    2,
  ],
  '`fireImmediately: true`, and an answer of -1': [
    async () => {
      const theirs = new limiter.RateLimiter({ tokensPerInterval: 1, interval: HOUR, fireImmediately: true });
      return [(await theirs.removeTokens(1)) >= 0, (await theirs.removeTokens(1)) >= 0];
    },
    () => {
      const rate = new RateLimiter(1, HOUR);
      return [rate.tryTake(), rate.tryTake()];
    },
    [true, false],
  ],
  '`new TokenBucket({ bucketSize: b, tokensPerInterval: n, interval: ms })`': [
    async () => {
      const bucket = new limiter.TokenBucket({ bucketSize: 5, tokensPerInterval: 5, interval: 300 });
      const atFirst = bucket.tryRemoveTokens(1);
      await pause(400);
      const times = await begins((f) => (n) => bucket.removeTokens(1).then(() => f(n)), 9);
      return [atFirst, mostWithin(290, times) > 5];
    },
    async () => {
      const rate = new RateLimiter(5, 300, { burst: 5 });
      const atFirst = rate.tryTake();
      await pause(400);
      return [atFirst, mostWithin(290, await begins((f) => rate.limit(f), 9)) > 5];
    },
    [false, true],
    [true, false],
  ],
  '`parentBucket`': [
    () => {
      const options = { tokensPerInterval: 3, interval: HOUR };
      const all = new limiter.TokenBucket({ ...options, bucketSize: 3 });
      all.content = 3;
      const mine = [1, 2].map(() => new limiter.TokenBucket({ ...options, bucketSize: 2, parentBucket: all }));
      for (const one of mine) one.content = 2;
      return mine.flatMap((one) => [one.tryRemoveTokens(1), one.tryRemoveTokens(1)]);
    },
    async () => {
      const all = new RateLimiter(3, HOUR, { burst: 3 });
      const mine = [1, 2].map(() => new RateLimiter(2, HOUR, { burst: 2 }));
      const calls = mine.map((one) => all.limit(one.limit(async () => true)));
      const ends = calls.flatMap((call) => [call(), call()]);
      await pause(1);
      return Promise.all(ends.map((end) => Promise.race([end, pause(20).then(() => false)])));
    },
    [true, true, true, false],
  ],
});
