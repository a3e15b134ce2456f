/** Guards give their permits back exactly once. */
import { HeldLock, HeldPermits, Mutex, Semaphore } from 'taketurns';
import { describe, expect, it } from 'vitest';
import { failure } from '../support/failure.js';

describe('hold', () => {
  it('gives back at the end of its scope', () => {
    const semaphore = new Semaphore(3);
    {
      using held = semaphore.hold(2);
      expect(held).toBeInstanceOf(HeldPermits);
      expect(held.permits).toBe(2);
      expect(held.held).toBe(true);
      expect(semaphore.available).toBe(1);
    }
    expect(semaphore.available).toBe(3);
  });

  it('gives back when the scope is left by an error', () => {
    const semaphore = new Semaphore(1);
    expect(() => {
      using _ = semaphore.hold();
      throw new Error('left');
    }).toThrow('left');
    expect(semaphore.available).toBe(1);
  });

  it('holds one permit if no number is given', () => {
    const semaphore = new Semaphore(2);
    const held = semaphore.hold();
    expect(held.permits).toBe(1);
    expect(semaphore.available).toBe(1);
    held.release();
    expect(semaphore.available).toBe(2);
  });

  it('holds nothing after a bad number', () => {
    const semaphore = new Semaphore(2);
    expect(() => semaphore.hold(0)).toThrow(RangeError);
    expect(semaphore.available).toBe(2);
  });
});

describe('holdAsync', () => {
  it('gives back at the end of an await using scope', async () => {
    const semaphore = new Semaphore(1);
    {
      await using held = await semaphore.holdAsync();
      expect(held.held).toBe(true);
      expect(semaphore.available).toBe(0);
    }
    expect(semaphore.available).toBe(1);
  });

  it('gives back at the end of a using scope as well', async () => {
    const semaphore = new Semaphore(2);
    {
      using _ = await semaphore.holdAsync(2);
      expect(semaphore.available).toBe(0);
    }
    expect(semaphore.available).toBe(2);
  });

  it('waits in line', async () => {
    const semaphore = new Semaphore(0);
    const log: string[] = [];
    const users = ['a', 'b', 'c'].map(async (name) => {
      await using held = await semaphore.holdAsync();
      log.push(`${name} in`);
      await Promise.resolve();
      log.push(`${name} out`);
      expect(held.permits).toBe(1);
    });
    expect(semaphore.waiting).toBe(3);
    semaphore.release();
    await Promise.all(users);
    expect(log).toEqual(['a in', 'a out', 'b in', 'b out', 'c in', 'c out']);
    expect(semaphore.available).toBe(1);
  });

  it('rejects for a bad number', async () => {
    const semaphore = new Semaphore(2);
    await expect(semaphore.holdAsync(3.5)).rejects.toBeInstanceOf(RangeError);
    expect(semaphore.available).toBe(2);
  });
});

describe('a guard', () => {
  it('gives back once, by whatever method and however often it is called', async () => {
    const semaphore = new Semaphore(5);
    const held = semaphore.hold(2);
    held.release();
    expect(held.held).toBe(false);
    held.release();
    held[Symbol.dispose]();
    held[Symbol.dispose]();
    await held[Symbol.asyncDispose]();
    expect(semaphore.available).toBe(5);

    const other = semaphore.hold(3);
    other[Symbol.dispose]();
    other.release();
    await other[Symbol.asyncDispose]();
    expect(semaphore.available).toBe(5);

    const third = semaphore.hold(4);
    await third[Symbol.asyncDispose]();
    third.release();
    expect(semaphore.available).toBe(5);
  });

  it('never gives back what another one holds', () => {
    const semaphore = new Semaphore(1);
    const first = semaphore.hold();
    first.release();
    const second = semaphore.hold();
    first.release();
    first[Symbol.dispose]();
    expect(semaphore.available).toBe(0);
    expect(semaphore.tryAcquire()).toBe(false);
    second.release();
    expect(semaphore.available).toBe(1);
  });

  it('may outlive its semaphore', () => {
    const semaphore = new Semaphore(1);
    const held = semaphore.hold();
    semaphore.dispose();
    const heir = new Semaphore(0);
    held.release();
    expect(held.held).toBe(false);
    expect(heir.available).toBe(0);
  });
});

describe('tryHold', () => {
  it('of a semaphore is a guard, or undefined if there are too few permits', () => {
    const semaphore = new Semaphore(3);
    {
      using held = semaphore.tryHold(2);
      expect(held).toBeInstanceOf(HeldPermits);
      expect(held?.permits).toBe(2);
      expect(held?.ownerDied).toBe(false);
      expect(semaphore.tryHold(2)).toBe(undefined);
      expect(semaphore.available).toBe(1);
      expect(semaphore.tryHold()?.permits).toBe(1);
    }
    expect(semaphore.available).toBe(2);
  });

  it('of a mutex is a guard, or undefined if it is locked', () => {
    const mutex = new Mutex();
    {
      using held = mutex.tryHold();
      expect(held).toBeInstanceOf(HeldLock);
      expect(mutex.held).toBe(true);
      expect(mutex.tryHold()).toBe(undefined);
    }
    expect(mutex.locked).toBe(false);
  });
});

describe('release of a part', () => {
  it('gives back so many, and the rest stays', () => {
    const semaphore = new Semaphore(5);
    const held = semaphore.hold(4);
    held.release(1);
    expect([held.permits, held.held, semaphore.available]).toEqual([3, true, 2]);
    held.release(2);
    expect([held.permits, held.held, semaphore.available]).toEqual([1, true, 4]);
    held.release(1);
    expect([held.permits, held.held, semaphore.available]).toEqual([0, false, 5]);
    held.release();
    expect(semaphore.available).toBe(5);
  });

  it('leaves the rest to the end of the scope', () => {
    const semaphore = new Semaphore(3, { robust: true });
    {
      using held = semaphore.hold(3);
      held.release(2);
      expect(semaphore.available).toBe(2);
    }
    expect(semaphore.available).toBe(3);
  });

  it.each([3, 0, -1, 1.5, Number.NaN, '1', null, {}])('refuses %s, with nothing changed', async (given) => {
    const semaphore = new Semaphore(2);
    const held = semaphore.hold(2);
    const error = await failure(() => held.release(given as never));
    expect(error.constructor).toBe(typeof given === 'number' ? RangeError : TypeError);
    expect(error.message).toMatch(
      /^HeldPermits.release: permits must be an integer from 1 to 2 \(what it holds\), got /,
    );
    expect([held.permits, semaphore.available]).toEqual([2, 0]);
    held.release();
    for (const more of [1, 0]) {
      expect(() => held.release(more)).toThrow(
        new RangeError(`HeldPermits.release: permits must be at least 1 and at most 0 (what it holds), got ${more}`),
      );
    }
    expect(semaphore.available).toBe(2);
  });

  it('leaves the guard as it is if the semaphore refuses', () => {
    const semaphore = new Semaphore(3);
    const held = semaphore.hold(2);
    semaphore.release(2);
    expect(() => held.release(1)).toThrow(RangeError);
    expect([held.permits, semaphore.available]).toEqual([2, 3]);
  });
});
