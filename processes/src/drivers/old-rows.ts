/**
 * Old rows in the tables of PostgreSQL. Each call leaves some behind, and the server removes them, unless somebody holds
 * a snapshot that may still see them. `LEFTOVERS` asks how many there are and who holds the eldest snapshot, and
 * `leftoversIn` says it in words, with what to do.
 */
import type { Leftovers } from './driver.js';
import type { Rows } from './sql.js';
import { literal } from './sql-text.js';

/**
 * How many old rows there are, and which snapshot that is held is the eldest, if many transactions have begun since. Only
 * a member of pg_read_all_stats sees since when a transaction of another role lasts. A replica tells of its snapshots every
 * ten seconds, so it counts later. A vacuum holds a snapshot that keeps no rows.
 */
export const LEFTOVERS = `select old.count::text, eldest.kind, eldest.name,
    to_char(eldest.since at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
  from (select coalesce(sum(n_dead_tup), 0) as count from pg_stat_all_tables where schemaname = 'taketurns') old
  left join (
    select * from (
      select 'transaction' as kind, pid::text as name, xact_start as since,
          greatest(age(backend_xmin), age(backend_xid)) as age, 10000 as most
        from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
          and pid not in (select pid from pg_stat_progress_vacuum)
      union all
      select 'prepared', gid, prepared, age(transaction), 10000 from pg_prepared_xacts where database = current_database()
      union all
      select 'replica', pid::text, null, age(backend_xmin), 100000
        from pg_stat_activity where datid is null and pid in (select pid from pg_stat_replication)
      union all
      select case when active then 'slot' else 'unused slot' end, slot_name, null, age(xmin), 100000
        from pg_replication_slots
    ) holder where age > most order by age desc limit 1
  ) eldest on true`;

const OWN_DATABASE = 'or give the spaces a database of their own on the same server';
const ON_REPLICA = 'End it there, or set hot_standby_feedback = off there';

/** What may hold a snapshot, by the kinds of `LEFTOVERS`: in words, the view that has it, and what to do. */
const HOLDERS = {
  transaction: (pid: string) => ({
    who: `a transaction of process ${pid}`,
    view: `pg_stat_activity, pid ${pid}`,
    advice: `End it (SELECT pg_terminate_backend(${pid})), ${OWN_DATABASE}`,
  }),
  prepared: (gid: string) => ({
    who: `the prepared transaction ${gid}`,
    view: 'pg_prepared_xacts',
    advice: `End it (ROLLBACK PREPARED ${literal(gid)}), ${OWN_DATABASE}`,
  }),
  replica: (pid: string) => ({
    who: 'a transaction on a replica',
    view: `pg_stat_replication, pid ${pid}`,
    advice: ON_REPLICA,
  }),
  slot: (name: string) => ({
    who: `a transaction on the replica that uses the replication slot ${name}`,
    view: `pg_replication_slots, slot_name ${name}`,
    advice: ON_REPLICA,
  }),
  'unused slot': (name: string) => ({
    who: `the replication slot ${name}, which no replica uses,`,
    view: `pg_replication_slots, slot_name ${name}`,
    advice: `Start its replica, or drop it (SELECT pg_drop_replication_slot('${name}'))`,
  }),
};

/** What the row of `LEFTOVERS` says. */
export function leftoversIn(rows: Rows): Leftovers {
  const [[old, kind, name, since] = []] = rows;
  const oldRows = Number(old);
  if (!kind) return { oldRows };
  const { who, view, advice } = HOLDERS[kind as keyof typeof HOLDERS](name ?? '');
  const warning =
    `${who} holds a snapshot${since ? ` since ${since}` : ''}, so PostgreSQL removes no old rows, and the tables grow. See ` +
    `${view}. ${advice}`;
  return { oldRows, warning };
}
