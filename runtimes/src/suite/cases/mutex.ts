/** Mutex: exclusion, its owner, cancelling. */
import { Mutex } from 'taketurns';
import { entries, length, newBoard } from '../board.js';
import { equal, ok, rejects, throws, until } from '../check.js';
import { mayBlock } from '../globals.js';
import { test } from '../run.js';
import type { Member } from '../team.js';

test('mutex: threads and tasks exclude one another', async ({ team }) => {
  const ROUNDS = 1000;
  const mutex = new Mutex();
  const words = new Int32Array(new SharedArrayBuffer(8));
  const [one, two, ...tasks] = await team.members(4);
  const done = [
    team.together([one, two] as Member[], 'lockAndCount', mutex.handle, words, ROUNDS),
    team.together(tasks, 'lockAsyncAndCount', mutex.handle, words, ROUNDS),
  ];
  for (let i = 0; i < ROUNDS; i++)
    await mutex.runExclusive(() => {
      words[0] = (words[0] as number) + 1;
    });
  await Promise.all(done);
  equal(words[0], 5 * ROUNDS, 'increments');
  equal([mutex.locked, mutex.waiting], [false, 0], 'at the end');
});

test('mutex: with bypass 0, first come, first served', async ({ team }) => {
  const mutex = new Mutex({ bypass: 0 });
  const board = newBoard();
  await mutex.lockAsync();
  const workers = await team.members(4);
  const done: Promise<unknown>[] = [];
  for (const [i, worker] of workers.entries()) {
    done.push(worker.call('lockAndLog', mutex.handle, board, i));
    await until('they queue', () => mutex.waiting === i + 1);
  }
  mutex.unlock();
  await Promise.all(done);
  equal(entries(board), [0, 1, 2, 3], 'order');
});

test('mutex: only its owner unlocks, and nobody locks twice', async ({ team }) => {
  const mutex = new Mutex();
  const worker = await team.member();
  await worker.call('lock', mutex.handle);
  throws(() => mutex.unlock(), 'Error', 'not the owner');
  equal([mutex.held, mutex.locked, mutex.tryLock()], [false, true, false], 'of the worker');
  await rejects(worker.call('lock', mutex.handle), 'SelfDeadlockError', 'would wait for itself');
  await worker.call('unlock', mutex.handle);
  ok(mutex.tryLock(), 'free');
});

test('mutex: the main thread blocks, or gets an error where it may not', async ({ team }) => {
  const mutex = new Mutex();
  const worker = await team.member();
  mutex.lock();
  mutex.unlock();
  await worker.call('lock', mutex.handle);
  if (mayBlock) throws(() => mutex.lock({ timeout: 20 }), 'TimeoutError');
  else throws(() => mutex.lock(), 'TypeError', 'lockAsync');
  const later = mutex.lockAsync();
  await worker.call('unlock', mutex.handle);
  await later;
  ok(mutex.held, 'held');
});

test('mutex: time-outs and aborts', async ({ team }) => {
  const mutex = new Mutex();
  await mutex.lockAsync();
  const [one, two] = await team.members(2);
  await rejects(one?.call('lock', mutex.handle, 30) as Promise<unknown>, 'TimeoutError');
  await rejects(mutex.lockAsync({ timeout: 30 }), 'TimeoutError');
  const abortion = new AbortController();
  const given = mutex.lockAsync({ signal: abortion.signal });
  const board = newBoard();
  const behind = two?.call('lockAndLog', mutex.handle, board, 1);
  abortion.abort(new SyntaxError('enough'));
  await rejects(given, 'SyntaxError', 'enough');
  equal(length(board), 0, 'while it is locked');
  mutex.unlock();
  await behind;
  equal(entries(board), [1], 'afterwards');
});
