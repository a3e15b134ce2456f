/**
 * A worker waits for an object or holds it, and ends. At its event `exit`, before the main thread does anything else, no
 * number that the object tells may count the worker. Each case is tried with each of the four ways to end, ROUNDS times
 * each; with fewer WAYS, the next case begins with another way.
 *
 *     node test/programs/dead-not-counted.mjs [rounds [ways [word of a case]]]
 *
 * Prints the cases in which the worker was counted, and `right` if there is none.
 */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Arena, Mutex, Semaphore } from 'taketurns';
import { Channel, Watch } from 'taketurns/channel';
import { KeyedMutex, KeyedSemaphore } from 'taketurns/keyed';
import { metrics } from 'taketurns/metrics';
import { BinarySemaphore, CountingSemaphore } from 'taketurns/p0514';
import { report } from 'taketurns/report';
import { Barrier, Condition, Event, Latch, Once, RwLock, WaitGroup } from 'taketurns/sync';

/** Guards that are not to be collected. */
const held = [];

/** The number of calls that wait, wherever the object tells it. */
const waits = (object) => [object.waiting, object.inspect().waiting ?? 0, object.inspect().waiters?.length ?? 0];

/**
 * Of each case: what the main thread makes, what the worker does without blocking (`later`) and by blocking (`now`), and
 * the numbers of which each must be 0 when the worker has ended.
 */
const cases = {
  'Semaphore, waits': {
    make: () => new Semaphore(0),
    later: (s) => void s.acquireAsync(),
    now: (s) => s.acquire(),
    read: waits,
  },
  'Semaphore, holds': {
    make: () => new Semaphore(1, { robust: true }),
    later: (s) => s.tryAcquire(),
    read: (s) => [s.inspect().holders.length, s.inspect().out, 1 - s.available],
  },
  'Mutex, waits': {
    make: () => {
      const m = new Mutex();
      m.lock();
      return m;
    },
    later: (m) => void m.lockAsync(),
    now: (m) => m.lock(),
    read: waits,
  },
  'Mutex, waits behind another': {
    make: () => {
      const m = new Mutex();
      m.lock();
      m.lockAsync().catch(() => {});
      return m;
    },
    later: (m) => void m.lockAsync(),
    now: (m) => m.lock(),
    read: (m) => waits(m).map((n) => n - 1 || 0),
  },
  'Mutex, holds': {
    make: () => new Mutex(),
    later: (m) => m.tryLock(),
    read: (m) => [Number(m.locked), m.inspect().owner ?? 0],
  },
  'RwLock, waits to read': {
    make: () => {
      const l = new RwLock();
      held.push(l.write());
      return l;
    },
    later: (l) => void l.readAsync(),
    now: (l) => l.read(),
    read: waits,
  },
  'RwLock, waits to write': {
    make: () => {
      const l = new RwLock();
      held.push(l.write());
      return l;
    },
    later: (l) => void l.writeAsync(),
    now: (l) => l.write(),
    read: waits,
  },
  'RwLock, waits until readers have left': {
    make: () => {
      const l = new RwLock();
      held.push(l.read());
      return l;
    },
    later: (l) => void l.writeAsync(),
    now: (l) => l.write(),
    read: (l) => [...waits(l), Number(l.writing), l.inspect().writer ?? 0],
  },
  'RwLock, reads': {
    make: () => new RwLock(),
    later: (l) => held.push(l.read()),
    read: (l) => [l.readers, l.inspect().readers.length],
  },
  'RwLock, writes': {
    make: () => new RwLock(),
    later: (l) => held.push(l.write()),
    read: (l) => [l.inspect().writer ?? 0],
  },
  'Latch, waits': {
    make: () => new Latch(1),
    later: (l) => void l.waitAsync(),
    now: (l) => l.wait(),
    read: waits,
  },
  'Event, waits': { make: () => new Event(), later: (e) => void e.waitAsync(), now: (e) => e.wait(), read: waits },
  'WaitGroup, waits': {
    make: () => {
      const g = new WaitGroup();
      held.push(g.hold());
      return g;
    },
    later: (g) => void g.waitAsync(),
    now: (g) => g.wait(),
    read: waits,
  },
  'WaitGroup, has tasks': {
    make: () => new WaitGroup(),
    later: (g) => held.push(g.hold()),
    read: (g) => [g.inspect().holders.length],
  },
  'Barrier, waits': {
    make: () => new Barrier(2),
    later: (b) => void b.arriveAndWaitAsync(),
    now: (b) => b.arriveAndWait(),
    read: (b) => [...waits(b), b.inspect().arrived % 2, b.inspect().members.length],
  },
  'Once, waits': {
    make: () => {
      const o = new Once();
      o.runAsync(() => new Promise(() => {})).catch(() => {});
      return o;
    },
    later: (o) => void o.runAsync(() => 0),
    read: waits,
  },
  'Once, runs': {
    make: () => new Once(),
    later: (o) => void o.runAsync(() => new Promise(() => {})),
    read: (o) => [o.inspect().runner ?? 0],
  },
  'Condition, waits': {
    make: () => {
      const m = new Mutex();
      return new Condition(m);
    },
    later: (c) => {
      c.mutex.lock();
      void c.waitAsync();
    },
    now: (c) => {
      c.mutex.lock();
      c.wait();
    },
    read: waits,
  },
  'Channel, receives': {
    make: () => new Channel(),
    later: (c) => void c.receiveAsync(),
    now: (c) => c.receive(),
    read: (c) => [c.waiting, c.inspect().receivers.waiting, c.inspect().receivers.waiters.length],
  },
  'Channel, sends': {
    make: () => {
      const c = new Channel({ capacity: 2 });
      while (c.trySend(new Uint8Array(1)));
      return c;
    },
    later: (c) => void c.sendAsync(new Uint8Array(1)),
    now: (c) => c.send(new Uint8Array(1)),
    read: (c) => [c.waiting, c.inspect().senders.waiting, c.inspect().senders.waiters.length],
  },
  'Watch, waits': {
    make: () => new Watch(new Uint8Array(1)),
    later: (w) => void w.changedAsync(w.version),
    now: (w) => w.changed(w.version),
    read: (w) => [w.waiting, w.inspect().watchers.waiting, w.inspect().watchers.waiters.length],
  },
  'KeyedMutex, waits': {
    make: () => {
      const k = new KeyedMutex();
      held.push(k.hold('a'));
      return k;
    },
    later: (k) => void k.holdAsync('a'),
    now: (k) => k.hold('a'),
    read: (k) => [k.waiting, k.inspect().waiting, k.inspect('a').waiting],
  },
  'KeyedMutex, holds': {
    make: () => new KeyedMutex(),
    later: (k) => held.push(k.hold('a')),
    read: (k) => [k.size, k.inspect().size, k.inspect('a').out],
  },
  'KeyedSemaphore, holds': {
    make: () => new KeyedSemaphore(2),
    later: (k) => held.push(k.hold('a', 2)),
    read: (k) => [k.size, k.inspect('a').out],
  },
  'CountingSemaphore, waits': {
    make: () => new CountingSemaphore(0),
    later: (s) => void s.waitAsync(),
    now: (s) => s.wait(),
    read: () => [],
  },
  'Arena: threads': {
    make: () => new Semaphore(0),
    later: (s) => void s.acquireAsync(),
    now: (s) => s.acquire(),
    read: () => {
      const { threads, waiting, holders } = Arena.default.stats();
      return [threads.length - 1, waiting, holders];
    },
  },
  'report and metrics': {
    make: () => new Semaphore(0),
    later: (s) => void s.acquireAsync(),
    now: (s) => s.acquire(),
    read: () => {
      const { threads, objects } = report();
      const pending = metrics().find(({ name }) => name === 'taketurns.wait.pending');
      return [
        threads.length - 1,
        objects.reduce((sum, { waiters }) => sum + waiters.length, 0),
        ...pending.points.map(({ value }) => value),
      ];
    },
  },
};

const WAYS = ['terminated', 'process.exit', 'uncaught error', 'blocked, then terminated'];

const classes = {
  Semaphore,
  Mutex,
  RwLock,
  Latch,
  Event,
  WaitGroup,
  Barrier,
  Once,
  Condition,
  Channel,
  Watch,
  KeyedMutex,
  KeyedSemaphore,
  CountingSemaphore,
  BinarySemaphore,
};

if (isMainThread) await main();
else {
  const { handle, name, end } = workerData;
  const object = classes[handle.kind].from(handle);
  const one = cases[name];
  if (end === 'blocked, then terminated') {
    parentPort.postMessage('ready');
    one.now(object);
  } else {
    one.later(object);
    // The turn after the next one, so that all promises are where other threads find them.
    setTimeout(() => {
      parentPort.postMessage('ready');
      if (end === 'process.exit') process.exit();
      if (end === 'uncaught error') throw new Error('on purpose');
      setInterval(() => {}, 1000);
    }, 5);
  }
}

async function main() {
  const [rounds = 3, ways = WAYS.length, word = ''] = process.argv.slice(2);
  let tried = 0;
  const faults = new Map();
  for (let round = 0; round < rounds; round++)
    for (const [at, [name, { make, now, read }]] of Object.entries(cases).entries()) {
      if (!name.includes(word)) continue;
      for (const [way, end] of WAYS.entries()) {
        if ((at + way) % WAYS.length >= ways) continue;
        if (end.startsWith('blocked') && !now) continue;
        // Deno tells of the `exit` at once, and such a thread runs on for a while.
        if (end === 'terminated' && 'Deno' in globalThis) continue;
        const object = make();
        const worker = new Worker(new URL(import.meta.url), { workerData: { handle: object.handle, name, end } });
        worker.on('error', () => {});
        const ended = new Promise((ended) => worker.once('exit', () => ended(read(object))));
        // What a worker sends before it calls process.exit may be lost.
        await Promise.race([ended, new Promise((ready) => worker.once('message', ready))]);
        if (end.startsWith('blocked')) await new Promise((later) => setTimeout(later, 10));
        if (end.endsWith('terminated')) worker.terminate();
        const after = await ended;
        tried++;
        const what = `${name}; ${end}`;
        if (after.some((number) => number !== 0)) faults.set(what, [...(faults.get(what) ?? []), after.join()]);
        object.dispose();
        held.length = 0;
      }
    }
  for (const [what, numbers] of faults) console.log(`${what}: ${numbers.join(' ')}`);
  console.log(faults.size === 0 ? 'right' : `${faults.size} of ${tried}`);
  process.exit(Number(faults.size > 0));
}
