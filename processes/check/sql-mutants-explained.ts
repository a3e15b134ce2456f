/** Why no call need tell some mutants of the functions of PostgreSQL (sql-mutants-cli.ts). */
import type { Explained } from './mutant.js';

export const EXPLAINED_OF_SQL: readonly Explained[] = [
  {
    text: "c.current := replace(gen_random_uuid()::text, '-', '');",
    reason: 'It is a name, and the comparison gives names without hyphens.',
  },
  {
    text: 'insert into taketurns.history values (c.part, c.current);',
    reason: 'The comparison gives the same name again. That a history lasts is told by tables-concurrent.test.ts.',
  },
  {
    text: 'then c.idle := c.idle || o.name; end if;',
    reason: 'It is a part of the condition that the end of the call asks again.',
  },
  { text: 'limit 1;', from: '1', to: '2', reason: 'The first row is taken.' },
  { text: 'o.noticed := false;', from: 'o.noticed', reason: 'A mutex that nobody holds has it so.' },
  {
    text: 'o.lent := greatest(0, least(255, o.lent));',
    from: '0',
    to: '(-1)',
    reason: 'No waiter is overtaken more than `bypass` times, so it is never below 0.',
  },
];
