// The rows of semabench, all of which are declared here. To add a row, add an entry.

import { Arena } from 'taketurns';
import { JsBargingSemaphore } from './js-barging.js';
import { JsTicketSemaphore } from './js-ticket.js';
import { attachSemaphore, shareSemaphore } from './multithreading.js';
import { RING, Ring } from './ring.js';
import { type AsyncRow, library, type NativeRow, native, type Row, type ScriptRow, SPINNING, wakesOf } from './row.js';
import type { SemaphoreLike } from './subjects.js';

interface SemaphoreClass {
  new (permits: number, options?: object): SemaphoreLike & { readonly handle: unknown; dispose(): void };
  from(handle: never): SemaphoreLike;
}

function semaphore(name: string, load: () => Promise<SemaphoreClass>, options?: object): ScriptRow<SemaphoreLike> {
  const row: ScriptRow<SemaphoreLike> = library(name, load, (Semaphore) => new Semaphore(1, options), true);
  return counting({ ...row, releasesMany: true });
}

interface ConservativeSemaphore extends SemaphoreLike {
  releaseConservative(): void;
}

/** A semaphore whose posts are conservative: SemaPostConservative of the paper, which has no short-cut. */
class ConservativePosts implements SemaphoreLike {
  readonly #semaphore: ConservativeSemaphore;

  constructor(semaphore: ConservativeSemaphore) {
    this.#semaphore = semaphore;
  }

  acquire(): void {
    this.#semaphore.acquire();
  }

  release(): void {
    this.#semaphore.releaseConservative();
  }
}

/** Makes the row of a class, whose every post is conservative. */
function conservative(name: string, load: () => Promise<SemaphoreClass>, options?: object): ScriptRow<SemaphoreLike> {
  const { releasesMany: _, ...row } = semaphore(name, load, options);
  const join = async (handle: unknown) => {
    const { subject, ...joined } = await row.join(handle);
    return { ...joined, subject: new ConservativePosts(subject as ConservativeSemaphore) };
  };
  return { ...row, join };
}

/** Makes a row of a class that counts collisions and futile wake-ups of its waiters. */
function counting(row: ScriptRow<SemaphoreLike>): ScriptRow<SemaphoreLike> {
  const share = async () => ({ ...(await row.share()), wakes: () => wakesOf(Arena.default) });
  return { ...row, share, countsWakes: true };
}

interface P0514 {
  share(): { shared: unknown; dispose?: () => void };
  join(shared: never): SemaphoreLike;
}

/** Makes a row of taketurns/p0514. */
function p0514(name: string, make: (module: typeof import('taketurns/p0514')) => P0514): ScriptRow<SemaphoreLike> {
  const load = async (): Promise<P0514> => make(await import('taketurns/p0514'));
  return {
    kind: 'script',
    name,
    family: 'taketurns',
    share: async () => (await load()).share(),
    join: async (shared) => ({ subject: (await load()).join(shared as never) }),
  };
}

/**
 * A barging semaphore whose acquire takes a ticket first, which the semaphore does not know: the control for the count of
 * the bypass by tickets.
 */
const BARGING_WITH_TICKET: ScriptRow<SemaphoreLike> = {
  kind: 'script',
  name: 'js-barging+ticket',
  family: 'JavaScript',
  share: async () => ({
    shared: { words: JsBargingSemaphore.share(1), next: new Int32Array(new SharedArrayBuffer(4)) },
  }),
  join: async (shared) => {
    const { words, next } = shared as Record<'words' | 'next', Int32Array>;
    const semaphore = new JsBargingSemaphore(words);
    let latest = -1;
    const acquire = () => {
      latest = Atomics.add(next, 0, 1);
      semaphore.acquire();
    };
    return { subject: { acquire, release: () => semaphore.release() }, ticket: () => BigInt(latest) };
  },
};

/** A C++ algorithm whose waiters poll and then park, and the same with waiters that spin for ever. */
function parkingAndSpinning(name: string, park = `${name}-futex`, ...more: string[]): NativeRow[] {
  return [native(park), native(`${name}-spin`, park, ['--spin', SPINNING, ...more])];
}

const algorithms = () => import('taketurns/algorithms');
const twa = async () => (await algorithms()).TwaSemaphore;
const ticket = async () => (await algorithms()).TicketSemaphore;
const chain = async () => (await algorithms()).ChainSemaphore;
const channel = async () => (await algorithms()).ChannelSemaphore;
const location = async () => (await algorithms()).LocationSemaphore;
const multilane = async () => (await algorithms()).MultilaneSemaphore;

export const SEMAPHORES: readonly Row[] = [
  // The rows that release 64 permits at once need room for them. A release looks at the max, as it does by default.
  semaphore('Semaphore', async () => (await import('taketurns')).Semaphore, { max: 2 ** 31 - 2 }),
  counting(
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
  ),
  counting({
    ...p0514('CountingSemaphore', ({ CountingSemaphore }) => ({
      share: () => {
        const semaphore = new CountingSemaphore(1);
        return { shared: semaphore.handle, dispose: () => semaphore.dispose() };
      },
      join: (handle) => {
        const semaphore = CountingSemaphore.from(handle);
        return { acquire: () => semaphore.wait(), release: (permits = 1) => semaphore.signal(permits) };
      },
    })),
    releasesMany: true,
  }),
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
  semaphore('TwaSemaphore', twa),
  semaphore('TicketSemaphore', ticket),
  semaphore('ChainSemaphore', chain),
  semaphore('ChainSemaphore all', chain, { wake: 'all' }),
  semaphore('ChainSemaphore due', chain, { wake: 'due' }),
  semaphore('ChannelSemaphore', channel),
  semaphore('ChannelSemaphore lazy', channel, { lazy: true }),
  semaphore('LocationSemaphore', location),
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
  {
    kind: 'script',
    name: RING,
    family: 'JavaScript',
    only: 'several',
    share: async () => ({ shared: Ring.share() }),
    join: async (words) => {
      const subject = new Ring(words as Int32Array);
      return { subject, finish: () => subject.leave() };
    },
  },
  native('twa-futex'),
  native('ticket-futex'),
  native('sem_t'),
  native('std::counting_semaphore'),
];

const SPIN = { policy: 'spin' };
/** Far waiters park at once, and near ones spin. */
const SPIN_NEAR = { ...SPIN, farParks: true, threshold: 1 };

/**
 * The rows of `--paper`. The figure of Dice and Kogan has three curves, where all waiters spin. Their text also
 * proposes a TWA semaphore whose far waiters park. Each of these has a counterpart in C++. The third curve is `sem_t`
 * itself.
 */
export const PAPER_SEMAPHORES: readonly Row[] = [
  semaphore('TicketSemaphore spin', ticket, SPIN),
  semaphore('TwaSemaphore spin', twa, SPIN),
  semaphore('TwaSemaphore spin near', twa, SPIN_NEAR),
  ...SEMAPHORES.filter(({ name }) => name === 'sem_t'),
  native('ticket-spin', 'ticket-futex', ['--spin', SPINNING]),
  native('twa-spin', 'twa-futex', ['--spin', SPINNING, '--far-spin', SPINNING]),
  native('twa-spin near', 'twa-futex', ['--spin', SPINNING]),
];

/**
 * Variants of the papers' semaphores. They are measured only if the command line names them. Some of
 * them have another `threshold` than the row `TwaSemaphore`, whose threshold is 1.
 */
export const SEMAPHORES_BY_NAME: readonly Row[] = [
  semaphore('TwaSemaphore threshold 0', twa, { threshold: 0 }),
  semaphore('TwaSemaphore threshold 2', twa, { threshold: 2 }),
  semaphore('TwaSemaphore threshold 4', twa, { threshold: 4 }),
  conservative('TwaSemaphore conservative', twa),
  semaphore('TwaSemaphore sequestered', twa, { sequestered: true }),
  semaphore('TwaSemaphore far parks', twa, { farParks: true }),
  semaphore('TwaSemaphore yield', twa, { policy: 'yield' }),
  semaphore('TicketSemaphore delay 10', ticket, { delay: 10 }),
  semaphore('TicketSemaphore spin delay 10', ticket, { ...SPIN, delay: 10 }),
  ...[0, 2, 4].map((threshold) => semaphore(`TwaSemaphore spin threshold ${threshold}`, twa, { ...SPIN, threshold })),
  semaphore('ChainSemaphore spin', chain, SPIN),
  semaphore('ChainSemaphore spin near', chain, SPIN_NEAR),
  semaphore('ChannelSemaphore spin', channel, SPIN),
  semaphore('ChannelSemaphore spin near', channel, SPIN_NEAR),
  semaphore('LocationSemaphore spin', location, SPIN),
  semaphore('LocationSemaphore spin near', location, SPIN_NEAR),
  conservative('ChainSemaphore conservative', chain, { wake: 'all' }),
  conservative('ChannelSemaphore conservative', channel),
  semaphore('MultilaneSemaphore', multilane),
  BARGING_WITH_TICKET,
  native('benaphore'),
  // Listings 3 to 5, whose releases are as printed: those of Listings 3 and 4 have no short-cut.
  ...['chain', 'chain-lazy', 'channel', 'channel-lazy', 'channel-sequence', 'location'].flatMap((name) =>
    parkingAndSpinning(name),
  ),
  ...['chain', 'channel', 'location'].map((name) =>
    native(`${name}-spin+printedOrders`, `${name}-futex+printedOrders`, ['--spin', SPINNING]),
  ),
  // The note of the second listing on capacitors: near waiters poll in a loop of their own.
  ...parkingAndSpinning('twa-near-loop', undefined, '--far-spin', SPINNING),
  ...parkingAndSpinning('lanes of ticket'),
  ...parkingAndSpinning('lanes of twa', undefined, '--far-spin', SPINNING),
  // Other ways to pause between two polls.
  ...['lfence', 'yield'].flatMap((pause) => [
    native(`ticket-spin ${pause}`, 'ticket-futex', ['--spin', SPINNING, '--pause', pause]),
    native(`twa-spin ${pause}`, 'twa-futex', ['--spin', SPINNING, '--far-spin', SPINNING, '--pause', pause]),
  ]),
  native('p0514-one-word'),
  native('p0514-two-words'),
  native('std::atomic::wait'),
  native('sem_t+ticket'),
  native('std::counting_semaphore+ticket'),
];

/**
 * The rows of P0514's reference implementation, measured only if the command line names them. The binary has them if
 * P0514_REFERENCE names the folder of the implementation.
 */
export const REFERENCE_SEMAPHORES: readonly Row[] = [
  native('p0514-reference binary'),
  native('p0514-reference counting'),
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
