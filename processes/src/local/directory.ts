/**
 * The folder of a space, and whether it is safe to use. Whoever can write into the folder can be the broker of the
 * space, so the folder must belong to this user alone.
 *
 *     /tmp/taketurns-<uid>/<boot>/<space>/        space: 12 digits that hash its name
 *     ^ made with the mode 0700; checked before it is used
 */
import { lstatSync, mkdirSync, readdirSync, type Stats } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { SpaceError } from '../errors.js';
import { fnv1a } from '../runtime/hash.js';
import { close, Folder } from './generations.js';
import { boot, errorAt, hasFiles, home, LONGEST_PATH, userOf } from './platform.js';

/** The longest name of a socket: `b.`, ten digits, a dot and 16 digits. */
const LONGEST_NAME = 29;

/**
 * Makes the folder if it does not exist, and returns its path. directory: the folder for all spaces, instead of the usual.
 * @throws {SpaceError} with the code `DIRECTORY`.
 */
export function directoryOf(space: string, directory?: string): string {
  const user = told('the user', userOf);
  const base = resolve(directory ?? home());
  const path = join(base, told('the start of the machine', boot), nameOf(space));
  const length = Buffer.byteLength(path) + 1 + LONGEST_NAME;
  if (hasFiles && length > LONGEST_PATH) {
    const most = LONGEST_PATH - (length - Buffer.byteLength(base));
    throw refused(`the path ${JSON.stringify(base)} is too long for sockets: it may have ${most} bytes`);
  }
  // Each folder is checked before the next is made in it. So nothing is made in a folder of somebody else.
  for (const each of [base, dirname(path), path]) {
    let stats: Stats | undefined;
    try {
      stats = lstatSync(each, { throwIfNoEntry: false });
      if (!stats) mkdirSync(each, { mode: 0o700 });
    } catch (cause) {
      const { code, message } = cause as NodeJS.ErrnoException;
      // Another process may have made it meanwhile.
      if (code !== 'EEXIST') throw refused(`the folder ${each} cannot be made: ${message}`, cause);
    }
    stats ??= lstatSync(each);
    check(each, stats, user);
  }
  return path;
}

/** The name of the folder of a space. node:crypto has better hashes, but takes long to load. */
const nameOf = (space: string): string =>
  (fnv1a(space) * 2 ** 16 + (fnv1a(space, 0x9e3779b9) >>> 16)).toString(16).padStart(12, '0');

/** What the system tells. Deno tells it only with rights, and a system without /proc does not. */
function told<T>(what: string, tell: () => T): T {
  try {
    return tell();
  } catch (cause) {
    throw refused(`${what} cannot be told: ${(cause as Error).message}`, cause);
  }
}

function check(path: string, stats: Stats, user: number | undefined): void {
  if (!stats.isDirectory()) throw refused(`${path} is ${stats.isSymbolicLink() ? 'a link' : 'no folder'}`);
  if (user === undefined) return;
  if (stats.uid !== user) {
    throw refused(`the folder ${path} belongs to the user ${stats.uid}, and this process runs as ${user}`);
  }
  const mode = stats.mode & 0o777;
  if (mode & 0o077) {
    const octal = mode.toString(8).padStart(3, '0');
    throw refused(`the folder ${path} is open to other users (mode ${octal}); it must have the mode 700`);
  }
}

/**
 * The folders of this space that belong to other starts of the machine. They may be of another machine which shares the
 * directory, or of a container that has a boot id of its own.
 */
export function others({ path }: Folder): Folder[] {
  const of = dirname(path);
  const isBoot = (name: string): boolean => /^[0-9a-f]{8}$/.test(name);
  const boots = isBoot(basename(of)) ? readdirSync(dirname(of)) : [];
  const found = boots.filter((name) => isBoot(name) && name !== basename(of));
  return found.map((name) => new Folder(join(dirname(of), name, basename(path))));
}

/**
 * Throws if a process of this machine serves the same space in the folder of another boot id: it is in a container that
 * has one of its own. Each process looks when the space has a broker on its own side, so of two that begin at the same
 * time at least one sees the other.
 * @throws {SpaceError} with the code `DIRECTORY`.
 */
export async function lookBeside(folder: Folder): Promise<void> {
  for (const other of others(folder)) {
    let path: string | undefined;
    try {
      const generation = other.highest();
      close(generation);
      path = generation && other.listensAt(generation.address);
    } catch {
      // There is no such space.
    }
    if (path === undefined || (await errorAt(path))) continue;
    throw refused(`a process with another boot id has the space in ${other.path}`);
  }
}

const refused = (why: string, cause?: unknown): SpaceError => new SpaceError('DIRECTORY', why, cause);
