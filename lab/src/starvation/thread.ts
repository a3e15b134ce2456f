/**
 * A thread of the starvation experiment. It acquires, holds, releases and thinks, and tells each of these on the board.
 *
 * The victim takes all permits at once. So when it is admitted, nobody else has a permit, and all turns before its own
 * have been entered on the board.
 *
 * Our semaphore has tickets, and overtaking is counted by them: a hog with a later ticket that was admitted before the
 * victim has overtaken the victim. The barging semaphore has no tickets. There a thread draws a stamp just before it
 * acquires, and a hog that is admitted while the victim waits with a lower stamp has overtaken the victim.
 */
import { clock } from '@taketurns/bench/dist/workers/board.js';
import { Semaphore, type SemaphoreHandle } from 'taketurns';
import { lastTicket } from 'taketurns/algorithms';
import type { Job } from '../crew/job.js';
import { BargingSemaphore } from './barging.js';
import {
  ADMISSIONS,
  ADMITTED,
  ARRIVALS,
  Board,
  HELD,
  HOLDING,
  LATEST_WAIT,
  LONGEST,
  MOST_OVERTAKEN,
  OVERTAKEN,
  OVERTOOK,
  SINCE,
  STAMP,
  STATE,
  STOP,
  THINKING,
  TURNS,
  VICTIM,
  WAITED,
  WAITING,
} from './board.js';

export interface StarvationOrder {
  readonly semaphore: SemaphoreHandle | Int32Array;
  readonly board: SharedArrayBuffer;
  readonly thread: number;
  readonly threads: number;
  /** The number of permits of the semaphore. The victim takes all of them at once. A hog takes one. */
  readonly permits: number;
  /** The average milliseconds for which the thread holds its permits. `think` is the time from release to acquire. */
  readonly hold: number;
  readonly think: number;
  /** Whether the thread computes while it holds permits. Otherwise it sleeps, like a thread that waits for a disk. */
  readonly computes: boolean;
}

interface SemaphoreLike {
  acquire(permits: number): void;
  release(permits: number): void;
}

export const starvation: Job<StarvationOrder> = async (order) => {
  const { semaphore, board, threads } = order;
  const shared = new Board(threads, board);
  const byTicket = !(semaphore instanceof Int32Array);
  const subject: SemaphoreLike = byTicket ? Semaphore.from(semaphore) : new BargingSemaphore(semaphore);
  return () => run(subject, byTicket, shared, order);
};

function run(
  semaphore: SemaphoreLike,
  byTicket: boolean,
  board: Board,
  { thread, permits, hold, think, computes }: StarvationOrder,
): void {
  const { words } = board;
  const ints = board.ints(thread);
  const times = board.times(thread);
  const width = thread === VICTIM ? permits : 1;
  const nap = new Int32Array(new SharedArrayBuffer(4));
  const become = (state: number, now: number): void => {
    times[SINCE] = now;
    Atomics.store(ints, STATE, state);
  };
  while (Atomics.load(words, STOP) === 0) {
    if (!byTicket) Atomics.store(ints, STAMP, Atomics.add(words, ARRIVALS, 1) + 1);
    const before = Atomics.load(words, ADMITTED);
    const arrived = clock();
    become(WAITING, arrived);
    semaphore.acquire(width);
    const admitted = clock();
    become(HOLDING, admitted);
    const waited = admitted - arrived;
    (times[WAITED] as number) += waited;
    if (waited > (times[LONGEST] as number)) times[LONGEST] = waited;
    const microseconds = Math.min(waited * 1000, 0x7fffffff) | 0;
    if (microseconds > Atomics.load(ints, LATEST_WAIT)) Atomics.store(ints, LATEST_WAIT, microseconds);
    const ticket = byTicket ? Number(lastTicket()) : (ints[STAMP] as number);
    if (thread === VICTIM) {
      const overtaken = byTicket ? passedBy(board, ticket, before) : Atomics.exchange(ints, OVERTAKEN, 0);
      Atomics.store(ints, STAMP, 0);
      if (overtaken > (ints[MOST_OVERTAKEN] as number)) ints[MOST_OVERTAKEN] = overtaken;
    } else if (!byTicket) passing(board, ints);
    const turn = board.enter(thread, ticket, arrived, admitted);
    Atomics.add(ints, ADMISSIONS, 1);
    // If all holds had one length, the hogs would fall into step.
    const length = hold * (0.5 + Math.random());
    let now = admitted;
    if (!computes) Atomics.wait(nap, 0, 0, length);
    do now = clock();
    while (now - admitted < length);
    (times[HELD] as number) += now - admitted;
    board.leave(turn, now);
    become(THINKING, now);
    semaphore.release(width);
    if (think > 0) Atomics.wait(nap, 0, 0, think);
  }
}

/**
 * The victim has been admitted, and has all permits. Returns how many turns with later tickets than the victim's have
 * begun since the victim arrived.
 */
function passedBy(board: Board, ticket: number, before: number): number {
  const admitted = Atomics.load(board.words, ADMITTED);
  let overtaken = 0;
  for (let turn = Math.max(before, admitted - TURNS); turn < admitted; turn++) {
    const [theirs, by] = board.admission(turn);
    if (theirs < ticket) continue;
    overtaken++;
    Atomics.add(board.ints(by), OVERTOOK, 1);
  }
  return overtaken;
}

/** A hog has been admitted. The hog has overtaken the victim if the victim waits with a lower stamp. */
function passing(board: Board, own: Int32Array): void {
  const victim = board.ints(VICTIM);
  const stamp = Atomics.load(victim, STAMP);
  if (stamp === 0 || stamp >= (own[STAMP] as number)) return;
  Atomics.add(victim, OVERTAKEN, 1);
  Atomics.add(own, OVERTOOK, 1);
}
