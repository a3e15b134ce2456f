// A worker thread of the host: for each run it joins the subject of the row, reports that it is ready, and runs the
// row's loop from WARM to STOP.

import { type MessagePort, parentPort } from 'node:worker_threads';
import { BENCHMARKS, type Benchmark, scriptRow, type Work } from '../benchmarks.js';
import { MT_BYTES, mtSeed } from '../mt19937.js';
import { ADMITTED, FAILED, IDLE, openBoard, PHASE } from './board.js';

export interface ThreadOrder {
  benchmark: Benchmark['name'];
  row: string;
  loop: 'measure' | 'probe';
  work: Work | undefined;
  thread: number;
  threads: number;
  shared: unknown;
  port: MessagePort | undefined;
  board: SharedArrayBuffer;
  common: Uint32Array;
}

export type ThreadReply = { ready: true } | { done: true } | { error: string };

const APART = 128;

/** Lets go of the subject of the run before. */
let leave: (() => void) | undefined;
/** Rows whose loop this thread has warmed. */
const warmed = new Set<string>();

/** Makes a generator that only this thread steps. Two cache lines separate it from other memory. */
function generator(seed: number): Uint32Array {
  const memory = new SharedArrayBuffer(MT_BYTES + 2 * APART);
  const state = new Uint32Array(memory, APART, MT_BYTES / Uint32Array.BYTES_PER_ELEMENT);
  mtSeed(state, seed);
  return state;
}

const port = parentPort;
if (port === null) throw new Error('thread.js runs in a worker');
const reply = (message: ThreadReply): void => port.postMessage(message);

port.on('message', async (order: ThreadOrder) => {
  const { benchmark, row, loop, work, thread, threads } = order;
  const board = openBoard(order.board, threads);
  try {
    const url = new URL(`./loop.js?row=${encodeURIComponent(row)}`, import.meta.url).href;
    const loops = (await import(url)) as typeof import('./loop.js');
    const { workload } = BENCHMARKS[benchmark];
    const turn = work === undefined ? loops.TURNS[workload] : loops.working(workload, work);
    const { apart, join, promises, share, alone = share } = scriptRow(benchmark, row);
    leave?.();
    const joined = await join(order.shared, order.port);
    leave = joined.leave;
    const own = generator(thread + 1);
    const common = apart ? generator(threads + thread + 1) : order.common;
    // A promise is settled by other code than that of the loop, so only the rehearsals warm a loop of promises.
    if (!promises && !warmed.has(row)) {
      warmed.add(row);
      const { shared, dispose } = await alone();
      loops.warm(turn, (await join(shared)).subject, new Uint32Array(common.length), own);
      dispose?.();
    }
    reply({ ready: true });
    Atomics.wait(board.words, PHASE, IDLE);
    const stage = { turn, joined, board, thread, threads, common, own };
    if (promises) await (loop === 'measure' ? loops.measureAwaiting(stage) : loops.probeAwaiting(stage));
    else loops[loop](stage);
    reply({ done: true });
  } catch (error) {
    reply({ error: error instanceof Error ? error.message : String(error) });
    // The host may be asleep until all threads are admitted. After this error that will not happen, so the host is
    // told.
    Atomics.store(board.words, FAILED, 1);
    Atomics.add(board.words, ADMITTED, 1);
    Atomics.notify(board.words, ADMITTED);
  }
});
