/**
 * What differs between operating systems: where the folders of spaces are, what a process can listen at, and what shows
 * that a process has ended.
 *
 * Linux, macOS and the BSDs have Unix sockets: files, which the rights of their folder protect. Windows has named
 * pipes: names that all users share, so a pipe has a random name, which a file of the folder tells. Only Linux was run.
 */
import { readFileSync } from 'node:fs';
import { connect, type Server } from 'node:net';
import { win32 } from 'node:path';

const { platform, env } = process;
const WINDOWS = 'win32';

/** Whether a socket is a file. A pipe of Windows is a name, so a file of its own stands for it. */
export const hasFiles = platform !== WINDOWS;

/**
 * The number of the user, or undefined on Windows, where each user has a profile of his own. Throws where the runtime
 * does not tell it: Deno without `--allow-sys`.
 */
export const userOf = (): number | undefined => (hasFiles ? process.geteuid?.() : undefined);

/**
 * The longest path of a socket, in bytes. Node cuts off what is longer, without an error, and the socket is then at
 * another path: Linux takes 107 bytes, macOS and the BSDs 103.
 */
export const LONGEST_PATH = 103;

/**
 * The folder for all spaces of this user. It depends on nothing that differs between two shells of the user: not on
 * `TMPDIR`, and not on `XDG_RUNTIME_DIR`, which is gone when the user logs out while a program runs on.
 */
export function home(system: string = platform, variables = env): string {
  if (system !== WINDOWS) return `/tmp/taketurns-${userOf()}`;
  const { LOCALAPPDATA, USERPROFILE = 'C:\\' } = variables;
  return win32.join(LOCALAPPDATA ?? win32.join(USERPROFILE, 'AppData', 'Local'), 'taketurns');
}

/**
 * Names the time since the machine was started, on Linux. Two machines may share a folder. To each of them the sockets
 * of the other seem to be of processes that have ended. So each has a folder of its own within it. After a restart of
 * the machine, nobody reads what was written before.
 *
 * Throws if it cannot be known: another name would be another space, in which nobody keeps this process out. Deno reads
 * the file only with all rights.
 */
export const boot = (file = '/proc/sys/kernel/random/boot_id'): string =>
  platform === 'linux' ? readFileSync(file, 'utf8').slice(0, 8) : 'any';

/**
 * 16 random hexadecimal digits. Linux writes them to a file that costs some microseconds, and the generators of the
 * runtimes are loaded for milliseconds at their first call.
 */
export function random(system: string = platform, file = '/proc/sys/kernel/random/uuid'): string {
  try {
    if (system === 'linux') return readFileSync(file, 'utf8').replaceAll('-', '').slice(16, 32);
  } catch {
    // The process may open no more files, or may not read this one.
  }
  return `${globalThis.crypto.getRandomValues(new BigUint64Array(1))[0]?.toString(16)}`.padStart(16, '0');
}

/** Whether the error says that this process may not do what it must. It will not pass by itself. */
export function isDenied(error: unknown): boolean {
  const { code, name } = error as NodeJS.ErrnoException;
  return ['EACCES', 'EPERM', 'EROFS', 'ERR_ACCESS_DENIED'].includes(`${code}`) || name === 'NotCapable';
}

/** Whether the error says that the system cannot read or make files now: too many are open, or the disk is full. It may pass by itself. */
export const isFull = (error: unknown): boolean =>
  ['EMFILE', 'ENFILE', 'ENOSPC', 'EDQUOT', 'EIO', 'ENOMEM', 'ENOBUFS'].includes(
    `${(error as NodeJS.ErrnoException).code}`,
  );

/** What to listen at, for a socket file of this path: the file, or on Windows a pipe whose name has the random part. */
export const address = (path: string, random: string, system: string = platform): string =>
  system === WINDOWS ? `\\\\.\\pipe\\taketurns-${random}` : path;

/**
 * Whether the error of a connection shows that nobody listens at a socket that is there. On Linux in Node and Deno only
 * the end of the listener refuses; a socket whose queue is full says EAGAIN. On macOS and the BSDs, and in Bun, a full
 * queue refuses too, so there the process must have ended besides.
 */
export function showsEnd(code: string | undefined, pid: number, start?: string): boolean {
  if (code === 'ECONNREFUSED') return (platform === 'linux' && !('Bun' in globalThis)) || hasEnded(pid, start);
  // Somebody may have removed the file of a process that lives.
  return code === 'ENOENT' && hasEnded(pid, start);
}

/** The start of a process that is not known. */
const UNKNOWN = '00000000';

/** What Linux tells of a process. Undefined: nothing. */
function statusOf(
  pid: number,
): { readonly state: string; readonly threads: number; readonly start: string } | undefined {
  try {
    // The name of the program stands in parentheses, and may have some itself.
    const [state = '', ...others] = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    const ticks = Number(others[18]) % 2 ** 32;
    return { state, threads: Number(others[16]), start: ticks.toString(16).padStart(8, '0') };
  } catch {
    return undefined;
  }
}

/** Eight hexadecimal digits that tell this process from an earlier one with its number, where this can be known. */
export const ownStart = (): string => (platform === 'linux' && statusOf(process.pid)?.start) || UNKNOWN;

/**
 * Whether a process has ended, as this process sees it: one in another container may see others. There is no process of
 * this number; or it has another start; or it is dead, and its parent has not yet waited for it (a zombie). While a
 * thread of a process lives, the process may look like a zombie, but has more threads.
 */
export function hasEnded(pid: number, start = UNKNOWN, system: string = platform): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return true;
  }
  if (system === WINDOWS) return false;
  if (system !== 'linux') return isZombie(pid);
  const status = statusOf(pid);
  if (!status) return false;
  const isDead = /^[ZXx]/.test(status.state) && status.threads <= 1;
  return isDead || (start !== UNKNOWN && start !== status.start);
}

/** Asks the program `ps`. It is asked only about a process that refuses connections, and exists. */
function isZombie(pid: number): boolean {
  try {
    const { execFileSync } = process.getBuiltinModule('node:child_process');
    const state = execFileSync('ps', ['-o', 'stat=', '-p', `${pid}`], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return state.trim().startsWith('Z');
  } catch {
    return false;
  }
}

/** The error of a connection to this socket. Undefined: somebody listens. */
export const errorAt = (path: string): Promise<NodeJS.ErrnoException | undefined> =>
  new Promise((resolve) => {
    const socket = connect(path);
    socket.on('error', resolve);
    socket.on('connect', () => {
      socket.destroy();
      resolve(undefined);
    });
  });

/** How many connections may wait until they are accepted. */
const QUEUE = 511;

/** Lets a server listen. Node and Bun listen at once, and so the promise is settled at once. */
export async function listen(server: Server, path: string): Promise<void> {
  const listening = new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // In a process of `cluster`, `exclusive` keeps the socket in this process.
    server.listen({ path, exclusive: true, backlog: QUEUE }, resolve);
  });
  listening.catch(() => {});
  if (!server.listening) await listening;
}
