/**
 * A thread of the starvation experiment. It acquires, holds, releases and thinks, and says so on the board.
 *
 * Overtaking is counted by tickets if there are any: a thread has been overtaken by each thread with a higher ticket
 * that was admitted before it. If there are none, a thread draws a stamp just before it acquires, and an admitted
 * thread has overtaken all threads that wait with a lower stamp.
 */
import { JsBargingSemaphore } from '@taketurns/bench/dist/rows/js-barging.js';
import { clock } from '@taketurns/bench/dist/workers/board.js';
import { Semaphore, type SemaphoreHandle } from 'taketurns';
import { lastTicket } from 'taketurns/algorithms';
import type { Job } from '../crew/job.js';
import {
  ADMISSIONS,
  ARRIVALS,
  Board,
  ENTRIES,
  HELD,
  HOLDING,
  LATEST_WAIT,
  LONGEST,
  MOST_OVERTAKEN,
  OVERTAKEN,
  RING,
  SINCE,
  STAMP,
  STATE,
  STOP,
  THINKING,
  WAITED,
  WAITING,
} from './board.js';

export interface StarvationOrder {
  readonly semaphore: SemaphoreHandle | Int32Array;
  readonly board: SharedArrayBuffer;
  readonly thread: number;
  readonly threads: number;
  /** The milliseconds for which it holds the permit, and those between release and acquire. */
  readonly hold: number;
  readonly think: number;
  /** Whether it computes while it holds the permit. Otherwise it sleeps, like a thread that waits for a disk. */
  readonly computes: boolean;
}

interface SemaphoreLike {
  acquire(): void;
  release(): void;
}

export const starvation: Job<StarvationOrder> = async (order) => {
  const { semaphore, board, threads } = order;
  const shared = new Board(threads, board);
  const byTicket = !(semaphore instanceof Int32Array);
  const subject: SemaphoreLike = byTicket ? Semaphore.from(semaphore) : new JsBargingSemaphore(semaphore);
  return () => run(subject, byTicket, shared, order);
};

function run(
  semaphore: SemaphoreLike,
  byTicket: boolean,
  board: Board,
  { thread, hold, think, computes }: StarvationOrder,
): void {
  const { words } = board;
  const ints = board.ints(thread);
  const times = board.times(thread);
  const nap = new Int32Array(new SharedArrayBuffer(4));
  const become = (state: number, now: number): void => {
    times[SINCE] = now;
    Atomics.store(ints, STATE, state);
  };
  while (Atomics.load(words, STOP) === 0) {
    if (!byTicket) Atomics.store(ints, STAMP, Atomics.add(words, ARRIVALS, 1) + 1);
    const arrived = clock();
    become(WAITING, arrived);
    semaphore.acquire();
    const admitted = clock();
    become(HOLDING, admitted);
    const waited = admitted - arrived;
    (times[WAITED] as number) += waited;
    if (waited > (times[LONGEST] as number)) times[LONGEST] = waited;
    const microseconds = Math.min(waited * 1000, 0x7fffffff) | 0;
    if (microseconds > Atomics.load(ints, LATEST_WAIT)) Atomics.store(ints, LATEST_WAIT, microseconds);
    const overtaken = byTicket ? passedBy(board, thread, Number(lastTicket())) : passing(board, thread);
    if (overtaken > (ints[MOST_OVERTAKEN] as number)) ints[MOST_OVERTAKEN] = overtaken;
    Atomics.add(ints, ADMISSIONS, 1);
    let now = admitted;
    if (!computes) Atomics.wait(nap, 0, 0, hold);
    do now = clock();
    while (now - admitted < hold);
    (times[HELD] as number) += now - admitted;
    become(THINKING, now);
    semaphore.release();
    if (think > 0) Atomics.wait(nap, 0, 0, think);
  }
}

/** Returns how many threads with a later ticket were admitted before this one, which has the permit. */
function passedBy(board: Board, thread: number, ticket: number): number {
  const { ring, words } = board;
  const entries = words[ENTRIES] as number;
  let overtaken = 0;
  for (let i = entries - 1; i >= 0 && i > entries - RING; i--) {
    const at = 2 * (i % RING);
    if ((ring[at] as number) < ticket) break;
    overtaken++;
    board.overtook(ring[at + 1] as number, thread);
  }
  const at = 2 * (entries % RING);
  ring[at] = ticket;
  ring[at + 1] = thread;
  words[ENTRIES] = entries + 1;
  return overtaken;
}

/** The thread has the permit, and so has overtaken all with lower stamps. Returns how often it was overtaken itself. */
function passing(board: Board, thread: number): number {
  const own = board.ints(thread);
  const stamp = own[STAMP] as number;
  for (let other = 0; other < board.threads; other++) {
    const ints = board.ints(other);
    const theirs = Atomics.load(ints, STAMP);
    if (theirs === 0 || theirs >= stamp) continue;
    Atomics.add(ints, OVERTAKEN, 1);
    board.overtook(thread, other);
  }
  const overtaken = Atomics.exchange(own, OVERTAKEN, 0);
  Atomics.store(own, STAMP, 0);
  return overtaken;
}
