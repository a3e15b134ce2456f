// Estimates how long the rest of a run takes.

/** What the time of an interval with its process depends on. */
export interface Kind {
  /** Rows in JavaScript start a worker for each thread, and warm it up. */
  script: boolean;
  threads: number;
  seconds: number;
}

/** First guesses: how long a thread of a script row takes to start, and how long any process takes. */
const THREAD_SECONDS = 0.04;
const PROCESS_SECONDS = 0.5;

/** Learns how long intervals of each kind take beyond their length. */
export class TimeLeft {
  readonly #warmUp: number;
  readonly #seen = new Map<string, { sum: number; count: number }>();

  /** @param warmUp milliseconds of warm-up for each thread. */
  constructor(warmUp: number) {
    this.#warmUp = warmUp;
  }

  took(kind: Kind, seconds: number): void {
    const { sum, count } = this.#seen.get(name(kind)) ?? { sum: 0, count: 0 };
    this.#seen.set(name(kind), { sum: sum + seconds, count: count + 1 });
  }

  /** Returns how many seconds these intervals take, judged by earlier intervals of their kinds, or else guessed. */
  of(kinds: readonly Kind[]): number {
    return kinds.reduce((sum, kind) => sum + this.#one(kind), 0);
  }

  #one(kind: Kind): number {
    const seen = this.#seen.get(name(kind));
    if (seen !== undefined) return seen.sum / seen.count;
    const perThread = kind.script ? THREAD_SECONDS + this.#warmUp / 1000 : 0;
    return kind.seconds + PROCESS_SECONDS + kind.threads * perThread;
  }
}

function name({ script, threads, seconds }: Kind): string {
  return `${script} ${threads} ${seconds}`;
}

/** Formats seconds in two units: `5 h 12 min`, `3 min 20 s`, `8 s`. */
export function period(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  return minutes < 60 ? `${minutes} min ${whole % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
