/**
 * The clock of a RateLimiter. All threads of a program share it, and it never runs backwards. Like the other clocks
 * (src/runtime/clock.ts) it is taken at load, because a test may replace the global one. It is no clock of the host, so
 * a program without a RateLimiter does not carry it.
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
// Jest gives each file of tests a process of its own, whose clock may stand still from the start.
const given = process?.getBuiltinModule?.('process')?.hrtime ?? process?.hrtime;
const hrtime = given?.clock?._hrtime ?? given;
/** The origins of two threads of a page are times of one clock, a part of a millisecond apart at most. */
const origin = performance?.timeOrigin ?? 0;

/** Returns milliseconds. */
export function clock(): number {
  if (hrtime === undefined) return origin + now();
  const [seconds, nanoseconds] = hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}
