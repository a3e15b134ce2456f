import { ADMITTED, ANSWER_CLOSED, HOLE_MORE, REFUSED } from '../border/numbers.js';
import { checkInteger } from '../errors.js';
import { checkWaitOptions, type WaitOptions } from '../options.js';
import { now } from '../runtime/clock.js';
import { countdown } from '../runtime/parking.js';
import { checkWaitAsync } from '../runtime/wait-async.js';
import { ChannelBase, KIND, NOTHING } from './channel-base.js';
import { type Endpoint, isPlace } from './endpoint.js';
import { iterate, iterateAsync } from './iterating.js';
import { Message } from './place.js';

/** How many messages an iterator takes at once, at most. */
const MOST_AHEAD = 64;
/** An iterator takes ahead only as many messages as it uses in about so many milliseconds. */
const AHEAD = 0.1;
/**
 * A fast loop that has found fewer messages than it would take waits for so many pauses, some 0.4 microseconds, before it
 * looks again. Otherwise it would take each message as soon as it is there. The two threads would then write to the same
 * lines for every message, which takes longer than the message itself.
 */
const REST = 32;

/** A message that `tryReceive` has received. */
export interface Received<T> {
  /** The message. */
  readonly value: T;
}

/** A channel, as receivers see it. */
export abstract class Receivers<T> extends ChannelBase<T> implements Iterable<T>, AsyncIterable<T> {
  /** How many messages the iterators of this object take at once, and when they have taken some last. */
  #ahead = 1;
  #taken = 0;

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
    const end = this.receivingEnd;
    if (this.isNumber && options === undefined && end.isIdle) {
      const answer = end.module.takeWord(end.at, end.attachment);
      const value = end.f64[end.word];
      return answer === 0 ? (value as T) : this.#receivedNumber(value, answer);
    }
    if (options === undefined && end.left === 0) {
      const place = end.tryClaim(1);
      if (isPlace(place)) {
        end.holdOne(place);
        const got = this.useFirst(end);
        if (got !== NOTHING) return this.received(got);
      }
    }
    return this.#receiveSo(options);
  }

  #receivedNumber(value: unknown, answer: number): T {
    if (answer === REFUSED || answer === ANSWER_CLOSED) return this.#receiveSo(undefined);
    const isHole = answer >= HOLE_MORE;
    const passed = isHole ? answer - HOLE_MORE : answer;
    if (passed !== ADMITTED) this.receivingEnd.passed(passed);
    if (isHole) return this.receive();
    this.tellReceiver();
    return value as T;
  }

  #receiveSo(options: WaitOptions | undefined): T {
    const timeout = options === undefined ? Infinity : checkWaitOptions(`${KIND}.receive`, options);
    const left = countdown(timeout);
    while (true) {
      const end = this.claimed('receive', 1) ?? this.#waitForMessage(timeout, left);
      const got = this.useFirst(end);
      if (got !== NOTHING) return this.received(got);
    }
  }

  /** Waits for a message, and claims its place. */
  #waitForMessage(timeout: number, left?: () => number): Endpoint {
    const end = this.receivingEnd;
    end.hold(this, end.wait(1, timeout, left));
    return end;
  }

  /**
   * Receives a message if one is there and nobody waits. Never blocks.
   * @returns the message as `value`, or undefined.
   * @throws what `receive` throws, but no TimeoutError or ArenaFullError.
   * @example const next = channel.tryReceive();
   */
  tryReceive(): Received<T> | undefined {
    while (true) {
      const end = this.claimed('tryReceive', 1);
      if (end === undefined) return undefined;
      const got = this.useFirst(end);
      if (got !== NOTHING) return { value: this.received(got) };
    }
  }

  /**
   * As `receive`, without blocking the thread. While the thread has a `Message` of this channel, the promise waits. The
   * process stays alive while the promise waits.
   * @returns a promise. It rejects with the errors of `receive`, and with the reason of the signal when that is aborted.
   * A promise that is rejected has taken no message, unless the codec throws.
   * @example const value = await channel.receiveAsync({ signal });
   */
  async receiveAsync(options: WaitOptions = {}): Promise<T> {
    const timeout = checkWaitOptions(`${KIND}.receiveAsync`, options);
    checkWaitAsync();
    const left = countdown(timeout);
    while (true) {
      const { isFree, isOut, left: ahead } = this.receivingEnd;
      const end = isFree || (ahead > 0 && !isOut) ? this.claimed('receiveAsync', 1) : undefined;
      if (end !== undefined) {
        const got = this.useFirst(end);
        if (got !== NOTHING) return this.received(got);
      } else {
        const got = await this.receivingEnd.claimAsync(this.keeper, timeout, left, options.signal, (place) => {
          this.receivingEnd.hold(this, place);
          return this.useFirst(this.receivingEnd);
        });
        // Only now may code of the user run.
        if (got !== NOTHING) return this.received(got);
      }
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
    const what = `${KIND}.receiveMany`;
    const MOST = 65536;
    checkInteger(`${what}: most`, most, 1, MOST);
    const timeout = options === undefined ? Infinity : checkWaitOptions(what, options);
    const left = countdown(timeout);
    const all: unknown[] = [];
    while (all.length < most) {
      const end =
        all.length > 0
          ? this.#more(most - all.length)
          : (this.claimed('receiveMany', most) ?? this.#waitForMessage(timeout, left));
      if (end === undefined) break;
      for (let n = Math.min(end.left, most - all.length); n > 0; n--) {
        const got = this.useFirst(end);
        if (got !== NOTHING) all.push(got);
      }
    }
    // Only now may code of the user run: the thread has given all places back.
    const values = all.map((got) => this.wire.decode(got));
    this.tellReceiver();
    return values;
  }

  /**
   * Receives until the channel is closed and empty: `for (const value of channel)`. Blocks the thread while the channel
   * is empty, and throws what `receive` throws, but no ClosedError.
   *
   * A fast loop takes up to 64 messages ahead, as many as it uses in a tenth of a millisecond. If it ends early, the next
   * `receive` of this thread gets those that are left. If the thread dies, they count as lost.
   * @throws what `receive` throws, but no ClosedError.
   */
  [Symbol.iterator](): IterableIterator<T> {
    return iterate(this.receivingEnd, () => {
      while (true) {
        const end = this.claimed('[Symbol.iterator]', this.#batch()) ?? this.#waitForMessage(Infinity);
        if (this.#taken === 0) this.#taken = now();
        const got = this.useFirst(end);
        if (got !== NOTHING) return this.received(got);
      }
    });
  }

  /**
   * As `for (const value of channel)`, without blocking the thread: `for await (const value of channel)`. Its promises
   * reject as those of `receiveAsync` do, but not with ClosedError. Throws nothing.
   */
  [Symbol.asyncIterator](): AsyncIterableIterator<T> {
    return iterateAsync(this.receivingEnd, () => this.receiveAsync());
  }

  /** Returns how many messages an iterator takes at once now. */
  #batch(): number {
    const { count, core, left } = this.receivingEnd;
    if (left > 0) return 1;
    if (this.#taken > 0) {
      const isFast = now() - this.#taken < AHEAD;
      if (isFast && count > 1 && count < this.#ahead) core.spend(REST);
      this.#ahead = isFast ? Math.min(2 * this.#ahead, MOST_AHEAD) : 1;
      this.#taken = 0;
    }
    return this.#ahead;
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
      const end = this.claimed('take', 1) ?? this.#waitForMessage(timeout, left);
      const length = end.lengthOf(end.next);
      if (length >= 0) return new Message(this.ends, end.next, length);
      end.used();
    }
  }

  /**
   * @internal Returns the receiving end if the thread has claimed messages, `most` at most if it had none before.
   * Returns undefined if none is there.
   */
  protected claimed(method: string, most: number): Endpoint | undefined {
    const end = this.receivingEnd;
    if (end.isOut && !end.isOver)
      throw new TypeError(`${KIND}.${method}: this thread has taken a message of the channel: dispose of it first`);
    if (end.left > 0) {
      // Promises that were granted before come first, also to the messages that the thread has taken ahead.
      if (end.promises.first !== 0) end.settle();
      if (end.left > 0) return end;
    }
    const answer = end.tryClaim(most);
    if (answer === REFUSED) return undefined;
    if (!isPlace(answer)) throw end.closedError();
    end.hold(this, answer);
    return end;
  }

  /**
   * Returns the receiving end if the thread has claimed messages, or can claim some now, `most` at most. Throws nothing,
   * also if the channel has ended meanwhile.
   */
  #more(most: number): Endpoint | undefined {
    const end = this.receivingEnd;
    end.settle();
    if (end.left > 0) return end;
    const answer = end.tryClaim(most);
    if (!isPlace(answer)) return undefined;
    end.hold(this, answer);
    return end;
  }

  /** @internal Copies the first claimed message out of its place, and is done with the place. */
  protected useFirst(end: Endpoint): unknown {
    const length = end.lengthOf(end.next);
    const got = length < 0 ? NOTHING : this.wire.get(end.next, length);
    end.used();
    return got;
  }

  /** @internal */
  protected received(got: unknown): T {
    const value = this.wire.decode(got);
    this.tellReceiver();
    return value;
  }
}
