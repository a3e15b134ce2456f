/**
 * Where a process in report mode can be asked (reporter.ts), and whether that place is safe.
 *
 *     /tmp/taketurns-<uid>/report-<pid>                      a Unix socket
 *     C:\Users\<name>\AppData\Local\taketurns\report-<pid>   on Windows: a file that names a pipe
 *
 * Whoever can write into the folder can answer in the place of the process, and whoever can look into it can ask. So the
 * folder has the mode 0700 and belongs to this user, and both sides check this before they use it. It depends on no
 * variable of the environment: the process and the one who asks may have different ones. (taketurns-processes keeps its
 * spaces without a server in folders below.)
 *
 * All users of Windows share the names of pipes. So the name is random, and only this user can read the file that tells
 * it. Others can list the pipes, and open one to read. But nothing is sent before a question has been written.
 */
import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readFileSync, rm, rmSync, writeFileSync } from 'node:fs';
import { connect, type Server } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';

const isWindows = process.platform === 'win32';
/** Undefined on Windows, where each user has a folder of his own. Throws in Deno if the program has no right to know. */
const user = (): number | undefined => (isWindows ? undefined : process.geteuid?.());
const PREFIX = 'report-';
/** The last character of each answer. Without it the process has ended while it answered. */
export const END = '\u0004';

/** The folder of this user. */
export function home(): string {
  return isWindows ? join(homedir(), 'AppData', 'Local', 'taketurns') : `/tmp/taketurns-${user()}`;
}

/**
 * Checks that a folder belongs to this user alone.
 * @throws {Error} if it does not, or does not exist (`ENOENT`).
 */
export function checkFolder(path: string): void {
  const stats = lstatSync(path);
  if (!stats.isDirectory()) throw new Error(`${path} is ${stats.isSymbolicLink() ? 'a link' : 'no folder'}`);
  const own = user();
  if (own === undefined) return;
  if (stats.uid !== own)
    throw new Error(`the folder ${path} belongs to the user ${stats.uid}, and this process runs as ${own}`);
  const mode = stats.mode & 0o777;
  if ((mode & 0o077) !== 0) {
    const octal = mode.toString(8).padStart(3, '0');
    throw new Error(`the folder ${path} is open to other users (mode ${octal}); it must have the mode 700`);
  }
}

/**
 * Makes a server listen for questions to this process, and removes what killed processes have left in the folder.
 * @throws {Error} if the folder is not safe, or cannot be made.
 */
export function listen(server: Server, folder = home()): void {
  mkdirSync(folder, { mode: 0o700, recursive: true });
  checkFolder(folder);
  const path = join(folder, PREFIX + process.pid);
  // An earlier process with this number may have been killed.
  rmSync(path, { force: true });
  if (isWindows) {
    const pipe = `\\\\.\\pipe\\taketurns-${randomBytes(16).toString('hex')}`;
    server.listen(pipe, () => writeFileSync(path, pipe));
  } else server.listen(path);
  for (const pid of listening(folder)) if (!isRunning(pid)) removeIfDead(join(folder, PREFIX + pid));
}

/** Removes what a process has left, unless it answers: a process in another container may have this folder, too. */
function removeIfDead(path: string): void {
  try {
    const socket = connect(addressIn(path), () => socket.destroy());
    socket.on('error', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'ECONNREFUSED' || code === 'ENOENT') rm(path, { force: true }, () => {});
    });
  } catch {
    // Another process may have removed it.
  }
}

/** Returns what to connect to. */
function addressIn(path: string): string {
  return isWindows ? readFileSync(path, 'utf8') : path;
}

/**
 * Returns what to connect to in order to ask a process; undefined if the process does not listen.
 * @throws {Error} if the folder is not safe.
 */
export function addressOf(pid: number, folder = home()): string | undefined {
  return listening(folder).includes(pid) ? addressIn(join(folder, PREFIX + pid)) : undefined;
}

/**
 * Returns the numbers of the processes that listen, in order. Some may have been killed.
 * @throws {Error} if the folder is not safe.
 */
export function listening(folder = home()): number[] {
  try {
    checkFolder(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  const names = readdirSync(folder).filter((name) => name.startsWith(PREFIX));
  return names.map((name) => Number(name.slice(PREFIX.length))).sort((a, b) => a - b);
}

/** Whether a process exists. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user may not be signalled.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
