/** Checks the contents of the tarball, and what the linters of packages report. */
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { describe, expect, inject, it } from 'vitest';
import { checkLinks } from '../support/run.js';

const folder = inject('folder');
const packed = inject('packed');
const tarball = readFileSync(join(folder, packed.filename));
const own = JSON.parse(readFileSync(join(folder, 'node_modules/taketurns/package.json'), 'utf8'));

describe('the tarball', () => {
  it('holds the build with its sources, the documentation and the licence, and nothing else', () => {
    const allowed = [
      /^dist\/.+\.(js|cjs|d\.ts|d\.cts|js\.map)$/,
      /^src\/(.+(?<!-bytes|-source)\.(ts|js)|(algorithms|p0514)\/README\.md)$/,
      /^docs\/.+\.(md|svg)$/,
      /^valkey\/(README\.md|LICENSE|docs\/.+\.md)$/,
      /^examples\/.+\.(mjs|js|html|json)$/,
      /^((README|CHANGELOG|CONTRIBUTING|SECURITY)\.md|LICENSE|package\.json)$/,
    ];
    const others = packed.files.map(({ path }) => path).filter((path) => !allowed.some((form) => form.test(path)));
    expect(others).toEqual([]);
    console.log(`${packed.filename}: ${packed.files.length} files, ${packed.size} bytes packed`);
  });

  it('has each source once', () => {
    const root = join(folder, 'node_modules/taketurns');
    const paths = packed.files.map(({ path }) => path);
    for (const map of paths.filter((path) => path.endsWith('.js.map'))) {
      const { sources, sourcesContent = [] } = JSON.parse(readFileSync(join(root, map), 'utf8'));
      expect(sourcesContent.filter(Boolean), map).toEqual([]);
      const missing = (sources as string[])
        .map((source) => relative(root, join(root, dirname(map), source)))
        .filter((source) => !paths.includes(source) && !/-(bytes|source)\.ts$/.test(source));
      expect(missing, map).toEqual([]);
    }
  });

  it('has pages whose links lead to what is installed', () => {
    checkLinks(join(folder, 'node_modules/taketurns'));
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
      ['.', './algorithms', './channel', './p0514', './report', './sync', './tasks', './package.json'].flatMap((name) =>
        kinds.map((kind) => [name, kind, true]),
      ),
    );
  });
});
