/**
 * npm runs this script when it has installed the dependencies of a clone: for `npm install` in the clone, for
 * `npm publish`, and for a program that installs the library from its repository. Builds the library alone, unless it
 * is built already, or setup.mjs is about to build everything.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
if (process.env.TAKETURNS_SETUP === undefined && !existsSync('dist/types/index.d.cts')) {
  const { status } = spawnSync(process.execPath, [process.env.npm_execpath, 'run', '--silent', 'build:library'], {
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
}
