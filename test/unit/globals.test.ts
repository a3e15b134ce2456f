/** docs/internals/globals.md lists the variables that an instance of the core keeps from one call to the next. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

/** The names in a cell of the table. */
const namesIn = (cell = ''): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);

it('the page lists every variable at the top level of a file of the core, and no other', () => {
  const files = readdirSync(new URL('core/', root), { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.ts') && !path.startsWith('papers/'));
  const declared = files.flatMap((path) =>
    [...read(`core/${path}`).matchAll(/^(?:export )?let (\w+)/gm)].map(([, name]) => `${path}: ${name}`),
  );
  const rows = read('docs/internals/globals.md').matchAll(/^\| (`.*`) \| `([\w/-]+\.ts)` \| .* \|$/gm);
  const listed = [...rows].flatMap(([, variables, file]) => namesIn(variables).map((name) => `${file}: ${name}`));
  expect(declared.length).toBeGreaterThan(40);
  expect(listed.sort()).toEqual(declared.sort());
});
