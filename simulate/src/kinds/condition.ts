/** Condition: a thread locks the mutex before it waits, and is the owner of the mutex again when the wait is over. */
import type { Call } from '../call.js';
import { type Caller, Ghost, type Request } from '../ghosts.js';
import type { Library, Realm } from '../realm.js';
import type { MutexGhost } from './mutex.js';
import { dispose, type Kind, type Kinds, patience, plainly } from './parts/kind.js';

class ConditionGhost extends Ghost {
  /** The notifications that no wait has used yet: the most that there may be, and the least that there must be. */
  #most = 0;
  #least = 0;
  #notifying = 0;
  /** How many waits are over. */
  #over = 0;

  get mutex(): MutexGhost {
    return this.stage.ghosts[this.spec.of as number] as MutexGhost;
  }

  /** If a condition was opened from its handle, it has made its own library object for the mutex. */
  override prepare(_thread: Realm, object: Library): void {
    object.mutex.onOwnerDied = () => this.mutex.ownerDied();
  }

  notifies(notify: () => number | undefined): void {
    const before = this.#over;
    this.#notifying++;
    const notified = notify() ?? 0;
    this.#notifying--;
    this.#most += notified;
    // Some of the notified waits may have ended meanwhile.
    const least = this.#least + notified - (this.#over - before);
    this.#least = Math.max(Math.min(least, this.pending.size), 0);
    this.#check();
  }

  #check(): void {
    if (this.#notifying === 0 && this.#most < 0) this.fail('a wait has ended that nobody has notified');
  }

  /** Notes that a wait is over. */
  over(isNotified: boolean): void {
    this.#over++;
    // A wait that gives up may be among those that `notify` has counted.
    this.#least = Math.max(this.#least - 1, 0);
    this.#most -= Number(isNotified);
    this.#check();
  }

  protected due(): Request | undefined {
    const [first] = this.pending;
    return this.#least > 0 && this.mutex.owner === undefined ? first : undefined;
  }

  /** A time-out limits only the waiting itself. Before a wait ends it locks the mutex, so the mutex must be free. */
  protected override mayEnd(): boolean {
    return this.mutex.owner === undefined && !this.stage.isUnreaped;
  }

  override callsBack(thread: Realm): void {
    if (!this.isDisposed) this.notifies(() => this.objectOf(thread).notify());
  }

  override refused(request: Request, error: unknown): void {
    if ((error as Error).name === 'DisposedError' && this.mutex.isDisposed) return;
    super.refused(request, error);
  }

  override died(thread: Realm): void {
    super.died(thread);
    // A thread that died as the owner of the mutex may have used up its notification. The mutex knows this owner, but
    // the ghost of the mutex may not know it.
    const other = [...this.stage.objects.keys()].find((realm) => !realm.isDead && !this.stage.scheduler.isOn(realm));
    const isOwner = other === undefined || (this.mutex.owner === undefined && this.mutex.objectOf(other).locked);
    if (isOwner) this.#least = Math.max(this.#least - 1, 0);
  }

  /** A notification for which no wait was left is not kept for a wait that begins later. */
  override begin(call: Caller, n?: number): Request {
    this.#least = Math.min(this.#least, this.pending.size);
    return super.begin(call, n);
  }

  /** The notification of a dead waiter goes on to the requests that wait already. */
  override reaped(thread: Realm): void {
    super.reaped(thread);
    const waiting = [...this.pending].filter(({ queued }) => queued < Infinity).length;
    this.#least = Math.min(this.#least, waiting);
  }

  override finish(thread: Realm): void {
    if (!this.isDisposed) this.notifies(() => this.objectOf(thread).notifyAll());
  }

  override ended(thread: Realm): void {
    super.ended(thread);
    if (this.isDisposed || this.stage.isUnreaped) return;
    const { waiting, waiters } = this.objectOf(thread).inspect();
    if (waiting > 0 || waiters.length > 0) this.fail(`${waiting} wait in the end`);
  }
}

const ghostOf = ({ ghost }: Call): ConditionGhost => ghost as ConditionGhost;

/** Waits. The thread is the owner of the mutex before and after the wait, and unlocks the mutex later. */
function waits(call: Call): void {
  const ghost = ghostOf(call);
  const { mutex } = ghost;
  const again = (): void => {
    if (!mutex.isDisposed) call.owns(mutex);
  };
  mutex.gives(call.thread);
  call.waits(
    (options) => call.object.waitAsync(options),
    (isNotified) => {
      ghost.over(isNotified === true);
      again();
    },
    1,
    (error) => {
      ghost.over(false);
      // If `onOwnerDied` throws, the thread is not the owner.
      if (!call.stage.errors.has(error)) again();
    },
  );
}

const condition: Kind = {
  needs: 'Mutex',
  draw: plainly,
  make: ({ Condition }, { of }, _arena, made) => new Condition(made[of as number]),
  ghost: (stage, on) => new ConditionGhost(stage, on),
  outlives: () => true,
  operations: {
    waitAsync: {
      weight: 6,
      draw: patience,
      run(call) {
        const { mutex } = ghostOf(call);
        const object = mutex.objectOf(call.thread);
        if (mutex.isDisposed || call.ghost.isDisposed) return;
        const locked = mutex.begin(call);
        const options = {};
        call.reacts(
          object.lockAsync(options),
          () => {
            mutex.end(locked);
            mutex.took(call.thread);
            waits(call);
          },
          (error) => {
            mutex.end(locked);
            mutex.refused(locked, error);
          },
        );
      },
    },
    wait: {
      weight: 2,
      blocks: true,
      draw: (random) => ({ timeout: random.below(4), ...(random.once(4) ? { cut: true } : {}) }),
      run(call) {
        const ghost = ghostOf(call);
        const { mutex } = ghost;
        const object = mutex.objectOf(call.thread) as Library;
        if (!call.now(() => object.tryLock(), mutex) || mutex.isDisposed) return;
        mutex.took(call.thread);
        mutex.gives(call.thread);
        let isNotified = false;
        let isOwner = true;
        call.blocks(
          (options) => call.object.wait(options),
          (answer) => {
            isNotified = answer === true;
          },
          1,
          () => {},
          (error) => {
            isOwner = !call.stage.errors.has(error);
          },
        );
        ghost.over(isNotified);
        if (isOwner && !mutex.isDisposed) call.owns(mutex);
      },
    },
    notify: {
      weight: 5,
      draw: (random) => ({ n: 1 + random.below(2) }),
      run(call) {
        ghostOf(call).notifies(() => call.now(() => call.object.notify(call.operation.n)));
      },
    },
    notifyAll: {
      weight: 2,
      draw: plainly,
      run(call) {
        ghostOf(call).notifies(() => call.now(() => call.object.notifyAll()));
      },
    },
    dispose,
  },
};

export const kinds: Kinds = { Condition: condition };
