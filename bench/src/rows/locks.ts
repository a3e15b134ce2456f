// The rows of MutexBench, each declared here and nowhere else. To add a row, add an entry.

import { clock } from '../workers/board.js';
import { JsBargingMutex } from './js-mutex.js';
import { attachMutex, shareMutex } from './multithreading.js';
import { PlatoonLog, TracedLock } from './platoon.js';
import { type AsyncRow, library, native, type Row, type ScriptRow } from './row.js';
import type { LockLike, SemaphoreLike } from './subjects.js';

/** A semaphore with one permit, used as a lock. */
export class SemaphoreAsLock implements LockLike {
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

/** A lock that a thread takes only with a permit of a semaphore: fewer threads compete for it, and no bound holds. */
class Guarded implements LockLike {
  readonly #semaphore: SemaphoreLike;
  readonly #inner: LockLike;

  constructor(semaphore: SemaphoreLike, inner: LockLike) {
    this.#semaphore = semaphore;
    this.#inner = inner;
  }

  lock(): void {
    this.#semaphore.acquire();
    this.#inner.lock();
  }

  unlock(): void {
    this.#inner.unlock();
    this.#semaphore.release();
  }
}

interface LockClass {
  new (): LockLike & { readonly handle: unknown; dispose(): void };
  from(handle: never): LockLike;
}

const algorithms = () => import('taketurns/algorithms');

/** The locks that are measured in all forms. */
const INNER: Readonly<Record<string, () => Promise<LockClass>>> = {
  TtsLock: async () => (await algorithms()).TtsLock,
  TicketLock: async () => (await algorithms()).TicketLock,
  TwaLock: async () => (await algorithms()).TwaLock,
  McsLock: async () => (await algorithms()).McsLock,
  ClhLock: async () => (await algorithms()).ClhLock,
  LifoLock: async () => (await algorithms()).LifoLock,
  ReciprocatingLock: async () => (await algorithms()).ReciprocatingLock,
};
/** The locks among them whose admissions have tickets. */
const TICKETED = ['TicketLock', 'TwaLock'];

/** The limit of the wrapped and the fractional forms, as in the paper. */
export const BYPASS = 10;
/** The share of arrivals that go past the capacitor in the fractional form: the paper's 99 of 100. */
const FRACTION = 0.99;

/** The lanes of the capacitor in the forms with lanes. */
const LANES = 4;

/** The forms in a capacitor: the ending of the row's name, and the options besides the limit. */
const CAPACITORS = {
  wrapped: ['capacitor', {}],
  fractional: ['fractional', { fraction: FRACTION }],
  contended: ['whenContended', { whenContended: true }],
  lanes: ['lanes', { lanes: LANES }],
  random: ['randomLanes', { lanes: LANES, random: true }],
} as const;

/** Wraps a lock in a capacitor. */
function composite(
  of: string,
  form: keyof typeof CAPACITORS,
  bypass = BYPASS,
  name = `${of}+${CAPACITORS[form][0]}`,
): ScriptRow {
  const load = async () => ({ Inner: await innerOf(of), ...(await algorithms()) });
  const row = library(
    name,
    async () => {
      const { Inner, CapacitorLock } = await load();
      return {
        make: () => {
          const inner = new Inner();
          const lock = new CapacitorLock(inner, { bypass, ...CAPACITORS[form][1] });
          const dispose = () => {
            lock.dispose();
            inner.dispose();
          };
          return { handle: lock.handle, dispose };
        },
        from: (handle: never): LockLike => CapacitorLock.from(handle),
      };
    },
    ({ make }) => make(),
    false,
  );
  return { ...row, lock: { of, form, bypass } };
}

/** Wraps a lock in a plain semaphore of as many permits as the capacitors have, which the paper compares them with. */
function guarded(of: string): ScriptRow<LockLike> {
  return {
    kind: 'script',
    name: `${of}+semaphore`,
    family: 'taketurns',
    lock: { of, form: 'semaphore' },
    share: async () => {
      const { Semaphore } = await import('taketurns');
      const semaphore = new Semaphore(BYPASS);
      const inner = new (await innerOf(of))();
      const dispose = () => {
        semaphore.dispose();
        inner.dispose();
      };
      return { shared: { semaphore: semaphore.handle, inner: inner.handle }, dispose };
    },
    join: async (shared) => {
      const { Semaphore } = await import('taketurns');
      const { semaphore, inner } = shared as Record<string, never>;
      const lock = (await innerOf(of)).from(inner as never);
      return { subject: new Guarded(Semaphore.from(semaphore as never), lock) };
    },
  };
}

function innerOf(name: string): Promise<LockClass> {
  const load = INNER[name];
  if (load === undefined) throw new Error(`there is no lock called ${name}`);
  return load();
}

const SWEPT = /^(\w+)\+capacitor:(\d+)$/;

/** Returns the row of a wrapped lock with another limit, measured only at some thread counts. */
export function withLimit(of: string, bypass: number, only: readonly number[]): ScriptRow {
  return { ...composite(of, 'wrapped', bypass, `${of}+capacitor:${bypass}`), only };
}

/** Finds such a row by its name, for the process that runs it. */
export function sweptRow(name: string): ScriptRow | undefined {
  const [, of, bypass] = SWEPT.exec(name) ?? [];
  return of === undefined ? undefined : withLimit(of, Number(bypass), []);
}

/** The lock of the run that the platoon's sawtooth is drawn from, in a capacitor of the usual limit. */
export const TRACED = 'TtsLock';

const TRACE_EVENTS = 400;

/** Returns the traced row with another limit. */
export const tracedRow = (bypass: number): ScriptRow<LockLike> => ({
  kind: 'script',
  name: `${TRACED}+capacitor, traced`,
  family: 'taketurns',
  share: async () => {
    const { Capacitor } = await algorithms();
    const capacitor = new Capacitor(bypass);
    const inner = new (await innerOf(TRACED))();
    const log = new PlatoonLog();
    return {
      shared: { capacitor: capacitor.handle, inner: inner.handle, log: log.memory },
      dispose: () => {
        capacitor.dispose();
        inner.dispose();
      },
      trace: (end) => log.before(end, TRACE_EVENTS, bypass),
    };
  },
  join: async (shared) => {
    const { Capacitor } = await algorithms();
    const { capacitor, inner, log } = shared as Record<string, never>;
    const lock = (await innerOf(TRACED)).from(inner as never);
    return {
      subject: new TracedLock(Capacitor.from(capacitor as never), lock, new PlatoonLog(log), clock),
    };
  },
});

export const TRACE_ROW = tracedRow(BYPASS);

/** Makes a row the baseline of its own panel. */
function bare(row: ScriptRow): Row {
  return { ...row, lock: { of: row.name, form: 'bare' } };
}

/** Returns a row of the native binary, in the panel of the script row that it corresponds to. */
function counterpart(of: string, algorithm: string): Row {
  return { ...native(algorithm), lock: { of, form: 'native' } };
}

export const LOCKS: readonly Row[] = [
  bare(
    library(
      'Mutex',
      async () => (await import('taketurns')).Mutex,
      (Mutex) => new Mutex(),
      false,
    ),
  ),
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
  ...Object.entries(INNER).flatMap(([name, load]) => [
    bare(library(name, load, (Lock) => new Lock(), TICKETED.includes(name))),
    composite(name, 'wrapped'),
    composite(name, 'fractional'),
  ]),
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
  counterpart('ClhLock', 'clh-futex'),
  counterpart('LifoLock', 'lifo-futex'),
  counterpart('ReciprocatingLock', 'reciprocating-futex'),
];

/** The rows of the usual run that `--paper` leaves out: they are in no figure of the paper, nor made of its locks. */
const NOT_OF_THE_PAPER = ['Semaphore', 'sem_t', 'js-barging', 'multithreading'];

/**
 * The set of `--paper`: each lock bare and in every form that Dice's paper names. A row of this set alone is an entry
 * here; no usual run has it, so that those do not take longer.
 */
export const PAPER_LOCKS: readonly Row[] = [
  ...LOCKS.filter(({ name }) => !NOT_OF_THE_PAPER.includes(name)),
  ...Object.keys(INNER).map((name) => composite(name, 'contended')),
  composite('TtsLock', 'lanes'),
  composite('TtsLock', 'random'),
  guarded('TtsLock'),
];

export const ASYNC_LOCKS: readonly AsyncRow[] = [
  {
    name: 'Mutex',
    family: 'taketurns',
    make: async () => {
      const { Mutex } = await import('taketurns');
      const mutex = new Mutex();
      return { acquire: () => mutex.lockAsync(), release: () => mutex.unlock() };
    },
  },
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
