/** Jobs on several processors: a pool of worker threads performs them, and the answers keep the order of the jobs. */
import { Tinypool } from 'tinypool';

interface Workers {
  /** The module whose default export performs one job. */
  readonly filename: URL;
  readonly count: number;
  /** The heap that each worker may use; the default of the engine if not given. */
  readonly megabytes?: number;
}

/** Performs the jobs, which begin in their order; rejects as soon as one throws. `done` is called after each. */
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
