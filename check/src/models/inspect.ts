/**
 * Models of what diagnostics read and count: each answer of core/inspect.ts, of other calls that only read, and what a
 * look finds (src/look/). No expected value is one that a call would also give if it read a word of zeros or of ones.
 */
import { PARKED } from '../engine/machine/status.js';
import { Violation } from '../engine/search/violation.js';
import {
  ADMITTED,
  ANSWER_CLOSED,
  constant,
  ELEMENT_SIZE,
  O_DEATHS,
  O_TIMEOUTS,
  QUEUED,
  REFUSED,
  T_COLLISIONS,
  T_FUTILE_WAKES,
} from '../scene/layout.js';
import type { Model, Op } from '../scene/model.js';
import { newObject } from '../scene/new-object.js';
import { reduce } from '../scene/ops/acquire.js';
import { call, dispose } from '../scene/ops/calls.js';
import { holds, says, stands, waitingOf, waits } from '../scene/ops/looks.js';
import { abort, arrive } from '../scene/ops/promises.js';
import { add, post } from '../scene/ops/release.js';
import type { Scene } from '../scene/scene.js';
import { GOT, PHASE, PROMISES } from '../scene/words.js';
import { asks, mine, ofFirst } from './answers.js';
import { type Line, modelOf } from './parts/program.js';

/** The bits of a state that are not its epoch. */
const STATES = 15;
const E_SINCE = constant('E_SINCE');
const KIND = constant('KIND_SEMAPHORE');
const MUTEX = constant('KIND_MUTEX');
const CONTENDED = constant('CONTENDED');
const FIRST = 16n;
/** The time at which a waiter goes to sleep, as its element says. */
const NOW = 77;

/** The arguments of a call: the element of the thread's first promise that still waits, and the arguments `more`. */
const first =
  (...more: number[]) =>
  (scene: Scene, t: number): number[] => [scene.get(t, PROMISES) - 1, ...more];

const enter = (): Op => call('enterRun', (scene, t) => [scene.get(t, PROMISES)]);

/** Keeps the element of the first promise. Later ops use this element when the promise no longer waits. */
const note = (): Op => ({
  text: 'note',
  next(scene, t) {
    scene.set(t, GOT + 1, scene.get(t, PROMISES) - 1);
    return true;
  },
});
const noted =
  (...more: number[]) =>
  (scene: Scene, t: number): number[] => [scene.get(t, GOT + 1), ...more];

/** The element of thread 0's attachment. */
const record = (scene: Scene): number[] => [scene.attachment(0, 0) - 1];

/** Checks that nobody waits by an attachment. The look reads it in E_END of its element. */
const nobodyWaitsBy = (attachment: number): Op => ({
  text: 'nobody waits by it',
  next({ machine, regions }) {
    const waits = machine.hostLoad32(regions.elements + (attachment - 1) * ELEMENT_SIZE + constant('E_END'));
    if (waits !== 0) throw new Violation(`${waits} wait by a new attachment`);
    return true;
  },
});

/** Checks that the word of a mutex is 0 in a semaphore. */
const unmarked = (): Op => ({
  text: 'no mark of an owner that died',
  next(scene) {
    for (const half of [0, 4])
      if (scene.word((scene.semaphores[0] as number) + constant('M_WORD') + half) !== 0)
        throw new Violation('a semaphore is marked as a mutex whose owner has died');
    return true;
  },
});

const reads: readonly Model[] = [
  {
    name: 'inspect: a run',
    programs: [
      [
        arrive(2),
        arrive(2),
        says('E_STATE', first(), constant('AWAKE'), STATES),
        says('E_START', first(), Number(FIRST)),
        says('E_SINCE', first(), 0),
        waits(ofFirst(), 2),
        call('waitsSince', (scene, t) => [scene.get(t, PROMISES), NOW]),
        enter(),
        says('E_SINCE', first(), NOW),
        says('E_STATE', first(), constant('WAITING'), STATES),
        asks('balance', ofFirst(), -4),
        waits(ofFirst(), 2),
        asks('waiting', ofFirst(), 2),
        post(2),
        waits(ofFirst(), 1),
        asks('waiting', ofFirst(), 1),
        asks('balance', ofFirst(), -2),
        call('dispose', ofFirst()),
        waits(ofFirst(), 0),
      ],
    ],
    arena: { objects: 2 },
    aged: true,
    leaves: true,
    objects: (scene) => {
      scene.callNow(0, 'createObject', ...newObject({ kind: KIND }));
      scene.semaphore({ permits: 0, first: FIRST });
    },
  },
  ...[FIRST, FIRST + 1n].map(
    (from): Model => ({
      name: `inspect: a run, granted in part, from ${from}`,
      programs: [
        [arrive(3), arrive(3), waits(ofFirst(), 2), post(1), waits(ofFirst(), 2), asks('waiting', ofFirst(), 2)],
      ],
      mayWait: true,
      leaves: true,
      objects: (scene) => {
        scene.semaphore({ permits: 0, first: from });
      },
    }),
  ),
  {
    name: 'inspect: permits that are added and taken back',
    programs: [
      [
        asks('added', ofFirst(), 0),
        reduce(3),
        asks('added', ofFirst(), -3),
        asks('balance', ofFirst(), -1),
        add(6),
        asks('added', ofFirst(), 3),
        asks('drain', ofFirst(0), 5),
        asks('drain', ofFirst(0), 0),
        asks('balance', ofFirst(), 0),
        call('dispose', ofFirst()),
        asks('drain', ofFirst(0), ANSWER_CLOSED),
        asks('reduce', ofFirst(1), ANSWER_CLOSED),
        asks('added', ofFirst(), 3),
        // A closed semaphore: the low word of the distance between its counters. No ticket is taken, so this word is 0.
        asks('balance', ofFirst(), 0),
      ],
    ],
    leaves: true,
    objects: (scene) => {
      scene.semaphore({ permits: 2, first: FIRST });
    },
  },
  {
    // Nobody waits by an attachment that is new, whatever its element was before.
    name: 'inspect: attachments of elements used before',
    programs: [
      [
        asks('attach', ofFirst(0, constant('KIND_SEMAPHORE')), 3),
        nobodyWaitsBy(3),
        asks('createObject', () => newObject({ kind: constant('KIND_SEMAPHORE'), permits: 1 }), 4),
        nobodyWaitsBy(4),
      ],
    ],
    arena: { objects: 2, elements: 5 },
    aged: true,
    leaves: true,
    objects: (scene) => {
      scene.semaphore({ permits: 1, first: FIRST });
    },
  },
  {
    name: 'inspect: a tombstone',
    programs: [
      [
        arrive(3, true),
        arrive(),
        note(),
        abort(),
        says('E_STATE', noted(), constant('TOMBSTONE'), STATES),
        stands(ofFirst(), 3),
        waits(ofFirst(), 1),
        asks('waiting', ofFirst(), 1),
      ],
    ],
    mayWait: true,
    leaves: true,
    objects: (scene) => {
      scene.semaphore({ permits: 0, first: FIRST });
    },
  },
  {
    name: 'inspect: a thread that waits',
    programs: [
      [
        {
          text: 'sees it waiting',
          next(scene, t) {
            if (scene.machine.status(1) !== PARKED && !scene.finished(1)) {
              scene.hostLoad(t, scene.semaphores[0] as number);
              return false;
            }
            scene.set(t, GOT + 1, scene.machine.status(1) === PARKED ? 1 : 0);
            return true;
          },
        },
        {
          text: 'waiting',
          next(scene, t) {
            const waiting = waitingOf(scene, scene.semaphores[0] as number);
            // Only the asking thread can wake thread 1.
            if (scene.get(t, GOT + 1) === 1 && waiting !== 1)
              throw new Violation(`thread 1 waits, and ${waiting} are counted`);
            return true;
          },
        },
        call('waiting', ofFirst(), (answer, scene, t) => {
          if (scene.get(t, GOT + 1) === 1 && answer !== 1)
            throw new Violation(`thread 1 waits, and the core counts ${answer}`);
        }),
        call(
          'isAsleep',
          () => [2],
          (answer, scene, t) => {
            if (scene.get(t, GOT + 1) === 1 && answer !== 1) throw new Violation('thread 1 sleeps, and is said not to');
          },
        ),
        post(),
        waits(ofFirst(), 0),
        asks('waiting', ofFirst(), 0),
      ],
      [
        call('acquire', ofFirst(1)),
        call('enqueue', ofFirst(1, QUEUED, 0), (answer, scene, t) => scene.set(t, GOT + 1, answer)),
        {
          text: 'park',
          next(scene, t) {
            if (scene.get(t, GOT + 1) !== QUEUED) return true;
            scene.set(t, GOT + 1, 0);
            scene.call(t, 'park', NOW, 0);
            return false;
          },
        },
      ],
    ],
    leaves: true,
    objects: (scene) => {
      scene.semaphore({ permits: 0 });
    },
  },
  {
    name: 'inspect: since when a thread waits',
    programs: [[call('acquire', ofFirst(1)), call('enqueue', ofFirst(1, QUEUED, 0)), call('park', () => [NOW, 0])]],
    mayWait: true,
    leaves: true,
    objects: (scene) => {
      scene.semaphore({ permits: 0 });
    },
    end: (scene) => {
      const since = scene.machine.words[(scene.spare(0) + E_SINCE) >> 2];
      if (since !== NOW) throw new Violation(`it says that it sleeps since ${since}`);
    },
  },
  {
    name: 'inspect: an object',
    programs: [
      [
        asks(
          'attachedTo',
          (scene) => [scene.attachment(0, 0)],
          ({ semaphores }) => semaphores[0] as number,
        ),
        asks('initial', ofFirst(), 2),
        asks('balance', ofFirst(), 2),
        asks('isRobust', ofFirst(), 1),
        asks('timeouts', ofFirst(), 5),
        asks('deaths', ofFirst(), 6),
        asks('ownersDied', ofFirst(), 7),
        asks('ownersDied', ofFirst(), 0),
        call('restoreOwnerDeaths', ofFirst(3)),
        unmarked(),
        asks('ownersDied', ofFirst(), 3),
        call('tryAcquireRobust', (scene) => [...ofFirst(1)(scene), scene.attachment(0, 0)]),
        holds(ofFirst(), 1),
        asks('held', (scene) => [scene.attachment(0, 0)], 1),
        asks('liveObjects', () => [], 2),
        dispose(),
        asks('liveObjects', () => [], 1),
      ],
    ],
    arena: { objects: 3 },
    leaves: true,
    objects: (scene) => {
      scene.callNow(0, 'createObject', ...newObject({ kind: MUTEX, permits: 1, robust: 1 }));
      const address = scene.semaphore({ permits: 2, first: FIRST, robust: true });
      scene.machine.hostStore32(address + O_TIMEOUTS, 5);
      scene.machine.hostStore32(address + O_DEATHS, 6);
      scene.machine.hostStore32(address + constant('O_UNREPORTED_DEATHS'), 7);
    },
  },
  {
    name: 'inspect: a mutex',
    programs: [
      [
        asks('ownerOf', ofFirst(), 0),
        asks('waitersOf', ofFirst(), 0),
        asks('held', mine, 0),
        asks('unlock', ofFirst(), constant('ANSWER_NOT_HELD')),
        asks('lock', ofFirst(), ADMITTED),
        asks('ownerOf', ofFirst(), 1),
        asks('held', mine, 1),
        // The thread is not the head: it has taken the lock, or the mutex is closed.
        asks('reserveLock', (scene) => [...ofFirst()(scene), ...mine(scene)], ADMITTED),
        waits(ofFirst(), 0),
        call('waitsSince', (scene) => [...mine(scene), NOW]),
        says('E_SINCE', record, NOW),
        asks('lock', ofFirst(), CONTENDED),
        asks('queue', (scene) => [...ofFirst()(scene), ...mine(scene)], constant('ANSWER_HELD')),
        asks('tryLock', ofFirst(), REFUSED),
        asks('arrive', (scene) => [...ofFirst(1, 0)(scene), ...mine(scene)], ADMITTED),
        asks('reserveLock', (scene) => [...ofFirst()(scene), ...mine(scene)], REFUSED),
        asks('waitersOf', ofFirst(), 1),
        says('E_HELD', record, 1),
        waits(ofFirst(), 1),
        asks('arrive', (scene) => [...ofFirst(1, 0)(scene), ...mine(scene)], 1),
        asks('waitersOf', ofFirst(), 2),
        waits(ofFirst(), 2),
        asks('ownerOf', ofFirst(), 1),
        call('mutexDispose', ofFirst()),
        asks('lock', ofFirst(), CONTENDED),
        asks('tryLock', ofFirst(), ANSWER_CLOSED),
        asks('reserveLock', (scene) => [...ofFirst()(scene), ...mine(scene)], ANSWER_CLOSED),
        says('E_HELD', record, 0),
        asks('reserveLock', (scene) => [...ofFirst()(scene), ...mine(scene)], ANSWER_CLOSED),
      ],
    ],
    leaves: true,
    objects: (scene) => {
      scene.callNow(0, 'createObject', ...newObject({ kind: KIND }));
      scene.semaphore({ permits: 1, kind: MUTEX, first: FIRST, robust: true });
    },
  },
  {
    name: 'inspect: a mutex of which an owner died',
    programs: [
      [
        asks('ownerOf', ofFirst(), 0),
        call('restoreOwnerDeaths', ofFirst(2)),
        asks('lock', ofFirst(), CONTENDED),
        asks('tryLock', ofFirst(), ADMITTED),
        asks('ownersDied', ofFirst(), 2),
        asks('unlock', ofFirst(), ADMITTED),
        asks('lock', ofFirst(), ADMITTED),
      ],
    ],
    leaves: true,
    objects: (scene) => {
      scene.callNow(0, 'createObject', ...newObject({ kind: KIND }));
      scene.semaphore({ permits: 1, kind: MUTEX, robust: true });
    },
  },
  {
    name: 'inspect: a counter',
    programs: [
      [
        asks('counted', ofFirst(), 3),
        asks('countDown', (scene) => [scene.semaphores[0] as number, 1], ADMITTED),
        asks('counted', ofFirst(), 2),
        call('closeCounter', ofFirst()),
        asks('counted', ofFirst(), 0),
      ],
    ],
    leaves: true,
    objects: (scene) => {
      scene.semaphore({ permits: 3, kind: constant('KIND_COUNTING_SEMAPHORE') });
    },
  },
  {
    name: 'inspect: the arena',
    programs: [
      [
        asks('mostThreads', () => [], 2),
        asks('lifeIfAlive', () => [2], 1),
        asks('lifeIfAlive', () => [3], 0),
        asks('isAsleep', () => [2], 0),
        asks('runtimeIdOf', () => [2], 2),
        asks('runtimeIdOf', () => [3], 0),
        // Two spares and an attachment.
        asks('usedElements', () => [], 3),
      ],
      [],
    ],
    objects: (scene) => {
      scene.semaphore({ permits: 0 });
    },
  },
];

/** At the end, checks the cancelled requests that the semaphore has counted, and the collisions of the arena. */
function counting(
  line: Pick<Line, 'name' | 'program'> & Partial<Line>,
  timeouts: (scene: Scene) => number,
  collisions?: number,
): Model {
  const model = modelOf({ permits: [0], mayWait: true, first: FIRST, ...line, name: `counts: ${line.name}` });
  return {
    ...model,
    counts: true,
    end: (scene) => {
      const counted = scene.word((scene.semaphores[0] as number) + O_TIMEOUTS);
      if (counted !== timeouts(scene))
        throw new Violation(`${counted} requests are said to be cancelled, not ${timeouts(scene)}`);
      if (collisions !== undefined && scene.total(T_COLLISIONS) !== collisions)
        throw new Violation(`${scene.total(T_COLLISIONS)} collisions are counted, not ${collisions}`);
      model.end?.(scene);
    },
  };
}

/** 1 if the first thread, which wants one permit, has come to its end without it. */
const cancelled = (scene: Scene): number => Number(scene.finished(0) && scene.get(0, GOT) === 0);

const head: Model = {
  name: 'counts: the head of a mutex cancels',
  programs: [
    [],
    [
      asks('lock', ofFirst(), CONTENDED),
      asks('queue', (scene) => [...ofFirst()(scene), scene.attachment(1, 0)], constant('HEAD')),
      call('cancelHead', (scene) => [...ofFirst()(scene), scene.attachment(1, 0)]),
      asks('timeouts', ofFirst(), 1),
      // The head has left already: nothing is cancelled.
      call('cancelHead', (scene) => [...ofFirst()(scene), scene.attachment(1, 0)]),
      asks('timeouts', ofFirst(), 1),
    ],
  ],
  arena: { attached: 2 },
  counts: true,
  leaves: true,
  objects: (scene) => {
    const m = scene.semaphore({ permits: 1, kind: MUTEX, robust: true });
    scene.callNow(0, 'lock', m);
  },
};

/**
 * Stands for a thread that pokes the bucket for another semaphore. This thread has moved the sequence, and has not
 * looked for parked waiters yet.
 */
const sequenceMoves: Op = {
  text: 'the sequence moves',
  next(scene, t) {
    if (scene.get(t, PHASE) === 1) return true;
    scene.set(t, PHASE, 1);
    scene.hostStore(t, scene.regions.buckets + constant('B_SEQUENCE'), 9);
    return false;
  },
};

/**
 * A waiter that compares a stale sequence does not sleep, so its return is no futile wake-up. If the waiter sleeps
 * later, it is woken when its ticket is granted.
 */
function stale(threshold: number): Model {
  const model = counting(
    { name: `a stale sequence, threshold ${threshold}`, program: 'A | V', kind: 'twa', threshold, mayWait: false },
    () => 0,
  );
  return {
    ...model,
    programs: model.programs.map((program, t) => (t === 0 ? program : [sequenceMoves, ...program])),
    end: (scene) => {
      const futile = scene.total(T_FUTILE_WAKES);
      if (futile !== 0) throw new Violation(`${futile} futile wake-ups are counted, and nobody was woken in vain`);
      model.end?.(scene);
    },
  };
}

const counts: readonly Model[] = [
  head,
  stale(0),
  stale(1),
  counting({ name: 'the last in line cancels', program: 'B' }, cancelled),
  counting({ name: 'a thread leaves a tombstone', program: 'B | a1', buckets: 2 }, cancelled),
  counting({ name: 'the last promise in line cancels', program: 't1 x' }, () => 1),
  counting({ name: 'two in a bucket', program: 't1 a1 x e' }, () => 1, 1),
];

export const models: readonly Model[] = [...reads, ...counts];
