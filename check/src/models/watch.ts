/**
 * Models of the watch (core/kinds/channel/watch.ts). In the text of a program, bars stand between the programs of two
 * threads, and each letter stands for an op:
 *
 *     W  sets the next value           w  the same, with a time-out that may pass in each sleep
 *     G  gets the newest value
 *     N  waits for a value newer than the last one that the thread has seen     n  the same, with a time-out
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
import { PARKED as PARKED_THREAD } from '../engine/machine/machine.js';
import { Violation } from '../engine/search/violation.js';
import { CMPXCHG, RMW } from '../engine/wasm/code.js';
import type { Section } from '../engine/wasm/uninterruptible.js';
import {
  ADMITTED,
  ANSWER_CLOSED,
  constant,
  E_HELD,
  ELEMENT_SIZE,
  GRANT,
  QUEUED,
  REFUSED,
  TIMED_OUT,
} from '../scene/layout.js';
import type { Model, Op } from '../scene/model.js';
import { supervise } from '../scene/ops/deaths.js';
import type { Scene } from '../scene/scene.js';
import { LOCAL, PROMISES } from '../scene/words.js';
import { joinEnds } from './parts/ends.js';
import { inSteps, OVER, type Step, seen } from './parts/in-steps.js';
import { partsOf } from './parts/program.js';

const INTERRUPTED = constant('INTERRUPTED');
const MORE = constant('MORE');
const NEXT = constant('P_NEXT');
const END = constant('P_END');
const DATA = constant('P_DATA');
const HEAD = constant('PLACE_HEAD');
const PLACES = constant('PLACES');
const LIFE = constant('O_LIFE');
const STATES = 3 << 24;
const DISPOSED = 3 << 24;
/** The bytes of a place. */
const PLACE = 64;

/** The version that the thread has seen last. It outlives an op. */
const LAST = PROMISES;
/** The version that an op reads, and what it has found in the first word. */
const VERSION = LOCAL;
const FIRST = LOCAL + 1;
/** Whether the op has found the watch closed before it looked at the version. */
const CLOSED = LOCAL + 2;
/** Whether the thread writes to a place. */
const WRITES = LOCAL + 3;

interface Ends {
  readonly f: number;
  readonly m: number;
  readonly ofF: readonly number[];
}

const ends = new WeakMap<Scene, Ends>();
const endsOf = (scene: Scene): Ends => ends.get(scene) as Ends;
const word = (scene: Scene, address: number): number => scene.machine.words[address >> 2];
const versionOf = (scene: Scene): number => word(scene, endsOf(scene).f + NEXT);
const isDisposed = (scene: Scene, o: number): boolean => (word(scene, o + LIFE) & STATES) === DISPOSED;
const placeOf = (scene: Scene, version: number): number =>
  word(scene, endsOf(scene).m + DATA) + (version % PLACES) * PLACE + HEAD;

/** Makes both ends, links them, and attaches all threads. */
function makeWatch(scene: Scene, spin: number): void {
  const make = (kind: string, permits: number, robust: number, peer: number): number =>
    scene.callNow(0, 'createObject', constant(kind), permits, PLACES - 1, spin, PLACE, robust, peer, 0, 0, 0);
  const ofF = [make('KIND_WATCH', 1, 1, 0)];
  const f = scene.callNow(0, 'attachedTo', ofF[0]);
  const ofM = [make('KIND_WATCHING_END', 0, 0, f)];
  const m = scene.callNow(0, 'attachedTo', ofM[0]);
  if (scene.callNow(0, 'claimPages', m) !== 1) throw new Error('the arena of the model has no page');
  if (scene.callNow(0, 'link', f, m) !== 1) throw new Error('the ends are linked already');
  for (let t = 1; t < scene.threads; t++) {
    ofF.push(scene.callNow(t, 'attach', f, 0, constant('KIND_WATCH')));
    ofM.push(scene.callNow(t, 'attach', m, 0, constant('KIND_WATCHING_END')));
  }
  for (const [t, one] of ofF.entries()) joinEnds(scene, one, ofM[t]);
  for (const o of [f, m]) scene.callNow(0, 'keep', o);
  ends.set(scene, { f, m, ofF });
}

/** Throws unless the attachment says that the thread has the turn, or if another thread that lives is writing. */
function checkTurn(scene: Scene, t: number): void {
  const record = scene.regions.elements + (endsOf(scene).ofF[t] - 1) * ELEMENT_SIZE;
  if (word(scene, record + E_HELD) !== 1) throw new Violation(`thread ${t} writes, and has not the turn`);
  for (const u of scene.threadNumbers)
    if (u !== t && !scene.dead(u) && scene.get(u, WRITES) === 1)
      throw new Violation(`threads ${t} and ${u} both write`);
}

// --- set -------------------------------------------------------------------------------------------------------

/** The steps of a call that waits in a queue: it takes a ticket, stands in line, and sleeps. */
const TRIED = 1;
const RESERVED = 2;
const TOOK_TICKET = 3;
const ENQUEUED = 4;
const PARKED = 5;
const WRITTEN_FIRST = 6;
const WRITTEN = 7;
const PUBLISHED = 8;
const TOLD = 9;
const RELEASED = 10;
const FINISHED = 11;

function set(timed: boolean): Op {
  const waits = (scene: Scene, t: number): number => {
    scene.call(t, 'acquireRobust', endsOf(scene).f, 1, endsOf(scene).ofF[t]);
    return TOOK_TICKET;
  };
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
    scene.call(t, 'releaseRobust', endsOf(scene).f, 1, endsOf(scene).ofF[t]);
    return RELEASED;
  };
  const steps: Step[] = [];
  steps[0] = (scene, t) => {
    scene.call(t, 'tryAcquireRobust', endsOf(scene).f, 1, endsOf(scene).ofF[t]);
    return TRIED;
  };
  steps[TRIED] = (scene, t, answer) => {
    if (answer === ADMITTED) return begin(scene, t);
    if (answer === ANSWER_CLOSED) return OVER;
    if (!timed) return waits(scene, t);
    scene.call(t, 'reserveSecond');
    return RESERVED;
  };
  steps[RESERVED] = waits;
  steps[TOOK_TICKET] = (scene, t, answer) => {
    if (answer === ADMITTED) return begin(scene, t);
    scene.call(t, 'enqueue', endsOf(scene).f, 1, answer, endsOf(scene).ofF[t]);
    return ENQUEUED;
  };
  steps[ENQUEUED] = (scene, t, answer) => {
    if (answer === ADMITTED) return begin(scene, t);
    if (answer === ANSWER_CLOSED) return OVER;
    if (timed) scene.call(t, 'parkFor', 1, 0, 0, endsOf(scene).ofF[t]);
    else scene.call(t, 'park', 0, endsOf(scene).ofF[t]);
    return PARKED;
  };
  steps[PARKED] = (scene, t, answer) => {
    if (answer === ADMITTED) return begin(scene, t);
    if (answer !== TIMED_OUT) return OVER;
    scene.call(t, 'cancel', endsOf(scene).f, endsOf(scene).ofF[t]);
    return PARKED;
  };
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
    if (answer !== MORE && answer !== INTERRUPTED) return giveBack(scene, t);
    scene.call(t, 'finishRelease', endsOf(scene).m, scene.global(t, 'watch/told'), answer, 0, 0);
    return TOLD;
  };
  steps[TOLD] = giveBack;
  steps[RELEASED] = (scene, t, answer) => {
    if (answer !== MORE && answer !== INTERRUPTED) return OVER;
    scene.call(t, 'finishRelease', endsOf(scene).f, 1, answer, 0, endsOf(scene).ofF[t]);
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
const SECOND = 7;
const TICKET_TAKEN = 8;
const IN_LINE = 9;
const LOOKED_AGAIN = 10;
const SLEPT = 11;
const LEFT = 12;

/** Gets the newest value; or waits for one that is newer than what the thread has seen. */
function get(waits: boolean, timed: boolean): Op {
  const begin = (scene: Scene, t: number): number => {
    // A thread that waits first looks whether the watch is closed.
    scene.hostLoad(t, endsOf(scene).f + NEXT + (waits ? 4 : 0));
    return waits ? LOOKED : LOADED;
  };
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
  steps[SETTLED_UP] = (scene, t) => {
    // A thread that finds the value newer when it stands in line leaves the queue.
    scene.call(t, 'reserveSecond');
    return SECOND;
  };
  steps[SECOND] = (scene, t) => {
    scene.call(t, 'acquireRobust', endsOf(scene).m, 1, 0);
    return TICKET_TAKEN;
  };
  steps[TICKET_TAKEN] = (scene, t, answer) => {
    if (answer === ADMITTED) return begin(scene, t);
    scene.call(t, 'enqueue', endsOf(scene).m, 1, answer, 0);
    return IN_LINE;
  };
  steps[IN_LINE] = (scene, t, answer) => {
    if (answer !== QUEUED) return isDisposed(scene, endsOf(scene).f) ? OVER : begin(scene, t);
    scene.hostLoad(t, endsOf(scene).f + NEXT);
    return LOOKED_AGAIN;
  };
  steps[LOOKED_AGAIN] = (scene, t) => {
    if (seen(scene, t) > scene.get(t, LAST)) {
      scene.call(t, 'cancel', endsOf(scene).m, 0);
      return LEFT;
    }
    if (timed) scene.call(t, 'parkFor', 1, 0, 0, 0);
    else scene.call(t, 'park', 0, 0);
    return SLEPT;
  };
  steps[SLEPT] = (scene, t, answer) => {
    // The request has left the queue.
    if (answer === REFUSED) return OVER;
    if (answer === TIMED_OUT) {
      scene.call(t, 'cancel', endsOf(scene).m, 0);
      return SLEPT;
    }
    return isDisposed(scene, endsOf(scene).f) ? OVER : begin(scene, t);
  };
  steps[LEFT] = begin;
  return inSteps(waits ? `wait${timed ? ', timed' : ''}` : 'get', ...steps);
}

const close = (): Op =>
  inSteps(
    'close',
    (scene, t) => {
      scene.call(t, 'closeWatch', endsOf(scene).f);
      return 1;
    },
    (scene, t) => {
      scene.call(t, 'finishClose', endsOf(scene).f, endsOf(scene).m);
      return 2;
    },
    () => OVER,
  );

const dispose = (): Op =>
  inSteps(
    'dispose',
    (scene, t) => {
      scene.call(t, 'dispose', endsOf(scene).f);
      return 1;
    },
    (scene, t) => {
      scene.call(t, 'dispose', endsOf(scene).m);
      return 2;
    },
    () => OVER,
  );

function opOf(letter: string): Op {
  switch (letter) {
    case 'W':
      return set(false);
    case 'w':
      return set(true);
    case 'G':
      return get(false, false);
    case 'N':
      return get(true, false);
    case 'n':
      return get(true, true);
    case 'C':
      return close();
    case 'D':
      return dispose();
    case 'X':
      return supervise();
    default:
      throw new Error(`a program has no ${letter}`);
  }
}

function checkWatch(scene: Scene): void {
  const { f, m } = endsOf(scene);
  const isGone = isDisposed(scene, f);
  if (isDisposed(scene, m) !== isGone) throw new Violation('one end is disposed of, and the other is not');
  const isOver = isGone || word(scene, f + NEXT + 4) < 0;
  for (const t of scene.threadNumbers) {
    if (scene.dead(t) || scene.finished(t) || scene.machine.status(t) !== PARKED_THREAD) continue;
    if (isOver) throw new Violation(`the watch is closed, and thread ${t} sleeps for ever`);
    if (versionOf(scene) > scene.get(t, LAST)) throw new Violation(`there is a newer value, and thread ${t} sleeps`);
  }
}

interface More {
  readonly spin?: number;
  readonly deaths?: number;
  readonly mortal?: readonly number[];
  readonly mayWait?: boolean;
  readonly long?: boolean;
}

function model(program: string, more: More = {}): Model {
  const { spin = 0, deaths = 0, mortal, mayWait = false, long = false } = more;
  const parts = partsOf(program);
  const told = [
    ...(spin > 0 ? [`${spin} polls`] : []),
    ...(deaths > 0 ? [`${deaths} of ${mortal ?? 'all'} may die`] : []),
  ];
  return {
    name: [`watch: ${program}`, ...told].join(', '),
    programs: parts.map((part) => [...part.replaceAll(' ', '')].map(opOf)),
    arena: { buckets: 1, elements: 2 * parts.length, objects: 2, attached: parts.length },
    deaths,
    ...(mortal && { mortal }),
    mayWait,
    leaves: mayWait,
    long,
    objects: (scene) => makeWatch(scene, spin),
    plain: () => false,
    end: checkWatch,
  };
}

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
  // Requests that give up, and the permits that they leave over.
  model('W W C | n N N'),
  model('W C | n N | N', { long: true }),
  model('W | w | W'),
  // Closing and disposal.
  model('C | N'),
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
