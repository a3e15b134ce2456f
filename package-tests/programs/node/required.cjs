// Uses every entry of the package in CommonJS, and imports each, too, in the main thread and in a worker. `import` gives
// the same classes as `require`, and the thread has one state: one default arena, and one owner of a mutex.
const assert = require('node:assert/strict');
const { once } = require('node:events');
const { isMainThread, Worker } = require('node:worker_threads');
const { Arena, CancelledError, Mutex, Semaphore } = require('taketurns');
const { TwaSemaphore } = require('taketurns/algorithms');
const { metrics } = require('taketurns/metrics');
const { BinarySemaphore } = require('taketurns/p0514');
const { report } = require('taketurns/report');
require('taketurns/share');
const { Condition } = require('taketurns/sync');
const tasks = require('taketurns/tasks');

// Node may warn of a file that it should not have loaded in this way.
process.on('warning', (warning) => {
  throw warning;
});

const OTHERS = ['algorithms', 'channel', 'keyed', 'metrics', 'p0514', 'report', 'share', 'sync', 'tasks'];

async function compareAll() {
  for (const name of ['taketurns', ...OTHERS.map((other) => `taketurns/${other}`)]) {
    const required = require(name);
    const imported = await import(name);
    assert.deepEqual(Object.keys(required).sort(), Object.keys(imported).sort());
    for (const key of Object.keys(imported)) assert.equal(required[key], imported[key], `${name}: ${key}`);
  }
}

async function main() {
  await compareAll();
  await once(new Worker(__filename), 'exit').then(([code]) => assert.equal(code, 0));
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
  console.log('true');
}

if (isMainThread) main();
else compareAll();
