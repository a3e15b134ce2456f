/**
 * The counts of a semaphore, as getters, `add`, and the texts that tell these counts: errors and a warning. semaphore.ts
 * extends this class, and has the calls that take permits and give them back.
 *
 * This class and `Semaphore` each keep the address of the object in a field of their own. `Semaphore` needs its own
 * field for `acquire` and `release`, which must be fast: V8 treats the address there as a constant, but only if the
 * class itself declares the field (shared-object.ts). The methods of this class need not be fast.
 */
import { host } from '#host';
import {
  ANSWER_FULL,
  type ANSWER_NOT_HELD,
  ANSWER_OVER_MAX,
  CLOSED_OBJECT,
  type LEAVE,
  LIMIT,
  type TIMED_OUT,
} from './border/numbers.js';
import { checkInteger, described, noRoom } from './errors.js';
import { giveBack } from './held-permits.js';
import type { WaitOptions } from './options.js';
import { notAdmitted } from './runtime/cancellation.js';
import { balanceOf } from './runtime/membership.js';
import { back, close, disposedError, forget, isOver, named, reference, SharedObject } from './shared-object.js';
import { type SemaphoreStats, semaphoreStats } from './stats.js';

export const KIND = 'Semaphore';

/** @internal */
export const release = Symbol();
/** @internal */
export const available = Symbol();

/** The counts of a semaphore that threads share. */
export abstract class SemaphoreCounts extends SharedObject<typeof KIND> {
  readonly #core = this[reference].membership.core;
  readonly #shared = this[reference].shared;
  #at = this[reference].address;
  readonly #max = this.#core.maxOf(this.#at);

  /** The greatest number of available permits. */
  get max(): number {
    return this.#max;
  }

  /** The number of permits that `tryAcquire` could take now. It is racy, and meant for diagnostics. */
  get available(): number {
    return this[available];
  }

  /** @internal */
  get [available](): number {
    const { away } = this.#shared;
    if (!away || this[isOver]) return this.#core.available(this.#at);
    return balanceOf(away);
  }

  /**
   * The number of queued requests, blocked threads and promises alike. It looks at every waiter of the arena and is
   * racy, so it is meant for diagnostics.
   */
  get waiting(): number {
    return this.#core.waiting(this.#at);
  }

  /** @internal */
  abstract [release](permits: number): void;

  /** @internal */
  [giveBack](permits: number): void {
    this[release](permits);
    this.#shared.grants -= permits;
  }

  /** Whether the permits of each thread are recorded; see `SemaphoreOptions.robust`. */
  get robust(): boolean {
    return this.#shared.countedBy !== 0;
  }

  /**
   * Makes more permits, such as for a pool that grows, and wakes each waiter whose turn has come. Unlike permits that
   * are released, these permits do not count as given back. So any thread may add permits to a robust semaphore.
   * `inspect().added` shows them. Never blocks. On a disposed semaphore it does nothing.
   * @param permits 1 (the default) to `max`.
   * @throws {RangeError | TypeError} for a bad number.
   * @throws {RangeError} if more than `max` would be available. Then nothing has changed. So the `max` of a pool that
   * grows must be the largest number of permits that the pool may ever have.
   * @example pool.add(2);
   */
  add(permits = 1): void {
    checkPermits('add', permits, this.#max);
    this[back]();
    const core = this.#core;
    this.#shared.promises.planRest();
    let answer: number = core.exceeds(this.#at, permits) ? ANSWER_OVER_MAX : core.add(this.#at, permits);
    // The call gives none of this thread's permits back, so the core is told of no attachment.
    if (answer > 0) answer = core.finishRelease(this.#at, permits, answer, 0, 0);
    if (answer === ANSWER_OVER_MAX) throw refused(this, 'add', answer, permits);
    this.#shared.promises.settle();
  }

  /**
   * Describes the semaphore by a plain object. It looks at every waiter of the arena and is racy, so it is meant for
   * diagnostics. Never blocks.
   * @throws {DisposedError} if it has been disposed of.
   * @example console.log(pool.inspect().waiters);
   */
  inspect(): SemaphoreStats {
    if (this[isOver]) throw this[disposedError]();
    this[back]();
    return semaphoreStats(this.#core, this.#at);
  }

  /**
   * Returns, for example, `Semaphore("pool", 2 available, 0 waiting)`. It looks at every waiter of the arena and is
   * racy, so it is meant for diagnostics. Never blocks, throws nothing.
   */
  override toString(): string {
    return `Semaphore(${this[named](', ')}${this[isOver] ? 'disposed' : `${this[available]} available, ${this.#core.waiting(this.#at)} waiting`})`;
  }

  /** @internal */
  protected override [close](): void {
    this.#core.dispose(this.#at);
  }

  /** @internal */
  protected override [forget](address = CLOSED_OBJECT): void {
    this.#at = address;
  }
}

/** Throws a RangeError or TypeError unless so many permits may be asked for. */
export function checkPermits(method: string, permits: number, max: number): void {
  checkInteger(`Semaphore.${method}: permits`, permits, 1, max, ' (its max)');
}

/** Returns the number of permits that a request asks for, once its arguments have been checked. */
export function permitsOf(permits: number | WaitOptions): number {
  return typeof permits === 'number' ? permits : 1;
}

/**
 * Warns of a request for more permits than the semaphore has in all, because the request is likely to wait for ever.
 * Returns the number of permits up to which a later request needs no call of this function. `usual` is the number that
 * the last call returned.
 */
export function usualAfter(semaphore: SemaphoreCounts, method: string, permits: number, usual: number): number {
  if (permits <= semaphore[available] || semaphore[isOver]) return usual;
  semaphore[back]();
  const { address, membership } = semaphore[reference];
  const { core } = membership;
  // The number of permits may have been changed since, also by another thread.
  const made = core.initial(address) + core.added(address);
  if (permits <= made) return made;
  host.warn(
    `Semaphore.${method}: a request for ${permits} permits waits, but the semaphore has ${made}. It and ` +
      `all behind it wait until more are released than taken`,
  );
  return LIMIT;
}

/** Says, for a TimeoutError, what a request waited for that has left the queue. */
export function wanted(semaphore: SemaphoreCounts, permits: number): string {
  // If the arena has had more waiters at a time, the error does not count the waiters: thousands may be thrown at once.
  const MANY = 1024;
  const { address, membership } = semaphore[reference];
  const { core } = membership;
  const waiting = core.usedElements() > MANY ? '' : `, ${core.waiting(address)} waiting`;
  return `${counted(permits)} of ${semaphore[described]()} (${semaphore[available]} available${waiting})`;
}

function counted(permits: number): string {
  return `${permits} permit${permits === 1 ? '' : 's'}`;
}

/** The error of a request that has left the queue, or has found no room in it. */
export function notServed(
  semaphore: SemaphoreCounts,
  answer: ANSWER_FULL | TIMED_OUT | LEAVE,
  permits: number,
  timeout: number,
): Error {
  if (answer === ANSWER_FULL) return noRoom(semaphore[reference].membership.core);
  return notAdmitted(answer, () => wanted(semaphore, permits), timeout);
}

/** The error of a release that the core has refused with this answer. */
export function refused(
  semaphore: SemaphoreCounts,
  method: string,
  answer: ANSWER_OVER_MAX | ANSWER_NOT_HELD,
  permits: number,
): RangeError {
  const { address, membership, shared } = semaphore[reference];
  return new RangeError(
    `Semaphore.${method}: ${
      answer === ANSWER_OVER_MAX
        ? `${permits} more would make more than ${membership.core.maxOf(address)} (its max) available of ${semaphore[described]()}; ` +
          `${semaphore[available]} are: ${method === 'add' ? 'make it with a greater max' : 'give back as many as were taken'}`
        : `this thread holds ${counted(membership.core.held(shared.attachment))} of ${semaphore[described]()}, which is ` +
          `robust, got ${permits}: the thread that takes permits gives them back`
    }`,
  );
}
