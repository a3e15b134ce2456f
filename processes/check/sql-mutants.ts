/**
 * Mutants of the functions of PostgreSQL (src/postgres/schema.sql): copies with one fault each, as mutants.ts makes them of
 * the script. A statement is left out; a condition is always true, never true, or negated; an operator, a constant or one
 * of a pair of functions is replaced by another.
 */
import { type Mutant, OTHERS_IN_BOTH } from './mutant.js';

const OTHERS: Readonly<Record<string, readonly string[]>> = {
  ...OTHERS_IN_BOTH,
  '=': ['<>'],
  '<>': ['='],
  and: ['or'],
  or: ['and'],
  not: [''],
  true: ['false'],
  false: ['true'],
  least: ['greatest'],
  greatest: ['least'],
  floor: ['ceil'],
  ceil: ['floor'],
  max: ['min'],
  min: ['max'],
  any: ['all'],
};

interface Token {
  readonly text: string;
  readonly at: number;
}

/** The words, numbers, strings and operators of a text, without comments. */
function tokensOf(text: string, from: number): Token[] {
  const pattern = /--[^\n]*|[eE]?'(?:[^']|'')*'|[A-Za-z_][A-Za-z_0-9.]*|\d+(?:\.\d+)?|:=|<=|>=|<>|\|\||::|\.\.|\s+|./gs;
  return [...text.slice(from).matchAll(pattern)]
    .map((match) => ({ text: match[0], at: from + match.index }))
    .filter(({ text: each }) => !/^(--|\s)/.test(each));
}

/** A function of the schema: its text, and where it begins. */
export interface SqlFunction {
  readonly name: string;
  readonly text: string;
  readonly line: number;
}

/** All functions of the schema. */
export function functionsOf(schema: string): SqlFunction[] {
  const pattern = /^create or replace function taketurns\.(\w+)\(.*?\$\$.*?\$\$;$/gms;
  return [...schema.matchAll(pattern)].map((match) => ({
    name: match[1] as string,
    text: match[0],
    line: schema.slice(0, match.index).split('\n').length,
  }));
}

/** A mutant of one function. `source` is the text of the function. */
export interface SqlMutant extends Mutant {
  readonly function: string;
}

const CONTROL = ['if', 'elsif', 'else', 'end', 'case', 'when', 'while', 'for', 'foreach', 'loop', 'begin', 'exception'];

export function sqlMutantsOf(one: SqlFunction): SqlMutant[] {
  const { text } = one;
  const body = text.indexOf('$$') + 2;
  const end = text.lastIndexOf('$$');
  const tokens = tokensOf(text.slice(0, end), body);
  const made: SqlMutant[] = [];
  const seen = new Set([text]);
  const replace = (start: number, behind: number, to: string): void => {
    const source = text.slice(0, start) + to + text.slice(behind);
    if (seen.has(source)) return;
    seen.add(source);
    const count = text.slice(0, start).split('\n').length;
    const old = text.slice(start, behind).replace(/\s+/g, ' ');
    made.push({
      function: one.name,
      place: `schema.sql:${one.line + count - 1}`,
      text: (text.split('\n')[count - 1] as string).replace(/--.*$/, '').trim(),
      from: old.length > 60 ? `${old.slice(0, 57)}...` : old,
      to,
      source,
    });
  };
  const behind = ({ text: word, at }: Token): number => at + word.length;
  const condition = (from: number, to: number): void => {
    const [first, last] = [tokens[from], tokens[to - 1]];
    if (!first || !last || to <= from) return;
    const old = text.slice(first.at, behind(last));
    replace(first.at, behind(last), 'true');
    replace(first.at, behind(last), 'false');
    replace(first.at, behind(last), `not (${old})`);
  };
  /** The place of the first of these words from a place on that is not within a CASE of an expression. */
  const next = (from: number, ...words: readonly string[]): number => {
    let depth = 0;
    for (let at = from; at < tokens.length; at++) {
      const word = (tokens[at] as Token).text.toLowerCase();
      if (depth === 0 && words.includes(word)) return at;
      if (word === 'case') depth++;
      if (word === 'end' && depth > 0) depth--;
    }
    return tokens.length;
  };

  const isLanguage = /language plpgsql/.test(text);
  let at = isLanguage ? next(0, 'begin') : tokens.length;
  while (at < tokens.length) {
    const token = tokens[at] as Token;
    const word = token.text.toLowerCase();
    if (word === 'if' || word === 'elsif') {
      const then = next(at + 1, 'then');
      condition(at + 1, then);
      at = then + 1;
    } else if (word === 'while') {
      const loop = next(at + 1, 'loop');
      condition(at + 1, loop);
      at = loop + 1;
    } else if (word === 'for' || word === 'foreach') at = next(at + 1, 'loop') + 1;
    else if (word === 'when') at = next(at + 1, 'then') + 1;
    else if (word === 'case') at = next(at + 1, 'when');
    else if (word === 'end') at = next(at + 1, ';') + 1;
    else if (CONTROL.includes(word) || word === ';') at++;
    else {
      const semicolon = next(at, ';');
      if (word === 'exit' || word === 'continue') {
        const when = next(at, 'when');
        if (when < semicolon) condition(when + 1, semicolon);
      }
      replace(token.at, tokens[semicolon]?.at ?? end, 'null');
      at = semicolon + 1;
    }
  }

  for (const token of tokens) {
    const word = token.text;
    for (const other of OTHERS[word.toLowerCase()] ?? []) replace(token.at, behind(token), other);
    if (/^\d+$/.test(word)) {
      replace(token.at, behind(token), `${BigInt(word) + 1n}`);
      replace(token.at, behind(token), `(${BigInt(word) - 1n})`);
    }
    if (/^'.*'$/s.test(word)) replace(token.at, behind(token), word === "'0'" ? "'1'" : word === "'1'" ? "'0'" : "'z'");
  }
  return made;
}
