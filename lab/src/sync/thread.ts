/**
 * A thread at an object of `taketurns/sync`. The thread sleeps where a real program would work, and says on the board
 * what it does. It ends when the page has disposed of the object, or when it has used all the objects of its order.
 */
import { clock } from '@taketurns/bench/dist/workers/board.js';
import { Arena, type ArenaHandle, DisposedError } from 'taketurns';
import {
  Barrier,
  type BarrierHandle,
  Condition,
  type ConditionHandle,
  Event,
  type EventHandle,
  Latch,
  type LatchHandle,
  Once,
  type OnceHandle,
  RwLock,
  type RwLockHandle,
  WaitGroup,
  type WaitGroupHandle,
} from 'taketurns/sync';
import type { Job } from '../crew/job.js';
import {
  Board,
  CHANGES,
  HOLDING,
  ITEMS,
  KEPT,
  NUMBER,
  OPENINGS,
  PLACES,
  QUEUING,
  RESTING,
  ROUND,
  STATE,
  STOP,
  TASKS,
  WAITING,
  WORKING,
} from './board.js';

/** The objects of an order: several if an object of the kind opens only once, two conditions, or one object. */
export type Objects =
  | { readonly kind: 'Barrier'; readonly handles: readonly [BarrierHandle] }
  | { readonly kind: 'Condition'; readonly handles: readonly [ConditionHandle, ConditionHandle] }
  | { readonly kind: 'Event'; readonly handles: readonly [EventHandle] }
  | { readonly kind: 'Latch'; readonly handles: readonly LatchHandle[] }
  | { readonly kind: 'WaitGroup'; readonly handles: readonly [WaitGroupHandle] }
  | { readonly kind: 'Once'; readonly handles: readonly OnceHandle[] }
  | { readonly kind: 'RwLock'; readonly handles: readonly [RwLockHandle] }
  | { readonly kind: 'Relay'; readonly handles: readonly [ConditionHandle] };

export interface SyncOrder {
  readonly objects: Objects;
  readonly board: SharedArrayBuffer;
  readonly thread: number;
  readonly threads: number;
  /** How long the thread works, in milliseconds on average. */
  readonly work: number;
  /** For a RwLock: the first `writers` threads write. If undefined, every fourth thread writes. */
  readonly writers?: number;
}

/** How long a thread without a task sleeps before it looks again whether it is to stop. */
const PAUSE_MS = 50;

/** Every fourth thread writes, and the others read. */
export const isWriter = (thread: number): boolean => thread % 4 === 0;
/** Every other thread puts items into the buffer, and the others take them out. */
export const isProducer = (thread: number): boolean => thread % 2 === 0;

export const sync: Job<SyncOrder> = async (order) => {
  const self = new Self(order);
  return () => {
    try {
      run(self, order);
    } catch (error) {
      if (!(error instanceof DisposedError)) throw error;
    } finally {
      self.become(RESTING);
    }
  };
};

class Self {
  readonly thread: number;
  readonly threads: number;
  readonly words: Int32Array;
  readonly ints: Int32Array;
  readonly #since: Float64Array;
  readonly #history: Float64Array;
  readonly #work: number;

  constructor({ objects, board, thread, threads, work }: SyncOrder) {
    const { arena } = objects.handles[0] as { readonly arena: ArenaHandle };
    const shared = new Board(threads, board);
    this.thread = thread;
    this.threads = threads;
    this.words = shared.words;
    this.ints = shared.ints(thread);
    this.#since = shared.since(thread);
    this.#history = shared.history(thread);
    this.#work = work;
    Atomics.store(this.ints, NUMBER, Arena.from(arena).thread.thread);
  }

  get goesOn(): boolean {
    return Atomics.load(this.words, STOP) === 0;
  }

  become(state: number): void {
    const now = clock();
    const count = this.ints[CHANGES] as number;
    this.#history[2 * (count % KEPT)] = now;
    this.#history[2 * (count % KEPT) + 1] = state;
    Atomics.store(this.ints, CHANGES, count + 1);
    this.#since[0] = now;
    Atomics.store(this.ints, STATE, state);
  }

  /** Stays in a state for this part of the thread's work, or until the page says stop. */
  spend(state: number, part = 1): void {
    this.become(state);
    Atomics.wait(this.words, STOP, 0, part * this.#work * (0.5 + Math.random()));
  }

  /** Counts a round, an opening or a section. */
  count(): void {
    Atomics.add(this.words, OPENINGS, 1);
  }
}

function run(self: Self, { objects, writers }: SyncOrder): void {
  switch (objects.kind) {
    case 'Barrier':
      barrier(self, Barrier.from(objects.handles[0]));
      break;
    case 'Condition':
      buffer(self, objects.handles);
      break;
    case 'Event':
      event(self, Event.from(objects.handles[0]));
      break;
    case 'Latch':
      latches(self, objects.handles);
      break;
    case 'WaitGroup':
      waitGroup(self, WaitGroup.from(objects.handles[0]));
      break;
    case 'Once':
      onces(self, objects.handles);
      break;
    case 'RwLock':
      rwLock(
        self,
        RwLock.from(objects.handles[0]),
        writers === undefined ? isWriter(self.thread) : self.thread < writers,
      );
      break;
    case 'Relay':
      relay(self, Condition.from(objects.handles[0]));
      break;
  }
}

function barrier(self: Self, barrier: Barrier): void {
  while (self.goesOn) {
    self.spend(WORKING);
    self.become(WAITING);
    // The last to arrive counts the round.
    if (barrier.arriveAndWait() === self.threads - 1) self.count();
  }
}

function buffer(self: Self, handles: readonly [ConditionHandle, ConditionHandle]): void {
  const [notEmpty, notFull] = [Condition.from(handles[0]), Condition.from(handles[1])];
  const { words } = self;
  const produces = isProducer(self.thread);
  const [own, other, change] = produces ? [notFull, notEmpty, 1] : [notEmpty, notFull, -1];
  const { mutex } = own;
  while (self.goesOn) {
    if (produces) self.spend(WORKING);
    self.become(QUEUING);
    mutex.lock();
    try {
      own.waitFor(() => {
        const can = produces ? (words[ITEMS] as number) < PLACES : (words[ITEMS] as number) > 0;
        if (!can) self.become(WAITING);
        return can;
      });
      self.spend(HOLDING, 0.1);
      Atomics.add(words, ITEMS, change);
      other.notify();
    } finally {
      mutex.unlock();
    }
    if (produces) continue;
    self.count();
    self.spend(WORKING);
  }
}

/** W0 announces each round to all. The other threads wait for the next round, and do their parts under the mutex. */
function relay(self: Self, condition: Condition): void {
  const { mutex } = condition;
  const { words } = self;
  while (self.goesOn) {
    // W0 works for so long that all other threads have done their parts and wait again.
    if (self.thread === 0) self.spend(WORKING, 2 * self.threads);
    self.become(QUEUING);
    mutex.lock();
    try {
      if (self.thread === 0) {
        self.spend(HOLDING, 0.5);
        Atomics.add(words, ITEMS, 1);
        self.count();
        condition.notifyAll();
        continue;
      }
      const round = words[ITEMS];
      condition.waitFor(() => {
        const isOn = words[ITEMS] !== round;
        if (!isOn) self.become(WAITING);
        return isOn;
      });
      self.spend(HOLDING);
    } finally {
      mutex.unlock();
    }
    self.spend(WORKING);
  }
}

function event(self: Self, event: Event): void {
  while (self.goesOn) {
    if (self.thread > 0) {
      self.become(WAITING);
      event.wait();
      self.spend(WORKING);
      continue;
    }
    event.reset();
    self.spend(WORKING, 3);
    event.set();
    self.count();
    self.spend(HOLDING);
  }
}

function latches(self: Self, handles: readonly LatchHandle[]): void {
  for (const [round, handle] of handles.entries()) {
    if (!self.goesOn) return;
    const latch = Latch.from(handle);
    Atomics.store(self.ints, ROUND, round);
    for (let task = 0; task < TASKS; task++) {
      self.spend(WORKING);
      latch.countDown();
    }
    self.become(WAITING);
    latch.wait();
    if (self.thread === 0) self.count();
  }
}

function waitGroup(self: Self, group: WaitGroup): void {
  const { words } = self;
  while (self.goesOn) {
    if (self.thread === 0) {
      const tasks = TASKS * (self.threads - 1);
      self.spend(WORKING);
      group.add(tasks);
      Atomics.store(words, ITEMS, tasks);
      Atomics.notify(words, ITEMS);
      self.become(WAITING);
      group.wait();
      self.count();
      continue;
    }
    const left = Atomics.load(words, ITEMS);
    if (left === 0) {
      if (self.ints[STATE] !== RESTING) self.become(RESTING);
      Atomics.wait(words, ITEMS, 0, PAUSE_MS);
    } else if (Atomics.compareExchange(words, ITEMS, left, left - 1) === left) {
      self.spend(WORKING);
      group.done();
    }
  }
}

function onces(self: Self, handles: readonly OnceHandle[]): void {
  for (const [round, handle] of handles.entries()) {
    if (!self.goesOn) return;
    const once = Once.from(handle);
    Atomics.store(self.ints, ROUND, round);
    self.spend(WORKING);
    self.become(WAITING);
    once.run(() => {
      self.spend(HOLDING, 2);
      self.count();
    });
    self.spend(RESTING);
  }
}

function rwLock(self: Self, lock: RwLock, writes: boolean): void {
  while (self.goesOn) {
    self.spend(WORKING);
    self.become(WAITING);
    if (writes) lock.lockWrite();
    else lock.lockRead();
    self.spend(HOLDING);
    if (writes) lock.unlockWrite();
    else lock.unlockRead();
    self.count();
  }
}
