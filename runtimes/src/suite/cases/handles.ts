/** Handles: in both directions, of every kind, of the wrong kind, and of disposed objects. */
import { Arena, Mutex, Semaphore, type SemaphoreHandle } from 'taketurns';
import { ChainSemaphore, McsLock } from 'taketurns/algorithms';
import { BinarySemaphore } from 'taketurns/p0514';
import { equal, isError, rejects, throws } from '../check.js';
import { test } from '../run.js';

test('handles: a semaphore made in a worker comes to the main thread', async ({ team }) => {
  const [one, two] = await team.members(2);
  const handle = (await one?.call<SemaphoreHandle>('handleBack', 2)) as SemaphoreHandle;
  const semaphore = Semaphore.from(handle);
  equal(await two?.call('tryAcquire', handle), true, 'in another worker');
  equal(semaphore.available, 1, 'here');
});

test('handles: of every kind', async ({ team }) => {
  const worker = await team.member();
  const made = [new Semaphore(1), new Mutex(), new ChainSemaphore(1), new McsLock(), new BinarySemaphore(1)];
  for (const { handle } of made) await worker.call('from', handle);
});

test('handles: of the wrong kind, of nothing, and of disposed objects', async ({ team }) => {
  const worker = await team.member();
  const { handle } = new Mutex();
  throws(() => Semaphore.from(handle as never), 'TypeError', 'Mutex');
  throws(() => Semaphore.from({} as never), 'TypeError', 'handle');
  const semaphore = new Semaphore(1);
  const old = semaphore.handle;
  semaphore.dispose();
  throws(() => Semaphore.from(old), 'DisposedError');
  await rejects(worker.call('from', old), 'DisposedError');
});

test('handles: another arena, and one that is full', async ({ team }) => {
  const arena = new Arena({ objects: 1, waiters: 8, threads: 2 });
  const semaphore = new Semaphore(0, { arena });
  // From now on another thread may know the semaphore, so it keeps its place while it is idle.
  const { handle } = semaphore;
  throws(() => new Semaphore(0, { arena }), 'ArenaFullError', 'objects');
  const worker = await team.member();
  const waiting = Array.from({ length: 8 }, () => semaphore.acquireAsync());
  await worker.call('release', handle, 8);
  await Promise.all(waiting);
  const [, other] = await team.members(2);
  const error = await other?.call('from', handle).catch((reason: Error) => reason);
  isError(error, 'ArenaFullError', 'threads');
});
