/**
 * Models of waiting for words in foreign memory (core/papers/places.ts). The ops do what src/papers/p0514/words.ts does
 * around the core. Two words, a and b, lie behind the arena. The waiters for both words wait at one place: a bucket or,
 * in the models `..., at a place of its own`, the place of an AtomicSemaphore. The second letter of an op names the
 * word.
 *
 *     Wa  waits while a is 0
 *     Fa  waits while a is 0, with a time-out
 *     Sa  sets a to 1, then signals
 *     La  locks a: exchanges 0 for 1. If a is 1, the thread waits while a is 1, and tries again
 *     Ua  unlocks a: sets a to 0, then signals
 *     D   closes the place
 *     wa  begins a promise that waits while a is 0
 *     fa  begins a promise that waits while a is 0, with a time-out
 *     va  begins a promise that waits while a is 0, and is woken once for no reason
 *     la  begins a promise that locks a, and whose continuation unlocks a
 *     d   runs the event loop until no promise waits
 *     E   ends the waits of the thread's promises, as at the end of the thread
 */

import { Violation } from '../engine/search/violation.js';
import { constant, O_LIFE } from '../scene/layout.js';
import type { Model, Op } from '../scene/model.js';
import { call } from '../scene/ops/calls.js';
import { RAN_OUT } from '../scene/ops/event-loop.js';
import type { Scene } from '../scene/scene.js';
import { GOT, LISTENING, LOCAL, PHASE, PROMISES, RESULT, RUNG } from '../scene/words.js';
import { partsOf } from './parts/program.js';

const WORDS = 65536 - 64;
export const wordAt = (word: number): number => WORDS + 8 * word;
const STAGE = LOCAL;
const LOW = LOCAL + 1;
const HIGH = LOCAL + 2;
const LEFT = LOCAL + 3;
const CLOSED = LOCAL + 4;

/** Returns the address of the place at which waiters for a word wait. */
type Place = (scene: Scene) => number;

const START = 0;
const LOOKED = 1;
const ARRIVED = 2;
const LOOKED_AGAIN = 3;
const ASKED = 4;
const SLEPT = 5;
const DEPARTED = 6;
const LAST = 7;

/** Begins the sleep of a thread: until a signal comes or, if `timed`, until the time is over. */
const sleeps =
  (timed: boolean) =>
  (scene: Scene, t: number, place: number): boolean => {
    scene.set(t, LEFT, timed ? 1 : 0);
    const time = timed ? [1, 0] : [-1, -1];
    scene.call(t, 'sleepAt', place, scene.get(t, LOW), scene.get(t, HIGH), ...time);
    return false;
  };

/**
 * Waits while the word is `old`. Returns true when the wait is over, or when `sleep` has put the rest of the wait off
 * until the event loop runs.
 */
function waiting(
  scene: Scene,
  t: number,
  word: number,
  old: number,
  place: Place,
  sleep: ReturnType<typeof sleeps>,
): boolean {
  const to = (stage: number): false => {
    scene.set(t, STAGE, stage);
    return false;
  };
  const look = (stage: number): false => {
    scene.hostLoad(t, wordAt(word));
    return to(stage);
  };
  const depart = (stage: number): false => {
    scene.call(t, 'departFrom', place(scene));
    return to(stage);
  };
  const stay = (): boolean => {
    // Only here does the thread notice that its time is over.
    if (scene.get(t, LEFT) === 1) return depart(LAST);
    to(SLEPT);
    return sleep(scene, t, place(scene));
  };
  switch (scene.get(t, STAGE)) {
    case START:
      return look(LOOKED);
    case LOOKED:
      if (scene.get(t, RESULT) !== old) return true;
      break;
    case ARRIVED:
      scene.set(t, LOW, scene.machine.resultLo(t));
      scene.set(t, HIGH, scene.machine.resultHi(t));
      return look(LOOKED_AGAIN);
    case LOOKED_AGAIN:
      if (scene.get(t, RESULT) !== old) return depart(LAST);
      if (place !== own) return stay();
      scene.call(t, 'isDisposed', scene.semaphores[0] as number);
      return to(ASKED);
    case ASKED:
      if (scene.result(t) !== 1) return stay();
      scene.set(t, CLOSED, 1);
      return depart(LAST);
    case SLEPT:
      return depart(DEPARTED);
    case LAST:
      return true;
  }
  scene.call(t, 'arriveAt', place(scene));
  return to(ARRIVED);
}

const wait = (word: number, place: Place, timed = false): Op => ({
  text: `atomicWait ${word}`,
  next: (scene, t) => waiting(scene, t, word, 0, place, sleeps(timed)),
});

const change = (word: number, value: number, place: Place): Op => ({
  text: `word ${word} = ${value}`,
  next(scene, t) {
    const phase = scene.get(t, PHASE);
    scene.set(t, PHASE, phase + 1);
    if (phase === 0) scene.hostStore(t, wordAt(word), value);
    else if (phase === 1) {
      if (value === 0) scene.set(t, GOT + word, 0);
      scene.call(t, 'signalAt', place(scene));
    }
    return phase === 2;
  },
});

function locked(scene: Scene, t: number, word: number): void {
  for (let u = 0; u < scene.threads; u++)
    if (scene.get(u, GOT + word)) throw new Violation(`threads ${t} and ${u} both hold ${word}`);
  scene.set(t, GOT + word, 1);
}

/** The lock operation of simple_lock in P0514R1. */
const lock = (word: number, place: Place): Op => ({
  text: `lock ${word}`,
  next(scene, t) {
    const phase = scene.get(t, PHASE);
    if (phase === 0) {
      scene.set(t, PHASE, 1);
      scene.hostCmpxchg(t, wordAt(word), 0, 1);
      return false;
    }
    if (phase === 1) {
      if (scene.get(t, RESULT) === 0) {
        locked(scene, t, word);
        return true;
      }
      scene.set(t, PHASE, 2);
      scene.set(t, STAGE, START);
    }
    if (!waiting(scene, t, word, 1, place, sleeps(false))) return false;
    if (scene.get(t, CLOSED)) return true;
    scene.set(t, PHASE, 0);
    return this.next(scene, t);
  },
});

// --- Promises -------------------------------------------------------------------------------------------

/**
 * How many promises of the thread wait. Each promise has two words: what it waits for, in the form of CURRENT, and the
 * sequence that it has seen.
 */
const WAITING = LISTENING;
const SEQUENCE = 1;
const PROMISE = 2;
/** What the promise that the thread runs now waits for: the number of a word, and these flags. */
const CURRENT = RUNG;
const WORD = 1;
const LOCKS = 2;
const TIMED = 4;
const SPURIOUS = 8;

const TRYING = 8;
const TRIED = 9;
const FREED = 10;
const ANSWER = 11;

const promiseAt = (n: number): number => PROMISES + PROMISE * n;

/** Stands for Atomics.waitAsync: the promise goes on in the event loop. */
function putsOff(scene: Scene, t: number): boolean {
  const n = scene.get(t, WAITING);
  scene.set(t, promiseAt(n), scene.get(t, CURRENT));
  scene.set(t, promiseAt(n) + SEQUENCE, scene.get(t, LOW));
  scene.set(t, WAITING, n + 1);
  return true;
}

/** Takes the nth waiting promise of the thread out of the list, and makes it the current promise. */
function resume(scene: Scene, t: number, n: number): void {
  const left = scene.get(t, WAITING) - 1;
  scene.set(t, CURRENT, scene.get(t, promiseAt(n)));
  scene.set(t, WAITING, left);
  for (let i = promiseAt(n); i < promiseAt(left + 1); i++)
    scene.set(t, i, i < promiseAt(left) ? scene.get(t, i + PROMISE) : 0);
}

/** Runs the current promise. Returns true when its continuation has run, or when the promise waits. */
function running(scene: Scene, t: number, place: Place): boolean {
  const current = scene.get(t, CURRENT);
  const word = current & WORD;
  const to = (stage: number): false => {
    scene.set(t, STAGE, stage);
    return false;
  };
  switch (scene.get(t, STAGE)) {
    case TRYING:
      scene.hostCmpxchg(t, wordAt(word), 0, 1);
      return to(TRIED);
    case TRIED:
      if (scene.get(t, RESULT) !== 0) {
        to(START);
        break;
      }
      locked(scene, t, word);
      scene.hostStore(t, wordAt(word), 0);
      return to(FREED);
    case FREED:
      scene.set(t, GOT + word, 0);
      scene.call(t, 'signalAt', place(scene));
      return to(ANSWER);
    case ANSWER:
      return true;
  }
  const waits = scene.get(t, WAITING);
  const locks = (current & LOCKS) !== 0;
  if (!waiting(scene, t, word, Number(locks), place, putsOff)) return false;
  if (!locks || scene.get(t, WAITING) > waits || scene.get(t, CLOSED)) return true;
  to(TRYING);
  return running(scene, t, place);
}

const FIRST = 0;
const RUNNING = 1;
const SLEEPING = 2;

/** Begins an async function that waits, and runs it until it has to wait. */
const begin = (flags: number, place: Place): Op => ({
  text: `atomicWaitAsync ${flags & WORD}`,
  next(scene, t) {
    if (scene.get(t, PHASE) === FIRST) {
      scene.set(t, PHASE, RUNNING);
      scene.set(t, CURRENT, flags);
      scene.set(t, STAGE, (flags & LOCKS) === 0 ? START : TRYING);
    }
    if (!running(scene, t, place)) return false;
    scene.set(t, CURRENT, 0);
    return true;
  },
});

/**
 * The event loop, until no promise waits. One sleep of the thread stands for the waitAsync of all promises. This sleep
 * begins later than the calls of waitAsync would, which makes no difference: all promises wait at one place, the
 * sequence of the place only grows, and the first promise has seen the lowest value.
 */
const eventLoop = (place: Place): Op => ({
  text: 'event loop',
  next(scene, t) {
    const forget = (): void => {
      for (const word of [CURRENT, STAGE, LOW, HIGH, LEFT, CLOSED, RESULT]) scene.set(t, word, 0);
    };
    const impatient = (): number => {
      for (let n = 0; n < scene.get(t, WAITING); n++)
        if ((scene.get(t, promiseAt(n)) & (TIMED | SPURIOUS)) !== 0) return n;
      return -1;
    };
    switch (scene.get(t, PHASE)) {
      case SLEEPING: {
        const over = scene.result(t) === RAN_OUT;
        resume(scene, t, over ? impatient() : 0);
        const current = scene.get(t, CURRENT);
        scene.set(t, LEFT, Number(over && (current & TIMED) !== 0));
        if (over) scene.set(t, CURRENT, current & ~SPURIOUS);
        scene.set(t, STAGE, SLEPT);
        scene.set(t, PHASE, RUNNING);
        return running(scene, t, place) && this.next(scene, t);
      }
      case RUNNING:
        if (!running(scene, t, place)) return false;
    }
    forget();
    if (scene.get(t, WAITING) === 0) return true;
    scene.set(t, PHASE, SLEEPING);
    const address = place(scene) + constant('B_SEQUENCE');
    scene.hostWait(t, address, scene.get(t, promiseAt(0) + SEQUENCE), impatient() >= 0);
    return false;
  },
});

/** The waiting promises leave their places. */
const end = (place: Place): Op => ({
  text: 'the end',
  next(scene, t) {
    if (scene.get(t, WAITING) === 0) return true;
    resume(scene, t, 0);
    scene.set(t, CURRENT, 0);
    scene.call(t, 'departFrom', place(scene));
    return false;
  },
});

export const bucket: Place = ({ regions }) => regions.buckets;
const own: Place = ({ semaphores }) => (semaphores[0] as number) + constant('O_PLACE');

function op(text: string, place: Place): Op {
  const word = text[1] === 'b' ? 1 : 0;
  switch (text[0]) {
    case 'W':
      return wait(word, place);
    case 'F':
      return wait(word, place, true);
    case 'S':
      return change(word, 1, place);
    case 'L':
      return lock(word, place);
    case 'U':
      return change(word, 0, place);
    case 'D':
      return call('closePlace', (scene) => [scene.semaphores[0] as number]);
    case 'w':
      return begin(word, place);
    case 'f':
      return begin(word | TIMED, place);
    case 'v':
      return begin(word | SPURIOUS, place);
    case 'l':
      return begin(word | LOCKS, place);
    case 'd':
      return eventLoop(place);
    case 'E':
      return end(place);
    default:
      throw new Error(`a program has no ${text}`);
  }
}

const modelOf = (name: string, program: string, place: Place, more: Partial<Model> = {}): Model => ({
  ...more,
  name: `places: ${name}${place === own ? ', at a place of its own' : ''}`,
  program: 'algorithms',
  programs: partsOf(program).map((part) => part.split(/\s+/).map((word) => op(word, place))),
  symmetric: partsOf(program),
  arena: { buckets: 1, objects: 1, elements: 2 },
  objects: (scene) => {
    scene.semaphore({ permits: 0, kind: constant('KIND_ATOMIC_SEMAPHORE') });
  },
  leaves: more.mayWait ?? false,
  end: (scene) => {
    if (more.mayWait) return;
    const parked = scene.machine.words[(own(scene) + constant('O_PARKED') - constant('O_PLACE')) >> 2];
    if (parked !== 0) throw new Violation(`${parked} are said to be parked at the end`);
    const life = scene.machine.words[((scene.semaphores[0] as number) + O_LIFE) >> 2];
    if (program.includes('D') !== life >>> 24 > 2) throw new Violation(`the life ends as ${life}`);
  },
});

export const models: readonly Model[] = [bucket, own].flatMap((place) => [
  modelOf('a signal', 'Wa | Wa | Sa', place),
  modelOf('left waiting', 'Wa | Sb', place, { mayWait: true }),
  modelOf('two words in one place', 'Wa | Wb | Sa Sb', place),
  modelOf('two words, two signallers', 'Wa | Wb | Sa | Sb', place, { long: true }),
  modelOf('for a time', 'Fa | Wa | Sa', place),
  modelOf('for a time, strangers', 'Fa | Wb | Sb | Sa', place, { long: true }),
  modelOf('simple_lock, 2x2', 'La Ua La Ua | La Ua La Ua', place),
  modelOf('simple_lock, 3x1', 'La Ua | La Ua | La Ua', place),
  modelOf('two locks, 3 threads', 'La Ua | Lb Ub | La Ua Lb Ub', place, { long: true }),
  modelOf('a promise', 'wa d | Sa', place),
  modelOf('a promise and its thread', 'wa Sa d', place),
  modelOf('a promise and a thread', 'wa d | Wa | Sa', place),
  modelOf('a promise that is woken for no reason', 'va d | Sa', place),
  modelOf('promises of one', 'wa wa d | Sa', place),
  modelOf('promises of one, for two words', 'wa wb d | Sa Sb', place),
  modelOf('promises of one, two signallers', 'wa wb d | Sa | Sb', place),
  modelOf('promises of one, and its thread', 'wa wb Sa d | Wa Sb', place),
  modelOf('promises of one, one woken for no reason', 'va wa d | Sa', place),
  modelOf('promises of two', 'wa d | wa d | Sa', place),
  modelOf('promises of two, for two words', 'wa d | wb d | Sa Sb', place),
  modelOf('a promise and a stranger', 'wa d | Wb | Sb Sa', place),
  modelOf('promises and a thread', 'wa wb d | Wa | Sb Sa', place),
  modelOf('a promise for a time', 'fa d | Sa', place),
  modelOf('a promise for a time, strangers', 'fa d | Wb | Sb Sa', place),
  modelOf('a promise for a time, a stranger of the same thread', 'fa wb d | Sb | Sa', place),
  modelOf('promises for a time', 'fa fa d | Sa', place),
  modelOf('promises, simple_lock, 2x2', 'la d la d | la d la d', place),
  modelOf('promises, simple_lock of one', 'la la d | La Ua', place),
  modelOf('promises, simple_lock of two and a thread', 'la d | la d | La Ua', place),
  modelOf('promises, simple_lock of three and a thread', 'la la d | la d | La Ua La Ua', place),
  modelOf('promises of two and a stranger', 'wa wb d | fa d | Sb Sa', place),
  modelOf('the end of a thread with promises', 'wa wb E | Sa', place),
  ...(place === own
    ? [
        modelOf('simple_lock, 3x2', 'La Ua La Ua | La Ua La Ua | La Ua La Ua', place, { long: true }),
        modelOf('dispose', 'Wa | Wb | D', place),
        modelOf('dispose by two', 'Wa | D | D', place),
        modelOf('dispose, and a lock', 'La Ua | La Ua | D', place),
        modelOf('dispose, for a time', 'Fa | Wa | D | Sa', place),
        modelOf('dispose, a promise', 'wa d | D', place),
        modelOf('dispose, a promise and its thread', 'wa D d', place),
        modelOf('dispose, a promise and a thread', 'wa d | Wa | D', place),
        modelOf('dispose, promises of one', 'wa wb d | D | Sa', place),
        modelOf('dispose, a promise for a time', 'fa wb d | D | Sa', place),
        modelOf('dispose, promises of a lock', 'la d | La Ua | D', place),
      ]
    : []),
]);
