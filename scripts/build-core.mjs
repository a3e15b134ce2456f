/**
 * Compiles core/ to two modules, build/core.wasm and build/algorithms.wasm, and embeds each in a file of src/, so
 * that the library needs no loader, bundler plugin or fetch, and a program that does not import the algorithms
 * does not carry them. Fails when a module is over its size, or holds static data: a data segment would be
 * written again over live memory by every thread that instantiates the module.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';
import { padLocals } from './pad-locals.mjs';

const MODULES = [
  { name: 'core', entry: 'core/index.ts', limit: 18432, embedded: 'src/engine/core-bytes.ts' },
  {
    name: 'algorithms',
    entry: 'core/algorithms/index.ts',
    limit: 16384,
    embedded: 'src/algorithms/algorithms-bytes.ts',
  },
];
const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);
await mkdir('build', { recursive: true });

for (const { name, entry, limit, embedded } of MODULES) {
  const { error, stderr } = await asc.main([
    entry,
    `--outFile=build/${name}.wasm`,
    `--textFile=build/${name}.wat`,
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

  const bytes = Buffer.from(padLocals(await readFile(`build/${name}.wasm`)));
  await writeFile(`build/${name}.wasm`, bytes);
  if (bytes.length > limit) throw new Error(`${name}.wasm is ${bytes.length} bytes, more than ${limit}`);
  if (/^ \(data/m.test(await readFile(`build/${name}.wat`, 'utf8')))
    throw new Error(`${name}.wasm has a data segment`);
  await writeFile(
    embedded,
    `// Made by scripts/build-core.mjs from ${entry}.\nexport const ${name}Bytes = '${encode(bytes)}';\n`,
  );
  console.log(`${name}.wasm ${bytes.length} bytes`);
}

/** The text that src/engine/decode.ts makes the bytes of again. */
function encode(bytes) {
  const character = (place) => (place === 52 ? '#' : String.fromCharCode(40 + place));
  return Array.from(bytes, (byte) => {
    const page = Math.floor(byte / 84);
    return (page === 0 ? '' : character(83 + page)) + character(byte % 84);
  }).join('');
}
