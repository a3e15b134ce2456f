// The two sides of a trial: one thread holds a lock for a while, the other comes meanwhile, waits, and gets it.
//
//   holder    lock ── BEGIN ────────────────────── UNLOCK, unlock
//   waiter              └── comes ── waits ──────────────────── has it ── unlock ── DONE
//
// The waiter polls for the beginning of the section, so it is awake even for a short section. The holder sleeps a
// little before the section. If both threads were on one processor, the holder then wakes on another. Both threads read
// the same clock.

import type { LockLike } from '../rows/subjects.js';
import { clock } from '../workers/board.js';
import { threadCpuClock } from './cpu-time.js';

/** What the holder does in its section, and for how long. */
export interface Section {
  by: 'computing' | 'sleeping';
  microseconds: number;
}

export interface Trials {
  /** Microseconds from just before `unlock` until the waiter has the lock, for each trial that counts. */
  latencies: number[];
  /** Microseconds of processor time that the waiter used for each wait; absent if they were not measured. */
  cpu?: number[];
  /** How many trials do not count, because the waiter came after the section had ended. */
  late: number;
}

const STRIDE = 128;
const INTS = STRIDE / Int32Array.BYTES_PER_ELEMENT;

// Indices into the words: the number of the latest trial that has begun, and of the latest that is over.
const TRIAL = 0;
const DONE = INTS;
// Indices into the times: the beginning of the section, and the moment before the unlock.
const BEGIN = 0;
const UNLOCK = 1;

export const BOARD_BYTES = 3 * STRIDE;

function openBoard(board: SharedArrayBuffer) {
  return { words: new Int32Array(board, 0, 2 * INTS), times: new Float64Array(board, 2 * STRIDE, 2) };
}

const NAP_MS = 0.1;

export function hold(lock: LockLike, board: SharedArrayBuffer, section: Section, trials: number): void {
  const { words, times } = openBoard(board);
  const nap = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const milliseconds = section.microseconds / 1000;
  const sleep = (ms: number) => Atomics.wait(nap, 0, 0, ms);
  for (let trial = 1; trial <= trials; trial++) {
    sleep(NAP_MS);
    lock.lock();
    times[BEGIN] = clock();
    Atomics.store(words, TRIAL, trial);
    if (section.by === 'sleeping') {
      sleep(milliseconds);
    } else {
      const end = performance.now() + milliseconds;
      while (performance.now() < end);
    }
    times[UNLOCK] = clock();
    lock.unlock();
    while (Atomics.load(words, DONE) !== trial);
  }
}

/**
 * The waiter comes into a computing section at a random moment between these shares of its length. Into a sleeping
 * section it comes at once.
 */
const EARLIEST = 0.1;
const LATEST = 0.9;

export function wait(lock: LockLike, board: SharedArrayBuffer, section: Section, trials: number): Trials {
  const { words, times } = openBoard(board);
  const sleeps = section.by === 'sleeping';
  const cpuClock = sleeps ? threadCpuClock() : undefined;
  const latencies: number[] = [];
  const cpu: number[] = [];
  let late = 0;
  for (let trial = 1; trial <= trials; trial++) {
    const share = sleeps ? 0 : EARLIEST + (LATEST - EARLIEST) * Math.random();
    while (Atomics.load(words, TRIAL) !== trial);
    const moment = (times[BEGIN] as number) + (share * section.microseconds) / 1000;
    while (clock() < moment);
    const before = cpuClock?.();
    const arrived = clock();
    lock.lock();
    const served = clock();
    const after = cpuClock?.();
    lock.unlock();
    const unlocked = times[UNLOCK] as number;
    if (arrived < unlocked) {
      latencies.push((served - unlocked) * 1000);
      if (before !== undefined && after !== undefined) cpu.push(after - before);
    } else {
      late++;
    }
    Atomics.store(words, DONE, trial);
  }
  return { latencies, ...(cpuClock && { cpu }), late };
}
