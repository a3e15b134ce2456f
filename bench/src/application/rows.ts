// The rows of `bench application`: what guards the cache, and what counts the connections.

import pLimit from 'p-limit';
import { Semaphore } from 'taketurns';
import { LOCKS } from '../rows/locks.js';
import type { ScriptRow } from '../rows/row.js';
import { TODAY } from '../rows/today.js';

/** How many connections the server takes at a time. */
export const CONNECTIONS = 8;

/**
 * Lets one thread at a time into the cache: rows of `bench locks` and of `bench today`. The Web Locks of Node are not among
 * them: they let two threads in now and then (programs/web-locks-exclusion.mjs), and then the cache is damaged.
 */
export const CACHE_ROWS: readonly ScriptRow[] = [
  'Mutex',
  'Semaphore',
  'TtsLock',
  'TtsLock+capacitor',
  'McsLock',
  'McsLock+capacitor',
  'js-barging',
  'multithreading',
  'Mutex, promises',
].map((name) => [...LOCKS, ...TODAY].find((row) => row.name === name) as ScriptRow);

/** No lock at all: a test shows by it that the program notices two threads in the cache. */
export const NO_LOCK: ScriptRow = {
  kind: 'script',
  name: 'no lock',
  family: 'JavaScript',
  share: async () => ({ shared: undefined }),
  join: async () => ({ subject: { lock() {}, unlock() {} } }),
};

/** Runs one query as soon as there is a connection for it. */
export type Run = <T>(query: () => Promise<T>) => Promise<T>;

export interface PoolRow {
  readonly name: string;
  /** Makes what the threads share, for so many threads. It travels to the threads by structured clone. */
  share(threads: number): Promise<unknown>;
  join(shared: unknown): Promise<Run>;
}

/** A counter for which all callers compete: whoever sees a permit first takes it. */
class BargingPermits {
  readonly #words: Int32Array;

  constructor(words: Int32Array) {
    this.#words = words;
  }

  static share(permits: number): Int32Array {
    return new Int32Array(new SharedArrayBuffer(4)).fill(permits);
  }

  readonly run: Run = async (query) => {
    for (;;) {
      const free = Atomics.load(this.#words, 0);
      if (free > 0) {
        if (Atomics.compareExchange(this.#words, 0, free, free - 1) === free) break;
      } else {
        const { async, value } = Atomics.waitAsync(this.#words, 0, 0);
        if (async) await value;
      }
    }
    try {
      return await query();
    } finally {
      Atomics.add(this.#words, 0, 1);
      Atomics.notify(this.#words, 0, 1);
    }
  };
}

export const POOL_ROWS: readonly PoolRow[] = [
  {
    name: 'Semaphore',
    share: async () => new Semaphore(CONNECTIONS).handle,
    join: async (handle) => {
      const semaphore = Semaphore.from(handle as never);
      return (query) => semaphore.runExclusive(query);
    },
  },
  {
    name: 'atomics by hand',
    share: async () => BargingPermits.share(CONNECTIONS),
    join: async (words) => new BargingPermits(words as Int32Array).run,
  },
  {
    name: 'p-limit, a share for each thread',
    share: async (threads) => Math.max(1, Math.floor(CONNECTIONS / threads)),
    join: async (share) => pLimit(share as number),
  },
];

/** No limit at all: a test shows by it that the program notices too many queries at a time. */
export const NO_LIMIT: PoolRow = {
  name: 'no limit',
  share: async () => undefined,
  join: async () => (query) => query(),
};
