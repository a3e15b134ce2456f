/**
 * Waiting for words in foreign memory (core/algorithms/places.ts), as src/p0514/words.ts does around the core. The
 * words lie behind the arena; there are two, a and b, and one place for both, unless it says otherwise.
 *
 *     Wa wait while a is 0      Fa the same for a time      Sa a = 1 and signal
 *     La lock a, by exchanging 0 for 1, and wait while it is 1      Ua a = 0 and signal      D close the place
 */
import { constant, O_LIFE } from '../scene/layout.js';
import { call } from '../scene/ops.js';
import { type Model, type Op, type Scene, Violation } from '../scene/scene.js';
import { GOT, LOCAL, PHASE, RESULT } from '../scene/words.js';
import { partsOf } from './program.js';

const WORDS = 65536 - 64;
const wordAt = (word: number): number => WORDS + 8 * word;
const STAGE = LOCAL;
const LOW = LOCAL + 1;
const HIGH = LOCAL + 2;
const LEFT = LOCAL + 3;
const CLOSED = LOCAL + 4;

/** Where who waits for a word does so. */
type Place = (scene: Scene) => number;

const START = 0;
const LOOKED = 1;
const ARRIVED = 2;
const LOOKED_AGAIN = 3;
const ASKED = 4;
const SLEPT = 5;
const DEPARTED = 6;
const LAST = 7;

/** Waits while the word is `old`. True when it is over; `got` tells whether the word has changed. */
function waiting(scene: Scene, t: number, word: number, old: number, place: Place, timed: boolean): boolean {
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
      // A time that is over is noticed here.
      if (scene.get(t, RESULT) !== old || scene.get(t, LEFT) === 1) return depart(LAST);
      scene.call(t, 'isDisposed', scene.semaphores[0] as number);
      return to(ASKED);
    case ASKED:
      if (scene.result(t) === 1) {
        scene.set(t, CLOSED, 1);
        return depart(LAST);
      }
      scene.set(t, LEFT, timed ? 1 : 0);
      scene.call(
        t,
        'sleepAt',
        place(scene),
        scene.get(t, LOW),
        scene.get(t, HIGH),
        timed ? 1 : -1,
        timed ? 0 : -1,
      );
      return to(SLEPT);
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
  next: (scene, t) => waiting(scene, t, word, 0, place, timed),
});

const change = (word: number, value: number, place: Place): Op => ({
  text: `word ${word} = ${value}`,
  next(scene, t) {
    const phase = scene.get(t, PHASE);
    scene.set(t, PHASE, phase + 1);
    if (phase === 0) {
      if (value === 0) scene.set(t, GOT + word, 0);
      scene.hostStore(t, wordAt(word), value);
    } else if (phase === 1) scene.call(t, 'signalAt', place(scene));
    return phase === 2;
  },
});

/** simple_lock of the proposal. */
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
        for (let u = 0; u < scene.threads; u++)
          if (scene.get(u, GOT + word)) throw new Violation(`threads ${t} and ${u} both hold ${word}`);
        scene.set(t, GOT + word, 1);
        return true;
      }
      scene.set(t, PHASE, 2);
      scene.set(t, STAGE, START);
    }
    if (!waiting(scene, t, word, 1, place, false)) return false;
    if (scene.get(t, CLOSED)) return true;
    scene.set(t, PHASE, 0);
    return this.next(scene, t);
  },
});

const bucket: Place = ({ regions }) => regions.buckets;
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
    default:
      throw new Error(`a program has no ${text}`);
  }
}

const modelOf = (name: string, program: string, place: Place, more: Partial<Model> = {}): Model => ({
  ...more,
  name: `places: ${name}${place === own ? ', at a place of its own' : ''}`,
  program: 'algorithms',
  programs: partsOf(program).map((part) => part.split(/\s+/).map((word) => op(word, place))),
  alike: partsOf(program),
  arena: { buckets: 1, objects: 1, elements: 2 },
  objects: (scene) => {
    scene.semaphore({ permits: 0, kind: constant('KIND_ATOMIC_SEMAPHORE') });
  },
  end: (scene) => {
    const parked = scene.machine.words[(own(scene) + constant('O_PARKED') - constant('O_PLACE')) >> 2];
    if (parked !== 0) throw new Violation(`${parked} are said to be parked at the end`);
    const life = scene.machine.words[((scene.semaphores[0] as number) + O_LIFE) >> 2];
    if (program.includes('D') !== life >>> 24 > 2) throw new Violation(`the life ends as ${life}`);
  },
});

export const places: readonly Model[] = [bucket, own].flatMap((place) => [
  modelOf('a signal', 'Wa | Wa | Sa', place),
  modelOf('two words in one place', 'Wa | Wb | Sa Sb', place),
  modelOf('two words, two signallers', 'Wa | Wb | Sa | Sb', place, { long: true }),
  modelOf('for a time', 'Fa | Wa | Sa', place),
  modelOf('for a time, strangers', 'Fa | Wb | Sb | Sa', place, { long: true }),
  modelOf('simple_lock, 2x2', 'La Ua La Ua | La Ua La Ua', place),
  modelOf('simple_lock, 3x1', 'La Ua | La Ua | La Ua', place),
  modelOf('two locks, 3 threads', 'La Ua | Lb Ub | La Ua Lb Ub', place, { long: true }),
  ...(place === own
    ? [
        modelOf('simple_lock, 3x2', 'La Ua La Ua | La Ua La Ua | La Ua La Ua', place, { long: true }),
        modelOf('dispose', 'Wa | Wb | D', place),
        modelOf('dispose by two', 'Wa | D | D', place),
        modelOf('dispose, and a lock', 'La Ua | La Ua | D', place),
        modelOf('dispose, for a time', 'Fa | Wa | D | Sa', place),
      ]
    : []),
]);
