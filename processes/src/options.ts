/** The options of `Space.connect`, and their checks. */

import { bad, checkBoolean, checkInteger, checkName, checkOptions } from './errors.js';
import { type Clock, clock as realClock } from './runtime/clock.js';

/** The option `durability`: replicas must confirm each grant. */
export interface Durability {
  /** The number of replicas that must have a grant before its promise is fulfilled, 1 to 100. */
  readonly replicas: number;
  /**
   * How long the replicas may take, in milliseconds, 1 to 60,000. Grants that come while the replicas are being asked
   * are confirmed together, and wait for that up to twice as long. If the server does not answer, a request fails two
   * seconds after this time. The first one may take longer, because the space makes a third connection.
   */
  readonly timeout: number;
}

/** The options of `Space.connect` that decide how the server is used. */
export interface EngineOptions {
  /**
   * Redis and Valkey: waits after each grant until replicas have the grant. This costs one more round trip. If too few
   * replicas confirm in time, or if it is not certain that the server which has answered has the grant, the permits go
   * back, and the request fails with a `SpaceError` of the code `UNCONFIRMED`.
   */
  readonly durability?: Durability | undefined;
  /**
   * PostgreSQL: with false a call does not wait until the server has written it to its disk. Then a crash of the server
   * may lose the grants of its last moments: at most three times its setting `wal_writer_delay`, which is 200
   * milliseconds by default. Default true.
   */
  readonly durable?: boolean | undefined;
  /**
   * PostgreSQL: with true the process makes the tables and functions if the database does not have them. Its role needs
   * the right `CREATE` on the database for that. Default false.
   */
  readonly createSchema?: boolean | undefined;
  /**
   * PostgreSQL: a client with which the space listens to messages, if your client reaches the server by a pooler that
   * gives each transaction another connection (PgBouncer in transaction mode). It must connect directly. With false the
   * process listens to none, and looks for news four times a second while it holds or awaits something.
   */
  readonly listen?: unknown;
}

/** The options of `Space.connect`. */
export interface SpaceOptions extends EngineOptions {
  /** The name of the space: 1 to 64 bytes of UTF-8 without NUL and braces. Default `default`. */
  readonly space?: string;
  /**
   * How many milliseconds a process may be silent before the server takes back what the process holds, 500 to
   * 3,600,000. All processes of a space must ask for the same lease. Default 10,000.
   */
  readonly lease?: number;
  /**
   * Over how many slots of a cluster the objects are spread, 1 to 1,024. The first process of a space fixes the number,
   * and all others must ask for the same. Default 1.
   */
  readonly partitions?: number;
  /**
   * For how long a process that holds a mutex passes it on to its own waiters while other processes wait, in
   * milliseconds, 0 to 10,000. Default 5.
   */
  readonly turn?: number;
  /** Names the process in `inspect`: 1 to 100 bytes of UTF-8 without NUL. Default: the process id and the host. */
  readonly label?: string;
  /** How long `connect` tries to reach the server, in milliseconds, 1 to 600,000. Default 5,000. */
  readonly connectTimeout?: number;
  /**
   * The URL or the absolute path of a module whose default export is a function that makes a client. The space then
   * renews its lease from a worker thread with this client, so that a process which computes for longer than a lease
   * loses nothing. For Node, Deno and Bun.
   */
  readonly heartbeat?: URL | string;
  /** @internal */
  readonly clock?: Clock;
}

/** The options of `Space.local`. */
export interface LocalOptions extends Pick<SpaceOptions, 'space' | 'turn' | 'label' | 'connectTimeout'> {
  /**
   * The folder in which the spaces of this user have their folders, instead of `/tmp/taketurns-<user id>`. It must belong
   * to this user alone (mode 700). Processes that give different folders share nothing.
   */
  readonly directory?: string;
  /** @internal */
  readonly clock?: Clock;
}

/** The options with their defaults. */
export interface Checked
  extends Required<Omit<SpaceOptions, keyof EngineOptions | 'label' | 'heartbeat'>>,
    EngineOptions {
  /** By default `ownLabel`, when it is needed. */
  readonly label: string | undefined;
  readonly durability: Durability | undefined;
  readonly heartbeat: URL | string | undefined;
}

/** The options of `Space.connect` for each server, and those that only one kind of server has. */
const OPTIONS = ['space', 'lease', 'partitions', 'turn', 'label', 'connectTimeout', 'heartbeat'];
const OPTIONS_OF_REDIS = ['durability'];
const OPTIONS_OF_POSTGRES = ['durable', 'createSchema', 'listen'];

/**
 * @internal
 * Returns the default label. In containers many processes have the process id 1, so the label names the host too. A
 * bundle for browsers that runs on a server must not import `node:os`, so the function uses `getBuiltinModule`, which
 * Node has since 20.16 and 22.3. A host name may have 253 bytes, so it is cut.
 */
export function ownLabel(): string {
  const { process } = globalThis;
  return `pid ${process?.pid} on ${process?.getBuiltinModule?.('node:os').hostname().slice(0, 80)}`;
}

const OPTIONS_OF_LOCAL = ['space', 'turn', 'label', 'connectTimeout', 'directory'];

/** @internal In milliseconds. */
export const DEFAULT_LEASE = 10_000;

/** Without a server, a session sends six to ten signs of life in this time, in milliseconds. */
const LEASE_OF_LOCAL = 3_600_000;

/** Only tests give a clock. */
const withClock = (names: readonly string[], options: SpaceOptions | null): readonly string[] =>
  typeof options?.clock?.after === 'function' ? [...names, 'clock'] : names;

/** Checks the options of `Space.local`, and fills in the defaults. */
export function checkLocalOptions(options: LocalOptions): Checked & { readonly directory: string | undefined } {
  const what = 'Space.local';
  checkOptions(what, options, withClock(OPTIONS_OF_LOCAL, options));
  const { directory } = options;
  if (directory !== undefined && !(typeof directory === 'string' && /^[^\0]+$/.test(directory))) {
    throw bad('string', `${what}: directory`, 'the path of a folder', directory);
  }
  return { ...check(what, options, { lease: LEASE_OF_LOCAL }), directory };
}

/**
 * Checks the options of `Space.connect`, and fills in the defaults. The driver says what to write in place of an option
 * that only the other kind of server has.
 */
export function checkSpaceOptions(options: SpaceOptions, isPostgres: boolean): Checked {
  const what = 'Space.connect';
  const [own, others] = isPostgres ? [OPTIONS_OF_POSTGRES, OPTIONS_OF_REDIS] : [OPTIONS_OF_REDIS, OPTIONS_OF_POSTGRES];
  checkOptions(what, options, withClock([...OPTIONS, ...own], options), others);
  return check(what, options);
}

/** `Space.local` has another lease than the options say. */
function check(what: string, options: SpaceOptions, { lease = DEFAULT_LEASE }: { lease?: number } = options): Checked {
  const { space = 'default', partitions = 1, turn = 5, connectTimeout = 5000 } = options;
  const { label, durability, heartbeat, clock = realClock } = options;
  const { durable, createSchema, listen } = options;
  checkName(`${what}: space`, space, 64);
  if (/[{}]/.test(space)) throw bad('string', `${what}: space`, 'a string without braces', space);
  checkInteger(`${what}: lease`, lease, 500, 3_600_000);
  checkInteger(`${what}: partitions`, partitions, 1, 1024);
  checkInteger(`${what}: turn`, turn, 0, 10_000);
  checkInteger(`${what}: connectTimeout`, connectTimeout, 1, 600_000);
  if (label !== undefined) checkName(`${what}: label`, label, 100);
  if (durability !== undefined) {
    checkOptions(`${what}: durability`, durability, ['replicas', 'timeout']);
    checkInteger(`${what}: durability.replicas`, durability.replicas, 1, 100);
    checkInteger(`${what}: durability.timeout`, durability.timeout, 1, 60_000);
  }
  if (durable !== undefined) checkBoolean(`${what}: durable`, durable);
  if (createSchema !== undefined) checkBoolean(`${what}: createSchema`, createSchema);
  // The thread would take a relative path from the folder of this package. A URL may come from another realm.
  const isAddress =
    typeof heartbeat === 'string' ? /^[^.]/.test(heartbeat) : {}.toString.call(heartbeat) === '[object URL]';
  if (heartbeat !== undefined && !isAddress) {
    throw bad('string', `${what}: heartbeat`, 'the URL or the absolute path of a module', heartbeat);
  }
  return {
    ...{ space, lease, partitions, turn, connectTimeout, label, durability, heartbeat, clock },
    ...{ durable, createSchema, listen },
  };
}
