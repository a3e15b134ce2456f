/** A request for more permits than a semaphore was made with, and no `max` that would refuse it. */
import { Semaphore } from 'taketurns';
import { CountingSemaphore } from 'taketurns/p0514';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { failure } from '../support/failure.js';

let warnings: string[];
beforeEach(() => {
  warnings = [];
  vi.spyOn(process, 'emitWarning').mockImplementation(((message: string, type: string) => {
    expect(type).toBe('TaketurnsWarning');
    warnings.push(message);
  }) as never);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const ways: [string, (semaphore: Semaphore, permits: number) => unknown][] = [
  ['acquire', (semaphore, n) => semaphore.acquire(n, { timeout: 1 })],
  ['hold', (semaphore, n) => semaphore.hold(n, { timeout: 1 })],
  ['acquireAsync', (semaphore, n) => semaphore.acquireAsync(n, { timeout: 1 })],
  ['holdAsync', (semaphore, n) => semaphore.holdAsync(n, { timeout: 1 })],
];
const text = (method: string, permits: number, made: number) =>
  `Semaphore.${method}: a request for ${permits} permits waits, but the semaphore has ${made}. It and all ` +
  `behind it wait until more are released than taken`;

describe.each(ways)('%s', (method, request) => {
  it('warns once for each semaphore', async () => {
    for (const made of [1, 2]) {
      const semaphore = new Semaphore(made);
      for (const permits of [made + 1, made + 2]) await failure(() => request(semaphore, permits));
      expect(warnings).toEqual([text(method, made + 1, made)]);
      warnings = [];
    }
  });

  it('warns where the semaphore was found by its handle or its name, too', async () => {
    const { handle } = Semaphore.open(`too wide for ${method}`, 2);
    for (const semaphore of [Semaphore.from(handle), Semaphore.open(`too wide for ${method}`)]) {
      await failure(() => request(semaphore, 3));
      expect(warnings).toEqual([text(method, 3, 2)]);
      warnings = [];
    }
  });

  it('does not warn of what is there, may come by releases alone, or is refused', async () => {
    const grown = new Semaphore(2);
    grown.release(2);
    await request(grown, 4);
    const usual = new Semaphore(2);
    await request(usual, 2);
    await failure(() => request(usual, 2));
    await failure(() => request(new Semaphore(0), 3));
    await failure(() => request(new Semaphore(2, { max: 5 }), 3));
    expect((await failure(() => request(new Semaphore(2, { max: 2 }), 3))).constructor).toBe(RangeError);
    const disposed = new Semaphore(2);
    disposed.dispose();
    await failure(() => request(disposed, 3));
    expect(warnings).toEqual([]);
  });
});

it('neither do tryAcquire, release and the semaphores of P0514, whose values grow by signals', async () => {
  const semaphore = new Semaphore(2);
  expect(semaphore.tryAcquire(3)).toBe(false);
  semaphore.release(3);
  const counting = new CountingSemaphore(2);
  expect(counting.tryWaitFor(1, 3)).toBe(false);
  expect(await counting.tryWaitForAsync(1, 3)).toBe(false);
  expect(await CountingSemaphore.from(counting.handle).tryWaitForAsync(1, 3)).toBe(false);
  expect(warnings).toEqual([]);
});
