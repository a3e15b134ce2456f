/**
 * The locks that are measured. Each is used by the code that its users would write. A connection stands for a process,
 * and the clients of the connection stand for tasks of this process.
 */
import { Redlock } from '@sesamecare-oss/redlock';
import { Redis } from 'ioredis';
import { Mutex as PollingMutex } from 'redis-semaphore';
import { type Held, Space } from 'taketurns-processes';

/** What a client holds. */
export interface Grant {
  /** The fencing token, which only ours have: the ticket times 4,096, plus the number of the pass. */
  readonly token?: bigint;
  release(): Promise<unknown>;
}

export type Take = () => Promise<Grant>;

export interface Connection {
  /** The function by which one client of the process takes the lock. */
  client(index: number): Take | Promise<Take>;
  /** The number of messages that have come by pub/sub. Only for subjects for which PUBLISH does not count all. */
  heard?(): number;
  /** Ends waits that would never end after other clients have stopped. */
  stop?(): void;
  close(): Promise<void>;
}

/** The settings of a lock. */
export interface Settings {
  readonly port: number;
  readonly key: string;
  /** The permits of a semaphore; default 1. */
  readonly permits?: number;
  /** Whether each client has a lock of its own. For locks that have no permits. */
  readonly apart?: boolean;
  readonly bypass?: number;
  readonly turn?: number;
  /** The number of clients of all processes, for the ring. */
  readonly clients: number;
  /** The number of the first client of the connection. */
  readonly first: number;
}

export interface Subject {
  /** The commands that the clients send. Scripts call the other commands in the server's statistics. */
  readonly commands: readonly string[];
  /** Whether tokens are tickets of the order first come, first served. */
  readonly tickets?: boolean;
  connect(settings: Settings): Promise<Connection>;
}

/** The lease of locks with a lease for each holder. It is so long that none ends in a measurement. */
const LEASE = 30_000;

const DELETE = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`;

// Redisson 3.x, RedissonLock: tryLockInnerAsync and unlockInnerAsync.
const HERD_LOCK = `
if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[2]) == 1 then
  redis.call('hincrby', KEYS[1], ARGV[2], 1)
  redis.call('pexpire', KEYS[1], ARGV[1])
  return nil
end
return redis.call('pttl', KEYS[1])`;
const HERD_UNLOCK = `
if redis.call('hexists', KEYS[1], ARGV[2]) == 0 then return nil end
if redis.call('hincrby', KEYS[1], ARGV[2], -1) > 0 then
  redis.call('pexpire', KEYS[1], ARGV[1])
  return 0
end
redis.call('del', KEYS[1])
redis.call('publish', KEYS[2], '0')
return 1`;

/** A client of ioredis with the scripts of the plain locks. Each holder has a name of its own. */
interface Scripted extends Redis {
  deleteOwn(key: string, holder: string): Promise<number>;
  herdLock(key: string, channel: string, lease: number, holder: string): Promise<number | null>;
  herdUnlock(key: string, channel: string, lease: number, holder: string): Promise<number | null>;
}

async function scripted(port: number): Promise<Scripted> {
  const client = new Redis({ host: '127.0.0.1', port, lazyConnect: true }) as Scripted;
  client.defineCommand('deleteOwn', { numberOfKeys: 1, lua: DELETE });
  client.defineCommand('herdLock', { numberOfKeys: 2, lua: HERD_LOCK });
  client.defineCommand('herdUnlock', { numberOfKeys: 2, lua: HERD_UNLOCK });
  await client.connect();
  return client;
}

async function space(port: number, turn?: number): Promise<Space> {
  // A lease of an hour, so that beats do not count among the commands of a hand-over.
  const options = {
    space: 'bench',
    lease: 3_600_000,
    connectTimeout: 120_000,
    ...(turn === undefined ? {} : { turn }),
  };
  return Space.connect(new Redis({ host: '127.0.0.1', port, lazyConnect: true }), options);
}

function awaited(held: Held): Grant {
  return { token: held.token, release: () => held[Symbol.asyncDispose]() };
}

const semaphore: Subject = {
  commands: ['evalsha', 'eval'],
  tickets: true,
  async connect({ port, key, permits = 1 }) {
    const joined = await space(port);
    const one = await joined.semaphore(key, permits);
    return { client: () => async () => awaited(await one.holdAsync()), close: () => joined.close() };
  },
};

const usingSemaphore: Subject = {
  ...semaphore,
  async connect({ port, key, permits = 1 }) {
    const joined = await space(port);
    const one = await joined.semaphore(key, permits);
    const take = async (): Promise<Grant> => {
      const held = await one.holdAsync();
      return {
        token: held.token,
        async release() {
          using _ = held;
        },
      };
    };
    return { client: () => take, close: () => joined.close() };
  },
};

const mutex: Subject = {
  commands: ['evalsha', 'eval'],
  async connect({ port, key, bypass, turn }) {
    const joined = await space(port, turn);
    const one = await joined.mutex(key, bypass === undefined ? {} : { bypass });
    return { client: () => async () => awaited(await one.holdAsync()), close: () => joined.close() };
  },
};

/**
 * Redisson's protocol, with one difference: each client stays subscribed, and does not subscribe anew for each wait.
 * Each message wakes all clients that wait, and each of these clients tries again.
 */
const herd: Subject = {
  commands: ['evalsha', 'eval'],
  async connect({ port, key, first }) {
    const commands = await scripted(port);
    const messages = await scripted(port);
    const channel = `redisson_lock__channel:{${key}}`;
    const waiting = new Set<() => void>();
    let rounds = 0;
    let heard = 0;
    messages.on('message', () => {
      heard++;
      rounds++;
      for (const wake of waiting) wake();
      waiting.clear();
    });
    await messages.subscribe(channel);
    const wait = (ms: number): Promise<void> =>
      new Promise((resolve) => {
        const wake = (): void => {
          clearTimeout(timer);
          resolve();
        };
        const timer = setTimeout(() => {
          waiting.delete(wake);
          resolve();
        }, ms);
        waiting.add(wake);
      });
    return {
      client(index) {
        const holder = `${process.pid}:${first + index}`;
        const release = (): Promise<unknown> => commands.herdUnlock(key, channel, LEASE, holder);
        return async () => {
          for (;;) {
            const round = rounds;
            const left = await commands.herdLock(key, channel, LEASE, holder);
            if (left === null) return { release };
            // If a message has come since the attempt was sent, it may tell of a later release. So try again at once.
            if (round === rounds) await wait(left);
          }
        };
      },
      heard: () => heard,
      async close() {
        commands.disconnect();
        messages.disconnect();
      },
    };
  },
};

const redisSemaphore: Subject = {
  commands: ['set', 'evalsha', 'eval'],
  async connect({ port, key }) {
    const client = new Redis({ host: '127.0.0.1', port, lazyConnect: true });
    await client.connect();
    return {
      client: () => async () => {
        const lock = new PollingMutex(client, key, { acquireTimeout: 600_000, lockTimeout: LEASE });
        await lock.acquire();
        return { release: () => lock.release() };
      },
      close: async () => client.disconnect(),
    };
  },
};

const redlock: Subject = {
  commands: ['evalsha', 'eval'],
  async connect({ port, key }) {
    const client = new Redis({ host: '127.0.0.1', port, lazyConnect: true });
    await client.connect();
    const locks = new Redlock([client], { retryCount: -1 });
    return {
      client: () => async () => {
        const lock = await locks.acquire([key], LEASE);
        return { release: () => lock.release() };
      },
      close: async () => client.disconnect(),
    };
  },
};

/** SET NX, tried again after 1 to 3 ms. A script deletes the key only if the holder still owns it. */
const poll: Subject = {
  commands: ['set', 'evalsha', 'eval'],
  async connect({ port, key, first, apart = false }) {
    const client = await scripted(port);
    return {
      client(index) {
        const holder = `${process.pid}:${first + index}`;
        const name = apart ? `${key}:${index}` : key;
        const release = (): Promise<unknown> => client.deleteOwn(name, holder);
        return async () => {
          while ((await client.set(name, holder, 'PX', LEASE, 'NX')) !== 'OK') {
            await new Promise((resolve) => setTimeout(resolve, 1 + 2 * Math.random()));
          }
          return { release };
        };
      },
      close: async () => client.disconnect(),
    };
  },
};

/**
 * No lock, but a ring of clients in which a message goes round. Each client waits for the message on a channel of its
 * own, and then publishes it to the channel of the next client. No lock whose waiters hear by pub/sub can hand over
 * faster.
 */
const ring: Subject = {
  commands: ['publish'],
  async connect({ port, key, clients, first }) {
    const commands = await scripted(port);
    const messages = await scripted(port);
    const waiting = new Map<string, (grant: Grant) => void>();
    const early = new Set<string>();
    const grants = new Map<string, Grant>();
    let isStopped = false;
    messages.on('message', (channel) => {
      const resolve = waiting.get(channel);
      waiting.delete(channel);
      if (resolve) resolve(grants.get(channel) as Grant);
      else early.add(channel);
    });
    return {
      async client(index) {
        const own = `${key}:${first + index}`;
        const next = `${key}:${(first + index + 1) % clients}`;
        grants.set(own, { release: () => commands.publish(next, '1') });
        await messages.subscribe(own);
        if (first + index === 0) early.add(own);
        return () =>
          new Promise((resolve) => {
            if (early.delete(own) || isStopped) resolve(grants.get(own) as Grant);
            else waiting.set(own, resolve);
          });
      },
      stop() {
        isStopped = true;
        for (const [channel, resolve] of waiting) resolve(grants.get(channel) as Grant);
      },
      async close() {
        commands.disconnect();
        messages.disconnect();
      },
    };
  },
};

export const OURS = 'Semaphore';
export const OURS_USING = 'Semaphore, using';
export const MUTEX = 'Mutex';
export const HERD = 'herd';
export const REDIS_SEMAPHORE = 'redis-semaphore';
export const REDLOCK = 'redlock';
export const POLL = 'poll';
export const RING = 'bare messages';

export const SUBJECTS: Readonly<Record<string, Subject>> = {
  [OURS]: semaphore,
  [OURS_USING]: usingSemaphore,
  [MUTEX]: mutex,
  [HERD]: herd,
  [REDIS_SEMAPHORE]: redisSemaphore,
  [REDLOCK]: redlock,
  [POLL]: poll,
  [RING]: ring,
};
