/**
 * Writes build/jsr/, which is what JSR, the registry of Deno, gets: the modules of dist/ and a jsr.json. JSR has no tool
 * that takes modules of JavaScript with their declarations from the folders in which npm gets them.
 *
 *     node scripts/jsr.mjs && cd build/jsr && npx jsr publish --dry-run
 *
 * Deno reads the types of a file of JavaScript where a comment in this file says so. A declaration that no entry leads
 * to stays away: it may refer to what is internal, which the declarations lack.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const { version, license, description, exports } = JSON.parse(readFileSync('package.json', 'utf8'));
/** The names of the entries, and their modules, such as ./dist/sync/index.js for ./dist/types/sync/index.d.ts. */
const entries = Object.entries(exports).flatMap(([name, { types }]) =>
  types ? [[name, types.require.replace('/types/', '/').replace('.d.ts', '.js')]] : [],
);
const out = 'build/jsr';
rmSync(out, { recursive: true, force: true });

const copied = new Set();

/** Copies a file and all that it imports, and the declarations of files to which declarations of entries lead. */
function copy(file, isDeclared) {
  const key = `${file} ${isDeclared}`;
  if (copied.has(key)) return;
  copied.add(key);
  const code = readFileSync(file, 'utf8');
  const declarations = file.replace(/\.js$/, '.d.ts');
  // Those beside the modules have no comments.
  const commented = declarations.replace(/^dist/, 'dist/types');
  mkdirSync(dirname(join(out, file)), { recursive: true });
  for (const imported of importsOf(file, code)) copy(imported, false);
  if (!isDeclared) {
    if (!existsSync(join(out, file))) writeFileSync(join(out, file), code);
    return;
  }
  writeFileSync(join(out, file), `/* @ts-self-types="./${basename(declarations)}" */\n${code}`);
  cpSync(commented, join(out, declarations));
  for (const imported of importsOf(declarations, readFileSync(commented, 'utf8'))) copy(imported, true);
}

const HOST = './dist/report/host-here.js';

/** The files that a file imports. In JSR's package `#host` is the host of the bundles, which chooses by the runtime. */
function importsOf(file, code) {
  return [...code.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*['"](\.[^'"]+|#host)['"]/g)].map(([, path]) =>
    path === '#host' ? join(HOST) : join(dirname(file), path),
  );
}

for (const [, code] of entries) copy(join(code), true);
for (const page of ['README.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE']) cpSync(page, join(out, page));
const contents = {
  name: '@taketurns/taketurns',
  version,
  license,
  description,
  exports: Object.fromEntries(entries),
  imports: { '#host': HOST },
  // Git ignores build/, and without this line the command would too.
  publish: { exclude: ['!**'] },
};
writeFileSync(join(out, 'jsr.json'), `${JSON.stringify(contents, undefined, 2)}\n`);
