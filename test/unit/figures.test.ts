/** The measured figures of docs/papers say which code they show, and a check tells when this code has changed. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { changedSince, FIGURES, hashOf } from '../../bench/programs/figures.mjs';

const root = new URL('../../', import.meta.url);
type Name = keyof typeof FIGURES;
/** A figure of `only` shows these rows of another figure's measurement. */
type Figure = (typeof FIGURES)[Name] & { readonly only?: readonly string[] };
const names = Object.keys(FIGURES) as Name[];

describe.each(names)('the figure %s', (name) => {
  const { page, drawings, modules, only = [] } = FIGURES[name] as Figure;

  it('has its drawings, and a line in its page', () => {
    for (const drawing of Object.values(drawings)) expect(existsSync(new URL(drawing, root))).toBe(true);
    const text = readFileSync(new URL(page, root), 'utf8');
    expect(changedSince(name, text)).toBeInstanceOf(Array);
    for (const row of only) expect(text).toContain(`| \`${row}\` |`);
  });

  it('is stale as soon as one of its modules is another', () => {
    const line = `<!-- measured: ${name}, ${modules.map((module) => `${module}.wasm ${hashOf(module)}`).join(', ')}, a machine -->`;
    expect(changedSince(name, `a page\n\n${line}\n\nof it`)).toEqual([]);
    for (const changed of modules)
      expect(changedSince(name, line, (module) => (module === changed ? 'another' : hashOf(module)))).toEqual([
        changed,
      ]);
    expect(changedSince(name, 'a page without a line')).toBeUndefined();
  });
});
