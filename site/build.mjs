/**
 * Builds the site into build/site: the pages of the repository with search, the API reference in `api/`, and the lab in
 * `lab/`, which brings a service worker for the headers that shared memory needs. Any static host can serve the folder.
 *
 *     node site/build.mjs                        for the root of a host
 *     node site/build.mjs --base /taketurns/     for a folder of a host
 *
 * The folder site/ has a lock file of its own, so that only those who build the site install its tools.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { base } = parseArgs({ options: { base: { type: 'string', default: '/' } } }).values;
if (!/^\/(.+\/)?$/.test(base)) {
  console.error(
    `site: option --base: '${base}' is no folder of a host. Allowed: a path that begins and ends with '/'.`,
  );
  process.exit(1);
}
process.chdir(fileURLToPath(new URL('..', import.meta.url)));
process.env.TAKETURNS_SITE = base;

function npm(...args) {
  const { status } = spawnSync('npm', args, { stdio: 'inherit', shell: true });
  if (status !== 0) process.exit(status ?? 1);
}

rmSync('site/pages', { recursive: true, force: true });
for (const page of [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'RELEASING.md',
  'SECURITY.md',
  'docs',
  'processes/README.md',
  'processes/docs',
])
  cpSync(page, `site/pages/${page}`, { recursive: true });
cpSync('lab/public/icon.svg', 'site/pages/public/icon.svg');
// The recipes link these programs.
cpSync('examples', 'site/pages/public/examples', { recursive: true });
if (!existsSync('site/node_modules/vitepress')) npm('ci', '--prefix', 'site', '--no-audit', '--no-fund');
npm('run', '--silent', 'build', '-w', 'lab');
npm('run', '--silent', 'docs', '--prefix', 'docs-build');
npm('run', '--silent', 'build', '--prefix', 'site');
cpSync('lab/dist', 'build/site/lab', { recursive: true });
cpSync('build/api', 'build/site/api', { recursive: true });
console.log(`the site: build/site, for ${base} of any static host`);
