/**
 * The size of the package in a bundle, minified and compressed by Brotli, with the script and the drivers. `npx vitest
 * run test/size.test.ts` in valkey/ prints the sizes.
 */
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { expect, test } from 'vitest';

const index = fileURLToPath(new URL('../dist/index.js', import.meta.url));

/**
 * Both programs miss the goal of 12 KB. A space finds the driver and makes the objects when the program runs, so even a
 * program that uses one driver and one class loads nearly everything.
 */
const PROGRAMS = [
  { name: 'everything', most: 23_200, source: `export * from ${JSON.stringify(index)};` },
  {
    name: 'a semaphore with ioredis',
    most: 23_200,
    source: `
      import { Redis } from 'ioredis';
      import { Space } from ${JSON.stringify(index)};
      const space = await Space.connect(new Redis());
      const pool = await space.semaphore('db', 4);
      await pool.runExclusive(() => console.log('held'));`,
  },
];

test.each(PROGRAMS)('$name takes at most $most bytes', async ({ name, most, source }) => {
  const entry = { name: 'entry', resolveId: (id: string) => (id === 'entry' ? id : null) };
  const plugin = { ...entry, load: (id: string) => (id === 'entry' ? source : null) };
  const bundle = await rolldown({
    input: 'entry',
    platform: 'node',
    external: [/^node:/, 'ioredis'],
    plugins: [plugin],
  });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  expect(output).toHaveLength(1);
  const { code } = output[0];
  const bytes = brotliCompressSync(code).length;
  console.log(`${name}: ${code.length} bytes minified, ${bytes} after Brotli`);
  expect(bytes).toBeLessThanOrEqual(most);
});
