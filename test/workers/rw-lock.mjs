/** Runs code that is sent to it, over a RwLock, and tells what has come of it. */
import { parentPort, workerData } from 'node:worker_threads';
import { RwLock } from 'taketurns/sync';

const lock = RwLock.from(workerData.handle);
/** What the code keeps for later: guards. */
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
