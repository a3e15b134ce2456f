/** The rows of docs/guides/from-async-mutex.md, in one thread. */
import * as theirs from 'async-mutex';
import { CancelledError, Mutex, Semaphore, TimeoutError } from 'taketurns/tasks';
import { guide, mostAtOnce, outcome, pause } from './rows.js';

const { tryAcquire, withTimeout } = theirs;
const five = async (): Promise<number> => 5;
const own = new SyntaxError('too late');

/** A mutex that somebody has. */
async function taken(): Promise<Mutex> {
  const mutex = new Mutex();
  await mutex.lockAsync();
  return mutex;
}
async function theirTaken(): Promise<theirs.Mutex> {
  const mutex = new theirs.Mutex();
  await mutex.acquire();
  return mutex;
}

/** The error with which a promise is rejected. */
const reasonOf = (call: () => Promise<unknown>): Promise<unknown> => call().catch((error: unknown) => error);

guide('from-async-mutex.md', {
  '`new Mutex()`': [
    () => {
      const mutex = new theirs.Mutex();
      return mostAtOnce((f) => (n) => mutex.runExclusive(() => f(n)), 3);
    },
    () => {
      const mutex = new Mutex();
      return mostAtOnce((f) => (n) => mutex.runExclusive(() => f(n)), 3);
    },
    1,
  ],
  '`mutex.runExclusive(run)`': [
    () => new theirs.Mutex().runExclusive(five),
    () => new Mutex().runExclusive((...given: unknown[]) => (given.length === 0 ? five() : 0)),
    5,
  ],
  '`const release = await mutex.acquire()`; `release()`': [
    async () => {
      const mutex = new theirs.Mutex();
      const release = await mutex.acquire();
      const was = mutex.isLocked();
      release();
      return [was, mutex.isLocked()];
    },
    async () => {
      const mutex = new Mutex();
      const held = await mutex.holdAsync();
      const was = mutex.locked;
      held.unlock();
      return [was, mutex.locked];
    },
    [true, false],
  ],
  '`tryAcquire(mutex).acquire()`': [
    async () => {
      const mutex = new theirs.Mutex();
      const first = await tryAcquire(mutex).acquire();
      const second = (await reasonOf(() => tryAcquire(mutex).acquire())) !== theirs.E_ALREADY_LOCKED;
      first();
      return [true, second];
    },
    () => {
      const mutex = new Mutex();
      const held = mutex.tryHold();
      return [held !== undefined, mutex.tryLock()];
    },
    [true, false],
  ],
  '`tryAcquire(mutex).runExclusive(run)`': [
    async () => (await reasonOf(async () => tryAcquire(await theirTaken()).runExclusive(five))) instanceof Error,
    async () =>
      (await reasonOf(async () => (await taken()).runExclusive(five, { timeout: 0 }))) instanceof TimeoutError,
    true,
  ],
  '`withTimeout(mutex, ms)`': [
    async () => (await reasonOf(async () => withTimeout(await theirTaken(), 5).acquire())) === theirs.E_TIMEOUT,
    async () => (await reasonOf(async () => (await taken()).holdAsync({ timeout: 5 }))) instanceof TimeoutError,
    true,
  ],
  '`withTimeout(mutex, ms, error)`': [
    () => reasonOf(async () => withTimeout(await theirTaken(), 5, own).acquire()),
    () =>
      reasonOf(async () =>
        (await taken()).holdAsync({ timeout: 5 }).catch((error: unknown) => {
          throw error instanceof TimeoutError ? own : error;
        }),
      ),
    own,
  ],
  'a function that always locks': [
    () => {
      const mutex = withTimeout(new theirs.Mutex(), 1000);
      const deposit = (n: number) => mutex.runExclusive(async () => n + 1);
      return deposit(1);
    },
    () => new Mutex().limit(async (n: number) => n + 1, { timeout: 1000 })(1),
    2,
  ],
  '`mutex.cancel()`': [
    async () => {
      const mutex = await theirTaken();
      const waits = reasonOf(() => mutex.acquire());
      mutex.cancel();
      return (await waits) instanceof Error;
    },
    async () => {
      const mutex = await taken();
      const stop = new AbortController();
      const waits = [reasonOf(() => mutex.lockAsync()), reasonOf(() => mutex.lockAsync({ signal: stop.signal }))];
      stop.abort(own);
      mutex.cancelAll(own);
      const [first, second] = await Promise.all(waits);
      return first instanceof CancelledError && first.cause === own && second === own;
    },
    true,
  ],
  '`error === E_CANCELED`, `E_TIMEOUT`': [
    async () => {
      const mutex = await theirTaken();
      const waits = reasonOf(() => mutex.acquire());
      const late = reasonOf(() => withTimeout(mutex, 5).acquire());
      await pause(20);
      mutex.cancel();
      return [(await waits) === theirs.E_CANCELED, (await late) === theirs.E_TIMEOUT];
    },
    async () => {
      const mutex = await taken();
      const waits = reasonOf(() => mutex.lockAsync());
      const late = await reasonOf(() => mutex.lockAsync({ timeout: 5 }));
      mutex.cancelAll();
      return [(await waits) instanceof CancelledError, late instanceof TimeoutError];
    },
    [true, true],
  ],
  '`E_ALREADY_LOCKED`': [
    async () => (await reasonOf(async () => tryAcquire(await theirTaken()).acquire())) === theirs.E_ALREADY_LOCKED,
    async () => {
      const mutex = await taken();
      const late = await reasonOf(() => mutex.lockAsync({ timeout: 0 }));
      return late instanceof TimeoutError && !mutex.tryLock();
    },
    true,
  ],
  '`mutex.waitForUnlock()`': [
    async () => {
      const mutex = await theirTaken();
      const waits = mutex.waitForUnlock();
      mutex.release();
      await waits;
      return mutex.isLocked();
    },
    async () => {
      const mutex = await taken();
      const waits = mutex.waitForUnlockAsync();
      mutex.unlock();
      await waits;
      return mutex.locked;
    },
    false,
  ],
  '`mutex.isLocked()`': [async () => (await theirTaken()).isLocked(), async () => (await taken()).locked, true],
  '`mutex.release()`': [
    async () => {
      const mutex = await theirTaken();
      mutex.release();
      return mutex.isLocked();
    },
    async () => {
      const mutex = await taken();
      mutex.unlock();
      return mutex.locked;
    },
    false,
  ],
  '`new Semaphore(n)`': [
    () => {
      const semaphore = new theirs.Semaphore(2);
      return mostAtOnce((f) => (n) => semaphore.runExclusive(() => f(n)), 4);
    },
    () => {
      const semaphore = new Semaphore(2);
      return mostAtOnce((f) => (n) => semaphore.runExclusive(() => f(n)), 4);
    },
    2,
  ],
  '`const [value, release] = await semaphore.acquire(w)`': [
    async () => {
      const semaphore = new theirs.Semaphore(5);
      const [, release] = await semaphore.acquire(3);
      const left = semaphore.getValue();
      release();
      return [left, semaphore.getValue()];
    },
    async () => {
      const semaphore = new Semaphore(5);
      const held = await semaphore.holdAsync(3);
      const left = semaphore.available;
      held.release();
      return [left, semaphore.available];
    },
    [2, 5],
  ],
  '`semaphore.release(n)`': [
    async () => {
      const semaphore = new theirs.Semaphore(2);
      await semaphore.acquire(2);
      semaphore.release(2);
      return semaphore.getValue();
    },
    async () => {
      const semaphore = new Semaphore(2);
      await semaphore.acquireAsync(2);
      semaphore.release(2);
      return semaphore.available;
    },
    2,
  ],
  '`tryAcquire(semaphore).acquire(w)`': [
    async () => {
      const semaphore = new theirs.Semaphore(2);
      await tryAcquire(semaphore).acquire(2);
      return outcome(async () => tryAcquire(semaphore).acquire(1)).then((end) => end !== 'refused: Error');
    },
    () => {
      const semaphore = new Semaphore(2);
      return semaphore.tryHold(2) !== undefined && semaphore.tryAcquire(1);
    },
    false,
  ],
  '`withTimeout(semaphore, ms, error)`': [
    () => outcome(() => withTimeout(new theirs.Semaphore(0), 5, own).acquire(1)),
    async () => {
      const semaphore = new Semaphore(1);
      await semaphore.acquireAsync();
      return outcome(() =>
        semaphore.holdAsync(1, { timeout: 5 }).catch(() => {
          throw own;
        }),
      );
    },
    'refused: SyntaxError',
  ],
  '`semaphore.runExclusive(run, w)`': [
    () => new theirs.Semaphore(5).runExclusive(async (value) => value - 2, 2),
    () => {
      const semaphore = new Semaphore(5);
      return semaphore.runExclusive(() => semaphore.available, 2);
    },
    3,
  ],
  '`semaphore.getValue()`': [() => new theirs.Semaphore(3).getValue(), () => new Semaphore(3).available, 3],
  '`semaphore.setValue(n)`': [
    () => {
      const semaphore = new theirs.Semaphore(2);
      semaphore.setValue(4);
      const more = semaphore.getValue();
      semaphore.setValue(1);
      return [more, semaphore.getValue()];
    },
    () => {
      const semaphore = new Semaphore(2, { max: 4 });
      semaphore.add(2);
      const more = semaphore.available;
      semaphore.reduce(3);
      return [more, semaphore.available];
    },
    [4, 1],
  ],
  priorities: null,
});
