/** Joins the space that a command line names: of this machine, or of a server. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Mutex } from '../objects/mutex.js';
import type { RwLock } from '../objects/rw-lock.js';
import type { Semaphore } from '../objects/semaphore.js';
import { DEFAULT_LEASE, type SpaceOptions } from '../options.js';
import { type Settings, SettingsError } from '../session/server-error.js';
import { type ObjectEntry, Space } from '../space/space.js';
import { type Given, type Name, numberOf, UsageError } from './arguments.js';

/** A client of the user's library for `--url`, and what ends it. */
interface Client {
  on?(event: 'error', listener: () => void): unknown;
}

type Make = (url: string) => Client;

interface Library {
  readonly Redis?: new (url: string, options: object) => Client;
  readonly createClient?: (options: object) => Client;
  /** Of pg. */
  readonly Pool?: new (
    options: object,
  ) => Client;
  /** Of a module of CommonJS. Postgres.js exports one function. */
  readonly default?: Library | ((url: string, options: object) => Client);
}

/** The libraries whose clients are made from a URL, by the schemes of URLs, in the order in which they are tried. */
const LIBRARIES = {
  redis: ['ioredis', 'iovalkey', 'redis'],
  postgres: ['pg', 'postgres'],
} as const;

/** Loads a library that this package finds, or that the project in the present folder has. */
async function load(name: string): Promise<Library | undefined> {
  for (const find of [() => name, () => pathToFileURL(createRequire(join(process.cwd(), 'x')).resolve(name)).href]) {
    try {
      return (await import(find())) as Library;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw error;
    }
  }
  return undefined;
}

async function maker(server: keyof typeof LIBRARIES): Promise<Make> {
  for (const name of LIBRARIES[server]) {
    const library = await load(name);
    const { default: whole, Redis, createClient } = library ?? {};
    if (Redis) return (url) => new Redis(url, { lazyConnect: true });
    if (createClient) return (url) => createClient({ url });
    if (typeof whole === 'function') return (url) => whole(url, { max: 1 });
    const Pool = library?.Pool ?? whole?.Pool;
    if (Pool) return (url) => new Pool({ connectionString: url });
  }
  const [first, ...others] = LIBRARIES[server];
  throw new UsageError(`--url needs a client library: npm install ${first} (or ${others.join(', or ')})`);
}

/** A space that the command line names. */
export interface Joined {
  readonly space: Space;
  /** The lease of the space in milliseconds; undefined without a server, where a turn has none. */
  readonly lease: number | undefined;
}

/** Joins the space. label: names this process. */
export async function joinSpace(given: Given, label?: string): Promise<Joined> {
  const { command, values } = given;
  const { space, directory, url } = values;
  const asked = settingsOf(given);
  const options = { ...(space === undefined ? {} : { space }), ...(label === undefined ? {} : { label }) };
  if (url === undefined) {
    for (const name of Object.keys(asked))
      throw new UsageError(`${command}: --${name} is for a server, so it needs --url`);
    return {
      space: await Space.local(directory === undefined ? options : { ...options, directory }),
      lease: undefined,
    };
  }
  if (directory !== undefined)
    throw new UsageError(`${command}: --directory is for this machine, and --url for a server`);
  const isPostgres = /^postgres(ql)?:\/\//.test(url);
  if (!isPostgres && !/^(redis|valkey)s?:\/\//.test(url)) {
    const schemes = 'redis://, rediss:// or postgres://';
    throw new UsageError(`${command}: --url must begin with ${schemes}, got ${JSON.stringify(url)}`);
  }
  const client = (await maker(isPostgres ? 'postgres' : 'redis'))(url.replace(/^valkey/, 'redis'));
  client.on?.('error', () => {});
  const joined = await connect(command, client, options, asked);
  joined.space.on('trouble', ({ message }) => console.error(`taketurns-processes: ${message}`));
  return joined;
}

/** The settings of the space that the command line names. */
function settingsOf(given: Given): Partial<Settings> {
  const isLease = (value: number): boolean => value >= 0.5 && value <= 3600;
  const isCount = (value: number): boolean => Number.isInteger(value) && value >= 1 && value <= 1024;
  const lease = numberOf(given, 'lease', 'a number of seconds from 0.5 to 3600', isLease);
  const partitions = numberOf(given, 'partitions', 'an integer from 1 to 1024', isCount);
  return {
    ...(lease === undefined ? {} : { lease: Math.round(lease * 1000) }),
    ...(partitions === undefined ? {} : { partitions }),
  };
}

/**
 * Joins the space of a server. Whatever the command line does not say of its settings is as the server tells: a process
 * that asks for other settings is refused, and then asks again for those of the space.
 */
async function connect(
  command: Name,
  client: Client,
  options: SpaceOptions,
  asked: Partial<Settings>,
): Promise<Joined> {
  let settings: Settings = { partitions: 1, lease: DEFAULT_LEASE, ...asked };
  for (;;) {
    try {
      return { space: await Space.connect(client, { ...options, ...settings }), lease: settings.lease };
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error;
      const theirs = error.settings;
      // The lease counts only while other processes have joined, so the server compares it last.
      const name = theirs.partitions === settings.partitions ? 'lease' : 'partitions';
      if (asked[name] !== undefined) throw new UsageError(`${command}: ${otherThanAsked(options, name, theirs)}`);
      settings = { ...settings, [name]: theirs[name] };
    }
  }
}

/** What to say if the command line asks for another setting than the space has. */
function otherThanAsked({ space = 'default' }: SpaceOptions, name: keyof Settings, theirs: Settings): string {
  const value = name === 'lease' ? theirs.lease / 1000 : theirs.partitions;
  const has = name === 'lease' ? `a lease of ${value} seconds` : `${value} partitions`;
  return `the space ${JSON.stringify(space)} has ${has}: give --${name} ${value}, or leave --${name} out`;
}

/** Opens an object with the settings that it has. */
export function openAs(
  space: Space,
  { name, kind, max, robust, ephemeral, bypass }: ObjectEntry,
): Promise<Semaphore | Mutex | RwLock> {
  if (kind === 'mutex') return space.mutex(name, { robust, ephemeral, bypass });
  return kind === 'semaphore'
    ? space.semaphore(name, max, { robust, ephemeral })
    : space.rwLock(name, { robust, ephemeral });
}

/**
 * A handle by which one looks at an object and takes holds away. It never makes the object, even if somebody has
 * disposed of the object meanwhile: a handle of an ephemeral object opens the object only when it asks for permits.
 */
export const lookAt = (space: Space, entry: ObjectEntry): Promise<Semaphore | Mutex | RwLock> =>
  openAs(space, { ...entry, ephemeral: true });

/** The object of this name, or undefined if there is none. */
export async function find(space: Space, name: string): Promise<ObjectEntry | undefined> {
  for await (const entry of space.objects()) if (entry.name === name) return entry;
  return undefined;
}
