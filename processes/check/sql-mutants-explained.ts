/** Why no call need tell some mutants of the functions of PostgreSQL (sql-mutants-cli.ts). */
import type { Explained } from './mutant.js';

const HEAD = 'No request that waits has the ticket of one that has left the queue.';
const BORN = 'The ticket under which an object was made is given to no request.';
const FAR = 'A time lies far above 0.';
const FIRST = 'The first row is taken.';
const DIGIT = 'The first digit of a time is 0, and nothing stands behind the last one.';
const COPY = 'A part of an array that is all of it is the same array.';

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
];
