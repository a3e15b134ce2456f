/**
 * Channel is the public face of core/kinds/channel/channel.ts. It checks arguments, moves values by the wire of its
 * codec (codec.ts), and claims, waits and passes by its two ends (end.ts).
 *
 * A channel of numbers sends and receives by one call of the module. The rare cases are in private methods, so that V8
 * can inline the common case into its caller.
 */
import type { Arena } from '../arena.js';
import {
  ADMITTED,
  ANSWER_CLOSED,
  HOLE_MORE,
  KIND_CHANNEL,
  NEXT_CLOSED,
  NEXT_DISPOSED,
  O_THRESHOLD,
  P_DONE,
  P_NEXT,
  P_TOLD,
  P_UNTOLD,
  PLACE_HEAD,
  REFUSED,
} from '../border/numbers.js';
import { bad, checkInteger, checkOptions, DisposedError } from '../errors.js';
import {
  budget,
  checkWaitOptions,
  PARKING,
  type ParkingOptions,
  type Properties,
  USUAL,
  type WaitOptions,
} from '../options.js';
import { find, type Handle, make, open, Reference } from '../reference.js';
import { now } from '../runtime/clock.js';
import { ADAPTIVE } from '../runtime/numbers.js';
import { countdown } from '../runtime/parking.js';
import { closed, DONE } from '../runtime/promises.js';
import { checkWaitAsync } from '../runtime/wait-async.js';
import { close, detach, disposedError, forget, named, reference, SharedObject } from '../shared-object.js';
import { type ConditionStats, conditionStats } from '../stats.js';
import { type Done, type Work, workOf } from './case.js';
import { ClosedError } from './closed-error.js';
import { type Codec, checkCodec, hashOf, type Wire, wireOf } from './codec.js';
import { bytes } from './codecs.js';
import { type End, isPlace } from './end.js';
import { type Ends, endsOf } from './ends.js';
import { Message, Place } from './place.js';

const KIND = 'Channel';
const LINE = 64;
/** Says that a receiver has met a hole. */
const NOTHING = Symbol();
/** How many messages an iterator takes at once, at most. */
const MOST_AHEAD = 64;
/** An iterator takes ahead only as many messages as it uses in about so many milliseconds. */
const AHEAD = 0.1;

/** A plain, structured-cloneable value to send to another thread, for `Channel.from` there. */
export type ChannelHandle = Handle<'Channel'>;

/** The options of a new `Channel`. */
export interface ChannelOptions<T> extends ParkingOptions {
  /** How many messages the channel holds, a power of two from 1 to 65,536. Default 256. */
  readonly capacity?: number;
  /**
   * The bytes of the largest message, 8 to 16,777,216. Default 48. A message with its head of 16 bytes takes whole lines
   * of 64 bytes, so the channel rounds the number up: to 48, 112, 176 and so on.
   */
  readonly bytes?: number;
  /** How values travel. All threads of the channel use codecs of one name. Default `bytes`. */
  readonly codec?: Codec<T>;
  /** The arena of the channel. Default: `Arena.default`. */
  readonly arena?: Arena;
}

/** The requests that wait at one end of a channel. */
export type EndStats = ConditionStats;

/** The answer of `Channel.inspect`. */
export interface ChannelStats {
  /** How many messages the channel holds at most. */
  readonly capacity: number;
  /** The bytes of the largest message. */
  readonly bytes: number;
  /** How many messages are in the channel, ready to be received. Holes count, too. */
  readonly size: number;
  /** Whether the channel is closed. */
  readonly closed: boolean;
  /** Places that nobody has filled, since the channel was made: their senders died, or dropped a `Place`. */
  readonly holes: number;
  /** Messages that were lost with a receiver that had taken them and died, since the channel was made. */
  readonly lost: number;
  /** The senders that wait for a free place. */
  readonly senders: EndStats;
  /** The receivers that wait for a message. */
  readonly receivers: EndStats;
}

/**
 * A bounded queue of messages between threads: many senders, many receivers, each message to one of them. Senders wait
 * while the channel is full, and receivers while it is empty, first come, first served. Blocked threads and promises
 * stand in one queue on each side. Messages come in the order in which their senders got their places.
 *
 * A time-out or an abort loses no message. A closed channel takes no more messages, and hands out those that it has.
 *
 * Source: two semaphores and a ring (Dijkstra, Cooperating Sequential Processes, 1965), with the queue of Dice and Kogan,
 * Semaphores Augmented with a Waiting Array.
 *
 * @example
 * ```ts
 * import { Channel, number } from 'taketurns/channel';
 *
 * const squares = new Channel({ codec: number, capacity: 64 }); // threads share it by squares.handle
 * squares.send(4); // blocks while the channel is full
 * squares.send(9);
 * squares.close();
 * for (const square of squares) console.log(square); // blocks while it is empty, and ends when it is closed
 * ```
 */
export class Channel<T = Uint8Array> extends SharedObject<typeof KIND> implements Iterable<T>, AsyncIterable<T> {
  readonly #ends: Ends;
  readonly #sending: End;
  readonly #receiving: End;
  readonly #wire: Wire<T>;
  readonly #isNumber: boolean;
  /** The bytes of a place, without its head. */
  readonly #room: number;
  readonly #capacity: number;
  /** Keeps this object while its promises wait. */
  readonly #keeper = { channel: this, [closed](): void {} };
  /** How many messages the iterators of this object take at once, and when they have taken some last. */
  #ahead = 1;
  #taken = 0;

  /**
   * A callback for a thread that receives, if senders have died in the middle of a `send`. It gets the number of holes
   * that they have left, of which no thread was told before. The library calls it before `receive` returns. If it
   * throws, the error becomes that of a rejected promise that nobody handles, and the message is received.
   */
  onSenderDied: ((holes: number) => void) | undefined;

  /**
   * A callback for a thread that sends, if receivers have died with messages that they had taken. It gets the number of
   * these messages of which no thread was told before. The library calls it before `send` returns. Errors are handled as
   * those of `onSenderDied`.
   */
  onReceiverDied: ((lost: number) => void) | undefined;

  /**
   * Makes a channel. Never blocks.
   * @throws {RangeError | TypeError} for a bad option.
   * @throws {ArenaFullError} if the arena has no room for another object, or for the messages (`ArenaOptions.bytes`).
   */
  constructor(options?: ChannelOptions<T>);
  /** @internal */
  constructor(found: Reference, codec: Codec<T>, what: string);
  constructor(options: ChannelOptions<T> | Reference = {}, codec?: Codec<T>, what: string = KIND) {
    const isNew = !(options instanceof Reference);
    const chosen = (isNew ? options?.codec : codec) ?? (bytes as Codec<unknown> as Codec<T>);
    super(KIND, isNew ? make(KIND, KIND_CHANNEL, properties(KIND, options), options.arena) : options, 'channel');
    const { address, membership } = this[reference];
    try {
      const ends = endsOf(this[reference]);
      if (ends === undefined) throw new DisposedError(`${what}: the channel has been disposed of`);
      this.#ends = ends;
      const hash = hashOf(chosen as Codec<never>);
      if (ends.module.agree(address, hash) !== hash)
        throw new TypeError(`${what}: the channel has another codec than ${JSON.stringify(chosen.name)}`);
    } catch (error) {
      this[closed]();
      throw error;
    }
    this.#sending = this.#ends.sending;
    this.#receiving = this.#ends.receiving;
    this.#room = (this.#sending.words[(address + O_THRESHOLD) / 4] as number) - PLACE_HEAD;
    this.#capacity = membership.core.initial(address);
    this.#wire = wireOf(chosen, this.#ends.views, this.#room, membership);
    this.#isNumber = this.#wire.isNumber;
  }

  /**
   * Attaches to the channel of a handle, in any thread. Never blocks.
   * @param codec that of the other threads. Default `bytes`.
   * @throws {TypeError} if the value is not the handle of a Channel, or the channel has another codec.
   * @throws {DisposedError} if the channel has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another thread or another attachment.
   * @example const jobs = Channel.from(workerData.jobs, number); // its `handle`, sent by the other thread
   */
  static from(handle: ChannelHandle): Channel;
  static from<T>(handle: ChannelHandle, codec: Codec<T>): Channel<T>;
  static from<T>(handle: ChannelHandle, codec?: Codec<T>): Channel<T> {
    const what = `${KIND}.from`;
    if (codec !== undefined) checkCodec(what, codec);
    return new Channel(find(KIND, KIND_CHANNEL, handle), codec as Codec<T>, what);
  }

  /**
   * Opens the channel of this name, and makes it if there is none. Threads that open a name at the same time get one
   * channel. The name and its channel go when no thread has the channel open any more, and no message is in it. Never
   * blocks.
   * @param name 1 to 116 bytes of UTF-8, well-formed.
   * @throws {RangeError | TypeError} for a bad name or option, or if the name belongs to another kind of object.
   * @throws {RangeError} if it exists with another capacity or other `bytes`.
   * @throws {TypeError} if it has another codec.
   * @throws {ArenaFullError} if the arena has no room for another object or attachment, or for the messages.
   * @example const jobs = Channel.open('jobs', { codec: number });
   */
  static open(name: string, options?: ChannelOptions<Uint8Array>): Channel;
  static open<T>(name: string, options: ChannelOptions<T> & { readonly codec: Codec<T> }): Channel<T>;
  static open<T>(name: string, options: ChannelOptions<T> = {}): Channel<T> {
    const what = `${KIND}.open`;
    const asked = properties(what, options);
    const mismatch = (): Error =>
      new RangeError(
        `${what}: name ${JSON.stringify(name)}: it exists already with another capacity, or other bytes, than ` +
          `${asked.permits} messages of ${(asked.threshold as number) - PLACE_HEAD}`,
      );
    const found = open(KIND, KIND_CHANNEL, name, asked, options.arena, mismatch);
    let channel: Channel<T>;
    try {
      channel = new Channel(found, options.codec as Codec<T>, what);
    } catch (error) {
      // The last thread that had the channel is letting go of the sending end, and has let go of the receiving end.
      if (!(error instanceof DisposedError)) throw error;
      found.membership.core.dispose(found.address);
      return Channel.open(name, options as ChannelOptions<T> & { readonly codec: Codec<T> });
    }
    if (channel.#room + PLACE_HEAD === asked.threshold) return channel;
    channel[closed]();
    throw mismatch();
  }

  /** As `handle` of every shared object. The channel of a handle lives until a thread disposes of it. */
  override get handle(): ChannelHandle {
    const given = super.handle;
    this.#ends.keep();
    return given;
  }

  /** How many messages the channel holds at most. */
  get capacity(): number {
    return this.#capacity;
  }

  /** The bytes of the largest message. */
  get bytes(): number {
    return this.#room;
  }

  /** How many messages are in the channel, ready to be received. It is racy, and meant for diagnostics. */
  get size(): number {
    if (this.disposed) return 0;
    const { words, at } = this.#receiving;
    const next = Atomics.load(words, (at + P_NEXT) / 4);
    return Math.max((Atomics.load(words, (this.#sending.at + P_DONE) / 4) - next) | 0, 0);
  }

  /**
   * The number of queued requests, of senders and receivers, blocked threads and promises alike. It looks at every waiter
   * of the arena and is racy, so it is meant for diagnostics.
   */
  get waiting(): number {
    const { core, at } = this.#sending;
    return core.waiting(at) + core.waiting(this.#receiving.at);
  }

  /** Whether the channel is closed or disposed of. */
  get closed(): boolean {
    const { words, at } = this.#sending;
    return this.disposed || Atomics.load(words, (at + P_NEXT) / 4 + 1) < 0;
  }

  /**
   * Sends a message, and blocks the thread while the channel is full.
   * @param options a time-out and a signal; without them the call may take for ever.
   * @throws {ClosedError} if the channel is or becomes closed. Then nothing was sent, as after each of these errors.
   * @throws {TimeoutError} when the time-out has passed.
   * @throws the reason of a signal that is aborted already, and the errors of the codec.
   * @throws {RangeError} if the message is larger than `bytes`, or for a bad time-out.
   * @throws {TypeError} if the value cannot travel, for bad options, if the thread has a `Place` of this channel, or on
   * a thread that must not block, such as a browser's main thread.
   * @throws {ArenaFullError} if the thread has to wait, and the arena has no room for another waiter.
   * @throws {DisposedError} if the channel has been or is being disposed of.
   * @example channel.send(7, { timeout: 50 });
   */
  send(value: T, options?: WaitOptions): void {
    const end = this.#sending;
    if (this.#isNumber && options === undefined && typeof value === 'number' && end.left === 0) {
      end.f64[end.word] = value;
      const answer = end.module.sendWord(end.at, end.attachment);
      // ADMITTED. V8 would load an imported constant each time.
      if (answer !== 0) this.#sentNumber(value, answer);
    } else this.#sendSo(value, options);
  }

  #sentNumber(value: T, answer: number): void {
    if (answer === REFUSED || answer === ANSWER_CLOSED) this.#sendSo(value, undefined);
    else {
      this.#sending.passed(answer);
      this.#tellSender();
    }
  }

  #sendSo(value: T, options: WaitOptions | undefined): void {
    const timeout = options === undefined ? Infinity : checkWaitOptions(`${KIND}.send`, options);
    const encoded = this.#wire.encode(value);
    const end = this.#free('send');
    const answer = end.tryClaim(1);
    if (answer === REFUSED) {
      // Other code may run in the wait, such as that of a signal.
      const kept = this.#wire.keep(encoded);
      this.#put(end.wait(1, timeout), kept);
    } else if (isPlace(answer)) this.#put(answer, encoded);
    else throw end.closedError();
    this.#tellSender();
  }

  /**
   * Sends a message if the channel is not full and nobody waits. Never blocks.
   * @returns whether it was sent.
   * @throws what `send` throws, but no TimeoutError or ArenaFullError.
   * @example if (!channel.trySend(7)) console.log('full');
   */
  trySend(value: T): boolean {
    const encoded = this.#wire.encode(value);
    const end = this.#free('trySend');
    const answer = end.tryClaim(1);
    if (answer === REFUSED) return false;
    if (!isPlace(answer)) throw end.closedError();
    this.#put(answer, encoded);
    this.#tellSender();
    return true;
  }

  /**
   * As `send`, without blocking the thread. The value is encoded in the call, so the caller may change it afterwards.
   * The process stays alive while the promise waits.
   * @returns a promise. It rejects with the errors of `send`, and with the reason of the signal when that is aborted.
   * @example await channel.sendAsync(7, { signal });
   */
  sendAsync(value: T, options: WaitOptions = {}): Promise<void> {
    try {
      const timeout = checkWaitOptions(`${KIND}.sendAsync`, options);
      checkWaitAsync();
      const encoded = this.#wire.encode(value);
      const end = this.#sending;
      const answer = end.isFree ? end.tryClaim(1) : REFUSED;
      if (isPlace(answer)) {
        this.#put(answer, encoded);
        this.#tellSender();
        return DONE;
      }
      if (answer === ANSWER_CLOSED) throw end.closedError();
      const kept = this.#wire.keep(encoded);
      return end.claimAsync(this.#keeper, 1, timeout, countdown(timeout), options.signal, (place) => {
        this.#put(place, kept);
        this.#tellSender();
      });
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * Sends several messages side by side, in one turn: no other message comes between them. Blocks the thread until the
   * channel has room for all of them.
   * @param values at most `capacity` of them.
   * @throws what `send` throws. Then none of them was sent.
   * @throws {RangeError} if there are more than `capacity`.
   * @example channel.sendMany([1, 2, 3]);
   */
  sendMany(values: readonly T[], options?: WaitOptions): void {
    const what = `${KIND}.sendMany`;
    const timeout = options === undefined ? Infinity : checkWaitOptions(what, options);
    if (!Array.isArray(values)) throw bad('', `${what}: values`, 'an array', values);
    if (values.length > this.#capacity)
      throw new RangeError(`${what}: values must be at most ${this.#capacity} (the capacity), got ${values.length}`);
    const encoded = Array.from(values, (value) => this.#wire.keep(this.#wire.encode(value)));
    const end = this.#free('sendMany');
    if (encoded.length === 0) return;
    let place = end.wait(encoded.length, timeout);
    for (const one of encoded) {
      end.setLength(place, this.#wire.put(place, one));
      place = end.after(place);
    }
    end.pass();
    this.#tellSender();
  }

  /**
   * Receives a message, and blocks the thread while the channel is empty.
   * @param options a time-out and a signal; without them the call may take for ever.
   * @throws {ClosedError} if the channel is closed and every message has been received.
   * @throws {TimeoutError} when the time-out has passed. No message was taken.
   * @throws the reason of a signal that is aborted already, and the errors of the codec. If the codec throws, its
   * message is gone.
   * @throws {RangeError | TypeError} for bad options.
   * @throws {TypeError} if the thread has a `Message` of this channel, or on a thread that must not block, such as a
   * browser's main thread.
   * @throws {ArenaFullError} if the thread has to wait, and the arena has no room for another waiter.
   * @throws {DisposedError} if the channel has been or is being disposed of.
   * @example const value = channel.receive({ timeout: 50 });
   */
  receive(options?: WaitOptions): T {
    const end = this.#receiving;
    if (this.#isNumber && options === undefined && end.left === 0) {
      const answer = end.module.takeWord(end.at, end.attachment);
      const value = end.f64[end.word];
      return answer === 0 ? (value as T) : this.#receivedNumber(value, answer);
    }
    return this.#receiveSo(options);
  }

  #receivedNumber(value: unknown, answer: number): T {
    if (answer === REFUSED || answer === ANSWER_CLOSED) return this.#receiveSo(undefined);
    const isHole = answer >= HOLE_MORE;
    const passed = isHole ? answer - HOLE_MORE : answer;
    if (passed !== ADMITTED) this.#receiving.passed(passed);
    if (isHole) return this.receive();
    this.#tellReceiver();
    return value as T;
  }

  #receiveSo(options: WaitOptions | undefined): T {
    const timeout = options === undefined ? Infinity : checkWaitOptions(`${KIND}.receive`, options);
    const left = countdown(timeout);
    while (true) {
      const end = this.#claimed('receive', 1) ?? this.#waitForMessage(timeout, left);
      const got = this.#use(end);
      if (got !== NOTHING) return this.#received(got);
    }
  }

  /** Waits for a message, and claims its place. */
  #waitForMessage(timeout: number, left?: () => number): End {
    const end = this.#receiving;
    end.hold(end.wait(1, timeout, left));
    return end;
  }

  /**
   * Receives a message if one is there and nobody waits. Never blocks.
   * @returns the message as `value`, or undefined.
   * @throws what `receive` throws, but no TimeoutError or ArenaFullError.
   * @example const next = channel.tryReceive();
   */
  tryReceive(): { readonly value: T } | undefined {
    while (true) {
      const end = this.#claimed('tryReceive', 1);
      if (end === undefined) return undefined;
      const got = this.#use(end);
      if (got !== NOTHING) return { value: this.#received(got) };
    }
  }

  /**
   * As `receive`, without blocking the thread. The process stays alive while the promise waits.
   * @returns a promise. It rejects with the errors of `receive`, and with the reason of the signal when that is aborted.
   * A promise that is rejected has taken no message, unless the codec throws.
   * @example const value = await channel.receiveAsync({ signal });
   */
  async receiveAsync(options: WaitOptions = {}): Promise<T> {
    const timeout = checkWaitOptions(`${KIND}.receiveAsync`, options);
    checkWaitAsync();
    const left = countdown(timeout);
    while (true) {
      const { isFree, isOut, left: ahead } = this.#receiving;
      const end = isFree || (ahead > 0 && !isOut) ? this.#claimed('receiveAsync', 1) : undefined;
      if (end !== undefined) {
        const got = this.#use(end);
        if (got !== NOTHING) return this.#received(got);
      } else {
        const got = await this.#receiving.claimAsync(this.#keeper, 1, timeout, left, options.signal, (place) => {
          this.#receiving.hold(place);
          const got = this.#use(this.#receiving);
          return got === NOTHING ? NONE : { value: this.#received(got) };
        });
        if (got !== NONE) return (got as { readonly value: T }).value;
      }
    }
  }

  /**
   * Receives the messages that are there, 1 to `most` of them. Blocks the thread while the channel is empty: it waits for
   * the first alone.
   * @param most 1 to 65,536.
   * @throws what `receive` throws. If the codec throws, the messages that come before are lost, too.
   * @throws {RangeError | TypeError} for a bad number.
   * @example const some = channel.receiveMany(100);
   */
  receiveMany(most: number, options?: WaitOptions): T[] {
    const what = `${KIND}.receiveMany`;
    const MOST = 65536;
    checkInteger(`${what}: most`, most, 1, MOST);
    const timeout = options === undefined ? Infinity : checkWaitOptions(what, options);
    const left = countdown(timeout);
    const all: unknown[] = [];
    while (all.length < most) {
      const isFirst = all.length === 0;
      if (!isFirst && !this.#hasMore(most - all.length)) break;
      const end = this.#claimed('receiveMany', most) ?? this.#waitForMessage(timeout, left);
      for (let n = Math.min(end.left, most - all.length); n > 0; n--) {
        const got = this.#use(end);
        if (got !== NOTHING) all.push(this.#wire.decode(got));
      }
    }
    this.#tellReceiver();
    return all as T[];
  }

  /**
   * Receives until the channel is closed and empty: `for (const value of channel)`. Blocks the thread while the channel
   * is empty, and throws what `receive` throws, but no ClosedError.
   *
   * A fast loop takes up to 64 messages ahead, as many as it uses in a tenth of a millisecond. If it ends early, the next
   * `receive` of this thread gets those that are left. If the thread dies, they count as lost.
   */
  [Symbol.iterator](): IterableIterator<T> {
    return {
      next: (): IteratorResult<T> => {
        while (true) {
          try {
            const end = this.#claimed('[Symbol.iterator]', this.#batch()) ?? this.#waitForMessage(Infinity);
            if (this.#taken === 0) this.#taken = now();
            const got = this.#use(end);
            if (got !== NOTHING) return { value: this.#received(got), done: false };
          } catch (error) {
            if (error instanceof ClosedError) return { value: undefined, done: true };
            throw error;
          }
        }
      },
      [Symbol.iterator]() {
        return this;
      },
    };
  }

  /** As `for (const value of channel)`, without blocking the thread: `for await (const value of channel)`. */
  [Symbol.asyncIterator](): AsyncIterableIterator<T> {
    return {
      next: async (): Promise<IteratorResult<T>> => {
        try {
          return { value: await this.receiveAsync(), done: false };
        } catch (error) {
          if (error instanceof ClosedError) return { value: undefined, done: true };
          throw error;
        }
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  /** Returns how many messages an iterator takes at once now. */
  #batch(): number {
    if (this.#receiving.left > 0) return 1;
    if (this.#taken > 0) {
      const isFast = now() - this.#taken < AHEAD;
      this.#ahead = isFast ? Math.min(2 * this.#ahead, MOST_AHEAD) : 1;
      this.#taken = 0;
    }
    return this.#ahead;
  }

  /**
   * Reserves a place, in which the caller writes the message without a copy. Blocks the thread while the channel is full.
   * A thread has one place of a channel at a time.
   * @throws what `send` throws.
   * @example using place = channel.reserve();
   */
  reserve(options?: WaitOptions): Place {
    const timeout = options === undefined ? Infinity : checkWaitOptions(`${KIND}.reserve`, options);
    const end = this.#free('reserve');
    const answer = end.tryClaim(1);
    if (answer === ANSWER_CLOSED) throw end.closedError();
    end.hold(isPlace(answer) ? answer : end.wait(1, timeout));
    return new Place(this.#ends, end.next, this.#room);
  }

  /**
   * Takes a message without a copy. Blocks the thread while the channel is empty. A thread has one such message of a
   * channel at a time.
   * @throws what `receive` throws.
   * @example using message = channel.take();
   */
  take(options?: WaitOptions): Message {
    const timeout = options === undefined ? Infinity : checkWaitOptions(`${KIND}.take`, options);
    const left = countdown(timeout);
    while (true) {
      const end = this.#claimed('take', 1) ?? this.#waitForMessage(timeout, left);
      const length = end.lengthOf(end.next);
      if (length >= 0) return new Message(this.#ends, end.next, length);
      end.used();
    }
  }

  /**
   * Closes the channel: nothing more can be sent. Senders that wait get a ClosedError. Receivers get the messages that
   * are there, and those whose senders have their places, and then the end. May be called again. Never blocks, throws
   * nothing. On a disposed channel it does nothing.
   * @example channel.close();
   */
  close(): void {
    if (this.disposed) return;
    const { module } = this.#ends;
    module.close(this.#sending.at, BigInt(NEXT_CLOSED));
    this.#receiving.finishClose();
  }

  /**
   * Describes the channel by a plain object, for diagnostics. It looks at every waiter of the arena and is racy. Never
   * blocks.
   * @throws {DisposedError} if the channel has been disposed of.
   * @example console.log(channel.inspect().receivers.waiting);
   */
  inspect(): ChannelStats {
    if (this.disposed) throw this[disposedError]();
    const { core, words, at: f } = this.#sending;
    const { at: m } = this.#receiving;
    const sum = (end: number): number =>
      (words[(end + P_TOLD) / 4] as number) + (words[(end + P_UNTOLD) / 4] as number);
    return {
      capacity: this.#capacity,
      bytes: this.#room,
      size: this.size,
      closed: this.closed,
      holes: sum(m),
      lost: sum(f),
      senders: conditionStats(core, f, core.waiting(f)),
      receivers: conditionStats(core, m, core.waiting(m)),
    };
  }

  /** Returns, for example, `Channel("jobs", 3 of 256)`, for diagnostics. Never blocks, throws nothing. */
  override toString(): string {
    const what = this.disposed ? 'disposed' : `${this.size} of ${this.#capacity}${this.closed ? ', closed' : ''}`;
    return `${KIND}(${this[named](', ')}${what})`;
  }

  /** Returns the sending end, at which the thread may claim. */
  #free(method: string): End {
    const end = this.#sending;
    if (end.left === 0) return end;
    throw new TypeError(
      `${KIND}.${method}: this thread has reserved a place of the channel: commit or dispose of it first`,
    );
  }

  /**
   * Returns the receiving end if the thread has claimed messages, `most` at most if it had none before. Undefined if
   * none is there.
   */
  #claimed(method: string, most: number): End | undefined {
    const end = this.#receiving;
    if (end.isOut)
      throw new TypeError(`${KIND}.${method}: this thread has taken a message of the channel: dispose of it first`);
    if (end.left > 0) return end;
    const answer = end.tryClaim(most);
    if (answer === REFUSED) return undefined;
    if (!isPlace(answer)) throw end.closedError();
    end.hold(answer);
    return end;
  }

  /** Claims messages if any is there, `most` at most. Throws nothing, also if the channel has ended meanwhile. */
  #hasMore(most: number): boolean {
    const end = this.#receiving;
    if (end.left > 0) return true;
    const answer = end.tryClaim(most);
    if (isPlace(answer)) end.hold(answer);
    return isPlace(answer);
  }

  /** Writes a message to a place that the thread has claimed alone, and passes it on. */
  #put(place: number, encoded: unknown): void {
    const end = this.#sending;
    end.setLength(place, this.#wire.put(place, encoded));
    end.pass();
  }

  /** Copies the first claimed message out of its place, and is done with the place. */
  #use(end: End): unknown {
    const length = end.lengthOf(end.next);
    const got = length < 0 ? NOTHING : this.#wire.get(end.next, length);
    end.used();
    return got;
  }

  #received(got: unknown): T {
    const value = this.#wire.decode(got);
    this.#tellReceiver();
    return value;
  }

  #tellSender(): void {
    if (this.onReceiverDied !== undefined) tell(this.#sending, this.onReceiverDied);
  }

  #tellReceiver(): void {
    if (this.onSenderDied !== undefined) tell(this.#receiving, this.onSenderDied);
  }

  /** @internal A case of a select: to send this value, or to receive. */
  [workOf](sent: { readonly value: T } | undefined): Work<T> {
    const end = sent === undefined ? this.#receiving : this.#sending;
    const { membership, shared, at, attachment } = end;
    const encoded = sent && this.#wire.keep(this.#wire.encode(sent.value));
    const received = (got: unknown): Done<T> | undefined =>
      got === NOTHING ? undefined : { value: this.#received(got), closed: false };
    const put = (place: number): Done<T> => {
      this.#put(place, encoded);
      this.#tellSender();
      return { value: undefined, closed: false };
    };
    const take = (place: number): Done<T> | undefined => {
      if (sent !== undefined) return put(place);
      end.hold(place);
      return received(this.#use(end));
    };
    const ended = (): Done<T> => {
      const error = end.closedError();
      if (sent !== undefined || !(error instanceof ClosedError)) throw error;
      return { value: undefined, closed: true };
    };
    return {
      membership,
      shared,
      at,
      permits: 1,
      countedBy: attachment,
      check: () => {
        if (end.isOut) throw new TypeError(`${KIND}: this thread uses a place of the channel: end its scope first`);
      },
      try: () => {
        while (true) {
          if (end.left > 0) {
            const done = received(this.#use(end));
            if (done) return done;
            continue;
          }
          const answer = end.tryClaim(1);
          if (answer === REFUSED) return undefined;
          if (!isPlace(answer)) return ended();
          const done = take(answer);
          if (done) return done;
        }
      },
      take: () => take(end.claim(1)),
      whenFree: (run) => end.whenFree(run),
      giveBack: () => end.giveBack(),
      closed: ended,
    };
  }

  /** @internal */
  protected override [close](): void {
    const { core, at } = this.#sending;
    // If this thread dies midway, its reaper ends the waits of a closed channel.
    this.#ends.module.close(at, BigInt(NEXT_DISPOSED));
    core.dispose(at);
    core.dispose(this.#receiving.at);
  }

  /** @internal */
  protected override [forget](): void {}

  /** @internal */
  protected override [detach](): void {
    super[detach]();
    // Other library objects of the thread may go on with the channel.
    if (this.#ends?.sending.shared.heldBy.size === 0) this.#ends.letGo();
  }
}

const NONE = Symbol();

function tell(end: End, callback: (count: number) => void): void {
  if (!end.hasNews) return;
  const count = end.takeNews();
  if (count === 0) return;
  try {
    callback(count);
  } catch (error) {
    Promise.reject(error);
  }
}

function properties<T>(what: string, options: ChannelOptions<T>): Properties {
  checkOptions(what, options, ['capacity', 'bytes', 'codec', ...USUAL]);
  const { capacity = 256, bytes: most = 48, codec } = options;
  const MOST_MESSAGES = 65536;
  const LEAST_BYTES = 8;
  const MOST_BYTES = 2 ** 24;
  checkInteger(`${what}: capacity`, capacity, 1, MOST_MESSAGES);
  if (capacity & (capacity - 1))
    throw bad('number', `${what}: capacity`, `a power of two from 1 to ${MOST_MESSAGES}`, capacity);
  checkInteger(`${what}: bytes`, most, LEAST_BYTES, MOST_BYTES);
  if (codec !== undefined) checkCodec(what, codec);
  return {
    permits: capacity,
    max: capacity - 1,
    spin: budget(what, options, ADAPTIVE, PARKING),
    robust: true,
    threshold: (most + PLACE_HEAD + LINE - 1) & -LINE,
  };
}
