/** Time-outs and abort signals: a cancelled request holds nothing, and those behind it move up. */
import { Mutex, Semaphore } from 'taketurns';
import { entries, newBoard } from '../board.js';
import { equal, rejects, until } from '../check.js';
import { test } from '../run.js';

test("cancelling: a worker's time-out lets those behind move up", async ({ team }) => {
  const semaphore = new Semaphore(1, { max: 5 });
  const board = newBoard();
  const [heavy, light] = await team.members(2);
  const late = heavy?.call('acquire', semaphore.handle, board, 9, 5, 300) as Promise<unknown>;
  await until('the heavy one queues', () => semaphore.waiting === 1);
  const behind = light?.call('acquire', semaphore.handle, board, 1);
  await rejects(late, 'TimeoutError', '300 ms');
  await behind;
  equal(entries(board), [1], 'admitted');
  const { out, timeouts, waiting } = semaphore.inspect();
  equal([out, timeouts, waiting], [1, 1, 0], 'counted');
});

test("cancelling: a promise's time-out lets those behind move up", async () => {
  const semaphore = new Semaphore(1, { max: 5 });
  const late = semaphore.acquireAsync(5, { timeout: 50 });
  const behind = semaphore.acquireAsync();
  await rejects(late, 'TimeoutError', '50 ms');
  await behind;
  equal([semaphore.available, semaphore.waiting], [0, 0], 'at the end');
});

test('cancelling: a time-out of 0 is a try', async ({ team }) => {
  const semaphore = new Semaphore(1);
  await semaphore.acquireAsync(1, { timeout: 0 });
  await rejects(semaphore.acquireAsync(1, { timeout: 0 }), 'TimeoutError');
  const worker = await team.member();
  await rejects(worker.call('acquire', semaphore.handle, newBoard(), 1, 1, 0), 'TimeoutError');
  equal([semaphore.available, semaphore.waiting], [0, 0], 'at the end');
});

test('cancelling: an abort rejects with its reason, and those behind move up', async ({ team }) => {
  const semaphore = new Semaphore(1, { max: 4 });
  const abortion = new AbortController();
  const { signal } = abortion;
  const given = [2, 3, 4].map((permits) => semaphore.acquireAsync(permits, { signal, timeout: 60_000 }));
  const board = newBoard();
  const worker = await team.member();
  const behind = worker.call('acquire', semaphore.handle, board, 1);
  await until('all queue', () => semaphore.waiting === 4);
  const told = given.map((promise) => rejects(promise, 'SyntaxError', 'enough'));
  abortion.abort(new SyntaxError('enough'));
  await Promise.all(told);
  await behind;
  equal([semaphore.available, semaphore.waiting], [0, 0], 'at the end');
});

test('cancelling: a signal that is aborted already never queues', async ({ team }) => {
  const semaphore = new Semaphore(1);
  await rejects(semaphore.acquireAsync(1, { signal: AbortSignal.abort(new SyntaxError('x')) }), 'SyntaxError');
  const worker = await team.member();
  await rejects(worker.call('acquireAborted', semaphore.handle), 'Error', 'enough');
  equal([semaphore.available, semaphore.waiting], [1, 0], 'at the end');
});

test('cancelling: AbortSignal.timeout and AbortSignal.any', async () => {
  const semaphore = new Semaphore(0);
  await rejects(semaphore.acquireAsync(1, { signal: AbortSignal.timeout(30) }), 'TimeoutError');
  const abortion = new AbortController();
  const signal = AbortSignal.any([abortion.signal, AbortSignal.timeout(60_000)]);
  const given = semaphore.acquireAsync(1, { signal });
  abortion.abort(new SyntaxError('enough'));
  await rejects(given, 'SyntaxError', 'enough');
  equal(semaphore.waiting, 0, 'waiting');
});

test('cancelling: cancelAll ends all present waits, of workers and of promises, and no later one', async ({ team }) => {
  const [semaphore, mutex] = [new Semaphore(0), new Mutex()];
  const workers = await team.members(3);
  const waits = [
    workers[0]?.call('acquire', semaphore.handle, newBoard(), 1),
    workers[1]?.call('acquireAsync', semaphore.handle, newBoard(), 1),
    semaphore.acquireAsync(),
  ];
  const told = waits.map((wait) => rejects(wait as Promise<unknown>, 'CancelledError', 'cancelAll'));
  await until('all wait', () => semaphore.waiting === 3);
  semaphore.cancelAll();
  const later = semaphore.acquireAsync();
  await Promise.all(told);
  equal(semaphore.waiting, 1, 'the later one waits');
  semaphore.release();
  await later;
  equal(semaphore.available, 0, 'at the end');
  await mutex.lockAsync();
  const locks = [workers[2]?.call('lockOnce', mutex.handle), mutex.lockAsync()];
  const toldLocks = locks.map((lock) => rejects(lock as Promise<unknown>, 'CancelledError', 'cancelAll'));
  await until('both wait', () => mutex.waiting === 2);
  mutex.cancelAll();
  await Promise.all(toldLocks);
  const unlocked = mutex.waitForUnlockAsync();
  mutex.unlock();
  await unlocked;
  equal([mutex.locked, mutex.waiting], [false, 0], 'the mutex');
});
