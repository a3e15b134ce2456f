/**
 * The channel: a bounded queue of messages between threads. Two queues admit threads, and a ring of places carries the
 * messages.
 *
 *     senders ──► permits of free places                                permits of messages ◄── receivers
 *                 sending end F                                               receiving end M
 *
 *     places      ... │ taken │ taken │ ready │ ready │ claimed │ claimed │ free │ free │ ...
 *                             ▲       ▲               ▲                   ▲
 *                        M.done       M.next          F.done              F.next
 *                     all before are   all before     all before were     all before were
 *                     free again       were claimed   passed to M         claimed by senders
 *
 *     send      1. acquire a permit of F, of which there are as many as places are free
 *               2. F.next += 1: the old value i is the index of the message, in place i mod capacity     R14
 *               3. write the message, by plain stores
 *               4. F.done from i to i + 1, and M.grant += 1: a receiver is admitted                      R15
 *                  another sender before i is not ready yet? Then mark the place with i + 1
 *               5. go on while the next place is marked                                                  D15
 *     receive   the same from the other side: a permit of M, M.next, copy, M.done, F.grant += 1; the mark is ~(i + 1)
 *
 * Both ends are one code: `o` is the end of the calling thread, and the peer is the other end. Each end is the queue of
 * a robust semaphore (queue/queue.ts). So all waiting is that of a semaphore: the order, promises, time-outs, deaths.
 * A permit is not yet a place. A thread that gives up its permit has touched no message.
 *
 * Invariant: F.done - capacity <= M.done <= M.next <= F.done <= F.next <= M.done + capacity. M.next <= F.done, since a
 * receiver has a permit, and M has had F.done permits in all. F.next <= M.done + capacity in the same way. So between
 * its claim and its pass, a place belongs to one thread, whose accesses are plain. The exchange on done passes them on
 * to the other end.
 *
 * Why messages stay in order: receivers claim what senders claimed, in the order of the claims. M's permits count
 * places before F.done, so no receiver looks at a place that is not ready, and no receiver waits for another one's copy.
 *
 *     D15  mark against done: a thread out of turn stores its mark, and then reads done. The thread that moves done to
 *          the marked place reads the mark afterwards. At least one of them passes the place on. In step 5 nobody has
 *          claimed the next place if next is done: its claimer finds done in its turn.
 *     D16  end against next: a receiver adds to M.next and then reads end. The thread that closes stores end and then
 *          reads M.next. So one of them sees that the last message is taken, and closes the queue of M.
 *
 * R14: from the add on next to the words of the attachment, which say what the thread has claimed (E_TOOK), and that it
 * holds the permit no more (E_HELD). For a thread that did not wait, R14 begins at the exchange on ticket. So at any
 * time a reaper knows whether a dead thread has a permit or a place.
 * R15: from the exchange on done to the add on the peer's grant. R16: from the sign in next to end. R17: a place is
 * marked and counted in one step. In ends.ts, a hole or the freed place of a dead receiver counts; in pass, a message
 * that is unread.
 *
 * Unread: a receiver copies messages, frees their places, and only then decodes the copies, so no slow codec keeps
 * others waiting. In the step that frees a place (R15, R17), the message becomes one of those that the attachment calls
 * unread (E_UNREAD). JavaScript takes it off when the call has decoded all of its messages and is about to return. So a
 * message counts at any time as one that lies in a claimed place, or as unread, or as received. If the thread dies, the
 * reaper counts the first two as lost.
 *
 * Cut calls: an exception may end a call of a thread that survives it (an exhausted stack, the timeout of node:vm).
 * E_TOOK_COUNT is not 0 from the claim to the end of the pass, and E_HELD is not 0 from the permit to the claim. So a
 * thread that would claim, and finds one of them not 0, knows that its last call was cut short: it is answered
 * CUT_SHORT. abandon then does what the reaper would do for the places, and the caller gives the permits back. If the
 * thread makes no such call, a microtask does it (src/channel/endpoint.ts). What the cut call has marked, the next pass
 * of any thread passes on, too; and the core ends the release that was pending.
 *
 * Marks: done passes a place at most once in each lap, and a mark says 63 bits of the index. So the mark of an earlier
 * lap is never mistaken, and nobody clears marks.
 *
 * Closing: the sign of F.next says that the channel is closed. A sender whose add finds the sign has sent nothing. All
 * senders before are counted in end, so there will be exactly so many messages, and receivers get all of them. A sender
 * that dies leaves a hole in its place, so no receiver waits for it. When the last message is claimed, no permit of M is
 * out or to come, so closing the queue of M loses none.
 *
 * A channel may close itself: the maker says how many senders there will be, and each thread counts itself as one of
 * them until it leaves, ends or dies. Whoever takes the last of them off closes the channel in the same section (R18,
 * endSending in ends.ts).
 *
 * Deaths: passForDead in ends.ts. The attachment of the dead thread says what the thread has claimed. The reaper
 * compares this with done and the marks. R20 is there, too: what was unread counts as lost.
 *
 * Sources: Vyukov's bounded queue has a number in each place too. Two semaphores and a ring: Dijkstra, Cooperating
 * Sequential Processes (1965). That a channel counts its messages at close is this library's own.
 */
import { ADMITTED, ANSWER_CLOSED, CUT_SHORT, INTERRUPTED, MORE, NEWS, REFUSED } from '../../answers';
import { recordOf } from '../../arena/attachments';
import { CLOSED_BELOW, E_HELD, GRANT, O_KIND, TICKET } from '../../arena/words';
import { beginLateRelease, beginRelease, grantBefore, grantLate, NOTHING, pendingCall } from '../../queue/pending-call';
import { pause, pollsOf, pollsPaid, pollsWereVain } from '../../queue/polling';
import { release } from '../../queue/queue';
import { endSending, giveUp } from './ends';
import { markOf, peerOf, placeAt } from './places';
import {
  E_SENDERS,
  E_TOOK,
  E_TOOK_COUNT,
  E_UNREAD,
  E_WORD,
  HOLE,
  HOLE_MORE,
  NO_PLACE,
  P_CODEC,
  P_DATA,
  P_DONE,
  P_END,
  P_NEXT,
  P_PEER,
  P_TOLD,
  P_UNTOLD,
  PLACE_HEAD,
  PLACE_LENGTH,
  PLACE_MARK,
} from './words';

function kindOf(o: usize): i32 {
  return atomic.load<i32>(o, O_KIND);
}

/** After MORE or INTERRUPTED: for how many permits the core is to finish the release. */
export let given: i32 = 0;

/**
 * Claims up to `most` places without waiting, for a thread with this attachment. Returns the address of the first. The
 * attachment says how many there are. Returns REFUSED if none can be had now, or ANSWER_CLOSED. Returns CUT_SHORT if an
 * exception has ended an earlier call of the thread: abandon must follow. Calls nothing.
 */
export function tryClaim(o: usize, attachment: i32, most: i32): i32 {
  const e = recordOf(attachment);
  while (true) {
    const ticket = atomic.load<i64>(o, TICKET);
    const n = min(atomic.load<i64>(o, GRANT) - ticket, most as i64);
    // In this order: after the thread has let go of the channel, the attachment may be that of another thread.
    if (n < CLOSED_BELOW) return ANSWER_CLOSED;
    if ((load<i32>(e, E_TOOK_COUNT) | load<i32>(e, E_HELD)) !== 0) return CUT_SHORT;
    if (n <= 0) return REFUSED;
    if (atomic.cmpxchg<i64>(o, ticket, ticket + n, TICKET) !== ticket) continue;
    // R14 begins
    const i = atomic.add<i64>(o, n, P_NEXT); // D16 write
    if (i < 0) return ANSWER_CLOSED;
    store<i64>(e, i, E_TOOK);
    store<i32>(e, n as i32, E_TOOK_COUNT); // R14 ends
    return placeAt(o, i) as i32;
  }
}

/** Does the same for n places, whose permits the queue has given to the thread. Never returns REFUSED. */
export function claim(o: usize, attachment: i32, n: i32): i32 {
  const e = recordOf(attachment);
  if (load<i32>(e, E_TOOK_COUNT) !== 0) return CUT_SHORT;
  const held = atomic.load<i64>(e, E_HELD) - (n as i64);
  const i = atomic.add<i64>(o, n as i64, P_NEXT); // R14 begins. D16 write
  if (i >= 0) {
    store<i64>(e, i, E_TOOK);
    store<i32>(e, n, E_TOOK_COUNT);
  }
  atomic.store<i64>(e, held, E_HELD); // R14 ends
  return i < 0 ? ANSWER_CLOSED : (placeAt(o, i) as i32);
}

/**
 * Passes the places that the thread claimed last to the other end. A receiver says how many messages in them are `unread`
 * from now on: it has copied them, and has not handed them to the program. Returns ADMITTED; or MORE or INTERRUPTED:
 * then finishRelease of the peer must follow, with `given`. Returns NEWS if nothing is to follow, but the end has
 * something to tell: a death, or that the channel is closed.
 */
export function pass(o: usize, attachment: i32, unread: i32): i32 {
  const e = recordOf(attachment);
  const i = load<i64>(e, E_TOOK);
  const next = i + (load<i32>(e, E_TOOK_COUNT) as i64);
  const peer = peerOf(o);
  let answer = ADMITTED;
  if (atomic.cmpxchg<i64>(o, i, next, P_DONE) === i) {
    // R15 begins
    if (unread !== 0) store<i32>(e, load<i32>(e, E_UNREAD) + unread, E_UNREAD);
    given = (next - i) as i32;
    answer = release(peer, given); // R15 ends
    if (atomic.load<i64>(o, P_NEXT) !== next) answer = passOn(o, peer, answer); // D15 read
  } else {
    for (let k = i; k < next; k++) {
      const p = placeAt(o, k);
      // A sender has its E_SENDERS there, which stays as it is.
      const count = load<i32>(e, E_UNREAD) + ((unread !== 0 && isMessage(p)) as i32);
      atomic.store<i64>(p, markOf(kindOf(o), k), PLACE_MARK); // R17 begins. D15 write
      store<i32>(e, count, E_UNREAD); // R17 ends
    }
    answer = passOn(o, peer, ADMITTED);
  }
  return passed(o, e, answer);
}

function isMessage(p: usize): bool {
  return load<i32>(p, PLACE_LENGTH) !== HOLE;
}

/** The thread has claimed nothing any more. */
function passed(o: usize, e: usize, answer: i32): i32 {
  store<i32>(e, 0, E_TOOK_COUNT);
  if (answer === ADMITTED && (atomic.load<i32>(o, P_UNTOLD) | atomic.load<i32>(o, P_END)) !== 0) return NEWS; // D16 read
  return answer;
}

/**
 * Passes on what the thread has claimed and will not use, because an exception has cut its call short, or its program
 * has dropped a place. A sender leaves holes, and what a receiver has not used counts as lost. The answers are those of
 * pass. May be called again: it may be cut short, too.
 */
export function abandon(o: usize, attachment: i32): i32 {
  const e = recordOf(attachment);
  const peer = peerOf(o);
  const kind = kindOf(o);
  let i = load<i64>(e, E_TOOK);
  // No thread has died, so nobody is told.
  for (let n = load<i32>(e, E_TOOK_COUNT); n > 0; n--, i++) giveUp(o, peer, kind, i, P_TOLD - P_UNTOLD);
  return passed(o, e, passOn(o, peer, ADMITTED));
}

/**
 * Passes on the places that are marked, from done on. `answer` is that of the release before, if there was one: then
 * the core finishes all of them at once.
 */
function passOn(o: usize, peer: usize, answer: i32): i32 {
  while (true) {
    const i = atomic.load<i64>(o, P_DONE); // D15 read
    if (atomic.load<i64>(placeAt(o, i), PLACE_MARK) !== markOf(kindOf(o), i)) return answer; // D15 read
    if (atomic.cmpxchg<i64>(o, i, i + 1, P_DONE) !== i) continue; // R15 begins
    const grant = atomic.add<i64>(peer, 1, GRANT); // R15 ends
    if (answer === ADMITTED && grant - atomic.load<i64>(peer, TICKET) < 0) {
      if (pendingCall === NOTHING) {
        beginRelease(peer, grant);
        answer = MORE;
      } else {
        beginLateRelease(grant);
        answer = INTERRUPTED;
      }
    }
    given = (grant + 1 - (answer === INTERRUPTED ? grantLate : grantBefore)) as i32;
  }
}

/** Sends the 8 bytes at E_WORD, without waiting. Returns what tryClaim answers if it claims nothing, or as pass. */
export function sendWord(f: usize, attachment: i32): i32 {
  const p = tryClaim(f, attachment, 1);
  if ((p & NO_PLACE) !== 0) return p;
  store<i32>(p, 8, PLACE_LENGTH);
  store<i64>(p, load<i64>(recordOf(attachment), E_WORD), PLACE_HEAD);
  return pass(f, attachment, 0);
}

/**
 * Receives 8 bytes into E_WORD, without waiting. Returns the same as sendWord; HOLE_MORE more if it meets a hole. If it
 * answers more than ADMITTED and there was no hole, the message is unread until the caller takes it off.
 */
export function takeWord(m: usize, attachment: i32): i32 {
  const p = tryClaim(m, attachment, 1);
  if ((p & NO_PLACE) !== 0) return p;
  const e = recordOf(attachment);
  store<i64>(e, load<i64>(p, PLACE_HEAD), E_WORD);
  const unread = isMessage(p) as i32;
  const answer = pass(m, attachment, unread);
  if (unread === 0) return answer + HOLE_MORE;
  if (answer === ADMITTED) store<i32>(e, load<i32>(e, E_UNREAD) - 1, E_UNREAD);
  return answer;
}

/**
 * Polls while nobody waits and no permit is free, for as long as a waiter of the end would poll. Returns whether a
 * permit may be free. A thread that polls here has no ticket, so it is in nobody's way.
 */
export function pollFor(o: usize): bool {
  for (let polls = pollsOf(o); polls > 0; polls--) {
    const ahead = atomic.load<i64>(o, GRANT) - atomic.load<i64>(o, TICKET);
    if (ahead > 0) pollsPaid(o);
    if (ahead !== 0) return ahead > 0;
    pause();
  }
  pollsWereVain(o);
  return false;
}

/** Counts the thread of this attachment as one more of the senders that are to leave, end or die. */
export function beginSending(attachment: i32): void {
  const e = recordOf(attachment);
  store<i32>(e, load<i32>(e, E_SENDERS) + 1, E_SENDERS);
}

/** The thread is one of these senders less. If the channel is closed then, finishClose must follow. */
export function leaveSenders(f: usize, attachment: i32): void {
  const e = recordOf(attachment);
  endSending(f, peerOf(f), e, load<i32>(e, E_SENDERS) - 1, 1);
}

/** Links a sending end with a receiving end that no other thread knows, unless the sending end has one already. */
export function link(f: usize, m: usize): bool {
  return atomic.cmpxchg<i64>(f, 0, ((load<u32>(m, P_DATA) as i64) << 32) | (m as i64), P_PEER) === 0;
}

/** Returns the codec of the channel, which is that of the first thread that calls this. `codec` is not 0. */
export function agree(f: usize, codec: i32): i32 {
  const known = atomic.cmpxchg<i32>(f, 0, codec, P_CODEC);
  return known === 0 ? codec : known;
}

/** Returns what deaths at the other end have lost since the last call. */
export function takeUntold(o: usize): i32 {
  const untold = atomic.xchg<i32>(o, 0, P_UNTOLD);
  atomic.add<i32>(o, untold, P_TOLD);
  return untold;
}
