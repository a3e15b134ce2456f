/**
 * Models of the channel (core/kinds/channel/channel.ts). In the text of a program, bars stand between the programs of
 * two threads, and each letter stands for an op:
 *
 *     S  sends            s  sends, with a time-out that may pass in each sleep
 *     R  receives         r  receives, with such a time-out
 *     M  sends two messages in one turn
 *     B  receives one or two messages, if any is there
 *     C  closes
 *     L  leaves as one of the senders of a channel that closes itself; so does a thread that dies before
 *     D  disposes
 *     X  reaps each thread that dies
 *
 * The channel has place for `capacity` messages. The ops do what src/channel/ does around the modules. Message k of
 * thread t has the number 8t + k.
 *
 * - A thread touches a place only while its attachment says that it has claimed the place, and no other thread has.
 * - Each message is received once at most, and the messages of one sender are claimed in their order.
 * - At the end every message whose `send` has returned was received, is still in the channel, or counts as lost.
 * - Nobody learns that the channel has ended before every message was claimed.
 */
import { PARKED as PARKED_THREAD } from '../engine/machine/machine.js';
import { Violation } from '../engine/search/violation.js';
import { CMPXCHG, LOAD, RMW, STORE } from '../engine/wasm/code.js';
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
  TICKET,
  TIMED_OUT,
} from '../scene/layout.js';
import type { Model, Op } from '../scene/model.js';
import { supervise } from '../scene/ops/deaths.js';
import type { Scene } from '../scene/scene.js';
import { PHASE, PROMISES } from '../scene/words.js';
import { joinEnds } from './parts/ends.js';
import { inSteps, OVER, type Step } from './parts/in-steps.js';
import { partsOf } from './parts/program.js';

const INTERRUPTED = constant('INTERRUPTED');
const MORE = constant('MORE');
const NEWS = constant('NEWS');
const NEXT = constant('P_NEXT');
const DONE = constant('P_DONE');
const END = constant('P_END');
const UNTOLD = constant('P_UNTOLD');
const DATA = constant('P_DATA');
const MARK = constant('PLACE_MARK');
const LENGTH = constant('PLACE_LENGTH');
const HEAD = constant('PLACE_HEAD');
const SENDERS = constant('P_SENDERS');
const LIFE = constant('O_LIFE');
/** In the lower half of O_LIFE. */
const STATES = 3 << 24;
const DISPOSED = 3 << 24;
const TOOK = constant('E_TOOK');
const E_SENDERS = constant('E_SENDERS');
const HOLE = constant('HOLE');
const TOOK_COUNT = constant('E_TOOK_COUNT');
/** The bytes of a place. */
const PLACE = 64;

// Words of a thread that outlive an op. Threads here have no promises.
/** How many messages the thread has begun to send. */
const BEGUN = PROMISES;
/** The messages, as bits, that the thread has sent; the thread's own numbers. */
const SENT = PROMISES + 1;
/** The messages, as bits, that the thread has received: a word for each sender. */
const RECEIVED = PROMISES + 2;
/** The messages that the thread has read and not freed yet: numbers plus 1, 6 bits each. */
const READS = PROMISES + 6;
/** The number of the message that the thread has received last of each sender, plus 1. */
const LAST = PROMISES + 7;

interface Ends {
  readonly f: number;
  readonly m: number;
  readonly capacity: number;
  /** The threads that count as senders. */
  readonly senders: readonly number[];
  readonly ofF: readonly number[];
  readonly ofM: readonly number[];
}

const ends = new WeakMap<Scene, Ends>();
const endsOf = (scene: Scene): Ends => ends.get(scene) as Ends;
const word = (scene: Scene, address: number): number => scene.machine.words[address >> 2];
const recordAt = (scene: Scene, attachment: number): number => scene.regions.elements + (attachment - 1) * ELEMENT_SIZE;

/** Makes both ends, links them, and attaches all threads. */
function makeChannel(scene: Scene, capacity: number, spin: number, first: number, senders: readonly number[]): void {
  const make = (kind: string, permits: number, peer: number): number =>
    scene.callNow(0, 'createObject', constant(kind), permits, capacity - 1, spin, PLACE, 1, peer, 0, first, 0);
  const ofF = [make('KIND_CHANNEL', capacity, 0)];
  const f = scene.callNow(0, 'attachedTo', ofF[0]);
  const ofM = [make('KIND_RECEIVING_END', 0, f)];
  const m = scene.callNow(0, 'attachedTo', ofM[0]);
  if (scene.callNow(0, 'claimPages', m) !== 1) throw new Error('the arena of the model has no page');
  scene.machine.hostStore32(m + SENDERS, senders.length);
  if (scene.callNow(0, 'link', f, m) !== 1) throw new Error('the ends are linked already');
  for (let t = 1; t < scene.threads; t++) {
    ofF.push(scene.callNow(t, 'attach', f, 0, constant('KIND_CHANNEL')));
    ofM.push(scene.callNow(t, 'attach', m, 0, constant('KIND_RECEIVING_END')));
  }
  for (const [t, one] of ofF.entries()) joinEnds(scene, one, ofM[t]);
  for (const t of senders) scene.callNow(t, 'beginSending', ofF[t]);
  for (const o of [f, m]) scene.callNow(0, 'keep', o);
  ends.set(scene, { f, m, capacity, senders, ofF, ofM });
}

// --- What a thread may touch -----------------------------------------------------------------------------------

/** Returns the address of the place of message i. */
function placeOf(scene: Scene, i: number): number {
  const { m, capacity } = endsOf(scene);
  return word(scene, m + DATA) + (i % capacity) * PLACE;
}

/** Returns the messages that a thread has claimed at an end and not passed on. In the models indices stay small. */
function claimed(scene: Scene, o: number, attachment: number): number[] {
  const record = recordAt(scene, attachment);
  const first = word(scene, record + TOOK);
  const isSending = o === endsOf(scene).f;
  return Array.from({ length: word(scene, record + TOOK_COUNT) }, (_, k) => first + k).filter(
    (i) => i >= word(scene, o + DONE) && word(scene, placeOf(scene, i) + MARK) !== (isSending ? i + 1 : ~(i + 1)),
  );
}

/** Throws unless the thread, and no other, has claimed the place at this address. */
function checkOwner(scene: Scene, t: number, address: number): void {
  const { f, m, ofF, ofM } = endsOf(scene);
  const owners = scene.threadNumbers.flatMap((u) =>
    [...claimed(scene, f, ofF[u]), ...claimed(scene, m, ofM[u])]
      .filter((i) => address >= placeOf(scene, i) && address < placeOf(scene, i) + PLACE)
      .map(() => u),
  );
  if (owners.length !== 1 || owners[0] !== t)
    throw new Violation(`thread ${t} touches a place that the threads ${owners} have claimed`);
}

/** Whether a thread may make a plain access to this address. */
function plain(scene: Scene, t: number, address: number): boolean {
  const { ofF, ofM } = endsOf(scene);
  const isRecord = [ofF[t], ofM[t]].some((attachment) => {
    const record = recordAt(scene, attachment);
    return [TOOK, TOOK_COUNT, E_SENDERS].some((offset) => address === record + offset);
  });
  return isRecord;
}

// --- Messages --------------------------------------------------------------------------------------------------

function write(scene: Scene, t: number, place: number): void {
  checkOwner(scene, t, place);
  const k = scene.get(t, BEGUN);
  scene.set(t, BEGUN, k + 1);
  scene.machine.hostStore32(place + LENGTH, 4);
  scene.machine.hostStore32(place + HEAD, 8 * t + k);
}

/** Reads the message in a place that the thread has claimed. Returns false for a hole. */
function read(scene: Scene, t: number, place: number): boolean {
  checkOwner(scene, t, place);
  if (word(scene, place + LENGTH) === HOLE) return false;
  const number = word(scene, place + HEAD);
  const [sender, k] = [number >> 3, number & 7];
  for (const u of scene.threadNumbers)
    if ((scene.get(u, RECEIVED + sender) >> k) & 1) throw new Violation(`message ${number} is received twice`);
  if (scene.get(t, LAST + sender) > k) throw new Violation(`message ${number} comes after a later one of its sender`);
  scene.set(t, LAST + sender, k + 1);
  scene.set(t, READS, (scene.get(t, READS) << 6) | (number + 1));
  return true;
}

/** The thread has freed the places of all messages that it has read. */
function freed(scene: Scene, t: number): void {
  for (let reads = scene.get(t, READS); reads !== 0; reads >>>= 6) {
    const number = (reads & 63) - 1;
    scene.set(t, RECEIVED + (number >> 3), scene.get(t, RECEIVED + (number >> 3)) | (1 << (number & 7)));
  }
  scene.set(t, READS, 0);
}

const bits = (n: number): number => n.toString(2).replaceAll('0', '').length;

function checkChannel(scene: Scene): void {
  const { f, m, senders } = endsOf(scene);
  let sent = 0;
  let unsure = 0;
  const received = scene.threadNumbers.map((s) =>
    scene.threadNumbers.reduce((all, t) => all | scene.get(t, RECEIVED + s), 0),
  );
  for (const t of scene.threadNumbers) {
    sent += bits(scene.get(t, SENT) & ~received[t]);
    for (let reads = scene.get(t, READS); reads !== 0; reads >>>= 6) unsure++;
  }
  let inside = 0;
  for (let i = word(scene, m + NEXT); i < word(scene, f + DONE); i++) {
    const place = placeOf(scene, i);
    const number = word(scene, place + HEAD);
    if (word(scene, place + LENGTH) !== HOLE && (scene.get(number >> 3, SENT) >> (number & 7)) & 1) inside++;
  }
  const lost = word(scene, f + UNTOLD);
  const missing = sent - inside - lost;
  // A message that a receiver had read when it died may have been freed already.
  if (missing < -unsure || missing > unsure)
    throw new Violation(`${sent} messages were sent and not received; ${inside} are inside, and ${lost} count as lost`);
  const isOver = isClosed(scene);
  const [isGone, isGoneToo] = [f, m].map((o) => (word(scene, o + LIFE) & STATES) === DISPOSED);
  if (isGone !== isGoneToo) throw new Violation('one end is disposed of, and the other is not');
  for (const t of scene.threadNumbers)
    if ((isOver || isGone) && !scene.dead(t) && !scene.finished(t) && scene.machine.status(t) === PARKED_THREAD)
      throw new Violation(`the channel is closed, and thread ${t} sleeps for ever`);
  if (senders.length > 0 && !isOver) throw new Violation('all senders have left, and the channel is not closed');
  if (scene.model.mayWait || isGone) return;
  const last = isOver ? word(scene, m + END) >>> 1 : word(scene, f + NEXT);
  if (word(scene, f + DONE) !== last) throw new Violation('a place is not passed on');
  if (word(scene, m + DONE) !== word(scene, m + NEXT)) throw new Violation('a place is not freed');
}

// --- Ops -------------------------------------------------------------------------------------------------------

// The steps of an op that waits for n places.
const BEGIN = 0;
const TRIED = 1;
const TOOK_TICKET = 2;
const ENQUEUED = 3;
const PARKED = 4;
const CLAIMED = 5;
const PASSED = 6;
const FINISHED = 7;
const TOLD = 8;
const RESERVED = 9;

/** Sends, or receives, n messages. */
function transfer(sends: boolean, n: number, timed: boolean): Op {
  const at = (scene: Scene): number => (sends ? endsOf(scene).f : endsOf(scene).m);
  const of = (scene: Scene, t: number): number => (sends ? endsOf(scene).ofF : endsOf(scene).ofM)[t];
  const finish = (scene: Scene, t: number): number => {
    scene.set(t, PHASE, 0);
    if (sends) {
      const k = scene.get(t, BEGUN);
      scene.set(t, SENT, (1 << k) - 1);
    } else freed(scene, t);
    return OVER;
  };
  const waits = (scene: Scene, t: number): number => {
    if (timed) {
      scene.call(t, 'reserveSecond');
      return RESERVED;
    }
    scene.call(t, 'acquireRobust', at(scene), n, of(scene, t));
    return TOOK_TICKET;
  };
  const use = (scene: Scene, t: number, first: number): number => {
    if (first === ANSWER_CLOSED) return closed(scene, t);
    const record = recordAt(scene, of(scene, t));
    const [from, count] = [word(scene, record + TOOK), word(scene, record + TOOK_COUNT)];
    let holes = 0;
    for (let i = from; i < from + count; i++) {
      if (sends) write(scene, t, placeOf(scene, i));
      else if (!read(scene, t, placeOf(scene, i))) holes++;
    }
    scene.call(t, 'pass', at(scene), of(scene, t));
    // After a hole the receiver waits again.
    return !sends && holes === count ? PASSED + 16 : PASSED;
  };
  const closed = (scene: Scene, t: number): number => {
    const { f, m } = endsOf(scene);
    if ((word(scene, f + LIFE) & STATES) === DISPOSED) return OVER;
    if (word(scene, m + END) === 0 && !isClosed(scene))
      throw new Violation(`thread ${t} learns that the channel is closed`);
    if (!sends && word(scene, m + END) !== ((word(scene, m + NEXT) << 1) | 1))
      throw new Violation(`thread ${t} learns that the channel has ended, and a message is left`);
    return OVER;
  };
  const steps: Step[] = [];
  const again = 16;
  steps[BEGIN] = (scene, t) => {
    scene.call(t, 'tryClaim', at(scene), of(scene, t), 1);
    return TRIED;
  };
  if (n > 1) steps[BEGIN] = waits;
  steps[TRIED] = (scene, t, answer) => (answer === REFUSED ? waits(scene, t) : use(scene, t, answer));
  steps[RESERVED] = (scene, t) => {
    scene.call(t, 'acquireRobust', at(scene), n, of(scene, t));
    return TOOK_TICKET;
  };
  steps[TOOK_TICKET] = (scene, t, answer) => {
    if (answer !== ADMITTED) scene.call(t, 'enqueue', at(scene), n, answer, of(scene, t));
    else scene.call(t, 'claim', at(scene), of(scene, t), n);
    return answer === ADMITTED ? CLAIMED : ENQUEUED;
  };
  steps[ENQUEUED] = (scene, t, answer) => {
    if (answer === ANSWER_CLOSED) return closed(scene, t);
    if (answer === QUEUED && timed) scene.call(t, 'parkFor', 1, 0, 0, of(scene, t));
    else if (answer === QUEUED) scene.call(t, 'park', 0, of(scene, t));
    else if (answer === ADMITTED) scene.call(t, 'claim', at(scene), of(scene, t), n);
    else throw new Violation(`thread ${t} is answered ${answer}`);
    return answer === QUEUED ? PARKED : CLAIMED;
  };
  steps[PARKED] = (scene, t, answer) => {
    if (answer === ANSWER_CLOSED) return closed(scene, t);
    // The request has left the queue.
    if (answer === REFUSED) return OVER;
    if (answer === TIMED_OUT) {
      scene.call(t, 'cancel', at(scene), of(scene, t));
      return PARKED;
    }
    scene.call(t, 'claim', at(scene), of(scene, t), n);
    return CLAIMED;
  };
  steps[CLAIMED] = use;
  const passed =
    (then: number): Step =>
    (scene, t, answer) => {
      if (answer === ADMITTED) return over(scene, t, then);
      if (answer === NEWS) return tell(scene, t, then);
      if (answer !== MORE && answer !== INTERRUPTED) throw new Violation(`a pass is answered ${answer}`);
      const { f, m, ofF, ofM } = endsOf(scene);
      const [peer, attachment] = sends ? [m, ofM[t]] : [f, ofF[t]];
      scene.call(t, 'finishRelease', peer, scene.global(t, 'channel/given'), answer, 0, attachment);
      return FINISHED + then;
    };
  /** The op is over; or after a hole, the receiver begins again. */
  const over = (scene: Scene, t: number, then: number): number => {
    if (then === 0) return finish(scene, t);
    scene.call(t, 'tryClaim', at(scene), of(scene, t), 1);
    return TRIED;
  };
  const tell = (scene: Scene, t: number, then: number): number => {
    const { f, m } = endsOf(scene);
    const hasEnded = !sends && word(scene, m + END) === ((word(scene, m + NEXT) << 1) | 1);
    if (!hasEnded) return over(scene, t, then);
    scene.call(t, 'finishClose', f, m);
    return TOLD + then;
  };
  steps[PASSED] = passed(0);
  steps[PASSED + again] = passed(again);
  steps[FINISHED] = (scene, t) => tell(scene, t, 0);
  steps[FINISHED + again] = (scene, t) => tell(scene, t, again);
  steps[TOLD] = (scene, t) => over(scene, t, 0);
  steps[TOLD + again] = (scene, t) => over(scene, t, again);
  return inSteps(`${sends ? 'send' : 'receive'}${n > 1 ? ` ${n}` : ''}${timed ? ', timed' : ''}`, ...steps);
}

/** Receives up to two messages, if any is there. */
function drain(): Op {
  const one = transfer(false, 1, false);
  return {
    text: 'receive up to 2',
    next(scene, t) {
      const { m, ofM } = endsOf(scene);
      if (scene.get(t, PHASE) === BEGIN) {
        scene.call(t, 'tryClaim', m, ofM[t], 2);
        scene.set(t, PHASE, TRIED);
        return false;
      }
      if (scene.get(t, PHASE) === TRIED && scene.result(t) === REFUSED) return true;
      return one.next(scene, t);
    },
  };
}

const close = (): Op =>
  inSteps(
    'close',
    (scene, t) => {
      scene.call(t, 'close', endsOf(scene).f, endsOf(scene).m);
      return 1;
    },
    (scene, t) => {
      scene.call(t, 'finishClose', endsOf(scene).f, endsOf(scene).m);
      return 2;
    },
    () => OVER,
  );

const isClosed = (scene: Scene): boolean => word(scene, endsOf(scene).f + NEXT + 4) < 0;

const leave = (): Op =>
  inSteps(
    'leave',
    (scene, t) => {
      scene.call(t, 'leaveSenders', endsOf(scene).f, endsOf(scene).ofF[t]);
      return 1;
    },
    (scene, t) => {
      if (!isClosed(scene)) return OVER;
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
    case 'S':
      return transfer(true, 1, false);
    case 's':
      return transfer(true, 1, true);
    case 'M':
      return transfer(true, 2, false);
    case 'R':
      return transfer(false, 1, false);
    case 'r':
      return transfer(false, 1, true);
    case 'B':
      return drain();
    case 'C':
      return close();
    case 'L':
      return leave();
    case 'D':
      return dispose();
    case 'X':
      return supervise();
    default:
      throw new Error(`a program has no ${letter}`);
  }
}

interface More {
  readonly capacity?: number;
  readonly spin?: number;
  readonly deaths?: number;
  readonly mortal?: readonly number[];
  readonly mayWait?: boolean;
  readonly long?: boolean;
  readonly preemptions?: number;
  readonly first?: number;
}

function model(program: string, more: More = {}): Model {
  const { capacity = 1, spin = 0, deaths = 0, mortal, mayWait = false, long = false, preemptions, first = 0 } = more;
  const parts = partsOf(program);
  const senders = parts.flatMap((part, t) => (part.includes('L') ? [t] : []));
  const told = [
    `capacity ${capacity}`,
    ...(spin > 0 ? [`${spin} polls`] : []),
    ...(deaths > 0 ? [`${deaths} of ${mortal ?? 'all'} may die`] : []),
    ...(first !== 0 ? [`from ticket ${first}`] : []),
  ];
  return {
    name: `channel: ${program}, ${told.join(', ')}`,
    programs: parts.map((part) => [...part.replaceAll(' ', '')].map(opOf)),
    arena: { buckets: 1, elements: 2 * parts.length, objects: 2, attached: parts.length },
    deaths,
    ...(mortal && { mortal }),
    mayWait,
    leaves: mayWait,
    long,
    ...(preemptions !== undefined && { preemptions }),
    objects: (scene) => makeChannel(scene, capacity, spin, first, senders),
    plain,
    end: checkChannel,
  };
}

export const models: readonly Model[] = [
  model('S | R'),
  model('S S | R R'),
  model('S S | R R', { capacity: 2 }),
  model('S S S | R R R', { capacity: 2 }),
  model('S S | R R', { spin: 1 }),
  model('S | S | R R'),
  model('S | S | R R', { capacity: 2 }),
  model('S S | R | R'),
  model('S S | R | R', { capacity: 2 }),
  model('S | S | R | R', { long: true }),
  model('S | S | R | R', { capacity: 2, long: true }),
  // Closing, and the end.
  model('S C | R R'),
  model('S | R R | C'),
  model('S S C | R | R R', { capacity: 2, long: true }),
  model('S | C | C R R'),
  // Requests that give up.
  model('s S C | R R R'),
  model('s C | S | R R R', { long: true }),
  model('S S C | r R R', { capacity: 2 }),
  model('S C | r | R R', { long: true }),
  // Several messages in one turn.
  model('M C | R R R', { capacity: 2 }),
  model('M | S C | R R R R', { capacity: 2, long: true }),
  model('S S C | B R R R', { capacity: 2 }),
  model('S | S C | B R R R', { capacity: 2, long: true }),
  // Deaths.
  model('S | R | X C', { deaths: 1, mortal: [0] }),
  model('S | R | X C', { deaths: 1, mortal: [1] }),
  model('S | S X C | R R', { deaths: 1, mortal: [0], capacity: 2, long: true }),
  model('S S | R | X C', { deaths: 1, mortal: [0], long: true }),
  model('S S | R | X C', { deaths: 1, mortal: [1], long: true }),
  model('S S | B | X C R R', { deaths: 1, mortal: [1], capacity: 2, long: true }),
  model('S C | R R | X', { deaths: 1, mortal: [0], mayWait: true }),
  // Channels that close themselves.
  model('S L | R R'),
  model('S L | S L | R R R', { capacity: 2 }),
  model('S L | R R | X', { deaths: 1, mortal: [0] }),
  model('S L | L R R | X', { deaths: 1, mortal: [0] }),
  model('S L | r R | X', { deaths: 1, mortal: [0] }),
  model('L C | R'),
  // Disposal.
  model('D | S R'),
  model('D | R | S S', { long: true }),
  model('D | R | X D', { deaths: 1, mortal: [0] }),
  model('D | S S | X D', { deaths: 1, mortal: [0] }),
  model('D | R | X', { deaths: 1, mortal: [0], mayWait: true }),
];

export const sections: readonly Section[] = [
  {
    name: 'R14, tryClaim',
    fn: 'channel/tryClaim',
    from: { kind: CMPXCHG, word: TICKET },
    to: [TOOK_COUNT],
    returns: 'the channel is closed: the permit is worth nothing',
  },
  { name: 'R14, claim', fn: 'channel/claim', from: { kind: RMW, word: NEXT }, to: [E_HELD] },
  { name: 'R15, pass', fn: 'channel/pass', from: { kind: CMPXCHG, word: DONE }, to: [GRANT] },
  { name: 'R15, passOn', fn: 'channel/passOn', from: { kind: CMPXCHG, word: DONE }, to: [GRANT] },
  {
    name: 'R15, passForDead, reaping/cleanUp',
    fn: 'reaping/cleanUp',
    from: { kind: CMPXCHG, word: DONE },
    to: [GRANT],
  },
  {
    name: 'R17, passForDead, reaping/cleanUp',
    fn: 'reaping/cleanUp',
    from: { kind: STORE, word: LENGTH },
    to: [UNTOLD],
  },
  { name: 'R16, close', fn: 'ends/close', from: { kind: RMW, word: NEXT }, to: [END], returns: 'closed already' },
  {
    name: 'R18, leaveSenders',
    fn: 'channel/leaveSenders',
    from: { kind: STORE, word: E_SENDERS },
    to: [END],
    returns: 'others are still to leave, or the channel is closed already',
  },
  // In cleanUp, the look at NEXT follows.
  {
    name: 'R18, endSending, reaping/cleanUp',
    fn: 'reaping/cleanUp',
    from: { kind: STORE, word: E_SENDERS },
    to: [SENDERS],
  },
  {
    name: 'R18, the last sender, reaping/cleanUp',
    fn: 'reaping/cleanUp',
    from: { kind: RMW, word: SENDERS },
    to: [NEXT],
    by: [RMW, LOAD],
  },
  {
    name: 'R16, close, reaping/cleanUp',
    fn: 'reaping/cleanUp',
    from: { kind: RMW, word: NEXT },
    to: [END, NEXT],
    by: [STORE, LOAD],
  },
];
