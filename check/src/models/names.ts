/**
 * Models of names. Every thread that opens a name gets the one object of the name. If several threads make an object
 * for the name at once, one of the objects gets the name, and the others are freed. No place in the table of names is
 * lost.
 */

import { Violation } from '../engine/search/violation.js';
import { ADMITTED, constant } from '../scene/layout.js';
import type { Model, Op } from '../scene/model.js';
import { call } from '../scene/ops/calls.js';
import { supervise } from '../scene/ops/deaths.js';
import type { Scene } from '../scene/scene.js';
import { PHASE, PROMISES, READY } from '../scene/words.js';

const N_BYTES = constant('N_BYTES');
const MISMATCH = constant('ANSWER_MISMATCH');
const FULL = constant('ANSWER_NAMES_FULL');
const NAME_HEADS = constant('NAME_HEADS');
const N_NEXT = constant('N_NEXT');
const N_USED = constant('N_USED');
const NAME_SIZE = constant('NAME_SIZE');
/** The bit of a link whose entry is being taken out. */
const GONE = 1;
/** The state of an entry that is no draft of a thread any more (core/arena/names.ts). */
const PUBLISHED = -1;
const OBJECT_SIZE = constant('OBJECT_SIZE');
const O_LIFE = constant('O_LIFE');
const KIND = constant('KIND_SEMAPHORE');
const MAX = 7;
const LIVE = 2 << 24;
const STATES = 3 << 24;

/** Three names of one length in one list, which differ only in their last bytes, and a fourth name in another list. */
const NAMES = few();
const ELSEWHERE = 3;

function few(): readonly string[] {
  const lists = new Map<number, string[]>();
  for (let i = 0; ; i++) {
    const name = `name ${String(i).padStart(3, '0')}`;
    let hash = 0x811c9dc5;
    for (const byte of Buffer.from(name)) hash = Math.imul(hash ^ byte, 0x01000193);
    const list = (hash >>> 0) % constant('NAME_HEADS_LEAST');
    const others = lists.get(list) ?? [];
    lists.set(list, [...others, name]);
    if (others.length === 2) return [...others, name, [...lists].find(([other]) => other !== list)?.[1][0] as string];
  }
}

/** Where a thread keeps the address of the object that it has opened by a name; `name` is the index in NAMES. */
const slot = (name: number): number => PROMISES + name;

/** Where a thread keeps the number of its attachment to the object of a name. */
const attachment = (name: number): number => PROMISES + NAMES.length + name;

/** Where a thread keeps the number of its latest attachment. */
const LATEST = READY;

const word = (scene: Scene, address: number): number => scene.machine.words[address >> 2];

interface Opening {
  readonly permits?: number;
  readonly max?: number;
  readonly kind?: number;
  readonly robust?: number;
  /** The error that openName may answer; by default none. */
  readonly answer?: number | undefined;
}

/** Opens a name. The host writes the bytes of the name into the draft before it calls the core again. */
function open(name: number, { permits = 1, max = MAX, kind = KIND, robust = 0, answer }: Opening = {}): Op {
  const bytes = Buffer.from(`${NAMES[name]}\0\0\0`);
  return {
    text: `open ${name}`,
    next(scene, t) {
      const phase = scene.get(t, PHASE);
      scene.set(t, PHASE, phase + 1);
      if (phase === 0) {
        scene.call(t, 'draftName');
        return false;
      }
      if (phase === 1) {
        const draft = scene.result(t);
        if (draft === 0) throw new Violation(`thread ${t} finds no place for a name`);
        for (let i = 0; i + 4 <= bytes.length; i += 4)
          scene.machine.hostStore32(draft + N_BYTES + i, bytes.readInt32LE(i));
        scene.call(t, 'openName', draft, bytes.length - 3, kind, permits, max, 0, 0, robust);
        return false;
      }
      opened(scene, t, name, scene.result(t), answer);
      return true;
    },
  };
}

/** Opens a name for a thread, before the threads start. */
function openNow(scene: Scene, name: number, t = 0): void {
  const bytes = Buffer.from(`${NAMES[name]}\0\0\0`);
  const draft = scene.callNow(t, 'draftName');
  for (let i = 0; i + 4 <= bytes.length; i += 4) scene.machine.hostStore32(draft + N_BYTES + i, bytes.readInt32LE(i));
  const answer = scene.callNow(t, 'openName', draft, bytes.length - 3, KIND, 1, MAX, 0, 0, 0);
  opened(scene, t, name, answer, undefined);
}

function opened(scene: Scene, t: number, name: number, answer: number, expected: number | undefined): void {
  if (answer <= 0) {
    if (answer !== expected) throw new Violation(`thread ${t} opens a name and is answered ${answer}`);
    return;
  }
  const opened = scene.objectOf(answer);
  for (const u of scene.threadNumbers) {
    if (scene.dead(u)) continue;
    for (const other of NAMES.keys()) {
      const address = scene.get(u, slot(other)) & -OBJECT_SIZE;
      if (isLive(scene, opened) && isLive(scene, address) && (address === opened) !== (other === name))
        throw new Violation(`threads ${t} and ${u} have opened ${name} and ${other}, and got ${opened} and ${address}`);
    }
  }
  scene.set(t, slot(name), opened);
  scene.set(t, LATEST, answer);
  if (scene.get(t, attachment(name)) === 0) scene.set(t, attachment(name), answer);
}

/** Whether an object at this address is live. The threads of these models keep no address of a freed object. */
function isLive(scene: Scene, address: number): boolean {
  return address !== 0 && (word(scene, address + O_LIFE) & STATES) === LIVE;
}

/** Tries to take the object's one permit. The lowest bit of the slot says whether the thread has it. */
const take = (name = 0): Op =>
  call(
    'tryAcquire',
    (scene, t) => [scene.get(t, slot(name)), 1],
    (answer, scene, t) => {
      if (answer === ADMITTED) scene.set(t, slot(name), scene.get(t, slot(name)) | 1);
    },
  );

const drop = (name = 0): Op[] => [
  call('dispose', (scene, t) => [scene.get(t, slot(name)) & -OBJECT_SIZE]),
  call('detach', (scene, t) => {
    const number = scene.get(t, attachment(name));
    scene.set(t, slot(name), 0);
    scene.set(t, attachment(name), 0);
    return [number];
  }),
];

const bytesOf = (scene: Scene, entry: number): string => [0, 4, 8].map((i) => word(scene, entry + N_BYTES + i)).join();

/**
 * Checks that no draft is left, that every published name is in a list, that the count of published names is right, and
 * that no name is in the lists twice.
 */
function noDrafts(scene: Scene): void {
  const found = new Map<number, string>();
  for (let head = NAME_HEADS; head < scene.regions.objects; head += 8)
    for (let entry = word(scene, head); entry !== 0; entry = word(scene, entry + N_NEXT) & ~GONE)
      found.set(entry, bytesOf(scene, entry));
  if (new Set(found.values()).size !== found.size) throw new Violation('a name is in the list twice');
  const places = word(scene, constant('PUBLISHED_NAMES'));
  if (places !== found.size) throw new Violation(`${found.size} names are in the lists, and ${places} are counted`);
  for (let entry = scene.regions.names; entry < scene.regions.threads; entry += NAME_SIZE) {
    const used = word(scene, entry + N_USED);
    if (used !== 0 && used !== PUBLISHED) throw new Violation(`a draft is left to ${used}`);
    if (used === PUBLISHED && !found.has(entry)) throw new Violation('a name is published, and in no list');
  }
}

/**
 * Checks that the life of each object says how many threads have the object open, and that no other object and no other
 * name is in use.
 */
function whole(scene: Scene): void {
  const opened = [...NAMES.keys()].filter((name) => scene.threadNumbers.some((t) => scene.get(t, slot(name)) !== 0));
  const places = word(scene, constant('PUBLISHED_NAMES'));
  noDrafts(scene);
  if (places !== opened.length) throw new Violation(`${places} places are taken by ${opened.length} names`);
  const { objects, names } = scene.regions;
  for (let address = objects; address + OBJECT_SIZE <= names; address += OBJECT_SIZE) {
    const slots = scene.threadNumbers.flatMap((t) => [...NAMES.keys()].map((name) => scene.get(t, slot(name))));
    const users = slots.filter((value) => (value & -OBJECT_SIZE) === address);
    const life = word(scene, address + O_LIFE);
    const expected = users.length === 0 ? 0 : LIVE + users.length;
    if (life !== expected)
      throw new Violation(`the object at ${address} has the life ${life.toString(16)}, not ${expected.toString(16)}`);
    const taken = users.filter((value) => value & 1).length;
    const left = word(scene, address + constant('GRANT')) - word(scene, address + constant('TICKET'));
    if (users.length > 0 && left !== 1 - taken) throw new Violation(`${taken} have taken a permit, ${left} are left`);
  }
}

export const models: readonly Model[] = [
  {
    name: 'names, one thread',
    programs: [
      [
        open(0, { permits: -1, answer: constant('ANSWER_NOT_FOUND') }),
        open(0),
        take(),
        open(0, { permits: -1 }),
        call('detach', (scene, t) => [scene.get(t, LATEST)]),
        open(0, { max: MAX + 1, answer: constant('ANSWER_MISMATCH') }),
        open(0, { permits: 2, answer: constant('ANSWER_MISMATCH') }),
        open(0, { kind: KIND + 1, answer: constant('ANSWER_WRONG_KIND') }),
        open(1, { permits: -1, answer: constant('ANSWER_NOT_FOUND') }),
        open(1, { answer: FULL }),
        ...drop(),
        open(0, { permits: -1, answer: constant('ANSWER_NOT_FOUND') }),
        open(0),
        open(0, { max: MAX + 1, answer: constant('ANSWER_MISMATCH') }),
      ],
    ],
    arena: { names: 1, objects: 1 },
    end: whole,
  },
  {
    name: 'drafts, two and one',
    programs: [[call('draftName', () => []), call('draftName', () => [])], [call('draftName', () => [])]],
    arena: { names: 1, objects: 1 },
  },
  {
    name: 'names, two in a list',
    programs: [
      [open(0), open(1), open(0), open(1), open(0, { permits: -1 }), open(1, { max: MAX + 1, answer: MISMATCH })],
    ],
    arena: { names: 2, objects: 2 },
    aged: true,
    end: noDrafts,
  },
  {
    name: 'names, two at once in a list',
    programs: [[open(0)], [open(1)]],
    arena: { names: 2, objects: 2 },
    end: whole,
  },
  {
    name: 'names, another is put before the one that is looked for',
    programs: [[open(0)], [open(1)]],
    arena: { names: 2, objects: 2 },
    objects: (scene) => openNow(scene, 1),
    end: noDrafts,
  },
  {
    name: 'names, two mismatches',
    programs: [[open(0, { max: MAX + 1, answer: MISMATCH })], [open(0, { max: MAX + 1, answer: MISMATCH })]],
    arena: { names: 1, objects: 1 },
    objects: (scene) => openNow(scene, 0),
    end: noDrafts,
  },
  {
    name: 'names, of elements used before',
    programs: [[open(0)], [open(0)]],
    arena: { names: 2, objects: 2 },
    aged: true,
    end: whole,
  },
  {
    name: 'names, robust',
    programs: [[open(0, { robust: 1 }), open(0, { robust: 1 }), open(0, { answer: constant('ANSWER_MISMATCH') })]],
    arena: { names: 1, objects: 1 },
  },
  {
    name: 'names',
    programs: [
      [open(0), take()],
      [open(0), take()],
    ],
    arena: { names: 2, objects: 2 },
    end: whole,
  },
  {
    name: 'names, only if there',
    programs: [[open(0)], [open(0, { permits: -1, answer: constant('ANSWER_NOT_FOUND') })]],
    arena: { names: 1, objects: 1 },
    end: whole,
  },
  {
    name: 'names, a thread is killed',
    programs: [
      [open(0), open(0, { max: MAX + 1, answer: constant('ANSWER_MISMATCH') })],
      [supervise(), open(0), open(1, { answer: FULL })],
    ],
    arena: { names: 1, objects: 3, attached: 2 },
    deaths: 1,
    mortal: [0],
    end: noDrafts,
  },
  {
    name: 'names of three',
    long: true,
    programs: [[open(0)], [open(0)], [open(0)]],
    arena: { names: 3, objects: 3 },
    end: whole,
  },
  {
    name: 'two names',
    programs: [[open(0), open(1)], [open(1)]],
    arena: { names: 3, objects: 3 },
    end: whole,
  },
  {
    name: 'names, one place',
    programs: [[open(0)], [open(0)]],
    arena: { names: 1, objects: 2 },
    end: whole,
  },
  {
    name: 'names of three, one place',
    long: true,
    programs: [[open(0)], [open(0)], [open(0)]],
    arena: { names: 1, objects: 3 },
    end: whole,
  },
  {
    // The arena has room for one name. Threads that open two names at the same moment may both get in.
    name: 'two names, one place',
    programs: [[open(0, { answer: FULL })], [open(1, { answer: FULL })]],
    arena: { names: 1, objects: 2 },
    end: (scene) => {
      if (scene.get(0, slot(0)) === 0 && scene.get(1, slot(1)) === 0) throw new Violation('the one place is empty');
      whole(scene);
    },
  },
  {
    // When both names are in the arena of one name, each thread still finds room for a draft.
    name: 'two names, one place, opened again',
    programs: [
      [open(0, { answer: FULL }), open(0, { answer: FULL })],
      [open(1, { answer: FULL }), open(1, { answer: FULL })],
    ],
    arena: { names: 1, objects: 2 },
    end: noDrafts,
  },
  {
    // In an arena of one name, a thread could be refused while another is just taking an entry out.
    name: 'names, given back',
    programs: [
      [open(0), ...drop(), open(0), ...drop()],
      [open(0), ...drop()],
    ],
    arena: { names: 2, objects: 3 },
    end: noDrafts,
  },
  {
    name: 'names, given back, one after the other',
    programs: [[open(0), ...drop(), open(1), ...drop(1), open(ELSEWHERE), open(0, { answer: FULL })]],
    arena: { names: 1, objects: 1 },
    end: noDrafts,
  },
  {
    // Each thread takes entries out of the middle of the list. An entry that the other thread has just taken out may
    // come back.
    name: 'names, given back in the middle',
    programs: [
      [...drop(1), open(1)],
      [...drop(0), open(0)],
    ],
    arena: { names: 3, objects: 5 },
    objects: (scene) => {
      openNow(scene, 0, 1);
      openNow(scene, 1, 0);
      openNow(scene, 2, 1);
    },
    end: whole,
  },
  {
    name: 'names, two neighbours given back at once',
    programs: [
      [...drop(1), open(2, { permits: -1 })],
      [...drop(0), open(2, { permits: -1 })],
    ],
    arena: { names: 3, objects: 3, attached: 2 },
    objects: (scene) => {
      openNow(scene, 2, 0);
      openNow(scene, 0, 1);
      openNow(scene, 1, 0);
    },
    end: noDrafts,
  },
  {
    name: 'names, an entry used again in another list',
    programs: [[open(0, { permits: -1 })], [...drop(1), open(2), open(ELSEWHERE)]],
    arena: { names: 4, objects: 4, attached: 2 },
    objects: (scene) => {
      openNow(scene, 0, 0);
      openNow(scene, 1, 1);
    },
    end: noDrafts,
  },
  {
    name: 'names, an entry used again in the same list',
    programs: [[open(0)], [...drop(1), open(0), ...drop(0), open(1)]],
    arena: { names: 3, objects: 4 },
    objects: (scene) => openNow(scene, 1, 1),
    end: noDrafts,
  },
  {
    // The first thread may be about to mark a stale entry, while this entry comes back for the same name.
    name: 'names, an entry used again as it was',
    programs: [
      [open(2, { permits: -1, answer: constant('ANSWER_NOT_FOUND') })],
      [...drop(1), open(1), ...drop(1), open(1), open(1)],
    ],
    arena: { names: 2, objects: 2 },
    objects: (scene) => openNow(scene, 1, 1),
    end: noDrafts,
  },
  {
    name: 'names, given back before the thread that made it goes on',
    programs: [[open(0)], [open(0), ...drop(0), open(1)]],
    arena: { names: 3, objects: 4 },
    end: noDrafts,
  },
  {
    name: 'names, a thread is killed that another has come before',
    programs: [[open(0)], [open(1), supervise()]],
    arena: { names: 2, objects: 3 },
    deaths: 1,
    mortal: [0],
    end: noDrafts,
  },
  {
    name: 'names, given back by a thread that is killed',
    programs: [
      [...drop(0), open(1), ...drop(1), open(0)],
      [supervise(), open(2), open(ELSEWHERE)],
    ],
    arena: { names: 3, objects: 5, attached: 2 },
    deaths: 1,
    mortal: [0],
    objects: (scene) => openNow(scene, 0, 0),
    end: noDrafts,
  },
  {
    name: 'names, given back beside a thread that is killed',
    programs: [
      [...drop(1), open(2)],
      [supervise(), ...drop(0), open(0), open(ELSEWHERE)],
    ],
    arena: { names: 4, objects: 6, attached: 2 },
    deaths: 1,
    mortal: [0],
    objects: (scene) => {
      openNow(scene, 0, 1);
      openNow(scene, 1, 0);
    },
    end: noDrafts,
  },
  {
    name: 'two names, then the first',
    programs: [[open(0), open(1)], [open(0)]],
    arena: { names: 4, objects: 3 },
    end: whole,
  },
  {
    name: 'names, a mismatch beside',
    programs: [[open(0), open(0, { max: MAX + 1, answer: constant('ANSWER_MISMATCH') })], [open(0)]],
    arena: { names: 2, objects: 2 },
    end: whole,
  },
];
