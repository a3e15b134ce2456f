/**
 * A handle of an object of a space: what semaphores, mutexes and read-write locks have in common. How a caller gets its
 * guard:
 *
 *     acquire (acquire.ts) --> granted --> #ready -- nothing to confirm or repair --> fulfilled with the guard
 *                                            |                                          ^
 *                                            | otherwise                                | succeeds
 *                                            +--> #confirm: replicas confirm (option `durability`);
 *                                                 then `onOwnerDied` repairs, if holders have died
 *                                                   +--> fails: the permits go back, and the promise rejects
 */

import { inspected, shown } from '../../../src/common/shown.js';
import { asyncDispose } from '../../../src/common/symbols.js';
import { bad, checkInteger, checkType, DisposedError, TimeoutError } from '../errors.js';
import type { Durability } from '../options.js';
import * as wire from '../script/wire.js';
import type { Session } from '../session/session.js';
import { disposed, type SharedObject } from '../session/shared-object.js';
import { acquire, type WaitOptions } from './acquire.js';
import type { GuardClass, Held } from './hold.js';

/** A waiter or a holder, as `inspect` tells it. */
export interface Party {
  /** The session of the process that waits or holds. */
  readonly session: string;
  /** The label of that process: the option `label` of `Space.connect`. */
  readonly label: string;
  readonly permits: number;
  /**
   * For how many milliseconds the party has waited or held, by the server's clock. The server notes these times only at
   * beats, so the number may be wrong by about a tenth of a lease. A waiter has waited no longer than this number
   * says, and a holder has held no shorter. For a mutex the time begins when the process got the mutex from the server.
   */
  readonly since: number;
  /**
   * Of a holder: its fencing token. The number does not count how often the process of the holder has passed the mutex
   * on within itself. Of a waiter: the smallest token that it may get.
   */
  readonly token: bigint;
}

/** A holder, as `inspect` tells it. */
export interface Holder extends Party {
  /** Names the grant for `validate` and `revoke`. */
  readonly proof: string;
}

/** The state of an object on the server. */
export interface ObjectState {
  readonly max: number;
  /** The permits that nobody holds. Below 0 after a `resize` to fewer permits than are held. */
  readonly free: number;
  /** The number of requests that wait. */
  readonly waiting: number;
  /** How many holders of a robust object have died since the last grant. */
  readonly deaths: number;
  /** The first waiters, in order. */
  readonly queue: readonly Party[];
  /** The holders, in the order of their sessions. */
  readonly holders: readonly Holder[];
}

// The subclasses call these methods by symbols. The methods have no names that a user could call by mistake.
/** @internal */
export const ask: unique symbol = Symbol('ask');
/** @internal */
export const askAtOnce: unique symbol = Symbol('askAtOnce');
/** @internal */
export const during: unique symbol = Symbol('during');

export abstract class Handle {
  /** @internal */
  protected readonly session: Session;
  /** @internal */
  protected readonly object: SharedObject;
  #onOwnerDied: ((deaths: number) => void | PromiseLike<void>) | undefined;

  /**
   * Your function that repairs what dead holders of the robust object have left. The process that gets the first grant
   * since these deaths calls it with the number of deaths, before the promise of the request is fulfilled. If the
   * function throws, or its promise rejects, the permits go back, the next holder learns of the deaths, and the request
   * fails with the error. A value that is neither a function nor undefined is a `TypeError`.
   */
  get onOwnerDied(): ((deaths: number) => void | PromiseLike<void>) | undefined {
    return this.#onOwnerDied;
  }

  set onOwnerDied(repair) {
    const what = `${this[Symbol.toStringTag]}.onOwnerDied`;
    if (repair !== undefined) checkType(what, repair, 'function', 'a function or undefined');
    this.#onOwnerDied = repair;
  }

  /** @internal */
  constructor(session: Session, object: SharedObject) {
    this.session = session;
    this.object = object;
  }

  /** The name in the space. */
  get name(): string {
    return this.object.name;
  }

  /** @internal Waits for permits. */
  protected async [ask]<G extends Held>(
    what: string,
    permits: number,
    Guard: GuardClass<G>,
    options: WaitOptions = {},
  ): Promise<G> {
    return this.#ready(await this.#acquire(what, permits, Guard, options));
  }

  #acquire<G extends Held>(what: string, permits: number, Guard: GuardClass<G>, options: WaitOptions): Promise<G> {
    const name = `${this[Symbol.toStringTag]}.${what}`;
    return acquire(name, this.session, this.object, permits, Guard, options);
  }

  /**
   * Makes a grant ready for the caller: replicas confirm it, and the data is repaired, if this is needed. Most grants
   * need neither, and wait for no promise here.
   */
  #ready<G extends Held>(held: G): G | Promise<G> {
    const { durability } = this.session.around;
    return durability || held.deaths > 0 || held.lost ? this.#confirm(held, durability) : held;
  }

  async #confirm<G extends Held>(held: G, durability: Durability | undefined): Promise<G> {
    try {
      if (durability) await this.session.confirm(durability);
      if (held.deaths > 0) await this.onOwnerDied?.(held.deaths);
      if (held.lost) throw held.lost;
    } catch (error) {
      held.base.note = 'r';
      void held[asyncDispose]();
      throw error;
    }
    return held;
  }

  /** @internal Takes permits at once or not at all. none: further arguments, which must be undefined. */
  protected async [askAtOnce]<G extends Held>(
    what: string,
    permits: number,
    Guard: GuardClass<G>,
    none: readonly unknown[],
  ): Promise<G | undefined> {
    if (none.some((argument) => argument !== undefined)) {
      const advice = 'it takes no options; holdAsync, readAsync and writeAsync do';
      throw new TypeError(`${this[Symbol.toStringTag]}.${what} succeeds at once or not at all: ${advice}`);
    }
    const held = await this.#acquire(what, permits, Guard, { timeout: 0 }).catch((error: unknown) => {
      if (error instanceof TimeoutError) return undefined;
      throw error;
    });
    // This stands outside the `catch`, because `onOwnerDied` may fail with a `TimeoutError` too.
    return held && this.#ready(held);
  }

  /**
   * @internal
   * Calls a function with the guard that the promise gives, and gives the permits back when the function's result is
   * settled. The function counts as running from now on, so that `close` with `drain` also waits for one whose guard is
   * on its way. Functions that still wait for their permits do not hold `close` up, because it rejects their promises.
   */
  protected async [during]<G extends Held, T>(asked: Promise<G>, run: (held: G) => T | PromiseLike<T>): Promise<T> {
    const { around } = this.session;
    let held: G | undefined;
    const check = (): void => {
      if (!held?.held && held?.lost) throw held.lost;
    };
    around.running++;
    try {
      held = await asked;
      check();
      const result = await run(held);
      check();
      return result;
    } finally {
      await held?.[asyncDispose]();
      if (--around.running === 0) around.drained();
    }
  }

  /**
   * Cancels all waiting requests of all processes: their promises reject with a `CancelledError`. Holders keep what
   * they hold. If the connection is lost before the server's answer comes, the cancellation is sent again, and then it
   * also cancels the requests that came meanwhile. Never blocks the thread.
   * @throws {DisposedError} (rejects) if the object has been disposed of.
   * @example await mutex.cancelAll();
   */
  async cancelAll(): Promise<void> {
    const { object, session } = this;
    if (object.broken) throw object.broken;
    let answer: unknown;
    // One call cancels only a limited number of requests. The next call goes on, up to the last ticket that waited at
    // the first call.
    for (let upTo = wire.NONE; upTo; upTo = wire.upToIn(answer))
      answer = await session.calls.operate(wire.cancelAll(object.name, object.born, upTo));
    // The server does not keep an idle ephemeral object. Nobody waits for it, so nothing is to be cancelled.
    if (answer === wire.DISPOSED && !object.settings.ephemeral) throw disposed(object);
  }

  /**
   * Disposes of the object for all processes. Waiting requests fail with a `DisposedError`. Holders keep what they hold
   * until they give it back. Does nothing if the object has been disposed of. Never blocks the thread.
   * @throws {SpaceError} (rejects) when no server answers within `connectTimeout`, or when the server refuses.
   * @example await mutex.dispose();
   */
  async dispose(): Promise<void> {
    const { broken } = this.object;
    if (broken instanceof DisposedError) return;
    if (broken) throw broken; // the object of this name has other settings, so it is not this one
    await this.session.requests.objects.dispose(this.object);
  }

  /**
   * Asks the server whether a guard of any process still holds what it held when its `proof` was read. Takes one round
   * trip. Use `validate` where tokens do not help, for example where several holders have permits at once. The lease
   * may end between the answer and your next step, such as a write. The answer is false for a guard of an object that
   * has been disposed of: the guard still holds, but others may hold the next object of the same name. Never blocks the
   * thread.
   * @param proof `Held.proof`, or `Holder.proof` of `inspect`.
   * @throws {RangeError | TypeError} (rejects) if `proof` is no proof.
   * @example if (!(await mutex.validate(proof))) throw new Error('the sender has lost the lock');
   */
  async validate(proof: string): Promise<boolean> {
    return this.#ofProof('V', 'validate', proof);
  }

  /**
   * Takes permits away from a holder of any process. This is for an operator who finds that a holder is stuck. The
   * permits go at once to those who wait. The next holder of a robust object is told of a death. Never blocks the
   * thread.
   *
   * The holder hears of the revocation by a message, a moment later: its `signal` is aborted with a `LeaseLostError`.
   * Until the message comes, this holder and the next holder both believe that they hold the permits; the next holder
   * has the larger token. What the old holder gives back after the revocation changes nothing. If the holder's process
   * has passed a mutex on within itself, the mutex is taken from the guard that has it now.
   *
   *     const [stuck] = (await mutex.inspect())?.holders ?? [];
   *     if (stuck) await mutex.revoke(stuck.proof);
   * @param proof `Held.proof`, or `Holder.proof` of `inspect`.
   * @returns (resolves to) whether the permits were held. If the connection is lost before the server's answer comes,
   * the revocation is sent again. Then the promise may resolve to false although the first one has taken the permits
   * away. In either case the proof names nothing that is held any more.
   * @throws {RangeError | TypeError} (rejects) if `proof` is no proof.
   */
  async revoke(proof: string): Promise<boolean> {
    return this.#ofProof('F', 'revoke', proof);
  }

  async #ofProof(letter: 'V' | 'F', what: string, text: string): Promise<boolean> {
    const proof = wire.proofIn(text);
    if (!proof) throw bad('string', `${this[Symbol.toStringTag]}.${what}: proof`, 'the proof of a guard', text);
    return (await this.session.calls.operate(wire.ofProof(letter, this.object.name, proof))) === wire.TRUE;
  }

  /**
   * Tells the state of the object on the server. One round trip tells at most 256 waiters. To find the holders of a
   * semaphore or a read-write lock, one round trip looks at 256 requests of all objects of the partition, until all
   * permits that are out are found; the holder of a mutex is found at once. With a `limit` of 0, or if all permits are
   * free and at most 255 requests wait, `inspect` takes one round trip. Never blocks the thread.
   * @param limit how many waiters and how many holders to tell at most, 0 to 10,000. Default 100.
   * @returns (resolves to) undefined if the server has no such object: it was disposed of, or is ephemeral and idle.
   * @throws {RangeError | TypeError} (rejects) for a bad number.
   * @example console.log(await mutex.inspect());
   */
  async inspect(limit = 100): Promise<ObjectState | undefined> {
    checkInteger(`${this[Symbol.toStringTag]}.inspect: limit`, limit, 0, 10_000);
    const queue: Party[] = [];
    const holders: Holder[] = [];
    const labels = new Map<string, string>();
    let [place, from] = [wire.START, wire.START];
    let found = 0;
    let object: wire.Found;
    do {
      const most = Math.min(limit, 256);
      const told = wire.inspectedIn(
        await this.session.calls.operate(wire.inspect(this.object.name, most, place, from)),
      );
      if (!told) return undefined;
      object = told.object;
      for (const [sid, label] of told.labels) labels.set(sid, label);
      const party = ({ sid, ticket, permits, at = told.now }: wire.Claim): Party => ({
        session: sid,
        label: labels.get(sid) ?? '',
        permits,
        since: Math.max(0, told.now - at),
        token: wire.tokenOf(ticket),
      });
      const last = told.queue.at(-1);
      if (last) place = wire.placeBehind(last.ticket);
      queue.push(...told.queue.map(party));
      if (told.queue.length < most || queue.length >= limit) place = wire.END;
      for (const claim of told.holders) {
        holders.push({ ...party(claim), proof: wire.writeProof(claim) });
        found += claim.permits;
      }
      const isFound = holders.length >= limit || found >= object.max - object.free;
      from = isFound ? wire.END : told.next || wire.END;
    } while (place !== wire.END || from !== wire.END);
    const { max, free, waiting, deaths, resized } = object;
    if (resized) this.object.resize(max);
    return { max, free, waiting, deaths, queue: queue.slice(0, limit), holders: holders.slice(0, limit) };
  }

  /** Returns, for example, `Semaphore("db")`. Never blocks, throws nothing. */
  toString(): string {
    return `${this[Symbol.toStringTag]}(${JSON.stringify(this.object.name)})`;
  }

  /** @internal */
  [inspected](): string {
    return shown(this);
  }

  /** The name of the class. */
  abstract get [Symbol.toStringTag](): string;
}
