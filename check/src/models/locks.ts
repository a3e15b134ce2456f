/**
 * Models of the locks of the papers. In the text of a program, bars stand between the programs of two threads, and each
 * letter stands for one op:
 *
 *     L  lock
 *     N  lock, which may be refused because no queue node is free
 *     Y  tryLock
 *     U  unlock, if the thread has the lock
 *     D  dispose
 *     F  tryLock while the lock is free: must be granted
 *     H  lock while the thread has the lock: must be refused
 *     X  unlock while the thread does not have the lock: must be refused
 *     C  lock of a disposed lock: must be refused
 *     c  tryLock of a disposed lock: must be refused
 *     k  lock, only if the thread has the lock: must be refused, even if the lock is disposed of
 *     y  tryLock, only if the thread has the lock: must be refused, even if the lock is disposed of
 *
 * At every step the lock has at most one owner, and admits in the order that its kind promises. A thread that waits
 * when the lock is closed does not get the lock. A thread arrives by a write to the lock's first word. It is admitted
 * when it writes its number into the word `owner`; only the TtsLock does not have this word. At the end the lock is
 * free, its words say that it is free, and every queue node is clean and in one pool. These models have no promises. So
 * their ghosts are in those words of thread 0 that promises would use.
 */

import { Violation } from '../engine/search/violation.js';
import {
  ADMITTED,
  ANSWER_CLOSED,
  ANSWER_FULL,
  ANSWER_HELD,
  ANSWER_NOT_HELD,
  BORROWED,
  constant,
  E_REQUEST,
  ELEMENT_SIZE,
  GRANT,
  O_LIFE,
  O_OWNER,
  REFUSED,
  STATE_MASK,
  TICKET,
} from '../scene/layout.js';
import type { Model, Op } from '../scene/model.js';
import type { Scene } from '../scene/scene.js';
import { GOT, LOCAL, PHASE, PROMISES } from '../scene/words.js';
import { partsOf } from './parts/program.js';

type Kind = 'tts' | 'ticket' | 'twa' | 'mcs' | 'clh' | 'lifo' | 'recip';
type Order = 'none' | 'first come' | 'last come' | 'reciprocating';

/** The owner of the lock: thread + 1. */
const HOLDER = PROMISES;
/** The waiters in the order of arrival: thread + 1, with 4 bits each. The first waiter has the lowest bits. */
const QUEUE = PROMISES + 1;
/** The thread that is admitted next: thread + 1, or 0 if this is not decided yet. */
const CHOSEN = PROMISES + 2;
/** The present segment of a ReciprocatingLock, in the order of arrival. QUEUE has the threads that arrived later. */
const SEGMENT = PROMISES + 3;
/** How often thread b has overtaken thread a since a arrived: two bits for each pair of threads a and b. */
const PASSED = PROMISES + 4;
/** A word of each thread: whether the thread waits at a lock with queue nodes. */
const IN_LINE = LOCAL;
/** A word of each thread: whether this lock was closed when the turn of the thread came. */
const LATE = LOCAL + 1;

const KINDS: Record<Kind, { readonly number: number; readonly dispose: string; readonly order: Order }> = {
  tts: { number: constant('KIND_TTS_LOCK'), dispose: 'ttsDispose', order: 'none' },
  ticket: { number: constant('KIND_TICKET_LOCK'), dispose: 'ticketLockDispose', order: 'first come' },
  twa: { number: constant('KIND_TWA_LOCK'), dispose: 'twaLockDispose', order: 'first come' },
  mcs: { number: constant('KIND_MCS_LOCK'), dispose: 'closeObject', order: 'first come' },
  clh: { number: constant('KIND_CLH_LOCK'), dispose: 'closeObject', order: 'first come' },
  lifo: { number: constant('KIND_LIFO_LOCK'), dispose: 'closeObject', order: 'last come' },
  recip: { number: constant('KIND_RECIPROCATING_LOCK'), dispose: 'closeObject', order: 'reciprocating' },
};
const Q_GATE = constant('Q_GATE');
const Q_NEXT = constant('Q_NEXT');
const Q_END = constant('Q_END');
const Q_LINK = constant('Q_LINK');
/** The number of bits below the owner in the high half of E_REQUEST. */
const OWNER_SHIFT = constant('OWNER_SHIFT') - 32;
const ON_CHAINS = constant('ON_CHAINS');
const THREAD_MASK = constant('THREAD_MASK');
/** The mark of an empty segment in the arrivals of a ReciprocatingLock. */
const EMPTY = 2;

const ticketed = (kind: Kind): boolean => kind === 'ticket' || kind === 'twa';
const withNodes = (kind: Kind): boolean => kind !== 'tts' && !ticketed(kind);

interface Line {
  readonly name: string;
  readonly kind: Kind;
  readonly program: string;
  readonly spin?: number;
  readonly threshold?: number;
  /** Whether the waiters of a TwaLock stand on chains. */
  readonly chains?: boolean;
  readonly buckets?: 1 | 2;
  readonly first?: bigint;
  readonly long?: boolean;
  readonly mayWait?: boolean;
  /** Whether each thread begins with a queue node at hand; true by default. */
  readonly warm?: boolean;
  readonly aged?: boolean;
  /** The number of elements for queue nodes; two for each thread by default. */
  readonly elements?: number;
}

/** The life of a disposed object to which only the thread that made it refers (core/arena/objects.ts). */
const DISPOSED = (3 << 24) + 1;

export const digits = (list: number): number[] => [...list.toString(16)].reverse().map((d) => Number.parseInt(d, 16));
export const without = (list: number, who: number): number =>
  digits(list)
    .filter((d) => d !== who && d !== 0)
    .reduceRight((sum, d) => sum * 16 + d, 0);

export function closed(scene: Scene, lock: number): boolean {
  return scene.word(lock + GRANT + 4) < 0;
}

function lockOf(scene: Scene): number {
  return ([...scene.watched][0] as number) - TICKET;
}

/**
 * The thread, plus 1, that owns the node. The function is not called for nodes of a ClhLock, because these nodes change
 * owners.
 */
function threadOf(scene: Scene, node: number): number {
  return (scene.word(node + E_REQUEST + 4) >>> OWNER_SHIFT) & THREAD_MASK;
}

function push(scene: Scene, list: number, who: number): void {
  const queue = scene.get(0, list);
  scene.set(0, list, queue + who * 16 ** digits(queue).filter((d) => d !== 0).length);
}

const last = (list: number): number => digits(list).at(-1) ?? 0;

/** Checks a write to the lock's first word. */
function moved(scene: Scene, t: number, before: number, kind: Kind): void {
  const after = scene.word(lockOf(scene) + TICKET);
  const { order } = KINDS[kind];
  if (order === 'none' || after === before) return;
  const isLine = withNodes(kind) && before !== 0 && after > EMPTY;
  if (isLine && (kind !== 'lifo' || scene.word(after + Q_NEXT) === before)) scene.set(t, IN_LINE, 1);
  if (order === 'first come') {
    // In a lock with queue nodes, 0 says that the queue has ended. A count of tickets is 0 only when its low half wraps
    // round.
    if (after !== 0 || kind === 'ticket' || kind === 'twa') push(scene, QUEUE, t + 1);
  } else if (order === 'last come') {
    if (after > 1 && scene.word(after + Q_NEXT) === before) push(scene, QUEUE, t + 1);
    else if (before > 1) {
      const chosen = threadOf(scene, before);
      if (last(scene.get(0, QUEUE)) !== chosen)
        throw new Violation(`thread ${chosen - 1} is chosen, and another came after it`);
      scene.set(0, QUEUE, without(scene.get(0, QUEUE), chosen));
      scene.set(0, CHOSEN, chosen);
    }
  } else if (after === EMPTY) {
    if (scene.get(0, SEGMENT) !== 0) throw new Violation('a segment is begun before the last is at its end');
    scene.set(0, SEGMENT, scene.get(0, QUEUE));
    scene.set(0, QUEUE, 0);
  } else if (before !== 0 && after !== 0) push(scene, QUEUE, t + 1);
}

/** Records that thread t gets the lock, and checks the order. */
function admitted(scene: Scene, t: number, kind: Kind): void {
  const holder = scene.get(0, HOLDER);
  if (holder !== 0) throw new Violation(`threads ${holder - 1} and ${t} both hold the lock`);
  scene.set(0, HOLDER, t + 1);
  if (scene.get(t, IN_LINE) === 1 && closed(scene, lockOf(scene))) scene.set(t, LATE, 1);
  const queue = scene.get(0, QUEUE);
  switch (KINDS[kind].order) {
    case 'first come':
      if ((queue & 15) !== t + 1)
        throw new Violation(`thread ${t} is admitted, and ${(queue & 15) - 1} came before it`);
      scene.set(0, QUEUE, without(queue, t + 1));
      break;
    case 'last come': {
      const chosen = scene.get(0, CHOSEN);
      if (chosen !== 0 && chosen !== t + 1)
        throw new Violation(`thread ${t} is admitted, and ${chosen - 1} was chosen`);
      scene.set(0, CHOSEN, 0);
      break;
    }
    case 'reciprocating': {
      const segment = scene.get(0, SEGMENT);
      if (segment !== 0 && last(segment) !== t + 1)
        throw new Violation(`thread ${t} is admitted, and it is the turn of ${last(segment) - 1}`);
      if (digits(queue).includes(t + 1)) throw new Violation(`thread ${t} is admitted before its segment`);
      overtakes(scene, t);
      scene.set(0, SEGMENT, without(segment, t + 1));
    }
  }
}

/** Counts that thread t has overtaken the threads that arrived before it in its segment. */
function overtakes(scene: Scene, t: number): void {
  let passed = scene.get(0, PASSED);
  for (const who of digits(scene.get(0, SEGMENT))) {
    if (who === t + 1 || who === 0) break;
    const at = 8 * (who - 1) + 2 * t;
    if (((passed >>> at) & 3) === 1) throw new Violation(`thread ${who - 1} is overtaken twice by thread ${t}`);
    passed += 1 << at;
  }
  scene.set(0, PASSED, passed & ~(0xff << (8 * t)));
}

function freed(scene: Scene): void {
  scene.set(0, HOLDER, 0);
}

/** Calls the lock, and checks the answer with `then`. */
function step(
  text: string,
  name: string,
  before: (scene: Scene, t: number) => boolean,
  then: (answer: number, scene: Scene, t: number) => void,
): Op {
  return {
    text,
    next(scene, t) {
      if (scene.get(t, PHASE) === 0) {
        if (!before(scene, t)) return true;
        scene.set(t, PHASE, 1);
        scene.call(t, name, lockOf(scene));
        return false;
      }
      then(scene.result(t), scene, t);
      return true;
    },
  };
}

const always = (): boolean => true;
const holds = (scene: Scene, t: number): boolean => scene.get(t, GOT) === 1;

function op(letter: string, kind: Kind): Op {
  const upTo =
    (...refusals: number[]) =>
    (answer: number, scene: Scene, t: number): void => {
      if (answer === ADMITTED) {
        if (kind === 'tts') admitted(scene, t, kind);
        if (scene.get(0, HOLDER) !== t + 1) throw new Violation(`thread ${t} learns that it holds the lock`);
        if (scene.get(t, LATE) === 1) throw new Violation(`thread ${t} does not learn that the lock is closed`);
        scene.set(t, GOT, 1);
        return;
      }
      if (!refusals.includes(answer)) throw new Violation(`thread ${t} is answered ${answer}`);
      if (answer !== ANSWER_CLOSED) return;
      if (!closed(scene, lockOf(scene))) throw new Violation(`thread ${t} learns that the lock is closed`);
      scene.set(0, QUEUE, without(scene.get(0, QUEUE), t + 1));
    };
  const exactly =
    (expected: number) =>
    (answer: number, scene: Scene, t: number): void => {
      if (answer !== expected) throw new Violation(`thread ${t} is answered ${answer}, not ${expected}`);
      if (answer === ANSWER_CLOSED) scene.set(0, QUEUE, without(scene.get(0, QUEUE), t + 1));
    };
  switch (letter) {
    case 'L':
      return step('lock', `${kind}Lock`, always, upTo(ANSWER_CLOSED));
    case 'N':
      return step('lock', `${kind}Lock`, always, upTo(ANSWER_FULL));
    case 'Y':
      return step('tryLock', `${kind}TryLock`, always, upTo(REFUSED, ANSWER_CLOSED));
    case 'H':
      return step('lock again', `${kind}Lock`, always, exactly(ANSWER_HELD));
    case 'k':
      return step('lock again, if held', `${kind}Lock`, holds, exactly(ANSWER_HELD));
    case 'y':
      return step('tryLock, if held', `${kind}TryLock`, holds, exactly(REFUSED));
    case 'X':
      return step('unlock, not held', `${kind}Unlock`, always, exactly(ANSWER_NOT_HELD));
    case 'F':
      return step('tryLock, free', `${kind}TryLock`, always, upTo());
    case 'C':
      return step('lock, disposed of', `${kind}Lock`, always, exactly(ANSWER_CLOSED));
    case 'c':
      return step('tryLock, disposed of', `${kind}TryLock`, always, exactly(ANSWER_CLOSED));
    case 'U': {
      const held = (scene: Scene, t: number): boolean => {
        const holds = scene.get(t, GOT) === 1;
        scene.set(t, GOT, 0);
        if (holds && kind === 'tts') freed(scene);
        return holds;
      };
      return step('unlock', `${kind}Unlock`, held, exactly(ADMITTED));
    }
    case 'D':
      return disposing(kind);
    default:
      throw new Error(`a lock's program has no ${letter}`);
  }
}

/** A lock with queue nodes is closed and then unlocked by its owner, in two calls. Other locks do both in one call. */
function disposing(kind: Kind): Op {
  return {
    text: 'dispose',
    next(scene, t) {
      const phase = scene.get(t, PHASE);
      const held = scene.get(t, GOT) === 1;
      scene.set(t, PHASE, phase + 1);
      if (phase === 0) {
        if (held && kind === 'tts') freed(scene);
        scene.call(t, KINDS[kind].dispose, lockOf(scene));
        return false;
      }
      scene.set(t, GOT, 0);
      if (phase === 1 && withNodes(kind)) {
        scene.call(t, `${kind}Unlock`, lockOf(scene));
        return false;
      }
      if (scene.word(lockOf(scene) + O_OWNER) === t + 1)
        throw new Violation(`thread ${t} has disposed of the lock, and still is its owner`);
      return true;
    },
  };
}

function checkFree(scene: Scene, kind: Kind): void {
  const lock = lockOf(scene);
  checkNodes(scene);
  if (closed(scene, lock) && scene.word(lock + O_LIFE) !== DISPOSED)
    throw new Violation('the lock is closed, and has not been disposed of');
  if (scene.get(0, HOLDER) !== 0) return;
  if (scene.word(lock + O_OWNER) !== 0) throw new Violation('the lock is free, and has an owner');
  if (kind === 'tts' && (scene.word(lock) & constant('THREAD_MASK')) !== 0)
    throw new Violation('the lock is free, and its word has an owner');
  if (closed(scene, lock)) return;
  const free = !ticketed(kind) ? scene.word(lock) === 0 : scene.word(lock + GRANT) - scene.word(lock + TICKET) === 1;
  if (!free) throw new Violation('nobody holds the lock at the end, and it is not free');
}

/** Checks that every node is clean and in the pool of one thread, and that no element for chains is lost. */
export function checkNodes(scene: Scene): void {
  const pooled = new Set<number>();
  const put = (node: number): void => {
    if (pooled.has(node)) throw new Violation('a queue node is in two pools');
    pooled.add(node);
    for (const at of [Q_GATE, Q_NEXT, Q_END]) {
      if (scene.word(node + at) !== 0) throw new Violation('a queue node comes back, and is not clean');
    }
  };
  for (let t = 0; t < scene.threads; t++) {
    const spare = scene.global(t, 'papers/nodes/spare');
    if (spare !== 0) put(spare);
    pooled.add(scene.global(t, 'papers/borrowed/mine'));
    for (let n = scene.global(t, 'papers/nodes/more'); n !== 0; n = scene.word(n + Q_LINK)) put(n);
  }
  if (scene.get(0, HOLDER) !== 0) return;
  const { elements, end } = scene.regions;
  for (let e = elements; e < end; e += ELEMENT_SIZE) {
    if ((scene.word(e) & STATE_MASK) === BORROWED && !pooled.has(e)) throw new Violation('a queue node is lost');
  }
}

function modelOf(line: Line): Model {
  const { kind } = line;
  const parts = partsOf(line.program);
  const programs = parts.map((part) => part.split(/\s+/).map((letter) => op(letter, kind)));
  return {
    name: line.name,
    program: 'algorithms',
    programs,
    symmetric: parts,
    arena: {
      buckets: line.buckets ?? 1,
      elements: line.elements ?? (withNodes(kind) ? 2 * programs.length : line.chains ? programs.length : 1),
      objects: 1,
    },
    long: line.long ?? false,
    mayWait: line.mayWait ?? false,
    leaves: line.mayWait ?? false,
    aged: line.aged ?? false,
    objects: (scene) => {
      const { number } = KINDS[kind];
      const lock = scene.object(
        number,
        line.spin ?? 0,
        line.threshold ?? 0,
        1,
        line.first,
        line.chains ? ON_CHAINS : 0,
      );
      if (line.chains) for (let t = 0; t < programs.length; t++) scene.callNow(t, 'prepare');
      if (withNodes(kind) && line.warm !== false) {
        for (let t = 0; t < programs.length; t++)
          for (const what of ['Lock', 'Unlock']) scene.callNow(t, `${kind}${what}`, lock);
      }
      scene.watched.add(lock + TICKET);
      scene.watched.add(lock + O_OWNER);
    },
    written: (scene, t, address, before) => {
      if (address === lockOf(scene) + TICKET) moved(scene, t, before, kind);
      else if (scene.word(address) === 0) freed(scene);
      else admitted(scene, t, kind);
    },
    end: (scene) => checkFree(scene, kind),
  };
}

const WRAP = 2n ** 32n - 2n;
const FAR_PARKS = constant('FAR_PARKS');

export const models: readonly Model[] = (
  [
    { kind: 'tts', name: 'TtsLock' },
    { kind: 'ticket', name: 'TicketLock' },
    { kind: 'twa', name: 'TwaLock 0', threshold: 0 },
    { kind: 'twa', name: 'TwaLock 1', threshold: 1 },
    { kind: 'twa', name: 'TwaLock 0 on chains', threshold: 0, chains: true },
    { kind: 'twa', name: 'TwaLock 1 on chains', threshold: 1, chains: true },
    { kind: 'twa', name: 'TwaLock 2 on chains', threshold: 2, chains: true },
    { kind: 'twa', name: 'TwaLock 1, far parks', threshold: FAR_PARKS | 1 },
    { kind: 'twa', name: 'TwaLock 1 on chains, far parks', threshold: FAR_PARKS | 1, chains: true },
    { kind: 'mcs', name: 'McsLock' },
    { kind: 'clh', name: 'ClhLock' },
    { kind: 'lifo', name: 'LifoLock' },
    { kind: 'recip', name: 'ReciprocatingLock' },
  ] as const
).flatMap(({ name, ...kind }): Model[] =>
  [
    { name: '3x2', program: 'L U L U | L U L U | L U L U', long: true },
    ...(name === 'TwaLock 1' || name.endsWith('chains') || name === 'LifoLock'
      ? []
      : [{ name: '4x1', program: 'L U | L U | L U | L U', long: true }]),
    { name: '2x1', program: 'L U | L U' },
    { name: '2x1, 2 buckets, polling', program: 'L U | L U', buckets: 2 as const, spin: 2 },
    { name: '2x1 and try', program: 'L U | Y U' },
    { name: '2x1, and disposed of', program: 'L U | L U D' },
    { name: '2x2', program: 'L U L U | L U L U' },
    { name: '3x1', program: 'L U | L U | L U' },
    { name: '3x1, polling', program: 'L U | L U | L U', spin: 1 },
    { name: '2x2, yielding', program: 'L U L U | L U L U', spin: -1 },
    { name: 'try', program: 'L U | Y U Y U | L U' },
    { name: 'free', program: 'F U F U' },
    { name: 'misuse', program: 'X L H U X | L U X' },
    { name: 'dispose', program: 'L U | L U | D C c', spin: 1 },
    { name: 'dispose by the owner', program: 'L D X C | L U | L U' },
    // A waiter that has used up its polls sleeps. If it polled on, the model would have no end state.
    { name: 'left waiting', program: 'L | L', mayWait: true },
    // The waiters of a lock with queue nodes learn of the dispose only when the owner unlocks.
    { name: 'dispose of waiters', program: withNodes(kind.kind) ? 'L U | L U | L U | D' : 'L | L | L | D' },
    ...(withNodes(kind.kind)
      ? [
          {
            name: 'no nodes at hand, of elements used before',
            program: 'L U | L U',
            warm: false,
            aged: true,
          },
          { name: 'no nodes at hand, 2', program: 'L U | L U', warm: false },
          { name: 'no nodes at hand', program: 'L U | L U | L U', warm: false },
          { name: 'try of a lock that is held, without a node', program: 'L Y U', warm: false, elements: 1 },
          { name: 'the owner of a closed lock', program: 'L k y U | L U | D' },
          { name: 'few nodes', program: 'N U N U | N U | N U', warm: false, elements: 2 },
        ]
      : []),
    { name: 'disposed of by two', program: 'L U | D | D' },
    { name: 'dispose and try', program: 'L U | Y U Y U | D' },
    ...(!ticketed(kind.kind) ? [] : [{ name: 'wrap', program: 'L U L U | L U L U', first: WRAP }]),
  ]
    // If waiters park at once, far waiters do the same without this option.
    .filter(({ spin = 0 }: { spin?: number }) => !name.endsWith('far parks') || spin !== 0)
    .map((line) => modelOf({ ...kind, ...line, name: `${name}: ${line.name}` })),
);
