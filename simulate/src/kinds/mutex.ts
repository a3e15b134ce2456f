/** Mutex, whose owner may die. */
import type { Call } from '../call.js';
import { Ghost, type Request } from '../ghosts.js';
import type { Random } from '../random.js';
import type { Library, Realm } from '../realm.js';
import { dispose, type Kind, type Kinds, patience, plainly } from './parts/kind.js';

export class MutexGhost extends Ghost {
  owner: Realm | undefined;
  /** Whether an owner has died, and no later owner has learned of the death. */
  #isHalfWritten = false;

  override prepare(_thread: Realm, object: Library): void {
    object.onOwnerDied = () => this.ownerDied();
  }

  took(thread: Realm): void {
    if (this.owner) this.fail(`threads ${this.owner.index} and ${thread.index} are both the owner`);
    if (this.#isHalfWritten) this.fail(`thread ${thread.index} is the owner, and has not learned of a death`);
    this.owner = thread;
  }

  protected override learned(): void {
    this.#isHalfWritten = false;
  }

  /** Is called before the lock goes back. */
  gives(thread: Realm): void {
    if (this.owner !== thread) this.fail(`thread ${thread.index} unlocks, and is not the owner`);
    this.owner = undefined;
  }

  protected due(): Request | undefined {
    const [first] = this.pending;
    return this.owner === undefined ? first : undefined;
  }

  protected override givesBack(object: Library): void {
    object.unlock();
  }

  override reaped(thread: Realm): void {
    super.reaped(thread);
    if (this.owner !== thread) return;
    this.owner = undefined;
    this.#isHalfWritten = true;
  }

  override ended(thread: Realm): void {
    super.ended(thread);
    if (this.isDisposed || this.stage.isUnreaped) return;
    const { locked, waiting } = this.objectOf(thread).inspect();
    if (locked || waiting > 0) this.fail(`locked: ${locked}, and ${waiting} wait in the end`);
  }
}

const ghostOf = ({ ghost }: Call): MutexGhost => ghost as MutexGhost;

const has = (call: Call, unlock?: () => void): void => call.owns(ghostOf(call), unlock);

const blocking = (random: Random) => ({
  ...(random.once(2) ? { timeout: random.below(4) } : {}),
  ...(random.once(4) ? { cut: true } : {}),
});

const mutex: Kind = {
  draw(random) {
    const bypass = random.once(2) ? { n: random.below(2) } : {};
    return random.once(2) ? bypass : { ...bypass, callback: random.of(['throws', 'calls back', 'gives back']) };
  },
  make: ({ Mutex }, { n }, arena) => new Mutex(n === undefined ? { arena } : { bypass: n, arena }),
  ghost: (stage, on) => new MutexGhost(stage, on),
  outlives: () => true,
  operations: {
    lockAsync: {
      weight: 6,
      draw: patience,
      run(call) {
        call.waits(
          (options) => call.object.lockAsync(options),
          () => has(call),
        );
      },
    },
    holdAsync: {
      weight: 2,
      draw: patience,
      run(call) {
        call.waits(
          (options) => call.object.holdAsync(options),
          (guard) => has(call, () => (guard as Library).unlock()),
        );
      },
    },
    runExclusive: {
      weight: 2,
      draw: (random) => ({ ...patience(random), callback: random.of(['throws', undefined]) }),
      run(call) {
        const ghost = ghostOf(call);
        call.runs(
          (run, options) => call.object.runExclusive(run, options),
          () => ghost.took(call.thread),
          () => ghost.gives(call.thread),
        );
      },
    },
    waitForUnlockAsync: {
      weight: 1,
      draw: patience,
      run(call) {
        call.waits(
          (options) => call.object.waitForUnlockAsync(options),
          () => {},
        );
      },
    },
    lock: {
      weight: 3,
      blocks: true,
      draw: blocking,
      run(call) {
        call.blocks(
          (options) => call.object.lock(options),
          () => has(call),
        );
      },
    },
    waitForUnlock: {
      weight: 1,
      blocks: true,
      draw: blocking,
      run(call) {
        call.blocks(
          (options) => call.object.waitForUnlock(options),
          () => {},
        );
      },
    },
    tryLock: {
      weight: 1,
      draw: plainly,
      run(call) {
        if (call.now(() => call.object.tryLock())) has(call);
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

export const kinds: Kinds = { Mutex: mutex };
