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
 *
 * A client of GLIDE speaks through a socket to the thread that has the connections. GLIDE gives the client away only when
 * it is connected, so the driver takes the socket as soon as GLIDE has it: whoever closes the connection before ends the
 * socket, which would keep the process alive until GLIDE gives up to connect.
 */
import { byCommands } from './commands.js';
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

interface Socket {
  destroy(): void;
}

interface Class {
  createClient(configuration: object): Promise<Client>;
  /** Gives a client its socket. It is internal to GLIDE; all versions from 2.3 to 2.5 have it. */
  GetSocket?(path: string): Promise<Socket>;
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
  const place = { name: '', open: (events: Events) => new GlideConnection(given, events, cluster) };
  const { connectionTimeout } = given.config.advancedConfiguration ?? {};
  return new Connections({
    cluster,
    locate: async () => () => place,
    strategy: undefined,
    connectTimeout: connectionTimeout,
    addresses: given.config.addresses?.length ?? 1,
  });
}

/** The user's configuration, with what a connection of the driver needs to differ in. */
const configurationOf = (given: Client, heard: (message: { channel: unknown; message: unknown }) => void): object => ({
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
});

/** Makes a client of GLIDE. made: gets the socket of the client, as long as the client is not connected. */
function create(Given: Class, configuration: object, made: (socket: Socket) => void): Promise<Client> {
  const { createClient, GetSocket } = Given;
  const Own: Class = Object.create(Given, {
    GetSocket: {
      value: async (path: string) => {
        const socket = await (GetSocket as NonNullable<typeof GetSocket>).call(Given, path);
        made(socket);
        return socket;
      },
    },
  });
  return createClient.call(GetSocket ? Own : Given, configuration);
}

/** One connection: a client of GLIDE, which is made now. sharded: whether channels belong to slots. */
class GlideConnection implements Connection {
  readonly #events: Events;
  readonly #sharded: boolean;
  #client: Client | undefined;
  /** The socket of the client that is being made. */
  #socket: Socket | undefined;
  #over = false;
  /** The call that was sent last. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(given: Client, events: Events, sharded: boolean) {
    this.#events = events;
    this.#sharded = sharded;
    const configuration = configurationOf(given, ({ channel, message }) => events.message(`${channel}`, `${message}`));
    const take = (socket: Socket): void => {
      this.#socket = socket;
      if (!this.#over) return;
      socket.destroy();
      throw new Error('the connection is closed');
    };
    create(given.constructor as unknown as Class, configuration, take).then(
      (made) => {
        this.#client = made;
        if (this.#over) return made.close();
        events.connected();
        events.ready();
      },
      (error) => events.lost(plain(error)),
    );
  }

  readonly #questions = byCommands((command, args, key) => this.#send(command, args, key));
  readonly run = this.#questions.run;
  readonly ping = this.#questions.ping;
  readonly info = this.#questions.info;
  readonly wait = this.#questions.wait;

  #send(command: string, args: readonly string[], key?: string): Promise<unknown> {
    const sent = this.#last.then(() => this.#sendNow([command, ...args], key));
    this.#last = sent.catch(() => undefined);
    return sent;
  }

  async #sendNow(command: readonly string[], key: string | undefined): Promise<unknown> {
    if (!this.#client || this.#over) throw new Error('the connection is closed');
    const route = this.#sharded && key !== undefined ? { route: { type: 'primarySlotKey', key } } : {};
    try {
      return await this.#client.customCommand(command, { decoder: STRINGS, ...route });
    } catch (error) {
      // These errors leave open whether the server has run the call. All other errors come from the server.
      if (/^(ConnectionError|ClosingError|TimeoutError)$/.test(nameOf(error))) this.#events.lost(plain(error));
      throw plain(error);
    }
  }

  async subscribe(channel: string): Promise<void> {
    const [client, channels] = [this.#client, new Set([channel])];
    await (this.#sharded ? client?.ssubscribe?.(channels, SUBSCRIBING) : client?.subscribe(channels, SUBSCRIBING));
  }

  async unsubscribe(channel: string): Promise<void> {
    const [client, channels] = [this.#client, new Set([channel])];
    await (this.#sharded ? client?.sunsubscribe?.(channels, SUBSCRIBING) : client?.unsubscribe(channels, SUBSCRIBING));
  }

  keepAlive(alive: boolean): void {
    if (alive) this.#client?.socket?.ref();
    else this.#client?.socket?.unref();
  }

  close(): void {
    this.#over = true;
    if (this.#client) this.#client.close();
    else this.#socket?.destroy();
  }
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
