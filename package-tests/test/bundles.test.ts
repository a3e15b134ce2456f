/** Bundles programs with a worker by each bundler without configuration, and runs them. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { describe, expect, inject, it, vi } from 'vitest';
import { chromium, resultOf } from '../support/browser.js';
import { bundleByEsbuild, bundleByVite, bundleByWebpack, bundleForWeb, code, scripts } from '../support/bundle.js';
import { coreBytes } from '../support/bytes.js';
import { node } from '../support/run.js';

const folder = inject('folder');

/** Checks that the program and its worker are two scripts, and that the core is with them. */
function expectWhole(out: string): void {
  expect(scripts(out).length).toBeGreaterThan(1);
  expect(code(out).includes(coreBytes)).toBe(true);
}

describe('for Node', () => {
  it.each([
    ['esbuild', 'module', bundleByEsbuild],
    ['webpack', 'commonjs', bundleByWebpack],
  ])('%s', async (_name, type, bundle) => {
    // The output is outside of the project, because the bundle must need nothing from the project.
    const out = mkdtempSync(join(tmpdir(), 'taketurns-bundle-'));
    try {
      await bundle(folder, 'node', out);
      writeFileSync(join(out, 'package.json'), JSON.stringify({ type }));
      expectWhole(out);
      expect(node(out, 'main.js')).toBe('counted to 40000, 1 death\n');
    } finally {
      rmSync(out, { recursive: true });
    }
  });
});

describe('for the web', () => {
  const builds: [string, (out: string) => Promise<void>][] = [
    ['vite', (out) => bundleByVite(join(folder, 'web'), out)],
    ['esbuild', (out) => bundleByEsbuild(folder, 'web', out)],
    ['webpack', (out) => bundleByWebpack(folder, 'web', out)],
  ];

  it.each(builds)('%s builds', async (name, build) => {
    const out = join(folder, `out/web-${name}`);
    await build(out);
    if (name !== 'vite') cpSync(join(folder, 'web/index.html'), join(out, 'index.html'));
    expectWhole(out);
  });

  // A context of node:vm can forbid WebAssembly to compile, as the policy of a page can.
  it.each([
    [false, /^Error: taketurns cannot run here: the Content-Security-Policy .* add 'wasm-unsafe-eval'.* script-src/],
    [true, /^0 available$/],
  ])('one error names what a policy must allow (compiling allowed: %s)', async (wasm, outcome) => {
    const out = join(folder, 'out/policy');
    await bundleForWeb(folder, './web/policy.js', out);
    const { performance, crypto, TextEncoder, MessageChannel, setTimeout, clearTimeout } = globalThis;
    const globals = { performance, crypto, TextEncoder, MessageChannel, setTimeout, clearTimeout };
    const page = createContext({ ...globals, navigator: {}, document: {} }, { codeGeneration: { wasm } });
    runInContext(code(out), page);
    expect(page.outcome).toMatch(outcome);
  });

  it('taketurns/tasks runs where there are promises and timers, and nothing else', async () => {
    const out = join(folder, 'out/bare');
    await bundleForWeb(folder, './web/tasks.js', out);
    const bare = createContext({ setTimeout, clearTimeout, outcome: '' });
    runInContext('delete globalThis.WebAssembly; delete globalThis.SharedArrayBuffer; delete globalThis.Atomics', bare);
    runInContext(`(async () => { ${code(out)} })()`, bare);
    await vi.waitFor(() => expect(bare.outcome).toBe('1 3 2 TimeoutError 4'));
  });

  // Runs only if the machine has Chromium.
  it.skipIf(chromium === undefined).each(builds)('%s runs in Chromium', async (name) => {
    expect(await resultOf(join(folder, `out/web-${name}`))).toBe('counted to 40000');
  });
});
