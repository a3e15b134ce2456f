/** P0514R1: its semaphores, and waiting for words of any shared memory. */
import { AtomicSemaphore, atomicSignal, atomicWaitAsync, BinarySemaphore, CountingSemaphore } from 'taketurns/p0514';
import { entries, length, newBoard } from '../board.js';
import { equal, isSettled, ok, until } from '../check.js';
import { test } from '../run.js';

for (const Class of [BinarySemaphore, CountingSemaphore]) {
  test(`P0514: ${Class.name}`, async ({ team }) => {
    const semaphore = new Class(0);
    const board = newBoard();
    const workers = await team.members(2);
    const done = workers.map((worker, i) => worker.call('pass', semaphore.handle, board, i));
    for (let i = 1; i <= 2; i++) {
      semaphore.signal();
      await until('one is admitted', () => length(board) === i);
    }
    await Promise.all(done);
    equal([entries(board).sort(), semaphore.tryWait()], [[0, 1], false], 'at the end');
    const later = semaphore.waitAsync();
    ok(!(await isSettled(later)), 'a promise waits');
    semaphore.signal();
    await later;
  });
}

test('P0514: words of any shared memory, in workers and as promises', async ({ team }) => {
  const words = new Int32Array(new SharedArrayBuffer(16));
  const [one, two] = await team.members(2);
  const blocked = one?.call('waitForWord', words, 0);
  const pending = two?.call('waitForWordAsync', words, 0);
  const mine = [atomicWaitAsync(words, 0, 0), atomicWaitAsync(words, 0, 0)];
  ok(!(await isSettled(mine[0] as Promise<void>)), 'a promise waits');
  Atomics.store(words, 0, 5);
  atomicSignal(words, 0);
  await Promise.all(mine);
  equal([await blocked, await pending], [5, 5], 'what they have seen');
});

test('P0514: AtomicSemaphore', async ({ team }) => {
  const semaphore = new AtomicSemaphore();
  const words = new Int32Array(new SharedArrayBuffer(16));
  const worker = await team.member();
  const blocked = worker.call('waitWith', semaphore.handle, words, 0);
  const mine = semaphore.waitAsync(words, 0, 0);
  ok(!(await isSettled(mine)), 'a promise waits');
  Atomics.store(words, 0, 6);
  semaphore.signal(words, 0);
  await mine;
  equal(await blocked, 6, 'what it has seen');
});
