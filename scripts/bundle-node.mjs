/**
 * Bundles dist/ for Node, Deno and Bun: dist/node/ gets one file for each entry, and some files that entries share.
 *
 *     index.js ────────────────────────────────────────► shared.js ──► host-node.js or host-deno-bun.js
 *     algorithms.js, p0514.js, sync.js ──► algorithms-shared.js ──►
 *
 * A worker imports the library when it starts. Node takes about a millisecond for each file that it imports. In a pool
 * whose threads come and go, each new thread pays for all these files. Bundlers get the single files, and drop what a
 * program does not use. The source maps lead to the sources.
 */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

/**
 * Loads each file of dist/ with its source map, so that the maps of the bundle lead to the sources and not to dist/.
 * The runtime chooses the host.
 */
const plugin = {
  name: 'dist',
  resolveId(id) {
    return id === '#host' ? { id: '#bundled-host', external: true } : null;
  },
  async load(id) {
    const [code, map] = await Promise.all([readFile(id, 'utf8'), readFile(`${id}.map`, 'utf8')]);
    return { code, map: JSON.parse(map) };
  },
};

async function write(input, cleanDir, groups) {
  const bundle = await rolldown({ input, platform: 'node', plugins: [plugin] });
  await bundle.write({
    dir: 'dist/node',
    format: 'esm',
    sourcemap: true,
    // The package has the sources as files, so the maps need not contain them.
    sourcemapExcludeSources: true,
    cleanDir,
    chunkFileNames: '[name].js',
    codeSplitting: { groups },
  });
  await bundle.close();
}

const entries = {
  index: 'dist/index.js',
  algorithms: 'dist/algorithms/index.js',
  p0514: 'dist/p0514/index.js',
  sync: 'dist/sync/index.js',
};
await write(entries, true, [
  { name: 'shared', test: /[\\/]dist[\\/](?!algorithms|p0514|sync|index)/ },
  { name: 'algorithms-shared', test: /[\\/]dist[\\/]algorithms[\\/](?!index)/, minShareCount: 2 },
]);
for (const host of ['node', 'deno-bun']) await write({ [`host-${host}`]: `dist/host/${host}.js` }, false, []);
