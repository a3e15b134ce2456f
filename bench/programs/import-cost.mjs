/**
 * Measures how long a worker takes to import the library, in milliseconds. Imports of the modules of dist/, one for
 * each file of src/, and of the bundles for Node take turns.
 *
 *     node bench/programs/import-cost.mjs [--entry index|algorithms|channel|keyed|p0514|sync|tasks] [--runs 15]
 */
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

const FILES = {
  index: 'index.js',
  algorithms: 'papers/algorithms/index.js',
  channel: 'channel/index.js',
  p0514: 'papers/p0514/index.js',
  sync: 'sync/index.js',
  keyed: 'keyed/index.js',
  tasks: 'tasks/index.js',
};

async function measure(path) {
  const worker = new Worker(new URL(import.meta.url), {
    workerData: new URL(`../../dist/${path}`, import.meta.url).href,
  });
  const time = await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
  await worker.terminate();
  return time;
}

if (isMainThread) {
  const { values } = parseArgs({
    options: { entry: { type: 'string', default: 'index' }, runs: { type: 'string', default: '15' } },
  });
  const kinds = { modules: FILES[values.entry], bundled: `node/${values.entry}.mjs` };
  const times = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, []]));
  for (let run = 0; run < Number(values.runs); run++)
    for (const [kind, path] of Object.entries(kinds)) times[kind].push(await measure(path));
  for (const [kind, all] of Object.entries(times)) {
    all.sort((a, b) => a - b);
    const [least, median, most] = [0, all.length >> 1, all.length - 1].map((i) => all[i].toFixed(1));
    console.log(`${kind}: median ${median} ms (${least} to ${most})`);
  }
  console.log(`load average ${loadavg()[0].toFixed(1)}`);
} else {
  const begun = performance.now();
  await import(workerData);
  parentPort.postMessage(performance.now() - begun);
}
