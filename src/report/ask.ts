/** The questions of a user: what is there in an arena, and is there a deadlock? */
import { Arena } from '../arena.js';
import { checkInteger, checkOptions } from '../errors.js';
import { timestamp } from '../runtime/clock.js';
import { type Deadlocks, deadlocksIn } from './deadlocks.js';
import { lookAt } from './look.js';
import { type ArenaReport, reportOf } from './report.js';
import { settingOf } from './settings.js';
import { membershipIn } from './this-thread.js';

/** How much a report lists. */
export interface ReportOptions {
  /** How many waiters of each object, and how many waits of each thread, are listed, 1 to 1,000,000. Default 100. */
  readonly most?: number;
}

function mostOf(what: string, options: ReportOptions): number {
  checkOptions(what, options, ['most']);
  const { most = 100 } = options;
  return checkInteger(`${what}: most`, most, 1, 1_000_000);
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
 * @param arena default `Arena.default`.
 * @throws {TypeError | RangeError} for a bad argument.
 * @throws {DisposedError} if this thread has left the arena.
 *
 * @example
 * ```ts
 * import { formatReport, report } from 'taketurns/report';
 *
 * console.log(formatReport(report()));
 * ```
 */
export function report(arena: Arena = Arena.default, options: ReportOptions = {}): ArenaReport {
  const most = mostOf('report', options);
  const { memory } = membershipIn('report', arena);
  return reportOf(memory, settingOf(new Int32Array(memory.buffer)).after, most);
}

/**
 * Finds the deadlocks of an arena: threads that wait for one another in a circle. Never blocks, and works while all
 * other threads hang.
 *
 * The owners of these objects are known: `Mutex`, `RwLock`, `Once`, and a robust `Semaphore`. Of all others, any thread
 * may end a wait, so no deadlock is seen there. `unseen` lists those for which somebody waits.
 * @param arena default `Arena.default`.
 * @throws {TypeError | RangeError} for a bad argument.
 * @throws {DisposedError} if this thread has left the arena.
 *
 * @example
 * ```ts
 * import { deadlocks } from 'taketurns/report';
 *
 * for (const { text } of deadlocks().certain) console.log(text);
 * ```
 */
export function deadlocks(arena: Arena = Arena.default, options: ReportOptions = {}): Deadlocks {
  const most = mostOf('deadlocks', options);
  const { memory } = membershipIn('deadlocks', arena);
  const again = () => lookAt(memory, timestamp(), most);
  const { after } = settingOf(new Int32Array(memory.buffer));
  const { certain, suspected, unseen } = deadlocksIn(again(), again, after, most);
  return { certain, suspected, unseen };
}
