/**
 * Models of calls that are cut short by an exception which the thread survives: the stack is exhausted, or the embedder
 * interrupts the call. The next call of the thread puts everything in order.
 *
 * In the first models the call `acquire` or `release` of the core has answered that a second call must follow, and this
 * second call ends where it begins. In the models `anywhere` one call of the core ends wherever the runtime may end it.
 */

import { Violation } from '../engine/search/violation.js';
import { ADMITTED, ANSWER_FULL, constant, FREE, LIFE_STATE, QUEUED } from '../scene/layout.js';
import type { Model, Op } from '../scene/model.js';
import { acquire, acquireFor } from '../scene/ops/acquire.js';
import { call, dispose, listen } from '../scene/ops/calls.js';
import { asleep, awaitDeath, recordOf, supervise } from '../scene/ops/deaths.js';
import { eventLoop } from '../scene/ops/event-loop.js';
import { arrive } from '../scene/ops/promises.js';
import { post, release } from '../scene/ops/release.js';
import type { Scene } from '../scene/scene.js';
import { GOT, PHASE, PROMISES, QUEUE } from '../scene/words.js';
import { lockAsync, loop, unlocking } from './parts/mutex-promises.js';
import { HAS } from './parts/mutex-words.js';

/** Calls `acquire`, but not the calls that must follow (`enqueue`, `park`). So the ticket is lost. */
const cutAcquire = (semaphore = 0): Op => call('acquire', (scene) => [scene.semaphores[semaphore], 1]);

/** Acquires. Gives up if the request would have to wait and no element is free for it. */
const acquireIfRoom = (semaphore: number): Op => {
  const whole = acquire(1, semaphore);
  return {
    ...whole,
    next: (scene, t) => (scene.get(t, PHASE) === 2 && scene.result(t) === ANSWER_FULL) || whole.next(scene, t),
  };
};

/** Calls `release`, but not `finishRelease`. Gives back a permit that the thread holds, or else makes a permit. */
const cutRelease = (semaphore = 0): Op => ({
  text: `release of ${semaphore}, cut short`,
  next(scene, t) {
    if (scene.get(t, PHASE) === 1) return true;
    scene.set(t, PHASE, 1);
    const held = scene.get(t, GOT + semaphore) > 0;
    scene.releasing(t, semaphore, 1, held);
    if (held) scene.set(t, GOT + semaphore, scene.get(t, GOT + semaphore) - 1);
    scene.call(t, 'release', scene.semaphores[semaphore], 1);
    return false;
  },
});

const semaphores =
  (...permits: number[]) =>
  (scene: Scene): void => {
    for (const count of permits) scene.semaphore({ permits: count });
  };

/** An op of which one call may be cut short anywhere. */
const mayBeCut = (op: Op, cut: NonNullable<Op['cut']> = () => {}): Op => ({ ...op, cut });

/** A release of which a call may be cut short. If that comes before the permits go back, the thread still holds them. */
const releaseMayBeCut = (semaphore = 0): Op =>
  mayBeCut(release(semaphore), (scene, t) => {
    const kept = scene.permits.givingBack(t, semaphore);
    if (kept > 0) scene.set(t, GOT + semaphore, kept);
  });

/** The thread enters its first run, and may be cut short. Its rest enters the run again. */
const enterMayBeCut = (): Op =>
  mayBeCut({
    text: 'enterRun',
    next(scene, t) {
      if (scene.get(t, PHASE) === 1 || scene.get(t, QUEUE) === 0) return true;
      scene.set(t, PHASE, 1);
      scene.call(t, 'enterRun', scene.get(t, PROMISES));
      return false;
    },
  });

/** The call by which the library completes or cancels a call that was cut short. */
const recover = (): Op => call('finishPendingCall', () => []);

/** Models in which one call of the first thread is cut short, anywhere, before the thread recovers. */
function anywhere(
  name: string,
  programs: readonly (readonly Op[])[],
  permits: number,
  { robust = false, ...more }: Partial<Model> & { robust?: boolean } = {},
): Model {
  return {
    name: `anywhere: ${name}${robust ? ', robust' : ''}`,
    programs,
    arena: { buckets: 4, elements: 3 * programs.length, attached: programs.length },
    cuts: 1,
    objects: (scene) => scene.semaphore({ permits, robust }),
    ...more,
  };
}

const anywhereModels = (robust: boolean): Model[] => [
  anywhere(
    'acquire',
    [
      [mayBeCut(acquire()), recover(), release(), acquire(), release()],
      [acquire(), release()],
    ],
    1,
    {
      robust,
    },
  ),
  anywhere(
    'acquire, and the thread ends',
    [
      [mayBeCut(acquire()), release(), call('unregister', () => [])],
      [acquire(), release()],
    ],
    1,
    { robust },
  ),
  anywhere(
    'acquire in time',
    [
      [mayBeCut(acquireFor()), recover(), release()],
      [acquireFor(), release()],
    ],
    1,
    { robust },
  ),
  // A release of one permit finds the tombstone of the first request only if the first thread has settled it.
  anywhere(
    'acquire in time, heavy',
    [[mayBeCut(acquireFor(3)), recover(), release()], [acquire(), release()], [post()]],
    0,
    { robust },
  ),
  anywhere(
    'acquire in time, heavy, beside a tombstone',
    [[mayBeCut(acquireFor(2)), recover(), release()], [acquireFor(2), release()], [acquire(), release()], [post()]],
    0,
    { robust, long: true },
  ),
  anywhere(
    'release',
    [
      [acquire(), releaseMayBeCut(), recover(), release(), acquire(), release()],
      [acquire(), release()],
    ],
    1,
    { robust },
  ),
  anywhere(
    'release, and the thread ends',
    [
      [acquire(), releaseMayBeCut(), release(), call('unregister', () => [])],
      [acquire(), release()],
    ],
    1,
    { robust },
  ),
  anywhere(
    'release to two',
    [
      [acquire(2), releaseMayBeCut(), recover(), release()],
      [acquire(), release()],
      [acquire(), release()],
    ],
    2,
    { robust },
  ),
];

/** A ticket lost by the last interruption of a thread is not given back until the thread waits again or ends. */
const LOSES = { leaves: true } as const;

/**
 * The first acquire of the thread was cut short, and the thread may be killed at any point of its second acquire. At
 * each of these points, a reaper must find all tickets of the thread.
 */
const killedInTheNext = (robust: boolean): Model => ({
  name: `acquire cut short, and killed in the next${robust ? ', robust' : ''}`,
  programs: [[acquire(), release(), call('unregister', () => [])], [post(), post()], [supervise()]],
  arena: { objects: 3, elements: 6, attached: 3 },
  deaths: 1,
  mortal: [0],
  mayWait: true,
  objects: (scene) => {
    const s = scene.semaphore({ permits: 0, robust });
    if (scene.callNow(0, 'acquire', s, 1) !== QUEUED) throw new Error('the first request does not wait');
  },
});

export const models: readonly Model[] = [
  {
    name: 'acquire cut short',
    programs: [
      [cutAcquire(), acquire(), release()],
      [post(), post()],
    ],
    arena: { elements: 4 },
    ...LOSES,
    objects: semaphores(0),
  },
  {
    name: 'acquire cut short in its sleep',
    programs: [
      [cutAcquire(), asleep(), acquire(), release(), cutAcquire(), asleep(), call('unregister', () => [])],
      [post(), post()],
    ],
    arena: { elements: 5 },
    ...LOSES,
    objects: semaphores(0),
    end: (scene) => {
      if (scene.finished(0) && (scene.machine.words[recordOf(scene, 0) >> 2] & LIFE_STATE) !== FREE)
        throw new Violation('a thread has ended, and its record is not free');
    },
  },
  {
    name: 'acquire cut short, then a promise',
    programs: [
      [cutAcquire(), arrive(), eventLoop()],
      [post(), post()],
    ],
    arena: { elements: 4 },
    ...LOSES,
    objects: semaphores(0),
  },
  {
    name: 'acquire cut short, then another that is disposed of',
    // The marks of the first semaphore do not tell where the waiter on the second semaphore is (core/arena/elements.ts).
    programs: [[cutAcquire(0), acquire(1, 1)], [dispose(1)]],
    arena: { elements: 5 },
    ...LOSES,
    objects: semaphores(0, 0),
  },
  {
    name: 'release cut short',
    programs: [
      [acquire(), cutRelease(), acquire(), release()],
      [acquire(), release()],
    ],
    objects: semaphores(1),
  },
  {
    name: 'release cut short, then another',
    // If the second release sees no waiter, the first release is completed when the thread ends.
    programs: [[cutRelease(), post(), call('unregister', () => [])], [acquire()], [acquire()]],
    arena: { buckets: 1 },
    objects: semaphores(0),
  },
  // The promise of the thread is due, and no other thread rings. Thread 1 is the waitAsync of the first thread.
  ...[
    { name: 'a release cut short, of its own promise', cut: [cutRelease(0)] },
    // The lost ticket is the pending call when the release is cut short.
    { name: 'an acquire and a release cut short, of its own promise', cut: [cutAcquire(1), cutRelease(0)] },
  ].map(
    ({ name, cut }): Model => ({
      name,
      programs: [
        [
          arrive(),
          ...cut,
          recover(),
          {
            text: 'rung for',
            next: (scene, t) => {
              if (scene.machine.words[scene.doorbell(t) >> 2] === 0)
                throw new Violation('a promise is due, and its thread is not rung for');
              return true;
            },
          },
          eventLoop(),
        ],
        [listen(0)],
      ],
      arena: { elements: 6 },
      ...LOSES,
      mayWait: true,
      end: (scene) => {
        if (scene.machine.words[scene.doorbell(0) >> 2] !== 0 && !scene.finished(1))
          throw new Violation('a doorbell is rung, and the listening thread is not rung for');
      },
      objects: semaphores(0, 0),
    }),
  ),
  // The first call is the pending call when the release after it is cut short. The tickets do not begin at 0, so that a
  // thread which reads 0 in place of a ticket looks into another bucket.
  {
    name: 'an acquire and a release cut short',
    programs: [[cutAcquire(1), cutRelease(0), recover()], [acquire(1, 0)]],
    arena: { elements: 4, attached: 2 },
    ...LOSES,
    objects: (scene) => {
      scene.semaphore({ permits: 0, robust: true, first: 5n });
      scene.semaphore({ permits: 0 });
    },
  },
  // The first call is the pending call when the releases after it are cut short.
  ...[
    { calls: 'two releases', cut: [cutRelease(0), cutRelease(1)] },
    { calls: 'an acquire and two releases', cut: [cutAcquire(2), cutRelease(0), cutRelease(1)] },
    { calls: 'three releases', cut: [cutRelease(2), cutRelease(0), cutRelease(1)] },
  ].map(
    ({ calls, cut }): Model => ({
      name: `${calls} cut short`,
      programs: [[...cut, recover()], [acquire(1, 0)], [acquire(1, 1)]],
      arena: { objects: 3, elements: 6, attached: 3 },
      ...LOSES,
      objects: (scene) => {
        for (let i = 0; i < 3; i++) scene.semaphore({ permits: 0, robust: true });
      },
    }),
  ),
  {
    name: 'release cut short, then a promise',
    programs: [
      [acquire(), cutRelease(), arrive(), eventLoop()],
      [acquire(), release()],
    ],
    objects: semaphores(1),
  },
  {
    name: 'release cut short, before the end',
    programs: [[cutRelease(), call('unregister', () => [])], [acquire()]],
    objects: semaphores(0),
  },
  {
    name: 'release cut short, of its own promise',
    programs: [
      [
        arrive(),
        cutRelease(),
        post(1, 1),
        {
          text: 'rung for',
          next: (scene, t) => {
            // The second release completes the first release only if there are waiters for the second release to wake.
            if (scene.machine.words[scene.doorbell(t) >> 2] === 0 && scene.held(1) > 0) {
              throw new Violation('a promise is due, and its thread is not rung for');
            }
            return true;
          },
        },
        eventLoop(),
      ],
      [acquire(1, 1)],
      [listen(0)],
    ],
    mayWait: true,
    end: (scene) => {
      if (scene.machine.words[scene.doorbell(0) >> 2] !== 0 && !scene.finished(2)) {
        throw new Violation('a doorbell is rung, and the listening thread is not rung for');
      }
    },
    objects: semaphores(0, 0),
  },
  {
    // The promise is the head of a mutex and has the last free element. So nothing replaces the element that the lost
    // ticket keeps, until thread 1 has ended. When the promise gives the permit of the queue back, the element of the
    // lost ticket must not become a spare.
    name: 'acquire cut short, and no element is free',
    programs: [
      [lockAsync(false), cutAcquire(1), loop(), acquireIfRoom(1)],
      [{ text: 'unlock', next: (scene, t) => !unlocking(scene, t) }, post(2, 1), call('unregister', () => [])],
    ],
    arena: { elements: 3, attached: 2 },
    ...LOSES,
    objects: (scene) => {
      const m = scene.semaphore({ permits: 1, kind: constant('KIND_MUTEX'), max: 1, robust: true });
      scene.semaphore({ permits: 0 });
      if (scene.callNow(1, 'lock', m) !== ADMITTED) throw new Error('the lock is not free');
      scene.set(1, HAS, 1);
    },
  },
  ...[false, true].map(
    (robust): Model => ({
      // The lost ticket keeps the last element. So the second acquire could not wait. But it need not wait, because its
      // permit is free.
      name: `acquire cut short, no element is free, and a permit is${robust ? ', robust' : ''}`,
      programs: [
        [cutAcquire(), acquire(1, 1), release(1)],
        [post(), post(), call('unregister', () => [])],
      ],
      arena: { elements: 2 },
      ...LOSES,
      objects: (scene) => {
        scene.semaphore({ permits: 0 });
        scene.semaphore({ permits: 1, robust });
      },
    }),
  ),
  killedInTheNext(false),
  killedInTheNext(true),
  anywhere('enterRun', [[arrive(), enterMayBeCut(), eventLoop()], [post()]], 0),
  anywhere(
    'enterRun, of a promise of 2',
    [
      [arrive(2), enterMayBeCut(), eventLoop()],
      [post(), post()],
    ],
    0,
  ),
  ...anywhereModels(false),
  ...anywhereModels(true),
  // A reaper that an exception has stopped stays the reaper. So it must reap once more (src/arena/arena.ts).
  anywhere(
    'reap',
    [
      [mayBeCut(supervise()), call('reap', () => [0, 0, 0])],
      [acquire(), awaitDeath()],
      [acquire(), awaitDeath()],
      [supervise()],
    ],
    2,
    { robust: true, deaths: 2, mortal: [1, 2], asleep: [1, 2] },
  ),
];
