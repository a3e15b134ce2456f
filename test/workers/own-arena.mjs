/** Makes an arena, uses it, and hands out its bare memory: no handle, so it is not shared. */
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
