/**
 * Models of select (src/channel/select.ts) over two channels, a and b, and a semaphore. In the text of a program, bars
 * stand between the programs of two threads, and each word stands for an op:
 *
 *     Sa      sends by channel a                       Rb   receives by channel b
 *     P       acquires a permit of the semaphore       V    gives it one
 *     Ca      closes channel a                         La   leaves as one of its senders; so does a thread that dies before
 *     Ra/Sb   selects: receives by a, or sends by b    X    reaps each thread that dies
 *     Ra/Sb!  the same, with a time-out that may pass in each sleep
 *
 * A select tries each case, and then takes a ticket in the queue of each, as promises do, with a run of its own. It
 * sleeps on its doorbell. The case that is granted first happens. The others leave their queues, and a permit that came
 * too late goes back. `Ra/Sa` has both cases at one channel: its own send may grant its own receive.
 *
 * - Each message is received once at most, and a thread touches only places that it has claimed.
 * - Exactly one case of a select happens, or none after a time-out. A case of a channel that has ended happens, too.
 * - Nobody learns that a channel has ended before every message was claimed, and nobody sleeps for one that has.
 * - At the end every message whose sending is over was received or is in its channel, or counts as lost, and each
 *   permit was acquired or is free.
 */
import { Violation } from '../engine/search/violation.js';
import { ADMITTED, ANSWER_CLOSED, CANCELLED, constant, GRANT, REFUSED, TICKET } from '../scene/layout.js';
import type { Model, Op } from '../scene/model.js';
import { newObject } from '../scene/new-object.js';
import { supervise } from '../scene/ops/deaths.js';
import { RAN_OUT } from '../scene/ops/event-loop.js';
import { finishRelease } from '../scene/ops/release.js';
import type { Scene } from '../scene/scene.js';
import { LOCAL, OP } from '../scene/words.js';
import { closeEnds, isClosed, type More, modelOf, recordAt, sleepers } from './parts/endpoints.js';
import { inCalls, inSteps, OVER, type Step, seen } from './parts/in-steps.js';
import {
  allSent,
  type Channel,
  FREE,
  inside,
  isOwnRecord,
  makeChannel,
  notReceived,
  placeOf,
  readMessage,
  received,
  TOOK,
  TOOK_COUNT,
  writeMessage,
} from './parts/messages.js';

const INTERRUPTED = constant('INTERRUPTED');
const MORE = constant('MORE');
const NEXT = constant('P_NEXT');
const DONE = constant('P_DONE');
const END = constant('P_END');
const UNTOLD = constant('P_UNTOLD');

/** The permits of the semaphore that the thread has acquired, less those that it has given. The word outlives an op. */
const PERMITS = FREE;

// Words of an op.
const RUN = LOCAL; // two words: the run of each case, or 0
const CHOSEN = LOCAL + 2; // the number of the case that happens, plus 1; or 0
const RANG = LOCAL + 3; // the value of the doorbell before the thread looks
const LATE = LOCAL + 4; // the cases, as bits, whose permit is to be given back

interface Case {
  readonly what: 'send' | 'receive' | 'permit';
  readonly channel: 0 | 1;
}

interface Objects {
  readonly channels: readonly Channel[];
  readonly semaphore: number;
  /** The cases of each op of each thread. */
  readonly cases: readonly (readonly (readonly Case[])[])[];
}

const objects = new WeakMap<Scene, Objects>();
const objectsOf = (scene: Scene): Objects => objects.get(scene) as Objects;

function makeSemaphore(scene: Scene): number {
  const semaphore = scene.callNow(
    0,
    'attachedTo',
    scene.callNow(0, 'createObject', ...newObject({ kind: constant('KIND_SEMAPHORE'), max: 9 })),
  );
  for (let t = 1; t < scene.threads; t++) scene.callNow(t, 'attach', semaphore, 0, constant('KIND_SEMAPHORE'));
  scene.callNow(0, 'keep', semaphore);
  return semaphore;
}

/** The queue of a case, the attachment that counts its permits, and the other end of the channel. */
function queueOf(scene: Scene, t: number, { what, channel }: Case) {
  const { channels, semaphore } = objectsOf(scene);
  if (what === 'permit') return { at: semaphore, counted: 0, peer: 0, ofPeer: 0 };
  const { f, m, ofF, ofM } = channels[channel] as Channel;
  return what === 'send'
    ? { at: f, counted: ofF[t] as number, peer: m, ofPeer: ofM[t] as number }
    : { at: m, counted: ofM[t] as number, peer: f, ofPeer: ofF[t] as number };
}

/** Writes or reads the message in the place that the thread has claimed. Returns false for a hole. */
function use(scene: Scene, t: number, one: Case): boolean {
  const { at, counted } = queueOf(scene, t, one);
  const record = recordAt(scene, counted);
  const i = scene.word(record + TOOK);
  if (scene.word(record + TOOK_COUNT) !== 1 || i < scene.word(at + DONE))
    throw new Violation(`thread ${t} has claimed no place`);
  const place = placeOf(scene, objectsOf(scene).channels[one.channel] as Channel, i);
  if (one.what === 'send') {
    writeMessage(scene, t, place);
    return true;
  }
  const number = readMessage(scene, place);
  if (number !== undefined) received(scene, t, number);
  return number !== undefined;
}

const BEGIN = 0;
const TRIED = 2;
const JOIN = 4;
const LOOK = 6;
const LOOKED = 7;
const SETTLED = 8;
const ENTERED = 10;
const SLEPT = 12;
const CLAIMED = 14;
const PASSED = 16;
const FINISHED = 18;
const RUN_CANCELLED = 20;
const SETTLED_LATE = 22;
const GIVEN_BACK = 24;
const GIVEN = 26;
const TOLD = 28;
const DROPPED = 30;
const DROPPED_LATE = 32;
const LEFT = 34;

/** Whether a channel is closed, and every message of it has been claimed. */
const hasEnded = (scene: Scene, { m }: Channel): boolean => scene.word(m + END) === ((scene.word(m + NEXT) << 1) | 1);

/** One case alone is a plain call that stands in the queue as a promise does. */
function select(cases: readonly Case[], timed: boolean): Op {
  const last = cases.length - 1;
  const caseOf = (i: number): Case => cases[i] as Case;
  const runOf = (scene: Scene, t: number, i: number): number => scene.get(t, RUN + i);

  const tries = (scene: Scene, t: number, i: number): number => {
    const one = caseOf(i);
    const { at, counted } = queueOf(scene, t, one);
    if (one.what === 'permit') scene.call(t, 'tryAcquire', at, 1);
    else scene.call(t, 'tryClaim', at, counted, 1);
    return TRIED + i;
  };
  /** Takes a ticket for each case that stands in no queue, and then looks. */
  const join = (scene: Scene, t: number): number => {
    for (let i = 0; i <= last; i++) {
      if (runOf(scene, t, i) !== 0) continue;
      const { at, counted } = queueOf(scene, t, caseOf(i));
      scene.call(t, 'arrive', at, 1, 0, counted);
      return JOIN + i;
    }
    scene.hostLoad(t, scene.doorbell(t));
    return LOOKED;
  };
  const settle = (scene: Scene, t: number, i: number, then: number): number => {
    scene.call(t, 'settle', runOf(scene, t, i), queueOf(scene, t, caseOf(i)).counted);
    return then + i;
  };
  /** A case has its permit. */
  const granted = (scene: Scene, t: number, i: number): number => {
    scene.set(t, RUN + i, 0);
    scene.set(t, CHOSEN, i + 1);
    if (caseOf(i).what === 'permit') return happened(scene, t, i);
    const { at, counted } = queueOf(scene, t, caseOf(i));
    scene.call(t, 'claim', at, counted, 1);
    return CLAIMED + i;
  };
  const passes = (scene: Scene, t: number, i: number): number => {
    const { at, counted } = queueOf(scene, t, caseOf(i));
    // A hole is no message: the case stands in its queue again.
    if (!use(scene, t, caseOf(i))) scene.set(t, CHOSEN, 0);
    // What is unread is a matter of the models in channel.ts.
    scene.call(t, 'pass', at, counted, 0);
    return PASSED + i;
  };
  const happened = (scene: Scene, t: number, i: number): number => {
    if (caseOf(i).what === 'permit') scene.set(t, PERMITS, scene.get(t, PERMITS) + 1);
    else if (caseOf(i).what === 'send') allSent(scene, t);
    return leaves(scene, t);
  };
  /** After a pass: the case has happened, or it was a hole. */
  const passed = (scene: Scene, t: number, i: number): number => {
    if (scene.get(t, CHOSEN) !== 0) return happened(scene, t, i);
    const late = scene.get(t, LATE);
    if (late === 0) return join(scene, t);
    scene.set(t, LATE, 0);
    return granted(scene, t, late >> 1);
  };
  /** The queue of a case is closed: an outcome, too, unless another case has happened already. */
  const ended = (scene: Scene, t: number, i: number): number => {
    const { what, channel } = caseOf(i);
    const at = objectsOf(scene).channels[channel] as Channel;
    if (what === 'permit' || !isClosed(scene, at)) throw new Violation(`thread ${t} learns that a queue is closed`);
    if (what === 'receive' && !hasEnded(scene, at))
      throw new Violation(`thread ${t} learns that a channel has ended, and a message is left`);
    scene.set(t, RUN + i, 0);
    if (scene.get(t, CHOSEN) === 0) scene.set(t, CHOSEN, i + 1);
    return leaves(scene, t);
  };
  const drops = (scene: Scene, t: number, i: number, then: number): number => {
    scene.call(t, 'dropRun', runOf(scene, t, i));
    return then + i;
  };
  /** Leaves the queues of the cases that have not happened, and gives back what came too late. */
  const leaves = (scene: Scene, t: number): number => {
    for (let i = 0; i <= last; i++) {
      if (runOf(scene, t, i) === 0) continue;
      scene.call(t, 'cancelRun', runOf(scene, t, i));
      return RUN_CANCELLED + i;
    }
    for (let i = 0; i <= last; i++) {
      if (((scene.get(t, LATE) >> i) & 1) === 0) continue;
      scene.set(t, LATE, scene.get(t, LATE) & ~(1 << i));
      const { at, counted } = queueOf(scene, t, caseOf(i));
      if (counted === 0) scene.call(t, 'release', at, 1);
      else scene.call(t, 'releaseRobust', at, 1, counted);
      return GIVEN_BACK + i;
    }
    return OVER;
  };
  const isMore = (answer: number): boolean => answer === MORE || answer === INTERRUPTED;

  const steps: Step[] = [];
  steps[BEGIN] = (scene, t) => tries(scene, t, 0);
  steps[LOOK] = (scene, t) => join(scene, t);
  steps[LOOKED] = (scene, t) => {
    scene.set(t, RANG, seen(scene, t));
    return settle(scene, t, 0, SETTLED);
  };
  for (const i of [0, 1]) {
    if (i > last) continue;
    steps[TRIED + i] = (scene, t, answer) => {
      if (answer === ANSWER_CLOSED) return ended(scene, t, i);
      if (answer === REFUSED) return i < last ? tries(scene, t, i + 1) : join(scene, t);
      scene.set(t, CHOSEN, i + 1);
      return caseOf(i).what === 'permit' ? happened(scene, t, i) : passes(scene, t, i);
    };
    steps[JOIN + i] = (scene, t, answer) => {
      if (answer === ANSWER_CLOSED) return ended(scene, t, i);
      if (answer < ADMITTED) throw new Violation(`a case that arrives is answered ${answer}`);
      if (answer === ADMITTED) return granted(scene, t, i);
      scene.set(t, RUN + i, answer);
      return join(scene, t);
    };
    steps[SETTLED + i] = (scene, t, answer) => {
      if (answer < 0) return drops(scene, t, i, DROPPED);
      if (answer > 0) return granted(scene, t, i);
      scene.call(t, 'enterRun', runOf(scene, t, i));
      return ENTERED + i;
    };
    steps[ENTERED + i] = (scene, t, answer) => {
      if (answer !== 0) return settle(scene, t, i, SETTLED);
      if (i < last) return settle(scene, t, i + 1, SETTLED);
      scene.hostWait(t, scene.doorbell(t), scene.get(t, RANG), timed);
      return SLEPT;
    };
    steps[DROPPED + i] = (scene, t) => ended(scene, t, i);
    steps[CLAIMED + i] = (scene, t, answer) => (answer === ANSWER_CLOSED ? ended(scene, t, i) : passes(scene, t, i));
    const tells = (scene: Scene, t: number): number => {
      const channel = objectsOf(scene).channels[caseOf(i).channel] as Channel;
      if (caseOf(i).what === 'send' || !hasEnded(scene, channel)) return passed(scene, t, i);
      scene.call(t, 'finishClose', channel.f, channel.m);
      return TOLD + i;
    };
    steps[TOLD + i] = (scene, t) => passed(scene, t, i);
    steps[PASSED + i] = (scene, t, answer) => {
      if (!isMore(answer)) return tells(scene, t);
      const { peer, ofPeer } = queueOf(scene, t, caseOf(i));
      // The thread's own run at the other end is settled in the call.
      const own = cases.findIndex((_, j) => runOf(scene, t, j) !== 0 && queueOf(scene, t, caseOf(j)).at === peer);
      const run = own < 0 ? 0 : runOf(scene, t, own);
      finishRelease(scene, t, peer, scene.global(t, 'channel/given'), answer, run, ofPeer);
      return FINISHED + i;
    };
    steps[FINISHED + i] = (scene, t, answer) => {
      if (answer > 0) {
        const { peer } = queueOf(scene, t, caseOf(i));
        const own = cases.findIndex((_, j) => runOf(scene, t, j) !== 0 && queueOf(scene, t, caseOf(j)).at === peer);
        scene.set(t, RUN + own, 0);
        scene.set(t, LATE, 1 << own);
      }
      return tells(scene, t);
    };
    steps[RUN_CANCELLED + i] = (scene, t, answer) => {
      if (answer !== CANCELLED && answer !== MORE) return settle(scene, t, i, SETTLED_LATE);
      scene.set(t, RUN + i, 0);
      if (answer === CANCELLED) return leaves(scene, t);
      scene.call(t, 'finishCancelRun');
      return LEFT + i;
    };
    steps[LEFT + i] = (scene, t) => leaves(scene, t);
    steps[DROPPED_LATE + i] = (scene, t) => {
      scene.set(t, RUN + i, 0);
      return leaves(scene, t);
    };
    steps[SETTLED_LATE + i] = (scene, t, answer) => {
      // After a time-out, too, a channel that has just ended is no outcome.
      if (answer < 0) return drops(scene, t, i, DROPPED_LATE);
      if (answer !== 1) throw new Violation(`a run that is due is answered ${answer}`);
      // After a time-out, a case that is granted while the thread leaves happens after all.
      if (scene.get(t, CHOSEN) === 0) return granted(scene, t, i);
      scene.set(t, RUN + i, 0);
      scene.set(t, LATE, scene.get(t, LATE) | (1 << i));
      return leaves(scene, t);
    };
    steps[GIVEN_BACK + i] = (scene, t, answer) => {
      if (!isMore(answer)) return leaves(scene, t);
      const { at, counted } = queueOf(scene, t, caseOf(i));
      scene.call(t, 'finishRelease', at, 1, answer, counted);
      return GIVEN + i;
    };
    steps[GIVEN + i] = (scene, t) => leaves(scene, t);
  }
  steps[SLEPT] = (scene, t) => (scene.result(t) === RAN_OUT ? leaves(scene, t) : join(scene, t));
  const text = cases.map(({ what, channel }) => `${what} ${'ab'[channel]}`).join(' or ');
  return inSteps(cases.length > 1 ? `select ${text}${timed ? ', timed' : ''}` : text, ...steps);
}

const give = (): Op =>
  inSteps(
    'give a permit',
    (scene, t) => {
      scene.set(t, PERMITS, scene.get(t, PERMITS) - 1);
      scene.call(t, 'release', objectsOf(scene).semaphore, 1);
      return 1;
    },
    (scene, t, answer) => {
      if (answer === ADMITTED) return OVER;
      scene.call(t, 'finishRelease', objectsOf(scene).semaphore, 1, answer, 0);
      return 2;
    },
    () => OVER,
  );

const channelOf = (scene: Scene, text: string): Channel =>
  objectsOf(scene).channels[text[1] === 'b' ? 1 : 0] as Channel;

const leave = (text: string): Op =>
  inCalls(
    'leave',
    (scene, t) => ['leaveSenders', channelOf(scene, text).f, channelOf(scene, text).ofF[t] as number],
    (scene) =>
      isClosed(scene, channelOf(scene, text))
        ? ['finishClose', channelOf(scene, text).f, channelOf(scene, text).m]
        : undefined,
  );

/** The cases of an op; none if it is no select. */
function casesOf(text: string): Case[] {
  if (/^[XVCL]/.test(text)) return [];
  return text
    .replace('!', '')
    .split('/')
    .map((one): Case => {
      const what = ({ S: 'send', R: 'receive', P: 'permit' } as const)[one[0] as string];
      if (what === undefined) throw new Error(`a program has no ${text}`);
      return { what, channel: one[1] === 'b' ? 1 : 0 };
    });
}

function opOf(text: string): Op {
  if (text === 'X') return supervise();
  if (text === 'V') return give();
  if (text[0] === 'C') return closeEnds((scene) => channelOf(scene, text), 'close', 2);
  if (text[0] === 'L') return leave(text);
  return select(casesOf(text), text.endsWith('!'));
}

const wordsOf = (part: string): string[] => part.trim().split(/\s+/);

/** Checks that no case that a thread sleeps for could happen, and that the channel of none has ended. */
function checkSleepers(scene: Scene): void {
  for (const t of sleepers(scene))
    for (const one of objectsOf(scene).cases[t]?.[scene.get(t, OP)] ?? []) {
      const { at } = queueOf(scene, t, one);
      const channel = objectsOf(scene).channels[one.channel] as Channel;
      const { f, m, capacity } = channel;
      const isOver =
        one.what === 'send' ? isClosed(scene, channel) : one.what === 'receive' && hasEnded(scene, channel);
      if (isOver) throw new Violation(`thread ${t} sleeps for a channel that is closed`);
      const free = {
        send: capacity - (scene.word(f + NEXT) - scene.word(m + DONE)),
        receive: scene.word(f + DONE) - scene.word(m + NEXT),
        // The thread has a ticket itself.
        permit: scene.word(at + GRANT) - scene.word(at + TICKET) + 1,
      };
      if (free[one.what] > 0) throw new Violation(`thread ${t} sleeps, and could ${one.what}`);
    }
}

function checkSelects(scene: Scene, closes: readonly (0 | 1)[]): void {
  const { channels, semaphore } = objectsOf(scene);
  for (const i of closes)
    if (!isClosed(scene, channels[i] as Channel)) throw new Violation('a channel is to be closed, and is open');
  const missing = notReceived(scene) - channels.reduce((sum, channel) => sum + inside(scene, channel), 0);
  // A message that a dead receiver had may have been read already.
  const unsure = channels.reduce((sum, { f }) => sum + scene.word(f + UNTOLD), 0);
  if (missing < 0 || missing > unsure)
    throw new Violation(`${missing} messages are missing, and ${unsure} count as lost`);
  if (scene.threadNumbers.some((t) => scene.dead(t))) return;
  checkSleepers(scene);
  for (const channel of channels) {
    const { f, m } = channel;
    const last = isClosed(scene, channel) ? scene.word(m + END) >>> 1 : scene.word(f + NEXT);
    if (last !== scene.word(f + DONE) || scene.word(m + NEXT) !== scene.word(m + DONE))
      throw new Violation('a place is not passed on');
  }
  if (semaphore === 0) return;
  const free = scene.word(semaphore + GRANT) - scene.word(semaphore + TICKET);
  const taken = scene.threadNumbers.reduce((sum, t) => sum + scene.get(t, PERMITS), 0);
  if (free !== -taken) throw new Violation(`${free} permits are free, and should be ${-taken}`);
}

/** The channels that are closed when a program of this text is over, in any case. */
const closedBy = (program: string, { deaths = 0 }: More): (0 | 1)[] =>
  ([0, 1] as const).filter((i) => program.includes(`L${'ab'[i]}`) || (deaths === 0 && program.includes(`C${'ab'[i]}`)));

function model(program: string, more: More = {}): Model {
  const { capacity = 1 } = more;
  const hasSemaphore = /[PV]/.test(program);
  return modelOf(
    'select',
    program,
    { ...more, capacity },
    {
      ops: (part) => wordsOf(part).map(opOf),
      objects: hasSemaphore ? 5 : 4,
      ends: 4,
      leaves: true,
      make(scene, parts) {
        const words = parts.map(wordsOf);
        const channels = ['La', 'Lb'].map((leaves) => {
          const senders = words.flatMap((part, t) => part.filter((word) => word === leaves).map(() => t));
          const channel = makeChannel(scene, capacity, 0, senders.length);
          for (const t of senders) scene.callNow(t, 'beginSending', channel.ofF[t] as number);
          return channel;
        });
        const cases = parts.map((part) => wordsOf(part).map(casesOf));
        objects.set(scene, { channels, semaphore: hasSemaphore ? makeSemaphore(scene) : 0, cases });
      },
      plain: (scene, t, address) =>
        objectsOf(scene).channels.some((channel) => isOwnRecord(scene, t, channel, address)),
      end: (scene) => checkSelects(scene, closedBy(program, more)),
    },
  );
}

export const models: readonly Model[] = [
  model('Ra/Rb | Sa'),
  model('Ra/Rb Ra/Rb | Sa | Sb', { long: true }),
  // Two selects on the same two channels, in both directions.
  model('Ra/Sb | Sa/Rb | Sa Rb', { mayWait: true, long: true }),
  model('Sa/Rb | Ra/Sb'),
  model('Ra/Sb Ra | Sa/Rb Sa', { long: true }),
  // Beside a plain call, and both cases at one channel.
  model('Ra/Rb | Ra | Sa Sa', { long: true }),
  model('Sa/Sb | Ra/Rb'),
  model('Sa/Sb Sa/Sb | Ra/Rb Ra/Rb'),
  model('Sa Ra/Sa | Ra', { mayWait: true }),
  // Time-outs.
  model('Ra/Rb! | Sa'),
  model('Ra/Rb! | Sa | Sb', { long: true }),
  // With a semaphore.
  model('Ra/P | Sa'),
  model('Ra/P | V'),
  model('Ra/P Ra/P | Sa V', { long: true }),
  // Channels that are closed, or close themselves.
  model('Ra/Rb | Ca'),
  model('Ra/Rb | Sa Ca'),
  model('Ra/Rb Ra/Rb | Sa Ca'),
  model('Sa Sa/Rb | Ca'),
  model('Sa Sa/Rb | Ra Ca', { long: true }),
  model('Ra/Rb! | Ca'),
  model('Ra/P | Ca'),
  model('Ra/Rb | Ra | Sa Ca', { long: true }),
  model('Ra/Rb | Sa La'),
  model('Ra/Rb | La | La'),
  model('Ra/Rb | La | X', { deaths: 1, mortal: [1] }),
  model('Ra/Rb Ra/Rb | Sa La | X', { deaths: 1, mortal: [1], long: true }),
  // Deaths.
  model('Ra/Rb | Sa | X', { deaths: 1, mortal: [0], capacity: 2 }),
  model('Ra/Rb | Sa | X Sa', { deaths: 1, mortal: [1], capacity: 2 }),
  model('Ra/Rb | Ra | Sa Sa X', { deaths: 1, mortal: [0], capacity: 2, long: true }),
];
