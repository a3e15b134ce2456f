/**
 * Watch: each value is a number of its own. A version has one value, which is the same for all who read it. A thread
 * that reads sees no older version than before. At rest nobody waits for a value that is there, or for the turn to set
 * one.
 */
import type { Call } from '../call.js';
import { Ghost, type Request } from '../ghosts.js';
import type { Realm } from '../realm.js';
import { dispose, type Kind, type Kinds, patience, plainly } from './parts/kind.js';

interface Snapshot {
  readonly value: number;
  readonly version: number;
}

class WatchGhost extends Ghost {
  /** The values whose `set` has begun, and 0, with which the watch is made. */
  #begun = 0;
  /** How many calls of `set` have returned, and how many have failed. */
  #set = 0;
  #failed = 0;
  #isClosed = false;
  /** The value of each version that was read. */
  readonly #values = new Map<number, number>();
  /** The last version that each thread has read. */
  readonly #seen = new Map<Realm, number>();
  /** The version that a request waits to be left behind. */
  readonly #since = new WeakMap<Request, number>();

  begins(): number {
    return ++this.#begun;
  }

  sets(): void {
    this.#set++;
  }

  notSet(): void {
    this.#failed++;
  }

  waitsSince(request: Request, since: number | undefined): void {
    if (since !== undefined) this.#since.set(request, since);
  }

  /** How many calls of `set` have returned. */
  get atLeast(): number {
    return this.#set;
  }

  got({ value, version }: Snapshot): void {
    const known = this.#values.get(version) ?? value;
    this.#values.set(version, value);
    if (known !== value) this.fail(`version ${version} is ${value}, and was ${known}`);
    if (value < 0 || value > this.#begun || (version === 0) !== (value === 0))
      this.fail(`version ${version} is ${value}, which was not set`);
    if (version > this.#begun) this.fail(`version ${version} comes after ${this.#begun} calls of set`);
  }

  /** A thread has read without waiting; `least` calls of `set` had returned before. */
  reads(thread: Realm, read: Snapshot, least: number): void {
    this.got(read);
    if (read.version < least) this.fail(`version ${read.version} is read after ${least} calls of set`);
    if (read.version < (this.#seen.get(thread) ?? 0)) this.fail(`version ${read.version} comes after a newer one`);
    this.#seen.set(thread, read.version);
  }

  changed(read: Snapshot, since: number | undefined): void {
    this.got(read);
    if (since === undefined || read.version <= since) this.fail(`version ${read.version} is not newer than ${since}`);
  }

  closes(close: () => void): void {
    this.#isClosed = true;
    close();
    for (const request of this.pending) if (request.queued < Infinity) request.mustEnd ??= 'the watch has been closed';
  }

  override refused(request: Request, error: unknown): void {
    if ((error as Error).name === 'ClosedError' && this.#isClosed) return;
    super.refused(request, error);
  }

  override callsBack(thread: Realm): void {
    String(this.objectOf(thread));
  }

  protected due(): Request | undefined {
    return [...this.pending].find((request) => (this.#since.get(request) ?? -1) < this.#set);
  }

  override died(thread: Realm): void {
    // The ghost does not know how far the last call of the thread came.
    this.isUnsure = true;
    super.died(thread);
  }

  override finish(thread: Realm): void {
    this.closes(() => this.objectOf(thread).close());
  }

  override ended(thread: Realm): void {
    super.ended(thread);
    if (this.isDisposed || this.isUnsure || this.stage.isUnreaped) return;
    const { version, writers, watchers } = this.objectOf(thread).inspect();
    if (version !== this.#set) this.fail(`version ${version} in the end, and ${this.#set} calls of set`);
    if (this.#begun !== this.#set + this.#failed) this.fail('a call of set has not ended');
    if (writers.waiting + watchers.waiting !== 0) this.fail('somebody waits in the end');
  }
}

const ghostOf = ({ ghost }: Call): WatchGhost => ghost as WatchGhost;
const blocking = { blocks: true, draw: (random: { below(n: number): number }) => ({ timeout: random.below(4) }) };
/** The version from which a call waits: sometimes there is a newer one already. */
const sinceOf = ({ object, operation: { n = 0 } }: Call): number => Math.max(object.version - n, 0);

const watch: Kind = {
  hasParts: true,
  draw: plainly,
  make: ({ Watch, number }, _spec, arena) => new Watch(0, { codec: number, arena }),
  from: ({ Watch, number }, handle) => Watch.from(handle, number),
  ghost: (stage, on) => new WatchGhost(stage, on),
  outlives: () => true,
  operations: {
    setAsync: {
      weight: 6,
      draw: patience,
      run(call) {
        const ghost = ghostOf(call);
        const value = ghost.begins();
        call.waits(
          (options) => call.object.setAsync(value, options),
          () => ghost.sets(),
          1,
          () => ghost.notSet(),
        );
      },
    },
    set: {
      weight: 4,
      ...blocking,
      run(call) {
        const ghost = ghostOf(call);
        const value = ghost.begins();
        call.blocks(
          (options) => call.object.set(value, options),
          () => ghost.sets(),
          1,
          undefined,
          () => ghost.notSet(),
        );
      },
    },
    read: {
      weight: 4,
      draw: plainly,
      run(call) {
        const ghost = ghostOf(call);
        const least = ghost.atLeast;
        const read = call.now(() => {
          try {
            return call.object.read() as Snapshot;
          } catch (error) {
            if ((error as Error).name !== 'DisposedError' || !ghost.isDisposed) throw error;
            return undefined;
          }
        });
        if (read !== undefined) ghost.reads(call.thread, read, least);
      },
    },
    changedAsync: {
      weight: 8,
      draw: (random) => ({ ...patience(random), n: random.below(2) }),
      run(call) {
        const ghost = ghostOf(call);
        let since: number | undefined;
        call.waits(
          (options) => {
            since = sinceOf(call);
            return call.object.changedAsync(since, options);
          },
          (read) => ghost.changed(read as Snapshot, since),
          1,
          undefined,
          (request) => ghost.waitsSince(request, since),
        );
      },
    },
    changed: {
      weight: 3,
      blocks: true,
      draw: (random) => ({ timeout: random.below(4), n: random.below(2) }),
      run(call) {
        const since = sinceOf(call);
        call.blocks(
          (options) => call.object.changed(since, options),
          (read) => ghostOf(call).changed(read as Snapshot, since),
          1,
          (request) => ghostOf(call).waitsSince(request, since),
        );
      },
    },
    close: {
      weight: 0.3,
      draw: plainly,
      run(call) {
        ghostOf(call).closes(() => call.object.close());
      },
    },
    dispose,
  },
};

export const kinds: Kinds = { Watch: watch };
