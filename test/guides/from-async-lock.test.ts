/** The rows of docs/guides/from-async-lock.md. */
import { createRequire } from 'node:module';
import { KeyedMutex, KeyedSemaphore, TimeoutError } from 'taketurns/tasks';
import { guide, mostAtOnce, outcome } from './rows.js';

interface Theirs {
  acquire<T>(key: string | string[], run: () => Promise<T> | T): Promise<T>;
  isBusy(key?: string): boolean;
}
// It is of CommonJS, and has no types.
const AsyncLock = createRequire(import.meta.url)('async-lock') as new (options?: object) => Theirs;

const never = (): Promise<never> => new Promise(() => {});
/** Of two keys: the most calls of one key at once, and of both together. */
async function mostOfKeys(run: (key: string, call: () => Promise<number>) => Promise<number>): Promise<number[]> {
  const both = mostAtOnce((f) => (n) => run(n % 2 ? 'a' : 'b', () => f(n)), 6);
  const one = mostAtOnce((f) => (n) => run('c', () => f(n)), 3);
  return [await one, await both];
}

guide('from-async-lock.md', {
  '`new AsyncLock()`': [
    () => {
      const lock = new AsyncLock();
      return mostOfKeys((key, call) => lock.acquire(key, call));
    },
    () => {
      const lock = new KeyedMutex();
      return mostOfKeys((key, call) => lock.runExclusive(key, call));
    },
    [1, 2],
  ],
  '`lock.acquire(key, run)`, with a promise': [
    () => new AsyncLock().acquire('a', async () => 5),
    () => new KeyedMutex().runExclusive('a', async () => 5),
    5,
  ],
  '`lock.acquire(key, (done) => ...)`, with a callback': null,
  '`lock.acquire([a, b], run)`': [
    async () => {
      const lock = new AsyncLock();
      return lock.acquire(['a', 'b'], () => [lock.isBusy('a'), lock.isBusy('b'), lock.isBusy('c')]);
    },
    async () => {
      const lock = new KeyedMutex();
      const held = await lock.holdAllAsync(['a', 'b']);
      const busy = ['a', 'b', 'c'].map((key) => lock.inspect(key).out > 0);
      held.unlock();
      return lock.size === 0 && busy;
    },
    [true, true, false],
  ],
  '`new AsyncLock({ timeout: ms })`': [
    () => {
      const lock = new AsyncLock({ timeout: 5 });
      lock.acquire('a', never).catch(() => {});
      return outcome(() => lock.acquire('a', () => 5)).then((end) => `${end}`.slice(0, 7));
    },
    () => {
      const lock = new KeyedMutex();
      lock.runExclusive('a', never);
      return outcome(() => lock.runExclusive('a', () => 5, { timeout: 5 })).then((end) => `${end}`.slice(0, 7));
    },
    'refused',
  ],
  '`maxOccupationTime`: the limit for wait and call together': null,
  '`maxExecutionTime`: the limit for the call': null,
  '`maxPending`: more waiters are refused': null,
  '`domainReentrant`': null,
  '`lock.isBusy()`': [
    () => {
      const lock = new AsyncLock();
      const before = lock.isBusy();
      lock.acquire('a', never);
      return [before, lock.isBusy()];
    },
    () => {
      const lock = new KeyedMutex();
      const before = lock.size > 0;
      lock.runExclusive('a', never);
      return [before, lock.size > 0];
    },
    [false, true],
  ],
  '`lock.isBusy(key)`': [
    () => {
      const lock = new AsyncLock();
      lock.acquire('a', never);
      return [lock.isBusy('a'), lock.isBusy('b')];
    },
    () => {
      const lock = new KeyedMutex();
      lock.runExclusive('a', never);
      return [lock.inspect('a').out > 0, lock.inspect('b').out > 0];
    },
    [true, false],
  ],
  '`skipQueue`': null,
  'errors by their messages': [
    () => {
      const lock = new AsyncLock({ timeout: 5 });
      lock.acquire('a', never).catch(() => {});
      return lock.acquire('a', () => 5).catch(({ message }: Error) => message.includes('timed out'));
    },
    () => {
      const lock = new KeyedMutex();
      lock.runExclusive('a', never);
      return lock.runExclusive('a', () => 5, { timeout: 5 }).catch((error: unknown) => error instanceof TimeoutError);
    },
    true,
  ],
  'no abort': [
    () => {
      const lock = new AsyncLock();
      lock.acquire('a', never);
      return Promise.race([lock.acquire('a', () => 5), later('it still waits')]);
    },
    () => {
      const lock = new KeyedMutex();
      lock.runExclusive('a', never);
      return outcome(() => lock.runExclusive('a', () => 5, { signal: AbortSignal.timeout(5) }));
    },
    'it still waits',
    'refused: TimeoutError',
  ],
  'one at a time': [
    () => {
      const lock = new AsyncLock();
      return mostAtOnce((f) => (n) => lock.acquire('a', () => f(n)), 4);
    },
    () => {
      const pool = new KeyedSemaphore(2);
      return mostAtOnce((f) => (n) => pool.runExclusive('a', () => f(n)), 4);
    },
    1,
    2,
  ],
});

function later<T>(value: T): Promise<T> {
  return new Promise((resolve) => setTimeout(resolve, 50, value));
}
