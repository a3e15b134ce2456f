/** Mutants of the script that nothing tells, and why that is right. `text` is part of the line, `from` of what is changed. */
import type { Explained } from './mutant.js';

const FIRST = 'the first of those found is taken, however many are asked for';
const END = 'any letter behind the hexadecimal digits ends the range';
const WAITS = 'saves a look into the queue where nobody waits; the look finds nothing';
const BOUND = 'bounds the work of one call; what is left is done by the next';

const EMPTY = 'a member that there is not, by any name: the command alone counts';

export const EXPLAINED: readonly Explained[] = [
  { text: "call('ZREM', RECORDS, '')", from: "''", to: "'z'", reason: EMPTY },
  { text: "call('ZREM', LEASES, '')", from: "''", to: "'z'", reason: EMPTY },
  { text: "call('HDEL', OBJECTS, '')", from: "''", to: "'z'", reason: EMPTY },
  {
    text: "call('ZRANGEBYLEX', QUEUE, '[\\0', '(\\1', 'LIMIT', 0, 1)",
    reason: 'what it finds is not looked at: the command alone counts',
  },
  {
    text: 'objects[name] = false',
    reason: 'remembers within a call that there is no such object, and saves a second look',
  },
  { text: 'if not o.changed then', reason: 'an object that is noted twice is written twice, the same' },
  { text: 'o.changed = true', reason: 'an object that is noted twice is written twice, the same' },
  {
    text: "string.find(info, 'master_replid:', 1, true)",
    from: '1',
    reason: 'the field does not stand at the beginning',
  },
  {
    text: 'if late <= last then',
    from: '<=',
    to: '<',
    reason: 'the first ticket after the leap is one more than that to which it goes',
  },
  {
    text: "or meta[1] or '-'",
    from: "'-'",
    reason: 'any text that is no replication id',
  },
  {
    text: 'if ticket <= leapt and',
    from: '<=',
    to: '<',
    reason: 'no request waits under the ticket to which tickets have leapt: it is given to nobody',
  },
  { text: "call('ZADD', RECORDS, 'XX', 0, '')", from: '0', reason: EMPTY },
  { text: "call('ZADD', RECORDS, 'XX', 0, '')", from: "''", reason: EMPTY },
  {
    text: 'if ticket > leapt then return ticket end',
    from: '>',
    to: '>=',
    reason: 'no request waits under the ticket to which tickets have leapt: it is given to nobody',
  },
  {
    text: "if call('ZREM', RECORDS, record) == 0 then",
    to: 'true',
    reason: 'what has the same ticket still is found as it was, and taken away once more',
  },
  {
    text: "call('ZRANGEBYLEX', RECORDS, '[' .. key, '(' .. key .. 'g', 'LIMIT', 0, 1)[1]",
    from: '1',
    to: '2',
    reason: FIRST,
  },
  {
    text: "call('ZRANGEBYLEX', QUEUE, '[' .. key, '(' .. key .. 'z', 'LIMIT', 0, 1)[1]",
    from: '1',
    to: '2',
    reason: FIRST,
  },
  { text: "'(' .. name .. '\\1', 'LIMIT', 0, 1)[1]", from: '1', to: '2', reason: FIRST },
  { text: "'(' .. key .. 'g'", from: "'g'", reason: END },
  { text: "'(' .. victim .. 'g'", from: "'g'", reason: END },
  { text: "'(' .. sid .. up_to .. 'g'", from: "'g'", reason: END },
  { text: 'return sub(record, 1, 26)', from: '1', to: '0', reason: 'Lua counts from 1, and takes 0 for it' },
  {
    text: 'return o and ticket > o.born',
    from: '>',
    to: '>=',
    reason: 'the ticket of the making is given to no request',
  },
  {
    text: 'tonumber(sub(eldest, -25, -12), 16)',
    from: '25',
    reason: 'the first digit of the number of passes is 0 for ages',
  },
  { text: 'note = sub(note, 1, 1)', from: '1', to: '0', reason: 'Lua counts from 1, and takes 0 for it' },
  { text: 'sub(state(record_of(key)), 1, 1)', from: '1', to: '0', reason: 'Lua counts from 1, and takes 0 for it' },
  { text: 'name_session(sub(record, 1, 16))', from: '1', to: '0', reason: 'Lua counts from 1, and takes 0 for it' },
  { text: 'sub(record, 1, 26)) or', from: '1', to: '0', reason: 'Lua counts from 1, and takes 0 for it' },
  { text: 'for s = i + 1, last do', reason: 'the number that stands before the requests is no request' },
  { text: "meta[4] or '00000000000'", from: "'00000000000'", reason: 'a beat comes before the first who waits' },
  { text: 'sub(key, 1, 16)', from: '1', to: '0', reason: 'Lua counts from 1, and takes 0 for it' },
  { text: 'sub(o.holder, 1, 16)', from: '1', to: '0', reason: 'Lua counts from 1, and takes 0 for it' },
  { text: 'if o.waiting > 0 then rest().grant(name, o) end', reason: WAITS },
  {
    text: 'rest = function() return made end',
    reason: 'makes the functions once a call; made twice, they do the same',
  },
  { text: 'sub(known, 1, #conn + 1)', from: '1', to: '0', reason: 'Lua counts from 1, and takes 0 for it' },
  { text: "if o.waiting > 0 and entry_of(name, ticket) then return 'Q' end", reason: WAITS },
  { text: 'local entry = o.waiting > 0 and entry_of(name, ticket)', reason: WAITS },
  { text: 'local MOST_FOUND = 256', reason: BOUND },
  {
    text: 'tonumber(sub(seen, 1, 14), 16)',
    from: '1',
    reason: 'a ticket begins with zeros, and Lua counts from 1; a space may stand behind a number',
  },
  { text: 'if not clear(victim, true) then return true, true end', to: 'false', reason: BOUND },
  { text: 'math.max(work, 0)', reason: BOUND },
  { text: "tonumber(sub(seen, 1, 14), 16), 'LIMIT', 0, 4)", from: '4', reason: BOUND },
  {
    text: "(call('HGET', SESSIONS, of) or '')",
    from: "''",
    reason:
      'a session that is taken back in parts has no entry for a moment: what is shown as its label then does not matter',
  },
  { text: "call('HSCAN', META, 0)", reason: 'what it finds is not looked at: the command alone counts' },
  {
    text: "string.find(name, '\\0', 1, true)",
    from: '1',
    reason: 'a name has a character at least, and Lua counts from 1',
  },
  { text: "LEASES, '-inf', '+inf', 'LIMIT', 0, 1)[1]", from: '1', to: '2', reason: FIRST },
  { text: 'if not time then', to: 'true', reason: 'the time stands still within a call' },
  { text: 'if agreed[1] then', from: '1', to: '2', reason: 'the settings are there together, or none is' },
  { text: ', #ARGV + 1', from: '1', to: '2', reason: 'any place behind the last operation' },
  { text: "'(' .. first .. 'g'", from: "'g'", reason: END },
  { text: "'(' .. first .. 'g', 'LIMIT', 0, 1)[1]", from: '1', to: '2', reason: FIRST },
  {
    text: 'o.lent = math.max(0',
    from: '0',
    reason: 'what is left of the bypass is never below 0; the bound is shown at `lend`',
  },
  { text: 'if not wanted[sub(record, 1, 26)]', from: '1', to: '0', reason: 'Lua counts from 1, and takes 0 for it' },
  { text: "caller = ''", reason: 'any text that is no session' },
  { text: 'sub(to, 1, 1)', from: '1', to: '0', reason: 'Lua counts from 1, and takes 0 for it' },
  { text: 'drop(record, false)', from: 'false', reason: 'who waits holds nothing, so no death is counted' },
  { text: 'local topmost = 0', from: '0', reason: 'nobody has been told a ticket below 2' },
  {
    text: 'tonumber(meta[3] or 0)',
    from: '0',
    reason: 'where no ticket is known, no history is either, and that decides',
  },
  {
    text: "'(' .. name .. '\\1', 'LIMIT', 0, 1)[1]",
    from: "'\\1'",
    reason: 'is asked only where somebody waits, so the first found is of the name',
  },
  { text: "expel(name, o, 'x', 'g')", from: "'g'", reason: END },
  { text: "if kind == 'm' then", reason: 'what only a mutex has is written of no other' },
  { text: 'sub(records[MOST_FOUND], 1, 26)', from: '1', to: '0', reason: 'Lua counts from 1, and takes 0 for it' },
  { text: "local lines = { '' }", from: "''", reason: 'is replaced when the lines are known' },
];

const SPEED = 'how large a chunk may be, and how it is moved, is a matter of speed alone';
const BEYOND =
  'a chunk that there is not counts as behind each text, so a search that begins beyond the end comes back';
const NOBODY = 'the broker calls for itself: what stands there is not looked at';
const FALLBACK = 'the name of an operator that is its own in JavaScript, or is compared in the same way';
const ARRAY = 'the map becomes an array, whose properties keep the same for the names of sessions';
const FORM = 'a longer or slower form of the same';
const NUMBERS = 'only the numbers that tell names apart are others';
const VALUES = 'where the script asks whether there is a value, none is an empty text or 0 today';

/** The same of the mutants of what runs the script without a server. */
export const EXPLAINED_OF_BROKER: readonly Explained[] = [
  { text: "const END = 'g';", reason: END },
  { text: "const [sid = '', conn, , letter] = args;", from: "''", reason: 'each call has a session' },
  { text: "const [answer, ...reply] = this.#call(['', '', '', 'Z', sid], now);", from: "''", reason: NOBODY },
  { text: "const [, ...reply] = this.#call(['', '', '', 'Y'], now);", from: "''", reason: NOBODY },
  { text: 'const LONGEST = 512;', reason: SPEED },
  { text: 'let [low, high] = [0, this.#chunks.length - 1];', reason: BEYOND },
  { text: 'const middle = (low + high + 1) >> 1;', from: '1', to: '2', reason: BEYOND },
  { text: 'if (place === chunk.length)', to: 'false', reason: SPEED },
  { text: 'chunk.splice(place, 0, text);', to: '-1', reason: 'a negative count removes nothing either' },
  { text: 'if (chunk.length > LONGEST)', reason: SPEED },
  { text: 'this.#chunks.splice(at + 1, 0, chunk.splice(LONGEST / 2));', reason: SPEED },
  { text: 'if (place === 0)', reason: SPEED },
  {
    text: 'if (chunk.length === 0 && this.#chunks.length > 1)',
    from: '1',
    to: '2',
    reason: 'an empty chunk may stay: a search goes on in the next one',
  },
  { text: 'now = 0;', reason: 'each call sets the time before it looks at it' },
  { text: 'if (key !== this.OBJECTS)', reason: 'what a look at another key gives is not looked at' },
  { text: "return ['0', found];", reason: 'what a look at another key gives is not looked at' },
  { text: "const COMPARISONS = { '==': '==='", reason: FALLBACK },
  { text: '#ids = 0;', reason: 'where the numbers begin that tell names apart' },
  { text: 'static begin(history, now, topmost = 0', to: '-1', reason: 'tickets begin at 0 at least' },
  { text: 'this.#empty.add(name);', reason: ARRAY },
  { text: "if (node.type === 'IndexExpression' && node.base.name !== 'ARGV'", reason: ARRAY },
  { text: 'this.#indexed.add(node.base.name);', reason: ARRAY },
  { text: 'this.#empty.has(e.name) && this.#indexed.has(e.name);', reason: ARRAY },
  { text: 'const js = isSeen ?', reason: NUMBERS },
  { text: 'const [last, at] = [', reason: NUMBERS },
  { text: 'const [list, at, each] = [', reason: NUMBERS },
  { text: 'const array = `values$', reason: NUMBERS },
  { text: 'return this.#scopes.length === 1;', reason: 'functions and constants are made for each call, and not once' },
  { text: 'this.#scopes.pop();', reason: 'a name stays visible for longer, and nothing else has it' },
  { text: 'return `function ${identifier ?', from: "''", reason: 'a function without a name gets one' },
  { text: "each.name === '_' ?", reason: 'a value that nobody reads gets a name' },
  { text: "if (s.init[at]?.type === 'NumericLiteral' &&", reason: FORM },
  { text: "if (this.#isTop() && init[0].type === 'FunctionDeclaration')", reason: FORM },
  { text: "type.endsWith('Literal');", reason: FORM },
  { text: "const isNext = index.operator === '+'", reason: FORM },
  { text: 'return isNext ?', reason: FORM },
  { text: "return e.type === 'BooleanLiteral' ||", reason: VALUES },
  { text: "if (e.type === 'LogicalExpression')", reason: FORM },
  { text: 'return this.#isBoolean(e) ?', reason: VALUES },
  { text: 'if (this.#isBoolean(e.left)) return', reason: VALUES },
  { text: "const isName = e.left.type === 'Identifier';", reason: FORM },
  { text: 'const [test, again] = isName ?', reason: FORM },
  { text: "calleeOf(base.base ? base : { base }) === 'call' &&", reason: FORM },
  { text: 'index.value === 1 &&', reason: FORM },
  { text: "base.arguments[0].value === 'ZRANGEBYLEX'", reason: FORM },
  { text: "if (index.type === 'NumericLiteral') return", reason: FORM },
  { text: "each.type === 'StringLiteral' ?", reason: FORM },
  {
    text: "if (library === 'string.find') return",
    reason: 'the store tells of objects alone, so nothing is to be left out',
  },
  { text: 'return args.length > 1 ? `parseInt', reason: 'both read the decimal numbers of the script' },
  { text: 'end === undefined ?', reason: FORM },
  { text: 'if (first.value === sign && others.length === 1)', reason: FORM },
];
