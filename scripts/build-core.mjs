/**
 * Compiles core/ to four modules, build/core.wasm, algorithms.wasm, channel.wasm and sync.wasm, and embeds each in a
 * file of src/. So the library needs no loader, bundler plugin or fetch. A bundled program contains only the modules of
 * the entries that it imports.
 *
 * The compiler's own command inlines too much, and knows neither a fence nor a global that two modules share. So this
 * script lets it compile without optimising, and optimises by Binaryen. The build fails if a module has static data:
 * every thread that makes an instance of the module would write these data over the memory that other threads use.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';
import binaryen from 'assemblyscript/binaryen';
import { writeBorder } from './border.mjs';
import { inline } from './inline.mjs';
import { readWords, wordsOfClasses } from './words.mjs';

const MODULES = [
  { name: 'core', entry: 'core/index.ts', embedded: 'src/runtime/core-bytes.ts' },
  {
    name: 'algorithms',
    entry: 'core/papers/index.ts',
    embedded: 'src/papers/algorithms/algorithms-bytes.ts',
  },
  { name: 'channel', entry: 'core/channel/index.ts', embedded: 'src/channel/channel-bytes.ts' },
  { name: 'sync', entry: 'core/sync/index.ts', embedded: 'src/sync/sync-bytes.ts' },
];
/** Functions that are called more than once are inlined up to this size, in nodes of Binaryen's syntax tree. */
const INLINED = 16;

/** The globals that the core exports: the name in the code, and the name of the export. */
const shared = new Map();

const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);
await mkdir('build', { recursive: true });

/** Every constant of the core, for the code that is not compiled with the core. */
const words = readWords(root);
await writeFile(
  'build/words.json',
  `${JSON.stringify(Object.fromEntries([...words].map(([name, { value }]) => [name, value])))}\n`,
);
wordsOfClasses(root, words);
writeBorder(root, words, Object.fromEntries(MODULES.map(({ name, entry }) => [name, entry])));

for (const { name, entry, embedded } of MODULES) {
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
    { transforms: [inline] },
  );
  if (error) {
    console.error(stderr.toString());
    throw error;
  }

  const { binary, text } = optimize(await readFile(`build/${name}.wasm`), name === 'core');
  const bytes = Buffer.from(binary);
  await writeFile(`build/${name}.wasm`, bytes);
  await writeFile(`build/${name}.wat`, text);
  const [imported] = /^ \(import .*\(func .*/m.exec(text) ?? [];
  if (imported) throw new Error(`${name}.wasm calls a function that it does not contain:${imported}`);
  if (/^ \(data/m.test(text)) throw new Error(`${name}.wasm has a data segment`);
  await writeFile(
    embedded,
    `// Made by scripts/build-core.mjs from ${entry}.\nexport const ${name}Bytes: string = '${bytes.toString('base64')}';\n`,
  );
  console.log(`${name}.wasm ${bytes.length} bytes`);
}

/**
 * Optimises for speed, but inlines no function that is called more than once and larger than INLINED. The compiler's
 * own option -O3 inlines so much that the module is a fifth larger, and no faster (docs/internals/what-was-tried.md). A
 * function that is called in an uninterruptible section (check/src/uninterruptible.ts) is at most as large as INLINED,
 * or has the tag `@inline` (inline.mjs).
 */
function optimize(bytes, isCore) {
  let module = binaryen.readBinary(bytes);
  if (isCore) findShared(module);
  else share(module);
  binaryen.setOptimizeLevel(3);
  binaryen.setShrinkLevel(0);
  binaryen.setAlwaysInlineMaxSize(2);
  binaryen.setFlexibleInlineMaxSize(INLINED);
  binaryen.setOneCallerInlineMaxSize(-1);
  binaryen.setDebugInfo(true);
  module.optimize();
  let text = module.emitText();
  // The compiler writes an invalid instruction for a fence, and Binaryen would remove a valid one as useless. So the
  // source calls an imported function `fence`, and here each of these calls becomes the instruction.
  const [fenceImport, fence] = /^ \(import "[^"]*" "fence" \(func ([^\s)]+)[^\n]*\n/m.exec(text) ?? [];
  if (fence !== undefined) {
    module.dispose();
    text = text.replace(fenceImport, '').replaceAll(`(call ${fence})`, '(atomic.fence)');
    module = binaryen.parseText(text);
    module.setFeatures(binaryen.Features.Atomics | binaryen.Features.BulkMemory);
  }
  protectLocals(module);
  text = module.emitText();
  binaryen.setDebugInfo(false);
  const binary = module.emitBinary();
  module.dispose();
  return { binary, text };
}

/**
 * Works around a fault of V8's baseline compiler (seen in Node 20.20, x64): memory.atomic.wait32 and wait64 overwrite
 * four bytes of the function's last local. So each function that waits gets one more local, which no code uses. Binaryen
 * groups the locals of a type, in the order in which the types appear first, so the local has the type that comes last.
 * If an operand lay on the stack below those of the wait, it would be overwritten instead. test/unit/waits.test.ts
 * looks at both.
 */
function protectLocals(module) {
  const functions = Array.from({ length: module.getNumFunctions() }, (_, i) =>
    binaryen.getFunctionInfo(module.getFunctionByIndex(i)),
  );
  for (const { name, params, results, vars, body } of functions) {
    if (!body || !binaryen.emitText(body).includes('memory.atomic.wait')) continue;
    module.removeFunction(name);
    const last = [...new Set(vars)].at(-1) ?? binaryen.i64;
    module.addFunction(name, params, results, [...vars, last], body);
  }
}

/** Finds the globals that the core exports: another module shares those of them that it contains. */
function findShared(module) {
  for (let i = 0; i < module.getNumExports(); i++) {
    const { kind, name, value } = binaryen.getExportInfo(module.getExportByIndex(i));
    if (kind === binaryen.ExternalGlobal) shared.set(value, name);
  }
}

/**
 * Makes the globals that the module shares with the core imports of the module. So the module of the algorithms can
 * begin a release that the core finishes.
 */
function share(module) {
  for (const [global, name] of shared) {
    const found = module.getGlobal(global);
    if (found === 0) continue;
    const { type, mutable } = binaryen.getGlobalInfo(found);
    module.removeGlobal(global);
    module.addGlobalImport(global, 'core', name, type, mutable);
  }
}
