/**
 * This file replaces Atomics.waitAsync in browsers that lack it. A helper worker may block where this thread may not,
 * and waits on the word in its place.
 *
 *     this thread   looks at the word; unchanged: [word, value] ──► helper
 *     helper        Atomics.wait on the word, which looks again ──► message ──► this thread's promise
 *
 * A helper waits for one word at a time and is used again. So a thread has as many helpers as it has had pending
 * waits at one time: one for each arena in which its promises wait, and one for each wait of `atomicWaitAsync`.
 *
 * The code of the helper is in a blob, so no bundler and no server needs to know of a file. A Content-Security-Policy
 * must allow the blob (worker-src blob:). If the policy forbids it, the console gets one error, and a timer looks at
 * the word instead.
 */
import type { WaitAsync } from './host.js';
import { now, setTimeout } from './surroundings.js';

const SOURCE = 'onmessage = ({ data }) => postMessage(Atomics.wait(...data))';
/** The milliseconds between two looks, if the browser refuses a helper. */
const LOOK = 4;
const REFUSED =
  'taketurns: no Atomics.waitAsync here, and no helper worker: add blob: to worker-src of the ' +
  'Content-Security-Policy';

type Words = Int32Array | BigInt64Array;

let url: string | undefined;
const idle: Worker[] = [];
let isRefused = false;

function look(words: Words, index: number, value: number | bigint, end: number, done: () => void): void {
  if (Atomics.load(words as Int32Array, index) !== value || now() >= end) done();
  else setTimeout(look, LOOK, words, index, value, end, done);
}

export const waitAsync: WaitAsync = (words, index, value, timeout = Infinity) => {
  if (Atomics.load(words as Int32Array, index) !== value) return { async: false, value: 'not-equal' };
  const answer = new Promise<void>((done) => {
    const poll = (): void => {
      if (!isRefused) console.error(REFUSED);
      isRefused = true;
      look(words, index, value, now() + timeout, done);
    };
    if (isRefused) {
      poll();
      return;
    }
    try {
      url ??= URL.createObjectURL(new Blob([SOURCE], { type: 'text/javascript' }));
      const worker = idle.pop() ?? new Worker(url);
      worker.onmessage = () => {
        idle.push(worker);
        done();
      };
      worker.onerror = (event) => {
        event.preventDefault();
        poll();
      };
      worker.postMessage([words, index, value, timeout]);
    } catch {
      poll();
    }
  });
  return { async: true, value: answer };
};
