/** Runs programs to their end. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Runs a program and returns its output. If the program fails, throws an error with everything that it has printed. */
export function run(cwd: string, command: string, ...args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    shell: process.platform === 'win32' && command !== process.execPath,
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed\n${stdout}\n${stderr}`);
  return stdout;
}

/** Runs Node with these arguments. */
export function node(cwd: string, ...args: string[]): string {
  return run(cwd, process.execPath, ...args);
}

/** Runs npm with these arguments. npm has given its own path to the script in which this program runs. */
export function npm(cwd: string, ...args: string[]): string {
  const cli = process.env.npm_execpath;
  return cli ? node(cwd, cli, ...args) : run(cwd, 'npm', ...args);
}

/**
 * Checks that all links in the pages of an installed package, or in these `pages` alone, lead to a file of the folder.
 * Throws an error that lists the others.
 */
export function checkLinks(folder: string, ...pages: string[]): void {
  node(folder, fileURLToPath(new URL('../../docs-build/links.mjs', import.meta.url)), folder, ...pages);
}
