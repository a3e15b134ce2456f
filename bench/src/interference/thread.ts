// One thread of a pair: passes the pair's turn to and fro until the board says stop.

import { workerData } from 'node:worker_threads';
import { Arena } from 'taketurns';
import { AtomicSemaphore, type AtomicSemaphoreHandle, atomicSignal, atomicTryWaitFor } from 'taketurns/p0514';

export interface Pair {
  arena: Arena['handle'];
  /**
   * Whose turn it is: 0 or 1. The word has its own buffer, so it shares its bucket with the words of all other pairs.
   */
  turn: Int32Array;
  side: 0 | 1;
  /** Word 0 is stop. The numbers of turns that each pair has passed follow. */
  board: Int32Array;
  pair: number;
  handle: AtomicSemaphoreHandle | undefined;
}

const { arena: memory, turn, side, board, pair, handle } = workerData as Pair;
const arena = Arena.from(memory);
const semaphore = handle && AtomicSemaphore.from(handle);
const options = { arena };
const other = 1 - side;

while (Atomics.load(board, 0) === 0) {
  if (semaphore) semaphore.tryWaitFor(turn, 0, other, 100);
  else atomicTryWaitFor(turn, 0, other, 100, options);
  if (Atomics.load(turn, 0) !== side) continue;
  Atomics.store(turn, 0, other);
  if (semaphore) semaphore.signal(turn, 0);
  else atomicSignal(turn, 0, 'all', options);
  Atomics.add(board, 1 + pair, 1);
}
