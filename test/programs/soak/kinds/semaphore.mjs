/**
 * Semaphore: the permits that are out are never more than there are, and all come back. If there is only one permit,
 * nobody is overtaken.
 */
import { Semaphore } from 'taketurns';
import { ASKED, EXTRA, HELD } from '../board.mjs';
import { endGuard, useBy, useBySync } from './parts/critical.mjs';

function release(task, object, lib, _, n) {
  const inParts = n > 1 && task.draw.chance(0.3);
  task.give('release', object, () => {
    if (inParts) for (let i = 0; i < n; i++) lib.release();
    else lib.release(n);
  });
}

function end(task, object, _, guard, n) {
  const part = n > 1 && task.draw.chance(0.3);
  if (part) task.give('HeldPermits.release', object, () => guard.release(1));
  endGuard(task, object, guard, (held) => held.release());
}

/** Returns the arguments of a call. The number of permits is left out if it is 1. */
const asked = (n, options) => (n > 1 ? [n, options] : options === undefined ? [] : [options]);

const tries = [
  { name: 'tryAcquire', tries: true, call: (lib, n) => lib.tryAcquire(n), give: release },
  { name: 'tryHold', tries: true, call: (lib, n) => lib.tryHold(n), give: end },
  { name: 'drain', tries: true, call: (lib) => lib.drain(), takes: (n) => n, give: release },
];

const forms = [
  { name: 'acquireAsync', call: (lib, n, options) => lib.acquireAsync(...asked(n, options)), give: release },
  { name: 'acquireAsync', call: (lib, n, options) => lib.acquireAsync(n, options), give: release },
  { name: 'holdAsync', call: (lib, n, options) => lib.holdAsync(...asked(n, options)), give: end },
  ...tries,
  { name: 'runExclusive', around: (lib, n, options, body) => lib.runExclusive(body, n, options) },
  { name: 'limit', tries: true, around: (lib, n, _, body) => lib.limit(body, n)() },
];

const syncForms = [
  { name: 'acquire', call: (lib, n, options) => lib.acquire(...asked(n, options)), give: release },
  { name: 'acquire', call: (lib, n, options) => lib.acquire(n, options), give: release },
  { name: 'hold', call: (lib, n, options) => lib.hold(...asked(n, options)), give: end },
  ...tries,
];

/**
 * Notes how many permits a thread has asked for. It may hold them without a note in HELD: if it dies, they are lost.
 */
function note(task, { index, robust }, n) {
  if (!robust && !task.life.gone) task.board.note(task.life.number, index, ASKED, n);
}

export function rulesOf(object) {
  const { permits, elastic } = object;
  const mayHold = elastic ? Infinity : permits;
  return {
    enter({ life, board }, { index, what }, n) {
      board.note(life.number, index, HELD, n);
      const all = board.allNoted(index, HELD);
      const sum = all.reduce((sum, [, held]) => sum + held, 0);
      if (sum > mayHold)
        life.suspect({ object: index, what: `${what}: ${sum} of ${permits} permits are out`, all, most: permits });
    },
    leave: ({ life, board }, { index }, n) => board.note(life.number, index, HELD, -n),
    over: (task, object, n) => note(task, object, -n),
    bound: permits === 1 && !elastic ? 0 : undefined,
    excludes: () => true,
  };
}

/** Makes permits and takes as many away. */
function breathe(task, object) {
  const { lib } = object;
  const n = 1 + task.draw.upTo(3);
  task.board.add(object.index, EXTRA, 1);
  task.give('add', object, () => lib.add(n));
  task.give('reduce', object, () => lib.reduce(n));
}

function prepare(task, object, form) {
  const { life, draw } = task;
  if (object.cancels && draw.chance(0.05)) life.user.cancelAll(object, object.lib);
  if (object.elastic && draw.chance(0.1)) breathe(task, object);
  const n = form.name === 'drain' ? object.permits + (object.elastic ? 64 : 0) : 1 + draw.upTo(object.permits);
  note(task, object, n);
  return n;
}

const options = ({ robust, permits, elastic }, arena) => ({
  robust,
  arena,
  max: elastic ? 2 ** 31 - 1 : permits,
});

const semaphore = {
  isLock: true,
  haunts: true,
  tells: ({ robust }) => robust,
  telling: (lib) => lib,
  shape(draw) {
    const permits = draw.of([1, 1, 2, 5]);
    return { permits, robust: draw.chance(0.6), elastic: permits > 1 && draw.chance(0.3) };
  },
  mortal: {
    make: (name, arena, draw) =>
      name ? Semaphore.open(name, 2, { arena }) : new Semaphore(2, { arena, robust: draw.chance(0.5) }),
    calls: (lib, within) => [
      () => {
        lib.acquire(within);
        lib.release();
      },
      () => lib.hold(within).release(),
      () => lib.acquireAsync(within).then(() => lib.release()),
      () => lib.runExclusive(() => 1, within),
    ],
  },
  make: (o, arena) =>
    o.name ? Semaphore.open(o.name, o.permits, options(o, arena)) : new Semaphore(o.permits, options(o, arena)),
  open: (o, arena, { draw }) =>
    draw.chance(0.3)
      ? Semaphore.open(o.name, undefined, { arena })
      : Semaphore.open(o.name, o.permits, options(o, arena)),
  from: (handle) => Semaphore.from(handle),

  async use(task, object) {
    const any = task.draw.of(forms);
    // A call of the function that `limit` returns has no options.
    const form = any.name === 'limit' && !task.mayWait(object, false) ? forms[0] : any;
    await useBy(task, object, form, prepare(task, object, form), rulesOf(object));
  },

  useSync(task, object) {
    const form = task.draw.of(syncForms);
    useBySync(task, object, form, prepare(task, object, form), rulesOf(object));
  },

  repair() {},

  look: (lib) => [lib.available, lib.max, lib.robust],

  /**
   * Is called when a thread has ended. The permits of a robust semaphore come back by themselves, and those of another
   * are given back here. Returns how many more may be lost.
   */
  ended(board, { index, robust }, lib, life) {
    if (robust) return 0;
    const held = board.noted(life, index, HELD);
    if (held > 0) lib.release(held);
    return Math.max(board.noted(life, index, ASKED) - held, 0);
  },

  /**
   * Gives back lost permits if the program stands still. Lost are those that are out and that no living thread has
   * noted.
   */
  mend(lib, unsure, noted) {
    const lost = Math.min(unsure, lib.inspect().out - noted);
    if (lost > 0) lib.release(lost);
  },

  wrong({ unsure }, object, lib) {
    const { permits, added, available, out } = lib.inspect();
    // Permits that were added may be lost, too, and then as many be owed by `reduce`. So more may be lost than there
    // are.
    const lost = object.robust ? permits + added - available : out;
    if (object.robust ? lost !== 0 || out !== 0 : lost < 0 || lost > unsure)
      return `${lost} permits are lost, and ${object.robust ? 0 : unsure} may be: ${JSON.stringify(lib.inspect())}`;
    // A cancelled request may stay in the queue until the permits before it have come back.
    if (lost > 0) lib.release(lost);
    const { waiting, waiters, cancelled, holders } = lib.inspect();
    if (waiting || waiters.length || cancelled || holders.length || lib.available !== permits + added)
      return `nobody is there, ${lost} lost permits are back, and it says ${JSON.stringify(lib.inspect())}`;
    return undefined;
  },
};

export const kinds = { semaphore };
