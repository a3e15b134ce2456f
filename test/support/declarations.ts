/** The calls of the public classes and functions in the declarations of a build, so that a test misses none. */

/** A class or a function, or an object with methods. */
export type Callable = (new (...args: unknown[]) => object) & Record<string, (...args: unknown[]) => unknown>;
export type Exports = Readonly<Record<string, Callable>>;

export interface Parameter {
  readonly name: string;
  readonly type: string;
}

export interface Call {
  /** The call with the names of its parameters. */
  readonly name: string;
  /** Those among which the owner is. Classes of several entries may have one name. */
  readonly all: Exports;
  /** The class or the function. */
  readonly owner: string;
  /** The method, or `constructor`. A function has none. */
  readonly method?: string;
  readonly isStatic: boolean;
  readonly parameters: readonly Parameter[];
}

/** Returns the classes that have this name, or inherit from a class that is not exported and has this name. */
function ownersOf(all: Exports, name: string): string[] {
  const inherits = (one: unknown): boolean =>
    typeof one === 'function' && (one.name === name || inherits(Object.getPrototypeOf(one)));
  return name in all ? [name] : Object.keys(all).filter((each) => inherits(all[each]));
}

const OPENING = '([{<';
const CLOSING = ')]}>';

/** Splits a list at its commas, but not inside of brackets. The `>` of an arrow is no bracket. */
function split(list: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const [i, character] of [...list].entries()) {
    if (OPENING.includes(character)) depth++;
    else if (CLOSING.includes(character) && !(character === '>' && list[i - 1] === '=')) depth--;
    if (character === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

/** Returns what stands between the first bracket of a text and the bracket that closes it. */
function inBrackets(text: string): string {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '(') depth++;
    else if (text[i] === ')' && --depth === 0) return text.slice(1, i);
  }
  throw new Error(`a bracket of ${text} is not closed`);
}

/** The parameters in the list of a declaration. A rest parameter `request` stands for the permits and the options. */
function parametersOf(list: string): Parameter[] {
  return split(list).flatMap((parameter): Parameter[] => {
    const [, rest, name = '', type = ''] = /^(\.\.\.)?(\w+)\??: (.*)$/s.exec(parameter) ?? [];
    if (rest === undefined) return [{ name, type }];
    return /^(Permits|Rate)Request/.test(type)
      ? [
          { name: 'permits', type: 'number' },
          { name: 'options', type: 'WaitOptions' },
        ]
      : [];
  });
}

/** Returns the calls in the text of a declaration file. `all` are the exports of an entry. */
export function callsIn(all: Exports, declarations: string): Call[] {
  const calls: Call[] = [];
  let owners: string[] = [];
  for (const [line, kind, name = '', rest = ''] of declarations.matchAll(
    /^(?:export )?(?:declare (?:abstract )?)?(class|function|interface|type|const) (\w+)(.*)$|^ {4}(?:static )?\w+(?:<[^(]+>)?\([^;]*?(?:\{[^}]*\}[^;]*?)*\).*(?:;|\{)$/gm,
  )) {
    if (kind === 'function') {
      for (const owner of ownersOf(all, name)) calls.push(callOf(all, owner, undefined, false, rest));
    }
    // An interface is called by its own name, so the methods of interfaces are those of no class.
    else if (kind !== undefined) owners = kind === 'class' ? ownersOf(all, name) : [];
    else {
      const [, isStatic, method = '', list = ''] = /^ {4}(static )?(\w+)(.*)$/s.exec(line) ?? [];
      for (const owner of owners) calls.push(callOf(all, owner, method, isStatic !== undefined, list));
    }
  }
  return calls;
}

function callOf(all: Exports, owner: string, method: string | undefined, isStatic: boolean, list: string): Call {
  const parameters = parametersOf(inBrackets(list.slice(list.indexOf('('))));
  const name = `${owner}${method ? `.${method}` : ''}(${parameters.map(({ name }) => name).join(', ')})`;
  return { name, all, owner, ...(method && { method }), isStatic, parameters };
}

/** Returns the methods of all classes but errors, as `Class.method`, as the classes have them at run time. */
export function methodsOf(all: Exports): string[] {
  const methods = new Set<string>();
  for (const [name, Class] of Object.entries(all)) {
    if (typeof Class !== 'function' || !/^[A-Z]/.test(name) || Class.prototype instanceof Error) continue;
    for (let of = Class.prototype; of !== Object.prototype; of = Object.getPrototypeOf(of))
      for (const [method, { value }] of Object.entries(Object.getOwnPropertyDescriptors(of)))
        if (typeof value === 'function' && method !== 'constructor') methods.add(`${name}.${method}`);
  }
  return [...methods];
}
