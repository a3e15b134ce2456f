/** The project of docs/guides/in-a-page.md, put together from its blocks, is built by Vite and takes its turns in Chromium. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type InlineConfig } from 'vite';
import { describe, expect, inject, it } from 'vitest';
import { chromium, resultOf } from '../support/browser.js';

const folder = inject('folder');
const guide = readFileSync(join(folder, 'node_modules/taketurns/docs/guides/in-a-page.md'), 'utf8');
const scripts = [...guide.matchAll(/^```js\n\/\/ (\S+)\n(.*?)^```$/gms)].map(([, name, code]) => [name, code] as const);
const [, page] = guide.match(/^```html\n(.*?)^```$/ms) ?? [];

describe('the guide to a page', () => {
  const root = join(folder, 'page-guide');
  const out = join(folder, 'out', 'page-guide');

  it('has a configuration, a page and two scripts', async () => {
    mkdirSync(root, { recursive: true });
    for (const [name, code] of [...scripts, ['index.html', page]]) writeFileSync(join(root, name ?? ''), code ?? '');
    expect(scripts.map(([name]) => name)).toEqual(['vite.config.js', 'main.js', 'worker.js']);
    const config: InlineConfig = (await import(join(root, 'vite.config.js'))).default;
    expect(config.server?.headers).toEqual({
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cross-Origin-Embedder-Policy': 'require-corp',
    });
    await build({ root, logLevel: 'error', build: { outDir: out, emptyOutDir: true } });
  });

  // Runs only if the machine has Chromium.
  it.skipIf(chromium === undefined)('takes its turns in Chromium', async () => {
    expect(await resultOf(out)).toBe('300 turns');
  });
});
