/**
 * Measures an uncontended pair of acquire and release. It measures the pair of a Semaphore(1), and the pair of the
 * smallest semaphore in plain JavaScript: a compareExchange and an add. The two take turns, round by round.
 */
import { Arena, Semaphore } from 'taketurns';

export interface PairRound {
  /** Nanoseconds of one pair. */
  readonly taketurns: number;
  readonly atomics: number;
}

const PAIRS = 1_000_000;

class Plain {
  readonly #words = new Int32Array(new SharedArrayBuffer(64));

  constructor() {
    Atomics.store(this.#words, 0, 1);
  }

  acquire(): void {
    const words = this.#words;
    let free = Atomics.load(words, 0);
    while (free < 1 || Atomics.compareExchange(words, 0, free, free - 1) !== free) free = Atomics.load(words, 0);
  }

  release(): void {
    Atomics.add(this.#words, 0, 1);
  }
}

// Each class has its own function. So the runtime compiles the function for calls of this one class.
function timeTaketurns(semaphore: Semaphore): number {
  const begun = performance.now();
  for (let i = 0; i < PAIRS; i++) {
    semaphore.acquire();
    semaphore.release();
  }
  return ((performance.now() - begun) * 1e6) / PAIRS;
}

function timePlain(semaphore: Plain): number {
  const begun = performance.now();
  for (let i = 0; i < PAIRS; i++) {
    semaphore.acquire();
    semaphore.release();
  }
  return ((performance.now() - begun) * 1e6) / PAIRS;
}

export function pairRounds(rounds: number): PairRound[] {
  const semaphore = new Semaphore(1, { arena: new Arena() });
  const plain = new Plain();
  // The first rounds only warm up.
  const warmUp = 3;
  return Array.from({ length: warmUp + rounds }, () => ({
    taketurns: timeTaketurns(semaphore),
    atomics: timePlain(plain),
  })).slice(warmUp);
}
