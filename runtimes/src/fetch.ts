/** Installs npm packages that only one command needs, if the machine does not have them. Git ignores their folder. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CACHE = fileURLToPath(new URL('../build/cache', import.meta.url));

/** A runtime is not available here. The message says what to do about it. */
export class Missing extends Error {}

/**
 * Returns the folder of a package. If the folder does not have the package yet, fetches it.
 * @param wanted a version, a range or a tag, as npm accepts it.
 */
export function fetchPackage(name: string, wanted: string): string {
  const folder = join(CACHE, `${name}@${wanted}`.replaceAll('/', '+'));
  const found = join(folder, 'node_modules', name);
  if (existsSync(join(found, 'package.json'))) return found;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  console.error(`fetching ${name}@${wanted}`);
  const args = ['install', '--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts', `${name}@${wanted}`];
  const cli = process.env.npm_execpath;
  const { status, stderr } = cli
    ? spawnSync(process.execPath, [cli, ...args], { cwd: folder, encoding: 'utf8' })
    : spawnSync('npm', args, { cwd: folder, encoding: 'utf8', shell: true });
  if (status !== 0) throw new Missing(`npm could not install ${name}@${wanted}:\n${stderr}`);
  return found;
}
