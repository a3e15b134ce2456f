/**
 * The ops that look at the arena as `inspect` and reports do, by src/look/, which reads the memory without the core. An op
 * looks at one moment, and is no step of its thread.
 */
import { emptyQueue, waitingAt } from '../../../../dist/look/elements.js';
import { attachmentsOf, lookAt } from '../../../../dist/look/look.js';
import { Violation } from '../../engine/search/violation.js';
import { constant, ELEMENT_SIZE } from '../layout.js';
import type { Op } from '../model.js';
import type { Scene } from '../scene.js';

type Of = (scene: Scene, t: number) => readonly number[];

const memoryOf = ({ machine }: Scene) => machine.words as { readonly buffer: ArrayBufferLike };

/** An op that compares what a look finds. `of` gives an object, an element or an attachment. */
const looks = (text: string, of: Of, find: (scene: Scene, at: number) => number, expected: number): Op => ({
  text,
  next(scene, t) {
    const found = find(scene, of(scene, t)[0] as number);
    if (found !== expected) throw new Violation(`${text} of ${of(scene, t)}: ${found}, not ${expected}`);
    return true;
  },
});

/** Returns how many calls wait for an object. */
export function waitingOf(scene: Scene, object: number): number {
  return waitingAt(memoryOf(scene), object);
}

/** So many calls must wait for the object. */
export const waits = (of: Of, expected: number): Op => looks('waiting', of, waitingOf, expected);

/** So many cancelled tickets of the object must stand in its queue. */
export const stands = (of: Of, expected: number): Op =>
  looks(
    'cancelled',
    of,
    (scene, object) => {
      const { queues, view } = lookAt(memoryOf(scene), 0, 0, object);
      return (queues.get(object) ?? emptyQueue(view, object)).cancelled;
    },
    expected,
  );

/** All threads together must hold so much of the object. */
export const holds = (of: Of, expected: number): Op =>
  looks(
    'held',
    of,
    (scene, object) =>
      attachmentsOf(lookAt(memoryOf(scene), 0, 0, object), object).reduce((sum, { held }) => sum + held, 0),
    expected,
  );

/** A word of an element must have this value, in the bits of a mask. `of` gives the number of the element. */
export const says = (word: string, of: Of, expected: number, mask = -1): Op =>
  looks(
    word,
    of,
    ({ machine, regions }, element) =>
      machine.hostLoad32(regions.elements + element * ELEMENT_SIZE + constant(word)) & mask,
    expected,
  );
