/**
 * Shows schedules to people: as a trace with a column for each thread, and in a compact form that can be replayed.
 *
 *     compact   thread, what, how often: `0x4 1x2 0t 2k 1c` is four steps of thread 0, two steps of thread 1, a time-out
 *               of thread 0, the death of thread 2, and an exception that ends a call of thread 1
 */
import { CHOICES, CUT, KILL, STEP, TIME_OUT } from './choice.js';
import { type SearchResult, search } from './search.js';
import type { StateSpace } from './state-space.js';
import { isFinding } from './violation.js';

/** The letters of the choices that are no step. */
const LETTERS = { t: TIME_OUT, k: KILL, c: CUT };

export function compact(schedule: readonly number[]): string {
  const parts: string[] = [];
  for (let i = 0; i < schedule.length; ) {
    const choice = schedule[i];
    const t = Math.floor(choice / CHOICES);
    const kind = choice % CHOICES;
    let j = i + 1;
    while (kind === STEP && schedule[j] === choice) j++;
    const letter = Object.entries(LETTERS).find(([, of]) => of === kind)?.[0];
    parts.push(kind === STEP ? `${t}x${j - i}` : `${t}${letter}`);
    i = j;
  }
  return parts.join(' ');
}

export function parse(text: string): number[] {
  return text
    .trim()
    .split(/\s+/)
    .flatMap((part) => {
      const [, thread, letter, count] = /^(\d+)(?:([tkc])|x(\d+))$/.exec(part) ?? [];
      if (thread === undefined) throw new Error(`a schedule is written like "0x4 1x2 0t 2k 1c", got ${part}`);
      const base = Number(thread) * CHOICES;
      if (letter !== undefined) return [base + LETTERS[letter as keyof typeof LETTERS]];
      return new Array<number>(Number(count)).fill(base + STEP);
    });
}

/** Plays a schedule. Returns the violation in which the schedule ends, if any. */
export function replay(
  space: StateSpace,
  schedule: readonly number[],
  each?: (choice: number) => void,
): string | undefined {
  const open = new Int32Array(64);
  for (const choice of schedule) {
    const count = space.choices(open);
    if (!open.subarray(0, count).includes(choice)) {
      throw new Error(`the schedule does not fit the model: thread ${Math.floor(choice / CHOICES)} has no such step`);
    }
    each?.(choice);
    try {
      space.apply(choice);
    } catch (error) {
      if (!isFinding(error)) throw error;
      return error.message;
    }
  }
  if (space.choices(open) > 0) return undefined;
  try {
    space.checkEnd();
  } catch (error) {
    if (!isFinding(error)) throw error;
    return error.message;
  }
  return undefined;
}

/** Renders a trace: a line for each step, a column for each thread, a new heading when the function changes. */
export function render(space: StateSpace, schedule: readonly number[]): string {
  const width = 46;
  const lines: string[] = [];
  const last: string[] = [];
  const indent = (t: number): string => ' '.repeat(width * t);
  lines.push(
    Array.from({ length: space.threads }, (_, t) => `thread ${t}`.padEnd(width))
      .join('')
      .trimEnd(),
  );
  const message = replay(space, schedule, (choice) => {
    const { thread, where, what } = space.describe(choice);
    if (last[thread] !== where) lines.push(`${indent(thread)}${where.split(' > ').slice(-3).join(' > ')}`);
    last[thread] = where;
    lines.push(`${indent(thread)}  ${what}`);
  });
  lines.push('', `=> ${message ?? 'no violation'}`, `schedule: ${compact(schedule)}`);
  return lines.join('\n');
}

/** Looks for a shorter schedule to a violation, with as few switches between threads as possible. */
export function shorten(make: () => StateSpace, found: SearchResult): SearchResult {
  let best = found;
  for (let preemptions = 0; preemptions <= 3; preemptions++) {
    const result = search(make, { preemptions, milliseconds: 5000 });
    if (result.violation === undefined) continue;
    if (result.violation.schedule.length <= (best.violation?.schedule.length ?? Infinity)) best = result;
    break;
  }
  return best;
}
