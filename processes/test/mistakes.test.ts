/**
 * What a new user does wrong. Each error says which argument of which call is wrong, what was given and what is allowed,
 * and where it helps what to write instead.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Mutex, RwLock, Semaphore } from '../src/index.js';
import { Space } from '../src/index.js';

let folder: string;
let s: Space;
let pool: Semaphore;
let m: Mutex;
let table: RwLock;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mistakes-'));
  s = await Space.local({ directory: folder });
  pool = await s.semaphore('pool', 2);
  m = await s.mutex('m');
  table = await s.rwLock('t');
});

afterAll(async () => {
  await s.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The calls that TypeScript would refuse. */
// biome-ignore lint/suspicious/noExplicitAny: each of these calls is wrong.
type Any = any;
const run = (): number => 1;

const MISTAKES: Record<string, [call: () => unknown, error: ErrorConstructor | TypeErrorConstructor, text: string]> = {
  'a number for the options': [
    () => Space.local(5 as Any),
    TypeError,
    'Space.local: options must be of { space, turn, label, connectTimeout, directory }, got 5',
  ],
  'an option of another name': [
    () => Space.local({ dir: '/x' } as Any),
    TypeError,
    'Space.local: options must be of { space, turn, label, connectTimeout, directory }, got "dir"',
  ],
  'no client': [
    () => (Space as Any).connect(),
    TypeError,
    'Space.connect: client must be a client of ioredis, iovalkey, redis (5 or later) or @valkey/valkey-glide (2.3 or later), a Pool or Client of pg (8.11 or later), or an instance of postgres (3.4 or later), or a driver, got undefined',
  ],
  'the address for the client': [
    () => Space.connect('redis://x' as Any),
    TypeError,
    'got "redis://x": make a client, such as new Redis(address) of ioredis',
  ],
  'new in place of await': [
    () => new (Space as Any)(),
    TypeError,
    'a Space is made by await Space.local(options) or await Space.connect(client, options)',
  ],
  'no permits': [
    () => (s as Any).semaphore('pool'),
    TypeError,
    'Space.semaphore: permits must be an integer from 1 to 2147483647, got undefined',
  ],
  'the permits first': [
    () => s.semaphore(4 as Any, 'pool' as Any),
    TypeError,
    'Space.semaphore: name must be a string of 1 to 108 bytes of UTF-8 without NUL, got 4: the name comes first',
  ],
  'permits as a text': [
    () => s.semaphore('p', '4' as Any),
    TypeError,
    'Space.semaphore: permits must be an integer from 1 to 2147483647, got "4"',
  ],
  'no permit': [
    () => s.semaphore('p', 0),
    RangeError,
    'Space.semaphore: permits must be an integer from 1 to 2147483647, got 0',
  ],
  'other permits': [
    () => s.semaphore('pool', 3),
    RangeError,
    'Space.semaphore: "pool" exists already, as a semaphore (max 2), not a semaphore (max 3)',
  ],
  'another kind': [
    () => s.semaphore('m', 1),
    RangeError,
    'Space.semaphore: "m" exists already, as a mutex (bypass 4096), not a semaphore (max 1)',
  ],
  'the max of threads': [
    () => s.semaphore('p', 1, { max: 1 } as Any),
    TypeError,
    'Space.semaphore: options must be of { robust, ephemeral }, got "max"',
  ],
  'no name': [
    () => (s as Any).mutex(),
    TypeError,
    'Space.mutex: name must be a string of 1 to 108 bytes of UTF-8 without NUL, got undefined',
  ],
  'an option that no mutex has': [
    () => s.mutex('m', { fair: true } as Any),
    TypeError,
    'Space.mutex: options must be of { robust, ephemeral, bypass }, got "fair"',
  ],
  'more permits than there are': [
    () => pool.holdAsync(3),
    RangeError,
    'Semaphore.holdAsync: permits must be an integer from 1 to 2, got 3',
  ],
  'a misspelt time-out': [
    () => pool.holdAsync(1, { timeOut: 5 } as Any),
    TypeError,
    'Semaphore.holdAsync: options must be of { timeout, signal } (perhaps timeout), got "timeOut"',
  ],
  'a time-out below 0': [
    () => pool.holdAsync({ timeout: -1 }),
    RangeError,
    'Semaphore.holdAsync: timeout must be from 0 to 2147483647 milliseconds or Infinity, got -1',
  ],
  'a text for the signal': [
    () => pool.holdAsync(1, { signal: 'x' } as Any),
    TypeError,
    'Semaphore.holdAsync: signal must be an AbortSignal, got "x"',
  ],
  'a time-out without its name': [
    () => m.holdAsync(5 as Any),
    TypeError,
    'Mutex.holdAsync: options must be of { timeout, signal }, got 5: for a time-out write { timeout: 5 }',
  ],
  'no function': [
    () => (m as Any).runExclusive(),
    TypeError,
    'Mutex.runExclusive: run must be a function, got undefined',
  ],
  'no function to limit': [() => (m as Any).limit(), TypeError, 'Mutex.limit: run must be a function, got undefined'],
  'a number for the options of limit': [
    () => m.limit(run, 5 as Any),
    TypeError,
    'Mutex.limit: options must be of { timeout, signal }, got 5: for a time-out write { timeout: 5 }',
  ],
  'null for the options': [
    () => table.writeAsync(null as Any),
    TypeError,
    'RwLock.writeAsync: options must be of { timeout, signal }, got null',
  ],
  'names for the objects': [
    () => s.holdAll(['m'] as Any),
    TypeError,
    'got "m": open it first, such as by await space.mutex("m")',
  ],
  'an object twice': [
    () => s.holdAll([m, m]),
    RangeError,
    'Space.holdAll: objects must be different, got Mutex("m") twice',
  ],
  'too many permits of one': [
    () => s.holdAll([[pool, 9]]),
    RangeError,
    'Space.holdAll: permits of Semaphore("pool") must be an integer from 1 to 2, got 9',
  ],
  'a leader without a name': [
    () => (s as Any).leader(),
    TypeError,
    'Space.leader: name must be a string of 1 to 108 bytes of UTF-8 without NUL, got undefined',
  ],
  'a number for the options of a leader': [
    () => s.leader('x', 5 as Any),
    TypeError,
    'Space.leader: options must be of { robust, ephemeral }, got 5',
  ],
  'no proof': [
    () => (pool as Any).revoke(),
    TypeError,
    'Semaphore.revoke: proof must be the proof of a guard, got undefined',
  ],
  'no permits left': [
    () => pool.resize(0),
    RangeError,
    'Semaphore.resize: permits must be an integer from 1 to 2147483647, got 0',
  ],
  'a misspelt event': [
    () => s.on('losst' as Any, run),
    RangeError,
    'Space.on: event must be "metric" or "lost" or "resumed" or "failover" or "trouble" or "error", got "losst"',
  ],
  'no listener': [() => (s as Any).on('lost'), TypeError, 'Space.on: listener must be a function, got undefined'],
};

describe('a mistake', () => {
  it('a pause of NaN: the error says what to write if Retry-After is a date', async () => {
    const api = await s.rateLimiter('api', 1, 1000);
    const users = s.keyedRateLimiter('users', 1, 1000);
    const inAnHour = new Date(Date.now() + 3_600_000).toUTCString();
    for (const pause of [(ms: number) => api.pause(ms), (ms: number) => users.pause('Ann', ms)]) {
      const error = await pause(1000 * Number(inAnHour)).catch((error: unknown) => error);
      const [, advice] = /got NaN: if Retry-After is a date, write (.+)$/.exec((error as Error).message) ?? [];
      await pause(new Function('date', `return ${advice}`)(inAnHour));
    }
    expect(await api.dueIn()).toBeGreaterThan(3_500_000);
    expect(await users.dueIn('Ann')).toBeGreaterThan(3_500_000);
  });

  it.each(Object.entries(MISTAKES))('%s', async (_, [call, Kind, text]) => {
    const error = await (async () => call())().catch((error: unknown) => error);
    expect(error).toBeInstanceOf(Kind);
    expect((error as Error).message).toContain(text);
  });
});
