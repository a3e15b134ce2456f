// The rows of MutexBench, each declared here and nowhere else. To add a row, add an entry.

import type { Arena } from 'taketurns';
import type { CapacitorHandle } from 'taketurns/algorithms';
import { clock, MOST_THREADS } from '../workers/board.js';
import { JsBargingMutex } from './js-mutex.js';
import { attachMutex, shareMutex } from './multithreading.js';
import { letInOf, PlatoonLog, TracedLock } from './platoon.js';
import { type AsyncRow, library, native, type Row, type ScriptRow, SPINNING, withTickets } from './row.js';
import type { LockLike, SemaphoreLike } from './subjects.js';
import { hasWebLocks, WebLock, webLocks } from './web-lock.js';

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

/**
 * A lock that a thread takes only with a permit of a semaphore. So fewer threads compete for it. Nothing bounds
 * overtaking.
 */
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
  new (options?: object): LockLike & { readonly handle: unknown; dispose(): void };
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
/** The ending of the name of a lock whose waiters spin, as in the paper. */
const SPIN = ' spin';

/** Returns the class of the lock of this name, and the options of its objects and of the capacitor around them. */
async function classOf(name: string): Promise<{ Inner: LockClass; options: object }> {
  const load = INNER[name.replace(SPIN, '')];
  if (load === undefined) throw new Error(`there is no lock called ${name}`);
  return { Inner: await load(), options: name.endsWith(SPIN) ? { policy: 'spin' } : {} };
}

/** The locks of INNER whose admissions have tickets. */
const TICKETED = ['TicketLock', 'TwaLock'];

/** The limit of the wrapped and the fractional forms, as in the paper. */
export const BYPASS = 10;
/** The share of arrivals that go past the capacitor in the fractional form. In the paper it is 99 of 100. */
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
  often: ['fractional 0.9', { fraction: 0.9 }],
  listing1: ['ticketCapacitor', { semaphore: 'ticket' }],
} as const;

/**
 * The forms in which every admission has a ticket of one capacitor. In the others some go past it, or take the tickets
 * of a lane.
 */
const ORDERED: readonly string[] = ['wrapped', 'lanes', 'listing1'] satisfies (keyof typeof CAPACITORS)[];

let inside: Arena | undefined;

/**
 * Returns the options of the lock inside a capacitor or a semaphore. While a probe looks at the tickets of the outer
 * one, the inner lock has an arena of its own: the last ticket of the default arena is then the outer one's.
 */
async function insideOf(options: object, probed: boolean): Promise<object> {
  if (!probed) return options;
  inside ??= new (await import('taketurns')).Arena({ threads: MOST_THREADS + 8 });
  return { ...options, arena: inside };
}

/** Wraps a lock in a capacitor. */
function composite(
  of: string,
  form: keyof typeof CAPACITORS,
  bypass = BYPASS,
  name = `${of}+${CAPACITORS[form][0]}`,
): ScriptRow<LockLike> {
  return {
    kind: 'script',
    name,
    family: 'taketurns',
    lock: { of, form, bypass },
    share: async (probed = false) => {
      const { Inner, options } = await classOf(of);
      const { CapacitorLock } = await algorithms();
      const inner = new Inner(await insideOf(options, probed));
      const lock = new CapacitorLock(inner, { bypass, ...options, ...CAPACITORS[form][1] });
      const dispose = () => {
        lock.dispose();
        inner.dispose();
      };
      return { shared: lock.handle, dispose };
    },
    join: async (handle) => {
      const subject = (await algorithms()).CapacitorLock.from(handle as never);
      return ORDERED.includes(form) ? withTickets(subject) : { subject };
    },
  };
}

/**
 * Wraps a lock in a plain semaphore with as many permits as the capacitors have. The paper compares these two. If the
 * waiters of the lock spin, those of the semaphore spin too: it is the semaphore of Listing 2, as in the capacitor.
 */
function guarded(of: string): ScriptRow<LockLike> {
  const classes = async () => {
    const { Inner, options } = await classOf(of);
    const Semaphore = of.endsWith(SPIN) ? (await algorithms()).TwaSemaphore : (await import('taketurns')).Semaphore;
    return { Inner, Semaphore, options };
  };
  return {
    kind: 'script',
    name: `${of}+semaphore`,
    family: 'taketurns',
    lock: { of, form: 'semaphore' },
    share: async (probed = false) => {
      const { Inner, Semaphore, options } = await classes();
      const semaphore = new Semaphore(BYPASS, options);
      const inner = new Inner(await insideOf(options, probed));
      const dispose = () => {
        semaphore.dispose();
        inner.dispose();
      };
      return { shared: { semaphore: semaphore.handle, inner: inner.handle }, dispose };
    },
    join: async (shared) => {
      const { Inner, Semaphore } = await classes();
      const { semaphore, inner } = shared as Record<string, never>;
      return withTickets(new Guarded(Semaphore.from(semaphore as never), Inner.from(inner as never)));
    },
  };
}

const SWEPT = /^([\w ]+)\+capacitor:(\d+)$/;

/** Returns the row of a wrapped lock with another limit, measured only at some thread counts. */
export function withLimit(of: string, bypass: number, only: readonly number[]): ScriptRow<LockLike> {
  return { ...composite(of, 'wrapped', bypass, `${of}+capacitor:${bypass}`), only };
}

/** Finds such a row by its name, for the process that runs it. */
export function sweptRow(name: string): ScriptRow<LockLike> | undefined {
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
    const inner = new (await classOf(TRACED)).Inner();
    const log = new PlatoonLog();
    return {
      shared: { capacitor: capacitor.handle, inner: inner.handle, log: log.memory },
      dispose: () => {
        capacitor.dispose();
        inner.dispose();
      },
      trace: (end) => log.before(end, TRACE_EVENTS),
    };
  },
  join: async (shared) => {
    const { Capacitor } = await algorithms();
    const { capacitor, inner, log } = shared as { capacitor: CapacitorHandle; inner: never; log: SharedArrayBuffer };
    const lock = (await classOf(TRACED)).Inner.from(inner);
    const letIn = letInOf(capacitor);
    return { subject: new TracedLock(Capacitor.from(capacitor), lock, new PlatoonLog(log), letIn, clock) };
  },
});

export const TRACE_ROW = tracedRow(BYPASS);

/** Makes a row the baseline of its own panel. */
function bare(row: ScriptRow): Row {
  return { ...row, lock: { of: row.name, form: 'bare' } };
}

/** Returns a row of the native binary, in the panel of the script row that it corresponds to. */
function counterpart(of: string, ...binary: Parameters<typeof native>): Row {
  return { ...native(...binary), lock: { of, form: 'native' } };
}

/** The three curves of a lock in the paper's figure: bare, in a capacitor, and fractional. */
function curves(name: string): Row[] {
  const load = async () => {
    const { Inner, options } = await classOf(name);
    return { make: () => new Inner(options), from: (handle: never) => Inner.from(handle) };
  };
  const lock = library(name, load, ({ make }) => make(), TICKETED.includes(name.replace(SPIN, '')));
  return [bare(lock), composite(name, 'wrapped'), composite(name, 'fractional')];
}

/** A `TwaLock` whose waiters stand on chains. */
function onChains(name: string, options: { readonly policy?: 'spin' } = {}): Row {
  const load = async () => {
    const { TwaLock } = await algorithms();
    return {
      make: () => new TwaLock({ waiting: 'chains', ...options }),
      from: (handle: never) => TwaLock.from(handle),
    };
  };
  return bare(library(name, load, ({ make }) => make(), true));
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
  ...Object.keys(INNER).flatMap(curves),
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

/** The five locks of the paper's figure, and their counterparts in C++. */
const OF_THE_FIGURE: Readonly<Record<string, string>> = {
  TtsLock: 'tts',
  TicketLock: 'ticket',
  McsLock: 'mcs',
  LifoLock: 'lifo',
  ReciprocatingLock: 'reciprocating',
};

/**
 * The rows of `--paper`: the 15 curves of the figure in Dice's paper, where all waiters spin, and the same locks in
 * C++.
 */
export const PAPER_LOCKS: readonly Row[] = Object.entries(OF_THE_FIGURE).flatMap(([name, algorithm]) => [
  ...curves(name + SPIN),
  counterpart(name + SPIN, `${algorithm}-spin`, `${algorithm}-futex`, ['--spin', SPINNING]),
]);

/** The variants of section 5 of the paper, around one lock. */
function variants(name: string): Row[] {
  const forms = ['lanes', 'random', 'often', 'listing1'] as const;
  return [...forms.map((form) => composite(name, form)), guarded(name)];
}

/**
 * The capacitors in C++: Listing 2, Listing 1, lanes that are semaphores of their own, and fractional bypass. With
 * `spin`, all waiters spin.
 */
function nativeCapacitors(of: string, algorithm: string, spin: boolean): Row[] {
  const knobs = (twa: boolean) => (spin ? ['--spin', SPINNING, ...(twa ? ['--far-spin', SPINNING] : [])] : []);
  return ['capacitor', 'ticketCapacitor', 'lanes', 'fractional'].map((form) =>
    counterpart(
      spin ? of + SPIN : of,
      `${algorithm}-${spin ? 'spin' : 'futex'}+${form}`,
      `${algorithm}-futex+${form}`,
      knobs(form !== 'ticketCapacitor'),
    ),
  );
}

/**
 * Variants of the paper's locks. They are measured only if the command line names them. In the rows with `spin` all
 * waiters spin, as in the rows of `--paper`; in the others they park.
 */
export const LOCKS_BY_NAME: readonly Row[] = [
  ...Object.keys(INNER).map((name) => composite(name, 'contended')),
  ...variants('TtsLock'),
  ...Object.keys(INNER).map((name) => composite(name + SPIN, 'contended')),
  ...variants(`TtsLock${SPIN}`),
  ...curves(`TwaLock${SPIN}`),
  counterpart(`TwaLock${SPIN}`, 'twa-spin', 'twa-futex', ['--spin', SPINNING, '--far-spin', SPINNING]),
  onChains('TwaLock chains'),
  onChains(`TwaLock chains${SPIN}`, { policy: 'spin' }),
  ...curves(`ClhLock${SPIN}`),
  counterpart(`ClhLock${SPIN}`, 'clh-spin', 'clh-futex', ['--spin', SPINNING]),
  counterpart('TicketLock', 'ticket-store-futex'),
  counterpart(`TicketLock${SPIN}`, 'ticket-store-spin', 'ticket-store-futex', ['--spin', SPINNING]),
  // A capacitor whose semaphore lets threads barge: the control for the bound.
  counterpart('TtsLock', 'tts-futex+bargingCapacitor'),
  // The inner lock as the paper prints it, in both memory orders, bare and in a capacitor.
  ...['tts-exchange', 'tts-exchange+printedOrders'].flatMap((name) => [
    counterpart(`TtsLock${SPIN}`, name),
    counterpart(`TtsLock${SPIN}`, `${name}+capacitor`, `${name}+capacitor`, [
      '--spin',
      SPINNING,
      '--far-spin',
      SPINNING,
    ]),
  ]),
  ...['TtsLock', 'TicketLock', 'McsLock'].flatMap((of) =>
    [false, true].flatMap((spin) => nativeCapacitors(of, OF_THE_FIGURE[of] as string, spin)),
  ),
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
  ...(hasWebLocks
    ? [
        {
          name: 'worker_threads.locks',
          family: 'JavaScript' as const,
          make: async () => {
            const lock = new WebLock(await webLocks(), 'pair');
            return { acquire: () => lock.lock(), release: () => lock.unlock() };
          },
        },
      ]
    : []),
];
