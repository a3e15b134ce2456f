/** The rows of docs/guides/from-rate-limiter-flexible.md. */
import {
  BurstyRateLimiter,
  RateLimiterMemory,
  RateLimiterQueue,
  type RateLimiterRes,
  RateLimiterUnion,
} from 'rate-limiter-flexible';
import { KeyedRateLimiter } from 'taketurns/tasks';
import { begins, guide, span } from './rows.js';

const MINUTE = 60_000;
const theirs = (points = 2, more: object = {}): RateLimiterMemory =>
  new RateLimiterMemory({ points, duration: 60, ...more });
const ours = (permits = 2): KeyedRateLimiter => new KeyedRateLimiter(permits, MINUTE, { burst: permits });

/** Whether points were given: a refusal is a rejection there. */
const given = (consumed: Promise<unknown>): Promise<boolean> =>
  consumed.then(
    () => true,
    () => false,
  );

guide('from-rate-limiter-flexible.md', {
  '`new RateLimiterMemory({ points: n, duration: s })`': [
    async () => {
      const limiter = theirs();
      const answers = [];
      for (const key of ['a', 'a', 'a', 'b']) answers.push(await given(limiter.consume(key)));
      return answers;
    },
    () => {
      const users = ours();
      return ['a', 'a', 'a', 'b'].map((key) => users.tryTake(key));
    },
    [true, true, false, true],
  ],
  '`await limiter.consume(key)`, which rejects': [
    async () => {
      const limiter = theirs(1);
      return [await given(limiter.consume('a')), await given(limiter.consume('a'))];
    },
    () => {
      const users = ours(1);
      return [users.tryTake('a'), users.tryTake('a')];
    },
    [true, false],
  ],
  '`limiter.consume(key, k)`': [
    async () => {
      const limiter = theirs(3);
      const answers = [];
      for (const points of [2, 2, 1]) answers.push(await given(limiter.consume('a', points)));
      return answers;
    },
    () => {
      const users = ours(3);
      return [2, 2, 1].map((permits) => users.tryTake('a', permits));
    },
    [true, false, false],
    [true, false, true],
  ],
  '`msBeforeNext`': [
    async () => {
      const limiter = theirs(1);
      await limiter.consume('a');
      const { msBeforeNext } = await limiter.consume('a').catch((refused: RateLimiterRes) => refused);
      return Math.ceil(msBeforeNext / MINUTE);
    },
    () => {
      const users = ours(1);
      users.tryTake('a');
      return Math.ceil(users.dueIn('a') / MINUTE);
    },
    1,
  ],
  '`remainingPoints`, `consumedPoints`': [
    async () => {
      const { remainingPoints, consumedPoints } = await theirs(5).consume('a', 2);
      return [remainingPoints, consumedPoints];
    },
    () => {
      const users = ours(5);
      users.tryTake('a', 2);
      const { taken } = users.inspect('a');
      return [users.permits - taken, taken];
    },
    [3, 2],
  ],
  '`limiter.get(key)`': [
    async () => {
      const limiter = theirs();
      await limiter.consume('a');
      return (await limiter.get('a'))?.consumedPoints;
    },
    () => {
      const users = ours();
      users.tryTake('a');
      return users.inspect('a').taken;
    },
    1,
  ],
  '`limiter.penalty(key, k)`': [
    async () => {
      const limiter = theirs(3);
      await limiter.penalty('a', 2);
      return [await given(limiter.consume('a')), await given(limiter.consume('a'))];
    },
    () => {
      const users = ours(3);
      users.spend('a', 2);
      return [users.tryTake('a'), users.tryTake('a')];
    },
    [true, false],
  ],
  '`limiter.reward(key, k)`': [
    async () => {
      const limiter = theirs(1);
      await limiter.consume('a');
      await limiter.reward('a', 1);
      return given(limiter.consume('a'));
    },
    () => {
      const users = ours(1);
      users.tryTake('a');
      users.spend('a', -1);
      return users.tryTake('a');
    },
    true,
  ],
  '`limiter.block(key, s)`': [
    async () => {
      const limiter = theirs();
      await limiter.block('a', 30);
      return [await given(limiter.consume('a')), await given(limiter.consume('b'))];
    },
    () => {
      const users = ours();
      users.pause('a', 30_000);
      return [users.tryTake('a'), users.tryTake('b')];
    },
    [false, true],
  ],
  '`limiter.delete(key)`': [
    async () => {
      const limiter = theirs();
      await limiter.consume('a', 2);
      await limiter.delete('a');
      return given(limiter.consume('a', 2));
    },
    () => {
      const users = ours();
      users.tryTake('a', 2);
      users.spend('a', -users.inspect('a').taken);
      return users.tryTake('a', 2);
    },
    true,
  ],
  '`blockDuration: s`': [
    async () => {
      const limiter = theirs(1, { blockDuration: 300 });
      await limiter.consume('a');
      const { msBeforeNext } = await limiter.consume('a').catch((refused: RateLimiterRes) => refused);
      return Math.ceil(msBeforeNext / MINUTE);
    },
    () => {
      const users = ours(1);
      const consume = () => users.tryTake('a') || users.pause('a', 300_000);
      consume();
      consume();
      return Math.ceil(users.dueIn('a') / MINUTE);
    },
    5,
  ],
  '`execEvenly: true`': [
    async () => {
      const limiter = new RateLimiterMemory({ points: 4, duration: 1, execEvenly: true });
      return span(await begins((f) => (n) => limiter.consume('a').then(() => f(n)), 3)) > 100;
    },
    async () => {
      const users = new KeyedRateLimiter(4, 1000);
      return span(await begins((f) => (n) => users.takeAsync('a').then(() => f(n)), 3)) > 100;
    },
    true,
  ],
  '`new RateLimiterQueue(limiter)`, `removeTokens(k, key)`': [
    async () => {
      const queue = new RateLimiterQueue(new RateLimiterMemory({ points: 2, duration: 1 }));
      const order: number[] = [];
      await Promise.all([1, 2, 3].map((n) => queue.removeTokens(1, 'a').then(() => order.push(n))));
      return order;
    },
    async () => {
      const users = new KeyedRateLimiter(2, 1000, { burst: 2 });
      const order: number[] = [];
      await Promise.all([1, 2, 3].map((n) => users.takeAsync('a', 1).then(() => order.push(n))));
      return order;
    },
    [1, 2, 3],
  ],
  '`new RateLimiterUnion(a, b)`': [
    async () => {
      const [a, b] = [theirs(2, { keyPrefix: 'a' }), theirs(1, { keyPrefix: 'b' })];
      const both = new RateLimiterUnion(a, b);
      return [await given(both.consume('key')), await given(both.consume('key'))];
    },
    () => {
      const [a, b] = [ours(2), ours(1)];
      const both = (key: string): boolean => {
        if (!a.tryTake(key)) return false;
        const isGiven = b.tryTake(key);
        if (!isGiven) a.spend(key, -1);
        return isGiven;
      };
      return [both('key'), both('key')];
    },
    [true, false],
  ],
  '`new BurstyRateLimiter(a, b)`': [
    async () => {
      const both = new BurstyRateLimiter(theirs(1, { keyPrefix: 'a' }), theirs(1, { keyPrefix: 'b' }));
      const answers = [];
      for (let i = 0; i < 3; i++) answers.push(await given(both.consume('key')));
      return answers;
    },
    () => {
      const [a, b] = [ours(1), ours(1)];
      return [1, 2, 3].map(() => a.tryTake('key') || b.tryTake('key'));
    },
    [true, true, false],
  ],
  '`RateLimiterRedis`, `RateLimiterValkey`, `RateLimiterCluster`': null,
  'stores of MySQL, Postgres, Mongo and others, `insuranceLimiter`': null,
});
