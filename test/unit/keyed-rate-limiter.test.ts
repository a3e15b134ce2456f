/** KeyedRateLimiter of threads: each key has a rate, in all threads together, and nothing is kept of a key that counts no more. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Arena, ArenaFullError, DisposedError } from 'taketurns';
import { KeyedRateLimiter, type KeyedRateLimiterOptions } from 'taketurns/keyed';
import { describe, expect, it } from 'vitest';
import { R_LOCK, R_PAGE } from '../../src/border/numbers.js';
import { HEADS, NOTED_HASH, NOTED_HASH_AT } from '../../src/look/rate-regions.js';
import { RateLocks } from '../../src/rates/lock.js';
import { recruit } from '../support/dying.js';
import { failure } from '../support/failure.js';
import { membershipOf } from '../support/membership.js';
import { runProgram } from '../support/program.js';
import { roundsInCi } from '../support/rounds.js';
import type { Member } from '../support/team.js';
import { turn, until } from '../support/until.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Longer than any test. */
const LONG = 1_000_000;
/** The number of a thread whose record another life has. */
const NOBODY = (1 << 25) + 7;
const fresh = (permits: number, per = LONG, options: KeyedRateLimiterOptions = { burst: permits }) =>
  new KeyedRateLimiter(permits, per, { arena: new Arena(), ...options });

describe('a keyed rate limiter', () => {
  it('has a rate for each key', () => {
    const users = fresh(2);
    expect([users.permits, users.per, users.burst, users.keys]).toEqual([2, LONG, 2, 10_000]);
    const keys = ['Ann', 'Ann', 'Ann', 'Bob', 1, '1', -0, 0, 0, 2 ** 40, 2 ** 41, -1];
    expect(keys.map((key) => users.tryTake(key))).toEqual([
      ...[true, true, false],
      ...[true, true, true],
      ...[true, true, false],
      ...[true, true, true],
    ]);
    expect([users.dueIn('Bob'), users.dueIn('Zoe', 2)]).toEqual([0, 0]);
    expect(users.dueIn('Ann')).toBeGreaterThan(LONG / 2);
    users.pause('Bob', LONG);
    users.spend('Zoe', 3);
    expect([users.tryTake('Bob'), users.tryTake('Zoe'), users.tryTake('Amy')]).toEqual([false, false, true]);
    users.spend('Zoe', -2);
    expect([users.tryTake('Zoe'), users.tryTake('Zoe')]).toEqual([true, false]);
    expect(users.inspect('Zoe')).toEqual({ permits: 2, per: LONG, burst: 2, taken: 2 });
    expect(users.inspect('Tom')).toMatchObject({ taken: 0 });
    const all = { permits: 2, per: LONG, burst: 2, keys: 10_000, size: 10, taken: 12, refused: 5, noRoom: 0 };
    expect(users.inspect()).toEqual(all);
    expect([users.size, String(users)]).toEqual([10, 'KeyedRateLimiter(2 in 1000000 ms)']);
    users.dispose();
    expect(() => users.tryTake('Ann')).toThrow(DisposedError);
    expect([users.size, String(users)]).toEqual([0, 'KeyedRateLimiter(disposed)']);
  });

  it('has room for its keys, and refuses a new one while all others count', async () => {
    const many = fresh(1);
    for (let i = 0; i < 10_000; i++) many.tryTake(`user ${i}`);
    expect(many.inspect()).toMatchObject({ size: 10_000, noRoom: 0 });
    const few = fresh(1, 100, { keys: 1 });
    const taken = Array.from({ length: 17 }, (_, key) => few.tryTake(key));
    expect(taken.indexOf(false)).toBe(16);
    expect(few.inspect().noRoom).toBe(1);
    expect(() => few.spend('Ann', 1)).toThrow(
      new ArenaFullError(
        'the KeyedRateLimiter has no room for the key "Ann" beside those that count now: make it with more `keys` than 1',
      ),
    );
    const due = few.dueIn('Ann');
    expect(due).toBeGreaterThan(0);
    expect(due).toBeLessThanOrEqual(101);
    await until(() => few.tryTake('Ann'), 'a window is over');
  });

  it('needs no object of the arena for a key, and leaves nothing', () => {
    const arena = new Arena();
    const users = fresh(1, 50, { arena, keys: 100 });
    for (let i = 0; i < 40_000; i++) users.tryTake(`user ${i}`);
    expect(arena.stats().objects.used).toBe(1);
    users.dispose();
    expect(arena.stats().objects.used).toBe(0);
    const full = new Arena({ bytes: 2 ** 16 });
    expect(() => new KeyedRateLimiter(1, 1, { arena: full, keys: 1_000_000 })).toThrow(
      /^the arena has no 14\d{3} pages of 4096 bytes side by side for a KeyedRateLimiter of 1000000 keys: ask for fewer/,
    );
    expect(full.stats().objects.used).toBe(0);
    new KeyedRateLimiter(1, 1, { arena: full, keys: 100 }).dispose();
  });

  it('is one in all threads, by its name and by its handle, and stays exact when one of them dies', async () => {
    const arena = new Arena();
    const users = KeyedRateLimiter.open('users', 50, LONG, { burst: 50, arena });
    expect(() => KeyedRateLimiter.open('users', 50, LONG, { burst: 50, keys: 7, arena })).toThrow(
      'it exists already with keys 10000, not 7',
    );
    const keys = ['Ann', 'Bob', 7];
    const workers = [1, 2, 3].map(() => recruit(arena, false));
    const jobs = workers.map((worker) => worker.run('keyed-rates', { handle: users.handle, keys, tries: 3000 }));
    const taken = (await Promise.all(jobs)) as unknown as number[][];
    expect(keys.map((_, i) => taken.reduce((sum, one) => sum + (one[i] as number), 0))).toEqual([50, 50, 50]);
    expect(keys.map((key) => users.tryTake(key))).toEqual([false, false, false]);
    for (const worker of workers) await worker.kill();
    expect(KeyedRateLimiter.open('users', 50, LONG, { burst: 50, arena }).inspect('Ann').taken).toBe(50);
  });

  it('takes back what a thread has written that died before it had written all', () => {
    const arena = new Arena();
    const users = fresh(2, LONG, { burst: 2, arena, keys: 1 });
    expect([users.tryTake('Ann'), users.tryTake('Ann')]).toEqual([true, true]);
    const { buffer } = arena.handle.memory;
    const words = new Int32Array(buffer);
    const floats = new Float64Array(buffer);
    const head = (words[(users.handle.address + R_PAGE) / 4] as number) / 8 + HEADS;
    // As if the second call had not been over.
    floats[head + NOTED_HASH_AT] = floats.indexOf(floats[head + NOTED_HASH] as number, head + NOTED_HASH + 1);
    words[2 * head] = NOBODY;
    expect(users.inspect('Ann').taken).toBe(1);
    expect([users.tryTake('Ann'), users.tryTake('Ann')]).toEqual([true, false]);
  });

  it('is made by one thread at a time, and by the next one if that thread dies', async () => {
    const arena = new Arena();
    // It takes more than half of the pages.
    const users = new KeyedRateLimiter(100, LONG, { arena, keys: 100_000 });
    const words = new Int32Array(arena.handle.memory.buffer);
    const at = (property: number) => (users.handle.address + property) / 4;
    const page = words[at(R_PAGE)] as number;
    const take = (member: Member) => member.run('keyed-rates', { handle: users.handle, keys: ['Ann'], tries: 1 });
    await turn();
    await turn();
    // As if this thread were in the midst of making it, with all pages claimed.
    words[at(R_PAGE)] = 0;
    const locks = new RateLocks(membershipOf(arena) as never, words, () => {});
    expect(locks.enter(at(R_LOCK), 1)).toBe(true);
    const second = recruit(arena, false);
    const taken = take(second);
    await until(() => words[at(R_LOCK) + 1] !== 0, 'it waits for this thread');
    words[at(R_PAGE)] = page;
    locks.leave(at(R_LOCK));
    expect(await taken).toEqual([1]);
    expect(users.inspect('Ann').taken).toBe(1);
    // As if a thread had died then.
    words[at(R_PAGE)] = 0;
    words[at(R_LOCK)] = NOBODY;
    const third = recruit(arena, false);
    expect(await take(third)).toEqual([1]);
    expect([words[at(R_PAGE)], words[at(R_LOCK)]]).toEqual([page, 0]);
    for (const worker of [second, third]) await worker.kill();
  });

  it('gives no permit too many because a collection has taken its library objects, and goes when nothing counts', async () => {
    const arena = new Arena();
    const taken = (name: string, per: number) => KeyedRateLimiter.open(name, 1, per, { arena }).tryTake('Ann');
    const given: boolean[] = [];
    for (let i = 0; i < 4; i++) {
      given.push(taken('long', LONG));
      taken(`short ${i}`, 20);
      for (let j = 0; j < 3; j++) {
        await turn();
        collect();
      }
    }
    expect(given).toEqual([true, false, false, false]);
    for (let i = 0; i < 500 && arena.stats().objects.used > 1; i++) {
      await turn();
      collect();
      // A thread that attaches to an object looks at others.
      new KeyedRateLimiter(1, 1, { arena, keys: 1 }).dispose();
    }
    expect(arena.stats().objects.used).toBe(1);
  });

  it.each([
    [() => new KeyedRateLimiter(0, 1), 'KeyedRateLimiter: permits must be an integer from 1 to 2147483647, got 0'],
    [
      () => new KeyedRateLimiter(1, 1, { keys: 0 }),
      'KeyedRateLimiter: keys must be an integer from 1 to 10000000, got 0',
    ],
    [() => fresh(1).tryTake({} as never), 'KeyedRateLimiter.tryTake: key must be a string or a safe integer'],
    [() => fresh(1).tryTake('Ann', 2), 'KeyedRateLimiter.tryTake: permits must be an integer from 1 to 1'],
    [() => fresh(1).pause('Ann', -1), 'KeyedRateLimiter.pause: milliseconds must be'],
    [() => new KeyedRateLimiter(1, 1, { key: 1 } as never), 'perhaps keys'],
  ])('says what is wrong with an argument (%#)', async (call, text) => {
    expect((await failure(async () => call())).message).toContain(text);
  });

  it('gives no permit of a key too many to 8 threads, some of which die', async () => {
    const { code, out, err } = await runProgram('keyed-rate-history-threads', [roundsInCi(10_000, 4000), 5], 120_000);
    expect([code, err, JSON.parse(out).wrong]).toEqual([0, '', []]);
  }, 130_000);
});
