/**
 * Models of the locks of the papers.
 *
 *     L  lock      U  unlock what was got     Y  tryLock     D  dispose
 *     H  lock what this thread holds: refused     X  unlock what it does not hold: refused
 *     F  tryLock of what is free: granted         C  lock what was disposed of: refused, and tryLock likewise (c)
 *
 * Checked at every step: one holder at a time, and the order in which the kind promises to admit. At the end: the
 * lock is free, and says so. The ghosts stand in words of thread 0 that promises would have; there are none here.
 */
import {
  ADMITTED,
  ANSWER_CLOSED,
  ANSWER_HELD,
  ANSWER_NOT_HELD,
  constant,
  GRANT,
  O_LIFE,
  O_OWNER,
  REFUSED,
  TICKET,
} from '../scene/layout.js';
import { type Model, type Op, type Scene, Violation } from '../scene/scene.js';
import { GOT, PHASE, PROMISES } from '../scene/words.js';

type Kind = 'tts' | 'ticket' | 'twa';

/** Who holds the lock: thread + 1. */
const HOLDER = PROMISES;
/** Who waits, in the order of arrival: a digit of 4 bits each, thread + 1, the first lowest. */
const QUEUE = PROMISES + 1;

const KINDS: Record<Kind, { readonly number: number; readonly dispose: string; readonly fifo: boolean }> = {
  tts: { number: constant('KIND_TTS_LOCK'), dispose: 'ttsDispose', fifo: false },
  ticket: { number: constant('KIND_TICKET_LOCK'), dispose: 'ticketLockDispose', fifo: true },
  twa: { number: constant('KIND_TWA_LOCK'), dispose: 'twaLockDispose', fifo: true },
};

interface Line {
  readonly name: string;
  readonly kind: Kind;
  readonly program: string;
  readonly spin?: number;
  readonly threshold?: number;
  readonly buckets?: 1 | 2;
  readonly first?: bigint;
  readonly long?: boolean;
}

/** DISPOSED, with the reference of the thread that has made it (core/objects.ts). */
const DISPOSED = (3 << 24) + 1;

export const digits = (list: number): number[] =>
  [...list.toString(16)].reverse().map((d) => Number.parseInt(d, 16));
export const without = (list: number, who: number): number =>
  digits(list)
    .filter((d) => d !== who && d !== 0)
    .reduceRight((sum, d) => sum * 16 + d, 0);

export function word(scene: Scene, address: number): number {
  return scene.machine.words[address >> 2];
}

export function closed(scene: Scene, lock: number): boolean {
  return word(scene, lock + GRANT + 4) < 0;
}

function admitted(scene: Scene, t: number, kind: Kind): void {
  const holder = scene.get(0, HOLDER);
  if (holder !== 0) throw new Violation(`threads ${holder - 1} and ${t} both hold the lock`);
  scene.set(0, HOLDER, t + 1);
  scene.set(t, GOT, 1);
  if (!KINDS[kind].fifo) return;
  const first = scene.get(0, QUEUE) & 15;
  if (first !== t + 1) throw new Violation(`thread ${t} is admitted, and ${first - 1} came before it`);
  scene.set(0, QUEUE, without(scene.get(0, QUEUE), t + 1));
}

function freed(scene: Scene, t: number): void {
  scene.set(t, GOT, 0);
  scene.set(0, HOLDER, 0);
}

/** A call on the lock, whose answer is looked at. */
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
        scene.call(t, name, [...scene.watched][0] as number);
        return false;
      }
      then(scene.result(t), scene, t);
      return true;
    },
  };
}

const always = (): boolean => true;

function op(letter: string, kind: Kind): Op {
  const upTo =
    (...refusals: number[]) =>
    (answer: number, scene: Scene, t: number): void => {
      if (answer === ADMITTED) {
        admitted(scene, t, kind);
        return;
      }
      if (!refusals.includes(answer)) throw new Violation(`thread ${t} is answered ${answer}`);
      if (answer !== ANSWER_CLOSED) return;
      if (!closed(scene, [...scene.watched][0] as number))
        throw new Violation(`thread ${t} is told that the lock is closed`);
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
    case 'Y':
      return step('tryLock', `${kind}TryLock`, always, upTo(REFUSED, ANSWER_CLOSED));
    case 'H':
      return step('lock again', `${kind}Lock`, always, exactly(ANSWER_HELD));
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
        if (holds) freed(scene, t);
        return holds;
      };
      return step('unlock', `${kind}Unlock`, held, exactly(ADMITTED));
    }
    case 'D': {
      const gives = (scene: Scene, t: number): boolean => {
        if (scene.get(t, GOT) === 1) freed(scene, t);
        return true;
      };
      return step('dispose', KINDS[kind].dispose, gives, () => {});
    }
    default:
      throw new Error(`a lock's program has no ${letter}`);
  }
}

function checkFree(scene: Scene, kind: Kind): void {
  const lock = [...scene.watched][0] as number;
  if (closed(scene, lock) && word(scene, lock + O_LIFE) !== DISPOSED)
    throw new Violation('the lock is closed, and has not been disposed of');
  if (scene.get(0, HOLDER) !== 0) return;
  if (word(scene, lock + O_OWNER) !== 0) throw new Violation('the lock is free, and has an owner');
  if (kind === 'tts' && (word(scene, lock) & constant('THREAD_MASK')) !== 0)
    throw new Violation('the lock is free, and its word has an owner');
  if (closed(scene, lock)) return;
  const free =
    kind === 'tts' ? word(scene, lock) === 0 : word(scene, lock + GRANT) - word(scene, lock + TICKET) === 1;
  if (!free) throw new Violation('nobody holds the lock at the end, and it is not free');
}

function modelOf(line: Line): Model {
  const { kind } = line;
  const programs = line.program.split('|').map((text) =>
    text
      .trim()
      .split(/\s+/)
      .map((letter) => op(letter, kind)),
  );
  return {
    name: line.name,
    program: 'algorithms',
    programs,
    arena: { buckets: line.buckets ?? 1, elements: 1, objects: 1 },
    long: line.long ?? false,
    objects: (scene) => {
      const { number } = KINDS[kind];
      scene.watched.add(scene.object(number, line.spin ?? 0, line.threshold ?? 0, 1, line.first) + TICKET);
    },
    // Whoever moves the ticket has arrived.
    written: (scene, t, address, before) => {
      if (!KINDS[kind].fifo || word(scene, address) === before) return;
      const queue = scene.get(0, QUEUE);
      scene.set(0, QUEUE, queue + (t + 1) * 16 ** digits(queue).filter((d) => d !== 0).length);
    },
    end: (scene) => checkFree(scene, kind),
  };
}

const WRAP = 2n ** 32n - 2n;

export const locks: readonly Model[] = (
  [
    { kind: 'tts', name: 'TtsLock' },
    { kind: 'ticket', name: 'TicketLock' },
    { kind: 'twa', name: 'TwaLock 0', threshold: 0 },
    { kind: 'twa', name: 'TwaLock 1', threshold: 1 },
  ] as const
).flatMap(({ name, ...kind }): Model[] =>
  [
    { name: '3x2', program: 'L U L U | L U L U | L U L U', long: true },
    ...(name === 'TwaLock 1' ? [] : [{ name: '4x1', program: 'L U | L U | L U | L U', long: true }]),
    { name: '3x1, polling', program: 'L U | L U | L U', spin: 1 },
    { name: 'try', program: 'L U | Y U Y U | L U' },
    { name: 'free', program: 'F U F U' },
    { name: 'misuse', program: 'X L H U X | L U X' },
    { name: 'dispose', program: 'L U | L U | D C c', spin: 1 },
    { name: 'dispose by the owner', program: 'L D C | L U | L U' },
    { name: 'dispose of waiters', program: 'L | L | L | D' },
    { name: 'disposed of by two', program: 'L U | D | D' },
    { name: 'dispose and try', program: 'L U | Y U Y U | D' },
    ...(kind.kind === 'tts' ? [] : [{ name: 'wrap', program: 'L U L U | L U L U', first: WRAP }]),
  ].map((line) => modelOf({ ...kind, ...line, name: `${name}: ${line.name}` })),
);
