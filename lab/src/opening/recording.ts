/**
 * A recorded run of the starvation experiment, and where each thread stood at any moment of the run. Nothing here is
 * made up: the times in run.json say who waits, who has permits and who has overtaken whom.
 * `npm run starve -w lab -- --record` writes run.json.
 */
import run from './run.json';

export const VICTIM = 0;
export const RUN = run;
export type Side = 'barging' | 'ours';

interface Turn {
  readonly thread: number;
  readonly ticket: number;
  readonly arrived: number;
  readonly admitted: number;
  readonly released: number;
  /** The window at which the thread is served. The victim takes all windows. */
  readonly window: number;
}

/** Where a thread stands: at a window, or at a place in the line, which is in the order of arrival. */
export type Place = { readonly window: number } | { readonly inLine: number };

export interface Moment {
  readonly places: readonly Place[];
  /** The number of turns that each thread has had so far. */
  readonly turns: readonly number[];
  /** For how long the victim has waited, or undefined if it does not wait. */
  readonly waiting: number | undefined;
  readonly longest: number;
  /**
   * How many threads with later tickets were served before the victim in its present wait. `mostOvertaken` is the
   * largest such number of all waits so far.
   */
  readonly overtaken: number;
  readonly mostOvertaken: number;
}

/** The width of a thread's ticket, in windows. */
export const widthOf = (thread: number): number => (thread === VICTIM ? run.permits : 1);

export class Recording {
  readonly turns: readonly Turn[];
  readonly #ofThread: readonly (readonly Turn[])[];
  /** For each of the victim's turns: when threads with later tickets were admitted while the victim waited. */
  readonly #passes: readonly (readonly number[])[];

  constructor(side: Side) {
    const admissions = run[side].map(([thread, ticket, arrived, admitted, released]) => ({
      thread: thread as number,
      ticket: ticket as number,
      arrived: arrived as number,
      admitted: admitted as number,
      released: released as number,
    }));
    admissions.sort((a, b) => a.admitted - b.admitted);
    const until: number[] = Array.from({ length: run.permits }, () => Number.NEGATIVE_INFINITY);
    this.turns = admissions.map((turn) => {
      if (turn.thread === VICTIM) {
        until.fill(turn.released);
        return { ...turn, window: 0 };
      }
      // The hog goes to the window that has been free for the longest.
      const window = until.indexOf(Math.min(...until));
      until[window] = turn.released;
      return { ...turn, window };
    });
    this.#ofThread = run.threads.map((_, thread) => this.turns.filter((turn) => turn.thread === thread));
    this.#passes = (this.#ofThread[VICTIM] ?? []).map((own) =>
      this.turns
        .filter(({ ticket, admitted }) => ticket > own.ticket && admitted >= own.arrived && admitted < own.admitted)
        .map(({ admitted }) => admitted),
    );
  }

  at(time: number): Moment {
    const current = this.#ofThread.map((turns) => turns.find(({ released }) => released > time));
    const line = current
      .map((turn, thread) => ({ thread, turn }))
      .filter(({ turn }) => turn === undefined || turn.admitted > time)
      // A thread that has not arrived at this moment stands at the end of the line.
      .sort((a, b) => arrival(a.turn, time) - arrival(b.turn, time));
    const places = current.map((turn, thread): Place => {
      if (turn !== undefined && turn.admitted <= time) return { window: turn.window };
      const before = line.slice(
        0,
        line.findIndex((one) => one.thread === thread),
      );
      return { inLine: before.reduce((sum, one) => sum + widthOf(one.thread), 0) };
    });
    const own = this.#ofThread[VICTIM] ?? [];
    let [longest, overtaken, mostOvertaken] = [0, 0, 0];
    let waiting: number | undefined;
    for (const [i, { arrived, admitted }] of own.entries()) {
      if (arrived > time) break;
      const passes = (this.#passes[i] as readonly number[]).filter((at) => at <= time).length;
      mostOvertaken = Math.max(mostOvertaken, passes);
      // Time before the recording's start does not count.
      longest = Math.max(longest, Math.min(admitted, time) - arrived);
      if (admitted > time) [waiting, overtaken] = [time - arrived, passes];
    }
    return {
      places,
      turns: this.#ofThread.map((turns) => turns.filter(({ admitted }) => admitted <= time && admitted >= 0).length),
      waiting,
      longest,
      overtaken,
      mostOvertaken,
    };
  }
}

function arrival(turn: Turn | undefined, time: number): number {
  return turn === undefined || turn.arrived > time ? Number.POSITIVE_INFINITY : turn.arrived;
}
