/** Calls methods of an object of taketurns/sync, by its handle, and tells how each call has ended. */
import { parentPort, workerData } from 'node:worker_threads';
import { Barrier, Event, Latch, Once, WaitGroup } from 'taketurns/sync';

const { handle, calls, stays = false } = workerData;
const object = { Barrier, Event, Latch, Once, WaitGroup }[handle.kind].from(handle);
for (const [method, ...args] of calls) {
  // A function comes as its text.
  const given = args.map((arg) => (arg?.code === undefined ? arg : new Function(arg.code)));
  parentPort.postMessage({ begins: method });
  try {
    const value = object[method](...given);
    parentPort.postMessage({ method, value: typeof value === 'object' ? 'guard' : value });
  } catch (error) {
    parentPort.postMessage({ method, error: error.name });
  }
}
if (stays) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
