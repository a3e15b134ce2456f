/** A handle of an object of a space: what semaphores, mutexes and read-write locks have in common. */
import { acquire, type WaitOptions } from './acquire.js';
import { bad, checkInteger, DisposedError, TimeoutError } from './errors.js';
import { asyncDispose, type GuardClass, type Held, inspected } from './hold.js';
import { disposed, type SharedObject } from './object.js';
import type { Durability } from './options.js';
import type { Session } from './session.js';
import * as wire from './wire.js';

/** A waiter or holder, in `inspect`. */
export interface Party {
  /** The session of its process. */
  readonly session: string;
  /** The label of its process, as `Space.connect` was told. */
  readonly label: string;
  readonly permits: number;
  /**
   * For how many milliseconds it has waited, or held, by the server's clock, to about a quarter of a lease, because
   * the time of a beat counts. A waiter has waited no longer than this, and a holder has held no shorter. For a mutex
   * it is the time of the turn of the process.
   */
  readonly since: number;
  /** The fencing token of a holder, less the passes of its mutex. For a waiter, the smallest token that it may get. */
  readonly token: bigint;
}

/** A holder, in `inspect`. */
export interface Holder extends Party {
  /** What `validate` and `revoke` take. */
  readonly proof: string;
}

/** The state of an object on the server. */
export interface ObjectState {
  readonly max: number;
  /** Permits that nobody holds. Below 0 if a semaphore was resized and more permits are held than there are. */
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

// The methods that other classes call are named by symbols. So whoever guesses `pool.acquire()` hears that there is no
// such function.
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

  /**
   * Is called before a promise is fulfilled whose grant is the first since holders of the robust object have died. If it
   * throws, or its promise rejects, the permits go back, the next holder learns of the deaths, and the request fails with
   * the error.
   */
  onOwnerDied: ((deaths: number) => void | PromiseLike<void>) | undefined;

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

  /** Confirms and repairs what was granted, or gives it back. Most grants need neither, and wait for no promise. */
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

  /** @internal none: further arguments, such as a time-out, which the method would ignore. */
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
    // An error of the repair may be a time-out too.
    return held && this.#ready(held);
  }

  /** @internal Calls a function with a guard, and gives back when the result of the function is settled. */
  protected async [during]<G extends Held, T>(held: G, run: (held: G) => T | PromiseLike<T>): Promise<T> {
    const { around } = this.session;
    around.running++;
    try {
      const result = await run(held);
      if (!held.held && held.lost) throw held.lost;
      return result;
    } finally {
      await held[asyncDispose]();
      if (--around.running === 0) around.drained();
    }
  }

  /**
   * Cancels all requests that wait, of all processes: their promises reject with a `CancelledError`. What is held stays so.
   * If the connection is lost before the server's answer comes, it is sent again, and then cancels those who came meanwhile too.
   * @throws {DisposedError} (rejects) if it has been disposed of.
   */
  async cancelAll(): Promise<void> {
    const { object, session } = this;
    if (object.broken) throw object.broken;
    let answer: unknown;
    // The repetition cancels only the requests that waited the first time.
    for (let upTo = wire.NONE; upTo; upTo = wire.upToIn(answer))
      answer = await session.operate(wire.cancelAll(object.name, object.born, upTo));
    // The server has no ephemeral object that is idle, so nobody waits.
    if (answer === wire.DISPOSED && !object.settings.ephemeral) throw disposed(object);
  }

  /**
   * Disposes of the object for all processes. Requests that wait fail with a `DisposedError`; what is held stays so until
   * it is given back. Does nothing if it has been disposed of.
   */
  async dispose(): Promise<void> {
    const { broken } = this.object;
    if (broken instanceof DisposedError) return;
    if (broken) throw broken; // the object of this name is another's
    await this.session.requests.objects.dispose(this.object);
  }

  /**
   * Whether a guard of any process still holds what it held when its `proof` was read. One round trip. A resource that
   * cannot keep the largest token asks this, as where several hold permits at once. It is not atomic with what you do
   * next: between the answer and your write the lease may end. False for what is held of an object
   * that has been disposed of: its holder keeps it, but others may hold the next object of the name at the same time.
   * @throws {RangeError | TypeError} for what is no proof.
   */
  async validate(proof: string): Promise<boolean> {
    return this.#ofProof('V', 'validate', proof);
  }

  /**
   * Takes a hold away, of any process: for an operator who finds that a holder is stuck. The permits go to those who wait at once.
   * For the next holder of a robust object it is a death. The holder hears of it by a message, a moment later: its `signal` is
   * aborted with a `LeaseLostError`, and what it gives back later changes nothing. Until it hears, two work; its token is the smaller
   * one. A mutex is taken from whoever its process has passed it on to.
   *
   *     const [stuck] = (await mutex.inspect())?.holders ?? [];
   *     if (stuck) await mutex.revoke(stuck.proof);
   * @param proof of a guard, or of a holder in `inspect`.
   * @returns (resolves to) whether it was held.
   * @throws (rejects) {RangeError | TypeError} for what is no proof.
   */
  async revoke(proof: string): Promise<boolean> {
    return this.#ofProof('F', 'revoke', proof);
  }

  async #ofProof(letter: 'V' | 'F', what: string, text: string): Promise<boolean> {
    const proof = wire.proofIn(text);
    if (!proof) throw bad('string', `${this[Symbol.toStringTag]}.${what}: proof`, 'the proof of a guard', text);
    return (await this.session.operate(wire.ofProof(letter, this.object.name, proof))) === wire.TRUE;
  }

  /**
   * Tells the state of the object on the server. One round trip for each 256 requests that wait, and
   * of the partition.
   * @param limit how many waiters and how many holders are told, 0 to 10,000. Default 100.
   * @returns undefined if there is no such object: it was disposed of, or is ephemeral and idle.
   * @throws (rejects) {RangeError | TypeError} for a bad number.
   */
  async inspect(limit = 100): Promise<ObjectState | undefined> {
    checkInteger(`${this[Symbol.toStringTag]}.inspect: limit`, limit, 0, 10_000);
    const queue: Party[] = [];
    const holders: Holder[] = [];
    const labels = new Map<string, string>();
    let [place, from] = [wire.START, wire.START];
    let object: wire.Found;
    do {
      const most = Math.min(limit, 256);
      const told = wire.inspectedIn(await this.session.operate(wire.inspect(this.object.name, most, place, from)));
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
      for (const claim of told.holders) holders.push({ ...party(claim), proof: wire.writeProof(claim) });
      from = (holders.length < limit && told.next) || wire.END;
    } while (place !== wire.END || from !== wire.END);
    const { max, free, waiting, deaths, resized } = object;
    if (resized) this.object.resize(max);
    return { max, free, waiting, deaths, queue: queue.slice(0, limit), holders: holders.slice(0, limit) };
  }

  /** Returns, for example, `Semaphore("db")`. Throws nothing. */
  toString(): string {
    return `${this[Symbol.toStringTag]}(${JSON.stringify(this.object.name)})`;
  }

  /** @internal */
  [inspected](): string {
    return this.toString();
  }

  /** The name of the class. */
  abstract get [Symbol.toStringTag](): string;
}
