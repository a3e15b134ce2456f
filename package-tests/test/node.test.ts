/** The installed package in Node, without a bundler. */
import { readFileSync } from 'node:fs';
import { describe, expect, inject, it } from 'vitest';
import { node } from '../support/run.js';

const folder = inject('folder');
// Node can do this from 20.19 and 22.12 on.
const canRequire = (process.features as { require_module?: boolean }).require_module === true;

describe(`in Node ${process.versions.node}`, () => {
  it('every entry can be imported', () => {
    expect(node(folder, 'node/entries.js')).toBe('taketurns\n');
  });

  // Deno and Bun read the same condition of the exports.
  it.each([
    ['taketurns', 2],
    ['taketurns/algorithms', 3],
    ['taketurns/p0514', 3],
  ])('%s is at most %i files, since a thread that starts pays for each', (entry, most) => {
    const files = new Set<string>();
    const follow = (url: URL): void => {
      if (files.has(url.pathname)) return;
      files.add(url.pathname);
      for (const [, path] of readFileSync(url, 'utf8').matchAll(/\bfrom ?["'](\.[^"']+)["']/g))
        follow(new URL(path as string, url));
    };
    const say = `console.log(import.meta.resolve('${entry}'))`;
    follow(new URL(node(folder, '--input-type=module', '--eval', say)));
    expect([...files].join('\n')).toMatch(/\/dist\/node\//);
    expect(files.size).toBeLessThanOrEqual(most);
  });

  it('source maps lead to the sources', () => {
    const program =
      "const { Semaphore } = await import('taketurns'); try { new Semaphore(-1) } catch (e) { console.log(e.stack) }";
    const said = node(folder, '--enable-source-maps', '--input-type=module', '--eval', program);
    expect(said).toMatch(/\/src\/semaphore\.ts:\d+/);
  });

  it('threads synchronise', () => {
    expect(node(folder, 'node/main.js')).toBe('counted to 40000, 1 death\n');
  });

  it.skipIf(!canRequire)('every entry can be required', () => {
    expect(node(folder, '--no-warnings', 'node/required.cjs')).toBe('true\n');
  });
});
