/** Who holds an object, as its words tell: for reports, and for the numbers of an arena. */
import {
  GATE_SHUT,
  HAS_HEAD,
  HAS_OWNER,
  KIND_ONCE,
  KIND_RW_LOCK,
  KIND_SEMAPHORE,
  KIND_WAIT_GROUP,
  M_OWNER,
  M_WORD,
  O_OWNER,
  O_PHASE,
  O_ROBUST,
} from '../border/numbers.js';
import { attachmentsOf, type Look, seatsOf } from './look.js';
import { kindOf } from './view.js';

/** A thread that holds an object. */
export interface Holder {
  readonly thread: number;
  /** How many permits or tasks it holds, 1 for a lock. */
  readonly permits: number;
}

/** Returns who holds an object. Undefined if nobody can know, or an object of this kind is never held. */
export function holdersIn(look: Look, object: number): Holder[] | undefined {
  const { view } = look;
  const kind = kindOf(view, object);
  const one = (thread: number): Holder[] => (thread === 0 ? [] : [{ thread, permits: 1 }]);
  const held = (): Holder[] =>
    attachmentsOf(look, object).flatMap(({ thread, held }) => (held > 0 ? [{ thread, permits: held }] : []));
  if ((kind & HAS_HEAD) !== 0) return one(view.load(object + M_WORD) & M_OWNER);
  if ((kind & HAS_OWNER) !== 0) return one(view.load(object + O_OWNER));
  if (kind === KIND_SEMAPHORE) return view.load(object + O_ROBUST) === 0 ? undefined : held();
  if (kind === KIND_ONCE || kind === KIND_WAIT_GROUP) return held();
  if (kind !== KIND_RW_LOCK) return undefined;
  const isShut = (view.load(object + O_PHASE) & GATE_SHUT) !== 0;
  const readers = seatsOf(look, object).filter(({ reads }) => reads);
  // A writer has the turn while it still waits for readers. While the gate is open, a thread with the turn may update.
  const isWaiting = isShut && readers.length > 0;
  return [...(isWaiting ? [] : held()), ...readers.map(({ thread }) => ({ thread, permits: 1 }))];
}
