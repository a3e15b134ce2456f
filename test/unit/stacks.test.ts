/** The error of a time-out shows the line of the call, though a timer has made it. */
import { Mutex, Semaphore, TimeoutError } from 'taketurns';
import { BinarySemaphore } from 'taketurns/p0514';
import { Barrier, Once, RwLock } from 'taketurns/sync';
import { expect, it } from 'vitest';

const timeout = 5;
const locked = (): Mutex => {
  const mutex = new Mutex();
  mutex.lock();
  return mutex;
};
const reading = (): RwLock => {
  const lock = new RwLock();
  lock.lockRead();
  return lock;
};
const writing = (): RwLock => {
  const lock = new RwLock();
  lock.lockWrite();
  return lock;
};
const updating = (): RwLock => {
  const lock = new RwLock();
  lock.update();
  return lock;
};
const running = (): Once => {
  const once = new Once();
  once.runAsync(() => new Promise(() => {}));
  return once;
};
const run = (): void => {};

const calls: Record<string, () => Promise<unknown>> = {
  'Semaphore.acquireAsync': () => new Semaphore(0).acquireAsync({ timeout }),
  'Semaphore.holdAsync': () => new Semaphore(0).holdAsync(1, { timeout }),
  'Semaphore.runExclusive': () => new Semaphore(0).runExclusive(run, { timeout }),
  'a robust Semaphore': () => {
    const semaphore = new Semaphore(1, { robust: true });
    semaphore.acquire();
    return semaphore.acquireAsync(1, { timeout });
  },
  'Mutex.lockAsync': () => locked().lockAsync({ timeout }),
  'Mutex.holdAsync': () => locked().holdAsync({ timeout }),
  'Mutex.runExclusive': () => locked().runExclusive(run, { timeout }),
  'Mutex.waitForUnlockAsync': () => locked().waitForUnlockAsync({ timeout }),
  'RwLock.lockReadAsync': () => writing().lockReadAsync({ timeout }),
  'RwLock.readAsync': () => writing().readAsync({ timeout }),
  'RwLock.lockWriteAsync': () => reading().lockWriteAsync({ timeout }),
  'RwLock.writeAsync, behind readers': () => reading().writeAsync({ timeout }),
  'RwLock.writeAsync, behind a turn': () => updating().writeAsync({ timeout }),
  'RwLock.updateAsync': () => updating().updateAsync({ timeout }),
  'Barrier.arriveAndWaitAsync': () => new Barrier(2).arriveAndWaitAsync({ timeout }),
  'Once.runAsync': () => running().runAsync(run, { timeout }),
};

it.each(Object.entries(calls))('%s', async (_, call) => {
  const line = async (): Promise<unknown> => await call();
  const error = (await line().catch((error) => error)) as Error;
  expect(error).toBeInstanceOf(TimeoutError);
  const [head, ...frames] = `${error.stack}`.split('\n');
  expect(head).toBe(`${error}`);
  expect(frames.join('\n')).toMatch(/stacks\.test\.ts/);
});

it('without frames, or with those of a program, a time-out is no less a TimeoutError', async () => {
  const { stackTraceLimit, prepareStackTrace } = Error;
  try {
    Error.stackTraceLimit = 0;
    await expect(new Semaphore(0).acquireAsync({ timeout })).rejects.toThrow(TimeoutError);
    Error.prepareStackTrace = () => 5;
    await expect(new Semaphore(0).acquireAsync({ timeout })).rejects.toThrow(TimeoutError);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    Error.prepareStackTrace = prepareStackTrace;
  }
});

it('a BinarySemaphore that gives up answers false', async () => {
  expect(await new BinarySemaphore(0).tryWaitForAsync(timeout)).toBe(false);
});
