/**
 * What the models of channels, watches and selects have in common. A channel and a watch each consist of two objects,
 * their ends. Each end has a queue:
 *
 *     F   of a channel: the senders, which wait for places       of a watch: the threads that wait for the turn to set
 *     M   of a channel: the receivers, which wait for messages   of a watch: the threads that wait for a newer value
 *
 * The file makes the ends, and has the ops that end them, the steps of a thread that waits in a queue, and the model
 * that comes of a line in the tables of these files.
 */
import { PARKED as ASLEEP } from '../../engine/machine/machine.js';
import { Violation } from '../../engine/search/violation.js';
import { ADMITTED, ANSWER_CLOSED, CANCELLED, constant, ELEMENT_SIZE, QUEUED, TIMED_OUT } from '../../scene/layout.js';
import type { Model, Op } from '../../scene/model.js';
import { newObject } from '../../scene/new-object.js';
import type { Scene } from '../../scene/scene.js';
import { inCalls, OVER, type Step } from './in-steps.js';
import { partsOf } from './program.js';

const LIFE = constant('O_LIFE');
const NEXT = constant('P_NEXT');
const SENDERS = constant('P_SENDERS');
const PEER = constant('E_PEER');
/** In the lower half of O_LIFE. */
const STATES = 3 << 24;
const DISPOSED = 3 << 24;
/** The bytes of a place. */
export const PLACE = 64;

export interface Ends {
  readonly f: number;
  readonly m: number;
  /** The attachments of each thread. */
  readonly ofF: readonly number[];
  readonly ofM: readonly number[];
}

interface Making {
  readonly kinds: readonly [sending: string, receiving: string];
  readonly permits: number;
  readonly places: number;
  readonly spin?: number;
  /** Whether the attachments of the receiving end count permits; those of the sending end always do. */
  readonly robust: boolean;
  /** How many threads count as senders. */
  readonly senders?: number;
}

/** Makes both ends, links them, and attaches all threads. */
export function makeEnds(scene: Scene, { kinds, permits, places, spin = 0, robust, senders = 0 }: Making): Ends {
  const [sending, receiving] = kinds.map(constant) as [number, number];
  const make = (kind: number, permits: number, robust: boolean, peer: number): number =>
    scene.callNow(
      0,
      'createObject',
      ...newObject({
        kind,
        permits,
        max: places - 1,
        spin,
        threshold: PLACE,
        robust: Number(robust),
        variant: [peer, 0],
      }),
    );
  const ofF = [make(sending, permits, true, 0)];
  const f = scene.callNow(0, 'attachedTo', ofF[0] as number);
  const ofM = [make(receiving, 0, robust, f)];
  const m = scene.callNow(0, 'attachedTo', ofM[0] as number);
  if (scene.callNow(0, 'claimPages', m) !== 1) throw new Error('the arena of the model has no page');
  scene.machine.hostStore32(m + SENDERS, senders);
  if (scene.callNow(0, 'link', f, m) !== 1) throw new Error('the ends are linked already');
  for (let t = 1; t < scene.threads; t++) {
    ofF.push(scene.callNow(t, 'attach', f, scene.callNow(0, 'generation', f), sending));
    ofM.push(scene.callNow(t, 'attach', m, scene.callNow(0, 'generation', m), receiving));
  }
  for (const [t, one] of ofF.entries()) joinEnds(scene, one, ofM[t] as number);
  for (const o of [f, m]) scene.callNow(0, 'keep', o);
  return { f, m, ofF, ofM };
}

/** Notes in each of two attachments of a thread, to the two ends, where the other one is, as src/channel/endpoint.ts does. */
export function joinEnds(scene: Scene, one: number, other: number): void {
  scene.machine.hostStore32(recordAt(scene, one) + PEER, other - 1);
  scene.machine.hostStore32(recordAt(scene, other) + PEER, one - 1);
}

/** Returns the address of the element of an attachment. */
export const recordAt = (scene: Scene, attachment: number): number =>
  scene.regions.elements + (attachment - 1) * ELEMENT_SIZE;

// --- The end -----------------------------------------------------------------------------------------------------

export const isDisposed = (scene: Scene, o: number): boolean => (scene.word(o + LIFE) & STATES) === DISPOSED;
export const isClosed = (scene: Scene, { f }: Ends): boolean => scene.word(f + NEXT + 4) < 0;

/** Closes by the core's function of this name, which takes as many of the ends as `count` says. */
export const closeEnds = (endsOf: (scene: Scene) => Ends, name: string, count: 1 | 2): Op =>
  inCalls(
    'close',
    (scene) => [name, ...[endsOf(scene).f, endsOf(scene).m].slice(0, count)],
    (scene) => ['finishClose', endsOf(scene).f, endsOf(scene).m],
  );

export const disposeEnds = (endsOf: (scene: Scene) => Ends): Op =>
  inCalls(
    'dispose',
    (scene) => ['dispose', endsOf(scene).f],
    (scene) => ['dispose', endsOf(scene).m],
  );

/** The threads that live and sleep in an end state. */
export const sleepers = (scene: Scene): number[] =>
  scene.threadNumbers.filter((t) => !scene.dead(t) && !scene.finished(t) && scene.machine.status(t) === ASLEEP);

/** Checks that both ends are disposed of, or none, and that nobody sleeps if they are closed or disposed of. */
export function checkOver(scene: Scene, ends: Ends): { readonly isGone: boolean; readonly isOver: boolean } {
  const isGone = isDisposed(scene, ends.f);
  if (isDisposed(scene, ends.m) !== isGone) throw new Violation('one end is disposed of, and the other is not');
  const isOver = isGone || isClosed(scene, ends);
  const [sleeper] = sleepers(scene);
  if (isOver && sleeper !== undefined) throw new Violation(`both ends are closed, and thread ${sleeper} sleeps`);
  return { isGone, isOver };
}

// --- A queue -----------------------------------------------------------------------------------------------------

interface Waiting {
  /** The end, and the attachment that counts its permits, or 0. */
  readonly at: (scene: Scene, t: number) => readonly [end: number, attachment: number];
  readonly width?: number;
  /** Whether a time-out may pass in the sleep. */
  readonly timed: boolean;
  /** Whether the thread takes a second element before its ticket; by default if there is a time-out. */
  readonly reserves?: boolean;
  readonly admitted: (scene: Scene, t: number) => number;
  readonly closed: (scene: Scene, t: number) => number;
  /** What the thread does in the queue before it sleeps; by default nothing. It then calls `sleep` itself. */
  readonly looks?: (scene: Scene, t: number) => number;
}

/** The steps of a thread that takes a ticket, stands in the queue and sleeps. They have the numbers from `first` on. */
export function inLine(
  first: number,
  { at, width = 1, timed, reserves = timed, admitted, closed, looks }: Waiting,
): { readonly begin: Step; readonly sleep: Step; readonly steps: readonly Step[] } {
  const [RESERVED, TOOK_TICKET, ENQUEUED, PARKED] = [first, first + 1, first + 2, first + 3];
  const asks: Step = (scene, t) => {
    const [end, attachment] = at(scene, t);
    scene.call(t, 'acquireRobust', end, width, attachment);
    return TOOK_TICKET;
  };
  const sleep: Step = (scene, t) => {
    const [, attachment] = at(scene, t);
    if (timed) scene.call(t, 'parkFor', 1, 0, 0, attachment);
    else scene.call(t, 'park', 0, attachment);
    return PARKED;
  };
  const begin: Step = (scene, t, answer) => {
    if (!reserves) return asks(scene, t, answer);
    scene.call(t, 'reserveSecond');
    return RESERVED;
  };
  const tookTicket: Step = (scene, t, answer) => {
    if (answer === ADMITTED) return admitted(scene, t);
    const [end, attachment] = at(scene, t);
    scene.call(t, 'enqueue', end, width, answer, attachment);
    return ENQUEUED;
  };
  const enqueued: Step = (scene, t, answer) => {
    if (answer === ANSWER_CLOSED) return closed(scene, t);
    if (answer === QUEUED) return looks === undefined ? sleep(scene, t, answer) : looks(scene, t);
    if (answer !== ADMITTED) throw new Violation(`thread ${t} is answered ${answer}`);
    return admitted(scene, t);
  };
  const parked: Step = (scene, t, answer) => {
    if (answer === ANSWER_CLOSED) return closed(scene, t);
    // The request has left the queue.
    if (answer === CANCELLED) return OVER;
    if (answer !== TIMED_OUT) return admitted(scene, t);
    const [end, attachment] = at(scene, t);
    scene.call(t, 'cancel', end, attachment);
    return PARKED;
  };
  return { begin, sleep, steps: [asks, tookTicket, enqueued, parked] };
}

// --- A line of a table -------------------------------------------------------------------------------------------

export interface More {
  readonly capacity?: number;
  readonly spin?: number;
  readonly deaths?: number;
  readonly mortal?: readonly number[];
  readonly cuts?: number;
  readonly mayWait?: boolean;
  readonly long?: boolean;
  readonly preemptions?: number;
}

interface Stage {
  /** The ops of the words of one thread's program. */
  readonly ops: (part: string) => Op[];
  /** How many ends and other objects there are, and how many of them are ends. */
  readonly objects: number;
  readonly ends: number;
  readonly leaves?: boolean;
  readonly make: (scene: Scene, parts: readonly string[]) => void;
  readonly plain: (scene: Scene, t: number, address: number) => boolean;
  readonly end: (scene: Scene) => void;
}

export function modelOf(kind: string, program: string, more: More & { told?: string[] }, stage: Stage): Model {
  const { capacity, spin = 0, deaths = 0, mortal, cuts = 0, mayWait = false, long = false, preemptions } = more;
  const { ops, objects, ends, leaves = mayWait, make, plain, end } = stage;
  const parts = partsOf(program);
  const told = [
    ...(capacity === undefined ? [] : [`capacity ${capacity}`]),
    ...(more.told ?? []),
    ...(spin > 0 ? [`${spin} polls`] : []),
    ...(deaths > 0 ? [`${deaths} of ${mortal ?? 'all'} may die`] : []),
  ];
  return {
    name: [`${kind}: ${program}`, ...told].join(', '),
    programs: parts.map(ops),
    arena: { buckets: 1, elements: ends * parts.length, objects, attached: parts.length },
    deaths,
    ...(mortal && { mortal }),
    ...(cuts > 0 && { cuts }),
    ...(preemptions !== undefined && { preemptions }),
    mayWait,
    leaves,
    long,
    objects: (scene) => make(scene, parts),
    plain,
    end,
  };
}

/** The ops of a program whose words are letters. A ! behind a letter says that an exception may cut the op short. */
export const byLetters =
  (ops: Readonly<Record<string, () => Op>>, mayBeCut: (op: Op) => Op = (op) => op) =>
  (part: string): Op[] =>
    [...part.replaceAll(' ', '').matchAll(/(.)(!?)/g)].map(([, letter = '', cut]) => {
      const op = ops[letter];
      if (op === undefined) throw new Error(`a program has no ${letter}`);
      return cut === '!' ? mayBeCut(op()) : op();
    });
