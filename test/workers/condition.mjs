/** Runs a program that comes as a text, with a condition, its mutex, shared words, and `say`, which posts values. */
import vm from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import { Condition } from 'taketurns/sync';

const condition = Condition.from(workerData.handle);
const say = (value) => parentPort.postMessage(value);
try {
  const run = new Function('condition', 'mutex', 'words', 'say', 'vm', workerData.program);
  run(condition, condition.mutex, workerData.words, say, vm);
} catch (error) {
  say(`${error.name}: ${error.message}`);
}
