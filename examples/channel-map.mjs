// Maps over a large array in three threads, with back-pressure and progress. At most 64 items and 64 results are under way,
// however large the array is, and the items may come from anywhere, such as from a file that is read line by line. The
// results stand in the order of the items.
// Run: node node_modules/taketurns/examples/channel-map.mjs
// In a clone of the repository: node examples/channel-map.mjs
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { Channel, record } from 'taketurns/channel';

const WORKERS = 3;
const entry = record({ index: 'u32', value: 'f64' });

async function mapInThreads(values, progress) {
  const [todo, done] = [1, 2].map(() => new Channel({ codec: entry, capacity: 64 }));
  const handles = { todo: todo.handle, done: done.handle };
  const workers = Array.from({ length: WORKERS }, () => new Worker(new URL(import.meta.url), { workerData: handles }));
  const sending = (async () => {
    for (const [index, value] of values.entries()) await todo.sendAsync({ index, value }); // waits while 64 are there
    todo.close(); // the workers' loops end
  })();
  const results = [];
  for (let count = 1; count <= values.length; count++) {
    const { index, value } = await done.receiveAsync();
    results[index] = value;
    if (count % (values.length / 4) === 0) progress(count / values.length);
  }
  await sending;
  await Promise.all(workers.map((worker) => new Promise((ended) => worker.once('exit', ended))));
  todo.dispose(); // the memory of both channels is free again
  done.dispose();
  return results;
}

if (isMainThread) {
  const values = Array.from({ length: 10_000 }, (_, i) => i);
  const roots = await mapInThreads(values, (part) => console.log(`${part * 100} % done`));
  console.log(`${roots.length} roots, ${roots.filter((root, i) => root === Math.sqrt(i)).length} in their places`);
} else {
  const done = Channel.from(workerData.done, entry);
  for (const { index, value } of Channel.from(workerData.todo, entry)) done.send({ index, value: Math.sqrt(value) });
}
