/// <reference lib="esnext.disposable" preserve="true" />
/**
 * The guards by which a caller gives back what it holds. `Grants` (session/grants.ts) has a guard made for each grant,
 * counts the guard's permits down as the caller gives them back, and ends the guard when the lease is lost.
 *
 *     held: left > 0 --- the caller gives all back -------------> left = 0
 *                    --- `lose`: the lease or the grant is lost -> left = 0, `lost` is the error, `signal` is aborted
 *
 * Every look at a guard first calls `Keeper.look`, which asks the clock. So a guard never says that it holds after the
 * lease is over, even if the process stood still and no timer has run.
 */

import { inspected, shown } from '../../../src/common/shown.js';
import { asyncDispose, dispose } from '../../../src/common/symbols.js';
import { bad, LeaseLostError } from '../errors.js';
import { tokenOf, writeProof } from '../script/wire.js';
import type { Keeper, Request } from '../session/request.js';
import { lookingAtTheClock } from './abort.js';

/** The class of guard that a caller asks for. */
export type GuardClass<G extends Held = Held> = new (
  keeper: Keeper,
  base: Request,
  left: number,
  pass: number,
  deaths: number,
) => G;

/**
 * A guard: the object by which a caller holds permits or a lock, and gives them back. At the end of a `using` scope the
 * guard gives all back and does not wait for the server. At the end of an `await using` scope it gives all back and
 * waits until the server has everything. A guard that has given all back does nothing more.
 */
export abstract class Held implements Disposable, AsyncDisposable {
  // A Guard, too. But what makes it one is internal, so with this word the published declaration would be wrong.

  /** @internal */
  readonly keeper: Keeper;
  /** @internal */
  readonly base: Request;
  // Users may freeze a guard, so what changes is in private fields.
  #left: number;
  /** @internal How often the mutex was passed on within this process before this guard got it. */
  readonly pass: number;
  /** @internal */
  readonly deaths: number;
  #stamp = 0;
  #lost: LeaseLostError | undefined;
  #controller: AbortController | undefined;

  /** @internal */
  constructor(keeper: Keeper, base: Request, left: number, pass: number, deaths: number) {
    this.keeper = keeper;
    this.base = base;
    this.#left = left;
    this.pass = pass;
    this.deaths = deaths;
  }

  /** @internal The permits that the guard still holds. */
  get left(): number {
    return this.#left;
  }

  /** @internal */
  set left(left: number) {
    this.#left = left;
  }

  /** @internal When the permits were granted, by `Surroundings.stamp`. */
  get stamp(): number {
    return this.#stamp;
  }

  /** @internal */
  set stamp(stamp: number) {
    this.#stamp = stamp;
  }

  /** @internal */
  get lost(): LeaseLostError | undefined {
    return this.#lost;
  }

  /** @internal */
  set lost(lost: LeaseLostError | undefined) {
    this.#lost = lost;
  }

  /** @internal Is called when the lease or the grant is lost. From now on the guard holds nothing. */
  lose(why: string): void {
    this.left = 0;
    this.lost = new LeaseLostError(`${JSON.stringify(this.base.object.name)} is held no more: ${why}`);
    this.#controller?.abort(this.lost);
  }

  /**
   * The fencing token: larger than the token of every earlier grant of the object, also after a failover. Where only
   * one process holds at a time (a mutex, a writer, all permits of a semaphore), let the resource keep the largest
   * token that it has seen, and refuse smaller ones. Then its data stays right even if two processes believe that they
   * hold.
   *
   * **Do not fence in this way with only some of the permits, or as a reader.** In these cases several processes rightly
   * hold at once, with different tokens, and the resource would refuse the smaller ones. Keep one token for each row, slot
   * or connection that only one process uses at a time, or ask `validate`.
   *
   * The token is about 9e17 or more, so it is above 2 ** 53. Store it as a BIGINT in SQL and as decimal text in JSON
   * and Lua, never as a `Number`.
   */
  get token(): bigint {
    return tokenOf(this.base.ticket, this.pass);
  }

  /**
   * A signal that is aborted with a `LeaseLostError` when the lease is lost, before the server can give the permits to
   * others. The signal looks at the clock whenever you read `aborted` or `reason`, call `throwIfAborted()` or begin to
   * listen. So it is right even after the process was stopped for long. A signal that `AbortSignal.any` has made of
   * this one does not look at the clock. A timer aborts it, at the next iteration of the event loop.
   * @example await fetch(url, { signal: held.signal });
   */
  get signal(): AbortSignal {
    const look = (): void => this.keeper.look();
    look();
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      lookingAtTheClock(this.#controller.signal, look);
      if (this.lost) this.#controller.abort(this.lost);
    }
    return this.#controller.signal;
  }

  /** Whether the guard still holds: not all was given back, and the lease is not lost. */
  get held(): boolean {
    this.keeper.look();
    return this.left > 0;
  }

  /**
   * Whether this is the first grant since a holder of the robust object has died. The data may then be half-written.
   */
  get ownerDied(): boolean {
    return this.deaths > 0;
  }

  /**
   * A text without spaces that names this grant. Any process that opens the object may ask `validate(proof)` whether
   * the grant is still held.
   */
  get proof(): string {
    const { rid, ticket } = this.base;
    return writeProof({ sid: this.keeper.sid, rid, ticket });
  }

  /**
   * Returns, for example, `HeldPermits(2)` or `HeldLock(held)`. If the lease is lost, it returns for example
   * `HeldLock(lost)`. Never blocks, throws nothing.
   */
  toString(): string {
    return `${this[Symbol.toStringTag]}(${this.lost ? 'lost' : this.state()})`;
  }

  /** @internal What the guard holds, in a word. */
  protected state(): string {
    return this.left > 0 ? 'held' : 'unlocked';
  }

  /** The name of the class. */
  abstract get [Symbol.toStringTag](): string;

  /** @internal */
  [inspected](): string {
    return shown(this);
  }

  /** Ends a `using` scope: gives back all, and does not wait for the server. */
  [dispose](): void {
    void this.keeper.giveBack(this, this.left);
  }

  /** Ends an `await using` scope: gives back all, and resolves when the server has all. Never rejects. */
  [asyncDispose](): Promise<void> {
    return this.keeper.giveBack(this, this.left);
  }
}

/** The guard of permits of a semaphore. */
export class HeldPermits extends Held {
  /** The number of permits that the guard still holds; 0 once all are given back or lost. */
  get permits(): number {
    return this.left;
  }

  /**
   * Gives permits back. Without a number it gives all back, and does nothing the second time. Never blocks the thread.
   * @param permits 1 to the number that the guard still holds (the default). If the lease is lost, nothing is given back.
   * @returns a promise that resolves when the server has the permits, or when the lease is lost. It never rejects.
   * @throws {RangeError | TypeError} for a bad number, such as more than the guard holds. Nothing has changed then.
   * @example await held.release(2);
   */
  release(permits?: number): Promise<void> {
    const { left } = this;
    // Whoever gives back in a `finally` must hear why the lease was lost, and no error of `release` instead.
    const most = this.lost ? Infinity : left;
    if (permits !== undefined && !(Number.isInteger(permits) && permits >= 1 && permits <= most)) {
      const allowed = `an integer of 1 or more, and at most the ${left} that the guard holds`;
      throw bad('number', 'HeldPermits.release: permits', allowed, permits);
    }
    return this.keeper.giveBack(this, permits ?? left);
  }

  /** @internal */
  protected override state(): string {
    return String(this.permits);
  }

  /** `HeldPermits`. */
  get [Symbol.toStringTag](): string {
    return 'HeldPermits';
  }
}

/** A guard of a lock. */
abstract class Locked extends Held {
  /**
   * Unlocks the lock. Does nothing the second time. Never blocks the thread.
   * @returns a promise that resolves when the server has the lock, when the next waiter of this process has the mutex,
   * or when the lease is lost. It never rejects.
   * @example await held.unlock();
   */
  unlock(): Promise<void> {
    return this.keeper.giveBack(this, this.left);
  }
}

/** The guard of a mutex. */
export class HeldLock extends Locked {
  /** `HeldLock`. */
  get [Symbol.toStringTag](): string {
    return 'HeldLock';
  }
}

/** The guard of a reader of a read-write lock. */
export class HeldRead extends Locked {
  /** `HeldRead`. */
  get [Symbol.toStringTag](): string {
    return 'HeldRead';
  }
}

/** The guard of the writer of a read-write lock. */
export class HeldWrite extends Locked {
  /**
   * Makes the writer a reader. No other writer comes between. From now on this guard holds nothing. Never blocks,
   * throws nothing.
   * @returns the guard of the reader. If the lease is lost, the guard holds nothing.
   * @example using reading = writing.downgrade();
   */
  downgrade(): HeldRead {
    const { keeper, base, left } = this;
    const read = new HeldRead(keeper, base, Math.min(left, 1), this.pass, this.deaths);
    read.stamp = this.stamp;
    if (left > 1) {
      base.guard = read; // If `giveBack` notices that the lease is lost, it must end the guard of the reader.
      void keeper.giveBack(this, left - 1);
    } else if (this.lost) {
      read.lost = this.lost;
    }
    this.left = 0;
    return read;
  }

  /** `HeldWrite`. */
  get [Symbol.toStringTag](): string {
    return 'HeldWrite';
  }
}
