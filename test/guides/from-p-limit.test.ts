/** The rows of docs/guides/from-p-limit.md. */
import pLimit, { limitFunction } from 'p-limit';
import { Semaphore } from 'taketurns/tasks';
import { guide, mostAtOnce, outcome } from './rows.js';

const twice = async (n: number): Promise<number> => 2 * n;
const never = (): Promise<never> => new Promise(() => {});

guide('from-p-limit.md', {
  '`const limit = pLimit(n)`': [
    () => {
      const limit = pLimit(3);
      return mostAtOnce((f) => (n) => limit(f, n), 6);
    },
    () => mostAtOnce((f) => new Semaphore(3).limit(f), 6),
    3,
  ],
  '`limit(() => fetch(url))`': [
    () => {
      const limit = pLimit(2);
      return mostAtOnce((f) => (n) => limit(() => f(n)), 6);
    },
    () => {
      const slots = new Semaphore(2);
      return mostAtOnce((f) => (n) => slots.runExclusive(() => f(n)), 6);
    },
    2,
  ],
  '`limit(fetch, url)`, `limitFunction(fetch, { concurrency })`': [
    async () => [await pLimit(1)(twice, 2), await limitFunction(twice, { concurrency: 1 })(2)],
    async () => {
      const get = new Semaphore(1).limit((n: number) => twice(n));
      return [await get(2), await get(2)];
    },
    [4, 4],
  ],
  '`limit.map(urls, fetch)`': [
    () => pLimit(1).map([1, 2, 3], twice),
    () => {
      const get = new Semaphore(1).limit((n: number) => twice(n));
      return Promise.all([1, 2, 3].map((n) => get(n)));
    },
    [2, 4, 6],
  ],
  '`limit.activeCount`': [
    async () => {
      const limit = pLimit(2);
      for (let i = 0; i < 3; i++) limit(never);
      await null;
      return limit.activeCount;
    },
    () => {
      const slots = new Semaphore(2);
      for (let i = 0; i < 3; i++) slots.runExclusive(never);
      return slots.inspect().out;
    },
    2,
  ],
  '`limit.pendingCount`': [
    async () => {
      const limit = pLimit(1);
      for (let i = 0; i < 3; i++) limit(never);
      await null;
      return limit.pendingCount;
    },
    () => {
      const slots = new Semaphore(1);
      for (let i = 0; i < 3; i++) slots.runExclusive(never);
      return slots.waiting;
    },
    2,
  ],
  '`limit.clearQueue()`': [
    async () => {
      const limit = pLimit(1);
      limit(never);
      limit(never).catch(() => {});
      await null;
      limit.clearQueue();
      return limit.pendingCount;
    },
    async () => {
      const slots = new Semaphore(1);
      slots.runExclusive(never);
      const waits = outcome(() => slots.runExclusive(never));
      slots.cancelAll();
      return (await waits) === 'refused: CancelledError' && slots.waiting;
    },
    0,
  ],
  '`limit.concurrency = m`': [
    async () => {
      const limit = pLimit(1);
      limit.concurrency = 3;
      return mostAtOnce((f) => (n) => limit(f, n), 6);
    },
    async () => {
      const slots = new Semaphore(1, { max: 5 });
      slots.add(3);
      slots.reduce(1);
      return mostAtOnce((f) => slots.limit(f), 6);
    },
    3,
  ],
  'every task counts as 1': [
    () => {
      const limit = pLimit(3);
      return mostAtOnce((f) => (n) => limit(f, n), 6);
    },
    () => {
      const slots = new Semaphore(3);
      return mostAtOnce((f) => (n) => slots.runExclusive(() => f(n), 3), 6);
    },
    3,
    1,
  ],
  'no time-out': [
    () => {
      const limit = pLimit(1);
      limit(never);
      return Promise.race([limit(twice, 1), later('it still waits')]);
    },
    () => {
      const slots = new Semaphore(1);
      slots.runExclusive(never);
      return outcome(() => slots.limit(twice, { timeout: 5 })(1));
    },
    'it still waits',
    'refused: TimeoutError',
  ],
  'no `AbortSignal`': [
    () => {
      const limit = pLimit(1);
      limit(never);
      return Promise.race([limit(twice, 1), later('it still waits')]);
    },
    () => {
      const slots = new Semaphore(1);
      slots.runExclusive(never);
      return outcome(() => slots.limit(twice, { signal: AbortSignal.timeout(5) })(1));
    },
    'it still waits',
    'refused: TimeoutError',
  ],
});

function later<T>(value: T): Promise<T> {
  return new Promise((resolve) => setTimeout(resolve, 50, value));
}
