/**
 * Bundles dist/. What the compiler has made of each file of src/ becomes these files, because Node takes about half a
 * millisecond for each file that it imports, and a program that runs a command and ends pays for all of them:
 *
 *     index.js, cli/cli.js, heartbeat-thread.js ──► space.js - - ► local/index.js          without a server
 *                                                            - - ► drivers/recognise.js, turn-source.js
 *     cli/guardian.js ──► cli/tree.js, which cli/cli.js imports too
 *     heartbeat.js                                                      - - ► : loaded when it is needed
 *
 * index.cjs is the package in one file of CommonJS. `require` gets this file where it cannot load modules: in Node
 * before 20.19 and 22.12, and in Jest. The thread that beats is a module there too (src/start-heartbeat.ts).
 *
 * The declarations (.d.ts) stay one for each file of src/. The files are not minified: the names and the order are those
 * of src/. So the package needs neither source maps nor sources.
 */
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

process.chdir(fileURLToPath(new URL('../dist', import.meta.url)));

async function write(input, output) {
  const bundle = await rolldown({ input, platform: 'node' });
  await bundle.write({ comments: { jsdoc: false }, ...output });
  await bundle.close();
}

await write('index.js', { file: 'index.cjs', format: 'cjs', strict: true, codeSplitting: false });

const ENTRIES = [
  ...[
    'index',
    'local/index',
    'drivers/recognise',
    'turn-source',
    'cli/cli',
    'cli/guardian',
    'heartbeat',
    'heartbeat-thread',
  ],
];
await write(Object.fromEntries(ENTRIES.map((name) => [name, `${name}.js`])), {
  dir: 'bundled',
  cleanDir: true,
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: '[name].js',
  codeSplitting: {
    groups: [
      { name: 'cli/tree', test: /dist[\\/]cli[\\/]tree/ },
      { name: 'space', test: /dist[\\/](?!(cli|local)[\\/]|index|heartbeat|turn-source|drivers[\\/](?!driver|link))/ },
    ],
  },
});
for (const path of readdirSync('.', { recursive: true }))
  if (/\.js(\.map)?$/.test(path) && !path.startsWith('bundled')) rmSync(path);
cpSync('bundled', '.', { recursive: true });
rmSync('bundled', { recursive: true });
