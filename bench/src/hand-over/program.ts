// Runs as a process of its own for one row and one run, and prints the trials of all sections as JSON.
//
//   program.js ROW SECTIONS      SECTIONS in JSON: [{"by": "computing", "microseconds": 20, "trials": 300}, ...]

import { Worker } from 'node:worker_threads';
import { handOverRow } from './rows.js';
import type { ThreadOrder, ThreadReply } from './thread.js';
import { BOARD_BYTES, type Section, type Trials } from './trials.js';

export interface SectionOrder extends Section {
  trials: number;
}

/** These trials come first and do not count. In them the runtime compiles the code of the wait. */
const WARM_UP: SectionOrder = { by: 'computing', microseconds: 20, trials: 300 };

const newThread = (): Worker => new Worker(new URL('./thread.js', import.meta.url));

function answer(worker: Worker, order: ThreadOrder): Promise<Trials | undefined> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject);
    worker.once('message', (reply: ThreadReply) => {
      worker.off('error', reject);
      if ('error' in reply) reject(new Error(reply.error));
      else resolve(reply.trials);
    });
    worker.postMessage(order);
  });
}

const [name = '', sections = '[]'] = process.argv.slice(2);
try {
  const row = handOverRow(name);
  // The workers inherit the arena that `share` makes. So they are made after the first call of `share`.
  let crew: [holder: Worker, waiter: Worker] | undefined;
  const measured: (Trials | undefined)[] = [];
  for (const { trials, ...section } of [WARM_UP, ...(JSON.parse(sections) as SectionOrder[])]) {
    // Each section has its own lock, because a lock may adapt to a section, and must begin anew.
    const { shared, dispose } = await row.share();
    crew ??= [newThread(), newThread()];
    const [holder, waiter] = crew;
    const common = { row: name, shared, board: new SharedArrayBuffer(BOARD_BYTES), section, trials };
    const held = answer(holder, { ...common, side: 'holder' });
    const [found] = await Promise.all([answer(waiter, { ...common, side: 'waiter' }), held]);
    measured.push(found);
    dispose?.();
  }
  console.log(JSON.stringify(measured.slice(1)));
  process.exit();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
