/**
 * The making of the memory of a rate limiter. One thread at a time makes it, with the lock R_LOCK of the object: if two
 * claimed pages at once, each would take those of the other for occupied ones, and both might find too few. The word R_PAGE
 * says that the memory is there. Until then, pages of the limiter are those of a thread that was cut or has died while it
 * made the memory, and the next one takes these as free ones.
 */
import { R_LOCK, R_PAGE } from '../border/numbers.js';
import type { NameDraft } from '../objects/name-draft.js';
import { afterInterrupt } from '../runtime/interrupts.js';
import type { Membership } from '../runtime/membership.js';
import { PATIENTLY, RateLocks } from './lock.js';
import { Pages } from './pages.js';

/**
 * Returns the address of the first page of a limiter, to which this thread is attached; 0 if too few pages are free.
 * @param count how many pages the limiter begins with, side by side.
 * @param make fills new pages. No other thread sees them yet.
 * @throws {Error} if another thread has stopped while it makes the memory, and is not known to be dead.
 */
export function firstPageOf(
  membership: Membership,
  names: NameDraft,
  object: number,
  count: number,
  make: (page: number) => void,
): number {
  const { words } = names;
  const page = (object + R_PAGE) >> 2;
  const known = Atomics.load(words, page) >>> 0;
  if (known !== 0) return known;
  const { core } = membership;
  const generation = core.generation(object);
  const lock = (object + R_LOCK) >> 2;
  const locks = new RateLocks(membership, words, () => {});
  // An exhausted stack may cut the last call below, too.
  afterInterrupt(() => {
    if (!membership.isOver && core.generation(object) === generation && locks.isMine(lock)) locks.leave(lock);
  })();
  if (!locks.enter(lock, PATIENTLY))
    throw new Error(
      'another thread has stopped while it makes the memory of this rate limiter, and is not known to be dead',
    );
  try {
    const other = Atomics.load(words, page) >>> 0;
    if (other !== 0) return other;
    const claimed = new Pages(names).claim(object, count, true);
    if (claimed === 0) return 0;
    make(claimed);
    Atomics.store(words, page, claimed | 0);
    return claimed;
  } finally {
    locks.leave(lock);
  }
}
