/**
 * `rolldown -c` bundles the package twice, with what it needs of ../src/common: in dist/node/ for Node, Deno and Bun
 * (../scripts/for-node.mjs), and in dist/module/ for bundlers. The maps contain the sources, so the package has nothing
 * else of src/.
 */
import { forNode } from '../scripts/for-node.mjs';

const ENTRY = { index: 'src/index.ts' };
/**
 * What a process loads when it needs it: a space with a server; the broker of a space without one, and the broker's
 * thread; and a thread that beats.
 */
const LATER = {
  drivers: 'src/drivers/recognise.ts',
  script: 'src/script/turn-source.ts',
  schema: 'src/postgres/schema-source.ts',
  serve: 'src/local/serve.ts',
  thread: 'src/local/thread-source.ts',
  heartbeat: 'src/heartbeat/heartbeat.ts',
  'heartbeat-thread': 'src/heartbeat/heartbeat-thread.ts',
};
/** The program, and the process that ends a command if the program cannot. */
const PROGRAM = { cli: 'src/command/cli.ts', guardian: 'src/command/guardian.ts' };

/** A space without a server is one bundle, of which the broker needs a part. */
const SHARED = [
  { name: 'space', test: /\/processes\/src\/index\.ts$/, priority: 1 },
  { name: 'local', test: /\/processes\/src\/local\/index\.ts$/ },
];
const MAPS = { sourcemapExcludeSources: false };
const MODULES = {
  dir: 'dist/module',
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: '[name].js',
};

export default [
  forNode({ ...ENTRY, ...LATER, ...PROGRAM }, SHARED, {}, MAPS),
  forNode({ ...ENTRY, ...LATER }, SHARED, {}, { ...MAPS, ...MODULES }),
];
