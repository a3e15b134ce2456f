/** A client of ioredis for an address. This client never connects: the space makes connections with its settings. */
import { Cluster, Redis } from 'ioredis';
import type { ServerAddress } from './plan.js';

export function clientFor(address: ServerAddress): Redis | Cluster {
  const host = '127.0.0.1';
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
