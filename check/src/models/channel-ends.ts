/**
 * Models of threads that let go of the ends of a channel, while others make objects in the memory that is free then. In
 * the text of a program, bars stand between the programs of two threads, and each letter stands for an op:
 *
 *     G  lets go of the ends that the thread has, of the sending end first
 *     N  makes a semaphore, perhaps in the place of an end
 *     D  disposes of the channel
 *     L  makes a receiving end and links it; or takes that of a thread that was faster ("links: ...")
 *     X  reaps each thread that dies
 *
 * - Whoever lets go of an end, or reaps, must not touch the memory of an end that it does not hold: this memory may be
 *   a semaphore by then. So at the end each semaphore is as it was made.
 * - If a thread has both ends at the end, the place that a dead thread had taken is free again. Both ends are disposed
 *   of, or neither.
 */
import { Violation } from '../engine/search/violation.js';
import { constant, GRANT, TICKET } from '../scene/layout.js';
import type { Model, Op } from '../scene/model.js';
import { newObject } from '../scene/new-object.js';
import { call } from '../scene/ops/calls.js';
import { supervise } from '../scene/ops/deaths.js';
import type { Scene } from '../scene/scene.js';
import { PROMISES } from '../scene/words.js';
import { joinEnds } from './parts/endpoints.js';
import { inSteps, OVER } from './parts/in-steps.js';
import { partsOf } from './parts/program.js';

const FULL = constant('ANSWER_OBJECTS_FULL');
const LIFE = constant('O_LIFE');
const STATES = 3 << 24;
const LIVE = 2 << 24;
const DISPOSED = 3 << 24;
const NEXT = constant('P_NEXT');
const PEER = constant('P_PEER');
const DATA = constant('P_DATA');
const LIMIT = 0x7fffffff;
const PERMITS = 5;
const PLACE = 64;
/** The attachments of a thread to the two ends; 0 if it has none. */
const OF_F = PROMISES;
const OF_M = PROMISES + 1;
/** The address of the semaphore that the thread has made; 0 if it has made none. */
const MADE = PROMISES + 2;

/** Which ends a thread has at first. */
type Has = 'both' | 'F' | 'M';

/** The addresses of the two ends. */
const ends = new WeakMap<Scene, { readonly f: number; readonly m: number }>();

const word = (scene: Scene, address: number): number => scene.machine.words[address >> 2];

/** Makes a channel with one message. Thread 0 has taken it and not freed its place, if it has both ends. */
function makeChannel(scene: Scene, has: readonly Has[], order: 'F M' | 'M F'): void {
  const f = scene.callNow(
    0,
    'createObject',
    ...newObject({ kind: constant('KIND_CHANNEL'), permits: 1, max: 0, threshold: PLACE, robust: 1 }),
  );
  const [F, kindF, kindM] = [
    scene.callNow(0, 'attachedTo', f),
    constant('KIND_CHANNEL'),
    constant('KIND_RECEIVING_END'),
  ];
  const m = scene.callNow(
    0,
    'createObject',
    ...newObject({ kind: kindM, max: 0, threshold: PLACE, robust: 1, variant: [F, 0] }),
  );
  const M = scene.callNow(0, 'attachedTo', m);
  if (scene.callNow(0, 'claimPages', M) !== 1) throw new Error('the arena of the model has no page');
  if (scene.callNow(0, 'link', F, M) !== 1) throw new Error('the ends are linked already');
  ends.set(scene, { f: F, m: M });
  const attachments = has.map((_, t) => {
    if (t === 0 && order === 'F M') return [f, m] as const;
    // The elements are taken in the order in which the thread attaches.
    const one = scene.callNow(t, 'attach', order === 'F M' ? F : M, 0, order === 'F M' ? kindF : kindM);
    const other = scene.callNow(t, 'attach', order === 'F M' ? M : F, 0, order === 'F M' ? kindM : kindF);
    return order === 'F M' ? ([one, other] as const) : ([other, one] as const);
  });
  if (order === 'M F') for (const first of [f, m]) scene.callNow(0, 'letGo', first, 0);
  for (const [t, [ofF, ofM]] of attachments.entries()) {
    joinEnds(scene, ofF, ofM);
    if (t === 0 && has[t] === 'both') {
      for (const [o, attachment] of [
        [F, ofF],
        [M, ofM],
      ] as const) {
        scene.callNow(t, 'tryClaim', o, attachment, 1);
        if (o === F) scene.callNow(t, 'pass', o, attachment, 0);
      }
    }
    if (has[t] === 'F') scene.callNow(t, 'letGo', ofM, 0);
    if (has[t] === 'M') scene.callNow(t, 'letGo', ofF, 0);
    scene.set(t, OF_F, has[t] === 'M' ? 0 : ofF);
    scene.set(t, OF_M, has[t] === 'F' ? 0 : ofM);
  }
}

/** Lets go of an end, if the thread has it. */
const letGo = (which: number): Op => {
  const op = call(
    'letGo',
    (scene, t) => [scene.get(t, which), 0],
    (_, scene, t) => scene.set(t, which, 0),
  );
  return { ...op, next: (scene, t) => scene.get(t, which) === 0 || op.next(scene, t) };
};

/** Disposes of an end. */
const dispose = (which: 'f' | 'm'): Op =>
  call('dispose', (scene) => [(ends.get(scene) as { f: number; m: number })[which]]);

const make = (): Op =>
  call(
    'createObject',
    () => newObject({ kind: constant('KIND_SEMAPHORE'), permits: PERMITS, max: LIMIT }),
    (attachment, scene, t) => {
      if (attachment > 0) scene.set(t, MADE, scene.objectOf(attachment));
      else if (attachment !== FULL) throw new Violation(`making a semaphore is answered ${attachment}`);
    },
  );

function checkEnds(scene: Scene): void {
  const { f, m } = ends.get(scene) as { f: number; m: number };
  const has = (t: number, which: number): boolean => !scene.dead(t) && scene.get(t, which) !== 0;
  if (scene.threadNumbers.some((t) => has(t, OF_F) && has(t, OF_M))) {
    const [isGone, isGoneToo] = [f, m].map((o) => (word(scene, o + LIFE) & STATES) === DISPOSED);
    if (isGone !== isGoneToo) throw new Violation('one end is disposed of, and the other is not');
    if (!isGone && scene.dead(0) && word(scene, m + NEXT) !== word(scene, f + GRANT) - word(scene, f + TICKET))
      throw new Violation('a place is not freed');
  }
  for (const t of scene.threadNumbers) {
    const made = scene.get(t, MADE);
    if (made === 0) continue;
    if ((word(scene, made + LIFE) & STATES) !== LIVE) throw new Violation(`the semaphore of thread ${t} was closed`);
    const permits = word(scene, made + GRANT) - word(scene, made + TICKET);
    if (permits !== PERMITS) throw new Violation(`the semaphore of thread ${t} has ${permits} permits, not ${PERMITS}`);
  }
}

function opsOf(letter: string): Op[] {
  switch (letter) {
    case 'G':
      return [letGo(OF_F), letGo(OF_M)];
    case 'N':
      return [make()];
    case 'D':
      return [dispose('f'), dispose('m')];
    case 'X':
      return [supervise()];
    default:
      throw new Error(`a program has no ${letter}`);
  }
}

interface More {
  /** Whether thread 0 is dead when the others begin. */
  readonly isDead?: boolean;
  readonly deaths?: number;
  readonly mortal?: readonly number[];
  /** The order of the elements of a thread. */
  readonly order?: 'F M' | 'M F';
  readonly long?: boolean;
}

function model(program: string, has: readonly Has[], more: More = {}): Model {
  const { isDead = false, deaths = 0, mortal, order = 'F M', long = false } = more;
  const parts = partsOf(program);
  const told = [
    has.join(', '),
    `elements ${order}`,
    ...(isDead ? ['0 is dead'] : []),
    ...(deaths > 0 ? [`${deaths} of ${mortal} may die`] : []),
  ];
  return {
    name: `ends: ${program}, ${told.join(', ')}`,
    programs: parts.map((part) => [...part.replaceAll(' ', '')].flatMap(opsOf)),
    arena: { buckets: 1, elements: 4 * parts.length + 4, objects: 2, attached: parts.length },
    deaths: deaths + Number(isDead),
    mortal: [...(isDead ? [0] : []), ...(mortal ?? [])],
    leaves: true,
    mayWait: true,
    long,
    objects: (scene) => {
      makeChannel(scene, has, order);
      if (isDead) scene.kill(0);
    },
    plain: () => false,
    end: checkEnds,
  };
}

// --- Threads that make the receiving end at the same time --------------------------------------------------------

/** Makes a receiving end and links it, as src/channel/endpoints.ts does. The thread has the sending end. */
const link = (): Op => {
  const kind = constant('KIND_RECEIVING_END');
  const sending = (scene: Scene): number => (ends.get(scene) as { f: number }).f;
  return inSteps(
    'link',
    (scene, t) => {
      scene.call(
        t,
        'createObject',
        ...newObject({ kind, max: 0, threshold: PLACE, robust: 1, variant: [sending(scene), 0] }),
      );
      return 1;
    },
    (scene, t, attachment) => {
      if (attachment <= 0) throw new Violation(`thread ${t} makes an end and is answered ${attachment}`);
      scene.set(t, OF_M, attachment);
      scene.call(t, 'claimPages', scene.objectOf(attachment));
      return 2;
    },
    (scene, t, isClaimed) => {
      if (isClaimed === 0) throw new Violation(`thread ${t} finds no pages`);
      scene.call(t, 'link', sending(scene), scene.objectOf(scene.get(t, OF_M)));
      return 3;
    },
    (scene, t, isLinked) => {
      scene.set(t, MADE, scene.objectOf(scene.get(t, OF_M)));
      if (isLinked !== 0) return OVER;
      scene.call(t, 'letGo', scene.get(t, OF_M), 0);
      return 4;
    },
    (scene, t) => {
      scene.set(t, MADE, word(scene, sending(scene) + PEER));
      scene.call(t, 'attach', scene.get(t, MADE), 0, kind);
      return 5;
    },
    (_, t, attachment) => {
      if (attachment <= 0) throw new Violation(`thread ${t} attaches to the other end and is answered ${attachment}`);
      return OVER;
    },
  );
};

function checkLinks(scene: Scene): void {
  const { f } = ends.get(scene) as { f: number };
  const m = word(scene, f + PEER);
  if ((word(scene, m + LIFE) & STATES) !== LIVE) throw new Violation('the end that is linked does not live');
  if (word(scene, f + DATA) !== word(scene, m + DATA)) throw new Violation('the two ends have different places');
  for (const t of scene.threadNumbers)
    if (scene.get(t, MADE) !== m) throw new Violation(`thread ${t} has another receiving end than the linked one`);
}

const linked = (threads: number, long = false): Model => ({
  name: `links: ${Array.from({ length: threads }, () => 'L').join(' | ')}`,
  programs: Array.from({ length: threads }, () => [link()]),
  arena: { buckets: 1, elements: 2 * threads, objects: threads + 1, attached: threads },
  leaves: true,
  mayWait: true,
  long,
  objects(scene) {
    const kind = constant('KIND_CHANNEL');
    const f = scene.callNow(
      0,
      'attachedTo',
      scene.callNow(0, 'createObject', ...newObject({ kind, permits: 1, max: 0, threshold: PLACE, robust: 1 })),
    );
    for (let t = 1; t < threads; t++) scene.callNow(t, 'attach', f, 0, kind);
    ends.set(scene, { f, m: 0 });
  },
  // No other thread knows the end before it is linked.
  plain: (scene, t, address) => scene.get(t, OF_M) !== 0 && address === scene.objectOf(scene.get(t, OF_M)) + DATA,
  end: checkLinks,
});

export const models: readonly Model[] = [
  linked(2),
  linked(3, true),
  // A thread that opens the name of the channel has the sending end first. The last other thread lets go meanwhile.
  model('G | G N', ['F', 'both']),
  model('G | G N | G N', ['F', 'both', 'M']),
  model('G | G N', ['F', 'both'], { order: 'M F' }),
  // A dead thread had taken a message.
  model('| G X | G N', ['both', 'both', 'both'], { isDead: true }),
  model('| G X | G N', ['both', 'both', 'both'], { isDead: true, order: 'M F' }),
  model('| G X | G N', ['both', 'both', 'F'], { isDead: true }),
  model('| G X | G N', ['F', 'both', 'both'], { isDead: true }),
  model('| G X | G N', ['M', 'both', 'both'], { isDead: true }),
  // The reaper dies, too, and another thread goes on.
  model('| G X | G N X', ['both', 'both', 'both'], { isDead: true, deaths: 1, mortal: [1] }),
  model('| G X | G N X', ['both', 'both', 'both'], { isDead: true, deaths: 1, mortal: [1], order: 'M F' }),
  model('| X | X', ['both', 'both', 'both'], { isDead: true, deaths: 1, mortal: [1] }),
  model('| X | X', ['both', 'both', 'both'], { isDead: true, deaths: 1, mortal: [1], order: 'M F' }),
  model('D | X | X', ['both', 'both', 'both'], { deaths: 2, mortal: [0, 1] }),
  model('D | X | X', ['both', 'both', 'both'], { deaths: 2, mortal: [0, 1], order: 'M F' }),
];
