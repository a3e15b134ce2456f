/**
 * Models of a mutex with threads in its queue. They check how many waiters the word counts after a waiter has cancelled
 * or died, or after dispose.
 */
import { Violation } from '../engine/search/violation.js';
import { ADMITTED, ANSWER_CLOSED, constant, TICKET } from '../scene/layout.js';
import type { Model, Op } from '../scene/model.js';
import { call, cancelRun, dispose } from '../scene/ops/calls.js';
import { supervise } from '../scene/ops/deaths.js';
import { GOT, LOCAL, PHASE, RESULT } from '../scene/words.js';
import { checkWoken } from './parts/mutex-ends.js';
import { M_WORD, mutex } from './parts/mutex-words.js';

/**
 * Thread 0 has the lock, and thread 1 is the head. Thread 2 stands in the queue behind the head, and behind thread 2
 * `promises` promises of thread 3. Thread `by` does the op `done`. After this op the word must count `left` waiters.
 * With `dead`, thread 2 is dead from the start. With `mortal` it may be killed. A dead thread 2 is reaped.
 */
function inLine(
  name: string,
  {
    promises = 0,
    dead = false,
    mortal = dead,
    by = 3,
    done,
    left,
  }: { promises?: number; dead?: boolean; mortal?: boolean; by?: 2 | 3; done: Op; left: number },
): Model {
  return {
    name: `mutex: in line, ${name}`,
    programs: [mortal && !dead ? [supervise()] : [], [], by === 2 ? [done] : [], by === 3 ? [done] : []],
    arena: { buckets: 2, elements: 10, attached: 4 },
    ...(mortal ? { deaths: 1, mortal: [2] } : {}),
    leaves: true,
    objects: (scene) => {
      const m = scene.semaphore({ permits: 1, kind: constant('KIND_MUTEX'), max: 1, robust: true });
      for (const t of [0, 1, 2]) {
        if (scene.callNow(t, 'lock', m) === ADMITTED) continue;
        scene.callNow(t, 'reserveSecond');
        scene.callNow(t, 'queue', m, scene.attachment(t, 0));
      }
      for (let i = 0; i < promises; i++)
        scene.set(3, GOT + i, scene.callNow(3, 'arrive', m, 1, 0, scene.attachment(3, 0)));
      if (dead) scene.kill(2);
    },
    end: (scene) => {
      const word = scene.machine.words[(mutex(scene) + M_WORD) >> 2] as number;
      const waiters = Math.floor(word / constant('M_WAITER'));
      if (waiters !== left) throw new Violation(`${waiters} are said to wait, not ${left}`);
    },
  };
}

const gives = (): Op => call('cancel', (scene, t) => [mutex(scene), scene.attachment(t, 0)]);
const promiseGives = (): Op => cancelRun((scene) => scene.get(3, GOT));
/** Thread 2 was cut short in a call of lock, when it stood in the queue. Its next call first cancels this request. */
const recovers = (): Op => call('finishPendingCall', () => []);

const closedInLine: Model = {
  name: 'mutex: in line, closed while it is held',
  programs: [
    [],
    [
      call('lock', (scene) => [mutex(scene)]),
      call(
        'queue',
        (scene, t) => [mutex(scene), scene.attachment(t, 0)],
        (answer) => {
          if (answer !== ANSWER_CLOSED) throw new Violation(`queue is answered ${answer}`);
        },
      ),
    ],
  ],
  arena: { attached: 2 },
  leaves: true,
  objects: (scene) => {
    const m = scene.semaphore({ permits: 1, kind: constant('KIND_MUTEX'), max: 1, robust: true });
    scene.callNow(0, 'lock', m);
    scene.callNow(0, 'mutexDispose', m);
  },
  end: (scene) => {
    const tickets = scene.machine.words[(mutex(scene) + TICKET) >> 2];
    if (tickets !== 0) throw new Violation(`${tickets} tickets of a closed mutex are taken`);
  },
};

/** Does the work of a head promise until the mutex is closed. */
const reserveUntilClosed = (): Op => ({
  text: 'reserve until it is closed',
  next(scene, t) {
    const phase = scene.get(t, PHASE);
    scene.set(t, PHASE, (phase + 1) % 3);
    if (phase === 0) scene.hostLoad(t, scene.doorbell(t));
    else if (phase === 1) {
      scene.set(t, LOCAL, scene.get(t, RESULT));
      scene.call(t, 'reserveLock', mutex(scene), scene.attachment(t, 0));
    } else {
      if (scene.result(t) === ANSWER_CLOSED) return true;
      scene.hostWait(t, scene.doorbell(t), scene.get(t, LOCAL));
    }
    return false;
  },
});

/**
 * Thread 0 dies while it disposes of the mutex. Thread 1 holds the mutex, and a promise of thread 2 waits for it. If a
 * second promise is in the queue, thread 0 looks for the element of this promise before it closes the word, and may be
 * killed on the way.
 */
const halfDisposed = (isAnotherInLine: boolean): Model => ({
  name: `mutex: die, the disposer while it is held, of ${isAnotherInLine ? 'two promises' : 'a promise'}`,
  programs: [[dispose(0, 'mutexDispose')], [], [reserveUntilClosed()], [supervise()]],
  arena: { elements: 8, attached: 4 },
  deaths: 1,
  mortal: [0],
  mayWait: true,
  leaves: true,
  objects: (scene) => {
    const m = scene.semaphore({ permits: 1, kind: constant('KIND_MUTEX'), max: 1, robust: true });
    scene.callNow(1, 'lock', m);
    scene.callNow(2, 'arrive', m, 1, 0, scene.attachment(2, 0));
    if (isAnotherInLine) scene.callNow(2, 'enterRun', scene.callNow(2, 'arrive', m, 1, 0, scene.attachment(2, 0)));
  },
  end: (scene) => checkWoken(scene, 2),
});

export const models: readonly Model[] = [
  halfDisposed(false),
  halfDisposed(true),
  closedInLine,
  inLine('the last cancels', { by: 2, done: gives(), left: 1 }),
  inLine('one cancels', { promises: 1, by: 2, done: gives(), left: 2 }),
  inLine('the last cancels and may be killed', { mortal: true, by: 2, done: gives(), left: 1 }),
  inLine('one cancels and may be killed', { promises: 1, mortal: true, by: 2, done: gives(), left: 2 }),
  inLine('the last promise cancels', { promises: 1, done: promiseGives(), left: 2 }),
  inLine('a promise cancels', { promises: 2, done: promiseGives(), left: 3 }),
  inLine('the last is cut short', { by: 2, done: recovers(), left: 1 }),
  inLine('one is cut short', { promises: 1, by: 2, done: recovers(), left: 2 }),
  inLine('the last is dead', { dead: true, done: supervise(), left: 1 }),
  inLine('one is dead', { promises: 1, dead: true, done: supervise(), left: 2 }),
];
