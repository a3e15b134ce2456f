/**
 * The clock of a RateLimiter. All threads of a program share it. Like the other clocks (src/runtime/clock.ts) it is taken
 * at load, because a test may replace the global one. It is no clock of the host, so a program without a RateLimiter does
 * not carry it. Reports read it, too.
 *
 *     Node        process.hrtime(), which all threads read from one clock of the system; it never runs backwards
 *     pages       the origin of the thread and the time since then. The origins are times of one clock that nobody sets
 *     Deno, Bun   the same, but the origins are times of the computer's clock. process.hrtime() counts from the start of
 *                 each thread here
 *
 * So in Deno and Bun, a thread that starts after somebody has set the computer's clock differs from those before it by as
 * much. Therefore the threads of a limiter publish, whenever they use it, how far the computer's clock is from theirs. A
 * thread that comes to the limiter compares this with its own distance, and goes by the clock of the others. Both are
 * known to a millisecond, so a lesser difference counts as none. What nobody has published yet is not noticed: if the
 * computer's clock is set while no thread uses the limiter, and the next to use it is a new thread.
 */
import { now } from './clock.js';
import { epoch } from './epoch.js';

type Hrtime = () => readonly [seconds: number, nanoseconds: number];

interface Process {
  /** A false clock of Sinon keeps the true function. */
  readonly hrtime?: Hrtime & { readonly clock?: { readonly _hrtime?: Hrtime } };
  getBuiltinModule?(name: 'process'): Process | undefined;
}

const { process, performance } = globalThis as {
  process?: Process;
  performance?: { timeOrigin?: number };
};
const hasSettableOrigin = 'Deno' in globalThis || 'Bun' in globalThis;
// Jest gives each file of tests a process of its own, whose clock may stand still from the start.
const given = process?.getBuiltinModule?.('process')?.hrtime ?? process?.hrtime;
const hrtime = hasSettableOrigin ? undefined : (given?.clock?._hrtime ?? given);
/** In the year 1973. A time since the start of a thread is less. */
const EPOCH = 1e11;
/** Where a test has replaced the clock, `now` counts from 1970. */
const origin = now() < EPOCH ? (performance?.timeOrigin ?? 0) : 0;

/** Returns milliseconds. */
function read(): number {
  if (hrtime === undefined) return origin + now();
  const [seconds, nanoseconds] = hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

/** Two distances from the computer's clock that differ by at most so many milliseconds count as one. */
const SAME = 2;
/** A thread publishes its distance again when so many milliseconds have passed. */
const OFTEN = 20;

/** The clocks of a thread: for tests. */
export interface Clocks {
  /** The clock of this thread, in milliseconds. */
  readonly read: () => number;
  /** The computer's clock, in milliseconds. */
  readonly epoch: () => number;
  /** Whether the clock of a thread that starts later depends on whether the computer's clock was set. */
  readonly hasSettableOrigin: boolean;
}

/**
 * Returns a clock that all threads share. They have the same number in `floats[at]`: NaN at first, and then how far the
 * computer's clock is from theirs.
 */
export function commonClock(
  floats: Float64Array,
  at: number,
  clocks: Clocks = { read, epoch, hasSettableOrigin },
): () => number {
  const { read, epoch, hasSettableOrigin: isSettable } = clocks;
  if (!isSettable) return read;
  const apart = epoch() - read();
  const published = floats[at] as number;
  const late = Math.abs(apart - published) > SAME ? apart - published : 0;
  let told = -Infinity;
  return () => {
    const time = read() + late;
    if (time - told > OFTEN) {
      told = time;
      floats[at] = epoch() - time;
    }
    return time;
  };
}

/** Returns the time by the clock of the threads that have this number, without being one of them: it writes nothing. */
export function timeIn(floats: Float64Array, at: number): number {
  return hasSettableOrigin ? epoch() - (floats[at] as number) : read();
}
