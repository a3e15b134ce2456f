/** Jobs over all processors, one worker each; the answers come in the order of the jobs. */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Answer, Job } from './worker.js';

export async function perform<T extends Answer>(
  jobs: readonly Job[],
  done: (count: number) => void,
): Promise<T[]> {
  const answers: T[] = [];
  let begun = 0;
  let finished = 0;
  const serve = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = new Worker(new URL('./worker.js', import.meta.url), {
        resourceLimits: { maxOldGenerationSizeMb: 4096 },
      });
      let mine = 0;
      const next = (): void => {
        mine = begun++;
        const job = jobs[mine];
        if (job === undefined) worker.terminate().then(() => resolve());
        else worker.postMessage(job);
      };
      worker.on('message', (answer: T) => {
        answers[mine] = answer;
        done(++finished);
        next();
      });
      worker.on('error', reject);
      next();
    });
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, serve));
  return answers;
}
