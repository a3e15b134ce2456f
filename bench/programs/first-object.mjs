/**
 * Measures how much longer a worker takes if it imports the library and makes one object. Workers that do so, workers that
 * only import, and workers that do neither take turns. The time of a worker is from `new Worker` until its message.
 *
 *     node bench/programs/first-object.mjs [--runs 30]
 */
import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

const NOTHING = 'a worker without the library';
const FORMS = [NOTHING, 'one that imports the library', 'one that also makes a Semaphore'];

/** Starts a worker of this form. Returns the milliseconds until its message. */
async function measure(form) {
  const begun = performance.now();
  const worker = new Worker(new URL(import.meta.url), { workerData: form });
  await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
  const took = performance.now() - begun;
  await worker.terminate();
  return took;
}

if (isMainThread) {
  const { values } = parseArgs({ options: { runs: { type: 'string', default: '30' } } });
  // The threads share the arena of this thread.
  await import('taketurns');
  const times = new Map(FORMS.map((form) => [form, []]));
  // The first round does not count: it reads the files from the disk.
  for (let run = 0; run <= Number(values.runs); run++)
    for (const form of FORMS) {
      const took = await measure(form);
      if (run > 0) times.get(form).push(took);
    }
  const figures = (form) => {
    const sorted = times.get(form).sort((a, b) => a - b);
    return { least: sorted[0], median: sorted[sorted.length >> 1] };
  };
  const without = figures(NOTHING);
  for (const form of FORMS) {
    const { least, median } = figures(form);
    const more =
      form === NOTHING
        ? ''
        : `: ${(least - without.least).toFixed(1)} and ${(median - without.median).toFixed(1)} more`;
    console.log(`${form}: least ${least.toFixed(1)} ms, median ${median.toFixed(1)} ms${more}`);
  }
  console.log(`Node ${process.version}, ${availableParallelism()} processors, load average ${loadavg()[0].toFixed(1)}`);
} else {
  if (workerData !== NOTHING) {
    const { Semaphore } = await import('taketurns');
    if (workerData === FORMS.at(-1)) new Semaphore(1);
  }
  parentPort.postMessage(0);
}
