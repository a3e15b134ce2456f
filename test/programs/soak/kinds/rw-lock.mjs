/** RwLock: readers, or one writer. */
import { RwLock } from 'taketurns/sync';
import { HELD, INSIDE, LEFT, RIGHT } from '../board.mjs';
import { enterLock, leaveLock } from './mutex.mjs';
import { endGuard, enter, leave, useBy, useBySync } from './parts/critical.mjs';

function enterRead({ life, board }, { index, what }) {
  board.note(life.number, index, HELD, 1);
  const writer = board.load(index, INSIDE);
  if (writer !== 0) life.find(`${what}: life ${life.number} reads, and ${writer} writes (10 life + task + 1)`);
  const [left, right] = [board.load(index, LEFT), board.load(index, RIGHT)];
  if (left !== right)
    life.find(`${what}: life ${life.number} reads ${left} and ${right}, which a writer changes together`);
}

const leaveRead = ({ life, board }, { index }) => board.note(life.number, index, HELD, -1);

function enterWrite(task, object) {
  const { life, board } = task;
  const { index, what } = object;
  enterLock(task, object);
  const all = board.allNoted(index, HELD);
  if (all.length > 0)
    life.suspect({ object: index, what: `${what}: life ${life.number} writes while others read`, all, most: 0 });
  board.add(index, LEFT, 1);
}

function leaveWrite(task, object) {
  task.board.add(object.index, RIGHT, 1);
  leaveLock(task, object);
}

const rules = {
  read: { enter: enterRead, leave: leaveRead },
  write: { enter: enterWrite, leave: leaveWrite },
  update: { enter() {}, leave() {} },
};

const end = (task, object, _, guard) => endGuard(task, object, guard, (held) => held.unlock());
const unlockRead = (task, object, lib) => task.give('unlockRead', object, () => lib.unlockRead());
const unlockWrite = (task, object, lib) => task.give('unlockWrite', object, () => lib.unlockWrite());

/** Makes a writer, or the holder of an update, a reader. */
function downgrade(task, object, guard, isWriter) {
  const { life } = task;
  if (life.gone) return guard;
  life.board.note(life.number, object.index, HELD, 1);
  if (isWriter) leaveWrite(task, object);
  let reading = guard;
  task.give('downgrade', object, () => {
    reading = guard.downgrade();
  });
  if (reading !== guard && !life.gone && guard.held) life.find(`${object.what}: a guard holds after its downgrade`);
  return reading;
}

async function insideWrite(task, object, _lib, guard) {
  await task.inside(object);
  if (typeof guard?.downgrade === 'function' && task.draw.chance(0.3)) {
    const reading = downgrade(task, object, guard, true);
    await task.inside(object);
    leave(task, object, 1, rules.read);
    return reading;
  }
  leave(task, object, 1, rules.write);
  return guard;
}

function insideWriteSync(task, object, _lib, guard) {
  task.insideSync(object);
  if (typeof guard?.downgrade === 'function' && task.draw.chance(0.3)) {
    const reading = downgrade(task, object, guard, true);
    task.insideSync(object);
    leave(task, object, 1, rules.read);
    return reading;
  }
  leave(task, object, 1, rules.write);
  return guard;
}

async function insideUpdate(task, object, _lib, guard) {
  const { draw } = task;
  await task.inside(object);
  const how = draw.next();
  if (how < 0.3) return downgradeUpdate(task, object, guard);
  if (how < 0.5) return guard;
  const request = task.request(object, false);
  const got = await task.attempt('upgradeAsync', object, request, () => guard.upgradeAsync(request.options));
  if (got === undefined) return guard;
  enter(task, object, 1, rules.write, 0);
  await task.inside(object);
  leave(task, object, 1, rules.write);
  return got.value;
}

function downgradeUpdate(task, object, guard) {
  const reading = downgrade(task, object, guard, false);
  leave(task, object, 1, rules.read);
  return reading;
}

function insideUpdateSync(task, object, _lib, guard) {
  const { draw } = task;
  task.insideSync(object);
  const how = draw.next();
  if (how < 0.3) return downgradeUpdate(task, object, guard);
  if (how < 0.5) return guard;
  const request = task.request(object, true);
  request.interrupt = undefined;
  const got = task.attemptSync('upgrade', object, request, () => guard.upgrade(request.options));
  if (got === undefined) return guard;
  enter(task, object, 1, rules.write, 0);
  task.insideSync(object);
  leave(task, object, 1, rules.write);
  return got.value;
}

const giveRest = (task, object, lib, value, rest) => end(task, object, lib, typeof rest === 'object' ? rest : value);

const tries = [
  { name: 'tryLockRead', mode: 'read', tries: true, call: (lib) => lib.tryLockRead(), give: unlockRead },
  { name: 'tryRead', mode: 'read', tries: true, call: (lib) => lib.tryRead(), give: end },
  { name: 'tryLockWrite', mode: 'write', tries: true, call: (lib) => lib.tryLockWrite(), give: unlockWrite },
  {
    name: 'tryWrite',
    mode: 'write',
    tries: true,
    call: (lib) => lib.tryWrite(),
    inside: insideWrite,
    insideSync: insideWriteSync,
    give: giveRest,
  },
];

const forms = [
  { name: 'lockReadAsync', mode: 'read', call: (lib, _, options) => lib.lockReadAsync(options), give: unlockRead },
  { name: 'readAsync', mode: 'read', call: (lib, _, options) => lib.readAsync(options), give: end },
  {
    name: 'readAsync',
    mode: 'read',
    call: (lib, _, options) => lib.readAsync(options),
    inside: insideWithin,
    give: end,
  },
  { name: 'lockWriteAsync', mode: 'write', call: (lib, _, options) => lib.lockWriteAsync(options), give: unlockWrite },
  {
    name: 'writeAsync',
    mode: 'write',
    call: (lib, _, options) => lib.writeAsync(options),
    inside: insideWrite,
    give: giveRest,
  },
  ...tries,
  {
    name: 'updateAsync',
    mode: 'update',
    call: (lib, _, options) => lib.updateAsync(options),
    inside: insideUpdate,
    give: giveRest,
  },
];

const syncForms = [
  { name: 'lockRead', mode: 'read', call: (lib, _, options) => lib.lockRead(options), give: unlockRead },
  { name: 'read', mode: 'read', call: (lib, _, options) => lib.read(options), give: end },
  { name: 'lockWrite', mode: 'write', call: (lib, _, options) => lib.lockWrite(options), give: unlockWrite },
  {
    name: 'write',
    mode: 'write',
    call: (lib, _, options) => lib.write(options),
    insideSync: insideWriteSync,
    give: giveRest,
  },
  ...tries,
  {
    name: 'update',
    mode: 'update',
    call: (lib, _, options) => lib.update(options),
    insideSync: insideUpdateSync,
    give: giveRest,
  },
];

/** Takes a second read lock within the guard of the first. */
async function insideWithin(task, object, lib, guard) {
  const { life } = task;
  if (!life.gone) {
    const request = {};
    const got = await task.attempt('readAsync within', object, request, () => lib.readAsync({ within: guard }));
    if (got !== undefined) {
      if (!life.gone) enterRead(task, object);
      await task.inside(object);
      if (!life.gone) leaveRead(task, object);
      end(task, object, lib, got.value);
    }
  }
  leave(task, object, 1, rules.read);
}

/** Reads without a lock, by `stamp` and `valid`. Checks what it has read if the stamp is still valid. */
function glance(task, { index, lib, what }) {
  const { life, board } = task;
  try {
    const stamp = lib.stamp();
    const [left, right] = [board.load(index, LEFT), board.load(index, RIGHT)];
    if (lib.valid(stamp) && left !== right && lib.inspect().deaths === 0)
      life.find(`${what}: ${left} and ${right} are read under a valid stamp, and a writer changes them together`);
  } catch (error) {
    if (!life.mayBeOver(error)) life.find(`${what}: stamp has thrown`, error);
  }
}

const rwLock = {
  isLock: true,
  tells: () => true,
  telling: (lib) => lib,
  mortal: {
    make: (name, arena) => (name ? RwLock.open(name, { arena }) : new RwLock({ arena })),
    calls: (lib, within) => [
      () => lib.read(within).unlock(),
      () => lib.write(within).unlock(),
      () => lib.readAsync(within).then((held) => held.unlock()),
      () => lib.writeAsync(within).then((held) => held.downgrade().unlock()),
      () => lib.updateAsync(within).then((held) => held.unlock()),
    ],
  },
  make: ({ name }, arena) => (name ? RwLock.open(name, { arena }) : new RwLock({ arena })),
  open: ({ name }, arena) => RwLock.open(name, { arena }),
  from: (handle) => RwLock.from(handle),

  async use(task, object) {
    if (task.draw.chance(0.1)) glance(task, object);
    const form = task.draw.of(forms);
    await useBy(task, object, form, 1, rules[form.mode]);
  },

  useSync(task, object) {
    if (task.draw.chance(0.1)) glance(task, object);
    const form = task.draw.of(syncForms);
    useBySync(task, object, form, 1, rules[form.mode]);
  },

  /** Repairs what a dead writer has left. Several threads may repair at the same time. No writer can be inside then. */
  repair({ board }, { index }) {
    board.store(index, INSIDE, 0);
    board.store(index, LEFT, board.load(index, RIGHT));
  },

  look: (lib) => [lib.readers, lib.writing],

  letGo(_object, lib, me) {
    // The next call of a thread completes what an interrupted call has left.
    if (lib.tryLockRead()) lib.unlockRead();
    const { readers, writer } = lib.inspect();
    if (readers.includes(me)) lib.unlockRead();
    if (writer === me) lib.unlockWrite();
  },

  wrong(_, _object, lib) {
    const { readers, writer, writing, waiters } = lib.inspect();
    if (readers.length || writer !== undefined || writing || waiters.length || lib.waiting)
      return `nobody is there, and it says ${JSON.stringify(lib.inspect())}`;
    return undefined;
  },
};

export const kinds = { 'rw-lock': rwLock };
