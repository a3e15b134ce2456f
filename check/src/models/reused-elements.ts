/**
 * Models of elements that are used again, and of epochs. A releasing or disposing thread has read that an element
 * waits, and is slow. Meanwhile the wait ends, and the element begins another one, which is never due. The slow thread
 * must not touch the second wait.
 *
 * The models differ in how the element comes to be used again. Its thread keeps the element as the second spare
 * (core/arena/elements.ts), gives the element back to the pool, or ends. Or the element belongs to a run of promises,
 * and the first promises of the run are settled.
 *
 * Each model but those of `cell` runs twice: its elements begin in epoch 0, and in epoch 1. A faulty core (a mutant)
 * may give every wait the same epoch, always 0 or always 1. In one of the two runs this is also the epoch of the first
 * wait. Then the slow thread takes the second wait for the first, and the model finds the fault.
 */

import { Violation } from '../engine/search/violation.js';
import { constant, E_REQUEST, ELEMENT_SIZE, OBJECT_SIZE, STATE_MASK, TOMBSTONE } from '../scene/layout.js';
import type { Model, Op } from '../scene/model.js';
import { acquire, acquireFor } from '../scene/ops/acquire.js';
import { call, cancelRun, dispose } from '../scene/ops/calls.js';
import { eventLoop } from '../scene/ops/event-loop.js';
import { arrive } from '../scene/ops/promises.js';
import { post } from '../scene/ops/release.js';
import type { Scene } from '../scene/scene.js';
import { GOT } from '../scene/words.js';

const EPOCH = constant('EPOCH');
const RUN = GOT + 1;

function beginIn(scene: Scene, epoch: number): void {
  const { elements, end } = scene.regions;
  for (let e = elements; e < end; e += ELEMENT_SIZE) {
    scene.machine.hostStore32(e, scene.machine.hostLoad32(e) + epoch * EPOCH);
  }
}

const rejoin = (): Op[] => [call('unregister', () => []), call('register', () => [0])];

/** Queues a promise, on the second semaphore by default, and leaves it there. */
const leave = (width: number, semaphore = 1): Op =>
  call('arrive', (scene) => [scene.semaphores[semaphore], width, 0, 0]);

/** Queues a promise that may cancel: it has a run of its own. */
const joinAlone = (semaphore = 0, word = RUN): Op =>
  call(
    'arrive',
    (scene) => [scene.semaphores[semaphore], 1, 0, 0],
    (run, scene, t) => scene.set(t, word, run),
  );

/**
 * Makes a call for the run whose number is in the thread's word `word`. Does nothing if the promise of the run was
 * admitted at once.
 */
function forRun(
  name: string,
  word: number,
  more: readonly number[],
  then: (answer: number, scene: Scene, t: number) => void,
): Op {
  return ifWaits(
    word,
    call(name, (scene, t) => [scene.get(t, word), ...more], then),
  );
}

const ifWaits = (word: number, op: Op): Op => ({
  text: op.text,
  next: (scene, t) => scene.get(t, word) <= 0 || op.next(scene, t),
});

const cancel = (word = RUN): Op =>
  ifWaits(
    word,
    cancelRun((scene, t) => scene.get(t, word)),
  );
const enterOnly = (): Op => forRun('enterRun', RUN, [], () => {});

const join = (): Op =>
  call(
    'arrive',
    (scene, t) => [scene.semaphores[0], 1, scene.get(t, RUN), 0],
    (run, scene, t) => scene.set(t, RUN, run),
  );

/**
 * Asks the core to ring for the run. At most one promise of the run is ever due. When this promise has been settled
 * (`settled`), the core must not answer that a promise is due.
 */
const enter = (settled: boolean): Op =>
  call(
    'enterRun',
    (scene, t) => [scene.get(t, RUN)],
    (due, scene, t) => {
      if (due === 0 || !settled || scene.get(t, GOT) === 0) return;
      throw new Violation(`thread ${t} learns that a promise is due, and none is`);
    },
  );

const settle = (): Op =>
  call(
    'settle',
    (scene, t) => [scene.get(t, RUN), 0],
    (count, scene, t) => scene.set(t, GOT, count),
  );

/** A promise of the second semaphore cancels. No request of this semaphore is ever due, so the tombstone stays. */
const tombstone = [joinAlone(1), leave(1), cancel()];
const queued = [joinAlone(), leave(1, 0), cancel()];

const cases: readonly (Pick<Model, 'name' | 'programs'> & Partial<Model>)[] = [
  { name: 'kept', programs: [[arrive(), eventLoop(), arrive(2), acquire()], [post()]] },
  {
    name: 'given back',
    programs: [
      [arrive(), arrive(2), eventLoop(), arrive(3), arrive(4), acquire()],
      [post(), post()],
    ],
  },
  { name: 'a thread that ends', programs: [[arrive(), eventLoop(), ...rejoin(), acquire(2)], [post()]] },
  {
    name: 'a run',
    programs: [[join(), join(), enter(false), settle(), enter(true), enter(true)], [post()]],
    leaves: true,
  },
  {
    name: 'kept when closed',
    programs: [[arrive(), eventLoop(), leave(1), acquire(1, 1)], [dispose()]],
    leaves: true,
  },
  {
    name: 'kept when closed, and then due',
    programs: [
      [arrive(), eventLoop(), leave(1), acquire(1, 1)],
      [dispose(), post(2, 1)],
    ],
    mayWait: false,
    leaves: true,
  },
  { name: 'its ticket taken back', programs: [[acquireFor(), acquire(1, 1)], [post()]], leaves: true },
  {
    name: 'the ticket of its run taken back',
    programs: [[joinAlone(), enterOnly(), cancel(), leave(1), acquire(1, 1)], [post()]],
    leaves: true,
  },
  {
    name: 'cancelled when due',
    programs: [[...queued, leave(1), acquire(1, 1)], [post()]],
    leaves: true,
  },
  {
    name: 'given back when closed',
    programs: [
      [arrive(), arrive(2), eventLoop(), leave(1), leave(2), acquire(1, 1)],
      [post(), dispose()],
    ],
    leaves: true,
  },
];

/**
 * A thread that releases `posted` permits of the first semaphore has read the first tombstone, and is slow. Meanwhile
 * the tombstone goes, and its element becomes a tombstone of the second semaphore. The slow thread must not touch this
 * second tombstone.
 */
const leftBehind: readonly (readonly [name: string, own: readonly Op[], posted: number])[] = [
  ['by the thread that cancelled, beside a release', [...queued, post(), leave(1), ...tombstone], 1],
  ['by the thread that cancelled, beside dispose', [...queued, dispose(), leave(1), ...tombstone], 1],
  [
    'by being joined',
    [joinAlone(), joinAlone(0, GOT), leave(1, 0), cancel(GOT), cancel(), leave(1), leave(1), ...tombstone],
    2,
  ],
];

const gone = leftBehind.flatMap(([name, own, posted]) =>
  [0, 1].map(
    (epoch): Model => ({
      name: `owners: a tombstone that went ${name}, from epoch ${epoch}`,
      programs: [own, [post(posted)]],
      arena: { buckets: 1, elements: 12 },
      mayWait: true,
      leaves: true,
      objects: (scene) => {
        scene.semaphore({ permits: 0 });
        scene.semaphore({ permits: 0 });
        beginIn(scene, epoch);
      },
      end: ({ machine: { words }, regions: { elements, end, objects }, semaphores }) => {
        const second = (semaphores[1] as number) - objects;
        let found = 0;
        for (let e = elements; e < end; e += ELEMENT_SIZE) {
          const object = words[(e + E_REQUEST) >> 2] >>> 31;
          if ((words[e >> 2] & STATE_MASK) === TOMBSTONE && object * OBJECT_SIZE === second) found++;
        }
        if (found !== 1) throw new Violation(`${found} tombstones of the second semaphore are there, not 1`);
      },
    }),
  ),
);

/**
 * When the first wait ends, the element leaves its cell, and the element of another thread takes this cell. In the
 * second wait, the owner of the first element is admitted by a poll before it has entered the element in another cell.
 * The owner must not empty the cell of the first wait.
 */
const cell = (name: string, end: Op): Model => ({
  name: `owners: the cell of a run that was ${name}`,
  programs: [[arrive(), eventLoop(), leave(1), acquire(1, 1)], [end, post(2, 1)], [acquire(1, 1)]],
  arena: { buckets: 1, elements: 8 },
  mayWait: true,
  leaves: true,
  objects: (scene) => {
    scene.semaphore({ permits: 0 });
    scene.semaphore({ permits: 0, spin: 1 });
  },
});

export const models: readonly Model[] = cases
  .flatMap((model) =>
    [0, 1].map(
      (epoch): Model => ({
        mayWait: true,
        arena: { buckets: 1, elements: 8 },
        ...model,
        name: `owners: ${model.name}, from epoch ${epoch}`,
        objects: (scene) => {
          scene.semaphore({ permits: 0 });
          scene.semaphore({ permits: 0 });
          beginIn(scene, epoch);
        },
      }),
    ),
  )
  .concat(gone, cell('closed', dispose()), cell('settled', post()));
