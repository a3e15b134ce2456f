/** Locks the mutexes of all handles. Then posts its thread of the first arena, sets word 0, and never unlocks. */
import { parentPort, workerData } from 'node:worker_threads';
import { Arena, Mutex } from 'taketurns';

const { handles, told } = workerData;
const mutexes = handles.map((handle) => Mutex.from(handle));
for (const mutex of mutexes) mutex.lock();
parentPort.postMessage(Arena.from(handles[0].arena).thread);
Atomics.store(told, 0, 1);
Atomics.notify(told, 0);
Atomics.wait(told, 1, 0);
console.log(mutexes.length);
