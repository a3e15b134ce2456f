/**
 * Models of the life of a key (src/keyed/). A key is a robust semaphore with one permit, under a name that the first
 * thread makes and the last one takes away. The models of names check that all threads which have a name open have one
 * object. These models check what a key needs besides:
 *
 * - All threads that have entered a key have one object, and no other key has this object.
 * - No two threads hold a key, also if one gives it back and lets it go while another locks it for the first time.
 * - If a thread dies while it holds a key, the next owner learns of the death, also if nobody has the key open meanwhile,
 *   and also if the reaper or that next owner dies. The object of the key stays until then, and no longer.
 * - Threads that take several keys, all in one order, do not deadlock.
 * - A disposer of the table closes every key that a thread has entered, or the thread finds the table closed. If the
 *   disposer dies, another thread closes the others.
 * - A thread that lets go of a key may give the object to its next key (change).
 */
import { Violation } from '../engine/search/violation.js';
import { ADMITTED, constant, KEPT, O_LIFE, OBJECT_SIZE } from '../scene/layout.js';
import type { Model, Op } from '../scene/model.js';
import { newObject } from '../scene/new-object.js';
import { call } from '../scene/ops/calls.js';
import { supervise } from '../scene/ops/deaths.js';
import type { Scene } from '../scene/scene.js';
import { PHASE, PROMISES } from '../scene/words.js';
import {
  checkLife,
  checkOne,
  LIVE,
  type Name,
  nothingLeft,
  objectsOf,
  open,
  openNow,
  type Properties,
  STATES,
} from './parts/names.js';

const UNNAMED = constant('UNNAMED');
const K_ENDED = constant('K_ENDED');
const GOES = constant('GOES');
const N_KEY = constant('N_KEY');
const O_NAME = constant('O_NAME');
const O_UNREPORTED_DEATHS = constant('O_UNREPORTED_DEATHS');
const KIND = constant('KIND_SEMAPHORE');
const TABLE = constant('KIND_KEYED_MUTEX');
const KEYS = [0, 1] as const;

// What a thread knows. Of a key: the address of its object, with the lowest bit set if the thread holds the key.
const slot = (key: number): number => PROMISES + key;
const attachment = (key: number): number => PROMISES + KEYS.length + key;
/** How many deaths of owners the thread has learned of, and has not passed on. */
const TOLD = PROMISES + 2 * KEYS.length;
/** The attachment to the table. */
const TABLE_ATTACHMENT = TOLD + 1;

const objectOf = (scene: Scene, t: number, key: number): number => scene.get(t, slot(key)) & -OBJECT_SIZE;
const isClosed = (scene: Scene, address: number): boolean => (scene.word(address + O_LIFE) & STATES) !== LIVE;
const holds = (scene: Scene, t: number, key: number): boolean => (scene.get(t, slot(key)) & 1) !== 0;

/** The name of a key. One has no bit set in its second word, and the other all bits. */
const nameOf = (key: number): Name => ({ length: 8, words: [N_KEY, -key] });
const propertiesOf = (unnamed: number): Properties => [KIND, 1, 1, 0, 0, 1, unnamed];

/** Attaches to a key, as Table.enter does. */
const enter = (key: number): Op =>
  open(`enter ${key}`, {
    name: nameOf(key),
    properties: () => propertiesOf(0),
    opened: (scene, t, answer) => entered(scene, t, key, answer),
  });

/** Lets go of a key and enters another, which gets the object of the first if nobody else has this (Kept.makeRoom). */
const change = (from: number, to: number): Op =>
  open(`change ${from} for ${to}`, {
    name: nameOf(to),
    first(scene, t) {
      scene.set(t, slot(from), 0);
      scene.call(t, 'letGo', scene.get(t, attachment(from)), UNNAMED);
    },
    // The thread is still attached if the object has no name.
    answered(scene, t, isGone) {
      if (isGone !== 0) scene.set(t, attachment(from), 0);
    },
    properties(scene, t) {
      const unnamed = scene.get(t, attachment(from));
      scene.set(t, attachment(from), 0);
      return propertiesOf(unnamed);
    },
    opened: (scene, t, answer) => entered(scene, t, to, answer),
  });

type Pairs = readonly (readonly [thread: number, key: number])[];

/** Before the threads start, they have entered these keys. */
const enters =
  (...all: Pairs) =>
  (scene: Scene): void => {
    for (const [t, key] of all) entered(scene, t, key, openNow(scene, t, nameOf(key), propertiesOf(0)));
  };

function entered(scene: Scene, t: number, key: number, answer: number): 0 {
  if (answer <= 0) throw new Violation(`thread ${t} enters ${key} and is answered ${answer}`);
  const object = scene.objectOf(answer);
  const hasTable = scene.semaphores.length > 0;
  if (isClosed(scene, object) && !hasTable) throw new Violation(`thread ${t} enters ${key}, and its object is closed`);
  checkOne(scene, t, key, object, KEYS, (u, other) => objectOf(scene, u, other));
  scene.set(t, slot(key), object);
  scene.set(t, attachment(key), answer);
  return 0;
}

/** The thread has got a key. */
function got(scene: Scene, t: number, key: number): void {
  for (const u of scene.threadNumbers) {
    if (u !== t && !scene.dead(u) && holds(scene, u, key))
      throw new Violation(`threads ${t} and ${u} both hold ${key}`);
  }
  scene.set(t, slot(key), scene.get(t, slot(key)) | 1);
}

/**
 * Takes a key, and tries again while it is not free. So threads that wait for one another never come to the end, which
 * the search sees. How a thread sleeps in the queue of a semaphore, other models check.
 */
const take = (key: number): Op => ({
  text: `take ${key}`,
  next(scene, t) {
    if (scene.get(t, PHASE) === 1 && scene.result(t) === ADMITTED) {
      got(scene, t, key);
      return true;
    }
    scene.set(t, PHASE, 1);
    scene.call(t, 'tryAcquireRobust', objectOf(scene, t, key), 1, scene.get(t, attachment(key)));
    return false;
  },
});

/** Learns of the deaths of owners. */
const learn = (key: number): Op =>
  call(
    'ownersDied',
    (scene, t) => [objectOf(scene, t, key)],
    (deaths, scene, t) => scene.set(t, TOLD, scene.get(t, TOLD) + deaths),
  );

/** What happens if the callback of the owner throws: the next owner is to learn of the deaths. */
const passOn = (key: number): Op => ({
  text: 'pass on',
  next(scene, t) {
    const told = scene.get(t, TOLD);
    if (told === 0) return true;
    scene.set(t, TOLD, 0);
    scene.call(t, 'restoreOwnerDeaths', objectOf(scene, t, key), told);
    return false;
  },
});

const give = (key: number): Op =>
  call('releaseRobust', (scene, t) => {
    const object = objectOf(scene, t, key);
    scene.set(t, slot(key), object);
    return [object, 1, scene.get(t, attachment(key))];
  });

/** Lets go of a key, as Entry.leave does. */
const leave = (key: number): Op =>
  call(
    'letGo',
    (scene, t) => {
      scene.set(t, slot(key), 0);
      return [scene.get(t, attachment(key)), GOES];
    },
    (isGone, scene, t) => {
      if (isGone === 0) throw new Violation(`thread ${t} cannot let go of ${key}`);
      scene.set(t, attachment(key), 0);
    },
  );

const use = (key: number): Op[] => [enter(key), take(key), give(key), leave(key)];
const useAndLearn = (key: number): Op[] => [enter(key), take(key), learn(key), give(key), leave(key)];
/** What holdAll does with two keys. */
const useBoth: readonly Op[] = [...[enter(0), take(0), enter(1), take(1)], ...[give(1), give(0), leave(1), leave(0)]];

/** Thread 0 holds a key from the start. The threads have entered these keys before. */
const holds0 =
  (...all: Pairs) =>
  (scene: Scene): void => {
    enters(...all, [0, 0])(scene);
    scene.callNow(0, 'tryAcquireRobust', objectOf(scene, 0, 0), 1, scene.get(0, attachment(0)));
    got(scene, 0, 0);
  };

/** The same, and thread 0 is dead. */
const holderIsDead =
  (...all: Pairs) =>
  (scene: Scene): void => {
    holds0(...all)(scene);
    scene.kill(0);
  };

/** Returns the addresses of the objects that are in use. */
const inUse = (scene: Scene): number[] =>
  objectsOf(scene).filter((address) => (scene.word(address + O_LIFE) & STATES) !== 0);

/**
 * Checks that each object in use is live, and says how many threads have it open, and that it is kept if a death is to
 * be told, and only then. Returns how many deaths are to be told.
 */
function untold(scene: Scene): number {
  let deaths = 0;
  for (const address of inUse(scene)) {
    const users = scene.threadNumbers.filter(
      (t) => !scene.dead(t) && KEYS.some((key) => objectOf(scene, t, key) === address),
    );
    const own = scene.word(address + O_UNREPORTED_DEATHS);
    if (users.length === 0 && own === 0) throw new Violation(`the object at ${address} is left`);
    // While a thread has the object open, the bit may be behind: the thread sets it right when it lets go.
    checkLife(scene, address, LIVE + users.length + (own > 0 ? KEPT : 0), users.length > 0 ? KEPT : 0);
    deaths += own;
  }
  return deaths;
}

/** Checks what untold does, whatever is to be told. */
const whole = (scene: Scene): void => void untold(scene);

/** Nothing is left of any key. */
const gone = nothingLeft;

/** The death of thread 0 has been told, or is still to be told; and not both. */
function toldOnce(scene: Scene): void {
  const told = scene.threadNumbers.reduce((sum, t) => sum + scene.get(t, TOLD), 0);
  const left = untold(scene);
  if (told + left !== 1) throw new Violation(`${told} deaths were told, and ${left} are to be told`);
}

/** Somebody who lives has learned of a death, or will: the first one, or that of the thread that had learned of it. */
function toldOrToBeTold(scene: Scene): void {
  const told = scene.threadNumbers.reduce((sum, t) => sum + (scene.dead(t) ? 0 : scene.get(t, TOLD)), 0);
  const left = untold(scene);
  const hadGivenBack = scene.threadNumbers.some((t) => scene.dead(t) && scene.get(t, TOLD) > 0 && !holds(scene, t, 0));
  if (told + left < 1 && !hadGivenBack) throw new Violation('nobody learns of the death');
}

/** Closes the table. */
const closeTable: Op = call('dispose', (scene) => [scene.semaphores[0] as number]);

const ended = (scene: Scene): number => (scene.semaphores[0] as number) + K_ENDED;

/** Notes that all keys of the table are closed. */
const end: Op = {
  text: 'end',
  next(scene) {
    scene.machine.hostStore32(ended(scene), 1);
    return true;
  },
};

/**
 * Closes the key at one place of the arena, if there is one, as the disposer of a table does. If the thread goes on in
 * place of the disposer, it does nothing if the disposer has come to the end.
 */
const closeKeyAt = (index: number, goesOn = false): Op => ({
  text: `close the key at ${index}`,
  next(scene, t) {
    if (goesOn && scene.word(ended(scene)) !== 0) return true;
    const phase = scene.get(t, PHASE);
    scene.set(t, PHASE, phase + 1);
    const address = scene.regions.objects + index * OBJECT_SIZE;
    if (phase === 0) {
      const isKey = (scene.word(address + O_LIFE) & STATES) === LIVE && scene.word(address + O_NAME) !== 0;
      if (!isKey) return true;
      scene.call(t, 'attach', address, scene.word(address + O_LIFE + 4), KIND);
      return false;
    }
    if (phase === 1) {
      const answer = scene.result(t);
      if (answer < 0) return true;
      scene.set(t, attachment(0), answer);
      scene.call(t, 'dispose', address);
      return false;
    }
    if (phase === 2) {
      scene.call(t, 'letGo', scene.get(t, attachment(0)), GOES);
      return false;
    }
    scene.set(t, attachment(0), 0);
    return true;
  },
});

/** Looks whether the table is closed, and lets go of the key then. */
const leaveIfClosed = (key: number): Op => ({
  text: 'leave if closed',
  next(scene, t) {
    const phase = scene.get(t, PHASE);
    scene.set(t, PHASE, phase + 1);
    if (phase === 0) {
      scene.call(t, 'isDisposed', scene.semaphores[0] as number);
      return false;
    }
    if (phase === 1 && scene.result(t) !== 0) {
      scene.set(t, slot(key), 0);
      scene.call(t, 'letGo', scene.get(t, attachment(key)), GOES);
      return false;
    }
    return true;
  },
});

/** Makes a table, to which both threads are attached. They have entered these keys. */
const makeTable =
  (...all: Pairs) =>
  (scene: Scene): void => {
    const answer = scene.callNow(0, 'createObject', ...newObject({ kind: TABLE }));
    const address = scene.objectOf(answer);
    scene.semaphores.push(address);
    scene.set(0, TABLE_ATTACHMENT, answer);
    scene.set(1, TABLE_ATTACHMENT, scene.callNow(1, 'attach', address, 0, TABLE));
    enters(...all)(scene);
  };

/** All keys of a closed table are closed. */
function allClosed(scene: Scene): void {
  for (const address of inUse(scene))
    if (!isClosed(scene, address)) throw new Violation('a key of a closed table is open');
}

export const models: readonly Model[] = [
  // --- The first lock beside the last unlock --------------------------------------------------------------------
  {
    name: 'keys, a first lock beside a last unlock',
    programs: [[give(0), leave(0)], use(0)],
    arena: { objects: 2 },
    objects: holds0(),
    end: gone,
  },
  {
    name: 'keys, locked and unlocked by two',
    programs: [use(0), use(0)],
    arena: { objects: 2 },
    end: gone,
  },
  {
    name: 'keys, locked and unlocked by three',
    long: true,
    preemptions: 2,
    programs: [use(0), use(0), use(0)],
    arena: { objects: 3 },
    end: gone,
  },
  {
    name: 'keys, three threads and two keys, crosswise',
    long: true,
    preemptions: 2,
    programs: [useBoth, useBoth, use(1)],
    arena: { objects: 6 },
    end: gone,
  },
  {
    name: 'keys, two threads and two keys',
    programs: [useBoth, useBoth],
    arena: { objects: 4 },
    end: gone,
  },

  // --- A new key gets the object of a key that goes -----------------------------------------------------------------
  {
    name: 'keys, changed by one thread',
    programs: [
      [...use(0), enter(0), take(0), give(0), change(0, 1), take(1), give(1), change(1, 0), take(0), give(0), leave(0)],
    ],
    arena: { objects: 1 },
    end: gone,
  },
  {
    name: 'keys, one changed for another beside the first lock of each',
    programs: [[change(0, 1), take(1), give(1), leave(1)], use(0), use(1)],
    long: true,
    preemptions: 3,
    arena: { objects: 3 },
    objects: enters([0, 0]),
    end: gone,
  },
  {
    name: 'keys, changed there and back beside a lock',
    programs: [
      [change(0, 1), change(1, 0), take(0), leave(0)],
      [enter(0), leave(0)],
    ],
    arena: { objects: 3 },
    objects: enters([0, 0]),
    end: gone,
  },
  {
    name: 'keys, one changed for another beside a lock of the first',
    programs: [[change(0, 1), take(1), give(1), leave(1)], use(0)],
    arena: { objects: 2 },
    objects: enters([0, 0]),
    end: gone,
  },
  {
    name: 'keys, one changed for another beside a lock of the second',
    programs: [[change(0, 1), take(1), give(1), leave(1)], use(1)],
    arena: { objects: 2 },
    objects: enters([0, 0]),
    end: gone,
  },
  {
    // The name of the first has a word without a bit where that of the second has bits.
    name: 'keys, the second changed for the first beside a lock of the first',
    programs: [[change(1, 0), take(0), give(0), leave(0)], use(0)],
    arena: { objects: 2 },
    objects: enters([0, 1]),
    end: gone,
  },
  {
    name: 'keys, one changed for another, which another thread lets go',
    programs: [[change(0, 1), take(1), give(1), leave(1)], [leave(1)]],
    arena: { objects: 2 },
    objects: enters([0, 0], [1, 1]),
    end: gone,
  },
  {
    name: 'keys, changed by two that have the same key',
    programs: [
      [change(0, 1), take(1), give(1), leave(1)],
      [change(0, 1), take(1), give(1), leave(1)],
    ],
    arena: { objects: 3 },
    objects: enters([0, 0], [1, 0]),
    end: gone,
  },
  {
    name: 'keys, changed crosswise',
    programs: [
      [change(0, 1), take(1), give(1), leave(1)],
      [change(1, 0), take(0), give(0), leave(0)],
    ],
    arena: { objects: 4 },
    objects: enters([0, 0], [1, 1]),
    end: gone,
  },
  {
    name: 'keys, one changed for another by a thread that is killed',
    programs: [
      [change(0, 1), take(1), give(1), leave(1)],
      [supervise(), ...use(0), ...use(1)],
    ],
    arena: { objects: 3 },
    deaths: 1,
    mortal: [0],
    objects: enters([0, 0]),
    end: whole,
  },
  {
    name: 'keys, one changed for another by a thread that is killed, beside a lock of each',
    long: true,
    preemptions: 2,
    programs: [[change(0, 1), take(1), give(1), leave(1)], [supervise(), ...use(0)], use(1)],
    arena: { objects: 4 },
    deaths: 1,
    mortal: [0],
    objects: enters([0, 0]),
    end: whole,
  },
  {
    name: 'keys, one of which an owner has died is changed for another',
    programs: [[], [supervise()], [change(0, 1), take(1), give(1), leave(1)]],
    arena: { objects: 3 },
    deaths: 1,
    mortal: [0],
    objects: holderIsDead([2, 0]),
    end: toldOnce,
  },
  {
    name: 'keys, one of which an owner has died and is told of is changed for another',
    programs: [[], [supervise(), ...useAndLearn(0), enter(0), change(0, 1), take(1), learn(1), give(1), leave(1)]],
    arena: { objects: 3 },
    deaths: 1,
    mortal: [0],
    objects: holderIsDead(),
    end: (scene) => {
      toldOnce(scene);
      gone(scene);
    },
  },

  // --- The death of an owner --------------------------------------------------------------------------------------
  {
    name: 'keys, an owner has died, and nobody comes',
    programs: [[], [supervise()]],
    arena: { objects: 1 },
    deaths: 1,
    mortal: [0],
    objects: holderIsDead(),
    end: toldOnce,
  },
  {
    name: 'keys, an owner has died, and the next owner comes beside the reaper',
    programs: [[], [supervise()], useAndLearn(0)],
    arena: { objects: 2 },
    deaths: 1,
    mortal: [0],
    objects: holderIsDead(),
    end: toldOnce,
  },
  {
    name: 'keys, an owner has died, and another thread lets go beside the reaper',
    programs: [[], [supervise()], [leave(0)]],
    arena: { objects: 1 },
    deaths: 1,
    mortal: [0],
    objects: holderIsDead([2, 0]),
    end: toldOnce,
  },
  {
    name: 'keys, an owner has died, and the next owner passes it on',
    programs: [[], [supervise()], [enter(0), take(0), learn(0), passOn(0), give(0), leave(0)]],
    arena: { objects: 2 },
    deaths: 1,
    mortal: [0],
    objects: holderIsDead(),
    end: toldOnce,
  },
  {
    name: 'keys, an owner has died, and the next two owners come',
    long: true,
    preemptions: 2,
    programs: [[], [supervise()], useAndLearn(0), useAndLearn(0)],
    arena: { objects: 3 },
    deaths: 1,
    mortal: [0],
    objects: holderIsDead(),
    end: toldOnce,
  },
  {
    name: 'keys, an owner has died, the next one passes it on, and another lets go',
    long: true,
    preemptions: 2,
    programs: [[], [supervise()], [take(0), learn(0), passOn(0), give(0), leave(0)], [leave(0)]],
    arena: { objects: 1 },
    deaths: 1,
    mortal: [0],
    objects: holderIsDead([2, 0], [3, 0]),
    end: toldOnce,
  },
  {
    name: 'keys, an owner has died, and its reaper too',
    programs: [[], [supervise()], [supervise(), ...useAndLearn(0)]],
    arena: { objects: 2 },
    deaths: 2,
    mortal: [0, 1],
    objects: holderIsDead(),
    end: toldOnce,
  },
  {
    name: 'keys, an owner has died, and the next one too',
    programs: [[], [supervise(), ...useAndLearn(0)], useAndLearn(0)],
    arena: { objects: 3 },
    deaths: 2,
    mortal: [0, 2],
    objects: holderIsDead(),
    end: toldOrToBeTold,
  },
  {
    name: 'keys, an owner is killed at any step, beside another',
    long: true,
    preemptions: 2,
    programs: [use(0), [supervise(), ...useAndLearn(0)], useAndLearn(0)],
    arena: { objects: 3 },
    deaths: 1,
    mortal: [0],
    end: whole,
  },

  // --- The end of a table -----------------------------------------------------------------------------------------
  {
    name: 'keys, the table is disposed of beside an enter',
    programs: [
      [closeTable, closeKeyAt(0), closeKeyAt(1)],
      [enter(0), leaveIfClosed(0)],
    ],
    arena: { objects: 2 },
    objects: makeTable(),
    end: allClosed,
  },
  {
    name: 'keys, the table is disposed of beside a change of keys',
    programs: [
      [closeTable, closeKeyAt(1), closeKeyAt(2)],
      [change(0, 1), leaveIfClosed(1)],
    ],
    arena: { objects: 3 },
    objects: makeTable([1, 0]),
    end: allClosed,
  },
  {
    name: 'keys, the table is disposed of beside changes of keys by two',
    long: true,
    preemptions: 3,
    programs: [
      [closeTable, closeKeyAt(1), closeKeyAt(2)],
      [change(0, 1), leaveIfClosed(1)],
      [enter(1), leaveIfClosed(1)],
    ],
    arena: { objects: 4 },
    objects: makeTable([1, 0]),
    end: allClosed,
  },
  {
    name: 'keys, the table is disposed of by a thread that is killed',
    programs: [
      [closeTable, closeKeyAt(1), closeKeyAt(2), end],
      [supervise(), closeKeyAt(1, true), closeKeyAt(2, true), end],
    ],
    arena: { objects: 3 },
    deaths: 1,
    mortal: [0],
    objects: makeTable([0, 0], [1, 0], [1, 1]),
    end: (scene) => {
      if (isClosed(scene, scene.semaphores[0] as number)) allClosed(scene);
    },
  },
];
