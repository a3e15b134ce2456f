// A thread of `bench sync`: it does its part of one run.

import { parentPort } from 'node:worker_threads';
import { type Measured, Seat } from './loops.js';
import { syncScriptRow } from './rows.js';

export interface SyncOrder {
  row: string;
  shared: unknown;
  index: number;
  threads: number;
  words: Int32Array;
  seconds: number;
}

export type SyncReply = { measured?: Measured } | { error: string };

const port = parentPort;
if (port === null) throw new Error('thread.js runs in a worker');

port.on('message', async ({ row, shared, index, threads, words, seconds }: SyncOrder) => {
  let reply: SyncReply;
  try {
    const measured = await syncScriptRow(row).run(shared, new Seat(index, threads, words, seconds));
    reply = measured === undefined ? {} : { measured };
  } catch (error) {
    reply = { error: error instanceof Error ? error.message : String(error) };
  }
  port.postMessage(reply);
});
