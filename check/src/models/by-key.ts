/**
 * Models of waiting and waking by a key (Listings 3 to 5). The condition for which a thread waits is outside of the
 * arena. The ops do what src/papers/algorithms/waiting.ts does around the module. Two words, a and b, lie behind the
 * arena. Word a has slot 0. Word b has slot 1, or slot 0 too if there is only one chain. Each model is for one way to
 * wait (`Way`).
 *
 *     Wa  waits until a is 1
 *     Sa  sets a to 1, then signals
 *     Pa  sets a to 1, then signals by the polite function
 *     Xa  comes to the location of a and leaves it at once, as a thread does whose condition comes true
 *     E   gives the thread's element back, as at the end of the thread
 */
import { Violation } from '../engine/search/violation.js';
import { C_HEAD, constant, LINE } from '../scene/layout.js';
import type { Model, Op } from '../scene/model.js';
import { call } from '../scene/ops/calls.js';
import type { Scene } from '../scene/scene.js';
import { LOCAL, PHASE, RESULT } from '../scene/words.js';
import { checkRetired, partsOf } from './parts/program.js';
import { wordAt } from './places.js';

const STAGE = LOCAL;
/** The element of a waiter on a chain, or the sequence that a waiter on a channel has seen (two words). */
const KEPT = LOCAL + 1;
const LOOKS = LOCAL + 3;

/** The ways to wait: address is Listing 3, key and lazy are Listing 4, location and alternating are Listing 5. */
type Way = 'address' | 'key' | 'lazy' | 'location' | 'alternating';

const slotOf = (scene: Scene, word: number): number =>
  word === 1 && scene.regions.buckets - scene.regions.chains > LINE ? 1 : 0;
const chainAt = (scene: Scene, word: number): number => scene.regions.chains + LINE * slotOf(scene, word);

const FIRST = 0;
const LOOKED = 1;
const MONITORED = 2;
const LOOKED_AGAIN = 3;
const LEFT = 4;
const WAITED = 5;

/** Sets the next stage. Every stage calls this function at its end, when it has begun an access or a call. */
const to = (scene: Scene, t: number, stage: number): false => {
  scene.set(t, STAGE, stage);
  return false;
};

function look(scene: Scene, t: number, word: number, next: number): false {
  scene.hostLoad(t, wordAt(word));
  return to(scene, t, next);
}

/**
 * addressWaitUntil. The thread looks at the word, and then up to `looks` times more. Then it enters the chain and looks
 * again. If the word is 1, the thread leaves the chain; otherwise it waits.
 */
const address = (word: number, looks: number): Op => ({
  text: 'addressWaitUntil',
  next(scene, t) {
    const seen = scene.get(t, RESULT) === 1;
    switch (scene.get(t, STAGE)) {
      case LOOKED:
        if (seen) return true;
        if (scene.get(t, LOOKS) < looks) {
          scene.set(t, LOOKS, scene.get(t, LOOKS) + 1);
          return look(scene, t, word, LOOKED);
        }
        scene.call(t, 'chainEnter', slotOf(scene, word));
        return to(scene, t, MONITORED);
      case MONITORED:
        scene.set(t, KEPT, scene.result(t));
        return look(scene, t, word, LOOKED_AGAIN);
      case LOOKED_AGAIN:
        if (seen) {
          scene.call(t, 'chainLeave', slotOf(scene, word), scene.get(t, KEPT));
          return to(scene, t, LEFT);
        }
        scene.call(t, 'chainAwait', scene.get(t, KEPT), 0);
        return to(scene, t, FIRST);
      case LEFT:
        return true;
    }
    return look(scene, t, word, LOOKED);
  },
});

/** A loop around keyMonitor, a look and keyWait. */
const key = (word: number): Op => ({
  text: 'keyWait',
  next(scene, t) {
    switch (scene.get(t, STAGE)) {
      case MONITORED:
        scene.set(t, KEPT, scene.machine.resultLo(t));
        scene.set(t, KEPT + 1, scene.machine.resultHi(t));
        return look(scene, t, word, LOOKED);
      case LOOKED:
        if (scene.get(t, RESULT) === 1) return true;
        scene.call(t, 'keyWait', chainAt(scene, word), scene.get(t, KEPT), scene.get(t, KEPT + 1), 0);
        return to(scene, t, FIRST);
    }
    scene.call(t, 'keyMonitor', chainAt(scene, word));
    return to(scene, t, MONITORED);
  },
});

/** A loop around a look and keyWaitLazy. The first keyWaitLazy gets -1, which is no sequence. */
const lazy = (word: number): Op => ({
  text: 'keyWaitLazy',
  next(scene, t) {
    switch (scene.get(t, STAGE)) {
      case FIRST:
        scene.set(t, KEPT, -1);
        scene.set(t, KEPT + 1, -1);
        return look(scene, t, word, LOOKED);
      case LOOKED:
        if (scene.get(t, RESULT) === 1) return true;
        scene.call(t, 'keyWaitLazy', chainAt(scene, word), scene.get(t, KEPT), scene.get(t, KEPT + 1), 0);
        return to(scene, t, WAITED);
    }
    scene.set(t, KEPT, scene.machine.resultLo(t));
    scene.set(t, KEPT + 1, scene.machine.resultHi(t));
    return look(scene, t, word, LOOKED);
  },
});

/** A loop around a look and locationWait. */
const location = (word: number, alternates: number): Op => ({
  text: 'locationWait',
  next(scene, t) {
    if (scene.get(t, STAGE) === LOOKED) {
      if (scene.get(t, RESULT) === 1) return true;
      scene.call(t, 'locationWait', chainAt(scene, word), 0, alternates);
      return to(scene, t, FIRST);
    }
    return look(scene, t, word, LOOKED);
  },
});

/** The function that wakes, and its polite form. */
const WAKES: Readonly<Record<Way, readonly [string, string]>> = {
  address: ['addressSignal', 'addressSignalPolite'],
  key: ['keySignal', 'keySignalPolite'],
  lazy: ['keySignal', 'keySignalPolite'],
  location: ['locationWakeAll', 'locationWakeAllPolite'],
  alternating: ['locationWakeAll', 'locationWakeAllPolite'],
};

const signal = (word: number, way: Way, polite: number): Op => ({
  text: `word ${word} = 1`,
  next(scene, t) {
    const phase = scene.get(t, PHASE);
    scene.set(t, PHASE, phase + 1);
    const name = WAKES[way][polite] as string;
    if (phase === 0) scene.hostStore(t, wordAt(word), 1);
    else if (phase === 1) {
      if (way === 'address') scene.call(t, name, slotOf(scene, word), 0, 0, 0);
      else scene.call(t, name, chainAt(scene, word));
    }
    return phase === 2;
  },
});

function op(text: string, way: Way, looks: number): Op {
  const word = text[1] === 'b' ? 1 : 0;
  const alternates = Number(way === 'alternating');
  switch (text[0]) {
    case 'W':
      if (way === 'address') return address(word, looks);
      if (way === 'key') return key(word);
      return way === 'lazy' ? lazy(word) : location(word, alternates);
    case 'X':
      return call('locationWait', (scene) => [chainAt(scene, word), 0, alternates]);
    case 'S':
      return signal(word, way, 0);
    case 'P':
      return signal(word, way, 1);
    case 'E':
      return call('retire', () => []);
    default:
      throw new Error(`a program has no ${text}`);
  }
}

interface More {
  /** How many chains there are. */
  readonly chains?: number;
  /** The elements of the arena; by default one for each thread, or two for each thread that alternates. */
  readonly elements?: number;
  readonly looks?: number;
  readonly long?: boolean;
}

function modelOf(way: Way, name: string, program: string, more: More = {}): Model {
  const { chains = 1, looks = 0, long = false } = more;
  const parts = partsOf(program);
  const elements = more.elements ?? parts.length * (way === 'alternating' ? 2 : 1);
  const ends = parts.every((part) => part.endsWith('E'));
  return {
    name: `by ${way}: ${name}`,
    program: 'algorithms',
    programs: parts.map((part) => part.split(/\s+/).map((text) => op(text, way, looks))),
    symmetric: parts,
    // The arena adds an element for the attachment to its one object. The models make no object, so this element counts
    // as one of `elements`.
    arena: { buckets: 1, chains, objects: 1, elements: elements - 1 },
    leaves: true,
    long,
    objects: (scene) => {
      for (let t = 0; t < parts.length; t++) scene.callNow(t, 'prepare');
    },
    end: (scene) => {
      const head = way === 'address' ? C_HEAD : constant('C_CHANNEL_HEAD');
      const { words } = scene.machine;
      for (let chain = scene.regions.chains; chain < scene.regions.buckets; chain += LINE)
        if (words[(chain + head) >> 2] !== 0) throw new Violation('a chain is not empty at the end');
      if (ends) checkRetired(scene);
    },
  };
}

const WAYS: readonly Way[] = ['address', 'key', 'lazy', 'location', 'alternating'];

export const models: readonly Model[] = [
  ...WAYS.flatMap((way) => [
    modelOf(way, 'a signal', 'Wa | Wa | Sa'),
    modelOf(way, 'a polite signal', 'Wa | Wa | Pa'),
    modelOf(way, 'two words in one slot', 'Wa | Wb | Sa Sb'),
    modelOf(way, 'two words in one slot, two signallers', 'Wa | Wb | Sa | Pb'),
    modelOf(way, 'one after the other, two slots', 'Wa Wb | Wb Wa | Sa Pb', { chains: 2 }),
    modelOf(way, 'the end of threads', 'Wa E | Wa E | Sa E'),
    modelOf(way, 'the end of threads, two slots', 'Wa Wb E | Wb E | Sa Sb E', { chains: 2 }),
  ]),
  modelOf('address', 'one more look', 'Wa | Wa | Sa', { looks: 1 }),
  modelOf('address', 'two more looks, two words', 'Wa | Wb | Pa Sb', { looks: 2 }),
  ...(['location', 'alternating'] as const).flatMap((way) => [
    // A thread that alternates borrows a second element. If no second element is free, the thread waits at once.
    ...[0, 1, 2].map((extra) =>
      modelOf(way, `come and gone, ${extra} elements more`, 'Xa Xb Xa Xb E | Xa Xb E', {
        chains: 2,
        elements: 2 + extra,
      }),
    ),
    modelOf(way, 'come and gone, and a waiter', 'Xa Xb E | Wa E | Sa E', { chains: 2 }),
    modelOf(way, 'come and gone, and waiters', 'Xa Xb Wa E | Wa Wb E | Sa Pb E', { chains: 2, long: true }),
    modelOf(way, 'come and gone, then waiting', 'Xa Xb Wa E | Xb Sa E', { chains: 2, elements: 3 }),
  ]),
];
