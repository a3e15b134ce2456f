/** Starts the thread of a keeper, on Node (keeper.ts) and in Deno and Bun (ports.ts). */
import { Worker } from 'node:worker_threads';

/**
 * @param source the code of the thread, as a text. If the code were a file of its own, a bundle would not contain it.
 * @returns undefined if the program may start no threads. Then no thread can die.
 */
export function startKeeper(source: string, data: Record<string, unknown>): Worker | undefined {
  try {
    const keeper = new Worker(source, {
      eval: true,
      name: 'taketurns',
      workerData: data,
      // The keeper gets nothing that the program preloads, and no variable of the environment.
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
