/** What a program carries that imports this or that. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, inject, it } from 'vitest';
import { bundlers } from '../support/bundle.js';

const folder = inject('folder');
const dist = join(folder, 'node_modules/taketurns/dist');
const { coreBytes } = await import(join(dist, 'engine/core-bytes.js'));
const { algorithmsBytes } = await import(join(dist, 'algorithms/algorithms-bytes.js'));

async function bundle(bundler: string, name: string, program: string): Promise<string> {
  mkdirSync(join(folder, 'size'), { recursive: true });
  const entry = `./size/${name}.js`;
  writeFileSync(join(folder, entry), program);
  return (bundlers[bundler] as (typeof bundlers)[string])(folder, entry, join(folder, 'out', bundler, name));
}

/** Whether it does: a failure should not print the whole code. */
function holds(code: string, part: string): boolean {
  return code.includes(part);
}

function sizes(bytes: string | Uint8Array): { minified: number; gzip: number; brotli: number } {
  const { length } = Buffer.from(bytes as string);
  return {
    minified: length,
    gzip: gzipSync(bytes, { level: 9 }).length,
    brotli: brotliCompressSync(bytes).length,
  };
}

describe.each(Object.keys(bundlers))('a bundle by %s', (bundler) => {
  it('of the semaphore holds no algorithms', async () => {
    const code = await bundle(
      bundler,
      'semaphore',
      "import { Semaphore } from 'taketurns'; console.log(Semaphore);",
    );
    expect(holds(code, coreBytes)).toBe(true);
    expect(holds(code, algorithmsBytes.slice(0, 1000))).toBe(false);
    expect(holds(code, 'twaAcquire')).toBe(false);
    expect(holds(code, 'runExclusive')).toBe(false);
  });

  it('of an algorithm holds both modules', async () => {
    const code = await bundle(
      bundler,
      'algorithm',
      "import { TwaSemaphore } from 'taketurns/algorithms'; console.log(TwaSemaphore);",
    );
    expect(holds(code, coreBytes)).toBe(true);
    expect(holds(code, algorithmsBytes)).toBe(true);
    expect(holds(code, 'twaAcquire')).toBe(true);
  });
});

describe('sizes', () => {
  const entries = ['taketurns', 'taketurns/algorithms', 'taketurns/p0514'];

  it('of the whole entries, by esbuild', async () => {
    const all: Record<string, ReturnType<typeof sizes>> = {};
    for (const [i, entry] of entries.entries()) {
      const code = await bundle(
        'esbuild',
        `whole${i}`,
        `import * as all from '${entry}'; globalThis.all = all;`,
      );
      all[entry] = sizes(code);
    }
    console.table(all);
  });
});
