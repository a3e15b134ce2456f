/// <reference lib="esnext.disposable" preserve="true" />
/** Zero copy: a thread writes and reads messages where they lie. */
import { HOLE, PLACE_HEAD } from '../border/numbers.js';
import { dispose } from '../common/symbols.js';
import { checkInteger } from '../runtime/errors.js';
import type { Endpoints } from './endpoints.js';

/**
 * A place that `reserve` has taken. The sender writes the message into `bytes`, and then calls `commit`. If the scope of
 * the place ends before, the place becomes a hole, which no receiver sees. Messages of other senders behind this place
 * wait until then, so a thread holds a place shortly.
 *
 * Source: none; the ring of places of a bounded queue.
 *
 * @example
 * ```ts
 * import { Channel } from 'taketurns/channel';
 *
 * const frames = new Channel({ bytes: 1024, capacity: 16 });
 * {
 *   using place = frames.reserve();
 *   place.bytes.fill(7, 0, 100);
 *   place.commit(100);
 * }
 * using message = frames.take();
 * console.log(message.bytes.length);
 * ```
 * @since 0.3.0
 */
export class Place implements Disposable {
  readonly #bytes: Uint8Array;
  readonly #ends: Endpoints;
  readonly #at: number;
  #isOver = false;

  /** @internal */
  constructor(channel: object, ends: Endpoints, at: number, room: number) {
    this.#ends = ends;
    this.#at = at;
    this.#bytes = viewOf(ends, at, room);
    ends.sending.inUse = channel;
  }

  /** The bytes of the place. They hold what an earlier message has left there. Do not use them after `commit`. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /**
   * Sends the first `length` bytes. Never blocks.
   * @param length 0 to `bytes.length`.
   * @throws {RangeError | TypeError} for a bad length. Then nothing has changed.
   * @throws {Error} if the place has been committed already, or its scope has ended.
   * @throws {DisposedError} if this thread has disposed of the channel. Then nothing was sent.
   * @example place.commit(100);
   */
  commit(length: number): void {
    checkInteger('Place.commit: length', length, 0, this.#bytes.length);
    if (this.#isOver) throw new Error('Place.commit: the place has been committed, or its scope has ended');
    this.#end(length);
  }

  /** Ends a `using` scope. Without a `commit` before, the place becomes a hole. */
  [dispose](): void {
    if (!this.#isOver) this.#end(HOLE);
  }

  #end(length: number): void {
    const ends = this.#ends;
    const { sending } = ends;
    sending.expectCut();
    this.#isOver = true;
    sending.inUse = undefined;
    const isOver = sending.isOver;
    if (length === HOLE) sending.abandon();
    else {
      if (!isOver) sending.setLength(this.#at, length);
      sending.pass();
    }
    ends.placeIsOver();
    if (isOver && length !== HOLE) throw sending.disposedError();
  }
}

/**
 * A message that `take` has taken, where it lies. At the end of its scope, the place is free for another message.
 *
 * Source: none; the ring of places of a bounded queue.
 *
 * @example
 * ```ts
 * import { Channel } from 'taketurns/channel';
 *
 * const frames = new Channel();
 * frames.send(new Uint8Array([1, 2, 3]));
 * using message = frames.take();
 * console.log(message.bytes.length);
 * ```
 * @since 0.3.0
 */
export class Message implements Disposable {
  /** The bytes of the message. Do not use them after the end of the scope. */
  readonly bytes: Uint8Array;
  readonly #ends: Endpoints;
  readonly #at: number;
  #isOver = false;

  /** @internal */
  constructor(channel: object, ends: Endpoints, at: number, length: number) {
    this.#ends = ends;
    this.#at = at;
    this.bytes = viewOf(ends, at, length);
    ends.receiving.inUse = channel;
  }

  /** Ends a `using` scope: the place of the message is free again. Does nothing the second time. Throws nothing. */
  [dispose](): void {
    if (this.#isOver) return;
    const ends = this.#ends;
    const { receiving } = ends;
    receiving.expectCut();
    this.#isOver = true;
    receiving.inUse = undefined;
    // If an exception ends this call before the place is passed on, the message does not count as lost.
    if (!receiving.isOver) receiving.setLength(this.#at, HOLE);
    receiving.pass();
    ends.placeIsOver();
  }
}

function viewOf({ views }: Endpoints, at: number, length: number): Uint8Array {
  const from = (at >>> 0) + PLACE_HEAD;
  return views.u8.subarray(from, from + length);
}
