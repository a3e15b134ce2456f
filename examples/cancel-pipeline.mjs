// Two threads make numbers without an end, two square them, and the main thread adds them up until it has enough. Then it
// disposes of both channels: every thread that waits at one of them, or uses it later, gets a DisposedError. Nobody waits
// for ever for a stage that is gone, also a thread that blocks.
// Run: node node_modules/taketurns/examples/cancel-pipeline.mjs
// In a clone of the repository: node examples/cancel-pipeline.mjs
import { once } from 'node:events';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { DisposedError } from 'taketurns';
import { Channel, number } from 'taketurns/channel';

/** Runs a stage. That the pipeline is cancelled is no error of the stage. */
async function stage(run) {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof DisposedError)) throw error;
  }
}

if (isMainThread) {
  // Handles, and not names: a worker that starts late must find that its channels are gone, and not make new ones.
  const [made, squared] = [1, 2].map(() => new Channel({ codec: number, capacity: 8 }));
  const cancel = new AbortController(); // another reason may be Ctrl-C, or a client that has gone away
  cancel.signal.addEventListener('abort', () => {
    for (const channel of [made, squared]) channel.dispose();
  });
  const workers = ['make', 'make', 'square', 'square'].map(
    (stage) =>
      new Worker(new URL(import.meta.url), { workerData: { stage, made: made.handle, squared: squared.handle } }),
  );
  const exits = workers.map((worker) => once(worker, 'exit'));
  let count = 0;
  await stage(async () => {
    for await (const _ of squared) if (++count === 100) cancel.abort();
  });
  const codes = (await Promise.all(exits)).map(([code]) => code);
  console.log(`${count} squares, and then 4 workers ended with ${codes.join(' ')}`);
} else {
  await stage(() => {
    const [made, squared] = [Channel.from(workerData.made, number), Channel.from(workerData.squared, number)];
    if (workerData.stage === 'make') for (let i = 1; ; i++) made.send(i);
    for (const one of made) squared.send(one ** 2);
  });
}
