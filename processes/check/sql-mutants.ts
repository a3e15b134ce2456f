/**
 * Mutants of the functions of PostgreSQL (src/postgres/schema.sql): copies with one fault each, as mutants.ts makes them of
 * the script. A statement is left out; a condition is always true, never true, or negated; an operator, a constant or one
 * of a pair of functions is replaced by another.
 */
import { type Mutant, Mutations, OTHERS_IN_BOTH } from './mutant.js';

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
  /** The statement that a call must reach to tell the mutant; none if each call may. */
  readonly statement: string | undefined;
}

const CONTROL = ['if', 'elsif', 'else', 'end', 'case', 'when', 'while', 'for', 'foreach', 'loop', 'begin', 'exception'];

/** Part of a function from a place on, up to the next part: a statement, or a condition of one that begins before. */
interface Part {
  readonly from: number;
  /** Where the statement begins. */
  readonly statement: number;
}

/** What a function of PL/pgSQL consists of. */
class Statements {
  readonly tokens: readonly Token[];
  readonly parts: Part[] = [];
  /** The conditions, and the statements that can be left out, by the places of their first tokens and behind the last. */
  readonly conditions: (readonly [from: number, to: number])[] = [];
  readonly simple: (readonly [from: number, to: number])[] = [];

  constructor({ text }: SqlFunction) {
    this.tokens = tokensOf(text.slice(0, text.lastIndexOf('$$')), text.indexOf('$$') + 2);
    if (/language plpgsql/.test(text)) this.#walk();
  }

  /** The place of the first of these words from a place on that is not within a CASE of an expression. */
  #next(from: number, ...words: readonly string[]): number {
    let depth = 0;
    for (let at = from; at < this.tokens.length; at++) {
      const word = (this.tokens[at] as Token).text.toLowerCase();
      if (depth === 0 && words.includes(word)) return at;
      if (word === 'case') depth++;
      if (word === 'end' && depth > 0) depth--;
    }
    return this.tokens.length;
  }

  #walk(): void {
    const outer: number[] = [];
    let at = this.#next(0, 'begin') + 1;
    while (at < this.tokens.length) {
      const { text, at: from } = this.tokens[at] as Token;
      const word = text.toLowerCase();
      const begins = !/^(elsif|else|when|end|;)$/.test(word);
      if (/^(if|case|while|for|foreach|loop|begin)$/.test(word)) outer.push(from);
      this.parts.push({ from, statement: begins ? from : (outer.at(-1) ?? from) });
      if (word === 'if' || word === 'elsif') at = this.#condition(at + 1, 'then');
      else if (word === 'while') at = this.#condition(at + 1, 'loop');
      else if (word === 'for' || word === 'foreach') at = this.#next(at + 1, 'loop') + 1;
      else if (word === 'when') at = this.#next(at + 1, 'then') + 1;
      else if (word === 'case') at = this.#next(at + 1, 'when');
      else if (word === 'end') {
        outer.pop();
        at = this.#next(at + 1, ';') + 1;
      } else if (CONTROL.includes(word) || word === ';') at++;
      else {
        const semicolon = this.#next(at, ';');
        if (word === 'exit' || word === 'continue') {
          const when = this.#next(at, 'when');
          if (when < semicolon) this.conditions.push([when + 1, semicolon]);
        }
        this.simple.push([at, semicolon]);
        at = semicolon + 1;
      }
    }
  }

  /** Notes a condition, and returns the place behind it. */
  #condition(from: number, end: string): number {
    const to = this.#next(from, end);
    this.conditions.push([from, to]);
    return to + 1;
  }

  /** Where the statement begins that is at a place of the text, or the first one for a place before it. */
  at(place: number): number | undefined {
    return (this.parts.findLast(({ from }) => from <= place) ?? this.parts[0])?.statement;
  }
}

const nameOf = (one: SqlFunction, statement: number): string => `${one.name}_${statement}`;

/** The names of all statements of a function. */
export function statementsOf(one: SqlFunction): string[] {
  return [...new Set(new Statements(one).parts.map(({ statement }) => nameOf(one, statement)))];
}

/**
 * The function notes each statement that it begins: the setting `reached.` and the name of the statement becomes the value
 * of the setting `check.call`. Nothing else of it is changed.
 */
export function noting(one: SqlFunction): string {
  const places = new Set(new Statements(one).parts.map(({ statement }) => statement));
  let { text } = one;
  for (const place of [...places].sort((a, b) => b - a)) {
    const note = `assert set_config('reached.${nameOf(one, place)}', current_setting('check.call'), false) <> ''; `;
    text = text.slice(0, place) + note + text.slice(place);
  }
  return text;
}

export function sqlMutantsOf(one: SqlFunction): SqlMutant[] {
  const { text } = one;
  const statements = new Statements(one);
  const { tokens } = statements;
  const placeOf = (lines: readonly string[]): string => `schema.sql:${one.line + lines.length - 1}`;
  const mutations = new Mutations(text, OTHERS, placeOf, /\s*--.*$/);
  const behind = ({ text: word, at }: Token): number => at + word.length;
  for (const [from, to] of statements.conditions) {
    const [start, end] = [(tokens[from] as Token).at, behind(tokens[to - 1] as Token)];
    for (const other of ['true', 'false', `not (${text.slice(start, end)})`]) mutations.replace(start, end, other);
  }
  for (const [from, to] of statements.simple)
    mutations.replace((tokens[from] as Token).at, behind(tokens[to - 1] as Token), 'null');
  for (const token of tokens) {
    const word = token.text;
    const replace = (other: string): void => mutations.replace(token.at, behind(token), other);
    for (const other of OTHERS[word.toLowerCase()] ?? []) replace(other);
    if (/^\d+$/.test(word)) {
      replace(`${BigInt(word) + 1n}`);
      replace(`(${BigInt(word) - 1n})`);
    }
    if (/^'.*'$/s.test(word)) replace(word === "'0'" ? "'1'" : word === "'1'" ? "'0'" : "'z'");
  }
  return mutations.made.map((mutant) => {
    const statement = statements.at(mutant.at);
    return { ...mutant, function: one.name, statement: statement === undefined ? undefined : nameOf(one, statement) };
  });
}
