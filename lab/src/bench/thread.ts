/**
 * A thread of a benchmark. For each run it joins the object that the row measures, and runs the row's loop, as
 * bench/src/workers/thread.ts does. A worker is hired for one row, so its copy of the loop sees only one class.
 */
import { type Benchmark, scriptRow } from '@taketurns/bench/dist/benchmarks.js';
import { MT_BYTES, mtSeed } from '@taketurns/bench/dist/mt19937.js';
import { FAILED, openBoard, PHASE, IDLE as UNBEGUN } from '@taketurns/bench/dist/workers/board.js';
import * as loops from '@taketurns/bench/dist/workers/loop.js';
import { lastTicket } from 'taketurns/algorithms';
import type { Job } from '../crew/job.js';

export interface BenchOrder {
  readonly benchmark: Benchmark['name'];
  readonly workload: Benchmark['workload'];
  readonly row: string;
  readonly loop: 'measure' | 'probe';
  readonly thread: number;
  readonly threads: number;
  readonly shared: unknown;
  readonly board: SharedArrayBuffer;
  readonly common: Uint32Array;
  /** Whether bypass is counted by the capacitor's tickets, which the row itself does not report. */
  readonly byTicket: boolean;
}

let warmed = false;

export const bench: Job<BenchOrder> = async (order) => {
  const { benchmark, workload, row, loop, thread, threads, common } = order;
  const board = openBoard(order.board, threads);
  const turn = loops.TURNS[workload];
  const { join, share } = scriptRow(benchmark, row);
  const joined = await join(order.shared);
  if (order.byTicket) joined.ticket = () => lastTicket();
  const own = new Uint32Array(new SharedArrayBuffer(MT_BYTES));
  mtSeed(own, thread + 1);
  if (!warmed) {
    warmed = true;
    const alone = await share();
    loops.warm(turn, (await join(alone.shared)).subject, new Uint32Array(common.length), own);
    alone.dispose?.();
  }
  return () => {
    Atomics.wait(board.words, PHASE, UNBEGUN);
    try {
      (loop === 'probe' ? loops.probe : loops.measure)({ turn, joined, board, thread, threads, common, own });
    } catch (error) {
      Atomics.store(board.words, FAILED, 1);
      throw error;
    }
  };
};
