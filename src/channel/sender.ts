/// <reference lib="esnext.disposable" preserve="true" />
/** A guard that counts as one of the senders of a channel that closes itself. */
import { P_SENDERS } from '../border/numbers.js';
import { dispose } from '../common/symbols.js';
import type { Endpoints } from './endpoints.js';

/**
 * One of the `senders` of a channel, until it leaves, by `leave` or at the end of its scope. The channel closes itself
 * when the last one has left. A thread that ends or dies leaves, too.
 *
 * Source: the senders of Rust's channels, which close with the last one.
 *
 * @example
 * ```ts
 * import { Channel, number } from 'taketurns/channel';
 *
 * const results = new Channel({ codec: number, senders: 2 }); // for two threads, or two tasks
 * for (const part of [1, 2]) {
 *   using sender = results.sender();
 *   results.send(part);
 * }
 * for (const result of results) console.log(result); // ends, since both have left
 * ```
 * @since 0.3.0
 */
export class Sender implements Disposable {
  readonly #ends: Endpoints;

  /** @internal */
  constructor(channel: object, ends: Endpoints) {
    this.#ends = ends;
    const { module, sending, receiving, senders } = ends;
    if (Atomics.load(receiving.words, (receiving.at + P_SENDERS) / 4) === 0) {
      // The last sender may have left just now.
      if (ends.isClosed) throw sending.closedError();
      throw new TypeError('Channel.sender: the channel was made without senders: make it with { senders: n }');
    }
    senders.set(this, channel);
    module.beginSending(sending.attachment);
  }

  /**
   * Leaves. Does nothing the second time. Never blocks, throws nothing.
   * @example sender.leave();
   */
  leave(): void {
    this.#leave();
  }

  #leave(): void {
    const { module, sending, receiving, senders } = this.#ends;
    if (!senders.delete(this) || sending.isOver) return;
    sending.expectCut();
    module.leaveSenders(sending.at, sending.attachment);
    if (this.#ends.isClosed) receiving.finishClose();
  }

  /** Ends a `using` scope: calls `leave`. */
  [dispose](): void {
    this.#leave();
  }
}
