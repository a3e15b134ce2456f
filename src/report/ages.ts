/**
 * How long waits have lasted, although somebody sets the clock of the computer meanwhile.
 *
 * A thread that begins to wait writes the time of the clock, since all threads have no other clock in common. If the
 * clock is then set back by an hour, the difference to the time of the clock is below 0 for an hour. If it is set
 * forward, each wait seems to last for an hour more. The reporter has a clock of its own that nobody can set, and it
 * looks in rounds:
 *
 *     a wait that a round sees first    has lasted for the difference; but if the clock was set since the round before,
 *                                       at most since that round, which would have seen it
 *     a wait that was seen before       began when it was found to have begun, by the own clock
 *
 * A wait is known again by the time that its thread has written. Waits of the same millisecond have the same age.
 */

/** The clocks may differ by so many milliseconds from round to round, and none of them was set. */
const TOLERANCE = 500;

export class Ages {
  /** The clock of the computer, which somebody may set, and the own one, in milliseconds. */
  readonly #clock: () => number;
  readonly #own: () => number;
  /** By the time that a thread has written: when that was, by the own clock. Of this round, and of the one before. */
  #begun = new Map<number, number>();
  #before: ReadonlyMap<number, number> = this.#begun;
  /** What the clocks said at the beginning of this round. */
  #time = Number.NaN;
  #now = Number.NaN;
  /** How long a wait has lasted at most that no round has seen before. */
  #most = Infinity;

  constructor(clock = Date.now, own = () => performance.now()) {
    this.#clock = clock;
    this.#own = own;
  }

  /** Begins a round. */
  begin(): void {
    const [time, now] = [this.#clock(), this.#own()];
    const passed = now - this.#now;
    // In the first round nothing is known of the clock.
    this.#most = Math.abs(time - this.#time - passed) > TOLERANCE ? passed : Infinity;
    this.#time = time;
    this.#now = now;
    this.#before = this.#begun;
    this.#begun = new Map();
  }

  /**
   * Returns how many milliseconds before this round a wait began.
   * @param since milliseconds, modulo 2^32; 0 stands for an unknown time.
   */
  readonly of = (since: number): number => {
    if (since === 0) return 0;
    let begun = this.#begun.get(since) ?? this.#before.get(since);
    begun ??= this.#now - Math.min(Math.max((this.#time - since) | 0, 0), this.#most);
    this.#begun.set(since, begun);
    return Math.floor(this.#now - begun);
  };
}
