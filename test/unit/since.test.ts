/**
 * What docstrings (`@since 0.3.0`) and pages (`Since 0.3.0.` below their titles) say of versions: the changelog has each.
 * docs-build/complete.mjs demands the tag of what version 0.2.0 did not have.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string): string => readFileSync(`${root}${file}`, 'utf8');
const filesIn = (folder: string, ending: string): string[] =>
  readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => `${folder}/${name}`);

const versions = [...read('CHANGELOG.md').matchAll(/^## \[(\d+\.\d+\.\d+)\]/gm)].map(([, version]) => version);
/** The versions that files name, and where. */
const named = (files: string[], mark: RegExp): [version: string, file: string][] =>
  files.flatMap((file) =>
    [...read(file).matchAll(mark)].map(([, version = '']) => [version, file] as [string, string]),
  );

it.each([
  ['docstrings', [...filesIn('src', '.ts'), ...filesIn('processes/src', '.ts')], /^ *\* @since (.*)$/gm],
  ['pages', [...filesIn('docs', '.md'), ...filesIn('processes/docs', '.md')], /^# .*\n\nSince (.*?)\.$/gm],
])('each version that %s name is in the changelog', (_, files, mark) => {
  const all = named(files, mark);
  expect(all.length).toBeGreaterThan(0);
  expect(all.filter(([version]) => !versions.includes(version))).toEqual([]);
});
