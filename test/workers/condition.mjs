/** Runs a program, which is sent as its text, with a condition, its mutex and shared words. `say` answers. */
import { parentPort, workerData } from 'node:worker_threads';
import { Condition } from 'taketurns/sync';

const condition = Condition.from(workerData.handle);
const say = (value) => parentPort.postMessage(value);
try {
  new Function('condition', 'mutex', 'words', 'say', workerData.program)(
    condition,
    condition.mutex,
    workerData.words,
    say,
  );
} catch (error) {
  say(`${error.name}: ${error.message}`);
}
