/**
 * The driver for ioredis 5 and 6 and for iovalkey: a single server, Sentinel or a cluster.
 *
 * Each connection is a duplicate of the user's client that connects only once. A client that reconnects would resend
 * commands, keep commands for later, and subscribe again. Because these clients never reconnect, they do none of this.
 * In a cluster too, the duplicates are plain connections to single nodes. The driver uses a duplicate of the user's
 * cluster client for one purpose: to ask which node has which slot.
 */

import { eventsHandled } from '../runtime/ticks.js';
import { byCommands } from './commands.js';
import { Connections, type Library, type Place } from './connections.js';
import type { Driver } from './driver.js';
import { asError, type Connection, type Events } from './link.js';

/** A client of ioredis or iovalkey: `Redis` or `Cluster`. */
export interface IoredisClient {
  readonly options: object;
  duplicate(...args: never[]): unknown;
  call(...args: never[]): unknown;
}

/** What connects a client. It is private, and the same in all tested versions. */
interface Connector {
  connect(...args: unknown[]): Promise<Stream>;
  /** The stream, also before the client knows it. */
  readonly stream?: Stream;
  /** Makes a client of a sentinel, which the connector asks for the address of the server. */
  connectToSentinel?(endpoint: unknown, options?: object): Single;
}

interface Stream {
  ref?(): void;
  unref?(): void;
  cork?(): void;
  uncork?(): void;
  destroy(): void;
  once(event: 'data', heard: (data: unknown) => void): void;
}

/** What is used of `Redis`. */
interface Single {
  readonly options: {
    host?: string;
    port?: number;
    path?: string;
    retryStrategy?: unknown;
    connectTimeout?: number;
    sentinels?: readonly unknown[] | null;
    sentinelCommandTimeout?: number;
  };
  readonly stream?: Stream;
  readonly connector?: Connector;
  duplicate(override: object): Single;
  connect(): Promise<void>;
  call(command: string, args: readonly string[]): Promise<unknown>;
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  ssubscribe(channel: string): Promise<unknown>;
  sunsubscribe(channel: string): Promise<unknown>;
  on(event: string, listener: (...args: never[]) => void): void;
  disconnect(): void;
}

/** What is used of `Cluster`. */
interface Cluster {
  readonly isCluster: true;
  readonly options: { clusterRetryStrategy?: unknown; redisOptions?: { connectTimeout?: number } };
  readonly startupNodes?: readonly unknown[];
  /** For each slot the names of its nodes, the primary first. */
  readonly slots: readonly (readonly string[] | undefined)[];
  duplicate(startupNodes: readonly unknown[], override: object): Cluster;
  connect(): Promise<void>;
  nodes(role: 'all'): Single[];
  on(event: 'error' | 'end', listener: (error: Error) => void): void;
  disconnect(): void;
}

/** Gives a driver for a client. The client itself is neither used nor closed. */
export function ioredis(client: IoredisClient): Driver {
  const given = client as unknown as Single | Cluster;
  return new Connections('isCluster' in given && given.isCluster ? ofCluster(given) : ofServer(given as Single));
}

/**
 * How many milliseconds a client that is disconnected waits for the other end. ioredis starts this timer also for a socket
 * that has closed, and the timer keeps the process alive.
 */
const ENDS_AT_ONCE = { disconnectTimeout: 0 };

/** The options in which each connection of the driver differs from the client of the user. */
const OPTIONS = {
  ...ENDS_AT_ONCE,
  lazyConnect: true,
  retryStrategy: null,
  reconnectOnError: null,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
  maxRetriesPerRequest: null,
  enableAutoPipelining: false,
  commandTimeout: undefined,
  blockingTimeout: undefined,
  // The keys have a prefix of their own, and channels must have the names that the script uses.
  keyPrefix: '',
  stringNumbers: false,
  replyMapping: 'legacy',
  readOnly: false,
  role: 'master',
  monitor: false,
  himportFieldsets: undefined,
};

function ofServer(client: Single): Library {
  const { retryStrategy, connectTimeout, sentinels, sentinelCommandTimeout } = client.options;
  const place: Place = {
    name: '',
    open(events, most) {
      // A sentinel that does not answer must leave time for the next one.
      const asking = Math.min(most, sentinelCommandTimeout ?? most);
      const options = { ...OPTIONS, connectTimeout: most, sentinelCommandTimeout: asking };
      return open(client.duplicate(options), events, false);
    },
  };
  // The default strategy of ioredis waits longer and longer, up to 5 seconds. If a client has the default strategy, the
  // user has not chosen it, so the driver uses its own. A client without the option shows what the default is: the
  // property `constructor` does not lead to the class, but to EventEmitter. The client is never connected.
  const standard = client.duplicate({ ...OPTIONS, retryStrategy: undefined }).options;
  const isOwn = retryStrategy !== standard.retryStrategy;
  return {
    cluster: false,
    locate: async () => () => place,
    strategy: isOwn ? strategyOf(retryStrategy) : undefined,
    connectTimeout,
    // Each sentinel may have to be asked, and then the server itself.
    addresses: 1 + (sentinels?.length ?? 0),
  };
}

function ofCluster(client: Cluster): Library {
  let known: { host: string | undefined; port: number | undefined }[] = [];

  async function locate(_slots: readonly number[], signal: AbortSignal): Promise<(slot: number) => Place | undefined> {
    const directory = client.duplicate([...(client.startupNodes ?? []), ...known], {
      lazyConnect: true,
      enableOfflineQueue: false,
      clusterRetryStrategy: null,
      shardedSubscribers: false,
      slotsRefreshInterval: undefined,
      keyPrefix: '',
      redisOptions: { ...client.options.redisOptions, ...ENDS_AT_ONCE, keyPrefix: '', lazyConnect: true },
    });
    let problem: Error | undefined;
    directory.on('error', (error) => {
      problem = error;
    });
    signal.addEventListener('abort', () => directory.disconnect());
    // If no node tells its address, `connect` is never settled.
    const ended = new Promise<never>((_, reject) => {
      directory.on('end', () => reject(new Error('no node of the cluster is known')));
    });
    try {
      await Promise.race([directory.connect(), ended]);
      const nodes = new Map<string, Single>();
      for (const node of directory.nodes('all')) nodes.set(`${node.options.host}:${node.options.port}`, node);
      known = [...nodes.values()].map(({ options: { host, port } }) => ({ host, port }));
      const slots = directory.slots.map((names) => names?.[0]);
      return (slot) => {
        const name = slots[slot];
        const node = name === undefined ? undefined : nodes.get(name);
        if (!node) return undefined;
        return {
          name: name as string,
          open: (events, most) => open(node.duplicate({ ...OPTIONS, connectTimeout: most }), events, true),
        };
      };
    } catch (error) {
      throw problem ?? asError(error);
    } finally {
      directory.disconnect();
    }
  }

  const { clusterRetryStrategy, redisOptions } = client.options;
  const { connectTimeout } = redisOptions ?? {};
  return { cluster: true, locate, strategy: strategyOf(clusterRetryStrategy), connectTimeout, addresses: 1 };
}

/** ioredis takes only a function for a strategy. */
function strategyOf(option: unknown): unknown {
  return typeof option === 'function' ? option : undefined;
}

function open(client: Single, events: Events, sharded: boolean): Connection {
  const closed = () => events.lost(new Error('the connection is closed'));
  listenFirst(client);
  const endSentinels = listSentinels(client);
  client.on('connect', () => {
    events.connected();
    // A server that has no room for a connection says so and ends the connection. ioredis then reports only the end.
    client.stream?.once('data', (data) => {
      const [, full] = /^-(ERR max number[^\r]*)/.exec(`${data}`) ?? [];
      if (full) events.lost(new Error(full));
    });
    // While the server loads, ioredis asks again and again, and says nothing.
    client.call('INFO', ['persistence']).then(
      (text) => /^loading:1/m.test(`${text}`) && events.lost(new Error('LOADING The server is loading its data')),
      () => undefined,
    );
  });
  client.on('ready', events.ready);
  // There is a listener for errors in every state, also after the end, so that no error event ends the process. ioredis
  // 5 reports by an error that a subscription has moved; ioredis 6 has an event for that.
  client.on('error', events.lost);
  client.on('moved', () => events.lost(new Error('MOVED A subscription has moved')));
  client.on('close', closed);
  client.on('end', closed);
  client.on(sharded ? 'smessage' : 'message', events.message);
  client.connect().catch(events.lost);
  return {
    ...byCommands((command, args) => client.call(command, args)),
    subscribe: (channel) => (sharded ? client.ssubscribe(channel) : client.subscribe(channel)),
    unsubscribe: (channel) => (sharded ? client.sunsubscribe(channel) : client.unsubscribe(channel)),
    keepAlive: (alive) => (alive ? client.stream?.ref?.() : client.stream?.unref?.()),
    close() {
      end(client);
      endSentinels();
    },
  };
}

/** Ends a client and its socket. The client may be making the socket now, and not know it yet. */
function end(client: Single): void {
  client.disconnect();
  client.connector?.stream?.destroy();
  client.stream?.destroy();
}

/** Lists the clients by which a client asks sentinels. Returns a function that ends them, and each that comes later. */
function listSentinels(client: Single): () => void {
  const { connector } = client;
  const make = connector?.connectToSentinel;
  let all: Single[] | undefined = [];
  if (make) {
    connector.connectToSentinel = (endpoint, options) => {
      const made = make.call(connector, endpoint, { ...ENDS_AT_ONCE, ...options });
      if (all) all.push(made);
      else end(made);
      return made;
    };
  }
  return () => {
    for (const each of all ?? []) end(each);
    all = undefined;
  };
}

/**
 * Holds the first commands of a connection back until the first words of the server have been read, and then sends the
 * commands in one write.
 *
 * This is for a server that has no room for another connection: it sends the reason, and closes the connection. If the
 * client writes twice meanwhile, the first write resets the connection and the second write fails. Then Node gives the
 * socket up without reading the reason.
 */
function listenFirst(client: Single): void {
  const { connector } = client;
  const connect = connector?.connect;
  if (!connect) return;
  connector.connect = async (...args) => {
    const stream = await connect.apply(connector, args);
    stream.cork?.();
    return stream;
  };
  client.on('connect', () => void eventsHandled().then(() => client.stream?.uncork?.()));
}
