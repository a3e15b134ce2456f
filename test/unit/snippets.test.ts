/**
 * Each program of the README, of the pages in docs/ and of the docstrings runs on its own, when pasted, and prints what the
 * page says. Those in TypeScript are compiled strictly. What names its file in its first line is part of a project of
 * several files, and does not run here.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
// The folder is inside the package, where the package's own name resolves to it.
const folder = `${root}build/snippets`;

interface Snippet {
  readonly page: string;
  readonly line: number;
  readonly language: string;
  readonly code: string;
  /** What the page says that it prints; undefined if the page does not. */
  readonly output: string | undefined;
  readonly name: string;
}

const FENCE = /^```(js|ts|cjs)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?/gms;

/** The files for Node. TypeScript compiles a file of its own language to a module. */
const sourceOf = ({ name, language }: Snippet): string =>
  `${folder}/${name}.${language === 'cjs' ? 'cjs' : `m${language}`}`;
const programOf = ({ name, language }: Snippet): string => `${folder}/${name}.${language === 'cjs' ? 'cjs' : 'mjs'}`;

function snippetsOf(page: string): Snippet[] {
  const source = readFileSync(`${root}${page}`, 'utf8');
  // The lines of a docstring without what they begin with; all others are empty.
  const bare = (line: string): string => (/^ *\* /.test(line) ? line.replace(/^ *\* /, '') : '');
  const text = page.endsWith('.md') ? source : source.replace(/^.*$/gm, bare);
  return [...text.matchAll(FENCE)].map(({ 1: language = '', 2: code = '', 3: output, index }) => {
    const line = text.slice(0, index).split('\n').length;
    return { page, line, language, code, output, name: `${page.replace(/\W/g, '-')}-${line}` };
  });
}

/** The pages for users. Those in docs/internals and processes/docs show code of other kinds. */
const pages = ['docs', 'docs/guides', 'docs/papers'].flatMap((at) =>
  readdirSync(`${root}${at}`).flatMap((name) => (name.endsWith('.md') ? `${at}/${name}` : [])),
);
const sources = readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !/-(bytes|source)\.ts$/.test(name))
  .map((name) => `src/${name}`);
const snippets = ['README.md', ...pages, ...sources]
  .flatMap(snippetsOf)
  .filter(({ code }) => !/^\/\/ [\w./]+\.(m?js|jsx|ts)\n/.test(code));

beforeAll(() => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const snippet of snippets) writeFileSync(sourceOf(snippet), snippet.code);
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('the README', () => {
  const [first] = snippets;

  it('begins with a program of at most 12 lines', () => {
    expect(first?.page).toBe('README.md');
    expect(first?.code.trimEnd().split('\n').length).toBeLessThanOrEqual(12);
  });

  it('is that program: two calls at a time print these lines, in an order that the workers decide', () => {
    const printed = spawnSync(process.execPath, [`${folder}/${first?.name}.mjs`], { encoding: 'utf8' }).stdout;
    expect(printed.split('\n').sort()).toEqual(first?.output?.split('\n').sort());
  });
});

describe('each program of the pages', () => {
  it('is found', () => {
    for (const page of ['semaphore', 'mutex', 'condition', 'rw-lock', 'barrier', 'latch']) {
      expect(snippets.map((snippet) => snippet.page)).toContain(`docs/${page}.md`);
    }
    for (const source of [
      'semaphore/semaphore',
      'mutex/mutex',
      'sync/rw-lock/rw-lock',
      'sync/barrier',
      'sync/condition',
      'papers/p0514/atomic-semaphore',
      'papers/algorithms/capacitor',
    ]) {
      expect(snippets.map((snippet) => snippet.page)).toContain(`src/${source}.ts`);
    }
  });

  it('compiles', () => {
    const files = snippets.filter(({ language }) => language === 'ts').map(sourceOf);
    const tsc = `${root}node_modules/typescript/bin/tsc`;
    const options = ['--ignoreConfig', '--strict', '--module', 'node20', '--target', 'es2022'];
    const lib = ['--lib', 'es2022,esnext.disposable,dom', '--types', 'node'];
    const { status, stdout } = spawnSync(process.execPath, [tsc, ...options, ...lib, ...files], {
      cwd: root,
      encoding: 'utf8',
    });
    expect(stdout).toBe('');
    expect(status).toBe(0);
  });

  it.each(snippets.slice(1).map((snippet) => [`${snippet.page}:${snippet.line}`, snippet] as const))(
    '%s',
    (_, snippet) => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [programOf(snippet)], {
        cwd: root,
        encoding: 'utf8',
        timeout: 30_000,
      });
      expect(stderr).toBe('');
      expect(status).toBe(0);
      if (snippet.output !== undefined) expect(stdout).toBe(snippet.output);
    },
  );
});
