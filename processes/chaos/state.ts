/** Reads the state of a space on a server at one moment, and checks the invariants of src/script/turn.lua. */
import { Redis } from 'ioredis';
import { Data } from '../check/data-model.js';
import { faultOf, objectsOf } from '../check/invariants.js';
import { hex, type ObjectRow, objectText, type RequestRow } from '../check/tables-lines.js';
import type { PostgresServer } from '../servers/postgres.js';

const HASHES = ['meta', 'objects', 'sessions', 'seqs'] as const;
const SORTED = ['queue', 'records', 'leases'] as const;

type Field = [field: string, value: string];
type Keys = Record<(typeof HASHES)[number], Field[]> & Record<(typeof SORTED)[number], string[]>;

export interface State {
  /** The invariant that is broken, if one is. */
  readonly fault: string | undefined;
  /** The number of entries of each key. */
  readonly sizes: Readonly<Record<string, number>>;
  /** Permits that are not free, by object. */
  readonly taken: Readonly<Record<string, number>>;
  readonly ticket: number;
}

export async function readState(port: number, space: string): Promise<State> {
  const client = new Redis({ host: '127.0.0.1', port, lazyConnect: true, retryStrategy: () => null });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const transaction = client.multi();
    for (const key of HASHES) transaction.hgetall(`tt:{${space}.0}:${key}`);
    for (const key of SORTED) transaction.zrange(`tt:{${space}.0}:${key}`, '0', '-1');
    const results = (await transaction.exec()) as [Error | null, unknown][];
    const keys: Partial<Keys> = {};
    for (const key of HASHES) keys[key] = Object.entries(contents(results.shift()) as Record<string, string>);
    for (const key of SORTED) keys[key] = contents(results.shift()) as string[];
    return stateOf(keys as Keys);
  } finally {
    client.disconnect();
  }
}

/** The rows of the partition of a space. One statement sees them all at one moment. */
const ROWS = (space: string): string => `
  select json_build_object(
    'ticket', p.ticket,
    'sessions', (select json_agg(x) from taketurns.session x where x.part = p.id),
    'objects', (select json_agg(x) from taketurns.object x where x.part = p.id),
    'requests', (select json_agg(x) from taketurns.request x where x.part = p.id),
    'unfinished', (select json_agg(x.name) from taketurns.unfinished x where x.part = p.id)) as rows
  from taketurns.partition p where p.space = '${space}' and p.number = 0`;

interface Rows {
  readonly ticket: number;
  readonly sessions: { readonly sid: string; readonly conn: number | null; readonly reads: number }[] | null;
  readonly objects: ObjectRow[] | null;
  readonly requests: RequestRow[] | null;
  readonly unfinished: string[] | null;
}

/** Reads the state of a space on PostgreSQL, as the keys of a server of Redis would tell it. */
export async function readTables(server: PostgresServer, space: string): Promise<State> {
  const [found] = (await server.query(ROWS(space))) as [{ readonly rows: Rows }];
  const { ticket, sessions, objects, requests, unfinished } = found.rows;
  const readers = new Map<number, number>();
  const living = (sessions ?? []).filter(({ conn }) => conn !== null);
  for (const { reads } of living) readers.set(reads, (readers.get(reads) ?? 0) + 1);
  const known = (sessions ?? []).map(({ sid }) => sid);
  const records = requests ?? [];
  return stateOf({
    meta: [['ticket', `${ticket}`], ...[...readers].map(([reads, count]): Field => [`reads${reads}`, `${count}`])],
    objects: [
      ...(objects ?? []).map((object): Field => [object.name, objectText(object)]),
      ...records
        .filter(({ deaths }) => deaths > 0)
        .map(({ name, ticket, deaths }): Field => [`${name}\0${hex(ticket)}`, `${deaths}`]),
    ],
    sessions: living.map(({ sid, conn, reads }) => [sid, `${conn} ${reads}`]),
    seqs: known.map((sid) => [sid, '0']),
    leases: known,
    records: records.map(({ sid, rid, ticket, n, name }) => sid + rid + hex(ticket) + hex(n, 8) + name),
    queue: [
      ...(unfinished ?? []).map((name) => `\0${name}`),
      ...records
        .filter(({ waits }) => waits)
        .map(({ sid, rid, name, ticket, n, base }) => `${name}\0${hex(ticket)}${sid}${rid}${hex(n, 8)}${hex(base)}`),
    ],
  });
}

function stateOf(keys: Keys): State {
  const data = new Data();
  const sizes: Record<string, number> = {};
  const command = (args: string[]) => data.command(args, {} as never, []);
  for (const key of HASHES) {
    sizes[key] = keys[key].length;
    for (const [field, value] of keys[key]) command(['HSET', key, field, value]);
  }
  for (const key of SORTED) {
    sizes[key] = keys[key].length;
    for (const member of keys[key]) command(['ZADD', key, '0', member]);
  }
  const taken: Record<string, number> = {};
  for (const { name, free, max } of objectsOf(data).values()) if (free !== max) taken[name] = max - free;
  const found = faultOf(data);
  // A holder may have learned from a number in an answer that others wait. Then it needs no notice, but the state
  // does not show this. So this finding does not count.
  const fault = found?.endsWith('does not know that others wait') ? undefined : found;
  return { fault, sizes, taken, ticket: Number(data.hash('meta').get('ticket') ?? 0) };
}

function contents(result: [Error | null, unknown] | undefined): unknown {
  if (result?.[0]) throw result[0];
  return result?.[1];
}
