/**
 * A program in report mode whose reporter dies at its start. When main knows of it, a worker attaches to an arena. The
 * program prints how the waits of the worker for the reporter have ended.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { getEnvironmentData, isMainThread, Worker } from 'node:worker_threads';
import { VERSION } from '../../dist/border/numbers.js';

const { wait } = Atomics;
const board = () => getEnvironmentData(`taketurns:report:${VERSION}`);
const ended = [];
if (!isMainThread)
  Atomics.wait = (words, ...given) => {
    const how = wait(words, ...given);
    if (words.buffer === board().buffer) ended.push(how);
    return how;
  };
const { Arena } = await import('taketurns');
if (isMainThread) {
  while (Atomics.load(board(), 0) === 0) await sleep(5);
  new Worker(new URL(import.meta.url));
} else {
  new Arena();
  console.error(ended.join());
}
