/** Finds the driver for a client by the shape of the client, so that no client library need be installed. */
import { badType } from '../errors.js';
import type { Driver } from './driver.js';
import { type GlideClient, glide } from './glide.js';
import { type IoredisClient, ioredis } from './ioredis.js';
import { type NodeRedisClient, nodeRedis } from './node-redis.js';

/** The clients for which there is a driver. */
export type Client = IoredisClient | NodeRedisClient | GlideClient;

/**
 * Returns a driver for a client of ioredis, iovalkey, node-redis or Valkey GLIDE. If the client is a driver already,
 * returns it as it is.
 */
export function driverOf(client: unknown): Driver {
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
    `a client of ioredis, iovalkey, redis (5 or later)${hint} or @valkey/valkey-glide (2.3 or later), or a driver`,
    client,
    typeof client === 'string' ? 'make a client, such as new Redis(address) of ioredis' : '',
  );
}

function has(value: unknown, ...methods: string[]): boolean {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  return methods.every((method) => typeof (value as Record<string, unknown>)[method] === 'function');
}
