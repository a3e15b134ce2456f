/**
 * Writes the types of CommonJS of a package, such as dist/index.d.cts for dist/index.d.ts. The folder of the package is
 * the argument, and its package.json names the entries.
 *
 * A d.cts declares nothing anew: each class in it is the class of the d.ts. So a program that has modules of both sorts
 * may hand objects of one sort to the other. A module of CommonJS can only take types from the d.ts, so the d.cts
 * declares each value of the entry once more by its type, below the docstring of this value:
 *
 *     import type * as entry from './index.js' with { 'resolution-mode': 'import' };
 *     export type * from './index.js' with { 'resolution-mode': 'import' };
 *     export declare const Mutex: typeof entry.Mutex;
 *     export type Mutex = entry.Mutex;
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const folder = process.argv[2];
const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
for (const { types } of Object.values(exports)) {
  if (types?.require) writeFileSync(join(folder, types.require), declarations(join(folder, types.default)));
}

function declarations(path) {
  const from = `'./${basename(path, '.d.ts')}.js' with { 'resolution-mode': 'import' };`;
  const lines = [`import type * as entry from ${from}`, `export type * from ${from}`];
  // An entry exports like this: export { Semaphore, type SemaphoreHandle } from './semaphore.js';
  for (const [, names, file] of readFileSync(path, 'utf8').matchAll(/^export \{ ([^}]+) \} from '(.+)\.js';$/gm)) {
    const values = names
      .trim()
      .split(/,\s*/)
      .filter((name) => /^\w+$/.test(name));
    lines.push(...values.map((name) => declarationsOf(name, join(path, '..', `${file}.d.ts`))));
  }
  return `${lines.join('\n')}\n`;
}

/** The declarations of the value `name`, which this file or one whose exports it passes on declares. */
function declarationsOf(name, path) {
  const declared = readFileSync(path, 'utf8');
  const docstring = '(/\\*\\*(?:(?!\\*/)[^])*\\*/\\n)?';
  const form = new RegExp(`^${docstring}export declare (?:abstract )?(class|const|function) ${name}\\b`, 'm');
  const [match = '', words = '', sort] = form.exec(declared) ?? [];
  if (sort === undefined) {
    const [, file] = /^export \* from '(.+)\.js';$/m.exec(declared) ?? [];
    if (file === undefined) throw new Error(`${path} does not declare ${name}`);
    return declarationsOf(name, join(path, '..', `${file}.d.ts`));
  }
  const isType = sort === 'class' || new RegExp(`^export type ${name} =`, 'm').test(declared);
  const after = declared.slice(declared.indexOf(match) + match.length);
  const [parameters, names] = sort === 'class' ? parametersOf(after) : ['', ''];
  const type = isType ? `\nexport type ${name}${parameters} = entry.${name}${names};` : '';
  return `${words}export declare const ${name}: typeof entry.${name};${type}`;
}

/** The parameters with which a declaration goes on, such as `<T = Uint8Array>`, and their names alone: `<T>`. */
function parametersOf(text) {
  if (!text.startsWith('<')) return ['', ''];
  let depth = 0;
  let end = 0;
  const names = [];
  for (const [token] of text.matchAll(/=>|[<>]|[^<>=]+|=/g)) {
    if (token === '<') depth++;
    else if (token === '>') depth--;
    else if (depth === 1 && names.length === 0) names.push(/^\w+/.exec(token)[0]);
    end += token.length;
    if (depth === 0) break;
  }
  const parameters = text.slice(0, end);
  // Names behind a comma, outside of the defaults and limits of other parameters.
  const rest = parameters
    .slice(1, -1)
    .replace(/<[^<>]*>/g, '')
    .split(/,\s*/)
    .slice(1);
  for (const one of rest) names.push(/^\w+/.exec(one)[0]);
  return [parameters, `<${names.join(', ')}>`];
}
