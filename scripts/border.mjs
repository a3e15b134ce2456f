/**
 * Writes the files from which the TypeScript of src/ knows the core. The compiler of the core can declare its exports,
 * but neither its constants, nor which answers a function may give. So these files are made from the sources of the
 * core, and nobody writes a number or an answer of the core twice:
 *
 *     src/border/numbers.ts                        every constant of words.ts and answers.ts, as a number and as a type
 *     src/border/kinds.ts                          the kinds of objects and their numbers
 *     src/border/core.ts, sync.ts, algorithms.ts   the exports of each module
 *     build/answers.json                           which answers each export may give, for the searches of check/
 *
 * The answers of a function are the constants that its return statements name. The script follows calls, conditions and
 * local variables to find them. If a function computes an answer, or excludes one by a comparison, the script cannot
 * find its answers. Then the docstring of the function declares them:
 *
 *     @answers ADMITTED | ANSWER_CLOSED
 *
 * A function that returns other numbers beside answers has the type number, because TypeScript has no type for "above
 * 0". But the number of an attachment has a type of its own, which the docstring may declare as one of the answers:
 *
 *     @answers Attachment | ANSWER_FULL
 *
 * The library replaces some functions at run time (src/runtime/embedded.ts). The docstring of such a function says by
 * which files, and what the function that stands in its place then does:
 *
 *     @replaced by src/report/measure.ts: calls this function, and notes how long the wait lasts
 *
 * An editor shows this where the function is called, too. All other exports are readonly, so a replacement without the tag
 * does not compile.
 *
 * Only an Attachment makes a Reference. So a caller that forgets an answer does not compile. The searches check every
 * other union of answers: the driver of check/ compares each answer with the union.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
// TypeScript 7 has no programming interface.
import ts from 'typescript-6';
import { kindsIn } from './words.mjs';

const TYPES = {
  bool: '0 | 1',
  i32: 'number',
  u32: 'number',
  usize: 'number',
  i64: 'bigint',
  u64: 'bigint',
  void: 'void',
};
const MADE = '// Made by scripts/border.mjs.\n';

/** The name that stands for a number in a tag, and the type of this number. */
const ATTACHMENT = 'Attachment';
const ATTACHMENT_TYPE = `
/** The number of an attachment, which is above 0. The core alone makes it. */
export type ${ATTACHMENT} = number & { readonly of: 'attachment' };
`;

/**
 * Numbers that src/ needs, computed from those of the core. A bundler computes no division ahead of time, so the script
 * writes the results into src/border/.
 */
const DERIVED = {
  GRANT_HIGH: (value) => value('GRANT') + 4,
  /** Indices of words of 4 bytes. */
  DRAIN_INDEX: (value) => value('O_DRAIN') / 4,
  PHASE_INDEX: (value) => value('O_PHASE') / 4 + 1,
  DOORBELL_TO_DUE: (value) => (value('T_DUE') - value('T_DOORBELL')) / 4,
  DUE_WORDS: (value) => (value('LINE') - value('T_DUE')) / 4,
};

/**
 * Writes the files. `root` is the folder of the project, with a slash; `words` are those of words.mjs; `modules` has the
 * entry of each module by its name.
 */
export function writeBorder(root, words, modules) {
  mkdirSync(`${root}src/border`, { recursive: true });
  const write = (name, text) => writeFileSync(`${root}src/border/${name}.ts`, MADE + text);
  write('numbers', numbers(words));
  write('kinds', kinds(words));
  const sources = new Sources(root, words);
  const answers = {};
  for (const [name, entry] of Object.entries(modules)) {
    const exports = sources.exportsOf(entry);
    write(name, moduleInterface(name, exports));
    answers[name] = Object.fromEntries(
      exports
        .filter((one) => one.answers && !one.answers.includes(ATTACHMENT))
        .map((one) => [one.name, one.answers.map((answer) => words.get(answer).value)]),
    );
  }
  writeFileSync(`${root}build/answers.json`, `${JSON.stringify(answers)}\n`);
}

function numbers(words) {
  const lines = [...words.values()].map(
    ({ name, value, answer }) =>
      `export const ${name} = ${value};\n${answer ? `export type ${name} = typeof ${name};\n` : ''}`,
  );
  for (const [name, derive] of Object.entries(DERIVED))
    lines.push(`export const ${name} = ${derive((word) => words.get(word).value)};\n`);
  return `// The file imports nothing, so a bundler can write a number in place of its name, wherever that is used.\n\n${lines.join('')}${ATTACHMENT_TYPE}`;
}

function kinds(words) {
  const all = kindsIn(words);
  const low = ({ value }) => value & words.get('KIND_NUMBER').value;
  const pascal = (name) =>
    name
      .slice(5)
      .toLowerCase()
      .replace(/(^|_)(\w)/g, (_, __, letter) => letter.toUpperCase());
  const rows = all.toSorted((a, b) => low(a) - low(b)).map(({ name, value }) => `  ${pascal(name)}: ${value},\n`);
  return `
/** The number of each kind of shared object. A program without the other entries carries no table: its classes use KIND_*. */
export const KINDS = {
${rows.join('')}} as const;

export type Kind = keyof typeof KINDS;

export type NumberOf<K extends Kind> = (typeof KINDS)[K];
`;
}

function moduleInterface(module, exports) {
  const used = [...new Set(exports.flatMap(({ answers }) => answers ?? []))].sort();
  const title = module[0].toUpperCase() + module.slice(1);
  const lines = exports.map(({ text }) => `  ${text};\n`);
  return `import type { ${used.join(', ')} } from './numbers.js';

/** The exports of ${module}.wasm; see their docstrings in core/. Addresses and answers are int32. */
export interface ${title} {
${lines.join('')}}
`;
}

/** The sources of the core, each read once. */
class Sources {
  #root;
  #words;
  #files = new Map();
  #answers = new Map();

  constructor(root, words) {
    this.#root = root;
    this.#words = words;
  }

  /** Returns the exports of a module, in the order of its entry. */
  exportsOf(entry) {
    const exports = [];
    for (const name of this.#file(entry).exports.keys()) {
      const { file, node } = this.#find(entry, name);
      if (!ts.isFunctionDeclaration(node)) {
        const type = node.type.getText().replace('usize', 'i32');
        exports.push({ name, text: `readonly ${name}: WebAssembly.Global<'${type}'>` });
        continue;
      }
      const answers = this.#declared(node) ?? this.#exact(file, node);
      const parameters = node.parameters.map((one) => `${one.name.text}: ${typeOf(one.type)}`);
      const result = answers?.join(' | ') ?? TYPES[node.type.getText()];
      const replaced = ts
        .getJSDocTags(node)
        .filter(({ tagName }) => tagName.text === 'replaced')
        .map(({ comment }) => `   * - ${ts.getTextOfJSDocComment(comment).replace(/\s+/g, ' ')}\n`);
      const text = replaced.length
        ? `/**\n   * In some threads another function stands here:\n${replaced.join('')}   */\n  ${name}(${parameters.join(', ')}): ${result}`
        : `readonly ${name}: (${parameters.join(', ')}) => ${result}`;
      exports.push({ name, answers, text });
    }
    return exports;
  }

  #file(path) {
    if (this.#files.has(path)) return this.#files.get(path);
    const file = { names: new Map(), imports: new Map(), exports: new Map() };
    this.#files.set(path, file);
    const source = ts.createSourceFile(path, readFileSync(this.#root + path, 'utf8'), ts.ScriptTarget.Latest, true);
    for (const node of source.statements) {
      if (ts.isFunctionDeclaration(node)) file.names.set(node.name.text, node);
      if (ts.isVariableStatement(node))
        for (const one of node.declarationList.declarations) file.names.set(one.name.text, one);
      if (node.moduleSpecifier === undefined) continue;
      const from = `${join(dirname(path), node.moduleSpecifier.text)}.ts`;
      const [map, clause] = ts.isImportDeclaration(node)
        ? [file.imports, node.importClause?.namedBindings]
        : [file.exports, node.exportClause];
      for (const one of clause?.elements ?? [])
        map.set(one.name.text, { from, name: (one.propertyName ?? one.name).text });
    }
    return file;
  }

  /** Returns where a name that stands in a file is declared, and how. */
  #find(path, name) {
    const file = this.#file(path);
    const node = file.names.get(name);
    if (node) return { file: path, node };
    const other = file.imports.get(name) ?? file.exports.get(name);
    return other && this.#find(other.from, other.name);
  }

  #declared(node) {
    const tag = ts.getJSDocTags(node).find(({ tagName }) => tagName.text === 'answers');
    const text = ts.getTextOfJSDocComment(tag?.comment);
    if (!tag) return undefined;
    const names = text
      .split(/[.:]|\s-\s/)[0]
      .split('|')
      .map((name) => name.trim());
    for (const name of names)
      if (name !== ATTACHMENT && !this.#words.get(name)?.answer)
        throw new Error(`${node.name.text}: @answers ${name}, which is no answer`);
    return names;
  }

  /** Returns the names of all answers of a function, or undefined if it may return another number, or none is an answer. */
  #exact(file, node) {
    if (node.type.getText() !== 'i32') return undefined;
    const names = this.#returned(file, node);
    return names.has(OTHER) || names.size === 0 ? undefined : [...names].sort(this.#byValue);
  }

  #byValue = (a, b) => this.#words.get(a).value - this.#words.get(b).value || (a < b ? -1 : 1);

  /** Returns the names of the answers that a function may return, and OTHER if it may return anything else. */
  #returned(file, node) {
    const key = `${file}/${node.name.text}`;
    const known = this.#answers.get(key);
    if (known) return known;
    const names = new Set();
    this.#answers.set(key, names);
    const declared = this.#declared(node);
    if (declared) {
      for (const name of declared) names.add(name);
      return names;
    }
    const locals = assigned(node);
    const follow = (value) => {
      if (ts.isParenthesizedExpression(value) || ts.isAsExpression(value)) follow(value.expression);
      else if (ts.isConditionalExpression(value)) {
        follow(value.whenTrue);
        follow(value.whenFalse);
      } else if (ts.isIdentifier(value) && locals.has(value.text)) {
        const values = locals.get(value.text);
        locals.set(value.text, []);
        for (const one of values) one === OTHER ? names.add(OTHER) : follow(one);
      } else if (ts.isIdentifier(value)) names.add(this.#words.get(value.text)?.answer ? value.text : OTHER);
      else if (ts.isCallExpression(value) && ts.isIdentifier(value.expression)) {
        const callee = this.#find(file, value.expression.text);
        if (callee && ts.isFunctionDeclaration(callee.node))
          for (const name of this.#returned(callee.file, callee.node)) names.add(name);
        else names.add(OTHER);
      } else names.add(OTHER);
    };
    const visit = (child) => {
      if (ts.isReturnStatement(child) && child.expression) follow(child.expression);
      ts.forEachChild(child, visit);
    };
    visit(node.body);
    return names;
  }
}

const OTHER = 'another number';

/** Returns what each parameter and local variable of a function may be: the expressions assigned to it. */
function assigned(node) {
  const locals = new Map(node.parameters.map(({ name }) => [name.text, [OTHER]]));
  const add = (name, value) => locals.set(name, [...(locals.get(name) ?? []), value]);
  const visit = (child) => {
    if (ts.isVariableDeclaration(child) && child.initializer) add(child.name.text, child.initializer);
    if (ts.isBinaryExpression(child) && ts.isIdentifier(child.left)) {
      const { kind } = child.operatorToken;
      if (kind === ts.SyntaxKind.EqualsToken) add(child.left.text, child.right);
      else if (kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment)
        add(child.left.text, OTHER);
    }
    ts.forEachChild(child, visit);
  };
  visit(node.body);
  return locals;
}

function typeOf(type) {
  const text = type.getText();
  return text === 'bool' ? 'boolean | number' : TYPES[text];
}
