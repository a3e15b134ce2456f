/** Checks the contents of the tarball, and what the linters of packages report. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { describe, expect, inject, it } from 'vitest';
import { checkLinks, npm } from '../support/run.js';

const folder = inject('folder');
const packed = inject('packed');
const tarball = readFileSync(join(folder, packed.filename));
const own = JSON.parse(readFileSync(join(folder, 'node_modules/taketurns/package.json'), 'utf8'));

describe('the tarball', () => {
  it('holds the build, the pages for users and the licence, and nothing else', () => {
    const allowed = [
      /^dist\/(web|node)\/[^/]+\.(js|cjs|mjs)$/,
      /^dist\/types\/.+\.d\.c?ts$/,
      'dist/node/package.json',
      /^docs\/(guides\/)?[^/]+\.(md|svg)$/,
      /^examples\/.+\.(mjs|js|html|json)$/,
      /^((README|SECURITY)\.md|LICENSE|package\.json)$/,
    ];
    const others = packed.files
      .map(({ path }) => path)
      .filter((path) => !allowed.some((form) => (typeof form === 'string' ? form === path : form.test(path))));
    expect(others).toEqual([]);
    console.log(`${packed.filename}: ${packed.files.length} files, ${packed.size} bytes packed`);
  });

  it('has declarations with comments, and other files without', () => {
    const root = join(folder, 'node_modules/taketurns');
    for (const { path } of packed.files) {
      if (!/^dist.+js$/.test(path)) continue;
      const code = readFileSync(join(root, path), 'utf8');
      expect(code.includes('/**') || code.includes('sourceMappingURL'), path).toBe(false);
    }
    expect(readFileSync(join(root, 'dist/types/semaphore.d.cts'), 'utf8')).toContain('@throws');
  });

  it('has pages whose links lead to what is installed', () => {
    const pages = packed.files.map(({ path }) => path).filter((path) => path.endsWith('.md'));
    expect(pages.length).toBeGreaterThan(30);
    checkLinks(join(folder, 'node_modules/taketurns'), ...pages);
  });

  it('has pages for users that do not speak of the internals', () => {
    const pages = packed.files.map(({ path }) => path).filter((path) => /^docs\/.+\.md$/.test(path));
    const speaks = (path: string): boolean =>
      readFileSync(join(folder, 'node_modules/taketurns', path), 'utf8').includes('internals/');
    // The table of contents says what else the repository has.
    expect(pages.filter(speaks)).toEqual(['docs/README.md']);
  });

  it('brings nothing with it', () => {
    expect(own.dependencies).toBeUndefined();
  });

  it.each(['package.json', 'processes/package.json'])('has a %s in which npm has nothing to correct', (path) => {
    const copy = mkdtempSync(join(tmpdir(), 'taketurns-manifest-'));
    try {
      const written = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
      writeFileSync(join(copy, 'package.json'), written);
      npm(copy, 'pkg', 'fix');
      expect(readFileSync(join(copy, 'package.json'), 'utf8')).toBe(written);
    } finally {
      rmSync(copy, { recursive: true });
    }
  });

  it('has no script of which npm warns whoever installs a tarball or the repository', () => {
    for (const script of ['preinstall', 'install', 'postinstall', 'prepare'])
      expect(own.scripts?.[script]).toBeUndefined();
  });

  it('is clean by publint', async () => {
    const buffer = tarball.buffer.slice(tarball.byteOffset, tarball.byteOffset + tarball.byteLength);
    const { messages } = await publint({ pack: { tarball: buffer as ArrayBuffer }, strict: true });
    expect(messages.map((message) => formatMessage(message, own, { color: false }))).toEqual([]);
  });

  it('has the right types by are-the-types-wrong', async () => {
    const result = await checkPackage(createPackageFromTarballData(tarball));
    if (!result.types) throw new Error('it finds no types');
    expect(result.problems).toEqual([]);
    const resolved = Object.entries(result.entrypoints).flatMap(([name, { resolutions }]) =>
      Object.values(resolutions).map(({ resolution, resolutionKind }) => [
        name,
        resolutionKind,
        resolution !== undefined,
      ]),
    );
    const kinds = ['node10', 'node16-cjs', 'node16-esm', 'bundler'];
    expect(resolved).toEqual(
      [
        '.',
        './algorithms',
        './channel',
        './keyed',
        './metrics',
        './p0514',
        './report',
        './share',
        './sync',
        './tasks',
        './package.json',
      ].flatMap((name) => kinds.map((kind) => [name, kind, true])),
    );
  });
});
