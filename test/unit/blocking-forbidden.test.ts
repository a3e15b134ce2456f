/** A thread that may not block, such as a browser's main thread, gets an error that names the way out, and no trap. */
import { describe, expect, it } from 'vitest';
import { LOCKS } from '../support/locks.js';
import { report } from '../support/program.js';

interface Findings {
  readonly errors: Record<string, { name: string; message: string }>;
  readonly locks: Record<string, { name: string; message: string; tried: boolean[] }>;
  readonly works: Record<string, unknown>;
}

describe('where Atomics.wait is forbidden', async () => {
  const { errors, locks, works } = await report<Findings>('blocking-forbidden');

  it.each([
    'acquire',
    'acquire free',
    'acquire(2)',
    'hold',
    'TicketSemaphore.acquire',
    'TwaSemaphore.acquire',
    'ChainSemaphore.acquire',
    'ChannelSemaphore.acquire',
    'LocationSemaphore.acquire',
    'EventCount.await',
    'addressWaitUntil',
    'keyWait',
    'keyWaitLazy',
    'locationWait',
  ])('%s is a TypeError that names acquireAsync', (what) => {
    expect(errors[what]?.name).toBe('TypeError');
    expect(errors[what]?.message).toContain('may not block');
    expect(errors[what]?.message).toContain('acquireAsync');
    expect(errors[what]?.message).toContain('tryAcquire');
  });

  it.each(LOCKS)('$kind.lock is a TypeError that names tryLock, which works', ({ kind }) => {
    expect(locks[kind]?.name).toBe('TypeError');
    expect(locks[kind]?.message).toContain('may not block');
    expect(locks[kind]?.message).toContain('tryLock');
    expect(locks[kind]?.tried).toEqual([true, false]);
  });

  it('everything else works, and the error has changed nothing', () => {
    const forbidden = expect.stringMatching(/^TypeError: .*may not block/);
    expect(works).toEqual({
      availableAfterErrors: 2,
      waited: [true, false, 0],
      'CountingSemaphore.wait': forbidden,
      'CountingSemaphore.tryWaitFor': forbidden,
      'CountingSemaphore.tryWaitUntil': forbidden,
      tryAcquire: [true, true, false],
      tryArrive: [true, true, false, 2, true],
      settledInOrder: ['a', 'b', 'c'],
      releasedByWorker: true,
      held: 0,
      availableAtEnd: 2,
      disposed: 'DisposedError',
    });
  });
});
