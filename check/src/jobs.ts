/** Runs jobs on several processors, in a pool of worker threads. The answers keep the order of the jobs. */
import { Tinypool } from 'tinypool';

interface Workers {
  /** The module whose default export performs one job. */
  readonly filename: URL;
  readonly count: number;
  /** The heap that each worker may use; by default that of the runtime. */
  readonly megabytes?: number;
}

/** Starts the jobs in their order, and calls `done` after each job. The promise rejects as soon as a job throws. */
export async function performAll<Job, Answer>(
  { filename, count, megabytes }: Workers,
  jobs: readonly Job[],
  done: (count: number, job: Job) => void = () => {},
): Promise<Answer[]> {
  const pool = new Tinypool({
    filename: filename.href,
    minThreads: count,
    maxThreads: count,
    ...(megabytes === undefined ? {} : { resourceLimits: { maxOldGenerationSizeMb: megabytes } }),
  });
  let finished = 0;
  try {
    return await Promise.all(
      jobs.map(async (job) => {
        const answer = (await pool.run(job)) as Answer;
        done(++finished, job);
        return answer;
      }),
    );
  } finally {
    await pool.destroy();
  }
}
