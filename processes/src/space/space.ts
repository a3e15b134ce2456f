/**
 * A space is a name under which processes share objects: on one server or cluster, or on one machine without a server.
 *
 *     Space ---> driver: the connections to the server (drivers/), or to the broker of this machine (local/)
 *           ---> session of partition 0, 1, ...: one lease in each partition that this process uses (session/)
 *                    ---> objects and requests (session/requests.ts)
 *
 * The name of an object decides its partition, by a hash. All keys of a partition lie in one slot of a cluster.
 */

import { inspected, shown } from '../../../src/common/shown.js';
import { asyncDispose } from '../../../src/common/symbols.js';
import { AnswerTimes } from '../drivers/answer-times.js';
import type { Driver, Script } from '../drivers/driver.js';
import { SilentError } from '../drivers/link.js';
import { driverFor } from '../drivers/load.js';
import { checkBoolean, checkName, checkOptions, DisposedError, SpaceError } from '../errors.js';
import { Listeners, type SpaceEvents } from '../events.js';
import { startHeartbeat } from '../heartbeat/start-heartbeat.js';
import { localDriverFor } from '../local/load.js';
import type { WaitOptions } from '../objects/acquire.js';
import type { Held } from '../objects/hold.js';
import { type HeldAll, type HeldOf, type Holdable, holdAll } from '../objects/hold-all.js';
import { KeyedRateLimiter, type KeyedRateLimiterOptions } from '../objects/keyed-rate-limiter.js';
import { Leader } from '../objects/leader.js';
import { Mutex } from '../objects/mutex.js';
import { openRate, type RateLimiter, type RateLimiterOptions } from '../objects/rate-limiter.js';
import { rateNumbersOf } from '../objects/rate-wait.js';
import { RwLock } from '../objects/rw-lock.js';
import { Semaphore } from '../objects/semaphore.js';
import { type Checked, checkLocalOptions, type LocalOptions, type SpaceOptions } from '../options.js';
import { fnv1a } from '../runtime/hash.js';
import * as wire from '../script/wire.js';
import { refusal } from '../session/server-error.js';
import { Session } from '../session/session.js';
import {
  KINDS,
  type MutexOptions,
  type ObjectOptions,
  READERS,
  type SharedObject,
  settingsOf,
} from '../session/shared-object.js';
import type { Surroundings } from '../session/surroundings.js';

/** The state of a space on the server. */
export interface SpaceState {
  /** The number of the data's present history. It grows with each restart and each failover of the server. */
  readonly epoch: number;
  /** The processes that have a lease; without a server, those that have joined and not ended. */
  readonly sessions: readonly { readonly session: string; readonly label: string }[];
  /** On PostgreSQL: how many old rows of all spaces the database keeps, as the server last counted them. */
  readonly oldRows?: number;
  /** On PostgreSQL: what makes the database keep old rows, so that the tables grow; and what to do. */
  readonly warning?: string;
}

/** An object, as `objects` tells it: the settings with which to open it, and how busy it is. */
export interface ObjectEntry {
  readonly name: string;
  readonly kind: 'semaphore' | 'mutex' | 'rwlock';
  readonly max: number;
  readonly robust: boolean;
  readonly ephemeral: boolean;
  readonly bypass: number;
  readonly free: number;
  readonly waiting: number;
}

/** The process may end when nothing has been held or awaited for so many milliseconds. */
const IDLE = 10;

/** @internal The method of a space that returns the socket which shows that this process lives. */
export const proofOfLife: unique symbol = Symbol('proof of life');

/** @internal The method of a space that tells how long the lease of a guard lasts: now, and whenever it is renewed. */
export const tellRenewals: unique symbol = Symbol('tell renewals');

/** What an error says, but not at which line of the script: the same trouble may meet calls at several lines. */
const wordsOf = (error: Error | undefined): string | undefined => error?.message.replace(/user_script: ?\d+/g, '');

const closed = (): DisposedError => new DisposedError('the space has been closed');

/**
 * This process's access to a space: it opens the objects that the processes of the space share. `Space.local` makes it
 * for the processes of this machine, and `Space.connect` for those that share a server.
 *
 *     await using space = await Space.local({ space: 'shop' });
 *     const pool = await space.semaphore('db', 4);
 */
export class Space implements AsyncDisposable {
  readonly #driver: Driver;
  readonly #options: Checked;
  readonly #around: Surroundings;
  readonly #sessions = new Map<number, Session>();
  readonly #listeners = new Listeners();
  #isConnected = false;
  #whenConnected: { resolve(): void; reject(error: Error): void }[] = [];
  /** Whether the sockets keep the process alive. */
  #keptAlive = true;
  /** Whether a timer runs that lets the process end, if nothing is held or awaited then. */
  #isIdle = false;
  #closed: Promise<void> | undefined;
  #draining: Promise<void> | undefined;
  /** What keeps the space from the server now. */
  #trouble: Error | undefined;

  private constructor(driver: Driver, script: Script, options: Checked) {
    if (typeof driver?.confirm !== 'function') {
      throw new TypeError('a Space is made by await Space.local(options) or await Space.connect(client, options)');
    }
    this.#driver = driver;
    this.#options = options;
    this.#around = {
      driver,
      script,
      ...options,
      answers: new AnswerTimes(options.lease, options.clock),
      heartbeat: undefined,
      whenConnected: async () => {
        if (this.#isConnected) return;
        driver.connect?.();
        await new Promise<void>((resolve, reject) => this.#whenConnected.push({ resolve, reject }));
      },
      note: (trouble) => {
        // If the new trouble is only that a connection has ended, the cause that was noted before tells more.
        if (trouble && this.#trouble && /EPIPE|ECONNRESET|closed/.test(trouble.message)) return;
        if (trouble && wordsOf(trouble) !== wordsOf(this.#trouble)) this.#listeners.emit('trouble', trouble);
        this.#trouble = trouble;
      },
      unanswered: (since) => this.#unanswered(since),
      running: 0,
      drained: () => {},
      lastWords: () => (this.#trouble ? `: ${this.#trouble.message}` : ''),
      emit: (event, ...args) => this.#listeners.emit(event, ...args),
      stamp: () => (this.#listeners.has('metric') ? options.clock.now() : 0),
      measure: (event, { name, settings }, permits, stamp) => {
        if (stamp === 0 || !this.#listeners.has('metric')) return;
        const ms = options.clock.now() - stamp;
        this.#listeners.emit('metric', { event, name, kind: KINDS[settings.kind], permits, ms });
      },
      measureRate: (event, name, permits, stamp, at) => {
        if (stamp === 0 || !this.#listeners.has('metric')) return;
        // Keys are many, so they count together.
        const [rate = ''] = name.split('\0');
        this.#listeners.emit('metric', {
          ...{ event, name: rate, kind: rate === name ? 'ratelimiter' : 'keyedratelimiter' },
          ...{ permits, ms: (at ?? options.clock.now()) - stamp },
        });
      },
      keepAlive: () => this.#keepAlive(),
    };
    const up = (): void => {
      this.#isConnected = true;
      if (!this.#isNeeded) this.#around.note();
      for (const { resolve } of this.#whenConnected.splice(0)) resolve();
      for (const session of this.#sessions.values()) session.reconnect();
    };
    const down = (error: Error | undefined, gaveUp?: boolean): void => {
      this.#isConnected = false;
      if (error) this.#around.note(error);
      const refused = refusal(error);
      for (const session of this.#sessions.values()) {
        session.reconnect();
        if (refused) session.refuse(refused);
      }
      if (gaveUp) this.#giveUp(refused?.code);
    };
    const missed = (): void => {
      for (const session of this.#sessions.values()) session.missed();
    };
    driver.watch({ up, down, missed }, this.#around.answers);
  }

  /**
   * Joins a space. `client` is your client of ioredis, iovalkey, node-redis (`redis`) or Valkey GLIDE, or of PostgreSQL:
   * a Pool or Client of `pg`, or an instance of `postgres`. The space makes connections of its own with the same
   * settings, and does not use yours. Never blocks the thread.
   * @throws {TypeError | RangeError} (rejects) for a bad argument.
   * @throws {SpaceError} (rejects) with the code `UNREACHABLE` if no server answers within `connectTimeout`; `SETTINGS`
   * if the space has other settings; `EVICTION` if the server may evict the keys of the space; on PostgreSQL `SCHEMA` if
   * the database has no tables and functions, `POOLER` if messages may not arrive, `ENCODING` if it is not of UTF8;
   * otherwise the code of the server's error.
   * @example const space = await Space.connect(new Redis(), { space: 'shop' });
   */
  static async connect(client: unknown, options: SpaceOptions = {}): Promise<Space> {
    return Space.#joined(...(await driverFor(client, options)));
  }

  /**
   * Joins a space of this user's processes on this machine. No server is needed: one of the processes answers the
   * others, and when it ends another one goes on. A process holds what it holds as long as it lives, whatever happens to
   * the others. Never blocks the thread.
   *
   *     await using space = await Space.local({ space: 'shop' });
   *     await (await space.mutex('token')).runExclusive(refresh);
   * @throws {TypeError | RangeError} (rejects) for a bad option: of another type, out of its range, or unknown.
   * @throws {SpaceError} (rejects) with the code `DIRECTORY` if the folder of the space cannot be made or used (also
   * because this process has too many files open, or the disk is full), is not this user's alone, has too long a path, or
   * is shared over boot ids; `JOURNAL` if a file in it cannot be read; `SETTINGS` if another version of the package uses
   * the space; `UNREACHABLE` if no process answers within `connectTimeout`.
   * @example const space = await Space.local({ space: 'shop' });
   */
  static async local(options: LocalOptions = {}): Promise<Space> {
    const { directory, ...checked } = checkLocalOptions(options);
    return Space.#joined(...(await localDriverFor(checked.space, directory)), checked);
  }

  static async #joined(driver: Driver, script: Script, checked: Checked): Promise<Space> {
    const space = new Space(driver, script, checked);
    try {
      await space.#connect();
      return space;
    } catch (error) {
      await space.close();
      throw error;
    }
  }

  /** Joins the space, or rejects when no server has answered for `connectTimeout`. */
  async #connect(): Promise<void> {
    const joined = this.#join();
    let stop: (() => void) | undefined;
    const late = new Promise<never>((_, reject) => {
      stop = this.#session(0).calls.unanswered(reject);
    });
    try {
      await Promise.race([joined, late]);
    } finally {
      stop?.();
      joined.catch(() => {});
    }
  }

  async #join(): Promise<void> {
    const { space, heartbeat, lease, partitions, clock, durable, listen } = this.#options;
    await this.#around.whenConnected();
    if (this.#driver.knowsDeaths) return this.#session(0).show(); // Without a server, all have the same settings.
    if (heartbeat) {
      // `close` must be able to stop the thread even if the thread never connects, so the thread is noted first.
      const own = durable === undefined ? {} : { durable };
      const options = listen === undefined ? own : ({ ...own, listen: false } as const);
      const thread = await startHeartbeat(String(heartbeat), lease, partitions, options);
      this.#around.heartbeat = thread;
      // `connectTimeout` may have passed meanwhile, and then the space is closed already.
      if (this.#closed) return thread.stop();
      await thread.ready;
    }
    while (!(await this.#checkEviction(wire.keysOf(space, 0).keys[0] as string))) {
      // The connection was lost before the answer came.
      await new Promise<void>((resolve) => clock.after(10, resolve, true));
      if (this.#closed) return;
      await this.#around.whenConnected();
    }
    const session = this.#session(0);
    await session.calls.operate(wire.inspectSpace(wire.LOWEST));
  }

  /** The error of a call that was made at this time and got no answer within `connectTimeout`. */
  #unanswered(since: number): SpaceError {
    const trouble = this.#trouble;
    const { connectTimeout } = this.#options;
    if (!this.#driver.knowsDeaths && (!trouble || trouble instanceof SilentError)) {
      const advice = this.#around.answers.advice(since, connectTimeout);
      if (advice) return new SpaceError('UNREACHABLE', `no answer within ${connectTimeout} ms: ${advice}`, trouble);
    }
    const who = this.#driver.knowsDeaths ? 'no process of the space has answered' : 'no server';
    const why = `${who} within ${connectTimeout} ms${this.#around.lastWords()}`;
    const code = (trouble && this.#driver.codeOf?.(trouble)) ?? 'UNREACHABLE';
    return refusal(trouble) ?? new SpaceError(code, why, trouble);
  }

  /**
   * Is called when the client's retry strategy wants no more attempts to connect. All callers hear of this. The next
   * call makes the driver try again.
   */
  #giveUp(code = 'UNREACHABLE'): void {
    const why = `the client's strategy has given up to connect${this.#around.lastWords()}`;
    const error = this.#trouble instanceof SpaceError ? this.#trouble : new SpaceError(code, why, this.#trouble);
    this.#listeners.emit('error', error);
    for (const { reject } of this.#whenConnected.splice(0)) reject(error);
    for (const session of this.#sessions.values()) session.abandon(error);
  }

  /** Rejects if a server whose memory is full may evict any key. Resolves to whether the server has answered. */
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

  /** Keeps the process alive while a session is needed, and lets the process end a moment after none is. */
  #keepAlive(): void {
    if (this.#isNeeded) {
      if (this.#keptAlive) return;
      this.#keptAlive = true;
      this.#driver.keepAlive(true);
    } else if (this.#keptAlive && !this.#isIdle) {
      // The sockets are told a moment later, because many programs ask again at once.
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
    Handle: new (session: Session, object: SharedObject) => H,
    what: string,
    kind: wire.Kind,
    name: string,
    permits: number,
    options: MutexOptions,
  ): Promise<H> {
    checkName(`${what}: name`, name, 108);
    const settings = settingsOf(what, kind, permits, options);
    if (this.#closed ?? this.#draining) throw closed();
    const session = this.#session(fnv1a(name) % this.#options.partitions);
    return new Handle(session, await session.requests.objects.open(name, settings));
  }

  /**
   * Opens a semaphore, or makes it if it does not exist. Never blocks the thread.
   * @param name 1 to 108 bytes of UTF-8 without NUL.
   * @param permits the number of permits of the semaphore, 1 to 2,147,483,647.
   * @throws {RangeError | TypeError} (rejects) for a bad argument, and if the object exists with other settings.
   * @example const pool = await space.semaphore('db', 4);
   */
  async semaphore(name: string, permits: number, options: ObjectOptions = {}): Promise<Semaphore> {
    return this.#open(Semaphore, 'Space.semaphore', 's', name, permits, options);
  }

  /**
   * Opens a mutex, or makes it if it does not exist. Never blocks the thread.
   * @throws (rejects) as `semaphore`.
   * @example const mutex = await space.mutex('accounts');
   */
  async mutex(name: string, options: MutexOptions = {}): Promise<Mutex> {
    return this.#open(Mutex, 'Space.mutex', 'm', name, 1, options);
  }

  /**
   * Opens a read-write lock, or makes it if it does not exist. Never blocks the thread.
   * @throws (rejects) as `semaphore`.
   * @example const lock = await space.rwLock('table');
   */
  async rwLock(name: string, options: ObjectOptions = {}): Promise<RwLock> {
    return this.#open(RwLock, 'Space.rwLock', 'w', name, READERS, options);
  }

  /**
   * Opens a rate limiter: at most `permits` calls of all processes of the space begin in any window of `per`
   * milliseconds, in the order in which they ask. All processes must name the same numbers. The server knows the numbers
   * as long as permits count or a pause lasts: until then, and in between, other processes may name others unnoticed.
   * Never blocks the thread.
   * @param name 1 to 108 bytes of UTF-8 without NUL. Rates have names of their own, apart from those of locks.
   * @param permits the most permits in a window, 1 to 2,147,483,647.
   * @param per the length of a window, 1 to 2,147,483,647 milliseconds.
   * @throws {RangeError | TypeError} (rejects) for a bad argument, and if the rate has other numbers.
   * @throws {SpaceError} (rejects) when no server answers within `connectTimeout`, or when the server refuses.
   * @example const api = await space.rateLimiter('api', 100, 60_000, { burst: 10 });
   */
  async rateLimiter(
    name: string,
    permits: number,
    per: number,
    options: RateLimiterOptions = {},
  ): Promise<RateLimiter> {
    const what = 'Space.rateLimiter';
    checkName(`${what}: name`, name, 108);
    const numbers = rateNumbersOf(what, permits, per, options);
    if (this.#closed ?? this.#draining) throw closed();
    return openRate(this.#session(fnv1a(name) % this.#options.partitions), name, numbers);
  }

  /**
   * Makes a rate for each key: at most `permits` calls of all processes of the space begin for a key in any window of
   * `per` milliseconds, in the order in which they ask. A key needs no set-up, and of a key whose permits count no more
   * nothing is kept, so there may be millions. Asks the server nothing. Never blocks.
   * @param name 1 to 108 bytes of UTF-8 without NUL. All processes should name the same numbers: each request counts by
   * the numbers of its process.
   * @param permits the most permits of a key in a window, 1 to 2,147,483,647.
   * @param per the length of a window, 1 to 2,147,483,647 milliseconds.
   * @throws {RangeError | TypeError} for a bad argument.
   * @throws {DisposedError} if the space is closed.
   * @example const users = space.keyedRateLimiter('users', 100, 60_000, { burst: 10 });
   */
  keyedRateLimiter(
    name: string,
    permits: number,
    per: number,
    options: KeyedRateLimiterOptions = {},
  ): KeyedRateLimiter {
    const what = 'Space.keyedRateLimiter';
    checkName(`${what}: name`, name, 108);
    const numbers = rateNumbersOf(what, permits, per, options);
    if (this.#closed ?? this.#draining) throw closed();
    const sessionOf = (rate: string): Session => this.#session(fnv1a(rate) % this.#options.partitions);
    return new KeyedRateLimiter(sessionOf, () => this.#sessions.values(), name, numbers);
  }

  /**
   * Makes this process a candidate of the leader election `name`, until you call `close` of the returned object. One
   * candidate leads at a time. When its process ends or its lease is lost, the next candidate leads. The returned
   * object keeps the process alive. Never blocks the thread.
   *
   *     await using scheduler = await space.leader('scheduler');
   *     const { signal, token } = await scheduler.elected();
   *     console.log(await scheduler.inspect()); // who leads
   * @param name 1 to 108 bytes of UTF-8 without NUL. The election is a mutex of this name, with a bypass of 0.
   * @param options with `robust` the next leader learns that a leader has died (`held.ownerDied`).
   * @throws (rejects) as `semaphore`.
   */
  async leader(name: string, options: ObjectOptions = {}): Promise<Leader> {
    checkOptions('Space.leader', options, ['robust', 'ephemeral']);
    const { robust = false, ephemeral = false } = options;
    const mutex = await this.#open(Mutex, 'Space.leader', 'm', name, 1, { robust, ephemeral, bypass: 0 });
    return new Leader(mutex, this.#options.clock);
  }

  /**
   * Holds several objects at once: all of them, or none. Every caller of `holdAll` takes the objects in the order of
   * their names, whatever order it gives, so callers never wait for each other in a circle (deadlock). A program that
   * holds one of the objects already and asks for others may still cause a deadlock. The call takes one round trip for
   * each object. Never blocks the thread.
   *
   *     await using held = await space.holdAll([from, to, [pool, 2], [config, 'read']], { timeout: 500 });
   *     await transfer(held.signal, held.guards[0].token);
   * @param objects mutexes, semaphores (one permit, or `[semaphore, permits]`), and read-write locks (to write, or
   * `[lock, 'read']`) of this space, each once.
   * @throws {RangeError | TypeError} (rejects) for a bad argument, and if an object is named twice.
   * @throws {TimeoutError} (rejects) when the time-out, which counts for all objects together, has passed.
   * @throws {LeaseLostError} (rejects) when an object was lost while the call waited for the next.
   * @throws (rejects) otherwise as `Semaphore.holdAsync`.
   */
  async holdAll<const T extends readonly Holdable[]>(
    objects: T,
    options: WaitOptions = {},
  ): Promise<HeldAll<{ readonly [K in keyof T]: HeldOf<T[K]> }>> {
    return (await holdAll(this.#around, objects, options)) as never;
  }

  /**
   * Lists the objects that the server knows. The list comes in parts, so no call takes the server long, however many
   * objects there are. Objects that are made or disposed of meanwhile may be in the list or not. Idle ephemeral objects
   * are not in the list. Never blocks the thread.
   * @throws {DisposedError} (rejects) when the space is closed.
   * @throws {SpaceError} (rejects) when no server answers within `connectTimeout`, or when the server refuses.
   * @example for await (const { name, kind, waiting } of space.objects()) console.log(kind, name, waiting);
   */
  async *objects(): AsyncGenerator<ObjectEntry, void, undefined> {
    for (let partition = 0; partition < this.#options.partitions; partition++) {
      const told = new Set<string>();
      let cursor = '0';
      do {
        if (this.#closed) throw closed();
        const { next, objects } = wire.objectsIn(
          await this.#session(partition).calls.operate(wire.listObjects(cursor)),
        );
        for (const [name, { kind, max, robust, ephemeral, bypass, free, waiting }] of objects) {
          // The server may tell an object twice if its hash table grows meanwhile.
          if (told.has(name)) continue;
          told.add(name);
          yield { name, kind: KINDS[kind], max, robust, ephemeral, bypass, free, waiting };
        }
        cursor = next;
      } while (cursor !== '0');
    }
  }

  /**
   * Tells the state of the space on the server. Tells only of the first partition, which every process uses. Never
   * blocks the thread.
   * @throws {DisposedError} (rejects) when the space is closed.
   * @throws {SpaceError} (rejects) when no server answers within `connectTimeout`, or when the server refuses.
   * @example console.log((await space.inspect()).sessions);
   */
  async inspect(): Promise<SpaceState> {
    // A session that beats between two calls moves to the end of the list, and the server tells it twice.
    const labels = new Map<string, string>();
    let [epoch, from, until] = [0, wire.LOWEST, Infinity];
    do {
      const told = wire.spaceIn(await this.#session(0).calls.operate(wire.inspectSpace(from)));
      for (const [sid, label] of told.labels) labels.set(sid, label);
      epoch = told.epoch;
      from = told.next;
      until = Math.min(until, told.last);
    } while (wire.scoreOf(from) < until);
    const sessions = [...labels].map(([session, label]) => ({ session, label }));
    return { epoch, sessions, ...(await this.#driver.leftovers?.()) };
  }

  /**
   * Calls `listener` at each event. An `error` event without a listener throws nothing. Never blocks.
   * @throws {RangeError | TypeError} for an unknown event, or if `listener` is not a function.
   * @example space.on('trouble', (error) => console.warn(error));
   */
  on<E extends keyof SpaceEvents>(event: E, listener: (...args: SpaceEvents[E]) => void): this {
    this.#listeners.add(event, listener);
    return this;
  }

  /**
   * Stops calling `listener` at the event. Never blocks.
   * @throws {RangeError | TypeError} for an unknown event, or if `listener` is not a function.
   * @example space.off('trouble', listener);
   */
  off<E extends keyof SpaceEvents>(event: E, listener: (...args: SpaceEvents[E]) => void): this {
    this.#listeners.delete(event, listener);
    return this;
  }

  /**
   * Gives everything back, and leaves every queue: waiting requests fail with a `DisposedError`. Closes the space's own
   * connections, but not your client. Takes a round trip, or several if there is much to give back, and ends if the server
   * has not answered for a second. Does nothing the second time. Never blocks the thread.
   * @param options with `drain`, `close` first waits until the running functions of `runExclusive` and `limit` have
   * ended. Meanwhile these functions keep what they hold, and all new requests fail with a `DisposedError`, also the
   * requests of these functions. `close` does not wait for other guards that you hold. A later `close()` without
   * `drain` ends the waiting.
   * @throws {TypeError} (rejects) for a bad argument, and nothing else.
   * @example process.once('SIGTERM', () => space.close({ drain: true }));
   */
  async close(options: { readonly drain?: boolean } = {}): Promise<void> {
    checkOptions('Space.close', options, ['drain']);
    const { drain = false } = options;
    if (checkBoolean('Space.close: drain', drain) && !this.#closed) {
      this.#draining ??= new Promise((resolve) => {
        for (const { requests } of this.#sessions.values()) requests.stop(closed());
        this.#around.drained = resolve;
        if (this.#around.running === 0) resolve();
      });
      await this.#draining;
    }
    this.#closed ??= (async () => {
      const error = closed();
      this.#around.drained();
      await Promise.all([...this.#sessions.values()].map((session) => session.close(error)));
      for (const { resolve } of this.#whenConnected.splice(0)) resolve();
      await this.#around.heartbeat?.stop();
      await this.#driver.close().catch(() => {});
    })();
    return this.#closed;
  }

  /** Returns, for example, `Space("shop")`. Never blocks, throws nothing. */
  toString(): string {
    return `Space(${JSON.stringify(this.#options.space)})`;
  }

  /** `Space`. */
  get [Symbol.toStringTag](): string {
    return 'Space';
  }

  /**
   * @internal
   * The file number of the socket by which the others see that this process lives, or undefined if there is none. A
   * process that inherits the socket holds what this one holds, when this one has ended, until it ends itself.
   */
  [proofOfLife](): number | undefined {
    return this.#driver.proofOfLife?.();
  }

  /**
   * @internal
   * Calls `told` with how many milliseconds are left of the lease of the partition in which the guard holds: now, and
   * whenever this lease is renewed.
   */
  [tellRenewals]({ keeper }: Held, told: (left: number) => void): void {
    for (const { lease, requests } of this.#sessions.values()) {
      if (requests.grants !== keeper) continue;
      lease.renewed = told;
      if (lease.isRunning) told(lease.deadline - this.#options.clock.now());
    }
  }

  /** @internal */
  [inspected](): string {
    return shown(this);
  }

  /** Ends an `await using` scope: calls `close`. */
  [asyncDispose](): Promise<void> {
    return this.close();
  }
}
