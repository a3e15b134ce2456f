/** The functions with the tag `@inline` are part of each of their callers (scripts/inline.mjs). */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

const tagged = (readdirSync(new URL('core/', root), { recursive: true }) as string[])
  .filter((path) => path.endsWith('.ts'))
  .flatMap((path) =>
    [
      ...read(`core/${path}`).matchAll(
        /@inline\n? \*\/\n(?:export )?function (\w+)|\/\*\* @inline \*\/\n(?:export )?function (\w+)/g,
      ),
    ].map(([, long, short]) => `$core/${path.slice(0, -'.ts'.length)}/${long ?? short}`),
  );

it('there are such functions', () => {
  expect(tagged.length).toBeGreaterThan(20);
});

it.each(['core', 'sync', 'channel', 'algorithms'])('the module %s calls none of them', (module) => {
  const called = new Set([...read(`build/${module}.wat`).matchAll(/\(call (\$[^\s)]+)/g)].map(([, name]) => name));
  expect(called.size).toBeGreaterThan(0);
  expect(tagged.filter((name) => called.has(name))).toEqual([]);
});
