/**
 * PhaseObject is what Latch, WaitGroup, Event, Barrier and Once share: how a thread or a promise waits for the end of a
 * phase (core/primitives/phase.ts).
 *
 * The promises of a library object wait together, by one `Atomics.waitAsync` on the phase. Such a wait cannot be
 * cancelled, and each one costs the runtime memory until it is notified.
 */
import { host } from '#host';
import type { Arena } from '../arena.js';
import { mayNotBlock, TimeoutError } from '../errors.js';
import {
  budget,
  checkWaitOptions,
  PARKING,
  type ParkingOptions,
  type Properties,
  type WaitOptions,
} from '../options.js';
import * as references from '../reference.js';
import { type Attachment, ended } from '../runtime/attachment.js';
import { reasonOf, watch } from '../runtime/cancellation.js';
import { timestamp } from '../runtime/clock.js';
import { ADMITTED, ANSWER_CLOSED, CLOSED_OBJECT, QUEUED, REFUSED, TIMED_OUT } from '../runtime/core.js';
import { afterInterrupt } from '../runtime/interrupts.js';
import { KINDS, type Kind } from '../runtime/kinds.js';
import { ADAPTIVE } from '../runtime/numbers.js';
import { countdown, nanoseconds } from '../runtime/parking.js';
import { canWaitAsync, NO_WAIT_ASYNC, waitAsync } from '../runtime/wait-async.js';
import { close, disposedError, forget, reference, SharedObject } from '../shared-object.js';
import { threadIdOf } from '../stats.js';
import { type Sync, syncOf } from './compiled.js';

/** The options of a new object of `taketurns/sync`. */
export interface SyncOptions extends ParkingOptions {
  /** The arena of the object. Default: `Arena.default`. */
  readonly arena?: Arena;
}

/** A thread that waits for an object. */
export interface Waiter {
  /** The number of the thread in the arena. */
  readonly thread: number;
  /** The `threadId` of the thread in `worker_threads`; undefined in web workers. */
  readonly threadId: number | undefined;
  /** The number of its calls that wait: blocked ones and promises. */
  readonly calls: number;
  /** Milliseconds since the first of them began to wait, from 0 on. */
  readonly waited: number;
}

/** The offset of the upper half of O_PHASE, in words of 4 bytes. */
const PHASE = 44 / 4;

/** A call that waits for the end of a phase without blocking. */
interface Pending {
  readonly phase: number;
  settle(answer: number): void;
  fail(reason: unknown): void;
}

export abstract class PhaseObject<K extends Kind> extends SharedObject<K> {
  /** @internal */
  declare protected readonly sync: Sync;
  /** @internal The address of the shared object, or of the closed one after this object has released its reference. */
  declare protected at: number;
  readonly #attachment: Attachment;
  readonly #words: Int32Array;
  readonly #pending = new Set<Pending>();
  /** The phase for whose end an `Atomics.waitAsync` is pending. */
  #listens: number | undefined;
  #keepsAlive = false;
  /** Whether a call of this thread that blocks is counted as one that waits. */
  #blocks = false;
  readonly #uncountAfterInterrupt = afterInterrupt(() => this.uncountBlocked());

  /** @internal */
  protected constructor(kind: K, given: references.Reference, thing: string) {
    super(kind, given, thing);
    this.#attachment = given.attachment;
    this.#words = new Int32Array(given.attachment.memory.buffer);
    this.sync = syncOf(given.attachment);
    this.at = given.address;
  }

  /** Whether the object has been disposed of, as far as this library object has noticed. */
  get disposed(): boolean {
    return this.at === CLOSED_OBJECT;
  }

  /** The number of calls that wait, of all threads: blocked ones and promises. It is racy, and meant for diagnostics. */
  get waiting(): number {
    return this.waiters().reduce((sum, { calls }) => sum + calls, 0);
  }

  /** @internal What the object says of itself, besides its class and those who wait. */
  protected abstract get state(): string;

  /**
   * Returns the class, the state and the number of calls that wait, for example `Latch(2 left, 1 waiting)`. It is racy, and
   * meant for diagnostics. Never blocks, throws nothing.
   */
  override toString(): string {
    const is = this.disposed ? 'disposed' : `${this.state}, ${this.waiting} waiting`;
    return `${this[Symbol.toStringTag]}(${is})`;
  }

  /** @internal The threads that wait, the longest first. */
  protected waiters(): Waiter[] {
    const now = timestamp();
    const found: Waiter[] = [];
    for (const number of this.attachments()) {
      const calls = this.sync.waitsBy(number);
      if (calls < 1) continue;
      const waited = Math.max((now - this.sync.waitsSinceBy(number)) | 0, 0);
      const thread = this.sync.threadOfAttachment(number);
      found.push({ thread, threadId: threadIdOf(this.#attachment.core, thread), calls, waited });
    }
    return found.sort((a, b) => b.waited - a.waited);
  }

  /** @internal Whether a waiter polls for a while before it sleeps, if its policy leaves that open. */
  protected get mayPoll(): boolean {
    return true;
  }

  /** @internal Whether the count is 0 and the object has not been disposed of. */
  protected get isOpen(): boolean {
    return this.sync.awaitZero(this.at) === ADMITTED;
  }

  /** @internal The numbers of the attachments of all threads to the object. */
  protected *attachments(): Generator<number> {
    for (let number = 0; ; ) {
      number = this.disposed ? 0 : this.sync.attachmentAfter(this.at, number);
      if (number === 0) return;
      yield number;
    }
  }

  /** @internal The number of this thread's attachment. */
  protected get number(): number {
    return this[reference].shared.number;
  }

  /** @internal The phase at which the last look of this thread has found that it must wait. */
  protected get phaseSeen(): number {
    return this.sync.phaseSeen.value;
  }

  /** @internal Throws if this thread must not block. */
  protected checkBlocking(instead: string): void {
    if (!this.#attachment.mayBlock) throw mayNotBlock(instead);
  }

  /** @internal Blocks until the phase is over. Returns ADMITTED, ANSWER_CLOSED, or REFUSED when the time has passed. */
  protected sleep(phase: number, left: () => number): number {
    const { awake } = this.#attachment;
    awake.waits();
    this.sync.setAwake(this.mayPoll ? awake.turns : 0, awake.near);
    const { at } = this;
    this.countBlocked();
    try {
      for (let remaining = left(); remaining > 0; remaining = left()) {
        const limit = remaining === Infinity ? -1n : nanoseconds(remaining);
        const answer = this.sync.sleepInPhase(at, phase, limit);
        if (answer !== TIMED_OUT) return this.answerAt(at, phase);
      }
      return this.lastAnswer(phase);
    } finally {
      this.uncountBlocked();
    }
  }

  /** @internal Counts a call of this thread that is about to block as one that waits. */
  protected countBlocked(): void {
    this.uncountBlocked();
    this.sync.noteWaits(this.number, 1, timestamp());
    this.#blocks = true;
    this.#uncountAfterInterrupt();
  }

  /** @internal The call is over, or the runtime has ended it by an exception (runtime/interrupts.ts). */
  protected uncountBlocked(): void {
    if (this.#blocks && !this.disposed) this.sync.noteWaits(this.number, -1, 0);
    this.#blocks = false;
  }

  /** @internal As `sleep`, without blocking. `cancel` may answer that the phase was over before the time had passed. */
  protected sleepAsync(
    phase: number,
    timeout: number,
    signal: WaitOptions['signal'],
    cancel: () => number = () => this.lastAnswer(phase),
  ): Promise<number> {
    if (!canWaitAsync) return Promise.reject(new Error(NO_WAIT_ASYNC));
    return new Promise((resolve, reject) => {
      const { number } = this;
      this.sync.noteWaits(number, 1, timestamp());
      const over = (): void => {
        stop();
        this.#pending.delete(pending);
        if (!this.disposed) this.sync.noteWaits(number, -1, 0);
        if (this.#pending.size > 0) return;
        this.#keepAlive(false);
        // A pending waitAsync would keep this object and the memory. It cannot be cancelled, but it can be woken.
        if (this.#listens !== undefined && !this.disposed) this.#stopListening(this.at);
      };
      const pending: Pending = {
        phase,
        settle: (answer) => {
          over();
          resolve(answer);
        },
        fail: (reason) => {
          over();
          reject(reason);
        },
      };
      const stop = watch(
        timeout,
        signal,
        (late) => {
          const reason = late();
          const isAbort = signal?.aborted === true && reason === reasonOf(signal);
          const isTimeout = reason instanceof TimeoutError && !isAbort;
          const answer = cancel();
          if (answer !== REFUSED || isTimeout) pending.settle(answer);
          else pending.fail(reason);
        },
        () => 'the end of the phase',
      );
      this.#pending.add(pending);
      this.#keepAlive(true);
      this.#listen();
    });
  }

  /** Settles the promises whose phase is over, and waits for the end of the phase of the others. */
  #listen(): void {
    while (true) {
      let phase: number | undefined;
      for (const pending of [...this.#pending]) {
        const answer = this.answerAt(this.at, pending.phase);
        if (answer === QUEUED) phase = pending.phase;
        else pending.settle(answer);
      }
      if (phase === undefined || this.#listens === phase) return;
      const wait = waitAsync(this.#words, (this.at >> 2) + PHASE, phase);
      if (!wait.async) continue;
      const listensTo = phase;
      this.#listens = listensTo;
      wait.value.then(() => {
        // By now another wait may be pending, for a later phase.
        if (this.#listens === listensTo) this.#listens = undefined;
        this.#listen();
      });
      return;
    }
  }

  /**
   * @internal Returns how a phase of the object at this address has ended, or QUEUED if it has not. Then whoever ends it
   * wakes those who listen.
   */
  protected answerAt(at: number, phase: number): number {
    return this.sync.announce(at, phase);
  }

  /** @internal The answer to a call that has waited for long enough. */
  protected lastAnswer(phase: number): number {
    const answer = this.answerAt(this.at, phase);
    return answer === QUEUED ? REFUSED : answer;
  }

  #stopListening(at: number): void {
    Atomics.notify(this.#words, (at >> 2) + PHASE);
  }

  #keepAlive(on: boolean): void {
    if (on === this.#keepsAlive) return;
    this.#keepsAlive = on;
    host.keepAlive(on);
  }

  /** @internal */
  protected override [close](): void {
    this.sync.disposePhase(this.at);
  }

  /** @internal The record of the attachment, and the memory of the object, may be another's by now. */
  override [ended](): void {
    this.#letGo(() => ANSWER_CLOSED);
    super[ended]();
  }

  /** @internal */
  protected override [forget](): void {
    const { at } = this;
    this.#letGo(({ phase }) => {
      const answer = this.answerAt(at, phase);
      return answer === QUEUED ? ANSWER_CLOSED : answer;
    });
  }

  #letGo(answerTo: (pending: Pending) => number): void {
    const { at } = this;
    this.at = CLOSED_OBJECT;
    for (const pending of [...this.#pending]) pending.settle(answerTo(pending));
    // This ends a pending waitAsync, which would keep the memory.
    if (this.#listens !== undefined) this.#stopListening(at);
  }
}

/** An object for which threads wait until its count is 0: a Latch, a WaitGroup or an Event. */
export abstract class ZeroObject<K extends Kind> extends PhaseObject<K> {
  readonly #kind: K;

  /** @internal */
  protected constructor(kind: K, given: references.Reference, thing: string) {
    super(kind, given, thing);
    this.#kind = kind;
  }

  /** @internal Returns false if the time has passed. */
  protected awaitZero(options: WaitOptions = {}): boolean {
    const timeout = checkWaitOptions(`${this.#kind}.wait`, options);
    const answer = this.sync.awaitZero(this.at);
    return this.#answer(answer === QUEUED ? this.#sleep(timeout) : answer);
  }

  #sleep(timeout: number): number {
    if (timeout === 0) return REFUSED;
    this.checkBlocking('waitAsync');
    return this.sleep(this.phaseSeen, countdown(timeout));
  }

  /** @internal Rejects with the reason of the signal. */
  protected async awaitZeroAsync(options: WaitOptions): Promise<boolean> {
    const timeout = checkWaitOptions(`${this.#kind}.waitAsync`, options);
    const answer = this.sync.awaitZero(this.at);
    if (answer !== QUEUED) return this.#answer(answer);
    if (timeout === 0) return false;
    return this.#answer(await this.sleepAsync(this.phaseSeen, timeout, options.signal));
  }

  #answer(answer: number): boolean {
    if (answer === ANSWER_CLOSED) throw this[disposedError]();
    return answer === ADMITTED;
  }
}

/** @internal Throws if a function that must be over when it returns has returned a promise, and minds that. */
export function refusePromise(result: unknown, message: string): void {
  if (typeof (result as PromiseLike<unknown> | undefined)?.then !== 'function') return;
  Promise.resolve(result).catch(() => {});
  throw new TypeError(message);
}

/** @internal Makes the shared object of a new object whose count begins with `count`. */
export function make(
  kind: Kind,
  options: SyncOptions,
  count: number,
  max: number,
  robust: boolean,
): references.Reference {
  return references.make(kind, KINDS[kind], propertiesOf(kind, options, count, max, robust), options.arena);
}

/** @internal `own` is what the objects of one name have in common, besides the kind. */
export function open(
  kind: Kind,
  name: string,
  options: SyncOptions,
  count: number,
  max: number,
  robust: boolean,
  own?: string | (() => Error),
): references.Reference {
  const p = propertiesOf(kind, options, count, max, robust);
  return references.open(kind, KINDS[kind], name, p, options.arena, own);
}

/** @internal */
export function find(kind: Kind, handle: references.Handle): references.Reference {
  return references.find(kind, KINDS[kind], handle);
}

function propertiesOf(kind: Kind, options: SyncOptions, permits: number, max: number, robust: boolean): Properties {
  return { permits, max, spin: budget(kind, options, ADAPTIVE, PARKING), robust };
}
