/**
 * Models of threads that wait by a key for a condition of the user (Listings 3 to 5). The ops do what
 * src/papers/algorithms/waiting.ts does around the module. Two words, a and b, lie behind the arena. A thread waits
 * until one of these words is 1. Word a has key 0, and word b has key 1. The second letter of an op names the word.
 *
 *     Wa  waits by addressWaitUntil until a is 1
 *     N   waits as Wa does, but the function that looks at a first waits in the same way until b is 1
 *     Sa  sets a to 1, then calls addressSignal
 *     sa  sets a to 1, then calls addressSignalPolite
 *     Ma  waits by keyMonitor and keyWait until a is 1
 *     ma  waits by keyWaitLazy until a is 1
 *     Ka  sets a to 1, then calls keySignal
 *     ka  sets a to 1, then calls keySignalPolite
 *     Oa  waits by locationWait until a is 1
 *     La  sets a to 1, then calls locationWakeAll
 *     A   acquires a ChainSemaphore whose waiters stand on the same chains, and pass its grant along them
 *     V   gives this semaphore a permit
 *     E   gives the thread's element back, as at the end of the thread
 *
 * No thread has borrowed an element when it begins, so a thread borrows its element in the middle of a wait. A wait
 * returns only when its thread has seen 1 in the word. So a fault can do no other harm than that a wait never returns
 * or never sleeps. At the end every chain is empty, and no thread that has ended has an element.
 */
import { constant, LINE } from '../scene/layout.js';
import type { Model, Op } from '../scene/model.js';
import { call } from '../scene/ops/calls.js';
import { acquireOf, releaseOf } from '../scene/ops/listings.js';
import type { Scene } from '../scene/scene.js';
import { LOCAL, PHASE, RESULT } from '../scene/words.js';
import { checkRetired, LISTINGS, partsOf } from './parts/program.js';
import { wordAt } from './places.js';

/** The element of a wait. */
const ELEMENT = LOCAL;
/** The element of the inner wait, in the condition of another wait. */
const INNER = LOCAL + 1;
/** The sequence of a channel, in two words. */
const LOW = LOCAL + 2;
const HIGH = LOCAL + 3;

/** Begins a call or an access, or nothing, and returns the number of the next step. */
type Step = (scene: Scene, t: number) => number;
const DONE = -1;

const inSteps = (text: string, ...steps: readonly Step[]): Op => ({
  text,
  next(scene, t) {
    const next = (steps[scene.get(t, PHASE)] as Step)(scene, t);
    if (next !== DONE) scene.set(t, PHASE, next);
    return next === DONE;
  },
});

const done: Step = () => DONE;
const isSet = (scene: Scene, t: number): boolean => scene.get(t, RESULT) === 1;

function look(word: number, next: number): Step {
  return (scene, t) => {
    scene.hostLoad(t, wordAt(word));
    return next;
  };
}

/** addressWaitUntil in four steps. They have the numbers from `first` on, and step `after` follows them. */
function untilSet(word: number, first: number, after: number, element: number, spin: number): Step[] {
  return [
    look(word, first + 1),
    (scene, t) => {
      if (isSet(scene, t)) return after;
      scene.call(t, 'chainEnter', word);
      return first + 2;
    },
    (scene, t) => {
      scene.set(t, element, scene.result(t));
      scene.hostLoad(t, wordAt(word));
      return first + 3;
    },
    (scene, t) => {
      if (isSet(scene, t)) {
        scene.call(t, 'chainLeave', word, scene.get(t, element));
        return after;
      }
      scene.call(t, 'chainAwait', scene.get(t, element), spin);
      return first;
    },
  ];
}

/** Waits until a is 1. The function that looks at a waits for b, when the thread stands on the chain of a already. */
const nested = (spin: number): Op =>
  inSteps(
    'addressWaitUntil, nested',
    look(0, 1),
    (scene, t) => {
      if (isSet(scene, t)) return DONE;
      scene.call(t, 'chainEnter', 0);
      return 2;
    },
    (scene, t) => {
      scene.set(t, ELEMENT, scene.result(t));
      return 3;
    },
    ...untilSet(1, 3, 7, INNER, spin),
    look(0, 8),
    (scene, t) => {
      if (isSet(scene, t)) {
        scene.call(t, 'chainLeave', 0, scene.get(t, ELEMENT));
        return 9;
      }
      scene.call(t, 'chainAwait', scene.get(t, ELEMENT), spin);
      return 0;
    },
    done,
  );

/** Returns the address of the channel of a key. The location of the key has the same address. */
const channel = ({ regions: { chains, buckets } }: Scene, word: number): number =>
  chains + ((word * LINE) % (buckets - chains));

function keepSequence(scene: Scene, t: number): void {
  scene.set(t, LOW, scene.machine.resultLo(t));
  scene.set(t, HIGH, scene.machine.resultHi(t));
}

const monitoring = (word: number, spin: number): Op =>
  inSteps(
    'keyMonitor, keyWait',
    (scene, t) => {
      scene.call(t, 'keyMonitor', channel(scene, word));
      return 1;
    },
    (scene, t) => {
      keepSequence(scene, t);
      scene.hostLoad(t, wordAt(word));
      return 2;
    },
    (scene, t) => {
      if (isSet(scene, t)) return DONE;
      scene.call(t, 'keyWait', channel(scene, word), scene.get(t, LOW), scene.get(t, HIGH), spin);
      return 0;
    },
  );

const lazily = (word: number, spin: number): Op =>
  inSteps(
    'keyWaitLazy',
    (scene, t) => {
      scene.set(t, LOW, -1);
      scene.set(t, HIGH, -1);
      return 1;
    },
    look(word, 2),
    (scene, t) => {
      if (isSet(scene, t)) return DONE;
      scene.call(t, 'keyWaitLazy', channel(scene, word), scene.get(t, LOW), scene.get(t, HIGH), spin);
      return 3;
    },
    (scene, t) => {
      keepSequence(scene, t);
      return 1;
    },
  );

const atLocation = (word: number, spin: number): Op =>
  inSteps('locationWait', look(word, 1), (scene, t) => {
    if (isSet(scene, t)) return DONE;
    scene.call(t, 'locationWait', channel(scene, word), spin, 0);
    return 0;
  });

/** Sets the word to 1, and wakes those who wait for it. */
const setting = (word: number, name: string, args: (scene: Scene) => number[]): Op =>
  inSteps(
    `word ${word} = 1, ${name}`,
    (scene, t) => {
      scene.hostStore(t, wordAt(word), 1);
      return 1;
    },
    (scene, t) => {
      scene.call(t, name, ...args(scene));
      return 2;
    },
    done,
  );

const PASSES = LISTINGS.chain;

function op(text: string, spin: number): Op {
  const word = text[1] === 'b' ? 1 : 0;
  switch (text[0]) {
    case 'W':
      return inSteps('addressWaitUntil', ...untilSet(word, 0, 4, ELEMENT, spin), done);
    case 'N':
      return nested(spin);
    case 'S':
      return setting(word, 'addressSignal', () => [word, 0, 0, 0]);
    case 's':
      return setting(word, 'addressSignalPolite', () => [word, 0, 0, 0]);
    case 'M':
      return monitoring(word, spin);
    case 'm':
      return lazily(word, spin);
    case 'K':
      return setting(word, 'keySignal', (scene) => [channel(scene, word)]);
    case 'k':
      return setting(word, 'keySignalPolite', (scene) => [channel(scene, word)]);
    case 'O':
      return atLocation(word, spin);
    case 'L':
      return setting(word, 'locationWakeAll', (scene) => [channel(scene, word)]);
    case 'A':
      return acquireOf(PASSES);
    case 'V':
      return releaseOf(PASSES, 0, 1);
    default:
      return call('retire', () => []);
  }
}

interface More {
  readonly chains?: 1 | 2;
  readonly spin?: number;
  readonly mayWait?: boolean;
}

/** Makes a model. The arena has `elements` elements, which have been used before. No thread has borrowed one yet. */
export function conditionModel(name: string, program: string, elements: number, more: More = {}): Model {
  const { chains = 1, spin = 0, mayWait = false } = more;
  const parts = partsOf(program);
  return {
    name: `condition: ${name}`,
    program: 'algorithms',
    programs: parts.map((part) => part.split(/\s+/).map((text) => op(text, spin))),
    symmetric: parts,
    arena: { buckets: 1, chains, elements, objects: 1 },
    aged: true,
    mayWait,
    leaves: mayWait,
    objects: (scene) => {
      scene.semaphore({ permits: 0, kind: constant('KIND_CHAIN_SEMAPHORE'), wake: constant('WAKE_PASS') });
    },
    end: (scene) => {
      if (!mayWait) checkRetired(scene);
    },
  };
}

export const models: readonly Model[] = [
  conditionModel('two keys, two chains', 'Wa Wb E | Wb Wa E | Sa sb', 2, { chains: 2 }),
  conditionModel('one that waits', 'N E | Sa Sb', 2),
  conditionModel('one that waits, and one element too few', 'N E | Wb E | Sa sb', 2, { chains: 2 }),
  conditionModel('a semaphore on the same chain', 'Wa E | A E | V Sa', 2),
  // A waiter whose word stays 0 sleeps in the end. If it looked again and again, the model would have no end state.
  conditionModel('left waiting', 'Wa | Sb', 1, { mayWait: true }),
  conditionModel('keyWait, left waiting', 'Ma | Kb', 1, { mayWait: true }),
  conditionModel('keyWaitLazy, left waiting', 'ma | kb', 1, { mayWait: true }),
  conditionModel('locationWait, left waiting', 'Oa | Lb', 1, { mayWait: true }),
];
