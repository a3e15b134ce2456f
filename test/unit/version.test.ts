/** `npm version` puts what is unreleased under the new version, and gives both packages and the README this version. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const FILES = ['package.json', 'package-lock.json', 'README.md', 'scripts/version.mjs', 'processes/package.json'];
const CHANGELOG = '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- `one`: a thing.\n\n## [0.1.0]\n\n- The first.\n';

let copy: string;
beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'taketurns-version-'));
  for (const file of FILES) cpSync(join(root, file), join(copy, file));
  writeFileSync(join(copy, 'CHANGELOG.md'), CHANGELOG);
  execFileSync('git', ['init', '--quiet'], { cwd: copy });
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

const read = (file: string): string => readFileSync(join(copy, file), 'utf8');
const run = (): void => {
  execFileSync(process.execPath, ['scripts/version.mjs'], { cwd: copy, stdio: 'pipe' });
};

it('names the new version in each file, and adds the files to the commit', () => {
  writeFileSync(join(copy, 'package.json'), read('package.json').replace(/"version": "[^"]*"/, '"version": "9.8.7"'));
  run();
  const released = CHANGELOG.replace('## [Unreleased]\n', '## [Unreleased]\n\n## [9.8.7] - DATE\n');
  expect(read('CHANGELOG.md').replace(/\d{4}-\d\d-\d\d/, 'DATE')).toBe(released);
  expect(JSON.parse(read('processes/package.json')).version).toBe('9.8.7');
  expect(JSON.parse(read('package-lock.json')).packages.processes.version).toBe('9.8.7');
  expect(read('README.md')).toContain('The version is 9.8.7:');
  const added = execFileSync('git', ['diff', '--cached', '--name-only'], { cwd: copy, encoding: 'utf8' });
  expect(added.trim().split('\n')).toEqual([
    'CHANGELOG.md',
    'README.md',
    'package-lock.json',
    'processes/package.json',
  ]);
});

it('refuses a version in which nothing is new', () => {
  expect(run).toThrow('CHANGELOG.md has nothing like');
});
