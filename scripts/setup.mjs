/**
 * Makes a clone ready, which neither npm nor Wireit does alone: installs the dependencies, if they are missing or older than the lock file, and builds what has
 * changed since the last build. `npm run build` runs this program, and so do the commands that need what is built.
 * Folders that are no workspaces have lock files of their own, so that only those who need their tools install them:
 *
 *     node scripts/setup.mjs package-tests     installs also what this folder needs
 *
 * What is made of what is in the package.json of each workspace, in its part `wireit`; Wireit compares the contents of
 * the files. It cannot install itself, and only a variable of the environment tells it to keep no copies of all builds.
 */
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
process.env.WIREIT_CACHE ??= 'none';

function npm(folder, ...args) {
  // npm tells its own path to the scripts that it runs. If npm does not run this script (node scripts/setup.mjs), a
  // shell finds npm.
  const cli = process.env.npm_execpath;
  const { status } = cli
    ? spawnSync(process.execPath, [cli, ...args], { cwd: folder, stdio: 'inherit' })
    : spawnSync('npm', args, { cwd: folder, stdio: 'inherit', shell: true });
  if (status !== 0) process.exit(status ?? 1);
}

function modified(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

for (const folder of ['.', ...process.argv.slice(2)]) {
  // npm writes this file at the end of an installation.
  const installed = modified(`${folder}/node_modules/.package-lock.json`);
  if (installed < modified(`${folder}/package-lock.json`))
    npm(folder, 'ci', '--include=dev', '--no-audit', '--no-fund');
}
npm('.', 'run', '--silent', 'build:all');
