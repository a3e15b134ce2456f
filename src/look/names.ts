/**
 * How an object of an arena is called. Most objects have their own kind and name. But some belong to another object,
 * which the user knows:
 *
 *     object                            told as
 *     the semaphore of a key            its table, KeyedMutex or KeyedSemaphore, and the key
 *     the pause of a RateLimiter        the limiter
 *     the receiving end of a channel    a ReceivingEnd with the name of the channel; of a watch, a WatchingEnd
 *
 * To read a name costs a pass over its characters. So no look reads it, but who prints it (src/report/refs.ts).
 */
import { N_BYTES, N_LENGTH, O_LIFE, O_NAME, P_PEER, RECEIVES } from '../border/numbers.js';
import type { Key } from '../common/keys.js';
import { keyAt, ownerOf, ownNumber, PAUSE } from './key-reading.js';
import { has, kindOf, type View } from './view.js';

/** What tells an object from others. */
export interface Called {
  /** The number of the kind. */
  readonly kind: number;
  readonly name: string | undefined;
  /** The key, if it is the object of a key. */
  readonly key: Key | undefined;
  /** Which part of the named object it is, if it is a part of it. */
  readonly part: string | undefined;
  /** The object whose number it is told by: the object itself, or its limiter. */
  readonly told: number;
}

/** Returns what an object is called. If its table or its limiter is gone, it has no name. */
export function calledAt(view: View, object: number): Called {
  const key = keyAt(view, object);
  const owner = key ? key.table.address : ownerOf(view, object);
  if (owner === undefined)
    return { kind: kindOf(view, object), name: undefined, key: undefined, part: undefined, told: object };
  const isPause = !key && ownNumber(view, object) === PAUSE;
  return {
    kind: kindOf(view, owner),
    name: ownNameOf(view, namedBy(view, owner)),
    key: key?.key,
    part: key || isPause || owner === object ? undefined : 'part of a long key',
    told: isPause ? owner : object,
  };
}

/**
 * Returns the limiter to which an object belongs, if the object is the pause in which those sleep who wait for it.
 * Undefined for any other object, and if the limiter is gone.
 */
export function limiterOf(view: View, object: number): number | undefined {
  return ownNumber(view, object) === PAUSE ? ownerOf(view, object) : undefined;
}

/** Returns the object that has the name of an object: that of a receiving end is the name of the sending end. */
export function namedBy(view: View, object: number): number {
  // Until the ends are linked, the object has none.
  return (has(view, object, RECEIVES) && view.load(object + P_PEER)) || object;
}

/** Returns the name by which an object was opened; undefined if it has none. */
function ownNameOf(view: View, object: number): string | undefined {
  if (!view.isLive(object)) return undefined;
  const generation = view.load(object + O_LIFE + 4);
  // A thread writes the whole name before it stores O_NAME.
  if (view.load(object + O_NAME) === 0) return undefined;
  const entry = object - view.objects + view.names;
  const name = view.text(entry + N_BYTES, view.load(entry + N_LENGTH));
  // The object may have been freed during the look, and may be another object by now.
  return view.isLive(object) && generation === view.load(object + O_LIFE + 4) ? name : undefined;
}
