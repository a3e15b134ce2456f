/**
 * Several objects held at once. Each caller takes its objects one after the other, in the order of their names. All
 * callers take them in this same order, so they never wait for each other in a circle (deadlock). There are as many
 * round trips as objects. If one object cannot be held, or an object that is held already is lost, all objects that are
 * held are given back.
 */

import { inspected, shown } from '../../../src/common/shown.js';
import { asyncDispose, dispose } from '../../../src/common/symbols.js';
import { badType, checkInteger, shown as shownValue, timedOut } from '../errors.js';
import { MOST_PERMITS } from '../session/shared-object.js';
import type { Surroundings } from '../session/surroundings.js';
import { lookingAtTheClock, whenAborted } from './abort.js';
import { aborted, checkWait, isTimeoutOf, type WaitOptions } from './acquire.js';
import type { Handle } from './handle.js';
import type { Held, HeldLock, HeldPermits, HeldRead, HeldWrite } from './hold.js';
import { Mutex } from './mutex.js';
import { RwLock } from './rw-lock.js';
import { Semaphore } from './semaphore.js';

/**
 * What `Space.holdAll` can hold: one permit or several of a semaphore, a mutex, or a read-write lock for writing or for
 * reading.
 */
export type Holdable = Mutex | Semaphore | readonly [Semaphore, number] | RwLock | readonly [RwLock, 'read' | 'write'];

/** The class of the guard of an object. */
export type HeldOf<T> = T extends Mutex
  ? HeldLock
  : T extends Semaphore | readonly [Semaphore, number]
    ? HeldPermits
    : T extends readonly [RwLock, 'read']
      ? HeldRead
      : HeldWrite;

/** A guard of all that `Space.holdAll` holds. It gives everything back at the end of its scope. */
export class HeldAll<G extends readonly Held[] = readonly Held[]> implements Disposable, AsyncDisposable {
  /** The guards, in the order in which the caller named the objects. You may give back each guard before the others. */
  readonly guards: G;
  /**
   * Is aborted with the `LeaseLostError` of the first guard that is lost. The signal looks at the clock as
   * `Held.signal` does.
   */
  readonly signal: AbortSignal;

  /** @internal */
  constructor(guards: G, controller: AbortController) {
    this.guards = guards;
    this.signal = lookingAtTheClock(controller.signal, () => {
      for (const { signal } of guards) if (signal.aborted) controller.abort(signal.reason);
    });
  }

  /** Whether all objects are still held: no guard has been given back, and none is lost. */
  get held(): boolean {
    return this.guards.every(({ held }) => held);
  }

  /**
   * Gives all objects back. Does nothing the second time. Never blocks the thread.
   * @returns a promise that resolves when the server has the objects. It never rejects.
   * @example await held.release();
   */
  async release(): Promise<void> {
    await Promise.all(this.guards.map((guard) => guard[asyncDispose]()));
  }

  /** Returns, for example, `HeldAll(HeldLock(held), HeldPermits(2))`. Never blocks, throws nothing. */
  toString(): string {
    return `HeldAll(${this.guards.join(', ')})`;
  }

  /** `HeldAll`. */
  get [Symbol.toStringTag](): string {
    return 'HeldAll';
  }

  /** @internal */
  [inspected](): string {
    return shown(this);
  }

  /** Ends a `using` scope: gives all back, and does not wait for the server. */
  [dispose](): void {
    void this.release();
  }

  /** Ends an `await using` scope: calls `release`. */
  [asyncDispose](): Promise<void> {
    return this.release();
  }
}

/** One object that a caller wants, and the function that holds it. */
interface Wanted {
  readonly handle: Handle;
  hold(options: WaitOptions): Promise<Held>;
}

/** Checks one element of the array that the caller passes. */
function wanted(what: string, around: Surroundings, one: unknown): Wanted {
  const [handle, how, ...more] = Array.isArray(one) ? one : [one];
  if (handle?.session?.around === around && more.length === 0) {
    if (handle instanceof Mutex && how === undefined) return { handle, hold: (options) => handle.holdAsync(options) };
    if (handle instanceof Semaphore) {
      const check = (most: number): number =>
        checkInteger(`${what}: permits of ${handle}`, how === undefined ? 1 : how, 1, most);
      const permits = check(MOST_PERMITS);
      return {
        handle,
        async hold(options) {
          // Somebody may have resized the semaphore. `inspect` asks the server for its `max`.
          if (permits > handle.max) await handle.inspect(0);
          return handle.holdAsync(check(handle.max), options);
        },
      };
    }
    if (handle instanceof RwLock && how === 'read') return { handle, hold: (options) => handle.readAsync(options) };
    if (handle instanceof RwLock && (how === undefined || how === 'write'))
      return { handle, hold: (options) => handle.writeAsync(options) };
  }
  const allowed = 'mutexes, semaphores, [semaphore, permits], read-write locks or [lock, "read"] of this space';
  const instead = typeof one === 'string' ? `open it first, such as by await space.mutex(${shownValue(one)})` : '';
  throw badType(`${what}: objects`, allowed, Array.isArray(one) && more.length === 0 ? (how ?? handle) : one, instead);
}

/** @internal Does what `Space.holdAll` describes. */
export async function holdAll(
  around: Surroundings,
  objects: readonly unknown[],
  options: WaitOptions,
): Promise<HeldAll> {
  const what = 'Space.holdAll';
  if (!Array.isArray(objects)) throw badType(`${what}: objects`, 'an array', objects);
  const { timeout, signal } = checkWait(what, options);
  const all = objects.map((one) => wanted(what, around, one));
  const inOrder = [...all].sort((a, b) => (a.handle.name < b.handle.name ? -1 : 1));
  for (const [i, { handle }] of inOrder.entries())
    if (handle.name === inOrder[i + 1]?.handle.name)
      throw new RangeError(`${what}: objects must be different, got ${handle} twice`);
  if (signal?.aborted) throw aborted(signal);
  const { clock } = around;
  const end = clock.now() + timeout;
  const stop = new AbortController();
  const unlisten = signal && whenAborted(signal, () => stop.abort(aborted(signal)));
  const held = new Map<Wanted, Held>();
  let asked = options;
  try {
    for (const each of inOrder) {
      asked = { timeout: Math.max(0, end - clock.now()), signal: stop.signal };
      const guard = await each.hold(asked);
      held.set(each, guard);
      guard.signal.addEventListener('abort', () => stop.abort(guard.lost));
      // The guard may have been lost before, and then its signal tells of no event.
      if (guard.lost) stop.abort(guard.lost);
    }
    const guards = all.map((each) => held.get(each) as Held);
    const both = new HeldAll(guards, stop);
    both.signal.throwIfAborted();
    return both;
  } catch (error) {
    for (const [{ handle }, guard] of held) {
      // Nobody has repaired what a dead holder left, so the next holder is told.
      if (guard.deaths > 0 && !handle.onOwnerDied) guard.base.note = 'r';
      void guard[asyncDispose]();
    }
    if (!isTimeoutOf(asked, error)) throw error;
    throw timedOut(`all of ${all.map(({ handle }) => handle).join(', ')}`, timeout, { cause: error });
  } finally {
    unlisten?.();
  }
}
