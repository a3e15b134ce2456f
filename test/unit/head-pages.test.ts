/** The head page of each folder for the papers names each file of the folder, and no other. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const folders = ['core/papers', 'src/papers/algorithms', 'src/papers/p0514'];

it.each(folders)('the README.md of %s names its files', (folder) => {
  const at = new URL(`../../${folder}/`, import.meta.url);
  const files = readdirSync(at).filter((name) => name.endsWith('.ts') && !name.endsWith('-bytes.ts'));
  const named = readFileSync(new URL('README.md', at), 'utf8').matchAll(/`([\w-]+\.ts)`/g);
  expect([...new Set([...named].map(([, name]) => name))].sort()).toEqual(files.sort());
});
