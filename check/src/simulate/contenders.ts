/** Lists what is simulated: semaphores with one permit, and locks, with the exports that the library calls for each. */
import type { ProgramName } from '../programs.js';
import { ADMITTED, constant, QUEUED } from '../scene/layout.js';

/** A call of an export on one of the contender's objects. */
export interface Call {
  readonly name: string;
  /** The index of the object, 0 by default; park takes no object. */
  readonly on?: number | 'nothing';
  /** Returns the arguments after the object's address, for a thread with this attachment to the first object. */
  readonly args?: (attachment: number) => readonly number[];
  /** Returns the calls that must follow this answer. */
  readonly next?: (answer: number) => readonly Call[];
}

export interface Made {
  /** The name of a constant in core/memory/layout.ts. */
  readonly kind: string;
  readonly spin: number;
  readonly threshold?: number;
  /** O_WAKE and O_LAZY. */
  readonly wake?: number;
  readonly lazy?: number;
  readonly permits?: number;
  readonly most?: number;
  readonly robust?: boolean;
}

export interface Contender {
  readonly name: string;
  /** The module; the core by default. */
  readonly program?: ProgramName;
  readonly objects: readonly Made[];
  readonly enter: readonly Call[];
  readonly leave: readonly Call[];
  /** Semaphores and locks have separate tables and figures. */
  readonly of: 'semaphores' | 'locks';
}

/** More polls than any wait takes, so that nobody parks, as in the papers' listings. */
const WITHOUT_END = 1_000_000;
// These are the defaults of src/.
const LISTING_SPIN = 100;
const SEMAPHORE_SPIN = 200;
const TWA_THRESHOLD = 1;
const MUTEX_BYPASS = 2 ** 21;
/** The size of a platoon of a capacitor, as in the paper. */
const PLATOON = 10;

const HEAD = constant('HEAD');
const CONTENDED = constant('CONTENDED');
const MORE = constant('MORE');

const listing = (name: string, kind: 'ticket' | 'twa', spin: number): Contender => ({
  name,
  program: 'algorithms',
  objects: [{ kind: `KIND_${kind.toUpperCase()}_SEMAPHORE`, spin, threshold: kind === 'twa' ? TWA_THRESHOLD : 0 }],
  enter: [{ name: `${kind}Acquire`, next: (answer) => (answer === QUEUED ? [{ name: `${kind}Await` }] : []) }],
  // Such a semaphore is acquired one permit at a time, and released by any number.
  leave: [
    {
      name: `${kind}Release`,
      args: () => [1],
      next: (answer) => (answer === MORE ? [{ name: `${kind}Post` }] : []),
    },
  ],
  of: 'semaphores',
});

const semaphore: Contender = {
  name: 'Semaphore',
  objects: [{ kind: 'KIND_SEMAPHORE', spin: SEMAPHORE_SPIN }],
  enter: [
    {
      name: 'acquireOne',
      next: (acquired) =>
        acquired === ADMITTED
          ? []
          : [
              {
                name: 'enqueue',
                args: () => [1, acquired, 0],
                next: (queued) => (queued === QUEUED ? [{ name: 'park', on: 'nothing', args: () => [0, 0] }] : []),
              },
            ],
    },
  ],
  leave: [
    {
      name: 'releaseOne',
      next: (released) => (released === ADMITTED ? [] : [{ name: 'finishRelease', args: () => [1, released, 0, 0] }]),
    },
  ],
  of: 'semaphores',
};

const compete: Call = { name: 'compete', args: (attachment) => [-1, -1, attachment] };

const mutex: Contender = {
  name: 'Mutex',
  objects: [{ kind: 'KIND_MUTEX', spin: SEMAPHORE_SPIN, most: MUTEX_BYPASS, robust: true }],
  enter: [
    {
      name: 'lock',
      next: (answer) =>
        answer === CONTENDED
          ? [
              {
                name: 'queue',
                args: (attachment) => [attachment],
                next: (queued) => {
                  if (queued === HEAD) return [compete];
                  if (queued !== QUEUED) return [];
                  return [{ name: 'park', on: 'nothing', args: (attachment) => [0, attachment] }, compete];
                },
              },
            ]
          : [],
    },
  ],
  leave: [{ name: 'unlock', next: (answer) => (answer === MORE ? [{ name: 'wakeHead' }] : []) }],
  of: 'locks',
};

const CAPACITOR: Made = {
  kind: 'KIND_CAPACITOR',
  spin: WITHOUT_END,
  threshold: TWA_THRESHOLD,
  permits: PLATOON,
  most: PLATOON,
};

/** Returns a lock that spins, as in the paper, twice: bare and in a capacitor. */
function bothWays(name: string, kind: string, prefix: string): Contender[] {
  const made = { kind: `KIND_${kind}_LOCK`, spin: WITHOUT_END, threshold: TWA_THRESHOLD };
  const [lock, unlock] = [`${prefix}Lock`, `${prefix}Unlock`];
  return [
    {
      name,
      program: 'algorithms',
      objects: [made],
      enter: [{ name: lock }],
      leave: [{ name: unlock }],
      of: 'locks',
    },
    {
      name: `${name}, wrapped`,
      program: 'algorithms',
      objects: [CAPACITOR, made],
      enter: [
        { name: 'twaAcquire', next: (answer) => (answer === QUEUED ? [{ name: 'twaAwait' }] : []) },
        { name: lock, on: 1 },
      ],
      leave: [
        { name: unlock, on: 1 },
        {
          name: 'capacitorDepart',
          args: () => [PLATOON],
          next: (departed) =>
            departed === MORE
              ? [
                  {
                    name: 'twaRelease',
                    args: () => [PLATOON],
                    next: (released) => (released === MORE ? [{ name: 'twaPost' }] : []),
                  },
                ]
              : [],
        },
      ],
      of: 'locks',
    },
  ];
}

/** Returns the contender of this name. */
export function contenderOf(name: string): Contender {
  const contender = contenders.find((candidate) => candidate.name === name);
  if (contender === undefined) throw new Error(`nothing that is simulated is called ${name}`);
  return contender;
}

export const contenders: readonly Contender[] = [
  listing('TicketSemaphore, spinning', 'ticket', WITHOUT_END),
  listing('TicketSemaphore', 'ticket', LISTING_SPIN),
  listing('TwaSemaphore, spinning', 'twa', WITHOUT_END),
  listing('TwaSemaphore', 'twa', LISTING_SPIN),
  semaphore,
  ...bothWays('TtsLock', 'TTS', 'tts'),
  ...bothWays('TicketLock', 'TICKET', 'ticket'),
  ...bothWays('TwaLock', 'TWA', 'twa'),
  ...bothWays('McsLock', 'MCS', 'mcs'),
  ...bothWays('ClhLock', 'CLH', 'clh'),
  ...bothWays('LifoLock', 'LIFO', 'lifo'),
  ...bothWays('ReciprocatingLock', 'RECIPROCATING', 'recip'),
  mutex,
];
