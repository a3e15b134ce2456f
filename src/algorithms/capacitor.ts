/** Capacitor is the public face of core/algorithms/capacitor.ts. */
import type { Arena } from '../arena.js';
import { badType, checkInteger } from '../errors.js';
import type { PolicyOptions } from '../options.js';
import type { Handle, Reference } from '../reference.js';
import { ended } from '../runtime/attachment.js';
import { ADMITTED, ANSWER_CLOSED, ANSWER_HELD, CLOSED_OBJECT, LIMIT, MORE, REFUSED } from '../runtime/core.js';
import { close, detach, disposedError, forget, reference, SharedObject } from '../shared-object.js';
import { type Algorithms, algorithmsOf } from './compiled.js';
import { checkProperties, find, make } from './objects.js';

/** The options of a new `Capacitor`. */
export interface CapacitorOptions extends PolicyOptions {
  /**
   * Where threads wait at a closed capacitor: in the waiting array (`'twa'`, the default, Listing 2), or on one word
   * for all (`'ticket'`, Listing 1).
   */
  readonly semaphore?: 'twa' | 'ticket';
  /** The number of words on which they wait in turn instead, 1 to 64; only with `semaphore` left out. */
  readonly lanes?: number;
  /** The LongTermThreshold of the waiting array, 0 to 2,147,483,647. Default 1. */
  readonly threshold?: number;
  /** The arena of the object. Default: `Arena.default`. */
  readonly arena?: Arena;
  /** The first ticket, 0n to 2n ** 61n, for tests of large counters. Default 0n. */
  readonly firstTicket?: bigint;
}

/** A plain, structured-cloneable value to send to another thread, for `Capacitor.from` there. */
export interface CapacitorHandle extends Handle<'Capacitor'> {
  /** The handles of its lanes, if it has any. */
  readonly lanes: readonly Handle<'Capacitor'>[];
}

/** The parts that `from` has found. They take the place of the options of the constructor. */
class Found {
  declare readonly arena?: never;
  /** The reference of the capacitor, and then those of its lanes. */
  readonly references: readonly Reference[];

  constructor(references: readonly Reference[]) {
    this.references = references;
  }
}

const KIND = 'Capacitor';
const DEFAULTS = { spin: 100, threshold: 1 };
const MOST_LANES = 64;
/** This value in place of a threshold puts waiters on one word, not in the waiting array. */
const ON_GRANT = -1;

/**
 * Lets threads through in platoons. `bypass` threads pass `arrive`, and then the capacitor is closed until all of these
 * have called `depart`. Then it admits the next platoon, first come, first served. Around any lock it bounds how often
 * a waiter is overtaken: between its `arrive` and its turn at most `bypass - 1` later threads pass.
 *
 * Source: Dice, Capacitors, Listings 1 and 2, and its section 5 on lanes.
 */
export class Capacitor extends SharedObject<typeof KIND> {
  /** The size of a platoon. */
  readonly bypass: number;
  readonly #lanes: readonly Reference[];
  readonly #algorithms: Algorithms;
  /** The address of the shared object, or of the closed one after this object has released its reference. */
  #at: number;

  /**
   * @param bypass the size of a platoon, 1 to 2,147,483,647: the bypass limit B of the paper.
   * @throws {RangeError | TypeError} for an argument out of its range.
   * @throws {ArenaFullError} if the arena has no room for another object.
   */
  constructor(bypass: number, options: CapacitorOptions = {}) {
    const { references } = options instanceof Found ? options : made(bypass, options);
    const [reference, ...lanes] = references as readonly [Reference, ...Reference[]];
    super(KIND, reference);
    for (const lane of lanes) lane.hold(this);
    this.#lanes = lanes;
    this.#algorithms = algorithmsOf(reference.attachment);
    this.#at = reference.address;
    this.bypass = reference.attachment.core.maxOf(reference.address);
  }

  /**
   * Attaches to the capacitor of a handle, in any thread. Never blocks.
   * @throws {TypeError} if the value is not the handle of a Capacitor.
   * @throws {DisposedError} if the capacitor has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another thread or another attachment.
   */
  static from(handle: CapacitorHandle): Capacitor {
    const reference = find(KIND, handle);
    if (!Array.isArray(handle.lanes)) throw badType(`${KIND}.from: lanes of the handle`, 'an array', handle.lanes);
    return new Capacitor(0, all([() => reference, ...handle.lanes.map((lane) => () => find(KIND, lane))]));
  }

  /**
   * The value to send to another thread, for `from` there.
   * @throws {DisposedError} if the capacitor has been disposed of.
   */
  override get handle(): CapacitorHandle {
    return { ...super.handle, lanes: this.#lanes.map((lane) => lane.handle(KIND)) };
  }

  /**
   * Passes in, and blocks the thread while the capacitor is closed.
   * @throws {TypeError} on a thread that must not block.
   * @throws {DisposedError} if the capacitor has been or is being disposed of.
   */
  arrive(): void {
    const answer = this.enter();
    if (answer !== ADMITTED) this.#refuse(answer);
  }

  /**
   * Passes in if the capacitor is open and nobody waits for it. Never blocks. Returns whether it has passed.
   * @throws {DisposedError} if the capacitor has been disposed of.
   */
  tryArrive(): boolean {
    const answer = this.#at === CLOSED_OBJECT ? ANSWER_CLOSED : this.#algorithms.capacitorTryArrive(this.#at);
    if (answer === ADMITTED || answer === REFUSED) return answer === ADMITTED;
    return this.#refuse(answer);
  }

  /**
   * Passes out. The last of a platoon lets the next one in. Never blocks. Any thread may call it.
   * @throws {Error} if nobody is inside.
   */
  depart(): void {
    if (this.#at === CLOSED_OBJECT) return;
    const { length } = this.#lanes;
    const algorithms = this.#algorithms;
    const answer = length === 0 ? algorithms.capacitorDepart(this.#at) : algorithms.capacitorDepartFromLanes(this.#at);
    if (answer === ADMITTED) return;
    if (answer !== MORE) throw new Error(`${KIND}.depart: every thread that has arrived has departed`);
    for (const [i, lane] of this.#lanes.entries()) algorithms.capacitorOpenLane(this.#at, lane.address, i, length);
  }

  /** @internal */
  override [close](): void {
    if (this.#at === CLOSED_OBJECT) return;
    this.#algorithms.capacitorDispose(this.#at);
    for (const lane of this.#lanes) this.#algorithms.capacitorDispose(lane.address);
  }

  /** @internal Does what `arrive` does. Returns an answer: ANSWER_HELD if this thread holds the lock around it. */
  enter(): number {
    const algorithms = this.#algorithms;
    const lanes = this.#lanes;
    if (this.#at === CLOSED_OBJECT) return ANSWER_CLOSED;
    if (lanes.length === 0) return algorithms.capacitorArrive(this.#at);
    const answer = algorithms.capacitorArriveInLanes(this.#at, lanes.length);
    if (answer === ADMITTED || answer === ANSWER_CLOSED || answer === ANSWER_HELD) return answer;
    return algorithms.capacitorAwait((lanes[answer - 1] as Reference).address);
  }

  /** @internal Whether nobody is inside. */
  get isIdle(): boolean {
    return this.#algorithms.capacitorIsIdle(this.#at) !== 0;
  }

  /** @internal Whether this thread holds the lock around it. */
  get isOwned(): boolean {
    return this.#algorithms.holds(this.#at) !== 0;
  }

  /** @internal Whether it has been disposed of. */
  get isDisposed(): boolean {
    return this.#at === CLOSED_OBJECT || this[reference].attachment.core.isDisposed(this.#at) !== 0;
  }

  /** @internal Records that this thread has got the inner lock. */
  own(arrived: boolean): void {
    this.#algorithms.capacitorOwn(this.#at, Number(arrived));
  }

  /** @internal This thread gives the inner lock back. Returns whether it had arrived, or an answer below 0. */
  disown(): number {
    return this.#algorithms.capacitorDisown(this.#at);
  }

  /** @internal */
  protected override [forget](): void {
    this.#at = CLOSED_OBJECT;
  }

  /** @internal */
  protected override [detach](): void {
    super[detach]();
    for (const lane of this.#lanes) lane.detach(this);
  }

  #refuse(answer: number): never {
    if (answer !== ANSWER_CLOSED) throw new Error(`${KIND}: the core answers ${answer}`);
    throw this[disposedError]();
  }
}

function made(bypass: number, options: CapacitorOptions): Found {
  const max = checkInteger(`${KIND}: bypass`, bypass, 1, LIMIT);
  const properties = checkProperties(KIND, max, options, DEFAULTS);
  const { semaphore, lanes } = options;
  if (semaphore !== undefined && semaphore !== 'twa' && semaphore !== 'ticket')
    throw badType(`${KIND}: semaphore`, "'twa' or 'ticket'", semaphore);
  if (lanes !== undefined) {
    checkInteger(`${KIND}: lanes`, lanes, 1, MOST_LANES);
    if (semaphore !== undefined) throw new TypeError(`${KIND}: lanes take the place of a semaphore: give one of both`);
  }
  const onGrant = lanes !== undefined || semaphore === 'ticket';
  const one = { ...properties, max, threshold: onGrant ? ON_GRANT : properties.threshold };
  return all(
    Array.from({ length: 1 + (lanes ?? 0) }, () => () => make(KIND, one, options.arena)),
    closeLane,
  );
}

/** Gets the capacitor's own object and those of its lanes. If it cannot get one of them, it releases the others. */
function all(gets: readonly (() => Reference)[], drop: (reference: Reference) => void = () => {}): Found {
  const got: Reference[] = [];
  try {
    for (const get of gets) got.push(get());
  } catch (error) {
    for (const reference of got) {
      const owner = { [ended]: () => {} };
      reference.hold(owner);
      drop(reference);
      reference.detach(owner);
    }
    throw error;
  }
  return new Found(got);
}

function closeLane({ attachment, address }: Reference): void {
  algorithmsOf(attachment).capacitorDispose(address);
}
