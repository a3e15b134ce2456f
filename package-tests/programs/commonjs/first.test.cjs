/** A file of tests in CommonJS, for Jest without its modules of vm. Each file gets a copy of the library of its own. */
const assert = require('node:assert/strict');
const { once } = require('node:events');
const { Worker } = require('node:worker_threads');
const { Mutex, Semaphore, TimeoutError } = require('taketurns');
const { TicketLock } = require('taketurns/algorithms');
const { CountingSemaphore } = require('taketurns/p0514');
const { Latch } = require('taketurns/sync');

test('threads share what they open by name', async () => {
  const done = Semaphore.open('done', 0);
  const worker = new Worker("require('taketurns').Semaphore.open('done').release()", { eval: true });
  await done.acquireAsync();
  await once(worker, 'exit');
});

test('both files of a process use one mutex', () => {
  const mutex = Mutex.open('files');
  mutex.lock();
  assert.equal(mutex.held, true);
  mutex.unlock();
});

test('every entry works', () => {
  assert.throws(() => new Semaphore(0).acquire({ timeout: 5 }), TimeoutError);
  new TicketLock().lock();
  new CountingSemaphore(1).wait();
  assert.equal(new Latch(0).wait(), true);
});
