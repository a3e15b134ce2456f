/**
 * User code that the library calls may call the library again. Here are the places in which user code runs inside a call,
 * and the calls that it may make there. Each call is made in each place, in a thread of its own.
 *
 * What is right is what a call would do just before the outer call, or just after it: `same` says so in code, for each place.
 * Both programs run, and must tell the same: the answers of both calls, and what the object says then. In the end another
 * thread must find the object free. RwLock has a table of its own (rw-lock-callbacks.test.ts).
 */
import { Arena, DisposedError, Mutex, Semaphore } from 'taketurns';
import { Barrier, Condition, Event, Latch, Once, WaitGroup } from 'taketurns/sync';
import { afterAll, describe, expect, it } from 'vitest';
import { allInCi } from '../support/rounds.js';
import { Member } from '../support/team.js';

const arena = new Arena();
const crowd: Member[] = [];
const member = (i: number): Member => {
  crowd[i] ??= new Member();
  return crowd[i] as Member;
};
afterAll(() => arena.dispose());

/** What the tests need of an object. */
interface Shared {
  readonly handle: { readonly kind: string };
  readonly waiting: number;
  readonly disposed: boolean;
  dispose(): void;
}

interface Class {
  make(): Shared;
  /** Code by which another thread takes the object, before it dies. */
  readonly dies?: string;
  /** The test thread takes the object, and gives it back. */
  take?(object: Shared): void;
  give?(object: Shared): void;
  /** What the object says, in code. */
  readonly look: string;
  /** Gives back what this thread holds, in code. */
  readonly clean: string;
  /** Another thread finds it free. */
  check(object: Shared): void;
  readonly calls: readonly string[];
}

/**
 * A place: `inside` makes the outer call, in which user code calls `call()`; `same` makes the same calls one after the other.
 * In both, `outer` gets the outcome of the outer call.
 */
interface Place {
  readonly name: string;
  /** `dead`: an owner has died before; `held`: another thread holds it all the time; else nobody does. */
  readonly state?: 'dead' | 'held';
  readonly inside: string;
  readonly same: string;
  /** Calls that a place forbids, or for which the docs promise nothing there. */
  readonly not?: readonly string[];
}

const PRELUDE = `
  const show = (value) => value === null || typeof value !== 'object' ? String(value) : value.constructor.name;
  const ends = (error) => error?.name ?? String(error);
  const outcome = (run) => {
    try {
      const result = run();
      return Promise.resolve(result).then((value) => 'answers ' + show(value), (error) => 'rejects ' + ends(error));
    } catch (error) {
      return Promise.resolve('throws ' + ends(error));
    }
  };
  /** The outcome of a call that answers with the outcome of another. */
  const answering = (told) => told.then((outcome) => 'answers ' + outcome);
  let inner;
  let outer;
`;

/** The program of a cell. It returns what the two calls have answered, and what the object says then. */
const program = (call: string, { look, clean }: Class, body: string): string => `${PRELUDE}
  const call = () => {
    if (inner !== undefined) return;
    inner = outcome(() => ${call});
  };
  ${body}
  const answers = [await outer, await inner];
  const says = ${look};
  ${clean}
  return 'outer ' + answers[0] + ', inner ' + answers[1] + ', says ' + says;
`;

/** Milliseconds without any progress after which a call hangs. */
const DEADLINE = 30_000;

interface Cell {
  readonly call: string;
  readonly body: string;
}

/** Runs programs in a thread, one after the other. If one hangs, the thread is replaced. */
async function run(objects: readonly Shared[], codes: readonly string[]): Promise<unknown[]> {
  const subject = member(0);
  const words = new Int32Array(new SharedArrayBuffer(4));
  const cells = codes.map((code, i) => ({ handle: objects[i]?.handle, code }));
  let told: unknown[] | undefined;
  let failure: unknown;
  subject.run<unknown[]>('scripts', { cells, words }).then(
    (answers) => {
      told = answers;
    },
    (error) => {
      failure = error;
    },
  );
  let [done, since] = [0, Date.now()];
  while (told === undefined && failure === undefined) {
    await new Promise((resolve) => setTimeout(resolve, 2));
    if (words[0] !== done) [done, since] = [words[0] as number, Date.now()];
    else if (Date.now() - since > DEADLINE) failure = 'hangs';
  }
  if (told !== undefined) return told;
  const what = `${failure}: ${codes[done]?.slice(PRELUDE.length)}`;
  await subject.kill();
  delete crowd[0];
  throw new Error(what);
}

/** Runs a program for each cell, each over an object of its own, and returns what each has told. */
async function runCells(kind: Class, state: Place['state'], cells: readonly Cell[]): Promise<unknown[]> {
  const objects = cells.map(() => kind.make());
  const handles = objects.map(({ handle }) => handle);
  if (state === 'dead') await member(1).run('hold-and-leave', { handles, code: kind.dies });
  if (state === 'held') for (const object of objects) kind.take?.(object);
  const told = await run(
    objects,
    cells.map(({ call, body }) => program(call, kind, body)),
  );
  objects.forEach((object, i) => {
    try {
      if (state === 'held') kind.give?.(object);
      kind.check(object);
    } catch (error) {
      if (!(error instanceof DisposedError))
        throw new Error(`after ${cells[i]?.call}: ${cells[i]?.body}`, { cause: error });
    }
    expect(object.waiting).toBe(0);
    object.dispose();
  });
  return told;
}

function table(kind: Class, places: readonly Place[]): void {
  it.each(allInCi(places, 3).map((place) => [place.name, place] as const))(
    '%s',
    { timeout: 300_000 },
    async (_, place) => {
      const calls = kind.calls.filter((call) => !place.not?.includes(call));
      const bodies = [place.inside, place.same];
      const told = await runCells(
        kind,
        place.state,
        calls.flatMap((call) => bodies.map((body) => ({ call, body }))),
      );
      const differences = calls
        .map((call, i) => ({ call, inside: told[2 * i], same: told[2 * i + 1] }))
        .filter(({ inside, same }) => inside !== same);
      expect(differences).toEqual([]);
    },
  );
}

/** Runs one program of a class that has no table. */
async function tell(kind: Class, call: string, body: string): Promise<unknown> {
  return (await runCells(kind, undefined, [{ call, body }]))[0];
}

// --- Places ------------------------------------------------------------------------------------------------------

/** The callback of each call that acquires, when an owner has died. `outer` is awaited in `same`, since it calls back first. */
const deaths = (outers: readonly string[], target = 'object'): Place[] =>
  outers.map((outer) => ({
    name: `onOwnerDied in ${outer}`,
    state: 'dead',
    // Where it has taken all, another request would wait for ever.
    ...(/\b2\b|drain/.test(outer) && { not: ['object.acquire()'] }),
    inside: `${target}.onOwnerDied = call; outer = outcome(() => ${outer});`,
    same: `${target}.onOwnerDied = () => {}; outer = outcome(() => ${outer}); await outer; call();`,
  }));

/** A getter of the options is called before the request begins. */
const getters = (outers: readonly string[], state: 'held' | undefined): Place[] =>
  outers.flatMap((outer) => [
    {
      name: `the getter timeout in ${outer}${state ? ', which waits' : ''}`,
      ...(state && { state }),
      inside: `const options = { get timeout() { call(); return 3; } }; outer = outcome(() => ${outer});`,
      same: `const options = { timeout: 3 }; call(); outer = outcome(() => ${outer});`,
    },
    {
      name: `the getter signal in ${outer}${state ? ', which waits' : ''}`,
      ...(state && { state }),
      inside: `const { signal } = new AbortController();
        const options = { timeout: 3, get signal() { call(); return signal; } }; outer = outcome(() => ${outer});`,
      same: `const options = { timeout: 3, signal: new AbortController().signal }; call(); outer = outcome(() => ${outer});`,
    },
    {
      name: `the getter signal.aborted in ${outer}${state ? ', which waits' : ''}`,
      ...(state && { state }),
      inside: `const signal = { get aborted() { call(); return false; }, addEventListener() {}, removeEventListener() {} };
        const options = { timeout: 3, signal }; outer = outcome(() => ${outer});`,
      same: `const options = { timeout: 3, signal: new AbortController().signal }; call(); outer = outcome(() => ${outer});`,
    },
  ]);

/**
 * A signal is asked to listen when the request stands in line, or just before that (`asksFirst`), and a listener is called
 * before or after the library's.
 */
const signals = (outers: readonly string[], asksFirst = false): Place[] =>
  outers.flatMap((outer) => [
    {
      name: `addEventListener of the signal in ${outer}`,
      state: 'held',
      inside: `const { signal } = new AbortController();
        const options = { timeout: 3, signal: {
          aborted: false,
          addEventListener(name, heard) { signal.addEventListener(name, heard); call(); },
          removeEventListener(name, heard) { signal.removeEventListener(name, heard); },
        } };
        outer = outcome(() => ${outer});`,
      same: `const options = { timeout: 3, signal: new AbortController().signal };
        ${asksFirst ? 'call();' : ''} outer = outcome(() => ${outer}); ${asksFirst ? '' : 'call();'}`,
    },
    {
      name: `removeEventListener of the signal in ${outer}`,
      state: 'held',
      inside: `const options = { timeout: 3, signal: {
          aborted: false, addEventListener() {}, removeEventListener() { call(); },
        } };
        outer = outcome(() => ${outer}); await outer;`,
      same: `const options = { timeout: 3, signal: new AbortController().signal }; outer = outcome(() => ${outer});
        await outer; call();`,
    },
    {
      name: `a listener before that of ${outer}`,
      state: 'held',
      inside: `const controller = new AbortController(); const { signal } = controller;
        signal.addEventListener('abort', call);
        const options = { signal }; outer = outcome(() => ${outer}); controller.abort('mine');`,
      same: `const controller = new AbortController();
        const options = { signal: controller.signal }; outer = outcome(() => ${outer}); call(); controller.abort('mine');`,
    },
    {
      name: `a listener behind that of ${outer}`,
      state: 'held',
      inside: `const controller = new AbortController(); const { signal } = controller;
        const options = { signal }; outer = outcome(() => ${outer});
        signal.addEventListener('abort', call); controller.abort('mine');`,
      same: `const controller = new AbortController();
        const options = { signal: controller.signal }; outer = outcome(() => ${outer}); controller.abort('mine'); call();`,
    },
  ]);

// --- Mutex -------------------------------------------------------------------------------------------------------

const mutexCalls = [
  'object.lock()',
  'object.lock({ timeout: 0 })',
  'object.lock({ timeout: 2 })',
  'object.hold()',
  'object.hold({ timeout: 2 })',
  'object.tryLock()',
  'object.tryHold()',
  'object.lockAsync({ timeout: 2 })',
  'object.holdAsync({ timeout: 2 })',
  'object.waitForUnlock()',
  'object.waitForUnlock({ timeout: 2 })',
  'object.waitForUnlockAsync({ timeout: 2 })',
  'object.runExclusive(() => 1, { timeout: 2 })',
  'object.unlock()',
  '(object.tryLock(), object.unlock())',
  '(object.unlock(), object.lock({ timeout: 2 }))',
  'object.cancelAll()',
  'object.dispose()',
  'object.inspect().locked',
  'String(object)',
  '[object.held, object.locked, object.waiting, object.bypass].join()',
  'object.constructor.from(object.handle).tryLock()',
  'object.constructor.from(object.handle).lock({ timeout: 0 })',
];

const mutex: Class = {
  make: () => new Mutex({ arena }),
  dies: 'object.lock();',
  take: (object) => (object as Mutex).lock(),
  give: (object) => (object as Mutex).unlock(),
  look: '[object.disposed, object.held, object.locked, object.waiting]',
  clean: 'if (object.held) object.unlock();',
  check(object) {
    (object as Mutex).lock({ timeout: DEADLINE });
    (object as Mutex).unlock();
  },
  calls: mutexCalls,
};

/** Calls without a limit: where another thread has the object all the time, they would wait for ever. */
const endless = ['object.lock()', 'object.hold()', 'object.waitForUnlock()', 'object.acquire()'];
const withoutEndless = (places: readonly Place[]): Place[] =>
  places.map((place) => (place.state === 'held' ? { ...place, not: [...(place.not ?? []), ...endless] } : place));

describe('Mutex', () => {
  const sync = ['object.lock(options)', 'object.hold(options)', 'object.waitForUnlock(options)'];
  const async = [
    'object.lockAsync(options)',
    'object.holdAsync(options)',
    'object.waitForUnlockAsync(options)',
    'object.runExclusive(() => 1, options)',
  ];
  table(
    mutex,
    withoutEndless([
      ...deaths([
        'object.lock()',
        'object.lock({ timeout: 1000 })',
        'object.lock({ timeout: 0 })',
        'object.hold()',
        'object.tryLock()',
        'object.tryHold()',
        'object.lockAsync()',
        'object.lockAsync({ timeout: 1000 })',
        'object.lockAsync({ timeout: 0 })',
        'object.holdAsync()',
        'object.holdAsync({ signal: new AbortController().signal })',
      ]),
      ...getters([...sync, ...async], undefined),
      ...getters([...sync, ...async], 'held'),
      ...signals(async, true),
      {
        name: 'the function of runExclusive',
        inside: 'outer = outcome(() => object.runExclusive(() => { call(); return inner; }));',
        same: `outer = outcome(() => object.lockAsync()); await outer; call(); outer = answering(inner); await inner;
          if (object.held) object.unlock();`,
        // These give up what runExclusive gives back.
        not: [
          'object.unlock()',
          '(object.tryLock(), object.unlock())',
          '(object.unlock(), object.lock({ timeout: 2 }))',
        ],
      },
      {
        name: 'then of what the function of runExclusive returns',
        inside: `outer = outcome(() => object.runExclusive(() => ({ then(resolve) { call(); inner.then(resolve); } })));`,
        same: `outer = outcome(() => object.lockAsync()); await outer; call(); outer = answering(inner); await inner;
          if (object.held) object.unlock();`,
        not: [
          'object.unlock()',
          '(object.tryLock(), object.unlock())',
          '(object.unlock(), object.lock({ timeout: 2 }))',
        ],
      },
    ]),
  );
});

// --- Semaphore ---------------------------------------------------------------------------------------------------

const semaphoreCalls = [
  'object.acquire()',
  'object.acquire({ timeout: 0 })',
  'object.acquire(1, { timeout: 2 })',
  'object.acquire(2, { timeout: 2 })',
  'object.hold({ timeout: 2 })',
  'object.tryAcquire()',
  'object.tryHold()',
  'object.drain()',
  'object.acquireAsync({ timeout: 2 })',
  'object.acquireAsync(2, { timeout: 2 })',
  'object.holdAsync({ timeout: 2 })',
  'object.runExclusive(() => 1, { timeout: 2 })',
  'object.release()',
  'object.release(2)',
  '(object.tryAcquire(), object.release())',
  '(object.add(), object.reduce())',
  'object.cancelAll()',
  'object.dispose()',
  'object.inspect().out',
  'String(object)',
  '[object.available, object.waiting, object.max, object.robust].join()',
  'object.constructor.from(object.handle).tryAcquire()',
];

const robust: Class = {
  make: () => new Semaphore(2, { arena, robust: true, max: 8 }),
  dies: 'object.acquire(2);',
  take: (object) => (object as Semaphore).acquire(2),
  give: (object) => (object as Semaphore).release(2),
  look: '[object.disposed, object.available, object.waiting, object.disposed || object.inspect().out]',
  clean: `for (let mine = 9; mine > 0 && !object.disposed; mine--) try { object.release(); } catch {}`,
  check(object) {
    (object as Semaphore).acquire(2, { timeout: DEADLINE });
    (object as Semaphore).release(2);
  },
  calls: semaphoreCalls,
};

/** Any thread may release: the permits that are out are counted, and given back as many. */
const plain: Class = {
  ...robust,
  make: () => new Semaphore(2, { arena, max: 8 }),
  clean: `if (!object.disposed) {
    const { out } = object.inspect();
    const others = typeof held === 'undefined' ? 0 : held;
    if (out > others) object.release(out - others);
    else if (out < others) object.acquire(others - out, { timeout: 1000 });
  }`,
};

const semaphorePlaces = (state: 'held' | undefined): Place[] => {
  const sync = ['object.acquire(options)', 'object.acquire(2, options)', 'object.hold(options)'];
  const async = [
    'object.acquireAsync(options)',
    'object.acquireAsync(2, options)',
    'object.holdAsync(options)',
    'object.runExclusive(() => 1, options)',
  ];
  return getters([...sync, ...async], state);
};

const semaphoreSignals = [
  'object.acquireAsync(options)',
  'object.acquireAsync(2, options)',
  'object.holdAsync(options)',
  'object.runExclusive(() => 1, options)',
];

describe('Semaphore, robust', () => {
  table(
    robust,
    withoutEndless([
      ...deaths([
        'object.acquire()',
        'object.acquire(2)',
        'object.acquire(1, { timeout: 1000 })',
        'object.acquire({ timeout: 0 })',
        'object.hold()',
        'object.tryAcquire()',
        'object.tryHold()',
        'object.drain()',
        'object.acquireAsync()',
        'object.acquireAsync(2, { timeout: 1000 })',
        'object.acquireAsync({ timeout: 0 })',
        'object.holdAsync()',
      ]),
      ...semaphorePlaces(undefined),
      ...semaphorePlaces('held'),
      ...signals(semaphoreSignals, true),
      {
        name: 'the function of runExclusive',
        inside: 'outer = outcome(() => object.runExclusive(() => { call(); return inner; }));',
        same: `outer = outcome(() => object.holdAsync()); await outer; call(); outer = answering(inner); await inner;
          if (!object.disposed) object.release();`,
        not: ['object.release()', 'object.release(2)'],
      },
    ]),
  );
});

describe('Semaphore', () => {
  table(plain, withoutEndless([...semaphorePlaces(undefined), ...signals(semaphoreSignals, true).map(held)]));
});

/** The permits that another thread has, for `clean`. */
function held(place: Place): Place {
  return { ...place, inside: `var held = 2; ${place.inside}`, same: `var held = 2; ${place.same}` };
}

// --- Condition ---------------------------------------------------------------------------------------------------

const condition: Class = {
  make: () => new Condition(new Mutex({ arena })),
  dies: 'object.mutex.lock();',
  look: '[object.disposed, object.waiting, object.mutex.disposed, object.mutex.held, object.mutex.locked, object.mutex.waiting]',
  clean: 'if (object.mutex.held) object.mutex.unlock();',
  check(object) {
    const { mutex } = object as Condition;
    mutex.lock({ timeout: DEADLINE });
    mutex.unlock();
  },
  calls: [
    'object.wait({ timeout: 0 })',
    'object.wait({ timeout: 2 })',
    'object.waitFor(() => true)',
    'object.waitFor(() => false, { timeout: 2 })',
    'object.waitAsync({ timeout: 2 })',
    'object.waitForAsync(() => true)',
    'object.waitForAsync(() => false, { timeout: 2 })',
    'object.notify()',
    'object.notify(2)',
    'object.notifyAll()',
    'object.inspect().waiting',
    'String(object)',
    'object.waiting',
    'object.handle.kind',
    'object.constructor.from(object.handle).notifyAll()',
    'object.dispose()',
    ...mutexCalls.map((call) => call.replaceAll('object.', 'object.mutex.')),
  ],
};

describe('Condition', () => {
  /** A predicate must not wait, and must not unlock the mutex. */
  const waits = condition.calls.filter((call) =>
    /wait(Async)?\(|waitForUnlock|false|unlock\(|mutex.dispose/.test(call),
  );
  /** These keep the mutex, which the wait is to lock again. */
  const keeps = condition.calls.filter((call) =>
    /mutex[.](lock|hold|try)|from\(object.mutex|lock\(\{ timeout: 2 \}\)\)/.test(call),
  );
  const owned = ['object.waitFor(() => true)', 'object.waitForAsync(() => true)', 'object.mutex.inspect().locked'];
  table(condition, [
    ...['object.waitFor(ready, { timeout: 1000 })', 'object.waitForAsync(ready, { timeout: 1000 })'].flatMap(
      (outer) => [
        {
          name: `the first predicate of ${outer}`,
          inside: `object.mutex.lock(); const ready = () => { call(); return true; }; outer = outcome(() => ${outer});`,
          same: `object.mutex.lock(); call(); outer = Promise.resolve('answers true');`,
          not: waits,
        },
        {
          name: `the predicate of ${outer} after a notification`,
          inside: `object.mutex.lock(); let asked = 0;
          const ready = () => { if (++asked === 1) { object.waitAsync; return false; } call(); return true; };
          outer = outcome(() => ${outer.replace('1000', '1')});`,
          same: `object.mutex.lock(); object.wait({ timeout: 1 }); call(); outer = Promise.resolve('answers true');`,
          not: waits,
        },
      ],
    ),
    ...['object.wait(options)', 'object.waitAsync(options)', 'object.waitFor(() => false, options)'].flatMap((outer) =>
      getters([outer], undefined).map((place) => ({
        ...place,
        inside: `object.mutex.lock(); ${place.inside}`,
        same: `object.mutex.lock(); ${place.same}`,
        name: `${place.name}, by the owner`,
        // Each option is read once: what the getter waits for, the wait does not see.
        not: ['object.dispose()', 'object.mutex.dispose()', ...(outer.includes('Async') ? keeps : [])],
      })),
    ),
    ...signals(['object.waitAsync(options)'], true)
      // The listener is removed before the mutex is locked again.
      .filter(({ name }) => !name.startsWith('removeEventListener'))
      .map(({ state: _, ...place }) => ({
        ...place,
        inside: `object.mutex.lock(); ${place.inside}`,
        same: `object.mutex.lock(); ${place.same}`,
        // The signal listens before the mutex is unlocked.
        not: place.name.startsWith('addEventListener') ? [...keeps, ...waits, ...owned] : keeps,
      })),
  ]);
});

/** A call counts as one that waits when the signal listens, which shows in its text alone. */
const silent = (places: readonly Place[]): Place[] =>
  places.map((place) => (place.name.startsWith('addEventListener') ? { ...place, not: ['String(object)'] } : place));

// --- Once, Barrier, WaitGroup, Event, Latch -----------------------------------------------------------------------

const nothing = (): void => {};

describe('Once', () => {
  const once: Class = {
    make: () => new Once({ arena }),
    look: '[object.disposed, object.done, object.waiting]',
    clean: '',
    check: nothing,
    calls: [
      'object.run(() => {})',
      'object.run(() => {}, { timeout: 0 })',
      'object.run(() => {}, { timeout: 2 })',
      'object.runAsync(() => {}, { timeout: 2 })',
      'object.done',
      'object.inspect().runner > 0',
      'String(object)',
      'object.handle.kind',
      'object.constructor.from(object.handle).done',
      'object.dispose()',
    ],
  };
  table(once, [...getters(['object.run(() => {}, options)', 'object.runAsync(() => {}, options)'], undefined)]);

  it.each([
    ['object.run(() => {})', 'throws SelfDeadlockError'],
    ['object.run(() => {}, { timeout: 0 })', 'throws TimeoutError'],
    ['object.run(() => {}, { timeout: 2 })', 'throws TimeoutError'],
    ['object.runAsync(() => {}, { timeout: 2 })', 'rejects TimeoutError'],
    ['object.done', 'answers false'],
    ['object.inspect().runner > 0', 'answers true'],
    ['object.constructor.from(object.handle).done', 'answers false'],
  ])('in its function, %s: %s', async (call, inner) => {
    for (const outer of [
      'object.run(() => { call(); })',
      'object.runAsync(() => { call(); })',
      'object.runAsync(async () => { call(); await inner; })',
    ]) {
      const told = await tell(once, call, `outer = outcome(() => ${outer}); await outer;`);
      // A promise that waits for the function may find that it has been done.
      const may = inner.startsWith('rejects') && !outer.includes('await') ? 'answers false' : inner;
      expect(told, outer).toBe(`outer answers true, inner ${may}, says false,true,0`);
    }
  });
});

describe('Barrier', () => {
  const barrier: Class = {
    make: () => new Barrier(1, { arena }),
    look: '[object.disposed, object.broken, object.waiting]',
    clean: '',
    check: nothing,
    calls: [],
  };

  it.each([
    ['object.round', 'answers 0', 'answers 0', 'false,false,0'],
    ['object.broken', 'answers false', 'answers 0', 'false,false,0'],
    ['object.inspect().arrived', 'answers 1', 'answers 0', 'false,false,0'],
    ['String(object)', 'answers Barrier(1 of 1 arrived, 0 waiting)', 'answers 0', 'false,false,0'],
    ['object.leave()', 'answers undefined', 'answers 0', 'false,false,0'],
    // It must not arrive there: a call that may give up does, and belongs to the next round.
    ['object.arriveAndWait({ timeout: 0 })', 'throws TimeoutError', 'answers 0', 'false,false,0'],
    ['object.arriveAndWait({ timeout: 2 })', 'throws TimeoutError', 'answers 0', 'false,false,0'],
    ['object.dispose()', 'answers undefined', 'throws DisposedError', 'true,false,0'],
  ])('in its action, %s: %s', async (call, inner, outer, says) => {
    for (const how of ['arriveAndWait', 'arriveAndWaitAsync']) {
      const told = await tell(
        barrier,
        call,
        `object = object.constructor.from(object.handle, { action: () => call() });
         outer = outcome(() => object.${how}()); await outer;`,
      );
      const ends = how.endsWith('Async') ? outer.replace('throws', 'rejects') : outer;
      expect(told, how).toBe(`outer ${ends}, inner ${inner}, says ${says}`);
    }
  });
});

describe('WaitGroup', () => {
  const group: Class = {
    make: () => new WaitGroup({ arena }),
    take: (object) => (object as WaitGroup).add(),
    give: (object) => object.disposed || (object as WaitGroup).pending === 0 || (object as WaitGroup).done(),
    look: '[object.disposed, object.pending, object.waiting]',
    clean: '',
    check: nothing,
    calls: [
      'object.wait({ timeout: 0 })',
      'object.wait({ timeout: 2 })',
      'object.waitAsync({ timeout: 2 })',
      '(object.add(), object.done())',
      'object.hold().done()',
      'object.run(() => 1)',
      'object.done()',
      'object.inspect().pending',
      'object.pending',
      'String(object)',
      'object.constructor.from(object.handle).pending',
      'object.dispose()',
    ],
  };
  table(group, [
    {
      name: 'the function of run',
      inside: 'outer = outcome(() => object.run(() => { call(); return inner; }));',
      same: 'const task = object.hold(); call(); outer = answering(inner); await inner; task.done();',
    },
    ...getters(['object.wait(options)', 'object.waitAsync(options)'], 'held'),
    ...getters(['object.wait(options)', 'object.waitAsync(options)'], undefined),
    ...silent(signals(['object.waitAsync(options)'])),
  ]);
});

describe('Event', () => {
  const event: Class = {
    make: () => new Event({ arena }),
    look: '[object.disposed, object.isSet, object.waiting]',
    clean: '',
    check: nothing,
    calls: [
      'object.set()',
      'object.reset()',
      '(object.set(), object.reset())',
      'object.wait({ timeout: 0 })',
      'object.wait({ timeout: 2 })',
      'object.waitAsync({ timeout: 2 })',
      'object.isSet',
      'object.inspect().isSet',
      'String(object)',
      'object.constructor.from(object.handle).set()',
      'object.dispose()',
    ],
  };
  table(event, [
    ...getters(['object.wait(options)', 'object.waitAsync(options)'], undefined),
    ...silent(signals(['object.waitAsync(options)'])),
  ]);
});

describe('Latch', () => {
  const latch: Class = {
    make: () => new Latch(1, { arena }),
    look: '[object.disposed, object.count, object.waiting]',
    clean: '',
    check: nothing,
    calls: [
      'object.countDown()',
      'object.wait({ timeout: 0 })',
      'object.wait({ timeout: 2 })',
      'object.waitAsync({ timeout: 2 })',
      'object.count',
      'object.inspect().count',
      'String(object)',
      'object.constructor.from(object.handle).countDown()',
      'object.dispose()',
    ],
  };
  table(latch, [
    ...getters(['object.wait(options)', 'object.waitAsync(options)'], undefined),
    ...silent(signals(['object.waitAsync(options)'])),
  ]);
});
