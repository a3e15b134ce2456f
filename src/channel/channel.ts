import { ANSWER_CLOSED, CUT_SHORT, KIND_CHANNEL, REFUSED } from '../border/numbers.js';
import { bad } from '../errors.js';
import { checkWaitOptions, type WaitOptions } from '../options.js';
import { find, open, type Reference } from '../reference.js';
import { countdown } from '../runtime/parking.js';
import { DONE } from '../runtime/promises.js';
import { checkWaitAsync } from '../runtime/wait-async.js';
import { type Done, ENDED, type Work, workOf } from './case.js';
import {
  type ChannelHandle,
  type ChannelOptions,
  endsOf,
  isClosed,
  isNumber,
  KIND,
  keeper,
  NOTHING,
  places,
  properties,
  receivingEnd,
  roomOf,
  sendingEnd,
  tellSender,
  wireTo,
} from './channel-base.js';
import { ClosedError } from './closed-error.js';
import { type Codec, checkCodec } from './codec.js';
import { type Endpoint, isPlace } from './endpoint.js';
import { unlessGone } from './endpoints.js';
import { Place } from './place.js';
import { copyOut, Receivers, receivedOf } from './receivers.js';
import { Sender } from './sender.js';

/** @internal */
export const putInto = Symbol();

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
export class Channel<T = Uint8Array> extends Receivers<T> {
  /**
   * Makes a channel. Never blocks.
   * @throws {RangeError | TypeError} for a bad option.
   * @throws {ArenaFullError} if the arena has no room for another object, or for the messages (`ArenaOptions.bytes`).
   */
  constructor(options?: ChannelOptions<T>);
  /** @internal */
  constructor(found: Reference, codec: Codec<T>, what: string, senders?: number);
  constructor(options: ChannelOptions<T> | Reference = {}, codec?: Codec<T>, what: string = KIND, senders?: number) {
    super(options, codec, what, senders);
  }

  /**
   * Attaches to the channel of a handle, in any thread. Never blocks. The codec is that of the other threads, by default
   * `bytes`.
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
   * channel. The `senders` are those that the thread has given which makes it. The name and its channel go when no thread has the channel open any more, and no message is in it. Never
   * blocks.
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
    const asked = properties(what, options);
    return unlessGone(
      () => open(KIND, KIND_CHANNEL, name, asked, options.arena),
      (found) => new Channel(found, options.codec as Codec<T>, what, options.senders),
    );
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
    const end = this[sendingEnd];
    if (this[isNumber] && options === undefined && typeof value === 'number' && end.isIdle) {
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
      this[sendingEnd].passed(answer);
      this[tellSender]();
    }
  }

  #sendSo(value: T, options: WaitOptions | undefined): void {
    const timeout = options === undefined ? Infinity : checkWaitOptions(`${KIND}.send`, options);
    const encoded = this[wireTo].encode(value);
    const end = this.#free('send');
    const answer = end.tryClaim(1);
    if (answer === REFUSED) {
      // Other code may run in the wait, such as that of a signal.
      const kept = this[wireTo].keep(encoded);
      this[putInto](end.wait(1, timeout), kept);
    } else if (isPlace(answer)) this[putInto](answer, encoded);
    else throw end.closedError();
    this[tellSender]();
  }

  /**
   * Sends a message if the channel is not full and nobody waits. Never blocks.
   * @returns whether it was sent.
   * @throws what `send` throws, but no TimeoutError or ArenaFullError.
   * @example if (!channel.trySend(7)) console.log('full');
   */
  trySend(value: T): boolean {
    const encoded = this[wireTo].encode(value);
    const end = this.#free('trySend');
    const answer = end.tryClaim(1);
    if (answer === REFUSED) return false;
    if (!isPlace(answer)) throw end.closedError();
    this[putInto](answer, encoded);
    this[tellSender]();
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
      const encoded = this[wireTo].encode(value);
      const end = this[sendingEnd];
      const answer = end.isFree ? end.tryClaim(1) : REFUSED;
      if (isPlace(answer)) {
        this[putInto](answer, encoded);
        this[tellSender]();
        return DONE;
      }
      if (answer === ANSWER_CLOSED) throw end.closedError();
      const kept = this[wireTo].keep(encoded);
      const put = (place: number): void => {
        this[putInto](place, kept);
        if (this.onReceiverDied !== undefined) Promise.resolve().then(() => this[tellSender]());
      };
      const again = (): void => {
        throw new Error(`${KIND}.sendAsync: an exception has cut the sending short: the message may have been sent`);
      };
      return end.claimAsync(this[keeper], timeout, countdown(timeout), options.signal, put, again);
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
    if (values.length > this[places])
      throw new RangeError(`${what}: values must be at most ${this[places]} (the capacity), got ${values.length}`);
    // The code of the codec may change the array.
    const all: T[] = [];
    for (let i = 0, { length } = values; i < length; i++) all.push(values[i] as T);
    const encoded = all.map((value) => this[wireTo].keep(this[wireTo].encode(value)));
    const end = this.#free('sendMany');
    if (encoded.length === 0) return;
    let place = end.wait(encoded.length, timeout);
    for (const one of encoded) {
      end.setLength(place, this[wireTo].put(place, one));
      place = end.after(place);
    }
    end.pass();
    this[tellSender]();
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
    const place = isPlace(answer) ? answer : end.wait(1, timeout);
    return new Place(this, this[endsOf], place, this[roomOf]);
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
    if (this[isClosed]) throw this[sendingEnd].closedError();
    return new Sender(this, this[endsOf]);
  }

  /** Returns the sending end, at which the thread may claim. */
  #free(method: string): Endpoint {
    const end = this[sendingEnd];
    if (!end.isOut) return end;
    throw new TypeError(
      `${KIND}.${method}: this thread has reserved a place of the channel: commit or dispose of it first`,
    );
  }

  /** @internal Writes a message to a place that the thread has claimed alone, and passes it on. */
  protected [putInto](place: number, encoded: unknown): void {
    const end = this[sendingEnd];
    end.setLength(place, this[wireTo].put(place, encoded));
    end.pass();
  }

  /** @internal A case of a select: to send this value, or to receive. */
  [workOf](sent: { readonly value: T } | undefined): Work<T> {
    const end = sent === undefined ? this[receivingEnd] : this[sendingEnd];
    const { membership, shared, at, attachment } = end;
    const encoded = sent && this[wireTo].keep(this[wireTo].encode(sent.value));
    const received = (got: unknown): Done<T> | undefined => {
      if (got === NOTHING) return undefined;
      return { read: () => this[receivedOf](got), closed: false, unreadAt: end };
    };
    const put = (place: number): Done<T> => {
      this[putInto](place, encoded);
      return { read: () => this[tellSender](), closed: false } as Done<never>;
    };
    const take = (place: number): Done<T> | undefined =>
      sent === undefined ? received(this[copyOut](place)) : put(place);
    const ended = (error: Error): Done<T> => {
      if (sent !== undefined || !(error instanceof ClosedError)) throw error;
      return ENDED;
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
}
