/** Makes an arena, uses it, and posts only its bare memory. It takes no handle, so the arena is not shared. */
import { parentPort, workerData } from 'node:worker_threads';
import { Arena, Mutex } from 'taketurns';

const instantiate = WebAssembly.Instance;
let memory;
WebAssembly.Instance = class extends instantiate {
  constructor(module, imports) {
    super(module, imports);
    memory = imports.env.memory;
  }
};
const mutex = new Mutex({ arena: new Arena() });
mutex.lock();
mutex.unlock();
parentPort.postMessage(memory);
Atomics.wait(workerData.told, 0, 0);
