/**
 * `report` and `deadlocks`, the questions of a user: what is there in an arena, and is there a deadlock? If this thread is
 * attached to several arenas, it looks into all of them at once (look/look.ts `together`), since a deadlock may go through
 * several. report.ts describes what was seen, and deadlocks.ts finds the circles.
 */
import { host } from '#host';
import { Arena } from '../arena/arena.js';
import { type Look, lookAt, together } from '../look/look.js';
import { timestamp } from '../runtime/clock.js';
import type { Membership } from '../runtime/membership.js';
import { type Deadlocks, deadlocksIn, unseenIn } from './deadlocks.js';
import { memoriesBeside } from './memberships.js';
import { type ArenaReport, reportOf } from './report.js';
import { settingOf } from './settings.js';
import { membershipIn } from './this-thread.js';

/** How many waiters of each object, and how many waits of each thread, are listed. */
const MOST = 100;

/** Returns a function that looks at an arena, and then at the others to which this thread is attached. */
function lookerAt({ memory }: Membership, most: number): () => readonly Look[] {
  return () => {
    const now = timestamp();
    return together([memory, ...memoriesBeside(host.anchor, memory)].map((one) => lookAt(one, now, most)));
  };
}

/**
 * Describes everything in an arena: objects, threads, who holds what, who waits for what and since when, deadlocks, and
 * how much of the arena is in use. The answer is a plain object, which may be cloned and sent. The call reads memory
 * alone. So it never blocks, disturbs no thread, and works while all other threads hang.
 *
 * The other threads run on during the look. Each line is right for one moment of the look. What the report says of
 * threads that are `asleep` before and after the look is right for one and the same moment. A deadlock in `deadlocks`
 * is certain, since a second look has found the same. If a second look finds something else, the call looks again, for
 * some 20 milliseconds at most.
 *
 * The call also looks at the other arenas to which the calling thread is attached. So a deadlock over several of them
 * is found, and a thread that blocks in another one counts as `asleep`.
 * @param arena default `Arena.default`.
 * @throws {TypeError} if `arena` is no `Arena`.
 * @throws {DisposedError} if this thread has left the arena.
 *
 * @example
 * ```ts
 * import { formatReport, report } from 'taketurns/report';
 *
 * console.log(formatReport(report()));
 * ```
 * @since 0.3.0
 */
export function report(arena: Arena = Arena.default): ArenaReport {
  return reportIn(membershipIn('report', arena), MOST);
}

/** @internal As `report`, with lists that are so long at most. */
export function reportIn(membership: Membership, most: number): ArenaReport {
  return reportOf(lookerAt(membership, most), settingOf(new Int32Array(membership.memory.buffer)).after, most);
}

/**
 * Finds the deadlocks of an arena: threads that wait for one another in a circle. Never blocks, and works while all
 * other threads hang.
 *
 * The owners of these objects are known: `Mutex`, `RwLock`, `Once`, a robust `Semaphore`, and the keys of a
 * `KeyedMutex` or a `KeyedSemaphore`. Of all others, any thread may end a wait, so no deadlock is seen there. `unseen`
 * lists those for which somebody waits. The threads of a deadlock may wait in several arenas, if the calling thread is
 * attached to all of them.
 * @param arena default `Arena.default`.
 * @throws {TypeError} if `arena` is no `Arena`.
 * @throws {DisposedError} if this thread has left the arena.
 *
 * @example
 * ```ts
 * import { deadlocks } from 'taketurns/report';
 *
 * for (const { text } of deadlocks().certain) console.log(text);
 * ```
 * @since 0.3.0
 */
export function deadlocks(arena: Arena = Arena.default): Deadlocks {
  const membership = membershipIn('deadlocks', arena);
  const { after } = settingOf(new Int32Array(membership.memory.buffer));
  const { looks, certain, suspected } = deadlocksIn(lookerAt(membership, MOST), after, 0);
  return { certain, suspected, unseen: unseenIn(looks[0] as Look, MOST) };
}
