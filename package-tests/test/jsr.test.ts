/** What the registry of Deno gets. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { node } from '../support/run.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const out = join(root, 'build/jsr');
const deno = (...args: string[]) => spawnSync('deno', args, { cwd: out, encoding: 'utf8' });

it('is whole: each entry, each import, and declarations for each file that has some', () => {
  node(root, 'scripts/jsr.mjs');
  const { version, exports } = JSON.parse(readFileSync(join(out, 'jsr.json'), 'utf8'));
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(version).toBe(own.version);
  expect(Object.keys(exports)).toEqual(Object.keys(own.exports).filter((name) => name !== './package.json'));
  const files = readdirSync(out, { recursive: true }) as string[];
  const missing: string[] = [];
  for (const file of files.filter((path) => /\.(js|ts)$/.test(path))) {
    const code = readFileSync(join(out, file), 'utf8');
    for (const [, path] of code.matchAll(/(?:\bfrom|\bimport|@ts-self-types=) ?\(?['"](\.[^'"]+)['"]/g))
      if (!existsSync(join(out, dirname(file), path as string))) missing.push(`${file}: ${path}`);
  }
  expect(missing).toEqual([]);
});

it.skipIf(deno('--version').status !== 0)('can be published', () => {
  const { status, stderr } = deno('publish', '--dry-run', '--allow-dirty', '--config', 'jsr.json');
  expect(status, stderr).toBe(0);
});
