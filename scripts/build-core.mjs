/**
 * Compiles core/ to build/core.wasm and embeds it in src/engine/core-bytes.ts, so that the library needs no
 * loader, bundler plugin or fetch. Fails when the module is over its size, or holds static data: a data
 * segment would be written again over live memory by every thread that instantiates the module.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';

const LIMIT = 14336;
const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);
await mkdir('build', { recursive: true });

const { error, stderr } = await asc.main([
  'core/index.ts',
  '--outFile=build/core.wasm',
  '--textFile=build/core.wat',
  '-O3',
  '--converge',
  '--runtime=stub',
  '--use=abort=',
  '--enable=threads',
  '--enable=bulk-memory',
  '--importMemory',
  '--noExportMemory',
  '--sharedMemory',
  '--initialMemory=1',
  '--maximumMemory=65536',
]);
if (error) {
  console.error(stderr.toString());
  throw error;
}

const bytes = await readFile('build/core.wasm');
if (bytes.length > LIMIT) throw new Error(`core.wasm is ${bytes.length} bytes, more than ${LIMIT}`);
if (/^ \(data/m.test(await readFile('build/core.wat', 'utf8')))
  throw new Error('core.wasm has a data segment');
await writeFile(
  'src/engine/core-bytes.ts',
  `// Made by scripts/build-core.mjs from core/.\nexport const coreBytes = '${bytes.toString('base64')}';\n`,
);
console.log(`core.wasm ${bytes.length} bytes`);
