/**
 * What the tasks of one thread may do, on the shared classes and on those of taketurns/tasks. A program that does only
 * this moves from one to the other by its import alone: these cases are such programs.
 */
import * as threads from 'taketurns';
import * as channels from 'taketurns/channel';
import * as keyed from 'taketurns/keyed';
import * as sync from 'taketurns/sync';
import * as tasks from 'taketurns/tasks';
import { equal, isSettled, ok, rejects, sleep, throws } from '../check.js';
import { test } from '../run.js';

/** The classes that both have, as far as both have them. */
type Classes = Pick<
  typeof tasks,
  | 'Barrier'
  | 'Channel'
  | 'Condition'
  | 'Event'
  | 'KeyedMutex'
  | 'KeyedSemaphore'
  | 'Latch'
  | 'Mutex'
  | 'Once'
  | 'RateLimiter'
  | 'RwLock'
  | 'Semaphore'
  | 'WaitGroup'
>;

/** A message of the other side is any value. Here it is a number. */
class Channel extends channels.Channel<number> {
  constructor(options: channels.ChannelOptions<number> = {}) {
    super({ ...options, codec: channels.number });
  }
}

const shared = { ...threads, ...keyed, ...sync, Channel } as unknown as Classes;

type Run = (classes: Classes) => Promise<void>;

function both(name: string, run: Run): void {
  test(`both: ${name}, threads`, () => run(shared));
  test(`both: ${name}, tasks`, () => run(tasks));
}

const inOrder = (order: readonly number[]): number[] => order.map((_, i) => i);

both('1,000 promises are fulfilled in order', async ({ Semaphore }) => {
  const semaphore = new Semaphore(0);
  const order: number[] = [];
  const promises = Array.from({ length: 1000 }, (_, i) => semaphore.acquireAsync().then(() => order.push(i)));
  equal(semaphore.waiting, 1000, 'waiting');
  for (let i = 0; i < 600; i++) semaphore.release();
  semaphore.release(400);
  await Promise.all(promises);
  equal(order, inOrder(order), 'order');
  equal([order.length, semaphore.waiting, semaphore.available], [1000, 0, 0], 'at the end');
});

both('a heavy request gets all in its turn, and nobody overtakes it', async ({ Semaphore }) => {
  const semaphore = new Semaphore(1, { max: 2 });
  const heavy = semaphore.acquireAsync(2);
  const light = semaphore.acquireAsync();
  equal(semaphore.tryAcquire(), false, 'tryAcquire overtakes');
  ok(!(await isSettled(heavy)) && !(await isSettled(light)), 'both wait');
  semaphore.release();
  await heavy;
  ok(!(await isSettled(light)), 'the light one waits');
  semaphore.release();
  await light;
});

both('permits are taken away, added and drained', async ({ Semaphore }) => {
  const semaphore = new Semaphore(2, { max: 3 });
  const held = semaphore.tryHold(2);
  semaphore.reduce(2);
  const waiting = semaphore.acquireAsync();
  held?.release(1);
  held?.release();
  equal([semaphore.waiting, semaphore.drain()], [1, 0], 'after the release of what was taken away');
  semaphore.add(3);
  await waiting;
  equal(semaphore.drain(), 2, 'at the end');
  const { added, out, waiting: left } = semaphore.inspect();
  equal([added, out, left], [1, 3, 0], 'counted');
});

both('a guard gives back once', async ({ Mutex, Semaphore }) => {
  const semaphore = new Semaphore(3);
  const held = await semaphore.holdAsync(2);
  equal([held.held, held.permits, semaphore.available], [true, 2, 1], 'while it is held');
  const name: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose');
  await held[name]();
  await held[name]();
  equal(semaphore.available, 3, 'afterwards');
  const mutex = new Mutex();
  const lock = await mutex.holdAsync();
  lock.unlock();
  equal(mutex.tryLock(), true, 'free');
  lock.unlock();
  equal(mutex.locked, true, 'of another');
});

both('runExclusive and limit', async ({ Mutex, Semaphore }) => {
  let running = 0;
  let most = 0;
  const work = async (n: number): Promise<number> => {
    most = Math.max(most, ++running);
    await sleep(1);
    running--;
    return 2 * n;
  };
  const limited = new Semaphore(2).limit(work);
  equal(await Promise.all([1, 2, 3, 4].map((n) => limited(n))), [2, 4, 6, 8], 'results');
  equal(most, 2, 'at a time');
  const mutex = new Mutex();
  await rejects(
    mutex.runExclusive(() => {
      throw new SyntaxError('it fails');
    }),
    'SyntaxError',
  );
  equal(mutex.locked, false, 'unlocked');
});

both('a time-out lets those behind move up, and a time-out of 0 is a try', async ({ Mutex, Semaphore }) => {
  const semaphore = new Semaphore(1, { max: 5 });
  const late = semaphore.acquireAsync(5, { timeout: 20 });
  const behind = semaphore.acquireAsync();
  await rejects(late, 'TimeoutError', '20 ms');
  await behind;
  await rejects(semaphore.acquireAsync(1, { timeout: 0 }), 'TimeoutError');
  equal([semaphore.available, semaphore.waiting], [0, 0], 'at the end');
  const mutex = new Mutex();
  await mutex.lockAsync({ timeout: 0 });
  await rejects(mutex.lockAsync({ timeout: 5 }), 'TimeoutError');
});

both('an abort rejects with its reason, and a signal that is aborted never queues', async ({ Semaphore }) => {
  const semaphore = new Semaphore(1, { max: 4 });
  const abortion = new AbortController();
  const { signal } = abortion;
  const given = [2, 3, 4].map((permits) => semaphore.acquireAsync(permits, { signal, timeout: 60_000 }));
  const behind = semaphore.acquireAsync();
  const told = given.map((promise) => rejects(promise, 'SyntaxError', 'enough'));
  abortion.abort(new SyntaxError('enough'));
  await Promise.all(told);
  await behind;
  await rejects(semaphore.acquireAsync({ signal }), 'SyntaxError', 'enough');
  equal([semaphore.available, semaphore.waiting], [0, 0], 'at the end');
});

both('cancelAll ends all present waits, and no later one', async ({ Mutex, Semaphore }) => {
  const [semaphore, mutex] = [new Semaphore(0), new Mutex()];
  await mutex.lockAsync();
  const waits = [semaphore.acquireAsync(), semaphore.acquireAsync(), mutex.lockAsync()];
  const told = waits.map((wait) => rejects(wait, 'CancelledError', 'cancelAll'));
  semaphore.cancelAll();
  mutex.cancelAll();
  const later = semaphore.acquireAsync();
  await Promise.all(told);
  equal([semaphore.waiting, mutex.waiting], [1, 0], 'the later one waits');
  semaphore.release();
  await later;
  const unlocked = mutex.waitForUnlockAsync();
  mutex.unlock();
  await unlocked;
  equal(mutex.locked, false, 'the mutex');
});

both('dispose ends all waits, and later calls', async ({ Mutex, Semaphore }) => {
  const [semaphore, mutex] = [new Semaphore(0), new Mutex()];
  await mutex.lockAsync();
  const told = [semaphore.acquireAsync(), mutex.lockAsync()].map((wait) => rejects(wait, 'DisposedError'));
  semaphore.dispose();
  mutex.dispose();
  await Promise.all(told);
  await rejects(semaphore.acquireAsync(), 'DisposedError');
  throws(() => mutex.tryLock(), 'DisposedError');
  semaphore.release();
  mutex.unlock();
  equal([String(semaphore), String(mutex)], ['Semaphore(disposed)', 'Mutex(disposed)'], 'shown');
});

both('bad arguments change nothing', async ({ Mutex, Semaphore }) => {
  throws(() => new Semaphore(-1), 'RangeError', 'permits');
  throws(() => new Semaphore('1' as never), 'TypeError', 'permits');
  throws(() => new Semaphore(1, { maximum: 2 } as never), 'TypeError', 'maximum');
  const semaphore = new Semaphore(1, { max: 2 });
  throws(() => semaphore.tryAcquire(3), 'RangeError', '2');
  throws(() => semaphore.release(2), 'RangeError', 'max');
  await rejects(semaphore.acquireAsync(1, { timeout: -1 }), 'RangeError', 'timeout');
  equal(semaphore.available, 1, 'available');
  throws(() => new Mutex().unlock(), 'Error', 'Mutex.unlock');
});

async function isInTurn(mutex: tasks.Mutex | threads.Mutex): Promise<void> {
  const order: number[] = [];
  let inside = 0;
  await Promise.all(
    Array.from({ length: 100 }, (_, i) =>
      mutex.runExclusive(async () => {
        equal(++inside, 1, 'inside');
        order.push(i);
        await null;
        inside--;
      }),
    ),
  );
  equal(order, inOrder(order), 'order');
  equal([order.length, mutex.locked], [100, false], 'at the end');
}

test('both: a mutex with bypass 0 is first come, first served, threads', () =>
  isInTurn(new threads.Mutex({ bypass: 0 })));
test('both: a mutex is first come, first served, tasks', () => isInTurn(new tasks.Mutex()));

both('a condition', async ({ Condition, Mutex }) => {
  const mutex = new Mutex();
  const notEmpty = new Condition(mutex);
  const items: number[] = [];
  const take = async (): Promise<number | undefined> => {
    const held = await mutex.holdAsync();
    await notEmpty.waitForAsync(() => items.length > 0);
    const item = items.shift();
    held.unlock();
    return item;
  };
  const takers = [take(), take(), take()];
  for (const item of [1, 2, 3]) {
    await mutex.lockAsync();
    items.push(item);
    notEmpty.notify();
    mutex.unlock();
  }
  equal((await Promise.all(takers)).sort(), [1, 2, 3], 'items');
  await mutex.lockAsync();
  equal([await notEmpty.waitAsync({ timeout: 5 }), mutex.locked], [false, true], 'nothing is kept');
  mutex.unlock();
});

both('a latch, an event and a wait group open for all', async ({ Event, Latch, WaitGroup }) => {
  const [latch, event, group] = [new Latch(2), new Event(), new WaitGroup()];
  group.add();
  const task = group.hold();
  for (const [object, open] of [
    [latch, () => latch.countDown(2)],
    [event, () => event.set()],
    [group, () => group.done()],
  ] as const) {
    const waits = [object.waitAsync(), object.waitAsync()];
    equal([object.waiting, await object.waitAsync({ timeout: 5 })], [2, false], 'they wait');
    open();
    task.done();
    equal(await Promise.all(waits), [true, true], 'they go on');
  }
  event.reset();
  equal([event.isSet, latch.count, group.pending], [false, 0, 0], 'at the end');
});

both('a barrier, round after round, until one gives up', async ({ Barrier }) => {
  const actions: number[] = [];
  const barrier = new Barrier(3, { action: () => void actions.push(1) });
  const party = async (): Promise<number> => {
    let sum = 0;
    for (let round = 0; round < 10; round++) sum += await barrier.arriveAndWaitAsync();
    return sum;
  };
  const sums = await Promise.all([party(), party(), party()]);
  equal([sums.reduce((a, b) => a + b), barrier.round, actions.length], [30, 10, 10], 'rounds');
  const other = rejects(barrier.arriveAndWaitAsync(), 'BrokenBarrierError');
  await rejects(barrier.arriveAndWaitAsync({ timeout: 5 }), 'TimeoutError');
  await other;
  equal(barrier.broken, true, 'broken');
});

both('the first to run does it, and the others wait', async ({ Once }) => {
  const once = new Once();
  let runs = 0;
  const calls = [1, 2, 3].map(() =>
    once.runAsync(async () => {
      await sleep(1);
      runs++;
    }),
  );
  equal([await Promise.all(calls), runs, once.done], [[true, false, false], 1, true], 'run once');
});

both('readers read together, writers alone and in order, and no reader waits for two', async ({ RwLock }) => {
  const lock = new RwLock();
  const order: string[] = [];
  const first = await lock.readAsync();
  const calls = ['write 1', 'read 1', 'write 2', 'read 2'].map(async (name) => {
    const held = await (name.startsWith('read') ? lock.readAsync() : lock.writeAsync());
    order.push(name);
    await null;
    held.unlock();
  });
  ok(lock.writing && !(await isSettled(Promise.race(calls))), 'all wait for the first writer');
  first.unlock();
  await Promise.all(calls);
  equal(order, ['write 1', 'read 1', 'read 2', 'write 2'], 'order');
  const update = await lock.updateAsync();
  const beside = lock.tryRead();
  ok(beside, 'a reader beside the update');
  const upgraded = update.upgradeAsync();
  beside?.unlock();
  const reads = (await upgraded).downgrade();
  equal([lock.writing, lock.readers], [false, 1], 'after the downgrade');
  reads.unlock();
  const stamp = lock.stamp();
  ok(lock.valid(stamp), 'nobody has written');
  (await lock.writeAsync({ timeout: 20 })).unlock();
  ok(!lock.valid(stamp), 'somebody has written');
});

both('a mutex by key', async ({ KeyedMutex }) => {
  const table = new KeyedMutex();
  const order: string[] = [];
  const work = (key: string, n: number) =>
    table.runExclusive(key, async () => {
      order.push(`${key}${n}`);
      await sleep(1);
      order.push(`${key}${n}`);
    });
  await Promise.all([work('a', 1), work('a', 2), work('b', 3)]);
  equal(
    order.filter((entry) => entry.startsWith('a')),
    ['a1', 'a1', 'a2', 'a2'],
    'order',
  );
  const held = await table.holdAllAsync(['b', 'a']);
  await rejects(table.holdAsync('a', { timeout: 5 }), 'TimeoutError', 'the key "a"');
  held.unlock();
  equal([table.size, table.waiting], [0, 0], 'what is left');
  const one = await table.holdAsync(1);
  const other = table.tryHold('1');
  ok(other && table.tryHold(1) === undefined, 'a number is no string');
  const cancelled = rejects(table.holdAsync(1), 'CancelledError');
  table.cancelAll();
  await cancelled;
  equal(table.inspect(1), { key: 1, out: 1, waiting: 0 }, 'one key');
  one.unlock();
  other?.unlock();
  throws(() => table.tryHold(1.5), 'RangeError', 'key');
  const last = await table.holdAsync('a');
  const disposed = rejects(table.holdAsync('a'), 'DisposedError');
  table.dispose();
  last.unlock();
  await disposed;
  throws(() => table.tryHold('a'), 'DisposedError');
});

both('permits by key', async ({ KeyedSemaphore }) => {
  const table = new KeyedSemaphore(2);
  const [one, two] = [table.tryHold('a'), await table.holdAsync('a')];
  ok(one && table.tryHold('a') === undefined && table.tryHold('b'), 'two of each');
  const next = table.holdAsync('a', 2);
  one?.release();
  two.release();
  equal((await next).permits, 2, 'permits');
});

both('a rate', async ({ RateLimiter }) => {
  const limiter = new RateLimiter(3, 60, { burst: 3 });
  const times: number[] = [];
  const began = performance.now();
  await Promise.all(Array.from({ length: 7 }, () => limiter.takeAsync().then(() => times.push(performance.now()))));
  // A permit is given before its promise tells so, but no permit was given before the first call. A clock of a browser
  // may be a millisecond off.
  ok(
    times.every((time, i) => time - began > 60 * Math.floor(i / 3) - 3),
    `began: ${began}, times: ${times}`,
  );
  equal([limiter.waiting, limiter.tryTake(3)], [0, false], 'at the end');
});

both('a channel hands messages out in order, and senders wait while it is full', async ({ Channel }) => {
  const channel = new Channel<number>({ capacity: 4 });
  const sends = Array.from({ length: 100 }, (_, i) => channel.sendAsync(i));
  equal([channel.size, channel.waiting, channel.trySend(100)], [4, 96, false], 'full');
  const received: number[] = [];
  const loop = (async () => {
    for await (const message of channel) received.push(message);
  })();
  await Promise.all(sends);
  channel.close();
  await loop;
  equal(received, inOrder(received), 'order');
  equal([received.length, channel.size, channel.closed], [100, 0, true], 'at the end');
  channel.dispose();
});

both('whoever gives up at a channel loses no message', async ({ Channel }) => {
  const channel = new Channel<number>({ capacity: 1 });
  await rejects(channel.receiveAsync({ timeout: 1 }), 'TimeoutError');
  await channel.sendAsync(1);
  await rejects(channel.sendAsync(2, { timeout: 1 }), 'TimeoutError');
  const abort = new AbortController();
  const late = channel.sendAsync(3, { signal: abort.signal });
  const next = channel.sendAsync(4);
  abort.abort();
  await rejects(late, 'AbortError');
  equal([await channel.receiveAsync(), await channel.receiveAsync()], [1, 4], 'received');
  await next;
  channel.close();
  await rejects(channel.receiveAsync(), 'ClosedError');
  throws(() => channel.trySend(5), 'ClosedError');
  channel.dispose();
});
