/**
 * Checks the rules of .dependency-cruiser.mjs: which folder may import which.
 *
 * dependency-cruiser needs the API of TypeScript, which TypeScript 7 does not have. So the script runs
 * dependency-cruiser through a folder of links, where the name `typescript` leads to the version that docs-build uses.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = `${root}build/layers/node_modules`;
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const { resolve } = createRequire(`${root}docs-build/package.json`);
symlinkSync(dirname(resolve('typescript/package.json')), `${folder}/typescript`, 'dir');
symlinkSync(`${root}node_modules/dependency-cruiser`, `${folder}/dependency-cruiser`, 'dir');

const { status } = spawnSync(
  process.execPath,
  [
    '--preserve-symlinks',
    '--preserve-symlinks-main',
    `${folder}/dependency-cruiser/bin/dependency-cruise.mjs`,
    '--config=.dependency-cruiser.mjs',
    ...['core', 'src', 'check/src', 'bench/src', 'lab/src', 'runtimes/src', 'simulate/src'],
    ...['processes/src', 'processes/check', 'processes/chaos'],
  ],
  { cwd: root, stdio: 'inherit' },
);
process.exitCode = status ?? 1;
