/** The semaphores that are simulated, each by the exports that the library calls for it. */
import type { ProgramName } from '../programs.js';

export interface Contender {
  readonly name: string;
  /** Default: core. */
  readonly program?: ProgramName;
  /** Constant of core/layout.ts. */
  readonly kind: 'KIND_SEMAPHORE' | 'KIND_TICKET_SEMAPHORE' | 'KIND_TWA_SEMAPHORE';
  readonly spin: number;
  readonly threshold: number;
  readonly acquire: string;
  readonly release: string;
  /** What follows an acquire and a release that have not answered ADMITTED. */
  readonly park?: string;
  readonly finishRelease?: string;
  /** Arguments after the semaphore's address. */
  readonly permits: readonly number[];
}

/** More polls than any wait takes: nobody parks, as in the papers' listings. */
const WITHOUT_END = 1_000_000;
// The defaults of src/.
const LISTING_SPIN = 100;
const SEMAPHORE_SPIN = 200;
const TWA_THRESHOLD = 1;

const ticket = (name: string, spin: number): Contender => ({
  name,
  program: 'algorithms',
  kind: 'KIND_TICKET_SEMAPHORE',
  spin,
  threshold: 0,
  acquire: 'ticketAcquire',
  release: 'ticketRelease',
  permits: [],
});

const twa = (name: string, spin: number): Contender => ({
  name,
  program: 'algorithms',
  kind: 'KIND_TWA_SEMAPHORE',
  spin,
  threshold: TWA_THRESHOLD,
  acquire: 'twaAcquire',
  release: 'twaRelease',
  permits: [],
});

export const contenders: readonly Contender[] = [
  ticket('TicketSemaphore, spinning', WITHOUT_END),
  ticket('TicketSemaphore', LISTING_SPIN),
  twa('TwaSemaphore, spinning', WITHOUT_END),
  twa('TwaSemaphore', LISTING_SPIN),
  {
    name: 'Semaphore',
    kind: 'KIND_SEMAPHORE',
    spin: SEMAPHORE_SPIN,
    threshold: 0,
    acquire: 'acquire',
    park: 'park',
    release: 'release',
    finishRelease: 'finishRelease',
    permits: [1],
  },
];
