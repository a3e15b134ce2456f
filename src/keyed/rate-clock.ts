/**
 * The clock of a RateLimiter. All threads of a program share it. Like the other clocks (src/runtime/clock.ts) it is taken
 * at load, because a test may replace the global one. It is no clock of the host, so a program without a RateLimiter does
 * not carry it.
 *
 *     Node               process.hrtime(), which all threads read from one clock of the system; it never runs backwards
 *     Deno, Bun, pages   the origin of the thread and the time since then. In Deno and Bun process.hrtime() counts from
 *                        the start of each thread. The origins are times of the computer's clock, a part of a
 *                        millisecond apart at most. If somebody sets this clock, a thread that starts later differs from
 *                        those before it by as much
 */
import { now } from '../runtime/clock.js';

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
const isNode = !('Deno' in globalThis || 'Bun' in globalThis);
// Jest gives each file of tests a process of its own, whose clock may stand still from the start.
const given = process?.getBuiltinModule?.('process')?.hrtime ?? process?.hrtime;
const hrtime = isNode ? (given?.clock?._hrtime ?? given) : undefined;
/** In the year 1973. A time since the start of a thread is less. */
const EPOCH = 1e11;
/** Where a test has replaced the clock, `now` counts from 1970. */
const origin = now() < EPOCH ? (performance?.timeOrigin ?? 0) : 0;

/** Returns milliseconds. */
export function clock(): number {
  if (hrtime === undefined) return origin + now();
  const [seconds, nanoseconds] = hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}
