/**
 * What a thread has of a RateLimiter: the schedule, which all threads share (memory.ts), and the promises of this
 * thread that wait for it. All library objects of the limiter in the thread share this.
 *
 *     request ──► a cell of the schedule       its planned date
 *                     ▼                            ▼
 *     a thread that blocks sleeps until the date of its request, and its promises until the earliest date of theirs
 *                     │
 *                     ▼ in the queue of the pause: a semaphore without permits, which belongs to the limiter
 *     wakes, looks at the schedule, and begins, or sleeps on
 *
 * So at most two sleep for a thread. Whoever makes requests of other threads go earlier, asks all sleepers to look again
 * (`askAll`), before it lets go of the lock. A thread that is about to sleep has read how often all were asked, while it
 * had the lock. It reads this again when it stands in the queue. So it is asked there, or it sees that it was asked.
 *
 * A call of `limit` is dated twice, as in tasks/rate-queue.ts: when its turn has come, and when its function is called.
 */

import type { Core } from '../border/core.js';
import { ADMITTED, ANSWER_CLOSED, O_TIMEOUTS, QUEUED, THREAD_MASK } from '../border/numbers.js';
import type { Rate } from '../common/rate.js';
import { BEGUN, DISMISSED, REFUSED, type Schedule } from '../common/schedule.js';
import { reasonOf, type Signal } from '../common/signals.js';
import { reference } from '../objects/shared-object.js';
import { cancelOn, isTimeout } from '../runtime/cancellation.js';
import { setTimeout } from '../runtime/clock.js';
import { ArenaFullError, mayNotBlock, noRoom } from '../runtime/errors.js';
import { afterInterrupt } from '../runtime/interrupts.js';
import type { Membership } from '../runtime/membership.js';
import { type OwnWaits, ownWaitsIn } from '../runtime/own-waits.js';
import { countdown, parkUntilDue } from '../runtime/parking.js';
import type { Semaphore } from '../semaphore/semaphore.js';
import { BRIEFLY, PATIENTLY, type RateMemory, WATCH } from './memory.js';

/** Makes the errors of a request, in the classes of the copy of this package that has made the request. */
export interface Texts {
  /** What it has waited for. */
  wanted(permits: number): string;
  late(permits: number, timeout: number): Error;
  /** The limiter has been disposed of. */
  disposed(): Error;
  cancelled(reason: unknown): Error;
  tooMany(permits: number): Error;
  /** The arena has no room for another request. */
  full(): Error;
}

/** How long a request may take: options that have been checked. */
export interface Limits {
  readonly timeout: number;
  readonly signal?: Signal;
}

/** A request of a promise. */
interface Request {
  readonly cell: number;
  readonly permits: number;
  /** When it came. */
  readonly since: number;
  /** Whether its permits begin when its promise is fulfilled. */
  readonly begins: boolean;
  readonly texts: Texts;
  /** While the promise waits. */
  waits: { resolve(): void; reject(reason: unknown): void; stop: (() => void) | undefined } | undefined;
  /** Why it has left between its turn and its call. */
  error: unknown;
  /** The next one of those that are to leave (`RateQueue.#lost`). */
  nextLost: Request | undefined;
}

/**
 * What the schedule has decided about a request, until its promise has been told. It is noted before the schedule is asked,
 * because the schedule may give the cell to another request afterwards. So if an exception ends this thread's call, whoever
 * comes next goes on from here: `#endCut` finds out what was decided, and `#tellAll` tells it. A promise may be told twice,
 * and the second time has no effect.
 *
 * Whenever this thread comes into the lock, a request stands in `#requests` only while its cell belongs to it (`#owns`).
 * With the decision that ends it, it leaves that table, in the lock (`#decide`). So nobody asks about the cell again, or
 * lets it leave again, and another request may get the cell before the promise is told.
 */
interface Decision {
  readonly request: Request;
  /** Whether the request was dismissed or refused already. */
  readonly wasAway: boolean;
  /** Whether the request leaves, whatever its turn; and what makes the reason. Without it, nobody has the promise. */
  readonly leaves: boolean;
  readonly reason: (() => unknown) | undefined;
  /** What `cancelAll` was given. */
  readonly cause: unknown;
  /** What `look` has answered, or one of these; undefined until then. */
  answer: number | undefined;
  /** Whether the end of the request has been counted. */
  isCounted: boolean;
}

/** A call whose permits count until its result is settled: `#stay`. */
interface OpenCall {
  readonly cell: number;
  /** The next one of those that do not run (`RateQueue.#ended`). */
  next: OpenCall | undefined;
}

/** The turn of a call of `limit` has come, and the call has not begun. */
const TURN = -3;
/** The request has left. */
const LEFT = -4;

const LONGEST = 2 ** 31 - 1;
/** A request whose plan is older than the present looks again after so many milliseconds. */
const SOON = 0.1;

export class RateQueue {
  readonly #membership: Membership;
  /** Who measures waits is told of those that end here. */
  readonly #own: OwnWaits;
  readonly #core: Core;
  readonly #memory: RateMemory;
  readonly #schedule: Schedule;
  readonly #address: number;
  /** Opens the pause. If the arena is full, it lets go of what this thread does not need, unless it is in the lock. */
  readonly #openPause: (isInLock: boolean) => Semaphore;
  #pause: Semaphore | undefined;
  #pauseAt = 0;
  readonly #requests = new Map<number, Request>();
  /** Ends the sleep of the promises. */
  #sleep: AbortController | undefined;
  #sleepsUntil = Infinity;
  /** Whether a microtask will let the promises go on. */
  #willGoOn = false;
  /** The cell of a call that blocks this thread. */
  #blocked = 0;
  #blockedSince = 0;
  readonly #decisions: Decision[] = [];
  /** How many of these have been told. */
  #told = 0;
  /** Whether `cancelAll` is under way, and what it was given. If it is cut, it goes on later. */
  #isCancelling = false;
  #cause: unknown;
  /** Requests that are to leave: an exception, such as that of an exhausted stack, has ended the calls that made them. */
  #lost: Request | undefined;
  /**
   * Calls whose permits are open, or are about to be opened, and which do not run: they have ended, or have not begun yet.
   * Whoever comes into the lock ends them. So it does not matter where a call of the library is cut: only while a call runs,
   * it is not in this list.
   */
  #ended: OpenCall | undefined;
  /** A request whose promise is being made. */
  #unborn: Request | undefined;
  readonly #expectCut = afterInterrupt(() => this.#recover());
  /** Whether a timer will call `#recover`. */
  #willRecover = false;

  constructor(
    membership: Membership,
    memory: RateMemory,
    address: number,
    openPause: (isInLock: boolean) => Semaphore,
  ) {
    this.#membership = membership;
    this.#own = ownWaitsIn(membership);
    this.#core = membership.core;
    this.#memory = memory;
    this.#schedule = memory.schedule;
    this.#address = address;
    this.#openPause = openPause;
  }

  /** Whether this thread is no longer attached to the limiter. */
  get #isOver(): boolean {
    return this.#memory.isOver || this.#membership.isOver;
  }

  /** The numbers of the rate. */
  get rate(): Rate {
    return this.#locked(({ permits, per, burst }) => ({ permits, per, burst }));
  }

  /**
   * The same, without the lock: a thread may be in the midst of `resize`, so these may be numbers of two rates; and if that
   * thread dies, its numbers are taken back. So nothing that lasts depends on these: the schedule looks again, in the lock.
   * (Each is one aligned float, which no engine reads in two parts.)
   */
  get rateInPassing(): Rate {
    const { permits, per, burst } = this.#schedule;
    return { permits, per, burst };
  }

  /** As in `rateInPassing`. */
  get permits(): number {
    return this.#schedule.permits;
  }

  get isDisposed(): boolean {
    return this.#core.isDisposed(this.#address) !== 0;
  }

  /** Gets the lock. Returns false if another thread has it and does not go on. */
  #enter(rounds: number): boolean {
    this.#expectCut();
    return this.#enterOnly(rounds);
  }

  #enterOnly(rounds: number): boolean {
    if (!this.#memory.enter(rounds)) return false;
    if (this.#isCut) this.#endCut();
    return true;
  }

  /** The thread has returned to its event loop: ends what cut calls have left. Nobody could catch what this throws. */
  #recover(): void {
    if (this.#isOver) {
      this.close();
      return;
    }
    if (!this.#tidy()) return;
    if (this.#isCancelling || this.#decisions.length > 0) {
      this.#goOn(this.#cause);
      this.#isCancelling = false;
      this.#cause = undefined;
    }
  }

  /** Ends what calls of this thread have left. Returns false if another thread has the lock; then it tries again later. */
  #tidy(): boolean {
    if (!this.#isCut && !this.#memory.isMine) return true;
    // `#enter` would call `#recover` at the end of this turn.
    if (this.#enterOnly(BRIEFLY)) {
      this.#leave();
      return true;
    }
    if (!this.#willRecover) {
      setTimeout(() => {
        this.#willRecover = false;
        this.#recover();
      }, 1);
      this.#willRecover = true;
    }
    return false;
  }

  /** Whether a call of this thread was cut or has ended, or this thread is in the midst of telling its promises. */
  get #isCut(): boolean {
    return (
      this.#blocked !== 0 ||
      this.#decisions.length > 0 ||
      this.#memory.wasCut ||
      (this.#unborn ?? this.#lost ?? this.#ended) !== undefined
    );
  }

  /** Ends what a call of this thread has left, also a cut one (src/runtime/interrupts.ts). This thread has the lock. */
  #endCut(): void {
    for (let ended = this.#ended; ended; ended = this.#ended) {
      const { cell, next } = ended;
      // If this is cut, it is called again. Then the cell may not be open any more, or belong to another thread.
      if (this.#schedule.isOpen(cell) && this.#schedule.whoseIs(cell) === this.#memory.me)
        this.#schedule.end(cell, this.#memory.now());
      this.#ended = next;
    }
    if (this.#blocked !== 0) {
      if (this.#schedule.isRequest(this.#blocked)) this.#schedule.leave(this.#blocked, this.#memory.now());
      this.#blocked = 0;
    }
    for (const decision of this.#decisions) if (decision.answer === undefined) this.#decideCut(decision);
    if (this.#unborn) {
      this.#unborn.nextLost = this.#lost;
      this.#lost = this.#unborn;
      this.#unborn = undefined;
    }
    for (let lost = this.#lost; lost; lost = this.#lost) {
      if (this.#owns(lost)) this.#leaves(lost);
      this.#lost = lost.nextLost;
    }
    if (this.#memory.wasCut) {
      this.#memory.wasCut = false;
      for (const cell of this.#schedule.requestsOf(this.#memory.me))
        if (!this.#requests.has(cell)) this.#schedule.leave(cell, this.#memory.now());
    }
  }

  /** A call was cut in which the schedule was asked about a request. No other thread has had the lock since then. */
  #decideCut(decision: Decision): void {
    const schedule = this.#schedule;
    const { request, leaves, wasAway } = decision;
    const { cell, permits } = request;
    const isThere = schedule.isRequest(cell);
    if (leaves) {
      if (isThere) schedule.leave(cell, this.#memory.now());
      this.#decide(decision, LEFT);
    } else if (isThere) this.#decide(decision, Infinity);
    // So many permits never begin. `look` has refused them, also where it has found no `wasAway`.
    else if (permits > schedule.permits) this.#decide(decision, REFUSED);
    else this.#decide(decision, wasAway ? DISMISSED : BEGUN);
  }

  /** Whether the cell of a request belongs to it. This thread has the lock. */
  #owns(request: Request): boolean {
    return this.#requests.get(request.cell) === request;
  }

  /** Notes what the schedule has answered. This thread has the lock. If this is cut, `#decideCut` calls it again. */
  #decide(decision: Decision, answer: number): void {
    const { request } = decision;
    if (answer <= 0 && answer !== TURN && this.#owns(request)) this.#requests.delete(request.cell);
    decision.answer = answer;
  }

  /** Lets go of the lock, when those are woken who may go earlier. */
  #leave(): void {
    const memory = this.#memory;
    if (memory.areOthersEarlier) this.#wake();
    memory.leave();
    // The caller may be about to begin its own call.
    if (memory.isEarlier && !this.#willGoOn) {
      this.#willGoOn = true;
      Promise.resolve().then(() => {
        this.#willGoOn = false;
        if (memory.isEarlier) this.#goOn();
      });
    }
  }

  #wake(): void {
    const memory = this.#memory;
    memory.areOthersEarlier = false;
    if (!memory.sleeps) return;
    try {
      this.#core.askAll(this.#pauseOf(true));
    } catch {
      // The arena has no room for an attachment. They go no later than they were told.
    }
  }

  /** Returns the address of the pause. */
  #pauseOf(isInLock = false): number {
    if (!this.#pause) {
      this.#pause = this.#openPause(isInLock);
      this.#pauseAt = this.#pause[reference].address;
    }
    return this.#pauseAt;
  }

  /** Does something rare with the schedule. */
  #locked<T>(act: (schedule: Schedule, time: number) => T): T {
    if (!this.#enter(PATIENTLY))
      throw new Error('RateLimiter: another thread has stopped in the middle of a call, and is not known to be dead');
    const result = act(this.#schedule, this.#memory.now());
    this.#leave();
    return result;
  }

  /**
   * Takes permits if they may begin now and nobody waits.
   * @param isAll whether the caller does nothing else, so that no is a refusal.
   */
  tryTake(permits: number, texts: Texts, isAll = true): boolean {
    const memory = this.#memory;
    if (!this.#enter(BRIEFLY)) return false;
    if (!memory.reserve()) {
      this.#leave();
      throw texts.full();
    }
    const has = this.#schedule.tryTake(permits, memory.now());
    if (!has && isAll) memory.refuse();
    this.#leave();
    return has;
  }

  // --- Threads that block.

  /** Blocks the thread until permits begin. */
  take(permits: number, timeout: number, texts: Texts): void {
    if (this.tryTake(permits, texts, false)) return;
    if (timeout === 0) throw texts.late(permits, timeout);
    if (!this.#membership.mayBlock) throw mayNotBlock('takeAsync or tryTake');
    const left = countdown(timeout);
    this.#pauseOf();
    const enter = (): void => {
      while (!this.#memory.enter(1)) if (left() <= 0) throw texts.late(permits, timeout);
    };
    enter();
    if (this.#isCut) this.#endCut();
    this.#ask(permits, texts);
    try {
      this.#block(left, enter, permits, timeout, texts);
    } finally {
      // If the thread throws, it does not have the lock.
      if (this.#blocked !== 0) {
        this.#locked(() => {});
        this.#tell(this.#blockedSince, true, true);
      }
    }
  }

  /**
   * Tells who measures that a wait is over. This takes its time, so the thread does not have the lock. If the stack is
   * exhausted, the wait is not counted, and all else goes on.
   */
  #tell(since: number, failed: boolean, blocked: boolean): void {
    const { rateWaited } = this.#own;
    // The clock belongs to the memory of the limiter.
    if (!rateWaited || this.#isOver) return;
    try {
      rateWaited(this.#address, this.#memory.now() - since, failed, blocked);
    } catch {}
  }

  /** Enters a request of a thread that is to block. The thread has the lock. */
  #ask(permits: number, texts: Texts): void {
    if (!this.#memory.reserve()) {
      this.#leave();
      throw texts.full();
    }
    this.#blockedSince = this.#memory.now();
    this.#blocked = this.#schedule.ask(permits, this.#blockedSince, this.#memory.me);
    if (this.#blocked === 0) this.#refuse(permits, texts);
  }

  /** The request is for more permits than there are since another thread has called `resize`. */
  #refuse(permits: number, texts: Texts): never {
    this.#leave();
    this.count();
    throw texts.tooMany(permits);
  }

  #block(left: () => number, enter: () => void, permits: number, timeout: number, texts: Texts): void {
    const memory = this.#memory;
    const core = this.#core;
    const pause = this.#pauseAt;
    for (;;) {
      const cell = this.#blocked;
      const time = memory.now();
      if (memory.isBehindOthers) memory.bury(time);
      const rest = this.#schedule.look(cell, time);
      if (rest === BEGUN || rest === DISMISSED || rest === REFUSED) {
        this.#blocked = 0;
        this.#leave();
        this.#tell(this.#blockedSince, rest !== BEGUN, true);
        if (rest === BEGUN) return;
        this.count();
        throw this.#gone(rest, permits, texts);
      }
      if (left() <= 0 || this.isDisposed) {
        this.#blocked = 0;
        this.#schedule.leave(cell, time);
        this.#leave();
        this.#tell(this.#blockedSince, true, true);
        throw this.isDisposed ? texts.disposed() : texts.late(permits, timeout);
      }
      const { until, asks } = this.#plan(rest, time);
      // Promises of this thread go on when it does not block any more.
      if (memory.areOthersEarlier) this.#wake();
      memory.leave();
      if (!core.reserveSecond()) throw noRoom(core);
      const answer = core.enqueue(pause, 1, core.acquire(pause, 1), 0);
      if (answer === QUEUED)
        parkUntilDue(this.#membership, pause, 0, () =>
          core.asks(pause) === asks ? Math.min(until - memory.now(), left()) : 0,
        );
      else if (answer !== ANSWER_CLOSED && answer !== ADMITTED) throw noRoom(core);
      enter();
    }
  }

  /** Returns until when this thread sleeps, which has the lock, and how often all were asked to look again. */
  #plan(left: number, time: number): { until: number; asks: number } {
    const memory = this.#memory;
    memory.setSleeps();
    const longest = memory.isBehindOthers ? WATCH : LONGEST;
    return { until: time + Math.min(Math.max(left, SOON), longest), asks: this.#core.asks(this.#pauseAt) };
  }

  #gone(answer: typeof DISMISSED | typeof REFUSED, permits: number, texts: Texts, reason?: unknown): Error {
    return answer === REFUSED ? texts.tooMany(permits) : texts.cancelled(reason);
  }

  // --- Promises.

  /**
   * Calls a function when permits begin: now, if they may begin now.
   * @param stays whether they count until its result is settled, and a window from then on.
   * @param begins whether the permits begin when the promise is fulfilled, and not when the function is called.
   */
  run<T>(
    permits: number,
    limits: Limits,
    { stays, begins }: { readonly stays: boolean; readonly begins: boolean },
    texts: Texts,
    call: () => T,
  ): T | Promise<Awaited<T>> {
    const { timeout } = limits;
    const memory = this.#memory;
    if (!this.#enter(BRIEFLY)) {
      if (timeout === 0) throw texts.late(permits, 0);
      return this.#later(permits, limits, { stays, begins }, texts, call);
    }
    if (!memory.reserve()) {
      this.#leave();
      throw texts.full();
    }
    const schedule = this.#schedule;
    const time = memory.now();
    if (!stays && schedule.tryTake(permits, time)) {
      this.#leave();
      return call();
    }
    if (!stays && timeout === 0) {
      this.#leave();
      throw texts.late(permits, 0);
    }
    // The planned date of this request is no news.
    const { isEarlier } = memory;
    const cell = schedule.ask(permits, time, memory.me);
    if (cell === 0) this.#refuse(permits, texts);
    const open = stays ? { cell, next: undefined } : undefined;
    const rest = this.#look(cell, time, open);
    memory.isEarlier = isEarlier;
    if (rest !== BEGUN && timeout === 0) {
      schedule.leave(cell, time);
      this.#leave();
      throw texts.late(permits, 0);
    }
    if (rest === BEGUN) {
      this.#leave();
      return open ? this.#stay(open, call) : call();
    }
    const request: Request = {
      cell,
      permits,
      since: time,
      begins,
      texts,
      waits: undefined,
      error: undefined,
      nextLost: undefined,
    };
    this.#unborn = request;
    this.#requests.set(cell, request);
    const planned = schedule.plannedDate(cell);
    this.#leave();
    return this.#wait(request, planned, limits, open, call);
  }

  /** Tries again until the thread that has the lock goes on. */
  async #later<T>(
    permits: number,
    limits: Limits,
    how: { readonly stays: boolean; readonly begins: boolean },
    texts: Texts,
    call: () => T,
  ): Promise<Awaited<T>> {
    const left = countdown(limits.timeout);
    do {
      await new Promise<void>((resolve) => void setTimeout(resolve, 1));
      if (limits.signal?.aborted) throw reasonOf(limits.signal);
      if (this.#isOver || this.isDisposed) throw texts.disposed();
      if (left() <= 0) throw texts.late(permits, limits.timeout);
    } while (!this.#enter(BRIEFLY));
    this.#leave();
    return await this.run(permits, { ...limits, timeout: Math.max(left(), 1) }, how, texts, call);
  }

  /** Waits for the turn of a request, and calls the function. The signal may run code of the user: not in the lock. */
  async #wait<T>(
    request: Request,
    planned: number,
    limits: Limits,
    open: OpenCall | undefined,
    call: () => T,
  ): Promise<Awaited<T>> {
    this.#unborn = undefined;
    try {
      const left = countdown(limits.timeout);
      const first = this.#promise(request, limits, left);
      if (!this.#sleep || this.#sleepsUntil > planned) this.#goOn();
      await first;
      while (!request.begins && !this.#begin(request, open)) {
        const again = this.#promise(request, limits, left);
        this.#goOn();
        await again;
      }
    } catch (error) {
      // Where the stack is exhausted, the request waits on. There nothing can be called.
      if (request.error === undefined) {
        request.nextLost = this.#lost;
        this.#lost = request;
      }
      throw error;
    }
    if (request.begins) return await call();
    // Whoever measures may call the limiter. So it is told when the call has begun.
    const told = (): T => {
      this.#tell(request.since, false, false);
      return call();
    };
    return await (open ? this.#stay(open, told) : told());
  }

  /** Begins a call whose turn has come, unless that was too long ago. */
  #begin(request: Request, open: OpenCall | undefined): boolean {
    const { cell, permits, texts } = request;
    if (request.error !== undefined) throw request.error;
    if (this.#isOver) throw texts.disposed();
    const answer = this.#locked((_, time) => {
      if (!this.#owns(request)) return LEFT;
      // If the call is cut, the cell may belong to another request.
      this.#requests.delete(cell);
      const answer = this.#look(cell, time, open);
      if (answer > 0) this.#requests.set(cell, request);
      return answer;
    });
    if (answer > 0) return false;
    if (answer === LEFT) {
      // A call was cut that has ended the request, and has not told it.
      this.#tellAll();
      throw request.error;
    }
    if (answer === DISMISSED || answer === REFUSED) {
      this.#tell(request.since, true, false);
      this.count();
      request.error = this.#gone(answer, permits, texts);
      throw request.error;
    }
    return true;
  }

  /** Looks whether a request may begin. If it does, and its permits stay open, the caller calls `#stay`. It has the lock. */
  #look(cell: number, time: number, open: OpenCall | undefined): number {
    if (open) {
      open.next = this.#ended;
      this.#ended = open;
    }
    const answer = this.#schedule.look(cell, time, open !== undefined);
    if (open && answer !== BEGUN) this.#ended = open.next;
    return answer;
  }

  /** Calls a function whose permits count until its result is settled. Nothing of the user has run since `#look`. */
  async #stay<T>(open: OpenCall, call: () => T): Promise<Awaited<T>> {
    try {
      this.#ended = open.next;
      return await call();
    } finally {
      // Where the stack is exhausted, this is still done.
      open.next = this.#ended;
      this.#ended = open;
      if (!this.#isOver) {
        this.#expectCut();
        this.#tidy();
      }
    }
  }

  #promise(request: Request, { timeout, signal }: Limits, left: () => number): Promise<void> {
    return new Promise((resolve, reject) => {
      const waits: Request['waits'] = { resolve, reject, stop: undefined };
      request.waits = waits;
      if (timeout === Infinity && !signal) return;
      const { permits, texts } = request;
      const cancel = (reason: () => unknown): void =>
        this.#cancel(request, () => {
          const error = reason();
          if (isTimeout(error, signal)) return texts.late(permits, timeout);
          this.count();
          return error;
        });
      const stop = cancelOn(Math.max(left(), 0), signal, cancel, () => texts.wanted(permits));
      // Code of the user in the signal may have ended the request, or let the thread leave the arena.
      if (request.waits === waits) waits.stop = stop;
      else stop();
    });
  }

  #cancel(request: Request, reason: () => unknown): void {
    if (this.#isOver || !this.#owns(request)) return;
    if (!this.#enter(BRIEFLY)) {
      setTimeout(() => this.#cancel(request, reason), 1);
      return;
    }
    if (this.#owns(request)) this.#leaves(request, reason);
    this.#leave();
    this.#tellAll();
    if (!this.#hasWaiting) this.#stopSleep();
  }

  /** Lets a request leave, whose cell is its own. This thread has the lock. */
  #leaves(request: Request, reason?: () => unknown): void {
    const decision: Decision = {
      request,
      wasAway: false,
      leaves: true,
      reason,
      cause: undefined,
      answer: undefined,
      isCounted: false,
    };
    this.#decisions.push(decision);
    this.#schedule.leave(request.cell, this.#memory.now());
    this.#decide(decision, LEFT);
  }

  get #hasWaiting(): boolean {
    for (const { waits } of this.#requests.values()) if (waits) return true;
    return false;
  }

  #reject(request: Request, reason: (() => unknown) | undefined): void {
    const { waits } = request;
    waits?.stop?.();
    if (reason) {
      request.error ??= reason();
      waits?.reject(request.error);
    }
    request.waits = undefined;
  }

  #resolve(request: Request): void {
    const { waits } = request;
    waits?.stop?.();
    waits?.resolve();
    request.waits = undefined;
  }

  /** Tells all promises what the schedule has decided. This thread does not have the lock. */
  #tellAll(): void {
    const decisions = this.#decisions;
    for (let decision = decisions[this.#told]; decision; decision = decisions[this.#told]) {
      this.#tellOne(decision);
      if (decision === decisions[this.#told]) this.#told++;
    }
    decisions.length = this.#told = 0;
  }

  /** Tells what a cut call has left. Returns false if another thread has the lock and does not go on. */
  #tellEarlier(): boolean {
    if (this.#decisions.length === 0) return true;
    if (!this.#enter(BRIEFLY)) return false;
    this.#leave();
    this.#tellAll();
    return true;
  }

  #tellOne(decision: Decision): void {
    const { request, answer = Infinity, reason, cause } = decision;
    if (answer > 0) return;
    if (answer === TURN) {
      this.#resolve(request);
      return;
    }
    const { isCounted } = decision;
    decision.isCounted = true;
    if (answer === BEGUN) this.#resolve(request);
    else if (answer === LEFT) this.#reject(request, reason);
    else this.#reject(request, () => this.#gone(answer as typeof DISMISSED, request.permits, request.texts, cause));
    if (isCounted) return;
    if (answer === DISMISSED || answer === REFUSED) this.count();
    this.#tell(request.since, answer !== BEGUN, false);
  }

  /** Counts a request that was cut short. */
  count(): void {
    if (!this.#isOver)
      Atomics.add(new Int32Array(this.#membership.memory.buffer), (this.#address + O_TIMEOUTS) >> 2, 1);
  }

  /** Lets all go on whose turn has come, and sleeps until the turn of the next one. */
  #goOn(reason?: unknown): void {
    const memory = this.#memory;
    memory.isEarlier = false;
    this.#stopSleep();
    if (this.#requests.size === 0 && this.#decisions.length === 0) return;
    if (this.#isOver || this.isDisposed) {
      this.close();
      return;
    }
    if (!this.#tellEarlier()) {
      setTimeout(() => this.#goOn(reason), 1);
      return;
    }
    try {
      this.#pauseOf();
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (!this.#enter(BRIEFLY)) {
      setTimeout(() => this.#goOn(reason), 1);
      return;
    }
    const time = this.#schedule.advance(memory.now());
    if (memory.isBehindOthers) memory.bury(time);
    let next: Request | undefined;
    for (const request of this.#requests.values()) {
      if (this.#schedule.isWaiting(request.cell) || !this.#isDecided(request, time, reason)) {
        if (!request.waits) continue;
        const date = this.#schedule.plannedDate(request.cell);
        if (!next || date < this.#schedule.plannedDate(next.cell)) next = request;
      }
    }
    const sleep = next && this.#sleepUntil(next, time);
    if (memory.areOthersEarlier) this.#wake();
    memory.isEarlier = false;
    memory.leave();
    try {
      this.#tellAll();
    } finally {
      sleep?.();
    }
  }

  /** Asks the schedule about a request that does not wait in it. Returns whether its promise is to be told something. */
  #isDecided(request: Request, time: number, cause: unknown): boolean {
    const { cell, begins } = request;
    const wasAway = this.#schedule.isAway(cell);
    const decision: Decision = {
      request,
      wasAway,
      leaves: false,
      reason: undefined,
      cause,
      answer: undefined,
      isCounted: false,
    };
    this.#decisions.push(decision);
    const answer = wasAway || begins ? this.#schedule.look(cell, time) : TURN;
    this.#decide(decision, answer);
    return answer <= 0;
  }

  /**
   * The promises are to sleep until a request looks again. Returns what begins the sleep, without the lock. This thread has
   * the lock.
   */
  #sleepUntil(request: Request, time: number): () => void {
    const pause = this.#pause as Semaphore;
    const { until, asks } = this.#plan(this.#schedule.left(request.cell, time), time);
    const sleep = new AbortController();
    this.#sleep = sleep;
    this.#sleepsUntil = until;
    return () => {
      if (this.#sleep !== sleep) return;
      const timeout = Math.min(until - time, LONGEST);
      pause.acquireAsync({ timeout, signal: sleep.signal }).then(
        () => {},
        (error) => {
          if (this.#sleep !== sleep) return;
          if (error instanceof ArenaFullError) this.#fail(error);
          else this.#goOn();
        },
      );
      if (this.#core.asks(this.#pauseAt) !== asks) this.#goOn();
    };
  }

  #stopSleep(): void {
    const sleep = this.#sleep;
    this.#sleep = undefined;
    sleep?.abort();
  }

  /** The arena has no room for a sleeper. */
  #fail(error: unknown): void {
    this.#stopSleep();
    if (this.#isOver) return;
    if (!this.#enter(BRIEFLY)) {
      setTimeout(() => this.#goOn(), 1);
      return;
    }
    for (const request of this.#requests.values()) if (request.waits) this.#leaves(request, () => error);
    this.#leave();
    this.#tellAll();
  }

  // --- The rest.

  dueIn(permits: number): number {
    return this.#locked((schedule, time) => schedule.dueIn(permits, time));
  }

  pause(milliseconds: number): void {
    this.#locked((schedule, time) => schedule.pause(milliseconds, time));
  }

  spend(permits: number, texts: Texts): void {
    this.#locked((schedule, time) => {
      if (!this.#memory.reserve()) {
        this.#leave();
        throw texts.full();
      }
      schedule.spend(permits, time);
    });
  }

  resize({ permits, per, burst }: Rate): void {
    this.#locked((schedule, time) => schedule.resize(permits, per, burst, time));
  }

  cancelAll(reason: unknown): void {
    this.#cause = reason;
    this.#isCancelling = true;
    this.#locked((schedule, time) => {
      schedule.dismiss(time);
      // Otherwise `leave` would let them go on without the reason.
      this.#memory.isEarlier = false;
    });
    this.#goOn(reason);
    this.#isCancelling = false;
    this.#cause = undefined;
  }

  /** How many requests wait. */
  get waiting(): number {
    return this.#schedule.waiting;
  }

  /** The same, when those of dead threads have left. */
  countWaiting(): number {
    if (this.#enter(BRIEFLY)) {
      this.#memory.bury(this.#memory.now(), true);
      this.#leave();
    }
    return this.waiting;
  }

  /** Those who wait, the first first. */
  waiters(most: number): { readonly thread: number; readonly permits: number; readonly left: number }[] {
    return this.#locked((schedule, time) =>
      schedule.waiters(most, time).map(({ who, permits, left }) => ({ thread: who & THREAD_MASK, permits, left })),
    );
  }

  get taken(): number {
    return this.#locked((schedule, time) => schedule.taken(time));
  }

  /** Whether a new limiter would answer the same. */
  get isFresh(): boolean {
    if (this.#requests.size > 0 || !this.#enter(BRIEFLY)) return false;
    const time = this.#memory.now();
    this.#memory.bury(time, true);
    const isFresh = this.#schedule.isFresh(time);
    this.#leave();
    return isFresh;
  }

  /** The limiter has been disposed of, or the thread has left the arena. */
  close(): void {
    if (this.#requests.size > 0 || this.#decisions.length > 0) this.#expectCut();
    this.#tellAll();
    for (const { since } of this.#requests.values()) this.#tell(since, true, false);
    this.#memory.isOver = true;
    this.#stopSleep();
    for (const request of this.#requests.values()) {
      this.#reject(request, request.texts.disposed);
      this.#requests.delete(request.cell);
    }
  }

  /** This thread is no longer attached: the memory may belong to another limiter. */
  detached(): void {
    this.#memory.isOver = true;
    this.close();
  }

  /** Closes the pause, in which those of all threads sleep. The limiter has been disposed of. */
  dispose(): void {
    if (this.#memory.sleeps) {
      this.#pauseOf();
      this.#pause?.dispose();
    }
    this.close();
  }
}
