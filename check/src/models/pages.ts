/**
 * Models of pages (core/kinds/channel/pages.ts). The threads make receiving ends, claim pages for them, and let go of
 * them. The pages of an end are free as soon as the end is.
 *
 * - The pages of an end lie in the room that the arena has for them, and no other end that lives has them.
 * - The marks of the places in them are clear.
 * - A thread finds no run of pages only if other threads have or had some of them meanwhile.
 */
import { Violation } from '../engine/search/violation.js';
import { constant, O_LIFE } from '../scene/layout.js';
import type { Model, Op } from '../scene/model.js';
import { newObject } from '../scene/new-object.js';
import { call } from '../scene/ops/calls.js';
import { supervise } from '../scene/ops/deaths.js';
import type { Scene } from '../scene/scene.js';
import { LOCAL, PROMISES } from '../scene/words.js';
import { inSteps, OVER } from './parts/in-steps.js';

const KIND = constant('KIND_RECEIVING_END');
const DATA = constant('P_DATA');
const MARK = constant('PLACE_MARK');
const PAGE_SIZE = constant('PAGE_SIZE');

// Words of a thread that outlive an op.
/** The attachment to the end that the thread has, its first page, and how many pages it has; 0 while it has none. */
const ATTACHMENT = PROMISES;
const FIRST = PROMISES + 1;
const COUNT = PROMISES + 2;
/** How many pages the thread has counted as free. */
const COUNTED = PROMISES + 3;
/** How many ends with pages the thread has made. */
const GOT = PROMISES + 4;
/** What an op has made. */
const MADE = LOCAL;

/** How many pages the arena of each model has. */
const pages = new WeakMap<Scene, number>();

/** The thread has claimed the pages of an end. The machine has no words for the metrics behind the pages. */
function claimed(scene: Scene, t: number, end: number, count: number): void {
  const first = scene.word(end + DATA);
  const last = first + count * PAGE_SIZE;
  const { words } = scene.machine;
  if (first < scene.regions.end || last > 4 * words.length || first % PAGE_SIZE !== 0)
    throw new Violation(`thread ${t} has pages from ${first} to ${last}, where there are none`);
  for (const u of scene.threadNumbers) {
    const others = scene.get(u, FIRST);
    if (!scene.dead(u) && others !== 0 && others < last && first < others + scene.get(u, COUNT) * PAGE_SIZE)
      throw new Violation(`threads ${t} and ${u} have the pages from ${first} and from ${others}`);
  }
  scene.set(t, FIRST, first);
  scene.set(t, COUNT, count);
  scene.set(t, GOT, scene.get(t, GOT) + 1);
  // Each place of these ends takes one page. The thread leaves marks behind.
  for (let place = first; place < last; place += PAGE_SIZE) {
    if (scene.word(place + MARK) !== 0 || scene.word(place + MARK + 4) !== 0)
      throw new Violation(`the place at ${place} has a mark`);
    scene.machine.hostStore32(place + MARK, 1);
    scene.machine.hostStore32(place + MARK + 4, 1);
  }
}

/** Makes an end with so many pages. If `isThere`, the pages must be there. */
const make = (count: number, isThere = true): Op =>
  inSteps(
    `make ${count}`,
    (scene, t) => {
      scene.call(t, 'createObject', ...newObject({ kind: KIND, max: count - 1, threshold: PAGE_SIZE }));
      return 1;
    },
    (scene, t, attachment) => {
      if (attachment <= 0) throw new Violation(`thread ${t} makes an end and is answered ${attachment}`);
      scene.set(t, MADE, attachment);
      scene.call(t, 'claimPages', scene.objectOf(attachment));
      return 2;
    },
    (scene, t, isClaimed) => {
      const attachment = scene.get(t, MADE);
      if (isClaimed !== 0) {
        claimed(scene, t, scene.objectOf(attachment), count);
        scene.set(t, ATTACHMENT, attachment);
        return OVER;
      }
      if (isThere) throw new Violation(`thread ${t} finds no ${count} pages`);
      scene.call(t, 'letGo', attachment, 0);
      return 3;
    },
    () => OVER,
  );

/** Lets go of the end that the thread has, if any. */
const drop: Op = inSteps(
  'drop',
  (scene, t) => {
    const attachment = scene.get(t, ATTACHMENT);
    if (attachment === 0) return OVER;
    scene.set(t, ATTACHMENT, 0);
    scene.set(t, FIRST, 0);
    scene.set(t, COUNT, 0);
    scene.call(t, 'letGo', attachment, 0);
    return 1;
  },
  () => OVER,
);

const count: Op = call(
  'freePages',
  () => [],
  (free, scene, t) => scene.set(t, COUNTED, free + 1),
);

/** The thread that has counted last, alone, has counted the pages of nobody. */
function counted(scene: Scene): void {
  const [free] = scene.threadNumbers.map((t) => scene.get(t, COUNTED) - 1).filter((free) => free >= 0);
  const used = scene.threadNumbers.reduce((sum, t) => sum + (scene.dead(t) ? 0 : scene.get(t, COUNT)), 0);
  if (free !== undefined && free !== (pages.get(scene) as number) - used)
    throw new Violation(`${free} pages count as free, and ${used} are used`);
}

/** Somebody has got pages, and every object that is in use has an owner that lives. */
function owned(scene: Scene): void {
  counted(scene);
  const isMaking = scene.threadNumbers.some((t) => !scene.dead(t) && scene.get(t, COUNTED) === 0);
  if (isMaking && !scene.threadNumbers.some((t) => scene.get(t, GOT) > 0)) throw new Violation('nobody finds pages');
  const { objects, names } = scene.regions;
  const ends = scene.threadNumbers.flatMap((t) => {
    const attachment = scene.dead(t) ? 0 : scene.get(t, ATTACHMENT);
    return attachment === 0 ? [] : [scene.objectOf(attachment)];
  });
  for (let address = objects; address < names; address += constant('OBJECT_SIZE'))
    if ((scene.word(address + O_LIFE) >>> 24 !== 0) !== ends.includes(address))
      throw new Violation(`the end at ${address} is in use, and nobody has it, or the other way round`);
}

function model(name: string, programs: readonly (readonly Op[])[], objects: number, more: Partial<Model> = {}): Model {
  return {
    name: `pages: ${name}`,
    programs,
    arena: { buckets: 1, elements: 4 * programs.length, objects, attached: programs.length },
    ...more,
    objects: (scene) => void pages.set(scene, scene.callNow(0, 'pageCount')),
    end: owned,
  };
}

/** More than half of the pages of an arena: it has 13. */
const MANY = 8;

export const models: readonly Model[] = [
  model('one thread', [[count]], 1),
  model('claimed, given back and claimed', [[make(MANY), drop, make(MANY), count]], 1),
  model('too many', [[make(4), make(16, false), count]], 2),
  model('claimed by two', [[make(2)], [make(2)]], 2),
  model('claimed by two, and given back', [[make(1), drop], [make(1)]], 2),
  model('claimed by two, of whom one finds too few', [[make(16, false)], [make(1)]], 2),
  model('claimed by two, of whom one may find too few', [[make(MANY, false)], [make(MANY, false)]], 2),
  model('claimed by three', [[make(2)], [make(2)], [make(2)]], 3, { long: true }),
  model('claimed beside pages that are given back', [[make(MANY, false), drop], [make(MANY, false)]], 2),
  model('claimed by a thread that is killed', [[make(2)], [supervise(), make(MANY), count]], 2, {
    deaths: 1,
    mortal: [0],
  }),
];
