/** Capacitor is the public face of core/papers/capacitor.ts. */
import type { Arena } from '../../arena/arena.js';
import { ADMITTED, LIMIT, REFUSED } from '../../border/numbers.js';
import type { Handle, Reference } from '../../objects/reference.js';
import { close, detach, disposedError, forget, reference, SharedObject } from '../../objects/shared-object.js';
import { checkInteger, checkOptions, checkType } from '../../runtime/errors.js';
import { leaves } from '../../runtime/membership.js';
import { fromHandle, membershipForNew } from '../../runtime/own-arenas.js';
import { type PolicyOptions, USUAL } from '../policies.js';
import { ChainSemaphore } from './chain-semaphore.js';
import { ChannelSemaphore } from './channel-semaphore.js';
import { algorithmsOf } from './compiled.js';
import { checkLanes, checkParts, findParts, makeParts, Parts } from './lanes.js';
import { prepare } from './listing.js';
import { LocationSemaphore } from './location-semaphore.js';
import { type Mine, mineOf } from './mine.js';
import { MultilaneSemaphore } from './multilane-semaphore.js';
import { checkProperties } from './objects.js';
import { checkInner, type InnerName, type InnerSemaphore, Platoons } from './platoons.js';
import { TicketSemaphore } from './ticket-semaphore.js';
import { TwaSemaphore } from './twa-semaphore.js';

/** The options of a new `Capacitor`. */
export interface CapacitorOptions extends PolicyOptions {
  /**
   * The semaphore inside the capacitor, on which threads wait until their platoon is let in. Its threads wait at a
   * waiting array (`'twa'`, the default, Listing 2), on one word together (`'ticket'`, Listing 1), on chains as in a
   * `ChainSemaphore` (`'chain'`), or on several words in turn (`'multilane'`, with `lanes`).
   *
   * Or pass a semaphore of your own that is first come, first served, or first in, first enabled, such as a semaphore of
   * this entry or a `Semaphore` that is not robust. It must begin with `bypass` permits, and only the capacitor may
   * take them. `tryArrive` works only if your semaphore has `tryAcquire`. A robust `Semaphore` cannot be inside, because
   * the last thread of a platoon gives back the permits of the whole platoon.
   */
  readonly semaphore?: InnerName | InnerSemaphore;
  /**
   * The number of words on which threads wait in turn, 1 to 64. Without `random`, `lanes` is allowed only with the
   * semaphore `'multilane'`. With `random` there are at most `bypass` lanes, and `semaphore` is the semaphore of each
   * lane: `'twa'`, `'ticket'` or `'chain'`. In the paper each lane contains a semaphore of its own, and all lanes belong
   * to one capacitor.
   */
  readonly lanes?: number;
  /**
   * Whether a thread chooses its lane at random. Each lane is then a capacitor of its own for its share of `bypass`,
   * rounded up, and a thread departs from the lane in which it has arrived. Overtaking then has no bound: admission is
   * fair on the average. Default false.
   */
  readonly random?: boolean;
  /** The LongTermThreshold, 0 to 2,147,483,647. Default 1 with `'twa'`, and 0 with `'chain'`. */
  readonly threshold?: number;
  /** The arena of the object. Default: `Arena.default`. */
  readonly arena?: Arena;
  /** @internal The first ticket, 0n to 2n ** 61n, for tests of large counters. Default 0n. */
  readonly firstTicket?: bigint;
}

/** A plain, structured-cloneable value to send to another thread, for `Capacitor.from` there. */
export interface CapacitorHandle extends Handle<'Capacitor'> {
  /** The handles of its lanes, if it has any. */
  readonly lanes: readonly Handle<'Capacitor'>[];
  /** As in `CapacitorOptions`. */
  readonly random: boolean;
  /** The name of the semaphore inside, or the handle of a semaphore of your own, if it has one. */
  readonly semaphore:
    | InnerName
    | {
        /** The name of its class. */
        readonly kind: string;
      }
    | undefined;
}

/** The parts that `from` has found. They take the place of the options of the constructor. */
class Found extends Parts {
  readonly semaphore: InnerName | InnerSemaphore;
  readonly random: boolean;

  constructor(references: readonly Reference[], semaphore: InnerName | InnerSemaphore, random: boolean) {
    super(references);
    this.semaphore = semaphore;
    this.random = random;
  }
}

// The hooks of the class, as in SharedObject. A CapacitorLock calls them.
/** @internal */
export const enter = Symbol();
/** @internal */
export const leave = Symbol();
/** @internal */
export const isIdle = Symbol();
/** @internal */
export const isClosed = Symbol();
/** @internal */
export const isDisposed = Symbol();
/** @internal */
export const mine = Symbol();
const platoons = Symbol();
const only = Symbol();

const KIND = 'Capacitor';
/** @internal The names of its options, besides the usual ones. */
export const NAMES = ['semaphore', 'lanes', 'random', 'threshold'];
const SPIN = 100;
const TWA_THRESHOLD = 1;
/** O_VARIANT of an object with chains: WAKE_PASS. */
const PASS = 1n;
/** The semaphores of this entry. Their handles say how to attach to them. */
const CLASSES: Readonly<Record<string, { from(handle: never): InnerSemaphore }>> = {
  TwaSemaphore,
  TicketSemaphore,
  ChainSemaphore,
  ChannelSemaphore,
  LocationSemaphore,
  MultilaneSemaphore,
};

/**
 * Lets threads through in platoons. `bypass` threads pass `arrive`, and then the capacitor is closed until all of these
 * have called `depart`. Then it admits the next platoon, first come, first served. Around any lock it bounds how often
 * a waiter is overtaken: between its `arrive` and its turn at most `bypass - 1` later threads pass.
 *
 * Source: Dice, Capacitors, Listings 1 and 2, and its section 5 on lanes.
 *
 * @example
 * ```ts
 * import { Capacitor } from 'taketurns/algorithms';
 *
 * const capacitor = new Capacitor(10); // threads share it by capacitor.handle
 * capacitor.arrive(); // with up to 9 others
 * capacitor.depart();
 * ```
 */
export class Capacitor extends SharedObject<typeof KIND> {
  readonly #semaphore: InnerName | InnerSemaphore;
  readonly #lanes: readonly Reference[];
  readonly #bypass: number;
  // These fields are only declared, so that the constructor is the first to set them: see SharedObject.
  /** @internal The capacitor. With lanes at random there is one capacitor for each lane. */
  declare private readonly [platoons]: readonly Platoons[];
  /** @internal The same, if it is one. */
  declare private readonly [only]: Platoons | undefined;
  /** @internal What this thread knows of its own calls. */
  declare readonly [mine]: Mine;

  /**
   * @param bypass the size of a platoon, 1 to 2,147,483,647: the bypass limit B of the paper.
   * @throws {RangeError | TypeError} for an argument out of its range.
   * @throws {ArenaFullError} if the arena has no room for another object, or for another waiter on chains.
   */
  constructor(bypass: number, options: CapacitorOptions = {}) {
    const { references, semaphore, random } = options instanceof Found ? options : made(KIND, bypass, options);
    const [own, ...lanes] = references as readonly [Reference, ...Reference[]];
    super(KIND, own);
    for (const lane of lanes) lane.attach(this);
    this.#semaphore = semaphore;
    this.#lanes = lanes;
    this[platoons] = random
      ? lanes.map((lane) => new Platoons(lane, semaphore, []))
      : [new Platoons(own, semaphore, lanes)];
    this[only] = random ? undefined : this[platoons][0];
    this[mine] = mineOf(own);
    this.#bypass = own.membership.core.maxOf(own.address);
  }

  /** The size of a platoon. */
  get bypass(): number {
    return this.#bypass;
  }

  /**
   * Attaches to the capacitor of a handle, in any thread. Never blocks.
   * @param semaphore the semaphore inside, if it is one of your own. Give it if the semaphore is not of this entry.
   * @throws {TypeError} if the value is not the handle of a Capacitor, or the semaphore is missing, no semaphore, or
   * given although the handle names one of the library.
   * @throws {RangeError} if the handle has more than 64 lanes, or none where it needs some.
   * @throws {DisposedError} if the capacitor has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another thread or attachment, or another waiter on chains.
   * @example const capacitor = Capacitor.from(workerData.capacitor); // its `handle`, sent by the other thread
   */
  static from(handle: CapacitorHandle, semaphore?: InnerSemaphore): Capacitor {
    return new Capacitor(0, foundBy(`${KIND}.from`, handle, semaphore));
  }

  /**
   * The value to send to another thread, for `from` there.
   * @throws {DisposedError} if the capacitor has been disposed of.
   */
  override get handle(): CapacitorHandle {
    const semaphore = this.#semaphore;
    return {
      ...super.handle,
      lanes: this.#lanes.map((lane) => lane.handle(KIND)),
      random: this[only] === undefined,
      semaphore: typeof semaphore === 'string' ? semaphore : (semaphore as { handle?: { kind: string } }).handle,
    };
  }

  /**
   * Passes in, and blocks the thread while the capacitor is closed.
   * @throws {TypeError} on a thread that must not block.
   * @throws {DisposedError} if the capacitor has been or is being disposed of.
   * @example capacitor.arrive();
   */
  arrive(): void {
    if (this[enter]() !== ADMITTED) throw this[disposedError]();
  }

  /**
   * Passes in if the capacitor is open and nobody waits for it. With lanes at random it looks at one of them. Never
   * blocks. Returns whether it has passed.
   * @throws {TypeError} if the semaphore inside has no `tryAcquire`.
   * @throws {DisposedError} if the capacitor has been disposed of.
   * @example if (capacitor.tryArrive()) capacitor.depart();
   */
  tryArrive(): boolean {
    const lane = this.#choose();
    const answer = (this[platoons][lane] as Platoons).tryEnter();
    if (answer === REFUSED) return false;
    if (answer !== ADMITTED) throw this[disposedError]();
    if (this[only] === undefined) this[mine].lanes.push(lane);
    return true;
  }

  /**
   * Passes out. The last thread of a platoon lets the next platoon in. Never blocks. Any thread may call it. With
   * lanes at random, only a thread that has arrived may, because it departs from the lane in which it arrived last.
   * @throws {Error} if nobody is inside. If a thread has departed too often while others were inside, one of the others
   * may get the error: the threads are counted, and not told apart.
   * @example capacitor.depart();
   */
  depart(): void {
    const one = this[only];
    const inside = one === undefined ? this[mine].lanes.length > 0 : !one.isIdle;
    if ((inside && this[leave]()) || this[isDisposed]) return;
    throw new Error(
      one === undefined
        ? `${KIND}.depart: this thread has departed as often as it has arrived`
        : `${KIND}.depart: every thread that has arrived has departed`,
    );
  }

  /** @internal */
  override [close](): void {
    if ((this[platoons][0] as Platoons).isForgotten) return;
    for (const lane of this[platoons]) lane.close();
    // With lanes at random nobody waits on the words of the capacitor's own object.
    if (this[only] === undefined) {
      const { membership, address } = this[reference];
      algorithmsOf(membership).closeObject(address);
    }
  }

  /** @internal Does what `arrive` does. Returns ADMITTED or ANSWER_CLOSED. */
  [enter](): number {
    if (this[only] !== undefined) return this[only].enter();
    const lane = this.#choose();
    const answer = (this[platoons][lane] as Platoons).enter();
    if (answer === ADMITTED) this[mine].lanes.push(lane);
    return answer;
  }

  /** @internal Does what `depart` does, for a thread that has arrived. Returns false if that cannot be. */
  [leave](): boolean {
    if (this[only] !== undefined) return this[only].leave();
    const lane = this[mine].lanes.pop();
    return lane === undefined ? false : (this[platoons][lane] as Platoons).leave();
  }

  /** @internal Whether nobody is inside, and the capacitor has not been disposed of. */
  get [isIdle](): boolean {
    return this[only] === undefined ? this[platoons].every(({ isIdle }) => isIdle) : this[only].isIdle;
  }

  /** @internal Whether the capacitor is closed for newcomers, as far as this thread sees without a call of the core. */
  get [isClosed](): boolean {
    return (this[only] ?? (this[platoons][0] as Platoons)).isClosed;
  }

  /** @internal Whether the capacitor has been disposed of. */
  get [isDisposed](): boolean {
    return (this[only] ?? (this[platoons][0] as Platoons)).isDisposed;
  }

  /**
   * @internal A thread that has arrived in a closed capacitor still has to depart, so that its waiters get their error.
   */
  override get [leaves](): boolean {
    return false;
  }

  /** @internal */
  protected override [forget](): void {
    for (const lane of this[platoons]) lane.forget();
  }

  /** @internal */
  protected override [detach](): void {
    super[detach]();
    for (const lane of this.#lanes) lane.detach(this);
  }

  /** Returns the index of the lane to go to. */
  #choose(): number {
    return Math.floor(Math.random() * this[platoons].length);
  }
}

/** @internal Checks the arguments of a constructor, and makes the parts. Errors begin with `what`: the class. */
export function made(what: string, bypass: number, options: CapacitorOptions): Found {
  checkInteger(`${what}: bypass`, bypass, 1, LIMIT);
  checkOptions(what, options, [...NAMES, ...USUAL], ['firstTicket']);
  const { lanes, random = false } = options;
  const { semaphore = lanes === undefined || random ? 'twa' : 'multilane' } = options;
  checkInner(`${what}: semaphore`, semaphore);
  checkType(`${what}: random`, random, 'boolean', 'true or false');
  if (lanes !== undefined) checkLanes(what, lanes);
  if (random) {
    if (lanes === undefined) throw new TypeError(`${what}: random needs lanes`);
    checkOfLane(what, semaphore);
    if (lanes > bypass)
      throw new RangeError(`${what}: random lanes must be at most as many as bypass, which is ${bypass}, got ${lanes}`);
  } else if ((lanes === undefined) === (semaphore === 'multilane')) {
    throw new TypeError(`${what}: lanes and a semaphore other than 'multilane' exclude one another: give one of both`);
  }
  const defaults = { spin: SPIN, threshold: semaphore === 'twa' ? TWA_THRESHOLD : 0, names: NAMES };
  const of = (max: number) => ({
    ...checkProperties(what, max, options, defaults),
    max,
    variant: semaphore === 'chain' ? PASS : 0n,
  });
  const own = of(bypass);
  // This check fails before the object is made, because nobody would dispose of the object.
  if (semaphore === 'chain') prepare(membershipForNew(what, options.arena));
  const lane = random ? of(Math.ceil(bypass / (lanes as number))) : own;
  return new Found(makeParts(what, KIND, own, lane, lanes ?? 0, options.arena), semaphore, random);
}

/** Checks the semaphore of a lane chosen at random. */
function checkOfLane(what: string, semaphore: InnerName | InnerSemaphore): void {
  if (typeof semaphore !== 'string' || semaphore === 'multilane')
    throw new TypeError(`${what}: random lanes must have a semaphore of the library each, and no multilane one`);
}

/** @internal Finds the parts of a handle. Errors begin with `what`: the `from` of a class. */
export function foundBy(what: string, handle: CapacitorHandle, semaphore?: InnerSemaphore): Found {
  const random = handle?.random === true;
  checkParts(KIND, handle, random || handle?.semaphore === 'multilane' ? 1 : 0);
  const inner = innerOf(what, handle.semaphore, semaphore);
  if (random) checkOfLane(`${what}: handle`, inner);
  if (inner === 'chain') prepare(fromHandle(handle.arena));
  return new Found(findParts(KIND, handle), inner, random);
}

/** Returns the semaphore that a handle stands for, or the semaphore that the caller of `from` has given. */
function innerOf(
  what: string,
  semaphore: CapacitorHandle['semaphore'],
  given?: InnerSemaphore,
): InnerName | InnerSemaphore {
  if (typeof semaphore === 'string') {
    checkInner(`${what}: semaphore of the handle`, semaphore);
    if (given === undefined) return semaphore;
    throw new TypeError(`${what}: semaphore must be left out, since the handle names '${semaphore}'`);
  }
  if (given !== undefined) {
    checkType(`${what}: semaphore`, given, 'object', 'a semaphore of your own');
    checkInner(`${what}: semaphore`, given);
    return given;
  }
  const kind = semaphore?.kind ?? '';
  const inner = Object.hasOwn(CLASSES, kind) ? CLASSES[kind]?.from(semaphore as never) : undefined;
  if (inner === undefined)
    throw new TypeError(`${what}: semaphore must be given, since the handle knows no semaphore of this entry`);
  return inner;
}
