/** Latch: all waits end when the count reaches 0. The count stays 0. */
import type { Call } from '../call.js';
import type { Realm } from '../realm.js';
import type { Stage } from '../stage.js';
import type { Kind, Kinds } from './parts/kind.js';
import { PhaseGhost, phaseOperations } from './parts/phase.js';

class LatchGhost extends PhaseGhost {
  /** The count after all calls that are over. */
  #left: number;
  /** By how much the calls that are under way lower the count. */
  #taking = 0;

  constructor(stage: Stage, on: number) {
    super(stage, on);
    this.#left = this.spec.n as number;
  }

  protected get mayBeOpen(): boolean {
    return this.#left <= this.#taking;
  }

  protected get isOpen(): boolean {
    return this.#left === 0;
  }

  countsDown(thread: Realm, n: number): void {
    this.changes(thread, () => this.objectOf(thread).countDown(n), {
      begins: () => {
        this.#taking += n;
      },
      ends: (isDone) => {
        this.#taking -= n;
        if (isDone) this.#left -= n;
        if (this.#left < 0) this.fail(`the count is ${this.#left}`);
      },
      // Other calls may have lowered the count so far that less than n is left.
      mayRefuse: () => this.#left < this.#taking,
    });
  }

  protected open(thread: Realm): void {
    const { count } = this.objectOf(thread);
    if (count > 0) this.countsDown(thread, count);
  }

  protected wrong(thread: Realm): string | undefined {
    const { count } = this.objectOf(thread);
    return count === this.#left ? undefined : `the count is ${count}, not ${this.#left}`;
  }
}

const latch: Kind = {
  draw: (random) => ({ n: random.below(4) }),
  make: ({ Latch }, { n }, arena) => new Latch(n, { arena }),
  ghost: (stage, on) => new LatchGhost(stage, on),
  outlives: () => false,
  operations: {
    ...phaseOperations,
    countDown: {
      weight: 4,
      draw: (random) => ({ n: 1 + random.below(2) }),
      run: (call: Call) => (call.ghost as LatchGhost).countsDown(call.thread, call.operation.n as number),
    },
  },
};

export const kinds: Kinds = { Latch: latch };
