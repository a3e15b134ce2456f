/**
 * A thread that has left its arena (`arena.dispose()`) writes nothing there any more: its record, its elements and its
 * objects belong to other threads by then. Every call gets a DisposedError, or does nothing. In each row the thread
 * leaves, another thread takes all the memory that was left, and then the call must change no word of it.
 */
import { Arena, DisposedError, Mutex, Semaphore } from 'taketurns';
import {
  acquiring,
  Channel,
  type Codec,
  changing,
  number,
  receiving,
  select,
  selectAsync,
  sending,
  trySelect,
  Watch,
} from 'taketurns/channel';
import { KeyedMutex, KeyedSemaphore, RateLimiter } from 'taketurns/keyed';
import { Barrier, Condition, Event, Latch, Once, RwLock, WaitGroup } from 'taketurns/sync';
import { expect, it } from 'vitest';
import { KINDS } from '../../dist/border/kinds.js';
import { channelOf } from '../../dist/channel/compiled.js';
import { createObject } from '../../dist/objects/new-object.js';
import { instantiate } from '../../dist/runtime/instance.js';
import { membershipOf } from '../support/membership.js';
import { at, Memory } from '../support/memory.js';

const SIZES = { objects: 128, threads: 4, waiters: 128, slots: 4, bytes: 1 << 16 };

/** An arena that the thread leaves, and the words of which it may change none afterwards. */
class Left {
  readonly arena = new Arena(SIZES);
  readonly #memory = this.arena.handle.memory as WebAssembly.Memory;
  readonly #words = new Int32Array(this.#memory.buffer);
  /** The keeper reaps as thread 0. */
  readonly #nobody = new Memory(this.arena).record(0);
  readonly #recordOf = channelOf(membershipOf(this.arena)).recordOf;
  #before: Int32Array | undefined;

  /** Leaves. Another thread takes the record of this one, and each object and element, with permits of its own. */
  readonly leave = (): void => {
    if (this.#before) return;
    const { thread } = membershipOf(this.arena);
    this.arena.dispose();
    const core = instantiate(this.#memory);
    core.open();
    expect(core.register(0)).toBe(thread);
    // A key whose next owner is to learn that this thread has gone keeps its object.
    for (let i = 0; i < SIZES.objects - 4; i++) {
      const attachment = createObject(core, { kind: KINDS.Semaphore, permits: 5, max: 9, robust: 1 });
      expect(attachment).toBeGreaterThan(0);
      core.tryAcquireRobust(core.attachedTo(attachment), 2, attachment);
      // As the attachment to an end of a channel, of which a stale call would pass places on.
      for (const word of ['E_TOOK', 'E_TOOK_COUNT', 'E_SENDERS', 'E_WORD'])
        this.#words[(this.#recordOf(attachment) + at(word)) >> 2] = 1;
    }
    this.#before = this.#words.slice();
  };

  get hasLeft(): boolean {
    return this.#before !== undefined;
  }

  get changes(): string[] {
    const before = this.#before as Int32Array;
    const isMeant = (address: number): boolean =>
      (address >= at('CLOSED_OBJECT') && address < at('CLOSED_OBJECT') + at('OBJECT_SIZE')) ||
      (address >= this.#nobody && address < this.#nobody + at('THREAD_SIZE'));
    const changes: string[] = [];
    for (let i = 0; i < before.length; i++)
      if (this.#words[i] !== before[i] && !isMeant(4 * i)) changes.push(`${4 * i}: ${before[i]} -> ${this.#words[i]}`);
    return changes;
  }
}

/** What a call comes to. */
async function outcome(run: () => unknown): Promise<unknown> {
  try {
    const value = await run();
    return value === undefined ? 'nothing' : value;
  } catch (error) {
    return error instanceof DisposedError ? DisposedError : error;
  } finally {
    // Callbacks of timers and promises.
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the rows are of all classes.
type Any = any;
interface Row {
  /** Makes the object, and what the thread holds of it. */
  readonly make: (arena: Arena) => Any;
  /** The calls that throw, or whose promises reject, by what is called. */
  readonly throws: Record<string, (made: Any) => unknown>;
  /** The calls that do nothing, or give an answer without the arena. */
  readonly quiet?: Record<string, (made: Any) => unknown>;
}

const T = { timeout: 5 };
const calls = (o: string, names: string, ...given: unknown[]): Record<string, (made: Any) => unknown> =>
  Object.fromEntries(names.split(' ').map((name) => [`${o}.${name}`, (made) => made[o][name](...given)]));
const gets = (o: string, names: string): Record<string, (made: Any) => unknown> =>
  Object.fromEntries(names.split(' ').map((name) => [`${o}.${name}`, (made) => made[o][name]]));
const ends = (guards: string): Record<string, (made: Any) => unknown> =>
  Object.fromEntries(guards.split(' ').map((name) => [`the end of ${name}`, (made) => made[name][Symbol.dispose]()]));
const every = { ...calls('o', 'dispose toString'), ...gets('o', 'disposed') };

const rows: Record<string, Row> = {
  Semaphore: {
    make: (arena) => {
      const o = new Semaphore(2, { arena, robust: true });
      return { o, held: o.hold() };
    },
    throws: {
      ...calls('o', 'acquire tryAcquire hold tryHold acquireAsync holdAsync reduce drain inspect'),
      ...calls('o', 'acquire hold acquireAsync holdAsync', 1, T),
      ...calls('o', 'runExclusive', () => 1),
      ...gets('o', 'handle'),
    },
    quiet: { ...every, ...calls('o', 'add release cancelAll'), ...ends('held'), ...gets('o', 'available waiting') },
  },
  Mutex: {
    make: (arena) => {
      const o = new Mutex({ arena });
      return { o, held: o.hold() };
    },
    throws: {
      ...calls('o', 'lock tryLock hold tryHold lockAsync holdAsync waitForUnlock waitForUnlockAsync inspect'),
      ...calls('o', 'runExclusive', () => 1),
      ...gets('o', 'handle'),
    },
    quiet: { ...every, ...calls('o', 'unlock cancelAll'), ...ends('held'), ...gets('o', 'held locked waiting') },
  },
  RwLock: {
    make: (arena) => {
      const [o, written, updated] = [0, 1, 2].map(() => new RwLock({ arena })) as [RwLock, RwLock, RwLock];
      return { o, reads: o.read(), written, writes: written.write(), updated, updates: updated.update() };
    },
    throws: {
      ...calls('o', 'lockRead tryLockRead lockReadAsync read readAsync tryRead lockWrite tryLockWrite lockWriteAsync'),
      ...calls('o', 'write writeAsync tryWrite update updateAsync stamp'),
      ...calls('written', 'lockRead tryLockRead read lockWrite tryLockWrite update'),
      ...calls('updated', 'lockRead tryLockRead read lockWrite tryLockWrite update'),
      ...calls('writes', 'downgrade downgradeToUpdate'),
      ...calls('updates', 'upgrade upgradeAsync downgrade'),
      ...gets('o', 'handle'),
    },
    quiet: {
      ...every,
      ...calls('o', 'unlockRead'),
      ...calls('written', 'unlockWrite'),
      ...ends('reads writes updates'),
      ...gets('o', 'readers writing waiting'),
      'o.inspect': ({ o }) => o.inspect(),
      'o.valid': ({ o }) => o.valid(0),
    },
  },
  Condition: {
    make: (arena) => {
      const mutex = new Mutex({ arena });
      return { o: new Condition(mutex), held: mutex.hold() };
    },
    throws: {
      ...calls('o', 'wait waitAsync notify notifyAll inspect'),
      ...calls('o', 'wait waitAsync', T),
      ...calls('o', 'waitFor waitForAsync', () => true),
      ...gets('o', 'handle'),
    },
    quiet: { ...every, ...ends('held'), ...gets('o', 'waiting') },
  },
  Latch: {
    make: (arena) => ({ o: new Latch(2, { arena }) }),
    throws: { ...calls('o', 'countDown wait waitAsync'), ...calls('o', 'wait waitAsync', T), ...gets('o', 'handle') },
    quiet: { ...every, ...calls('o', 'inspect'), ...gets('o', 'count waiting') },
  },
  WaitGroup: {
    make: (arena) => {
      const o = new WaitGroup({ arena });
      o.add(2);
      return { o };
    },
    throws: {
      ...calls('o', 'add done wait waitAsync'),
      ...calls('o', 'wait waitAsync', T),
      ...calls('o', 'run', () => 1),
      ...gets('o', 'handle'),
    },
    quiet: { ...every, ...calls('o', 'inspect'), ...gets('o', 'waiting') },
  },
  Event: {
    make: (arena) => ({ o: new Event({ arena }) }),
    throws: { ...calls('o', 'set reset wait waitAsync'), ...calls('o', 'wait waitAsync', T), ...gets('o', 'handle') },
    quiet: { ...every, ...calls('o', 'inspect'), ...gets('o', 'isSet waiting') },
  },
  Barrier: {
    make: (arena) => ({ o: new Barrier(2, { arena }) }),
    throws: {
      ...calls('o', 'arriveAndWait arriveAndWaitAsync'),
      ...calls('o', 'arriveAndWait arriveAndWaitAsync', T),
      ...gets('o', 'handle'),
    },
    quiet: { ...every, ...calls('o', 'inspect leave'), ...gets('o', 'broken round waiting') },
  },
  Once: {
    make: (arena) => ({ o: new Once({ arena }) }),
    throws: { ...calls('o', 'run runAsync', () => {}), ...gets('o', 'handle') },
    quiet: { ...every, ...calls('o', 'inspect'), ...gets('o', 'done waiting') },
  },
  KeyedMutex: {
    make: (arena) => {
      const o = new KeyedMutex({ arena });
      return { o, held: o.hold('a'), several: o.holdAll(['b', 'c'.repeat(300)]) };
    },
    throws: {
      ...calls('o', 'hold holdAsync tryHold', 'a'),
      ...calls('o', 'hold holdAsync tryHold', 'z'),
      ...calls('o', 'holdAll holdAllAsync', ['a', 'z']),
      ...calls('o', 'runExclusive', 'z', () => 1),
      ...calls('o', 'inspect'),
      ...gets('o', 'handle'),
    },
    quiet: { ...every, ...calls('o', 'cancelAll'), ...ends('held several'), ...gets('o', 'size waiting') },
  },
  KeyedSemaphore: {
    make: (arena) => {
      const o = new KeyedSemaphore(3, { arena });
      return { o, held: o.hold('a', 2), several: o.holdAll(['b', 5]) };
    },
    throws: {
      ...calls('o', 'hold holdAsync tryHold', 'a', 1),
      ...calls('o', 'hold holdAsync tryHold', 'z', 2),
      ...calls('o', 'holdAll holdAllAsync', ['a', 'z']),
      ...calls('o', 'runExclusive', 'z', () => 1, 1),
      ...calls('o', 'inspect'),
      ...gets('o', 'handle'),
    },
    quiet: {
      ...every,
      ...calls('o', 'cancelAll'),
      ...calls('held', 'release', 1),
      ...ends('held several'),
      ...gets('o', 'size waiting'),
    },
  },
  RateLimiter: {
    make: (arena) => {
      const o = new RateLimiter(5, 1000, { arena });
      o.take();
      return { o };
    },
    throws: {
      ...calls('o', 'take takeAsync tryTake inspect'),
      ...calls('o', 'take takeAsync', 2, T),
      'o.limit': ({ o }) => o.limit(() => 1)(),
      ...gets('o', 'handle'),
    },
    quiet: { ...every, ...calls('o', 'cancelAll'), ...gets('o', 'permits per burst waiting') },
  },
  Channel: {
    make: (arena) => {
      const o = new Channel({ codec: number, capacity: 4, senders: 2, arena });
      o.sendMany([1, 2]);
      return { o, sender: o.sender(), message: o.take(), place: o.reserve() };
    },
    throws: {
      ...calls('o', 'send trySend sendAsync', 1),
      ...calls('o', 'send sendAsync', 1, T),
      ...calls('o', 'sendMany', [1, 2]),
      ...calls('o', 'receive tryReceive receiveAsync reserve take sender inspect'),
      ...calls('o', 'receive receiveAsync reserve take', T),
      ...calls('o', 'receiveMany receiveManyAsync', 3),
      'o[Symbol.iterator]': ({ o }) => [...o],
      'o[Symbol.asyncIterator]': ({ o }) => o[Symbol.asyncIterator]().next(),
      'place.commit': ({ place }) => place.commit(8),
      ...gets('o', 'handle'),
    },
    quiet: {
      ...every,
      ...calls('o', 'close'),
      ...calls('sender', 'leave'),
      ...ends('sender message place'),
      ...gets('o', 'size waiting closed capacity bytes'),
    },
  },
  Watch: {
    make: (arena) => {
      const o = new Watch(1, { codec: number, arena });
      o.set(2);
      return { o };
    },
    throws: {
      ...calls('o', 'get read inspect'),
      ...calls('o', 'set setAsync', 1),
      ...calls('o', 'set setAsync', 1, T),
      ...calls('o', 'changed changedAsync', 0, T),
      ...calls('o', 'changed changedAsync'),
      'o[Symbol.iterator]': ({ o }) => [...o],
      'o[Symbol.asyncIterator]': ({ o }) => o[Symbol.asyncIterator]().next(),
      ...gets('o', 'handle'),
    },
    quiet: { ...every, ...calls('o', 'close'), ...gets('o', 'version waiting closed bytes') },
  },
  select: {
    make: (arena) => {
      const channel = new Channel({ codec: number, arena });
      channel.send(1);
      const watch = new Watch(1, { codec: number, arena });
      const semaphore = new Semaphore(1, { arena });
      const all = [receiving(channel), sending(channel, 2), changing(watch, 0), acquiring(semaphore)];
      return { channel, watch, semaphore, all };
    },
    throws: Object.fromEntries(
      [0, 1, 2, 3].flatMap((i) => [
        [`select, case ${i}`, ({ all }: Any) => select([all[i]], T)],
        [`selectAsync, case ${i}`, ({ all }: Any) => selectAsync([all[i]], T)],
        [`trySelect, case ${i}`, ({ all }: Any) => trySelect([all[i]])],
      ]),
    ),
  },
};

const table = Object.entries(rows).flatMap(([name, { make, throws, quiet = {} }]) => [
  ...Object.entries(throws).map(([what, run]) => [`${name}: ${what}`, make, run, true] as const),
  ...Object.entries(quiet).map(([what, run]) => [`${name}: ${what}`, make, run, false] as const),
]);

it.each(table)('%s, after the thread has left', async (_name, make, run, throws) => {
  const left = new Left();
  const made = make(left.arena);
  left.leave();
  const answer = await outcome(() => run(made));
  expect(left.changes).toEqual([]);
  if (throws) expect(answer).toBe(DisposedError);
  else expect(answer).not.toBeInstanceOf(Error);
});

type Middle = (arena: Arena, leave: () => void) => unknown;

/** A codec of numbers that calls these functions. */
const codecOf = (encoding: () => void, decoding: () => void): Codec<number> => ({
  name: 'hooked',
  encode(value, { f64 }) {
    encoding();
    f64[0] = value;
    return 8;
  },
  decode({ f64 }) {
    const value = f64[0] as number;
    decoding();
    return value;
  },
});
const nothing = (): void => {};

/** Promises that have what they want, and whose calls go on when the thread has left. */
const inFlight: Record<string, Middle> = {
  'Semaphore.acquireAsync': (arena, leave) => {
    const semaphore = new Semaphore(0, { arena, robust: false });
    const all = [semaphore.acquireAsync(), semaphore.holdAsync(1, { timeout: 1000 }), semaphore.runExclusive(nothing)];
    semaphore.release(3);
    leave();
    return Promise.all(all);
  },
  'Mutex.lockAsync': (arena, leave) => {
    const mutex = new Mutex({ arena });
    mutex.lock();
    const all = [mutex.lockAsync(), mutex.holdAsync({ timeout: 1000 }), mutex.runExclusive(nothing)];
    mutex.unlock();
    leave();
    return Promise.all(all);
  },
  'Mutex.runExclusive, whose promise is settled later': async (arena, leave) => {
    const mutex = new Mutex({ arena });
    await mutex.runExclusive(async () => {
      leave();
      await new Promise((resolve) => setTimeout(resolve, 1));
    });
  },
  'RwLock.writeAsync': (arena, leave) => {
    const lock = new RwLock({ arena });
    const held = lock.read();
    const all = [lock.writeAsync(), lock.readAsync()];
    held.unlock();
    leave();
    return Promise.all(all);
  },
  'RwLock.readAsync': (arena, leave) => {
    const lock = new RwLock({ arena });
    const held = lock.write();
    const all = [lock.readAsync(), lock.readAsync({ timeout: 1000 }), lock.updateAsync()];
    held.unlock();
    leave();
    return Promise.all(all);
  },
  'Condition.waitAsync': async (arena, leave) => {
    const mutex = new Mutex({ arena });
    const condition = new Condition(mutex);
    const held = mutex.hold();
    const waits = condition.waitAsync();
    condition.notify();
    leave();
    await waits;
    held.unlock();
  },
  'Condition.waitForAsync': async (arena, leave) => {
    const mutex = new Mutex({ arena });
    const condition = new Condition(mutex);
    let isReady = false;
    mutex.lock();
    const waits = condition.waitForAsync(() => isReady);
    await mutex.lockAsync();
    isReady = true;
    condition.notify();
    mutex.unlock();
    leave();
    await waits;
  },
  'Latch.waitAsync': (arena, leave) => {
    const latch = new Latch(1, { arena });
    const waits = latch.waitAsync();
    latch.countDown();
    leave();
    return waits;
  },
  'WaitGroup.waitAsync': (arena, leave) => {
    const group = new WaitGroup({ arena });
    group.add(1);
    const waits = group.waitAsync();
    group.done();
    leave();
    return waits;
  },
  'WaitGroup.run': async (arena, leave) => {
    const group = new WaitGroup({ arena });
    await group.run(async () => {
      leave();
      await new Promise((resolve) => setTimeout(resolve, 1));
    });
  },
  'Event.waitAsync': (arena, leave) => {
    const event = new Event({ arena });
    const waits = event.waitAsync();
    event.set();
    leave();
    return waits;
  },
  'Barrier.arriveAndWaitAsync': (arena, leave) => {
    const barrier = new Barrier(2, { arena });
    const all = [1, 2].map(() => barrier.arriveAndWaitAsync());
    leave();
    return Promise.all(all);
  },
  'Once.runAsync': async (arena, leave) => {
    const once = new Once({ arena });
    const all = [1, 2].map(() => once.runAsync(() => new Promise((resolve) => setTimeout(resolve, 1))));
    leave();
    await Promise.all(all);
  },
  'KeyedMutex.holdAsync': (arena, leave) => {
    const table = new KeyedMutex({ arena });
    const held = table.hold('a');
    const all = [table.holdAsync('a'), table.holdAllAsync(['a', 'b']), table.runExclusive('a', nothing)];
    held.unlock();
    leave();
    return Promise.all(all);
  },
  'KeyedSemaphore.holdAsync': (arena, leave) => {
    const table = new KeyedSemaphore(2, { arena });
    const held = table.hold('a', 2);
    const all = [table.holdAsync('a', 2), table.runExclusive('a', nothing, 1)];
    held.release();
    leave();
    return Promise.all(all);
  },
  'RateLimiter.takeAsync, which sleeps': (arena, leave) => {
    const limiter = new RateLimiter(1, 20, { arena });
    limiter.take();
    const waits = limiter.takeAsync();
    leave();
    return waits;
  },
  'RateLimiter.takeAsync, which has just got the turn': async (arena, leave) => {
    const limiter = new RateLimiter(1000, 1000, { arena });
    limiter.take(1000);
    const first = limiter.takeAsync(1);
    const second = limiter.takeAsync(1);
    await first.then(leave);
    await second;
  },
  'Channel.receiveAsync': (arena, leave) => {
    const channel = new Channel({ codec: number, arena });
    const all = [channel.receiveAsync(), channel.receiveAsync({ timeout: 1000 })];
    channel.sendMany([1, 2]);
    leave();
    return Promise.all(all);
  },
  'Channel.sendAsync': (arena, leave) => {
    const channel = new Channel({ codec: number, capacity: 1, arena });
    channel.send(1);
    const all = [channel.sendAsync(2), channel.sendAsync(3)];
    channel.receive();
    leave();
    return Promise.all(all);
  },
  'Watch.changedAsync': (arena, leave) => {
    const watch = new Watch(1, { codec: number, arena });
    const all = [watch.changedAsync(), watch.changedAsync(0, { timeout: 1000 })];
    watch.set(2);
    leave();
    return Promise.all(all);
  },
  selectAsync: (arena, leave) => {
    const channel = new Channel({ codec: number, arena });
    const watch = new Watch(1, { codec: number, arena });
    const all = [selectAsync([receiving(channel)]), selectAsync([changing(watch)])];
    channel.send(1);
    watch.set(2);
    leave();
    return Promise.all(all);
  },
};

/** Calls in the middle of which code of the user leaves. */
const inTheMiddle: Record<string, Middle> = {
  'Semaphore.runExclusive': (arena, leave) => new Semaphore(1, { arena }).runExclusive(leave),
  'Mutex.runExclusive': (arena, leave) => new Mutex({ arena }).runExclusive(leave),
  'KeyedMutex.runExclusive': (arena, leave) => new KeyedMutex({ arena }).runExclusive('a', leave),
  'KeyedSemaphore.runExclusive': (arena, leave) => new KeyedSemaphore(2, { arena }).runExclusive('a', leave, 2),
  'RateLimiter.limit': (arena, leave) => new RateLimiter(1, 1000, { arena }).limit(leave)(),
  'WaitGroup.run': (arena, leave) => new WaitGroup({ arena }).run(leave),
  'Once.run': (arena, leave) => new Once({ arena }).run(leave),
  'Once.runAsync': (arena, leave) => new Once({ arena }).runAsync(leave),
  'Barrier, its action': (arena, leave) => new Barrier(1, { arena, action: leave }).arriveAndWait(),
  'Barrier, its action, by a promise': (arena, leave) => new Barrier(1, { arena, action: leave }).arriveAndWaitAsync(),
  'Condition.waitFor': (arena, leave) => {
    const mutex = new Mutex({ arena });
    mutex.lock();
    return new Condition(mutex).waitFor(() => {
      leave();
      return false;
    }, T);
  },
  'Condition.waitForAsync': (arena, leave) => {
    const mutex = new Mutex({ arena });
    mutex.lock();
    return new Condition(mutex).waitForAsync(() => {
      leave();
      return false;
    }, T);
  },
  ...Object.fromEntries(
    Object.entries<(channel: Channel<number>) => unknown>({
      send: (channel) => channel.send(5),
      'send, with a time-out': (channel) => channel.send(5, T),
      trySend: (channel) => channel.trySend(5),
      sendAsync: (channel) => channel.sendAsync(5),
      sendMany: (channel) => channel.sendMany([5, 6]),
      'a select that sends': (channel) => select([sending(channel, 5)]),
    }).map(([name, run]) => [
      `encode in Channel.${name}`,
      (arena: Arena, leave: () => void) => run(new Channel({ codec: codecOf(leave, nothing), arena })),
    ]),
  ),
  ...Object.fromEntries(
    Object.entries<(channel: Channel<number>) => unknown>({
      receive: (channel) => channel.receive(),
      tryReceive: (channel) => channel.tryReceive(),
      receiveAsync: (channel) => channel.receiveAsync(),
      receiveMany: (channel) => channel.receiveMany(3),
      receiveManyAsync: (channel) => channel.receiveManyAsync(3),
      'a loop over batches': (channel) => [...channel.batches(2)],
      'a loop': (channel) => [...channel],
      'a select that receives': (channel) => select([receiving(channel)]),
      'a select that receives by a promise': (channel) => selectAsync([receiving(channel)]),
    }).map(([name, run]) => [
      `decode in Channel.${name}`,
      (arena: Arena, leave: () => void) => {
        const channel = new Channel({ codec: codecOf(nothing, leave), arena });
        channel.sendMany([1, 2, 3]);
        return run(channel);
      },
    ]),
  ),
  'decode in a promise that a send settles': (arena, leave) => {
    const channel = new Channel({ codec: codecOf(nothing, leave), arena });
    const waits = channel.receiveAsync();
    channel.send(1);
    return waits;
  },
  ...Object.fromEntries(
    Object.entries<(watch: Watch<number>) => unknown>({
      set: (watch) => watch.set(5),
      'set, with a time-out': (watch) => watch.set(5, T),
      setAsync: (watch) => watch.setAsync(5),
      get: (watch) => watch.get(),
      changed: (watch) => watch.changed(0),
      changedAsync: (watch) => watch.changedAsync(0),
      'a loop': (watch) => [...watch],
      'a select': (watch) => select([changing(watch, 0)]),
    }).map(([name, run]) => [
      `the codec in Watch.${name}`,
      (arena: Arena, leave: () => void) => {
        let isArmed = false;
        const hook = () => isArmed && leave();
        const watch = new Watch(1, { codec: codecOf(hook, hook), arena });
        watch.set(2);
        isArmed = true;
        return run(watch);
      },
    ]),
  ),
};

/** Calls with options, which have what they want at once (`now`), or must wait. */
const withOptions: Record<string, (arena: Arena, options: object, now: boolean) => unknown> = {};
const add = (what: string, methods: string, make: (arena: Arena, now: boolean) => Any, ...given: unknown[]): void => {
  for (const method of methods.split(' '))
    withOptions[`${what}.${method}`] = (arena, options, now) => make(arena, now)[method](...given, options);
};
add('Semaphore', 'acquire hold acquireAsync holdAsync', (arena, now) => new Semaphore(now ? 1 : 0, { arena }), 1);
add('Semaphore', 'runExclusive', (arena, now) => new Semaphore(now ? 1 : 0, { arena }), nothing);
add('Mutex', 'lock hold', (arena) => new Mutex({ arena }));
add('Mutex', 'lockAsync holdAsync waitForUnlockAsync', (arena, now) => {
  const mutex = new Mutex({ arena });
  if (!now) mutex.lock();
  return mutex;
});
add('RwLock', 'lockRead read lockWrite write update', (arena) => new RwLock({ arena }));
add('RwLock', 'lockReadAsync readAsync lockWriteAsync writeAsync updateAsync', (arena, now) => {
  const lock = new RwLock({ arena });
  if (!now) lock.lockWrite();
  return lock;
});
add('HeldUpdate', 'upgrade upgradeAsync', (arena) => new RwLock({ arena }).update());
add('Condition', 'wait waitAsync', (arena) => {
  const mutex = new Mutex({ arena });
  mutex.lock();
  return new Condition(mutex);
});
add('Latch', 'wait waitAsync', (arena, now) => {
  const latch = new Latch(1, { arena });
  if (now) latch.countDown();
  return latch;
});
add('WaitGroup', 'wait waitAsync', (arena, now) => {
  const group = new WaitGroup({ arena });
  if (!now) group.add(1);
  return group;
});
add('Event', 'wait waitAsync', (arena, now) => {
  const event = new Event({ arena });
  if (now) event.set();
  return event;
});
add('Barrier', 'arriveAndWait arriveAndWaitAsync', (arena, now) => new Barrier(now ? 1 : 2, { arena }));
add('Once', 'run runAsync', (arena) => new Once({ arena }), nothing);
add('KeyedMutex', 'hold', (arena) => new KeyedMutex({ arena }), 'a');
const keyed = (arena: Arena, now: boolean) => {
  const table = new KeyedMutex({ arena });
  if (!now) table.hold('a');
  return table;
};
add('KeyedMutex', 'holdAsync', keyed, 'a');
add('KeyedMutex', 'holdAllAsync', keyed, ['a', 'b']);
add('KeyedMutex', 'holdAll', (arena) => new KeyedMutex({ arena }), ['a', 'b']);
add('KeyedMutex', 'runExclusive', keyed, 'a', nothing);
add('KeyedSemaphore', 'hold holdAsync', (arena) => new KeyedSemaphore(2, { arena }), 'a', 2);
add(
  'RateLimiter',
  'take takeAsync',
  (arena, now) => {
    const limiter = new RateLimiter(1, 1000, { arena });
    if (!now) limiter.take();
    return limiter;
  },
  1,
);
const filled = (count: number) => (arena: Arena, now: boolean) => {
  const channel = new Channel({ codec: number, capacity: 2, arena });
  if (now ? count > 0 : count === 0) channel.sendMany([1, 2]);
  return channel;
};
add('Channel', 'send sendAsync', filled(0), 1);
add('Channel', 'sendMany', filled(0), [1, 2]);
add('Channel', 'reserve', filled(0));
add('Channel', 'receive receiveAsync take', filled(2));
add('Channel', 'receiveMany receiveManyAsync', filled(2), 2);
add('Watch', 'set setAsync', (arena) => new Watch(1, { codec: number, arena }), 2);
add(
  'Watch',
  'changed changedAsync',
  (arena, now) => {
    const watch = new Watch(1, { codec: number, arena });
    if (now) watch.set(2);
    return watch;
  },
  0,
);
add('select', 'select selectAsync', (arena, now) => {
  const [channel, watch] = [filled(2)(arena, now), new Watch(1, { codec: number, arena })];
  const cases = [receiving(channel), changing(watch)];
  return {
    select: (options: object) => select(cases, options),
    selectAsync: (options: object) => selectAsync(cases, options),
  };
});

const middles: [string, Middle][] = [
  ...Object.entries(inFlight).map(([name, run]): [string, Middle] => [`${name}, in flight`, run]),
  ...Object.entries(inTheMiddle).map(([name, run]): [string, Middle] => [`code of the user: ${name}`, run]),
  ...Object.entries(withOptions).flatMap(([name, run]) =>
    [true, false].flatMap((now): [string, Middle][] => [
      [
        `the getter timeout of ${name}, ${now ? 'at once' : 'waiting'}`,
        (arena, leave) => {
          const options = {
            get timeout() {
              leave();
              return 5;
            },
          };
          return run(arena, options, now);
        },
      ],
      [
        `the signal of ${name}, ${now ? 'at once' : 'waiting'}`,
        (arena, leave) => {
          const { signal } = new AbortController();
          for (const method of ['addEventListener', 'removeEventListener'] as const) {
            const plain = signal[method].bind(signal);
            Object.defineProperty(signal, method, {
              value: (...given: Parameters<AbortSignal['addEventListener']>) => {
                leave();
                plain(...given);
              },
            });
          }
          return run(arena, { signal, timeout: 5 }, now);
        },
      ],
    ]),
  ),
];

it.each(middles)('%s: the thread leaves in between', async (_name, run) => {
  const left = new Left();
  let answer: unknown;
  try {
    answer = await outcome(() => run(left.arena, left.leave));
    const hasLeft = left.hasLeft;
    left.leave();
    if (hasLeft) expect(left.changes).toEqual([]);
  } finally {
    left.leave();
  }
  expect(answer instanceof Error && !(answer instanceof DisposedError) ? answer.name : 'fine').toMatch(
    /^(fine|TimeoutError)$/,
  );
});
