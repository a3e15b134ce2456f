/** Copies of the built package in folders of their own. Two dependencies of a program may bring such copies. */

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';
import { VERSION } from '../../src/border/numbers.js';

const root = fileURLToPath(new URL('../../', import.meta.url));

type Library = typeof import('taketurns') &
  Pick<typeof import('taketurns/algorithms'), 'CapacitorLock' | 'McsLock' | 'TtsLock'> &
  Pick<typeof import('taketurns/keyed'), 'RateLimiter'> &
  Pick<typeof import('taketurns/metrics'), 'publishEvents' | 'startMetrics'>;

/** A change of the copy: replaces a text that must be in the file exactly once. */
export type Change = readonly [file: string, from: string, to: string];

/** Bundles for Node and declarations make half of the files. */
const isNeeded = (path: string): boolean => !/[/\\]dist[/\\](node|types)$|\.d\.ts$/.test(path);

/** Makes a copy of the package, and returns the folder of its built code. The changes make it another version. */
export function folderOfCopy(changes: readonly Change[] = []): string {
  const folder = mkdtempSync(join(tmpdir(), 'taketurns-copy-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(join(root, 'dist'), join(folder, 'dist'), { recursive: true, filter: isNeeded });
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  for (const [file, from, to] of changes) {
    const path = join(folder, 'dist', file);
    const text = readFileSync(path, 'utf8');
    if (text.split(from).length !== 2) throw new Error(`${file} has not exactly one "${from}"`);
    writeFileSync(path, text.replace(from, to));
  }
  return join(folder, 'dist');
}

/** Loads a new copy of the package. */
export async function copy(changes?: readonly Change[]): Promise<Library> {
  const folder = folderOfCopy(changes);
  const load = (file: string) => import(pathToFileURL(join(folder, file)).href);
  const entries = ['index.js', 'papers/algorithms/index.js', 'keyed/index.js', 'metrics/index.js'];
  return Object.assign({}, ...(await Promise.all(entries.map(load))));
}

/** The mark of an arena, as the bytes of a constant in the module (LEB128). OTHER stands for another mark. */
const MARK = [0xf3, 0xe8, 0xad, 0xa3, 0x07];
const OTHER = [0xf3, 0xe8, 0xad, 0xa3, 0x06];

/** The changes that make a version with another layout. */
export const ANOTHER_VERSION: readonly Change[] = [
  ['border/numbers.js', ` VERSION = ${VERSION};`, ` VERSION = ${VERSION + 1};`],
  [
    'runtime/decode.js',
    'export function decode(text) {',
    `export function decode(text) {
    const bytes = [...own(text)];
    const mark = ${JSON.stringify(MARK)};
    for (let i = 0; i < bytes.length; i++)
      if (mark.every((byte, k) => bytes[i + k] === byte)) bytes.splice(i, mark.length, ...${JSON.stringify(OTHER)});
    return Uint8Array.from(bytes);
}
function own(text) {`,
  ],
];
