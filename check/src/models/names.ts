/**
 * Models of names. Every thread that opens a name gets the one object of the name. If several threads make an object
 * for the name at once, one of the objects gets the name, and the others are freed. The object and its name go when the
 * last thread closes the name: the thread lets go of the object, or it dies. A thread that opens the name beside this
 * gets the old object while that lives, or a new one. At the end, the table has the names that are open, and the other
 * objects are free.
 */

import { Violation } from '../engine/search/violation.js';
import { ADMITTED, constant, KEPT, O_LIFE, OBJECT_SIZE } from '../scene/layout.js';
import type { Model, Op } from '../scene/model.js';
import { call } from '../scene/ops/calls.js';
import { supervise } from '../scene/ops/deaths.js';
import type { Scene } from '../scene/scene.js';
import { PROMISES } from '../scene/words.js';
import {
  checkLife,
  checkOne,
  isLive,
  LIVE,
  type Name,
  nothingLeft,
  objectsOf,
  open as openBy,
  openNow,
  type Properties,
} from './parts/names.js';

const N_BYTES = constant('N_BYTES');
const N_LENGTH = constant('N_LENGTH');
const FULL = constant('ANSWER_OBJECTS_FULL');
const NOT_FOUND = constant('ANSWER_NOT_FOUND');
const NAME_HEADS = constant('NAME_HEADS');
const N_NEXT = constant('N_NEXT');
/** The bit of a link whose entry is being taken out. */
const GONE = 1;
const KIND = constant('KIND_SEMAPHORE');
const MAX = 7;

/** Three names of one length in one list, which differ only in their last bytes, and a fourth name in another list. */
const NAMES = few();
const ELSEWHERE = 3;

/** Returns the bytes of a name in words, with zeros to the end of the last word. */
function wordsOf(name: string): number[] {
  const bytes = Buffer.from(`${name}\0\0\0`);
  return Array.from({ length: bytes.length >> 2 }, (_, i) => bytes.readInt32LE(4 * i));
}

function few(): readonly string[] {
  const lists = new Map<number, string[]>();
  for (let i = 0; ; i++) {
    const name = `name ${String(i).padStart(3, '0')}`;
    let hash = 0;
    for (const word of wordsOf(name)) hash = Math.imul(((hash << 5) | (hash >>> 27)) ^ word, 0x9e3779b1);
    const list = Math.floor(((hash >>> 0) / 2 ** 32) * constant('NAME_HEADS_LEAST'));
    const others = lists.get(list) ?? [];
    lists.set(list, [...others, name]);
    if (others.length === 2) return [...others, name, [...lists].find(([other]) => other !== list)?.[1][0] as string];
  }
}

/** Where a thread keeps the address of the object that it has opened by a name; `name` is the index in NAMES. */
const slot = (name: number): number => PROMISES + name;

/** Where a thread keeps the number of its attachment to the object of a name. */
const attachment = (name: number): number => PROMISES + NAMES.length + name;

interface Opening {
  readonly permits?: number;
  readonly max?: number;
  readonly kind?: number;
  readonly robust?: number;
  /** The error that openName may answer; by default none. */
  readonly answer?: number | undefined;
}

const propertiesOf = ({ permits = 1, max = MAX, kind = KIND, robust = 0 }: Opening): Properties => [
  kind,
  permits,
  max,
  0,
  0,
  robust,
  0,
];

/** Opens a name. One attachment serves a thread: if the thread has opened the name before, it gives the second one back. */
const open = (name: number, opening: Opening = {}): Op =>
  openBy(`open ${name}`, {
    name: nameOf(name),
    properties: () => propertiesOf(opening),
    opened: (scene, t, answer) => (opened(scene, t, name, answer, opening.answer) ? answer : 0),
  });

/** Before the threads start, they have opened these names. */
const opens =
  (...all: readonly (readonly [thread: number, name: number])[]) =>
  (scene: Scene): void => {
    for (const [t, name] of all) opened(scene, t, name, openNow(scene, t, nameOf(name), propertiesOf({})), undefined);
  };

/** The same, and thread 0 is dead. */
const killed =
  (...all: readonly (readonly [thread: number, name: number])[]) =>
  (scene: Scene): void => {
    opens(...all)(scene);
    scene.kill(0);
  };

const nameOf = (name: number): Name => ({
  length: (NAMES[name] as string).length,
  words: wordsOf(NAMES[name] as string),
});

const objectOf = (scene: Scene, t: number, name: number): number => scene.get(t, slot(name)) & -OBJECT_SIZE;

/** Notes that a thread has opened a name, and returns whether the thread had it open already. */
function opened(scene: Scene, t: number, name: number, answer: number, expected: number | undefined): boolean {
  if (answer <= 0) {
    if (answer !== expected) throw new Violation(`thread ${t} opens a name and is answered ${answer}`);
    return false;
  }
  const object = scene.objectOf(answer);
  checkOne(scene, t, name, object, NAMES.keys(), (u, other) => objectOf(scene, u, other));
  const before = objectOf(scene, t, name);
  if (before === object) return true;
  // The thread has a closed object of this name, and lets go of it as soon as it looks (tidy in membership.ts).
  if (before !== 0) throw new Violation(`thread ${t} opens ${name} twice, and gets ${object} after ${before}`);
  scene.set(t, slot(name), object);
  scene.set(t, attachment(name), answer);
  return false;
}

/** Tries to take the object's one permit. The lowest bit of the slot says whether the thread has it. */
const take = (name = 0): Op =>
  call(
    'tryAcquire',
    (scene, t) => [objectOf(scene, t, name), 1],
    (answer, scene, t) => {
      if (answer === ADMITTED) scene.set(t, slot(name), scene.get(t, slot(name)) | 1);
    },
  );

/** Takes the permit of an object that nobody has used: it is there. */
const takeFirst = (name = 0): Op =>
  call(
    'tryAcquire',
    (scene, t) => [objectOf(scene, t, name), 1],
    (answer, scene, t) => {
      if (answer !== ADMITTED) throw new Violation(`thread ${t} has made an object that is not new`);
      scene.set(t, slot(name), scene.get(t, slot(name)) | 1);
    },
  );

/** Lets go of the object of a name: for this thread, the name is not open any more. */
const close = (name = 0): Op =>
  call('letGo', (scene, t) => {
    const number = scene.get(t, attachment(name));
    scene.set(t, slot(name), 0);
    scene.set(t, attachment(name), 0);
    return [number, 0];
  });

/** Lets go of an object as after a garbage collection: the thread stays attached if the object must not go. */
const closeIfAsMade = (name = 0): Op =>
  call(
    'letGo',
    (scene, t) => [scene.get(t, attachment(name)), 1],
    (isGone, scene, t) => {
      if (isGone === 0) return;
      scene.set(t, slot(name), 0);
      scene.set(t, attachment(name), 0);
    },
  );

/** Disposes of the object of a name, and lets go of it. */
const drop = (name = 0): Op[] => [call('dispose', (scene, t) => [objectOf(scene, t, name)]), close(name)];

/** Takes the handle of an object. */
const keep = (name = 0): Op => call('keep', (scene, t) => [objectOf(scene, t, name)]);

/** Checks that the name is still open in this thread: nobody has closed or freed the object. */
const stillOpen = (name = 0): Op => ({
  text: `still open ${name}`,
  next(scene, t) {
    if (!isLive(scene, objectOf(scene, t, name)))
      throw new Violation(`the object of ${name} has gone, and thread ${t} has it open`);
    return true;
  },
});

const bytesOf = (scene: Scene, entry: number): string =>
  [N_LENGTH, N_BYTES, N_BYTES + 4, N_BYTES + 8].map((at) => scene.word(entry + at)).join();

/** Checks that the lists have no name twice, and that just the live objects have a name there. */
function table(scene: Scene): void {
  const { objects, names } = scene.regions;
  const found = new Map<number, string>();
  for (let head = NAME_HEADS; head < objects; head += 8)
    for (let entry = scene.word(head); entry !== 0; entry = scene.word(entry + N_NEXT) & ~GONE)
      found.set(entry - names + objects, bytesOf(scene, entry));
  if (new Set(found.values()).size !== found.size) throw new Violation('a name is in the lists twice');
  for (const address of objectsOf(scene))
    if (found.has(address) !== isLive(scene, address))
      throw new Violation(`the object at ${address} has a name or is live, and not both`);
}

/** What the threads that pass `counts` keep of an object: a slot for each of them that has it open. */
const usersOf = (scene: Scene, address: number, counts: (t: number) => boolean): number[] =>
  scene.threadNumbers
    .filter(counts)
    .flatMap((t) => [...NAMES.keys()].map((name) => scene.get(t, slot(name))))
    .filter((value) => (value & -OBJECT_SIZE) === address);

/**
 * Checks that the life of each object says how many threads have the object open, and that no other object and no other
 * name is in use. The object of a handle lives on.
 */
function whole(scene: Scene): void {
  table(scene);
  for (const address of objectsOf(scene)) {
    const users = usersOf(scene, address, (t) => !scene.dead(t)).length;
    const isKept = (scene.word(address + O_LIFE) & KEPT) !== 0;
    checkLife(scene, address, isKept || users > 0 ? LIVE + users : 0, KEPT);
  }
}

/** Checks besides that no permit is lost. */
function wholePermits(scene: Scene): void {
  whole(scene);
  for (const address of objectsOf(scene)) {
    const users = usersOf(scene, address, () => true);
    const taken = users.filter((value) => value & 1).length;
    const left = scene.word(address + constant('GRANT')) - scene.word(address + constant('TICKET'));
    if (users.length > 0 && left !== 1 - taken) throw new Violation(`${taken} have taken a permit, ${left} are left`);
  }
}

function gone(scene: Scene): void {
  whole(scene);
  nothingLeft(scene);
}

export const models: readonly Model[] = [
  {
    name: 'names, one thread',
    programs: [
      [
        open(0, { permits: -1, answer: NOT_FOUND }),
        open(0),
        takeFirst(),
        open(0, { permits: -1 }),
        open(0, { max: MAX + 1 }),
        open(0, { permits: 2, robust: 1 }),
        open(0, { kind: KIND + 1, answer: constant('ANSWER_WRONG_KIND') }),
        open(1, { permits: -1, answer: NOT_FOUND }),
        open(1, { answer: FULL }),
        ...drop(),
        open(0, { permits: -1, answer: NOT_FOUND }),
        open(0),
        takeFirst(),
        close(),
        open(0, { permits: -1, answer: NOT_FOUND }),
        open(1),
        takeFirst(1),
        close(1),
        open(0),
      ],
    ],
    arena: { objects: 1 },
    end: wholePermits,
  },
  {
    name: 'names, two in a list',
    programs: [[open(0), open(1), open(0), open(1), open(0, { permits: -1 }), close(0), open(1), close(1), open(0)]],
    arena: { objects: 2 },
    aged: true,
    end: whole,
  },
  {
    name: 'names, two at once in a list',
    programs: [[open(0)], [open(1)]],
    arena: { objects: 2 },
    end: wholePermits,
  },
  {
    name: 'names, another is put before the one that is looked for',
    programs: [[open(0)], [open(1)]],
    arena: { objects: 2 },
    objects: opens([0, 1]),
    end: whole,
  },
  {
    name: 'names, of elements used before',
    programs: [[open(0)], [open(0)]],
    arena: { objects: 2 },
    aged: true,
    end: wholePermits,
  },
  {
    name: 'names',
    programs: [
      [open(0), take()],
      [open(0), take()],
    ],
    arena: { objects: 2 },
    end: wholePermits,
  },
  {
    name: 'names, only if there',
    programs: [[open(0)], [open(0, { permits: -1, answer: NOT_FOUND })]],
    arena: { objects: 1 },
    end: wholePermits,
  },
  {
    name: 'names of three',
    long: true,
    programs: [[open(0)], [open(0)], [open(0)]],
    arena: { objects: 3 },
    end: wholePermits,
  },
  {
    name: 'two names',
    programs: [[open(0), open(1)], [open(1)]],
    arena: { objects: 3 },
    end: wholePermits,
  },
  {
    name: 'names, the last object',
    programs: [[open(0, { answer: FULL })], [open(0, { answer: FULL })]],
    arena: { objects: 1 },
    end: whole,
  },
  {
    name: 'two names, then the first',
    programs: [[open(0), open(1)], [open(0)]],
    arena: { objects: 3 },
    end: wholePermits,
  },

  // --- A name goes with the last thread that has it open --------------------------------------------------------
  {
    name: 'names, the last close beside an open',
    programs: [[close()], [open(0), take(), stillOpen()]],
    arena: { objects: 2 },
    objects: opens([0, 0]),
    end: whole,
  },
  {
    name: 'names, two last closes',
    programs: [[close()], [close()]],
    arena: { objects: 1 },
    objects: opens([0, 0], [1, 0]),
    end: gone,
  },
  {
    name: 'names, two last closes beside an open',
    programs: [[close()], [close()], [open(0), stillOpen()]],
    arena: { objects: 2 },
    objects: opens([0, 0], [1, 0]),
    end: whole,
  },
  {
    name: 'names, opened and closed by two',
    programs: [
      [open(0), take(), close()],
      [open(0), take(), close()],
    ],
    arena: { objects: 2 },
    end: gone,
  },
  {
    name: 'names, opened and closed by two, twice',
    long: true,
    programs: [
      [open(0), close(), open(0), close()],
      [open(0), close()],
    ],
    arena: { objects: 3 },
    end: gone,
  },
  {
    name: 'names, opened and closed by three',
    long: true,
    programs: [
      [open(0), close()],
      [open(0), close()],
      [open(0), close()],
    ],
    arena: { objects: 3 },
    end: gone,
  },
  {
    // Neither thread gives its permit back. So one of the two stays attached, and the object stays.
    name: 'names, two last closes of an object that is not as it was made',
    programs: [
      [take(), closeIfAsMade()],
      [take(), closeIfAsMade()],
    ],
    arena: { objects: 1 },
    objects: opens([0, 0], [1, 0]),
    end: (scene) => {
      whole(scene);
      if (scene.threadNumbers.filter((t) => scene.get(t, slot(0)) !== 0).length !== 1)
        throw new Violation('not just one thread has stayed attached');
    },
  },
  {
    name: 'names, two of a list closed beside a third that is opened',
    programs: [[close(0)], [close(1)], [open(2)]],
    arena: { objects: 3 },
    objects: opens([0, 0], [1, 1]),
    end: whole,
  },
  {
    name: 'names, closed, and the object is another name',
    programs: [[close(0), open(1, { answer: FULL })], [open(0, { permits: -1, answer: NOT_FOUND })]],
    arena: { objects: 1 },
    objects: opens([0, 0]),
    end: whole,
  },
  {
    name: 'names, closed, and the object is another name in another list',
    programs: [
      [close(0), open(ELSEWHERE)],
      [open(0), stillOpen()],
    ],
    arena: { objects: 3 },
    objects: opens([0, 0]),
    end: whole,
  },
  {
    name: 'names, closed and disposed of',
    programs: [[close()], drop()],
    arena: { objects: 1 },
    objects: opens([0, 0], [1, 0]),
    end: gone,
  },
  {
    name: 'names, disposed of by two',
    programs: [drop(), drop()],
    arena: { objects: 1 },
    objects: opens([0, 0], [1, 0]),
    end: gone,
  },
  {
    name: 'names, disposed of beside an open, and then closed',
    programs: [drop(), [open(0), close()]],
    arena: { objects: 2 },
    objects: opens([0, 0]),
    end: gone,
  },
  {
    // The handle is on its way when the last thread closes the name. So the object stays, and the name finds it.
    name: 'names, a handle beside the last close',
    programs: [[keep(), close()], [close()], [open(0), stillOpen()]],
    arena: { objects: 2 },
    objects: opens([0, 0], [1, 0]),
    end: (scene) => {
      whole(scene);
      const opened = scene.get(2, slot(0));
      if ((scene.word(opened + O_LIFE) & KEPT) === 0) throw new Violation('the object of a handle has gone');
    },
  },
  {
    name: 'names, a handle of what is disposed of',
    programs: [
      [keep(), ...drop()],
      [close(), open(0, { permits: -1, answer: NOT_FOUND })],
    ],
    arena: { objects: 1 },
    objects: opens([0, 0], [1, 0]),
    end: table,
  },
  {
    name: 'names, given back',
    programs: [
      [open(0), ...drop(), open(0), ...drop()],
      [open(0), ...drop()],
    ],
    arena: { objects: 3 },
    end: gone,
  },
  {
    name: 'names, given back, one after the other',
    programs: [[open(0), ...drop(), open(1), close(1), open(ELSEWHERE), open(0, { answer: FULL })]],
    arena: { objects: 1 },
    end: whole,
  },
  {
    // Each thread takes entries out of the middle of the list. An entry that the other thread has just taken out may
    // come back.
    name: 'names, given back in the middle',
    programs: [
      [close(1), open(1)],
      [close(0), open(0)],
    ],
    arena: { objects: 5 },
    objects: opens([1, 0], [0, 1], [1, 2]),
    end: wholePermits,
  },
  {
    name: 'names, two neighbours given back at once',
    programs: [
      [close(1), open(2, { permits: -1 })],
      [close(0), open(2, { permits: -1 })],
    ],
    arena: { objects: 3 },
    objects: opens([0, 2], [1, 2], [1, 0], [0, 1]),
    end: whole,
  },
  {
    name: 'names, an entry used again in another list',
    programs: [[open(0, { permits: -1 })], [close(1), open(ELSEWHERE)]],
    arena: { objects: 2 },
    objects: opens([0, 0], [1, 1]),
    end: whole,
  },
  {
    name: 'names, an entry used again in the same list',
    programs: [[open(0)], [close(1), open(0), close(0), open(1)]],
    arena: { objects: 3 },
    objects: opens([1, 1]),
    end: whole,
  },
  {
    // The first thread may be about to mark a stale entry, while this entry comes back for the same name.
    name: 'names, an entry used again as it was',
    programs: [[open(2, { permits: -1, answer: NOT_FOUND })], [close(1), open(1), close(1), open(1), open(1)]],
    arena: { objects: 1 },
    objects: opens([1, 1]),
    end: whole,
  },
  {
    name: 'names, given back before the thread that made it goes on',
    programs: [[open(0)], [open(0), ...drop(0), open(1)]],
    arena: { objects: 4 },
  },

  // --- Deaths -----------------------------------------------------------------------------------------------------
  {
    name: 'names, a thread is killed',
    programs: [
      [open(0), open(0)],
      [supervise(), open(0), open(1)],
    ],
    arena: { objects: 3, attached: 2 },
    deaths: 1,
    mortal: [0],
    end: whole,
  },
  {
    name: 'names, a thread is killed that another has come before',
    programs: [[open(0)], [open(1), supervise()]],
    arena: { objects: 3 },
    deaths: 1,
    mortal: [0],
    end: whole,
  },
  {
    name: 'names, a thread is killed beside an open',
    programs: [
      [open(0), close()],
      [open(0), stillOpen(), supervise(), stillOpen()],
    ],
    arena: { objects: 3 },
    deaths: 1,
    mortal: [0],
    end: whole,
  },
  {
    name: 'names, the last close by a thread that is killed, beside an open',
    programs: [[close()], [open(0)], [supervise()]],
    arena: { objects: 2 },
    deaths: 1,
    mortal: [0],
    objects: opens([0, 0]),
    end: whole,
  },
  {
    name: 'names, two last closes, one by a thread that is killed',
    programs: [[close()], [close(), supervise(), open(0), open(1)]],
    arena: { objects: 2, elements: 4 },
    deaths: 1,
    mortal: [0],
    objects: opens([0, 0], [1, 0]),
    end: whole,
  },
  {
    // Whoever opens the name beside the reaping gets the old object or a new one, and has it for good.
    name: 'names, opened beside the reaping of the last that had it open',
    programs: [[], [supervise()], [open(0), stillOpen()]],
    arena: { objects: 2 },
    deaths: 1,
    mortal: [0],
    objects: killed([0, 0]),
    end: whole,
  },
  {
    name: 'names, closed beside the reaping of another that had it open',
    programs: [[], [supervise()], [close(), open(0)]],
    arena: { objects: 2 },
    deaths: 1,
    mortal: [0],
    objects: killed([0, 0], [2, 0]),
    end: whole,
  },
  {
    name: 'names, reaped twice',
    programs: [[], [supervise()], [supervise(), open(0), open(1)]],
    arena: { objects: 2 },
    deaths: 2,
    mortal: [0, 1],
    objects: killed([0, 0]),
    end: whole,
  },
  {
    name: 'names, disposed of by a thread that is killed',
    programs: [drop(), [supervise(), close(), open(0)]],
    arena: { objects: 2 },
    deaths: 1,
    mortal: [0],
    objects: opens([0, 0], [1, 0]),
    end: table,
  },
  {
    name: 'names, given back by a thread that is killed',
    programs: [
      [...drop(0), open(1), close(1), open(0)],
      [supervise(), open(2), open(ELSEWHERE)],
    ],
    arena: { objects: 5, attached: 2 },
    deaths: 1,
    mortal: [0],
    objects: opens([0, 0]),
    end: whole,
  },
  {
    name: 'names, given back beside a thread that is killed',
    programs: [
      [close(1), open(2)],
      [supervise(), ...drop(0), open(0), open(ELSEWHERE)],
    ],
    arena: { objects: 6, attached: 2 },
    deaths: 1,
    mortal: [0],
    objects: opens([1, 0], [0, 1]),
    end: whole,
  },
];
