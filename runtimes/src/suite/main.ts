/** Runs the suite in a runtime with a command line, and prints each result as a line of JSON. */
import type { Choice } from './run.js';

const { process } = globalThis as unknown as { process: NodeJS.Process };
const choice = JSON.parse(process.argv[2] as string) as Choice;
if (choice.without === 'waitAsync') delete (Atomics as { waitAsync?: unknown }).waitAsync;
const { runCases, runPair } = await import('./all.js');
if (choice.pair) console.log(JSON.stringify({ pair: await runPair(choice) }));
else await runCases(choice, (result) => console.log(JSON.stringify({ result })));
console.log(JSON.stringify({ end: true }));
// The process must end even if something still runs, such as a worker that could not be stopped.
process.exit(0);
