/**
 * Mistakes of new users, as JavaScript lets them happen, and what the library says: what was given, what is allowed,
 * what to write instead, which object. Prints each text that is another one, and how many mistakes there are.
 */
import { Arena, Mutex, Semaphore } from 'taketurns';
import * as channel from 'taketurns/channel';
import * as keyed from 'taketurns/keyed';
import * as report from 'taketurns/report';
import * as sync from 'taketurns/sync';
import * as tasks from 'taketurns/tasks';

const MISTAKES = [
  [
    () => new Mutex('accounts'),
    'TypeError: Mutex: options must be an object, got "accounts": a name comes first in Mutex.open("accounts")',
  ],
  [
    () => new Semaphore('pool', 4),
    'TypeError: Semaphore: permits must be an integer, got "pool": a name comes first in Semaphore.open("pool", permits)',
  ],
  [
    () => new Semaphore({ permits: 4 }),
    'TypeError: Semaphore: permits must be an integer from 0 to 2147483647, got an object (Object)',
  ],
  [() => new Semaphore(4, 4), 'TypeError: Semaphore: options must be of { max, robust, arena }, got 4'],
  [
    () => new keyed.KeyedMutex('accounts'),
    'TypeError: KeyedMutex: options must be an object, got "accounts": a name comes first in KeyedMutex.open("accounts")',
  ],
  [
    () => new keyed.RateLimiter('requests', 5, 100),
    'TypeError: RateLimiter: permits must be an integer, got "requests": a name comes first in RateLimiter.open("requests", permits, per)',
  ],
  [
    () => new channel.Channel('jobs'),
    'TypeError: Channel: options must be an object, got "jobs": a name comes first in Channel.open("jobs")',
  ],
  [
    () => new sync.Latch('l', 1),
    'TypeError: Latch: count must be an integer, got "l": a name comes first in Latch.open("l", count)',
  ],
  [
    () => new sync.RwLock('config'),
    'TypeError: RwLock: options must be an object, got "config": a name comes first in RwLock.open("config")',
  ],
  [() => new tasks.KeyedMutex('x'), 'TypeError: KeyedMutex: options must be left out, got "x"'],
  [() => new tasks.Semaphore(2, { robust: true }), 'TypeError: Semaphore: options must be of { max }, got "robust"'],
  [
    () => Semaphore.open(4, 'pool'),
    'TypeError: Semaphore.open: permits must be an integer, got "pool": a name comes first in Semaphore.open("pool", permits)',
  ],
  [
    () => Semaphore.open('nothing there'),
    'Error: Semaphore.open: name "nothing there": nothing of that name exists; give permits to create it: Semaphore.open(name, permits)',
  ],
  [() => Mutex.open({ name: 'accounts' }), 'TypeError: Mutex.open: name must be a string, got an object (Object)'],
  [
    () => {
      Semaphore.open('p1', 2);
      Semaphore.open('p1', 3);
    },
    'RangeError: Semaphore.open: name "p1": it exists already with permits 2, not 3; max 2, not 3',
  ],
  [
    () => {
      keyed.RateLimiter.open('rl', 2, 5);
      keyed.RateLimiter.open('rl', 3, 5);
    },
    'RangeError: RateLimiter.open: name "rl": it exists already with permits 2, not 3',
  ],
  [
    () => Mutex.from(new Mutex()),
    'TypeError: Mutex.from: handle must be the handle of a Mutex (its .handle, not the object), got an object (Mutex)',
  ],
  [
    () => Mutex.from('accounts'),
    'TypeError: Mutex.from: handle must be the handle of a Mutex (its .handle, not the object), got "accounts": for a name, call Mutex.open("accounts")',
  ],
  [
    () => Mutex.from(JSON.parse(JSON.stringify(new Mutex().handle))),
    'TypeError: Mutex.from: the arena of the handle must be the handle of an Arena of this process, got an object (Object): its memory is missing; send a handle by postMessage or workerData, and not as JSON or to another process',
  ],
  [
    () => Mutex.from(new Semaphore(1).handle),
    'TypeError: Mutex.from: handle must be of a Mutex, but it is of a Semaphore',
  ],
  [
    () => {
      const m = new Mutex();
      m.lock(100);
    },
    'TypeError: Mutex.lock: options must be of { timeout, signal }, got 100: for a time-out write { timeout: 100 }',
  ],
  [
    () => {
      const m = new Mutex();
      m.lock({ timeout: '100' });
    },
    'TypeError: Mutex.lock: timeout must be from 0 to 2147483647 milliseconds or Infinity, got "100"',
  ],
  [
    () => {
      const m = new Mutex();
      m.lock({ ms: 5 });
    },
    'TypeError: Mutex.lock: options must be of { timeout, signal }, got "ms"',
  ],
  [
    () => {
      const m = new Mutex();
      m.lock({ signal: new AbortController() });
    },
    'TypeError: Mutex.lock: signal must be an AbortSignal, got an object (AbortController): give its .signal',
  ],
  [
    () => new Mutex().lockAsync(new AbortController().signal),
    'TypeError: Mutex.lockAsync: options must be of { timeout, signal }, got an object (AbortSignal): write { signal }',
  ],
  [
    () => new Mutex().runExclusive({ timeout: 5 }, () => 1),
    'TypeError: Mutex.runExclusive: run must be a function, got an object (Object)',
  ],
  [
    () => {
      const m = Mutex.open('um');
      m.unlock();
    },
    'Error: Mutex.unlock: this thread is not the owner of the Mutex "um", nobody is',
  ],
  [
    () => new Semaphore(1).release(),
    'RangeError: Semaphore.release: 1 more would make more than 1 (its max) available of the Semaphore; 1 are: give back as many as were taken',
  ],
  [
    () => new Semaphore(1, { robust: true }).release(),
    'RangeError: Semaphore.release: this thread holds 0 permits of the Semaphore, which is robust, got 1: the thread that takes permits gives them back',
  ],
  [
    () => {
      const m = Mutex.open('dm');
      m.dispose();
      m.lock();
    },
    'DisposedError: the Mutex "dm" has been disposed of',
  ],
  [
    async () => {
      const s = Semaphore.open('ds2', 1);
      s.acquire();
      const p = s.acquireAsync();
      s.dispose();
      await p;
    },
    'DisposedError: the Semaphore "ds2" has been disposed of',
  ],
  [
    async () => {
      const m = sync.RwLock.open('dr2');
      m.read();
      const p = m.writeAsync();
      m.dispose();
      await p;
    },
    'DisposedError: the RwLock "dr2" has been disposed of',
  ],
  [
    async () => {
      const m = keyed.KeyedMutex.open('dk2');
      m.hold('a');
      const p = m.holdAsync('a');
      p.catch(() => {});
      m.dispose();
      await p;
    },
    'DisposedError: the KeyedMutex "dk2" has been disposed of',
  ],
  [
    async () => {
      const m = sync.Latch.open('dl2', 1);
      const p = m.waitAsync();
      m.dispose();
      await p;
    },
    'DisposedError: the Latch "dl2" has been disposed of',
  ],
  [
    async () => {
      const m = channel.Channel.open('dc2');
      const p = m.receiveAsync();
      m.dispose();
      await p;
    },
    'DisposedError: the channel "dc2" has been disposed of',
  ],
  [
    () => {
      const m = Semaphore.open('ts', 1);
      m.acquire();
      m.acquire({ timeout: 1 });
    },
    'TimeoutError: timed out after 1 ms waiting for 1 permit of the Semaphore "ts" (0 available, 0 waiting)',
  ],
  [
    async () => {
      const m = sync.RwLock.open('tr');
      m.read();
      await m.writeAsync({ timeout: 1 });
    },
    'TimeoutError: timed out after 1 ms waiting for the RwLock "tr" (1 reader)',
  ],
  [
    async () => {
      const m = keyed.KeyedMutex.open('tk');
      m.hold('a');
      await m.holdAsync('a', { timeout: 1 });
    },
    'TimeoutError: timed out after 1 ms waiting for the key "a" of the KeyedMutex "tk" (0 waiting)',
  ],
  [
    async () => {
      const m = keyed.KeyedMutex.open('tk2');
      m.hold('a');
      await m.holdAllAsync(['b', 'a'], { timeout: 1 });
    },
    'TimeoutError: timed out after 1 ms waiting for the key "a" of the KeyedMutex "tk2" (0 waiting)',
  ],
  [
    async () => {
      const m = keyed.KeyedSemaphore.open('tks', 2);
      m.hold('a', 2);
      await m.holdAsync('a', 2, { timeout: 1 });
    },
    'TimeoutError: timed out after 1 ms waiting for 2 permits of the key "a" of the KeyedSemaphore "tks" (0 waiting)',
  ],
  [
    () => {
      const m = keyed.RateLimiter.open('trl', 1, 1000);
      m.take();
      m.take({ timeout: 1 });
    },
    'TimeoutError: timed out after 1 ms waiting for 1 permit of the RateLimiter "trl" (0 waiting)',
  ],
  [
    async () => {
      const m = sync.Once.open('to');
      m.runAsync(() => new Promise(() => {}));
      await m.runAsync(() => {}, { timeout: 1 });
    },
    'TimeoutError: timed out after 1 ms waiting for the thread that runs the Once "to"',
  ],
  [
    () => sync.Barrier.open('tb', 2).arriveAndWait({ timeout: 1 }),
    'TimeoutError: timed out after 1 ms waiting for the others at the Barrier "tb"',
  ],
  [
    () => channel.Channel.open('tc').receive({ timeout: 1 }),
    'TimeoutError: timed out after 1 ms waiting for a message of the channel "tc"',
  ],
  [
    async () => {
      const m = new tasks.KeyedMutex();
      const k = 'k'.repeat(1e6);
      await m.holdAsync(k);
      await m.holdAsync(k, { timeout: 1 });
    },
    `TimeoutError: timed out after 1 ms waiting for the key "${'k'.repeat(99)}"... (1000000 characters) of the KeyedMutex (0 waiting)`,
  ],
  [
    async () => {
      const m = new tasks.RwLock();
      await m.readAsync();
      await m.writeAsync({ timeout: 1 });
    },
    'TimeoutError: timed out after 1 ms waiting for the RwLock (1 reader)',
  ],
  [
    async () => {
      const k = new keyed.KeyedMutex();
      await k.runExclusive(() => 1);
    },
    'TypeError: KeyedMutex.runExclusive: key must be a string or a safe integer, got a function: the key comes first: runExclusive(key, run)',
  ],
  [
    async () => {
      const k = new tasks.KeyedMutex();
      await k.runExclusive(() => 1);
    },
    'TypeError: KeyedMutex.runExclusive: key must be a string or a safe integer, got a function: the key comes first: runExclusive(key, run)',
  ],
  [
    () => {
      const k = new keyed.KeyedMutex();
      k.hold({ id: 1 });
    },
    'TypeError: KeyedMutex.hold: key must be a string or a safe integer, got an object (Object): give what tells it from others, such as its id',
  ],
  [
    () => {
      const k = new keyed.KeyedMutex();
      k.hold(1n);
    },
    'TypeError: KeyedMutex.hold: key must be a string or a safe integer, got 1n: write String(key)',
  ],
  [
    () => {
      const k = new keyed.KeyedMutex();
      k.holdAll('a', 'b');
    },
    'TypeError: KeyedMutex.holdAll: keys must be an array, got "a": write holdAll([first, second])',
  ],
  [
    () => new keyed.RateLimiter(5, 100).take(6),
    'RangeError: RateLimiter.take: permits must be an integer from 1 to 5 (its permits), got 6',
  ],
  [
    () => new channel.Channel().send({}),
    'TypeError: the message must be a Uint8Array, got an object (Object): for other messages give another codec, such as { codec: value }',
  ],
  [
    () => new channel.Channel({ codec: 'text' }),
    'TypeError: Channel: codec must be a codec, got "text": import one from taketurns/channel, or write one',
  ],
  [
    () => new channel.Channel({ codec: channel.value }).send(() => {}),
    'TypeError: the message must be of values that travel, got a function: send a name, and let the receiver look up what it stands for',
  ],
  [
    () => new channel.Channel({ codec: channel.value }).send(new Mutex()),
    'TypeError: the message must be of plain objects and other values that travel, got an object (Mutex): send its .handle',
  ],
  [
    () => new channel.Channel({ codec: channel.text, bytes: 16 }).send('x'.repeat(100)),
    'RangeError: the message has 100 bytes, and the channel takes 48: make it with { bytes: 100 }',
  ],
  [
    () => {
      channel.Channel.open('cc', { codec: channel.text });
      channel.Channel.open('cc', { codec: channel.json });
    },
    'TypeError: Channel.open: the Channel "cc" has the codec "text", and not "json": give { codec: text }',
  ],
  [
    () => channel.Channel.from(new channel.Channel({ codec: channel.text }).handle),
    'TypeError: Channel.from: the Channel has the codec "text", and not "bytes": write Channel.from(handle, text)',
  ],
  [
    () => new channel.Channel().sender(),
    'TypeError: Channel.sender: the channel was made without senders: make it with { senders: n }',
  ],
  [
    () => channel.select(channel.receiving(new channel.Channel())),
    'TypeError: select: cases must be an array of cases, got an object (Object): write select([receiving(channel), ...])',
  ],
  [
    () => report.formatReport(),
    'TypeError: formatReport: report must be what report() returns, got undefined: write formatReport(report())',
  ],
  [
    () => report.watchDeadlocks({ deadlocks: 'throw' }),
    'TypeError: watchDeadlocks: arena must be an Arena, got an object (Object): undefined is the default arena, and options come after it',
  ],
  [
    () => new sync.Condition(new tasks.Mutex()),
    'TypeError: Condition: mutex must be a Mutex of taketurns, got an object (Mutex)',
  ],
  [
    () => {
      const m = new Mutex();
      new sync.Condition(m).wait();
    },
    'Error: Condition.wait: this thread is not the owner of the Mutex, so lock it first',
  ],
  [() => new sync.Once().run(async () => {}), 'TypeError: Once.run: fn must not return a promise: use runAsync'],
  [
    () => Mutex.open('x', { arena: new Arena().handle }),
    'TypeError: Mutex.open: arena must be an Arena, got an object (Object): write Arena.from(handle)',
  ],
  [() => new Arena({ threads: 0 }), 'RangeError: Arena: threads must be an integer from 1 to 4095, got 0'],
  [
    () => {
      const h = new Semaphore(2).hold();
      h.release();
      h.release(1);
    },
    'RangeError: HeldPermits.release: permits must be at least 1 and at most 0 (what it holds), got 1',
  ],
];

/** Returns what a mistake throws, or what its promise rejects with. */
async function said(mistake) {
  try {
    await mistake();
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
  return 'nothing';
}

for (const [mistake, text] of MISTAKES) {
  const got = await said(mistake);
  if (got !== text) console.log(`${mistake}\n  says:   ${got}\n  should: ${text}`);
}
console.log(`${MISTAKES.length} mistakes`);
process.exit();
