/**
 * The watch: the newest value of something, which threads set and read, and whose changes they wait for.
 *
 *     who sets ──► the turn: the queue of the sending end F            who waits for a newer value ──► the queue of M
 *
 *     version v    0           1           2           3           4           5
 *     place        0           1           2           3           0           1
 *                              older ones, still whole ┘  the next ┘ is written while 3 is the newest
 *
 *     set        1. acquire the turn, the one permit of F
 *                2. write the value to the place of v + 1, by plain stores
 *                3. version from v to v + 1, and M.grant up to M.ticket: all who wait go on        R19
 *                4. give the turn back
 *     get        read version; copy the value of that place; is the place still whole? If not, again
 *     changed    drop permits of M that nobody took; is the version newer? Else take a ticket of M; is it newer now?
 *                Then leave the queue, or admit all who wait. Else sleep; then again from the beginning   D17
 *
 * The version is in F.next, and its sign says that the watch is closed. A watch has PLACES places. So a value is whole
 * until PLACES - 1 newer versions are there: only then does a thread write to its place again. A reader that finds its
 * place written again takes the newer value. So it fails only if PLACES - 1 values were set during one copy.
 *
 *     D17  version against ticket: a thread takes a ticket and then reads the version. The thread that sets raises the
 *          version and then reads the ticket. So the one sees the new version, or the other sees the ticket.
 *
 * R19: from the exchange on version to the add on M.grant. So a thread that dies in a call of set has changed nothing,
 * or has admitted all who wait. A dead thread's turn goes on, as the permit of any robust semaphore.
 *
 * Permits of M may be left over: a request that has left the queue gives its tickets back when grant reaches them. A
 * thread that is admitted by such a permit finds the version as it was, and begins again.
 *
 * Sources: a register by several copies, as in Peterson, Concurrent Reading While Writing (1983); that a reader copies
 * and looks again: the sequence locks of Linux. The two queues are this library's own.
 */
import { ADMITTED, ANSWER_CLOSED } from '../../answers';
import { CLOSED_BELOW, GRANT, TICKET } from '../../arena/words';
import { release } from '../../queue/queue';
import { endOf, peerOf } from './places';
import { NEXT_CLOSED, P_END, P_NEXT, PLACES } from './words';

/** A memory fence (rw-lock.ts). */
declare function fence(): void;

/** For the release that follows publish: how many permits it has given. */
export let told: i32 = 0;

/** The thread has the turn, and is about to write to the next place. No thread sees these stores before the fence. */
export function beginSet(): void {
  fence();
}

/**
 * Makes the value that the thread has written the newest. The thread has the turn. Returns ADMITTED; MORE or
 * INTERRUPTED, and then finishRelease of the receiving end must follow, with `told`; or ANSWER_CLOSED.
 */
export function publish(f: usize): i32 {
  const version = atomic.load<i64>(f, P_NEXT);
  if (version < 0) return ANSWER_CLOSED;
  const m = peerOf(f);
  if (atomic.cmpxchg<i64>(f, version, version + 1, P_NEXT) !== version) return ANSWER_CLOSED; // R19 begins. D17 write
  return tell(m); // R19 ends
}

/**
 * Admits all who wait for a newer value. A thread whose promise stands in the queue, and that finds the version newer,
 * calls it too. The answers are those of publish.
 * @inline
 */
export function tell(m: usize): i32 {
  const waiting = atomic.load<i64>(m, TICKET) - atomic.load<i64>(m, GRANT); // D17 read
  if (waiting <= 0 || waiting > -CLOSED_BELOW) return ADMITTED;
  told = waiting as i32;
  return release(m, told);
}

/** Whether the value of the version with these low bits was whole when the thread had copied it. */
export function isWhole(f: usize, version: i32): bool {
  fence();
  return ((atomic.load<i32>(f, P_NEXT) - version) as u32) < ((PLACES - 1) as u32);
}

/** Does for a watch what close does for a channel. All who wait get the end at once. */
export function closeWatch(f: usize): void {
  const version = atomic.or<i64>(f, NEXT_CLOSED, P_NEXT); // R16 begins
  if (version >= 0) atomic.store<i32>(peerOf(f), endOf(0), P_END); // R16 ends
}
