/**
 * The project of docs/guides/in-a-page.md, put together from the blocks of the page. Vite and esbuild build the
 * project, its server sends the headers, and the page takes its turns in Chromium. With the files of
 * docs/guides/hosts-without-headers.md the page also takes its turns if the server sends no headers, and after reloads
 * that go past the service worker.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { build, type InlineConfig } from 'vite';
import { describe, expect, inject, it } from 'vitest';
import { chromium, resultOf, resultsOfReloads } from '../support/browser.js';

const folder = inject('folder');
const pageOf = (name: string) => readFileSync(join(folder, 'node_modules/taketurns/docs/guides', name), 'utf8');
const scriptsOf = (text: string) =>
  [...text.matchAll(/^```js\n\/\/ (\S+)\n(.*?)^```$/gms)].map(([, name = '', code = '']) => [name, code] as const);
const guide = pageOf('in-a-page.md');
const scripts = scriptsOf(guide);
const [, page] = guide.match(/^```html\n(.*?)^```$/ms) ?? [];

const esbuild = join(dirname(createRequire(import.meta.url).resolve('esbuild/package.json')), 'bin/esbuild');
const [, byEsbuild = ''] = guide.match(/^ {4}npx esbuild (.*)$/m) ?? [];

describe('the guide to a page', () => {
  const root = join(folder, 'page-guide');
  const out = join(folder, 'out', 'page-guide');

  it('has a page, two scripts, a server, and a configuration for each dev server', async () => {
    mkdirSync(root, { recursive: true });
    for (const [name, code] of [...scripts, ['index.html', page] as const]) writeFileSync(join(root, name), code ?? '');
    const named = scripts.map(([name]) => name);
    expect(named).toEqual(['vite.config.mjs', 'main.js', 'worker.js', 'serve.mjs', 'dev.config.mjs']);
    const vite: InlineConfig = (await import(join(root, 'vite.config.mjs'))).default;
    const webpack = (await import(join(root, 'dev.config.mjs'))).default;
    for (const { headers } of [vite.server ?? {}, webpack.devServer])
      expect(headers).toEqual({
        'Cross-Origin-Opener-Policy': 'same-origin',
        'Cross-Origin-Embedder-Policy': 'require-corp',
      });
    await build({ root, logLevel: 'error', build: { outDir: out, emptyOutDir: true } });
  });

  // Runs only if the machine has Chromium.
  it.skipIf(chromium === undefined)('takes its turns in Chromium', async () => {
    expect(await resultOf(out)).toBe('300 turns');
  });

  it('without Vite is bundled by esbuild, and served with the headers', async () => {
    expect(byEsbuild).toContain('main.js worker.js');
    const { status, stderr } = spawnSync(esbuild, [...byEsbuild.split(' '), '--log-level=warning'], {
      cwd: root,
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    expect(status).toBe(0);
    cpSync(join(root, 'index.html'), join(root, 'public/index.html'));
    const server = spawn(process.execPath, ['serve.mjs'], { cwd: root, env: { ...process.env, PORT: '0' } });
    try {
      const [said] = await once(server.stdout, 'data');
      for (const [path, type] of [
        ['', 'text/html'],
        ['worker.js', 'text/javascript'],
      ] as const) {
        const { status, headers } = await fetch(new URL(path, String(said).trim()));
        expect([status, headers.get('Content-Type')]).toEqual([200, type]);
        expect(headers.get('Cross-Origin-Opener-Policy')).toBe('same-origin');
        expect(headers.get('Cross-Origin-Embedder-Policy')).toBe('require-corp');
      }
      expect((await fetch(new URL('none.js', String(said).trim()))).status).toBe(404);
    } finally {
      server.kill();
    }
  });

  it.skipIf(chromium === undefined)('takes its turns in Chromium without Vite', async () => {
    expect(await resultOf(join(root, 'public'))).toBe('300 turns');
  });
});

describe('the guide to hosts without headers', () => {
  const root = join(folder, 'host-guide');
  const out = join(folder, 'out', 'host-guide');

  it('has a service worker, a script that registers it, and two lines for the script of the page', async () => {
    const files = new Map(scriptsOf(pageOf('hosts-without-headers.md')));
    expect([...files.keys()]).toEqual(['isolate.js', 'isolation.js', 'main.js']);
    mkdirSync(join(root, 'public'), { recursive: true });
    for (const [name, code] of [...scripts, ['index.html', page] as const]) writeFileSync(join(root, name), code ?? '');
    writeFileSync(join(root, 'public/isolate.js'), files.get('isolate.js') ?? '');
    writeFileSync(join(root, 'isolation.js'), files.get('isolation.js') ?? '');
    const main = readFileSync(join(root, 'main.js'), 'utf8');
    writeFileSync(join(root, 'main.js'), `${files.get('main.js')}${main}`);
    await build({ root, logLevel: 'error', build: { outDir: out, emptyOutDir: true } });
  });

  it.skipIf(chromium === undefined)('takes its turns in Chromium, though the server sends no headers', async () => {
    expect(await resultOf(out, {})).toBe('300 turns');
  });

  it.skipIf(chromium === undefined).each([
    ['with', []],
    ['without', ['--disable-features=BackForwardCache']],
  ])('takes its turns after each reload with the shift key, %s a cache of whole pages', async (_, flags) => {
    expect(await resultsOfReloads(out, 3, ...flags)).toEqual(Array(4).fill('300 turns'));
  });

  it.skipIf(chromium === undefined)(
    'says so if the service worker adds no headers, and does not load for ever',
    async () => {
      const useless = join(folder, 'out', 'host-guide-useless');
      cpSync(out, useless, { recursive: true });
      writeFileSync(join(useless, 'isolate.js'), '');
      const failed = expect.stringContaining('the service worker did not isolate this page');
      expect(await resultsOfReloads(useless, 1)).toEqual([failed, failed]);
    },
  );
});
