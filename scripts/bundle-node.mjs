/**
 * Bundles dist/ for Node, Deno and Bun: dist/node/ gets one file for each entry, and some files that entries share.
 *
 *     index.js, channel.js, keyed.js, metrics.js, report.js, sync.js
 *                                            └───────► shared.js ──► host-node.js or host-deno-bun.js
 *     algorithms.js, p0514.js ──► algorithms-shared.js ──►                └─ when it first looks ─► youngest.cjs
 *     metrics.js, report.js ──► report-shared.js ────────►
 *     tasks.js
 *
 * A worker imports the library when it starts. Node takes about a millisecond for each file that it imports. In a pool
 * whose threads come and go, each new thread pays for all these files. Bundlers get the single files, and drop what a
 * program does not use.
 *
 * Each file also has a twin of CommonJS, such as index.cjs. `require` gets the twin where it cannot load modules: in
 * Node before 20.19 and 22.12, and in Jest. Deno, Bun and newer Nodes have the condition `module-sync` or `bun`, by which
 * `require` gets the very files that `import` gets. So shared.cjs contains the host of Node.
 */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

/** The runtime chooses the host of the modules. */
const choosing = (format) => ({
  name: 'host',
  resolveId(id) {
    if (id !== '#host') return null;
    return format === 'esm' ? { id: '#bundled-host', external: true } : { id: resolve('dist/report/host-node.js') };
  },
});

async function write(input, format, cleanDir, groups) {
  const bundle = await rolldown({
    input,
    platform: 'node',
    plugins: [choosing(format)],
    // Else the bundle would require the module `url`, to make an address of this path.
    ...(format === 'cjs' ? { transform: { define: { 'import.meta.url': '__filename' } } } : {}),
  });
  const end = format === 'esm' ? 'js' : 'cjs';
  await bundle.write({
    dir: 'dist/node',
    format,
    cleanDir,
    entryFileNames: `[name].${end}`,
    chunkFileNames: `[name].${end}`,
    codeSplitting: { groups },
    ...(format === 'cjs' ? { strict: true } : {}),
  });
  await bundle.close();
}

const entries = {
  index: 'dist/index.js',
  algorithms: 'dist/algorithms/index.js',
  channel: 'dist/channel/index.js',
  keyed: 'dist/keyed/index.js',
  metrics: 'dist/metrics/index.js',
  p0514: 'dist/p0514/index.js',
  report: 'dist/report/index.js',
  sync: 'dist/sync/index.js',
};
const groups = [
  { name: 'shared', test: /[\\/]dist[\\/](?!algorithms|channel|keyed|metrics|p0514|report|sync|index)/ },
  { name: 'report-shared', test: /[\\/]dist[\\/]report[\\/](?!index)/, minShareCount: 2 },
  { name: 'algorithms-shared', test: /[\\/]dist[\\/]algorithms[\\/](?!index)/, minShareCount: 2 },
];
await write(entries, 'esm', true, groups);
// In these bundles every thread looks for deadlocks. Who bundles the single files gets the hosts of dist/host/, and
// carries the code for that only if the program imports `taketurns/report`.
for (const host of ['node', 'deno-bun'])
  await write({ [`host-${host}`]: `dist/report/host-${host}.js` }, 'esm', false, []);
// A thread loads these files when it first looks for deadlocks, or measures its waits (src/report/lazily.ts).
for (const name of ['youngest', 'measure']) await write({ [name]: `dist/report/${name}.js` }, 'cjs', false, []);
// The thread of report mode (src/report/report-mode.ts).
await write({ reporter: 'dist/report/reporter.js' }, 'cjs', false, []);
await write(entries, 'cjs', false, groups);
// The entry of the tasks shares nothing with the others: who imports it alone loads one file.
for (const format of ['esm', 'cjs']) await write({ tasks: 'dist/tasks/index.js' }, format, false, []);
