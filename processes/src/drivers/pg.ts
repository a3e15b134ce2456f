/** Connections to PostgreSQL by `pg` (node-postgres) 8.11 or later. Each is a client with the options of the user's one. */
import { SpaceError } from '../errors.js';
import { clock } from '../runtime/clock.js';
import { FAREWELL, type Rows, type Sql, type SqlEvents, type SqlLibrary } from './sql.js';

/** A pool or a client of pg. */
export interface PgClient {
  query(...args: never[]): unknown;
  connect(...args: never[]): unknown;
}

interface Options {
  readonly password?: unknown;
  readonly connectionTimeoutMillis?: number;
}

/** What the driver uses of a pool. */
interface Pool {
  readonly options: Options;
  readonly Client: Class;
}

type Class = new (options: object) => Client;

/** What the driver uses of a client. */
interface Client {
  readonly constructor: unknown;
  readonly connectionParameters: Record<string, unknown>;
  readonly processID?: number | null;
  /** The clients of pg-native have none. */
  readonly connection?: Wire;
  connect(): Promise<unknown>;
  query(query: object): Promise<{ readonly rows: Rows }>;
  on(event: 'error' | 'end', heard: (error?: Error) => void): void;
  on(event: 'notification', heard: (message: { readonly channel: string; readonly payload?: string }) => void): void;
  ref(): void;
  unref(): void;
  end(): Promise<void>;
}

interface Wire {
  readonly stream: { destroy(): void; unref?(): void };
  once(event: 'connect', heard: () => void): void;
}

/** Each value as the text that the server sends. */
const TEXTS = { getTypeParser: () => String };

/** Returns what opens connections with the options of a pool or a client. It uses neither of them. */
export function pg(client: PgClient): SqlLibrary {
  const given = client as unknown as Pool | Client;
  const [Client, options] = 'Client' in given ? ofPool(given) : ofClient(given);
  return {
    open: (events, most) => open(new Client(optionsFor(options, most)), events),
    connectTimeout: options.connectionTimeoutMillis,
  };
}

/** The password is not enumerable, so a copy lacks it. */
const ofPool = ({ Client, options }: Pool): [Class, Options] => [Client, { ...options, password: options.password }];

/** A client keeps what it has read of its options, and not the options themselves. */
function ofClient(client: Client): [Class, Options] {
  const given = client.connectionParameters;
  const { user, host, port, database, password, ssl, sslnegotiation, application_name, options } = given;
  const own = { user, host, port, database, password, ssl, sslnegotiation, application_name, options };
  const told = Object.entries(own).filter(([, value]) => value !== undefined && value !== null);
  return [client.constructor as Class, Object.fromEntries(told)];
}

/** What differs from the options of the user: nothing limits a statement, and nothing is sent but in turn. */
const optionsFor = (options: Options, most: number): object => ({
  ...options,
  connectionTimeoutMillis: most,
  ...{ statement_timeout: undefined, query_timeout: undefined, lock_timeout: undefined },
  idle_in_transaction_session_timeout: undefined,
  ...{ pipeline: false, binary: false, types: undefined },
});

function open(client: Client, { connected, lost, notified }: SqlEvents): Sql {
  const { connection } = client;
  if (!connection) {
    const why =
      'Space.connect cannot use the clients of pg-native: give new pg.Pool(options) in place of ' +
      'new pg.native.Pool(options), and do not set NODE_PG_FORCE_NATIVE';
    throw new SpaceError('UNREACHABLE', why);
  }
  // The URL among the options, and `pg.defaults`, may have set this, too.
  client.connectionParameters.query_timeout = undefined;
  connection.once('connect', connected);
  client.on('error', lost);
  client.on('end', () => lost(new Error('the connection is closed')));
  client.on('notification', ({ channel, payload = '' }) => notified(channel, payload));
  let isUsed = false;
  return {
    opened: client.connect().then(() => {
      isUsed = true;
    }),
    async query(text) {
      return (await client.query({ text, rowMode: 'array', types: TEXTS })).rows;
    },
    backend: () => client.processID ?? undefined,
    keepAlive: (alive) => (alive ? client.ref() : client.unref()),
    close() {
      // The connection may carry nothing any more. It may have become a TLS stream meanwhile.
      const end = (): void => connection.stream.destroy();
      if (!isUsed) return end();
      client.unref();
      clock.after(FAREWELL, end, false);
      client.end().catch(() => {});
    },
  };
}
