/**
 * The waiters of this thread poll for a fixed time before they sleep. The core counts this time in pauses
 * (core/queue/polling.ts). This file measures the duration of a pause again and again, because V8 recompiles the core
 * as it runs. It measures first when the thread is about to wait: most threads of a program may never wait, and all of
 * them would pay for it when they start. Until then a usual duration serves.
 */
import { host } from '#host';
import type { Core } from '../border/core.js';
import { now as clock } from './clock.js';

/**
 * The nanoseconds of a park and a wake-up, roughly. Hand-overs of 11 to 60 microseconds have been measured
 * (docs/waiting.md). A waiter that polls for about this long and then sleeps never spends more than twice the cost
 * of the best choice, which would be to poll only or to sleep at once (the ski rental problem).
 */
const POLL = 50_000;
/** The nanoseconds of a pause before it is measured, and if the clock is too coarse to measure it. */
const USUAL = 12;
/**
 * The bounds of `near`, which is otherwise the number of processors: a waiter polls if at most `near` tickets are
 * before its own. A hand-over between threads that poll takes 0.6 microseconds on a machine with 16 processors. A
 * waiter with many more than FARTHEST tickets before its own would poll in vain, if sections take as long.
 */
const NEAREST = 2;
const FARTHEST = 32;

export class PollTime {
  readonly #core: Core;
  readonly #processors: number;
  readonly #clock: () => number;
  /** How many tickets may be before that of a waiter that polls. */
  readonly near: number;
  #pauses = 0;
  #waits = 0;
  #next = 1;
  #begun: number;

  /** @param now a clock in milliseconds. */
  constructor(core: Core, processors = host.processors, now = clock) {
    this.#core = core;
    this.#processors = processors;
    this.#clock = now;
    this.#begun = now();
    this.near = Math.min(Math.max(processors, NEAREST), FARTHEST);
    this.#tell(USUAL);
  }

  /** How many pauses a waiter polls for, as measured last. */
  get pauses(): number {
    if (this.#waits === 0) this.waits();
    return this.#pauses;
  }

  /** Is called when the thread is about to wait, and likely to sleep. */
  waits(): void {
    /** Until this many waits, the thread measures when its waits have doubled; later, once in this many waits. */
    const SELDOM = 1024;
    if (++this.#waits < this.#next) return;
    this.#next += Math.min(this.#next, SELDOM);
    this.#measure();
  }

  /** Is called when the thread has just taken a mutex as the head. */
  turnBegins(): void {
    this.#begun = this.#clock();
  }

  /** The microseconds since the last `turnBegins`. */
  get sinceTurn(): number {
    /** The greatest duration. The core takes 32 bits. */
    const MOST_MICROSECONDS = 0x40000000;
    return Math.min((this.#clock() - this.#begun) * 1000, MOST_MICROSECONDS);
  }

  #measure(): void {
    /** The pauses in one measurement, which takes some microseconds. */
    const SAMPLE = 256;
    const SAMPLES = 3;
    /**
     * The bounds of a pause in nanoseconds. A coarse clock or an interruption of the thread may give a wrong duration.
     */
    const LEAST = 4;
    const MOST = 100;
    let least = Infinity;
    for (let i = 0; i < SAMPLES; i++) {
      const begun = this.#clock();
      this.#core.spend(SAMPLE);
      least = Math.min(least, this.#clock() - begun);
    }
    this.#tell(least > 0 ? Math.min(Math.max((least * 1e6) / SAMPLE, LEAST), MOST) : USUAL);
  }

  /** Tells the core for how many pauses a waiter polls, if a pause lasts so many nanoseconds. */
  #tell(pause: number): void {
    // With one processor, a polling thread keeps the processor from the thread that it waits for.
    this.#pauses = this.#processors > 1 ? Math.ceil(POLL / pause) : 0;
    this.#core.setAwake(this.#pauses, this.near);
  }
}
