// The shared memory between the host of a run and its threads.
//
// The word PHASE says how far the run is. Only the host writes it. The bookkeeping of the benchmark must not slow the
// subject. So every word that is written during a run has its own 128 bytes. These are two cache lines, because
// processors fetch lines in pairs.

import { BANDS } from './bypass-bands.js';
import { ticketWords } from './ticket-order.js';

/**
 * The phases, in order. The interval that counts lies between MEASURE and STOP. Its first part begins with MEASURE, and
 * each further part begins with the next number.
 *
 * Before the interval, WARM and REHEARSAL take turns. When a loop takes a branch for the first time, the runtime
 * discards the compiled code of the loop. Without these rehearsals, the change to MEASURE would be the first time, and
 * the runtime would compile the code of all threads anew inside the interval.
 */
export const IDLE = 0;
export const WARM = 1;
export const REHEARSAL = 2;
export const MEASURE = 3;
/** The number of parts of an interval. They have the same length, and iterations are counted for each part. */
export const PARTS = 10;
export const STOP = MEASURE + PARTS;

/** Each thread of a script row is a worker of some 9 MB. */
export const MOST_THREADS = 512;

const STRIDE = 128;
const INTS = STRIDE / Int32Array.BYTES_PER_ELEMENT;
const FLOATS = STRIDE / Float64Array.BYTES_PER_ELEMENT;
/** A thread's figures need more than one stride. */
const TALLY = 2 * FLOATS;
const TALLY_BYTES = 2 * STRIDE;

// Indices into `words`, and the byte offsets of the regions after them.
export const PHASE = 0;
export const ADMITTED = INTS;
export const ARRIVALS = 2 * INTS;
export const FAILED = PHASE + 1;
const INTERVAL_AT = 3 * STRIDE;
const THREADS_AT = 4 * STRIDE;

/** Indices into `interval`: its beginning and its end by `clock`. Each is written before the phase changes. */
export const BEGIN = 0;
export const END = 1;

// Indices into a thread's part of `tallies`, which the thread itself writes. `measure` writes COUNTED at the end of a
// run, both loops write ADMISSIONS, and the probe writes the rest. OUT_OF_ORDER is NaN for a row without tickets.
export const COUNTED = 0;
export const ADMISSIONS = 1;
export const LONGEST_WAIT = 2;
export const LARGEST_BYPASS = 3;
export const OUT_OF_ORDER = 4;
/** The first of BANDS counts: the number of admissions with a bypass in each band. */
export const BYPASSES = 5;

export interface Board {
  memory: SharedArrayBuffer;
  /** PHASE, ADMITTED, ARRIVALS, and FAILED: non-zero once a thread has thrown. */
  words: Int32Array;
  interval: Float64Array;
  /**
   * At `arrival(thread)`: the arrival stamp of the thread while it waits, else 0. The next word is its bypass so far.
   */
  arrivals: Int32Array;
  /** At `tally(thread)`: the figures of the thread. */
  tallies: Float64Array;
  /** From `tally(thread)` on: the thread's iterations that ended inside each part of the interval. */
  parts: Float64Array;
  /** The order of the admissions by their tickets (ticket-order.ts). */
  tickets: Float64Array;
}

/** Returns milliseconds; unlike `performance.now()` it is the same in all threads. */
export const clock: () => number =
  typeof process === 'undefined'
    ? () => performance.timeOrigin + performance.now()
    : () => Number(process.hrtime.bigint()) / 1e6;

export const arrival = (thread: number): number => thread * INTS;
export const tally = (thread: number): number => thread * TALLY;

if (Math.max(BYPASSES + BANDS, PARTS) > TALLY) throw new RangeError('a tally does not fit its part of the board');

export function makeBoard(threads: number): Board {
  return openBoard(
    new SharedArrayBuffer(
      THREADS_AT + threads * (STRIDE + 2 * TALLY_BYTES) + Float64Array.BYTES_PER_ELEMENT * ticketWords(threads),
    ),
    threads,
  );
}

export function openBoard(memory: SharedArrayBuffer, threads: number): Board {
  const talliesAt = THREADS_AT + threads * STRIDE;
  const tallyBytes = threads * TALLY_BYTES;
  return {
    memory,
    words: new Int32Array(memory, 0, INTERVAL_AT / Int32Array.BYTES_PER_ELEMENT),
    interval: new Float64Array(memory, INTERVAL_AT, FLOATS),
    arrivals: new Int32Array(memory, THREADS_AT, threads * INTS),
    tallies: new Float64Array(memory, talliesAt, threads * TALLY),
    parts: new Float64Array(memory, talliesAt + tallyBytes, threads * TALLY),
    tickets: new Float64Array(memory, talliesAt + 2 * tallyBytes, ticketWords(threads)),
  };
}
