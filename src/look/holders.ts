/** Who holds an object, as its words tell: for reports, and for the numbers of an arena. */
import { KINDS } from '../border/kinds.js';
import {
  GATE_SHUT,
  KIND_MUTEX,
  KIND_ONCE,
  KIND_RW_LOCK,
  KIND_SEMAPHORE,
  M_OWNER,
  M_WORD,
  O_OWNER,
  O_PHASE,
  O_ROBUST,
} from '../border/numbers.js';
import { attachmentsOf, type Look, placesOf } from './look.js';
import { kindOf } from './view.js';

/** A thread that holds an object. */
export interface Holder {
  readonly thread: number;
  /** How many permits or tasks it holds, 1 for a lock. */
  readonly permits: number;
}

/** Locks of taketurns/algorithms that say in O_OWNER who has them. */
const OWNED = new Set<number>([
  KINDS.TicketLock,
  KINDS.TwaLock,
  KINDS.McsLock,
  KINDS.ClhLock,
  KINDS.LifoLock,
  KINDS.ReciprocatingLock,
]);

/** Returns who holds an object. Undefined if nobody can know, or an object of this kind is never held. */
export function holdersIn(look: Look, object: number): Holder[] | undefined {
  const { view } = look;
  const kind = kindOf(view, object);
  const one = (thread: number): Holder[] => (thread === 0 ? [] : [{ thread, permits: 1 }]);
  const held = (): Holder[] =>
    attachmentsOf(look, object).flatMap(({ thread, held }) => (held > 0 ? [{ thread, permits: held }] : []));
  if (kind === KIND_MUTEX) return one(view.load(object + M_WORD) & M_OWNER);
  if (OWNED.has(kind)) return one(view.load(object + O_OWNER));
  if (kind === KIND_SEMAPHORE) return view.load(object + O_ROBUST) === 0 ? undefined : held();
  if (kind === KIND_ONCE || kind === KINDS.WaitGroup) return held();
  if (kind !== KIND_RW_LOCK) return undefined;
  const isShut = (view.load(object + O_PHASE) & GATE_SHUT) !== 0;
  const readers = placesOf(look, object).filter(({ reads }) => reads);
  // A writer has the turn while it still waits for readers. While the gate is open, a thread with the turn may update.
  const isWaiting = isShut && readers.length > 0;
  return [...(isWaiting ? [] : held()), ...readers.map(({ thread }) => ({ thread, permits: 1 }))];
}
