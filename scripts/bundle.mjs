/**
 * Bundles dist/ twice: as modules for bundlers (dist/web/), and as CommonJS for Node, Deno and Bun (dist/node/).
 *
 *     index, sync, channel, keyed, ...  ──►  parts  ──►  #host: the host of the runtime
 *     tasks
 *
 * Both folders have files of the same names and of the same code, and differ only in how a file imports and exports.
 * In Node, a module such as index.mjs takes what it exports from the parts of CommonJS. So a thread has one copy of the
 * library, whether the library is imported or required.
 *
 * A thread that starts pays for each file that it loads: for a file that is required, less than half of what it pays for
 * one that is imported. So there are few parts.
 *
 * The modules of a part follow each other in the order in which modules run, but for those of earlier parts. So a part
 * never needs a later one, and `require` never meets a file that is half loaded.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileFunction } from 'node:vm';
import { rolldown } from 'rolldown';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const ENTRIES = {
  index: 'dist/index.js',
  sync: 'dist/sync/index.js',
  channel: 'dist/channel/index.js',
  keyed: 'dist/keyed/index.js',
  algorithms: 'dist/algorithms/index.js',
  p0514: 'dist/p0514/index.js',
  report: 'dist/report/index.js',
  metrics: 'dist/metrics/index.js',
  share: 'dist/share.js',
};
/** The entries that run something. All others only import and export. */
const RUNS = ['share'];
/** What a thread of Node, Deno or Bun loads when it needs it (src/report/lazily.ts), and the thread of report mode. */
const LATER = {
  youngest: 'dist/report/youngest.js',
  measure: 'dist/report/measure.js',
  reporter: 'dist/report/reporter.js',
};
/** The tasks of one thread need nothing of the others. Who imports them loads one file, the same that bundlers get. */
const TASKS = { tasks: 'dist/tasks/index.js' };

/** The parts. A module belongs to the first part whose files it is one of. */
const PARTS = {
  threads: /^dist\/(border|runtime|[^/]+\.js)/,
  reporting: /^dist\/report\//,
  measuring: /^dist\/metrics\//,
  counters: /^dist\/algorithms\/(algorithms-bytes|compiled|objects)\.js/,
  papers: /^dist\/algorithms\//,
  p0514s: /^dist\/p0514\//,
  channels: /^dist\/channel\//,
  keys: /^dist\/keyed\//,
  phases: /^dist\/sync\//,
};

/** Adds the modules that this file imports, and then the file, to a set: the order in which they run. */
function addInOrder(path, order) {
  if (order.has(path)) return;
  const code = readFileSync(path, 'utf8');
  for (const [, from] of code.matchAll(/^(?:import|export)\b[^;'"]*['"](\.[^'"]+)['"]/gm))
    addInOrder(join(dirname(path), from), order);
  order.add(path);
}

/** Returns the name of the part of each module that the entries need, by the path of the module. */
function partsOf(entries) {
  const order = new Set();
  for (const path of Object.values(entries)) addInOrder(path, order);
  // An entry is a file of its own.
  for (const path of Object.values(entries)) order.delete(path);
  const parts = new Map();
  for (const path of order) {
    const part = Object.keys(PARTS).find((name) => PARTS[name].test(path));
    if (part !== undefined) parts.set(path, part);
  }
  return parts;
}

/** Returns the bundled files: their names, their code, and the names of the files that they import. */
async function bundled(input, parts = new Map()) {
  const root = process.cwd();
  const bundle = await rolldown({
    input,
    platform: 'node',
    preserveEntrySignatures: 'allow-extension',
    experimental: { attachDebugInfo: 'none' },
    external: ['#host'],
  });
  const { output } = await bundle.generate({
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
    comments: { jsdoc: false },
    minifyInternalExports: false,
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ name: (id) => parts.get(id.slice(root.length + 1)) ?? null, debugName: 'parts' }],
    },
  });
  await bundle.close();
  return output.map((file) => ({ ...file, code: droppable(file.code) }));
}

/**
 * Marks the values at the top of a file as ones that a bundler may drop. Bundlers drop modules that nobody uses, but of a
 * module only what certainly has no effect. A class with computed names, or a call, might have one.
 */
function droppable(code) {
  return code
    .replaceAll(
      /^(?:var|const) ([\w$]+) = class(?: [\w$]+)?((?: extends [\w$]+)? \{\n[\s\S]*?^\});$/gm,
      'const $1 = /* @__PURE__ */ (() => class $1$2)();',
    )
    .replaceAll(/^((?:var|const|let) [\w$]+ = )(?=(?:new )?[\w$.]+\()/gm, '$1/* @__PURE__ */ ');
}

/** A statement of a bundled file that imports or exports: which of the two, what, and from where. */
const STATEMENT = /^(import|export) (?:(\{[^}]*\}|\* as [\w$]+|[\w$]+)(?: from)? ?)?(?:"([^"]+)")?;$/gm;

/** Translates each `import` to `require`. */
function required(code) {
  return code.replaceAll(STATEMENT, (statement, word, what, from) => {
    if (from === undefined) return statement;
    if (what === undefined) return `require("${from}");`;
    const names = what.startsWith('*') ? what.slice(5) : what.replaceAll(/([\w$]+) as ([\w$]+)/g, '$1: $2');
    const taken = `const ${names} = require("${from}");`;
    return word === 'import' ? taken : `${taken}\nexport ${what};`;
  });
}

/** The host. The folder of CommonJS has a package.json of its own, in which `imports` would be lost on some tools. */
const HOST = '"Deno" in globalThis || "Bun" in globalThis ? "./host-deno-bun.js" : "./host-node.js"';

/** Returns the file in CommonJS. */
function commonjs(name, code) {
  const changing = [...code.matchAll(/^let ([\w$]+)/gm)].map(([, variable]) => variable);
  const translated = required(code).replaceAll(STATEMENT, (_, _export, what) => {
    const pairs = what.slice(1, -1).match(/[\w$]+( as [\w$]+)?/g) ?? [];
    return pairs
      .map((pair) => {
        const [own, exported = own] = pair.split(' as ');
        if (changing.includes(own)) throw new Error(`${name} exports ${own}, which changes`);
        return `exports.${exported} = ${own};`;
      })
      .join('\n');
  });
  const file = `"use strict";\n${translated.replaceAll('import.meta.url', '__filename').replaceAll('"#host"', HOST)}`;
  // Throws an error if something is left that only a module may say.
  compileFunction(file, ['exports', 'require', 'module', '__filename', '__dirname'], { filename: name });
  return file;
}

/**
 * Returns an entry as a module that takes what it exports from parts of CommonJS. It does not import the parts: then
 * Node would load a parser that finds the names of what a part exports.
 */
function entry(name, code) {
  if (code.replaceAll(STATEMENT, '').trim() !== '' && !RUNS.includes(name))
    throw new Error(`${name} does more than to import and export`);
  const head = 'import { createRequire } from "node:module";\nconst require = createRequire(import.meta.url);\n';
  return head + required(code);
}

function write(folder, name, code) {
  writeFileSync(`dist/${folder}/${name}`, code);
}

for (const folder of ['web', 'node']) {
  rmSync(`dist/${folder}`, { recursive: true, force: true });
  mkdirSync(`dist/${folder}`);
}
for (const { fileName, code } of await bundled({ ...ENTRIES, ...LATER }, partsOf(ENTRIES))) {
  const name = fileName.slice(0, -'.js'.length);
  if (name in LATER) write('node', `${name}.cjs`, commonjs(fileName, code));
  else {
    write('web', fileName, code);
    write('node', fileName, commonjs(fileName, code));
    if (name in ENTRIES) write('node', `${name}.mjs`, entry(name, code));
  }
}
const [{ code: tasks }] = await bundled(TASKS);
write('web', 'tasks.js', tasks);
write('node', 'tasks.js', commonjs('tasks.js', tasks));
const [{ code: command }] = await bundled({ cli: 'dist/report/cli.js' });
write('node', 'cli.mjs', command);

// In dist/node/ every thread looks for deadlocks. Who bundles dist/web/ gets the hosts of dist/host/, and carries the
// code for that only if the program imports `taketurns/report`.
for (const name of ['node', 'deno-bun', 'web']) {
  const [{ code }] = await bundled({ host: `dist/host/${name}.js` });
  write('web', `host-${name}.js`, code);
}
for (const name of ['node', 'deno-bun']) {
  const [{ code }] = await bundled({ host: `dist/report/host-${name}.js` });
  write('node', `host-${name}.js`, commonjs(`host-${name}.js`, code));
}
write('node', 'package.json', '{ "type": "commonjs" }\n');
