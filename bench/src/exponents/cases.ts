// The operations whose cost may grow with what they meet, such as waiters or objects. A case prepares n of these, and
// then runs. The measured time is that of all n together. So a time in proportion to n is good, and a time in
// proportion to the square of n is bad.

import { Worker } from 'node:worker_threads';
import { Arena, Mutex, Semaphore } from 'taketurns';
import { McsLock, TicketLock, TwaSemaphore } from 'taketurns/algorithms';
import { AtomicSemaphore, atomicSignal, atomicWaitAsync, CountingSemaphore } from 'taketurns/p0514';
import { Barrier, Condition, Event, Latch, Once, RwLock, WaitGroup } from 'taketurns/sync';
import type { ThreadOrder } from './thread.js';

export interface Step {
  run(): unknown;
  end?(): unknown;
}

export interface Case {
  name: string;
  sizes: readonly number[];
  prepare(n: number): Step | Promise<Step>;
}

/**
 * Up to some thousand objects the runtime collects no garbage. So only the last two sizes tell with which power of n
 * the time grows: both include the cost of garbage collection.
 */
const SIZES = [10, 1000, 10_000, 100_000];
const MOST_PARTIES = 65_535;
const PARTIES = [10, 1000, 10_000, MOST_PARTIES];
const THREADS = [2, 8, 32];
const LONG = 600_000;

/** Makes an arena with room for n of anything. */
function roomFor(n: number): Arena {
  return new Arena({ objects: 2 * n + 64, waiters: 6 * n + 1024, threads: 64 });
}

function each<T>(n: number, make: (i: number) => T): T[] {
  return Array.from({ length: n }, (_, i) => make(i));
}

interface Options {
  timeout?: number;
  signal?: AbortSignal;
}

/** Something that n promises wait for. */
interface Waited {
  wait(options: Options | undefined, i: number): Promise<unknown>;
  /** Fulfils all promises. */
  end(n: number): unknown;
  /** The object that they wait for, if it can also end their waits in other ways. */
  object?: { dispose(): void; cancelAll?(): void };
}

interface Kind {
  name: string;
  sizes?: readonly number[];
  /** How promises of this kind may give up. */
  gives: readonly ('time-outs' | 'signals')[];
  /** What else ends the waits of promises of this kind. */
  ends?: readonly ('dispose' | 'cancelAll')[];
  make(arena: Arena, n: number): Waited;
}

const BOTH = ['time-outs', 'signals'] as const;

const KINDS: readonly Kind[] = [
  {
    name: 'Semaphore.acquireAsync',
    gives: BOTH,
    ends: ['dispose', 'cancelAll'],
    make(arena) {
      const semaphore = new Semaphore(0, { arena });
      return {
        wait: (options) => semaphore.acquireAsync(1, options),
        end: (n) => semaphore.release(n),
        object: semaphore,
      };
    },
  },
  {
    name: 'Semaphore.acquireAsync; released one by one',
    gives: [],
    make(arena) {
      const semaphore = new Semaphore(0, { arena });
      return {
        wait: (options) => semaphore.acquireAsync(1, options),
        end(n) {
          for (let i = 0; i < n; i++) semaphore.release();
        },
      };
    },
  },
  {
    name: 'Semaphore.holdAsync; robust',
    gives: [],
    make(arena) {
      const semaphore = new Semaphore(1, { arena, robust: true });
      semaphore.acquire();
      return {
        wait: (options) => semaphore.holdAsync(1, options).then((held) => held.release()),
        end: () => semaphore.release(),
      };
    },
  },
  {
    name: 'Mutex.lockAsync',
    gives: BOTH,
    ends: ['dispose', 'cancelAll'],
    make(arena) {
      const mutex = new Mutex({ arena });
      mutex.lock();
      return {
        wait: (options) => mutex.lockAsync(options).then(() => mutex.unlock()),
        end: () => mutex.unlock(),
        object: mutex,
      };
    },
  },
  {
    name: 'Mutex.waitForUnlockAsync',
    gives: BOTH,
    make(arena) {
      const mutex = new Mutex({ arena });
      mutex.lock();
      return { wait: (options) => mutex.waitForUnlockAsync(options), end: () => mutex.unlock() };
    },
  },
  {
    name: 'Condition.waitAsync',
    gives: BOTH,
    ends: ['dispose'],
    make(arena) {
      const mutex = new Mutex({ arena });
      const condition = new Condition(mutex);
      return {
        wait(options) {
          mutex.lock();
          return condition.waitAsync(options).finally(() => mutex.unlock());
        },
        end: () => condition.notifyAll(),
        object: condition,
      };
    },
  },
  {
    name: 'Condition.waitAsync; notified one by one',
    gives: [],
    make(arena) {
      const mutex = new Mutex({ arena });
      const condition = new Condition(mutex);
      return {
        wait() {
          mutex.lock();
          return condition.waitAsync().finally(() => mutex.unlock());
        },
        end(n) {
          for (let i = 0; i < n; i++) condition.notify();
        },
      };
    },
  },
  {
    name: 'Latch.waitAsync',
    gives: BOTH,
    ends: ['dispose'],
    make(arena) {
      const latch = new Latch(1, { arena });
      return {
        wait: (options) => latch.waitAsync(options),
        end: () => latch.countDown(),
        object: latch,
      };
    },
  },
  {
    name: 'Event.waitAsync',
    gives: BOTH,
    ends: ['dispose'],
    make(arena) {
      const event = new Event({ arena });
      return { wait: (options) => event.waitAsync(options), end: () => event.set(), object: event };
    },
  },
  {
    name: 'WaitGroup.waitAsync',
    gives: BOTH,
    ends: ['dispose'],
    make(arena) {
      const group = new WaitGroup({ arena });
      group.add();
      return { wait: (options) => group.waitAsync(options), end: () => group.done(), object: group };
    },
  },
  {
    name: 'WaitGroup.run',
    gives: [],
    make(arena) {
      const group = new WaitGroup({ arena });
      let go = (): void => {};
      const gone = new Promise<void>((resolve) => {
        go = resolve;
      });
      return {
        wait: () => group.run(() => gone),
        end: () => {
          go();
          return group.waitAsync();
        },
      };
    },
  },
  {
    name: 'Barrier.arriveAndWaitAsync',
    sizes: PARTIES,
    gives: BOTH,
    ends: ['dispose'],
    make(arena, n) {
      const barrier = new Barrier(Math.min(n + 1, MOST_PARTIES), { arena });
      return {
        wait: (options) => barrier.arriveAndWaitAsync(options),
        end: () => (n < MOST_PARTIES ? barrier.arriveAndWaitAsync() : undefined),
        object: barrier,
      };
    },
  },
  {
    name: 'Barrier(2).arriveAndWaitAsync; round by round',
    gives: [],
    make(arena) {
      const barrier = new Barrier(2, { arena });
      return { wait: () => barrier.arriveAndWaitAsync(), end: () => {} };
    },
  },
  {
    name: 'Once.runAsync',
    gives: BOTH,
    ends: ['dispose'],
    make(arena) {
      const once = new Once({ arena });
      let end = (): void => {};
      once.runAsync(() => new Promise<void>((resolve) => (end = resolve))).catch(() => {});
      return { wait: (options) => once.runAsync(() => {}, options), end: () => end(), object: once };
    },
  },
  {
    name: 'Once.runAsync; and each fails',
    sizes: [10, 1000, 10_000],
    gives: [],
    make(arena) {
      const once = new Once({ arena });
      return {
        wait: () =>
          once.runAsync(async () => {
            await undefined;
            throw new Error('it fails');
          }),
        end: () => {},
      };
    },
  },
  {
    name: 'RwLock.lockReadAsync',
    gives: BOTH,
    ends: ['dispose'],
    make(arena) {
      const lock = new RwLock({ arena });
      lock.lockWrite();
      return {
        wait: (options) => lock.lockReadAsync(options).then(() => lock.unlockRead()),
        end: () => lock.unlockWrite(),
        object: lock,
      };
    },
  },
  {
    name: 'RwLock.writeAsync',
    gives: BOTH,
    ends: ['dispose'],
    make(arena) {
      const lock = new RwLock({ arena });
      lock.lockWrite();
      return {
        wait: (options) => lock.writeAsync(options).then((held) => held.unlock()),
        end: () => lock.unlockWrite(),
        object: lock,
      };
    },
  },
  {
    name: 'RwLock; readers and writers in turn',
    gives: [],
    make(arena) {
      const lock = new RwLock({ arena });
      lock.lockWrite();
      return {
        wait: (_, i) =>
          i % 2 === 0
            ? lock.readAsync().then((held) => held.unlock())
            : lock.writeAsync().then((held) => held.unlock()),
        end: () => lock.unlockWrite(),
      };
    },
  },
  {
    name: 'RwLock.updateAsync; each upgraded',
    gives: [],
    make(arena) {
      const lock = new RwLock({ arena });
      lock.lockWrite();
      return {
        wait: () =>
          lock
            .updateAsync()
            .then(async (held) => (await held.upgradeAsync()).unlock())
            .catch(() => {}),
        end: () => lock.unlockWrite(),
      };
    },
  },
  {
    name: 'CountingSemaphore.waitAsync',
    gives: [],
    ends: ['dispose'],
    make(arena) {
      const semaphore = new CountingSemaphore(0, { arena });
      return {
        wait: () => semaphore.waitAsync(),
        end: (n) => semaphore.signal(n),
        object: semaphore,
      };
    },
  },
  {
    name: 'CountingSemaphore.tryWaitForAsync',
    gives: ['time-outs'],
    make(arena) {
      const semaphore = new CountingSemaphore(0, { arena });
      return {
        wait: (options) => semaphore.tryWaitForAsync(options?.timeout ?? LONG),
        end: (n) => semaphore.signal(n),
      };
    },
  },
  {
    name: 'AtomicSemaphore.waitAsync; one word',
    gives: [],
    ends: ['dispose'],
    make(arena) {
      const semaphore = new AtomicSemaphore({ arena });
      const words = new Int32Array(new SharedArrayBuffer(4));
      return {
        wait: () => semaphore.waitAsync(words, 0, 0),
        end() {
          Atomics.store(words, 0, 1);
          semaphore.signal(words, 0);
        },
        object: semaphore,
      };
    },
  },
  {
    name: 'atomicWaitAsync; one word',
    gives: [],
    make(arena) {
      const words = new Int32Array(new SharedArrayBuffer(4));
      return {
        wait: () => atomicWaitAsync(words, 0, 0, { arena }),
        end() {
          Atomics.store(words, 0, 1);
          atomicSignal(words, 0, undefined, { arena });
        },
      };
    },
  },
  {
    name: 'atomicWaitAsync; a word each',
    gives: [],
    make(arena, n) {
      const words = new Int32Array(new SharedArrayBuffer(4 * n));
      return {
        wait: (_, i) => atomicWaitAsync(words, i, 0, { arena }),
        end() {
          for (let i = 0; i < n; i++) {
            Atomics.store(words, i, 1);
            atomicSignal(words, i, undefined, { arena });
          }
        },
      };
    },
  },
];

/** Returns the case in which n promises wait on one object, and all end in the same way. */
function pending(
  kind: Kind,
  how: string,
  options: (i: number, n: number, abort: AbortController) => Options | undefined,
  finish: (waited: Waited, n: number, abort: AbortController) => unknown,
): Case {
  return {
    name: `${kind.name}: ${how}`,
    sizes: kind.sizes ?? SIZES,
    prepare(n) {
      const arena = roomFor(n);
      const waited = kind.make(arena, n);
      const abort = new AbortController();
      return {
        async run() {
          const promises = each(n, (i) => waited.wait(options(i, n, abort), i));
          await Promise.allSettled([...promises, finish(waited, n, abort)]);
        },
        end: () => arena.dispose(),
      };
    },
  };
}

function casesOf(kind: Kind): Case[] {
  const none = () => undefined;
  const oneSignal = (_i: number, _n: number, abort: AbortController): Options => ({ signal: abort.signal });
  const end = (waited: Waited, n: number): unknown => waited.end(n);
  const own = new Map<number, AbortController>();
  const signalEach = (i: number): Options => {
    const abort = new AbortController();
    own.set(i, abort);
    return { signal: abort.signal };
  };
  const tree = (_i: number, _n: number, abort: AbortController): Options => ({
    signal: AbortSignal.any([abort.signal]),
  });
  const abortEach = (order: (i: number, n: number) => number) => (_: Waited, n: number) => {
    for (let i = 0; i < n; i++) own.get(order(i, n))?.abort();
  };
  return [
    pending(kind, 'settled', none, end),
    ...(kind.ends ?? []).map((way) => pending(kind, way, none, ({ object }) => object?.[way]?.())),
    ...(kind.gives.includes('time-outs')
      ? [
          pending(kind, 'with time-outs; settled', () => ({ timeout: LONG }), end),
          pending(
            kind,
            'timed out',
            (i) => ({ timeout: 20 + (i % 10) }),
            () => {},
          ),
        ]
      : []),
    ...(kind.gives.includes('signals')
      ? [
          pending(kind, 'with one signal; settled', oneSignal, end),
          pending(kind, 'with one signal; aborted', oneSignal, (_, _n, abort) => abort.abort()),
          pending(kind, 'with a signal each; settled', signalEach, end),
          pending(
            kind,
            'with a signal each; aborted',
            signalEach,
            abortEach((i) => i),
          ),
          pending(
            kind,
            'with a signal each; aborted from the last',
            signalEach,
            abortEach((i, n) => n - 1 - i),
          ),
          pending(kind, 'with AbortSignal.any each; aborted', tree, (_, _n, abort) => abort.abort()),
        ]
      : []),
  ];
}

/** Returns a case that prepares n things itself. */
function simple(
  name: string,
  prepare: (n: number, arena: Arena) => Step['run'],
  sizes: readonly number[] = SIZES,
): Case {
  return {
    name,
    sizes,
    prepare(n) {
      const arena = roomFor(n);
      return { run: prepare(n, arena), end: () => arena.dispose() };
    },
  };
}

const MAKERS: readonly [string, (arena: Arena) => { dispose(): void }][] = [
  ['Semaphore', (arena) => new Semaphore(1, { arena })],
  ['Mutex', (arena) => new Mutex({ arena })],
  ['Latch', (arena) => new Latch(1, { arena })],
  ['RwLock', (arena) => new RwLock({ arena })],
  ['Barrier', (arena) => new Barrier(2, { arena })],
  ['CountingSemaphore', (arena) => new CountingSemaphore(1, { arena })],
  ['TwaSemaphore', (arena) => new TwaSemaphore(1, { arena })],
  ['TicketLock', (arena) => new TicketLock({ arena })],
  ['McsLock', (arena) => new McsLock({ arena })],
];

const OBJECTS: readonly Case[] = [
  ...MAKERS.flatMap(([kind, make]) => [
    simple(`n of ${kind} made; disposed of one by one`, (n, arena) => () => {
      for (const object of each(n, () => make(arena))) object.dispose();
    }),
    simple(`n of ${kind} made; disposed of from the last`, (n, arena) => () => {
      for (const object of each(n, () => make(arena)).reverse()) object.dispose();
    }),
    simple(`n of ${kind} made; and the arena disposed of`, (n, arena) => () => {
      each(n, () => make(arena));
      arena.dispose();
    }),
    simple(`n of ${kind} made and disposed of in turn; beside n others`, (n, arena) => {
      const others = each(n, () => make(arena));
      return () => {
        for (let i = 0; i < n; i++) make(arena).dispose();
        return others.length;
      };
    }),
  ]),
  simple('n names opened; disposed of one by one', (n, arena) => () => {
    for (const object of each(n, (i) => Semaphore.open(`name ${i}`, 1, { arena }))) object.dispose();
  }),
  simple('n names opened; and each again', (n, arena) => () => {
    each(n, (i) => Semaphore.open(`name ${i}`, 1, { arena }));
    each(n, (i) => Semaphore.open(`name ${i}`, 1, { arena }));
  }),
  simple('one name opened n times; disposed of', (n, arena) => () => {
    const all = each(n, () => Semaphore.open('name', 1, { arena }));
    all[0]?.dispose();
  }),
  simple('from of one handle n times', (n, arena) => {
    const { handle } = new Semaphore(1, { arena });
    return () => each(n, () => Semaphore.from(handle));
  }),
  simple('from of n handles', (n, arena) => {
    const handles = each(n, () => new Semaphore(1, { arena })).map(({ handle }) => handle);
    return () => handles.map((handle) => Semaphore.from(handle));
  }),
  simple('from of n copies of a handle; as by messages', (n, arena) => {
    const { handle } = new Mutex({ arena });
    return () => each(n, () => Mutex.from({ ...handle, arena: { ...handle.arena } }));
  }),
  simple('the handle of one object n times', (n, arena) => {
    const semaphore = new Semaphore(1, { arena });
    return () => each(n, () => semaphore.handle);
  }),
  simple('n library objects of one Latch; with a promise each; settled', (n, arena) => {
    const latch = new Latch(1, { arena });
    const { handle } = latch;
    return async () => {
      const promises = each(n, () => Latch.from(handle).waitAsync());
      latch.countDown();
      await Promise.all(promises);
    };
  }),
  simple('n of Semaphore with a promise each; released', (n, arena) => {
    const all = each(n, () => new Semaphore(0, { arena }));
    return async () => {
      const promises = all.map((semaphore) => semaphore.acquireAsync());
      for (const semaphore of all) semaphore.release();
      await Promise.all(promises);
    };
  }),
  simple('n of Mutex with a promise each; unlocked', (n, arena) => {
    const all = each(n, () => new Mutex({ arena }));
    for (const mutex of all) mutex.lock();
    return async () => {
      const promises = all.map((mutex) => mutex.lockAsync());
      await new Promise(setImmediate);
      for (const mutex of all) mutex.unlock();
      await Promise.all(promises);
    };
  }),
  simple('n of Event with a promise each; set', (n, arena) => {
    const all = each(n, () => new Event({ arena }));
    return async () => {
      const promises = all.map((event) => event.waitAsync());
      for (const event of all) event.set();
      await Promise.all(promises);
    };
  }),
  simple('n of Event with a promise each; timed out', (n, arena) => {
    const all = each(n, () => new Event({ arena }));
    return () => Promise.all(all.map((event) => event.waitAsync({ timeout: 20 })));
  }),
  simple('n of Semaphore with a promise each; and the arena disposed of', (n, arena) => {
    const all = each(n, () => new Semaphore(0, { arena }));
    return async () => {
      const promises = all.map((semaphore) => semaphore.acquireAsync());
      await new Promise(setImmediate);
      arena.dispose();
      await Promise.allSettled(promises);
    };
  }),
  simple('n of Latch with a promise each; and the arena disposed of', (n, arena) => {
    const all = each(n, () => new Latch(1, { arena }));
    return async () => {
      const promises = all.map((latch) => latch.waitAsync());
      arena.dispose();
      await Promise.allSettled(promises);
    };
  }),
];

const HELD: readonly Case[] = [
  simple('n guards of one Semaphore', (n, arena) => {
    const semaphore = new Semaphore(n, { arena });
    return () => {
      for (const held of each(n, () => semaphore.hold())) held.release();
    };
  }),
  simple('n guards of one robust Semaphore', (n, arena) => {
    const semaphore = new Semaphore(n, { arena, robust: true });
    return () => {
      for (const held of each(n, () => semaphore.hold())) held.release();
    };
  }),
  simple('a guard of each of n Semaphores', (n, arena) => {
    const all = each(n, () => new Semaphore(1, { arena, robust: true }));
    return () => {
      for (const held of all.map((semaphore) => semaphore.hold())) held.release();
    };
  }),
  simple('a guard of each of n Mutexes', (n, arena) => {
    const all = each(n, () => new Mutex({ arena }));
    return () => {
      for (const held of all.map((mutex) => mutex.hold())) held.unlock();
    };
  }),
  simple('n tasks of one WaitGroup', (n, arena) => {
    const group = new WaitGroup({ arena });
    return () => {
      for (const held of each(n, () => group.hold())) held.done();
    };
  }),
  simple('n guards of one RwLock', (n, arena) => {
    const lock = new RwLock({ arena });
    return () => {
      for (const held of each(n, () => lock.read())) held.unlock();
    };
  }),
  simple('Semaphore.add; reduce and drain; n times', (n, arena) => {
    const semaphore = new Semaphore(1, { arena, max: 3 });
    return () => {
      for (let i = 0; i < n; i++) {
        semaphore.add(2);
        semaphore.reduce();
        semaphore.drain();
      }
    };
  }),
  simple('Semaphore.release(n); and acquire(n)', (n, arena) => {
    const semaphore = new Semaphore(0, { arena });
    return () => {
      semaphore.release(n);
      semaphore.acquire(n);
    };
  }),
  simple('Event.set and reset; n times', (n, arena) => {
    const event = new Event({ arena });
    return () => {
      for (let i = 0; i < n; i++) {
        event.set();
        event.reset();
      }
    };
  }),
];

/** Calls for diagnostics. A single call looks at everything that the arena has. */
const LOOKS: readonly Case[] = [
  ...(
    [
      ['Semaphore', (arena: Arena) => new Semaphore(0, { arena })],
      ['Mutex', (arena: Arena) => new Mutex({ arena })],
    ] as const
  ).flatMap(([kind, make]) =>
    (['waiting', 'toString', 'inspect'] as const).map((what) =>
      simple(`one look of a ${kind} at n who wait: ${what}`, (n, arena) => {
        const object = make(arena);
        if (object instanceof Mutex) object.lock();
        const { signal } = new AbortController();
        for (let i = 0; i < n; i++)
          (object instanceof Mutex ? object.lockAsync({ signal }) : object.acquireAsync(1, { signal })).catch(() => {});
        return () => (what === 'waiting' ? object.waiting : object[what]());
      }),
    ),
  ),
  ...(['waiting', 'toString', 'inspect'] as const).map((what) =>
    simple(`one look of a Latch at n who wait: ${what}`, (n, arena) => {
      const latch = new Latch(1, { arena });
      for (let i = 0; i < n; i++) latch.waitAsync().catch(() => {});
      return () => (what === 'waiting' ? latch.waiting : latch[what]());
    }),
  ),
  ...(['waiting', 'inspect'] as const).map((what) =>
    simple(`one look of a Condition at n who wait: ${what}`, (n, arena) => {
      const mutex = new Mutex({ arena });
      const condition = new Condition(mutex);
      for (let i = 0; i < n; i++) {
        mutex.lock();
        condition.waitAsync().catch(() => {});
      }
      return () => (what === 'waiting' ? condition.waiting : condition[what]());
    }),
  ),
  simple('Arena.stats with n objects', (n, arena) => {
    const all = each(n, () => new Semaphore(1, { arena }));
    return () => [arena.stats(), all.length];
  }),
  simple('Arena.stats with n names', (n, arena) => {
    const all = each(n, (i) => Semaphore.open(`name ${i}`, 1, { arena }));
    return () => [arena.stats(), all.length];
  }),
];

/** Returns the case in which n threads block on one object, and all go on. */
function blocked(
  kind: ThreadOrder['kind'],
  make: (arena: Arena, n: number) => { readonly handle: unknown; readonly waiting: number },
  end: (object: never, n: number) => void,
  how: string,
): Case {
  return {
    name: `n threads blocked on a ${kind}: ${how}`,
    sizes: THREADS,
    async prepare(n) {
      const arena = new Arena({ waiters: 4096, threads: 64 });
      const object = make(arena, n);
      const workers = each(n, () => {
        const workerData: ThreadOrder = { kind, handle: object.handle };
        return new Worker(new URL('./thread.js', import.meta.url), { workerData });
      });
      const done = workers.map((worker) => new Promise((resolve) => worker.once('message', resolve)));
      while (object.waiting < n) await new Promise((resolve) => setTimeout(resolve, 5));
      return {
        async run() {
          end(object as never, n);
          await Promise.all(done);
        },
        end: () => Promise.all(workers.map((worker) => worker.terminate())),
      };
    },
  };
}

const BLOCKED: readonly Case[] = [
  blocked(
    'Semaphore',
    (arena) => new Semaphore(0, { arena }),
    (s: Semaphore, n) => s.release(n),
    'release(n)',
  ),
  blocked(
    'Semaphore',
    (arena) => new Semaphore(0, { arena }),
    (s: Semaphore) => s.cancelAll(),
    'cancelAll',
  ),
  blocked(
    'Semaphore',
    (arena) => new Semaphore(0, { arena }),
    (s: Semaphore) => s.dispose(),
    'disposed of',
  ),
  blocked(
    'Mutex',
    (arena) => {
      const mutex = new Mutex({ arena });
      mutex.lock();
      return mutex;
    },
    (mutex: Mutex) => mutex.unlock(),
    'unlock',
  ),
  blocked(
    'Latch',
    (arena) => new Latch(1, { arena }),
    (latch: Latch) => latch.countDown(),
    'countDown',
  ),
  blocked(
    'Event',
    (arena) => new Event({ arena }),
    (event: Event) => event.dispose(),
    'disposed of',
  ),
];

export const CASES: readonly Case[] = [...KINDS.flatMap(casesOf), ...OBJECTS, ...HELD, ...LOOKS, ...BLOCKED];

export function caseOf(name: string): Case {
  const found = CASES.find((one) => one.name === name);
  if (!found) throw new Error(`no operation is called ${name}`);
  return found;
}
