/**
 * Runs the life of an object of every class, with objects that the user has treated in a way of their own:
 *
 *     frozen      every object and every guard is frozen
 *     extended    the class is extended by a class that uses every name of its base for something else: each getter and
 *                 each method throws. The program calls the methods of the base. Guards have such names, too
 *
 * Half of the objects are disposed of, and the others live when the process ends. Prints what has failed. The arguments
 * are the mode and the entries.
 */
const [mode, ...entries] = process.argv.slice(2);
const isFrozen = mode === 'frozen';

/** `using` calls `dispose`, and the console calls `toString`. Callbacks (`onOwnerDied`) are for users to set. */
const KEPT = /^(constructor|dispose|toString|on[A-Z].*)$/;
const mine = (name) => {
  throw new Error(`the library asks the user's own ${name}`);
};

function namesOf(object) {
  const names = new Map();
  for (let of = object; of !== Object.prototype; of = Object.getPrototypeOf(of)) {
    for (const name of Object.getOwnPropertyNames(of)) {
      if (!KEPT.test(name) && !names.has(name)) names.set(name, Object.getOwnPropertyDescriptor(of, name));
    }
  }
  return names;
}

function own({ value }, name) {
  if (typeof value === 'function') return { configurable: true, value: () => mine(name) };
  return { configurable: true, get: () => mine(name) };
}

/** For each object of the user, what calls the methods of the base class. And for each of these, the object. */
const bases = new WeakMap();
const raw = (base) => bases.get(base) ?? base;

/** Returns what calls the methods of an object as its class has made them. */
function baseOf(object, names) {
  const base = new Proxy(
    {},
    {
      get(_, name) {
        const { get, value } = names.get(name) ?? { value: object[name] };
        if (get) return get.call(object);
        return typeof value === 'function' ? value.bind(object) : value;
      },
      set: (_, name, value) => Reflect.set(object, name, value),
    },
  );
  bases.set(base, object);
  return base;
}

/** Treats an object that the library has made, such as a guard. */
function keep(object) {
  if (typeof object !== 'object' || object === null) return object;
  if (isFrozen) return Object.freeze(object);
  const names = namesOf(object);
  for (const [name, as] of names) Object.defineProperty(object, name, own(as, name));
  return baseOf(object, names);
}

/** Makes an object of a class, and treats it. */
function make(Class, ...args) {
  const given = args.map(raw);
  if (isFrozen) return Object.freeze(new Class(...given));
  class Mine extends Class {}
  const names = namesOf(Class.prototype);
  for (const [name, as] of names) Object.defineProperty(Mine.prototype, name, own(as, name));
  const object = new Mine(...given);
  for (const name of Object.getOwnPropertyNames(object)) {
    if (KEPT.test(name)) continue;
    names.set(name, { value: object[name] });
    Object.defineProperty(object, name, own({}, name));
  }
  return baseOf(object, names);
}

function is(value, wanted) {
  if (JSON.stringify(value) !== JSON.stringify(wanted))
    throw new Error(`${JSON.stringify(value)}, not ${JSON.stringify(wanted)}`);
}
async function rejects(promise, name) {
  const error = await promise.then(
    () => undefined,
    (error) => error,
  );
  is(error?.name, name);
}
const signal = () => new AbortController().signal;
/** A wait that does not have to wait, with everything that it may be given. */
const soon = () => ({ timeout: 10_000, signal: signal() });
const late = { timeout: 1 };

/** What the classes for the tasks of one thread and the shared classes have in common. */
const common = {
  async Semaphore({ Semaphore }) {
    const s = make(Semaphore, 2, { max: 3 });
    await s.acquireAsync(2, soon());
    await rejects(s.acquireAsync(late), 'TimeoutError');
    const next = s.holdAsync(2);
    is([s.available, s.waiting, s.tryAcquire(), s.max], [0, 1, false, 3]);
    s.release(2);
    const held = keep(await next);
    is([held.permits, held.held], [2, true]);
    held.release(1);
    keep(s.tryHold())[Symbol.dispose]();
    await held[Symbol.asyncDispose]();
    is(await s.runExclusive(() => s.available, 2), 0);
    is(await s.limit((n) => n)(5), 5);
    s.add();
    s.reduce();
    s.release(s.drain());
    is([s.inspect().out, s.disposed], [0, false]);
    const waits = s.acquireAsync(3);
    s.cancelAll();
    await rejects(waits, 'CancelledError');
    return s;
  },
  async Mutex({ Mutex }) {
    const m = make(Mutex);
    await m.lockAsync(soon());
    await rejects(m.lockAsync(late), 'TimeoutError');
    const next = m.holdAsync();
    is([m.locked, m.held, m.waiting, m.tryLock()], [true, true, 1, false]);
    m.unlock();
    const held = keep(await next);
    held.unlock();
    is([held.held, m.locked], [false, false]);
    keep(m.tryHold())[Symbol.dispose]();
    await keep(m.tryHold())[Symbol.asyncDispose]();
    is(await m.runExclusive(() => m.locked), true);
    is(await m.limit((n) => n)(5), 5);
    await m.waitForUnlockAsync();
    await m.lockAsync();
    const passes = m.waitForUnlockAsync();
    const waits = m.lockAsync();
    m.cancelAll();
    await rejects(passes, 'CancelledError');
    await rejects(waits, 'CancelledError');
    const last = m.waitForUnlockAsync();
    is([m.inspect().locked, typeof m.bypass], [true, 'number']);
    m.unlock();
    await last;
    return m;
  },
  async Condition({ Condition, Mutex }) {
    const m = make(Mutex);
    const c = make(Condition, m);
    await m.lockAsync();
    const waits = c.waitAsync();
    await m.lockAsync();
    is([c.waiting, c.inspect().waiting], [1, 1]);
    is([c.notify(), c.notifyAll()], [1, 0]);
    m.unlock();
    is(await waits, true);
    is(await c.waitAsync(late), false);
    is(await c.waitForAsync(() => true, soon()), true);
    is(await c.waitForAsync(() => false, late), false);
    m.unlock();
    is(raw(m) === c.mutex, true);
    return c;
  },
  async Event({ Event }) {
    const e = make(Event);
    const waits = e.waitAsync();
    is([e.waiting, e.isSet], [1, false]);
    e.set();
    is([await waits, await e.waitAsync(soon()), e.isSet], [true, true, true]);
    e.reset();
    is([await e.waitAsync(late), e.inspect().isSet], [false, false]);
    return e;
  },
  async Latch({ Latch }) {
    const l = make(Latch, 2);
    l.countDown();
    const waits = l.waitAsync(soon());
    is([l.count, l.waiting, await l.waitAsync(late)], [1, 1, false]);
    l.countDown(1);
    is([await waits, l.inspect().count], [true, 0]);
    return l;
  },
  async WaitGroup({ WaitGroup }) {
    const g = make(WaitGroup);
    g.add(2);
    const waits = g.waitAsync(soon());
    is([g.pending, g.waiting, await g.waitAsync(late)], [2, 1, false]);
    const task = keep(g.hold());
    g.done(2);
    is(task.held, true);
    task.done();
    is([await waits, g.pending], [true, 0]);
    keep(g.hold())[Symbol.dispose]();
    is(await g.run(async () => g.inspect().pending), 1);
    return g;
  },
  async Barrier({ Barrier }) {
    let rounds = 0;
    const b = make(Barrier, 2, { action: () => void rounds++ });
    for (let i = 0; i < 2; i++) {
      const waits = b.arriveAndWaitAsync(soon());
      is([b.waiting, b.inspect().arrived, b.parties], [1, 1, 2]);
      is([await b.arriveAndWaitAsync(), await waits, b.round, rounds], [1, 0, i + 1, i + 1]);
    }
    b.leave();
    await rejects(b.arriveAndWaitAsync(late), 'TimeoutError');
    is([b.broken, b.inspect().broken], [true, true]);
    return b;
  },
  async Once({ Once }) {
    const o = make(Once);
    const fails = o.runAsync(async () => {
      await null;
      throw new SyntaxError('it fails');
    });
    const next = o.runAsync(async () => {}, soon());
    await rejects(fails, 'SyntaxError');
    is([await next, await o.runAsync(() => {}), o.done, o.inspect().done, o.waiting], [true, false, true, true, 0]);
    return o;
  },
  async RwLock({ RwLock }) {
    const l = make(RwLock);
    const read = keep(await l.readAsync(soon()));
    is([l.tryLockRead(), l.waiting, l.writing], [true, 0, false]);
    l.unlockRead();
    const within = keep(await l.readAsync({ within: raw(read) }));
    const next = l.writeAsync();
    is([l.writing, l.waiting, l.tryRead(), l.stamp()], [true, 1, undefined, 0]);
    within.unlock();
    read.unlock();
    const written = keep(await next);
    await rejects(l.lockReadAsync(late), 'TimeoutError');
    const reads = keep(written.downgrade());
    await rejects(l.lockWriteAsync(late), 'TimeoutError');
    reads[Symbol.dispose]();
    const found = keep(await l.updateAsync());
    const stamp = l.stamp();
    const writes = keep(await found.upgradeAsync(soon()));
    const again = keep(writes.downgradeToUpdate());
    is([l.valid(stamp), found.held, writes.held, again.held], [false, false, false, true]);
    keep(again.downgrade()).unlock();
    keep(l.tryWrite()).unlock();
    await l.lockWriteAsync();
    l.unlockWrite();
    is([l.tryLockWrite(), l.writing], [true, true]);
    l.unlockWrite();
    keep(l.tryRead()).unlock();
    is([l.readers, l.inspect().waiters.length], [0, 0]);
    return l;
  },
  async KeyedMutex({ KeyedMutex }) {
    const k = make(KeyedMutex);
    const held = keep(await k.holdAsync('a', soon()));
    await rejects(k.holdAsync('a', late), 'TimeoutError');
    const next = k.holdAllAsync(['b', 'a']);
    await null;
    is([k.tryHold('a'), k.size, k.inspect('a').out], [undefined, 1, 1]);
    held.unlock();
    const both = keep(await next);
    is([both.keys, both.held, k.size], [['a', 'b'], true, 2]);
    both[Symbol.dispose]();
    keep(k.tryHold(7)).unlock();
    is(await k.runExclusive('a', () => k.size), 1);
    is(await k.limit((_, n) => n)('a', 5), 5);
    const first = k.tryHold('c');
    const waits = k.holdAsync('c');
    is([k.waiting, k.inspect().size], [1, 1]);
    k.cancelAll();
    await rejects(waits, 'CancelledError');
    first.unlock();
    is([k.size, k.waiting], [0, 0]);
    return k;
  },
  async KeyedSemaphore({ KeyedSemaphore }) {
    const k = make(KeyedSemaphore, 3);
    const held = keep(await k.holdAsync('a', 3, soon()));
    await rejects(k.holdAsync('a', late), 'TimeoutError');
    const next = k.holdAsync('a', 2);
    held.release(2);
    held.release();
    keep(await next).release();
    keep(k.tryHold('a', 2))[Symbol.dispose]();
    keep(await k.holdAllAsync(['a', 'b'])).unlock();
    is(await k.runExclusive('a', () => k.inspect('a').out, 2), 2);
    is(await k.limit((_, n) => n, 3)('a', 5), 5);
    is([k.permits, k.size, k.waiting], [3, 0, 0]);
    return k;
  },
  async RateLimiter({ RateLimiter }) {
    const r = make(RateLimiter, 3, 60_000, { burst: 3 });
    is([r.tryTake(), r.tryTake(3), await r.limit((n) => n)(5)], [true, false, 5]);
    await r.takeAsync(soon());
    await rejects(r.takeAsync(late), 'TimeoutError');
    is([r.permits, r.per, r.burst, r.waiting, r.inspect().taken], [3, 60_000, 3, 0, 3]);
    const waits = r.takeAsync(3);
    r.cancelAll();
    await rejects(waits, 'CancelledError');
    return r;
  },
  async Channel({ Channel }, entry) {
    const c = make(Channel, {
      capacity: 2,
      ...(entry === 'tasks' ? {} : { codec: (await import('taketurns/channel')).number }),
    });
    await c.sendAsync(1, soon());
    is([c.trySend(2), c.trySend(3), c.size, c.capacity], [true, false, 2, 2]);
    await rejects(c.sendAsync(3, late), 'TimeoutError');
    const sent = c.sendAsync(4);
    is([await c.receiveAsync(soon()), c.tryReceive().value], [1, 2]);
    await sent;
    const got = [];
    for await (const value of { [Symbol.asyncIterator]: () => c[Symbol.asyncIterator]() }) {
      got.push(value);
      c.close();
    }
    is([got, c.closed, c.waiting, c.inspect().size], [[4], true, 0, 0]);
    return c;
  },
};

const lives = {
  tasks: common,
};

let hasFailed = false;
const kept = [];
for (const entry of entries) {
  const all = {};
  const names = entry === 'tasks' ? ['tasks'] : ['.', 'sync', 'keyed', 'channel', 'algorithms', 'p0514'];
  for (const name of names) Object.assign(all, await import(name === '.' ? 'taketurns' : `taketurns/${name}`));
  for (const [name, live] of Object.entries(lives[entry])) {
    for (const disposes of [true, false]) {
      try {
        const object = await live(all, entry);
        if (disposes) {
          object[Symbol.dispose]();
          is(object.disposed ?? true, true);
        } else kept.push(object, raw(object));
        String(raw(object));
      } catch (error) {
        hasFailed = true;
        console.log(`${entry} ${name}: ${error.stack}`);
      }
    }
  }
}
process.exitCode = hasFailed ? 1 : 0;
