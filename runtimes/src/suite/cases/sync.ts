/** taketurns/sync: workers that block and promises of this thread wait together, and deaths are noticed. */
import { Arena, Mutex } from 'taketurns';
import { Barrier, Condition, Event, Latch, Once, RwLock, WaitGroup } from 'taketurns/sync';
import { equal, isSettled, ok, until } from '../check.js';
import { test } from '../run.js';
import type { Member } from '../team.js';

const watch = ({ worker, thread }: Member): void => Arena.default.watch(worker, thread);

test('sync: a latch and an event open for workers and promises together', async ({ team }) => {
  const [latch, event] = [new Latch(2), new Event()];
  const workers = await team.members(2);
  for (const object of [latch, event]) {
    const blocked = workers.map((worker) => worker.call('waitFor', object.handle));
    const mine = object.waitAsync();
    await until('all wait', () => object.waiting === 3);
    if (object === latch) {
      latch.countDown();
      ok(!(await isSettled(mine)), 'the promise waits');
      latch.countDown();
    } else event.set();
    equal([...(await Promise.all(blocked)), await mine], [true, true, true], 'they go on');
  }
  event.reset();
  equal(await event.waitAsync({ timeout: 5 }), false, 'after reset');
});

test('sync: a barrier, round after round', async ({ team }) => {
  const barrier = new Barrier(3);
  const workers = await team.members(2);
  const rounds = workers.map((worker) => worker.call('meet', barrier.handle, 20));
  for (let round = 0; round < 20; round++) await barrier.arriveAndWaitAsync();
  await Promise.all(rounds);
  equal([barrier.broken, barrier.inspect().arrived], [false, 0], 'at the end');
});

test('sync: workers and promises wait on a condition, and one that is terminated holds up nobody', async ({ team }) => {
  const mutex = new Mutex();
  const condition = new Condition(mutex);
  const workers = await team.members(3);
  for (const worker of workers) watch(worker);
  const blocked = workers.map((worker) => worker.call('waitOn', condition.handle));
  await until('all wait', () => condition.waiting === 3);
  await mutex.lockAsync();
  const mine = condition.waitAsync();
  workers[0]?.terminate();
  await until('it is missed', () => condition.waiting === 3);
  equal([mutex.held, condition.notifyAll(), condition.waiting], [false, 3, 0], 'all are notified');
  equal([await mine, mutex.held], [true, true], 'the promise has the lock');
  mutex.unlock();
  equal(await Promise.all(blocked.slice(1)), [true, true], 'they go on');
  await mutex.lockAsync();
  equal([await condition.waitAsync({ timeout: 5 }), mutex.held], [false, true], 'nothing is kept');
  mutex.unlock();
});

test('sync: the first to run does it, and the others wait', async ({ team }) => {
  const once = new Once();
  const words = new Int32Array(new SharedArrayBuffer(4));
  const workers = await team.members(3);
  const ran = await Promise.all(workers.map((worker) => worker.call('runOnce', once.handle, words)));
  equal([ran.filter(Boolean).length, words[0], once.done], [1, 1, true], 'run once');
});

test('sync: a dead worker has done its tasks, and breaks its barrier', async ({ team }) => {
  const [group, barrier] = [new WaitGroup(), new Barrier(2)];
  const worker = await team.member();
  watch(worker);
  const round = worker.call('meet', barrier.handle, 1);
  await barrier.arriveAndWaitAsync();
  await round;
  worker.call('holdTask', group.handle);
  await until('it has a task', () => group.pending === 1);
  const [done, broken] = [group.waitAsync(), barrier.arriveAndWaitAsync().catch((error: Error) => error.name)];
  worker.terminate();
  equal(await done, true, 'its task is done');
  equal(await broken, 'BrokenBarrierError', 'its barrier is broken');
  equal(group.deaths, 1, 'deaths');
});

test('sync: workers that are terminated in their sleep swallow no wake-up of others', async ({ team }) => {
  for (let round = 0; round < 6; round++) {
    const latch = new Latch(1);
    const workers = await team.members(4);
    for (const worker of workers) watch(worker);
    const calls = workers.map((worker) => worker.call('waitFor', latch.handle));
    await until('all wait', () => latch.waiting === 4);
    // Two of the workers that sleep on one word end, before or after the word is notified.
    const end = () => workers.slice(0, 2).forEach((worker) => void worker.terminate());
    if (round % 2) end();
    latch.countDown();
    if (round % 2 === 0) end();
    equal(await Promise.all(calls.slice(2)), [true, true], 'the others go on');
    for (const worker of workers.slice(2)) worker.terminate();
  }
});

test('sync: readers read together, writers alone, in workers and in promises', async ({ team }) => {
  const lock = new RwLock();
  const words = new Int32Array(new SharedArrayBuffer(12));
  const workers = await team.members(3);
  const calls = workers.map((worker) => worker.call('readAndWrite', lock.handle, words, 100));
  for (let i = 0; i < 20; i++) {
    const held = i % 4 ? await lock.readAsync() : await lock.writeAsync();
    if (i % 4 === 0) Atomics.add(words, 0, 1);
    await null;
    if (i % 4 === 0) Atomics.add(words, 1, 1);
    equal(words[0], words[1], 'the two');
    held.unlock();
  }
  await Promise.all(calls);
  equal([...words], [305, 305, 0], 'writes, and torn reads');
  equal([lock.readers, lock.writing, lock.waiting], [0, false, 0], 'at the end');
});

test('sync: a dead reader reads no more, and of a dead writer the next are told', async ({ team }) => {
  const lock = new RwLock();
  const [reader, writer] = [await team.member(), await team.member()];
  for (const worker of [reader, writer]) watch(worker);
  reader.call('holdRead', lock.handle);
  await until('it reads', () => lock.readers === 1);
  const written = lock.writeAsync();
  await until('the writer waits', () => lock.writing);
  reader.terminate();
  (await written).unlock();
  writer.call('holdWrite', lock.handle);
  await until('it writes', () => lock.writing);
  const read = lock.readAsync();
  writer.terminate();
  const held = await read;
  equal(held.ownerDied, true, 'the reader is told');
  held.unlock();
  (await lock.writeAsync()).unlock();
  equal(lock.read().ownerDied, false, 'after another has written');
});
