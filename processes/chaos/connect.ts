/** Joins a space at an address. The client never connects: the space makes connections with its settings. */
import { Cluster, Redis } from 'ioredis';
import pg from 'pg';
import { Space, type SpaceOptions } from '../src/index.js';
import type { RedisAddress, ServerAddress } from './plan.js';

const host = '127.0.0.1';

export function connect(address: ServerAddress, options: SpaceOptions): Promise<Space> {
  if (address.kind !== 'postgresql') return Space.connect(clientFor(address), options);
  const pool = new pg.Pool({ host, port: address.port, user: 'postgres', database: 'postgres' });
  return Space.connect(pool, { ...options, durable: address.durable });
}

/** A client of ioredis for an address. */
export function clientFor(address: RedisAddress): Redis | Cluster {
  const client =
    address.kind === 'server'
      ? new Redis({ host, port: address.port, lazyConnect: true })
      : address.kind === 'sentinel'
        ? new Redis({ sentinels: address.ports.map((port) => ({ host, port })), name: 'main', lazyConnect: true })
        : new Cluster(
            address.ports.map((port) => ({ host, port })),
            { lazyConnect: true },
          );
  client.on('error', () => undefined);
  return client;
}
