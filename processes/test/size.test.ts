/**
 * What a program of one form loads: nothing of the other form. `npx vitest run test/size.test.ts` in processes/ also
 * prints the size of each program, minified and compressed by Brotli.
 */
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { type OutputChunk, rolldown } from 'rolldown';
import { expect, test } from 'vitest';

const index = fileURLToPath(new URL('../dist/module/index.js', import.meta.url));

/**
 * The bundles of one form alone: with a server, the drivers and the script; without one, the local form. The tables of
 * PostgreSQL are loaded only to make them.
 */
const OF_SERVERS = /dist\/module\/(drivers|script)[.]js$/;
const OF_LOCAL = /dist\/module\/(local|serve|thread|schema)[.]js$/;

/**
 * A space finds the driver and makes the objects when the program runs, so even a program that uses one driver and one
 * class loads nearly everything.
 */
const PROGRAMS = [
  {
    name: 'everything, with a server',
    without: OF_LOCAL,
    source: `export * from ${JSON.stringify(index)};`,
  },
  {
    name: 'a semaphore with ioredis',
    without: OF_LOCAL,
    source: `
      import { Redis } from 'ioredis';
      import { Space } from ${JSON.stringify(index)};
      const space = await Space.connect(new Redis());
      const pool = await space.semaphore('db', 4);
      await pool.runExclusive(() => console.log('held'));`,
  },
  {
    name: 'a semaphore without a server',
    without: OF_SERVERS,
    source: `
      import { Space } from ${JSON.stringify(index)};
      const space = await Space.local();
      const pool = await space.semaphore('db', 4);
      await pool.runExclusive(() => console.log('held'));`,
  },
];

/** The chunks that a program loads: `import()` of a module of the other form never runs. */
function loaded(chunks: readonly OutputChunk[], without: RegExp): OutputChunk[] {
  const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const found = new Set<OutputChunk>();
  const load = (chunk: OutputChunk | undefined): void => {
    if (!chunk || found.has(chunk)) return;
    found.add(chunk);
    for (const name of chunk.imports) load(byName.get(name));
    for (const name of chunk.dynamicImports)
      if (!without.test(byName.get(name)?.facadeModuleId ?? '')) load(byName.get(name));
  };
  load(chunks.find(({ isEntry }) => isEntry));
  return [...found];
}

test.each(PROGRAMS)('$name loads nothing of the other form', async ({ name, without, source }) => {
  const entry = { name: 'entry', resolveId: (id: string) => (id === 'entry' ? id : null) };
  const plugin = { ...entry, load: (id: string) => (id === 'entry' ? source : null) };
  const bundle = await rolldown({
    input: 'entry',
    platform: 'node',
    external: [/^node:/, 'ioredis'],
    plugins: [plugin],
  });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  const chunks = loaded(output as unknown as OutputChunk[], without);
  const modules = chunks.flatMap(({ moduleIds }) => moduleIds);
  expect(modules.filter((id) => without.test(id))).toEqual([]);
  expect(modules.some((id) => (without === OF_LOCAL ? OF_SERVERS : OF_LOCAL).test(id))).toBe(true);
  const code = chunks.map((chunk) => chunk.code).join('');
  const bytes = brotliCompressSync(code).length;
  console.log(`${name}: ${code.length} bytes minified, ${bytes} after Brotli`);
});
