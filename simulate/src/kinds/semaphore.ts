/**
 * Semaphore, robust or not. The thread that has taken permits gives them back. If the permits are loose, any thread may
 * release.
 */
import type { Call } from '../call.js';
import { Ghost, type Request } from '../ghosts.js';
import type { Spec } from '../program.js';
import type { Random } from '../random.js';
import type { Library, Realm } from '../realm.js';
import type { Stage } from '../stage.js';
import { dispose, type Kind, type Kinds, patience, plainly } from './parts/kind.js';

/** The max of a semaphore whose permits are loose: none. */
const LIMIT = 2 ** 31 - 1;
/** A max that no program of the simulation comes to, so that a release looks at it and goes on. */
const MANY = 1_000_000;

class SemaphoreGhost extends Ghost {
  /** How many permits may be free at most. */
  #most: number;
  /** How many permits must be free at least. */
  #least: number;
  /**
   * Whether a thread has died with the one permit of a robust semaphore, and no later owner has learned of the death.
   */
  #isHalfWritten = false;
  #isOne = this.spec.robust === true && this.spec.n === 1;
  /** The threads that are in a call of `add`. */
  readonly #making = new Set<Realm>();
  /** The permits that each thread has. */
  readonly #held = new Map<Realm, number>();

  constructor(stage: Stage, on: number) {
    super(stage, on);
    this.#most = this.#least = this.spec.n as number;
  }

  override prepare(_thread: Realm, object: Library): void {
    if (this.spec.robust) object.onOwnerDied = () => this.ownerDied();
  }

  took(thread: Realm, n: number): void {
    this.#most -= n;
    this.#least -= n;
    this.#held.set(thread, (this.#held.get(thread) ?? 0) + n);
    if (this.#isHalfWritten && this.#isOne)
      this.fail(`thread ${thread.index} has the permit, and has not learned of a death`);
    if (this.#most < 0 && !this.isUnsure) this.fail('more permits are out than there are');
  }

  protected override learned(): void {
    this.#isHalfWritten = false;
  }

  /** Is called before the permits go back. */
  gives(thread: Realm, n: number): void {
    this.adds(n);
    this.#held.set(thread, (this.#held.get(thread) ?? 0) - n);
  }

  adds(n: number): void {
    this.#most += n;
    this.#least += n;
  }

  /** Makes a permit. Then there may be several owners, and only some of them may learn of a death. */
  makes(thread: Realm, add: () => void): void {
    this.adds(1);
    this.#isOne = false;
    this.#making.add(thread);
    add();
    this.#making.delete(thread);
  }

  reduces(n: number): void {
    this.#least -= n;
  }

  protected due(): Request | undefined {
    const [first] = this.pending;
    return this.#least >= Math.max(...[...this.pending].map(({ n }) => n)) ? first : undefined;
  }

  protected override givesBack(object: Library): void {
    object.release();
  }

  override died(thread: Realm): void {
    // The ghost does not know whether the last call of the thread has released permits.
    if (!this.spec.robust || this.#making.has(thread)) this.isUnsure = true;
    super.died(thread);
  }

  override reaped(thread: Realm): void {
    super.reaped(thread);
    const held = this.#held.get(thread) ?? 0;
    if (!this.spec.robust) return;
    this.gives(thread, held);
    this.#isHalfWritten ||= held > 0;
  }

  override finish(thread: Realm): void {
    // The permits for which calls wait may never come: nobody has to release loose permits, and others may be lost.
    if (this.spec.loose || this.isUnsure) this.cancels(() => this.objectOf(thread).cancelAll());
  }

  override ended(thread: Realm): void {
    super.ended(thread);
    if (this.isDisposed || this.isUnsure || this.stage.isUnreaped) return;
    const { available, waiting } = this.objectOf(thread).inspect();
    if (available !== Math.max(this.#least, 0)) this.fail(`${available} permits in the end, not ${this.#least}`);
    if (waiting !== 0) this.fail(`${waiting} wait in the end`);
  }
}

const ghostOf = ({ ghost }: Call): SemaphoreGhost => ghost as SemaphoreGhost;

/** Notes that the call has got permits. Unless the permits are loose, a later event gives them back. */
function has(call: Call, n: number, giveBack = () => call.object.release(n)): void {
  const ghost = ghostOf(call);
  ghost.took(call.thread, n);
  if (!ghost.spec.loose) call.later('release', () => gives(call, n, giveBack));
}

function gives(call: Call, n: number, giveBack: () => void): void {
  ghostOf(call).gives(call.thread, n);
  call.now(giveBack);
}

/** Draws how many permits a call asks for. If the permits are not loose, the call asks for no more than there are. */
const some = (random: Random, { n = 0, loose }: Spec): number => 1 + random.below(loose ? 2 : Math.min(n, 2));

const request = (random: Random, spec: Spec) => ({ n: some(random, spec), ...patience(random) });

const semaphore: Kind = {
  draw(random) {
    if (random.once(3)) return { n: random.below(3), loose: true };
    const n = 1 + random.below(2);
    if (!random.once(3)) return { n };
    return random.once(2)
      ? { n, robust: true }
      : { n, robust: true, callback: random.of(['throws', 'calls back', 'gives back']) };
  },
  make: ({ Semaphore }, { n, robust = false, loose }, arena) =>
    new Semaphore(n, { max: loose ? LIMIT : MANY, robust, arena }),
  ghost: (stage, on) => new SemaphoreGhost(stage, on),
  outlives: ({ robust }) => robust === true,
  operations: {
    acquireAsync: {
      weight: 8,
      draw: request,
      run(call) {
        const { n = 1 } = call.operation;
        call.waits(
          (options) => call.object.acquireAsync(n, options),
          () => has(call, n),
          n,
        );
      },
    },
    holdAsync: {
      weight: 2,
      draw: request,
      run(call) {
        const { n = 1 } = call.operation;
        call.waits(
          (options) => call.object.holdAsync(n, options),
          (guard) => has(call, n, () => (guard as Library).release()),
          n,
        );
      },
    },
    runExclusive: {
      weight: 2,
      draw: (random, spec) =>
        spec.loose ? undefined : { ...request(random, spec), callback: random.of(['throws', undefined]) },
      run(call) {
        const { n = 1 } = call.operation;
        const ghost = ghostOf(call);
        call.runs(
          (run, options) => call.object.runExclusive(run, n, options),
          () => ghost.took(call.thread, n),
          () => ghost.gives(call.thread, n),
          n,
        );
      },
    },
    acquire: {
      weight: 3,
      blocks: true,
      draw(random, spec) {
        const n = some(random, spec);
        return spec.loose || random.once(2) ? { n, timeout: random.below(4) } : { n };
      },
      run(call) {
        const { n = 1 } = call.operation;
        call.blocks(
          (options) => call.object.acquire(n, options),
          () => has(call, n),
          n,
        );
      },
    },
    tryAcquire: {
      weight: 1,
      draw: (random, spec) => ({ n: some(random, spec) }),
      run(call) {
        const { n = 1 } = call.operation;
        if (call.now(() => call.object.tryAcquire(n))) has(call, n);
      },
    },
    drain: {
      weight: 1,
      draw: plainly,
      run(call) {
        const n = call.now<number>(() => call.object.drain());
        if (n) has(call, n);
      },
    },
    release: {
      weight: 6,
      draw: (random, spec) => (spec.loose ? { n: 1 + random.below(2) } : undefined),
      run(call) {
        const { n = 1 } = call.operation;
        gives(call, n, () => call.object.release(n));
      },
    },
    add: {
      weight: 1,
      draw: plainly,
      run(call) {
        ghostOf(call).makes(call.thread, () => call.now(() => call.object.add()));
      },
    },
    reduce: {
      weight: 1,
      draw: (_random, spec) => (spec.loose ? {} : undefined),
      run(call) {
        ghostOf(call).reduces(1);
        call.now(() => call.object.reduce());
      },
    },
    cancelAll: {
      weight: 2,
      draw: plainly,
      run(call) {
        call.ghost.cancels(() => call.object.cancelAll());
      },
    },
    dispose,
  },
};

export const kinds: Kinds = { Semaphore: semaphore };
