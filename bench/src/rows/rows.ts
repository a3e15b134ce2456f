// Every row of the benchmark is declared here and nowhere else: its name, its family, how one is made and how a
// thread joins it. To add a row, add an entry.
//
// Packages are imported only when a row is used, so a package that is missing or broken costs its own rows alone.

import { Arena } from 'taketurns';
import { JsBargingSemaphore } from './js-barging.js';
import { JsTicketSemaphore } from './js-ticket.js';
import { attachMultithreading, shareMultithreading } from './multithreading.js';

export type Family = 'taketurns' | 'JavaScript' | 'npm' | 'native';

/** What the hot loop calls. */
export interface Blocking {
  acquire(): void;
  /** More than one permit at a time: the library's own alone. */
  release(permits?: number): void;
}

/** One thread's hold on a shared semaphore. */
export interface Joined {
  semaphore: Blocking;
  /** The ticket that this thread's latest acquire took; only where the algorithm has tickets. */
  ticket?: () => bigint;
}

/** A row that runs in worker threads. */
export interface ScriptRow {
  kind: 'script';
  name: string;
  family: Family;
  /** Makes one with one permit; `shared` travels to the workers by structured clone. */
  share(): Promise<{ shared: unknown; dispose?: () => void }>;
  join(shared: unknown): Promise<Joined>;
}

/** A row of the native binary. */
export interface NativeRow {
  kind: 'native';
  name: string;
  family: 'native';
  /** Its name on the binary's command line. */
  algorithm: string;
}

export type Row = ScriptRow | NativeRow;

/** A row of the table on promises in one thread. */
export interface AsyncRow {
  name: string;
  family: Family;
  make(): Promise<{ acquire(): Promise<unknown>; release(): void }>;
}

interface LibraryClass {
  new (permits: number, options?: object): Blocking & { readonly handle: unknown; dispose(): void };
  from(handle: never): Blocking;
}

function library(name: string, load: () => Promise<LibraryClass>, options?: object): ScriptRow {
  return {
    kind: 'script',
    name,
    family: 'taketurns',
    share: async () => {
      const semaphore = new (await load())(1, options);
      return { shared: semaphore.handle, dispose: () => semaphore.dispose() };
    },
    join: async (handle) => {
      const { lastTicket } = await import('taketurns/algorithms');
      const semaphore = (await load()).from(handle as never);
      return { semaphore, ticket: () => lastTicket() };
    },
  };
}

/** A row of taketurns/p0514. */
function p0514(name: string, make: (module: typeof import('taketurns/p0514')) => P0514): ScriptRow {
  const load = async (): Promise<P0514> => make(await import('taketurns/p0514'));
  return {
    kind: 'script',
    name,
    family: 'taketurns',
    share: async () => (await load()).share(),
    join: async (shared) => ({ semaphore: (await load()).join(shared as never) }),
  };
}

interface P0514 {
  share(): { shared: unknown; dispose?: () => void };
  join(shared: never): Blocking;
}

function native(name: string, algorithm = name): NativeRow {
  return { kind: 'native', name, family: 'native', algorithm };
}

export const ROWS: readonly Row[] = [
  library('Semaphore', async () => (await import('taketurns')).Semaphore),
  p0514('BinarySemaphore', ({ BinarySemaphore }) => ({
    share: () => {
      const semaphore = new BinarySemaphore(1);
      return { shared: semaphore.handle, dispose: () => semaphore.dispose() };
    },
    join: (handle) => {
      const semaphore = BinarySemaphore.from(handle);
      return { acquire: () => semaphore.wait(), release: () => semaphore.signal() };
    },
  })),
  p0514('CountingSemaphore', ({ CountingSemaphore }) => ({
    share: () => {
      const semaphore = new CountingSemaphore(1);
      return { shared: semaphore.handle, dispose: () => semaphore.dispose() };
    },
    join: (handle) => {
      const semaphore = CountingSemaphore.from(handle);
      return { acquire: () => semaphore.wait(), release: () => semaphore.signal() };
    },
  })),
  p0514('atomicWait lock', ({ atomicWait, atomicSignal }) => ({
    share: () => ({
      shared: { arena: Arena.default.handle, flag: new Int32Array(new SharedArrayBuffer(4)) },
    }),
    join: ({ arena: handle, flag }: { arena: Arena['handle']; flag: Int32Array }) => {
      const options = { arena: Arena.from(handle) };
      return {
        acquire: () => {
          while (Atomics.compareExchange(flag, 0, 0, 1) !== 0) atomicWait(flag, 0, 1, options);
        },
        release: () => {
          Atomics.store(flag, 0, 0);
          atomicSignal(flag, 0, 'all', options);
        },
      };
    },
  })),
  p0514('AtomicSemaphore lock', ({ AtomicSemaphore }) => ({
    share: () => {
      const semaphore = new AtomicSemaphore();
      const flag = new Int32Array(new SharedArrayBuffer(4));
      return { shared: { handle: semaphore.handle, flag }, dispose: () => semaphore.dispose() };
    },
    join: ({ handle, flag }: { handle: never; flag: Int32Array }) => {
      const semaphore = AtomicSemaphore.from(handle);
      return {
        acquire: () => {
          while (Atomics.compareExchange(flag, 0, 0, 1) !== 0) semaphore.wait(flag, 0, 1);
        },
        release: () => {
          Atomics.store(flag, 0, 0);
          semaphore.signal(flag, 0);
        },
      };
    },
  })),
  library('TwaSemaphore', async () => (await import('taketurns/algorithms')).TwaSemaphore),
  library('TicketSemaphore', async () => (await import('taketurns/algorithms')).TicketSemaphore),
  library('ChainSemaphore', async () => (await import('taketurns/algorithms')).ChainSemaphore),
  library('ChainSemaphore all', async () => (await import('taketurns/algorithms')).ChainSemaphore, {
    wake: 'all',
  }),
  library('ChainSemaphore due', async () => (await import('taketurns/algorithms')).ChainSemaphore, {
    wake: 'due',
  }),
  library('ChannelSemaphore', async () => (await import('taketurns/algorithms')).ChannelSemaphore),
  library('ChannelSemaphore lazy', async () => (await import('taketurns/algorithms')).ChannelSemaphore, {
    lazy: true,
  }),
  library('LocationSemaphore', async () => (await import('taketurns/algorithms')).LocationSemaphore),
  {
    kind: 'script',
    name: 'js-ticket-notify-all',
    family: 'JavaScript',
    share: async () => ({ shared: JsTicketSemaphore.share(1) }),
    join: async (words) => {
      const semaphore = new JsTicketSemaphore(words as Int32Array);
      return { semaphore, ticket: () => BigInt(semaphore.latest) };
    },
  },
  {
    kind: 'script',
    name: 'js-barging',
    family: 'JavaScript',
    share: async () => ({ shared: JsBargingSemaphore.share(1) }),
    join: async (words) => ({ semaphore: new JsBargingSemaphore(words as Int32Array) }),
  },
  {
    kind: 'script',
    name: 'multithreading',
    family: 'npm',
    share: async () => ({ shared: await shareMultithreading(1) }),
    join: async (buffer) => ({ semaphore: await attachMultithreading(buffer as SharedArrayBuffer) }),
  },
  native('twa-futex'),
  native('ticket-futex'),
  native('sem_t'),
  native('std::counting_semaphore'),
];

export const ASYNC_ROWS: readonly AsyncRow[] = [
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

/** The floor of the pair table: two locked instructions in a wasm loop. */
export const FLOOR = 'floor: two locked instructions (wasm)';

/** The same in native code. */
export const NATIVE_FLOOR = 'floor: two locked instructions (native)';

export function scriptRow(name: string): ScriptRow {
  const row = ROWS.find((candidate) => candidate.name === name);
  if (row?.kind !== 'script') throw new Error(`no script row is called ${name}`);
  return row;
}
