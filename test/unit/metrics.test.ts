/** Metrics: what threads count when they wait (test/programs/waits.mjs), and what an arena says of itself. */
import { Arena, ArenaFullError, Mutex, Semaphore } from 'taketurns';
import { acquiring, Channel, number, receiving, selectAsync, Watch } from 'taketurns/channel';
import { KeyedMutex, KeyedRateLimiter, RateLimiter } from 'taketurns/keyed';
import { type Histogram, type Metric, metrics, publishEvents, startMetrics } from 'taketurns/metrics';
import { report } from 'taketurns/report';
import { Latch } from 'taketurns/sync';
import { describe, expect, it, vi } from 'vitest';
import { View } from '../../src/look/view.js';
import { objectText } from '../../src/report/refs.js';
import { counter } from '../../src/report/series.js';
import { copy } from '../support/copies.js';
import { failure } from '../support/failure.js';
import { runProgram } from '../support/program.js';
import { until } from '../support/until.js';

interface Said {
  readonly points: Readonly<Record<string, Histogram & { readonly failures: number }>>;
  readonly heard: readonly unknown[];
}

async function run(how: string): Promise<Said> {
  const { code, out, err } = await runProgram('waits', [how]);
  if (code !== 0) throw new Error(`it ended with ${code}: ${err}`);
  return JSON.parse(out) as Said;
}

/** Returns how many waits, and how many failures, each series has. */
const countsIn = ({ points }: Said) =>
  Object.fromEntries(Object.entries(points).map(([of, { count, failures }]) => [of, [count, failures]]));

const byName = (all: readonly Metric[], name: string): Metric => all.find((one) => one.name === name) as Metric;

describe('a thread that waits', () => {
  it('counts each wait once, though the wait for a mutex has two parts', async () => {
    const said = await run('blocked');
    expect(countsIn(said)).toEqual({ 'Mutex accounts': [1, 0], 'Semaphore pool': [1, 0] });
    const { sum, counts, bounds } = said.points['Mutex accounts'] as Histogram;
    // The main thread holds the mutex for 20 ms and more.
    expect(sum).toBeGreaterThan(0.015);
    expect(counts).toHaveLength(bounds.length + 1);
    expect(counts.reduce((total, count) => total + count, 0)).toBe(1);
    const bucket = counts.indexOf(1);
    expect(sum).toBeLessThanOrEqual(bounds[bucket] ?? Number.POSITIVE_INFINITY);
    expect(sum).toBeGreaterThan(bounds[bucket - 1] ?? 0);
  });

  it('counts as a failure what ends by a time-out', async () => {
    expect(countsIn(await run('timeout'))).toEqual({
      'Mutex accounts': [1, 1],
      'Semaphore pool': [1, 1],
      'Latch latch': [1, 1],
      'Barrier rounds': [1, 1],
      'RwLock config': [1, 1],
    });
  });

  it('counts as a failure what ends by dispose', async () => {
    expect(countsIn(await run('closed'))).toEqual({ 'Semaphore pool': [1, 1] });
  });

  it('counts as a failure what ends by a deadlock', async () => {
    const said = await run('deadlock');
    expect(said.heard).toEqual(['DeadlockError']);
    expect(countsIn(said)).toEqual({ 'Mutex audit': [1, 1] });
  });

  it('counts its promises', async () => {
    expect(countsIn(await run('promises'))).toEqual({
      'Mutex accounts': [2, 1],
      'Semaphore pool': [2, 1],
      Event: [4, 1],
    });
  });

  it('counts waits for phases and for readers and writers', async () => {
    expect(countsIn(await run('phases'))).toEqual({ 'Latch latch': [1, 0], 'RwLock config': [1, 0] });
  });

  it('counts a wait on a condition, apart from the wait for its mutex', async () => {
    expect(countsIn(await run('condition'))['Condition changed']).toEqual([1, 0]);
  });

  it('that was there before metrics began counts from its second sleep on', async () => {
    expect(countsIn(await run('late'))).toEqual({ 'Semaphore pool': [1, 0] });
  });

  it('counts nothing if nobody has begun metrics', async () => {
    expect(await run('off')).toMatchObject({ points: {}, heard: [] });
  });
});

describe('events', () => {
  it('are published when the running code has ended, so that a subscriber may use the library', async () => {
    const { heard } = await run('events');
    expect(heard).toEqual([
      'the call has ended',
      ['gave-up', expect.objectContaining({ kind: 'Semaphore', name: 'pool', blocked: true, requests: 1, thread: 1 })],
      'thrown by a subscriber',
    ]);
  });

  it('tell of a death', async () => {
    const { heard } = await run('deaths');
    expect(heard).toEqual([true, expect.objectContaining({ kind: 'Mutex', name: 'audit', deaths: 1 })]);
  });

  it('tell of a deadlock of other threads', async () => {
    const { heard } = await run('told deadlock');
    expect(heard).toHaveLength(1);
    expect([...(heard[0] as string[][])].sort()).toEqual([
      ['one', 'other'],
      ['other', 'one'],
    ]);
  });

  it('are published by each copy of the package in a thread', async () => {
    const other = await copy();
    const arena = new Arena({ objects: 4, threads: 1 });
    other.startMetrics(other.Arena.from(arena.handle));
    const heard: string[] = [];
    const channel = (name: string) => ({ hasSubscribers: true, publish: () => heard.push(name) });
    publishEvents({ channel }, arena);
    other.publishEvents({ channel: (name) => channel(`other ${name}`) }, other.Arena.from(arena.handle));
    expect((await failure(() => new Semaphore(0, { arena }).acquireAsync({ timeout: 1 }))).name).toBe('TimeoutError');
    await until(() => heard.length >= 2, 'both copies have published');
    expect(heard.sort()).toEqual(['other taketurns:gave-up', 'taketurns:gave-up']);
    const { points } = byName(metrics(arena), 'taketurns.wait.failures');
    expect(points.map(({ value }) => value)).toEqual([1]);
    arena.dispose();
  });

  it('begin again in an arena to which the thread has attached again', async () => {
    const arena = new Arena({ objects: 4, threads: 2 });
    const { handle } = arena;
    const heard: string[] = [];
    const channel = (name: string) => ({ hasSubscribers: true, publish: () => heard.push(name) });
    publishEvents({ channel }, arena);
    arena.dispose();
    const again = Arena.from(handle);
    publishEvents({ channel: (name) => channel(`again ${name}`) }, again);
    publishEvents({ channel: (name) => channel(`twice ${name}`) }, again);
    const late = () => failure(() => new Semaphore(0, { arena: again }).acquireAsync({ timeout: 1 }));
    await late();
    await until(() => heard.length > 0, 'an event is published');
    // The first timer, which finds that the thread has left, fires before this one does.
    await new Promise((later) => setTimeout(later, 1100));
    await late();
    await until(() => heard.length > 1, 'another one is published');
    expect(heard).toEqual(['again taketurns:gave-up', 'again taketurns:gave-up']);
    again.dispose();
  });

  it('need few words of each object of the arena', () => {
    const arena = new Arena({ objects: 2000, threads: 1 });
    const objects = Array.from({ length: 1000 }, (_, i) => Semaphore.open(`pool ${i}`, 1, { arena }));
    const load = vi.spyOn(Atomics, 'load');
    try {
      publishEvents({ channel: () => ({ hasSubscribers: false, publish() {} }) }, arena);
      expect(load.mock.calls.length).toBeGreaterThan(0);
      expect(load.mock.calls.length).toBeLessThan(5 * objects.length);
    } finally {
      load.mockRestore();
      arena.dispose();
    }
  });

  it('of a channel that throws disturb no call that waits', async () => {
    const thrown = 'thrown by the channel';
    expect((await run('throwing channel')).heard).toEqual(['TimeoutError', 'the call has ended', thrown, thrown]);
  });

  it('need channels', async () => {
    for (const channels of [undefined, null, {}, { channel: 5 }]) {
      const error = await failure(() => publishEvents(channels as never));
      expect(error).toBeInstanceOf(TypeError);
      expect(error.message).toMatch(/^publishEvents: channels must be the module node:diagnostics_channel, got /);
    }
  });
});

describe('the metrics of an arena', () => {
  it('say what a report says, by kind and name', async () => {
    const arena = new Arena({ objects: 64, threads: 4 });
    const pool = Semaphore.open('pool', 3, { arena });
    const others = [new Semaphore(1, { arena }), new Semaphore(1, { arena }), new Mutex({ arena })];
    pool.acquire(3);
    const waits = [pool.acquireAsync(), pool.acquireAsync()];
    await null;
    const all = metrics(arena);
    const values = (name: string) =>
      Object.fromEntries(
        byName(all, name).points.map(({ attributes, value }) => [Object.values(attributes).join(' '), value]),
      );
    expect(values('taketurns.wait.pending')).toEqual({ 'Semaphore pool': 2, Semaphore: 0, Mutex: 0 });
    expect(values('taketurns.permit.count')).toEqual({
      'Semaphore pool used': 3,
      'Semaphore pool idle': 0,
      'Semaphore used': 0,
      'Semaphore idle': 2,
    });
    expect(values('taketurns.thread.count')).toEqual({ awake: 1, asleep: 0, dead: 0 });
    expect(values('taketurns.arena.usage')).toMatchObject({ threads: 1, objects: 4 });
    expect(values('taketurns.arena.limit')).toMatchObject({ threads: 4, objects: 64 });
    expect(values('taketurns.deadlock.count')).toEqual({ '': 0 });
    expect(byName(all, 'taketurns.wait.duration').points).toEqual([]);
    pool.release(3);
    await Promise.all(waits);
    expect(others).toHaveLength(3);
  });

  it('can be cloned, and each has a name, a unit, a type and a sentence', () => {
    const all = metrics(new Arena({ objects: 1, threads: 1 }));
    expect(structuredClone(all)).toEqual(all);
    for (const { name, unit, type, description } of all) {
      expect(name).toMatch(/^taketurns(\.[a-z]+)+$/);
      expect(unit).toMatch(/^(s|By|1|\{\w+\})$/);
      expect(['counter', 'updowncounter', 'gauge', 'histogram']).toContain(type);
      expect(description).toMatch(/^[A-Z].*\.$/);
    }
  });

  it('have room for 511 names, and count the others together', async () => {
    const arena = new Arena({ objects: 2048, threads: 1 });
    startMetrics(arena);
    const view = new View(arena.handle.memory as WebAssembly.Memory);
    const count = counter(view);
    const objects = Array.from({ length: 2000 }, (_, i) => Semaphore.open(`pool ${i}`, 0, { arena }));
    objects.forEach((_, i) => {
      count(view.objectAt(i), 0.002 * (i + 1), 1, i % 2 === 0);
      count(view.objectAt(i), 100, 1, false);
    });
    const all = metrics(arena);
    const { points } = byName(all, 'taketurns.wait.duration');
    const overflow = points.find(({ attributes }) => attributes['otel.metric.overflow']);
    const counted = points.reduce((sum, { value }) => sum + (value as Histogram).count, 0);
    expect(counted).toBe(4000);
    expect(points.length).toBeGreaterThan(400);
    expect(points.length).toBeLessThanOrEqual(512);
    expect(overflow?.value).toMatchObject({ count: 2 * (2000 - (points.length - 1)) });
    const total = points.reduce((sum, { value }) => sum + (value as Histogram).sum, 0);
    expect(total).toBeCloseTo(0.002 * ((2000 * 2001) / 2) + 200_000, 3);
    const failures = byName(all, 'taketurns.wait.failures').points.reduce((sum, { value }) => sum + Number(value), 0);
    expect(failures).toBe(1000);
    expect(metrics(arena)).toEqual(all);
  });

  it('count the keys of a table under the name of the table', async () => {
    const arena = new Arena({ objects: 2048, threads: 2 });
    startMetrics(arena);
    const table = KeyedMutex.open('accounts', { arena });
    const keys = Array.from({ length: 600 }, (_, i) => (i % 2 === 0 ? i : `${'long'.repeat(50)}${i}`));
    const held = await Promise.all(keys.map((key) => table.holdAsync(key)));
    const late = await Promise.all(keys.map((key) => failure(() => table.holdAsync(key, { timeout: 1 }))));
    expect(new Set(late.map(({ name }) => name))).toEqual(new Set(['TimeoutError']));
    const waits = keys.map((key) => table.holdAsync(key));
    const all = metrics(arena);
    const attributes = { 'taketurns.object.kind': 'KeyedMutex', 'taketurns.object.name': 'accounts' };
    const of = (name: string) => byName(all, name).points;
    expect(of('taketurns.wait.duration')).toMatchObject([{ attributes, value: { count: 600 } }]);
    expect(of('taketurns.wait.failures')).toEqual([{ attributes, value: 600 }]);
    expect(of('taketurns.wait.pending')).toEqual([{ attributes, value: 600 }]);
    expect(of('taketurns.wait.longest')).toHaveLength(1);
    expect(of('taketurns.permit.count')).toEqual([]);
    for (const one of held) one[Symbol.dispose]();
    for (const one of await Promise.all(waits)) one[Symbol.dispose]();
  });

  /** Returns how many waits, and how many failures, each kind and name has. */
  const countsOf = (arena: Arena) => {
    const all = metrics(arena);
    const failures = byName(all, 'taketurns.wait.failures').points.map(({ value }) => value);
    return Object.fromEntries(
      byName(all, 'taketurns.wait.duration').points.map(({ attributes, value }, i) => [
        Object.values(attributes).join(' '),
        [(value as Histogram).count, failures[i]],
      ]),
    );
  };

  it('count each promise for a mutex that dispose ends, also the first in line', async () => {
    const arena = new Arena({ threads: 2 });
    startMetrics(arena);
    const mutex = Mutex.open('accounts', { arena });
    mutex.lock();
    const waits = [1, 2, 3].map(() => mutex.lockAsync());
    mutex.dispose();
    await Promise.allSettled(waits);
    expect(countsOf(arena)).toEqual({ 'Mutex accounts': [3, 3] });
  });

  it('of a select count the case that happens, and no failure; if none happens, each case fails', async () => {
    const arena = new Arena({ threads: 2 });
    startMetrics(arena);
    const [jobs, urgent] = ['jobs', 'urgent'].map((name) => Channel.open(name, { codec: number, arena })) as [
      Channel<number>,
      Channel<number>,
    ];
    const quota = Semaphore.open('quota', 0, { arena });
    const cases = [receiving(jobs), receiving(urgent), acquiring(quota)] as const;
    for (const send of [() => jobs.send(1), () => urgent.send(2), () => quota.release()]) {
      const chosen = selectAsync(cases);
      send();
      await chosen;
    }
    expect(countsOf(arena)).toEqual({
      'ReceivingEnd jobs': [1, 0],
      'ReceivingEnd urgent': [1, 0],
      'Semaphore quota': [1, 0],
    });
    expect(quota.inspect().timeouts).toBe(0);
    expect(report(arena).timeouts).toBe(0);
    await failure(() => selectAsync(cases, { timeout: 1 }));
    expect(countsOf(arena)).toEqual({
      'ReceivingEnd jobs': [2, 1],
      'ReceivingEnd urgent': [2, 1],
      'Semaphore quota': [2, 1],
    });
    expect(quota.inspect().timeouts).toBe(1);
  });

  it('have for senders, receivers and watchers the name of the channel or watch', async () => {
    const arena = new Arena({ threads: 2 });
    startMetrics(arena);
    const jobs = Channel.open('jobs', { codec: number, capacity: 1, arena });
    const rate = Watch.open('rate', 1, { codec: number, arena });
    const received = jobs.receiveAsync();
    const changed = rate.changedAsync();
    jobs.send(1);
    rate.set(2);
    await Promise.all([received, changed]);
    jobs.send(1);
    const sent = jobs.sendAsync(2);
    jobs.receive();
    await sent;
    expect(countsOf(arena)).toEqual({
      'Channel jobs': [1, 0],
      'ReceivingEnd jobs': [1, 0],
      'WatchingEnd rate': [1, 0],
    });
    const pending = byName(metrics(arena), 'taketurns.wait.pending').points.map(({ attributes }) => attributes);
    expect(pending.map((attributes) => Object.values(attributes).join(' '))).toContain('ReceivingEnd jobs');
  });

  it('count each request for a rate once, and as a failure what has not got its permits', async () => {
    const arena = new Arena({ objects: 64, threads: 2 });
    startMetrics(arena);
    const limiter = RateLimiter.open('requests', 1, 200, { arena });
    const value = (name: string) => byName(metrics(arena), `taketurns.wait.${name}`).points[0]?.value;
    await limiter.takeAsync();
    const waits = [limiter.takeAsync(), limiter.limit(() => {})()];
    const late = failure(() => limiter.takeAsync({ timeout: 1 }));
    expect(value('pending')).toBe(3);
    expect((await late).name).toBe('TimeoutError');
    await Promise.all(waits);
    expect([value('duration'), value('failures'), value('pending')]).toMatchObject([{ count: 3 }, 1, 0]);
    // The thread sleeps more than once, because the promise has the turn first.
    const before = limiter.takeAsync();
    limiter.take();
    await before;
    expect([value('duration'), value('failures')]).toMatchObject([{ count: 5 }, 1]);
    expect((await failure(() => limiter.take({ timeout: 1 }))).name).toBe('TimeoutError');
    const cancelled = failure(() => limiter.takeAsync());
    limiter.cancelAll();
    expect((await cancelled).name).toBe('CancelledError');
    const all = metrics(arena);
    for (const name of ['duration', 'failures', 'pending', 'longest'])
      expect(byName(all, `taketurns.wait.${name}`).points.map(({ attributes }) => Object.values(attributes))).toEqual([
        ['RateLimiter', 'requests'],
      ]);
    expect([value('duration'), value('failures')]).toMatchObject([{ count: 7 }, 3]);
    expect(limiter.inspect().timeouts).toBe(3);
    expect(byName(all, 'taketurns.permit.count').points).toEqual([]);
    expect(report(arena).objects.map(objectText)).toEqual(['RateLimiter "requests"']);
  });

  it('count what rates have refused, and what the rates of keys have given', async () => {
    const arena = new Arena();
    const limiter = RateLimiter.open('requests', 2, 60_000, { arena, burst: 2 });
    const users = KeyedRateLimiter.open('users', 2, 60_000, { arena, burst: 2, keys: 5000 });
    expect([1, 2, 3, 4].map(() => limiter.tryTake())).toEqual([true, true, false, false]);
    // They wait, or have no time to: this is no refusal.
    expect((await failure(() => limiter.take({ timeout: 0 }))).name).toBe('TimeoutError');
    for (let i = 0; i < 100; i++) for (let j = 0; j < 3; j++) users.tryTake(`user ${i}`);
    const points = (name: string) =>
      byName(metrics(arena), `taketurns.rate.${name}`).points.map(({ attributes, value }) => [
        ...Object.values(attributes),
        value,
      ]);
    expect(points('refused')).toEqual([
      ['RateLimiter', 'requests', 2],
      ['KeyedRateLimiter', 'users', 100],
    ]);
    expect(points('taken')).toEqual([['KeyedRateLimiter', 'users', 200]]);
    expect(users.inspect()).toMatchObject({ taken: 200, refused: 100 });
  });

  it('are there with more objects of one kind than a call may have arguments', () => {
    const arena = new Arena({ objects: 2 ** 18, threads: 1 });
    const latches = Array.from({ length: 150_000 }, () => new Latch(1, { arena }));
    const { points } = byName(metrics(arena), 'taketurns.wait.longest');
    expect(points).toEqual([{ attributes: { 'taketurns.object.kind': 'Latch' }, value: 0 }]);
    expect(latches).toHaveLength(150_000);
  });

  it('outlive their objects: the numbers only grow', () => {
    const arena = new Arena({ objects: 4, threads: 1 });
    const view = new View(arena.handle.memory as WebAssembly.Memory);
    for (let i = 0; i < 3; i++) {
      const pool = Semaphore.open('pool', 0, { arena });
      counter(view)(view.objectAt(0), 1, 1, false);
      pool.dispose();
    }
    expect(byName(metrics(arena), 'taketurns.wait.duration').points).toMatchObject([{ value: { count: 3, sum: 3 } }]);
  });

  it.each([
    ['metrics', metrics],
    ['startMetrics', startMetrics],
    ['publishEvents', (arena: Arena) => publishEvents({ channel: () => ({}) as never }, arena)],
  ])('%s refuses what is no arena', async (name, call) => {
    for (const arena of [null, {}, 'arena']) {
      const error = await failure(() => call(arena as never));
      expect(error).toBeInstanceOf(TypeError);
      expect(error.message).toMatch(new RegExp(`^${name}: arena must be an Arena, got `));
    }
  });
});

it('channels that take all pages of an arena leave the metrics alone', async () => {
  const arena = new Arena({ bytes: 300_000 });
  startMetrics(arena);
  const semaphore = Semaphore.open('pool', 0, { arena });
  expect((await failure(() => semaphore.acquireAsync(1, { timeout: 1 }))).name).toBe('TimeoutError');
  const of = () => byName(metrics(arena), 'taketurns.wait.failures').points;
  const before = of();
  expect(before.map(({ value }) => value)).toEqual([1]);
  const channels: Channel[] = [];
  const filled = await failure(() => {
    for (;;) channels.push(new Channel({ capacity: 1, bytes: 4080, arena }));
  });
  expect(filled).toBeInstanceOf(ArenaFullError);
  expect(channels.length).toBeGreaterThan(60);
  const message = new Uint8Array(4080).fill(255);
  for (const channel of channels) channel.send(message);
  expect(of()).toEqual(before);
  // A matcher would go through millions of bytes one by one.
  for (const channel of channels) expect(Buffer.from(channel.receive()).equals(message)).toBe(true);
});
