/**
 * Runs dependency-cruiser, which checks which folder may import which, by the rules of .dependency-cruiser.mjs. It needs
 * the API of TypeScript, which TypeScript 7 does not have, and npm cannot give one package another version of a peer. So
 * the script runs it through a folder of links, where the name `typescript` leads to TypeScript 6.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = `${root}build/layers/node_modules`;
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
symlinkSync(`${root}node_modules/typescript-6`, `${folder}/typescript`, 'dir');
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
