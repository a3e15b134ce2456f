/** The program `taketurns-processes`, which bin/ loads. `help` in arguments.ts says what it does, and how it exits. */
import { SpaceError } from '../errors.js';
import { type Given, help, type Name, read, UsageError } from './arguments.js';
import { endWithReader, print, printed } from './output.js';
import { run } from './run.js';
import { objects, revoke, show } from './show.js';
import { sql } from './sql.js';

const USAGE = 64;
const UNAVAILABLE = 69;

const DOES: Readonly<Record<Name, (given: Given) => Promise<number>>> = { run, show, objects, revoke, sql };

async function main(line: readonly string[]): Promise<number> {
  try {
    const given = read(line);
    if (given) return await DOES[given.command](given);
    await print(`${help()}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    console.error(`taketurns-processes: ${error.message}`);
    if (error instanceof UsageError) console.error('`taketurns-processes --help` lists the commands and options.');
    return error instanceof SpaceError ? UNAVAILABLE : USAGE;
  }
}

endWithReader();
// If nothing is left to wait for before the end, the process has failed.
process.exitCode = UNAVAILABLE;
main(process.argv.slice(2)).then(async (status) => {
  await printed();
  process.exit(status);
});
