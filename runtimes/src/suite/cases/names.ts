/** Names: every thread that opens a name gets the same object. */
import { Mutex, Semaphore } from 'taketurns';
import { TicketLock } from 'taketurns/algorithms';
import { equal, rejects, throws } from '../check.js';
import { test } from '../run.js';

test('names: workers that open one at once get one semaphore', async ({ team }) => {
  const workers = await team.members(4);
  await Promise.all(workers.map((worker) => worker.call('openByName', 'one of four', 0)));
  equal(Semaphore.open('one of four').available, 4, 'released by four');
});

test('names: of any text, and one that is not there', async ({ team }) => {
  const name = 'größe 尺 🐌';
  const semaphore = Semaphore.open(name, 1);
  await semaphore.acquireAsync();
  const worker = await team.member();
  await worker.call('openByName', name, 1);
  equal(semaphore.available, 1, 'released by the worker');
  await rejects(worker.call('openByName', 'nothing of that name'), 'Error', 'nothing of that name exists');
});

test('names: what does not fit is refused', async () => {
  Semaphore.open('two permits', 2);
  throws(() => Semaphore.open('two permits', 3), 'RangeError', 'two permits');
  throws(() => Mutex.open('two permits'), 'TypeError', 'an object of another kind has this name');
  throws(() => Semaphore.open('', 1), 'RangeError');
  TicketLock.open('a lock');
  throws(() => Semaphore.open('a lock', 1), 'TypeError', 'an object of another kind has this name');
});
