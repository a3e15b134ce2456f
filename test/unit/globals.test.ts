/** docs/internals/globals.md lists the variables that an instance of the core keeps from one call to the next. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const PAGE = 'docs/internals/globals.md';

const files = readdirSync(new URL('core/', root), { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => path.endsWith('.ts') && !path.startsWith('papers/'));
const sources = new Map(files.map((path) => [path, withoutComments(read(`core/${path}`))]));

function withoutComments(source: string): string {
  return source.replace(/\/\*.*?\*\//gs, '').replace(/\/\/.*$/gm, '');
}

/** The functions of a file: their names and their texts. */
function functionsOf(path: string): { name: string; text: string }[] {
  const found = (sources.get(path) ?? '').matchAll(/^(?:export )?function (\w+).*?^\}/gms);
  return [...found].map(([text, name = '']) => ({ name, text }));
}
const functions = files.flatMap(functionsOf);

/** The names and the paths in a cell of the table. */
const namesIn = (cell = ''): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);

/** Whether a function of the core, a file of the repository or a folder of it mentions one of these names. */
function mentions(user: string, names: readonly string[]): boolean {
  const pattern = new RegExp(`\\b(?:${names.join('|')})\\b`);
  if (user.endsWith('/')) return readdirSync(new URL(user, root)).some((file) => mentions(user + file, names));
  if (/\.\w+$/.test(user)) return pattern.test(read(user));
  return functions.some(({ name, text }) => name === user && pattern.test(text));
}

interface Row {
  readonly variables: readonly string[];
  readonly file: string;
  readonly setBy: readonly string[];
  readonly readBy: readonly string[];
}

const rows: Row[] = [...read(PAGE).matchAll(/^\| (`.*) \| `([\w/-]+\.ts)` \| (.*?) \| (.*?) \| .* \|$/gm)].map(
  ([, variables, file = '', setBy, readBy]) => {
    return { variables: namesIn(variables), file, setBy: namesIn(setBy), readBy: namesIn(readBy) };
  },
);

it('the page lists every variable at the top level of a file of the core, and no other', () => {
  const declared = [...sources].flatMap(([path, source]) =>
    [...source.matchAll(/^(?:export )?let (\w+)/gm)].map(([, name]) => `${path}: ${name}`),
  );
  const listed = rows.flatMap(({ variables, file }) => variables.map((name) => `${file}: ${name}`));
  expect(declared.length).toBeGreaterThan(40);
  expect(listed.sort()).toEqual(declared.sort());
});

describe.each(rows)('$variables of $file', ({ variables, file, setBy, readBy }) => {
  const name = `(?<!(?:const|let) |[\\w.])(?:${variables.join('|')})`;
  const store = new RegExp(`${name}(?: [-+]?= |\\+\\+|--)|(?:\\+\\+|--)${name}\\b`);
  const setters = functionsOf(file)
    .filter(({ text }) => store.test(text))
    .map(({ name }) => name);

  it('is set by the functions that the page names', () => {
    expect(setters).not.toEqual([]);
    expect(setBy).toEqual(expect.arrayContaining(setters));
    for (const user of setBy) expect(setters.includes(user) || mentions(user, setters), user).toBe(true);
  });

  it('is set for all functions that call the setters', () => {
    // What begins, sets or ends something for its caller. The callers of other functions are not named.
    const only = setters.filter((setter) => /^(?:begin|set|become|end|reset|spoil|reserve|call)[A-Z]/.test(setter));
    const calls = new RegExp(`(?<!function )\\b(?:${only.join('|') || '-'})\\(`);
    const callers = functions.filter(({ name, text }) => !only.includes(name) && calls.test(text));
    expect(setBy).toEqual(expect.arrayContaining(callers.map(({ name }) => name)));
  });

  it('is read by the functions that the page names', () => {
    expect(readBy).not.toEqual([]);
    for (const user of readBy) expect(mentions(user, variables), user).toBe(true);
  });
});
