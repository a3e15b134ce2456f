/** Runs the suite in a page, when the driver calls it. */
import type { PairRound } from './pair.js';
import type { Choice, Result } from './run.js';

export interface SuitePage {
  suite(choice: Choice): Promise<{ readonly results: readonly Result[]; readonly pair: readonly PairRound[] }>;
}

(globalThis as unknown as SuitePage).suite = async (choice) => {
  if (choice.without === 'waitAsync') delete (Atomics as { waitAsync?: unknown }).waitAsync;
  const { runCases, runPair } = await import('./all.js');
  const results: Result[] = [];
  if (choice.pair) return { results, pair: await runPair(choice) };
  await runCases(choice, (result) => {
    results.push(result);
    console.log(JSON.stringify({ result }));
  });
  return { results, pair: [] };
};
