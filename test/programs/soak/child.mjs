/** A process that runs the programs that its parent sends, one after the other, and sends the results back. */
import process from 'node:process';
import { inspect } from 'node:util';
import { planOf } from './plan.mjs';
import { run } from './program.mjs';

process.on('unhandledRejection', (error) => {
  process.send({ failed: `unhandled rejection: ${inspect(error)}` });
});
process.on('uncaughtException', (error) => {
  process.send({ failed: `uncaught error: ${inspect(error)}` });
});
// Warnings about requests that are wide or nested are part of the programs.
process.on('warning', () => {});

// The parent has been killed.
process.on('disconnect', () => process.exit());

process.on('message', async ({ seed, kinds, given, still }) => {
  try {
    process.send({ result: await run(planOf(seed, kinds, given), still) });
  } catch (error) {
    process.send({ failed: `the program has failed: ${inspect(error)}` });
  }
});
