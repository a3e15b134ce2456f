/** Promises: many at once, on the main thread and in workers. */
import { Semaphore } from 'taketurns';
import { entries, newBoard } from '../board.js';
import { equal, isSettled, ok, until } from '../check.js';
import { test } from '../run.js';

test('promises: 1,000 wait, a worker releases, they are fulfilled in order', async ({ team }) => {
  const semaphore = new Semaphore(0);
  const order: number[] = [];
  const promises = Array.from({ length: 1000 }, (_, i) => semaphore.acquireAsync().then(() => order.push(i)));
  equal(semaphore.waiting, 1000, 'waiting');
  const worker = await team.member();
  await worker.call('release', semaphore.handle, 1, 400);
  await worker.call('release', semaphore.handle, 600);
  await Promise.all(promises);
  equal(
    order,
    order.map((_, i) => i),
    'order',
  );
  equal([order.length, semaphore.waiting, semaphore.available], [1000, 0, 0], 'at the end');
});

test('promises: 1,000 wait, the thread itself releases', async () => {
  const semaphore = new Semaphore(0);
  const order: number[] = [];
  const promises = Array.from({ length: 1000 }, (_, i) => semaphore.acquireAsync().then(() => order.push(i)));
  for (let i = 0; i < 1000; i++) semaphore.release();
  await Promise.all(promises);
  equal(
    order,
    order.map((_, i) => i),
    'order',
  );
});

test('promises: two requests of different width, each in its turn', async ({ team }) => {
  const semaphore = new Semaphore(0);
  const heavy = semaphore.acquireAsync(2);
  const light = semaphore.acquireAsync();
  const worker = await team.member();
  await worker.call('release', semaphore.handle, 1);
  ok(!(await isSettled(heavy)) && !(await isSettled(light)), 'both wait');
  await worker.call('release', semaphore.handle, 1);
  await heavy;
  ok(!(await isSettled(light)), 'the light one waits');
  await worker.call('release', semaphore.handle, 1);
  await light;
});

test('promises: on several semaphores at once', async ({ team }) => {
  const semaphores = Array.from({ length: 20 }, () => new Semaphore(0));
  const promises = semaphores.map((semaphore) => semaphore.acquireAsync());
  const worker = await team.member();
  for (const semaphore of [...semaphores].reverse()) await worker.call('release', semaphore.handle, 1);
  await Promise.all(promises);
});

test('promises: in workers', async ({ team }) => {
  const semaphore = new Semaphore(0);
  const board = newBoard();
  const workers = await team.members(2);
  const done: Promise<unknown>[] = [];
  for (let i = 0; i < 10; i++) {
    done.push(workers[i % 2]?.call('acquireAsync', semaphore.handle, board, i) as Promise<unknown>);
    await until('it waits', () => semaphore.waiting === i + 1);
  }
  for (let i = 1; i <= 10; i++) {
    semaphore.release();
    await until('one is told', () => board[0] === i);
  }
  await Promise.all(done);
  equal(entries(board), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 'order');
});
