/**
 * An object with lanes consists of several shared objects: its own, whose counters order all threads, and one for each
 * lane, on whose word the waiters of the lane wait. core/algorithms/lanes.ts explains lanes.
 */
import type { Arena } from '../arena.js';
import type { Algorithms } from '../border/algorithms.js';
import type { Kind } from '../border/kinds.js';
import { badType, checkInteger } from '../errors.js';
import type { Properties } from '../options.js';
import { checkKind, type Handle, type Reference } from '../reference.js';
import { ended } from '../runtime/membership.js';
import { closed } from '../runtime/promises.js';
import { algorithmsOf } from './compiled.js';
import { find, make } from './objects.js';

const MOST_LANES = 64;

/** The shared objects that `from` has found, or that a constructor has made: the object's own first, then its lanes. */
export class Parts {
  declare readonly arena?: never;
  readonly references: readonly Reference[];

  constructor(references: readonly Reference[]) {
    this.references = references;
  }
}

export function checkLanes(kind: Kind, lanes: number): number {
  return checkInteger(`${kind}: lanes`, lanes, 1, MOST_LANES);
}

/** Makes an object and its lanes. If one of them cannot be made, closes and releases those that have been made. */
export function makeParts(
  kind: Kind,
  own: Properties,
  lane: Properties,
  lanes: number,
  arena: Arena | undefined,
): Reference[] {
  return all(
    Array.from({ length: 1 + lanes }, (_, i) => () => make(kind, i === 0 ? own : lane, arena)),
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
  return all([handle, ...handle.lanes].map((part) => () => find(kind, part)));
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
    // If the semaphore has been disposed of, `first` may be below 0. Then `at` counts from the end and opens another
    // lane. This does no harm, because nobody waits any more.
    algorithms.laneOpen(at, (lanes.at((first + i) % length) as Reference).address, i, length);
  }
}

/** Calls all functions and returns their references. If one throws, drops and releases the references so far. */
function all(gets: readonly (() => Reference)[], drop: (reference: Reference) => void = () => {}): Reference[] {
  const got: Reference[] = [];
  try {
    for (const get of gets) got.push(get());
  } catch (error) {
    for (const reference of got) {
      const owner = { [ended]: () => {}, [closed]: () => {} };
      reference.hold(owner);
      drop(reference);
      reference.detach(owner);
    }
    throw error;
  }
  return got;
}
