/** Checks the contents of the tarball, and what the linters of packages report. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
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
      /^dist\/node\/[^/]+\.(cjs|cjs\.map|mjs)$/,
      /^dist\/(?!node\/).+\.js(\.map)?$/,
      /^dist\/types\/.+\.d\.m?ts$/,
      'dist/types/package.json',
      /^src\/.+\.(ts|js)$/,
      /^docs\/(guides\/)?[^/]+\.(md|svg)$/,
      /^examples\/.+\.(mjs|js|html|json)$/,
      /^((CHANGELOG|README|SECURITY)\.md|LICENSE|package\.json)$/,
    ];
    const others = packed.files
      .map(({ path }) => path)
      .filter((path) => !allowed.some((form) => (typeof form === 'string' ? form === path : form.test(path))));
    expect(others).toEqual([]);
    console.log(`${packed.filename}: ${packed.files.length} files, ${packed.size} bytes packed`);
  });

  it('has declarations with comments, and code without', () => {
    const root = join(folder, 'node_modules/taketurns');
    for (const { path } of packed.files) {
      if (!/^dist.+js$/.test(path)) continue;
      expect(readFileSync(join(root, path), 'utf8').includes('/**'), path).toBe(false);
    }
    expect(readFileSync(join(root, 'dist/types/index.d.mts'), 'utf8')).toBe("export * from './index.js';\n");
    expect(readFileSync(join(root, 'dist/types/channel/channel.d.ts'), 'utf8')).toContain('@throws');
  });

  it('has maps that lead to sources in the package', () => {
    const paths = new Set(packed.files.map(({ path }) => path));
    const maps = [...paths].filter((path) => path.endsWith('.map'));
    expect(maps.length).toBeGreaterThan(100);
    for (const map of maps) {
      const { sources } = JSON.parse(readFileSync(join(folder, 'node_modules/taketurns', map), 'utf8'));
      for (const source of sources) expect(paths, map).toContain(join(dirname(map), source));
    }
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

  // Node 22.12.0 warns of it when it loads a module by `require`, and `require` gets a bundle of CommonJS.
  it('does without the condition module-sync', () => {
    for (const path of ['../../package.json', '../../processes/package.json'])
      expect(readFileSync(new URL(path, import.meta.url), 'utf8')).not.toContain('module-sync');
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
