/**
 * What the models of names and of keys have in common. A thread opens a name in two calls: it asks for a draft, writes the
 * name there, and calls openName. All threads that open one name get one object, and this object goes with the last of
 * them.
 */
import { Violation } from '../../engine/search/violation.js';
import { constant, O_LIFE, OBJECT_SIZE } from '../../scene/layout.js';
import type { Op } from '../../scene/model.js';
import type { Scene } from '../../scene/scene.js';
import { inSteps, OVER, type Step } from './in-steps.js';

const N_BYTES = constant('N_BYTES');
const N_LENGTH = constant('N_LENGTH');
/** The states of an object, in the lower half of O_LIFE. */
export const STATES = 3 << 24;
export const LIVE = 2 << 24;

/** A name: how many bytes it has, and its bytes in words. */
export interface Name {
  readonly length: number;
  readonly words: readonly number[];
}

/** The arguments of openName behind the length of the name. */
export type Properties = readonly [
  kind: number,
  permits: number,
  max: number,
  spin: number,
  threshold: number,
  robust: number,
  unnamed: number,
];

function write(scene: Scene, draft: number, { length, words }: Name): number {
  scene.machine.hostStore32(draft + N_LENGTH, length);
  for (const [i, word] of words.entries()) scene.machine.hostStore32(draft + N_BYTES + 4 * i, word);
  return length;
}

/** Opens a name before the threads start. Returns what openName answers. */
export const openNow = (scene: Scene, t: number, name: Name, properties: Properties): number =>
  scene.callNow(t, 'openName', write(scene, scene.callNow(t, 'draftName'), name), ...properties);

interface Opening {
  readonly name: Name;
  readonly properties: (scene: Scene, t: number) => Properties;
  /** A call that comes before, and is answered before the thread asks for the draft. */
  readonly first?: (scene: Scene, t: number) => void;
  readonly answered?: (scene: Scene, t: number, answer: number) => void;
  /** Is told what openName answers. Returns the number of an attachment that the thread gives back at once, or 0. */
  readonly opened: (scene: Scene, t: number, answer: number) => number;
}

/** Opens a name. */
export function open(text: string, { name, properties, first, answered, opened }: Opening): Op {
  const drafts: Step = (scene, t, answer) => {
    answered?.(scene, t, answer);
    scene.call(t, 'draftName');
    return 2;
  };
  return inSteps(
    text,
    (scene, t, answer) => {
      if (first === undefined) return drafts(scene, t, answer);
      first(scene, t);
      return 1;
    },
    drafts,
    (scene, t, draft) => {
      scene.call(t, 'openName', write(scene, draft, name), ...properties(scene, t));
      return 3;
    },
    (scene, t, answer) => {
      const back = opened(scene, t, answer);
      if (back === 0) return OVER;
      scene.call(t, 'letGo', back, 0);
      return 4;
    },
    () => OVER,
  );
}

/** Whether there is an object at this address, and it is live. Threads of these models keep no address of a freed object. */
export const isLive = (scene: Scene, address: number): boolean =>
  address !== 0 && (scene.word(address + O_LIFE) & STATES) === LIVE;

/**
 * Checks that the object of a name that a thread has opened is that of all others who have opened it, and of no other
 * name. `objectOf` says which object a thread has opened by a name.
 */
export function checkOne(
  scene: Scene,
  t: number,
  name: number,
  object: number,
  names: Iterable<number>,
  objectOf: (u: number, name: number) => number,
): void {
  if (!isLive(scene, object)) return;
  const all = [...names];
  for (const u of scene.threadNumbers) {
    if (scene.dead(u)) continue;
    for (const other of all) {
      const its = objectOf(u, other);
      if (isLive(scene, its) && (its === object) !== (other === name))
        throw new Violation(`threads ${t} and ${u} have opened ${name} and ${other}, and got ${object} and ${its}`);
    }
  }
}

/** Returns the addresses of all objects, in use or not. */
export function objectsOf({ regions: { objects, names } }: Scene): number[] {
  return Array.from({ length: (names - objects) / OBJECT_SIZE }, (_, i) => objects + i * OBJECT_SIZE);
}

/** Checks that an object has this life, apart from some bits. */
export function checkLife(scene: Scene, address: number, expected: number, apart = 0): void {
  const life = scene.word(address + O_LIFE);
  if ((life & ~apart) !== (expected & ~apart))
    throw new Violation(`the object at ${address} has the life ${life.toString(16)}, not ${expected.toString(16)}`);
}

/** Nothing is left of any name. */
export function nothingLeft(scene: Scene): void {
  for (const address of objectsOf(scene))
    if (scene.word(address + O_LIFE) !== 0) throw new Violation(`the object at ${address} is left`);
}
