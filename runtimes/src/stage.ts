/**
 * A project such as a user has: the suite, and the built package in its node_modules. All runtimes run it there, and
 * the browsers get it from there.
 */
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export const STAGE = here('../build/stage');
export const PACKAGE = join(STAGE, 'node_modules/taketurns');

export function makeStage(): void {
  rmSync(STAGE, { recursive: true, force: true });
  mkdirSync(PACKAGE, { recursive: true });
  writeFileSync(join(STAGE, 'package.json'), '{ "private": true, "type": "module" }');
  cpSync(here('suite'), STAGE, { recursive: true });
  for (const name of ['page.html', 'probe.html']) cpSync(here(`../${name}`), join(STAGE, name));
  cpSync(here('../../package.json'), join(PACKAGE, 'package.json'));
  cpSync(here('../../dist'), join(PACKAGE, 'dist'), { recursive: true });
}
