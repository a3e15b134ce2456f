/**
 * An endpoint is an end of a channel or a watch as one thread uses it: how the thread claims places, waits for them, and
 * passes them on.
 *
 * All library objects of a thread for one channel share its two ends, since the record of what the thread has claimed
 * is one word of its attachment (core/kinds/channel/channel.ts). A call passes on what it has claimed before it
 * returns; only a `Place` and a `Message` outlast their call. So a thread claims nothing at an end while one of these
 * is in use there, and promises that are granted meanwhile wait until its scope ends (`whenFree`).
 *
 * Another thread may have granted a promise that this thread has not settled yet. Such a promise has a permit and no
 * place. So the thread settles its promises before it claims a place for a later call (`tryClaim`, `wait`). Otherwise
 * the later call would have the earlier place, and the messages of this thread would change their order.
 *
 * An exception may end a call anywhere, and the thread survives it: the stack is exhausted, or the `timeout` of node:vm
 * has passed. The attachment tells then that the thread has claimed places, or holds permits. The next call that claims
 * here begins with what the cut call has left undone (`#endCut`). If no such call comes, the thread does the same when
 * it has returned to its event loop (`expectCut`). If the `timeout` of node:vm has cut short what a promise does with its permit, the thread
 * cannot tell whether the promise is still at it, since that exception runs no `finally`. So the promise goes on when
 * the thread is at its event loop, and until then `tryClaim` claims nothing here.
 *
 * A promise that is granted takes its place at once, before any other code of the thread runs. But it may be granted in
 * the middle of the pass of another promise. So `whenFree` keeps those that come meanwhile in their order.
 */

import type { Core } from '../border/core.js';
import {
  ADMITTED,
  ANSWER_CLOSED,
  CLOSED_OBJECT,
  CUT_SHORT,
  E_HELD,
  E_PEER,
  E_TOOK_COUNT,
  E_UNREAD,
  E_WORD,
  INTERRUPTED,
  MORE,
  NO_PLACE,
  O_MAX,
  O_THRESHOLD,
  P_DATA,
  P_END,
  P_NEXT,
  P_TOLD,
  P_UNTOLD,
  PLACE_LENGTH,
  QUEUED,
  REFUSED,
} from '../border/numbers.js';
import { timedOut } from '../common/errors.js';
import type { Signal } from '../objects/options.js';
import { checkWaitAsync } from '../runtime/doorbell.js';
import { CancelledError, DisposedError, mayNotBlock, noRoom } from '../runtime/errors.js';
import { afterInterrupt } from '../runtime/interrupts.js';
import type { Membership, Shared } from '../runtime/membership.js';
import { countdown, LEFT_AS_ASKED, LEFT_AT_TIMEOUT, type Parked, parkUntilDue } from '../runtime/parking.js';
import { type closed, Fifo, type Promises } from '../runtime/promises.js';
import { closedAt } from './closed-error.js';
import type { Module } from './compiled.js';
import { PendingRequest } from './pending-request.js';

/** Whether an answer of tryClaim or claim is the address of a place. */
export function isPlace(answer: number): boolean {
  return (answer & NO_PLACE) === 0;
}

/** What an end says in its errors. */
export interface Texts {
  readonly isSending: boolean;
  readonly thing: 'channel' | 'watch';
  /** What of the object is waited for here, and the names of the methods that do not block. */
  readonly wanted: string;
  readonly instead: string;
  /** What follows `is closed` in the error of a request that is refused then. */
  readonly closed: string;
}

export class Endpoint {
  readonly core: Core;
  readonly module: Module;
  readonly membership: Membership;
  readonly words: Int32Array;
  readonly shared: Shared;
  /** The promises of this thread that wait at this end. */
  readonly promises: Promises;
  /** The address of the shared object, or of the closed one after this thread has released it. */
  at: number;
  readonly attachment: number;
  /** The addresses of the first place and of the last one, and the bytes of a place. */
  readonly #first: number;
  readonly #last: number;
  readonly #size: number;
  /** The numbers in which the module finds a message of one number, or puts it, and the index there. */
  f64: Float64Array;
  word: number;
  peer!: Endpoint;
  /** Makes all library objects of this thread release the channel. */
  readonly release: () => void;
  /**
   * The channel, while a `Place` or a `Message` of this thread is in use at this end. So the collector does not take
   * the channel: nobody else could pass the place on.
   */
  inUse: object | undefined;
  /** What `hasClosed` was when the thread released the channel. */
  #wasClosed = false;
  /**
   * What promises do with their permits. They wait until no `Place` or `Message` is in use. The first one stays here while
   * it runs, so that it runs again if an exception has ended it.
   */
  readonly #granted = new Fifo<() => void>();
  /** How many of these have not begun. */
  #grantedCount = 0;
  #isTaking = false;
  /**
   * How many of the unread messages belong to a promise or a select that has its message, and has not decoded it yet.
   * The others belong to a call under way.
   */
  inTransit = 0;
  /**
   * An exception may cut the call short that claims now. Then the thread does what is left when it has returned to its
   * event loop, if no other call of the thread comes before.
   */
  readonly expectCut = afterInterrupt(() => this.#look());
  /** The address of the attachment. */
  readonly record: number;
  readonly #texts: Texts;
  /** Says which channel or watch it is. */
  readonly #object: () => string;

  constructor(
    membership: Membership,
    module: Module,
    shared: Shared,
    f64: Float64Array,
    release: () => void,
    texts: Texts,
    object: () => string,
  ) {
    this.release = release;
    this.core = membership.core;
    this.module = module;
    this.membership = membership;
    this.words = new Int32Array(membership.memory.buffer);
    this.shared = shared;
    this.promises = shared.promises;
    shared.atRest = () => this.#beginAgain();
    this.at = shared.address;
    this.attachment = shared.attachment;
    this.f64 = f64;
    this.record = module.recordOf(this.attachment);
    const word = (offset: number): number => this.words[(this.at + offset) / 4] as number;
    this.#first = word(P_DATA);
    this.#size = word(O_THRESHOLD);
    this.#last = (this.#first + word(O_MAX) * this.#size) | 0;
    this.word = (this.record + E_WORD) / 8;
    this.#texts = texts;
    this.#object = object;
  }

  /** Says which the other end is, also to the reaper. The thread has claimed nothing before this call. */
  join(peer: Endpoint): void {
    this.peer = peer;
    this.words[(this.record + E_PEER) / 4] = peer.attachment - 1;
  }

  /** The thread has released the shared object. From now on calls of the module find it closed. */
  forget(): void {
    this.#wasClosed = this.hasClosed;
    // A thread that leaves the arena in code of the user, as in `decode`, goes on and hands over what it has copied.
    if (this.membership.hasLeft && this.at !== CLOSED_OBJECT) this.words[(this.record + E_UNREAD) / 4] = 0;
    this.at = CLOSED_OBJECT;
    this.f64 = new Float64Array(1);
    this.word = 0;
    this.takeGranted();
  }

  /** How many places the thread claimed last. */
  get count(): number {
    return this.words[(this.record + E_TOOK_COUNT) / 4] as number;
  }

  /** Claims up to `most` places if any is free and no promise waits. Returns the first, REFUSED or ANSWER_CLOSED. */
  tryClaim(most: number): number {
    // If a promise is left, another thread may grant it just now.
    if (this.promises.first !== 0 && this.settle()) {
      if (this.#isCut) this.#endCut();
      return REFUSED;
    }
    this.expectCut();
    let answer: number = this.module.tryClaim(this.at, this.attachment, most);
    if ((answer === CUT_SHORT || answer === ANSWER_CLOSED) && this.#isCut) {
      this.#endCut();
      answer = this.module.tryClaim(this.at, this.attachment, most);
    }
    // The permits that the thread still holds belong to promises that do not know it yet.
    return answer === CUT_SHORT ? REFUSED : answer;
  }

  /** Whether a cut call has left places that it had claimed, or permits. */
  get #isCut(): boolean {
    if (this.isOver || this.inUse !== undefined || this.promises.owes) return false;
    const at = this.record / 4;
    return ((this.words[at + E_TOOK_COUNT / 4] as number) | (this.words[at + E_HELD / 4] as number)) !== 0;
  }

  /** Does what a cut call has left undone here: passes on what it had claimed, and gives its permits back. */
  #endCut(): void {
    this.#beginAgain();
    // The core ends a release that was cut short.
    this.core.finishPendingCall();
    if (this.count !== 0) this.abandon();
    this.promises.settle();
    this.takeGranted();
    // Promises that are settled and still wait for their turn have a permit each.
    const left = (this.words[(this.record + E_HELD) / 4] as number) - this.#grantedCount;
    if (left > 0 && !this.promises.owes) this.giveBack(left);
  }

  /** No call is under way here, so no function of a promise runs. An exception may have ended a call of `takeGranted`. */
  #beginAgain(): void {
    this.#isTaking = false;
    this.#grantedCount = this.#granted.end - this.#granted.first;
  }

  /** Is called by the event loop. No call of this thread is under way, so what looks like one was cut short. */
  #look(): void {
    this.#beginAgain();
    if (this.isOver) {
      this.takeGranted();
      return;
    }
    this.core.finishPendingCall();
    if (this.promises.owes) this.promises.flush();
    if (this.#isCut) this.#endCut();
    this.takeGranted();
    if (this.#isClosed) this.finishClose();
    const unread = (this.record + E_UNREAD) / 4;
    if (this.isOver || this.#texts.isSending) return;
    const lost = (this.words[unread] as number) - this.inTransit;
    if (lost <= 0) return;
    this.words[unread] = this.inTransit;
    Atomics.add(this.words, (this.peer.at + P_TOLD) / 4, lost);
  }

  /**
   * Blocks until the thread has claimed n places. Returns the address of the first.
   * @param left says how much of the time-out is left.
   */
  wait(n: number, timeout: number, left = countdown(timeout)): number {
    const { core, module, at, attachment, membership } = this;
    if (this.#isCut) this.#endCut();
    this.expectCut();
    const taken = core.tryAcquireRobust(at, n, attachment);
    if (taken === ADMITTED) return this.#claimNext(n);
    if (taken === ANSWER_CLOSED) throw this.closedError();
    if (this.#isClosed) this.finishClose();
    this.checkWait(timeout, left);
    if (n === 1) {
      module.setAwake(membership.pollTime.pauses, membership.pollTime.near);
      while (module.pollFor(at) !== 0) {
        const answer = this.tryClaim(1);
        if (isPlace(answer)) return answer;
        if (answer === ANSWER_CLOSED) break;
      }
    }
    this.queue(n, timeout, left);
    return this.#claimNext(n);
  }

  /** Claims n places whose permits a blocking call has. Promises that were granted before claim theirs first. */
  #claimNext(n: number): number {
    this.settle();
    return this.claim(n);
  }

  /** Throws if no time is left to wait, or the thread must not block. */
  checkWait(timeout: number, left: () => number): void {
    if (left() <= 0) throw timedOut(this.wanted(), timeout);
    if (!this.membership.mayBlock) throw mayNotBlock(this.#texts.instead);
  }

  /**
   * Blocks until the queue has given the thread n permits, or until `isVain` says that the thread need not wait any
   * more, once it stands in the queue: then it leaves. Returns false if it has left so.
   */
  queue(n: number, timeout: number, left: () => number, isVain?: () => boolean): boolean {
    const { core, at, membership } = this;
    const { countedBy } = this.shared;
    // A request that leaves the queue needs a second wait element for its tombstone.
    const mayLeave = timeout !== Infinity || isVain !== undefined;
    if (mayLeave && at !== CLOSED_OBJECT && !core.reserveSecond()) throw noRoom(core);
    membership.expectInterrupt();
    const taken = core.acquireRobust(at, n, countedBy);
    let answer: ReturnType<Core['enqueue']> | Parked =
      taken === ADMITTED ? ADMITTED : core.enqueue(at, n, taken, countedBy);
    if (answer === QUEUED) {
      const leaves = isVain?.() === true;
      answer = parkUntilDue(membership, at, countedBy, leaves ? () => 0 : left);
      if (leaves && answer === LEFT_AT_TIMEOUT) return false;
    }
    if (answer === ADMITTED) return true;
    if (answer === ANSWER_CLOSED) throw this.endedError();
    if (answer === LEFT_AT_TIMEOUT) throw timedOut(this.wanted(), timeout);
    throw answer === LEFT_AS_ASKED ? new CancelledError() : noRoom(core);
  }

  /** Claims n places whose permits the thread has. Returns the address of the first. */
  claim(n: number): number {
    if (this.isOver) throw this.closedError();
    this.expectCut();
    let place: number = this.module.claim(this.at, this.attachment, n);
    if (place === CUT_SHORT) {
      // The permits of the thread may be those of this call.
      this.abandon();
      place = this.module.claim(this.at, this.attachment, n);
    }
    if (isPlace(place)) return place;
    throw this.closedError();
  }

  /** Gives n permits of this end back. If the thread has released the channel, the permits went with it. */
  giveBack(n = 1): void {
    if (this.isOver) return;
    const { at, attachment } = this;
    this.promises.planRest();
    const answer = this.core.releaseRobust(at, n, attachment);
    if (answer > ADMITTED) this.promises.finishRelease(at, n, answer);
  }

  /**
   * Claims a place without blocking, and calls `use` with its address. `use` passes the place on. The promise gets what
   * `use` returns. If an exception has cut the claim or `use` short, `again` is called in their place.
   * @param keeper a library object that lives as long as the promise waits.
   */
  async claimAsync<T>(
    keeper: { [closed](): void },
    timeout: number,
    left: () => number,
    signal: Signal | undefined,
    use: (place: number) => T,
    again: () => T,
  ): Promise<T> {
    checkWaitAsync();
    if (this.isFree) {
      const answer = this.tryClaim(1);
      if (isPlace(answer)) return use(answer);
      if (answer === ANSWER_CLOSED) throw this.closedError();
    }
    let hasBegun = false;
    return this.queueAsync(keeper, timeout, left, signal, () => {
      if (hasBegun) return again();
      // In this order: the permit may be used up as soon as `claim` begins. If it is not, it goes back (`#endCut`).
      hasBegun = true;
      return use(this.claim(1));
    });
  }

  /**
   * Waits for a permit without blocking, and calls `use` with it, while no `Place` or `Message` is in use. The promise
   * gets what `use` returns.
   * @param stands is called once the promise stands in the queue.
   */
  async queueAsync<T>(
    keeper: { [closed](): void },
    timeout: number,
    left: () => number,
    signal: Signal | undefined,
    use: () => T,
    stands?: () => void,
  ): Promise<T> {
    const rest = left();
    if (rest <= 0) throw timedOut(this.wanted(), timeout);
    if (this.#isClosed) this.finishClose();
    return new Promise<T>((resolve, reject) => {
      const request = new PendingRequest(this, timeout, signal, use, resolve, reject);
      request.begin(keeper, rest);
      if (!request.isOver) stands?.();
    });
  }

  /** Settles the promises of this thread that are due here. Returns whether others wait. */
  settle(): boolean {
    if (this.promises.first !== 0) this.promises.settle();
    return this.promises.first !== 0;
  }

  /** Calls a function that claims and passes on, as soon as no `Place` or `Message` of the thread is in use here. */
  whenFree(run: () => void): void {
    this.#granted.put(run);
    // No call comes between the two, so no exception does.
    this.#granted.end++;
    this.#grantedCount++;
    this.takeGranted();
  }

  /** A scope may have ended. Then promises that were granted meanwhile take their turn. */
  takeGranted(): void {
    if (this.#isTaking || this.#grantedCount === 0 || this.isOut) return;
    this.expectCut();
    this.#isTaking = true;
    try {
      while (this.#grantedCount > 0 && !this.isOut) {
        const run = this.#granted.peek();
        this.#grantedCount--;
        run?.();
        this.#granted.shift();
      }
    } finally {
      this.#isTaking = false;
      this.#grantedCount = this.#granted.end - this.#granted.first;
    }
  }

  /** Whether promises have a permit, and could not use it yet. */
  get hasGranted(): boolean {
    return this.#grantedCount > 0;
  }

  /** Whether a `Place` or a `Message` of this thread is in use here, and the thread has not released the channel. */
  get isOut(): boolean {
    return this.inUse !== undefined && !this.isOver;
  }

  /** Whether no `Place` or `Message` of this thread is in use here, and no promise of it waits here. */
  get isIdle(): boolean {
    return this.inUse === undefined && this.promises.first === 0;
  }

  /** Whether the thread may claim here now. */
  get isFree(): boolean {
    return !this.isOut && !this.#isTaking;
  }

  /** Returns the place behind a place. Behind the last place is the first one. */
  after(place: number): number {
    return place === this.#last ? this.#first : (place + this.#size) | 0;
  }

  /** Whether this thread has released the channel. What it had claimed there is over. */
  get isOver(): boolean {
    return this.at === CLOSED_OBJECT || this.peer.at === CLOSED_OBJECT;
  }

  /**
   * Passes on what the thread has claimed. So many messages of it are unread until `handed` is called for them.
   */
  pass(unread = 0): void {
    const { promises } = this.peer;
    if (promises.first !== 0) promises.planRest();
    const answer = this.isOver ? ADMITTED : this.module.pass(this.at, this.attachment, unread);
    if (answer !== ADMITTED) this.passed(answer);
    if (this.#grantedCount > 0) this.takeGranted();
  }

  /**
   * Passes on what the thread has claimed and does not use: a sender leaves holes, and of a receiver it counts as lost.
   */
  abandon(): void {
    const { promises } = this.peer;
    if (promises.first !== 0) promises.planRest();
    const answer = this.isOver ? ADMITTED : this.module.abandon(this.at, this.attachment);
    if (answer !== ADMITTED) this.passed(answer);
    if (this.#grantedCount > 0) this.takeGranted();
  }

  /** The program gets so many messages that were unread. */
  handed(messages: number): void {
    if (this.isOver) return;
    const unread = (this.record + E_UNREAD) / 4;
    this.words[unread] = (this.words[unread] as number) - messages;
  }

  /** Does what is to follow a pass with this answer. */
  passed(answer: number): void {
    const { peer } = this;
    if (answer === MORE || answer === INTERRUPTED)
      peer.promises.finishRelease(peer.at, this.module.given.value, answer);
    if (this.hasEnded) this.finishClose();
  }

  /** Whether this is the receiving end of a closed channel, and every message has been claimed. */
  get hasEnded(): boolean {
    const at = this.at / 4;
    const end = Atomics.load(this.words, at + P_END / 4);
    return end !== 0 && end === ((Atomics.load(this.words, at + P_NEXT / 4) << 1) | 1);
  }

  /** Ends the waits at a closed channel. */
  finishClose(): void {
    const [sending, receiving] = this.#texts.isSending ? [this, this.peer] : [this.peer, this];
    const both = [sending.promises, receiving.promises];
    for (const promises of both) promises.planRest();
    this.module.finishClose(sending.at, receiving.at);
    for (const promises of both) promises.settle();
  }

  /**
   * Whether nothing can be had here any more. The queue may be open still, if the call was cut short that has closed
   * the channel or has claimed the last message.
   */
  get #isClosed(): boolean {
    return !this.isOver && this.hasClosed;
  }

  /** Whether deaths at the other end have lost something, and no thread of this end was told. */
  get hasNews(): boolean {
    return this.words[(this.at + P_UNTOLD) / 4] !== 0;
  }

  /** Returns how much deaths at the other end have lost since the last call of any thread. */
  takeNews(): number {
    return this.at === CLOSED_OBJECT ? 0 : this.module.takeUntold(this.at);
  }

  /** The length of the message in a place. Below 0 there is none. */
  lengthOf(place: number): number {
    return this.words[(place + PLACE_LENGTH) >>> 2] as number;
  }

  setLength(place: number, length: number): void {
    this.words[(place + PLACE_LENGTH) >>> 2] = length;
  }

  /** The error for a call that finds the queue closed. */
  closedError(): Error {
    return this.isOver || this.#isDisposed ? this.disposedError() : this.#closedHere();
  }

  #closedHere(): Error {
    return closedAt(this, `${this.#object()} is closed${this.#texts.closed}`);
  }

  /** Says, for a TimeoutError, what a request waited for. */
  wanted(): string {
    return `${this.#texts.wanted} ${this.#object()}`;
  }

  /**
   * The error for a wait that finds the queue closed. If the channel was closed and then disposed of, the wait has come
   * to the end of the channel, however late the thread looks.
   */
  endedError(): Error {
    return this.hasClosed ? this.#closedHere() : this.closedError();
  }

  /**
   * Whether waits at this end end because the channel is closed: no sender may send any more, and every message has
   * been claimed. It may have been disposed of since.
   */
  get hasClosed(): boolean {
    if (this.at === CLOSED_OBJECT) return this.#wasClosed;
    return this.#texts.isSending ? Atomics.load(this.words, (this.at + P_NEXT) / 4 + 1) < 0 : this.hasEnded;
  }

  /** Whether a thread has disposed of the channel. It disposes of the sending end first. */
  get #isDisposed(): boolean {
    return this.core.isDisposed((this.#texts.isSending ? this : this.peer).at) !== 0;
  }

  /** Releases the object, and returns the error that reports its end. */
  disposedError(): Error {
    const object = this.#object();
    this.release();
    return new DisposedError(`${object} has been disposed of`);
  }

  /** A promise found the queue closed. `Promises` takes every closed queue for one that was disposed of. */
  closedBy(error: unknown, hasClosed: boolean): unknown {
    if (!(error instanceof DisposedError)) return error;
    return hasClosed ? this.#closedHere() : this.closedError();
  }
}
