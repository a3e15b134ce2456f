/** Packs the library and installs the tarball in an empty project, once for all tests. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { npm } from './run.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The part of the report of `npm pack` that the tests read. */
export interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { readonly path: string; readonly size: number }[];
}

declare module 'vitest' {
  export interface ProvidedContext {
    /** The folder of the project. */
    folder: string;
    packed: Packed;
  }
}

export default function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'taketurns-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const said = npm(root, 'pack', '--json', '--ignore-scripts', '--pack-destination', folder);
    const packed: Packed = JSON.parse(said)[0];
    writeFileSync(join(folder, 'package.json'), '{ "type": "module", "private": true }');
    npm(folder, 'install', '--no-audit', '--no-fund', '--prefer-offline', join(folder, packed.filename));
    cpSync(fileURLToPath(new URL('../programs', import.meta.url)), folder, { recursive: true });
    project.provide('folder', folder);
    project.provide('packed', packed);
  } catch (error) {
    remove();
    throw error;
  }
  return remove;
}
