// The rows of `bench tasks`: what is measured, and how each library does it. To add a row, add an entry.

/// <reference path="./async-lock.d.ts" />
import AsyncLock from 'async-lock';
import { Mutex as AsyncMutex } from 'async-mutex';
import { Sema } from 'async-sema';
import * as Effect from 'effect/Effect';
import * as EffectSemaphore from 'effect/Semaphore';
import pLimit from 'p-limit';
import { KeyedMutex, Mutex, Semaphore } from 'taketurns/tasks';
import type { Family } from '../rows/row.js';

export type Measure = 'pair' | 'pairQueued' | 'run' | 'runQueued' | 'key' | 'keyQueued';

/** How many requests stand in the queue at a time, in the measures with a queue. */
export const QUEUED = 1000;
/** The keys in the queue of `keyQueued`. */
const KEYS = 100;

export const MEASURES: Record<Measure, string> = {
  pair: 'an acquire and a release, alone',
  pairQueued: `an acquire and a release, of ${QUEUED} that are queued`,
  run: 'a call of an async function, alone',
  runQueued: `a call of an async function, of ${QUEUED} that are queued`,
  key: 'a call of an async function by key, alone',
  keyQueued: `a call of an async function by key, of ${QUEUED} that are queued for ${KEYS} keys`,
};

/** Does so many operations. */
export type Loop = (operations: number) => Promise<unknown>;

export interface TasksRow {
  name: string;
  family: Family;
  measure: Measure;
  /** Makes the object, and returns the loop. */
  make(): Loop;
}

/** One operation after the other. */
function alone(operation: (i: number) => Promise<unknown>): Loop {
  return async (operations) => {
    for (let i = 0; i < operations; i++) await operation(i);
  };
}

/** So many operations at a time. */
function crowd(operation: (i: number) => Promise<unknown>): Loop {
  return async (operations) => {
    for (let i = 0; i < operations; i += QUEUED)
      await Promise.all(Array.from({ length: QUEUED }, (_, j) => operation(j)));
  };
}

/** Returns the rows of one library, with and without a queue. The library makes the operation. */
function rows(
  name: string,
  family: Family,
  [plain, queued]: readonly [Measure, Measure],
  make: () => (i: number) => Promise<unknown>,
): TasksRow[] {
  return [
    { name: `${name} alone`, family, measure: plain, make: () => alone(make()) },
    { name: `${name} queued`, family, measure: queued, make: () => crowd(make()) },
  ];
}

/** Returns the rows of an acquire and a release. Nothing stands around the pair in the loop of one alone. */
function pairs(name: string, family: Family, loop: () => Loop): TasksRow[] {
  const make = (): Loop => {
    const run = loop();
    return crowd(() => run(1));
  };
  return [
    { name: `${name} alone`, family, measure: 'pair', make: loop },
    { name: `${name} queued`, family, measure: 'pairQueued', make },
  ];
}

const RUN = ['run', 'runQueued'] as const;
const KEY = ['key', 'keyQueued'] as const;

const work = async (): Promise<number> => 1;
const keys = Array.from({ length: KEYS }, (_, i) => `key ${i}`);
const keyOf = (i: number): string => keys[i % KEYS] as string;

/** The loops of Effect run in its own runtime, in one fiber or in as many as are queued. */
function effect(): TasksRow[] {
  const once = () => EffectSemaphore.makeUnsafe(1).withPermits(1)(Effect.promise(work));
  return [
    {
      name: 'effect Semaphore alone',
      family: 'npm',
      measure: 'run',
      make() {
        const call = once();
        return (operations) =>
          Effect.runPromise(
            Effect.gen(function* () {
              for (let i = 0; i < operations; i++) yield* call;
            }),
          );
      },
    },
    {
      name: 'effect Semaphore queued',
      family: 'npm',
      measure: 'runQueued',
      make() {
        const call = once();
        const calls = Array.from({ length: QUEUED }, () => call);
        return (operations) =>
          Effect.runPromise(
            Effect.gen(function* () {
              for (let i = 0; i < operations; i += QUEUED)
                yield* Effect.all(calls, { concurrency: 'unbounded', discard: true });
            }),
          );
      },
    },
  ];
}

export const TASKS_ROWS: readonly TasksRow[] = [
  ...pairs('Semaphore', 'taketurns', () => {
    const semaphore = new Semaphore(1);
    return async (operations) => {
      for (let i = 0; i < operations; i++) {
        await semaphore.acquireAsync();
        semaphore.release();
      }
    };
  }),
  ...pairs('Mutex', 'taketurns', () => {
    const mutex = new Mutex();
    return async (operations) => {
      for (let i = 0; i < operations; i++) {
        await mutex.lockAsync();
        mutex.unlock();
      }
    };
  }),
  ...pairs('async-sema', 'npm', () => {
    const semaphore = new Sema(1);
    return async (operations) => {
      for (let i = 0; i < operations; i++) {
        await semaphore.acquire();
        semaphore.release();
      }
    };
  }),
  ...pairs('async-mutex', 'npm', () => {
    const mutex = new AsyncMutex();
    return async (operations) => {
      for (let i = 0; i < operations; i++) {
        const release = await mutex.acquire();
        release();
      }
    };
  }),
  ...rows('Semaphore.runExclusive', 'taketurns', RUN, () => {
    const semaphore = new Semaphore(1);
    return () => semaphore.runExclusive(work);
  }),
  ...rows('Mutex.runExclusive', 'taketurns', RUN, () => {
    const mutex = new Mutex();
    return () => mutex.runExclusive(work);
  }),
  ...rows('p-limit', 'npm', RUN, () => {
    const limit = pLimit(1);
    return () => limit(work);
  }),
  ...rows('async-mutex runExclusive', 'npm', RUN, () => {
    const mutex = new AsyncMutex();
    return () => mutex.runExclusive(work);
  }),
  ...effect(),
  ...rows('KeyedMutex.runExclusive', 'taketurns', KEY, () => {
    const table = new KeyedMutex();
    return (i) => table.runExclusive(keyOf(i), work);
  }),
  ...rows('async-lock', 'npm', KEY, () => {
    const table = new AsyncLock({ maxPending: QUEUED });
    return (i) => table.acquire(keyOf(i), work);
  }),
];
