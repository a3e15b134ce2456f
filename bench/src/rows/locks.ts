// The rows of MutexBench, each declared here and nowhere else. To add a row, add an entry.

import { JsBargingMutex } from './js-mutex.js';
import { attachMutex, shareMutex } from './multithreading.js';
import { type AsyncRow, library, native, type Row } from './row.js';
import type { SemaphoreLike } from './semaphores.js';

/** What the loop calls. */
export interface LockLike {
  lock(): void;
  unlock(): void;
}

/** A semaphore with one permit, used as a lock. */
class SemaphoreAsLock implements LockLike {
  readonly #semaphore: SemaphoreLike;

  constructor(semaphore: SemaphoreLike) {
    this.#semaphore = semaphore;
  }

  lock(): void {
    this.#semaphore.acquire();
  }

  unlock(): void {
    this.#semaphore.release();
  }
}

export const LOCKS: readonly Row[] = [
  library(
    'Semaphore',
    async () => {
      const { Semaphore } = await import('taketurns');
      return {
        first: () => new Semaphore(1),
        from: (handle: never) => new SemaphoreAsLock(Semaphore.from(handle)),
      };
    },
    ({ first }) => first(),
    true,
  ),
  {
    kind: 'script',
    name: 'js-barging',
    family: 'JavaScript',
    share: async () => ({ shared: JsBargingMutex.share() }),
    join: async (words) => ({ subject: new JsBargingMutex(words as Int32Array) }),
  },
  {
    kind: 'script',
    name: 'multithreading',
    family: 'npm',
    share: async () => ({ shared: await shareMutex() }),
    join: async (buffer) => ({ subject: await attachMutex(buffer as SharedArrayBuffer) }),
  },
  native('pthread_mutex'),
  native('sem_t'),
  native('tts-futex'),
  native('ticket-futex'),
  native('twa-futex'),
  native('mcs-futex'),
];

export const ASYNC_LOCKS: readonly AsyncRow[] = [
  {
    name: 'async-mutex',
    family: 'npm',
    make: async () => {
      const { Mutex } = await import('async-mutex');
      const mutex = new Mutex();
      return { acquire: () => mutex.acquire(), release: () => mutex.release() };
    },
  },
];
