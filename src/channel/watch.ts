/** Watch: the newest value of something. core/kinds/channel/watch.ts has the picture and the proof. */
import {
  ANSWER_CLOSED,
  CLOSED_OBJECT,
  E_HELD,
  INTERRUPTED,
  KIND_WATCH,
  MORE,
  P_DATA,
  P_NEXT,
  PLACE_HEAD,
  PLACE_LENGTH,
  PLACES,
  REFUSED,
} from '../border/numbers.js';
import { checkWaitOptions, type WaitOptions } from '../objects/options.js';
import { type Definition, find, make, open, Reference } from '../objects/reference.js';
import {
  close,
  detach,
  disposedError,
  forget,
  isOver,
  named,
  reference,
  SharedObject,
} from '../objects/shared-object.js';
import { conditionStats } from '../objects/stats.js';
import { checkWaitAsync } from '../runtime/doorbell.js';
import { ClosedError, checkInteger, described, SelfDeadlockError } from '../runtime/errors.js';
import { countdown } from '../runtime/parking.js';
import { closed } from '../runtime/promises.js';
import { changeOf, type Done, ENDED, type Work } from './case.js';
import { isClosedAt } from './closed-error.js';
import { type Codec, checkCodec, hashOf, otherCodec, roomIn, type Wire, wireOf } from './codec.js';
import { bytes } from './codecs.js';
import type { Endpoint } from './endpoint.js';
import { type Endpoints, endpointsOf, unlessGone } from './endpoints.js';
import { iterate, iterateAsync } from './iterating.js';
import {
  type Copied,
  FORM,
  FROM,
  KIND,
  properties,
  type Snapshot,
  type WatchHandle,
  type WatchOptions,
  type WatchStats,
} from './watch-options.js';

/** An iterator that has seen no value yet. */
const NOTHING_SEEN = -1;
/** The bits of the upper half of the version. The sign says that the watch is closed. */
const VERSION_BITS = 0x3fffffff;

const DEFINITION: Definition<typeof KIND, [WatchOptions<never>]> = { kind: KIND, number: KIND_WATCH, properties };

/**
 * The newest value of something: a configuration, a progress, whether to shut down. Any thread sets it, any thread
 * reads it, and threads and promises wait until it changes. Values that a reader has missed are gone.
 *
 * `get` never waits for anybody. `set` waits while another thread sets a value, first come, first served.
 *
 * Source: the watch channel of Rust's tokio, over a register of four places.
 *
 * @example
 * ```ts
 * import { record, Watch } from 'taketurns/channel';
 *
 * const codec = record({ level: 'text20' });
 * const settings = new Watch({ level: 'info' }, { codec }); // threads share it by settings.handle
 * settings.set({ level: 'debug' });
 * console.log(settings.get().level);
 * settings.close();
 * for (const { level } of settings) console.log(level); // the newest, then each change; ends when it is closed
 * ```
 * @since 0.3.0
 */
export class Watch<T = Uint8Array> extends SharedObject<typeof KIND> implements Iterable<T>, AsyncIterable<T> {
  readonly #ends: Endpoints;
  readonly #turn: Endpoint;
  readonly #changes: Endpoint;
  readonly #wire: Wire<T>;
  /** The bytes of a place, without its head. */
  readonly #room: number;
  /** Keeps this object while its promises wait. */
  readonly #keeper = { watch: this as object, [closed](): void {} };

  /**
   * Makes a watch with its first value. Never blocks.
   * @param value the value of version 0.
   * @throws {RangeError | TypeError} for a bad option, or what the codec throws for the value.
   * @throws {ArenaFullError} if the arena has no room for another object, or for the values (`ArenaOptions.bytes`).
   */
  constructor(value: T, options?: WatchOptions<T>);
  /** @internal */
  constructor(value: T | undefined, found: Reference, codec: Codec<T> | undefined, what: string);
  constructor(value: T | undefined, options: WatchOptions<T> | Reference = {}, codec?: Codec<T>, what: string = KIND) {
    const isNew = !(options instanceof Reference);
    const chosen = (isNew ? options?.codec : codec) ?? (bytes as Codec<unknown> as Codec<T>);
    super(KIND, make(DEFINITION, options as WatchOptions<never>));
    const { address, membership } = this[reference];
    const { buffer } = membership.memory as unknown as { readonly buffer: SharedArrayBuffer };
    const views = { u8: new Uint8Array(buffer), f64: new Float64Array(buffer), i32: new Int32Array(buffer) };
    this.#room = roomIn(views.i32.subarray(address / 4));
    this.#wire = wireOf(chosen, views, this.#room, membership);
    try {
      const hasValue = what !== FROM;
      const encoded = hasValue ? this.#wire.encode(value as T) : undefined;
      const prepare = (words: Int32Array, m: number): void => {
        const place = words[(m + P_DATA) / 4] as number;
        words[(place + PLACE_LENGTH) >>> 2] = this.#wire.put(place, encoded);
      };
      this.#ends = endpointsOf(this[reference], FORM, what, hasValue ? prepare : undefined);
      const hash = hashOf(chosen as Codec<never>);
      const agreed = this.#ends.module.agree(address, hash);
      if (agreed !== hash) throw otherCodec(what, this[described](), agreed, chosen);
    } catch (error) {
      this[closed]();
      throw error;
    }
    this.#turn = this.#ends.sending;
    this.#changes = this.#ends.receiving;
  }

  /**
   * Attaches to the watch of a handle, in any thread. Never blocks. The codec is that of the other threads, by default
   * `bytes`.
   * @throws {TypeError} if the value is not the handle of a Watch, or the watch has another codec.
   * @throws {DisposedError} if the watch has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another thread or another attachment.
   * @example const settings = Watch.from(workerData.settings, json); // its `handle`, sent by the other thread
   */
  static from(handle: WatchHandle): Watch;
  static from<T>(handle: WatchHandle, codec: Codec<T>): Watch<T>;
  static from<T>(handle: WatchHandle, codec?: Codec<T>): Watch<T> {
    if (codec !== undefined) checkCodec(FROM, codec);
    return new Watch<T>(undefined, find(DEFINITION, handle), codec, FROM);
  }

  /**
   * Opens the watch of this name, and makes it with this value if there is none. Threads that open a name at the same
   * time get one watch, with the value of one of them. The name goes when no thread has the watch open any more, and no
   * value was ever set. Never blocks.
   * @param name 1 to 116 bytes of UTF-8, well-formed.
   * @param value the value of version 0, if this call makes the watch.
   * @throws {RangeError | TypeError} for a bad name or option, or if the name belongs to another kind of object.
   * @throws {RangeError} if it exists with other `bytes`. The error says which it has, and which were given.
   * @throws {TypeError} if it has another codec, and what the codec throws for the value.
   * @throws {ArenaFullError} if the arena has no room for another object or attachment, or for the values.
   * @example const level = Watch.open('log level', 'info', { codec: text });
   */
  static open(name: string, value: Uint8Array, options?: WatchOptions<Uint8Array>): Watch;
  static open<T>(name: string, value: T, options: WatchOptions<T> & { readonly codec: Codec<T> }): Watch<T>;
  static open<T>(name: string, value: T, options: WatchOptions<T> = {}): Watch<T> {
    const what = `${KIND}.open`;
    return unlessGone(
      () => open(DEFINITION, name, options as WatchOptions<never>),
      (found) => new Watch<T>(value, found, options.codec, what),
    );
  }

  /** As `handle` of every shared object. The watch of a handle lives until a thread disposes of it. */
  override get handle(): WatchHandle {
    const handle = super.handle;
    this.#ends.keep();
    return handle;
  }

  /** The bytes of the largest value. */
  get bytes(): number {
    return this.#room;
  }

  /** The version of the newest value: how many values have been set. */
  get version(): number {
    return this.#version;
  }

  get #version(): number {
    const { words, at } = this.#turn;
    const index = (at + P_NEXT) / 4;
    while (true) {
      const high = Atomics.load(words, index + 1) & VERSION_BITS;
      const low = Atomics.load(words, index) >>> 0;
      if ((Atomics.load(words, index + 1) & VERSION_BITS) === high) return high * 2 ** 32 + low;
    }
  }

  /** Whether the watch is closed or disposed of. */
  get closed(): boolean {
    return this.#isClosed;
  }

  get #isClosed(): boolean {
    const { core, words, at } = this.#turn;
    return this[isOver] || core.isDisposed(at) !== 0 || Atomics.load(words, (at + P_NEXT) / 4 + 1) < 0;
  }

  /** The number of queued requests, of those who set a value and those who wait for one. It is meant for diagnostics. */
  get waiting(): number {
    const { membership, at } = this.#turn;
    return membership.core.waiting(at) + membership.core.waiting(this.#changes.at);
  }

  /**
   * Returns the newest value. Never blocks, also on a closed watch.
   * @throws {DisposedError} if the watch has been disposed of.
   * @throws the errors of the codec.
   * @example const { level } = settings.get();
   */
  get(): T {
    return this.#read().value;
  }

  /**
   * Returns the newest value with its version, for `changed`. Never blocks.
   * @throws what `get` throws.
   * @example const { value, version } = settings.read();
   */
  read(): Snapshot<T> {
    return this.#read();
  }

  #read(): Snapshot<T> {
    this.#checkAlive();
    return this.#decoded(this.#copy());
  }

  /** Copies the newest value out of its place. */
  #copy(): Copied {
    const { at, module } = this.#turn;
    while (true) {
      const version = this.#version;
      const place = this.#placeOf(version);
      const got = this.#wire.get(place, this.#turn.lengthOf(place));
      if (module.isWhole(at, version | 0) !== 0) return { got, version };
      this.#wire.drop?.(got);
    }
  }

  /** Makes the value of its copy. It may run code of the user. */
  #decoded({ got, version }: Copied): Snapshot<T> {
    return { value: this.#wire.decode(got), version };
  }

  /**
   * Sets the value. Blocks the thread while another thread sets one, which takes about as long as to copy the value,
   * unless that thread has called `setAsync` and blocks before its promise is settled.
   * @param options a time-out and a signal; without them the call may take for ever.
   * @throws {ClosedError} if the watch is or becomes closed. Then nothing was set, as after each of these errors.
   * @throws {TimeoutError} when the time-out has passed.
   * @throws the reason of a signal that is aborted already, and the errors of the codec.
   * @throws {RangeError} if the value is larger than `bytes`, or for a bad time-out.
   * @throws {TypeError} if the value cannot travel, for bad options, or if another thread sets a value, on a thread
   * that must not block, such as a browser's main thread.
   * @throws {SelfDeadlockError} if a `setAsync` of this thread waits for its turn: the thread would wait for itself.
   * @throws {ArenaFullError} if the thread has to wait, and the arena has no room for another waiter.
   * @throws {DisposedError} if the watch has been or is being disposed of.
   * @example progress.set(0.5);
   */
  set(value: T, options?: WaitOptions): void {
    const timeout = options === undefined ? Infinity : checkWaitOptions(`${KIND}.set`, options);
    const encoded = this.#wire.encode(value);
    if (this.#hasTurn()) {
      this.#write(encoded);
      return;
    }
    // Other code may run in the wait, such as that of a signal.
    const kept = this.#wire.keep(encoded);
    const left = countdown(timeout);
    this.#turn.checkWait(timeout, left);
    if (this.#turn.shared.promises.first !== 0 || this.#turn.hasGranted)
      throw new SelfDeadlockError(
        `${KIND}.set: a setAsync of this thread waits for its turn, so this thread would wait for itself: await setAsync()`,
      );
    this.#turn.queue(1, timeout, left);
    this.#write(kept);
  }

  /**
   * As `set`, without blocking the thread. The value is encoded in the call, so the caller may change it afterwards.
   * @returns a promise. It rejects with the errors of `set`, and with the reason of the signal when that is aborted.
   * @example await progress.setAsync(0.5, { signal });
   */
  async setAsync(value: T, options: WaitOptions = {}): Promise<void> {
    const timeout = checkWaitOptions(`${KIND}.setAsync`, options);
    checkWaitAsync();
    const encoded = this.#wire.encode(value);
    if (this.#hasTurn()) return this.#write(encoded);
    const kept = this.#wire.keep(encoded);
    const left = countdown(timeout);
    let hasBegun = false;
    await this.#turn.queueAsync(this.#keeper, timeout, left, options.signal, () => {
      // The turn may be over. If it is not, it goes back (Endpoint.expectCut).
      if (hasBegun)
        throw new Error(`${KIND}.setAsync: an exception has cut the setting short: the value may have been set`);
      hasBegun = true;
      this.#write(kept);
    });
  }

  /**
   * Blocks the thread until there is a newer value than that of a version, and returns the newest.
   * @param since a version, 0 or more, as `read` and this method return it. Default: the version at the time of the call.
   * @param options a time-out and a signal; without them the call may take for ever.
   * @throws {ClosedError} if the watch is closed and has no newer value.
   * @throws {TimeoutError} when the time-out has passed.
   * @throws the reason of a signal that is aborted already, and the errors of the codec.
   * @throws {RangeError | TypeError} for a bad version or bad options.
   * @throws {TypeError} on a thread that must not block, such as a browser's main thread.
   * @throws {ArenaFullError} if the thread has to wait, and the arena has no room for another waiter.
   * @throws {DisposedError} if the watch has been or is being disposed of.
   * @example const { value, version } = settings.changed(seen, { timeout: 1000 });
   */
  changed(since: number = this.#version, options?: WaitOptions): Snapshot<T> {
    const what = `${KIND}.changed`;
    checkInteger(`${what}: since`, since, 0, Number.MAX_SAFE_INTEGER);
    return this.#changed(since, options === undefined ? Infinity : checkWaitOptions(what, options));
  }

  #changed(since: number, timeout: number): Snapshot<T> {
    const left = countdown(timeout);
    while (true) {
      const newer = this.#newerThan(since);
      if (newer !== undefined) return this.#decoded(newer);
      this.#changes.checkWait(timeout, left);
      try {
        this.#changes.queue(1, timeout, left, () => this.#version > since);
      } catch (error) {
        // The watch may have been set before it was closed.
        if (!isClosedAt(this.#changes, error)) throw error;
      }
      if (this.#isGone) throw this.#changes.endedError();
    }
  }

  /**
   * As `changed`, without blocking the thread. The process stays alive while the promise waits.
   * @returns a promise. It rejects with the errors of `changed`, and with the reason of the signal when that is aborted.
   * @example const { value, version } = await settings.changedAsync(seen, { signal });
   */
  async changedAsync(since: number = this.#version, options: WaitOptions = {}): Promise<Snapshot<T>> {
    const what = `${KIND}.changedAsync`;
    checkInteger(`${what}: since`, since, 0, Number.MAX_SAFE_INTEGER);
    const timeout = checkWaitOptions(what, options);
    checkWaitAsync();
    return this.#changedAsync(since, timeout, options.signal);
  }

  async #changedAsync(since: number, timeout: number, signal?: WaitOptions['signal']): Promise<Snapshot<T>> {
    const left = countdown(timeout);
    // If another thread has set the watch meanwhile, it may not have seen this promise.
    const stands = (): void => {
      if (this.#version <= since) return;
      this.#wake(this.#ends.module.tell(this.#changes.at));
      this.#changes.settle();
    };
    while (true) {
      const newer = this.#newerThan(since);
      if (newer !== undefined) return this.#decoded(newer);
      try {
        await this.#changes.queueAsync(this.#keeper, timeout, left, signal, () => {}, stands);
      } catch (error) {
        if (!isClosedAt(this.#changes, error)) throw error; // such as the ClosedError of another channel, by the signal
      }
      if (this.#isGone) throw this.#changes.endedError();
    }
  }

  /**
   * Goes through the newest value, and each newer one: `for (const value of watch)`. Blocks the thread while there is
   * none, ends when the watch is closed, and throws what `changed` throws, but no ClosedError.
   * @throws what `changed` throws, but no ClosedError.
   */
  [Symbol.iterator](): IterableIterator<T> {
    let seen = NOTHING_SEEN;
    return iterate(this.#changes, () => {
      const { value, version } = this.#changed(seen, Infinity);
      seen = version;
      return value;
    });
  }

  /**
   * As `for (const value of watch)`, without blocking the thread: `for await (const value of watch)`. Its promises
   * reject as those of `changedAsync` do, but not with ClosedError. Throws nothing.
   */
  [Symbol.asyncIterator](): AsyncIterableIterator<T> {
    let seen = NOTHING_SEEN;
    return iterateAsync(this.#changes, async () => {
      const { value, version } = await this.#changedAsync(seen, Infinity);
      seen = version;
      return value;
    });
  }

  /**
   * Closes the watch: nothing more can be set. Who waits for a newer value gets the end. `get` still returns the newest
   * value. May be called again. Never blocks, throws nothing. On a disposed watch it does nothing.
   * @example settings.close();
   */
  close(): void {
    if (this[isOver]) return;
    this.#ends.module.closeWatch(this.#turn.at);
    this.#changes.finishClose();
  }

  /**
   * Describes the watch by a plain object, for diagnostics. It looks at every waiter of the arena and is racy. Never
   * blocks.
   * @throws {DisposedError} if the watch has been disposed of.
   * @example console.log(settings.inspect().watchers.waiting);
   */
  inspect(): WatchStats {
    this.#checkAlive();
    const { core, membership, at } = this.#turn;
    const { at: m } = this.#changes;
    return {
      version: this.#version,
      bytes: this.#room,
      closed: this.#isClosed,
      writersDied: core.deaths(at),
      writers: conditionStats(membership, at),
      watchers: conditionStats(membership, m),
    };
  }

  /** Returns, for example, `Watch("settings", version 3)`, for diagnostics. Never blocks, throws nothing. */
  override toString(): string {
    const what = this[isOver] ? 'disposed' : `version ${this.#version}${this.#isClosed ? ', closed' : ''}`;
    return `${KIND}(${this[named](', ')}${what})`;
  }

  /** @internal A case of a select: a newer value than that of this version. */
  [changeOf](since: number): Work<Snapshot<T>> {
    const { membership, shared, at } = this.#changes;
    const look = (): Done<Snapshot<T>> | undefined => {
      try {
        const newer = this.#newerThan(since);
        return newer && { read: () => this.#decoded(newer), closed: false };
      } catch (error) {
        if (!(error instanceof ClosedError)) throw error;
        return ENDED;
      }
    };
    const lookAfterWait = (): Done<Snapshot<T>> | undefined =>
      this.#isGone && this.#changes.hasClosed ? ENDED : look();
    return {
      membership,
      shared,
      at,
      permits: 1,
      check() {},
      try: look,
      take: lookAfterWait,
      whenFree: (run) => run(),
      giveBack() {},
      closed: () => lookAfterWait() ?? ENDED,
      isDue: () => this.#version > since,
    };
  }

  /** Returns the newest value if it is newer, and undefined if not. */
  #newerThan(since: number): Copied | undefined {
    this.#checkAlive();
    // In this order: a closed watch gets no newer value.
    const isClosed = this.#isClosed;
    if (this.#version > since) return this.#copy();
    if (isClosed) throw this.#changes.closedError();
    this.#changes.module.settleUp(this.#changes.at);
    return undefined;
  }

  #checkAlive(): void {
    if (this.#isGone) throw this[disposedError]();
  }

  /** Whether a thread has disposed of the watch. */
  get #isGone(): boolean {
    const { core, at } = this.#turn;
    return this[isOver] || core.isDisposed(at) !== 0;
  }

  /** The address of the place of a version. */
  #placeOf(version: number): number {
    const { words, at } = this.#turn;
    return (words[(at + P_DATA) / 4] as number) + (version % PLACES) * (this.#room + PLACE_HEAD);
  }

  /**
   * Takes the turn if it is free. An exception may have ended an earlier call of this thread in its turn. But the turn of
   * a promise is not that of this call.
   */
  #hasTurn(): boolean {
    const { core, words, at, attachment } = this.#turn;
    this.#turn.expectCut();
    const answer = core.tryAcquireRobust(at, 1, attachment);
    if (answer === ANSWER_CLOSED) throw this.#turn.closedError();
    return answer !== REFUSED || (words[(this.#turn.record + E_HELD) / 4] !== 0 && !this.#turn.hasGranted);
  }

  /** Sets the value in the turn of this thread, and gives the turn back. */
  #write(encoded: unknown): void {
    const { at, module } = this.#turn;
    if (at === CLOSED_OBJECT) throw this[disposedError]();
    this.#turn.expectCut();
    const place = this.#placeOf(this.#version + 1);
    module.beginSet();
    this.#turn.setLength(place, this.#wire.put(place, encoded));
    const answer = module.publish(at);
    this.#wake(answer);
    this.#turn.giveBack();
    this.#changes.settle();
    if (answer === ANSWER_CLOSED) throw this.#turn.closedError();
  }

  /** Wakes those who wait for a newer value, after they were admitted, but for promises of this thread. */
  #wake(answer: number): void {
    const { core, module, at } = this.#changes;
    if (answer === MORE || answer === INTERRUPTED) core.finishRelease(at, module.told.value, answer, 0);
  }

  /** @internal */
  protected override [close](): void {
    const { core, at } = this.#turn;
    // If this thread dies midway, its reaper disposes of the other end.
    core.dispose(at);
    core.dispose(this.#changes.at);
  }

  /** @internal */
  protected override [forget](): void {}

  /** @internal */
  protected override [detach](): void {
    this.#ends?.closeAlike();
    super[detach]();
  }
}
