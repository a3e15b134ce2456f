/**
 * Channel is the public face of core/kinds/channel/channel.ts, where the algorithm, its invariant and its proof are.
 * endpoint.ts has what this thread does with one end: it claims places, waits for them and passes them on. codec.ts
 * turns values into bytes and back. This file puts the three together:
 *
 *     send       encode ──► claim a place ──► write the message ──► pass the place on ──► tell of deaths
 *     receive    claim a place ──► copy the message ──► pass the place on ──► decode ──► tell of deaths ──► handed
 *     reserve    claim a place, and lend it to the caller (Place), who writes and passes it on
 *     take       claim a place, and lend it to the caller (Message), who reads and passes it on
 *
 * A message, as a thread that receives it sees it:
 *
 *     claimed ──pass──► unread ──handed──► received
 *        └──► it is a hole: its sender has died, or has not filled its Place. The thread claims the next place
 *
 * Invariant: a place that this thread has claimed is passed on before the call returns, and before any code of the user
 * runs: that of codecs, callbacks and signals. Only a `Place` or a `Message` outlasts its call, and while one of them
 * is in use, this thread claims nothing else at that end.
 *
 * Why this is right: what the thread has claimed is one record of its attachment, so two claims at a time would
 * overwrite each other. Codecs run before the claim and after the pass. So a codec may use the channel, be slow or
 * throw, and nobody waits for it. If it throws in `encode`, nothing was claimed. If it throws in `decode`, only the
 * messages of this call are gone. An exception between the claim and the pass cuts the call, which endpoint.ts then
 * ends.
 *
 * `send` and `receive` of numbers have a shortcut: one call of the core claims, writes or copies, and passes on.
 */
import {
  ADMITTED,
  ANSWER_CLOSED,
  CUT_SHORT,
  HOLE_MORE,
  KIND_CHANNEL,
  KIND_RECEIVING_END,
  P_DONE,
  P_NEXT,
  P_SENDERS,
  P_TOLD,
  P_UNTOLD,
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
import { bad, ClosedError, checkInteger, described } from '../runtime/errors.js';
import { countdown } from '../runtime/parking.js';
import { closed, DONE } from '../runtime/promises.js';
import { type Done, ENDED, type Work, workOf } from './case.js';
import { type ChannelHandle, type ChannelOptions, type ChannelStats, KIND, properties } from './channel-options.js';
import { type Codec, checkCodec, hashOf, otherCodec, roomIn, type Wire, wireOf } from './codec.js';
import { bytes } from './codecs.js';
import { type Endpoint, isPlace } from './endpoint.js';
import { type Endpoints, endpointsOf, type Form, unlessGone } from './endpoints.js';
import { iterate, iterateAsync } from './iterating.js';
import { Message, Place } from './place.js';
import { Sender } from './sender.js';

const FORM: Form = {
  kind: 'ReceivingEnd',
  kindNumber: KIND_RECEIVING_END,
  sending: {
    isSending: true,
    thing: 'channel',
    wanted: 'a free place in',
    instead: 'sendAsync or trySend',
    closed: '',
  },
  receiving: {
    isSending: false,
    thing: 'channel',
    wanted: 'a message of',
    instead: 'receiveAsync or tryReceive',
    closed: ', and every message has been received',
  },
};
/** Says that a receiver has met a hole. */
const NOTHING = Symbol();
const DEFINITION: Definition<typeof KIND, [ChannelOptions<never>]> = { kind: KIND, number: KIND_CHANNEL, properties };
const ends = Symbol();

/**
 * A loop over batches whose last batch was not full waits for so many pauses, some 0.4 microseconds, before it looks
 * again. Otherwise it would take each message as soon as it is there. The two threads would then write to the same
 * lines for every message, which takes longer than the message itself.
 */
const REST = 32;

/** A message that `tryReceive` has received. */
export interface Received<T> {
  /** The message. */
  readonly value: T;
}

/** What `batches` returns: `for` and `for await` go through the batches. */
export type Batches<T> = Iterable<T[]> & AsyncIterable<T[]>;

/**
 * A bounded queue of messages between threads: many senders, many receivers, each message to one of them. Senders wait
 * while the channel is full, and receivers while it is empty, first come, first served. Blocked threads and promises
 * stand in one queue on each side. Messages come in the order in which their senders got their places.
 *
 * A time-out or an abort loses no message. A closed channel takes no more messages, and hands out those that it has.
 *
 * Source: two semaphores and a ring (Dijkstra, Cooperating Sequential Processes, 1965), with the queue of Dice and
 * Kogan, Semaphores Augmented with a Waiting Array.
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
 * @since 0.3.0
 */
export class Channel<T = Uint8Array> extends SharedObject<typeof KIND> implements Iterable<T>, AsyncIterable<T> {
  /** @internal Tests look at the ends, so they have a symbol and are not private. */
  readonly [ends]: Endpoints;
  readonly #sending: Endpoint;
  readonly #receiving: Endpoint;
  readonly #wire: Wire<T>;
  readonly #isNumber: boolean;
  /** The bytes of a place, without its head. */
  readonly #room: number;
  readonly #places: number;
  /** Keeps this object while its promises wait. */
  readonly #keeper: { readonly channel: object; [closed](): void } = { channel: this, [closed]() {} };

  /**
   * A callback for a thread that receives, if senders have died in the middle of a `send`. It gets the number of holes
   * that they have left, of which no thread was told before. The library calls it before `receive` returns. If it
   * throws, the error becomes that of a rejected promise that nobody handles, and the message is received.
   */
  onSenderDied: ((holes: number) => void) | undefined;

  /**
   * A callback for a thread that sends, if receivers have died with messages that they had taken. It gets the number of
   * these messages of which no thread was told before. The library calls it before `send` returns. Errors are handled
   * as those of `onSenderDied`.
   */
  onReceiverDied: ((lost: number) => void) | undefined;

  /**
   * Makes a channel. Never blocks.
   * @throws {RangeError | TypeError} for a bad option.
   * @throws {ArenaFullError} if the arena has no room for another object, or for the messages (`ArenaOptions.bytes`).
   */
  constructor(options?: ChannelOptions<T>);
  /** @internal */
  constructor(found: Reference, codec: Codec<T>, what: string, senders?: number);
  constructor(options: ChannelOptions<T> | Reference = {}, codec?: Codec<T>, what: string = KIND, senders?: number) {
    const isNew = !(options instanceof Reference);
    const chosen = (isNew ? options?.codec : codec) ?? (bytes as Codec<unknown> as Codec<T>);
    super(KIND, make(DEFINITION, options as ChannelOptions<never>));
    const { address, membership } = this[reference];
    try {
      this[ends] = endpointsOf(this[reference], FORM, what, (words, m) => {
        words[(m + P_SENDERS) / 4] = (isNew ? options.senders : senders) ?? 0;
      });
      const hash = hashOf(chosen as Codec<never>);
      const agreed = this[ends].module.agree(address, hash);
      if (agreed !== hash) throw otherCodec(what, this[described](), agreed, chosen);
    } catch (error) {
      this[closed]();
      throw error;
    }
    this.#sending = this[ends].sending;
    this.#receiving = this[ends].receiving;
    this.#room = roomIn(this.#sending.words.subarray(address / 4));
    this.#places = membership.core.initial(address);
    this.#wire = wireOf(chosen, this[ends].views, this.#room, membership);
    this.#isNumber = this.#wire.isNumber;
  }

  /**
   * Attaches to the channel of a handle, in any thread. Never blocks. The codec is that of the other threads, by
   * default `bytes`.
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
    return new Channel(find(DEFINITION, handle), codec as Codec<T>, what);
  }

  /**
   * Opens the channel of this name, and makes it if there is none. Threads that open a name at the same time get one
   * channel. The `senders` are those that the thread has given which makes it. The name and its channel go when no
   * thread has the channel open any more, and no message is in it. Never blocks.
   * @param name 1 to 116 bytes of UTF-8, well-formed.
   * @throws {RangeError | TypeError} for a bad name or option, or if the name belongs to another kind of object.
   * @throws {RangeError} if it exists with another capacity or other `bytes`. The error says which it has.
   * @throws {TypeError} if it has another codec.
   * @throws {ArenaFullError} if the arena has no room for another object or attachment, or for the messages.
   * @example const jobs = Channel.open('jobs', { codec: number });
   */
  static open(name: string, options?: ChannelOptions<Uint8Array>): Channel;
  static open<T>(name: string, options: ChannelOptions<T> & { readonly codec: Codec<T> }): Channel<T>;
  static open<T>(name: string, options: ChannelOptions<T> = {}): Channel<T> {
    const what = `${KIND}.open`;
    return unlessGone(
      () => open(DEFINITION, name, options as ChannelOptions<never>),
      (found) => new Channel(found, options.codec as Codec<T>, what, options.senders),
    );
  }

  /** As `handle` of every shared object. The channel of a handle lives until a thread disposes of it. */
  override get handle(): ChannelHandle {
    const handle = super.handle;
    this[ends].keep();
    return handle;
  }

  /** How many messages the channel holds at most. */
  get capacity(): number {
    return this.#places;
  }

  /** The bytes of the largest message. */
  get bytes(): number {
    return this.#room;
  }

  /** How many messages are in the channel, ready to be received. It is racy, and meant for diagnostics. */
  get size(): number {
    return this.#size;
  }

  get #size(): number {
    if (this[isOver]) return 0;
    const { words, at } = this.#receiving;
    const next = Atomics.load(words, (at + P_NEXT) / 4);
    return Math.max((Atomics.load(words, (this.#sending.at + P_DONE) / 4) - next) | 0, 0);
  }

  /**
   * The number of queued requests, of senders and receivers, blocked threads and promises alike. It looks at every
   * waiter of the arena and is racy, so it is meant for diagnostics.
   */
  get waiting(): number {
    const { membership, at } = this.#sending;
    return membership.core.waiting(at) + membership.core.waiting(this.#receiving.at);
  }

  /** Whether the channel is closed or disposed of. */
  get closed(): boolean {
    return this.#isClosed;
  }

  get #isClosed(): boolean {
    return this[isOver] || this[ends].isClosed;
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
    if (this.#isNumber && options === undefined && typeof value === 'number' && end.isIdle) {
      end.expectCut();
      end.f64[end.word] = value;
      const answer = end.module.sendWord(end.at, end.attachment);
      // ADMITTED. V8 would load an imported constant each time.
      if (answer !== 0) this.#sentNumber(value, answer);
    } else this.#sendSo(value, options);
  }

  #sentNumber(value: T, answer: number): void {
    if (answer === REFUSED || answer === ANSWER_CLOSED || answer === CUT_SHORT) this.#sendSo(value, undefined);
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
   * While the thread has a `Place` of this channel, the promise waits. The process stays alive while the promise waits.
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
      const put = (place: number): void => {
        this.#put(place, kept);
        if (this.onReceiverDied !== undefined) Promise.resolve().then(() => this.#tellSender());
      };
      const again = (): void => {
        throw new Error(`${KIND}.sendAsync: an exception has cut the sending short: the message may have been sent`);
      };
      return end.claimAsync(this.#keeper, timeout, countdown(timeout), options.signal, put, again);
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
    // Before the copy: an array may be longer than the memory.
    if (values.length > this.#places)
      throw new RangeError(`${what}: values must be at most ${this.#places} (the capacity), got ${values.length}`);
    // The code of the codec may change the array.
    const all: T[] = [];
    for (let i = 0, { length } = values; i < length; i++) all.push(values[i] as T);
    const encoded = all.map((value) => this.#wire.keep(this.#wire.encode(value)));
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
   * Reserves a place, in which the caller writes the message without a copy. Blocks the thread while the channel is
   * full. A thread has one place of a channel at a time.
   * @throws what `send` throws.
   * @example using place = channel.reserve();
   */
  reserve(options?: WaitOptions): Place {
    const timeout = options === undefined ? Infinity : checkWaitOptions(`${KIND}.reserve`, options);
    const end = this.#free('reserve');
    const answer = end.tryClaim(1);
    if (answer === ANSWER_CLOSED) throw end.closedError();
    const place = isPlace(answer) ? answer : end.wait(1, timeout);
    return new Place(this, this[ends], place, this.#room);
  }

  /** Returns the sending end, at which the thread may claim. */
  #free(method: string): Endpoint {
    const end = this.#sending;
    if (!end.isOut) return end;
    throw new TypeError(
      `${KIND}.${method}: this thread has reserved a place of the channel: commit or dispose of it first`,
    );
  }

  /** Writes a message to a place that the thread has claimed alone, and passes it on. */
  #put(place: number, encoded: unknown): void {
    const end = this.#sending;
    end.setLength(place, this.#wire.put(place, encoded));
    end.pass();
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
    if (this.#isNumber && options === undefined && end.isIdle) {
      end.expectCut();
      const answer = end.module.takeWord(end.at, end.attachment);
      const value = end.f64[end.word];
      return answer === 0 ? (value as T) : this.#receivedNumber(value, answer);
    }
    if (options === undefined && !end.isOut) {
      const place = end.tryClaim(1);
      if (isPlace(place)) {
        const got = this.#copyOut(place);
        if (got !== NOTHING) return this.#read(got);
      }
    }
    return this.#receiveSo(options);
  }

  #receivedNumber(value: unknown, answer: number): T {
    if (answer === REFUSED || answer === ANSWER_CLOSED || answer === CUT_SHORT) return this.#receiveSo(undefined);
    const isHole = answer >= HOLE_MORE;
    const passed = isHole ? answer - HOLE_MORE : answer;
    if (passed !== ADMITTED) this.#receiving.passed(passed);
    // Thousands of holes may follow each other, so this is no call of `receive`.
    if (isHole) return this.#receiveSo(undefined);
    this.#tellReceiver();
    this.#receiving.handed(1);
    return value as T;
  }

  #receiveSo(options: WaitOptions | undefined): T {
    const timeout = options === undefined ? Infinity : checkWaitOptions(`${KIND}.receive`, options);
    const left = countdown(timeout);
    while (true) {
      const place = this.#claim('receive', 1) ?? this.#receiving.wait(1, timeout, left);
      const got = this.#copyOut(place);
      if (got !== NOTHING) return this.#read(got);
    }
  }

  /**
   * Receives a message if one is there and nobody waits. Never blocks.
   * @returns the message as `value`, or undefined.
   * @throws what `receive` throws, but no TimeoutError or ArenaFullError.
   * @example const next = channel.tryReceive();
   */
  tryReceive(): Received<T> | undefined {
    while (true) {
      const place = this.#claim('tryReceive', 1);
      if (place === undefined) return undefined;
      const got = this.#copyOut(place);
      if (got !== NOTHING) return { value: this.#read(got) };
    }
  }

  /**
   * As `receive`, without blocking the thread. While the thread has a `Message` of this channel, the promise waits. The
   * process stays alive while the promise waits.
   * @returns a promise. It rejects with the errors of `receive`, and with the reason of the signal when that is
   * aborted. A promise that is rejected has taken no message, unless the codec throws.
   * @example const value = await channel.receiveAsync({ signal });
   */
  receiveAsync(options: WaitOptions = {}): Promise<T> {
    return this.#receiveAsync(options);
  }

  async #receiveAsync(options: WaitOptions): Promise<T> {
    const timeout = checkWaitOptions(`${KIND}.receiveAsync`, options);
    checkWaitAsync();
    const left = countdown(timeout);
    const end = this.#receiving;
    while (true) {
      const place = end.isFree ? this.#claim('receiveAsync', 1) : undefined;
      if (place !== undefined) {
        const got = this.#copyOut(place);
        if (got !== NOTHING) return this.#read(got);
        continue;
      }
      let taken = 0;
      let isAwaited = false;
      const copy = (at: number): unknown => {
        const got = this.#copyOut(at);
        if (got !== NOTHING) {
          taken = 1;
          if (isAwaited) end.inTransit++;
        }
        return got;
      };
      // If an exception has cut `copy` short, the promise waits for another message, as after a hole.
      const claimed = end.claimAsync(this.#keeper, timeout, left, options.signal, copy, () => NOTHING);
      // Until here an exception may end this call, and then nobody gets what it has taken. No call comes from here on.
      isAwaited = true;
      end.inTransit += taken;
      let got: unknown;
      try {
        got = await claimed;
      } finally {
        end.inTransit -= taken;
      }
      if (got === NOTHING) continue;
      // Only now may code of the user run.
      return this.#read(got);
    }
  }

  /**
   * Receives the messages that are there, 1 to `most` of them. Blocks the thread while the channel is empty: it waits
   * for the first alone.
   * @param most 1 to 65,536.
   * @throws what `receive` throws. If the codec throws for one of them, all of them are gone.
   * @throws {RangeError | TypeError} for a bad number.
   * @example const some = channel.receiveMany(100);
   */
  receiveMany(most: number, options?: WaitOptions): T[] {
    return this.#receiveMany(most, options);
  }

  #receiveMany(most: number, options: WaitOptions | undefined): T[] {
    const timeout = checkMany('receiveMany', most, options);
    const left = countdown(timeout);
    const all: unknown[] = [];
    while (all.length === 0)
      this.#copyAll(this.#claim('receiveMany', most) ?? this.#receiving.wait(1, timeout, left), all);
    this.#fill(most, all);
    return this.#receivedAll(all);
  }

  /**
   * As `receiveMany`, without blocking the thread. While the thread has a `Message` of this channel, the promise waits.
   * The process stays alive while the promise waits.
   * @returns a promise. It rejects with the errors of `receiveMany`, and with the reason of the signal when that is
   * aborted. A promise that is rejected has taken no message, unless the codec throws.
   * @example const some = await channel.receiveManyAsync(100, { signal });
   */
  receiveManyAsync(most: number, options: WaitOptions = {}): Promise<T[]> {
    return this.#receiveManyAsync(most, options);
  }

  async #receiveManyAsync(most: number, options: WaitOptions): Promise<T[]> {
    const timeout = checkMany('receiveManyAsync', most, options);
    checkWaitAsync();
    const left = countdown(timeout);
    const all: unknown[] = [];
    const end = this.#receiving;
    while (all.length === 0) {
      const place = end.isFree ? this.#claim('receiveManyAsync', most) : undefined;
      const copy = (at: number): void => {
        this.#copyAll(at, all);
        this.#fill(most, all);
      };
      if (place !== undefined) {
        copy(place);
        continue;
      }
      let taken = 0;
      let isAwaited = false;
      const copyLater = (at: number): void => {
        copy(at);
        taken = all.length;
        if (isAwaited) end.inTransit += taken;
      };
      const claimed = end.claimAsync(this.#keeper, timeout, left, options.signal, copyLater, () => {
        all.length = 0;
      });
      // As in `#receiveAsync`.
      isAwaited = true;
      end.inTransit += taken;
      try {
        await claimed;
      } finally {
        end.inTransit -= taken;
      }
    }
    return this.#receivedAll(all);
  }

  /** Copies what is there and nobody waits for, until there are `most`. */
  #fill(most: number, all: unknown[]): void {
    const end = this.#receiving;
    while (all.length < most) {
      // Promises of this thread that were granted before come first. If they cannot have their places now, they wait.
      if (end.settle() || end.hasGranted) return;
      const answer = end.tryClaim(most - all.length);
      if (!isPlace(answer)) return;
      this.#copyAll(answer, all);
    }
  }

  /**
   * Copies the messages out of the places that the thread has just claimed, from this one on, and passes the places on.
   */
  #copyAll(first: number, all: unknown[]): void {
    const end = this.#receiving;
    const before = all.length;
    let place = first;
    for (let n = end.count; n > 0; n--) {
      const length = end.lengthOf(place);
      if (length >= 0) all.push(this.#wire.get(place, length));
      place = end.after(place);
    }
    end.pass(all.length - before);
  }

  /** Only now may code of the user run: the thread has given all places back. */
  #receivedAll(all: readonly unknown[]): T[] {
    try {
      const values = all.map((got) => this.#wire.decode(got));
      this.#tellReceiver();
      return values;
    } finally {
      this.#receiving.handed(all.length);
    }
  }

  /**
   * Receives until the channel is closed and empty: `for (const value of channel)`. Each step receives one message, as
   * `receive` does. So a loop that ends early has taken no message but those that its body was given. Blocks the thread
   * while the channel is empty, and throws what `receive` throws, but no ClosedError.
   * @throws what `receive` throws, but no ClosedError.
   */
  [Symbol.iterator](): IterableIterator<T> {
    return iterate(this.#receiving, () => Channel.prototype.receive.call(this) as T);
  }

  /**
   * As `for (const value of channel)`, without blocking the thread: `for await (const value of channel)`. Its promises
   * reject as those of `receiveAsync` do, but not with ClosedError. Throws nothing.
   */
  [Symbol.asyncIterator](): AsyncIterableIterator<T> {
    return iterateAsync(this.#receiving, () => this.#receiveAsync({}));
  }

  /**
   * Receives in batches until the channel is closed and empty: `for (const batch of channel.batches(64))`, or
   * `for await` without blocking the thread. Each step receives 1 to `most` messages, as `receiveMany` and
   * `receiveManyAsync` do. A batch costs little more than one message. But the batch belongs to this thread alone:
   * other receivers do not get a message of it, also while this thread works on another one or after the loop has ended
   * early; and if the thread dies, all of the batch is gone. Never blocks itself.
   * @param most 1 to 65,536.
   * @throws {RangeError | TypeError} for a bad number. The loop throws what `receiveMany` throws, but no ClosedError.
   * @example for (const batch of channel.batches(64)) for (const value of batch) console.log(value);
   */
  batches(most: number): Batches<T> {
    checkMost('batches', most);
    const end = this.#receiving;
    return {
      [Symbol.iterator]: () => {
        let last = 0;
        return iterate(end, () => {
          if (last > 1 && last < most) end.core.spend(REST);
          const batch = this.#receiveMany(most, undefined);
          last = batch.length;
          return batch;
        });
      },
      [Symbol.asyncIterator]: () => iterateAsync(end, () => this.#receiveManyAsync(most, {})),
    };
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
    const end = this.#receiving;
    while (true) {
      const place = this.#claim('take', 1) ?? end.wait(1, timeout, left);
      const length = end.lengthOf(place);
      if (length >= 0) return new Message(this, this[ends], place, length);
      end.pass();
    }
  }

  /** Claims up to `most` places if any can be had now. Returns the address of the first, or undefined. */
  #claim(method: string, most: number): number | undefined {
    const end = this.#receiving;
    if (end.isOut)
      throw new TypeError(`${KIND}.${method}: this thread has taken a message of the channel: dispose of it first`);
    const answer = end.tryClaim(most);
    if (answer === REFUSED) return undefined;
    if (!isPlace(answer)) throw end.closedError();
    return answer;
  }

  /** Copies a message out of the one place that the thread has claimed, and passes the place on. */
  #copyOut(place: number): unknown {
    const end = this.#receiving;
    const length = end.lengthOf(place);
    const isHole = length < 0;
    const got = isHole ? NOTHING : this.#wire.get(place, length);
    end.pass(isHole ? 0 : 1);
    return got;
  }

  /**
   * Decodes a message, which may run code of the user. Until that is over, the message is unread, and counts
   * as lost if the thread dies. If the code throws, the program has heard of the message.
   */
  #read(got: unknown): T {
    try {
      const value = this.#wire.decode(got);
      this.#tellReceiver();
      return value;
    } finally {
      this.#receiving.handed(1);
    }
  }

  /**
   * Counts this thread, or this task of it, as one of the `senders` with which the channel was made, until the guard is
   * disposed of, the thread leaves the arena, ends or dies. The channel closes itself when so many have left as it was
   * made with, also if others have come and not left. Never blocks.
   * @throws {TypeError} if the channel was made without `senders`.
   * @throws {ClosedError} if the channel is closed.
   * @throws {DisposedError} if the channel has been disposed of.
   * @example using sender = channel.sender(); // leaves at the end of the scope
   */
  sender(): Sender {
    if (this.#isClosed) throw this.#sending.closedError();
    return new Sender(this, this[ends]);
  }

  /**
   * Closes the channel: nothing more can be sent. Senders that wait get a ClosedError. Receivers get the messages that
   * are there, and those whose senders have their places, and then the end. May be called again. Never blocks, throws
   * nothing. On a disposed channel it does nothing.
   * @example channel.close();
   */
  close(): void {
    if (this[isOver]) return;
    const { module } = this[ends];
    this.#sending.expectCut();
    module.close(this.#sending.at, this.#receiving.at);
    this.#receiving.finishClose();
  }

  /**
   * Describes the channel by a plain object, for diagnostics. It looks at every waiter of the arena and is racy. Never
   * blocks.
   * @throws {DisposedError} if the channel has been disposed of.
   * @example console.log(channel.inspect().receivers.waiting);
   */
  inspect(): ChannelStats {
    if (this[isOver]) throw this[disposedError]();
    const { membership, words, at: f } = this.#sending;
    const { at: m } = this.#receiving;
    const sum = (end: number): number =>
      (words[(end + P_TOLD) / 4] as number) + (words[(end + P_UNTOLD) / 4] as number);
    return {
      capacity: this.#places,
      bytes: this.#room,
      size: this.#size,
      closed: this.#isClosed,
      holes: sum(m),
      lost: sum(f),
      sendersLeft: Math.max(Atomics.load(words, (m + P_SENDERS) / 4), 0),
      senders: conditionStats(membership, f),
      receivers: conditionStats(membership, m),
    };
  }

  /** Returns, for example, `Channel("jobs", 3 of 256)`, for diagnostics. Never blocks, throws nothing. */
  override toString(): string {
    const what = this[isOver] ? 'disposed' : `${this.#size} of ${this.#places}${this.#isClosed ? ', closed' : ''}`;
    return `${KIND}(${this[named](', ')}${what})`;
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
    const { membership, shared, at } = end;
    const encoded = sent && this.#wire.keep(this.#wire.encode(sent.value));
    const received = (got: unknown): Done<T> | undefined => {
      if (got === NOTHING) return undefined;
      return { read: () => this.#read(got), closed: false, unreadAt: end };
    };
    const put = (place: number): Done<T> => {
      this.#put(place, encoded);
      return { read: () => this.#tellSender(), closed: false } as Done<never>;
    };
    const take = (place: number): Done<T> | undefined =>
      sent === undefined ? received(this.#copyOut(place)) : put(place);
    const ended = (error: Error): Done<T> => {
      if (sent !== undefined || !(error instanceof ClosedError)) throw error;
      return ENDED;
    };
    return {
      membership,
      shared,
      at,
      permits: 1,
      check: () => {
        if (end.isOut) throw new TypeError(`${KIND}: this thread uses a place of the channel: end its scope first`);
      },
      try: () => {
        while (true) {
          const answer = end.tryClaim(1);
          if (answer === REFUSED) return undefined;
          if (!isPlace(answer)) return ended(end.closedError());
          const done = take(answer);
          if (done) return done;
        }
      },
      take: () => take(end.claim(1)),
      whenFree: (run) => end.whenFree(run),
      giveBack: () => end.giveBack(),
      closed: () => ended(end.endedError()),
    };
  }

  /** @internal */
  protected override [close](): void {
    const { core, at } = this.#sending;
    // If this thread dies midway, its reaper disposes of the other end.
    core.dispose(at);
    core.dispose(this.#receiving.at);
  }

  /** @internal */
  protected override [forget](): void {}

  /** @internal */
  protected override [detach](): void {
    this[ends]?.closeAlike();
    super[detach]();
  }
}

function tell(end: Endpoint, callback: (count: number) => void): void {
  if (!end.hasNews) return;
  const count = end.takeNews();
  if (count === 0) return;
  try {
    callback(count);
  } catch (error) {
    Promise.reject(error);
  }
}

function checkMost(method: string, most: number): void {
  const MOST = 65536;
  checkInteger(`${KIND}.${method}: most`, most, 1, MOST);
}

/** Checks the arguments of a call that receives several messages. Returns its time-out. */
function checkMany(method: string, most: number, options: WaitOptions | undefined): number {
  checkMost(method, most);
  return options === undefined ? Infinity : checkWaitOptions(`${KIND}.${method}`, options);
}
