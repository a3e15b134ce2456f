/** Packs taketurns-processes, and installs the tarball in an empty project, beside client libraries. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Packed } from './install.js';
import { npm } from './run.js';

const processes = fileURLToPath(new URL('../../processes', import.meta.url));

export interface Project {
  /** The folder of the project. */
  readonly folder: string;
  readonly packed: Packed;
  readonly tarball: Buffer;
  remove(): void;
}

/** The folder of a package that the workspace has installed, for itself or in the common folder. */
function folderOf(name: string): string {
  const places = [processes, join(processes, '..')].map((place) => join(place, 'node_modules', name));
  const found = places.find((place) => existsSync(place));
  if (found === undefined) throw new Error(`${name} is not installed`);
  return realpathSync(found);
}

export function installProcesses(clients: readonly string[]): Project {
  const folder = mkdtempSync(join(tmpdir(), 'taketurns-processes-'));
  const packed: Packed = JSON.parse(
    npm(processes, 'pack', '--json', '--ignore-scripts', '--pack-destination', folder),
  )[0];
  writeFileSync(join(folder, 'package.json'), '{ "type": "module", "private": true }');
  npm(folder, 'install', '--no-audit', '--no-fund', '--offline', join(folder, packed.filename));
  for (const client of clients) {
    const place = join(folder, 'node_modules', client);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(folderOf(client), place, 'dir');
  }
  return {
    folder,
    packed,
    tarball: readFileSync(join(folder, packed.filename)),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
