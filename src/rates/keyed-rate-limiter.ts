/**
 * KeyedRateLimiter is a rate for each key, which threads share: at most so many permits of a key begin in any window of so
 * many milliseconds, and never one more. Why it keeps the promise, is told in common/rate-cells.ts; where the cells lie,
 * and what happens when a thread dies, in keyed-memory.ts.
 *
 * Nobody waits for a key here. A queue in shared memory has an entry of some 70 bytes for each request, with its thread,
 * and dates that move when somebody leaves or dies: this is a RateLimiter. Who refuses calls, such as a server that
 * answers 429, has a key for each user; who waits, such as a client, has a key for each server, and can open a RateLimiter
 * for each.
 */
import type { Arena } from '../arena/arena.js';
import { KIND_KEYED_RATE_LIMITER, O_INITIAL, O_MAX, O_SPIN, O_THRESHOLD, PAGE_SIZE } from '../border/numbers.js';
import { checkKey, type Key, keyText, keyToInspect } from '../common/keys.js';
import { checkPause, checkRate, checkSpent, type Rate, type RateOptions } from '../common/rate.js';
import type { Properties } from '../objects/options.js';
import { type Definition, differing, find, type Handle, make, open } from '../objects/reference.js';
import { close, disposedError, forget, isOver, named, reference, SharedObject } from '../objects/shared-object.js';
import { ArenaFullError, checkInteger, checkOptions, refuseName } from '../runtime/errors.js';
import { closed } from '../runtime/promises.js';
import { type KeyedRateMemory, memoryOf } from './keyed-memory.js';

/** The options of a new `KeyedRateLimiter`. */
export interface KeyedRateLimiterOptions extends RateOptions {
  /**
   * For how many keys at a time there is room, 1 to 10,000,000; 10,000 by default. Each takes 60 to 100 bytes of the room
   * for messages (`bytes` of the arena, 16 MiB by default). Memory that no key has used takes no room in the computer.
   */
  readonly keys?: number;
  /** The arena of the object. Default: `Arena.default`. */
  readonly arena?: Arena;
}

/** A plain, structured-cloneable value to send to another thread, for `KeyedRateLimiter.from` there. */
export type KeyedRateLimiterHandle = Handle<'KeyedRateLimiter'>;

/** What `KeyedRateLimiter.inspect` tells about all keys. */
export interface KeyedRateLimiterStats extends Rate {
  /** For how many keys at a time there is room. */
  readonly keys: number;
  /** The number of keys of which something counts. */
  readonly size: number;
  /** How many permits `tryTake` has given since the limiter was made, for all keys together. */
  readonly taken: number;
  /** How many calls of `tryTake` were refused since then. */
  readonly refused: number;
  /** How many of these were refused because there was no room for their key: the limiter needs more `keys`. */
  readonly noRoom: number;
}

/** What `KeyedRateLimiter.inspect` tells about one key. */
export interface RateOfKeyStats extends Rate {
  /** The number of permits of the key that count in the window that ends now. With more than 7 permits it may be too high. */
  readonly taken: number;
}

const KIND = 'KeyedRateLimiter';
const MOST_KEYS = 10_000_000;

const DEFINITION: Definition<typeof KIND, [number, number, KeyedRateLimiterOptions]> = {
  kind: KIND,
  number: KIND_KEYED_RATE_LIMITER,
  properties,
};

/**
 * A rate for each key, in all threads together: at most so many permits of a key begin in any window of so many
 * milliseconds, never one more. A key needs no set-up. Of a key whose permits count no more, nothing is kept.
 *
 * Nobody waits for a key: `tryTake` says at once whether permits may go, and `dueIn` when. To wait, open a `RateLimiter`.
 *
 * Source: a log of the window beside the generic cell rate algorithm (ITU-T I.371), as in `RateLimiter`, in a hash table
 * in which each key has the choice of two buckets (Azar, Broder, Karlin and Upfal, "Balanced Allocations", 1994).
 *
 * @example
 * ```ts
 * import { KeyedRateLimiter } from 'taketurns/keyed';
 *
 * // By its name: one in all threads. 100 in any minute for each user, at most 10 at once.
 * const users = KeyedRateLimiter.open('users', 100, 60_000, { burst: 10 });
 * if (!users.tryTake('Ann')) console.log('429, Retry-After:', Math.ceil(users.dueIn('Ann') / 1000));
 * ```
 * @since 0.3.0
 */
export class KeyedRateLimiter extends SharedObject<typeof KIND> implements Rate {
  readonly #core = this[reference].membership.core;
  readonly #at = this[reference].address;
  /** The most permits of a key in a window. */
  readonly permits = this.#load(O_INITIAL);
  /** The length of a window, in milliseconds. */
  readonly per = this.#load(O_MAX);
  /** How many permits of a key may go at once after a pause. */
  readonly burst = this.#load(O_SPIN);
  /** For how many keys at a time there is room. */
  readonly keys = this.#load(O_THRESHOLD);
  readonly #memory: KeyedRateMemory = this.#attach();

  /**
   * @param permits the most permits of a key in a window, 1 to 2,147,483,647.
   * @param per the length of a window, 1 to 2,147,483,647 milliseconds.
   * @throws {RangeError | TypeError} for a bad number or option.
   * @throws {ArenaFullError} if the arena has no room for another object, or for so many keys.
   */
  constructor(permits: number, per: number, options: KeyedRateLimiterOptions = {}) {
    super(KIND, make(DEFINITION, permits, per, options));
  }

  #load(property: number): number {
    return new Int32Array(this[reference].membership.memory.buffer)[(this.#at + property) >> 2] as number;
  }

  /** Attaches the thread to the cells. If there is no room for them, lets go of the limiter too. */
  #attach(): KeyedRateMemory {
    const { membership, shared } = this[reference];
    // Not by this object: what the thread knows of the limiter keeps the function, and this object is to be collected.
    const { keys } = this;
    try {
      return memoryOf(membership, shared, (pages) => noPages(keys, pages));
    } catch (error) {
      this[closed]();
      throw error;
    }
  }

  /**
   * Attaches to the limiter of a handle, in any thread. Never blocks.
   * @throws {TypeError} if the value is not the handle of a KeyedRateLimiter.
   * @throws {DisposedError} if the limiter has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another thread or another attachment.
   * @example const users = KeyedRateLimiter.from(workerData.users); // its `handle`, sent by the other thread
   */
  static from(handle: KeyedRateLimiterHandle): KeyedRateLimiter {
    return new KeyedRateLimiter(1, 1, find(DEFINITION, handle) as KeyedRateLimiterOptions);
  }

  /**
   * Attaches to the limiter of this name in the arena. Creates it if there is none. Threads that open a name at the same
   * time get one limiter. The limiter goes when every thread that had it open has ended, or its library objects were
   * collected and nothing counts any more. A limiter whose handle was taken stays until it is disposed of. Never blocks.
   * @param name 1 to 116 bytes of UTF-8, well-formed.
   * @param permits the most permits of a key in a window, 1 to 2,147,483,647.
   * @param per the length of a window, 1 to 2,147,483,647 milliseconds.
   * @throws {RangeError | TypeError} for a bad argument, if the name belongs to another kind of object, or if the
   * limiter was made with other numbers.
   * @throws {ArenaFullError} if the arena has no room for another object or attachment, or for so many keys.
   * @example const users = KeyedRateLimiter.open('users', 100, 60_000, { keys: 100_000 });
   */
  static open(name: string, permits: number, per: number, options: KeyedRateLimiterOptions = {}): KeyedRateLimiter {
    const found = open(DEFINITION, name, permits, per, options);
    return new KeyedRateLimiter(permits, per, found as KeyedRateLimiterOptions);
  }

  #checkOpen(): void {
    if (this[isOver] || this.#core.isDisposed(this.#at)) throw this[disposedError]();
  }

  #checkPermits(method: string, key: Key, permits: number): void {
    checkKey(KIND, method, key);
    checkInteger(`${KIND}.${method}: permits`, permits, 1, this.permits, ' (its permits)');
  }

  /**
   * Takes permits of a key if they may go now. Never blocks for long: if another thread is in the midst of a call for a
   * key that is near and does not go on for 50 ms, the answer is false, although permits may be free. The answer is also
   * false if there is no room for a new key, because `keys` of others are in use: `inspect().noRoom` counts these.
   * @param permits 1 (the default) to `permits` of the constructor.
   * @returns whether it has taken them.
   * @throws {RangeError | TypeError} for a bad key or number.
   * @throws {DisposedError} if the limiter has been disposed of.
   * @example if (!users.tryTake('Ann')) console.log('too many requests');
   */
  tryTake(key: Key, permits = 1): boolean {
    this.#checkPermits('tryTake', key, permits);
    this.#checkOpen();
    return this.#memory.tryTake(key, permits);
  }

  /**
   * Returns in how many milliseconds permits of a key could go, if nobody takes some before: what a server says in
   * `Retry-After`. 0: now. If there is no room for the key, the answer says when another key gives its room up at the
   * latest. Blocks for a moment if another thread is in the midst of a call for a key that is near, and for a second or
   * a little more if that thread has stopped.
   * @param permits 1 (the default) to `permits` of the constructor.
   * @throws {RangeError | TypeError} for a bad key or number.
   * @throws {DisposedError} if the limiter has been disposed of.
   * @throws {Error} if another thread has stopped in the midst of a call for a key that is near, and is not known to be dead.
   * @example response.setHeader('Retry-After', Math.ceil(users.dueIn('Ann') / 1000));
   */
  dueIn(key: Key, permits = 1): number {
    this.#checkPermits('dueIn', key, permits);
    this.#checkOpen();
    return this.#memory.dueIn(key, permits);
  }

  /**
   * Lets nobody go for a key, in any thread, before so many milliseconds have passed. A pause that ends later stays. Blocks
   * as `dueIn` does.
   * @param milliseconds 0 to 2,147,483,647.
   * @throws {RangeError | TypeError} for a bad key or number.
   * @throws {ArenaFullError} if there is no room for the key.
   * @throws {DisposedError} if the limiter has been disposed of.
   * @throws {Error} if another thread has stopped in the midst of a call for a key that is near, and is not known to be dead.
   * @example hosts.pause('example.org', 1000 * Number(response.headers.get('Retry-After')));
   */
  pause(key: Key, milliseconds: number): void {
    checkKey(KIND, 'pause', key);
    checkPause(KIND, milliseconds);
    this.#checkOpen();
    if (!this.#memory.pause(key, milliseconds)) throw noRoomFor(key, this.keys);
  }

  /**
   * Counts permits of a key that have been used, without waiting, also more than there are. A number below 0 gives back
   * permits that were taken and not used, as far as they still count. Blocks as `dueIn` does.
   * @param permits -2,147,483,647 to 2,147,483,647.
   * @throws {RangeError | TypeError} for a bad key or number.
   * @throws {ArenaFullError} if there is no room for the key.
   * @throws {DisposedError} if the limiter has been disposed of.
   * @throws {Error} if another thread has stopped in the midst of a call for a key that is near, and is not known to be dead.
   * @example tokens.spend('Ann', answer.usage.total - estimate);
   */
  spend(key: Key, permits: number): void {
    checkKey(KIND, 'spend', key);
    checkSpent(KIND, permits);
    this.#checkOpen();
    if (!this.#memory.spend(key, permits)) throw noRoomFor(key, this.keys);
  }

  /**
   * The number of keys of which something counts, in all threads. It looks at the room for each key, and blocks as `dueIn`
   * does.
   * @throws {Error} if another thread has stopped in the midst of a call, and is not known to be dead.
   */
  get size(): number {
    return this[isOver] ? 0 : this.#memory.counts().size;
  }

  /**
   * Describes one key, or all keys together, by a plain object. Without a key, it looks at the room for each key. Blocks
   * as `dueIn` does.
   * @throws {RangeError | TypeError} for a bad key.
   * @throws {DisposedError} if the limiter has been disposed of.
   * @throws {Error} if another thread has stopped in the midst of a call for a key that is near, and is not known to be dead.
   * @example console.log(users.inspect().size, users.inspect('Ann').taken);
   */
  inspect(): KeyedRateLimiterStats;
  inspect(key: Key): RateOfKeyStats;
  inspect(...given: [key?: Key]): KeyedRateLimiterStats | RateOfKeyStats {
    const key = keyToInspect(KIND, given);
    this.#checkOpen();
    const { permits, per, burst } = this;
    if (key !== undefined) return { permits, per, burst, taken: this.#memory.taken(key) };
    return { permits, per, burst, keys: this.keys, ...this.#memory.counts() };
  }

  /** Returns, for example, `KeyedRateLimiter("users", 100 in 60000 ms)`. Never blocks, throws nothing. */
  override toString(): string {
    const state = this[isOver] ? 'disposed' : `${this.permits} in ${this.per} ms`;
    return `${KIND}(${this[named](', ')}${state})`;
  }

  /** @internal */
  protected override [close](): void {
    this.#core.dispose(this.#at);
  }

  /** @internal */
  protected override [forget](): void {}
}

function noPages(keys: number, pages: number): ArenaFullError {
  return new ArenaFullError(
    `the arena has no ${pages} pages of ${PAGE_SIZE} bytes side by side for a ${KIND} of ${keys} keys: ask for fewer ` +
      `\`keys\`, or make an arena with ${pages * PAGE_SIZE} more \`bytes\``,
  );
}

function noRoomFor(key: Key, keys: number): ArenaFullError {
  return new ArenaFullError(
    `the ${KIND} has no room for ${keyText(key)} beside those that count now: make it with more \`keys\` than ${keys}`,
  );
}

function properties(what: string, permits: number, per: number, options: KeyedRateLimiterOptions): Properties {
  refuseName(what, KIND, 'permits', permits, 'an integer', ', permits, per');
  checkOptions(what, options, ['burst', 'keys', 'arena']);
  const { burst } = checkRate(what, permits, per, options);
  const keys = checkInteger(`${what}: keys`, options.keys ?? 10_000, 1, MOST_KEYS);
  return {
    permits,
    max: per,
    spin: burst,
    threshold: keys,
    differences: (has) =>
      differing(
        ['permits', has[O_INITIAL / 4], permits],
        ['per', has[O_MAX / 4], per],
        ['burst', has[O_SPIN / 4], burst],
        ['keys', has[O_THRESHOLD / 4], keys],
      ),
  };
}
