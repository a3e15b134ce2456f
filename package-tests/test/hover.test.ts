/**
 * What an editor shows of the installed packages when the mouse is over a name. TypeScript's language service is what
 * editors ask. The text of each public method and function must say what it throws and whether it blocks, and must have
 * an example that calls it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript-5';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { shownByTypeScript7 } from '../support/editor-7.js';
import { installProcesses, type Project } from '../support/taketurns-processes.js';

interface Shown {
  /** The class or entry and the method, for a report. */
  readonly name: string;
  readonly method: string;
  /** The docstring, with its tags. */
  readonly text: string;
  readonly tags: readonly { readonly name: string; readonly text: string }[];
}

/** The declarations of an installed package, and what an editor shows of them. */
class Editor {
  readonly #root: string;
  readonly #service: ts.LanguageService;
  /** Members of classes that the interface of the same name has and the class has not: nothing implements them. */
  readonly undeclared: string[] = [];

  constructor(root: string, files: readonly string[]) {
    this.#root = root;
    const settings: ts.CompilerOptions = {
      module: ts.ModuleKind.NodeNext,
      target: ts.ScriptTarget.ES2022,
      lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts', 'lib.dom.d.ts'],
      types: [],
    };
    const { sys } = ts;
    this.#service = ts.createLanguageService({
      getScriptFileNames: () => [...files],
      getScriptVersion: () => '1',
      getScriptSnapshot: (file) =>
        sys.fileExists(file) ? ts.ScriptSnapshot.fromString(readFileSync(file, 'utf8')) : undefined,
      getCurrentDirectory: () => root,
      getCompilationSettings: () => settings,
      getDefaultLibFileName: ts.getDefaultLibFilePath,
      fileExists: sys.fileExists,
      readFile: sys.readFile,
      directoryExists: sys.directoryExists,
      realpath: (path) => path,
    });
  }

  /** Returns what is shown of each method of the classes of an entry, and of each function of the entry. */
  methods(entry: string): Shown[] {
    const program = this.#service.getProgram() as ts.Program;
    const checker = program.getTypeChecker();
    const file = program.getSourceFile(entry) as ts.SourceFile;
    const shown: Shown[] = [];
    const add = (name: string, symbol: ts.Symbol): void => {
      for (const declaration of symbol.declarations ?? []) {
        if (!ts.isMethodDeclaration(declaration) && !ts.isFunctionDeclaration(declaration)) continue;
        const isHidden =
          ts.getCombinedModifierFlags(declaration) & (ts.ModifierFlags.Protected | ts.ModifierFlags.Private);
        // The language calls methods whose names are symbols.
        if (isHidden || !declaration.name || !ts.isIdentifier(declaration.name)) continue;
        const from = declaration.getSourceFile().fileName;
        if (from.startsWith(this.#root)) shown.push(this.at(name, from, declaration.name.getStart()));
      }
    };
    for (const exported of checker.getExportsOfModule(checker.getSymbolAtLocation(file) as ts.Symbol)) {
      const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
      add(symbol.name, symbol);
      if (!(symbol.flags & ts.SymbolFlags.Class)) continue;
      for (const type of [checker.getDeclaredTypeOfSymbol(symbol), checker.getTypeOfSymbol(symbol)]) {
        for (const member of checker.getPropertiesOfType(type)) {
          if (this.#isInterfaceOnly(member)) this.undeclared.push(`${symbol.name}.${member.name}`);
          add(`${symbol.name}.${member.name}`, member);
        }
      }
    }
    return shown;
  }

  #isInterfaceOnly({ declarations = [] }: ts.Symbol): boolean {
    const isOfPackage = declarations.some((each) => each.getSourceFile().fileName.startsWith(this.#root));
    return isOfPackage && declarations.every(({ parent }) => ts.isInterfaceDeclaration(parent));
  }

  /** Returns what is shown of the name at a position. */
  at(name: string, file: string, position: number): Shown {
    const info = this.#service.getQuickInfoAtPosition(file, position);
    const tags = (info?.tags ?? []).map((tag) => ({ name: tag.name, text: ts.displayPartsToString(tag.text) }));
    const text = [ts.displayPartsToString(info?.documentation), ...tags.map((tag) => `@${tag.name} ${tag.text}`)].join(
      '\n',
    );
    return { name, method: name.replace(/.*\./, ''), text, tags };
  }
}

/** Whether there is code that calls the method. What `toString` returns is its example. */
function hasExample({ text, tags, method }: Shown): boolean {
  if (method === 'toString') return text.includes('for example');
  const code = [
    ...[...text.matchAll(/`[^`]+`|^ {4}.*$/gm)].map(([found]) => found),
    ...tags.filter(({ name }) => name === 'example').map((tag) => tag.text),
  ];
  return code.some((each) => new RegExp(`(?<![A-Za-z])${method}\\(`).test(each));
}

/** The tags of docstrings. A tag `link` is a part of a tag that the language service has not understood. */
const TAGS = ['param', 'returns', 'throws', 'example', 'since'];

function checkMethods(shown: readonly Shown[]): void {
  const names = (fails: (one: Shown) => boolean): string[] => shown.filter(fails).map(({ name }) => name);
  expect(names(({ text }) => !/^@throws|\bthrows\b|\brejects?\b/im.test(text))).toEqual([]);
  expect(names(({ text }) => !/\bblock/i.test(text))).toEqual([]);
  expect(names((one) => !hasExample(one))).toEqual([]);
  expect(names(({ tags }) => tags.some(({ name, text }) => !TAGS.includes(name) || /^\{?$/.test(text)))).toEqual([]);
}

const folder = inject('folder');
const taketurns = join(folder, 'node_modules/taketurns');

describe('an editor shows errors, blocking and an example of each method of', () => {
  const files = [
    'index',
    'papers/algorithms/index',
    'channel/index',
    'keyed/index',
    'metrics/index',
    'papers/p0514/index',
    'report/index',
    'sync/index',
    'tasks/index',
  ];
  const declarations = (file: string): string => join(taketurns, `dist/types/${file}.d.ts`);
  const editor = new Editor(taketurns, files.map(declarations));
  /** Entries with few functions. */
  const few: Record<string, number> = { 'metrics/index': 2, 'report/index': 4 };
  it.each(files)('%s', (file) => {
    const shown = editor.methods(declarations(file));
    expect(shown.length).toBeGreaterThan(few[file] ?? 20);
    checkMethods(shown);
    expect(editor.undeclared).toEqual([]);
  });
});

describe('taketurns-processes', () => {
  let project: Project;
  beforeAll(() => {
    project = installProcesses([]);
  });
  afterAll(() => project?.remove());

  it('shows the same of its methods', () => {
    const root = join(project.folder, 'node_modules/taketurns-processes');
    const entry = join(root, 'dist/types/processes/src/index.d.ts');
    const editor = new Editor(root, [entry]);
    const shown = editor.methods(entry);
    expect(shown.length).toBeGreaterThan(40);
    checkMethods(shown);
    expect(editor.undeclared).toEqual([]);
  });
});

it('an editor shows the docstrings of classes and methods in a file of CommonJS, too', () => {
  const file = join(folder, 'hover.cts');
  const code = "import taketurns = require('taketurns');\ntaketurns.Semaphore.open('a').acquire({ timeout: 50 });\n";
  writeFileSync(file, code);
  const editor = new Editor(folder, [file]);
  const [className, method] = ['Semaphore', 'acquire'].map((name) => editor.at(name, file, code.indexOf(name) + 1));
  expect(className?.text).toMatch(/^A counting semaphore shared by threads/);
  expect(method?.text).toMatch(/^Takes permits, and blocks the thread.*^@throws \{TimeoutError\} when/ms);
});

it('an editor of TypeScript 7, too, shows the docstrings that a class inherits from an interface', async () => {
  const file = join(folder, 'hover-7.ts');
  const code =
    "import { Mutex, Semaphore } from 'taketurns';\nimport * as tasks from 'taketurns/tasks';\n" +
    'new Semaphore(1).limit(f);\nnew Mutex().limit(f);\nnew tasks.Semaphore(1).limit(f);\nnew tasks.Mutex().limit(f);\n';
  writeFileSync(file, code);
  const positions = [...code.matchAll(/limit/g)].map(({ index }) => index);
  const shown = await shownByTypeScript7(file, positions);
  expect(shown).toHaveLength(4);
  for (const text of shown) expect(text).toMatch(/Returns a function that calls `run` by `runExclusive`.*@throws/s);
});
