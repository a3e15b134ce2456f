/** Finds the driver for a client by the shape of the client, so that no client library need be installed. */
import { bad, badType } from '../errors.js';
import type { EngineOptions } from '../options.js';
import type { Driver } from './driver.js';
import { type GlideClient, glide } from './glide.js';
import { type IoredisClient, ioredis } from './ioredis.js';
import { type NodeRedisClient, nodeRedis } from './node-redis.js';
import { type PgClient, pg } from './pg.js';
import { type PostgresJsClient, postgresJs } from './postgres-js.js';
import { postgresql } from './postgresql.js';
import type { SqlLibrary } from './sql.js';

/** The clients for which there is a driver. */
export type Client = IoredisClient | NodeRedisClient | GlideClient | PgClient | PostgresJsClient;

/** The clients of PostgreSQL, in words. */
const SQL = 'a Pool or Client of pg (8.11 or later), or an instance of postgres (3.4 or later)';

/**
 * Returns a driver for a client of ioredis, iovalkey, node-redis, Valkey GLIDE, pg or Postgres.js. If the client is a
 * driver already, returns it as it is.
 */
export function driverOf(client: unknown, options: EngineOptions = {}): Driver {
  const library = sqlOf(client);
  if (library) return ofSql(library, options);
  for (const name of ['durable', 'createSchema', 'listen'] as const) {
    if (options[name] !== undefined) {
      throw bad('value', `Space.connect: ${name}`, `given only with a client of PostgreSQL`, options[name]);
    }
  }
  if (has(client, 'run', 'listen', 'watch', 'confirm')) return client as Driver;
  if (has(client, 'duplicate', 'call', 'subscribe')) return ioredis(client as IoredisClient);
  // A sentinel client of node-redis offers no plain connection to the primary.
  const isSentinel = has(client, 'getMasterNode', 'getSentinelNode');
  // The clients of version 4 have no `destroy`.
  if (!isSentinel && has(client, 'duplicate', 'sendCommand', 'sSubscribe', 'destroy'))
    return nodeRedis(client as NodeRedisClient);
  if (has(client, 'customCommand', 'close', 'subscribe', 'unsubscribe')) return glide(client as GlideClient);
  const hint = isSentinel ? ' (for Sentinel one of ioredis or iovalkey)' : '';
  throw badType(
    'Space.connect: client',
    `a client of ioredis, iovalkey, redis (5 or later)${hint} or @valkey/valkey-glide (2.3 or later), ${SQL}, or a driver`,
    client,
    typeof client === 'string' ? 'make a client, such as new Redis(address) of ioredis' : '',
  );
}

/** Whether it is a client of PostgreSQL. */
export const isOfPostgres = (client: unknown): boolean => sqlOf(client) !== undefined;

/** What opens connections to PostgreSQL, if the client is one of PostgreSQL. */
function sqlOf(client: unknown): SqlLibrary | undefined {
  if (!isObject(client)) return undefined;
  if (has(client, 'unsafe', 'listen', 'reserve') && isObject(client.options)) {
    return postgresJs(client as unknown as PostgresJsClient);
  }
  // A pool has the class of its clients.
  const isPool = typeof client.Client === 'function' && isObject(client.options);
  const isPg = isPool || isObject(client.connectionParameters);
  return isPg && has(client, 'query', 'connect', 'end') ? pg(client as unknown as PgClient) : undefined;
}

function ofSql(
  library: SqlLibrary,
  { durable = true, createSchema = false, listen, durability }: EngineOptions,
): Driver {
  if (durability !== undefined) {
    throw bad(
      'value',
      'Space.connect: durability',
      'left out with a client of PostgreSQL',
      durability,
      'the server itself waits for replicas if it has the setting synchronous_standby_names',
    );
  }
  const listening = listen === undefined || listen === false ? listen : sqlOf(listen);
  if (listen !== undefined && listening === undefined) {
    throw badType('Space.connect: listen', `${SQL}, or false`, listen);
  }
  return postgresql(library, { durable, createSchema, listen: listening });
}

function has(value: unknown, ...methods: string[]): boolean {
  return isObject(value) && methods.every((method) => typeof value[method] === 'function');
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  (typeof value === 'object' || typeof value === 'function') && value !== null;
