/**
 * An object with lanes consists of several shared objects. The first is its own object, whose counters order all
 * threads. Then comes an object for each lane: the waiters of the lane wait on a word of this object.
 * core/papers/lanes.ts explains lanes.
 */
import type { Arena } from '../../arena/arena.js';
import type { Algorithms } from '../../border/algorithms.js';
import { KINDS, type Kind } from '../../border/kinds.js';
import type { Properties } from '../../objects/options.js';
import { checkKind, find, type Handle, makeObject, type Reference } from '../../objects/reference.js';
import { badType, checkInteger } from '../../runtime/errors.js';
import { threadEnded } from '../../runtime/membership.js';
import { membershipForNew } from '../../runtime/own-arenas.js';
import { closed } from '../../runtime/promises.js';
import { algorithmsOf } from './compiled.js';

const MOST_LANES = 64;

/** The shared objects that `from` has found, or that a constructor has made: first its own object, then the lanes. */
export class Parts {
  declare readonly arena?: never;
  readonly references: readonly Reference[];

  constructor(references: readonly Reference[]) {
    this.references = references;
  }
}

export function checkLanes(what: string, lanes: number): number {
  return checkInteger(`${what}: lanes`, lanes, 1, MOST_LANES);
}

/** Makes an object and its lanes. If one of them cannot be made, closes and detaches from those that have been made. */
export function makeParts(
  what: string,
  kind: Kind,
  own: Properties,
  lane: Properties,
  lanes: number,
  arena: Arena | undefined,
): Reference[] {
  return all(
    Array.from(
      { length: 1 + lanes },
      (_, i) => () => makeObject(kind, KINDS[kind], i === 0 ? own : lane, membershipForNew(what, arena)),
    ),
    ({ membership, address }) => closeParts(algorithmsOf(membership), address, []),
  );
}

interface HandleOfParts<K extends Kind> extends Handle<K> {
  readonly lanes: readonly Handle<K>[];
}

/**
 * Checks a handle with lanes, before the thread attaches to an object of the handle.
 * @param least the least number of lanes that the handle must have.
 */
export function checkParts<K extends Kind>(kind: K, handle: HandleOfParts<K>, least: 0 | 1): void {
  checkKind(`${kind}.from: handle`, kind, handle);
  const what = `${kind}.from: lanes of the handle`;
  if (!Array.isArray(handle.lanes)) throw badType(what, 'an array', handle.lanes);
  const { length } = handle.lanes;
  if (length < least || length > MOST_LANES)
    throw new RangeError(`${what} must be ${least} to ${MOST_LANES} handles, got ${length}`);
}

/** Attaches to the objects of a handle with lanes. checkParts has checked the handle. */
export function findParts<K extends Kind>(kind: K, handle: HandleOfParts<K>): Reference[] {
  return all([handle, ...handle.lanes].map((part) => () => find({ kind, number: KINDS[kind] }, part)));
}

/** Closes the object and its lanes, and wakes all waiters. */
export function closeParts({ ticketDispose }: Algorithms, at: number, lanes: readonly Reference[]): void {
  ticketDispose(at);
  for (const lane of lanes) ticketDispose(lane.address);
}

/**
 * Waits until the ticket that ticketAcquire has just taken is due, in the lane of this ticket. Returns ADMITTED or
 * ANSWER_CLOSED.
 */
export function awaitInLane(algorithms: Algorithms, lanes: readonly Reference[]): number {
  return algorithms.ticketAwait((lanes[algorithms.laneOf(lanes.length)] as Reference).address);
}

/** Gives permits back, and admits the waiters of the lanes whose turn has come. */
export function releaseLanes(algorithms: Algorithms, at: number, permits: number, lanes: readonly Reference[]): void {
  const { length } = lanes;
  const first = algorithms.lanesRelease(at, permits, length);
  for (let i = 0; i < Math.min(permits, length); i++) {
    // If the semaphore has been disposed of, its grant is far below 0, so `first` may be below 0. Then `lanes.at`
    // counts from the end of the array, and laneOpen may open a lane whose turn it is not. This does no harm. A closed
    // lane admits nobody. All lanes that dispose has not closed yet together admit at most one waiter for each permit.
    algorithms.laneOpen(at, (lanes.at((first + i) % length) as Reference).address, i, length);
  }
}

/**
 * Calls all functions and returns their references. If one throws, passes the references so far to `drop`, and detaches
 * from their objects.
 */
function all(gets: readonly (() => Reference)[], drop: (reference: Reference) => void = () => {}): Reference[] {
  const got: Reference[] = [];
  try {
    for (const get of gets) got.push(get());
  } catch (error) {
    for (const reference of got) {
      const libraryObject = { [threadEnded]: () => {}, [closed]: () => {} };
      reference.attach(libraryObject);
      drop(reference);
      reference.detach(libraryObject);
    }
    throw error;
  }
  return got;
}
