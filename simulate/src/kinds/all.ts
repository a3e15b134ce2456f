/**
 * All classes that the simulation knows. Each file of this folder exports `kinds`, and this file reads the folder, so
 * there is no list of the files. `parts/` has what several files share. No file of the folder may import this one, nor
 * a file that does: each would wait for the other to load.
 */
import { readdirSync } from 'node:fs';
import type { Spec } from '../program.js';
import { type Kind, type Kinds, renew } from './parts/kind.js';

/** The built code reads the names of its sources too, since a built file may be left over from a source that is gone. */
const SOURCES = new URL('../../src/kinds/', import.meta.url);

const all = new Map<string, Kind>();
for (const file of readdirSync(SOURCES).sort()) {
  if (!file.endsWith('.ts') || file === 'all.ts') continue;
  const path = `./${file.replace('.ts', '.js')}`;
  const { kinds } = (await import(path)) as { kinds?: Kinds };
  if (kinds === undefined) throw new Error(`simulate/src/kinds/${file} exports no \`kinds\``);
  for (const [name, kind] of Object.entries(kinds)) {
    if (all.has(name)) throw new Error(`simulate/src/kinds/${file}: another file has ${name} too`);
    all.set(name, { ...kind, operations: { ...kind.operations, ...(kind.hasParts ? {} : { renew }) } });
  }
}

export const kinds: Kinds = Object.fromEntries(all);

/** The names from which programs draw the classes of their objects; those of `taketurns/algorithms` less often. */
export const names: readonly string[] = Object.entries(kinds).flatMap(([name, { breaksByDeath }]) =>
  Array<string>(breaksByDeath ? 1 : 4).fill(name),
);

export function kindOf({ kind }: Spec): Kind {
  return kinds[kind] as Kind;
}
