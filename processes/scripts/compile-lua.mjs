/**
 * Compiles the script (src/script/) to the JavaScript that a broker runs. No tool does this: what compiles Lua to
 * JavaScript keeps each table as a map and each number of a key as a text, and the broker would be several times slower.
 *
 * The script is compiled as it is meant, not as an interpreter of Lua would run it (check/lua.ts does that):
 *
 *   - What the script declares outside of functions is declared once for a store, and set again for each call. A function
 *     is made once, so that the engine can compile a call of it into its caller.
 *   - A table is what its name is used for in the whole script: a list, if it is made by `{ a, b }`, or indexed by numbers
 *     alone; a map, if it is made by `{}` and indexed by something else; an object, if it is made by `{ key = value }`.
 *   - A function that returns several values somewhere returns an array of them everywhere.
 *   - `redis.call` of a command is an operation of the map or the sorted list that stands for the key (local/store.ts).
 *     What a hash keeps is a text, or a number that HINCRBY has made. So the script must not compare numbers with texts.
 *   - Operands of arithmetic are numbers. nil is undefined.
 *
 * Anything that the script does not need today is an error of the build.
 */
import luaparse from 'luaparse';

const KEYS = ['META', 'OBJECTS', 'QUEUE', 'RECORDS', 'SESSIONS', 'LEASES', 'SEQS', 'RATES'];
/** The keys whose members all have the score 0. */
const SORTED = ['QUEUE', 'RECORDS'];
const COMPARISONS = { '==': '===', '~=': '!==', '<': '<', '<=': '<=', '>': '>', '>=': '>=' };
const ARITHMETIC = ['+', '-', '*', '/', '%'];
/** Names of the module, which a variable of the script must not hide. */
const TAKEN = [
  'args',
  'four',
  'fourAt',
  'held',
  'hex',
  'increase',
  'seven',
  'sevenAt',
  'twoAt',
  'LazyMap',
  'store',
  'truth',
  'ARGV',
  ...KEYS,
];

/** The functions that the compiled script uses besides those of JavaScript. */
const PREAMBLE = `
const truth = (v) => v !== undefined && v !== false;
/** At least eight digits. V8 writes two small numbers in a quarter of the time of a large one. */
const hex = (value, digits) => {
  const low = value % 0x10000000;
  return ((value - low) / 0x10000000).toString(16).padStart(digits - 7, '0') + low.toString(16).padStart(7, '0');
};
/** A whole number as four or seven characters of one byte each, and back. */
const four = (value) =>
  String.fromCharCode((value >>> 24) & 255, (value >>> 16) & 255, (value >>> 8) & 255, value & 255);
const seven = (value) => {
  const high = Math.floor(value / 0x100000000);
  return String.fromCharCode((high >>> 16) & 255, (high >>> 8) & 255, high & 255) + four(value);
};
const twoAt = (text, at) => (text.charCodeAt(at) << 8) | text.charCodeAt(at + 1);
const fourAt = (text, at) => twoAt(text, at) * 0x10000 + twoAt(text, at + 2);
const sevenAt = (text, at) => (text.charCodeAt(at) * 0x10000 + twoAt(text, at + 1)) * 0x100000000 + fourAt(text, at + 3);
const increase = (hash, field, by) => {
  const value = Number(hash.get(field) ?? 0) + by;
  hash.set(field, value);
  return value;
};
/** Most maps stay empty, so they are made when they are needed. */
class LazyMap {
  map = undefined;
  get(key) {
    return this.map === undefined ? undefined : this.map.get(key);
  }
  set(key, value) {
    this.map ??= new Map();
    this.map.set(key, value);
  }
}`;

/** The text of a TypeScript module that exports `scriptOn`. */
export const moduleOf = (source) => `// Written by scripts/embed.mjs from the parts in src/script/.
// @ts-nocheck
import type { Answer, Store } from './store.js';
${PREAMBLE}

/** Returns the script as a function of the arguments of a call, on this store. */
export function scriptOn(store: Store): (args: readonly string[]) => Answer[] {
${compile(source)}
}
`;

/** The same as a function, for tests that change the script. */
export const functionOf = (source) => new Function('store', `'use strict';${PREAMBLE}\n${compile(source)}`);

function visit(node, see) {
  if (Array.isArray(node)) for (const each of node) visit(each, see);
  else if (typeof node === 'object' && node !== null) {
    if (node.type) see(node);
    for (const each of Object.values(node)) visit(each, see);
  }
}

/** Calls a function with the statements of a body, but not with those of functions in it. */
function visitBody(body, see) {
  for (const statement of body) {
    see(statement);
    for (const clause of statement.clauses ?? []) visitBody(clause.body, see);
    if (statement.body && statement.type !== 'FunctionDeclaration') visitBody(statement.body, see);
  }
}

const fail = (node, why) => {
  throw new Error(`line ${node.loc.start.line} of the script: ${why}`);
};

/** How often a pattern captures something; a pattern without a capture counts as one. */
const captures = (pattern) => Math.max(1, (pattern.replace(/%\(/g, '').match(/\(/g) ?? []).length);

/** The operands of a concatenation. */
const operands = (e) =>
  e.type === 'BinaryExpression' && e.operator === '..' ? [...operands(e.left), ...operands(e.right)] : [e];

/** `string.format`, and so on; undefined for other calls. */
const libraryOf = ({ type, base, identifier }) =>
  type === 'MemberExpression' && ['string', 'math', 'struct', 'table', 'redis'].includes(base.name)
    ? `${base.name}.${identifier.name}`
    : undefined;

/** The last name of what is called. */
const calleeOf = ({ base }) => (base.type === 'Identifier' ? base.name : base.identifier?.name);

class Compiler {
  /** Names that stand for numbers: those of loops and constants. */
  #numbers = new Set();
  /** Names of tables that are made empty, and of those that are indexed by something that is no number. */
  #empty = new Set();
  #indexed = new Set();
  /** Names of functions that return arrays. */
  #multiple = new Set(['parts']);
  /** The names that are visible, from the outermost scope on, and what they are called in JavaScript. */
  #scopes = [];
  /** What is declared once for a store. */
  #once = [];
  /** Whether the present function returns an array. */
  #returnsArray = false;
  #ids = 0;

  compile(chunk) {
    this.#learn(chunk);
    const perCall = this.#block(chunk.body);
    return `const { ${KEYS.join(', ')} } = store;
let ARGV;
let held;
${this.#once.join('\n')}
return (args) => {
ARGV = args;
${perCall}
};`;
  }

  // What is used for what ---------------------------------------------------------------------------------------------

  #learn(chunk) {
    visit(chunk, (node) => {
      if (node.type === 'ForNumericStatement') this.#numbers.add(node.variable.name);
      if (node.type === 'ForGenericStatement') this.#numbers.add(node.variables[0].name);
      if (node.type !== 'LocalStatement') return;
      for (const [at, { name }] of node.variables.entries()) {
        const init = node.init[at];
        if (init?.type === 'NumericLiteral') this.#numbers.add(name);
        if (init?.type === 'TableConstructorExpression' && init.fields.length === 0) this.#empty.add(name);
      }
    });
    visit(chunk, (node) => {
      if (node.type === 'IndexExpression' && node.base.name !== 'ARGV' && !this.#isNumber(node.index))
        this.#indexed.add(node.base.name);
      if (node.type === 'FunctionDeclaration' && node.identifier && this.#returnsSeveral(node))
        this.#multiple.add(node.identifier.name);
    });
  }

  #isMap(e) {
    return e.type === 'Identifier' && this.#empty.has(e.name) && this.#indexed.has(e.name);
  }

  #isNumber(e) {
    switch (e.type) {
      case 'NumericLiteral':
        return true;
      case 'Identifier':
        return this.#numbers.has(e.name);
      case 'UnaryExpression':
        return e.operator !== 'not';
      case 'BinaryExpression':
        return ARITHMETIC.includes(e.operator);
      default:
        return false;
    }
  }

  #returnsSeveral({ body }) {
    let several = false;
    visitBody(body, (statement) => {
      if (statement.type !== 'ReturnStatement') return;
      const [first] = statement.arguments;
      if (statement.arguments.length > 1 || (first && this.#givesArray(first))) several = true;
    });
    return several;
  }

  /** Whether the compiled call returns an array of values. */
  #givesArray(e) {
    if (e.type !== 'CallExpression') return false;
    if (libraryOf(e.base)) return libraryOf(e.base) === 'struct.unpack';
    if (e.base.type === 'IndexExpression') return true; // an operation
    const name = calleeOf(e);
    return name === 'match' ? captures(e.arguments[1].value) > 1 : this.#multiple.has(name);
  }

  // Names -------------------------------------------------------------------------------------------------------------

  #declare({ name }) {
    const isSeen = TAKEN.includes(name) || this.#scopes.some((scope) => scope.has(name));
    const js = isSeen ? `${name}$${++this.#ids}` : name;
    this.#scopes.at(-1).set(name, js);
    return js;
  }

  #nameOf(e) {
    if (e.name === 'ARGV' || KEYS.includes(e.name)) return e.name;
    const js = this.#scopes.findLast((scope) => scope.has(e.name))?.get(e.name);
    return js ?? fail(e, `unknown name ${e.name}`);
  }

  #isTop() {
    return this.#scopes.length === 1;
  }

  // Statements --------------------------------------------------------------------------------------------------------

  #block(body, declared = []) {
    this.#scopes.push(new Map(declared));
    const code = body.map((statement) => this.#statement(statement)).join('\n');
    this.#scopes.pop();
    return code;
  }

  #function({ identifier, parameters, body }, isArray) {
    const before = this.#returnsArray;
    this.#returnsArray = isArray;
    this.#scopes.push(new Map());
    const names = parameters.map((parameter) => this.#declare(parameter));
    const code = this.#block(body);
    this.#scopes.pop();
    this.#returnsArray = before;
    return `function ${identifier ? this.#nameOf(identifier) : ''}(${names.join(', ')}) {\n${code}\n}`;
  }

  #statement(s) {
    switch (s.type) {
      case 'LocalStatement':
        return this.#local(s);
      case 'AssignmentStatement':
        return this.#assignment(s);
      case 'CallStatement':
        return `${this.#call(s.expression)};`;
      case 'FunctionDeclaration': {
        this.#declare(s.identifier);
        const code = this.#function(s, this.#multiple.has(s.identifier.name));
        if (!this.#isTop()) return code;
        this.#once.push(code);
        return '';
      }
      case 'IfStatement':
        return s.clauses
          .map((clause, at) => {
            const test = clause.condition ? `if (${this.#test(clause.condition)}) ` : '';
            return `${at > 0 ? 'else ' : ''}${test}{\n${this.#block(clause.body)}\n}`;
          })
          .join(' ');
      case 'WhileStatement':
        return `while (${this.#test(s.condition)}) {\n${this.#block(s.body)}\n}`;
      case 'ForNumericStatement': {
        const [start, end] = [this.#value(s.start), this.#value(s.end)];
        const [last, at] = [`last$${++this.#ids}`, `at$${++this.#ids}`];
        const body = this.#block(s.body, [[s.variable.name, at]]);
        return `for (let ${at} = ${start}, ${last} = ${end}; ${at} <= ${last}; ${at}++) {\n${body}\n}`;
      }
      case 'ForGenericStatement': {
        const [iterator] = s.iterators;
        if (calleeOf(iterator) !== 'ipairs') fail(s, 'a for that is not over ipairs');
        const [list, at, each] = [`list$${++this.#ids}`, `at$${++this.#ids}`, `each$${++this.#ids}`];
        const [number, value] = s.variables;
        const body = this.#block(s.body, [
          [number.name, at],
          [value.name, each],
        ]);
        return `{
const ${list} = ${this.#value(iterator.arguments[0])};
for (let ${at} = 1; ${list}[${at} - 1] !== undefined; ${at}++) {\nconst ${each} = ${list}[${at} - 1];\n${body}\n}
}`;
      }
      case 'ReturnStatement':
        return this.#return(s.arguments);
      default:
        return fail(s, s.type);
    }
  }

  #local(s) {
    const [first] = s.init;
    // The keys are there, and the functions of the library need no other names.
    if (first?.base?.name === 'KEYS' || (first && libraryOf(first))) return '';
    if (first && this.#givesArray(first)) {
      const array = `values$${++this.#ids}`;
      const parts = s.variables.map((each, at) =>
        each.name === '_' ? '' : `let ${this.#declare(each)} = ${array}[${at}];`,
      );
      return [`const ${array} = ${this.#call(first)};`, ...parts].join('\n');
    }
    const values = s.variables.map((each, at) => (s.init[at] ? this.#made(each, s.init[at]) : undefined));
    return s.variables
      .map((each, at) => {
        const name = this.#declare(each);
        if (!this.#isTop()) return `let ${name} = ${values[at]};`;
        if (s.init[at]?.type === 'NumericLiteral' && /^[A-Z]/.test(name)) {
          this.#once.push(`const ${name} = ${values[at]};`);
          return '';
        }
        this.#once.push(`let ${name};`);
        // What a call has assigned a function to keeps the function.
        return ['requests', 'rates'].includes(each.name) ? '' : `${name} = ${values[at]};`;
      })
      .join('\n');
  }

  /** The value of a variable at first. */
  #made(variable, init) {
    const isEmpty = init.type === 'TableConstructorExpression' && init.fields.length === 0;
    return isEmpty && this.#isMap(variable) ? 'new LazyMap()' : this.#value(init);
  }

  #assignment({ variables, init }) {
    const [variable] = variables;
    if (this.#isTop() && init[0].type === 'FunctionDeclaration') {
      this.#once.push(this.#store(variable, this.#value(init[0])));
      return '';
    }
    if (variables.length === 1) return this.#store(variable, this.#value(init[0]));
    if (init.length === 1) {
      const array = `values$${++this.#ids}`;
      const stores = variables.map((each, at) => this.#store(each, `${array}[${at}]`));
      return ['{', `const ${array} = ${this.#call(init[0])};`, ...stores, '}'].join('\n');
    }
    const isLiteral = ({ type }) => type.endsWith('Literal');
    const names = init.map((each) => (isLiteral(each) ? this.#value(each) : `value$${++this.#ids}`));
    const values = init.map((each, at) => (isLiteral(each) ? '' : `const ${names[at]} = ${this.#value(each)};`));
    return ['{', ...values, ...variables.map((each, at) => this.#store(each, names[at])), '}'].join('\n');
  }

  #store(target, value) {
    if (target.type !== 'IndexExpression') return `${this.#value(target)} = ${value};`;
    const { base, index } = target;
    if (this.#isMap(base)) return `${this.#value(base)}.set(${this.#value(index)}, ${value});`;
    const isNext = index.operator === '+' && index.left.operator === '#' && index.right.value === 1;
    return isNext ? `${this.#value(base)}.push(${value});` : `${this.#value(target)} = ${value};`;
  }

  #return(values) {
    if (values.length === 0) return 'return;';
    if (!this.#returnsArray) return `return ${this.#value(values[0])};`;
    if (this.#givesArray(values[0])) return `return ${this.#call(values[0])};`;
    return `return [${values.map((each) => this.#value(each)).join(', ')}];`;
  }

  // Expressions -------------------------------------------------------------------------------------------------------

  #isBoolean(e) {
    return e.type === 'BooleanLiteral' || e.operator in COMPARISONS || e.operator === 'not';
  }

  #test(e) {
    if (e.type === 'LogicalExpression')
      return `(${this.#test(e.left)} ${e.operator === 'and' ? '&&' : '||'} ${this.#test(e.right)})`;
    if (e.operator === 'not') return `!${this.#test(e.argument)}`;
    return this.#isBoolean(e) ? this.#value(e) : `truth(${this.#value(e)})`;
  }

  #value(e) {
    switch (e.type) {
      case 'Identifier':
        return this.#nameOf(e);
      case 'StringLiteral':
      case 'NumericLiteral':
      case 'BooleanLiteral':
        return JSON.stringify(e.value);
      case 'NilLiteral':
        return 'undefined';
      case 'FunctionDeclaration':
        return this.#function(e, this.#returnsSeveral(e));
      case 'MemberExpression':
        return `${this.#value(e.base)}.${e.identifier.name}`;
      case 'IndexExpression':
        return this.#index(e);
      case 'CallExpression':
        return this.#givesArray(e) ? `${this.#call(e)}[0]` : this.#call(e);
      case 'UnaryExpression':
        if (e.operator === 'not') return `!${this.#test(e.argument)}`;
        return e.operator === '#' ? `${this.#value(e.argument)}.length` : `(-${this.#value(e.argument)})`;
      case 'BinaryExpression':
        if (e.operator === '..') return this.#text(operands(e));
        return `(${this.#value(e.left)} ${COMPARISONS[e.operator] ?? e.operator} ${this.#value(e.right)})`;
      case 'LogicalExpression': {
        const [left, right] = [this.#value(e.left), this.#value(e.right)];
        if (this.#isBoolean(e.left)) return `(${left} ${e.operator === 'and' ? '&&' : '||'} ${right})`;
        const isName = e.left.type === 'Identifier';
        const [test, again] = isName ? [left, left] : [`(held = ${left})`, 'held'];
        return e.operator === 'and'
          ? `(truth(${test}) ? ${right} : ${again})`
          : `(truth(${test}) ? ${again} : ${right})`;
      }
      case 'TableConstructorExpression': {
        const fields = e.fields.map(({ type, key, value }) =>
          type === 'TableValue' ? this.#value(value) : `${key.name}: ${this.#value(value)}`,
        );
        return e.fields[0]?.type === 'TableKeyString' ? `{ ${fields.join(',\n')} }` : `[${fields.join(', ')}]`;
      }
      default:
        return fail(e, e.type);
    }
  }

  #index(e) {
    const { base, index } = e;
    if (this.#isMap(base)) return `${this.#value(base)}.get(${this.#value(index)})`;
    if (
      calleeOf(base.base ? base : { base }) === 'call' &&
      index.value === 1 &&
      base.arguments[0].value === 'ZRANGEBYLEX'
    )
      return this.#command(base, true);
    if (base.name !== 'ARGV' && !this.#isNumber(index)) return `${this.#value(base)}[${this.#value(index)}]`;
    if (index.type === 'NumericLiteral') return `${this.#value(base)}[${index.value - 1}]`;
    return `${this.#value(base)}[${this.#value(index)} - 1]`;
  }

  #text(parts) {
    const texts = parts.map((each) =>
      each.type === 'StringLiteral' ? this.#inTemplate(each.value) : `\${${this.#value(each)}}`,
    );
    return `\`${texts.join('')}\``;
  }

  #inTemplate(text) {
    return JSON.stringify(text).slice(1, -1).replace(/\\"/g, '"').replace(/[`$]/g, '\\$&');
  }

  #call(e) {
    const { base, arguments: args } = e;
    const library = libraryOf(base);
    const values = () => args.map((each) => this.#value(each)).join(', ');
    if (library?.startsWith('math.')) return `Math.${library.slice('math.'.length)}(${values()})`;
    if (library === 'table.concat') return `${this.#value(args[0])}.join(${this.#value(args[1])})`;
    if (library === 'struct.pack') return this.#pack(args);
    if (library === 'struct.unpack') return this.#unpack(args);
    if (library === 'string.find') return `${this.#value(args[0])}.includes(${this.#value(args[1])})`;
    if (library) return fail(e, library);
    if (base.type === 'Identifier') {
      switch (base.name) {
        case 'call':
          return this.#command(e, false);
        case 'sub':
          return this.#sub(args);
        case 'format':
          return this.#format(args);
        case 'match':
          return this.#match(args);
        case 'tonumber':
          return args.length > 1 ? `parseInt(${values()})` : `Number(${values()})`;
      }
    }
    return `${this.#value(base)}(${values()})`;
  }

  #sub([text, from, to]) {
    const constant = (e) => (e.operator === '-' && e.argument ? -e.argument.value : e.value);
    const first = constant(from);
    const start = first === undefined ? `${this.#value(from)} - 1` : first > 0 ? first - 1 : first;
    const last = to && constant(to);
    const end = last === undefined ? to && this.#value(to) : last < 0 ? last + 1 || undefined : last;
    return `${this.#value(text)}.slice(${end === undefined ? start : `${start}, ${end}`})`;
  }

  #format([form, ...values]) {
    const text = form.value.replace(/%(0?)(\d*)(\.0)?([dsxf])|[^%]+/g, (whole, _, width, _point, kind) => {
      if (!kind) return this.#inTemplate(whole);
      const value = this.#value(values.shift());
      return kind === 'x' ? `\${hex(${value}, ${width})}` : `\${${value}}`;
    });
    return `\`${text}\``;
  }

  /** The sizes in the form of a text with numbers: big-endian, of 4 or 7 bytes each. */
  #sizes(form) {
    if (!/^>(I[47])+$/.test(form.value)) fail(form, 'another form of a text with numbers');
    return [...form.value.matchAll(/\d/g)].map(Number);
  }

  #pack([form, ...values]) {
    return this.#sizes(form)
      .map((size, at) => `${size === 4 ? 'four' : 'seven'}(${this.#value(values[at])})`)
      .join(' + ');
  }

  /** The numbers from a place of the text on. */
  #unpack([form, text, place]) {
    const start = place.value === undefined ? `${this.#value(place)} - 1` : place.value - 1;
    let before = 0;
    const numbers = this.#sizes(form).map((size) => {
      const at = typeof start === 'number' ? start + before : `${start} + ${before}`;
      before += size;
      return `${size === 4 ? 'fourAt' : 'sevenAt'}(${this.#value(text)}, ${at})`;
    });
    return `[${numbers.join(', ')}]`;
  }

  #match([text, { value: pattern }]) {
    const classes = { a: '[A-Za-z]', d: '\\d', x: '[\\dA-Fa-f]' };
    const regular = pattern
      .replace(/%(.)/g, (_, letter) => classes[letter] ?? `\\${letter}`)
      .replaceAll('(.*)', '([^]*)');
    const found = `/${regular}/.exec(${this.#value(text)})`;
    return captures(pattern) > 1 ? `(${found} ?? ['']).slice(1)` : `${found}?.[${pattern.includes('(') ? 1 : 0}]`;
  }

  // Commands ----------------------------------------------------------------------------------------------------------

  /** A bound of ZRANGEBYLEX. All lower bounds of the script are inclusive, and all upper bounds are not. */
  #bound(e, sign) {
    if (e.value === '+') return 'undefined';
    const [first, ...others] = operands(e);
    if (first.type !== 'StringLiteral' || first.value[0] !== sign) fail(e, 'another kind of bound');
    if (first.value === sign && others.length === 1) return this.#value(others[0]);
    return this.#text([{ ...first, value: first.value.slice(1) }, ...others]);
  }

  /** isFirst: only the first member is wanted. */
  #command(e, isFirst) {
    const [{ value: command }, key, ...args] = e.arguments;
    if (key && !KEYS.includes(key.name) && command !== 'PUBLISH') fail(e, 'not a key');
    const of = key && this.#value(key);
    const values = args.map((each) => this.#value(each));
    const isSorted = SORTED.includes(of);
    switch (command) {
      case 'TIME':
        return 'store.now';
      case 'HISTORY':
        return 'store.history';
      case 'PUBLISH':
        return `store.publish(${of}, ${values[0]})`;
      case 'HGET':
        return `${of}.get(${values[0]})`;
      case 'HMGET':
        return `[${values.map((field) => `${of}.get(${field})`).join(', ')}]`;
      case 'KEEP': // HSET of an object instead of its text
        return `${of}.set(${values.join(', ')})`;
      case 'GET':
        return `store.kept(${values[0]})`;
      case 'KEEPFOR': // SET with PX
        return `store.keepFor(${values.join(', ')})`;
      case 'HSET': {
        const pairs = args.flatMap((_, at) =>
          at % 2 === 0 ? [`${of}.set(${values[at]}, ${this.#text([args[at + 1]])})`] : [],
        );
        return pairs.join(', ');
      }
      case 'HDEL':
        return `${of}.delete(${values[0]})`;
      case 'HINCRBY':
        return `increase(${of}, ${values.join(', ')})`;
      case 'HSCAN':
        return `store.scan(${of}, ${values[0]}, MOST_FOUND)`;
      case 'ZCARD':
        return `${of}.size`;
      case 'ZADD':
        if (args[0].value === 'XX') return 'undefined'; // a question whether the command is allowed
        return isSorted ? `${of}.add(${values[1]})` : `${of}.set(${values[1]}, ${values[0]})`;
      case 'ZREM':
        return `${of}.delete(${values[0]})`;
      case 'ZRANGEBYLEX': {
        const [low, high] = [this.#bound(args[0], '['), this.#bound(args[1], '(')];
        return isFirst ? `${of}.first(${low}, ${high})` : `${of}.range(${low}, ${high}, ${values[4]})`;
      }
      case 'ZRANGEBYSCORE':
        return `store.byScore(${of}, ${values[0]}, ${values.at(-1)})`;
      default:
        return fail(e, `the command ${command}`);
    }
  }
}

const compile = (source) =>
  new Compiler().compile(
    luaparse.parse(source, { luaVersion: '5.1', comments: false, encodingMode: 'pseudo-latin1', locations: true }),
  );
