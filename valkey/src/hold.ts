/// <reference lib="esnext.disposable" preserve="true" />
/**
 * What a caller holds, and the guards by which it gives that back. A `Hold` belongs to the session: the session ends it
 * when the lease is lost. A guard is the caller's face of it.
 */
import { bad, LeaseLostError } from './errors.js';
import type { Request } from './request.js';

/** The session, as a hold needs it. */
export interface Keeper {
  /** The session's number. */
  readonly sid: string;
  /** Ends all holds if the lease may have ended since the session last looked. */
  look(): void;
  /** Gives permits of a hold back. Resolves when the server has them, or has forgotten the hold. Never rejects. */
  giveBack(hold: Hold, permits: number): Promise<void>;
}

export class Hold {
  readonly keeper: Keeper;
  /** The request whose record the server has. In a mutex it may have been another guard's before. */
  readonly base: Request;
  /** How often the mutex was passed on within this process before. */
  readonly pass: number;
  readonly deaths: number;
  permits: number;
  lost: LeaseLostError | undefined;
  #controller: AbortController | undefined;

  constructor(keeper: Keeper, base: Request, permits: number, pass: number, deaths: number) {
    this.keeper = keeper;
    this.base = base;
    this.permits = permits;
    this.pass = pass;
    this.deaths = deaths;
  }

  get token(): bigint {
    return BigInt(`0x${this.base.ticket}`) * 4096n + BigInt(this.pass);
  }

  get signal(): AbortSignal {
    this.keeper.look();
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.lost) this.#controller.abort(this.lost);
    }
    return this.#controller.signal;
  }

  /** Called by the session. The guards are inert from now on. */
  lose(why: string): void {
    this.permits = 0;
    this.lost = new LeaseLostError(`${JSON.stringify(this.base.object.name)} is held no more: ${why}`);
    this.#controller?.abort(this.lost);
  }
}

// Node 20 before 20.5.1 has no Symbol.dispose; TypeScript's helpers and its polyfills agree on this name.
const dispose: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose');
/** @internal The name of the method that `console.log` of Node, Deno and Bun calls. */
export const inspected: unique symbol = Symbol.for('nodejs.util.inspect.custom');
export const asyncDispose: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose');

/**
 * A guard of what was granted. It gives back once: at the end of a `using` scope without waiting for the server, at the
 * end of an `await using` scope when the server has it.
 */
export abstract class Held implements Disposable, AsyncDisposable {
  /** @internal */
  readonly hold: Hold;

  /** @internal */
  constructor(hold: Hold) {
    this.hold = hold;
  }

  /**
   * The fencing token: larger than the token of every earlier grant of the object, also after a failover. A resource that
   * refuses a token smaller than the largest that it has seen stays right even where two believe that they hold.
   */
  get token(): bigint {
    return this.hold.token;
  }

  /**
   * Is aborted with a `LeaseLostError` when the lease is lost, before the server can give the permits to others. Reading
   * it looks at the clock, so it is right even after the process was stopped for long.
   */
  get signal(): AbortSignal {
    return this.hold.signal;
  }

  /** Whether it still holds: it has not been given back, and the lease is not lost. */
  get held(): boolean {
    this.hold.keeper.look();
    return this.hold.permits > 0;
  }

  /**
   * Whether a holder of the robust object has died and this is the first grant since. The data may then be half-written.
   */
  get ownerDied(): boolean {
    return this.hold.deaths > 0;
  }

  /** Names this grant to `validate` of another process. */
  get proof(): string {
    const { base, keeper } = this.hold;
    return `${keeper.sid}.${base.rid}.${base.ticket}`;
  }

  /** Returns, for example, `HeldPermits(2)` or `HeldLock(held)`, and `lost` in the brackets if the lease is. Throws nothing. */
  toString(): string {
    return `${this[Symbol.toStringTag]}(${this.hold.lost ? 'lost' : this.state()})`;
  }

  /** @internal What it holds, in a word. */
  protected state(): string {
    return this.hold.permits > 0 ? 'held' : 'unlocked';
  }

  /** The name of the class. */
  abstract get [Symbol.toStringTag](): string;

  /** @internal */
  [inspected](): string {
    return this.toString();
  }

  /** Ends a `using` scope: gives back all, and does not wait for the server. */
  [dispose](): void {
    void this.hold.keeper.giveBack(this.hold, this.hold.permits);
  }

  /** Ends an `await using` scope: gives back all, and resolves when the server has it. Never rejects. */
  [asyncDispose](): Promise<void> {
    return this.hold.keeper.giveBack(this.hold, this.hold.permits);
  }
}

/** Permits of a semaphore. */
export class HeldPermits extends Held {
  /** The number of permits that it still holds; 0 once all are given back or lost. */
  get permits(): number {
    return this.hold.permits;
  }

  /**
   * Gives permits back; without a number all, and then it does nothing the second time.
   *
   *     await held.release(2);
   * @param permits 1 to the number that it still holds (the default).
   * @returns a promise that resolves when the server has them, or when the lease is lost. It never rejects.
   * @throws {RangeError | TypeError} for a bad number, such as more than it still holds. Nothing has changed then.
   */
  release(permits?: number): Promise<void> {
    const { hold } = this;
    if (permits !== undefined && !(Number.isInteger(permits) && permits >= 1 && permits <= hold.permits)) {
      const allowed = `an integer of 1 or more, and at most the ${hold.permits} that the guard holds`;
      throw bad('number', 'HeldPermits.release: permits', allowed, permits);
    }
    return hold.keeper.giveBack(hold, permits ?? hold.permits);
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

/** A mutex that is locked. */
export class HeldLock extends Held {
  /**
   * Unlocks it. Does nothing the second time.
   * @returns a promise that resolves when the server or the next holder in this process has it. It never rejects.
   */
  unlock(): Promise<void> {
    return this.hold.keeper.giveBack(this.hold, this.hold.permits);
  }

  /** `HeldLock`. */
  get [Symbol.toStringTag](): string {
    return 'HeldLock';
  }
}

/** A read-write lock that is locked for reading. */
export class HeldRead extends Held {
  /**
   * Unlocks it. Does nothing the second time.
   * @returns a promise that resolves when the server has it. It never rejects.
   */
  unlock(): Promise<void> {
    return this.hold.keeper.giveBack(this.hold, this.hold.permits);
  }

  /** `HeldRead`. */
  get [Symbol.toStringTag](): string {
    return 'HeldRead';
  }
}

/** A read-write lock that is locked for writing. */
export class HeldWrite extends Held {
  /**
   * Unlocks it. Does nothing the second time.
   * @returns a promise that resolves when the server has it. It never rejects.
   */
  unlock(): Promise<void> {
    return this.hold.keeper.giveBack(this.hold, this.hold.permits);
  }

  /**
   * Becomes a reader. No other writer comes between. This guard holds nothing from then on.
   *
   *     using reading = writing.downgrade();
   * @returns the guard of the reader. If the lease is lost, it holds nothing.
   */
  downgrade(): HeldRead {
    const { hold } = this;
    const read = new Hold(hold.keeper, hold.base, Math.min(hold.permits, 1), hold.pass, hold.deaths);
    if (hold.permits > 1) {
      void hold.keeper.giveBack(hold, hold.permits - 1);
      hold.base.hold = read;
    } else if (hold.lost) {
      read.lost = hold.lost;
    }
    hold.permits = 0;
    return new HeldRead(read);
  }

  /** `HeldWrite`. */
  get [Symbol.toStringTag](): string {
    return 'HeldWrite';
  }
}
