// Calls in several threads need a token that expires. Whoever finds it expired refreshes it, and all others wait for the
// new one: read, lock, read again.
// Run: node node_modules/taketurns/examples/refresh-token.mjs
// In a clone of the repository: node examples/refresh-token.mjs
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { Mutex } from 'taketurns';
import { json, Watch } from 'taketurns/channel';

const refreshing = Mutex.open('refreshing');
const token = Watch.open('token', { text: '', expires: 0 }, { codec: json, bytes: 1000 });

/** The text of the token, if it is still good. */
function read() {
  const { text, expires } = token.get();
  return expires > Date.now() ? text : undefined;
}

async function validToken() {
  return read() ?? refreshing.runExclusive(async () => read() ?? (await refresh()), { timeout: 10_000 });
}

async function refresh() {
  await sleep(20); // stands for the request to the server that gives tokens
  const text = `token ${Atomics.add(workerData, 0, 1) + 1}`;
  await token.setAsync({ text, expires: Date.now() + 60_000 });
  return text;
}

if (isMainThread) {
  const refreshes = new Int32Array(new SharedArrayBuffer(4));
  const workers = [1, 2, 3].map(() => new Worker(new URL(import.meta.url), { workerData: refreshes }));
  await Promise.all(workers.map((worker) => once(worker, 'exit')));
  console.log(`refreshed ${refreshes[0]} time`);
} else {
  const texts = await Promise.all(Array.from({ length: 4 }, () => validToken()));
  console.log(`4 calls with ${[...new Set(texts)].join(', ')}`);
}
