/**
 * Runs the life of an object of every class, with objects that the user has treated in a way of their own:
 *
 *     frozen      every object and every guard is frozen
 *     extended    the class is extended by a class that uses every name of its base for something else: each getter and
 *                 each method throws. The program calls the methods of the base. Guards have such names, too
 *     shown       the console shows each object and each guard, and what stands for it: a proxy, as frameworks make them,
 *                 an object that inherits from it, and the prototypes of its class
 *
 * Half of the objects are disposed of, and the others live when the process ends. Prints what has failed. The arguments
 * are the mode and the entries.
 */
import { inspect } from 'node:util';

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

/** Shows an object, and what stands for it. Throws if one of these cannot be shown. */
function show(object) {
  const all = [object, new Proxy(object, {}), Object.create(object)];
  for (let of = object; of !== Object.prototype; of = Object.getPrototypeOf(of)) all.push(of);
  for (const each of all) {
    inspect(each);
    Object.prototype.toString.call(each);
  }
  return object;
}

/** Treats an object that the library has made, such as a guard. */
function keep(object) {
  if (typeof object !== 'object' || object === null) return object;
  if (mode === 'shown') return show(object);
  if (isFrozen) return Object.freeze(object);
  const names = namesOf(object);
  for (const [name, as] of names) Object.defineProperty(object, name, own(as, name));
  return baseOf(object, names);
}

/** Makes an object of a class, and treats it. */
function make(Class, ...args) {
  const given = args.map(raw);
  if (mode === 'shown') return show(new Class(...given));
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
function throws(call, name) {
  try {
    call();
  } catch (error) {
    is(error.name, name);
    return;
  }
  throw new Error(`nothing is thrown, not ${name}`);
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
    is([m.locked, m.waiting, m.tryLock()], [true, 1, false]);
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
    is(m.inspect().locked, true);
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
    is([l.writing, l.tryRead(), l.stamp()], [true, undefined, 0]);
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

/** The calls of the shared classes that block, and what only threads have. */
const blocking = {
  async 'Semaphore, blocked'({ Semaphore }) {
    const s = make(Semaphore, 2, { max: 3, robust: true });
    s.acquire(2, soon());
    throws(() => s.acquire(late), 'TimeoutError');
    s.release(2);
    const held = keep(s.hold(2));
    held.release(1);
    held.release();
    is([s.robust, s.inspect().available, Semaphore.from(s.handle).available], [true, 2, 2]);
    return s;
  },
  async 'Mutex, blocked'({ Mutex }) {
    const m = make(Mutex);
    m.lock(soon());
    throws(() => m.lock(late), 'SelfDeadlockError');
    m.unlock();
    keep(m.hold(late)).unlock();
    m.waitForUnlock(soon());
    is([Mutex.from(m.handle).locked, m.held, m.bypass], [false, false, 2 ** 21]);
    return m;
  },
  async 'Condition, blocked'({ Condition, Mutex }) {
    const m = make(Mutex);
    const c = make(Condition, m);
    m.lock();
    is([c.wait(late), c.waitFor(() => true, soon()), c.waitFor(() => false, late)], [false, true, false]);
    m.unlock();
    is(c.handle.kind, 'Condition');
    return c;
  },
  async 'Event, Latch, WaitGroup, Once and Barrier, blocked'({ Event, Latch, WaitGroup, Once, Barrier }) {
    const e = make(Event);
    is(e.wait(late), false);
    e.set();
    is(e.wait(soon()), true);
    const l = make(Latch, 1);
    is(l.wait(late), false);
    l.countDown();
    is(l.wait(soon()), true);
    const g = make(WaitGroup);
    g.add();
    is([g.wait(late), g.deaths], [false, 0]);
    g.done();
    is([g.wait(soon()), g.inspect().pending], [true, 0]);
    const o = make(Once);
    is([o.run(() => {}), o.run(() => {}, soon()), o.done], [true, false, true]);
    const b = make(Barrier, 1);
    is([b.arriveAndWait(), b.arriveAndWait(soon()), b.round], [0, 0, 2]);
    const two = make(Barrier, 2);
    throws(() => two.arriveAndWait(late), 'TimeoutError');
    is(two.broken, true);
    two.leave();
    for (const object of [e, l, g, o, b, two]) is(typeof object.handle.kind, 'string');
    kept.push(e, l, g, o, b, two);
    return make(Barrier, 3);
  },
  async 'RwLock, blocked'({ RwLock }) {
    const l = make(RwLock);
    l.lockRead(soon());
    keep(l.read()).unlock();
    l.unlockRead();
    l.lockWrite(soon());
    l.unlockWrite();
    const reads = keep(keep(l.write()).downgrade());
    reads[Symbol.dispose]();
    const writes = keep(keep(l.update(soon())).upgrade(soon()));
    is([l.writing, l.inspect().writing, l.waiting], [true, true, 0]);
    writes.unlock();
    keep(keep(l.update()).downgrade()).unlock();
    is([l.handle.kind, l.readers], ['RwLock', 0]);
    return l;
  },
  async 'KeyedMutex and KeyedSemaphore, blocked'({ KeyedMutex, KeyedSemaphore }) {
    const k = make(KeyedMutex);
    keep(k.hold('a', soon())).unlock();
    const both = keep(k.holdAll(['b', 'a'], soon()));
    is([both.keys, both.keysOfDead, k.size], [['a', 'b'], [], 2]);
    both.unlock();
    const s = make(KeyedSemaphore, 2);
    const held = keep(s.hold('a', 2, soon()));
    throws(() => s.hold('a', late), 'SelfDeadlockError');
    held.release();
    is([k.handle.kind, s.handle.kind, s.inspect().size], ['KeyedMutex', 'KeyedSemaphore', 0]);
    kept.push(s);
    return k;
  },
  async 'RateLimiter, blocked'({ RateLimiter }) {
    const r = make(RateLimiter, 2, 60_000, { burst: 2 });
    r.take(soon());
    r.take();
    throws(() => r.take(late), 'TimeoutError');
    is(r.handle.kind, 'RateLimiter');
    return r;
  },
  async 'Channel, blocked'({ Channel, number, value }) {
    const c = make(Channel, { capacity: 8, codec: number });
    c.send(1, soon());
    c.sendMany([2, 3, 4, 5]);
    is([c.receive(soon()), c.receiveMany(2), c.size, c.bytes > 0], [1, [2, 3], 2, true]);
    throws(() => make(Channel, { codec: number }).receive(late), 'TimeoutError');
    c.close();
    is([...{ [Symbol.iterator]: () => c[Symbol.iterator]() }], [4, 5]);
    const bytes = make(Channel, { capacity: 4 });
    const place = keep(bytes.reserve(soon()));
    place.bytes[0] = 7;
    place.commit(1);
    keep(bytes.reserve())[Symbol.dispose]();
    const message = keep(bytes.take(soon()));
    is(message.bytes[0], 7);
    message[Symbol.dispose]();
    const values = make(Channel, { codec: value, bytes: 200, senders: 1 });
    const sender = keep(values.sender());
    values.send({ a: 1 });
    is([values.receive(), values.handle.kind], [{ a: 1 }, 'Channel']);
    sender.leave();
    is(values.closed, true);
    kept.push(bytes, values);
    return c;
  },
  async select({ Channel, Semaphore, Watch, number, select, selectAsync, receiving, sending, acquiring, changing }) {
    const c = make(Channel, { codec: number });
    const s = make(Semaphore, 1);
    const w = make(Watch, 1, { codec: number });
    throws(() => select([receiving(raw(c))], late), 'TimeoutError');
    is(select([sending(raw(c), 1)]).index, 0);
    is(select([receiving(raw(c)), receiving(raw(c))], soon()).value, 1);
    is((await selectAsync([acquiring(raw(s))], soon())).index, 0);
    const changes = selectAsync([changing(raw(w), w.version), acquiring(raw(s)), receiving(raw(c))], soon());
    w.set(2);
    is((await changes).value, { value: 2, version: w.version });
    const acquires = selectAsync([receiving(raw(c)), acquiring(raw(s))], soon());
    s.release();
    is((await acquires).index, 1);
    kept.push(s, w);
    return c;
  },
  async Watch({ Watch, number }) {
    const w = make(Watch, 1, { codec: number });
    w.set(2, soon());
    await w.setAsync(3, soon());
    const { version } = w.read();
    is([w.get(), w.version, w.bytes > 0, w.closed, w.waiting], [3, version, true, false, 0]);
    throws(() => w.changed(version, late), 'TimeoutError');
    is([w.changed(version - 1).value, w.inspect().version], [3, version]);
    const next = w.changedAsync();
    w.set(4);
    is((await next).value, 4);
    const got = [];
    for (const value of { [Symbol.iterator]: () => w[Symbol.iterator]() }) {
      got.push(value);
      w.close();
    }
    for await (const value of { [Symbol.asyncIterator]: () => w[Symbol.asyncIterator]() }) got.push(value);
    is([got, w.closed, w.handle.kind], [[4, 4], true, 'Watch']);
    return w;
  },
  async Arena({ Arena, Mutex }) {
    const a = make(Arena, { threads: 4 });
    const m = make(Mutex, { arena: raw(a) });
    is(
      [m.tryLock(), a.threads, a.handle.kind, a.thread.kind, 'objects' in a.stats()],
      [true, 1, 'Arena', 'Thread', true],
    );
    throws(() => a.reap(a.thread), 'Error');
    return a;
  },
};

/** The classes of the papers. */
const papers = {
  ...Object.fromEntries(
    ['TicketSemaphore', 'TwaSemaphore', 'ChainSemaphore', 'ChannelSemaphore', 'LocationSemaphore'].map((name) => [
      name,
      async ({ [name]: Class }) => {
        const s = make(Class, 2);
        s.acquire();
        s.acquire();
        is(s.available, 0);
        s.release(2);
        s.tryAcquire?.();
        is(Class.from(s.handle).handle.kind, name);
        return s;
      },
    ]),
  ),
  async MultilaneSemaphore({ MultilaneSemaphore }) {
    const s = make(MultilaneSemaphore, 4, { lanes: 2 });
    s.acquire();
    is(s.tryAcquire(), true);
    s.release(2);
    is([s.available, s.handle.lanes.length], [4, 2]);
    return s;
  },
  ...Object.fromEntries(
    ['TtsLock', 'TicketLock', 'TwaLock', 'McsLock', 'ClhLock', 'LifoLock', 'ReciprocatingLock'].map((name) => [
      name,
      async ({ [name]: Class, CapacitorLock }) => {
        const l = make(Class);
        l.lock();
        throws(() => l.lock(), 'SelfDeadlockError');
        l.unlock();
        is([l.tryLock(), l.handle.kind], [true, name]);
        l.unlock();
        is(
          l.run(() => 5),
          5,
        );
        const around = make(CapacitorLock, new Class(), { bypass: 3 });
        around.lock();
        around.unlock();
        is([around.tryLock(), around.bypass, around.handle.kind], [true, 3, 'CapacitorLock']);
        around.unlock();
        is(
          around.run(() => 6),
          6,
        );
        around.dispose();
        kept.push(make(CapacitorLock, new Class()));
        return { object: l };
      },
    ]),
  ),
  async Capacitor({ Capacitor }) {
    for (const options of [{}, { semaphore: 'chain' }, { lanes: 2 }, { lanes: 2, random: true }]) {
      const c = make(Capacitor, 4, options);
      c.arrive();
      is([c.tryArrive(), c.bypass, c.handle.kind], [true, 4, 'Capacitor']);
      c.depart();
      c.depart();
      throws(() => c.depart(), 'Error');
      c.dispose();
      kept.push(make(Capacitor, 4, options));
    }
    return make(Capacitor, 2);
  },
  async 'Sequencer and EventCount'({ Sequencer, EventCount }) {
    const s = make(Sequencer);
    const e = make(EventCount);
    is([s.ticket(), s.ticket()].map(String), ['0', '1']);
    e.advance();
    e.advance(2);
    e.await(3n);
    is(String(e.read()), '3');
    kept.push(s);
    return e;
  },
  async 'BinarySemaphore and CountingSemaphore'({ BinarySemaphore, CountingSemaphore }) {
    for (const Class of [BinarySemaphore, CountingSemaphore]) {
      const s = make(Class, 1);
      s.wait();
      is([s.value, s.tryWait(), s.tryWaitFor(1), s.tryWaitUntil(Date.now() + 1)], [0, false, false, false]);
      is([await s.tryWaitForAsync(1), await s.tryWaitUntilAsync(Date.now() + 1)], [false, false]);
      const waits = s.waitAsync();
      s.signal();
      await waits;
      s.signal();
      await s.waitAsync();
      is(s.handle.kind, Class.name);
      kept.push(s);
    }
    return make(CountingSemaphore, 3);
  },
  async AtomicSemaphore({ AtomicSemaphore }) {
    const s = make(AtomicSemaphore);
    const words = new Int32Array(new SharedArrayBuffer(4));
    is([s.tryWait(words, 0, 0), s.tryWaitFor(words, 0, 0, 1)], [false, false]);
    const waits = s.waitAsync(words, 0, 0);
    Atomics.store(words, 0, 1);
    s.signal(words, 0);
    await waits;
    s.wait(words, 0, 0);
    is(s.handle.kind, 'AtomicSemaphore');
    s.dispose();
    return { object: make(AtomicSemaphore) };
  },
};

const { Channel, 'Channel, blocked': blocked, select, ...others } = { ...common, ...blocking };
const lives = {
  tasks: common,
  threads: others,
  channels: { Channel, blocked, select },
  papers,
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
        if ('object' in object) kept.push(object);
        else if (disposes) {
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
