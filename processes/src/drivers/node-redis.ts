/**
 * The driver for node-redis (the package `redis`) 5 and 6: a single server or a cluster, by RESP2 or RESP3.
 *
 * Each connection is a duplicate of the user's client that connects only once, also in a cluster. The driver uses a
 * duplicate of the user's cluster client for one purpose: to ask which node has which slot.
 */
import { byCommands } from './commands.js';
import { Connections, type Library, type Place } from './connections.js';
import type { Driver } from './driver.js';
import type { Connection, Events } from './link.js';

/** A client of node-redis: of `createClient` or `createCluster`. */
export interface NodeRedisClient {
  duplicate(...args: never[]): unknown;
  sendCommand(...args: never[]): unknown;
  connect(...args: never[]): unknown;
}

interface SocketOptions {
  readonly host?: string;
  readonly port?: number;
  readonly reconnectStrategy?: unknown;
  readonly connectTimeout?: number;
}

interface Options {
  readonly socket?: SocketOptions;
}

type Listener = (text: string, channel: string) => void;

/** What the driver uses of a client. */
interface Single {
  readonly options?: Options;
  duplicate(override: object): Single;
  connect(): Promise<unknown>;
  sendCommand(command: readonly string[]): Promise<unknown>;
  subscribe(channel: string, listener: Listener): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  sSubscribe(channel: string, listener: Listener): Promise<unknown>;
  sUnsubscribe(channel: string): Promise<unknown>;
  on(event: string, listener: (...args: never[]) => void): void;
  ref(): void;
  unref(): void;
  destroy(): void;
}

interface ClusterOptions {
  readonly rootNodes?: readonly Options[];
  readonly defaults?: Options;
}

interface ClusterNode {
  readonly address: string;
  readonly host: string;
  readonly port: number;
}

/** What the driver uses of a cluster client. */
interface Cluster {
  /** The client itself. An object that `withCommandOptions` derives from a client leads to this client. */
  readonly _self: { readonly _options: ClusterOptions };
  readonly slots: readonly ({ readonly master: ClusterNode } | undefined)[];
  readonly masters: readonly ClusterNode[];
  duplicate(override: object): Cluster;
  connect(): Promise<unknown>;
  nodeClient(node: ClusterNode): Promise<Single>;
  on(event: 'error', listener: (error: Error) => void): void;
  destroy(): void;
}

/** Gives a driver for a client. The client itself is neither used nor closed. */
export function nodeRedis(client: NodeRedisClient): Driver {
  const given = client as unknown as Single | Cluster;
  return new Connections('nodeClient' in given ? ofCluster(given) : ofServer(given));
}

/**
 * The options in which a connection of the driver differs from the client of the user. most: how many milliseconds it may
 * take to connect. closed: is aborted when the connection is closed. A client that is destroyed while it makes its socket
 * does not know the socket yet, and would keep it open; the signal destroys the socket itself.
 */
function optionsFor(socket: SocketOptions | undefined, closed: AbortSignal, most = socket?.connectTimeout): object {
  return {
    // An idle connection for messages is no fault.
    socket: { ...socket, reconnectStrategy: false, socketTimeout: undefined, connectTimeout: most, signal: closed },
    disableOfflineQueue: true,
    commandsQueueMaxLength: undefined,
    commandOptions: {},
    clientSideCache: undefined,
    maintNotifications: 'disabled',
    readonly: false,
    keyPrefix: undefined,
  };
}

function ofServer(client: Single): Library {
  const socket = client.options?.socket;
  const place: Place = {
    name: '',
    open: (events, most) => open((closed) => client.duplicate(optionsFor(socket, closed, most)), events, false),
  };
  return { cluster: false, locate: async () => () => place, ...settingsOf(socket) };
}

function settingsOf(socket: SocketOptions | undefined): Pick<Library, 'strategy' | 'connectTimeout' | 'addresses'> {
  // If the option is missing, node-redis takes 5 seconds.
  return { strategy: socket?.reconnectStrategy, connectTimeout: socket?.connectTimeout ?? 5000, addresses: 1 };
}

function ofCluster(client: Cluster): Library {
  const { rootNodes = [], defaults } = client._self._options;
  let known: Options[] = [];

  async function locate(slots: readonly number[], signal: AbortSignal): Promise<(slot: number) => Place | undefined> {
    const directory = client.duplicate({
      rootNodes: [...rootNodes, ...known],
      minimizeConnections: true,
      useReplicas: false,
      defaults: { ...defaults, ...optionsFor(defaults?.socket, signal), disableOfflineQueue: false },
    });
    directory.on('error', () => undefined);
    const end = () => destroy(directory);
    signal.addEventListener('abort', end);
    try {
      await directory.connect();
      known = directory.masters.map(({ host, port }) => ({ socket: { host, port } }));
      const places = new Map<number, Place>();
      for (const slot of slots) {
        const node = directory.slots[slot]?.master;
        if (!node) continue;
        const sample = await directory.nodeClient(node);
        places.set(slot, {
          name: node.address,
          open: (events, most) =>
            open((closed) => sample.duplicate(optionsFor(sample.options?.socket, closed, most)), events, true),
        });
      }
      return (slot) => places.get(slot);
    } finally {
      end();
    }
  }

  return { cluster: true, locate, ...settingsOf(defaults?.socket) };
}

function destroy(client: { destroy(): void }): void {
  try {
    client.destroy();
  } catch {
    // node-redis 5 throws if the client is closed already.
  }
}

function open(make: (closed: AbortSignal) => Single, events: Events, sharded: boolean): Connection {
  const closing = new AbortController();
  const client = make(closing.signal);
  const heard: Listener = (text, channel) => events.message(channel, text);
  // Calls of `ref` and `unref` before `connect` do not reach the socket.
  client.on('connect', events.connected);
  client.on('ready', events.ready);
  client.on('error', events.lost);
  client.on('end', () => events.lost(new Error('the connection is closed')));
  client.on('sharded-channel-moved', () => events.lost(new Error('MOVED A subscription has moved')));
  client.connect().catch(events.lost);
  return {
    ...byCommands((command, args) => client.sendCommand([command, ...args])),
    subscribe: (channel) => (sharded ? client.sSubscribe(channel, heard) : client.subscribe(channel, heard)),
    unsubscribe: (channel) => (sharded ? client.sUnsubscribe(channel) : client.unsubscribe(channel)),
    keepAlive: (alive) => (alive ? client.ref() : client.unref()),
    close() {
      destroy(client);
      closing.abort();
    },
  };
}
