/** Runs programs to their end. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Returns the output of the program. Throws an error with all of its output if it fails. */
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

/** Does the same with Node. */
export function node(cwd: string, ...args: string[]): string {
  return run(cwd, process.execPath, ...args);
}

/** Does the same with npm, which gives its own path to the scripts that it runs. */
export function npm(cwd: string, ...args: string[]): string {
  const cli = process.env.npm_execpath;
  return cli ? node(cwd, cli, ...args) : run(cwd, 'npm', ...args);
}

/** Checks that the links of the pages of an installed package lead to what is in it. Throws an error that lists the others. */
export function checkLinks(folder: string): void {
  node(folder, fileURLToPath(new URL('../../docs-build/links.mjs', import.meta.url)), folder);
}
