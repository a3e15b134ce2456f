/**
 * KeyedMutex and KeyedSemaphore. The tasks hold one key of each table, of which a KeyedMutex lets one in, and a
 * KeyedSemaphore as many as there are permits. On the way they hold other keys for a moment, so that keys come and go.
 */
import { KeyedMutex, KeyedSemaphore } from 'taketurns/keyed';
import { INSIDE } from '../board.mjs';
import { enterLock, leaveLock } from './mutex.mjs';
import { endGuard, useBy, useBySync } from './parts/critical.mjs';
import { rulesOf as rulesOfSemaphore } from './semaphore.mjs';

const KEYS = ['key', '', 7, -(2 ** 40), 'x'.repeat(250), '\u{10000}\ud800'];

const end = (task, object, _, guard) =>
  endGuard(task, object, guard, (held) => (held.release ? held.release() : held.unlock()));

/** The forms of a table whose calls take these arguments between the key and the options. */
function formsOf(keyOf, between) {
  const tries = [{ name: 'tryHold', tries: true, call: (lib, n) => lib.tryHold(keyOf(lib), ...between(n)), give: end }];
  return {
    forms: [
      { name: 'holdAsync', call: (lib, n, o) => lib.holdAsync(keyOf(lib), ...between(n), o), give: end },
      { name: 'holdAsync', call: (lib, n, o) => lib.holdAsync(keyOf(lib), ...between(n), o), give: end },
      ...tries,
      { name: 'runExclusive', around: (lib, n, o, body) => lib.runExclusive(keyOf(lib), body, ...between(n), o) },
    ],
    syncForms: [
      { name: 'hold', call: (lib, n, o) => lib.hold(keyOf(lib), ...between(n), o), give: end },
      { name: 'hold', call: (lib, n, o) => lib.hold(keyOf(lib), ...between(n), o), give: end },
      ...tries,
    ],
  };
}

/** The key of each library object. */
const keys = new WeakMap();
const keyed = (lib, { key }) => {
  keys.set(lib, KEYS[key]);
  return lib;
};

/** Holds a key that perhaps nobody else wants. */
function visit({ life, draw }, { lib }) {
  if (life.gone || life.user.depth > 0) return;
  try {
    lib.tryHold(`visited ${draw.upTo(1000)}`)?.[Symbol.dispose]();
  } catch (error) {
    if (!/^(Disposed|ArenaFull)Error$/.test(error?.name) && !life.gone) life.find(`${lib}: a visit`, error);
  }
}

function kindOf({ forms, syncForms }, { shape, make, open, from, rulesOf, mortal, ...rest }) {
  const prepare = (task, object) => {
    if (object.cancels && task.draw.chance(0.05)) task.life.user.cancelAll(object, object.lib);
    if (task.draw.chance(0.3)) visit(task, object);
    return 1 + task.draw.upTo(object.permits);
  };
  return {
    isLock: true,
    haunts: true,
    tells: () => true,
    telling: (lib) => lib,
    shape: (draw) => ({ ...shape(draw), key: draw.upTo(KEYS.length), robust: true, elastic: false }),
    make: (o, arena) => keyed(o.name ? open(o, arena) : make(o, arena), o),
    open: (o, arena) => keyed(open(o, arena), o),
    from: (handle, o) => keyed(from(handle), o),
    mortal: {
      make: mortal,
      calls: (lib, within) => [
        () => lib.hold('a', within)[Symbol.dispose](),
        () => lib.holdAsync('b', within).then((held) => held[Symbol.dispose]()),
        () => lib.runExclusive('c', () => 1, within),
        () => lib.holdAllAsync(['a', 'b'], within).then((held) => held.unlock()),
      ],
    },
    async use(task, object) {
      await useBy(task, object, task.draw.of(forms), prepare(task, object), rulesOf(object));
    },
    useSync(task, object) {
      useBySync(task, object, task.draw.of(syncForms), prepare(task, object), rulesOf(object));
    },
    look: (lib) => [lib.size, lib.waiting],
    wrong(_context, _object, lib) {
      const stats = lib.inspect();
      return stats.size || stats.waiting ? `nobody is there, and it says ${JSON.stringify(stats)}` : undefined;
    },
    ...rest,
  };
}

const keyOf = (lib) => keys.get(lib);

const mutex = kindOf(
  formsOf(keyOf, () => []),
  {
    shape: () => ({ permits: 1 }),
    make: (_, arena) => new KeyedMutex({ arena }),
    open: ({ name }, arena) => KeyedMutex.open(name, { arena }),
    from: (handle) => KeyedMutex.from(handle),
    rulesOf: () => ({ enter: enterLock, leave: leaveLock, bound: 0, excludes: () => true }),
    mortal: (name, arena) => (name ? KeyedMutex.open(name, { arena }) : new KeyedMutex({ arena })),
    /** Removes the note of the owner that has died. */
    repair: ({ board }, { index }) => board.store(index, INSIDE, 0),
  },
);

const semaphore = kindOf(
  formsOf(keyOf, (n) => [n]),
  {
    shape: (draw) => ({ permits: draw.of([1, 2, 5]) }),
    make: ({ permits }, arena) => new KeyedSemaphore(permits, { arena }),
    open: ({ name, permits }, arena) => KeyedSemaphore.open(name, permits, { arena }),
    from: (handle) => KeyedSemaphore.from(handle),
    rulesOf: rulesOfSemaphore,
    mortal: (name, arena) => (name ? KeyedSemaphore.open(name, 2, { arena }) : new KeyedSemaphore(2, { arena })),
    repair() {},
  },
);

export const kinds = { 'keyed-mutex': mutex, 'keyed-semaphore': semaphore };
