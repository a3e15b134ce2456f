/**
 * Compiles core/ to three modules, build/core.wasm, algorithms.wasm and sync.wasm, and embeds each in a file of src/. So the
 * library needs no loader, bundler plugin or fetch, and a program that does not import the others does not carry
 * them. It fails when a module is over its size, or holds static data: every thread that instantiates the module would
 * write a data segment again over live memory.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';
import binaryen from 'assemblyscript/binaryen';
import { bind } from './bind.mjs';
import { writeBorder } from './border.mjs';
import { inline, unmatched } from './inline.mjs';
import { padLocals, waitsOverOperands } from './pad-locals.mjs';
import { mapOfObjects, readWords } from './words.mjs';

const MODULES = [
  { name: 'core', entry: 'core/index.ts', limit: 17920, embedded: 'src/runtime/core-bytes.ts' },
  {
    name: 'algorithms',
    entry: 'core/algorithms/index.ts',
    limit: 13450,
    embedded: 'src/algorithms/algorithms-bytes.ts',
  },
  { name: 'sync', entry: 'core/sync/index.ts', limit: 8192, embedded: 'src/sync/sync-bytes.ts' },
];
/** The size up to which functions are inlined that are called more than once, in nodes of Binaryen's syntax tree. */
const INLINED = 16;

const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);
await mkdir('build', { recursive: true });

/** Every number of the core, for all that is not compiled with it. */
const words = readWords(root);
await writeFile(
  'build/words.json',
  `${JSON.stringify(Object.fromEntries([...words].map(([name, { value }]) => [name, value])))}\n`,
);
await writeFile('docs/internals/words-of-objects.md', mapOfObjects(root, words));
writeBorder(root, words, Object.fromEntries(MODULES.map(({ name, entry }) => [name, entry])));

/** The table of the text (encode). */
const [, TABLE] = /^const TABLE = "(.*)";$/m.exec(await readFile('src/runtime/decode.ts', 'utf8'));

for (const { name, entry, limit, embedded } of MODULES) {
  const { error, stderr } = await asc.main(
    [
      entry,
      `--outFile=build/${name}.wasm`,
      '-O0',
      '--debug',
      '--runtime=stub',
      '--use=abort=',
      '--enable=threads',
      '--enable=bulk-memory',
      '--importMemory',
      '--noExportMemory',
      '--sharedMemory',
      '--initialMemory=1',
      '--maximumMemory=65536',
    ],
    { transforms: [inline, bind] },
  );
  if (error) {
    console.error(stderr.toString());
    throw error;
  }

  const { binary, text } = optimize(await readFile(`build/${name}.wasm`));
  const exposed = waitsOverOperands(text);
  if (exposed.length > 0) throw new Error(`an operand lies below those of a wait in ${exposed.join(', ')}`);
  const bytes = Buffer.from(padLocals(binary));
  await writeFile(`build/${name}.wasm`, bytes);
  await writeFile(`build/${name}.wat`, text);
  if (bytes.length > limit) throw new Error(`${name}.wasm is ${bytes.length} bytes, more than ${limit}`);
  if (/^ \(data/m.test(text)) throw new Error(`${name}.wasm has a data segment`);
  await writeFile(
    embedded,
    `// Made by scripts/build-core.mjs from ${entry}.\nexport const ${name}Bytes = "${encode(bytes)}";\n`,
  );
  console.log(`${name}.wasm ${bytes.length} bytes`);
}

if (unmatched.size > 0) throw new Error(`inline.mjs names functions that are not there: ${[...unmatched].join(', ')}`);

/**
 * Optimises for speed, but inlines no function that is called more than once and larger than INLINED. The compiler's
 * own option -O3 inlines so much that the module is a fifth larger, and no faster (docs/internals/what-was-tried.md).
 * Functions in an uninterruptible section (check/src/uninterruptible.ts) are at most that large, or named in inline.mjs.
 */
function optimize(bytes) {
  let module = binaryen.readBinary(bytes);
  binaryen.setOptimizeLevel(3);
  binaryen.setShrinkLevel(0);
  binaryen.setAlwaysInlineMaxSize(2);
  binaryen.setFlexibleInlineMaxSize(INLINED);
  binaryen.setOneCallerInlineMaxSize(-1);
  binaryen.setDebugInfo(true);
  module.optimize();
  let text = module.emitText();
  // The compiler writes a fence that is invalid, and Binaryen takes fences for useless. So it is a call until here.
  const [fenceImport, fence] = /^ \(import "[^"]*" "fence" \(func ([^\s)]+)[^\n]*\n/m.exec(text) ?? [];
  if (fence !== undefined) {
    module.dispose();
    text = text.replace(fenceImport, '').replaceAll(`(call ${fence})`, '(atomic.fence)');
    module = binaryen.parseText(text);
    module.setFeatures(binaryen.Features.Atomics | binaryen.Features.BulkMemory);
  }
  binaryen.setDebugInfo(false);
  const binary = module.emitBinary();
  module.dispose();
  return { binary, text };
}

/** The text that src/runtime/decode.ts makes the bytes of again. */
function encode(bytes) {
  const pages = [...TABLE.slice(0, 5)];
  const stands = new Map([...TABLE.slice(5)].map((character, i) => [i < 30 ? (i + 254) % 256 : i + 97, character]));
  const others = new Set([...TABLE, '"', '\\']);
  return Array.from(bytes, (byte) => {
    const character = String.fromCharCode(byte);
    if (byte >= 32 && byte <= 126 && !others.has(character)) return character;
    return stands.get(byte) ?? pages[Math.floor(byte / 57)] + String.fromCharCode(35 + (byte % 57));
  }).join('');
}
