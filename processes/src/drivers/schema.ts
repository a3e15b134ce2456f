/**
 * The tables and functions of PostgreSQL: their text, which only few processes need, and how a process makes them. See
 * load.ts for `eager`.
 */
import type { Sql } from './sql.js';
import { notMade } from './sql-errors.js';
import { TURN_FUNCTION } from './sql-text.js';

/** The text of the tables and functions. */
export async function schema(): Promise<string> {
  const { SCHEMA } = await import(/* webpackMode: "eager" */ '../postgres/schema-source.js');
  return SCHEMA;
}

/** Has a row if the database has the tables and functions: this function is made last. */
const IS_MADE = `select 1 from pg_proc p join pg_namespace n on n.oid = p.pronamespace
  where n.nspname = 'taketurns' and p.proname = '${TURN_FUNCTION}'`;

/** The number of the lock that who makes the tables and functions has. */
const MAKING = 0x74_61_6b_65;

/**
 * Makes the tables and functions if the database does not have them. Of processes that come at once, one makes them, and
 * the others wait for it. After an error the connection must end, because its transaction has not ended.
 */
export async function makeSchema(sql: Sql): Promise<void> {
  const isMade = async (): Promise<boolean> => (await sql.query(IS_MADE)).length > 0;
  if (await isMade()) return;
  const text = await schema();
  try {
    await sql.query('begin isolation level read committed');
    await sql.query(`select pg_advisory_xact_lock(${MAKING})`);
    if (!(await isMade())) await sql.query(text);
    await sql.query('commit');
  } catch (error) {
    throw notMade(error);
  }
}
