/**
 * The driver for Valkey GLIDE (`@valkey/valkey-glide` from 2.3 on): a single server or a cluster.
 *
 * Each connection is a client of GLIDE with the user's configuration, made by the class of the user's client. GLIDE
 * differs from the other libraries in three ways, and the driver makes up for each:
 *
 * - It may send calls in an order other than that in which they were made. So the driver sends a call only after the
 *   call before it is answered. Meanwhile the session collects new operations, and sends them together in one call.
 * - It connects again by itself. Only the calls that were under way show that a connection was lost: they fail. If a
 *   call has failed in this way, the driver replaces the connection. GLIDE tells nobody that messages were lost. But
 *   messages are numbered, so the session notices at its next heartbeat that some are missing.
 * - In a cluster one client speaks to all nodes, and follows slots that move. So all slots belong to one place.
 */
import { Connections } from './connections.js';
import type { Driver } from './driver.js';
import { asError, type Connection, type Events } from './link.js';

/** A client of Valkey GLIDE: `GlideClient` or `GlideClusterClient`. */
export interface GlideClient {
  customCommand(...args: never[]): Promise<unknown>;
  close(...args: never[]): void;
}

type Channels = ReadonlySet<string>;

/**
 * The part of a client that the driver uses. The configuration and the socket are private members; all versions from
 * 2.3 to 2.5 have them.
 */
interface Client {
  readonly config: {
    readonly addresses?: readonly unknown[];
    readonly advancedConfiguration?: { readonly connectionTimeout?: number };
  };
  readonly socket?: { ref(): void; unref(): void };
  customCommand(command: readonly string[], options: object): Promise<unknown>;
  subscribe(channels: Channels, timeout: number): Promise<void>;
  unsubscribe(channels: Channels, timeout: number): Promise<void>;
  /** Only a cluster has this. */
  ssubscribe?(channels: Channels, timeout: number): Promise<void>;
  sunsubscribe?(channels: Channels, timeout: number): Promise<void>;
  close(): void;
}

interface Class {
  createClient(configuration: object): Promise<Client>;
}

/** GLIDE's number for replies as strings. */
const STRINGS = 1;

/** How long a call may take, in milliseconds. If an answer does not come, the session lets the driver probe sooner. */
const PATIENCE = 1_800_000;

/** How long the server may take to confirm a subscription, in milliseconds. */
const SUBSCRIBING = 10_000;

/** Gives a driver for a client. The client itself is neither used nor closed. */
export function glide(client: GlideClient): Driver {
  const given = client as unknown as Client;
  const cluster = typeof given.ssubscribe === 'function';
  const place = { name: '', open: (events: Events) => open(given, events, cluster) };
  const { connectionTimeout } = given.config.advancedConfiguration ?? {};
  return new Connections({
    cluster,
    locate: async () => () => place,
    strategy: undefined,
    connectTimeout: connectionTimeout,
    addresses: given.config.addresses?.length ?? 1,
  });
}

function open(given: Client, events: Events, sharded: boolean): Connection {
  const Class = given.constructor as unknown as Class;
  let over = false;
  let client: Client | undefined;
  /** The call that was sent last. */
  let last: Promise<unknown> = Promise.resolve();
  const lost = (error: unknown) => events.lost(plain(error));
  const heard = ({ channel, message }: { channel: unknown; message: unknown }) =>
    events.message(`${channel}`, `${message}`);
  const configuration = {
    ...given.config,
    requestTimeout: PATIENCE,
    defaultDecoder: STRINGS,
    lazyConnect: false,
    readFrom: 'primary',
    clientSideCache: undefined,
    compression: undefined,
    clientCircuitBreaker: undefined,
    // If no protocol is given, GLIDE speaks RESP3, which messages need.
    protocol: undefined,
    pubsubSubscriptions: { channelsAndPatterns: {}, callback: heard },
  };
  Class.createClient(configuration).then((made) => {
    client = made;
    if (over) return made.close();
    events.connected();
    events.ready();
  }, lost);

  async function send(command: readonly string[], key: string | undefined): Promise<unknown> {
    if (!client || over) throw new Error('the connection is closed');
    const route = sharded && key !== undefined ? { route: { type: 'primarySlotKey', key } } : {};
    try {
      return await client.customCommand(command, { decoder: STRINGS, ...route });
    } catch (error) {
      // These errors leave open whether the server has run the call. All other errors come from the server.
      if (/^(ConnectionError|ClosingError|TimeoutError)$/.test(nameOf(error))) lost(error);
      throw plain(error);
    }
  }

  return {
    send(command, args, key) {
      const sent = last.then(() => send([command, ...args], key));
      last = sent.catch(() => undefined);
      return sent;
    },
    async subscribe(channel) {
      const channels = new Set([channel]);
      await (sharded ? client?.ssubscribe?.(channels, SUBSCRIBING) : client?.subscribe(channels, SUBSCRIBING));
    },
    async unsubscribe(channel) {
      const channels = new Set([channel]);
      await (sharded ? client?.sunsubscribe?.(channels, SUBSCRIBING) : client?.unsubscribe(channels, SUBSCRIBING));
    },
    keepAlive: (alive) => (alive ? client?.socket?.ref() : client?.socket?.unref()),
    close() {
      over = true;
      client?.close();
    },
  };
}

function nameOf(error: unknown): string {
  return (error as { constructor?: { name?: string } } | undefined)?.constructor?.name ?? '';
}

/** The names that GLIDE has for the codes of errors. */
const CODES: Record<string, string> = {
  NoScriptError: 'NOSCRIPT',
  ReadOnly: 'READONLY',
  BusyLoadingError: 'LOADING',
  ClusterDown: 'CLUSTERDOWN',
  MasterDown: 'MASTERDOWN',
  TryAgain: 'TRYAGAIN',
  Moved: 'MOVED',
  Ask: 'ASK',
  NotBusy: 'NOTBUSY',
  PermissionDenied: 'NOPERM',
};

/** The error with the server's own words in front, as in the other libraries. GLIDE writes `CODE: text`. */
function plain(error: unknown): Error {
  const { message } = asError(error);
  const text = message.replace(/^An error was signalled by the server: - /, '');
  const match = /(?:^|: |\()([A-Z][A-Za-z]+): /.exec(text);
  const code = match?.[1];
  const known = code && (CODES[code] ?? (/^[A-Z]+$/.test(code) ? code : undefined));
  if (!match || !known) return asError(error);
  const rest = text.slice(match.index + match[0].length);
  return new Error(`${known} ${rest}`, { cause: error });
}
