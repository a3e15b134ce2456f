/**
 * The pages name code: files, functions in files, the files of a folder, sizes of modules. These tests compare what the
 * pages say with the code. They read names alone, so the sentences around the names may change.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const at = (path: string) => new URL(`../../${path}`, import.meta.url);
const read = (path: string) => readFileSync(at(path), 'utf8');
/** The groups of the first match. The text must have one. */
function groupsOf(pattern: RegExp, text: string): string[] {
  const match = pattern.exec(text);
  if (match === null) throw new Error(`Nothing matches ${pattern}.`);
  return match.slice(1);
}
const unique = (names: string[]) => [...new Set(names)].sort();

/** Folders with what git, npm or the build makes. */
const NOT_SOURCES = new Set(['.git', 'node_modules', 'dist', 'build', 'results']);

/** All folders (with a slash at the end) and all files in this folder, or only those that lie in it directly. */
function entries(folder: string, deep: boolean): string[] {
  return readdirSync(at(folder || './'), { withFileTypes: true }).flatMap((entry) => {
    if (NOT_SOURCES.has(entry.name)) return [];
    if (!entry.isDirectory()) return [folder + entry.name];
    const inner = `${folder}${entry.name}/`;
    return deep ? [inner, ...entries(inner, true)] : [inner];
  });
}

const sources = entries('', true);
const roots = sources.filter((path) => /^[^/]+\/$/.test(path));
const pages = ['CONTRIBUTING.md', ...sources.filter((path) => /^docs\/.*\.md$/.test(path))];

/** The files and folders that a page may mean: a path from a folder of the root on is whole, others may be shortened. */
function meant(path: string): string[] {
  if (roots.some((root) => path.startsWith(root))) return sources.filter((source) => source === path);
  return sources.filter((source) => source === path || source.endsWith(`/${path}`));
}

describe('each file and folder that a page names exists', () => {
  /** Files of the latch which adding-a-primitive.md adds. */
  const EXAMPLES = [
    'check/src/models/latch.ts',
    'core/kinds/latch/',
    'core/kinds/latch/latch.ts',
    'core/kinds/latch/words.ts',
    'docs/queued-latch.md',
    'simulate/src/kinds/queued-latch.ts',
    'src/queued-latch/',
    'src/queued-latch/queued-latch.ts',
    'test/programs/soak/kinds/queued-latch.mjs',
    'test/unit/queued-latch.test.ts',
  ];
  const inCode = /`((?:[\w.-]+\/)*[\w-][\w.-]*\.(?:[cm]?[jt]s|lua|cpp|html|md|json)|(?:[\w.-]+\/)+)`/g;
  const fromRoot = new RegExp(`(?<![\\w./@#-])(?:${roots.join('|').replaceAll('.', '\\.')})[\\w./-]*[\\w/]`, 'g');
  const isMade = (path: string) => path.split('/').some((name) => NOT_SOURCES.has(name));

  function named(page: string): string[] {
    const text = read(page);
    const paths = [...text.matchAll(inCode)].map(([, path]) => path);
    // The guides name files of a user's program too, without a folder.
    const ours = page.startsWith('docs/guides/') ? paths.filter((path) => path.includes('/')) : paths;
    return unique([...ours, ...[...text.matchAll(fromRoot)].map(([path]) => path)]).filter((path) => !isMade(path));
  }

  it.each(pages)('%s', (page) => {
    // A page may leave out the slash after a folder.
    const missing = named(page).filter((path) => [...meant(path), ...meant(`${path}/`)].length === 0);
    expect(missing.filter((path) => !EXAMPLES.includes(path))).toEqual([]);
  });

  it('the test finds the paths of the pages, and each exception is needed', () => {
    const all = unique(pages.flatMap(named));
    expect(all.length).toBeGreaterThan(200);
    expect(all).toEqual(expect.arrayContaining(EXAMPLES));
    expect(EXAMPLES.filter((path) => meant(path).length > 0)).toEqual([]);
  });
});

describe('each name that a page gives with its file is declared in this file', () => {
  const FILE = /`((?:[\w.-]+\/)*[\w-]+\.(?:ts|mjs|js))`/.source;
  const NAME = /`#?[A-Za-z_]\w*`/.source;
  const NAMES = `${NAME}(?:(?:,| and| or|, and)\\s+${NAME})*`;
  /** Each group `names` belongs to the file before it or after it. */
  const PATTERNS = [
    `${FILE}\\s+\\((?<names>${NAMES})\\)`, // `file.ts` (`f`, `g`)
    `${FILE}\\s(?<names>${NAMES})(?=[,.;:\\s])`, // `file.ts` `f`, `g`
    `(?<names>${NAMES})\\s+\\(${FILE}\\)`, // `f` (`file.ts`)
    `(?<names>${NAMES})\\s+(?:in|of)\\s+${FILE}`, // `f` in `file.ts`
  ].map((pattern) => new RegExp(pattern, 'g'));

  function pairs(text: string): { file: string; name: string }[] {
    return PATTERNS.flatMap((pattern) => [...text.matchAll(pattern)]).flatMap(({ groups, 1: first, 2: second }) => {
      const file = first.startsWith('`') ? second : first;
      return [...(groups?.names ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => ({ file, name }));
    });
  }

  const MODIFIER = '(?:static|async|get|set|readonly|private|protected|declare|override|abstract)';

  /** Where the parenthesis that opens at `from` is closed. */
  function closed(text: string, from: number): number {
    let open = 0;
    for (let i = from; i < text.length; i++) {
      if (text[i] === '(') open++;
      else if (text[i] === ')' && --open === 0) return i;
    }
    return text.length;
  }

  /**
   * Whether the code declares this name: as a function, a variable, a type, or a member of a class or of an object. The
   * name of an event counts as declared where the code listens for the event.
   */
  function declares(code: string, name: string): boolean {
    if (new RegExp(`\\b(?:function\\*?|const|let|var|class|interface|type|enum)\\s+${name}\\b`).test(code)) return true;
    if (new RegExp(`\\b(?:on|once|addEventListener)\\('${name}'`).test(code)) return true;
    const member = new RegExp(`^ +(?:${MODIFIER} )*${name}[?!]?(?:<[^\\n]*?>)?(\\(|: | = |;)`, 'gm');
    return [...code.matchAll(member)].some((match) => {
      if (match[1] !== '(') return true;
      // The parameters of a method are followed by a type or a body, the arguments of a call are not.
      return /^\s*[:{]/.test(code.slice(closed(code, match.index + match[0].length - 1) + 1));
    });
  }

  it.each(pages.filter((page) => pairs(read(page)).length > 0))('%s', (page) => {
    const wrong = pairs(read(page)).filter(({ file, name }) => {
      return !meant(file).some((source) => declares(read(source), name));
    });
    expect(wrong).toEqual([]);
  });

  it('the test finds the pairs of the pages', () => {
    const text =
      'Call `a` (`x.ts`), then `b` or\n`#c` in `y/z.ts`: `core/v.ts` `d`, `e`, `w.mjs`\n(`f`, `g`), and `h` of `k`.';
    expect(
      pairs(text)
        .map(({ file, name }) => `${file} ${name}`)
        .sort(),
    ).toEqual(['x.ts a', 'y/z.ts b', 'y/z.ts #c', 'core/v.ts d', 'core/v.ts e', 'w.mjs f', 'w.mjs g'].sort());
    expect(pages.map(read).flatMap(pairs).length).toBeGreaterThan(100);
  });

  it('the test tells a declaration from a use', () => {
    const head = read('core/kinds/mutex/mutex-head.ts');
    for (const name of ['poll', 'setLimit', 'wakeHead']) expect(declares(head, name)).toBe(false);
    for (const name of ['compete', 'takeLock', 'MOST_POLLS']) expect(declares(head, name)).toBe(true);
    expect(declares('class A {\n  f(x: (y: B) => C): void {\n    this.g(x);\n  }\n}', 'f')).toBe(true);
    expect(declares('{\n  f(g(1),\n    2);\n}', 'f')).toBe(false);
  });
});

describe('the commands', () => {
  const WORKSPACES = JSON.parse(read('package.json')).workspaces as string[];
  /** Folders with lock files of their own, which one names by --prefix. */
  const APART = ['docs-build', 'package-tests', 'site'];
  /** Which scripts there are in each folder. */
  const scripts = new Map(
    ['.', ...WORKSPACES, ...APART].map((folder) => [
      folder,
      Object.keys(JSON.parse(read(`${folder}/package.json`)).scripts ?? {}),
    ]),
  );
  const COMMAND = /\bnpm (?:run (?:--silent )?([a-z][\w:-]*)|(start|test)\b)(?: (?:-w|--prefix) ([\w-]+))?/g;
  const named = (path: string) =>
    [...read(path).matchAll(COMMAND)].map(([command, run, short, workspace = '.']) => ({
      command,
      exists: scripts.get(workspace)?.includes((run ?? short) as string) ?? false,
    }));
  const TEXT = /(\.(md|ts|mjs|json|lua)|^\.ci\/run)$/;
  const files = [...sources, '.ci/run'].filter((path) => TEXT.test(path) && !/package(-lock)?\.json$/.test(path));

  it('which any file names exist', () => {
    const missing = files.flatMap((path) => {
      return named(path).flatMap(({ command, exists }) => (exists ? [] : [`${path}: ${command}`]));
    });
    expect(missing).toEqual([]);
    expect(files.flatMap(named).length).toBeGreaterThan(150);
  });

  it('of each folder stand in docs/internals/commands.md', () => {
    const page = read('docs/internals/commands.md');
    // What npm runs by itself, and the parts of `npm run build`.
    const UNNAMED = ['prepack', 'preprepare', 'version', 'build', 'build:all', 'build:library'];
    const missing = [...scripts].flatMap(([folder, names]) =>
      names
        .filter((name) => !UNNAMED.includes(name))
        .map((name) => {
          const where = folder === '.' ? '' : ` ${APART.includes(folder) ? '--prefix' : '-w'} ${folder}`;
          return `npm ${/^(start|test)$/.test(name) ? name : `run ${name}`}${where}`;
        })
        .filter((command) => !page.includes(command)),
    );
    expect(missing).toEqual([]);
  });

  it('which run a program name one that is there', () => {
    const programs = files.flatMap((path) =>
      [...read(path).matchAll(/\bnode ((?:scripts|site|simulate|bench|test|check|processes)\/[\w/.-]+\.mjs)/g)]
        .map(([, program]) => program as string)
        .filter((program) => !sources.includes(program))
        .map((program) => `${path}: node ${program}`),
    );
    expect(programs).toEqual([]);
  });
});

describe('the lists of folders and files are complete', () => {
  it('adding-a-primitive.md: the folders of core/', () => {
    const page = read('docs/internals/adding-a-primitive.md');
    const [block] = groupsOf(/## The layers\s+```\n([\s\S]*?)\n```/, page);
    const lists = new Map<string, string>();
    let folder = '';
    for (const line of block.replaceAll(/◄──.*/g, '').split('\n')) {
      const [key, rest] = groupsOf(/^ {3}(\S+)?\s*(.*)$/, line);
      if (key) folder = key;
      lists.set(folder, `${lists.get(folder) ?? ''} ${rest}`);
    }
    for (const folder of ['core/arena/', 'core/queue/', 'core/kinds/', 'core/death/']) {
      const listed = [...(lists.get(folder) ?? '').matchAll(/([\w-]+\/?)(?:\.ts)?/g)].map(([, name]) => name);
      const there = entries(folder, false).map((path) => path.slice(folder.length).replace(/\.ts$/, ''));
      // The latch is what the page adds.
      expect(listed.filter((name) => name !== 'latch/').sort(), folder).toEqual(there.sort());
    }
  });

  it('architecture.md: the folders of the repository, of core/ and of src/', () => {
    const rows = [...read('docs/internals/architecture.md').matchAll(/^\| `([\w./-]+\/)` \| (.*) \|$/gm)];
    const listed = new Map(rows.map(([, folder, text]) => [folder, text]));
    expect([...listed.keys()].filter((folder) => !sources.includes(folder))).toEqual([]);
    // A folder of core/ or src/ has a row, or is named in the row of its parent.
    const named = ['core/', 'src/'].flatMap((parent) =>
      [...(listed.get(parent) ?? '').matchAll(/`(\w+\/)`/g)].map(([, folder]) => `${parent}${folder}`),
    );
    const there = [...roots, ...entries('core/', false), ...entries('src/', false)];
    // Hidden folders may be those of an editor.
    const wanted = there.filter((path) => path.endsWith('/') && !path.startsWith('.'));
    expect(wanted.filter((folder) => ![...listed.keys(), ...named].includes(folder))).toEqual([]);
  });
});

describe('architecture.md gives the sizes of the modules', () => {
  const text = read('docs/internals/architecture.md');
  const given = new Map(
    [...text.matchAll(/`(\w+)\.wasm`[^`|.]*?([\d.]+) KB/g)].map(([, module, size]) => [module, Number(size)]),
  );

  it.each(['core', 'algorithms', 'sync', 'channel'])('%s.wasm, within a quarter', (module) => {
    const size = statSync(at(`build/${module}.wasm`)).size / 1000;
    expect(Math.abs((given.get(module) ?? 0) - size) / size).toBeLessThan(0.25);
  });
});

describe('each name of code that the glossary gives is in the code', () => {
  const ROOTS = /^(core|src|check\/src|simulate\/src|processes\/src|scripts|test)\/.*\.(ts|mjs|js)$/;
  const code = sources
    .filter((path) => ROOTS.test(path))
    .map(read)
    .join('\n');
  const words = new Set(code.match(/#?[A-Za-z_]\w*/g));

  it('docs/internals/glossary.md', () => {
    const names = unique(
      [...read('docs/internals/glossary.md').matchAll(/`(#?[A-Za-z_]\w*)`/g)].map(([, name]) => name),
    );
    expect(names.length).toBeGreaterThan(10);
    expect(names.filter((name) => !words.has(name))).toEqual([]);
  });
});
