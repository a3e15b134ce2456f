/**
 * Threads that wait for one another over several arenas. The arguments say how:
 *
 *     ring N ARENAS MODE    thread i of N holds mutex i and waits for mutex i + 1. Mutex i is in arena i % ARENAS. MODE is
 *                           what happens with deadlocks: `warn` or `throw`
 *     apart                 a thread holds a mutex of one arena, and blocks for one of another that main has
 *     unasked               as `ring 3 3`, but main is in no arena, and sleeps: only the reporter tells
 *
 * The program prints what main finds, as JSON, and ends.
 */
// Before the library.
import './workers/counts-writes.mjs';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Arena, Mutex } from 'taketurns';
import { deadlocks, formatReport, nameThread, report, watchDeadlocks } from 'taketurns/report';
import { TOLD } from './workers/counts-writes.mjs';

const [, , how, given = '2', places = '2', mode = 'warn'] = process.argv;
const size = how === 'unasked' ? 3 : how === 'apart' ? 1 : Number(given);
const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
const until = async (is) => {
  for (let left = 2000; left > 0 && !is(); left--) await sleep(5);
};

function work({ i, gate, handles }) {
  const mutex = (k) => Mutex.open(`m${k}`, { arena: Arena.from(handles[k % handles.length]) });
  // A thread sees a circle only if it is attached to its arenas, as every one that waits in one and holds in another is.
  const [one, other] = [mutex(i), mutex(how === 'apart' ? 1 : (i + 1) % size)];
  nameThread(`worker ${i}`);
  one.lock();
  Atomics.add(gate, 0, 1);
  Atomics.wait(gate, 1, 0);
  let error;
  try {
    other.lock();
    other.unlock();
  } catch (caught) {
    error = { name: caught.name, edges: caught.deadlock.edges.length };
  }
  one.unlock();
  parentPort.postMessage({ done: i, error });
}

async function main() {
  const gate = new Int32Array(new SharedArrayBuffer(12));
  const count = how === 'unasked' ? 3 : Number(places);
  const arenas = Array.from({ length: count }, () => new Arena());
  const handles = arenas.map(({ handle }) => handle);
  for (const arena of arenas) watchDeadlocks(arena, { deadlocks: mode, after: 100 });
  const kept = how === 'apart' && Mutex.open('m1', { arena: arenas[1] });
  if (kept) kept.lock();
  if (how === 'unasked') for (const arena of arenas) arena.dispose();
  const heard = [];
  const workers = Array.from({ length: size }, (_, i) => {
    const worker = new Worker(new URL(import.meta.url), {
      argv: process.argv.slice(2),
      workerData: { i, gate, handles },
    });
    worker.on('message', (message) => heard.push(message));
    return worker;
  });
  await until(() => Atomics.load(gate, 0) === size);
  Atomics.store(gate, 1, 1);
  Atomics.notify(gate, 1);
  if (how === 'unasked') await sleep(1e6);
  const waiting = () => arenas.reduce((sum, arena) => sum + report(arena).waiting, 0);
  if (mode === 'throw') await until(() => heard.length === size);
  else await until(() => waiting() === size);
  if (how === 'apart') await until(() => report(arenas[1]).threads.some(({ state }) => state === 'asleep'));
  else if (mode === 'warn') await until(() => Atomics.load(gate, TOLD) > 0 || deadlocks(arenas[0]).certain.length > 0);
  // A second warning would be an error.
  await sleep(400);
  const reports = arenas.map((arena) => report(arena));
  console.log(JSON.stringify({ heard, waiting: waiting(), reports, texts: reports.map(formatReport) }));
  await Promise.all(workers.map((worker) => worker.terminate()));
  process.exit();
}

if (isMainThread) main();
else work(workerData);
