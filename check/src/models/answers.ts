/** Models of one or two threads that check the answers of the core about an object, the arena and a waiter. */

import { PARKED } from '../engine/machine/status.js';
import { Violation } from '../engine/search/violation.js';
import {
  ADMITTED,
  ANSWER_CLOSED,
  CANCELLED,
  CLOSED_OBJECT,
  constant,
  GRANT,
  T_DOORBELL,
  THREAD_SIZE,
  TICKET,
} from '../scene/layout.js';
import type { Model, Op } from '../scene/model.js';
import { newObject } from '../scene/new-object.js';
import { acquire } from '../scene/ops/acquire.js';
import { call, dispose } from '../scene/ops/calls.js';
import { eventLoop } from '../scene/ops/event-loop.js';
import { waitingOf, waits } from '../scene/ops/looks.js';
import { arrive } from '../scene/ops/promises.js';
import { post } from '../scene/ops/release.js';
import type { Scene } from '../scene/scene.js';
import { GOT, PHASE, PROMISES } from '../scene/words.js';

const NAME_SIZE = constant('NAME_SIZE');
const KIND = constant('KIND_SEMAPHORE');
const MORE = constant('MORE');
const OVER_MAX = constant('ANSWER_OVER_MAX');
const LIMIT = 0x7fffffff;
/** The number of the second attachment of a thread that is alone and has one spare. */
const SECOND = 3;
const OBJECT_SIZE = constant('OBJECT_SIZE');
const GENERATION = 7;
/** The words of an object that createObject has made with the arguments that a model below gives. */
const MADE = {
  TICKET: -4,
  GRANT: -2,
  O_WAKE: 7,
  O_LAZY: 8,
  O_PARKED: 0,
  O_KIND: KIND,
  O_MAX: 3,
  O_SPIN: 5,
  O_THRESHOLD: 6,
  O_INITIAL: 2,
  O_ROBUST: 1,
  O_UNREPORTED_DEATHS: 0,
  O_DEATHS: 0,
  O_TIMEOUTS: 0,
  O_DEPARTED: 0,
  O_WHERE: 0,
  O_VAIN_POLLS: 0,
  O_OWNER: 0,
};
const STALE = constant('ANSWER_STALE');
/** The counters begin at this ticket and not at 0, so that they differ from the 0 that a load of empty memory gives. */
const FIRST = -4n;

/** A call whose answer must be `expected`. */
export const asks = (
  name: string,
  args: (scene: Scene, t: number) => number[],
  expected: number | ((scene: Scene) => number),
): Op =>
  call(name, args, (answer, scene, t) => {
    const right = typeof expected === 'number' ? expected : expected(scene);
    if (answer !== right) throw new Violation(`${name}(${args(scene, t)}) is answered ${answer}, not ${right}`);
  });

/** For models in which nobody dies, and whose end does not check what the threads leave behind. */
const UNCHECKED = { leaves: true } as const;

/**
 * Checks the count of tickets. A request that finds the semaphore closed gives its tickets back, so that the counter of
 * tickets never wraps round.
 */
function expectTickets(scene: Scene, expected: number): void {
  const ticket = scene.word(scene.semaphores[0] + TICKET);
  if (ticket !== expected) throw new Violation(`${ticket} tickets are taken, of which ${expected} rightly`);
}

export const ofFirst =
  (...more: number[]) =>
  (scene: Scene): number[] => [scene.semaphores[0], ...more];

/** The attachment of thread 0. */
export const mine = (scene: Scene): number[] => [scene.attachment(0, 0)];

/** Counts the waiters. Thread 1 is counted if it sleeps. */
const waiting = (): Op => ({
  text: 'waiting',
  next(scene) {
    const counted = waitingOf(scene, scene.semaphores[0] as number);
    if (scene.machine.status(1) === PARKED && counted !== 1)
      throw new Violation(`thread 1 waits, and ${counted} are counted`);
    if (counted !== 0 && counted !== 1) throw new Violation(`${counted} are counted of 1`);
    return true;
  },
});

/**
 * Releases one permit more than there may be. The release is refused, unless another thread has just taken a permit.
 */
function postTooMany(): Op {
  return {
    text: 'post(1), too many',
    next(scene, t) {
      const phase = scene.get(t, PHASE);
      scene.set(t, PHASE, phase + 1);
      const answer = scene.result(t);
      if (phase === 0) scene.call(t, 'release', scene.semaphores[0], 1);
      else if (phase === 1 && answer === MORE) scene.call(t, 'finishRelease', scene.semaphores[0], 1, MORE, 0);
      else {
        if (answer !== ADMITTED && answer !== OVER_MAX) throw new Violation(`release is answered ${answer}`);
        scene.set(t, GOT + 1, answer === ADMITTED ? 1 : 0);
        return true;
      }
      return false;
    },
  };
}

/** The attachment to the object that the thread has made last. */
const made = (scene: Scene, t: number): number[] => [scene.get(t, GOT + 1)];

/** The arguments of a call: the object that the thread has made last, and the arguments `more`. */
const ofMade =
  (...more: number[]) =>
  (scene: Scene, t: number): number[] => [scene.objectOf(scene.get(t, GOT + 1)), ...more];

/** Stores to a word of the object that the thread has made last, as another thread would. */
const poke = (offset: string, value: number): Op => ({
  text: `${offset} = ${value}`,
  next(scene, t) {
    scene.machine.hostStore32(scene.objectOf(scene.get(t, GOT + 1)) + constant(offset), value);
    return true;
  },
});

/**
 * Makes an object that no handle keeps. The only thread of the object stays attached after each change of a word, given
 * as the word, its value and the value before. When the object is as it was made, the thread lets go of it.
 */
const staysFor = (
  kind: string,
  permits: number,
  changes: readonly (readonly [word: string, value: number, before: number])[],
): Op[] => [
  call(
    'createObject',
    () => newObject({ kind: constant(kind), permits, max: LIMIT, first: 0xffffffffn }),
    (answer, scene, t) => scene.set(t, GOT + 1, answer),
  ),
  ...changes.flatMap(([offset, value, before]) => [
    poke(offset, value),
    asks('letGo', (scene, t) => [...made(scene, t), 1], 0),
    poke(offset, before),
  ]),
  asks('letGo', (scene, t) => [...made(scene, t), 1], 1),
];

export const models: readonly Model[] = [
  {
    // The only two requests are cancelled: the first leaves a tombstone, and the second gives its ticket back. Then the
    // object is as it was made, and the thread lets go of it, although ticket is above grant.
    name: 'answers, whether a thread must stay beside a tombstone',
    programs: [
      [
        call(
          'createObject',
          () => [KIND, 0, LIMIT, 0, 0, 0, 0, 0, 16, 0],
          (answer, scene, t) => scene.set(t, GOT + 1, answer),
        ),
        call('arrive', ofMade(1, 0, 0), (run, scene, t) => scene.set(t, GOT, run)),
        call('arrive', ofMade(1, 0, 0), (run, scene, t) => scene.set(t, PROMISES, run)),
        asks('cancelRun', (scene, t) => [scene.get(t, GOT)], MORE),
        call('finishCancelRun', () => []),
        asks('letGo', (scene, t) => [...made(scene, t), 1], 0),
        asks('cancelRun', (scene, t) => [scene.get(t, PROMISES)], CANCELLED),
        asks('balance', ofMade(), -1),
        asks('letGo', (scene, t) => [...made(scene, t), 1], 1),
      ],
    ],
    arena: { objects: 2, elements: 6 },
    objects: (scene) => {
      scene.semaphore({ permits: 0 });
    },
    ...UNCHECKED,
  },
  {
    name: 'answers, whether a thread must stay',
    programs: [
      [
        ...staysFor('KIND_SEMAPHORE', 2, [
          ['TICKET', 0, -1],
          ['GRANT', 5, 1],
          ['O_UNREPORTED_DEATHS', 1, 0],
        ]),
        ...staysFor('KIND_TICKET_LOCK', 1, [['O_OWNER', 1, 0]]),
        ...staysFor('KIND_LATCH', 2, [['O_PHASE', 1, 2]]),
        ...staysFor('KIND_EVENT', 1, [['O_PHASE', 0, 1]]),
        ...staysFor('KIND_RW_LOCK', 1, [
          ['O_PHASE', constant('GATE_DIED'), 0],
          ['GRANT', -1, 0],
        ]),
        // The object of a handle lives on without a reference, whatever it is like.
        call('acquire', ofFirst(1)),
        asks('letGo', (scene) => [...mine(scene), 1], 1),
      ],
    ],
    arena: { objects: 2 },
    objects: (scene) => {
      scene.semaphore({ permits: 2 });
    },
    ...UNCHECKED,
  },
  {
    name: 'answers about an object',
    programs: [
      [
        asks('maxOf', ofFirst(), 3),
        asks('generation', ofFirst(), 0),
        asks('keep', ofFirst(), 0),
        asks('available', ofFirst(), 2),
        asks('exceeds', ofFirst(1), 0),
        asks('exceeds', ofFirst(2), 1),
        asks('attach', ofFirst(0, KIND), SECOND),
        asks('attach', ofFirst(0, KIND + 1), constant('ANSWER_WRONG_KIND')),
        asks('attach', ofFirst(1, KIND), STALE),
        asks('attach', ({ regions }) => [regions.objects + 64, 0, KIND], STALE),
        asks('attach', ({ regions }) => [regions.objects + 128, 0, KIND], STALE),
        asks(
          'attachedTo',
          () => [SECOND],
          ({ semaphores }) => semaphores[0],
        ),
        asks('held', () => [SECOND], 0),
        asks('isRobust', ofFirst(), 0),
        asks('ownersDied', ofFirst(), 0),
        waits(ofFirst(), 0),
        asks('isDisposed', ofFirst(), 0),
        call('dispose', ofFirst()),
        asks('isDisposed', ofFirst(), 1),
        asks('attach', ofFirst(0, KIND), ANSWER_CLOSED),
        asks('available', ofFirst(), 0),
        call('letGo', () => [SECOND, 0]),
        asks('generation', ofFirst(), 0),
        call('letGo', (scene) => [scene.attachment(0, 0), 0]),
        asks('generation', ofFirst(), 1),
        asks('attach', ofFirst(0, KIND), STALE),
        asks('attach', ofFirst(1, KIND), STALE),
      ],
    ],
    arena: { objects: 2 },
    objects: (scene) => {
      const address = scene.semaphore({ permits: 2, max: 3, spin: 5, threshold: 6, first: FIRST });
      const made = ['O_KIND', 'O_MAX', 'O_SPIN', 'O_THRESHOLD', 'O_INITIAL'].map((o) =>
        scene.word(address + constant(o)),
      );
      if (made.join() !== [KIND, 3, 5, 6, 2].join()) throw new Violation(`an object is made with ${made}`);
    },
  },
  {
    // The tickets do not begin at 0, so that a release is not refused as it should be if grant or ticket reads as 0.
    name: 'releases within a max',
    programs: [
      [
        asks('releaseOneWithin', ofFirst(), OVER_MAX),
        asks('releaseWithin', ofFirst(2), OVER_MAX),
        asks('tryAcquire', ofFirst(1), ADMITTED),
        asks('releaseWithin', ofFirst(2), OVER_MAX),
        asks('balance', ofFirst(), 1),
        asks('releaseOneWithin', ofFirst(), ADMITTED),
        asks('tryAcquire', ofFirst(2), ADMITTED),
        asks('releaseWithin', ofFirst(3), OVER_MAX),
        asks('balance', ofFirst(), 0),
        asks('releaseWithin', ofFirst(2), ADMITTED),
        asks('balance', ofFirst(), 2),
      ],
    ],
    objects: (scene) => {
      scene.semaphore({ permits: 2, max: 2, first: 16n });
    },
    ...UNCHECKED,
  },
  {
    name: 'an object where another was',
    programs: [
      [
        call(
          'createObject',
          () =>
            newObject({
              kind: KIND,
              permits: 2,
              max: 3,
              spin: 5,
              threshold: 6,
              robust: 1,
              variant: [7, 8],
              first: -4n,
            }),
          (attachment, scene) => {
            const address = scene.objectOf(attachment);
            if (address !== scene.regions.objects + OBJECT_SIZE) throw new Violation(`an object is made at ${address}`);
            for (const [name, value] of Object.entries(MADE)) {
              const is = scene.word(address + constant(name));
              if (is !== value) throw new Violation(`${name} of an object that is made is ${is}, not ${value}`);
            }
            const held = scene.regions.elements + (attachment - 1) * constant('ELEMENT_SIZE') + constant('E_HELD');
            if (scene.word(held) !== 0) throw new Violation('who makes an object is said to hold something');
            const life = address + constant('O_LIFE');
            if (scene.word(life) >>> 24 !== 2 || scene.word(life + 4) !== GENERATION)
              throw new Violation('an object is made of another generation');
          },
        ),
        asks('createObject', () => newObject({ kind: KIND }), constant('ANSWER_OBJECTS_FULL')),
        asks(
          'attach',
          ({ regions }) => [regions.objects + OBJECT_SIZE, GENERATION, KIND + 1],
          constant('ANSWER_WRONG_KIND'),
        ),
        call(
          'attach',
          ({ regions }) => [regions.objects + OBJECT_SIZE, GENERATION, KIND],
          (answer, scene, t) => {
            if (answer <= 0) throw new Violation(`attaching is answered ${answer}`);
            scene.set(t, GOT + 1, answer);
          },
        ),
        asks('held', (scene, t) => [scene.get(t, GOT + 1)], 0),
        asks(
          'attachedTo',
          (scene, t) => [scene.get(t, GOT + 1)],
          ({ regions }) => regions.objects + OBJECT_SIZE,
        ),
        call('letGo', (scene, t) => [scene.get(t, GOT + 1), 0]),
      ],
    ],
    arena: { objects: 2 },
    aged: true,
    objects: (scene) => {
      scene.semaphore({ permits: 0 });
      const address = scene.regions.objects + OBJECT_SIZE;
      for (let at = address; at < address + OBJECT_SIZE; at += 4) scene.machine.hostStore32(at, -1);
      scene.machine.hostStore32(address + constant('O_LIFE'), 0);
      scene.machine.hostStore32(address + constant('O_LIFE') + 4, GENERATION);
      scene.machine.hostStore32(constant('USED_OBJECTS'), 2);
    },
  },
  {
    name: 'answers about the arena',
    programs: [
      [
        asks('id', () => [], 1),
        asks(
          'doorbell',
          () => [],
          ({ regions }) => regions.threads + THREAD_SIZE + T_DOORBELL,
        ),
        asks('threadCount', () => [], 2),
        asks('acquire', () => [CLOSED_OBJECT, 1], ANSWER_CLOSED),
        asks('tryAcquire', () => [CLOSED_OBJECT, 1], ANSWER_CLOSED),
        asks('arrive', () => [CLOSED_OBJECT, 1, 0, 0], ANSWER_CLOSED),
        asks('countDown', () => [CLOSED_OBJECT, 1], ANSWER_CLOSED),
        asks('tryLock', () => [CLOSED_OBJECT], ANSWER_CLOSED),
        asks('createObject', () => newObject({ kind: KIND }), 3),
        asks(
          'attachedTo',
          () => [3],
          ({ regions }) => regions.objects,
        ),
        asks('createObject', () => newObject({ kind: KIND }), constant('ANSWER_OBJECTS_FULL')),
        asks(
          'draftName',
          () => [],
          ({ regions }) => regions.names + 2 * NAME_SIZE,
        ),
        asks('register', () => [0], constant('ANSWER_FULL')),
        call('unregister', () => []),
        asks('threadCount', () => [], 1),
      ],
      [],
    ],
    arena: { objects: 1 },
  },
  {
    name: 'waiting, a thread',
    programs: [[waiting(), asks('available', ofFirst(), 0), post(), waiting()], [acquire()]],
    arena: { buckets: 1, objects: 2 },
    objects: (scene) => {
      scene.semaphore({ permits: 0, first: FIRST });
    },
  },
  {
    name: 'waiting, promises',
    programs: [
      [
        arrive(),
        arrive(),
        waits(ofFirst(), 2),
        asks('waiting', ofFirst(), 2),
        waits((scene) => [scene.semaphores[1]], 0),
        asks('waiting', (scene) => [scene.semaphores[1] as number], 0),
        asks('available', ofFirst(), 0),
        post(),
        waits(ofFirst(), 1),
        asks('waiting', ofFirst(), 1),
        dispose(),
        waits(ofFirst(), 0),
        asks('waiting', ofFirst(), 0),
        eventLoop(),
      ],
    ],
    objects: (scene) => {
      scene.semaphore({ permits: 0, first: FIRST });
      scene.semaphore({ permits: 0, first: FIRST });
    },
  },
  {
    name: 'waiting, where promises of another object have waited',
    programs: [
      [
        arrive(),
        post(),
        eventLoop(),
        call('dispose', ofFirst()),
        call('letGo', (scene) => [scene.attachment(0, 0), 0]),
        call(
          'createObject',
          () => newObject({ kind: KIND }),
          (attachment, scene) => {
            const made = scene.objectOf(attachment);
            if (made !== scene.semaphores[0]) throw new Violation(`an object is made at ${made}`);
          },
        ),
        waits(ofFirst(), 0),
      ],
    ],
    arena: { objects: 1 },
    ...UNCHECKED,
    objects: (scene) => {
      scene.semaphore({ permits: 0, first: -FIRST });
    },
  },
  {
    name: 'too many permits, while another acquires',
    programs: [[postTooMany()], [acquire()]],
    ...UNCHECKED,
    objects: (scene) => {
      scene.semaphore({ permits: LIMIT });
    },
    end: (scene) => {
      const [address] = scene.semaphores;
      const left = (scene.word(address + GRANT) - scene.word(address + TICKET)) | 0;
      const right = LIMIT - 1 + scene.get(0, GOT + 1);
      if (left !== right) throw new Violation(`${left} permits are left, not ${right}`);
    },
  },
  {
    name: 'too many permits',
    programs: [
      [
        asks('release', ofFirst(1), MORE),
        asks('finishRelease', ofFirst(1, MORE, 0), OVER_MAX),
        asks('available', ofFirst(), LIMIT),
        asks('tryAcquire', ofFirst(LIMIT), 0),
        asks('tryAcquire', ofFirst(1), constant('REFUSED')),
      ],
    ],
    ...UNCHECKED,
    objects: (scene) => {
      scene.semaphore({ permits: LIMIT, first: FIRST });
    },
  },
  {
    name: 'too many permits, robust',
    programs: [
      [
        asks('acquireRobust', (scene) => [...ofFirst(3)(scene), ...mine(scene)], ADMITTED),
        asks('release', ofFirst(3), ADMITTED),
        asks('releaseRobust', (scene) => [...ofFirst(1)(scene), ...mine(scene)], MORE),
        asks('held', mine, 2),
        asks('finishRelease', (scene) => [...ofFirst(1, MORE)(scene), ...mine(scene)], OVER_MAX),
        asks('held', mine, 3),
        asks('releaseRobust', (scene) => [...ofFirst(4)(scene), ...mine(scene)], constant('ANSWER_NOT_HELD')),
      ],
    ],
    ...UNCHECKED,
    objects: (scene) => {
      scene.semaphore({ permits: LIMIT, first: FIRST, robust: true });
    },
  },
  {
    name: 'counters of a closed semaphore, robust',
    programs: [
      [
        dispose(),
        asks('acquireRobust', (scene) => [...ofFirst(1)(scene), ...mine(scene)], ANSWER_CLOSED),
        asks('tryAcquireRobust', (scene) => [...ofFirst(1)(scene), ...mine(scene)], ANSWER_CLOSED),
      ],
    ],
    objects: (scene) => {
      scene.semaphore({ permits: 0, robust: true });
    },
    end: (scene) => expectTickets(scene, 0),
  },
  {
    name: 'counters of a closed semaphore',
    programs: [
      [
        dispose(),
        asks('acquire', ofFirst(1), ANSWER_CLOSED),
        asks('acquireOne', ofFirst(), ANSWER_CLOSED),
        asks('tryAcquire', ofFirst(1), ANSWER_CLOSED),
        asks('release', ofFirst(1), MORE),
        asks('finishRelease', ofFirst(1, MORE, 0), 0),
      ],
    ],
    objects: (scene) => {
      scene.semaphore({ permits: 0 });
    },
    end: (scene) => {
      expectTickets(scene, 0);
      const grant = scene.word(scene.semaphores[0] + GRANT);
      if (grant !== 0) throw new Violation(`grant has moved by ${grant}`);
    },
  },
  {
    name: 'counters of one that is being closed',
    programs: [
      [
        call('arrive', ofFirst(1, 0, 0), (answer, scene, t) => {
          if (answer !== ANSWER_CLOSED) scene.set(t, GOT + 1, 1);
        }),
      ],
      [dispose()],
    ],
    ...UNCHECKED,
    objects: (scene) => {
      scene.semaphore({ permits: 0 });
    },
    end: (scene) => expectTickets(scene, scene.get(0, GOT + 1)),
  },
];
