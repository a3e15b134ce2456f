/** Runs code that it is sent, over a RwLock, and posts the result or the error. */
import { parentPort, workerData } from 'node:worker_threads';
import { RwLock } from 'taketurns/sync';

const lock = RwLock.from(workerData.handle);
/** What the code keeps for later code, such as guards. */
const kept = {};
parentPort.on('message', async ({ id, code, words }) => {
  try {
    const run = new Function('lock', 'kept', 'words', `return (async () => { ${code} })()`);
    const value = await run(lock, kept, words);
    parentPort.postMessage({ id, value });
  } catch (error) {
    parentPort.postMessage({ id, error: error.name, message: error.message });
  }
});
