/** Semaphore: order, conservation of permits, blocking in workers, and the calls that the main thread may make. */
import { Semaphore } from 'taketurns';
import { entries, length, newBoard } from '../board.js';
import { equal, ok, rejects, sleep, throws, until } from '../check.js';
import { mayBlock } from '../globals.js';
import { test } from '../run.js';

test('semaphore: a worker blocks until it is its turn', async ({ team }) => {
  const semaphore = new Semaphore(0);
  const board = newBoard();
  const worker = await team.member();
  const done = worker.call('acquire', semaphore.handle, board, 7);
  await until('the worker waits', () => semaphore.waiting === 1);
  equal(entries(board), [], 'admitted before the release');
  semaphore.release();
  await done;
  equal(entries(board), [7], 'admitted');
  equal([semaphore.available, semaphore.waiting], [0, 0], 'left');
});

test('semaphore: workers are admitted first come, first served', async ({ team }) => {
  const semaphore = new Semaphore(0);
  const board = newBoard();
  const workers = await team.members(4);
  const done: Promise<unknown>[] = [];
  for (const [i, worker] of workers.entries()) {
    done.push(worker.call('acquire', semaphore.handle, board, i));
    await until('they queue', () => semaphore.waiting === i + 1);
  }
  for (let i = 1; i <= workers.length; i++) {
    semaphore.release();
    await until('one is admitted', () => length(board) === i);
  }
  await Promise.all(done);
  equal(entries(board), [0, 1, 2, 3], 'order');
});

test('semaphore: workers and promises stand in one line', async ({ team }) => {
  const semaphore = new Semaphore(0);
  const board = newBoard();
  const order: number[] = [];
  const workers = await team.members(3);
  const done: Promise<unknown>[] = [];
  for (const [i, worker] of workers.entries()) {
    const mine = semaphore.acquireAsync().then(() => order.push(2 * i));
    done.push(
      mine,
      worker.call('acquire', semaphore.handle, board, 0).then(() => order.push(2 * i + 1)),
    );
    await until('both queue', () => semaphore.waiting === 2 * i + 2);
  }
  for (let i = 1; i <= 6; i++) {
    semaphore.release();
    await until('one is admitted', () => order.length === i);
  }
  await Promise.all(done);
  equal(order, [0, 1, 2, 3, 4, 5], 'order');
});

test('semaphore: a heavy request gets all in its turn, and nobody overtakes it', async ({ team }) => {
  const semaphore = new Semaphore(2, { max: 3 });
  const board = newBoard();
  const [heavy, light] = await team.members(2);
  const first = heavy?.call('acquire', semaphore.handle, board, 3, 3);
  await until('the heavy one queues', () => semaphore.waiting === 1);
  equal(semaphore.tryAcquire(), false, 'tryAcquire overtakes');
  const second = light?.call('acquire', semaphore.handle, board, 1);
  await until('the light one queues', () => semaphore.waiting === 2);
  equal(entries(board), [], 'admitted too soon');
  semaphore.release();
  await first;
  equal(entries(board), [3], 'the heavy one first');
  semaphore.release();
  await second;
  equal(entries(board), [3, 1], 'order');
});

test('semaphore: permits are conserved', async ({ team }) => {
  const PERMITS = 4;
  const ROUNDS = 3000;
  const semaphore = new Semaphore(PERMITS);
  const board = new Int32Array(new SharedArrayBuffer(8));
  const done = team.together(await team.members(4), 'churn', semaphore.handle, board, ROUNDS, 3);
  for (let i = 0; i < ROUNDS / 10; i++) {
    await semaphore.acquireAsync(2);
    Atomics.add(board, 0, 2);
    ok(Atomics.load(board, 0) <= PERMITS, `${Atomics.load(board, 0)} of ${PERMITS} permits are out`);
    Atomics.sub(board, 0, 2);
    semaphore.release(2);
  }
  await done;
  ok((board[1] as number) >= 1 && (board[1] as number) <= PERMITS, `${board[1]} permits were out at once`);
  equal([semaphore.available, semaphore.waiting, semaphore.inspect().out], [PERMITS, 0, 0], 'at the end');
});

test('semaphore: the main thread blocks, or gets an error where it may not', async ({ note }) => {
  const semaphore = new Semaphore(1);
  if (mayBlock) {
    semaphore.acquire();
    throws(() => semaphore.acquire(1, { timeout: 20 }), 'TimeoutError');
    note('the main thread may block');
  } else {
    throws(() => semaphore.acquire(), 'TypeError', 'acquireAsync');
    equal(semaphore.available, 1, 'after the refusal');
    await semaphore.acquireAsync();
    note('the main thread may not block: a TypeError, and promises');
  }
  equal(semaphore.available, 0, 'available');
  semaphore.release();
  equal(semaphore.tryAcquire(), true, 'tryAcquire');
});

test('semaphore: a guard gives back once', async ({ team }) => {
  const semaphore = new Semaphore(3);
  const worker = await team.member();
  equal(await worker.call('holdTwice', semaphore.handle), [1, 3, 3], 'in a worker');
  const held = await semaphore.holdAsync(2);
  ok(held.held, 'held');
  equal(semaphore.available, 1, 'while it is held');
  // `await using` calls this method at the end of its scope. Older runtimes have neither `await using` nor the symbol.
  const name: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose');
  await held[name]();
  await held[name]();
  equal(semaphore.available, 3, 'afterwards');
});

test('semaphore: dispose ends the waits of workers and promises', async ({ team }) => {
  const semaphore = new Semaphore(0);
  const worker = await team.member();
  const blocked = worker.call('acquire', semaphore.handle, newBoard(), 1);
  await until('the worker waits', () => semaphore.waiting === 1);
  const told = [blocked, semaphore.acquireAsync()].map((promise) => rejects(promise, 'DisposedError'));
  semaphore.dispose();
  await Promise.all(told);
});

test('semaphore: bad arguments change nothing', async () => {
  throws(() => new Semaphore(-1), 'RangeError', 'permits');
  throws(() => new Semaphore('1' as never), 'TypeError', 'permits');
  const semaphore = new Semaphore(1, { max: 2 });
  throws(() => semaphore.tryAcquire(3), 'RangeError', '2');
  throws(() => semaphore.release(2), 'RangeError', 'max');
  equal(semaphore.available, 1, 'available');
});

test('semaphore: a limit runs as many calls at a time as there are permits, and workers count', async ({ team }) => {
  const semaphore = new Semaphore(3);
  const board = newBoard();
  const worker = await team.member();
  await worker.call('acquire', semaphore.handle, board, 1);
  let running = 0;
  let most = 0;
  const limited = semaphore.limit(async (n: number) => {
    most = Math.max(most, ++running);
    await sleep(1);
    running--;
    return 2 * n;
  });
  equal(await Promise.all([1, 2, 3, 4].map((n) => limited(n))), [2, 4, 6, 8], 'results');
  equal([most, semaphore.available], [2, 2], 'at a time, and at the end');
});

test('semaphore: permits are taken away, added and drained while a worker waits', async ({ team }) => {
  const semaphore = new Semaphore(2, { max: 3 });
  const board = newBoard();
  const held = semaphore.tryHold(2);
  semaphore.reduce(2);
  const worker = await team.member();
  const done = worker.call('acquire', semaphore.handle, board, 7);
  await until('the worker waits', () => semaphore.waiting === 1);
  held?.release(1);
  held?.release();
  equal([entries(board), semaphore.waiting, semaphore.drain()], [[], 1, 0], 'after the release of what was taken away');
  equal(semaphore.inspect().waiters.length, 1, 'listed');
  semaphore.add(3);
  await done;
  equal([entries(board), semaphore.drain()], [[7], 2], 'at the end');
  const { added, out, waiting } = semaphore.inspect();
  equal([added, out, waiting], [1, 3, 0], 'counted');
});
