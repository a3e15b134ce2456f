// What `bench keyed` measures: locks by key, in one thread and in several.

/// <reference path="../tasks/async-lock.d.ts" />
import AsyncLock from 'async-lock';
import { Mutex } from 'taketurns';
import { KeyedMutex } from 'taketurns/keyed';
import { KeyedMutex as TasksKeyedMutex } from 'taketurns/tasks';

/** Keys of 16 characters. */
export const keyOf = (i: number): string => `user:${String(i).padStart(11, '0')}`;

/** The name of the table that the threads share. */
export const TABLE = 'bench keyed';

const STRIPES = 256;

/**
 * A mutex for each of 256 stripes of keys: no key has an object of its own. Two keys of one stripe exclude one another,
 * so this is the least that a lock by key can cost, and not a lock by key.
 */
class Stripes {
  readonly #mutexes = Array.from({ length: STRIPES }, () => new Mutex());

  hold(key: string): { unlock(): void } {
    let hash = 0x811c9dc5;
    for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
    return (this.#mutexes[(hash >>> 0) % STRIPES] as Mutex).hold();
  }
}

const HOT = 64;
const hot = Array.from({ length: HOT }, (_, i) => keyOf(i));
const hotKey = (i: number): string => hot[i % HOT] as string;

/** Each round has other keys than the rounds of the last second. */
const MANY = 400_000;
const many = Array.from({ length: MANY }, (_, i) => keyOf(HOT + i));
let next = 0;
const newKey = (): string => {
  if (next === MANY) next = 0;
  return many[next++] as string;
};

const nothing = (): void => {};

/** Does so many operations. */
export type Loop = (operations: number) => void | Promise<void>;

export interface Subject {
  readonly name: string;
  make(): Loop;
}

/** The rows of one thread, which take turns in one process. */
export const SUBJECTS: readonly Subject[] = [
  {
    name: 'a pair of Mutex',
    make() {
      const mutex = new Mutex();
      return (operations) => {
        for (let i = 0; i < operations; i++) {
          mutex.lock();
          mutex.unlock();
        }
      };
    },
  },
  {
    name: 'KeyedMutex, a key used lately',
    make() {
      const table = KeyedMutex.open(TABLE);
      return (operations) => {
        for (let i = 0; i < operations; i++) table.hold(hotKey(i)).unlock();
      };
    },
  },
  {
    name: 'finding alone: a key used lately, held',
    make() {
      const table = KeyedMutex.open(`${TABLE}, held`);
      for (const key of hot) table.hold(key);
      return (operations) => {
        for (let i = 0; i < operations; i++) table.tryHold(hotKey(i));
      };
    },
  },
  {
    name: 'stripes, a key used lately',
    make() {
      const table = new Stripes();
      return (operations) => {
        for (let i = 0; i < operations; i++) table.hold(hotKey(i)).unlock();
      };
    },
  },
  {
    name: 'KeyedMutex, a new key',
    make() {
      const table = KeyedMutex.open(TABLE);
      return (operations) => {
        for (let i = 0; i < operations; i++) table.hold(newKey()).unlock();
      };
    },
  },
  {
    name: 'stripes, a new key',
    make() {
      const table = new Stripes();
      return (operations) => {
        for (let i = 0; i < operations; i++) table.hold(newKey()).unlock();
      };
    },
  },
  {
    name: 'KeyedMutex.runExclusive, a new key',
    make() {
      const table = KeyedMutex.open(TABLE);
      return async (operations) => {
        for (let i = 0; i < operations; i++) await table.runExclusive(newKey(), nothing);
      };
    },
  },
  {
    name: 'async-lock, a new key',
    make() {
      const table = new AsyncLock();
      return async (operations) => {
        for (let i = 0; i < operations; i++) await table.acquire(newKey(), nothing);
      };
    },
  },
  {
    name: 'KeyedMutex of tasks, a new key',
    make() {
      const table = new TasksKeyedMutex();
      return async (operations) => {
        for (let i = 0; i < operations; i++) await table.runExclusive(newKey(), nothing);
      };
    },
  },
];

/** How threads choose their keys. */
export type Choice = 'uniform' | 'zipf';

/** Returns a generator of numbers below n. By `zipf`, the number i comes up in proportion to 1 / (i + 1). */
export function drawer(choice: Choice, n: number, seed: number): () => number {
  let x = (seed * 2654435761 + 12345) >>> 0 || 1;
  const random = (): number => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return (x >>> 0) / 2 ** 32;
  };
  return choice === 'uniform' ? () => Math.floor(random() * n) : () => Math.floor((n + 1) ** random()) - 1;
}
