/**
 * Watch: each value is a number of its own. A version has one value, which is the same for all who read it. A thread
 * that reads sees no older version than before. At rest nobody waits for a value that is there, or for the turn to set
 * one.
 */
import type { Call } from '../call.js';
import type { Request } from '../ghosts.js';
import type { Realm } from '../realm.js';
import { blocking, brings, EndsGhost, ending } from './parts/ends.js';
import { type Kind, type Kinds, patience, plainly } from './parts/kind.js';

interface Snapshot {
  readonly value: number;
  readonly version: number;
}

class WatchGhost extends EndsGhost {
  /** The values whose `set` has begun, and 0, with which the watch is made. */
  #begun = 0;
  /** How many calls of `set` have returned, and how many have failed. */
  #set = 0;
  #failed = 0;
  /** The value of each version that was read. */
  readonly #values = new Map<number, number>();
  /** The last version that each thread has read. */
  readonly #seen = new Map<Realm, number>();
  /** The version that a request waits to be left behind. */
  readonly #since = new WeakMap<Request, number>();

  begins(): number {
    return ++this.#begun;
  }

  brought(): void {
    this.#set++;
  }

  notBrought(): void {
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

  /** A wait for a version that is newer than `since` has ended; without a snapshot, because the watch is closed. */
  changed(read: Snapshot | undefined, since: number | undefined): void {
    if (read === undefined) {
      if (!this.isClosed) this.fail('a select finds the watch closed');
      return;
    }
    this.got(read);
    if (since === undefined || read.version <= since) this.fail(`version ${read.version} is not newer than ${since}`);
  }

  protected endsAtClose(): boolean {
    return true;
  }

  protected due(): Request | undefined {
    return [...this.pending].find((request) => (this.#since.get(request) ?? -1) < this.#set);
  }

  protected compare(thread: Realm): number {
    const { version, writers, watchers } = this.objectOf(thread).inspect();
    if (version !== this.#set) this.fail(`version ${version} in the end, and ${this.#set} calls of set`);
    if (this.#begun !== this.#set + this.#failed) this.fail('a call of set has not ended');
    return writers.waiting + watchers.waiting;
  }
}

const ghostOf = ({ ghost }: Call): WatchGhost => ghost as WatchGhost;
/** The version from which a call waits: sometimes there is a newer one already. */
const sinceOf = ({ object, operation: { n = 0 } }: Call): number => Math.max(object.version - n, 0);

/** What a select has found: a snapshot, or undefined if the watch is closed. */
const snapshotIn = (selected: unknown): unknown => (selected as { value: unknown }).value;
const asItIs = (got: unknown): unknown => got;

/** Waits by a promise for a version that is newer than one of the last. */
function waits(call: Call, make: (since: number, options: unknown) => Promise<unknown>, of = asItIs): void {
  const ghost = ghostOf(call);
  let since: number | undefined;
  call.waits(
    (options) => {
      since = sinceOf(call);
      return make(since, options);
    },
    (got) => ghost.changed(of(got) as Snapshot | undefined, since),
    1,
    undefined,
    (request) => ghost.waitsSince(request, since),
  );
}

/** Does the same, and blocks the thread. */
function blocks(call: Call, make: (since: number, options: unknown) => unknown, of = asItIs): void {
  const ghost = ghostOf(call);
  const since = sinceOf(call);
  call.blocks(
    (options) => make(since, options),
    (got) => ghost.changed(of(got) as Snapshot | undefined, since),
    1,
    (request) => ghost.waitsSince(request, since),
  );
}

const watch: Kind = {
  hasParts: true,
  draw: plainly,
  make: ({ Watch, number }, _spec, arena) => new Watch(0, { codec: number, arena }),
  from: ({ Watch, number }, handle) => Watch.from(handle, number),
  ghost: (stage, on) => new WatchGhost(stage, on),
  outlives: () => true,
  operations: {
    ...brings('set', [6, 4]),
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
      weight: 6,
      draw: (random) => ({ ...patience(random), n: random.below(2) }),
      run: (call) => waits(call, (since, options) => call.object.changedAsync(since, options)),
    },
    selectAsync: {
      weight: 2,
      draw: (random) => ({ ...patience(random), n: random.below(2) }),
      run(call) {
        const { changing, selectAsync } = call.thread.library;
        waits(call, (since, options) => selectAsync([changing(call.object, since)], options), snapshotIn);
      },
    },
    changed: {
      weight: 2,
      blocks: true,
      draw: (random) => ({ ...blocking.draw(random), n: random.below(2) }),
      run: (call) => blocks(call, (since, options) => call.object.changed(since, options)),
    },
    select: {
      weight: 1,
      blocks: true,
      draw: (random) => ({ ...blocking.draw(random), n: random.below(2) }),
      run(call) {
        const { changing, select } = call.thread.library;
        blocks(call, (since, options) => select([changing(call.object, since)], options), snapshotIn);
      },
    },
    ...ending,
  },
};

export const kinds: Kinds = { Watch: watch };
