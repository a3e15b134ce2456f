/**
 * Runs a script of the server without a server: it compiles the script to a JavaScript function. The compiler knows the
 * subset of Lua 5.1 that src/script/ uses. If a script contains anything else, compiling it is an error. So no script
 * runs here in another way than on the server.
 *
 * Strings are strings of bytes: each character of the JavaScript string is one byte. Each Lua function becomes a
 * JavaScript function that returns the array of its results.
 */
import { type Chunk, type Expression, type Identifier, parse, type Statement } from 'luaparse';

export type Value = undefined | boolean | number | string | Table | LuaFunction;
export type LuaFunction = (...args: Value[]) => Value[];

/** An error of the script, as `error` raises it or as the interpreter does. */
export class LuaError extends Error {}

/** A table. The values at 1, 2, 3… lie in an array, and all others in a map. */
export class Table {
  readonly list: Value[] = [];
  readonly map = new Map<Value, Value>();

  static of(list: readonly Value[]): Table {
    const table = new Table();
    for (const value of list) table.list.push(value);
    return table;
  }

  get(key: Value): Value {
    if (typeof key === 'number' && key >= 1 && key <= this.list.length) return this.list[key - 1];
    return this.map.get(key);
  }

  set(key: Value, value: Value): void {
    if (key === undefined) throw new LuaError('index is nil');
    const { list } = this;
    if (typeof key === 'number' && Number.isInteger(key) && key >= 1 && key <= list.length + 1) {
      if (key <= list.length) {
        list[key - 1] = value;
        while (list.length > 0 && list.at(-1) === undefined) list.pop();
        return;
      }
      if (value !== undefined && this.map.size === 0) {
        list.push(value);
        return;
      }
      if (value !== undefined && !this.map.has(key + 1)) {
        this.map.delete(key);
        list.push(value);
        return;
      }
    }
    if (value === undefined) this.map.delete(key);
    else this.map.set(key, value);
  }
}

const typeOf = (value: Value): string => {
  if (value === undefined) return 'nil';
  if (value instanceof Table) return 'table';
  return typeof value;
};

/** A number as `%.14g` writes it. */
export function textOf(value: Value): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'number') throw new LuaError(`attempt to concatenate a ${typeOf(value)} value`);
  if (Number.isInteger(value) && Math.abs(value) < 1e14) return Object.is(value, -0) ? '-0' : String(value);
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
  const [digits = '', exponent = '0'] = value.toExponential(13).split('e');
  const power = Number(exponent);
  const trim = (text: string): string => (text.includes('.') ? text.replace(/\.?0+$/, '') : text);
  if (power < -4 || power >= 14)
    return `${trim(digits)}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
  return trim(value.toFixed(13 - power));
}

/** What `tonumber` makes of a value: undefined where it is no number. */
function numberOf(value: Value, base?: Value): number | undefined {
  if (base !== undefined && base !== 10) {
    const digits = textOf(value).trim().toLowerCase();
    const radix = need(base);
    const text = radix === 16 ? digits.replace(/^0x/, '') : digits;
    if (text === '') return undefined;
    let number = 0;
    for (const digit of text) {
      const worth = '0123456789abcdefghijklmnopqrstuvwxyz'.indexOf(digit);
      if (worth < 0 || worth >= radix) return undefined;
      number = number * radix + worth;
    }
    return number;
  }
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  if (/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text) || /^0[xX][\da-fA-F]+$/.test(text)) return Number(text);
  return undefined;
}

function need(value: Value): number {
  const number = numberOf(value);
  if (number === undefined) throw new LuaError(`a ${typeOf(value)} value where a number is needed`);
  return number;
}

function str(value: Value): string {
  if (typeof value !== 'string' && typeof value !== 'number')
    throw new LuaError(`a ${typeOf(value)} value where a string is needed`);
  return textOf(value);
}

// Patterns -----------------------------------------------------------------------------------------------------------

const CLASSES: Record<string, string> = { a: 'A-Za-z', d: '0-9', x: '0-9A-Fa-f' };
const patterns = new Map<string, RegExp>();

/** A Lua pattern as a regular expression: classes a, d, x, the repeats * and +, anchors and captures. */
function pattern(text: string): RegExp {
  const known = patterns.get(text);
  if (known) return known;
  let source = '';
  for (let at = 0; at < text.length; at++) {
    const c = text[at] as string;
    if (c === '%') {
      const next = text[++at] ?? '';
      if (next in CLASSES) source += `[${CLASSES[next]}]`;
      else if (/[^A-Za-z0-9]/.test(next)) source += `\\${next}`;
      else throw new LuaError(`pattern outside the subset: ${text}`);
    } else if (c === '.') source += '[^]';
    else if (c === '^' && at === 0) source += '^';
    else if (c === '$' && at === text.length - 1) source += '$';
    else if ('()*+'.includes(c)) source += c;
    else if (/[\w ,:;]/.test(c)) source += c;
    else throw new LuaError(`pattern outside the subset: ${text}`);
  }
  const made = new RegExp(source);
  patterns.set(text, made);
  return made;
}

// The library --------------------------------------------------------------------------------------------------------

function sub(text: string, from: number, to: number): string {
  const { length } = text;
  const first = from < 0 ? Math.max(1, length + from + 1) : from === 0 ? 1 : from;
  const last = to < 0 ? length + to + 1 : Math.min(to, length);
  return first > last ? '' : text.slice(first - 1, last);
}

function format(form: string, values: readonly Value[]): string {
  let next = 0;
  return form.replace(/%(0?)(\d*)(\.0)?([dsxf%])|%/g, (whole, zero: string, width: string, point, kind?: string) => {
    if (kind === '%') return '%';
    if (next >= values.length) throw new LuaError('bad argument to format');
    const value = values[next++];
    let text: string;
    if (kind === 's' && !point) text = str(value);
    else if (kind === 'd' && !point) text = Math.trunc(need(value)).toFixed(0);
    else if (kind === 'x' && !point) text = BigInt.asUintN(64, BigInt(Math.trunc(need(value)))).toString(16);
    else if (kind === 'f' && point) text = BigInt(Math.round(need(value))).toString();
    else throw new LuaError(`format outside the subset: ${whole}`);
    return text.padStart(Number(width), zero === '0' && kind !== 's' ? '0' : ' ');
  });
}

const library: Record<string, LuaFunction | Table> = {
  tonumber: (value, base) => [numberOf(value, base)],
  tostring: (value) => [typeof value === 'boolean' || value === undefined ? (value ?? 'nil').toString() : str(value)],
  type: (value) => [typeOf(value)],
};
const strings = new Table();
strings.set('sub', (text, from, to) => [sub(str(text), need(from), to === undefined ? -1 : need(to))]);
strings.set('match', (text, form) => {
  const found = pattern(str(form)).exec(str(text));
  if (!found) return [undefined];
  return found.length === 1 ? [found[0]] : found.slice(1);
});
strings.set('find', (text, wanted, from, plain) => {
  if (plain !== true) throw new LuaError('string.find of a pattern');
  const at = str(text).indexOf(str(wanted), need(from) - 1);
  return at < 0 ? [undefined] : [at + 1, at + str(wanted).length];
});
strings.set('format', (form, ...values) => [format(str(form), values)]);
library.string = strings;
const maths = new Table();
maths.set('ceil', (value) => [Math.ceil(need(value))]);
maths.set('floor', (value) => [Math.floor(need(value))]);
maths.set('max', (...values) => [Math.max(...values.map(need))]);
maths.set('min', (...values) => [Math.min(...values.map(need))]);
library.math = maths;
const tables = new Table();
tables.set('concat', (table, between) => {
  if (!(table instanceof Table)) throw new LuaError('concat of no table');
  return [table.list.map(str).join(between === undefined ? '' : str(between))];
});
library.table = tables;

/** The sizes in the form of a text with numbers: big-endian, without a sign. */
function sizesIn(form: Value): number[] {
  const text = str(form);
  if (!/^>(I[47])+$/.test(text)) throw new LuaError(`struct outside the subset: ${text}`);
  return [...text.matchAll(/\d/g)].map(Number);
}
const structs = new Table();
structs.set('pack', (form, ...values) => {
  let packed = '';
  for (const [at, size] of sizesIn(form).entries()) {
    const value = need(values[at]);
    if (!Number.isInteger(value)) throw new LuaError('a fraction in a text with numbers');
    const bytes = BigInt.asUintN(8 * size, BigInt(value))
      .toString(16)
      .padStart(2 * size, '0');
    packed += Buffer.from(bytes, 'hex').toString('latin1');
  }
  return [packed];
});
structs.set('unpack', (form, text, from) => {
  const values: number[] = [];
  let at = need(from);
  for (const size of sizesIn(form)) {
    const bytes = sub(str(text), at, at + size - 1);
    if (bytes.length < size) throw new LuaError('data string too short');
    values.push(Number(`0x${Buffer.from(bytes, 'latin1').toString('hex')}`));
    at += size;
  }
  return [...values, at];
});
library.struct = structs;

// What the compiled code calls ---------------------------------------------------------------------------------------

const runtime = {
  Table,
  library,
  index(base: Value, key: Value): Value {
    if (base instanceof Table) return base.get(key);
    throw new LuaError(`attempt to index a ${typeOf(base)} value`);
  },
  assign(base: Value, key: Value, value: Value): void {
    if (!(base instanceof Table)) throw new LuaError(`attempt to index a ${typeOf(base)} value`);
    base.set(key, value);
  },
  call(f: Value, ...args: Value[]): Value[] {
    if (typeof f !== 'function') throw new LuaError(`attempt to call a ${typeOf(f)} value`);
    return f(...args);
  },
  /** The number of an operand of arithmetic. */
  n(value: Value): number {
    return typeof value === 'number' ? value : need(value);
  },
  mod(a: Value, b: Value): number {
    const [x, y] = [need(a), need(b)];
    return x - Math.floor(x / y) * y;
  },
  concat(a: Value, b: Value): string {
    return textOf(a) + textOf(b);
  },
  less(a: Value, b: Value): boolean {
    if (typeof a === 'number' && typeof b === 'number') return a < b;
    if (typeof a === 'string' && typeof b === 'string') return a < b;
    throw new LuaError(`attempt to compare ${typeOf(a)} with ${typeOf(b)}`);
  },
  lessOrEqual(a: Value, b: Value): boolean {
    if (typeof a === 'number' && typeof b === 'number') return a <= b;
    if (typeof a === 'string' && typeof b === 'string') return a <= b;
    throw new LuaError(`attempt to compare ${typeOf(a)} with ${typeOf(b)}`);
  },
  length(value: Value): number {
    if (value instanceof Table) return value.list.length;
    if (typeof value === 'string') return value.length;
    throw new LuaError(`attempt to get the length of a ${typeOf(value)} value`);
  },
  list(value: Value): Value[] {
    if (!(value instanceof Table)) throw new LuaError('ipairs of no table');
    return value.list;
  },
  /** A loop that a fault has made endless ends with an error. */
  fuel: { left: 0 },
  tick(): void {
    if (--runtime.fuel.left < 0) throw new LuaError('the script does not end');
  },
};

// The compiler -------------------------------------------------------------------------------------------------------

const OPERATORS: Record<string, (a: string, b: string) => string> = {
  '+': (a, b) => `(L.n(${a}) + L.n(${b}))`,
  '-': (a, b) => `(L.n(${a}) - L.n(${b}))`,
  '*': (a, b) => `(L.n(${a}) * L.n(${b}))`,
  '/': (a, b) => `(L.n(${a}) / L.n(${b}))`,
  '%': (a, b) => `L.mod(${a}, ${b})`,
  '..': (a, b) => `L.concat(${a}, ${b})`,
  '==': (a, b) => `(${a} === ${b})`,
  '~=': (a, b) => `(${a} !== ${b})`,
  '<': (a, b) => `L.less(${a}, ${b})`,
  '<=': (a, b) => `L.lessOrEqual(${a}, ${b})`,
  '>': (a, b) => `L.less(${b}, ${a})`,
  '>=': (a, b) => `L.lessOrEqual(${b}, ${a})`,
};

class Compiler {
  #ids = 0;
  readonly #scopes: Map<string, string>[] = [];

  constructor(globals: readonly string[]) {
    this.#scopes.push(new Map([...Object.keys(library), ...globals].map((name) => [name, name])));
  }

  block(body: readonly Statement[], declared: readonly Identifier[] = []): string {
    this.#scopes.push(new Map());
    const names = declared.map((identifier) => this.#declare(identifier));
    const code = body.map((statement) => this.#statement(statement)).join('\n');
    this.#scopes.pop();
    return names.length > 0 ? `${names.join(', ')}|${code}` : code;
  }

  #declare(identifier: Identifier): string {
    const name = `${identifier.name}$${++this.#ids}`;
    this.#scopes.at(-1)?.set(identifier.name, name);
    return name;
  }

  #name(identifier: Identifier): string {
    for (const scope of [...this.#scopes].reverse()) {
      const name = scope.get(identifier.name);
      if (name !== undefined) return name;
    }
    throw new LuaError(`unknown name ${identifier.name}`);
  }

  #function(parameters: readonly Identifier[], body: readonly Statement[]): string {
    const text = this.block(body, parameters);
    const [names = '', code = ''] = parameters.length > 0 ? cut(text, '|') : ['', text];
    return `((${names}) => {\n${code}\nreturn [];\n})`;
  }

  #body(f: { parameters: unknown[]; body: Statement[] }): string {
    const parameters = f.parameters as (Identifier | { type: 'VarargLiteral' })[];
    for (const parameter of parameters) if (parameter.type !== 'Identifier') throw new LuaError('varargs');
    return this.#function(parameters as Identifier[], f.body);
  }

  #statement(statement: Statement): string {
    switch (statement.type) {
      case 'LocalStatement': {
        const values = this.#assigned(statement.init, statement.variables.length);
        const names = statement.variables.map((variable) => this.#declare(variable));
        if (names.length === 1) return `let ${names[0]} = ${values.single ?? `${values.list}[0]`};`;
        return `let [${names.join(', ')}] = ${values.list};`;
      }
      case 'AssignmentStatement': {
        const { variables } = statement;
        const values = this.#assigned(statement.init, variables.length);
        if (variables.length === 1)
          return this.#store(variables[0] as Expression, values.single ?? `${values.list}[0]`);
        const id = `t$${++this.#ids}`;
        return `{ const ${id} = ${values.list};\n${variables
          .map((variable, at) => this.#store(variable, `${id}[${at}]`))
          .join('\n')} }`;
      }
      case 'CallStatement':
        return `${this.#call(statement.expression)};`;
      case 'FunctionDeclaration': {
        if (!statement.isLocal || statement.identifier?.type !== 'Identifier') throw new LuaError('a global function');
        const name = this.#declare(statement.identifier);
        return `const ${name} = ${this.#body(statement)};`;
      }
      case 'IfStatement':
        return statement.clauses
          .map((clause) => {
            const code = `{\n${this.block(clause.body)}\n}`;
            if (clause.type === 'ElseClause') return `else ${code}`;
            return `${clause.type === 'ElseifClause' ? 'else ' : ''}if (${this.#test(clause.condition)}) ${code}`;
          })
          .join(' ');
      case 'WhileStatement':
        return `while (${this.#test(statement.condition)}) {\nL.tick();\n${this.block(statement.body)}\n}`;
      case 'DoStatement':
        return `{\n${this.block(statement.body)}\n}`;
      case 'ForNumericStatement': {
        if (statement.step) throw new LuaError('a step in a for');
        const [start, end] = [this.#expression(statement.start), this.#expression(statement.end)];
        const [name, body = ''] = cut(this.block(statement.body, [statement.variable]), '|');
        const [at, last] = [`f$${++this.#ids}`, `f$${++this.#ids}`];
        return `for (let ${at} = L.n(${start}), ${last} = L.n(${end}); ${at} <= ${last}; ${at}++) {\nL.tick();\nlet ${name} = ${at};\n${body}\n}`;
      }
      case 'ForGenericStatement': {
        const [iterator] = statement.iterators;
        if (
          statement.iterators.length !== 1 ||
          iterator?.type !== 'CallExpression' ||
          iterator.base.type !== 'Identifier' ||
          iterator.base.name !== 'ipairs' ||
          iterator.arguments.length !== 1 ||
          statement.variables.length !== 2
        )
          throw new LuaError('a for that is not over ipairs');
        const list = this.#expression(iterator.arguments[0] as Expression);
        const [names, body = ''] = cut(this.block(statement.body, statement.variables), '|');
        const [from, at] = [`f$${++this.#ids}`, `f$${++this.#ids}`];
        return `{ const ${from} = L.list(${list});\nfor (let ${at} = 0; ${at} < ${from}.length && ${from}[${at}] !== undefined; ${at}++) {\nL.tick();\nlet [${names}] = [${at} + 1, ${from}[${at}]];\n${body}\n} }`;
      }
      case 'ReturnStatement':
        return `return ${this.#list(statement.arguments)};`;
      case 'BreakStatement':
        return 'break;';
      default:
        throw new LuaError(`statement outside the subset: ${statement.type}`);
    }
  }

  /** The values of an assignment: one expression where there is one, and the array of all. */
  #assigned(init: readonly Expression[], variables: number): { single?: string; list: string } {
    if (init.length === 0) return { single: 'undefined', list: '[]' };
    if (init.length === 1 && variables === 1) return { single: this.#expression(init[0] as Expression), list: '' };
    return { list: this.#list(init) };
  }

  #store(target: Expression, value: string): string {
    switch (target.type) {
      case 'Identifier':
        return `${this.#name(target)} = ${value};`;
      case 'MemberExpression':
        return `L.assign(${this.#expression(target.base)}, ${JSON.stringify(target.identifier.name)}, ${value});`;
      case 'IndexExpression':
        return `L.assign(${this.#expression(target.base)}, ${this.#expression(target.index)}, ${value});`;
      default:
        throw new LuaError(`assignment to ${target.type}`);
    }
  }

  /** A list of expressions as an array. The last one gives all its values where it is a call. */
  #list(expressions: readonly Expression[]): string {
    const last = expressions.at(-1);
    if (expressions.length === 1 && last?.type === 'CallExpression') return this.#call(last);
    return `[${expressions
      .map((each, at) =>
        at === expressions.length - 1 && each.type === 'CallExpression'
          ? `...${this.#call(each)}`
          : this.#expression(each),
      )
      .join(', ')}]`;
  }

  #call(expression: Expression): string {
    if (expression.type !== 'CallExpression') throw new LuaError(`call outside the subset: ${expression.type}`);
    const args = this.#list(expression.arguments);
    const inner = args.startsWith('[') ? args.slice(1, -1) : `...${args}`;
    return `L.call(${this.#expression(expression.base)}${inner === '' ? '' : `, ${inner}`})`;
  }

  #test(expression: Expression): string {
    if (expression.type === 'LogicalExpression') {
      const sign = expression.operator === 'and' ? '&&' : '||';
      return `(${this.#test(expression.left)} ${sign} ${this.#test(expression.right)})`;
    }
    if (expression.type === 'UnaryExpression' && expression.operator === 'not')
      return `!${this.#test(expression.argument)}`;
    const code = this.#expression(expression);
    if (expression.type === 'BinaryExpression' && ['==', '~=', '<', '<=', '>', '>='].includes(expression.operator))
      return code;
    return `truth(${code})`;
  }

  #expression(expression: Expression): string {
    switch (expression.type) {
      case 'Identifier':
        return this.#name(expression);
      case 'StringLiteral':
      case 'NumericLiteral':
        return JSON.stringify(expression.value);
      case 'BooleanLiteral':
        return String(expression.value);
      case 'NilLiteral':
        return 'undefined';
      case 'FunctionDeclaration':
        return this.#body(expression);
      case 'MemberExpression':
        if (expression.indexer !== '.') throw new LuaError('a method');
        return `L.index(${this.#expression(expression.base)}, ${JSON.stringify(expression.identifier.name)})`;
      case 'IndexExpression':
        return `L.index(${this.#expression(expression.base)}, ${this.#expression(expression.index)})`;
      case 'CallExpression':
        return `${this.#call(expression)}[0]`;
      case 'UnaryExpression':
        if (expression.operator === 'not') return `!${this.#test(expression.argument)}`;
        if (expression.operator === '-') return `(-L.n(${this.#expression(expression.argument)}))`;
        if (expression.operator === '#') return `L.length(${this.#expression(expression.argument)})`;
        throw new LuaError(`operator ${expression.operator}`);
      case 'BinaryExpression': {
        const write = OPERATORS[expression.operator];
        if (!write) throw new LuaError(`operator ${expression.operator}`);
        return write(this.#expression(expression.left), this.#expression(expression.right));
      }
      case 'LogicalExpression': {
        const [left, right] = [this.#expression(expression.left), this.#expression(expression.right)];
        const [yes, no] = expression.operator === 'and' ? [right, 'v'] : ['v', right];
        return `((v) => truth(v) ? ${yes} : ${no})(${left})`;
      }
      case 'TableConstructorExpression': {
        const list: Expression[] = [];
        let code = '';
        for (const field of expression.fields) {
          if (field.type === 'TableValue') list.push(field.value);
          else {
            const key = field.type === 'TableKeyString' ? JSON.stringify(field.key.name) : this.#expression(field.key);
            code += `t.set(${key}, ${this.#expression(field.value)});\n`;
          }
        }
        if (code === '') return list.length === 0 ? 'new L.Table()' : `L.Table.of(${this.#list(list)})`;
        if (list.length > 0) throw new LuaError('a table of both kinds');
        return `(() => { const t = new L.Table();\n${code}return t; })()`;
      }
      default:
        throw new LuaError(`expression outside the subset: ${expression.type}`);
    }
  }
}

function cut(text: string, at: string): [string, string] {
  const where = text.indexOf(at);
  return [text.slice(0, where), text.slice(where + 1)];
}

/** Runs the script with its keys, its arguments and the functions `call` and `pcall` of `redis`. */
export type Compiled = (
  keys: readonly string[],
  args: readonly string[],
  call: LuaFunction,
  pcall: LuaFunction,
) => Value;

export const parseLua = (text: string): Chunk =>
  parse(text, { luaVersion: '5.1', comments: false, encodingMode: 'pseudo-latin1' });

/** Each script may loop this often. */
const FUEL = 10_000;

export function compile(chunk: Chunk): Compiled {
  const body = new Compiler(['redis', 'KEYS', 'ARGV']).block(chunk.body);
  const names = Object.keys(library);
  const code = `'use strict';
const { ${names.join(', ')} } = L.library;
const truth = (v) => v !== undefined && v !== false;
return (redis, KEYS, ARGV) => {\n${body}\nreturn [];\n};`;
  const run = new Function('L', code)(runtime) as LuaFunction;
  return (keys, args, call, pcall) => {
    const redis = new Table();
    redis.set('call', call);
    redis.set('pcall', pcall);
    runtime.fuel.left = FUEL;
    return run(redis, Table.of(keys), Table.of(args))[0];
  };
}
