/**
 * The lines of the history of a run of rates. A process writes each at once, so no kill loses one, but a kill may cut the
 * last one off.
 *
 * Times are microseconds of the monotonic clock that all processes of the machine share. The times of an answer are those
 * of the server.
 */
import type { Answer } from '../check/rate-checks.js';

/** A request that the server has told a date: its call has begun, or the date passes unused. */
export interface Dated {
  readonly is: 'begun' | 'unused';
  /** When the call began, or when it was clear that the date passes unused. */
  readonly time: number;
  /** So long before, the library looked at its clock: the system may have taken the processor away since. */
  readonly look: number;
  readonly rate: string;
  readonly width: number;
  readonly answer: Answer;
  readonly sent: number;
  readonly got: number;
  /** Whether a pause has moved the date since. */
  readonly isMoved: boolean;
}

/** Permits that have not begun: too late for their date; refused by the time-out; given up by a signal; cancelled. */
export type Other = 'tooLate' | 'refused' | 'givenUp' | 'cancelled';

export type RateRecord =
  | Dated
  | { readonly is: Other; readonly width: number }
  | { readonly is: 'wrong'; readonly text: string };

export const lineOf = (record: RateRecord): string => `${JSON.stringify(record)}\n`;

/** The record of a line. Undefined: the process was killed while it wrote the line. */
export function recordIn(line: string): RateRecord | undefined {
  return line.endsWith('}') ? (JSON.parse(line) as RateRecord) : undefined;
}
