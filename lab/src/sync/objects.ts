/** The objects of `taketurns/sync` that the page shows. For each, a function puts into words what `inspect` tells. */
import { Mutex, type MutexStats } from 'taketurns';
import { Barrier, Condition, type ConditionStats, Event, Latch, Once, RwLock, WaitGroup } from 'taketurns/sync';
import { counted } from '../ui/format.js';
import { HOLDING, PLACES, QUEUING, RESTING, TASKS, WAITING, WORKING } from './board.js';
import { isProducer, isWriter, type Objects } from './thread.js';

/** A thread that waits. `thread` is its number in the arena. */
export interface Waiter {
  readonly thread: number;
  readonly waited: number;
  /** What the thread waits for, if threads can wait for different things at this object. */
  readonly what?: string;
}

export interface Told {
  readonly state: string;
  /** The thread that has waited longest comes first, unless there are several queues. */
  readonly waiters: readonly Waiter[];
}

/** The names of threads, by their numbers in the arena. */
type Name = (thread: number) => string;

export interface Subject {
  readonly objects: Objects;
  /** Never blocks. `round` says which of the objects the threads have come to. `items` is ITEMS of the board. */
  tell(round: number, items: number, name: Name): Told;
  /** Disposes of the objects, which wakes all threads that wait. */
  dispose(): void;
  /** Disposes of what the threads need to their end. Call it when they have ended. */
  end(): void;
}

export interface Scene {
  /** What the visitor sees. */
  readonly about: string;
  /** What the timeline counts. */
  readonly openings: string;
  /** What a thread does, by its state on the board. */
  does(thread: number): Readonly<Record<number, string>>;
  make(threads: number): Subject;
}

export type Kind = Exclude<Objects['kind'], 'Relay'>;

/** How many objects an order has if each opens only once. When all have opened, the page makes new ones. */
const BATCH = 32;

const nothing = (): void => {};

export const scenes: Readonly<Record<Kind, Scene>> = {
  Barrier: {
    about: 'Each worker does its part of a round and arrives; when the last has arrived, all go on to the next.',
    openings: 'rounds',
    does: () => ({ [WORKING]: 'does its part', [WAITING]: 'waits for the others' }),
    make: (threads) => {
      const barrier = new Barrier(threads);
      return {
        objects: { kind: 'Barrier', handles: [barrier.handle] },
        tell: () => {
          const { arrived, parties, waiters } = barrier.inspect();
          return { state: `${arrived} of ${parties} have arrived.`, waiters };
        },
        dispose: () => barrier.dispose(),
        end: nothing,
      };
    },
  },
  Condition: {
    about: `Producers put items into a buffer of ${PLACES} places, and consumers take them out; who cannot waits on a condition.`,
    openings: 'items taken',
    does: (thread) =>
      isProducer(thread)
        ? {
            [WORKING]: 'makes an item',
            [QUEUING]: 'wants the mutex',
            [WAITING]: 'waits for a place',
            [HOLDING]: 'puts it into the buffer',
          }
        : {
            [WORKING]: 'uses an item',
            [QUEUING]: 'wants the mutex',
            [WAITING]: 'waits for an item',
            [HOLDING]: 'takes one out of the buffer',
          },
    make: () => {
      const mutex = new Mutex();
      const notEmpty = new Condition(mutex);
      const notFull = new Condition(mutex);
      const waitersOf = (stats: ConditionStats | MutexStats, what: string): Waiter[] =>
        stats.waiters.map(({ thread, waited }) => ({ thread, waited, what }));
      return {
        objects: { kind: 'Condition', handles: [notEmpty.handle, notFull.handle] },
        tell: (_round, items, name) => {
          const stats = mutex.inspect();
          const { owner } = stats;
          const held = owner === undefined ? 'the mutex is free' : `${name(owner)} has the mutex`;
          return {
            state: `${items} of ${PLACES} places are full; ${held}.`,
            waiters: [
              ...waitersOf(notEmpty.inspect(), 'notEmpty'),
              ...waitersOf(notFull.inspect(), 'notFull'),
              ...waitersOf(stats, 'mutex'),
            ],
          };
        },
        dispose: () => {
          notEmpty.dispose();
          notFull.dispose();
        },
        end: () => mutex.dispose(),
      };
    },
  },
  Event: {
    about:
      'W0 sets the event and resets it a little later; the others wait until it is set, and go on as long as it is.',
    openings: 'openings',
    does: (thread) =>
      thread === 0
        ? { [WORKING]: 'has reset it, and works', [HOLDING]: 'has set it' }
        : { [WORKING]: 'goes on', [WAITING]: 'waits until it is set' },
    make: () => {
      const event = new Event();
      return {
        objects: { kind: 'Event', handles: [event.handle] },
        tell: () => {
          const { isSet, waiters } = event.inspect();
          return { state: isSet ? 'It is set.' : 'It is not set.', waiters };
        },
        dispose: () => event.dispose(),
        end: nothing,
      };
    },
  },
  Latch: {
    about: `Each worker does ${TASKS} tasks and counts down after each; when none is left, the latch opens for good, and all go on to another.`,
    openings: 'openings',
    does: () => ({ [WORKING]: 'does a task', [WAITING]: 'waits until none is left' }),
    make: (threads) => {
      const tasks = TASKS * threads;
      const latches = Array.from({ length: BATCH }, () => new Latch(tasks));
      return {
        objects: { kind: 'Latch', handles: latches.map(({ handle }) => handle) },
        tell: (round) => {
          const { count, waiters } = (latches[round] as Latch).inspect();
          return { state: count === 0 ? 'It is open.' : `${count} of ${tasks} tasks are left.`, waiters };
        },
        dispose: () => {
          for (const latch of latches) latch.dispose();
        },
        end: nothing,
      };
    },
  },
  WaitGroup: {
    about: 'W0 adds tasks and waits until all are done; the others take one task after the other.',
    openings: 'rounds',
    does: (thread) =>
      thread === 0
        ? { [WORKING]: 'gathers tasks', [WAITING]: 'waits until all are done' }
        : { [RESTING]: 'finds no task', [WORKING]: 'does a task' },
    make: () => {
      const group = new WaitGroup();
      return {
        objects: { kind: 'WaitGroup', handles: [group.handle] },
        tell: (_round, items) => {
          const { pending, waiters } = group.inspect();
          const state =
            pending === 0 ? 'No task is pending.' : `Pending: ${counted(pending, 'task')}, ${items} not begun.`;
          return { state, waiters };
        },
        dispose: () => group.dispose(),
        end: nothing,
      };
    },
  },
  Once: {
    about:
      'All need one result: the first to come runs the function, those who come meanwhile wait, and later ones go on at once.',
    openings: 'results',
    does: () => ({
      [WORKING]: 'works, and will need a result',
      [WAITING]: 'waits for the result',
      [HOLDING]: 'runs the function',
      [RESTING]: 'uses the result',
    }),
    make: () => {
      const onces = Array.from({ length: BATCH }, () => new Once());
      return {
        objects: { kind: 'Once', handles: onces.map(({ handle }) => handle) },
        tell: (round, _items, name) => {
          const { done, runner, waiters } = (onces[round] as Once).inspect();
          const state = done
            ? 'It has been done.'
            : runner === undefined
              ? 'Nobody runs it yet.'
              : `${name(runner)} runs it.`;
          return { state, waiters };
        },
        dispose: () => {
          for (const once of onces) once.dispose();
        },
        end: nothing,
      };
    },
  },
  RwLock: {
    about: 'Every fourth worker writes, alone; the others read, together; a reader waits for one writer at most.',
    openings: 'sections',
    does: (thread) => {
      const verb = isWriter(thread) ? 'write' : 'read';
      return { [WORKING]: 'works outside', [WAITING]: `wants to ${verb}`, [HOLDING]: `${verb}s` };
    },
    make: () => {
      const lock = new RwLock();
      return {
        objects: { kind: 'RwLock', handles: [lock.handle] },
        tell: (_round, _items, name) => {
          const { readers, writer, waiters } = lock.inspect();
          const reading =
            readers.length > 0 && `${readers.map(name).join(', ')} ${readers.length > 1 ? 'read' : 'reads'}`;
          const drains = waiters.some(({ wants }) => wants === 'drain');
          const writing = writer !== undefined && `${name(writer)} ${drains ? 'is the next to write' : 'writes'}`;
          const state = [reading, writing].filter(Boolean).join('; ') || 'Nobody reads or writes';
          return {
            state: `${state}.`,
            waiters: waiters.map(({ thread, waited, wants }) => ({
              thread,
              waited,
              what: wants === 'drain' ? 'for readers to leave' : `to ${wants}`,
            })),
          };
        },
        dispose: () => lock.dispose(),
        end: nothing,
      };
    },
  },
};

/** What the panel of a condition shows: W0 notifies all other threads, and these go on one after the other. */
export const relay: Scene = {
  about: '',
  openings: 'rounds',
  does: () => ({}),
  make: () => {
    const mutex = new Mutex();
    const condition = new Condition(mutex);
    return {
      objects: { kind: 'Relay', handles: [condition.handle] },
      tell: (_round, _items, name) => {
        const stats = mutex.inspect();
        const state = stats.owner === undefined ? 'The mutex is free.' : `${name(stats.owner)} has the mutex.`;
        return {
          state,
          waiters: [
            ...condition.inspect().waiters.map(({ thread, waited }) => ({ thread, waited, what: 'a notification' })),
            ...stats.waiters.map(({ thread, waited }) => ({ thread, waited, what: 'the mutex' })),
          ],
        };
      },
      dispose: () => condition.dispose(),
      end: () => mutex.dispose(),
    };
  },
};

export const kinds = Object.keys(scenes) as Kind[];
