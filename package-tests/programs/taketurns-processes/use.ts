import { Redis } from 'ioredis';
import { createClient } from 'redis';
import {
  type HeldLock,
  type HeldPermits,
  LeaseLostError,
  type Mutex,
  type RwLock,
  type Semaphore,
  Space,
  type SpaceOptions,
} from 'taketurns-processes';

const options: SpaceOptions = { space: 'types', lease: 5000, durability: { replicas: 1, timeout: 100 } };
await using space: Space = await Space.connect(new Redis(), options);
export const other: Space = await Space.connect(createClient());
const pool: Semaphore = await space.semaphore('a', 4, { robust: true });
await using held: HeldPermits = await pool.holdAsync(2, { timeout: 10, signal: AbortSignal.timeout(10) });
export const token: bigint = held.token;
using one: HeldPermits | undefined = await pool.tryHold();
export const isLost: boolean = one?.signal.reason instanceof LeaseLostError;
export const answer: number = await pool.runExclusive(({ permits }) => permits, { timeout: 5 });
export const get: (page: string) => Promise<number> = pool.limit((page: string) => page.length, 2);
const mutex: Mutex = await space.mutex('m', { bypass: 0 });
export const locked: HeldLock = await mutex.holdAsync();
const lock: RwLock = await space.rwLock('r');
using writing = await lock.writeAsync();
using reading = writing.downgrade();
export const reads: boolean = reading.held;
space.on('lost', ({ names, reason }) => console.log(names.join(), reason)).on('error', (error: unknown) => error);
export const free: number | undefined = (await pool.inspect())?.free;
// @ts-expect-error permits are a number
await space.semaphore('a', '4');
// @ts-expect-error it is a round trip, so the guard is promised
using _mistaken = pool.holdAsync();
// @ts-expect-error permits belong to guards
pool.release();
