/**
 * All models, in the order of the printed table, and the uninterruptible sections of the kinds. Each file of this folder
 * exports `models`, and a file of a kind also `sections`, if the kind has any. This file reads the folder, so there is
 * no list of the files. `parts/` has what several files or the tests share. No file of the folder may import this one,
 * nor a file that does: each would wait for the other to load.
 *
 * To add a model of a primitive that has models already, add a line to the table of the primitive. For a new primitive,
 * add its ops first (docs/internals/checking.md).
 */
import { readdirSync } from 'node:fs';
import type { Section } from '../engine/wasm/uninterruptible.js';
import type { Model } from '../scene/model.js';

/** What a file of this folder exports. */
interface Models {
  readonly models: readonly Model[];
  readonly sections?: readonly Section[];
}

/** The built code reads the names of its sources too, since a built file may be left over from a source that is gone. */
const SOURCES = new URL('../../src/models/', import.meta.url);

const all: Models[] = [];
for (const file of readdirSync(SOURCES).sort()) {
  if (!file.endsWith('.ts') || file === 'all.ts') continue;
  const path = `./${file.replace('.ts', '.js')}`;
  const exported = (await import(path)) as Models;
  if (!Array.isArray(exported.models)) throw new Error(`check/src/models/${file} exports no list \`models\``);
  all.push(exported);
}

export const models: readonly Model[] = all.flatMap((file) => file.models);
export const sections: readonly Section[] = all.flatMap((file) => file.sections ?? []);

// Jobs, reports and tests name a model by its name alone.
for (const [i, { name }] of models.entries())
  if (models.findIndex((other) => other.name === name) !== i) throw new Error(`two models are called ${name}`);
