// The rows of semabench, each declared here and nowhere else. To add a row, add an entry.

import { JsBargingSemaphore } from './js-barging.js';
import { JsTicketSemaphore } from './js-ticket.js';
import { attachSemaphore, shareSemaphore } from './multithreading.js';
import { type AsyncRow, library, native, type Row, type ScriptRow } from './row.js';

/** What the loop calls. */
export interface SemaphoreLike {
  acquire(): void;
  release(): void;
}

interface SemaphoreClass {
  new (permits: number): SemaphoreLike & { readonly handle: unknown; dispose(): void };
  from(handle: never): SemaphoreLike;
}

function semaphore(name: string, load: () => Promise<SemaphoreClass>): ScriptRow<SemaphoreLike> {
  return library(name, load, (Semaphore) => new Semaphore(1), true);
}

export const SEMAPHORES: readonly Row[] = [
  semaphore('Semaphore', async () => (await import('taketurns')).Semaphore),
  semaphore('TwaSemaphore', async () => (await import('taketurns/algorithms')).TwaSemaphore),
  semaphore('TicketSemaphore', async () => (await import('taketurns/algorithms')).TicketSemaphore),
  {
    kind: 'script',
    name: 'js-ticket-notify-all',
    family: 'JavaScript',
    share: async () => ({ shared: JsTicketSemaphore.share(1) }),
    join: async (words) => {
      const subject = new JsTicketSemaphore(words as Int32Array);
      return { subject, ticket: () => BigInt(subject.latest) };
    },
  },
  {
    kind: 'script',
    name: 'js-barging',
    family: 'JavaScript',
    share: async () => ({ shared: JsBargingSemaphore.share(1) }),
    join: async (words) => ({ subject: new JsBargingSemaphore(words as Int32Array) }),
  },
  {
    kind: 'script',
    name: 'multithreading',
    family: 'npm',
    share: async () => ({ shared: await shareSemaphore(1) }),
    join: async (buffer) => ({ subject: await attachSemaphore(buffer as SharedArrayBuffer) }),
  },
  native('twa-futex'),
  native('ticket-futex'),
  native('sem_t'),
  native('std::counting_semaphore'),
];

export const ASYNC_SEMAPHORES: readonly AsyncRow[] = [
  {
    name: 'Semaphore',
    family: 'taketurns',
    make: async () => {
      const { Semaphore } = await import('taketurns');
      const semaphore = new Semaphore(1);
      return { acquire: () => semaphore.acquireAsync(), release: () => semaphore.release() };
    },
  },
  {
    name: 'async-mutex',
    family: 'npm',
    make: async () => {
      const { Semaphore } = await import('async-mutex');
      const semaphore = new Semaphore(1);
      return { acquire: () => semaphore.acquire(), release: () => semaphore.release() };
    },
  },
  {
    name: 'async-sema',
    family: 'npm',
    make: async () => {
      const { Sema } = await import('async-sema');
      const semaphore = new Sema(1);
      return { acquire: () => semaphore.acquire(), release: () => semaphore.release() };
    },
  },
];
