/** KeyedMutex and KeyedSemaphore of threads: who has the same key excludes one another, and nothing is left of a key. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { Arena, ArenaFullError, CancelledError, DisposedError, Mutex, Semaphore, TimeoutError } from 'taketurns';
import { type Key, KeyedMutex, type KeyedMutexHandle, KeyedSemaphore, RateLimiter } from 'taketurns/keyed';
import { report } from 'taketurns/report';
import { describe, expect, it } from 'vitest';
import { objectText } from '../../src/report/refs.js';
import { recruit, upTo } from '../support/dying.js';
import { failure } from '../support/failure.js';
import { membershipOf, replaceable } from '../support/membership.js';
import { at, Memory } from '../support/memory.js';
import { isSettled } from '../support/settled.js';
import { type Member, team, together } from '../support/team.js';
import { reactions, turn, until } from '../support/until.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const crowd = team(4);
const member = () => crowd[0] as Member;

/** The objects of the arena, besides the table of the test. */
const objects = (arena: Arena) => arena.stats().objects.used - 1;
const noKey = (arena: Arena) => until(() => objects(arena) === 0, 'no key is left');

const fresh = () => {
  const arena = new Arena();
  return { arena, table: new KeyedMutex({ arena }) };
};

/** Has a worker wait for a key, and returns when the worker stands in line. */
async function waiter(table: KeyedMutex, worker: Member, key: Key, log?: Int32Array) {
  const before = table.waiting;
  const told = worker.run<boolean>('keyed', { handle: table.handle, does: 'pass', key, log });
  await until(() => table.waiting === before + 1, 'it stands in line');
  return { told };
}

describe('a key', () => {
  it('is held by one thread at a time, in the order of the requests of threads and promises', async () => {
    const { arena, table } = fresh();
    const held = table.hold('a');
    const log = new Int32Array(new SharedArrayBuffer(16));
    const first = await waiter(table, member(), 'a', log);
    const second = table.holdAsync('a').then((guard) => {
      log[1 + Atomics.add(log, 0, 1)] = 2;
      guard.unlock();
    });
    const third = await waiter(table, crowd[1] as Member, 'a', log);
    expect(table.inspect('a')).toEqual({ key: 'a', out: 1, waiting: 3 });
    expect(table.tryHold('a')).toBe(undefined);
    table.hold('b').unlock();
    held.unlock();
    expect(await Promise.all([first.told, second, third.told])).toEqual([false, undefined, false]);
    expect([...log]).toEqual([3, 1, 2, 1]);
    expect([table.size, table.waiting]).toEqual([0, 0]);
    await noKey(arena);
  });

  it('is compared exactly, whatever its length and its characters', async () => {
    const { arena, table } = fresh();
    const long = (end: string) => 'x'.repeat(300) + end;
    const keys: Key[] = [
      1,
      '1',
      '',
      '__proto__',
      0,
      '0',
      -1,
      2 ** 53 - 1,
      -(2 ** 53) + 1,
      2 ** 32,
      'a',
      'A',
      '\0',
      '\0\0',
    ];
    keys.push(
      '\u00e9',
      'e\u0301',
      '\ud800',
      '\udc00',
      '\u{10000}',
      `${'é'.normalize('NFD')}!`,
      long(''),
      long('a'),
      long('b'),
    );
    for (const n of [51, 52, 53, 103, 104, 105, 208, 209, 1000])
      keys.push('a'.repeat(n), 'ж'.repeat(n), `${'a'.repeat(n - 1)}ж`);
    const held = keys.map((key) => table.tryHold(key));
    expect(held.map((guard) => guard?.held)).toEqual(keys.map(() => true));
    expect(table.size).toBe(keys.length);
    expect(new Set(table.inspect().keys.map(({ key }) => key))).toEqual(new Set(keys));
    expect(table.tryHold(-0)).toBe(undefined);
    const other = KeyedMutex.from(table.handle);
    for (const key of keys) expect(other.tryHold(key)).toBe(undefined);
    for (const guard of held) guard?.unlock();
    expect(table.size).toBe(0);
    await noKey(arena);
  });

  it('is the same in every thread', async () => {
    const { arena, table } = fresh();
    const keys: Key[] = [7, '7', 'x'.repeat(500), 'ж'.repeat(200), '\ud800', -(2 ** 40)];
    const other = recruit(arena, false);
    await other.run('keyed', { handle: table.handle, does: 'keep', keys });
    for (const key of keys) expect(table.tryHold(key)).toBe(undefined);
    expect(table.inspect().keys.map(({ out }) => out)).toEqual(keys.map(() => 1));
    expect(new Set(table.inspect().keys.map(({ key }) => key))).toEqual(new Set(keys));
    await other.kill();
    for (const key of keys) expect(table.tryHold(key)?.held).toBe(true);
  });

  it.each([
    [undefined, TypeError, 'undefined'],
    [null, TypeError, 'null'],
    [1.5, RangeError, '1.5'],
    [NaN, RangeError, 'NaN'],
    [2 ** 53, RangeError, '9007199254740992'],
    [1n, TypeError, '1n'],
    [Symbol('key'), TypeError, 'Symbol(key)'],
    [{}, TypeError, 'an object (Object)'],
  ])('is not %s', async (key, Class, shown) => {
    const table = new KeyedMutex();
    const text = (method: string) => `KeyedMutex.${method}: key must be a string or a safe integer, got ${shown}`;
    for (const [method, call] of [
      ['hold', () => table.hold(key as never)],
      ['tryHold', () => table.tryHold(key as never)],
      ['holdAsync', () => table.holdAsync(key as never)],
      ['runExclusive', () => table.runExclusive(key as never, () => 1)],
      ['holdAll', () => table.holdAll(['a', key as never])],
      ['holdAllAsync', () => table.holdAllAsync(['a', key as never])],
    ] as const) {
      const error = await failure(call);
      expect([error.constructor, error.message.replace(/: (write String|give what tells).*/, '')]).toEqual([
        Class,
        text(method),
      ]);
    }
    expect(table.size).toBe(0);
    table.dispose();
  });

  it('excludes threads and promises: 4 threads count 40,000 times', async () => {
    const { arena, table } = fresh();
    const words = new Int32Array(new SharedArrayBuffer(4 * 200));
    const rounds = 10_000;
    await together(crowd, 'keyed', { handle: table.handle, does: 'count', words, rounds });
    expect(words.reduce((sum, n) => sum + n)).toBe(4 * rounds);
    await noKey(arena);
  });

  it('leaves nothing: 4 threads and 100,000 keys', async () => {
    const { arena, table } = fresh();
    const { used } = arena.stats().elements;
    const each = 25_000;
    await Promise.all(
      crowd.map((worker, i) =>
        worker.run('keyed', { handle: table.handle, does: 'visit', from: i * each, to: (i + 1) * each }),
      ),
    );
    await noKey(arena);
    // Each worker has an attachment to the table, and a spare. The element of a key comes back after its object.
    await until(() => arena.stats().elements.used <= used + 2 * crowd.length, 'no element is left');
  });

  it('is kept at hand for a while, and does not count then', async () => {
    const { arena, table } = fresh();
    for (let i = 0; i < 1000; i++) for (let twice = 0; twice < 2; twice++) table.hold(i).unlock();
    expect(objects(arena)).toBeGreaterThan(100);
    expect(objects(arena)).toBeLessThanOrEqual(256);
    expect([table.size, table.inspect().keys]).toEqual([0, []]);
    await noKey(arena);
    table.hold('again').unlock();
    await noKey(arena);
  });

  it('that is used once gives its object to the next', async () => {
    const { arena, table } = fresh();
    const places = new Memory(arena);
    const before = places.word(at('USED_OBJECTS'));
    for (let i = 0; i < 1000; i++) table.hold(i).unlock();
    expect(places.word(at('USED_OBJECTS'))).toBeLessThan(before + 100);
    await noKey(arena);
  });

  it.each([
    ['one', 1],
    ['64', 64],
    ['200', 200],
  ])('is kept at hand if it is used in turn with others: %s in all', async (_, count) => {
    const { arena, table } = fresh();
    const keys = upTo(count).map((i) => `user:${String(i).padStart(11, '0')}`);
    for (let round = 0; round < 100; round++) for (const key of keys) table.hold(key).unlock();
    expect(objects(arena)).toBe(count);
    await noKey(arena);
  });

  it('may be one of several that come and go, of two tables, in any order', async () => {
    const { arena, table } = fresh();
    const other = new KeyedSemaphore(2, { arena });
    for (let i = 0; i < 1000; i++) {
      other.hold(`${i}`, 2).release();
      const held = [table.hold('a'), table.hold(`long ${i}`.padEnd(200)), table.hold(i)];
      expect([table.tryHold('a'), table.tryHold(i)]).toEqual([undefined, undefined]);
      if (i % 2) held.reverse();
      for (const guard of held) guard.unlock();
    }
    expect([table.size, other.size]).toEqual([0, 0]);
    other.dispose();
    await noKey(arena);
  });

  it('may be held beside 100,000 others', async () => {
    const arena = new Arena({ objects: 200_000, waiters: 200_000 });
    const table = new KeyedMutex({ arena });
    const held = upTo(100_000).map((i) => table.tryHold(i));
    expect(table.inspect().size).toBe(held.length);
    expect(table.inspect().keys.length).toBe(100);
    for (const guard of held) guard?.unlock();
    await noKey(arena);
    arena.dispose();
  });

  it('has a guard that gives back once', () => {
    const { table } = fresh();
    const held = table.hold('a');
    held.unlock();
    const other = table.hold('a');
    held.unlock();
    expect(table.tryHold('a')).toBe(undefined);
    other.unlock();
    expect(String(held)).toBe('HeldLock(unlocked)');
  });

  it('that a thread holds already is an error for a call that blocks', async () => {
    const { arena, table } = fresh();
    const held = table.hold('a');
    const text =
      'this thread or a promise of it has the key "a" of the KeyedMutex or waits for it, and would wait for itself: code that';
    for (const call of [() => table.hold('a'), () => table.holdAll(['b', 'a']), () => table.hold('a', { timeout: 5 })])
      expect((await failure(call)).message).toContain(text);
    expect(table.inspect().keys).toEqual([{ key: 'a', out: 1, waiting: 0 }]);
    expect(await failure(() => table.hold('a', { timeout: 0 }))).toBeInstanceOf(TimeoutError);
    held.unlock();
    // The same for a key that a promise of this thread waits for, which another thread holds.
    const other = recruit(arena, false);
    await other.run('keyed', { handle: table.handle, does: 'keep', keys: ['a'] });
    const waits = table.holdAsync('a', { timeout: 60_000 });
    expect((await failure(() => table.hold('a'))).message).toContain(text);
    await other.kill();
    expect((await waits).ownerDied).toBe(true);
  });
});

describe('a wait', () => {
  it('ends by a time-out, a signal, cancelAll or dispose, and those behind move up', async () => {
    const { arena, table } = fresh();
    const held = table.hold('a');
    const abortion = new AbortController();
    const late = failure(() => table.holdAsync('a', { timeout: 5 }));
    const aborted = failure(() => table.holdAsync('a', { signal: abortion.signal }));
    const behind = table.holdAsync('a');
    abortion.abort(new SyntaxError('enough'));
    expect((await aborted).message).toBe('enough');
    expect((await late).message).toMatch(/^timed out after 5 ms waiting for the key "a" of the KeyedMutex \(/);
    held.unlock();
    const guard = await behind;
    const reason = new Error('over');
    const cancelled = failure(() => table.holdAsync('a'));
    table.cancelAll(reason);
    expect(await cancelled).toBeInstanceOf(CancelledError);
    expect((await cancelled).cause).toBe(reason);
    expect(table.inspect().timeouts).toBe(3);
    const disposed = failure(() => table.holdAsync('a'));
    const { told } = await waiter(table, member(), 'a');
    table.dispose();
    guard.unlock();
    expect(await disposed).toBeInstanceOf(DisposedError);
    expect((await failure(() => told)).name).toBe('DisposedError');
    for (const call of [() => table.hold('a'), () => table.holdAsync('new'), () => table.inspect(), () => table.handle])
      expect(await failure(call)).toBeInstanceOf(DisposedError);
    expect([table.disposed, table.size, table.waiting, String(table)]).toEqual([true, 0, 0, 'KeyedMutex(disposed)']);
    // The worker is attached to the table until it looks.
    await until(() => arena.stats().objects.used <= 1, 'nothing is left');
  });

  it('of a thread ends by a time-out, and by cancelAll of another thread', async () => {
    const { table } = fresh();
    const held = table.hold('a');
    const pass = (options: object) => member().run('keyed', { handle: table.handle, does: 'pass', key: 'a', options });
    expect((await failure(() => pass({ timeout: 5 }))).name).toBe('TimeoutError');
    const cancelled = failure(() => pass({ timeout: 60_000 }));
    await until(() => table.waiting === 1, 'it waits');
    table.cancelAll();
    expect((await cancelled).name).toBe('CancelledError');
    expect(table.inspect()).toMatchObject({ waiting: 0, timeouts: 2 });
    held.unlock();
  });

  it('with a bad option leaves nothing', async () => {
    const { arena, table } = fresh();
    for (const call of [
      () => table.hold('a', { timeout: -1 }),
      () => table.holdAsync('b', { timeout: NaN }),
      () => table.runExclusive('c', () => 1, { signal: 1 as never }),
      () => table.holdAll(['d'], { limit: 1 } as never),
    ])
      expect((await failure(call)).message).toMatch(/^KeyedMutex\.\w+: (timeout|signal|options) must be/);
    await noKey(arena);
    table.hold('a').unlock();
  });

  it('of a signal that is aborted never begins', async () => {
    const { table } = fresh();
    const signal = AbortSignal.abort(new SyntaxError('enough'));
    for (const call of [() => table.hold('a', { signal }), () => table.holdAllAsync(['a'], { signal })])
      expect(await failure(call)).toBeInstanceOf(SyntaxError);
    expect(table.size).toBe(0);
  });
});

describe('a death', () => {
  const ways = ['hold', 'tryHold', 'holdAsync', 'holdAll', 'runExclusive'] as const;

  it.each(ways)('of an owner is told to the next owner, who comes later: %s', async (way) => {
    const { arena, table } = fresh();
    const dead = recruit(arena, false);
    await dead.run('keyed', { handle: table.handle, does: 'keep', keys: ['a', 'b'] });
    expect(table.size).toBe(2);
    await dead.kill();
    // Nobody has the keys at hand now. Their objects stay until the deaths are told.
    expect([table.size, objects(arena)]).toEqual([0, 2]);
    const told: Key[] = [];
    table.onOwnerDied = (deaths, key) => told.push(deaths, key);
    const lock = {
      hold: () => table.hold('a'),
      tryHold: () => table.tryHold('a'),
      holdAsync: () => table.holdAsync('a'),
      holdAll: () => table.holdAll(['a', 'c']),
      runExclusive: () => table.runExclusive('a', () => ({ ownerDied: true, unlock() {} })),
    };
    const held = await lock[way]();
    expect([held?.ownerDied, told]).toEqual([true, [1, 'a']]);
    held?.unlock();
    const again = table.hold('a');
    expect(again.ownerDied).toBe(false);
    again.unlock();
    await until(() => objects(arena) === 1, 'the key has gone');
    const both = table.holdAll(['a', 'b']);
    expect([both.ownerDied, both.keysOfDead]).toEqual([true, ['b']]);
    both.unlock();
    await noKey(arena);
  });

  it.each(['holdAll', 'holdAllAsync'] as const)('is told again if %s does not get a later key', async (method) => {
    const { arena, table } = fresh();
    const dead = recruit(arena, false);
    await dead.run('keyed', { handle: table.handle, does: 'keep', keys: ['a'] });
    await dead.kill();
    const other = recruit(arena, false);
    await other.run('keyed', { handle: table.handle, does: 'keep', keys: ['b'] });
    expect(await failure(async () => table[method](['a', 'b'], { timeout: 10 }))).toBeInstanceOf(TimeoutError);
    const held = table.hold('a');
    expect(held.ownerDied).toBe(true);
    held.unlock();
    expect(table.hold('a').ownerDied).toBe(false);
  });

  it('is told again if the callback throws', async () => {
    const { arena, table } = fresh();
    const dead = recruit(arena, false);
    await dead.run('keyed', { handle: table.handle, does: 'keep', keys: ['a'] });
    await dead.kill();
    table.onOwnerDied = () => {
      throw new SyntaxError('not repaired');
    };
    for (const call of [() => table.hold('a'), () => table.holdAsync('a'), () => table.runExclusive('a', () => 1)])
      expect(await failure(call)).toBeInstanceOf(SyntaxError);
    expect(table.size).toBe(0);
    table.onOwnerDied = undefined;
    // The object stays although no thread has the key at hand.
    await turn();
    await until(() => table.inspect('a').out === 0, 'free');
    expect(table.hold('a').ownerDied).toBe(true);
  });

  it('lets the next waiter on, whether it is a thread or a promise', async () => {
    const { arena, table } = fresh();
    for (const waits of ['a thread', 'a promise']) {
      const dead = recruit(arena, false);
      await dead.run('keyed', { handle: table.handle, does: 'keep', keys: ['a'] });
      const { told } =
        waits === 'a thread'
          ? await waiter(table, member(), 'a')
          : {
              told: table.holdAsync('a').then((guard) => {
                guard.unlock();
                return guard.ownerDied;
              }),
            };
      await dead.kill();
      expect([waits, await told]).toEqual([waits, true]);
    }
  });

  it('of a waiter lets those behind move up', async () => {
    const { arena, table } = fresh();
    const held = table.hold('a');
    const dead = recruit(arena, false);
    await waiter(table, dead, 'a');
    const behind = table.holdAsync('a');
    await dead.kill();
    held.unlock();
    const guard = await behind;
    expect(guard.ownerDied).toBe(false);
    guard.unlock();
    await noKey(arena);
  });

  it('is no death of a key for an object that was a key and has no name now', async () => {
    const arena = new Arena({ objects: 2 });
    const table = new KeyedMutex({ arena });
    table.hold('a').unlock();
    await noKey(arena);
    // The one free place of the arena was that of the key.
    const dead = recruit(arena, true);
    await dead.run('make-and-hold', { arena: arena.handle });
    expect(objects(arena)).toBe(1);
    await dead.kill();
    expect(objects(arena)).toBe(0);
  });

  it('of an owner by leaving counts too', async () => {
    const { arena, table } = fresh();
    const leaver = recruit(arena, false);
    await leaver.run('keyed', { handle: table.handle, does: 'keep', keys: ['a'.repeat(104), 5] });
    await leaver.leave();
    await until(() => table.size === 0, 'they are free');
    expect([table.hold('a'.repeat(104)).ownerDied, table.hold(5).ownerDied]).toEqual([true, true]);
  });

  it('leaves keys of a table that is gone, until the arena is full', async () => {
    const arena = new Arena({ objects: 10 });
    const [dead, other] = [recruit(arena, false), recruit(arena, false)];
    const use = { name: 'gone', arena: arena.handle, keys: upTo(5) };
    await other.run('keyed-by-name', { ...use, keys: [] });
    await dead.run('keyed-by-name', use);
    await dead.kill();
    await other.kill();
    // Nobody has the table open any more, so it is gone, and nobody can come to its keys.
    expect(arena.stats().objects.used).toBe(5);
    const table = KeyedMutex.open('gone', { arena });
    const held = upTo(9).map((key) => table.hold(key));
    expect(held.map(({ ownerDied }) => ownerDied)).toEqual(held.map(() => false));
    expect(arena.stats().objects.used).toBe(10);
  });
});

describe('several keys', () => {
  it('are taken in one order, once each, and given back together', () => {
    const { table } = fresh();
    const held = table.holdAll(['b', 10, 'a', 9, 'b', 10]);
    expect(held.keys).toEqual([9, 10, 'a', 'b']);
    expect([table.size, held.held, held.ownerDied, String(held)]).toEqual([4, true, false, 'HeldKeys(held)']);
    held.unlock();
    held.unlock();
    expect([table.size, held.held, String(held)]).toEqual([0, false, 'HeldKeys(unlocked)']);
    expect(table.holdAll([]).keys).toEqual([]);
  });

  it('are all given back if one is not to be had', async () => {
    const { table } = fresh();
    await member().run('keyed', { handle: table.handle, does: 'keep', keys: ['b'] });
    const all = ['a', 'b', 'c'];
    for (const call of [
      () => table.holdAll(all, { timeout: 5 }),
      () => table.holdAllAsync(all, { timeout: 5 }),
      () => table.holdAll(all, { timeout: 0 }),
      () => table.holdAllAsync(all, { timeout: 0 }),
    ]) {
      const error = await failure(call);
      expect([error.name, error.message]).toEqual([
        'TimeoutError',
        expect.stringMatching(/^timed out after [05] ms waiting for the key "b" of the KeyedMutex( \(\d+ waiting\))?$/),
      ]);
      expect(table.inspect().keys.map(({ key }) => key)).toEqual(['b']);
    }
  });

  it('fail with the error of onOwnerDied, though it looks like a time-out', async () => {
    const { arena, table } = fresh();
    const dead = recruit(arena, false);
    await dead.run('keyed', { handle: table.handle, does: 'keep', keys: ['b'] });
    await dead.kill();
    const own = new TimeoutError('the repair took too long');
    table.onOwnerDied = () => {
      throw own;
    };
    for (const options of [undefined, { timeout: 0 }, { timeout: 1000 }]) {
      expect(await failure(() => table.holdAll(['a', 'b'], options))).toBe(own);
      expect(await failure(() => table.holdAllAsync(['a', 'b'], options))).toBe(own);
    }
    expect(table.size).toBe(0);
  });

  it('do not deadlock, although 4 threads take them crosswise', async () => {
    const { arena, table } = fresh();
    const words = new Int32Array(new SharedArrayBuffer(4 * 6)).fill(1000);
    await together(crowd, 'keyed', { handle: table.handle, does: 'transfer', words, rounds: 5000 });
    expect(words.reduce((sum, n) => sum + n)).toBe(6000);
    await noKey(arena);
  });
});

describe('a table', () => {
  it('is found by its name and by its handle', async () => {
    const arena = new Arena();
    const table = KeyedMutex.open('users', { arena });
    const held = table.hold('a');
    for (const same of [KeyedMutex.open('users', { arena }), KeyedMutex.from(table.handle)])
      expect(same.tryHold('a')).toBe(undefined);
    const other = KeyedMutex.open('others', { arena });
    other.hold('a').unlock();
    expect(String(table)).toMatch(/^KeyedMutex\(.*1 keys\)$/);
    expect(() => KeyedSemaphore.open('users', 1, { arena })).toThrow(/give the KeyedSemaphore another one/);
    expect(() => Mutex.open('users', { arena })).toThrow(/give the Mutex another one/);
    expect(() => KeyedMutex.from({ kind: 'Mutex' } as never)).toThrow(/must be of a KeyedMutex/);
    held.unlock();
  });

  it('is named in a report, with its keys, and no two of them read alike', () => {
    const arena = new Arena();
    const table = KeyedMutex.open('users', { arena });
    const long = 'a'.repeat(200);
    for (const key of ['Ann', 7, '7', 'a"b']) table.hold(key);
    new KeyedMutex({ arena }).hold(long);
    Semaphore.open('users[Ann]', 1, { arena });
    const { objects, threads } = report(arena);
    expect(objects.map(objectText)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^KeyedMutex "users"$/),
        'KeyedMutex "users"["Ann"]',
        'KeyedMutex "users"[7]',
        'KeyedMutex "users"["7"]',
        'KeyedMutex "users"["a\\"b"]',
        `KeyedMutex ["${long.slice(0, 99)}"...]`,
        'Semaphore "users[Ann]"',
      ]),
    );
    expect(objects).toContainEqual(
      expect.objectContaining({ kind: 'KeyedMutex', name: 'users', key: 7, state: 'locked' }),
    );
    expect(threads[0]?.holds).toContainEqual(expect.objectContaining({ kind: 'KeyedMutex', key: '7', permits: 1 }));
  });

  it('stays while a key of it is held, although its library objects were collected', async () => {
    const arena = new Arena();
    const held = KeyedMutex.open('collected', { arena }).hold('a');
    for (let i = 0; i < 5; i++) {
      await turn();
      collect();
    }
    expect(KeyedMutex.open('collected', { arena }).tryHold('a')).toBe(undefined);
    held.unlock();
    expect(KeyedMutex.open('collected', { arena }).tryHold('a')?.held).toBe(true);
  });

  it('keeps the news of a death, although its library objects were collected', async () => {
    const arena = new Arena();
    const open = () => KeyedMutex.open('collected', { arena });
    const name = async () => {
      const table = open();
      const dead = recruit(arena, false);
      await dead.run('keyed-by-name', { name: 'collected', arena: arena.handle, keys: ['a', 'b'.repeat(104)] });
      await dead.kill();
      return table.size;
    };
    expect(await name()).toBe(0);
    const collectAll = async () => {
      for (let i = 0; i < 5; i++) {
        await turn();
        collect();
      }
    };
    await collectAll();
    for (const key of ['a', 'b'.repeat(104)]) {
      const held = open().hold(key);
      expect(held.ownerDied).toBe(true);
      held.unlock();
      await collectAll();
    }
    expect(open().hold('a').ownerDied).toBe(false);
  });

  it('goes with its library objects', async () => {
    const arena = new Arena();
    for (let i = 0; i < 100; i++) new KeyedMutex({ arena }).hold('a').unlock();
    for (let i = 0; i < 50 && arena.stats().objects.used > 0; i++) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      collect();
    }
    expect(arena.stats().objects.used).toBe(0);
  });

  it('is disposed of to the end, if a disposer has died after its first step', async () => {
    const { arena, table } = fresh();
    const memory = new Memory(arena);
    const held = ['a', 'b'].map((key) => table.hold(key));
    const waits = [await waiter(table, member(), 'a'), await waiter(table, crowd[1] as Member, 'b')];
    const life = table.handle.address + at('O_LIFE');
    const STEP = 1 << 24; // from LIVE to DISPOSED
    memory.store(life, memory.word(life) + STEP);
    expect(await failure(() => table.hold('c'))).toBeInstanceOf(DisposedError);
    for (const { told } of waits) expect(await failure(() => told)).toMatchObject({ name: 'DisposedError' });
    for (const guard of held) guard.unlock();
    await until(() => objects(arena) === -1, 'nothing is left');
  });

  it('is disposed of for all threads, also while they hold keys that the disposer does not know', async () => {
    const { arena, table } = fresh();
    await member().run('keyed', { handle: table.handle, does: 'keep', keys: ['a', 'x'.repeat(300)] });
    const { handle } = table;
    const { told } = await waiter(table, crowd[1] as Member, 'a');
    table.dispose();
    expect((await failure(() => told)).name).toBe('DisposedError');
    for (const key of ['a', 'b', 'x'.repeat(300)]) {
      const late = await failure(() => member().run('keyed', { handle, does: 'pass', key }));
      expect(late.name).toBe('DisposedError');
    }
    await until(() => objects(arena) <= 0, 'no key is left');
  });

  it('counts as time-outs what was cut short, and not what found the arena full', async () => {
    const arena = new Arena({ threads: 2, waiters: 8, objects: 16 });
    const table = new KeyedMutex({ arena });
    const limiter = new RateLimiter(1, 60_000, { arena });
    const held = table.hold('Ann');
    limiter.tryTake();
    const { signal } = new AbortController();
    const waits = upTo(200).map(() => failure(() => table.holdAsync('Ann', { signal })));
    const full = (await Promise.race(waits)) as Error;
    expect(full).toBeInstanceOf(ArenaFullError);
    expect(table.inspect().timeouts).toBe(0);
    expect((await failure(() => limiter.takeAsync(1, { signal }))).name).toBe('ArenaFullError');
    expect(limiter.inspect().timeouts).toBe(0);
    table.cancelAll();
    held.unlock();
    const ended = await Promise.all(waits);
    expect(table.inspect().timeouts).toBe(ended.filter(({ name }) => name === 'CancelledError').length);
  });

  it('says when the arena is full, and lets go of what it kept before', async () => {
    const arena = new Arena({ objects: 10 });
    const table = new KeyedMutex({ arena });
    for (let i = 0; i < 100; i++) table.hold(i).unlock();
    const held = upTo(9).map((i) => table.hold(`held ${i}`));
    const error = await failure(() => table.hold('one more'));
    expect(error).toBeInstanceOf(ArenaFullError);
    expect(error.message).toContain('new Arena({ objects: 20 })');
    expect((await failure(() => table.hold('long'.repeat(100)))).name).toBe('ArenaFullError');
    held[0]?.unlock();
    // The key that was given back is kept at hand, and goes for another class as well.
    new Mutex({ arena }).dispose();
    held[1]?.unlock();
    held[2]?.unlock();
    table.hold('x'.repeat(110)).unlock();
    for (const guard of held) guard.unlock();
    await noKey(arena);
  });

  it('ends with the arena, and its guards do no harm then', async () => {
    const { arena, table } = fresh();
    const held = table.hold('a');
    const waits = failure(() => table.holdAsync('a'));
    await reactions();
    arena.dispose();
    expect(await waits).toBeInstanceOf(DisposedError);
    held.unlock();
    expect(await failure(() => table.hold('b'))).toBeInstanceOf(DisposedError);
  });
});

describe('permits of a key', () => {
  it('are never more than there are, come together, and go back in parts', async () => {
    const table = new KeyedSemaphore(3, { arena: new Arena() });
    const held = table.hold('a', 2);
    expect([held.permits, held.ownerDied, table.inspect('a').out]).toEqual([2, false, 2]);
    const heavy = table.holdAsync('a', 3);
    const light = table.holdAsync('a', { timeout: 60_000 });
    expect([await isSettled(heavy), await isSettled(light), table.tryHold('a')]).toEqual([false, false, undefined]);
    held.release(1);
    expect(await isSettled(heavy)).toBe(false);
    held.release();
    (await heavy).release();
    (await light).release();
    expect([table.size, table.permits]).toEqual([0, 3]);
    expect(() => table.tryHold('a', 4)).toThrow(
      new RangeError('KeyedSemaphore.tryHold: permits must be an integer from 1 to 3 (its permits), got 4'),
    );
    expect(() => new KeyedSemaphore(0)).toThrow(RangeError);
  });

  it('of a dead thread go back, and the next owner learns of the death', async () => {
    const arena = new Arena();
    const table = new KeyedSemaphore(3, { arena });
    const dead = recruit(arena, false);
    await dead.run('keyed', { handle: table.handle, does: 'keep', keys: ['a'], permits: [2] });
    const rest = table.hold('a');
    const waits = table.holdAsync('a', 2);
    await dead.kill();
    const guard = await waits;
    expect([guard.permits, guard.ownerDied, rest.ownerDied]).toEqual([2, true, false]);
    guard.release();
    rest.release();
    await noKey(arena);
  });

  it('for which a thread would wait for itself are an error for a call that blocks', async () => {
    const table = new KeyedSemaphore(2, { arena: new Arena() });
    const held = table.hold('a');
    expect((await failure(() => table.hold('a', 2))).message).toContain('would wait for itself');
    table.hold('a').release();
    held.release();
  });

  it('are opened by name, with the number that they have', () => {
    const arena = new Arena();
    expect(() => KeyedSemaphore.open('hosts', undefined, { arena })).toThrow(/nothing of that name/);
    KeyedSemaphore.open('hosts', 4, { arena }).hold('a', 4);
    expect(KeyedSemaphore.open('hosts', undefined, { arena }).permits).toBe(4);
    expect(() => KeyedSemaphore.open('hosts', 3, { arena })).toThrow(
      new RangeError('KeyedSemaphore.open: name "hosts": it exists already with permits 4, not 3'),
    );
  });

  it('are never more than there are, whatever the calls', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.tuple(fc.constantFrom<Key>(1, '1', 'a'), fc.integer({ min: 1, max: 4 })), { maxLength: 40 }),
        async (permits, requests) => {
          const table = new KeyedSemaphore(permits, { arena });
          const out = new Map<Key, number>();
          await Promise.all(
            requests.map(async ([key, wanted], i) => {
              const n = Math.min(wanted, permits);
              await table.runExclusive(
                key,
                async () => {
                  const sum = (out.get(key) ?? 0) + n;
                  expect(sum).toBeLessThanOrEqual(permits);
                  out.set(key, sum);
                  if (i % 2) await undefined;
                  out.set(key, (out.get(key) ?? 0) - n);
                },
                n,
              );
            }),
          );
          expect([table.size, table.waiting]).toEqual([0, 0]);
          table.dispose();
        },
      ),
      { numRuns: 50 },
    );
  });
  const arena = new Arena();
});

it('a handle is a plain value', () => {
  const handle: KeyedMutexHandle = new KeyedMutex({ arena: new Arena() }).handle;
  expect(structuredClone(handle)).toMatchObject({ kind: 'KeyedMutex' });
});

it('gives the object of a table to no limiter, if an exception ended a call of that table midway', () => {
  const arena = new Arena();
  const table = new KeyedSemaphore(3, { arena });
  const core = replaceable(membershipOf(arena).core);
  const { openName } = core;
  const { floor } = Math;
  /** The objects without a name that calls have taken. */
  const taken: number[] = [];
  core.openName = (...numbers) => {
    if (numbers[7] !== 0) taken.push(numbers[7]);
    return openName(...numbers);
  };
  try {
    // Its object waits without a name for the next key of its table.
    table.hold('a')[Symbol.dispose]();
    Math.floor = () => {
      throw new Error('in the middle');
    };
    expect(() => table.hold(7)).toThrow('in the middle');
    Math.floor = floor;
    // Otherwise this limiter would have a turn for three threads.
    new RateLimiter(1, 1000, { arena }).take();
    expect(taken).toEqual([]);
    table.hold(7, 3)[Symbol.dispose]();
    expect(taken.length).toBe(1);
  } finally {
    Math.floor = floor;
    core.openName = openName;
    arena.dispose();
  }
});
