/** Starts the thread of a keeper, on Node (keeper.ts) and in Deno and Bun (ports.ts). */
import { Worker } from 'node:worker_threads';

/**
 * @param source the code of the thread: a text, since a file of its own would be missing in a bundle.
 * @returns undefined if the program may start no threads, so that none can die.
 */
export function startKeeper(source: string, data: Record<string, unknown>): Worker | undefined {
  try {
    const keeper = new Worker(source, {
      eval: true,
      name: 'taketurns',
      workerData: data,
      // Nothing that the program preloads, and no variable of the environment.
      execArgv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1, codeRangeSizeMb: 1, stackSizeMb: 1 },
    });
    keeper.on('error', () => {});
    keeper.unref();
    return keeper;
  } catch {
    return undefined;
  }
}
