/**
 * How a package is bundled for Node, Deno and Bun, for its rolldown.config.mjs: dist/node/ has a file of CommonJS for
 * each entry, and files for what entries share. A thread that starts pays for each file that it loads, and for a file
 * that is required less than half of what it pays for one that is imported.
 *
 * No tool writes what the plugin adds: a module such as dist/node/index.mjs, which takes what it exports from index.cjs.
 * So a thread has one copy of the package, whether the package is imported or required, also where `require` loads no
 * modules (Node before 20.19 and 22.12, Jest). The module does not import index.cjs: then Node would load a parser that
 * finds the names which a file of CommonJS exports, and this takes 3 ms in each thread.
 *
 * The declarations in dist/types/, by the compiler, are of CommonJS, which both sorts of modules may import. A module
 * gets an entry such as index.d.mts, which passes on what index.d.ts declares. So each class is declared once.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';

const OUTPUT = {
  dir: 'dist/node',
  format: 'cjs',
  entryFileNames: '[name].cjs',
  chunkFileNames: '[name].cjs',
  strict: true,
  // No file of src/ exports a variable that changes, so an export need be no getter.
  externalLiveBindings: false,
  sourcemap: true,
  // The package taketurns has the sources.
  sourcemapExcludeSources: true,
  comments: { jsdoc: false },
};

/**
 * Returns a configuration of rolldown for the package in the working directory.
 *
 * @param input the files, by the names of their bundles
 * @param groups what they share: the option `codeSplitting.groups` of rolldown
 * @param options more options of rolldown for what is read
 * @param output more options of rolldown for what is written
 */
export function forNode(input, groups = [], options = {}, output = {}) {
  return {
    input,
    platform: 'node',
    preserveEntrySignatures: 'strict',
    experimental: { attachDebugInfo: 'none' },
    logLevel: 'warn',
    ...options,
    plugins: [{ name: 'modules-of-entries', writeBundle }, ...(options.plugins ?? [])],
    output: { ...OUTPUT, ...output, codeSplitting: { groups } },
  };
}

/**
 * Returns the bundle from which a module takes what an entry exports: that of the entry, or the one shared bundle from
 * which the bundle of the entry takes everything. So a thread loads one file less.
 */
function sourceOf({ fileName, moduleIds, imports, exports }) {
  if (moduleIds.length > 0 || imports.length !== 1) return fileName;
  const require = createRequire(join(process.cwd(), OUTPUT.dir, fileName));
  const [entry, shared] = [require(`./${fileName}`), require(`./${imports[0]}`)];
  for (const name of exports)
    if (entry[name] !== shared[name]) throw new Error(`${imports[0]} has another ${name} than ${fileName}`);
  return imports[0];
}

/** Writes what modules load: for each entry of package.json a file in dist/node/ and one in dist/types/. */
function writeBundle({ format }, bundles) {
  if (format !== 'cjs') return;
  for (const { types, node } of Object.values(JSON.parse(readFileSync('package.json', 'utf8')).exports)) {
    const entry = node && bundles[`${basename(node, '.mjs')}.cjs`];
    if (!entry) continue;
    const names = entry.exports.length > 0 ? `export const { ${entry.exports.join(', ')} } = ` : '';
    writeFileSync(
      node,
      `import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
${names}require('./${sourceOf(entry)}');
`,
    );
    writeFileSync(types.default, `export * from './${basename(types.require, '.d.ts')}.js';\n`);
  }
  writeFileSync('dist/types/package.json', '{ "type": "commonjs" }\n');
}
