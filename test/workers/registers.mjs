/** Attaches to an arena, and stops for ever after it has registered and before it announces itself to the keeper. */
import { syncBuiltinESMExports } from 'node:module';
import threads, { workerData } from 'node:worker_threads';

const { handle, told } = workerData;

threads.BroadcastChannel = class extends threads.BroadcastChannel {
  postMessage(message) {
    if (message.comes) super.postMessage(message);
    else {
      Atomics.store(told, 0, 1);
      Atomics.notify(told, 0);
      Atomics.wait(told, 1, 0);
    }
  }
};
syncBuiltinESMExports();

const { Arena } = await import('taketurns');
Arena.from(handle);
