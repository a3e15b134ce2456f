/** The max of a semaphore that is made without one, for threads and for tasks. */
import * as threads from 'taketurns';
import * as tasks from 'taketurns/tasks';
import { describe, expect, it } from 'vitest';

const MOST = 2 ** 31 - 1;

describe.each([
  ['threads', threads.Semaphore],
  ['tasks', tasks.Semaphore],
])('a Semaphore for %s, made without a max,', (_, Semaphore) => {
  it('has the permits at first as its max: a release too many is refused, and so is a request for more', () => {
    const pool = new Semaphore(2);
    expect(pool.max).toBe(2);
    expect(() => pool.release()).toThrow(
      /^Semaphore\.release: 1 more would make more than 2 \(its max\) available.*: give back as many as were taken$/,
    );
    expect(() => pool.tryAcquire(3)).toThrow('permits must be an integer from 1 to 2 (its max), got 3');
    expect(pool.tryAcquire(2)).toBe(true);
    pool.release(2);
    expect(pool.available).toBe(2);
  });

  it('says that a pool that grows needs a greater max, and grows then', () => {
    const fixed = new Semaphore(2);
    expect(() => fixed.add()).toThrow('make it with a greater max');
    expect(() => fixed.add(3)).toThrow('from 1 to 2 (its max: make it with a greater max), got 3');
    const pool = new Semaphore(2, { max: 5 });
    pool.add(3);
    expect(pool.available).toBe(5);
  });

  it('has no max if it begins with 0 permits, and an explicit one holds', () => {
    const filled = new Semaphore(0);
    expect(filled.max).toBe(MOST);
    filled.release(7);
    expect(filled.available).toBe(7);
    expect(new Semaphore(1, { max: MOST }).max).toBe(MOST);
    expect(new Semaphore(1, { max: undefined } as never).max).toBe(1);
  });

  it('tells bad permits as bad permits', () => {
    for (const bad of [-1, 1.5, '2', 2 ** 31, Number.NaN, null])
      expect(() => new Semaphore(bad as never)).toThrow(/^Semaphore: permits must be an integer.* got /);
  });
});

it('is the same for a name, with the max or without it', () => {
  const pool = threads.Semaphore.open('max by default', 3);
  expect(threads.Semaphore.open('max by default', 3, { max: 3 }).max).toBe(3);
  expect(threads.Semaphore.from(pool.handle).max).toBe(3);
  expect(() => threads.Semaphore.open('max by default', 3, { max: 4 })).toThrow('max 3, not 4');
});

it('a robust one says first that the thread holds fewer', () => {
  const pool = new threads.Semaphore(2, { robust: true });
  expect(() => pool.release()).toThrow('this thread holds 0 permits');
  pool.acquire();
  pool.add();
  expect(() => pool.release()).toThrow('1 more would make more than 2 (its max) available');
});
