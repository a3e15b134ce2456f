/**
 * Models of the channel (core/kinds/channel/channel.ts). In the text of a program, bars stand between the programs of
 * two threads, and each letter stands for an op:
 *
 *     S  sends            s  sends, with a time-out that may pass in each sleep
 *     R  receives         r  receives, with such a time-out
 *     N  sends by sendWord n  receives by takeWord; if the call refuses, then as S and R do
 *     P  sends            Q  receives; before it waits, it polls without a ticket
 *     W  sends            w  receives, if a permit is there. As a promise does, it takes its permit, and only when it
 *                            claims its place, it does what a cut call has left
 *     M  sends two messages in one turn
 *     B  receives one or two messages, if any is there
 *     C  closes
 *     L  leaves as one of the senders of a channel that closes itself; so does a thread that dies before
 *     U  asks what deaths at the other end have lost
 *     A  agrees with the others on a codec
 *     D  disposes
 *     X  reaps each thread that dies
 *     T  goes round the event loop, and puts in order what a cut call has left
 *     E  ends
 *
 * Behind S, R, N, n, M, B, C and T, a ! says that an exception may cut one call short, wherever a runtime may do so. The
 * thread goes on with the next op.
 *
 * The channel has place for `capacity` messages. The ops do what src/channel/ does around the modules.
 *
 * - A thread touches a place only while its attachment says that it has claimed the place, and no other thread has.
 * - Each message is received once at most, and the messages of one sender are claimed in their order.
 * - At the end every message whose `send` has returned was received, is still in the channel, or counts as lost. A
 *   message that a receiver has copied and not handed to its program when it dies counts as lost.
 * - Nobody learns that the channel has ended before every message was claimed.
 */
import { Violation } from '../engine/search/violation.js';
import { CMPXCHG, LOAD, RMW, STORE } from '../engine/wasm/code.js';
import type { Section } from '../engine/wasm/uninterruptible.js';
import { ADMITTED, ANSWER_CLOSED, constant, E_HELD, GRANT, REFUSED, TICKET } from '../scene/layout.js';
import type { Model, Op } from '../scene/model.js';
import { call } from '../scene/ops/calls.js';
import { supervise } from '../scene/ops/deaths.js';
import type { Scene } from '../scene/scene.js';
import { LOCAL, PHASE } from '../scene/words.js';
import { asks } from './answers.js';
import {
  byLetters,
  checkOver,
  closeEnds,
  disposeEnds,
  inLine,
  isClosed,
  isDisposed,
  type More,
  modelOf,
  PLACE,
  recordAt,
} from './parts/endpoints.js';
import { inCalls, inSteps, OVER, type Step } from './parts/in-steps.js';
import {
  allSent,
  BEGUN,
  type Channel,
  FREE,
  inside,
  isOwnRecord,
  makeChannel,
  messageOf,
  notReceived,
  numberAt,
  perhapsSent,
  placeOf,
  readMessage,
  received,
  sendingIsCut,
  TOOK,
  TOOK_COUNT,
  UNREAD,
  WORD,
  writeMessage,
} from './parts/messages.js';

const CUT_SHORT = constant('CUT_SHORT');
const INTERRUPTED = constant('INTERRUPTED');
const MORE = constant('MORE');
const NEWS = constant('NEWS');
const NEXT = constant('P_NEXT');
const DONE = constant('P_DONE');
const END = constant('P_END');
const UNTOLD = constant('P_UNTOLD');
const TOLD_TO = constant('P_TOLD');
const HOLE_MORE = constant('HOLE_MORE');
const P_CODEC = constant('P_CODEC');
const MARK = constant('PLACE_MARK');
const LENGTH = constant('PLACE_LENGTH');
const SENDERS = constant('P_SENDERS');
const E_SENDERS = constant('E_SENDERS');

// Words of a thread that outlive an op.
/** The messages that the thread has read and not freed yet: numbers plus 1, 6 bits each. */
const READS = FREE;
/** The number of the message that the thread has received last of each sender, plus 1. */
const LAST = FREE + 1;
/** How many messages the thread was told are lost, and the codec on which it has agreed. */
const TOLD_OF = FREE + 5;
const CODEC = FREE + 6;

interface Ends extends Channel {
  /** The threads that count as senders. One counts as often as it leaves. */
  readonly senders: readonly number[];
}

const ends = new WeakMap<Scene, Ends>();
const endsOf = (scene: Scene): Ends => ends.get(scene) as Ends;

interface Begin {
  readonly filled: number;
  readonly holes: number;
  readonly past: number;
  readonly reused: boolean;
  readonly isBehind: boolean;
}

/**
 * Makes the channel. `past` messages have come and gone before the first thread sends `filled` messages, and then leaves
 * so many holes behind them.
 */
function make(
  scene: Scene,
  capacity: number,
  spin: number,
  senders: readonly number[],
  { filled, holes, past, reused, isBehind }: Begin,
): void {
  if (reused) useAndFree(scene, capacity);
  const channel = makeChannel(scene, capacity, spin, senders.length);
  const { f, ofF } = channel;
  for (const t of senders) scene.callNow(t, 'beginSending', ofF[t] as number);
  ends.set(scene, { ...channel, senders });
  for (let i = 0; i < past; i++) comesAndGoes(scene, channel);
  for (let i = 0; i < filled; i++) {
    writeMessage(scene, 0, scene.callNow(0, 'tryClaim', f, ofF[0] as number, 1));
    if (scene.callNow(0, 'pass', f, ofF[0] as number, 0) !== ADMITTED) throw new Error('a message does not pass');
    allSent(scene, 0);
  }
  for (let i = 0; i < holes; i++) {
    scene.callNow(0, 'tryClaim', f, ofF[0] as number, 1);
    if (scene.callNow(0, 'abandon', f, ofF[0] as number) !== ADMITTED) throw new Error('a hole does not pass');
  }
  if (isBehind) sendBehind(scene, filled > 0);
}

/** A message without content comes and goes. */
function comesAndGoes(scene: Scene, { f, m, ofF, ofM }: Channel): void {
  for (const [end, of] of [
    [f, ofF],
    [m, ofM],
  ] as const) {
    scene.callNow(0, 'tryClaim', end, of[0] as number, 1);
    if (scene.callNow(0, 'pass', end, of[0] as number, 0) !== ADMITTED) throw new Error('a message does not pass');
  }
}

/** Makes a channel, sends a message by it, and lets go of it. The next channel gets its memory. */
function useAndFree(scene: Scene, capacity: number): void {
  const channel = makeChannel(scene, capacity);
  comesAndGoes(scene, channel);
  for (const end of [channel.f, channel.m]) scene.callNow(0, 'dispose', end);
  for (const t of scene.threadNumbers)
    for (const attachment of [channel.ofF[t], channel.ofM[t]]) scene.callNow(t, 'letGo', attachment as number, 0);
}

/**
 * Thread 0 has claimed the first place. Thread 1 has claimed the second place, has passed it out of turn, and has died.
 * With `frees` they receive, and otherwise they send.
 */
function sendBehind(scene: Scene, frees: boolean): void {
  const { f, m, ofF, ofM } = endsOf(scene);
  const [o, of] = frees ? [m, ofM] : [f, ofF];
  scene.callNow(0, 'tryClaim', o, of[0] as number, 1);
  scene.set(0, PHASE, TRIED);
  const place = scene.callNow(1, 'tryClaim', o, of[1] as number, 1);
  if (frees) read(scene, 1, place);
  else writeMessage(scene, 1, place);
  if (scene.callNow(1, 'pass', o, of[1] as number, 0) !== ADMITTED) throw new Error('a place is passed on in turn');
  if (frees) freed(scene, 1);
  else allSent(scene, 1);
  scene.kill(1);
}

// --- What a thread may touch -----------------------------------------------------------------------------------

/** Returns the messages that a thread has claimed at an end and not passed on. In the models indices stay small. */
function claimed(scene: Scene, o: number, attachment: number): number[] {
  const record = recordAt(scene, attachment);
  const first = scene.word(record + TOOK);
  const channel = endsOf(scene);
  const isSending = o === channel.f;
  return Array.from({ length: scene.word(record + TOOK_COUNT) }, (_, k) => first + k).filter(
    (i) =>
      i >= scene.word(o + DONE) && scene.word(placeOf(scene, channel, i) + MARK) !== (isSending ? i + 1 : ~(i + 1)),
  );
}

/** The threads that have claimed the place at this address. */
function ownersOf(scene: Scene, address: number): number[] {
  const channel = endsOf(scene);
  const { f, m, ofF, ofM } = channel;
  const isAt = (i: number): boolean => {
    const place = placeOf(scene, channel, i);
    return address >= place && address < place + PLACE;
  };
  return scene.threadNumbers.flatMap((u) =>
    [...claimed(scene, f, ofF[u] as number), ...claimed(scene, m, ofM[u] as number)].filter(isAt).map(() => u),
  );
}

/** Throws unless the thread, and no other, has claimed the place at this address. */
function checkOwner(scene: Scene, t: number, address: number): void {
  const owners = ownersOf(scene, address);
  if (owners.length !== 1 || owners[0] !== t)
    throw new Violation(`thread ${t} touches a place that the threads ${owners} have claimed`);
}

/** Reads the message in a place that the thread has claimed. Returns false for a hole. */
function read(scene: Scene, t: number, place: number): boolean {
  checkOwner(scene, t, place);
  const number = readMessage(scene, place);
  if (number === undefined) return false;
  inOrder(scene, t, number);
  scene.set(t, READS, (scene.get(t, READS) << 6) | (number + 1));
  return true;
}

/** The thread has received a message. */
function inOrder(scene: Scene, t: number, number: number): void {
  const [sender, k] = [number >> 3, number & 7];
  if (scene.get(t, LAST + sender) > k) throw new Violation(`message ${number} comes after a later one of its sender`);
  scene.set(t, LAST + sender, k + 1);
}

/** The program of the thread gets all messages that it has read. */
function freed(scene: Scene, t: number): void {
  for (let reads = scene.get(t, READS); reads !== 0; reads >>>= 6) received(scene, t, (reads & 63) - 1);
  scene.set(t, READS, 0);
}

/** Does the same, and takes the messages off those that are unread. */
function handed(scene: Scene, t: number): void {
  for (let reads = scene.get(t, READS); reads !== 0; reads >>>= 6) setUnread(scene, t, unreadOf(scene, t) - 1);
  freed(scene, t);
}

const unreadAt = (scene: Scene, t: number): number => recordAt(scene, endsOf(scene).ofM[t] as number) + UNREAD;
const unreadOf = (scene: Scene, t: number): number => scene.word(unreadAt(scene, t));
const setUnread = (scene: Scene, t: number, n: number): void => scene.machine.hostStore32(unreadAt(scene, t), n);

function checkChannel(scene: Scene, closes: boolean): void {
  const channel = endsOf(scene);
  const { f, m, senders } = channel;
  const told = scene.word(f + TOLD_TO);
  const [left, found, lost] = [notReceived(scene), inside(scene, channel), scene.word(f + UNTOLD) + told];
  const toldOf = scene.threadNumbers.reduce((sum, t) => sum + scene.get(t, TOLD_OF), 0);
  // Nobody is told of what a call that was cut short has lost.
  if ((scene.model.cuts ?? 0) === 0 ? toldOf !== told : toldOf > told)
    throw new Violation(`${told} messages count as told to be lost, and the threads were told of ${toldOf}`);
  for (const t of scene.threadNumbers)
    if (scene.get(t, CODEC) !== 0 && scene.get(t, CODEC) !== scene.word(f + P_CODEC))
      throw new Violation(`thread ${t} has agreed on ${scene.get(t, CODEC)}`);
  const missing = left - found - lost;
  // A message may count as lost, though its `send` has not returned.
  if (missing < -perhapsSent(scene) || missing > 0)
    throw new Violation(`${left} messages were sent and not received; ${found} are inside, and ${lost} count as lost`);
  for (const t of scene.threadNumbers)
    if (scene.finished(t) && !scene.dead(t) && unreadOf(scene, t) !== 0)
      throw new Violation(`thread ${t} is ready, and ${unreadOf(scene, t)} messages are unread`);
  const { isGone } = checkOver(scene, channel);
  const isOver = isClosed(scene, channel);
  if (closes && !isOver) throw new Violation('a thread has closed the channel, and it is open');
  for (const t of senders)
    if (scene.finished(t) && scene.word(recordAt(scene, channel.ofF[t] as number) + E_SENDERS) !== 0)
      throw new Violation(`thread ${t} has left, and counts as a sender`);
  const haveLeft = senders.length > 0 && senders.every((t) => scene.dead(t) || scene.finished(t));
  if (haveLeft && !isOver) throw new Violation('all senders have left, and the channel is not closed');
  if (scene.model.mayWait || isGone) return;
  const last = isOver ? scene.word(m + END) >>> 1 : scene.word(f + NEXT);
  if (scene.word(f + DONE) !== last) throw new Violation('a place is not passed on');
  if (scene.word(m + DONE) !== scene.word(m + NEXT)) throw new Violation('a place is not freed');
}

// --- Ops -------------------------------------------------------------------------------------------------------

// The steps of an op that waits for n places.
const BEGIN = 0;
const TRIED = 1;
/** And the steps of a queue behind it (parts/endpoints.ts). */
const IN_LINE = 2;
const CLAIMED = 6;
const PASSED = 7;
const FINISHED = 8;
const TOLD = 9;
/** After a hole a receiver waits again: PASSED, FINISHED and TOLD are so much higher then. */
const AGAIN = 3;
const POLLED = 13;
const WENT = 14;
const LOOKED = 15;
const DECODED = 16;
const ENDS = 17;
const MENDS = 18;
const ASKED = 25;
const GAVE_UP = 26;
const GAVE_UP_ALL = 27;

/** Whether a thread may die, or a call may be cut short. */
const mayStop = ({ model }: Scene): boolean => (model.deaths ?? 0) > 0 || (model.cuts ?? 0) > 0;

/** Whether a call of the thread with this attachment was cut short between a permit and the end of a pass. */
function isCut(scene: Scene, attachment: number): boolean {
  const record = recordAt(scene, attachment);
  return (scene.word(record + TOOK_COUNT) | scene.word(record + E_HELD)) !== 0;
}

/** Whether the channel is closed, and every message is claimed. */
function hasEnded(scene: Scene): boolean {
  const { m } = endsOf(scene);
  return scene.word(m + END) === ((scene.word(m + NEXT) << 1) | 1);
}

/** Whether nothing more can be had at the sending or the receiving end. Its queue may be open still. */
const isOverAt = (scene: Scene, sends: boolean): boolean => (sends ? isClosed(scene, endsOf(scene)) : hasEnded(scene));

/** The steps, with numbers from `first` on, of a thread that does what a cut call of it has left undone at an end. */
function mendingSteps(
  first: number,
  at: (scene: Scene) => number,
  of: (scene: Scene, t: number) => number,
  sends: boolean,
  then: Step,
): Step[] {
  const finish = (scene: Scene, t: number, end: number, attachment: number, n: number, answer: number): void =>
    scene.call(t, 'finishRelease', end, n, answer, attachment);
  const isMore = (answer: number): boolean => answer === MORE || answer === INTERRUPTED;
  const [RECOVERED, ENDED, FINISHED_ITS, CLOSED_ENDS, GAVE_BACK, FINISHED_ALL] = [1, 2, 3, 4, 5, 6].map(
    (k) => first + k,
  ) as [number, number, number, number, number, number];
  const closes: Step = (scene, t, answer) => {
    if (!isOverAt(scene, sends)) return givesBack(scene, t, answer);
    scene.call(t, 'finishClose', endsOf(scene).f, endsOf(scene).m);
    return CLOSED_ENDS;
  };
  const givesBack: Step = (scene, t, answer) => {
    const held = scene.word(recordAt(scene, of(scene, t)) + E_HELD);
    if (held === 0) return then(scene, t, answer);
    scene.call(t, 'releaseRobust', at(scene), held, of(scene, t));
    scene.set(t, LOCAL, held);
    return GAVE_BACK;
  };
  const steps: Step[] = [];
  steps[0] = (scene, t) => {
    scene.call(t, 'finishPendingCall');
    return RECOVERED;
  };
  steps[RECOVERED - first] = (scene, t, answer) => {
    if (scene.word(recordAt(scene, of(scene, t)) + TOOK_COUNT) === 0) return closes(scene, t, answer);
    scene.call(t, 'abandon', at(scene), of(scene, t));
    return ENDED;
  };
  steps[ENDED - first] = (scene, t, answer) => {
    if (!isMore(answer)) return closes(scene, t, answer);
    const { f, m, ofF, ofM } = endsOf(scene);
    finish(scene, t, sends ? m : f, (sends ? ofM : ofF)[t] as number, scene.global(t, 'channel/given'), answer);
    return FINISHED_ITS;
  };
  steps[FINISHED_ITS - first] = closes;
  steps[CLOSED_ENDS - first] = givesBack;
  steps[GAVE_BACK - first] = (scene, t, answer) => {
    if (!isMore(answer)) return then(scene, t, answer);
    finish(scene, t, at(scene), of(scene, t), scene.get(t, LOCAL), answer);
    return FINISHED_ALL;
  };
  steps[FINISHED_ALL - first] = then;
  return steps;
}

/** What follows at the event loop: does what cut calls have left undone at both ends, and counts what they have left unread. */
function turn(): Op {
  const HALF = 8;
  const of = (sends: boolean) => (scene: Scene, t: number) =>
    (sends ? endsOf(scene).ofF : endsOf(scene).ofM)[t] as number;
  const steps: Step[] = [];
  const settled: Step = (scene, t) => {
    const lost = unreadOf(scene, t);
    setUnread(scene, t, 0);
    const told = endsOf(scene).f + TOLD_TO;
    scene.machine.hostStore32(told, scene.word(told) + lost);
    return OVER;
  };
  const begin: Step = (scene, t, answer) => (sending[0] as Step)(scene, t, answer);
  const receiving = mendingSteps(HALF, (scene) => endsOf(scene).m, of(false), false, settled);
  const sending = mendingSteps(
    0,
    (scene) => endsOf(scene).f,
    of(true),
    true,
    (scene, t, answer) => (receiving[0] as Step)(scene, t, answer),
  );
  sending.forEach((step, i) => {
    steps[i] = step;
  });
  receiving.forEach((step, i) => {
    steps[HALF + i] = step;
  });
  steps[0] = begin;
  return inSteps('turn', ...steps);
}

/** An op of which one call may be cut short. What it has read, its program does not get. */
const mayBeCut = (op: Op): Op => ({
  ...op,
  text: `${op.text}, may be cut`,
  cut(scene, t) {
    scene.set(t, READS, 0);
    sendingIsCut(scene, t);
  },
});

interface How {
  /** How many messages; by default 1. */
  readonly n?: number;
  readonly timed?: boolean;
  /** Whether the thread polls before it takes a ticket. */
  readonly polls?: boolean;
  /** Whether the thread first tries to send, or to receive, two words in one call. */
  readonly word?: boolean;
  /** Whether the thread takes a permit that is there, and then claims, as its promises do. */
  readonly claims?: boolean;
}

/** Sends, or receives. */
function transfer(sends: boolean, { n = 1, timed = false, polls = false, word = false, claims = false }: How = {}): Op {
  const at = (scene: Scene): number => (sends ? endsOf(scene).f : endsOf(scene).m);
  const of = (scene: Scene, t: number): number => (sends ? endsOf(scene).ofF : endsOf(scene).ofM)[t] as number;
  const closed = (scene: Scene, t: number): number => {
    const channel = endsOf(scene);
    if (isDisposed(scene, channel.f)) return OVER;
    if (scene.word(channel.m + END) === 0 && !isClosed(scene, channel))
      throw new Violation(`thread ${t} learns that the channel is closed`);
    if (sends && scene.word(recordAt(scene, channel.ofF[t] as number) + E_SENDERS) > 0)
      throw new Violation(`the channel is closed, and thread ${t} still counts as a sender`);
    if (!sends && !hasEnded(scene))
      throw new Violation(`thread ${t} learns that the channel has ended, and a message is left`);
    return OVER;
  };
  const queue = inLine(IN_LINE, {
    at: (scene, t) => [at(scene), of(scene, t)],
    width: n,
    timed,
    admitted(scene, t) {
      scene.call(t, 'claim', at(scene), of(scene, t), n);
      return CLAIMED;
    },
    closed,
  });
  const use: Step = (scene, t, first) => {
    if (first === ANSWER_CLOSED) return closed(scene, t);
    // A thread of a model can stop only in a call. So that a thread may stop after it has claimed a place and before it
    // has written or read it, it makes a call on which nothing depends.
    if (!mayStop(scene)) return uses(scene, t, first);
    scene.call(t, 'isDisposed', at(scene));
    return LOOKED;
  };
  const uses: Step = (scene, t, first) => {
    const record = recordAt(scene, of(scene, t));
    const [from, count] = [scene.word(record + TOOK), scene.word(record + TOOK_COUNT)];
    if (scene.word(record + E_HELD) !== 0) throw new Violation(`thread ${t} holds a permit that it has used`);
    if (first !== placeOf(scene, endsOf(scene), from)) throw new Violation(`thread ${t} is told another place`);
    let holes = 0;
    for (let i = from; i < from + count; i++) {
      const place = placeOf(scene, endsOf(scene), i);
      if (sends) {
        checkOwner(scene, t, place);
        writeMessage(scene, t, place);
      } else if (!read(scene, t, place)) holes++;
    }
    scene.call(t, 'pass', at(scene), of(scene, t), sends ? 0 : count - holes);
    return !sends && holes === count ? PASSED + AGAIN : PASSED;
  };
  /** The thread is about to claim, or has been refused. If its last call was cut short, it first does what is left. */
  const orMends =
    (step: Step): Step =>
    (scene, t, answer) =>
      isCut(scene, of(scene, t)) ? mends(scene, t, answer) : step(scene, t, answer);
  const mends: Step = (scene, t, answer) => (mending[0] as Step)(scene, t, answer);
  const tries: Step = (scene, t) => {
    scene.call(t, 'tryClaim', at(scene), of(scene, t), 1);
    return TRIED;
  };
  const waits: Step = (scene, t, answer) => {
    // This thread may have closed the channel, or claimed the last message, in a call that was cut short before it closed
    // the queue.
    if (isOverAt(scene, sends)) {
      scene.call(t, 'finishClose', endsOf(scene).f, endsOf(scene).m);
      return ENDS;
    }
    if (!polls) return queue.begin(scene, t, answer);
    scene.call(t, 'pollFor', at(scene));
    return POLLED;
  };
  const wordOf = (scene: Scene, t: number): number => recordAt(scene, of(scene, t)) + WORD;
  const goesByWord: Step = (scene, t) => {
    if (sends)
      for (const [i, half] of messageOf(t, scene.get(t, BEGUN)).entries())
        scene.machine.hostStore32(wordOf(scene, t) + 4 * i, half);
    scene.call(t, sends ? 'sendWord' : 'takeWord', at(scene), of(scene, t));
    return WENT;
  };
  const steps: Step[] = [];
  const asks: Step = (scene, t) => {
    scene.call(t, 'tryAcquireRobust', at(scene), n, of(scene, t));
    return ASKED;
  };
  const begin: Step = claims ? asks : word ? goesByWord : n > 1 ? queue.begin : tries;
  steps[BEGIN] = n > 1 ? orMends(begin) : begin;
  steps[TRIED] = (scene, t, answer) => {
    if (answer === CUT_SHORT) return mends(scene, t, answer);
    if (answer === ANSWER_CLOSED) return orMends(use)(scene, t, answer);
    return answer === REFUSED ? waits(scene, t, answer) : use(scene, t, answer);
  };
  const mending = mendingSteps(MENDS, at, of, sends, (scene, t, answer) => (n > 1 ? begin : tries)(scene, t, answer));
  mending.forEach((step, i) => {
    steps[MENDS + i] = step;
  });
  steps[ENDS] = queue.begin;
  steps[LOOKED] = (scene, t) => {
    const from = scene.word(recordAt(scene, of(scene, t)) + TOOK);
    return uses(scene, t, placeOf(scene, endsOf(scene), from));
  };
  steps[POLLED] = (scene, t, answer) => (answer === 0 ? queue.begin : tries)(scene, t, answer);
  steps[WENT] = (scene, t, answer) => {
    if (answer === REFUSED || answer === ANSWER_CLOSED || answer === CUT_SHORT) return tries(scene, t, answer);
    const isHole = answer >= HOLE_MORE;
    if (sends) scene.set(t, BEGUN, scene.get(t, BEGUN) + 1);
    else if (!isHole) {
      const number = numberAt(scene, wordOf(scene, t));
      inOrder(scene, t, number);
      if (answer === ADMITTED) received(scene, t, number);
      else scene.set(t, READS, number + 1);
    }
    const then = isHole ? PASSED + AGAIN : PASSED;
    return (steps[then] as Step)(scene, t, isHole ? answer - HOLE_MORE : answer);
  };
  queue.steps.forEach((step, i) => {
    steps[IN_LINE + i] = step;
  });
  steps[ASKED] = (scene, t, answer) => {
    if (answer !== ADMITTED) return OVER;
    scene.call(t, 'claim', at(scene), of(scene, t), n);
    return CLAIMED;
  };
  steps[CLAIMED] = (scene, t, answer) => {
    if (answer !== CUT_SHORT) return use(scene, t, answer);
    scene.call(t, 'abandon', at(scene), of(scene, t));
    return GAVE_UP;
  };
  steps[GAVE_UP] = (scene, t, answer) => {
    if (answer !== MORE && answer !== INTERRUPTED) return claimsAgain(scene, t, answer);
    finishRelease(scene, t, answer);
    return GAVE_UP_ALL;
  };
  const claimsAgain: Step = (scene, t) => {
    scene.call(t, 'claim', at(scene), of(scene, t), n);
    return CLAIMED;
  };
  steps[GAVE_UP_ALL] = claimsAgain;
  /** Finishes the release at the other end. */
  const finishRelease = (scene: Scene, t: number, answer: number): void => {
    const { f, m, ofF, ofM } = endsOf(scene);
    const [peer, attachment] = sends ? [m, ofM[t] as number] : [f, ofF[t] as number];
    scene.call(t, 'finishRelease', peer, scene.global(t, 'channel/given'), answer, attachment);
  };
  const hands: Step = (scene, t) => {
    scene.set(t, PHASE, 0);
    if (sends) allSent(scene, t);
    else handed(scene, t);
    return OVER;
  };
  steps[DECODED] = hands;
  for (const more of [0, AGAIN]) {
    const over: Step = (scene, t, answer) => {
      if (more > 0) return tries(scene, t, answer);
      if (sends || scene.get(t, READS) === 0 || !mayStop(scene)) return hands(scene, t, answer);
      // The thread may stop while it decodes.
      scene.call(t, 'isDisposed', at(scene));
      return DECODED;
    };
    const tell: Step = (scene, t, answer) => {
      if (sends || !hasEnded(scene)) return over(scene, t, answer);
      scene.call(t, 'finishClose', endsOf(scene).f, endsOf(scene).m);
      return TOLD + more;
    };
    steps[PASSED + more] = (scene, t, answer) => {
      if (answer === ADMITTED) return over(scene, t, answer);
      if (answer === NEWS) return tell(scene, t, answer);
      if (answer !== MORE && answer !== INTERRUPTED) throw new Violation(`a pass is answered ${answer}`);
      finishRelease(scene, t, answer);
      return FINISHED + more;
    };
    steps[FINISHED + more] = tell;
    steps[TOLD + more] = over;
  }
  const how = [
    ...(timed ? ['timed'] : []),
    ...(polls ? ['polling'] : []),
    ...(word ? ['by word'] : []),
    ...(claims ? ['with a permit'] : []),
  ];
  return inSteps([`${sends ? 'send' : 'receive'}${n > 1 ? ` ${n}` : ''}`, ...how].join(', '), ...steps);
}

/** Receives up to two messages, if any is there. */
function drain(): Op {
  const one = transfer(false);
  return {
    text: 'receive up to 2',
    next(scene, t) {
      const { m, ofM } = endsOf(scene);
      if (scene.get(t, PHASE) === BEGIN) {
        scene.call(t, 'tryClaim', m, ofM[t] as number, 2);
        scene.set(t, PHASE, TRIED);
        return false;
      }
      if (scene.get(t, PHASE) === TRIED && scene.result(t) === REFUSED) return true;
      return one.next(scene, t);
    },
  };
}

const leave = (): Op =>
  inCalls(
    'leave',
    (scene, t) => ['leaveSenders', endsOf(scene).f, endsOf(scene).ofF[t] as number],
    (scene) => (isClosed(scene, endsOf(scene)) ? ['finishClose', endsOf(scene).f, endsOf(scene).m] : undefined),
  );

const ops = byLetters(
  {
    S: () => transfer(true),
    s: () => transfer(true, { timed: true }),
    N: () => transfer(true, { word: true }),
    P: () => transfer(true, { polls: true }),
    M: () => transfer(true, { n: 2 }),
    R: () => transfer(false),
    r: () => transfer(false, { timed: true }),
    n: () => transfer(false, { word: true }),
    Q: () => transfer(false, { polls: true }),
    W: () => transfer(true, { claims: true }),
    w: () => transfer(false, { claims: true }),
    B: drain,
    C: () => closeEnds(endsOf, 'close', 2),
    L: leave,
    U: () =>
      call(
        'takeUntold',
        (scene) => [endsOf(scene).f],
        (lost, scene, t) => scene.set(t, TOLD_OF, scene.get(t, TOLD_OF) + lost),
      ),
    A: () =>
      call(
        'agree',
        (scene, t) => [endsOf(scene).f, t + 1],
        (codec, scene, t) => scene.set(t, CODEC, codec),
      ),
    D: () => disposeEnds(endsOf),
    X: supervise,
    T: turn,
    E: () => call('unregister', () => []),
  },
  mayBeCut,
);

interface Filled extends More {
  /** How many messages are in the channel at the start. */
  readonly filled?: number;
  /** How many holes follow them. */
  readonly holes?: number;
  /** How many have come and gone before, so that the indices do not begin at 0. */
  readonly past?: number;
  /** Whether another channel was in the same memory before. */
  readonly reused?: boolean;
  /** Whether the program begins as sendBehind says. */
  readonly isBehind?: boolean;
}

function model(
  program: string,
  { filled = 0, holes = 0, past = 0, reused = false, isBehind = false, ...more }: Filled = {},
): Model {
  const { capacity = 1, spin = 0 } = more;
  const told = [
    ...(reused ? ['in used memory'] : []),
    ...(past > 0 ? [`${past} before`] : []),
    ...(filled > 0 ? [`${filled} inside`] : []),
    ...(holes > 0 ? [`${holes} ${holes > 1 ? 'holes' : 'hole'}`] : []),
    ...(isBehind ? ['1 is dead behind 0'] : []),
  ];
  return modelOf(
    'channel',
    program,
    { ...more, capacity, told, cuts: program.split('!').length - 1 },
    {
      ops,
      objects: 2,
      ends: 2,
      make(scene, parts) {
        const senders = parts.flatMap((part, t) => [...part].filter((letter) => letter === 'L').map(() => t));
        make(scene, capacity, spin, senders, { filled, holes, past, reused, isBehind });
      },
      plain(scene, t, address) {
        if (isOwnRecord(scene, t, endsOf(scene), address)) return true;
        const owners = ownersOf(scene, address);
        return owners.length === 1 && owners[0] === t;
      },
      end: (scene) => checkChannel(scene, more.deaths === undefined && /C(?!!)/.test(program)),
    },
  );
}

/** Whether the thread is said to hold something of an end, before and after it passes on what it has claimed there. */
const holdsAt = (isSending: boolean): readonly Op[] => {
  const end = (scene: Scene): number => (isSending ? endsOf(scene).f : endsOf(scene).m);
  const of = (scene: Scene, t: number): number => (isSending ? endsOf(scene).ofF : endsOf(scene).ofM)[t] as number;
  const isSaid = (expected: number): Op => asks('held', (scene) => [of(scene, 0)], expected);
  return [
    isSaid(0),
    call('tryClaim', (scene, t) => [end(scene), of(scene, t), 1]),
    isSaid(1),
    asks('pass', (scene, t) => [end(scene), of(scene, t), 0], ADMITTED),
    isSaid(0),
  ];
};

export const models: readonly Model[] = [
  model('S | R'),
  model('S | R', { reused: true }),
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
  // Places that are passed on out of turn.
  model('S | S', { capacity: 2 }),
  model('S | S', { capacity: 2, past: 1 }),
  model('S S | S', { capacity: 4 }),
  model('R | R', { capacity: 2, filled: 2 }),
  model('S | S | R', { capacity: 2 }),
  model('R | R | S', { capacity: 2, filled: 2 }),
  model('S M', { capacity: 4 }),
  // Two words in one call.
  model('N | n'),
  model('N N | n n'),
  model('N | R'),
  model('N | S', { capacity: 2 }),
  model('n | R', { capacity: 2, filled: 2 }),
  model('N C | n n'),
  model('N | n R | X S', { deaths: 1, mortal: [0], mayWait: true }),
  // Polls before a ticket.
  model('P | Q', { spin: 1 }),
  model('P P | Q Q', { spin: 1 }),
  model('P C | Q Q', { spin: 1 }),
  // A codec.
  model('A | A'),
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
  model('S | R | X C', { deaths: 1, mortal: [0], past: 1 }),
  model('S | R | X C', { deaths: 1, mortal: [1], past: 1 }),
  model('S | S X C | R R', { deaths: 1, mortal: [0], capacity: 2, long: true }),
  model('S S | R | X C', { deaths: 1, mortal: [0] }),
  model('S S | R | X C', { deaths: 1, mortal: [1] }),
  model('S S | B | X C R R', { deaths: 1, mortal: [1], capacity: 2 }),
  // A receiver that dies while it decodes.
  model('R | X C', { deaths: 1, mortal: [0], filled: 1 }),
  model('B | X C', { deaths: 1, mortal: [0], filled: 2, capacity: 2 }),
  model('n | X C', { deaths: 1, mortal: [0], filled: 1 }),
  model('S C | n n | X', { deaths: 1, mortal: [1], mayWait: true }),
  model('S S C | n n | X', { deaths: 1, mortal: [1], mayWait: true, capacity: 2 }),
  model('R | R | X C', { deaths: 1, mortal: [0], filled: 2, capacity: 2 }),
  model('R | R | X C', { deaths: 2, mortal: [0, 1], filled: 2, capacity: 2 }),
  // An exception cuts a call short, and the thread makes another call.
  model('S! S C T | R R'),
  model('S! S C T | R R', { capacity: 2 }),
  model('N! N C T | n n'),
  model('M! M C T | R R R', { capacity: 2, long: true }),
  model('S S C | R! R R T', { long: true }),
  model('S S C | R! R R T', { capacity: 2 }),
  model('S S C | n! n n T', { long: true }),
  model('S S C | B! R R T', { capacity: 2 }),
  // It makes none, and returns to its event loop.
  model('S! T | S | R', { long: true }),
  model('S! T C | R'),
  model('R! T | B S', { filled: 1 }),
  model('N! T C | n'),
  model('n! T | B S', { filled: 1 }),
  model('B! T | B S', { filled: 2, capacity: 2 }),
  // A thread has a permit, as its promises have, and claims a place when a cut call has claimed one.
  model('R! w T', { filled: 2, capacity: 2 }),
  model('S! W T C', { capacity: 2 }),
  // A cut call had a permit.
  model('R! R T | S S'),
  // A receiver meets a hole, and its call is cut short, or passes the hole on out of turn.
  model('R! T', { holes: 1, mayWait: true }),
  model('R | B', { filled: 2, holes: 1, capacity: 4, mayWait: true }),
  // Another thread passes on what a cut call has left, and uses it.
  model('S! T | S n n', { capacity: 2, mayWait: true }),
  // The cut comes beside the close, or the end, or a place that is passed on out of turn.
  model('R! T | C', { filled: 1 }),
  model('R! R T | C', { filled: 1 }),
  model('R! T | R | C', { filled: 1, long: true }),
  model('S! T | C | R'),
  model('S! T | S', { capacity: 2 }),
  model('S! S T | S T', { capacity: 4 }),
  model('R! T | R T', { filled: 2, capacity: 2 }),
  model('R! R T | R T', { filled: 3, capacity: 4 }),
  // The close is cut short.
  model('C! T | S R', { filled: 1, mayWait: true }),
  model('S C! S T | R R', { mayWait: true }),
  model('R! C T | S', { filled: 1 }),
  // What follows at the event loop is cut short, too.
  model('S! T! T C | R'),
  model('R! T! T | B S', { filled: 1 }),
  model('S! S! C T | R', { long: true }),
  // The thread ends, or dies, after the cut.
  model('S! E | R S', { filled: 1, capacity: 2 }),
  model('R! E | B S', { filled: 1 }),
  model('n! E | B S', { filled: 1 }),
  model('B! E | B S', { filled: 2, capacity: 2 }),
  model('S! S | R | X C', { deaths: 1, mortal: [0], long: true }),
  model('R! R T | S S | X C', { deaths: 1, mortal: [0], filled: 1, mayWait: true, long: true }),
  model('R! T | B S | X C', { deaths: 1, mortal: [0], filled: 1 }),
  // Two deaths.
  model('S | R | X', { deaths: 2, mortal: [0, 1], mayWait: true }),
  model('S | S | X C R R', { deaths: 2, mortal: [0, 1], capacity: 2 }),
  model('S L | L | X R', { deaths: 2, mortal: [0, 1] }),
  // Others use the place of the dead thread as soon as it is passed on.
  model('S | S | R R | X', { deaths: 1, mortal: [1], capacity: 2, mayWait: true, long: true }),
  // Others pass the place of the dead thread on, and use it, while the reaper looks at it.
  model('S | S | R | R | X', { deaths: 1, mortal: [1], capacity: 2, isBehind: true, preemptions: 3, long: true }),
  model('R | R | S | S | X', {
    deaths: 1,
    mortal: [1],
    capacity: 2,
    filled: 2,
    isBehind: true,
    preemptions: 3,
    long: true,
  }),
  model('S C | R R | X', { deaths: 1, mortal: [0], mayWait: true }),
  model('R | X U | U', { deaths: 1, mortal: [0], filled: 1, mayWait: true }),
  model('R | X U U', { deaths: 1, mortal: [0], filled: 1, mayWait: true }),
  // The last message is taken beside the close.
  model('R | R | C', { filled: 1 }),
  // Channels that close themselves.
  model('S L | R R'),
  model('S L | S L | R R R', { capacity: 2 }),
  model('S L | R R | X', { deaths: 1, mortal: [0] }),
  model('S L | L R R | X', { deaths: 1, mortal: [0] }),
  model('S L | r R | X', { deaths: 1, mortal: [0] }),
  model('L C | R'),
  model('L | X', { deaths: 1, mortal: [0] }),
  model('L L | X', { deaths: 1, mortal: [0] }),
  // The reaper dies, too, and another thread goes on.
  model('L | X | X S L', { deaths: 2, mortal: [0, 1] }),
  // Disposal.
  model('D | S R'),
  model('D | R | S S', { long: true }),
  model('D | R | X D', { deaths: 1, mortal: [0] }),
  model('D | S S | X D', { deaths: 1, mortal: [0] }),
  model('D | R | X', { deaths: 1, mortal: [0], mayWait: true }),
  {
    name: 'channel: what a thread is said to hold',
    programs: [[...holdsAt(true), ...holdsAt(false)]],
    arena: { buckets: 1, elements: 2, objects: 2 },
    leaves: true,
    objects: (scene) => make(scene, 1, 0, [], { filled: 0, holes: 0, past: 0, reused: false, isBehind: false }),
    plain: (scene, t, address) => isOwnRecord(scene, t, endsOf(scene), address),
  },
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
  { name: 'R17, pass', fn: 'channel/pass', from: { kind: STORE, word: MARK, bytes: 8 }, to: [UNREAD] },
  { name: 'R17, abandon', fn: 'channel/abandon', from: { kind: STORE, word: LENGTH }, to: [UNTOLD, TOLD_TO] },
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
  {
    name: 'R20, passForDead, reaping/cleanUp',
    fn: 'reaping/cleanUp',
    from: { kind: STORE, word: TOOK_COUNT, bytes: 8 },
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
