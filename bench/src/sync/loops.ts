// The loops of `bench sync`. Before its interval, a thread runs its loop without timing, for a tenth of the interval or
// WARM_MS.

/** What one thread has done in its interval. */
export interface Measured {
  operations: number;
  milliseconds: number;
}

const WARM_SHARE = 0.1;
/** The runtime compiles the loop in this time. */
const WARM_MS = 100;

/** Counts what one thread does, first without timing and then for an interval. */
export class Interval {
  readonly #milliseconds: number;
  #isWarm = false;
  #begin = performance.now();
  #before = 0;
  #result: Measured | undefined;

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds;
  }

  /** Takes the number of operations that are done, and returns whether the interval is over. */
  over(operations: number): boolean {
    const now = performance.now();
    const milliseconds = now - this.#begin;
    if (!this.#isWarm) {
      if (milliseconds < Math.max(WARM_MS, this.#milliseconds * WARM_SHARE)) return false;
      this.#isWarm = true;
      this.#begin = now;
      this.#before = operations;
      return false;
    }
    if (milliseconds < this.#milliseconds) return false;
    this.#result = { operations: operations - this.#before, milliseconds };
    return true;
  }

  result(): Measured {
    if (this.#result === undefined) throw new Error('the interval is not over');
    return this.#result;
  }
}

// Indices into the words of a seat: the threads that have come, the last round, and the threads that are done.
const COME = 0;
const LAST = 1;
const LEFT = 2;
export const SEAT_BYTES = 3 * Int32Array.BYTES_PER_ELEMENT;

/** A thread's part in a run. */
export class Seat {
  /** The number of the thread. 0 is the leader: where threads do something together, only its interval counts. */
  readonly index: number;
  readonly threads: number;
  readonly #words: Int32Array;
  readonly #milliseconds: number;

  constructor(index: number, threads: number, words: Int32Array, seconds: number) {
    this.index = index;
    this.threads = threads;
    this.#words = words;
    this.#milliseconds = seconds * 1000;
  }

  interval(): Interval {
    return new Interval(this.#milliseconds);
  }

  /** Blocks until all threads have come. */
  meet(): void {
    Atomics.add(this.#words, COME, 1);
    Atomics.notify(this.#words, COME);
    for (let come = 0; come < this.threads; come = Atomics.load(this.#words, COME)) {
      if (come > 0) Atomics.wait(this.#words, COME, come);
    }
  }

  leave(): void {
    Atomics.add(this.#words, LEFT, 1);
  }

  get allHaveLeft(): boolean {
    return Atomics.load(this.#words, LEFT) === this.threads;
  }

  get last(): number {
    return Atomics.load(this.#words, LAST);
  }

  set last(round: number) {
    Atomics.store(this.#words, LAST, round);
  }
}

/**
 * All threads meet, round after round. Before the last round the leader notes its number, and after it the others stop.
 */
export function rounds(meet: () => void, seat: Seat): Measured | undefined {
  if (seat.index > 0) {
    let round = 0;
    do {
      meet();
      round++;
    } while (round !== seat.last);
    return undefined;
  }
  const interval = seat.interval();
  let round = 0;
  do {
    meet();
    round++;
  } while (!interval.over(round));
  seat.last = round + 1;
  meet();
  return interval.result();
}

/**
 * Two threads take turns. `play` waits for the turn of its thread. If the function that it gets returns true, `play`
 * ends the game. It returns whether the game goes on.
 */
export function roundTrips(seat: Seat, play: (isOver: () => boolean) => boolean): Measured | undefined {
  if (seat.index > 0) {
    while (play(() => false));
    return undefined;
  }
  const interval = seat.interval();
  let trips = 0;
  while (play(() => interval.over(trips++)));
  return interval.result();
}

const BATCH = 1000;

/** All threads do the same, each on its own. The clock is read once in a batch. */
export function batches(act: () => void, seat: Seat): Measured {
  seat.meet();
  return alone(act, seat);
}

export function alone(act: () => void, seat: Seat, batch = BATCH): Measured {
  const interval = seat.interval();
  let operations = 0;
  do {
    for (let i = 0; i < batch; i++) act();
    operations += batch;
  } while (!interval.over(operations));
  return interval.result();
}

const TURNS = 10;

/**
 * As `batches`, for threads that wait for one another. A thread whose interval is over goes on until the intervals of
 * all threads are over.
 */
export function turns(act: () => void, seat: Seat): Measured {
  seat.meet();
  const measured = alone(act, seat, TURNS);
  for (seat.leave(); !seat.allHaveLeft; ) act();
  return measured;
}
