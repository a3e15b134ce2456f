/**
 * Writes the declarations that a package ships, dist/types/, from those that the compiler has made in dist/. The folder
 * of the package is the argument, and its package.json names the entries.
 *
 * The declarations are of CommonJS (.d.cts), because modules and CommonJS may both import these. A module gets an entry such
 * as index.d.ts, which passes on all that index.d.cts declares. So each class is declared once, and a program that has
 * modules of both sorts may hand objects of one sort to the other. An editor shows the docstrings in both.
 *
 * Only the files to which the entries lead are there.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

process.chdir(process.argv[2]);
const { exports } = JSON.parse(readFileSync('package.json', 'utf8'));
const TYPES = 'dist/types';
const IMPORTED = /((?:\bfrom|\bimport\() ?['"])(\.[^'"]+)\.js(['"])/g;
rmSync(TYPES, { recursive: true, force: true });

const written = new Set();

/** Writes what this file in dist/ declares, and what the files declare that it imports. */
function declare(path) {
  if (written.has(path)) return;
  written.add(path);
  const declared = readFileSync(join('dist', `${path}.d.ts`), 'utf8');
  write(`${path}.d.cts`, declared.replaceAll(IMPORTED, '$1$2.cjs$3'));
  for (const [, , imported] of declared.matchAll(IMPORTED)) declare(join(dirname(path), imported));
}

function write(path, declarations) {
  mkdirSync(dirname(join(TYPES, path)), { recursive: true });
  writeFileSync(join(TYPES, path), declarations);
}

for (const { types } of Object.values(exports)) {
  if (types === undefined) continue;
  const path = types.default.slice(`./${TYPES}/`.length, -'.d.ts'.length);
  declare(path);
  write(`${path}.d.ts`, `export * from './${basename(path)}.cjs';\n`);
}
