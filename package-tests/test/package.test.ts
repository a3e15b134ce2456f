/** Checks the contents of the tarball, and what the linters of packages report. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { describe, expect, inject, it } from 'vitest';

const folder = inject('folder');
const packed = inject('packed');
const tarball = readFileSync(join(folder, packed.filename));
const own = JSON.parse(readFileSync(join(folder, 'node_modules/taketurns/package.json'), 'utf8'));

describe('the tarball', () => {
  it('holds the build, the README and the licence, and nothing else', () => {
    const others = packed.files
      .map(({ path }) => path)
      .filter((path) => !/^(dist\/.+\.(js|d\.ts|js\.map)|README\.md|LICENSE|package\.json)$/.test(path));
    expect(others).toEqual([]);
    console.log(`${packed.filename}: ${packed.files.length} files, ${packed.size} bytes packed`);
  });

  it('brings nothing with it', () => {
    expect(own.dependencies).toBeUndefined();
    expect(own.scripts?.postinstall).toBeUndefined();
  });

  it('is clean by publint', async () => {
    const buffer = tarball.buffer.slice(tarball.byteOffset, tarball.byteOffset + tarball.byteLength);
    const { messages } = await publint({ pack: { tarball: buffer as ArrayBuffer }, strict: true });
    expect(messages.map((message) => formatMessage(message, own, { color: false }))).toEqual([]);
  });

  it('has the right types by are-the-types-wrong', async () => {
    const result = await checkPackage(createPackageFromTarballData(tarball));
    if (!result.types) throw new Error('it finds no types');
    // The library has only modules. So, as in the tool's own profile "esm-only", neither the old resolution (node10)
    // nor the fact that `require` leads to a module counts. node.test.ts tests that `require` works.
    const problems = result.problems.filter(
      (problem) => !('resolutionKind' in problem) || !['node10', 'node16-cjs'].includes(problem.resolutionKind),
    );
    expect(problems).toEqual([]);
    const resolved = Object.entries(result.entrypoints).map(([name, { resolutions }]) => [
      name,
      resolutions['node16-esm'].resolution !== undefined,
      resolutions.bundler.resolution !== undefined,
    ]);
    expect(resolved).toEqual(
      ['.', './algorithms', './p0514', './sync', './package.json'].map((name) => [name, true, true]),
    );
  });
});
