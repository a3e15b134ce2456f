/** The client libraries for which there is a driver, in the versions and protocols that are tested. */
import { Cluster as Cluster6, Redis as Redis6 } from 'ioredis';
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis-5';
import { Cluster as ClusterV, Redis as RedisV } from 'iovalkey';
import { createClient, createCluster } from 'redis';
import { createClient as createClient5, createCluster as createCluster5 } from 'redis-5';
import type { Client } from '../src/drivers/recognise.ts';

/** A client as a user has it, and what a test does with it. */
export interface User {
  readonly client: Client;
  /** Sends a command by the client itself. */
  send(...command: [string, ...string[]]): Promise<unknown>;
  close(): void;
}

export interface Settings {
  readonly db?: number;
  readonly password?: string;
  readonly keyPrefix?: string;
}

export interface ClientLibrary {
  readonly name: string;
  /** Makes a client that connects. If the connection fails, the client goes on trying. */
  connect(port: number, settings?: Settings): Promise<User>;
  cluster(port: number): Promise<User>;
  /** Makes a client of the server that the sentinels at these ports call `main`. */
  sentinel?(...ports: number[]): Promise<User>;
}

interface AnyIoredis {
  on(event: 'error', listener: () => void): unknown;
  call(command: string, args: string[]): Promise<unknown>;
  disconnect(): void;
}

function ofIoredis(client: AnyIoredis & Client): User {
  client.on('error', () => undefined);
  return {
    client,
    send: (command, ...args) => client.call(command, args),
    close: () => client.disconnect(),
  };
}

const sentinelsAt = (ports: readonly number[]) => ports.map((port) => ({ host: '127.0.0.1', port }));

const libraries: ClientLibrary[] = [];

for (const protocol of [2, 3] as const) {
  libraries.push({
    name: `ioredis 6, RESP${protocol}`,
    connect: async (port, settings) => ofIoredis(new Redis6({ host: '127.0.0.1', port, protocol, ...settings })),
    cluster: async (port) =>
      ofIoredis(new Cluster6([{ host: '127.0.0.1', port }], { redisOptions: { protocol } }) as never),
    sentinel: async (...ports) => ofIoredis(new Redis6({ sentinels: sentinelsAt(ports), name: 'main', protocol })),
  });
}
libraries.push({
  name: 'ioredis 5',
  connect: async (port, settings) => ofIoredis(new Redis5({ host: '127.0.0.1', port, ...settings })),
  cluster: async (port) => ofIoredis(new Cluster5([{ host: '127.0.0.1', port }]) as never),
  sentinel: async (...ports) => ofIoredis(new Redis5({ sentinels: sentinelsAt(ports), name: 'main' })),
});
libraries.push({
  name: 'iovalkey',
  connect: async (port, settings) => ofIoredis(new RedisV({ host: '127.0.0.1', port, ...settings })),
  cluster: async (port) => ofIoredis(new ClusterV([{ host: '127.0.0.1', port }]) as never),
  sentinel: async (...ports) => ofIoredis(new RedisV({ sentinels: sentinelsAt(ports), name: 'main' })),
});

for (const RESP of [2, 3] as const) {
  libraries.push({
    name: `node-redis 6, RESP${RESP}`,
    async connect(port, { db, password, ...rest } = {}) {
      const client = createClient({ socket: { host: '127.0.0.1', port }, RESP, ...database(db, password), ...rest });
      client.on('error', () => undefined);
      client.connect().catch(() => undefined);
      return { client, send: (...command) => client.sendCommand(command), close: () => client.destroy() };
    },
    async cluster(port) {
      const client = createCluster({ rootNodes: [{ socket: { host: '127.0.0.1', port } }], RESP });
      client.on('error', () => undefined);
      await client.connect();
      return {
        client,
        send: (...command) => client.sendCommand(command[1], false, command),
        close: () => client.destroy(),
      };
    },
  });
  libraries.push({
    name: `node-redis 5, RESP${RESP}`,
    async connect(port, { db, password } = {}) {
      const client = createClient5({ socket: { host: '127.0.0.1', port }, RESP, ...database(db, password) });
      client.on('error', () => undefined);
      client.connect().catch(() => undefined);
      return { client, send: (...command) => client.sendCommand(command), close: () => client.destroy() };
    },
    async cluster(port) {
      const client = createCluster5({ rootNodes: [{ socket: { host: '127.0.0.1', port } }], RESP });
      client.on('error', () => undefined);
      await client.connect();
      return {
        client,
        send: (...command) => client.sendCommand(command[1], false, command),
        close: () => client.destroy(),
      };
    },
  });
}

function database(db: number | undefined, password: string | undefined) {
  return { ...(db === undefined ? {} : { database: db }), ...(password === undefined ? {} : { password }) };
}

/** Whether the library is node-redis, whose tests are in files of their own. */
export const isNodeRedis = ({ name }: ClientLibrary): boolean => name.startsWith('node-redis');

export { libraries };
