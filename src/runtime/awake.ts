/**
 * The waiters of this thread stay awake for a fixed time before they sleep. The core counts that time in turns of its pause.
 * This file measures how long such a turn takes, and measures it again, since the engine compiles the core anew as it runs.
 */
import { host } from '#host';
import type { Core } from './core.js';

// As it is at load: a test may replace the clock later.
const clock = performance.now.bind(performance);

/**
 * Nanoseconds: about what a park and a wake-up cost. Hand-overs of 11 to 60 microseconds have been measured
 * (docs/waiting.md). By the rule for renting or buying, who waits for about that long and then sleeps never spends more
 * than twice what the best choice would have cost.
 */
const AWAKE = 50_000;
/** Turns in one measurement, some microseconds. */
const SAMPLE = 256;
const SAMPLES = 3;
/** Nanoseconds that a turn may take: a clock that is coarse, or a thread that was interrupted, must not mislead. */
const LEAST = 4;
const MOST = 100;
/** Where the clock is too coarse to tell. */
const USUAL = 12;
/** Tickets that a waiter may have before its own and stay awake: as many as there are processors, but in this range. */
const NEAREST = 2;
const FARTHEST = 8;
/** From here on it is measured again each time that the thread has waited so often; before, each time that this number doubles. */
const SELDOM = 1024;
/** The core takes 32 bits. */
const MOST_MICROSECONDS = 2 ** 30;

export class Awake {
  readonly #core: Core;
  readonly #processors: number;
  readonly #clock: () => number;
  #waits = 0;
  #next = 1;
  #begun: number;

  /** @param now a clock in milliseconds. */
  constructor(core: Core, processors = host.processors, now = clock) {
    this.#core = core;
    this.#processors = processors;
    this.#clock = now;
    this.#begun = now();
    this.#measure();
  }

  /** To be called when the thread is about to wait, and likely to sleep. */
  waits(): void {
    if (++this.#waits < this.#next) return;
    this.#next += Math.min(this.#next, SELDOM);
    this.#measure();
  }

  /** The thread has just taken a mutex as the head waiter. */
  turnBegins(): void {
    this.#begun = this.#clock();
  }

  /** Microseconds since the last `turnBegins`. */
  get sinceTurn(): number {
    return Math.min((this.#clock() - this.#begun) * 1000, MOST_MICROSECONDS);
  }

  #measure(): void {
    let least = Number.POSITIVE_INFINITY;
    for (let i = 0; i < SAMPLES; i++) {
      const begun = this.#clock();
      this.#core.spend(SAMPLE);
      least = Math.min(least, this.#clock() - begun);
    }
    const turn = least > 0 ? Math.min(Math.max((least * 1e6) / SAMPLE, LEAST), MOST) : USUAL;
    // With one processor whoever polls keeps from running whom it waits for.
    const turns = this.#processors > 1 ? Math.ceil(AWAKE / turn) : 0;
    this.#core.setAwake(turns, Math.min(Math.max(this.#processors, NEAREST), FARTHEST));
  }
}
