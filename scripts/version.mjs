/**
 * What `npm version` runs after it has set the version of `package.json`, and before it commits: this script gives the
 * same version to `taketurns-processes` and to the README, and puts what is unreleased in `CHANGELOG.md` under this
 * version with the date of today. It fails if nothing is unreleased.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const root = new URL('../', import.meta.url);
const read = (path) => readFileSync(new URL(path, root), 'utf8');

const { version } = JSON.parse(read('package.json'));
const today = new Date().toISOString().slice(0, 10);

/** Replaces the one place in a file that the pattern finds. */
function replaceIn(path, pattern, replacement) {
  const text = read(path);
  if (!pattern.test(text)) throw new Error(`${path} has nothing like ${pattern}`);
  writeFileSync(new URL(path, root), text.replace(pattern, replacement));
}

const UNRELEASED = /^## \[Unreleased\]\n(?=[\s\S]*?^- )(?!\s*^## )/m;
replaceIn('CHANGELOG.md', UNRELEASED, `## [Unreleased]\n\n## [${version}] - ${today}\n`);
replaceIn('processes/package.json', /^( {2}"version": )".*"/m, `$1"${version}"`);
replaceIn('README.md', /The version is \d+\.\d+\.\d+(?=:)/, `The version is ${version}`);

const lock = JSON.parse(read('package-lock.json'));
lock.packages.processes.version = version;
writeFileSync(new URL('package-lock.json', root), `${JSON.stringify(lock, null, 2)}\n`);

const changed = ['CHANGELOG.md', 'README.md', 'package-lock.json', 'processes/package.json'];
execFileSync('git', ['add', ...changed], { cwd: root, stdio: 'inherit' });
