/**
 * Prints the sizes of what a user gets, in bytes, beside those of the last release: the tarball, the WebAssembly, and
 * bundles by esbuild, minified and compressed by Brotli. Then it prints the bundles of the libraries that README compares
 * with. Nothing fails if a size grows. esbuild and npm measure one package each; no tool compares them with a release.
 *
 *     npm run sizes --prefix package-tests                   beside docs/internals/sizes.json
 *     npm run sizes --prefix package-tests -- --keep         for a release: writes the sizes into this file
 *     npm run sizes --prefix package-tests -- --of FOLDER    of another clone, which is built; it may be an older one
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { brotliCompressSync } from 'node:zlib';
import { build } from 'esbuild';

const KEPT = 'docs/internals/sizes.json';
const { values } = parseArgs({ options: { keep: { type: 'boolean' }, of: { type: 'string' } } });
process.chdir(values.of ?? fileURLToPath(new URL('..', import.meta.url)));

const { version, exports } = JSON.parse(readFileSync('package.json', 'utf8'));
const PROGRAMS = {};
for (const entry of Object.keys(exports)) {
  if (entry === './package.json') continue;
  const name = entry.replace('.', 'taketurns');
  PROGRAMS[name] = `export * from '${name}'; import '${name}';`;
  if (/^\.(\/tasks)?$/.test(entry)) PROGRAMS[`${name}, only Semaphore`] = `export { Semaphore } from '${name}';`;
}

/** What README compares with, and the workspace that has it. Redlock needs a client of Redis, which does not count. */
const BESIDE = {
  'async-mutex': 'bench',
  'p-limit': 'bench',
  'proper-lockfile': 'processes',
  '@sesamecare-oss/redlock': 'processes',
};

/** The bytes of a program for this target, after Brotli. */
async function bundled(platform, contents, resolveDir = process.cwd(), external = []) {
  const stdin = { contents, resolveDir };
  const options = { bundle: true, minify: true, format: 'esm', write: false, logLevel: 'error', external };
  const { outputFiles } = await build({ ...options, platform, stdin });
  return brotliCompressSync(outputFiles[0].contents).length;
}

/** The bytes of the tarball of a package. */
function packed(...workspace) {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts', ...workspace];
  const { stdout } = spawnSync('npm', args, { encoding: 'utf8', shell: process.platform === 'win32' });
  return JSON.parse(stdout)[0].size;
}

const sizes = { 'tarball of taketurns': packed() };
if (existsSync('processes')) sizes['tarball of taketurns-processes'] = packed('-w', 'taketurns-processes');
for (const name of ['core', 'algorithms', 'sync', 'channel'])
  if (existsSync(`build/${name}.wasm`)) sizes[`${name}.wasm`] = readFileSync(`build/${name}.wasm`).length;
for (const [name, program] of Object.entries(PROGRAMS)) {
  sizes[`${name}, for browsers`] = await bundled('browser', program);
  sizes[`${name}, for Node`] = await bundled('node', program);
}

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const last = JSON.parse(readFileSync(KEPT, 'utf8'));
console.table(
  Object.fromEntries(
    Object.entries(sizes).map(([name, now]) => {
      const before = last.sizes[name];
      const change = before === undefined ? '' : `${((now / before - 1) * 100).toFixed(1)} %`;
      return [name, { [`${last.version}`]: before, now, change }];
    }),
  ),
);
for (const [name, workspace] of Object.entries(BESIDE)) {
  const program = `import * as all from '${name}'; console.log(all);`;
  console.log(`${name}, for Node: ${await bundled('node', program, resolve(workspace), ['ioredis'])}`);
}
if (values.keep) writeFileSync(KEPT, `${JSON.stringify({ version, sizes }, undefined, 2)}\n`);
