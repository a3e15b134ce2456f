/** Why no call need tell some mutants of the functions of PostgreSQL (sql-mutants-cli.ts). */
import type { Explained } from './mutant.js';

const HEAD = 'No request that waits has the ticket of one that has left the queue.';
const BORN = 'The ticket under which an object was made is given to no request.';
const FAR = 'A time lies far above 0.';
const FIRST = 'The first row is taken.';
const DIGIT = 'The first digit of a time is 0, and nothing stands behind the last one.';
const COPY = 'A part of an array that is all of it is the same array.';

const PASSES = 'A date of this very moment may pass as well as one of the moment before.';
const BOUND = 'It bounds the work of a call, and a later call does the rest.';
const BEHIND = 'The place behind a request is the name of none.';
const LOOK = 'It saves a look at the first request that waits, which asks for one permit at least.';
const NOTHING = 'Who knows of no permits has nothing to tell.';
const NULL = 'Null in its place does the same: nothing is added, and no condition on it is true.';

export const EXPLAINED_OF_SQL: readonly Explained[] = [
  {
    text: "c.current := replace(gen_random_uuid()::text, '-', '');",
    reason: 'It is a name, and the comparison gives names without hyphens.',
  },
  {
    text: 'then c.idle := c.idle || o.name; end if;',
    reason: 'It is a part of the condition that the end of the call asks again.',
  },
  { text: 'limit 1;', from: '1', to: '2', reason: FIRST },
  { text: 'desc limit 1', from: '1', to: '2', reason: 'A key has one row.' },
  { text: 'o.noticed := false;', from: 'o.noticed', reason: 'A mutex that nobody holds has it so.' },
  {
    text: 'o.lent := greatest(0, least(255, o.lent));',
    from: '0',
    to: '(-1)',
    reason: 'No waiter is overtaken more than `bypass` times, so it is never below 0.',
  },
  { text: 'r.waits and r.ticket > o.served order by r.ticket limit 1;', from: '>', to: '>=', reason: HEAD },
  {
    text: 'if head.ticket <= c.leapt then',
    from: '<=',
    to: '<',
    reason: 'No request waits under the ticket to which tickets have leapt.',
  },
  { text: 'if found and r.ticket > o.born then', from: '>', to: '>=', reason: BORN },
  { text: 'if not found or r.ticket <= o.born then return; end if;', from: '<=', to: '<', reason: BORN },
  {
    text: 'if left_name is not null then',
    to: 'true',
    reason: 'It saves a look for an object that there is not.',
  },
  {
    text: 'if c.v is not null then',
    to: 'true',
    reason: 'Before the first session the settings are null, and no condition on them is true.',
  },
  { text: 'least_time double precision := coalesce(c.seen, 0);', from: '0', reason: FAR },
  {
    text: 'most_time double precision := 0;',
    from: '0',
    to: '(-1)',
    reason: 'It is asked only whether it is above 0.',
  },
  {
    text: 'if c.moment is not null then return; end if;',
    reason: 'A second look in a call finds the same time: all operations of a call were told the same.',
  },
  { text: 'if told > 0 then', from: '0', to: '1', reason: FAR },
  {
    text: 'if c.moment < least_time then',
    from: '<',
    to: '<=',
    reason: 'No time is both the least one and later than the latest one.',
  },
  { text: 'elsif most_time > 0 and c.moment > most_time then', from: '0', to: '1', reason: FAR },
  {
    text: 'elsif most_time > 0 and c.moment > most_time then',
    from: '>',
    to: '>=',
    reason: 'What is set is what it was.',
  },
  {
    text: 'c.pause_of_loss := case when rest > 0',
    from: '>',
    to: '>=',
    reason: 'No pause is a pause of 0.',
  },
  { text: 'taketurns.number_1(substr(wanted, 31, 14))', from: '14', to: '15', reason: DIGIT },
  { text: 'taketurns.number_1(substr(wanted, 31, 14))', from: '31', to: '32', reason: DIGIT },
  { text: 'taketurns.number_1(substr(s.numbers, 31, 14))', from: '14', to: '15', reason: DIGIT },
  { text: 'taketurns.number_1(substr(s.numbers, 31, 14))', from: '31', to: '32', reason: DIGIT },
  {
    text: 'r.given := 0;',
    to: '(-1)',
    reason: 'A caller that knows of more makes it what the caller knows, and each knows of 0 at least.',
  },
  { text: 'if at > 1 then', to: 'true', reason: COPY },
  { text: 'if at > 1 then', from: '>', to: '>=', reason: COPY },
  { text: 'if at > 1 then', from: '1', to: '(0)', reason: COPY },
  {
    text: 'if found then',
    to: 'true',
    reason: 'A request that there is not has no object, and the next look finds none.',
  },
  {
    text: 'if found then',
    to: 'false',
    reason: 'It saves a second look at the name of the history.',
  },
  {
    text: 'c := taketurns.drop_1(c, c.sid, r.rid, false);',
    from: 'false',
    reason: 'Who waits holds nothing, so no death is counted.',
  },
  { text: "c.caller := ''", from: "''", reason: 'It is any text that is no session.' },
  {
    text: 'args[at + 2]::double precision, 0);',
    from: '0',
    to: '1',
    reason: 'A quarter of a microsecond is none.',
  },
  { text: "lpad(to_hex(x.since), 11, '0')", from: "'0'", reason: 'A time has 11 digits.' },
  { text: 'y.ticket > o.born and not y.waits', from: '>', to: '>=', reason: BORN },
  {
    text: 'c.topmost := 0;',
    reason:
      'Only a process that enters may know of a later ticket. All others have a session, and tickets lie far above 0.',
  },
  { text: 'c.is_changed := false;', to: 'null', reason: NULL },
  {
    text: "if args[at] in ('A', 'T', 'D') then",
    to: 'true',
    reason: 'It saves a look for operations that need no object.',
  },
  { text: 'if k < permits then', to: 'true', reason: 'A request that is gone is not changed any more.' },
  { text: 'if lives then', to: 'true', reason: 'An object that is not written may have any fields.' },
  { text: 'while o.waiting > 0 and (o.free > 0', from: '>', to: '>=', reason: LOOK },
  { text: 'while o.waiting > 0 and (o.free > 0', from: '0', to: '(-1)', reason: LOOK },
  { text: 'if o.waiting > 0 then', reason: 'It saves a call that finds nobody who waits.' },
  { text: "if c.idle <> '{}' then", to: 'true', reason: 'It saves a statement that finds no object.' },
  { text: 'if c.is_changed then', to: 'true', reason: 'The row of a partition is written as it was.' },
  {
    text: 'c.moment := floor(most_time);',
    from: 'floor',
    reason: 'Only the rounding of a double leaves a part of a microsecond there.',
  },
  { text: 'rest := coalesce(c.began, 0) + beat - c.now;', from: '0', reason: FAR },
  { text: 'if rest > beat then', from: '>', to: '>=', reason: 'What is set is what it was.' },
  {
    text: 'c.lost := case when rest > 0',
    from: '>',
    to: '>=',
    reason: 'A loss is told for a millisecond more or less.',
  },
  {
    text: 'c.lost := case when rest > 0',
    from: '0',
    reason: 'A loss is told for a millisecond more or less, and an epoch lies far above 0.',
  },
  {
    text: 'if replaces and s.numbers <> r.numbers and r.following > c.moment then',
    from: '>',
    to: '>=',
    reason: 'What is due now is due now in any interval.',
  },
  { text: 'y.name > r.name order by', from: '>', to: '>=', reason: 'The rate itself has no row then.' },
  {
    text: 'case when c.pause_of_loss > 0',
    from: '0',
    to: '1',
    reason: 'No pause is as short as a microsecond.',
  },
  { text: 'due double precision := 0;', from: '0', reason: FAR },
  { text: 'if old.name <> r.name then', to: 'true', reason: 'It saves a second look at the same state.' },
  {
    text: "old.name, '00000001000000000f42400000000100000000000000', false)",
    from: 'false',
    reason: 'By how much dates have moved does not depend on it.',
  },
  { text: 'd.sid = c.sid and d.date < c.moment', from: '<', to: '<=', reason: PASSES },
  { text: 'if old.date + moved < c.moment then', from: '<', to: '<=', reason: PASSES },
  { text: 'd.epoch, d.name limit 4', from: '4', reason: BOUND },
  { text: 'most_found constant int := 256;', reason: BOUND },
  {
    text: 'for i in 1..cardinality(r.run_dates) loop',
    from: '1',
    to: '(0)',
    reason: 'There is no date at 0.',
  },
  {
    text: 'cardinality(args) + 1 else 11 end;',
    from: '1',
    to: '2',
    reason: 'Any place behind the last operation ends the call.',
  },
  { text: '(y.sid, y.rid) > (', from: '>', to: '>=', reason: BEHIND },
  { text: 'x.rid > args[at] and', from: '>', to: '>=', reason: BEHIND },
  { text: "elsif what = 'R' then", to: 'true', reason: 'No other operation is left there.' },
  { text: "elsif what <> 'I' then", reason: 'A look changes nothing there.' },
  { text: "strpos(args[at], E'\\x01n') > 0", from: '0', to: '1', reason: 'A name has a character at least.' },
  { text: 'known > 0 and epoch < r.epoch', from: '0', to: '(-1)', reason: NOTHING },
  { text: 'known > 0 and epoch < r.epoch', from: '>', to: '>=', reason: NOTHING },
  { text: 'slack < r.slack or r.needed > 0', from: '0', to: '1', reason: FAR },
  { text: 'for i in 1..cardinality(r.hole_dates) loop', from: '1', to: '(0)', reason: 'There is no date at 0.' },
  {
    text: "what = 'T' and c.pause_of_loss > 0",
    from: '0',
    to: '1',
    reason: 'No pause is as short as a microsecond.',
  },
  { text: 'r.following := greatest(0, floor(', from: '0', to: '(-1)', reason: FAR },
  { text: 'taketurns.number_1(substr(args[at + 1], 31, 14))', from: '31', to: '32', reason: DIGIT },
  { text: 'taketurns.number_1(substr(args[at + 1], 31, 14))', from: '14', to: '15', reason: DIGIT },
  {
    text: 'lives := false;',
    to: 'null',
    reason: 'The row of an object that was written is at another place then, so nothing writes it twice.',
  },
  {
    text: 'lives := false;',
    from: 'false',
    reason: 'What is written then is what the row has, or the row is at another place.',
  },
  { text: 'lives := its_ticket > o.born;', from: '>', to: '>=', reason: BORN },
  { text: 'and (x.waits or x.ticket <= o.born)', from: '<=', to: '<', reason: BORN },
  { text: 'if k < permits then', from: '<', to: '<=', reason: 'A request that is gone is not changed any more.' },
  {
    text: 'for i in at + 9..at + 8 + args[at + 8]::int loop',
    from: '9',
    to: '(8)',
    reason: 'No request is called like a count.',
  },
  {
    text: 'for i in at + 9..at + 8 + args[at + 8]::int loop',
    from: '8',
    to: '9',
    reason: 'No request is called like an operation.',
  },
  { text: 'c.is_changed := false;', from: 'false', reason: 'The row of a partition is written as it was.' },
  { text: "expel_1(c, o, 'x', 9223372036854775807);", from: '9223372036854775807', reason: 'No ticket is as large.' },
  { text: 'cardinality(c.told), 0) loop', from: '0', to: '(-1)', reason: 'A loop to 0 does nothing, as one to -1.' },
  {
    text: 'cardinality(c.own), 0) loop',
    from: '0',
    reason: 'A place where nothing stands adds nothing to the answer, and a loop to -1 does nothing.',
  },
  {
    text: 'for i in 1..coalesce(cardinality(c.own), 0) loop',
    from: '1',
    to: '(0)',
    reason: 'A place where nothing stands adds nothing to the answer.',
  },
];
