/** select over channels and semaphores: exactly one case happens, and what was not chosen loses nothing. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext, runInThisContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { Arena, DisposedError, Mutex, Semaphore, TimeoutError } from 'taketurns';
import { MultilaneSemaphore } from 'taketurns/algorithms';
import {
  acquiring,
  Channel,
  ClosedError,
  type Codec,
  changing,
  number,
  receiving,
  select,
  selectAsync,
  sending,
  trySelect,
  Watch,
} from 'taketurns/channel';
import * as tasks from 'taketurns/tasks';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';

setFlagsFromString('--expose-gc');
const gc: () => void = runInNewContext('gc');

let arena: Arena;
beforeEach(() => {
  arena = new Arena({ objects: 32, threads: 8, waiters: 64, slots: 4 });
});
afterEach(() => arena.dispose());

const channelOf = (capacity = 2) => new Channel({ codec: number, capacity, arena });
function failure(run: () => unknown): Error {
  try {
    run();
  } catch (error) {
    return error as Error;
  }
  throw new Error('it throws nothing');
}

it('takes what can be had, in turn', () => {
  const [a, b] = [channelOf(16), channelOf(16)];
  for (let i = 0; i < 10; i++) for (const channel of [a, b]) channel.send(i);
  const taken = Array.from({ length: 20 }, () => select([receiving(a), receiving(b)]).index);
  expect(taken.filter((index) => index === 0).length).toBe(10);
  expect(taken.slice(0, 4).sort()).toEqual([0, 0, 1, 1]);
  a.sendMany([7, 8]);
  b.send(9);
  const biased = Array.from({ length: 3 }, () => select([receiving(a), receiving(b)], { biased: true }));
  expect(biased).toEqual([7, 8, 9].map((value, i) => ({ index: i < 2 ? 0 : 1, value, closed: false })));
  expect(trySelect([receiving(a), receiving(b)])).toBeUndefined();
});

it('sends, receives or acquires, whichever comes first', async () => {
  const [full, empty] = [channelOf(1), channelOf(1)];
  const pool = new Semaphore(0, { max: 1, arena });
  full.send(1);
  const cases = [sending(full, 2), receiving(empty), acquiring(pool)] as const;
  const first = selectAsync(cases);
  expect(full.receive()).toBe(1);
  expect(await first).toEqual({ index: 0, value: undefined, closed: false });
  expect([full.receive(), full.waiting, empty.waiting, pool.waiting]).toEqual([2, 0, 0, 0]);
  full.send(3);
  const second = selectAsync(cases);
  empty.send(4);
  expect(await second).toEqual({ index: 1, value: 4, closed: false });
  const third = selectAsync(cases);
  pool.release();
  expect((await third).index).toBe(2);
  expect(pool.available).toBe(0);
  expect([full.size, empty.size, full.waiting, empty.waiting]).toEqual([1, 0, 0, 0]);
});

it('passes on what was granted too late', async () => {
  const [a, b] = [channelOf(4), channelOf(4)];
  const selected = selectAsync([receiving(a), receiving(b)]);
  const others = [a.receiveAsync(), b.receiveAsync()];
  a.send(1);
  b.send(2);
  a.send(3);
  expect(await selected).toMatchObject({ index: 0, value: 1 });
  expect(await Promise.all(others)).toEqual([3, 2]);
});

it('does not receive what it sends itself', async () => {
  const [channel, told] = [channelOf(1), channelOf(1)];
  channel.send(1);
  const program = `
    const { Channel, number } = require('taketurns/channel');
    const [channel, told] = require('node:worker_threads').workerData.map((handle) => Channel.from(handle, number));
    const message = channel.take();
    told.send(1);
    while (channel.waiting < 2);
    message[Symbol.for('Symbol.dispose')]?.();
    message[Symbol.dispose]?.();
  `;
  const worker = new Worker(program, { eval: true, workerData: [channel.handle, told.handle] });
  const exited = new Promise((resolve) => worker.once('exit', resolve));
  await told.receiveAsync();
  // The channel is full and has no message, so both cases wait. The first that happens lets the other one go on.
  const both = selectAsync([sending(channel, 2), receiving(channel)]);
  await exited;
  expect(await both).toEqual({ index: 0, value: undefined, closed: false });
  expect(channel.tryReceive()).toEqual({ value: 2 });
  expect(channel.inspect()).toMatchObject({ size: 0, senders: { waiting: 0 }, receivers: { waiting: 0 } });
});

it('ends by a time-out or a signal, and holds nothing then', async () => {
  const [a, b] = [channelOf(1), channelOf(1)];
  const cases = [receiving(a), receiving(b)];
  for (const timeout of [0, 5]) {
    expect(failure(() => select(cases, { timeout }))).toBeInstanceOf(TimeoutError);
    await expect(selectAsync(cases, { timeout })).rejects.toBeInstanceOf(TimeoutError);
  }
  const control = new AbortController();
  const aborted = selectAsync(cases, { signal: control.signal });
  control.abort('enough');
  await expect(aborted).rejects.toBe('enough');
  expect(failure(() => select(cases, { signal: control.signal }))).toBe('enough');
  expect([a.waiting, b.waiting]).toEqual([0, 0]);
  a.send(1);
  expect(a.receive()).toBe(1);
});

it('leaves its queues when an exception from outside has ended its wait', async () => {
  const [channel, other] = [channelOf(), channelOf()];
  const watch = new Watch(1, { codec: number, arena });
  Object.assign(globalThis, { interrupted: () => select([receiving(channel), changing(watch)]) });
  const interrupt = (): void => expect(() => runInThisContext('interrupted()', { timeout: 500 })).toThrow(/timed out/);
  const waiting = (): number => channel.inspect().receivers.waiting + watch.inspect().watchers.waiting;
  interrupt();
  // The next select of the thread takes the requests back, and what they are granted meanwhile.
  channel.send(7);
  expect(() => select([receiving(other)], { timeout: 1 })).toThrow(TimeoutError);
  expect(waiting()).toBe(0);
  expect(channel.tryReceive()).toEqual({ value: 7 });
  interrupt();
  channel.send(8);
  await new Promise((resolve) => setImmediate(resolve));
  expect(waiting()).toBe(0);
  expect(channel.tryReceive()).toEqual({ value: 8 });
});

it('leaves the queue in which it stands already when an interrupt comes before it stands in the next', async () => {
  const program = `
    const { Channel, number, receiving, select } = require('taketurns/channel');
    const { parentPort } = require('node:worker_threads');
    const { runInThisContext } = require('node:vm');
    const [a, b] = [new Channel({ codec: number }), new Channel({ codec: number })];
    // The loop over the cases does not end when it comes to the second one.
    const iterator = Object.getPrototypeOf([][Symbol.iterator]());
    const { next } = iterator;
    globalThis.interrupted = () => {
      iterator.next = function () {
        const step = next.call(this);
        while (step.value?.[0] === 1 && step.value[1].giveBack && a.waiting === 1);
        return step;
      };
      select([receiving(a), receiving(b)]);
    };
    let message = 'nothing';
    try { runInThisContext('interrupted()', { timeout: 200 }); } catch (error) { message = error.message; }
    iterator.next = next;
    const waited = a.waiting;
    setImmediate(() => {
      const waiting = a.waiting;
      a.send(7);
      parentPort.postMessage({ message, waited, waiting, received: a.tryReceive() });
    });
  `;
  const worker = new Worker(program, { eval: true });
  const told = await new Promise((resolve) => worker.once('message', resolve));
  const message = expect.stringMatching(/timed out/);
  expect(told).toEqual({ message, waited: 1, waiting: 0, received: { value: 7 } });
  await worker.terminate();
});

it('tells that a channel is closed', async () => {
  const [a, b] = [channelOf(1), channelOf(1)];
  const selected = selectAsync([receiving(a), receiving(b)]);
  b.close();
  expect(await selected).toEqual({ index: 1, value: undefined, closed: true });
  expect(select([receiving(b)])).toEqual({ index: 0, value: undefined, closed: true });
  expect(failure(() => select([sending(b, 1)]))).toBeInstanceOf(ClosedError);
  const other = selectAsync([receiving(a)]);
  a.dispose();
  await expect(other).rejects.toBeInstanceOf(DisposedError);
  expect(failure(() => select([receiving(a)]))).toBeInstanceOf(DisposedError);
});

it.each(['receiving', 'sending', 'changing', 'acquiring'] as const)(
  '%s that waits is rejected with a DisposedError when the thread leaves the arena',
  async (which) => {
    const left = new Arena({ objects: 32, threads: 8, waiters: 64, slots: 4 });
    const [full, empty] = [1, 2].map(() => new Channel({ codec: number, capacity: 1, arena: left })) as [
      Channel<number>,
      Channel<number>,
    ];
    full.send(1);
    const cases = {
      receiving: receiving(empty),
      sending: sending(full, 2),
      changing: changing(new Watch(1, { codec: number, arena: left })),
      acquiring: acquiring(new Semaphore(0, { arena: left })),
    };
    const waits = selectAsync([cases[which]]);
    left.dispose();
    await expect(waits).rejects.toThrow(new DisposedError('the arena has been disposed of'));
  },
);

it('skips holes', async () => {
  const channel = channelOf(4);
  const selected = selectAsync([receiving(channel)]);
  channel.reserve()[Symbol.dispose]();
  channel.reserve()[Symbol.dispose]();
  channel.send(5);
  expect(await selected).toMatchObject({ value: 5 });
  channel.reserve()[Symbol.dispose]();
  expect(trySelect([receiving(channel)])).toBeUndefined();
});

/** A worker with this program, and channels `a`, `b` and `told` of numbers. Returns what waits for a word of it. */
function withWorker(program: string, [a, b]: Channel<number>[], pool?: Semaphore) {
  const told = channelOf(1);
  const start = `
    const { Channel, number } = require('taketurns/channel');
    const { Semaphore } = require('taketurns');
    const { channels, pool: handle } = require('node:worker_threads').workerData;
    const [a, b, told] = channels.map((handle) => Channel.from(handle, number));
    const pool = handle && Semaphore.from(handle);
  `;
  const channels = [a, b, told].map((channel) => channel?.handle);
  const worker = new Worker(start + program, { eval: true, workerData: { channels, pool: pool?.handle } });
  onTestFinished(async () => {
    await worker.terminate();
  });
  return {
    told: () => told.receiveAsync(),
    // The event loop does not run meanwhile, so no promise of this thread is settled.
    toldAtOnce() {
      while (!told.tryReceive());
    },
  };
}

it('stands in no queue any more when it leaves, though a hole has come just then', async () => {
  const [channel, go] = [channelOf(), channelOf()];
  const { told, toldAtOnce } = withWorker(
    `const place = a.reserve();
    told.send(1);
    b.receive();
    place[Symbol.for('Symbol.dispose')]?.();
    place[Symbol.dispose]?.();
    told.send(2);`,
    [channel, go],
  );
  await told();
  const control = new AbortController();
  const waits = selectAsync([receiving(channel)], { signal: control.signal });
  const behind = channel.receiveAsync();
  go.send(1);
  toldAtOnce();
  control.abort('enough');
  await expect(waits).rejects.toBe('enough');
  expect([channel.waiting, channel.inspect().holes]).toEqual([1, 1]);
  channel.send(7);
  expect(await behind).toBe(7);
});

it('drops a permit that came too late if the semaphore has no room for it any more', async () => {
  const [channel, go] = [channelOf(), channelOf()];
  const pool = new Semaphore(0, { max: 1, arena });
  const { toldAtOnce } = withWorker(
    'b.receive(); for (let i = 0; i < 3; i++) pool.release(); told.send(1);',
    [channel, go],
    pool,
  );
  const waits = selectAsync([receiving(channel), acquiring(pool)]);
  const behind = pool.acquireAsync();
  const other = channel.receiveAsync();
  go.send(1);
  toldAtOnce();
  channel.sendMany([1, 2]);
  expect(await waits).toMatchObject({ index: 0, value: 1 });
  expect(await other).toBe(2);
  await behind;
  expect([pool.available, pool.waiting]).toEqual([1, 0]);
});

it('acquires from a semaphore that gets another place while the cases are made', async () => {
  const pool = new Semaphore(0, { arena });
  const kept: Semaphore[] = [];
  const codec: Codec<number> = {
    name: 'attaches',
    encode(x) {
      // An idle semaphore that no other thread knows goes, and another object comes into its place.
      while (x === 1 && kept.length < 20) kept.push(Semaphore.open(`kept ${kept.length}`, 0, { arena }));
      return 0;
    },
    decode: () => 0,
  };
  const channel = new Channel({ codec, capacity: 1, arena });
  channel.send(0);
  const waits = selectAsync([acquiring(pool), sending(channel, 1)]);
  expect([pool.waiting, ...kept.map(({ waiting }) => waiting)]).toEqual([1, ...kept.map(() => 0)]);
  pool.release();
  expect(await waits).toMatchObject({ index: 0 });
});

it('refuses what is no case', () => {
  const channel = channelOf();
  for (const cases of [undefined, [], [channel], new Array(65).fill(receiving(channel)), new Array(2)])
    expect(failure(() => select(cases as never)).message).toContain('select: cases');
  for (const more of [{ timeout: 5 }, { signal: AbortSignal.abort() }])
    expect(failure(() => trySelect([receiving(channel)], more as never)).message).toContain('trySelect: options');
  expect(failure(() => select([receiving(channel)], { bias: true } as never)).message).toContain('perhaps biased');
  expect(failure(() => select([sending(channel, 'x' as never)])).message).toContain('a number');
  const robust = new Semaphore(1, { robust: true, arena });
  expect(failure(() => select([acquiring(robust)])).message).toContain('robust');
  const other = new Arena({ objects: 4, threads: 1, waiters: 8, slots: 1, chains: 1 });
  const far = new Channel({ codec: number, arena: other });
  expect(failure(() => select([receiving(channel), receiving(far)])).message).toContain('one arena');
  other.dispose();
});

it('blocks, until another thread sends or a permit comes', async () => {
  const [a, b] = [channelOf(1), channelOf(1)];
  const pool = new Semaphore(0, { arena });
  const program = `
    const { Channel, number, receiving, acquiring, select } = require('taketurns/channel');
    const { Semaphore } = require('taketurns');
    const { workerData } = require('node:worker_threads');
    const [a, b] = workerData.channels.map((handle) => Channel.from(handle, number));
    const pool = Semaphore.from(workerData.pool);
    let sum = 0;
    let permits = 0;
    while (true) {
      const { index, value, closed } = select([receiving(a), receiving(b), acquiring(pool)]);
      if (closed) break;
      if (index === 2) permits++;
      else sum += value;
    }
    process.exit(sum === 20 * 21 && permits === 20 && a.waiting + pool.waiting === 0 ? 0 : 1);
  `;
  const worker = new Worker(program, {
    eval: true,
    workerData: { channels: [a.handle, b.handle], pool: pool.handle },
  });
  const exited = new Promise((resolve) => worker.once('exit', resolve));
  for (let i = 1; i <= 20; i++) {
    await a.sendAsync(i);
    pool.release();
    await b.sendAsync(i);
    if (i % 5 === 0) await new Promise((resolve) => setTimeout(resolve, 3));
  }
  while (a.size + b.size + pool.available > 0) await new Promise((resolve) => setTimeout(resolve, 1));
  b.close();
  expect(await exited).toBe(0);
});

it('says which argument of a case is not what it must be', () => {
  const channel = channelOf();
  const watch = new Watch(1, { codec: number, arena });
  const of = (one: unknown) => () => trySelect([one as never]);
  expect(of(receiving(watch as never))).toThrow(/^receiving: channel must be a Channel, got /);
  expect(of(sending(undefined as never, 1))).toThrow(/^sending: channel must be a Channel, got undefined/);
  expect(of(changing(channel as never))).toThrow(/^changing: watch must be a Watch, got /);
  expect(of(changing(null as never))).toThrow(/^changing: watch must be a Watch, got null/);
  expect(of(changing(watch, -1))).toThrow(RangeError);
  expect(of(acquiring(7 as never))).toThrow(/^acquiring: semaphore must be a Semaphore, got 7/);
  for (const none of [
    null,
    new Mutex({ arena }),
    new tasks.Semaphore(1),
    new MultilaneSemaphore(1, { arena }),
    channel,
  ])
    expect(of(acquiring(none as never))).toThrow(/^acquiring: semaphore must be a Semaphore, got /);
  channel.send(1);
  for (const permits of [0, 1.5, 3])
    expect(() => select([receiving(channel), acquiring(new Semaphore(0, { max: 2, arena }), permits)])).toThrow(
      /^acquiring: permits must be an integer from 1 to 2, got /,
    );
  expect(of({})).toThrow(/^trySelect: cases\[0\] must be made by receiving, sending, acquiring or changing, got /);
});

it('tells what cancelAll was given', async () => {
  const quota = new Semaphore(0, { arena });
  const waits = selectAsync([receiving(channelOf()), acquiring(quota)]);
  quota.cancelAll('why');
  await expect(waits).rejects.toMatchObject({ name: 'CancelledError', cause: 'why' });
});

it('keeps nothing of a select that is over, though others wait at its cases all the time', async () => {
  const [jobs, stop] = [new Channel({ arena }), channelOf()];
  const standing = stop.receiveAsync();
  const kept: WeakRef<object>[] = [];
  for (let i = 0; i < 50; i++) {
    const next = selectAsync([receiving(jobs), receiving(stop)]);
    jobs.send(Uint8Array.of(i));
    const { value } = await next;
    kept.push(new WeakRef(value as Uint8Array));
  }
  // A WeakRef keeps its target until the next iteration of the event loop.
  await new Promise((resolve) => setTimeout(resolve));
  gc();
  expect(kept.filter((one) => one.deref() !== undefined).length).toBeLessThan(5);
  stop.send(0);
  await standing;
});
