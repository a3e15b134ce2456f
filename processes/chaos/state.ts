/** Reads the state of a space on the server at one moment, and checks the invariants of src/script/turn.lua. */
import { Redis } from 'ioredis';
import { Data } from '../check/data-model.js';
import { faultOf, objectsOf } from '../check/invariants.js';

const HASHES = ['meta', 'objects', 'sessions', 'seqs'] as const;
const SORTED = ['queue', 'records', 'leases'] as const;

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
    const data = new Data();
    const sizes: Record<string, number> = {};
    const command = (args: string[]) => data.command(args, {} as never, []);
    for (const key of HASHES) {
      const fields = Object.entries(contents(results.shift()) as Record<string, string>);
      sizes[key] = fields.length;
      for (const [field, value] of fields) command(['HSET', key, field, value]);
    }
    for (const key of SORTED) {
      const members = contents(results.shift()) as string[];
      sizes[key] = members.length;
      for (const member of members) command(['ZADD', key, '0', member]);
    }
    const taken: Record<string, number> = {};
    for (const { name, free, max } of objectsOf(data).values()) if (free !== max) taken[name] = max - free;
    const found = faultOf(data);
    // A holder may have learned from a number in an answer that others wait. Then it needs no notice, but the state
    // does not show this. So this finding does not count.
    const fault = found?.endsWith('does not know that others wait') ? undefined : found;
    return { fault, sizes, taken, ticket: Number(data.hash('meta').get('ticket') ?? 0) };
  } finally {
    client.disconnect();
  }
}

function contents(result: [Error | null, unknown] | undefined): unknown {
  if (result?.[0]) throw result[0];
  return result?.[1];
}
