/**
 * Connections to PostgreSQL by `postgres` (Postgres.js) 3.4 or later. Each is an instance of its own with the options of
 * the user's one, and one connection that never connects again.
 *
 * An instance does not lead to the function that makes instances. So the driver imports the package itself.
 */
import type { Socket } from 'node:net';
import { SpaceError } from '../errors.js';
import { clock } from '../runtime/clock.js';
import { FAREWELL, type Rows, type Sql, type SqlEvents, type SqlLibrary } from './sql.js';

/** An instance: what the function `postgres` returns. */
export interface PostgresJsClient {
  unsafe(...args: never[]): unknown;
  listen(...args: never[]): unknown;
}

/** The options of an instance, as the library has read them. */
interface Options {
  readonly host: readonly string[];
  readonly port: readonly number[];
  readonly path?: string | false;
  readonly connect_timeout?: number | null;
  readonly socket?: (options: object) => Socket | Promise<Socket>;
}

interface Result extends Rows {
  readonly state?: { readonly pid: number | null };
}

/** What the driver uses of an instance. */
interface Instance {
  readonly options: Options;
  unsafe(text: string): { values(): Promise<Result> };
  end(options: { timeout: number }): Promise<void>;
}

type Make = (options: object) => Instance;

/** Returns what opens connections with the options of an instance, which is not used. */
export function postgresJs(client: PostgresJsClient): SqlLibrary {
  const { options } = client as unknown as Instance;
  let making: Promise<Make> | undefined;
  let opened = 0;
  return {
    open(events, most) {
      making ??= load();
      return open(making, options, opened++, most, events);
    },
    connectTimeout: options.connect_timeout ? 1000 * options.connect_timeout : undefined,
  };
}

async function load(): Promise<Make> {
  // A bundle need not have the package, unless it is used.
  const name = 'postgres';
  try {
    const module = await import(/* webpackIgnore: true */ /* @vite-ignore */ name);
    return module.default as Make;
  } catch (cause) {
    const why =
      'Space.connect: the package postgres is not found beside taketurns-processes: install it there, and let ' +
      'a bundler leave both external';
    throw new SpaceError('UNREACHABLE', why, cause);
  }
}

/** What differs from the options of the user. `shared` makes the library take the options as they are. */
const optionsFor = (options: Options, most: number): object => ({
  ...options,
  shared: { retries: 0, typeArrayMap: {} },
  ...{ max: 1, idle_timeout: null, max_lifetime: null, connect_timeout: most / 1000 },
  ...{ fetch_types: false, prepare: false, debug: false, no_subscribe: true },
  ...{ onparameter: undefined, parameters: {}, onnotice: () => {} },
  ...{ parsers: {}, serializers: {}, transform: { undefined: undefined, column: {}, value: {}, row: {} } },
});

/** at: how many connections were opened before. Each takes the next of several addresses. */
function open(making: Promise<Make>, given: Options, at: number, most: number, events: SqlEvents): Sql {
  const { connected, lost, notified } = events;
  // While there is another address, the library tells no error.
  const [host, port] = [given.host, given.port].map((all) => [all[at % all.length]]) as [string[], number[]];
  const options = { ...given, host, port };
  let isAlive = true;
  let isOver = false;
  let socket: Socket | undefined;
  let instance: Instance | undefined;
  let pid: number | undefined;
  const makeSocket = async (): Promise<Socket> => {
    // The library would connect again if its first statement was not answered.
    if (socket || isOver) throw new Error('the connection is closed');
    const made = await (options.socket?.(options) ?? dial(options));
    socket = made;
    if (isOver) made.destroy();
    else if (!isAlive) made.unref();
    if (!options.socket) await reached(made);
    connected();
    return made;
  };
  const query = async (text: string): Promise<Rows> => {
    if (!instance) throw new Error('the connection is closed');
    const rows = await instance.unsafe(text).values();
    pid ??= rows.state?.pid ?? undefined;
    return rows;
  };
  return {
    opened: making.then(async (make) => {
      if (isOver) throw new Error('the connection is closed');
      instance = make({
        ...optionsFor(options, most),
        socket: makeSocket,
        onnotify: notified,
        onclose: () => lost(new Error('the connection is closed')),
      });
      await query('select 1');
    }),
    query,
    backend: () => pid,
    keepAlive(alive) {
      isAlive = alive;
      if (alive) socket?.ref();
      else socket?.unref();
    },
    close() {
      isOver = true;
      // The connection may carry nothing any more.
      clock.after(FAREWELL, () => socket?.destroy(), false);
      socket?.unref();
      instance?.end({ timeout: 0 }).catch(() => {});
    },
  };
}

/** Resolves to a socket that begins to connect to the address. */
async function dial({ path, host: [host], port: [port] }: Options): Promise<Socket> {
  const { connect } = await import('node:net');
  const socket = path ? connect(path) : connect(port as number, host);
  // The library reads the name for TLS here.
  if (!path) Object.assign(socket, { host, port });
  return socket;
}

/** Resolves when the socket is connected. Rejects if it cannot be connected, or is destroyed before. */
function reached(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (): void => reject(new Error('the connection is closed'));
    socket.once('error', reject);
    socket.once('close', failed);
    socket.once('connect', () => {
      socket.off('error', reject);
      socket.off('close', failed);
      resolve();
    });
  });
}
