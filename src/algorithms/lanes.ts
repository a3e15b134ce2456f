/** An object with lanes is several shared objects: its own, and one for each lane. core/algorithms/lanes.ts uses them. */
import type { Arena } from '../arena.js';
import { badType, checkInteger } from '../errors.js';
import type { Properties } from '../options.js';
import type { Handle, Reference } from '../reference.js';
import { ended } from '../runtime/attachment.js';
import type { Kind } from '../runtime/kinds.js';
import { type Algorithms, algorithmsOf } from './compiled.js';
import { find, make } from './objects.js';

const MOST_LANES = 64;

/** The shared objects that `from` has found, or a constructor made: the object's own first, then its lanes. */
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

/** Makes an object and its lanes. If one cannot be made, it closes and releases the others. */
export function makeParts(
  kind: Kind,
  own: Properties,
  lane: Properties,
  lanes: number,
  arena: Arena | undefined,
): Reference[] {
  return all(
    Array.from({ length: 1 + lanes }, (_, i) => () => make(kind, i === 0 ? own : lane, arena)),
    ({ attachment, address }) => closeParts(algorithmsOf(attachment), address, []),
  );
}

/** Attaches to the objects of a handle with lanes. */
export function findParts<K extends Kind>(
  kind: K,
  handle: Handle<K> & { readonly lanes: readonly Handle<K>[] },
): Reference[] {
  const own = find(kind, handle);
  if (!Array.isArray(handle.lanes)) throw badType(`${kind}.from: lanes of the handle`, 'an array', handle.lanes);
  return all([() => own, ...handle.lanes.map((lane: Handle<K>) => () => find(kind, lane))]);
}

/** Closes the object and its lanes, and wakes all waiters. */
export function closeParts({ ticketDispose }: Algorithms, at: number, lanes: readonly Reference[]): void {
  ticketDispose(at);
  for (const lane of lanes) ticketDispose(lane.address);
}

/** Waits in its lane for the ticket that ticketAcquire has just taken. Returns ADMITTED or ANSWER_CLOSED. */
export function awaitInLane(algorithms: Algorithms, lanes: readonly Reference[]): number {
  return algorithms.ticketAwait((lanes[algorithms.laneOf(lanes.length)] as Reference).address);
}

/** Gives permits back, and admits the waiters of the lanes whose turn has come. */
export function releaseLanes(algorithms: Algorithms, at: number, permits: number, lanes: readonly Reference[]): void {
  const { length } = lanes;
  const first = algorithms.lanesRelease(at, permits, length);
  // The grant of a semaphore that another thread has disposed of is below 0. Its waiters have been woken.
  if (first < 0) return;
  for (let i = 0; i < Math.min(permits, length); i++) {
    algorithms.laneOpen(at, (lanes[(first + i) % length] as Reference).address, i, length);
  }
}

function all(gets: readonly (() => Reference)[], drop: (reference: Reference) => void = () => {}): Reference[] {
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
  return got;
}
