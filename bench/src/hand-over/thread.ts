// A thread of the hand-over benchmark: for each section that it gets, it is the holder or the waiter of the trials.

import { parentPort } from 'node:worker_threads';
import type { LockLike } from '../rows/subjects.js';
import { handOverRow } from './rows.js';
import { hold, type Section, type Trials, wait } from './trials.js';

export interface ThreadOrder {
  row: string;
  side: 'holder' | 'waiter';
  shared: unknown;
  board: SharedArrayBuffer;
  section: Section;
  trials: number;
}

export type ThreadReply = { trials?: Trials } | { error: string };

const WARM_TURNS = 4000;
let warmed = false;

const port = parentPort;
if (port === null) throw new Error('thread.js runs in a worker');

/** Locks and unlocks without another thread, until the runtime has compiled the calls. */
function warm(lock: LockLike): void {
  for (let turn = 0; turn < WARM_TURNS; turn++) {
    lock.lock();
    lock.unlock();
  }
}

port.on('message', async (order: ThreadOrder) => {
  let reply: ThreadReply;
  try {
    const row = handOverRow(order.row);
    if (!warmed) {
      warmed = true;
      const { shared, dispose } = await row.share();
      warm((await row.join(shared)).subject);
      dispose?.();
    }
    const { subject: lock } = await row.join(order.shared);
    const { board, section, trials } = order;
    if (order.side === 'waiter') {
      reply = { trials: wait(lock, board, section, trials) };
    } else {
      hold(lock, board, section, trials);
      reply = {};
    }
  } catch (error) {
    reply = { error: error instanceof Error ? error.message : String(error) };
  }
  port.postMessage(reply);
});
