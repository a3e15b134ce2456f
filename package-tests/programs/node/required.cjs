// Uses every entry of the package in CommonJS, and one of them by `import` too. Prints whether `import` gives the same
// classes as `require`. In any case the thread has one state: one default arena, and one owner of a mutex.
const assert = require('node:assert/strict');
const { once } = require('node:events');
const { Worker } = require('node:worker_threads');
const { Arena, CancelledError, Mutex, Semaphore } = require('taketurns');
const { TwaSemaphore } = require('taketurns/algorithms');
const { metrics } = require('taketurns/metrics');
const { BinarySemaphore } = require('taketurns/p0514');
const { report } = require('taketurns/report');
require('taketurns/share');
const { Condition } = require('taketurns/sync');
const tasks = require('taketurns/tasks');

async function main() {
  const imported = await import('taketurns');
  assert.equal(imported.Arena.default.thread.life, Arena.default.thread.life);
  assert.equal(imported.Arena.default.handle.memory, Arena.default.handle.memory);

  const mutex = Mutex.open('required');
  const same = imported.Mutex.open('required');
  mutex.lock();
  assert.ok(same.held);
  assert.throws(() => same.lock({ timeout: 1000 }), /would wait for itself/);
  assert.equal(new Condition(same).wait({ timeout: 1 }), false);
  same.unlock();
  assert.equal(mutex.locked, false);

  const semaphore = Semaphore.open('both', 0);
  const order = [];
  const waits = [semaphore, imported.Semaphore.open('both'), semaphore].map((each, i) =>
    each.acquireAsync().then(() => order.push(i)),
  );
  const worker = new Worker("import('taketurns').then(({ Semaphore }) => Semaphore.open('both').release(3));", {
    eval: true,
  });
  await Promise.all([...waits, once(worker, 'exit')]);
  assert.deepEqual(order, [0, 1, 2]);

  const cancelled = assert.rejects(semaphore.acquireAsync(), (error) => error instanceof imported.CancelledError);
  imported.Semaphore.open('both').cancelAll();
  await cancelled;
  await assert.rejects(Promise.reject(new imported.CancelledError()), CancelledError);

  new TwaSemaphore(1).acquire();
  new BinarySemaphore(1).wait();
  assert.ok(new tasks.Semaphore(1).tryAcquire());
  assert.equal(report().threads[0].threadId, 0);
  assert.ok(metrics().length > 0);
  console.log(imported.Semaphore === Semaphore);
}

main();
