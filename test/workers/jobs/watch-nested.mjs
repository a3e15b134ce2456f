/** Has a worker of its own acquire, watches this worker, and ends it. Returns when the worker is gone. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Arena } from 'taketurns';

export default async function watchNested({ handle, permits }) {
  const nested = new Worker(new URL('../member.mjs', import.meta.url));
  Arena.from(handle.arena).watch(nested);
  nested.postMessage({ id: 0, job: 'enter', args: { handle, permits } });
  const [{ failure }] = await once(nested, 'message');
  if (failure) throw new Error(failure.message);
  await nested.terminate();
}
