/**
 * Models of the watch (core/kinds/channel/watch.ts). In the text of a program, bars stand between the programs of two
 * threads, and each letter stands for an op:
 *
 *     W  sets the next value           w  the same, with a time-out that may pass in each sleep
 *     G  gets the newest value
 *     N  waits for a value newer than the last one that the thread has seen     n  the same, with a time-out
 *     A  waits by a promise, and reads no value: it has seen the version then
 *     C  closes
 *     D  disposes
 *     X  reaps each thread that dies
 *
 * The ops do what src/channel/watch.ts does around the modules. A value is its own version, in two words, and each of
 * the two is written and read in a step of its own.
 *
 * - Only the thread that has the turn writes to a place.
 * - Both words of a value that `get` returns are its version, so no value is torn.
 * - No thread sees an older value than it has seen before.
 * - Nobody learns that the watch is closed while there is a newer value.
 * - At the end nobody sleeps who waits for a value that is there.
 */
import { Violation } from '../engine/search/violation.js';
import { CMPXCHG, RMW } from '../engine/wasm/code.js';
import type { Section } from '../engine/wasm/uninterruptible.js';
import { ADMITTED, ANSWER_CLOSED, constant, E_HELD, GRANT } from '../scene/layout.js';
import type { Model, Op } from '../scene/model.js';
import { supervise } from '../scene/ops/deaths.js';
import type { Scene } from '../scene/scene.js';
import { LOCAL, PROMISES } from '../scene/words.js';
import {
  byLetters,
  checkOver,
  closeEnds,
  disposeEnds,
  type Ends,
  inLine,
  isClosed,
  isDisposed,
  type More,
  makeEnds,
  modelOf,
  PLACE,
  recordAt,
  sleepers,
} from './parts/endpoints.js';
import { inSteps, OVER, type Step, seen } from './parts/in-steps.js';

const INTERRUPTED = constant('INTERRUPTED');
const MORE = constant('MORE');
const NEXT = constant('P_NEXT');
const END = constant('P_END');
const DATA = constant('P_DATA');
const HEAD = constant('PLACE_HEAD');
const PLACES = constant('PLACES');

/** The version that the thread has seen last. It outlives an op. */
const LAST = PROMISES;
/** The version that an op reads, and what it has found in the first word. */
const VERSION = LOCAL;
const FIRST = LOCAL + 1;
/** Whether the op has found the watch closed before it looked at the version. */
const CLOSED = LOCAL + 2;
/** Whether the thread writes to a place. */
const WRITES = LOCAL + 3;

const ends = new WeakMap<Scene, Ends>();
const endsOf = (scene: Scene): Ends => ends.get(scene) as Ends;
const versionOf = (scene: Scene): number => scene.word(endsOf(scene).f + NEXT);
const placeOf = (scene: Scene, version: number): number =>
  scene.word(endsOf(scene).m + DATA) + (version % PLACES) * PLACE + HEAD;
const turnOf = (scene: Scene, t: number): readonly [end: number, attachment: number] => {
  const { f, ofF } = endsOf(scene);
  return [f, ofF[t] as number];
};

/** Throws unless the attachment says that the thread has the turn, or if another thread that lives is writing. */
function checkTurn(scene: Scene, t: number): void {
  const [, attachment] = turnOf(scene, t);
  if (scene.word(recordAt(scene, attachment) + E_HELD) !== 1)
    throw new Violation(`thread ${t} writes, and has not the turn`);
  for (const u of scene.threadNumbers)
    if (u !== t && !scene.dead(u) && scene.get(u, WRITES) === 1)
      throw new Violation(`threads ${t} and ${u} both write`);
}

// --- set -------------------------------------------------------------------------------------------------------

const TRIED = 1;
/** And the steps of the queue of the turn behind it (parts/endpoints.ts). */
const FOR_TURN = 2;
const WRITTEN_FIRST = 6;
const WRITTEN = 7;
const PUBLISHED = 8;
const TOLD = 9;
const RELEASED = 10;
const FINISHED = 11;

function set(timed: boolean): Op {
  const write = (scene: Scene, t: number, at: 0 | 4): void => {
    checkTurn(scene, t);
    const version = versionOf(scene) + 1;
    scene.hostExchange(t, placeOf(scene, version) + at, version);
  };
  const begin = (scene: Scene, t: number): number => {
    scene.set(t, WRITES, 1);
    write(scene, t, 0);
    return WRITTEN_FIRST;
  };
  const giveBack = (scene: Scene, t: number): number => {
    const [f, attachment] = turnOf(scene, t);
    scene.call(t, 'releaseRobust', f, 1, attachment);
    return RELEASED;
  };
  const queue = inLine(FOR_TURN, { at: turnOf, timed, admitted: begin, closed: () => OVER });
  const steps: Step[] = [];
  steps[0] = (scene, t) => {
    const [f, attachment] = turnOf(scene, t);
    scene.call(t, 'tryAcquireRobust', f, 1, attachment);
    return TRIED;
  };
  steps[TRIED] = (scene, t, answer) => {
    if (answer === ADMITTED) return begin(scene, t);
    return answer === ANSWER_CLOSED ? OVER : queue.begin(scene, t, answer);
  };
  queue.steps.forEach((step, i) => {
    steps[FOR_TURN + i] = step;
  });
  steps[WRITTEN_FIRST] = (scene, t) => {
    write(scene, t, 4);
    return WRITTEN;
  };
  steps[WRITTEN] = (scene, t) => {
    checkTurn(scene, t);
    scene.call(t, 'publish', endsOf(scene).f);
    return PUBLISHED;
  };
  steps[PUBLISHED] = (scene, t, answer) => {
    scene.set(t, WRITES, 0);
    if (answer === ANSWER_CLOSED && !isClosed(scene, endsOf(scene)))
      throw new Violation(`thread ${t} learns that the watch is closed`);
    if (answer !== MORE && answer !== INTERRUPTED) return giveBack(scene, t);
    scene.call(t, 'finishRelease', endsOf(scene).m, scene.global(t, 'watch/told'), answer, 0);
    return TOLD;
  };
  steps[TOLD] = giveBack;
  steps[RELEASED] = (scene, t, answer) => {
    if (answer !== MORE && answer !== INTERRUPTED) return OVER;
    const [f, attachment] = turnOf(scene, t);
    scene.call(t, 'finishRelease', f, 1, answer, attachment);
    return FINISHED;
  };
  steps[FINISHED] = () => OVER;
  return inSteps(`set${timed ? ', timed' : ''}`, ...steps);
}

// --- get, and wait for a newer value ---------------------------------------------------------------------------

const LOADED = 1;
const READ_FIRST = 2;
const READ = 3;
const COMPARED = 4;
const LOOKED = 5;
const SETTLED_UP = 6;
/** And the steps of the queue for a newer value behind it. */
const FOR_NEWER = 7;
const LOOKED_AGAIN = 11;
const LEFT = 12;

/** Gets the newest value; or waits for one that is newer than what the thread has seen. */
function get(waits: boolean, timed: boolean): Op {
  const begin = (scene: Scene, t: number): number => {
    // A thread that waits first looks whether the watch is closed.
    scene.hostLoad(t, endsOf(scene).f + NEXT + (waits ? 4 : 0));
    return waits ? LOOKED : LOADED;
  };
  const goesOn = (scene: Scene, t: number): number => (isDisposed(scene, endsOf(scene).f) ? OVER : begin(scene, t));
  const queue = inLine(FOR_NEWER, {
    at: (scene) => [endsOf(scene).m, 0],
    timed,
    // A thread that finds the value newer when it stands there leaves the queue.
    reserves: true,
    admitted: goesOn,
    closed: goesOn,
    looks(scene, t) {
      scene.hostLoad(t, endsOf(scene).f + NEXT);
      return LOOKED_AGAIN;
    },
  });
  const steps: Step[] = [];
  steps[0] = begin;
  steps[LOOKED] = (scene, t) => {
    scene.set(t, CLOSED, Number(seen(scene, t) < 0));
    scene.hostLoad(t, endsOf(scene).f + NEXT);
    return LOADED;
  };
  steps[LOADED] = (scene, t) => {
    const version = seen(scene, t);
    if (waits && version <= scene.get(t, LAST)) {
      if (scene.get(t, CLOSED) === 1) {
        if (versionOf(scene) > version) throw new Violation(`the watch was set after thread ${t} found it closed`);
        return OVER;
      }
      scene.call(t, 'settleUp', endsOf(scene).m);
      return SETTLED_UP;
    }
    scene.set(t, VERSION, version);
    scene.hostLoad(t, placeOf(scene, version));
    return READ_FIRST;
  };
  steps[READ_FIRST] = (scene, t) => {
    scene.set(t, FIRST, seen(scene, t));
    scene.hostLoad(t, placeOf(scene, scene.get(t, VERSION)) + 4);
    return READ;
  };
  steps[READ] = (scene, t) => {
    const version = scene.get(t, VERSION);
    const isTorn = scene.get(t, FIRST) !== version || seen(scene, t) !== version;
    scene.set(t, FIRST, Number(isTorn));
    scene.call(t, 'isWhole', endsOf(scene).f, version);
    return COMPARED;
  };
  steps[COMPARED] = (scene, t, answer) => {
    if (answer === 0) return begin(scene, t);
    const version = scene.get(t, VERSION);
    if (scene.get(t, FIRST) === 1) throw new Violation(`thread ${t} gets a torn value of version ${version}`);
    if (version < scene.get(t, LAST)) throw new Violation(`thread ${t} gets version ${version} after a newer one`);
    scene.set(t, LAST, version);
    return OVER;
  };
  steps[SETTLED_UP] = (scene, t, answer) => queue.begin(scene, t, answer);
  queue.steps.forEach((step, i) => {
    steps[FOR_NEWER + i] = step;
  });
  steps[LOOKED_AGAIN] = (scene, t, answer) => {
    if (seen(scene, t) <= scene.get(t, LAST)) return queue.sleep(scene, t, answer);
    scene.call(t, 'cancel', endsOf(scene).m, 0);
    return LEFT;
  };
  steps[LEFT] = begin;
  return inSteps(waits ? `wait${timed ? ', timed' : ''}` : 'get', ...steps);
}

const BEGAN = 0;
const SIGN = 1;
const VERSION_SEEN = 2;
const ARRIVED = 3;
const STANDS = 4;
const PASSED_ON = 5;
const ALL_TOLD = 6;
const RANG = 7;
const SETTLED = 8;
const ENTERED = 9;
const RUNG = 10;
const DROPPED = 11;
/** The run of the promise, and the doorbell before the thread looks. */
const RUN = LOCAL;
const BELL = LOCAL + 1;

/** Waits for a newer version by a promise, which takes a ticket and then looks once more. */
function getAsync(): Op {
  const begin: Step = (scene, t) => {
    scene.set(t, RUN, 0);
    scene.hostLoad(t, endsOf(scene).f + NEXT + 4);
    return SIGN;
  };
  const looks = (scene: Scene, t: number, then: number): number => {
    scene.hostLoad(t, endsOf(scene).f + NEXT);
    return then;
  };
  const listens: Step = (scene, t) => {
    scene.hostLoad(t, scene.doorbell(t));
    return RANG;
  };
  const settles: Step = (scene, t) => {
    scene.call(t, 'settle', scene.get(t, RUN), 0);
    return SETTLED;
  };
  const steps: Step[] = [];
  steps[BEGAN] = begin;
  steps[SIGN] = (scene, t) => {
    scene.set(t, CLOSED, Number(seen(scene, t) < 0));
    return looks(scene, t, VERSION_SEEN);
  };
  steps[VERSION_SEEN] = (scene, t) => {
    const version = seen(scene, t);
    if (version > scene.get(t, LAST)) {
      scene.set(t, LAST, version);
      return OVER;
    }
    if (scene.get(t, CLOSED) === 1) return OVER;
    scene.call(t, 'arrive', endsOf(scene).m, 1, 0, 0);
    return ARRIVED;
  };
  steps[ARRIVED] = (scene, t, answer) => {
    if (answer < ADMITTED) return isDisposed(scene, endsOf(scene).f) ? OVER : begin(scene, t, answer);
    if (answer === ADMITTED) return begin(scene, t, answer);
    scene.set(t, RUN, answer);
    return looks(scene, t, STANDS);
  };
  steps[STANDS] = (scene, t, answer) => {
    if (seen(scene, t) <= scene.get(t, LAST)) return listens(scene, t, answer);
    scene.call(t, 'tell', endsOf(scene).m);
    return PASSED_ON;
  };
  steps[PASSED_ON] = (scene, t, answer) => {
    if (answer !== MORE && answer !== INTERRUPTED) return listens(scene, t, answer);
    scene.call(t, 'finishRelease', endsOf(scene).m, scene.global(t, 'watch/told'), answer, 0);
    return ALL_TOLD;
  };
  steps[ALL_TOLD] = listens;
  steps[RANG] = (scene, t, answer) => {
    scene.set(t, BELL, seen(scene, t));
    return settles(scene, t, answer);
  };
  steps[SETTLED] = (scene, t, answer) => {
    if (answer > 0) return begin(scene, t, answer);
    if (answer < 0) {
      scene.call(t, 'dropRun', scene.get(t, RUN));
      return DROPPED;
    }
    scene.call(t, 'enterRun', scene.get(t, RUN));
    return ENTERED;
  };
  steps[ENTERED] = (scene, t, answer) => {
    if (answer !== 0) return settles(scene, t, answer);
    scene.hostWait(t, scene.doorbell(t), scene.get(t, BELL));
    return RUNG;
  };
  steps[RUNG] = listens;
  steps[DROPPED] = (scene, t, answer) => (isDisposed(scene, endsOf(scene).f) ? OVER : begin(scene, t, answer));
  return inSteps('wait by a promise', ...steps);
}

const ops = byLetters({
  A: getAsync,
  W: () => set(false),
  w: () => set(true),
  G: () => get(false, false),
  N: () => get(true, false),
  n: () => get(true, true),
  C: () => closeEnds(endsOf, 'closeWatch', 1),
  D: () => disposeEnds(endsOf),
  X: supervise,
});

function checkWatch(scene: Scene, closes: boolean): void {
  if (closes && !isClosed(scene, endsOf(scene))) throw new Violation('a thread has closed the watch, and it is open');
  checkOver(scene, endsOf(scene));
  for (const t of sleepers(scene))
    if (versionOf(scene) > scene.get(t, LAST)) throw new Violation(`there is a newer value, and thread ${t} sleeps`);
}

const model = (program: string, more: More = {}): Model =>
  modelOf('watch', program, more, {
    ops,
    objects: 2,
    ends: 2,
    make: (scene) =>
      ends.set(
        scene,
        makeEnds(scene, {
          kinds: ['KIND_WATCH', 'KIND_WATCHING_END'],
          permits: 1,
          places: PLACES,
          spin: more.spin ?? 0,
          robust: false,
        }),
      ),
    plain: () => false,
    end: (scene) => checkWatch(scene, more.deaths === undefined && program.includes('C')),
  });

export const models: readonly Model[] = [
  // Values are whole, and come in their order.
  model('W | G G'),
  model('W W W W W | G G'),
  model('W W W | W W | G'),
  model('W | W | W'),
  // Nobody misses a change.
  model('W | N'),
  model('W | N', { spin: 1 }),
  model('W W | N'),
  model('W W C | N N N'),
  model('W | W C | N N', { long: true }),
  model('W | N | N'),
  model('W C | N N | N', { long: true }),
  model('W | A'),
  model('W C | A A'),
  model('W W C | A A A'),
  model('W | A | A', { long: true }),
  model('W | A | N', { long: true }),
  model('C | A'),
  model('D | A'),
  // Requests that give up, and the permits that they leave over.
  model('W W C | n N N'),
  model('W C | n N | N', { long: true }),
  model('W | w | W'),
  // Closing and disposal.
  model('C | N'),
  model('W | C'),
  model('W | C | N N'),
  model('W | C | C N'),
  model('D | N'),
  model('W | D | N', { long: true }),
  // Deaths.
  model('W | W | X', { deaths: 1, mortal: [0] }),
  model('W | N | X C', { deaths: 1, mortal: [0] }),
  model('W | N | X C', { deaths: 1, mortal: [1] }),
  model('W C | N N | X C', { deaths: 1, mortal: [0] }),
  model('W W | W W | X', { deaths: 1, mortal: [0] }),
  model('D | N | X D', { deaths: 1, mortal: [0] }),
  model('W W W | G W G | X', { deaths: 1, mortal: [0] }),
];

export const sections: readonly Section[] = [
  {
    name: 'R19, publish',
    fn: 'watch/publish',
    from: { kind: CMPXCHG, word: NEXT },
    to: [GRANT],
    returns: 'nobody waits',
  },
  {
    name: 'R16, closeWatch',
    fn: 'watch/closeWatch',
    from: { kind: RMW, word: NEXT },
    to: [END],
    returns: 'closed already',
  },
];
