// The rows of MutexBench, each declared here and nowhere else. To add a row, add an entry.

import { JsBargingMutex } from './js-mutex.js';
import { attachMutex, shareMutex } from './multithreading.js';
import { type AsyncRow, library, native, type Row, type ScriptRow } from './row.js';
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

interface LockClass {
  new (): LockLike & { readonly handle: unknown; dispose(): void };
  from(handle: never): LockLike;
}

function lock(name: string, load: () => Promise<LockClass>, hasTickets = false): Row {
  return bare(library(name, load, (Lock) => new Lock(), hasTickets));
}

/** A row that is its own panel's baseline. */
function bare(row: ScriptRow): Row {
  return { ...row, lock: { of: row.name, form: 'bare' } };
}

/** A row of the native binary, in the panel of the script row that it is the counterpart of. */
function counterpart(of: string, algorithm: string): Row {
  return { ...native(algorithm), lock: { of, form: 'native' } };
}

const algorithms = () => import('taketurns/algorithms');

export const LOCKS: readonly Row[] = [
  bare(
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
  ),
  lock('TtsLock', async () => (await algorithms()).TtsLock),
  lock('TicketLock', async () => (await algorithms()).TicketLock, true),
  lock('TwaLock', async () => (await algorithms()).TwaLock, true),
  bare({
    kind: 'script',
    name: 'js-barging',
    family: 'JavaScript',
    share: async () => ({ shared: JsBargingMutex.share() }),
    join: async (words) => ({ subject: new JsBargingMutex(words as Int32Array) }),
  }),
  bare({
    kind: 'script',
    name: 'multithreading',
    family: 'npm',
    share: async () => ({ shared: await shareMutex() }),
    join: async (buffer) => ({ subject: await attachMutex(buffer as SharedArrayBuffer) }),
  }),
  counterpart('Mutex', 'pthread_mutex'),
  counterpart('Semaphore', 'sem_t'),
  counterpart('TtsLock', 'tts-futex'),
  counterpart('TicketLock', 'ticket-futex'),
  counterpart('TwaLock', 'twa-futex'),
  counterpart('McsLock', 'mcs-futex'),
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
