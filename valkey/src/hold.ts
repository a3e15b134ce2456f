/// <reference lib="esnext.disposable" preserve="true" />
/**
 * The guards by which a caller gives back what it holds. With each grant `Requests` (requests.ts) has a guard made.
 * It counts the permits of the guard down, and ends the guard when the lease is lost.
 */
import { lookingAtTheClock } from './abort.js';
import { bad, LeaseLostError } from './errors.js';
import type { Request } from './request.js';
import { tokenOf, writeProof } from './wire.js';

/** The requests of a session, as a guard needs them. */
export interface Keeper {
  /** The session's number. */
  readonly sid: string;
  /** Ends all guards if the lease may have ended since the session last looked. */
  look(): void;
  /** Gives permits of a guard back. Resolves when the server has the permits, or has forgotten them. Never rejects. */
  giveBack(held: Held, permits: number): Promise<void>;
}

/** The class of guard that a caller asks for. */
export type GuardClass<G extends Held = Held> = new (
  keeper: Keeper,
  base: Request,
  left: number,
  pass: number,
  deaths: number,
) => G;

// Node 20 before 20.5.1 has no Symbol.dispose. The helpers of TypeScript and its polyfills all use this name.
export const dispose: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose');
/** @internal The name of the method that `console.log` of Node, Deno and Bun calls. */
export const inspected: unique symbol = Symbol.for('nodejs.util.inspect.custom');
export const asyncDispose: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose');

/**
 * A guard of what was granted. It gives back once. At the end of a `using` scope it does not wait for the server; at
 * the end of an `await using` scope it waits until the server has it.
 */
export abstract class Held implements Disposable, AsyncDisposable {
  /** @internal */
  readonly keeper: Keeper;
  /** @internal The request whose record the server has. In a mutex it may have belonged to another guard before. */
  readonly base: Request;
  /** @internal The permits that the guard still holds. */
  left: number;
  /** @internal How often the mutex was passed on within this process before this guard. */
  readonly pass: number;
  /** @internal */
  readonly deaths: number;
  /** @internal When it was granted, by `Surroundings.stamp`. */
  stamp = 0;
  /** @internal */
  lost: LeaseLostError | undefined;
  #controller: AbortController | undefined;

  /** @internal */
  constructor(keeper: Keeper, base: Request, left: number, pass: number, deaths: number) {
    this.keeper = keeper;
    this.base = base;
    this.left = left;
    this.pass = pass;
    this.deaths = deaths;
  }

  /** @internal Is called when the lease, or the grant, is lost. The guard does nothing from now on. */
  lose(why: string): void {
    this.left = 0;
    this.lost = new LeaseLostError(`${JSON.stringify(this.base.object.name)} is held no more: ${why}`);
    this.#controller?.abort(this.lost);
  }

  /**
   * The fencing token: larger than the token of every earlier grant of the object, also after a failover. Where one holds
   * at a time (a mutex, a writer, all permits of a semaphore), a resource that refuses a token smaller than the largest
   * that it has seen stays right even if two believe that they hold. **Do not fence so with a part of the permits, or as a
   * reader**: several hold lawfully then, with different tokens, and the earlier one would be refused. Keep one token for
   * each row, slot or connection that only one of them uses, or ask `validate`.
   *
   * It is about 9e17 and more, above 2 ** 53: a BIGINT in SQL, decimal text in JSON and Lua, never a `Number`.
   */
  get token(): bigint {
    return tokenOf(this.base.ticket, this.pass);
  }

  /**
   * Is aborted with a `LeaseLostError` when the lease is lost, before the server can give the permits to others. It looks
   * at the clock when it is asked, by `aborted`, `reason` and `throwIfAborted()`, and when somebody begins to listen, so it
   * is right even after the process was stopped for long. A signal that `AbortSignal.any` has made of it before hears of it
   * from a timer, at the next turn of the event loop.
   *
   *     await fetch(url, { signal: held.signal });
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

  /** Whether the guard still holds: nobody has given it back, and the lease is not lost. */
  get held(): boolean {
    this.keeper.look();
    return this.left > 0;
  }

  /**
   * Whether a holder of the robust object has died and this is the first grant since. The data may then be half-written.
   */
  get ownerDied(): boolean {
    return this.deaths > 0;
  }

  /**
   * Names this grant, in a text without spaces: any process that opens the object may ask `validate(proof)` whether it is
   * still held.
   */
  get proof(): string {
    const { rid, ticket } = this.base;
    return writeProof({ sid: this.keeper.sid, rid, ticket });
  }

  /** Returns, for example, `HeldPermits(2)` or `HeldLock(held)`, and `lost` in the brackets if the lease is. Throws nothing. */
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
    return this.toString();
  }

  /** Ends a `using` scope: gives back all, and does not wait for the server. */
  [dispose](): void {
    void this.keeper.giveBack(this, this.left);
  }

  /** Ends an `await using` scope: gives back all, and resolves when the server has it. Never rejects. */
  [asyncDispose](): Promise<void> {
    return this.keeper.giveBack(this, this.left);
  }
}

/** Permits of a semaphore. */
export class HeldPermits extends Held {
  /** The number of permits that the guard still holds; 0 once all are given back or lost. */
  get permits(): number {
    return this.left;
  }

  /**
   * Gives permits back. Without a number it gives all back, and does nothing the second time.
   *
   *     await held.release(2);
   * @param permits 1 to the number that the guard still holds (the default).
   * @returns a promise that resolves when the server has them, or when the lease is lost. It never rejects.
   * @throws {RangeError | TypeError} for a bad number, such as more than it still holds. Nothing has changed then.
   */
  release(permits?: number): Promise<void> {
    const { left } = this;
    if (permits !== undefined && !(Number.isInteger(permits) && permits >= 1 && permits <= left)) {
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

/** A lock that is locked. */
abstract class Locked extends Held {
  /**
   * Unlocks it. Does nothing the second time.
   * @returns a promise that resolves when the server, or the next holder of a mutex in this process, has it. It never
   * rejects.
   */
  unlock(): Promise<void> {
    return this.keeper.giveBack(this, this.left);
  }
}

/** A mutex that is locked. */
export class HeldLock extends Locked {
  /** `HeldLock`. */
  get [Symbol.toStringTag](): string {
    return 'HeldLock';
  }
}

/** A read-write lock that is locked for reading. */
export class HeldRead extends Locked {
  /** `HeldRead`. */
  get [Symbol.toStringTag](): string {
    return 'HeldRead';
  }
}

/** A read-write lock that is locked for writing. */
export class HeldWrite extends Locked {
  /**
   * The writer becomes a reader. No other writer comes between. From then on this guard holds nothing.
   *
   *     using reading = writing.downgrade();
   * @returns the guard of the reader. If the lease is lost, it holds nothing.
   */
  downgrade(): HeldRead {
    const { keeper, base, left } = this;
    const read = new HeldRead(keeper, base, Math.min(left, 1), this.pass, this.deaths);
    read.stamp = this.stamp;
    if (left > 1) {
      base.guard = read; // a loss that `giveBack` notices is the reader's
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
