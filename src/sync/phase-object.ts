/**
 * PhaseObject is what Latch, WaitGroup, Event, Barrier, Once and RwLock share: how a thread or a promise waits for the
 * end of a phase (core/kinds/phase/phase.ts).
 *
 *     a blocked call     sleep          sleeps on the phase word in the core
 *     promises           sleepAsync     are one group per thread and address:
 *
 *         group   calls ──► the functions that settle its promises
 *                 phase, looker (a library object that looks at the phase), listens
 *                            └── one Atomics.waitAsync on the phase word, for all promises of the group
 *
 * All promises of this thread that wait at one address wait for the end of the same phase, and get the same answer. So
 * one `Atomics.waitAsync` suffices for the group.
 *
 * An `Atomics.waitAsync` cannot be cancelled. A notify would end it, but blocked threads sleep on the same word and
 * would be woken in vain. So when the last promise of a group gives up, the `Atomics.waitAsync` stays pending, and the
 * next promises at this address use it, whatever their phase is. It keeps no library object and no memory. There is one
 * exception: on some runtimes a helper waits in place of the runtime (host/helper.ts). A helper is a whole thread, so
 * the group wakes the helper.
 */

import { host } from '#host';
import type { Arena } from '../arena/arena.js';
import type { Kind } from '../border/kinds.js';
import {
  ADMITTED,
  type ANSWER_BROKEN,
  ANSWER_CLOSED,
  CANCELLED,
  CLOSED_OBJECT,
  PHASE_INDEX,
  QUEUED,
  TIMED_OUT,
} from '../border/numbers.js';
import type { Sync } from '../border/sync.js';
import { callEach } from '../common/each.js';
import { timedOut } from '../common/errors.js';
import { waitingAt } from '../look/elements.js';
import { attachmentsOf, type Look, lookAt } from '../look/look.js';
import type { WaitOptions } from '../objects/options.js';
import type { Reference } from '../objects/reference.js';
import { close, disposedError, forget, isOver, named, reference, SharedObject } from '../objects/shared-object.js';
import { threadIdOf } from '../objects/thread-text.js';
import { cancelOn, isTimeout } from '../runtime/cancellation.js';
import { timestamp } from '../runtime/clock.js';
import { checkWaitAsync, isNative, waitAsync } from '../runtime/doorbell.js';
import { mayNotBlock } from '../runtime/errors.js';
import { afterInterrupt } from '../runtime/interrupts.js';
import { type Membership, threadEnded } from '../runtime/membership.js';
import { MOST_LISTED, WAIT_BLOCKED, WAIT_FAILED } from '../runtime/numbers.js';
import { nanoseconds } from '../runtime/parking.js';
import { syncOf } from './compiled.js';

/** The options of a new object of `taketurns/sync`. A `Condition` takes no options. */
export interface SyncOptions {
  /** The arena of the object. Default: `Arena.default`. */
  readonly arena?: Arena;
}

/** A thread that waits for an object. */
export interface Waiter {
  /** The number of the thread in the arena. */
  readonly thread: number;
  /** The `threadId` of the thread in `worker_threads`; undefined in web workers. */
  readonly threadId: number | undefined;
  /** The number of calls of the thread that wait: blocked calls and promises. */
  readonly calls: number;
  /** How many milliseconds ago the first of these calls began to wait, from 0 on. */
  readonly waited: number;
}

/**
 * @internal How a wait for the end of a phase has ended. CANCELLED: the call has given up. ANSWER_BROKEN: the barrier was
 * broken; no other object gives this answer.
 *
 * A function that tells the answers apart names those that are left by `satisfies`, which costs no code. So a new
 * answer does not compile until each of these functions says what it does with the answer.
 */
export type Ended = ADMITTED | ANSWER_CLOSED | ANSWER_BROKEN | CANCELLED;

/** The promises of this thread that wait at one address for the end of a phase. */
interface Group {
  phase: number;
  /** The functions that settle the promises with an answer. */
  readonly calls: Set<(answer: Ended) => void>;
  /** A library object that looks at the phase for all promises, while promises wait. */
  looker: PhaseObject<Kind> | undefined;
  /** Whether an `Atomics.waitAsync` is pending. */
  listens: boolean;
}

const FOR_EVER = nanoseconds(Infinity);

/** For each membership: the groups by their addresses. A group stays here while promises wait or it listens. */
const groups = new WeakMap<Membership, Map<number, Group>>();

// The hooks of the classes, as in SharedObject.
/** @internal */
export const functions = Symbol();
/** @internal */
export const address = Symbol();
/** @internal */
export const state = Symbol();
/** @internal */
export const count = Symbol();
/** @internal */
export const waiters = Symbol();
/** @internal */
export const mayPoll = Symbol();
/** @internal */
export const isOpen = Symbol();
/** @internal */
export const look = Symbol();
/** @internal */
export const holders = Symbol();
/** @internal */
export const ownAttachment = Symbol();
/** @internal */
export const phaseSeen = Symbol();
/** @internal */
export const checkBlocking = Symbol();
/** @internal */
export const sleep = Symbol();
/** @internal */
export const sleepForEver = Symbol();
/** @internal */
export const block = Symbol();
/** @internal */
export const countBlocked = Symbol();
/** @internal */
export const uncountBlocked = Symbol();
/** @internal */
export const sleepAsync = Symbol();
/** @internal */
export const goOn = Symbol();
/** @internal */
export const answerAt = Symbol();
/** @internal */
export const lastAnswer = Symbol();
/** @internal */
export const checkEnded = Symbol();

export abstract class PhaseObject<K extends Kind> extends SharedObject<K> {
  /** @internal The functions of the core. */
  protected readonly [functions]: Sync = syncOf(this[reference].membership);
  #at: number = this[reference].address;
  readonly #membership: Membership;
  readonly #words: Int32Array;
  readonly #groups: Map<number, Group>;
  /** Whether a blocking call of this thread is counted as one that waits. */
  #blocks = false;
  readonly #uncountAfterInterrupt = afterInterrupt(() => this[uncountBlocked](true));

  /** @internal */
  protected constructor(kind: K, given: Reference) {
    super(kind, given);
    this.#membership = given.membership;
    this.#words = new Int32Array(given.membership.memory.buffer);
    this.#groups = groups.get(given.membership) ?? new Map();
    groups.set(given.membership, this.#groups);
  }

  /** @internal The address of the shared object, or of the closed one after this object has released its reference. */
  protected get [address](): number {
    return this.#at;
  }

  /**
   * The number of calls of all threads that wait: blocked calls and promises. The number may be out of date at once,
   * and is meant for diagnostics.
   */
  get waiting(): number {
    return this[count];
  }

  /** @internal */
  protected get [count](): number {
    return waitingAt(this.#membership.memory, this.#at);
  }

  /** @internal What `toString` says besides the class and the number of waiting calls. */
  protected abstract get [state](): string;

  /**
   * Returns the class, the state and the number of calls that wait, for example `Latch(2 left, 1 waiting)`, for
   * diagnostics. Never blocks, throws nothing.
   */
  override toString(): string {
    const is = this[isOver] ? 'disposed' : `${this[state]}, ${this[count]} waiting`;
    return `${this[Symbol.toStringTag]}(${this[named](', ')}${is})`;
  }

  /** @internal The threads that wait. The thread that has waited longest comes first. */
  protected [waiters](): Waiter[] {
    return this[look]()
      .waitersOf(this.#at, Infinity)
      .map(({ thread, requests, waited }) => {
        return { thread, threadId: threadIdOf(this.#membership.core, thread), calls: requests, waited };
      });
  }

  /** @internal Whether a waiter may poll before it sleeps. */
  protected get [mayPoll](): boolean {
    return true;
  }

  /** @internal Whether the count is 0 and the object has not been disposed of. */
  protected get [isOpen](): boolean {
    return this[functions].awaitZero(this.#at) === ADMITTED;
  }

  /** @internal Looks at who waits for the object, and who holds something of it: nobody once it is over. */
  protected [look](): Look {
    return lookAt(this.#membership.memory, timestamp(), MOST_LISTED, this.#at);
  }

  /** @internal The threads that hold something of the object: tasks, a part in the rounds, the turn. */
  protected [holders](): readonly { readonly thread: number; readonly held: number }[] {
    return attachmentsOf(this[look](), this.#at).filter(({ held }) => held > 0);
  }

  /** @internal The number of this thread's attachment. */
  protected get [ownAttachment](): number {
    return this[reference].shared.attachment;
  }

  /** @internal The phase that this thread read when it last looked at an object, for example by `awaitZero`. */
  protected get [phaseSeen](): number {
    return this[functions].phaseSeen.value;
  }

  /** @internal Throws if this thread must not block. */
  protected [checkBlocking](instead: string): void {
    if (!this.#membership.mayBlock) throw mayNotBlock(instead);
  }

  /** @internal Blocks until the phase is over, or until the time has passed: then the call gives up. */
  protected [sleep](phase: number, left: () => number): Ended {
    return this[block](
      left,
      (nanoseconds) => this[functions].sleepInPhase(this.#at, phase, nanoseconds),
      () => this[lastAnswer](phase),
    );
  }

  /** @internal Blocks until the phase is over, without a time limit. A barrier calls it in every round. */
  protected [sleepForEver](phase: number): Ended {
    this.#prepareToPoll();
    this[countBlocked]();
    let hasFailed = true;
    try {
      const answer = this[functions].sleepInPhase(this.#at, phase, FOR_EVER);
      const how = answer === ADMITTED && !this[functions].wasBroken(this.#at, phase) ? answer : this[lastAnswer](phase);
      hasFailed = how !== ADMITTED;
      return how;
    } finally {
      this[uncountBlocked](hasFailed);
    }
  }

  #prepareToPoll(): void {
    const { pollTime } = this.#membership;
    pollTime.waits();
    this[functions].setAwake(this[mayPoll] ? pollTime.pauses : 0, pollTime.near);
  }

  /**
   * @internal Blocks the thread by calls of `sleep`, until one of them answers something other than TIMED_OUT, or until
   * no time is left. Meanwhile this call of the thread is counted as one that waits.
   * @param end is called with the last answer, and returns the answer of this call.
   */
  protected [block]<A extends number, E extends number>(
    left: () => number,
    sleep: (nanoseconds: bigint) => A,
    end: (answer: A | TIMED_OUT) => E,
  ): E {
    this.#prepareToPoll();
    this[countBlocked]();
    let hasFailed = true;
    try {
      let answer: A | TIMED_OUT = TIMED_OUT;
      for (let remaining = left(); answer === TIMED_OUT && remaining > 0; remaining = left())
        answer = sleep(nanoseconds(remaining));
      const how = end(answer);
      hasFailed = how !== ADMITTED;
      return how;
    } finally {
      this[uncountBlocked](hasFailed);
    }
  }

  /** @internal Counts a call of this thread that is about to block as a waiting call. */
  protected [countBlocked](): void {
    this[uncountBlocked](true);
    this[functions].waitsBegin(this[ownAttachment], 1, timestamp());
    this.#blocks = true;
    this.#uncountAfterInterrupt();
  }

  /** @internal Ends the count of a blocked call: it is over, or an exception has ended it (runtime/interrupts.ts). */
  protected [uncountBlocked](hasFailed: boolean): void {
    if (this.#blocks && !this[isOver])
      this[functions].waitsEnd(this[ownAttachment], 1, WAIT_BLOCKED + (hasFailed ? WAIT_FAILED : 0));
    this.#blocks = false;
  }

  /**
   * @internal As `sleep`, without blocking the thread.
   * @param cancel is called when the promise gives up. It returns CANCELLED, or the answer of the phase if the phase was
   * over first.
   */
  protected [sleepAsync](
    phase: number,
    timeout: number,
    signal: WaitOptions['signal'],
    cancel: () => Ended = () => this[lastAnswer](phase),
  ): Promise<Ended> {
    return new Promise((resolve, reject) => {
      checkWaitAsync();
      const settle = (answer: Ended): void => {
        stop();
        resolve(answer);
      };
      // `cancelOn` may run code of the user, which may end the phase or dispose of the object. So the rest comes after it.
      const stop = cancelOn(
        timeout,
        signal,
        (late) => {
          const reason = late();
          const hasTimedOut = isTimeout(reason, signal);
          // The code of the signal may have ended the phase.
          if (!calls.delete(settle)) return;
          const answer = cancel();
          this[functions].waitsEnd(attachment, 1, howEnded(answer));
          if (calls.size === 0) this.#end(at, group);
          if (answer === CANCELLED && !hasTimedOut) reject(reason);
          settle(answer);
        },
        () => 'the end of the phase',
      );
      if (this[isOver]) {
        settle(ANSWER_CLOSED);
        return;
      }
      const at = this.#at;
      const attachment = this[ownAttachment];
      const all = this.#groups;
      const group = all.get(at) ?? { phase, calls: new Set(), looker: undefined, listens: false };
      const { calls } = group;
      // If the phases differ, one of them is over: the phase that earlier promises wait for, or the phase of this call.
      if (group.phase !== phase) PhaseObject.#listen(all, at, group);
      if (group.looker && group.phase !== phase) {
        // The phase of this call is over, so the answer is not QUEUED.
        settle(this[answerAt](at, phase) as Ended);
        return;
      }
      group.phase = phase;
      all.set(at, group);
      calls.add(settle);
      this[functions].waitsBegin(attachment, 1, timestamp());
      // If an exception has ended an earlier call before the group listened, this call makes it listen.
      if (calls.size > 1 && group.listens) return;
      if (!group.looker) host.keepAlive(true);
      group.looker = this;
      PhaseObject.#listen(all, at, group);
    });
  }

  /**
   * Settles the promises of a group if the phase is over. Otherwise looks again when the phase ends, and refers to no
   * library object until then.
   */
  static #listen(all: Map<number, Group>, at: number, group: Group): void {
    const { looker } = group;
    const over = looker === undefined ? undefined : looker.#look(at, group);
    group.listens ||= over !== undefined;
    if (group.looker === undefined && !group.listens) all.delete(at);
    over?.then(() => {
      group.listens = false;
      PhaseObject.#listen(all, at, group);
    });
  }

  /**
   * Settles promises of a group if the phase is over. Otherwise returns a promise of the end of the phase, unless the
   * group listens already.
   */
  #look(at: number, group: Group): Promise<unknown> | undefined {
    while (true) {
      const answer = this[answerAt](at, group.phase);
      if (answer !== QUEUED) {
        const most = this[goOn](at, answer);
        group.phase = this[phaseSeen];
        this[functions].waitsEnd(this[ownAttachment], Math.min(group.calls.size, most), howEnded(answer));
        this.#settle(at, group, answer, most);
        if (group.looker === undefined) return undefined;
      } else {
        if (group.listens) return undefined;
        const wait = waitAsync(this.#words, (at >> 2) + PHASE_INDEX, group.phase);
        if (wait.async) return wait.value;
      }
    }
  }

  /** Settles the promises that have waited longest, `most` of them at most. May run code of the user. */
  #settle(at: number, group: Group, answer: Ended, most: number): void {
    const due: (() => void)[] = [];
    for (const settle of group.calls) {
      if (due.length === most) break;
      due.push(() => settle(answer));
      group.calls.delete(settle);
    }
    if (group.calls.size === 0) this.#end(at, group);
    callEach(due);
  }

  /**
   * @internal How many promises of a group go on after a phase with this answer. If not all go on, the function also
   * reads the present phase: `phaseSeen` is then the phase for which the other promises wait.
   */
  protected [goOn](_at: number, _answer: Ended): number {
    return Infinity;
  }

  /** Is called when no promise of the group waits any more. */
  #end(at: number, group: Group): void {
    group.looker = undefined;
    host.keepAlive(false);
    if (!isNative) Atomics.notify(this.#words, (at >> 2) + PHASE_INDEX);
  }

  /**
   * @internal Returns how a phase of the object at this address has ended, or QUEUED if it has not ended. After QUEUED,
   * the thread that ends the phase will wake all waiters.
   */
  protected [answerAt](at: number, phase: number): Ended | QUEUED {
    return this[functions].announce(at, phase);
  }

  /** @internal Returns the answer for a call that gives up now: CANCELLED, unless the phase is over. */
  protected [lastAnswer](phase: number): Ended {
    const answer = this[answerAt](this.#at, phase);
    return answer === QUEUED ? CANCELLED : answer;
  }

  /**
   * @internal Throws if a wait has ended because the object was disposed of, or because the time had passed.
   * @param wanted what the call has waited for.
   */
  protected [checkEnded](answer: Ended, wanted: () => string, timeout: number): void {
    if (answer === ANSWER_CLOSED) throw this[disposedError]();
    if (answer === CANCELLED) throw timedOut(wanted(), timeout);
    answer satisfies ADMITTED | ANSWER_BROKEN;
  }

  /** @internal */
  protected override [close](): void {
    this[functions].disposePhase(this.#at);
  }

  /**
   * @internal Is called when the thread ends. By now the record of the attachment may belong to another thread, and the
   * memory of the object to another object. So this call does not look at the phase.
   */
  override [threadEnded](): void {
    this.#letGo(false);
    super[threadEnded]();
  }

  /** @internal */
  protected override [forget](): void {
    this.#letGo(true);
  }

  #letGo(looks: boolean): void {
    const at = this.#at;
    const group = this.#groups.get(at);
    this.#at = CLOSED_OBJECT;
    if (looks && group?.looker) this.#look(at, group);
    if (group?.looker) this.#settle(at, group, ANSWER_CLOSED, Infinity);
  }
}

/** How promises have ended, for who measures waits. */
function howEnded(answer: Ended): number {
  return answer === ADMITTED ? 0 : WAIT_FAILED;
}
