/**
 * select waits for whichever of several cases can be had first, and has that one alone.
 *
 *     try each case once ──► take a ticket in the queue of each ──► the first that is granted is chosen
 *                                                                   the others leave their queues
 *
 * A permit is not yet a place or a message. So a case that is granted too late gives its permit back, and no message is
 * touched. All decisions are made by the one thread that selects, so exactly one case happens.
 *
 * The tickets are those of promises, each with a run of its own (core/queue/runs.ts). A thread that blocks in `select`
 * looks at its promises itself, and sleeps on its doorbell in between, as its event loop would.
 */

import { ADMITTED, ANSWER_CLOSED, E_ASLEEP, KIND_SEMAPHORE, O_KIND, O_TIMEOUTS } from '../border/numbers.js';
import { timedOut } from '../common/errors.js';
import { caseMark } from '../look/case-mark.js';
import { checkWaitOptions, type WaitOptions } from '../objects/options.js';
import type { Reference } from '../objects/reference.js';
import { isOver, reference } from '../objects/shared-object.js';
import { cancelOn } from '../runtime/cancellation.js';
import { checkWaitAsync } from '../runtime/doorbell.js';
import {
  badType,
  CancelledError,
  checkInteger,
  checkType,
  DisposedError,
  disposed,
  mayNotBlock,
  noRoom,
} from '../runtime/errors.js';
import { afterInterrupt } from '../runtime/interrupts.js';
import { isMembership, type Membership } from '../runtime/membership.js';
import { ownWaitsIn } from '../runtime/own-waits.js';
import { countdown, nanoseconds } from '../runtime/parking.js';
import { closed, type Resolve, type Run } from '../runtime/promises.js';
import type { Semaphore } from '../semaphore/semaphore.js';
import { acquireNow, release } from '../semaphore/semaphore.js';
import { type Case, changeOf, type Done, HAPPENED, selecting, type Work, workOf } from './case.js';
import type { Channel } from './channel.js';
import { channelOf } from './compiled.js';
import type { Watch } from './watch.js';
import type { Snapshot } from './watch-options.js';

/** The case that has happened. */
export interface Selected<T = unknown> {
  /** Which of the cases, from 0 on. */
  readonly index: number;
  /** The message of `receiving`, or the `Snapshot` of `changing`; undefined for the other cases, and at an end. */
  readonly value: T | undefined;
  /**
   * Whether the case has come to an end: of `receiving`, the channel is closed and every message has been received; of
   * `changing`, the watch is closed and has no newer value.
   */
  readonly closed: boolean;
}

/** The options of a select. */
export interface SelectOptions extends WaitOptions {
  /**
   * Whether the first of the cases that can be had at once is taken. By default the look begins at another case each
   * time, so that no case starves. Default false.
   */
  readonly biased?: boolean;
}

/**
 * A case of a select: to receive a message of the channel. Never blocks, throws nothing. If the argument is no Channel,
 * the select throws a TypeError.
 * @example const { value } = select([receiving(jobs), receiving(urgent)]);
 * @since 0.3.0
 */
export function receiving<T>(channel: Channel<T>): Case<T> {
  return { [selecting]: () => checked('receiving: channel', channel, workOf, 'Channel')[workOf](undefined) };
}

/**
 * A case of a select: to send a message by the channel. The value is encoded when the select begins. Never blocks, throws
 * nothing; a value that cannot travel makes the select throw.
 * @example select([sending(jobs, 7), receiving(results)]);
 * @since 0.3.0
 */
export function sending<T>(channel: Channel<T>, value: T): Case<never> {
  return {
    [selecting]: () => checked('sending: channel', channel, workOf, 'Channel')[workOf]({ value }) as Work<never>,
  };
}

/**
 * A case of a select: to acquire permits of a semaphore that is not robust. Never blocks, throws nothing.
 * @param permits 1 (the default) to the `max` of the semaphore; else the select throws a RangeError.
 * @example if (select([receiving(jobs), acquiring(quota)]).index === 1) quota.release();
 * @since 0.3.0
 */
export function acquiring(semaphore: Semaphore, permits = 1): Case<never> {
  return {
    [selecting](): Work<never> {
      const { membership } = checkSemaphore(semaphore);
      if (semaphore[reference].shared.countedBy !== 0)
        throw new TypeError('acquiring: a robust semaphore cannot be a case of a select: wait for it by acquireAsync');
      checkInteger('acquiring: permits', permits, 1, membership.core.maxOf(semaphore[reference].address));
      return {
        membership,
        // An idle semaphore may get another address meanwhile.
        get shared() {
          return semaphore[reference].shared;
        },
        get at() {
          return semaphore[reference].address;
        },
        permits,
        check() {},
        try: () => (semaphore[acquireNow](permits) ? HAPPENED : undefined),
        take() {
          semaphore[reference].shared.grants += permits;
          return HAPPENED;
        },
        whenFree: (run) => run(),
        giveBack() {
          try {
            semaphore[release](permits);
          } catch {
            // Permits that others have added meanwhile leave no room for these.
          }
        },
        closed() {
          if (membership.core.isDisposed(this.at) === 0) throw new CancelledError();
          throw disposed(semaphore);
        },
      };
    },
  };
}

/** Returns where a semaphore is. Other classes have some of its methods, and other words. */
function checkSemaphore(semaphore: Semaphore): Reference {
  const found = (semaphore as Semaphore | null | undefined)?.[reference];
  const kind = found && new Int32Array(found.membership.memory.buffer)[(found.address + O_KIND) / 4];
  if (kind === KIND_SEMAPHORE || (found && semaphore[isOver])) return found as Reference;
  throw badType('acquiring: semaphore', 'a Semaphore', semaphore);
}

/**
 * A case of a select: a newer value of the watch than that of a version. Its value is a `Snapshot`. Never blocks, throws
 * nothing; a bad version makes the select throw.
 * @param since a version, 0 or more, as `read` and `changed` return it. Default: the version at the time of the call.
 * @example const { index } = select([receiving(jobs), changing(settings, seen)]);
 * @since 0.3.0
 */
export function changing<T>(watch: Watch<T>, since: number | undefined = watch?.version): Case<Snapshot<T>> {
  return {
    [selecting](): Work<Snapshot<T>> {
      checked('changing: watch', watch, changeOf, 'Watch');
      return watch[changeOf](checkInteger('changing: since', since as number, 0, Number.MAX_SAFE_INTEGER));
    },
  };
}

/** Returns an object that has this method, and so is of this class. */
function checked<T extends object>(what: string, object: T, method: keyof T, kind: string): T {
  if (typeof object?.[method] !== 'function') throw badType(what, `a ${kind}`, object);
  return object;
}

const MOST_CASES = 64;
const SELECT_OPTIONS = ['timeout', 'signal', 'biased'];

/** What one of the cases may yield: the values of their channels, and the snapshots of their watches. */
export type ValueOf<C extends readonly Case[]> = C[number] extends Case<infer T> ? T : never;

function begin(
  what: string,
  cases: readonly Case[],
  options: SelectOptions,
  names = SELECT_OPTIONS,
): [readonly Work<unknown>[], number] {
  if (!Array.isArray(cases))
    throw badType(`${what}: cases`, 'an array of cases', cases, `write ${what}([receiving(channel), ...])`);
  if (cases.length < 1 || cases.length > MOST_CASES)
    throw new RangeError(`${what}: cases must be 1 to ${MOST_CASES}, got ${cases.length}`);
  const timeout = checkWaitOptions(what, options, names);
  const { biased = false } = options;
  checkType(`${what}: biased`, biased, 'boolean', 'true or false');
  // A hole is undefined here.
  const works = Array.from(cases, (one: Case, i) => {
    if (typeof one?.[selecting] !== 'function')
      throw badType(
        `${what}: cases[${i}]`,
        'made by receiving, sending, acquiring or changing',
        one,
        'such as receiving(channel)',
      );
    const work = one[selecting]();
    work.check();
    return work;
  });
  return [works, timeout];
}

/** The case that has happened, as long as its value has not been read. */
interface Happened {
  readonly index: number;
  readonly done: Done<unknown>;
}

/** Reads the value of the case that has happened. It may run code of the user. The select stands in no queue any more. */
function selectedOf({ index, done }: Happened): Selected {
  return { index, value: done.read(), closed: done.closed };
}

/** With which of its cases the next `select` of this thread in an arena begins to look. */
const nextCases = new WeakMap<Membership, number>();

/** Tries each case once. A look begins with the case behind that with which the last look of the thread has begun. */
function attempt(works: readonly Work<unknown>[], biased = false): Happened | undefined {
  const { membership } = works[0] as Work<unknown>;
  // Threads begin with different cases.
  const first = biased ? 0 : (nextCases.get(membership) ?? membership.thread);
  if (!biased) nextCases.set(membership, first + 1);
  for (let k = 0; k < works.length; k++) {
    const index = (first + k) % works.length;
    const done = (works[index] as Work<unknown>).try();
    if (done !== undefined) return { index, done };
  }
  return undefined;
}

/**
 * Stands for the library objects of a request. The request itself keeps the selection and its objects, and lets them go
 * when it leaves. What stands here stays until nobody waits any more (promises.ts).
 */
const KEEPER = { [closed](): void {} };

/** Marks the request of a run as one for which the thread blocks, for reports. */
function markWait(membership: Membership, run: number): void {
  const words = new Int32Array(membership.memory.buffer);
  const element = channelOf(membership).recordOf(run) / 4;
  Atomics.store(words, element + E_ASLEEP / 4, caseMark(words[element] as number));
}

/** Stands in the queues of all cases until one of them has happened. */
class Selection {
  happened: Happened | undefined;
  error: { readonly reason: unknown } | undefined;
  readonly #cancels: (((reason: () => unknown) => void) | undefined)[] = [];
  readonly #over: () => void;
  #isLeaving = false;
  /** Whether the thread sleeps for this selection. If other code runs meanwhile, an interrupt has ended the sleep. */
  isAsleep = false;
  /**
   * Whether a case is happening. It may grant another one: a select that sends and receives by the same channel would
   * receive its own message. It may also end another one: who receives the last message of a closed channel closes its
   * queues. Those that are granted or end meanwhile are looked at afterwards.
   */
  #isTaking = false;
  readonly #late: (() => void)[] = [];

  constructor(over: () => void) {
    this.#over = over;
  }

  /** Takes a ticket in the queue of each case. */
  join(works: readonly Work<unknown>[]): void {
    for (const [index, work] of works.entries()) {
      if (this.isOver) break;
      this.#join(index, work);
    }
    // A case may have happened before the others had their tickets.
    if (this.isOver) this.#leave();
  }

  get isOver(): boolean {
    return this.happened !== undefined || this.error !== undefined;
  }

  #join(index: number, work: Work<unknown>): void {
    const { core } = work.membership;
    const { promises } = work.shared;
    if (promises.first !== 0) promises.settle();
    if (this.isOver) return;
    let [isGranted, isDone] = [false, false];
    const settle: Resolve = (value) => {
      this.#cancels[index] = undefined;
      if (value === undefined) {
        work.whenFree(() => {
          // If an exception has ended this call of `settle`, it is made again.
          if (isDone) return;
          if (isGranted) this.#isCut();
          else {
            isGranted = true;
            this.#granted(index, work);
          }
          isDone = true;
        });
      } else {
        // The object tells why the request has ended. A thread that blocks could not wait for the reason.
        let isEnd = false;
        value.catch((reason: unknown) => {
          // Only the reason tells what `cancelAll` was given.
          if (isEnd && this.error?.reason instanceof CancelledError) this.error = { reason };
        });
        const end = (): void => {
          isEnd = !this.isOver && !this.#isLeaving;
          if (!isEnd) return;
          this.#ends(() => {
            // The thread is leaving the arena, and the objects have not ended yet.
            if (!isMembership(work.membership)) throw new DisposedError('the arena has been disposed of');
            return { index, done: work.closed() };
          });
        };
        if (this.#isTaking) this.#late.push(end);
        else end();
      }
    };
    const run = promises.alone(settle);
    const answer = promises.arrive(KEEPER, work.at, work.permits, settle, run);
    // `arrive` may end the selection, because of cancelAll. Then this request leaves, too.
    if (answer > ADMITTED) {
      this.#cancels[index] = (reason) => this.#cancel(work, run, reason);
      if (blocking === this) markWait(work.membership, answer);
    }
    if (answer === ADMITTED) {
      // Promises that were granted before come first.
      promises.settle();
      settle();
    } else if (answer === ANSWER_CLOSED) {
      if (!this.isOver) this.#ends(() => ({ index, done: work.closed() }));
    } else if (answer < ADMITTED) this.fail(noRoom(core));
    else if (work.isDue?.() === true && !this.isOver) this.#granted(index, work);
  }

  /** Cancels the request of a case. If another case has happened, it counts neither as a time-out nor as a failure. */
  #cancel({ membership, shared, at }: Work<unknown>, run: Run, reason: () => unknown): void {
    const isUnchosen = this.happened !== undefined;
    const own = ownWaitsIn(membership);
    const before = own.isUnchosen;
    own.isUnchosen = isUnchosen;
    try {
      if (!shared.promises.cancel(run, reason) || !isUnchosen) return;
      Atomics.sub(new Int32Array(membership.memory.buffer), (at + O_TIMEOUTS) / 4, 1);
    } finally {
      own.isUnchosen = before;
    }
  }

  #granted(index: number, work: Work<unknown>): void {
    if (this.isAsleep) this.abandon();
    if (this.isOver) work.giveBack();
    else if (this.#isTaking) this.#late.push(() => this.#granted(index, work));
    else {
      this.#isTaking = true;
      this.#ends(() => {
        const done = work.take();
        return done && { index, done };
      });
      this.#isTaking = false;
      for (const look of this.#late.splice(0)) look();
      // The message was a hole: the case stands in its queue again.
      if (!this.isOver && !this.#isLeaving) this.#join(index, work);
    }
  }

  /**
   * An exception has cut short what follows when a case is granted. The message of the case, if it has one, may count as
   * lost by now. The permits of cases that were granted meanwhile go back (endpoint.ts).
   */
  #isCut(): void {
    this.#isTaking = false;
    this.#late.length = 0;
    if (this.happened?.done.unreadAt) this.happened = undefined;
    if (this.isOver) this.#leave();
    else this.fail(new Error('selectAsync: an exception has cut the select short: a message may be lost'));
  }

  #ends(outcome: () => Happened | undefined): void {
    try {
      this.happened = outcome();
    } catch (reason) {
      this.error = { reason };
    }
    if (this.isOver) this.#leave();
  }

  /** Leaves all queues for this reason, unless a case is granted while it leaves. */
  fail(reason: unknown): void {
    if (this.isOver) return;
    this.#cancelAll();
    if (this.isOver) return;
    this.error = { reason };
    this.#over();
  }

  /** Leaves all queues, and gives back what is granted meanwhile. */
  abandon(): void {
    if (this.isOver) return;
    this.error = { reason: undefined };
    this.#leave();
  }

  #leave(): void {
    this.#cancelAll();
    this.#over();
  }

  #cancelAll(): void {
    this.#isLeaving = true;
    for (const [i, cancel] of this.#cancels.entries()) {
      this.#cancels[i] = undefined;
      cancel?.(() => undefined);
    }
  }
}

/** The selection for which the thread blocks. After an interrupt nobody wants it any more (runtime/interrupts.ts). */
let blocking: Selection | undefined;
function abandon(): void {
  blocking?.abandon();
  blocking = undefined;
}
const expectInterrupt = afterInterrupt(abandon);

/** Returns what a selection that is over has come to. It may run code of the user. */
function outcomeOf({ happened, error }: Pick<Selection, 'happened' | 'error'>): Selected {
  if (error !== undefined) throw error.reason;
  return selectedOf(happened as Happened);
}

/**
 * Waits until one of the cases can be had, and has that one alone. Blocks the thread. What was not chosen loses
 * nothing. The thread stands in the queue of each case, so the wait is fair. While it looks, a permit that is due to it
 * lies idle.
 * @param cases 1 to 64 cases, whose objects are in one arena.
 * @param options a time-out, a signal that is looked at once, and `biased`.
 * @returns which case has happened, and its value: the message of `receiving`, or the `Snapshot` of `changing`. A
 * channel that is closed and empty, and a watch that is closed and has no newer value, count as cases that can be had.
 * @throws {TimeoutError} when the time-out has passed. Nothing has happened then, as after each of these errors.
 * @throws {ClosedError} if a case sends by a channel that is closed.
 * @throws {DisposedError} if one of the objects has been or is being disposed of.
 * @throws {CancelledError} if `cancelAll` of a semaphore has cancelled the request.
 * @throws {RangeError | TypeError} for bad cases or options, and what `send` throws for a bad value.
 * @throws {TypeError} on a thread that must not block, such as a browser's main thread.
 * @throws {ArenaFullError} if the arena has no room for so many waiters.
 * @example const { index, value } = select([receiving(jobs), receiving(orders)], { timeout: 50 });
 * @since 0.3.0
 */
export function select<const C extends readonly Case[]>(cases: C, options: SelectOptions = {}): Selected<ValueOf<C>> {
  const [works, timeout] = begin('select', cases, options);
  const at = attempt(works, options.biased);
  if (at !== undefined) return selectedOf(at) as Selected<ValueOf<C>>;
  const left = countdown(timeout);
  if (timeout <= 0) throw timedOut('one of several cases', timeout);
  const { membership } = works[0] as Work<unknown>;
  if (works.some((work) => work.membership !== membership))
    throw new TypeError('select: the objects of the cases must be in one arena: use selectAsync');
  if (!membership.mayBlock) throw mayNotBlock('selectAsync');
  const { core } = membership;
  const { sleepOn } = channelOf(membership);
  const words = new Int32Array(membership.memory.buffer);
  const bell = core.doorbell();
  abandon();
  const selection = new Selection(() => {});
  // An interrupt may come as soon as the selection stands in a queue.
  blocking = selection;
  expectInterrupt();
  selection.join(works);
  while (!selection.isOver) {
    const rung = Atomics.load(words, bell / 4);
    for (const { shared } of works) if (!selection.isOver) shared.promises.flush();
    if (selection.isOver) break;
    const rest = left();
    if (rest <= 0) selection.fail(timedOut('one of several cases', timeout));
    else {
      selection.isAsleep = true;
      sleepOn(bell, rung, nanoseconds(rest));
      selection.isAsleep = false;
    }
  }
  blocking = undefined;
  return outcomeOf(selection) as Selected<ValueOf<C>>;
}

/**
 * As `select`, without blocking the thread. The objects may be in several arenas.
 * @returns a promise. It rejects with the errors of `select`, and with the reason of the signal when that is aborted.
 * @example const { index } = await selectAsync([receiving(jobs), receiving(stop)], { signal });
 * @since 0.3.0
 */
export function selectAsync<const C extends readonly Case[]>(
  cases: C,
  options: SelectOptions = {},
): Promise<Selected<ValueOf<C>>> {
  let resolve!: (outcome: () => Selected) => void;
  let reject!: (reason: unknown) => void;
  // In this order: if an exception ends this call later, the outcome is read all the same.
  const selected = new Promise<() => Selected>((...settle) => {
    [resolve, reject] = settle;
  }).then((outcome) => outcome());
  try {
    joinAsync(cases, options, resolve);
  } catch (error) {
    reject(error);
  }
  return selected as Promise<Selected<ValueOf<C>>>;
}

/** Resolves to a function that returns the outcome, and may run code of the user. */
function joinAsync(cases: readonly Case[], options: SelectOptions, resolve: (outcome: () => Selected) => void): void {
  const [works, timeout] = begin('selectAsync', cases, options);
  checkWaitAsync();
  let isTold = false;
  const tell = (happened: Happened | undefined, selection?: Selection): void => {
    if (isTold) return;
    const unreadAt = happened?.done.unreadAt;
    resolve(() => {
      if (unreadAt) unreadAt.inTransit--;
      return outcomeOf({ happened, error: selection?.error });
    });
    // The promise has the message exactly if the thread comes here: an exception may end the call of `resolve`, and none
    // comes after that.
    isTold = true;
    if (unreadAt) unreadAt.inTransit++;
  };
  const at = attempt(works, options.biased);
  if (at !== undefined) {
    tell(at);
    return;
  }
  if (timeout <= 0) throw timedOut('one of several cases', timeout);
  let stop: (() => void) | undefined;
  const selection = new Selection(() => {
    stop?.();
    // Whoever has let the case happen goes on before the value is read.
    tell(selection.happened, selection);
  });
  selection.join(works);
  if (selection.isOver) return;
  stop = cancelOn(
    timeout,
    options.signal,
    (why) => selection.fail(why()),
    () => 'one of several cases',
  );
}

/**
 * Tries each of the cases once, as the `default` of Go's select. Never blocks.
 * @returns which case has happened, or undefined if none can be had now.
 * @throws what `select` throws, but no TimeoutError or ArenaFullError.
 * @example const next = trySelect([receiving(urgent), receiving(jobs)], { biased: true });
 * @since 0.3.0
 */
export function trySelect<const C extends readonly Case[]>(
  cases: C,
  options: Pick<SelectOptions, 'biased'> = {},
): Selected<ValueOf<C>> | undefined {
  const [works] = begin('trySelect', cases, options, ['biased']);
  const at = attempt(works, options.biased);
  return at && (selectedOf(at) as Selected<ValueOf<C>>);
}
