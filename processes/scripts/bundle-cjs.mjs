/**
 * Makes dist/index.cjs, the package in one file of CommonJS. `require` gets this file where it cannot load modules: in
 * Node before 20.19 and 22.12, and in Jest. The thread that beats is a module there too (src/start-heartbeat.ts).
 */
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

process.chdir(fileURLToPath(new URL('../dist', import.meta.url)));
const bundle = await rolldown({ input: 'index.js', platform: 'node' });
await bundle.write({
  file: 'index.cjs',
  format: 'cjs',
  strict: true,
  comments: { jsdoc: false },
  codeSplitting: false,
});
await bundle.close();
