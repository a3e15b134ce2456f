/**
 * A space is a name under which processes share objects, on one server or cluster. A process has one session for each
 * partition of the space that it uses, and all keys of a partition lie in one slot of a cluster.
 */
import { type Clock, clock as realClock } from './clock.js';
import type { Driver } from './drivers/driver.js';
import { driverOf } from './drivers/recognise.js';
import { bad, checkInteger, checkName, checkOptions, DisposedError, SpaceError } from './errors.js';
import type { Durability, Home } from './handle.js';
import { Heartbeat } from './heartbeat.js';
import { asyncDispose, inspected } from './hold.js';
import { Mutex } from './mutex.js';
import {
  describe,
  type MutexOptions,
  type ObjectOptions,
  READERS,
  type Settings,
  SharedObject,
  settingsOf,
} from './object.js';
import { RwLock } from './rw-lock.js';
import { Semaphore } from './semaphore.js';
import { refusal } from './server-error.js';
import { Session, type Surroundings } from './session.js';

/** The options of `Space.connect`. */
export interface SpaceOptions {
  /** The name of the space: 1 to 64 bytes without NUL and braces. Default `default`. */
  readonly space?: string;
  /**
   * How long the server waits for a process that is silent before it takes back what that holds, in milliseconds, 500 to
   * 3,600,000. All sessions of a space have the same. Default 10,000.
   */
  readonly lease?: number;
  /** Into how many slots of a cluster the objects are spread, 1 to 1,024. It is fixed with the first session. Default 1. */
  readonly partitions?: number;
  /** How long a process passes a mutex on within itself while others wait, in milliseconds, 0 to 10,000. Default 5. */
  readonly turn?: number;
  /** Names the process in `inspect`: at most 100 bytes without NUL. */
  readonly label?: string;
  /** How long `connect` tries to reach the server, in milliseconds, 1 to 600,000. Default 5,000. */
  readonly connectTimeout?: number;
  /** Waits after each grant until replicas have it. It costs one round trip more. */
  readonly durability?: Durability;
  /**
   * A module whose default export is a function that makes a client. The space then beats from a worker thread with a
   * client of its own, so that a process which computes for longer than a lease loses nothing. Node, Deno and Bun.
   */
  readonly heartbeat?: URL | string;
  /** @internal */
  readonly clock?: Clock;
}

/** What a space tells its listeners. */
export interface SpaceEvents {
  /** The lease is lost, and with it what the process held of these objects. */
  lost: [event: { readonly names: readonly string[]; readonly reason: string }];
  /** The session goes on after a connection was lost. */
  resumed: [];
  /** The server's data has another history: it was restarted, or a replica was promoted. */
  failover: [];
  /** The server has refused something of which no caller can be told. */
  error: [error: unknown];
}

/** The state of a space on the server. */
export interface SpaceState {
  /** How many histories the data has had: restarts and failovers. */
  readonly epoch: number;
  /** The processes that have a lease. */
  readonly sessions: readonly { readonly session: string; readonly label: string }[];
}

type Checked = Required<Omit<SpaceOptions, 'durability' | 'heartbeat'>> & Pick<SpaceOptions, 'heartbeat'>;

const OPTIONS = ['space', 'lease', 'partitions', 'turn', 'label', 'connectTimeout', 'durability', 'heartbeat'];

function checkSpaceOptions(options: SpaceOptions): Checked {
  const what = 'Space.connect';
  checkOptions(what, options, 'clock' in Object(options) ? [...OPTIONS, 'clock'] : OPTIONS);
  const {
    space = 'default',
    lease = 10_000,
    partitions = 1,
    turn = 5,
    label = `pid ${globalThis.process?.pid}`,
  } = options;
  checkName(`${what}: space`, space, 64);
  if (/[{}]/.test(space)) throw bad('string', `${what}: space`, 'a string without braces', space);
  if (options.durability !== undefined) {
    checkOptions(`${what}: durability`, options.durability, ['replicas', 'timeout']);
    checkInteger(`${what}: durability.replicas`, options.durability.replicas, 1, 100);
    checkInteger(`${what}: durability.timeout`, options.durability.timeout, 1, 60_000);
  }
  const { heartbeat } = options;
  if (heartbeat !== undefined && typeof heartbeat !== 'string' && !(heartbeat instanceof URL)) {
    throw bad('', `${what}: heartbeat`, 'the URL of a module', heartbeat);
  }
  return {
    ...(heartbeat !== undefined && { heartbeat }),
    space,
    lease: checkInteger(`${what}: lease`, lease, 500, 3_600_000),
    partitions: checkInteger(`${what}: partitions`, partitions, 1, 1024),
    turn: checkInteger(`${what}: turn`, turn, 0, 10_000),
    label: checkName(`${what}: label`, label, 100),
    connectTimeout: checkInteger(`${what}: connectTimeout`, options.connectTimeout ?? 5000, 1, 600_000),
    clock: options.clock ?? realClock,
  };
}

/** How long nothing is held or awaited until the process may end, in milliseconds. */
const IDLE = 10;

const encoder = new TextEncoder();

function fnv1a(name: string): number {
  let hash = 0x811c9dc5;
  for (const byte of encoder.encode(name)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}

/**
 * What the processes of a space share, as this process has it. `Space.connect` makes it.
 *
 *     await using space = await Space.connect(new Redis(), { space: 'shop' });
 *     const pool = await space.semaphore('db', 4);
 */
export class Space implements AsyncDisposable {
  readonly #driver: Driver;
  readonly #options: Checked;
  readonly #home: Home;
  readonly #around: Surroundings;
  readonly #sessions = new Map<number, Session>();
  readonly #listeners = new Map<string, Set<(...args: never[]) => void>>();
  #isConnected = false;
  #whenConnected: (() => void)[] = [];
  #keptAlive = true;
  /** Whether a timer will let the process end. */
  #isIdle = false;
  #closed: Promise<void> | undefined;
  #trouble: unknown;
  #heartbeat: Heartbeat | undefined;

  private constructor(driver: Driver, options: SpaceOptions) {
    if (typeof driver?.confirm !== 'function') {
      throw new TypeError('a Space is made by await Space.connect(client, options)');
    }
    const checked = checkSpaceOptions(options);
    const isConnected = (): boolean => this.#isConnected;
    const heartbeat = (): Heartbeat | undefined => this.#heartbeat;
    this.#driver = driver;
    this.#options = checked;
    this.#home = { clock: checked.clock, durability: options.durability };
    this.#around = {
      driver,
      ...checked,
      get heartbeat() {
        return heartbeat();
      },
      get connected() {
        return isConnected();
      },
      whenConnected: () => new Promise((resolve) => this.#whenConnected.push(resolve)),
      lost: (names, reason) => this.#emit('lost', { names, reason }),
      resumed: () => this.#emit('resumed'),
      failover: () => this.#emit('failover'),
      error: (error) => this.#emit('error', error),
      keepAlive: () => this.#keepAlive(),
    };
    driver.watch({
      up: () => {
        this.#isConnected = true;
        for (const resolve of this.#whenConnected.splice(0)) resolve();
        for (const session of this.#sessions.values()) session.connected();
      },
      down: (error) => {
        this.#isConnected = false;
        this.#trouble = error ?? this.#trouble;
        for (const session of this.#sessions.values()) session.disconnected();
      },
    });
  }

  /**
   * Joins a space by a client of yours: of ioredis, iovalkey, node-redis (`redis`) or Valkey GLIDE. The space makes
   * connections of its own like it, and leaves yours alone.
   *
   *     const space = await Space.connect(new Redis(), { space: 'shop' });
   * @throws (rejects) {TypeError | RangeError} for a bad argument.
   * @throws (rejects) {SpaceError} `UNREACHABLE` if there is no server within `connectTimeout`; `SETTINGS` if the space has
   * other settings; `EVICTION` if the server may evict the keys of the space; otherwise the code of the server's error.
   */
  static async connect(client: unknown, options: SpaceOptions = {}): Promise<Space> {
    checkSpaceOptions(options);
    const space = new Space(driverOf(client), options);
    try {
      await space.#connect();
      return space;
    } catch (error) {
      await space.close();
      throw error;
    }
  }

  async #connect(): Promise<void> {
    const { connectTimeout, clock, space } = this.#options;
    let stop = (): void => {};
    const late = new Promise<never>((_, reject) => {
      const timer = clock.after(
        connectTimeout,
        () => {
          const why = this.#trouble instanceof Error ? `: ${this.#trouble.message}` : '';
          reject(
            refusal(this.#trouble) ??
              new SpaceError('UNREACHABLE', `no server within ${connectTimeout} ms${why}`, this.#trouble),
          );
        },
        true,
      );
      stop = () => clock.stop(timer);
    });
    const ready = (async () => {
      if (!this.#isConnected) await this.#around.whenConnected();
      const { heartbeat, lease, partitions } = this.#options;
      if (heartbeat) {
        // It is there to be stopped, also if it never connects.
        this.#heartbeat = await Heartbeat.start(String(heartbeat), lease, partitions);
        await this.#heartbeat.ready;
      }
      while (!(await this.#checkEviction(`tt:{${space}.0}:meta`))) {
        // The connection was lost before the answer came.
        await new Promise<void>((resolve) => clock.after(10, resolve, true));
        if (this.#closed) return;
        if (!this.#isConnected) await this.#around.whenConnected();
      }
      const session = this.#session(0);
      // The script needs TIME only for beats, and the user may lack the right to it.
      await Promise.all([session.operate(['J']), session.operate(['B', String(lease), String(Math.floor(lease / 4))])]);
    })();
    try {
      await Promise.race([ready, late]);
    } finally {
      stop();
      ready.catch(() => {});
    }
  }

  /** Returns whether the server has told. */
  async #checkEviction(key: string): Promise<boolean> {
    const memory = await this.#driver.info(key, 'memory').catch((error: unknown) => {
      const refused = refusal(error);
      if (refused) throw refused;
      return null;
    });
    if (memory === null) return false;
    const policy = memory?.get('maxmemory_policy') ?? 'noeviction';
    if (!policy.startsWith('allkeys')) return true;
    const advice = 'use a server or a policy that evicts only keys with an expiry (volatile-lru), or none (noeviction)';
    throw new SpaceError(
      'EVICTION',
      `the server evicts keys when its memory is full (${policy}), also those of locks: ${advice}`,
    );
  }

  #session(partition: number): Session {
    let session = this.#sessions.get(partition);
    if (session === undefined) {
      session = new Session(this.#around, partition);
      this.#sessions.set(partition, session);
    }
    return session;
  }

  get #isNeeded(): boolean {
    for (const session of this.#sessions.values()) if (session.isNeeded) return true;
    return false;
  }

  #keepAlive(): void {
    if (this.#isNeeded) {
      if (this.#keptAlive) return;
      this.#keptAlive = true;
      this.#driver.keepAlive(true);
    } else if (this.#keptAlive && !this.#isIdle) {
      // A program that asks again at once need not tell its sockets twice.
      this.#isIdle = true;
      const rest = (): void => {
        this.#isIdle = false;
        if (this.#isNeeded) return;
        this.#keptAlive = false;
        this.#driver.keepAlive(false);
      };
      this.#options.clock.after(IDLE, rest, false);
    }
  }

  async #open<H>(
    name: string,
    settings: Settings,
    Handle: new (home: Home, session: Session, object: SharedObject) => H,
  ): Promise<H> {
    if (this.#closed) throw new DisposedError('the space has been closed');
    const session = this.#session(fnv1a(name) % this.#options.partitions);
    // The server forgets an ephemeral object, so it is opened with each request.
    if (settings.ephemeral) return new Handle(this.#home, session, new SharedObject(name, settings));
    const known = session.objects.get(name);
    if (known) {
      if (describe(known.settings) !== describe(settings)) {
        throw new RangeError(`${JSON.stringify(name)} is ${describe(known.settings)}, not ${describe(settings)}`);
      }
      await session.open(known);
      return new Handle(this.#home, session, known);
    }
    const object = new SharedObject(name, settings);
    await session.open(object);
    const first = session.objects.get(name) ?? object;
    session.objects.set(name, first);
    return new Handle(this.#home, session, first);
  }

  /**
   * Opens a semaphore, or makes it.
   * @param name 1 to 108 bytes of UTF-8 without NUL.
   * @param permits the number of permits that there are, 1 to 2,147,483,647.
   * @throws (rejects) {RangeError | TypeError} for a bad argument, and if the object exists with other settings.
   */
  async semaphore(name: string, permits: number, options: ObjectOptions = {}): Promise<Semaphore> {
    checkName('Space.semaphore: name', name, 108);
    return this.#open(name, settingsOf('Space.semaphore', 's', permits, options), Semaphore);
  }

  /**
   * Opens a mutex, or makes it.
   * @throws (rejects) as `semaphore`.
   */
  async mutex(name: string, options: MutexOptions = {}): Promise<Mutex> {
    checkName('Space.mutex: name', name, 108);
    return this.#open(name, settingsOf('Space.mutex', 'm', 1, options), Mutex);
  }

  /**
   * Opens a read-write lock, or makes it.
   * @throws (rejects) as `semaphore`.
   */
  async rwLock(name: string, options: ObjectOptions = {}): Promise<RwLock> {
    checkName('Space.rwLock: name', name, 108);
    return this.#open(name, settingsOf('Space.rwLock', 'w', READERS, options), RwLock);
  }

  /** Tells the state of the space on the server: of its first partition. */
  async inspect(): Promise<SpaceState> {
    const [first = '', ...sessions] = (await this.#session(0).operate(['J'])) as string[];
    return {
      epoch: Number(first.split(' ')[1]),
      sessions: sessions.map((line) => ({ session: line.slice(0, 16), label: line.slice(17).replace(/^\d+ /, '') })),
    };
  }

  /** Calls a function at each event. Without a listener for `error` nothing is thrown. */
  on<E extends keyof SpaceEvents>(event: E, listener: (...args: SpaceEvents[E]) => void): this {
    if (!['lost', 'resumed', 'failover', 'error'].includes(event)) {
      throw bad('string', 'Space.on: event', '"lost", "resumed", "failover" or "error"', event);
    }
    if (typeof listener !== 'function') throw bad('', 'Space.on: listener', 'a function', listener);
    const listeners = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, listeners.add(listener as (...args: never[]) => void));
    return this;
  }

  /** Calls the function no more. */
  off<E extends keyof SpaceEvents>(event: E, listener: (...args: SpaceEvents[E]) => void): this {
    this.#listeners.get(event)?.delete(listener as (...args: never[]) => void);
    return this;
  }

  #emit<E extends keyof SpaceEvents>(event: E, ...args: SpaceEvents[E]): void {
    for (const listener of this.#listeners.get(event) ?? []) {
      // A listener that throws must not stop the session.
      queueMicrotask(() => (listener as (...args: SpaceEvents[E]) => void)(...args));
    }
  }

  /**
   * Gives everything back, and leaves every queue: requests that wait fail with a `DisposedError`. Closes the space's own
   * connections, and not your client. The second time it does nothing. Never rejects.
   */
  close(): Promise<void> {
    this.#closed ??= (async () => {
      const error = new DisposedError('the space has been closed');
      await Promise.all([...this.#sessions.values()].map((session) => session.close(error)));
      for (const resolve of this.#whenConnected.splice(0)) resolve();
      await this.#heartbeat?.stop();
      await this.#driver.close().catch(() => {});
    })();
    return this.#closed;
  }

  /** Returns, for example, `Space("shop")`. Throws nothing. */
  toString(): string {
    return `Space(${JSON.stringify(this.#options.space)})`;
  }

  /** `Space`. */
  get [Symbol.toStringTag](): string {
    return 'Space';
  }

  /** @internal */
  [inspected](): string {
    return this.toString();
  }

  /** Ends an `await using` scope: calls `close`. */
  [asyncDispose](): Promise<void> {
    return this.close();
  }
}
