/** Mutex: one thread or task at a time is the owner, and nobody is overtaken more often than the bound says. */
import { Mutex } from 'taketurns';
import { INSIDE } from '../board.mjs';
import { endGuard, useBy, useBySync } from './parts/critical.mjs';

export function enterLock(task, { index, what }) {
  const { life, board, id } = task;
  if (life.gone) return;
  const before = board.change(index, INSIDE, 0, id);
  if (before !== 0) {
    life.find(
      `${what}: life ${life.number}, task ${task.number} is the owner, and ${before} is inside (10 life + task + 1)`,
    );
    board.store(index, INSIDE, id);
  }
}

export function leaveLock(task, { index, what }) {
  const { life, board, id } = task;
  if (life.gone) return;
  const before = board.change(index, INSIDE, id, 0);
  if (before !== id) life.find(`${what}: ${id} leaves, and ${before} is inside (10 life + task + 1)`);
}

const unlock = (task, object, lib) => task.give('unlock', object, () => lib.unlock());
const end = (task, object, _, guard) => endGuard(task, object, guard, (held) => held.unlock());

const tries = [
  { name: 'tryLock', tries: true, call: (lib) => lib.tryLock(), give: unlock },
  { name: 'tryHold', tries: true, call: (lib) => lib.tryHold(), give: end },
];

const forms = [
  { name: 'lockAsync', call: (lib, _, options) => lib.lockAsync(options), give: unlock },
  { name: 'lockAsync', call: (lib, _, options) => lib.lockAsync(options), give: unlock },
  { name: 'holdAsync', call: (lib, _, options) => lib.holdAsync(options), give: end },
  { name: 'waitForUnlockAsync', call: (lib, _, options) => lib.waitForUnlockAsync(options), passes: true },
  ...tries,
  { name: 'runExclusive', around: (lib, _, options, body) => lib.runExclusive(body, options) },
];

const syncForms = [
  { name: 'lock', call: (lib, _, options) => lib.lock(options), give: unlock },
  { name: 'lock', call: (lib, _, options) => lib.lock(options), give: unlock },
  { name: 'hold', call: (lib, _, options) => lib.hold(options), give: end },
  { name: 'waitForUnlock', call: (lib, _, options) => lib.waitForUnlock(options), passes: true },
  ...tries,
];

const rulesOf = ({ bypass }) => ({ enter: enterLock, leave: leaveLock, bound: bypass, excludes: () => true });

/** Unlocks, as a thread that is not the owner must not do, and checks the error. */
function misuse(task, object) {
  const { life } = task;
  const { lib } = object;
  if (lib.held || life.gone || life.board.isEnding) return;
  try {
    lib.unlock();
    if (!lib.disposed) life.find(`${object.what}: unlock by a thread that is not the owner has not thrown`);
  } catch (error) {
    if (!/not the owner/.test(error?.message))
      life.find(`${object.what}: unlock by a thread that is not the owner`, error);
  }
}

export const mutex = {
  isLock: true,
  tells: () => true,
  telling: (lib) => lib,
  shape: (draw) => ({ bypass: draw.of([0, 0, 1, 7, 2 ** 21]) }),
  mortal: {
    make: (name, arena) => (name ? Mutex.open(name, { arena }) : new Mutex({ arena })),
    calls: (lib, within) => [
      () => lib.hold(within).unlock(),
      () => lib.holdAsync(within).then((held) => held.unlock()),
      () => lib.runExclusive(() => 1, within),
      () => lib.waitForUnlockAsync(within),
    ],
  },
  make: ({ name, bypass }, arena) => (name ? Mutex.open(name, { bypass, arena }) : new Mutex({ bypass, arena })),
  open: ({ name, bypass }, arena) => Mutex.open(name, { bypass, arena }),
  from: (handle) => Mutex.from(handle),

  async use(task, object) {
    const { life, draw } = task;
    if (object.cancels && draw.chance(0.05)) life.user.cancelAll(object, object.lib);
    if (draw.chance(0.02)) misuse(task, object);
    await useBy(task, object, draw.of(forms), 1, rulesOf(object));
  },

  useSync(task, object) {
    const { life, draw } = task;
    if (object.cancels && draw.chance(0.05)) life.user.cancelAll(object, object.lib);
    if (draw.chance(0.02)) misuse(task, object);
    useBySync(task, object, draw.of(syncForms), 1, rulesOf(object));
  },

  /** Removes the note of the owner that has died. */
  repair: ({ board }, { index }) => board.store(index, INSIDE, 0),

  look: (lib) => [lib.held, lib.locked, lib.bypass],

  /** Unlocks, if the interrupt came when the thread was the owner already. */
  letGo(_object, lib) {
    if (lib.held) lib.unlock();
  },

  wrong(_context, _object, lib) {
    const { locked, waiting, waiters } = lib.inspect();
    const rest = locked || waiting || waiters.length || lib.waiting || lib.locked;
    if (rest) return `nobody is there, and it says ${lib}`;
    return undefined;
  },
};

export const kinds = { mutex };
