// The rows of `bench sync`: what is measured, and how each row does it. To add a row, add an entry. If the row is about
// a class that taketurns/sync does not export yet, `needs` names the class. The row runs as soon as the class is there.

import { MessageChannel, type MessagePort, type Transferable } from 'node:worker_threads';
import { Mutex, Semaphore } from 'taketurns';
import * as sync from 'taketurns/sync';
import type { Family } from '../rows/row.js';
import { alone, batches, type Measured, rounds, roundTrips, type Seat, turns } from './loops.js';

/**
 * What a run begins with: a value for each thread, which is sent to the thread, and the objects to transfer with it.
 */
export interface Shares {
  readonly shared: readonly unknown[];
  readonly transfer?: readonly (readonly Transferable[])[];
  /** Is called when all threads are done. Disposes of the objects of the run, which this function also keeps alive. */
  dispose?(): void;
}

interface Place {
  name: string;
  family: Family;
  measure: Measure;
}

/** A row in worker threads. */
export interface SyncScriptRow extends Place {
  kind: 'script';
  /** The class of taketurns/sync that the row is about. */
  needs?: string;
  share(threads: number): Shares;
  /** Computes how evenly the threads got their turns, from the turns per second of each thread. */
  evenness?(perSecond: readonly number[]): number;
  /** Is called in each thread with its share. The results of all threads add up. */
  run(shared: unknown, seat: Seat): Measured | undefined | Promise<Measured | undefined>;
}

/** A row of the native binary, by its name there. */
export interface SyncNativeRow extends Place {
  kind: 'native';
}

export type SyncRow = SyncScriptRow | SyncNativeRow;

export type Measure = 'barrier' | 'condition' | 'reading' | 'fairness' | 'alone';

export const MEASURES: Record<Measure, { heading: string; unit: string; threads?: readonly number[] }> = {
  barrier: { heading: 'a round of a barrier', unit: 'microseconds' },
  condition: { heading: 'a round trip between two threads', unit: 'microseconds', threads: [2] },
  reading: {
    heading: 'a lock and unlock for reading, by all threads together',
    unit: 'nanoseconds',
    threads: [1, 2],
  },
  fairness: { heading: 'the turns of one thread over those of another', unit: 'the ratio', threads: [8] },
  alone: { heading: 'a call that has nothing to do, in one thread', unit: 'nanoseconds', threads: [1] },
};

interface Disposable {
  readonly handle: unknown;
  dispose(): void;
}

/** The parts that rows use of classes that taketurns/sync may not export yet. */
interface Condition extends Disposable {
  readonly mutex: Mutex;
  wait(): boolean;
  notify(count?: number): number;
}
interface RwLock extends Disposable {
  lockRead(): void;
  unlockRead(): void;
  lockWrite(): void;
  unlockWrite(): void;
}
interface Class<T, Given extends unknown[]> {
  new (...given: Given): T;
  from(handle: unknown): T;
}

const exported = sync as unknown as Record<string, unknown>;
const conditions = () => exported.Condition as Class<Condition, [Mutex]>;
const rwLocks = () => exported.RwLock as Class<RwLock, []>;

/** Whether taketurns/sync exports what the row is about. */
export function isThere({ needs }: Pick<SyncScriptRow, 'needs'>): boolean {
  return needs === undefined || needs in exported;
}

/** Gives every thread the same value, by default the handle of an object. */
function same(threads: number, object?: Disposable, shared: unknown = object?.handle): Shares {
  return { shared: Array.from({ length: threads }, () => shared), dispose: () => object?.dispose() };
}

/** Returns a row for one call in one thread. The function makes the object, and returns the call. */
function call(name: string, make: () => () => unknown, needs?: string): SyncScriptRow {
  return {
    ...{ kind: 'script', name, family: 'taketurns', measure: 'alone', ...(needs && { needs }) },
    share: (threads) => same(threads),
    run: (_, seat) => alone(make(), seat),
  };
}

function native(name: string, measure: Measure): SyncNativeRow {
  return { kind: 'native', name, family: 'native', measure };
}

/** A semaphore with this number of permits lets all readers in. A writer would take all permits. */
const READERS = 1 << 20;
const TURN = 0;
const NOBODY = -1;

/** How many threads read in the row in which the other threads write. */
const AMONG = 2;

export const WRITERS = 'RwLock: fewest turns of 8 writers / most';
export const AMONG_WRITERS = 'RwLock: fewest turns of 2 readers / most of 6 writers';

/** All threads lock a RwLock again and again: the first `readers` threads for reading, the others for writing. */
function inTurn(name: string, readers: number, evenness: SyncScriptRow['evenness'] & object): SyncScriptRow {
  return {
    ...{ kind: 'script', name, family: 'taketurns', measure: 'fairness', needs: 'RwLock', evenness },
    share: (threads) => same(threads, new (rwLocks())()),
    run(handle, seat) {
      const lock = rwLocks().from(handle);
      const read = (): void => {
        lock.lockRead();
        lock.unlockRead();
      };
      const write = (): void => {
        lock.lockWrite();
        lock.unlockWrite();
      };
      return turns(seat.index < readers ? read : write, seat);
    },
  };
}

export const PAIR = 'Semaphore pair';
export const CENTRAL = 'Semaphore as a central counter';

export const SYNC_ROWS: readonly SyncRow[] = [
  {
    ...{ kind: 'script', name: 'Barrier', family: 'taketurns', measure: 'barrier' },
    share: (threads) => same(threads, new sync.Barrier(threads)),
    run(handle, seat) {
      const barrier = sync.Barrier.from(handle as sync.BarrierHandle);
      return rounds(() => barrier.arriveAndWait(), seat);
    },
  },
  native('pthread_barrier', 'barrier'),
  {
    ...{ kind: 'script', name: 'Condition', family: 'taketurns', measure: 'condition', needs: 'Condition' },
    share(threads) {
      const condition = new (conditions())(new Mutex());
      const words = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
      return same(threads, condition, { handle: condition.handle, words });
    },
    run(shared, seat) {
      const { handle, words } = shared as { handle: unknown; words: Int32Array };
      const condition = conditions().from(handle);
      const { mutex } = condition;
      const turn = (): number => Atomics.load(words, TURN);
      mutex.lock();
      try {
        return roundTrips(seat, (isOver) => {
          while (turn() !== seat.index && turn() !== NOBODY) condition.wait();
          if (turn() === NOBODY) return false;
          Atomics.store(words, TURN, isOver() ? NOBODY : 1 - seat.index);
          condition.notify();
          return turn() !== NOBODY;
        });
      } finally {
        mutex.unlock();
      }
    },
  },
  {
    ...{ kind: 'script', name: 'MessageChannel', family: 'JavaScript', measure: 'condition' },
    share() {
      const { port1, port2 } = new MessageChannel();
      return { shared: [port1, port2], transfer: [[port1], [port2]] };
    },
    run(shared, seat) {
      const port = shared as MessagePort;
      return new Promise((resolve) => {
        const measured = seat.index === 0 ? seat.interval() : undefined;
        let trips = 0;
        port.on('message', () => {
          if (measured?.over(++trips)) {
            port.close();
            resolve(measured.result());
          } else port.postMessage(0);
        });
        port.on('close', () => resolve(undefined));
        if (measured) port.postMessage(0);
      });
    },
  },
  native('pthread_cond', 'condition'),
  {
    ...{ kind: 'script', name: 'RwLock', family: 'taketurns', measure: 'reading', needs: 'RwLock' },
    share: (threads) => same(threads, new (rwLocks())()),
    run(handle, seat) {
      const lock = rwLocks().from(handle);
      return batches(() => {
        lock.lockRead();
        lock.unlockRead();
      }, seat);
    },
  },
  {
    ...{ kind: 'script', name: CENTRAL, family: 'taketurns', measure: 'reading' },
    share: (threads) => same(threads, new Semaphore(READERS)),
    run(handle, seat) {
      const semaphore = Semaphore.from(handle as Semaphore['handle']);
      return batches(() => {
        semaphore.acquire();
        semaphore.release();
      }, seat);
    },
  },
  native('pthread_rwlock', 'reading'),
  inTurn(WRITERS, 0, (writers) => Math.min(...writers) / Math.max(...writers)),
  inTurn(AMONG_WRITERS, AMONG, (all) => Math.min(...all.slice(0, AMONG)) / Math.max(...all.slice(AMONG))),
  call(PAIR, () => {
    const semaphore = new Semaphore(1);
    return () => {
      semaphore.acquire();
      semaphore.release();
    };
  }),
  call('Event.wait when set', () => {
    const event = new sync.Event({ set: true });
    return () => event.wait();
  }),
  call('Latch.wait when open', () => {
    const latch = new sync.Latch(0);
    return () => latch.wait();
  }),
  call('Once.run when done', () => {
    const once = new sync.Once();
    const fn = (): void => {};
    once.run(fn);
    return () => once.run(fn);
  }),
  call(
    'Condition.notify to nobody',
    () => {
      const condition = new (conditions())(new Mutex());
      return () => condition.notify();
    },
    'Condition',
  ),
];

export function syncScriptRow(name: string): SyncScriptRow {
  const row = SYNC_ROWS.find((candidate) => candidate.name === name);
  if (row?.kind !== 'script') throw new Error(`no script row of sync is called ${name}`);
  return row;
}
