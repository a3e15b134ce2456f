/**
 * Builds the library alone, unless it is built already, or setup.mjs is about to build everything. Two scripts of
 * package.json run this program:
 *
 *     preprepare    npm runs it when it has installed the dependencies of a clone: for `npm install` in the clone, and
 *                   for a program that installs the library from its repository
 *     prepack       before the library is packed or published; pnpm and Yarn run it for a program that installs the
 *                   library from its repository
 *
 * A script `prepare` would do the same for all of them. But npm warns of it whoever installs a tarball or the repository.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
if (process.env.TAKETURNS_SETUP === undefined && !existsSync('dist/types/index.d.mts')) {
  const { status } = spawnSync(process.execPath, [process.env.npm_execpath, 'run', '--silent', 'build:library'], {
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
}
