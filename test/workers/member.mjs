/** A worker that does the jobs that it gets: the default exports of jobs/*.mjs. */
import { parentPort } from 'node:worker_threads';

parentPort.on('message', async (message) => {
  if (message === 'leave') {
    parentPort.close();
    return;
  }
  const { id, job, args } = message;
  try {
    const { default: run } = await import(`./jobs/${job}.mjs`);
    parentPort.postMessage({ id, value: await run(args) });
  } catch (error) {
    parentPort.postMessage({ id, failure: { name: error.name, message: error.message } });
  }
});
