// Adds up the counts of a run's threads from the board.

import { total } from '../statistics.js';
import {
  ADMISSIONS,
  type Board,
  BYPASSES,
  COUNTED,
  LARGEST_BYPASS,
  LONGEST_WAIT,
  OUT_OF_ORDER,
  tally,
} from './board.js';
import { BANDS } from './bypass-bands.js';

export interface RunCounts {
  /** For each thread, the iterations that ended inside the interval. */
  iterations: number[];
  admissions: number;
  longestWaitMs: number;
  largestBypass: number;
  /** Admissions by the band of their bypass. */
  bypasses: number[];
  /** Undefined if the row has no tickets. */
  outOfOrder?: number;
}

/** Reads the counts, once all threads are done. */
export function runCounts({ tallies }: Board, threads: number): RunCounts {
  const column = (index: number): number[] =>
    Array.from({ length: threads }, (_, thread) => tallies[tally(thread) + index] as number);
  const outOfOrder = total(column(OUT_OF_ORDER));
  return {
    iterations: column(COUNTED),
    admissions: total(column(ADMISSIONS)),
    longestWaitMs: Math.max(...column(LONGEST_WAIT)),
    largestBypass: Math.max(...column(LARGEST_BYPASS)),
    bypasses: Array.from({ length: BANDS }, (_, band) => total(column(BYPASSES + band))),
    ...(Number.isNaN(outOfOrder) ? {} : { outOfOrder }),
  };
}
