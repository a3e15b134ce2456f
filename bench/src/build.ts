// Computes a digest of all code on which the measured figures depend: the files that the measured processes load, the
// sources of the native rows, and the versions of the peers. Code that only makes reports is not part of it.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const NATIVE = new URL('../native/', import.meta.url);

/** The versions of the peers. */
const { dependencies: versions } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  dependencies: Record<string, string>;
};

/** Where the measured processes begin. */
const ENTRIES = ['workers/host.js', 'pairs/timer.js'];

/** What a module imports or requires, or whose place it computes: a file, a library or a peer. */
const NAMED = /(?:\bfrom|\bimport|\bimport\(|\brequire\(|\bnew URL\()\s*(["'`])(?<name>[\w.@][^"'`$?]*)/g;

/** What the measured processes load. */
export interface Measured {
  /** The files by their names, relative to the root of the repository. */
  files: Map<string, URL>;
  /** The names of the peers, which package.json has with their exact versions. */
  peers: Set<string>;
}

/** Finds what the measured processes load, and the sources of the native rows. */
export function measured(): Measured {
  const files = new Map<string, URL>();
  const peers = new Set<string>();
  const add = (file: URL): boolean => {
    const name = relative(ROOT, fileURLToPath(file));
    // A name in a text of the library is not always that of a file.
    if (files.has(name) || !statSync(file, { throwIfNoEntry: false })?.isFile()) return false;
    files.set(name, file);
    return true;
  };
  const follow = (file: URL): void => {
    if (!add(file) || !/\.[cm]?js$/.test(file.pathname)) return;
    for (const { groups } of readFileSync(file, 'utf8').matchAll(NAMED)) {
      const { name } = groups as { name: string };
      if (name.startsWith('.')) follow(new URL(name, file));
      else if (/^taketurns(\/|$)/.test(name)) follow(new URL(import.meta.resolve(name)));
      else if (Object.hasOwn(versions, name)) peers.add(name);
    }
  };
  for (const entry of ENTRIES) follow(new URL(entry, import.meta.url));
  // It has the flags of the compiler. What it imports only serves other benchmarks.
  add(new URL('native.js', import.meta.url));
  if (existsSync(NATIVE)) {
    for (const name of readdirSync(NATIVE)) if (/\.(cpp|hpp|h)$/.test(name)) add(new URL(name, NATIVE));
  }
  return { files, peers };
}

/** Returns the digest, of 16 hexadecimal digits. `read` returns the content of a file. */
export function build(read: (file: URL, name: string) => Buffer | string = (file) => readFileSync(file)): string {
  const hash = createHash('sha256');
  const { files, peers } = measured();
  for (const [name, file] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(`${name}\0`).update(read(file, name)).update('\0');
  }
  for (const name of [...peers].sort()) hash.update(`${name} ${versions[name]}\0`);
  return hash.digest('hex').slice(0, 16);
}
