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
  { text: 'and (silence < 0 or', from: '0', reason: 'a clock that goes back by less than a millisecond stands still' },
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
