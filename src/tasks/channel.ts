/**
 * Channel is a bounded queue of messages, for the tasks of one thread.
 *
 *     senders ──► that wait ──► │ message │ message │ message │ ──► receivers that wait
 *                                        capacity
 *
 *     a message comes     a receiver waits: it gets the message. Else there is room: the message is kept. Else the sender
 *                         waits with its message
 *     a message goes      the message of the first sender that waits takes its place
 *
 * Invariant: while a receiver waits, the channel is empty and no sender waits; while a sender waits, the channel is full.
 * So the message of a sender that waits is behind all others, and each call does what is to be done at once.
 */
import { bad, badType, ClosedError, checkInteger, checkOptions } from '../common/errors.js';
import type { WaitOptions } from '../common/waits.js';
import { Queue, type Waiter } from './queue.js';
import { type QueueStats, statsOf } from './stats.js';
import { begin, checkOpen, close, count, DONE, isOver, state, TaskObject } from './task-object.js';

/** The options of a new `Channel`. */
export interface ChannelOptions {
  /** How many messages the channel holds, a power of two from 1 to 65,536. Default 256. */
  readonly capacity?: number;
}

/** A message that `tryReceive` has received. */
export interface Received<T> {
  /** The message. */
  readonly value: T;
}

/** The answer of `Channel.inspect`. */
export interface ChannelStats {
  /** How many messages the channel holds at most. */
  readonly capacity: number;
  /** How many messages are in the channel. */
  readonly size: number;
  /** Whether the channel is closed. */
  readonly closed: boolean;
  /** The promises that wait for a free place. */
  readonly senders: QueueStats;
  /** The promises that wait for a message. */
  readonly receivers: QueueStats;
}

const KIND = 'Channel';
const MOST = 65536;

/** The channel whose end an error tells. A loop over one channel may also meet the error of another channel. */
const ends = new WeakMap<Error, object>();

/** Throws if a message has a method `then`: the promise of a receiver would wait for what it settles to, and not have it. */
function checkMessage(method: string, message: unknown): void {
  if (Object(message) === message && typeof (message as PromiseLike<unknown>).then === 'function')
    throw badType(
      `${KIND}.${method}: value`,
      'no promise and nothing with a method then: await it, or wrap it',
      message,
    );
}

/**
 * A bounded queue of messages between the tasks of one thread: senders wait while it is full, and receivers while it is
 * empty, first come, first served. Messages come in the order of the calls that have sent them. They are not copied. A
 * time-out or an abort loses no message.
 *
 * Source: the channels of Hoare, Communicating Sequential Processes (1978), as Go has them.
 *
 * @example
 * ```ts
 * import { Channel } from 'taketurns/tasks';
 *
 * const pages = new Channel<string>({ capacity: 2 });
 * const reading = (async () => {
 *   for (const name of ['a', 'b', 'c']) await pages.sendAsync(name); // waits while two are there
 *   pages.close();
 * })();
 * for await (const page of pages) console.log(page);
 * await reading;
 * ```
 * @since 0.3.0
 */
export class Channel<T> extends TaskObject implements AsyncIterable<T> {
  readonly #capacity: number;
  /** The messages, in a ring: `#size` of them from `#first` on. */
  readonly #ring: (T | undefined)[] = [];
  #first = 0;
  #size = 0;
  #closed = false;
  readonly #senders = new Queue(() => 'a free place in the Channel');
  readonly #receivers = new Queue(() => 'a message of the Channel');
  /** What the senders that wait have to send. */
  readonly #unsent = new WeakMap<Waiter, T>();

  /**
   * @throws {RangeError | TypeError} for a bad option.
   */
  constructor(options: ChannelOptions = {}) {
    super(KIND);
    checkOptions(KIND, options, ['capacity']);
    const { capacity = 256 } = options;
    this.#capacity = checkInteger(`${KIND}: capacity`, capacity, 1, MOST);
    if (capacity & (capacity - 1))
      throw bad('number', `${KIND}: capacity`, `a power of two from 1 to ${MOST}`, capacity);
  }

  /** How many messages the channel holds at most. */
  get capacity(): number {
    return this.#capacity;
  }

  /** How many messages are in the channel. */
  get size(): number {
    return this.#size;
  }

  /** Whether the channel is closed or disposed of. */
  get closed(): boolean {
    return this.#isClosed;
  }

  get #isClosed(): boolean {
    return this.#closed || this[isOver];
  }

  /** The number of promises that wait, to send or to receive. */
  override get waiting(): number {
    return this[count];
  }

  /** @internal */
  protected get [count](): number {
    return this.#senders.count + this.#receivers.count;
  }

  /**
   * Sends a message: the promise is fulfilled when the channel has it. Never blocks.
   * @param value anything but a promise or another object with a method `then`. The promise of a receiver could not be
   * fulfilled with such a value. Send what it is fulfilled with, or wrap it: `{ promise }`.
   * @param options a time-out and a signal; without them the promise may wait for ever.
   * @returns a promise. It rejects with ClosedError if the channel is or becomes closed; with TimeoutError when the
   * time-out has passed, and with the reason of the signal when that is aborted; with RangeError or TypeError for a bad
   * option, with TypeError for a value with a method `then`, and with DisposedError. Then nothing was sent.
   * @example await channel.sendAsync(7, { timeout: 50 });
   */
  sendAsync(value: T, options?: WaitOptions): Promise<void> {
    try {
      checkMessage('sendAsync', value);
      const limits = this[begin]('sendAsync', options);
      if (this.#send(value)) return DONE;
      const senders = this.#senders;
      return senders.wait(1, limits, () => this.#unsent.set(senders.last as Waiter, value));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * Sends a message if the channel is not full. Never blocks.
   * @param value as for `sendAsync`.
   * @returns whether it was sent.
   * @throws {TypeError} for a promise, or another value with a method `then`.
   * @throws {ClosedError} if the channel is closed.
   * @throws {DisposedError} if the channel has been disposed of.
   * @example if (!channel.trySend(7)) console.log('full');
   */
  trySend(value: T): boolean {
    checkMessage('trySend', value);
    this[checkOpen]();
    return this.#send(value);
  }

  /** Returns whether there was a receiver or room. */
  #send(value: T): boolean {
    if (this.#closed) throw new ClosedError();
    if (this.#receivers.first) this.#receivers.settle(value);
    else if (this.#size === this.#capacity) return false;
    else this.#ring[(this.#first + this.#size++) % this.#capacity] = value;
    return true;
  }

  /**
   * Receives a message: the promise is fulfilled with it. Never blocks.
   * @param options a time-out and a signal; without them the promise may wait for ever.
   * @returns a promise. It rejects with ClosedError if the channel is closed and every message has been received. Else it
   * rejects as that of `sendAsync` does, and has taken no message then.
   * @example const value = await channel.receiveAsync({ signal });
   */
  receiveAsync(options?: WaitOptions): Promise<T> {
    return this.#receive(options);
  }

  #receive(options?: WaitOptions): Promise<T> {
    try {
      const limits = this[begin]('receiveAsync', options);
      const received = this.#take();
      return received === undefined ? this.#receivers.wait(1, limits) : Promise.resolve(received.value);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * Receives a message if one is there. Never blocks.
   * @returns the message as `value`, or undefined.
   * @throws {ClosedError} if the channel is closed and every message has been received.
   * @throws {DisposedError} if the channel has been disposed of.
   * @example const next = channel.tryReceive();
   */
  tryReceive(): Received<T> | undefined {
    this[checkOpen]();
    return this.#take();
  }

  #take(): Received<T> | undefined {
    if (this.#size === 0) {
      if (this.#closed) throw this.#end();
      return undefined;
    }
    const value = this.#ring[this.#first] as T;
    this.#ring[this.#first] = undefined;
    this.#first = (this.#first + 1) % this.#capacity;
    this.#size--;
    const sender = this.#senders.first;
    if (sender) {
      this.#send(this.#unsent.get(sender) as T);
      this.#senders.settle();
    }
    return { value };
  }

  /**
   * Receives until the channel is closed and empty: `for await (const value of channel)`. Never blocks. Its promises
   * reject as those of `receiveAsync` do, but not with ClosedError. A loop that ends early has taken no message but those
   * that it has seen. Throws nothing.
   */
  [Symbol.asyncIterator](): AsyncIterableIterator<T> {
    return {
      next: async (): Promise<IteratorResult<T>> => {
        try {
          return { value: await this.#receive(), done: false };
        } catch (error) {
          if (ends.get(error as Error) === this) return { value: undefined, done: true };
          throw error;
        }
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  /**
   * Closes the channel: nothing more can be sent. Senders that wait are rejected with a ClosedError. Receivers get the
   * messages that are there, and then the end. May be called again. Never blocks, throws nothing.
   * @example channel.close();
   */
  close(): void {
    if (this.#isClosed) return;
    this.#closed = true;
    this.#senders.close(new ClosedError());
    this.#receivers.close(this.#end());
  }

  /**
   * Describes the channel by a plain object. It looks at every waiter. Never blocks.
   * @throws {DisposedError} if it has been disposed of.
   * @example console.log(channel.inspect().senders.waiting);
   */
  inspect(): ChannelStats {
    this[checkOpen]();
    return {
      capacity: this.#capacity,
      size: this.#size,
      closed: this.#isClosed,
      senders: statsOf(this.#senders),
      receivers: statsOf(this.#receivers),
    };
  }

  #end(): ClosedError {
    const error = new ClosedError('the channel is closed, and every message has been received');
    ends.set(error, this);
    return error;
  }

  /** @internal */
  protected get [state](): string {
    return `${this.#size} of ${this.#capacity}${this.#isClosed ? ', closed' : ''}`;
  }

  /** @internal */
  protected [close](error: Error): void {
    this.#senders.close(error);
    this.#receivers.close(error);
    this.#ring.length = 0;
    this.#size = 0;
  }
}
