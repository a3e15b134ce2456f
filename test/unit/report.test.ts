/** The report of an arena, in a thread of its own or with others that wait. */
import { threadId } from 'node:worker_threads';
import { Arena, DisposedError, Mutex, Semaphore, TimeoutError } from 'taketurns';
import { Channel, number, Watch } from 'taketurns/channel';
import { RateLimiter } from 'taketurns/keyed';
import {
  type ArenaReport,
  DeadlockError,
  type DeadlockOptions,
  deadlocks,
  formatReport,
  nameThread,
  report,
  watchDeadlocks,
} from 'taketurns/report';
import { Barrier, Condition, Event, Latch, Once, RwLock, WaitGroup } from 'taketurns/sync';
import { afterEach, describe, expect, it } from 'vitest';
import * as numbers from '../../dist/border/numbers.js';
import { lookAt } from '../../dist/look/look.js';
import { kindOf, View } from '../../dist/look/view.js';
import { type Fact, isConfirmed } from '../../dist/report/confirm.js';
import { circlesIn, type Found } from '../../dist/report/deadlocks.js';
import { settingOf } from '../../dist/report/settings.js';
import { evidenceOf, holdersOf, stuckIn } from '../../dist/report/waits-for.js';
import { instantiate } from '../../dist/runtime/instance.js';
import { copy } from '../support/copies.js';
import { type Member, team } from '../support/team.js';
import { until } from '../support/until.js';

const crowd = team(1);
const member = () => crowd[0] as Member;

describe('report', () => {
  it('is a plain object, which may be cloned, and describes an empty arena', () => {
    const arena = new Arena({ objects: 4, threads: 3, waiters: 8 });
    const answer = report(arena);
    expect(structuredClone(answer)).toStrictEqual(answer);
    expect(answer).toMatchObject({
      threads: [{ thread: arena.thread.thread, threadId, state: 'awake', holds: [], waits: [], waiting: 0 }],
      objects: [],
      waiting: 0,
      longestWait: 0,
      timeouts: 0,
      ownerDeaths: 0,
      deadlocks: [],
      suspected: [],
      unseen: [],
      used: { threads: { used: 1, capacity: 3 }, objects: { used: 0, capacity: 4 } },
    });
    expect(answer.used.bytes.used).toBeLessThanOrEqual(answer.used.bytes.capacity);
  });

  it('confirms a reader only if it still reads what the first pass has seen', () => {
    const arena = new Arena({ objects: 4, threads: 3, waiters: 8 });
    const lock = new RwLock({ arena });
    lock.lockRead();
    const memory = arena.handle.memory as WebAssembly.Memory;
    const look = lookAt(memory, 0, 0);
    const [object] = look.objects as [number];
    const factsOf = () => holdersOf(look, object, kindOf(look.view, object), 'drain', 0)?.flatMap(({ facts }) => facts);
    expect(isConfirmed([look.view.words], [], factsOf() as Fact[])).toBe(true);
    lock.unlockRead();
    const facts = factsOf() as Fact[];
    expect(facts).not.toHaveLength(0);
    expect(isConfirmed([look.view.words], [], facts)).toBe(false);
  });

  it('uses the words of inspect, and agrees with it', async () => {
    const arena = new Arena();
    const pool = Semaphore.open('pool', 3, { robust: true, arena });
    pool.acquire(2);
    const blocked = member().run('enter', { handle: pool.handle, permits: [3] });
    await until(() => (pool.inspect().waiters[0]?.waited ?? 0) > 0, 'it sleeps');
    const promise = pool.acquireAsync(1);
    expect(() => pool.acquire(1, { timeout: 1 })).toThrow(TimeoutError);
    const { waiting, available, out, timeouts, cancelled, holders, waiters } = pool.inspect();
    const [object] = report(arena).objects;
    expect(object).toMatchObject({ kind: 'Semaphore', name: 'pool', waiting, available, out, timeouts, cancelled });
    expect(object?.holders).toEqual(holders.map((holder) => ({ ...holder, name: undefined })));
    expect(object?.waiters.map(({ waited, name, ...waiter }) => waiter)).toEqual(
      waiters.map(({ waited, ...waiter }) => waiter),
    );
    pool.dispose();
    await Promise.allSettled([blocked, promise]);
  });

  it('tells of every kind of object', async () => {
    const arena = new Arena();
    const mutex = Mutex.open('m', { arena });
    mutex.lock();
    const condition = new Condition(mutex);
    const once = new Once({ arena });
    const lock = new RwLock({ arena });
    const group = new WaitGroup({ arena });
    group.add(2);
    const latch = new Latch(3, { arena });
    const barrier = new Barrier(2, { arena });
    using reading = lock.read();
    const states = Object.fromEntries(
      report(arena).objects.map(({ kind, state, holders }) => [kind, { state, holders }]),
    );
    const me = { thread: arena.thread.thread, threadId, name: undefined, permits: 1 };
    expect(states).toEqual({
      Mutex: { state: 'locked', holders: [me] },
      Condition: { state: '', holders: undefined },
      Once: { state: 'not begun', holders: [] },
      RwLock: { state: 'locked for reading', holders: [me] },
      WaitGroup: { state: '2 left', holders: expect.any(Array) },
      Latch: { state: '3 left', holders: undefined },
      Barrier: { state: '2 left', holders: undefined },
    });
    expect(reading.held).toBe(true);
    const waits = [latch.waitAsync(), group.waitAsync({ timeout: 1 }).catch(() => {})];
    expect(report(arena).unseen).toHaveLength(2);
    latch.countDown(3);
    await Promise.all(waits);
    mutex.unlock();
    expect([condition.disposed, once.disposed, barrier.disposed]).toEqual([false, false, false]);
  });

  it('sees no wait in channels and watches that were used', async () => {
    const arena = new Arena();
    const channel = new Channel({ codec: number, arena });
    const watch = new Watch(1, { codec: number, arena });
    for (const value of [0.1, 1, -1]) {
      channel.send(value);
      channel.receive();
      watch.set(value);
    }
    channel.sendMany([1, 2, 3]);
    channel.receive();
    const sum = ({ waiting, longestWait, unseen, objects }: ArenaReport) => ({
      waiting,
      longestWait,
      unseen,
      waits: objects.flatMap((object) => (object.waiting > 0 ? [object.kind, object.waiters.length] : [])),
    });
    expect(sum(report(arena))).toEqual({ waiting: 0, longestWait: 0, unseen: [], waits: [] });
    const { signal } = new AbortController();
    channel.receiveMany(2);
    const waits = channel.receiveAsync({ signal });
    expect(sum(report(arena))).toMatchObject({ waiting: 1, waits: ['ReceivingEnd', 1] });
    channel.dispose();
    await expect(waits).rejects.toThrow(DisposedError);
  });

  it('lists the first 100 waiters, in order', async () => {
    const arena = new Arena();
    const semaphore = new Semaphore(0, { arena });
    const { signal } = new AbortController();
    const waits = Array.from({ length: 500 }, (_, i) => semaphore.acquireAsync(i + 1, { signal }));
    const widths = report(arena).objects[0]?.waiters.map(({ permits }) => permits);
    expect(widths).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
    expect(report(arena)).toMatchObject({ waiting: 500, threads: [{ waiting: 500 }] });
    semaphore.dispose();
    await Promise.allSettled(waits);
  });

  it('of 10,000 objects and 100,000 waiters misses none', async () => {
    const arena = new Arena({ waiters: 220_000, objects: 20_000 });
    const { signal } = new AbortController();
    const list = Array.from({ length: 10_000 }, () => new Semaphore(0, { arena, max: 9 }));
    const waits = list.flatMap((semaphore) => Array.from({ length: 10 }, () => semaphore.acquireAsync({ signal })));
    const { objects, waiting } = report(arena);
    expect(waiting).toBe(100_000);
    expect(objects).toHaveLength(10_000);
    expect(objects.every(({ waiters }) => waiters.length === 10)).toBe(true);
    for (const semaphore of list) semaphore.dispose();
    await Promise.allSettled(waits);
  });

  it('puts itself into words', async () => {
    const arena = new Arena();
    const mutex = Mutex.open('accounts', { arena });
    mutex.lock();
    const promise = mutex.lockAsync();
    const text = formatReport(report(arena));
    const { thread } = arena.thread;
    expect(text).toContain(`Mutex "accounts": locked, held by thread ${thread} (threadId ${threadId}), 1 waiting`);
    expect(text).toContain('by a promise, for ');
    mutex.unlock();
    await promise;
    mutex.unlock();
  });

  it('says how many of what a thread holds it does not list', () => {
    const arena = new Arena();
    const locks = Array.from({ length: 102 }, (_, i) => Mutex.open(`m${i}`, { arena }));
    for (const lock of locks) lock.lock();
    const answer = report(arena);
    const [thread] = answer.threads;
    expect(thread?.holding).toBe(102);
    expect(thread?.holds.map(({ name }) => name)).toEqual(Array.from({ length: 100 }, (_, i) => `m${i}`));
    expect(formatReport(answer)).toContain('Mutex "m98", Mutex "m99", 2 more, waits for nothing');
    for (const lock of locks) lock.unlock();
  });

  it('puts one thing and several into words', async () => {
    const arena = new Arena();
    const ready = new Event({ arena });
    const waits = ready.waitAsync();
    const words = formatReport(report(arena));
    expect(words).toMatch(/^1 thread, 1 object, 1 waiting/);
    expect(words).toContain('any thread may end a wait for an Event, so nobody');
    const latch = new Latch(1, { arena });
    expect(formatReport(report(arena))).toMatch(/^1 thread, 2 objects, 1 waiting/);
    ready.set();
    latch.countDown();
    await waits;
  });

  it('gives those who wait to send, to receive or for a newer value the name of their channel or watch', async () => {
    const arena = new Arena();
    const jobs = Channel.open('jobs', { codec: number, arena });
    const rate = Watch.open('rate', 1, { codec: number, arena });
    const waits = [jobs.receiveAsync(), rate.changedAsync()];
    const { objects, unseen, threads } = report(arena);
    expect(objects.filter(({ waiting }) => waiting > 0)).toMatchObject([
      { kind: 'ReceivingEnd', name: 'jobs', key: undefined, part: undefined },
      { kind: 'WatchingEnd', name: 'rate' },
    ]);
    expect(threads[0]?.waits).toMatchObject([{ name: 'jobs' }, { name: 'rate' }]);
    expect(unseen).toEqual([
      expect.stringMatching(/^ReceivingEnd "jobs": any thread may end a wait for a ReceivingEnd/),
      expect.stringMatching(/^WatchingEnd "rate": /),
    ]);
    jobs.send(1);
    rate.set(2);
    await Promise.all(waits);
  });

  it('says who waits for a RateLimiter, and until when, and takes none of them for a deadlock', async () => {
    const arena = new Arena();
    const limiter = RateLimiter.open('requests', 1, 60_000, { arena });
    await limiter.takeAsync();
    const promises = [limiter.takeAsync(), limiter.takeAsync()];
    const settled = Promise.allSettled(promises);
    const blocks = member().run('rates', { handle: limiter.handle, does: 'wait' });
    blocks.catch(() => {});
    await until(() => report(arena).threads.some(({ state }) => state === 'asleep'), 'the worker blocks');
    await until(() => report(arena).longestWait > 0, 'they have waited');
    const answer = report(arena);
    const [own, other] = answer.threads;
    expect(answer).toMatchObject({ waiting: 3, unseen: [], deadlocks: [], suspected: [] });
    expect(answer.objects).toMatchObject([
      {
        kind: 'RateLimiter',
        name: 'requests',
        part: undefined,
        state: '1 permit in 60000 ms',
        waiting: 3,
        waiters: [
          { thread: own?.thread, blocked: false, requests: 2, permits: 1 },
          { thread: other?.thread, blocked: true, requests: 1, permits: 1 },
        ],
      },
    ]);
    const [first, last] = answer.objects[0]?.waiters ?? [];
    expect(first?.left).toBeGreaterThan(0);
    expect(first?.left).toBeLessThanOrEqual(60_000);
    expect(last?.left).toBeGreaterThan(120_000);
    const waits = [{ kind: 'RateLimiter', name: 'requests', number: answer.objects[0]?.number }];
    expect(answer.threads).toMatchObject([
      { waits, waiting: 2 },
      { waits, waiting: 1 },
    ]);
    expect(formatReport(answer)).toMatch(
      /^RateLimiter "requests": 1 permit in 60000 ms, 3 waiting\n {2}thread .* waits for 1 \(2 times\), by a promise, for \d+ ms, until its date in \d+ ms\n {2}thread .* blocked, for \d+ ms, until its date in 1\d{5} ms$/m,
    );
    limiter.cancelAll();
    expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(blocks).rejects.toMatchObject({ name: 'CancelledError' });
    expect(report(arena)).toMatchObject({ waiting: 0, longestWait: 0 });
  });

  it('knows no date of a request that waits for the end of a call', async () => {
    const arena = new Arena();
    const limiter = new RateLimiter(1, 60_000, { arena });
    let end = (): void => {};
    const call = limiter.limit(() => new Promise<void>((done) => (end = done)), 1, { until: 'end' })();
    const behind = limiter.takeAsync();
    expect(report(arena).objects[0]?.waiters).toMatchObject([{ requests: 1, left: undefined }]);
    expect(formatReport(report(arena))).toMatch(/^RateLimiter 0: .*\n.* ms, until calls have ended that run$/m);
    end();
    await call;
    limiter.dispose();
    await expect(behind).rejects.toThrow(DisposedError);
  });

  it('names threads, and forgets the name with the thread', () => {
    const arena = new Arena();
    nameThread('Grüße an alle Fäden dieser Welt 🧵🧵🧵');
    expect(report(arena).threads[0]?.name).toBe('Grüße an alle Fäden diese');
    nameThread('');
    for (const one of [arena, new Arena()]) expect(report(one).threads[0]?.name).toBeUndefined();
  });

  it('computes where the regions lie as the core does', () => {
    for (const options of [{}, { objects: 3, threads: 5, waiters: 9, slots: 1, chains: 1 }]) {
      const arena = new Arena(options);
      const memory = arena.handle.memory as WebAssembly.Memory;
      const view = new View(memory);
      const core = instantiate(memory);
      core.open();
      // This instance is not registered: it has the record of no thread.
      expect(view.record(0) + 4).toBe(core.doorbell());
      const mutex = Mutex.open('x', { arena });
      expect(view.objectAt(0)).toBe(mutex.handle.address);
      // The element that the thread took last is its attachment to the mutex.
      const last = view.elements + (core.usedElements() - 1) * numbers.ELEMENT_SIZE;
      expect(view.objectOf(last)).toBe(mutex.handle.address);
      expect(view.load(last) & 15).toBe(numbers.ATTACHED);
    }
  });

  it('refuses what is no arena, and one that the thread has left', () => {
    const arena = new Arena();
    arena.dispose();
    for (const call of [report, deadlocks, watchDeadlocks]) {
      expect(() => call(arena)).toThrow(DisposedError);
      expect(() => call({} as Arena)).toThrow(/arena must be an Arena, got an object \(Object\)/);
    }
    expect(() => watchDeadlocks(undefined, { deadlocks: 'shout' as 'warn' })).toThrow(
      'watchDeadlocks: deadlocks must be "warn" or "throw" or "ignore", got "shout"',
    );
    expect(() => watchDeadlocks(undefined, { after: -1 })).toThrow(/after must be an integer from 0/);
    for (const name of ['deadlocks', 'after'])
      expect(() => watchDeadlocks(undefined, { [name]: null })).toThrow(`watchDeadlocks: ${name} must be`);
    expect(() => nameThread(3 as unknown as string)).toThrow('nameThread: name must be a string, got 3');
  });

  it('knows its error everywhere by its name', () => {
    const error = Object.assign(Object.create(DeadlockError.prototype), { name: 'DeadlockError' });
    expect(error instanceof DeadlockError).toBe(true);
    expect(new Error('x') instanceof DeadlockError).toBe(false);
  });
});

describe('a look at many threads that wait for the same holders', () => {
  const [HOLDERS, OTHERS] = [60, 60];
  const arena = new Arena({ objects: 4, threads: 200, waiters: 400 });
  const pool = new Semaphore(HOLDERS, { robust: true, arena });
  const memory = arena.handle.memory as WebAssembly.Memory;
  const view = new View(memory);
  const index = view.indexOf(pool.handle.address);
  const store = (address: number, value: number) => Atomics.store(view.words, address / 4, value);

  /** Writes what the core would write for a thread that has or wants one permit. Returns the address of the element. */
  const write = (thread: number, state: number): number => {
    const element = view.elements + Atomics.add(view.words, numbers.USED_ELEMENTS / 4, 1) * numbers.ELEMENT_SIZE;
    store(element + numbers.E_REQUEST, ((index & 1) << 31) | 1);
    store(element + numbers.E_REQUEST + 4, (thread << 19) | (index >>> 1));
    store(element + numbers.E_STATE, state);
    return element;
  };
  for (let i = 0; i < HOLDERS + OTHERS; i++) {
    const thread = Atomics.add(view.words, numbers.USED_THREADS / 4, 1) + 1;
    if (i < HOLDERS) store(write(thread, numbers.ATTACHED) + numbers.E_HELD, 1);
    const waits = write(thread, numbers.WAITING);
    store(waits + numbers.E_START, i);
    store(view.record(thread) + numbers.T_SLEEPS_ON, waits | 1);
    store(view.record(thread) + numbers.T_LIFE, numbers.ASLEEP);
  }

  it('makes each holder once, and walks from each thread a short way', () => {
    const look = lookAt(memory, 0, 0);
    const stuck = stuckIn(look);
    expect(stuck.size).toBe(HOLDERS + OTHERS);
    expect(new Set([...stuck.values()].flatMap(({ holders }) => holders)).size).toBe(HOLDERS);
    let steps = 0;
    const { get } = stuck;
    stuck.get = (thread) => {
      steps++;
      return get.call(stuck, thread);
    };
    const [circle, ...others] = circlesIn(stuck) as [Found];
    expect([circle.cycle.length, circle.behind.length, others]).toEqual([2, HOLDERS + OTHERS - 2, []]);
    expect(steps).toBeLessThan(10 * (HOLDERS + OTHERS));
    const [sleepers, facts] = evidenceOf(stuck, circle.cycle);
    expect(sleepers).toHaveLength(HOLDERS);
    expect(facts.length).toBeLessThan(20 * HOLDERS);
    expect(isConfirmed([view.words], sleepers, facts)).toBe(true);
    expect(deadlocks(arena).certain).toHaveLength(1);
  });
});

describe('watchDeadlocks', () => {
  const arena = new Arena();
  const words = new Int32Array(arena.handle.memory.buffer);
  const { compareExchange } = Atomics;
  afterEach(() => {
    Atomics.compareExchange = compareExchange;
  });

  it.each<[DeadlockOptions, DeadlockOptions]>([
    [{}, { deadlocks: 'throw', after: 5 }],
    [{ after: 700 }, { deadlocks: 'throw' }],
    [{ deadlocks: 'ignore' }, { after: 800 }],
  ])('with %j leaves what another thread sets at the same time: %j', (own, others) => {
    watchDeadlocks(arena, { deadlocks: 'warn', after: 1000 });
    Atomics.compareExchange = ((...given: Parameters<typeof compareExchange>) => {
      Atomics.compareExchange = compareExchange;
      watchDeadlocks(arena, others);
      return compareExchange(...given);
    }) as typeof compareExchange;
    watchDeadlocks(arena, own);
    expect(settingOf(words)).toEqual({ deadlocks: 'warn', after: 1000, ...others, ...own });
  });
});

describe('names with strange characters', () => {
  const NAMES = [
    'a\0b',
    'two\nlines',
    '"quotes" and \\',
    '\u001b[31mred',
    '\u009b31mred',
    '\u202eright',
    'ä🎉',
    '\u2028',
  ];

  it('are reported as they are, and change no other text', () => {
    const arena = new Arena();
    const list = NAMES.map((name) => Mutex.open(name, { arena }));
    for (const mutex of list) mutex.lock();
    const answer = report(arena);
    expect(answer.objects.map(({ name }) => name)).toEqual(NAMES);
    for (const text of [formatReport(answer), ...list.map(String)])
      expect(text).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u);
    expect(formatReport(answer).split('\n')).toHaveLength(2);
    expect(`${list[0]}`).toContain('Mutex("a\\u0000b", locked by');
  });
});

describe('a copy of the package', () => {
  it('looks for deadlocks in an arena that the thread has joined by another copy, which does not look', async () => {
    const other = await copy();
    const arena = new other.Arena();
    const { core } = Object.getOwnPropertySymbols(other.Arena.prototype)
      .map((symbol) => (arena as unknown as Record<symbol, { core?: { park: unknown } }>)[symbol])
      .find((value) => value?.core !== undefined) as { core: { park: unknown } };
    const { park } = core;
    const joined = Arena.from(arena.handle);
    expect(core.park).toBe(park);
    watchDeadlocks(joined);
    const watched = core.park;
    expect(watched).not.toBe(park);
    watchDeadlocks(joined);
    expect(core.park).toBe(watched);
  });
});

describe('errors', () => {
  it('look for the name of an object at one place', () => {
    const arena = new Arena();
    const list = Array.from({ length: 5000 }, (_, i) => Semaphore.open(`${i}`, 0, { arena }));
    const unnamed = new Semaphore(0, { arena });
    const loadsFor = (semaphore: Semaphore, text: string): number => {
      const { load } = Atomics;
      let loads = 0;
      Atomics.load = ((...given: Parameters<typeof load>) => {
        loads++;
        return load(...given);
      }) as typeof load;
      try {
        expect(() => semaphore.acquire({ timeout: 0 })).toThrow(text);
      } finally {
        Atomics.load = load;
      }
      return loads;
    };
    expect(loadsFor(list[4000] as Semaphore, 'of the Semaphore "4000" (0 available')).toBeLessThan(100);
    expect(loadsFor(unnamed, '1 permit of the Semaphore (0 available')).toBeLessThan(100);
  });
});

describe('texts', () => {
  it('name the object and the thread that has it', () => {
    const arena = new Arena();
    const { thread } = arena.thread;
    const mutex = Mutex.open('accounts', { arena });
    mutex.lock();
    expect(`${mutex}`).toBe(`Mutex("accounts", locked by thread ${thread} (threadId ${threadId}), 0 waiting)`);
    mutex.unlock();
    const pool = Semaphore.open('pool', 1, { arena });
    expect(`${pool}`).toBe('Semaphore("pool", 1 available, 0 waiting)');
    pool.acquire();
    expect(() => pool.acquire({ timeout: 1 })).toThrow('1 permit of the Semaphore "pool" (0 available, ');
    pool.dispose();
    expect(() => pool.acquire()).toThrow('the Semaphore "pool" has been disposed of');
  });
});
