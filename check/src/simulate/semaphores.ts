/** Makes the semaphores that are simulated, each with one permit and with the exports that the library calls for it. */
import { ADMITTED, constant, QUEUED } from '../scene/layout.js';
import { ADAPTIVE, type Call, type Contender, type Group, MORE, TWA_THRESHOLD, WITHOUT_END } from './contender.js';

/** How often the waiters of a listing poll by default. */
const LISTING_SPIN = 100;
const WAKE_ALL = constant('WAKE_ALL');
const WAKE_PASS = constant('WAKE_PASS');
const WAKE_DUE = constant('WAKE_DUE');

/** Returns two forms of a contender: waiters poll without end, as in the listings, or park after the default polls. */
const bothWays = (make: (suffix: string, spin: number) => Contender): Contender[] => [
  make(', spinning', WITHOUT_END),
  make('', LISTING_SPIN),
];

/** The calls of TicketSemaphore and TwaSemaphore. A semaphore around a lock uses the same calls. */
export function listingEnter(kind: 'ticket' | 'twa', on = 0): Call {
  return { name: `${kind}Acquire`, on, next: (answer) => (answer === QUEUED ? [{ name: `${kind}Await`, on }] : []) };
}

export function listingLeave(kind: 'ticket' | 'twa', permits = 1, on = 0): Call {
  return {
    name: `${kind}Release`,
    on,
    args: () => [permits],
    next: (answer) => (answer === MORE ? [{ name: `${kind}Post`, on }] : []),
  };
}

/** The calls of a MultilaneSemaphore. Its lanes are objects 1 to n. */
export function lanesEnter(n: number): Call {
  const next = (lane: number): Call[] => [{ name: 'ticketAwait', on: 1 + lane }];
  const choose: Call = { name: 'laneOf', on: 'nothing', args: () => [n], next };
  return { name: 'ticketAcquire', next: (answer) => (answer === QUEUED ? [choose] : []) };
}

export function lanesLeave(n: number, permits = 1): Call {
  const open = (lane: number, i: number): Call => ({
    name: 'laneOpen',
    args: ({ objects }) => [objects[1 + (lane % n)] as number, i, n],
  });
  return {
    name: 'lanesRelease',
    args: () => [permits, n],
    next: (first) => Array.from({ length: Math.min(permits, n) }, (_, i) => open(first + i, i)),
  };
}

const ticket = bothWays((suffix, spin) => ({
  name: `TicketSemaphore${suffix}`,
  program: 'algorithms',
  objects: [{ kind: 'KIND_TICKET_SEMAPHORE', spin }],
  enter: () => [listingEnter('ticket')],
  leave: () => [listingLeave('ticket')],
  of: 'semaphores',
}));

function twa(name: string, spin: number, threshold: number, of: Group, post = listingLeave('twa')): Contender {
  const objects = [{ kind: 'KIND_TWA_SEMAPHORE', spin, threshold }];
  return { name, program: 'algorithms', objects, enter: () => [listingEnter('twa')], leave: () => [post], of };
}

function semaphore(name: string, spin: number): Contender {
  return {
    name,
    objects: [{ kind: 'KIND_SEMAPHORE', spin }],
    enter: () => [
      {
        name: 'acquireOne',
        next: (acquired) => {
          if (acquired === ADMITTED) return [];
          const park: Call = { name: 'park', on: 'nothing', args: () => [0, 0] };
          const next = (queued: number): Call[] => (queued === QUEUED ? [park] : []);
          return [{ name: 'enqueue', args: () => [1, acquired, 0], next }];
        },
      },
    ],
    leave: () => [
      {
        name: 'releaseOne',
        next: (released) => (released === ADMITTED ? [] : [{ name: 'finishRelease', args: () => [1, released, 0] }]),
      },
    ],
    of: 'semaphores',
  };
}

export const semaphores: readonly Contender[] = [
  ...ticket,
  ...bothWays((suffix, spin) => twa(`TwaSemaphore${suffix}`, spin, TWA_THRESHOLD, 'semaphores')),
  semaphore('Semaphore', ADAPTIVE),
  semaphore('Semaphore, asleep', 0),
];

interface Properties {
  readonly wake?: number;
  readonly lazy?: number;
  readonly threshold?: number;
}

/** Returns a semaphore of Listings 3 to 5. */
function overChains(prefix: string, properties: Properties) {
  return (name: string, spin: number, of: Group, conservative = false): Contender => ({
    name,
    program: 'algorithms',
    objects: [{ kind: `KIND_${prefix.toUpperCase()}_SEMAPHORE`, spin, ...properties }],
    enter: () => [{ name: `${prefix}Acquire` }],
    leave: () => [
      conservative ? { name: `${prefix}ReleaseConservative` } : { name: `${prefix}Release`, args: () => [1] },
    ],
    of,
  });
}

/** Returns a semaphore as the listing prints it, in both forms, and one that spins and has conservative posts. */
function listing(name: string, prefix: string, properties: Properties = {}): Contender[] {
  const make = overChains(prefix, properties);
  return [
    ...bothWays((suffix, spin) => make(`${name}${suffix}`, spin, 'chains')),
    make(`${name}, conservative`, WITHOUT_END, 'chains', true),
  ];
}

const CONSERVATIVE: Call = { name: 'twaReleaseConservative', args: () => [1] };

/** How many lanes a MultilaneSemaphore has by default, and at most. */
const LANES = [8, 64];

const multilane = LANES.flatMap((lanes) =>
  bothWays((suffix, spin) => ({
    name: `MultilaneSemaphore${lanes === LANES[0] ? '' : `, ${lanes} lanes`}${suffix}`,
    program: 'algorithms',
    objects: Array.from({ length: 1 + lanes }, () => ({ kind: 'KIND_MULTILANE_SEMAPHORE', spin })),
    enter: () => [lanesEnter(lanes)],
    leave: () => [lanesLeave(lanes)],
    of: 'chains',
  })),
);

export const chains: readonly Contender[] = [
  ...listing('ChainSemaphore, all', 'chain', { wake: WAKE_ALL }),
  ...listing('ChainSemaphore, pass', 'chain', { wake: WAKE_PASS }),
  ...listing('ChainSemaphore, due', 'chain', { wake: WAKE_DUE }),
  ...listing('ChannelSemaphore', 'channel'),
  ...listing('ChannelSemaphore, lazy', 'channel', { lazy: 1 }),
  ...listing('LocationSemaphore', 'location'),
  {
    name: 'TicketSemaphore, delay 10, spinning',
    program: 'algorithms',
    objects: [{ kind: 'KIND_TICKET_SEMAPHORE', spin: WITHOUT_END, delay: 10 }],
    enter: () => [
      { name: 'ticketAcquire', next: (answer) => (answer === QUEUED ? [{ name: 'ticketAwaitDelayed' }] : []) },
    ],
    leave: () => [listingLeave('ticket')],
    of: 'chains',
  },
  {
    ...twa('TwaSemaphore, sequestered', WITHOUT_END, TWA_THRESHOLD, 'chains', CONSERVATIVE),
    enter: () => [
      { name: 'twaAcquireSequestered', next: (answer) => (answer === QUEUED ? [{ name: 'twaAwait' }] : []) },
    ],
  },
  twa('TwaSemaphore, conservative', WITHOUT_END, TWA_THRESHOLD, 'chains', CONSERVATIVE),
  ...multilane,
];

/** A critical section by an event count and a sequencer: a thread awaits its ticket, and advances when it leaves. */
const eventCounts = [0, 1, 2].map(
  (threshold): Contender => ({
    name: `EventCount, threshold ${threshold}, spinning`,
    program: 'algorithms',
    objects: [
      { kind: 'KIND_EVENT_COUNT', spin: WITHOUT_END, permits: 0, wake: WAKE_PASS, threshold },
      { kind: 'KIND_SEQUENCER', spin: 0, permits: 0 },
    ],
    enter: () => [
      { name: 'sequencerTicket', on: 1, next: (ticket) => [{ name: 'eventAwait', args: () => [ticket, 0] }] },
    ],
    leave: () => [{ name: 'eventAdvance', args: () => [1] }],
    of: 'thresholds',
  }),
);

/**
 * TwaSemaphore, the semaphores over chains, channels and locations, and event counts, with several thresholds. The
 * semaphores over chains, channels and locations with threshold 0 are above.
 */
export const thresholds: readonly Contender[] = [
  ...eventCounts,
  ...[0, 1, 2, 4].flatMap((threshold) =>
    bothWays((suffix, spin) => twa(`TwaSemaphore, threshold ${threshold}${suffix}`, spin, threshold, 'thresholds')),
  ),
  ...(['chain', 'channel', 'location'] as const).flatMap((prefix) =>
    [1, 2, 4].map((threshold) => {
      const name = `${prefix[0]?.toUpperCase()}${prefix.slice(1)}Semaphore, threshold ${threshold}, spinning`;
      return overChains(prefix, { threshold, wake: prefix === 'chain' ? WAKE_PASS : 0 })(
        name,
        WITHOUT_END,
        'thresholds',
      );
    }),
  ),
];
