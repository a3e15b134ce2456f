/**
 * Prepares a fresh clone for `npm start` and `npm test`: installs the dependencies, when they are missing or older than
 * the lock file, and builds.
 */
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

function npm(...args) {
  // npm tells its own path to the scripts that it runs. If npm does not run this script (node scripts/setup.mjs), a
  // shell finds npm.
  const cli = process.env.npm_execpath;
  const { status } = cli
    ? spawnSync(process.execPath, [cli, ...args], { stdio: 'inherit' })
    : spawnSync('npm', args, { stdio: 'inherit', shell: true });
  if (status !== 0) process.exit(status ?? 1);
}

function modified(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

// After the installation, scripts/prepare.mjs would build a part of what is built below.
process.env.TAKETURNS_SETUP = '1';
// npm writes this file at the end of an installation.
if (modified('node_modules/.package-lock.json') < modified('package-lock.json'))
  npm('ci', '--include=dev', '--no-audit', '--no-fund');
npm('run', '--silent', 'build');
