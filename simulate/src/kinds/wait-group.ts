/** WaitGroup: all waits end whenever no task is pending. A task of `hold` ends when its thread dies. */
import type { Call } from '../call.js';
import type { Library, Realm } from '../realm.js';
import { type Kind, type Kinds, plainly } from './parts/kind.js';
import { PhaseGhost, phaseOperations } from './parts/phase.js';

class WaitGroupGhost extends PhaseGhost {
  /** How many tasks there are after all calls that are over. */
  #tasks = 0;
  /** How many tasks the calls that are under way add (`#adding`) and take off (`#taking`). */
  #adding = 0;
  #taking = 0;
  /** The tasks of `add` that no call of `done` has begun to take off. */
  #loose = 0;
  /** The tasks of `hold` of each thread. */
  readonly #held = new Map<Realm, number>();

  protected get mayBeOpen(): boolean {
    return this.#tasks <= this.#taking;
  }

  protected get isOpen(): boolean {
    return this.#tasks === 0 && this.#adding === 0 && this.#taking === 0;
  }

  /** @param isHeld whether the tasks are those of `hold` */
  adds(thread: Realm, n: number, isHeld: boolean, add: () => void): boolean {
    return this.changes(thread, add, {
      begins: () => {
        this.#adding += n;
      },
      ends: (isDone) => {
        this.#adding -= n;
        if (!isDone) return;
        this.#tasks += n;
        if (isHeld) this.#held.set(thread, (this.#held.get(thread) ?? 0) + n);
        else this.#loose += n;
      },
    });
  }

  /** Takes off up to `most` tasks, but no more than `add` has made. Otherwise it would take off tasks of `hold`. */
  done(thread: Realm, most: number): void {
    const object = this.objectOf(thread);
    const n = Math.min(most, this.isUnsure ? object.pending : this.#loose);
    if (n < 1) return;
    this.#loose -= n;
    this.takes(thread, n, false, () => object.done(n));
  }

  takes(thread: Realm, n: number, isHeld: boolean, take: () => void): void {
    this.changes(thread, take, {
      begins: () => {
        this.#taking += n;
      },
      ends: (isDone) => {
        this.#taking -= n;
        if (!isDone) return;
        this.#tasks -= n;
        if (isHeld) this.#held.set(thread, (this.#held.get(thread) ?? 0) - n);
      },
      // It may not be known how many tasks there are. Then calls of `done` may take off those of other calls.
      mayRefuse: () => this.isUnsure,
    });
  }

  override reaped(thread: Realm): void {
    super.reaped(thread);
    this.#taking += this.#held.get(thread) ?? 0;
    this.meet();
  }

  override wasReaped(thread: Realm): void {
    const n = this.#held.get(thread) ?? 0;
    this.#held.delete(thread);
    const begins = (): void => {
      this.#taking -= n;
      this.#tasks -= n;
    };
    if (n > 0) this.changes(thread, () => {}, { begins, ends: () => {} });
  }

  protected open(thread: Realm): void {
    this.done(thread, Infinity);
  }

  protected wrong(thread: Realm): string | undefined {
    const { pending } = this.objectOf(thread);
    return pending === this.#tasks ? undefined : `${pending} tasks are pending, not ${this.#tasks}`;
  }
}

const ghostOf = ({ ghost }: Call): WaitGroupGhost => ghost as WaitGroupGhost;

const waitGroup: Kind = {
  draw: plainly,
  make: ({ WaitGroup }, _spec, arena) => new WaitGroup({ arena }),
  ghost: (stage, on) => new WaitGroupGhost(stage, on),
  outlives: () => false,
  operations: {
    ...phaseOperations,
    add: {
      weight: 3,
      draw: (random) => ({ n: 1 + random.below(2) }),
      run(call) {
        const { n = 1 } = call.operation;
        ghostOf(call).adds(call.thread, n, false, () => call.object.add(n));
      },
    },
    done: {
      weight: 3,
      draw: (random) => ({ n: 1 + random.below(2) }),
      run(call) {
        ghostOf(call).done(call.thread, call.operation.n as number);
      },
    },
    hold: {
      weight: 3,
      draw: plainly,
      run(call) {
        const ghost = ghostOf(call);
        let held: Library;
        const isDone = ghost.adds(call.thread, 1, true, () => {
          held = call.object.hold();
        });
        if (isDone) call.later('done', () => ghost.takes(call.thread, 1, true, () => held.done()));
      },
    },
  },
};

export const kinds: Kinds = { WaitGroup: waitGroup };
