import { ADMITTED, ANSWER_CLOSED, CUT_SHORT, HOLE_MORE, REFUSED } from '../border/numbers.js';
import { checkInteger } from '../errors.js';
import { checkWaitOptions, type WaitOptions } from '../options.js';
import { countdown } from '../runtime/parking.js';
import { checkWaitAsync } from '../runtime/wait-async.js';
import {
  ChannelBase,
  endsOf,
  isNumber,
  KIND,
  keeper,
  NOTHING,
  receivingEnd,
  tellReceiver,
  wireTo,
} from './channel-base.js';
import { isPlace } from './endpoint.js';
import { iterate, iterateAsync } from './iterating.js';
import { Message } from './place.js';

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

/** @internal */
export const copyOut = Symbol();
/** @internal */
export const receivedOf = Symbol();

/** A channel, as receivers see it. */
export abstract class Receivers<T> extends ChannelBase<T> implements Iterable<T>, AsyncIterable<T> {
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
    const end = this[receivingEnd];
    if (this[isNumber] && options === undefined && end.isIdle) {
      end.expectCut();
      const answer = end.module.takeWord(end.at, end.attachment);
      const value = end.f64[end.word];
      return answer === 0 ? (value as T) : this.#receivedNumber(value, answer);
    }
    if (options === undefined && !end.isOut) {
      const place = end.tryClaim(1);
      if (isPlace(place)) {
        const got = this[copyOut](place);
        if (got !== NOTHING) return this[receivedOf](got);
      }
    }
    return this.#receiveSo(options);
  }

  #receivedNumber(value: unknown, answer: number): T {
    if (answer === REFUSED || answer === ANSWER_CLOSED || answer === CUT_SHORT) return this.#receiveSo(undefined);
    const isHole = answer >= HOLE_MORE;
    const passed = isHole ? answer - HOLE_MORE : answer;
    if (passed !== ADMITTED) this[receivingEnd].passed(passed);
    // Thousands of holes may follow each other, so this is no call of `receive`.
    if (isHole) return this.#receiveSo(undefined);
    this[tellReceiver]();
    this[receivingEnd].handed(1);
    return value as T;
  }

  #receiveSo(options: WaitOptions | undefined): T {
    const timeout = options === undefined ? Infinity : checkWaitOptions(`${KIND}.receive`, options);
    const left = countdown(timeout);
    while (true) {
      const place = this.#claim('receive', 1) ?? this[receivingEnd].wait(1, timeout, left);
      const got = this[copyOut](place);
      if (got !== NOTHING) return this[receivedOf](got);
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
      const got = this[copyOut](place);
      if (got !== NOTHING) return { value: this[receivedOf](got) };
    }
  }

  /**
   * As `receive`, without blocking the thread. While the thread has a `Message` of this channel, the promise waits. The
   * process stays alive while the promise waits.
   * @returns a promise. It rejects with the errors of `receive`, and with the reason of the signal when that is aborted.
   * A promise that is rejected has taken no message, unless the codec throws.
   * @example const value = await channel.receiveAsync({ signal });
   */
  receiveAsync(options: WaitOptions = {}): Promise<T> {
    return this.#receiveAsync(options);
  }

  async #receiveAsync(options: WaitOptions): Promise<T> {
    const timeout = checkWaitOptions(`${KIND}.receiveAsync`, options);
    checkWaitAsync();
    const left = countdown(timeout);
    const end = this[receivingEnd];
    while (true) {
      const place = end.isFree ? this.#claim('receiveAsync', 1) : undefined;
      if (place !== undefined) {
        const got = this[copyOut](place);
        if (got !== NOTHING) return this[receivedOf](got);
        continue;
      }
      let inTransit = 0;
      const copy = (at: number): unknown => {
        const got = this[copyOut](at);
        if (got !== NOTHING) {
          end.inTransit++;
          inTransit = 1;
        }
        return got;
      };
      // If an exception has cut `copy` short, the promise waits for another message, as after a hole.
      const got = await end.claimAsync(this[keeper], timeout, left, options.signal, copy, () => NOTHING);
      end.inTransit -= inTransit;
      if (got === NOTHING) continue;
      // Only now may code of the user run.
      return this[receivedOf](got);
    }
  }

  /**
   * Receives the messages that are there, 1 to `most` of them. Blocks the thread while the channel is empty: it waits for
   * the first alone.
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
      this.#copyAll(this.#claim('receiveMany', most) ?? this[receivingEnd].wait(1, timeout, left), all);
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
    const end = this[receivingEnd];
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
      let inTransit = 0;
      const copyLater = (at: number): void => {
        copy(at);
        end.inTransit += all.length;
        inTransit = all.length;
      };
      await end.claimAsync(this[keeper], timeout, left, options.signal, copyLater, () => {
        all.length = 0;
      });
      end.inTransit -= inTransit;
    }
    return this.#receivedAll(all);
  }

  /** Copies what is there and nobody waits for, until there are `most`. */
  #fill(most: number, all: unknown[]): void {
    const end = this[receivingEnd];
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
    const end = this[receivingEnd];
    const before = all.length;
    let place = first;
    for (let n = end.count; n > 0; n--) {
      const length = end.lengthOf(place);
      if (length >= 0) all.push(this[wireTo].get(place, length));
      place = end.after(place);
    }
    end.pass(all.length - before);
  }

  /** Only now may code of the user run: the thread has given all places back. */
  #receivedAll(all: readonly unknown[]): T[] {
    try {
      const values = all.map((got) => this[wireTo].decode(got));
      this[tellReceiver]();
      return values;
    } finally {
      this[receivingEnd].handed(all.length);
    }
  }

  /**
   * Receives until the channel is closed and empty: `for (const value of channel)`. Each step receives one message, as
   * `receive` does. So a loop that ends early has taken no message but those that its body was given. Blocks the thread
   * while the channel is empty, and throws what `receive` throws, but no ClosedError.
   * @throws what `receive` throws, but no ClosedError.
   */
  [Symbol.iterator](): IterableIterator<T> {
    return iterate(this[receivingEnd], () => Receivers.prototype.receive.call(this) as T);
  }

  /**
   * As `for (const value of channel)`, without blocking the thread: `for await (const value of channel)`. Its promises
   * reject as those of `receiveAsync` do, but not with ClosedError. Throws nothing.
   */
  [Symbol.asyncIterator](): AsyncIterableIterator<T> {
    return iterateAsync(this[receivingEnd], () => this.#receiveAsync({}));
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
    const end = this[receivingEnd];
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
    const end = this[receivingEnd];
    while (true) {
      const place = this.#claim('take', 1) ?? end.wait(1, timeout, left);
      const length = end.lengthOf(place);
      if (length >= 0) return new Message(this, this[endsOf], place, length);
      end.pass();
    }
  }

  /** Claims up to `most` places if any can be had now. Returns the address of the first, or undefined. */
  #claim(method: string, most: number): number | undefined {
    const end = this[receivingEnd];
    if (end.isOut)
      throw new TypeError(`${KIND}.${method}: this thread has taken a message of the channel: dispose of it first`);
    const answer = end.tryClaim(most);
    if (answer === REFUSED) return undefined;
    if (!isPlace(answer)) throw end.closedError();
    return answer;
  }

  /** @internal Copies a message out of the one place that the thread has claimed, and passes the place on. */
  protected [copyOut](place: number): unknown {
    const end = this[receivingEnd];
    const length = end.lengthOf(place);
    const isHole = length < 0;
    const got = isHole ? NOTHING : this[wireTo].get(place, length);
    end.pass(isHole ? 0 : 1);
    return got;
  }

  /**
   * @internal Decodes a message, which may run code of the user. Until that is over, the message is unread, and counts
   * as lost if the thread dies. If the code throws, the program has heard of the message.
   */
  protected [receivedOf](got: unknown): T {
    try {
      const value = this[wireTo].decode(got);
      this[tellReceiver]();
      return value;
    } finally {
      this[receivingEnd].handed(1);
    }
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
