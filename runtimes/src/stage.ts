/**
 * Makes a project like that of a user: it has the suite, and the built package in node_modules. Node, Deno and Bun run
 * the suite there. Browsers do not resolve the names of packages in workers. So they get a copy of the project in which
 * imports name files instead of packages.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const IN_PROJECT = 'node_modules/taketurns';
export const STAGE = here('../build/stage');
const PACKAGE = join(STAGE, IN_PROJECT);
/** The copy for browsers. */
export const PAGES = here('../build/pages');

export function makeStage(): void {
  rmSync(STAGE, { recursive: true, force: true });
  mkdirSync(PACKAGE, { recursive: true });
  writeFileSync(join(STAGE, 'package.json'), '{ "private": true, "type": "module" }');
  cpSync(here('suite'), STAGE, { recursive: true });
  cpSync(here('../../package.json'), join(PACKAGE, 'package.json'));
  cpSync(here('../../dist'), join(PACKAGE, 'dist'), { recursive: true });
  makePages();
}

function makePages(): void {
  rmSync(PAGES, { recursive: true, force: true });
  cpSync(STAGE, PAGES, { recursive: true });
  for (const name of ['page.html', 'probe.html']) cpSync(here(`../${name}`), join(PAGES, name));
  const paths = pathsBySpecifier();
  for (const path of readdirSync(PAGES, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.js')) continue;
    const file = join(PAGES, path);
    const text = readFileSync(file, 'utf8').replace(
      /((?:^|[\n;])(?:import|export)[^'";]*|\bimport\()(['"])([^'".][^'"]*)\2/g,
      (whole, before, _, name) => (paths.has(name) ? `${before}'${paths.get(name)}'` : whole),
    );
    writeFileSync(file, text);
  }
}

/** Maps `taketurns`, `#host` and the like to the paths that the package's own `exports` and `imports` give them. */
function pathsBySpecifier(): Map<string, string> {
  const { exports, imports } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as {
    exports: Record<string, string | { default: string }>;
    imports: Record<string, { default: string }>;
  };
  const paths = new Map<string, string>();
  for (const [name, target] of [...Object.entries(exports), ...Object.entries(imports)]) {
    const path = typeof target === 'string' ? target : target.default;
    paths.set(name.replace(/^\./, 'taketurns'), `/${IN_PROJECT}/${path.replace('./', '')}`);
  }
  return paths;
}
