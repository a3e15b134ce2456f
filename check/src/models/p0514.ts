/**
 * The semaphores of P0514R1 (core/counter.ts): what src/p0514/semaphore.ts does, as small machines.
 *
 *     W wait        F tryWaitFor: every sleep may run out        Y tryWait       D dispose
 *     S signal      O signal(one)    N signal(none)              R signal if the thread has taken something
 *     S2 signal(2)                                               X reap whoever dies
 *     w waitAsync   f tryWaitForAsync, whose time may be over in every sleep of the event loop    x it is over now
 *     d the event loop, until no promise waits
 *     u the same, and whoever has taken something signals         q the same, and it disposes
 *
 * Checked beside what every scene checks of the queue: never more taken than was there and has been signalled; at
 * the end the value is what is left, and `waiting` those who sleep; whoever was handed something is through.
 */
import { ADMITTED, ANSWER_CLOSED, constant, GRANT, QUEUED, REFUSED, TICKET } from '../scene/layout.js';
import {
  abort,
  acquire,
  acquireFor,
  arrive,
  call,
  eventLoop,
  GIVEN_UP,
  type Jobs,
  ready,
  releasing,
  settle,
  settling,
  supervise,
  tryAcquire,
} from '../scene/ops.js';
import { type Model, type Op, type Scene, Violation } from '../scene/scene.js';
import { GOT, LOCAL, PHASE } from '../scene/words.js';
import { partsOf } from './program.js';

const O_COUNTER = constant('O_COUNTER');
const NOTIFY = { S: constant('NOTIFY_ALL'), O: constant('NOTIFY_ONE'), N: constant('NOTIFY_NONE') };

/** What a thread counts, in one word: bits from which on. */
const TALLY = GOT + 1;
const TAKEN = 0;
const SIGNALLED = 8;
const HANDED = 16;
/** Its promises that look again, when a short while is over. */
const NAPS = 24;
// Words within an operation.
const STAGE = LOCAL + 4;
const WIDTH = LOCAL + 1;

const tally = (scene: Scene, t: number, what: number): number => (scene.get(t, TALLY) >> what) & 0xff;

function count(scene: Scene, t: number, what: number, more: number): void {
  scene.set(t, TALLY, scene.get(t, TALLY) + (more << what));
}

const total = (scene: Scene, what: number): number =>
  scene.model.programs.reduce((sum, _, t) => sum + tally(scene, t, what), 0);

const counter = (scene: Scene): number => (scene.semaphores[0] as number) + O_COUNTER;

function through(scene: Scene, t: number, initial: number): true {
  count(scene, t, TAKEN, 1);
  const taken = total(scene, TAKEN);
  const there = initial + total(scene, SIGNALLED);
  if (taken > there) throw new Violation(`${taken} have been taken, and ${there} were there`);
  return true;
}

const COUNTING = 1;
const QUEUEING = 2;
const LEAVING = 3;
const LEAVING_CLOSED = 4;
const LOOKING = 5;
const CLOSING = 6; // the queue, of a counter that was found closed
const TELLING = 7; // the promises of the thread, that the queue is closed: withdraw follows
const TELLING_LAST = 8; // the same, and nothing follows
const SIGNALLING = 9;
const RELEASING = 10;

const queueOf = (scene: Scene): number => scene.semaphores[0] as number;

/** `wait()`, or `tryWaitFor(ms)`. */
function wait(initial: number, timed = false): Op {
  const queue = timed ? acquireFor() : acquire();
  const look = tryAcquire();
  return {
    ...queue,
    text: timed ? 'tryWaitFor' : 'wait',
    next(scene, t) {
      const to = (stage: number): void => scene.set(t, STAGE, stage);
      switch (scene.get(t, STAGE)) {
        case 0:
          to(COUNTING);
          scene.call(t, 'countDown', queueOf(scene));
          return false;
        case COUNTING:
          if (scene.result(t) === ADMITTED) return through(scene, t, initial);
          if (scene.result(t) !== QUEUED) return closes(scene, t);
          to(QUEUEING);
          return this.next(scene, t);
        case QUEUEING: {
          const got = scene.get(t, GOT);
          if (!queue.next(scene, t)) return false;
          return scene.get(t, GOT) > got ? through(scene, t, initial) : refused(scene, t);
        }
        case LEAVING:
          if (scene.result(t) === REFUSED) return true;
          scene.set(t, PHASE, 0);
          to(LOOKING);
          return this.next(scene, t);
        case LOOKING: {
          const got = scene.get(t, GOT);
          if (!look.next(scene, t)) return false;
          return scene.get(t, GOT) > got ? through(scene, t, initial) : refused(scene, t);
        }
        case LEAVING_CLOSED:
          return scene.result(t) === REFUSED ? isClosed(scene, t) : through(scene, t, initial);
        case TELLING:
          return !settling(scene, t) && leave(scene, t, LEAVING_CLOSED);
        default:
          return closes(scene, t);
      }
    },
  };
}

/** What the queue has answered is no permit: that it is closed is told to the promises of the thread first. */
function refused(scene: Scene, t: number): false {
  if (scene.result(t) !== ANSWER_CLOSED) return leave(scene, t, LEAVING);
  scene.set(t, STAGE, TELLING);
  return !settle(scene, t) && leave(scene, t, LEAVING_CLOSED);
}

function leave(scene: Scene, t: number, stage: number): false {
  scene.set(t, STAGE, stage);
  scene.call(t, 'withdraw', queueOf(scene));
  return false;
}

function isClosed(scene: Scene, t: number): true {
  if (scene.machine.words[(counter(scene) + 4) >> 2] > -0x20000000)
    throw new Violation(`thread ${t} is told that the semaphore is closed`);
  return true;
}

/** Whoever finds the counter closed closes the queue too, and tells the promises of the thread. True when that is over. */
function closes(scene: Scene, t: number): boolean {
  switch (scene.get(t, STAGE)) {
    case CLOSING:
      scene.set(t, STAGE, TELLING_LAST);
      return !settle(scene, t);
    case TELLING_LAST:
      return !settling(scene, t);
    default:
      isClosed(scene, t);
      scene.set(t, STAGE, CLOSING);
      scene.call(t, 'dispose', queueOf(scene));
      return false;
  }
}

function tryWait(initial: number): Op {
  return {
    text: 'tryWait',
    next(scene, t) {
      if (scene.get(t, STAGE) === 0) {
        scene.set(t, STAGE, COUNTING);
        scene.call(t, 'tryCountDown', queueOf(scene));
        return false;
      }
      if (scene.get(t, STAGE) !== COUNTING) return closes(scene, t);
      if (scene.result(t) === ADMITTED) return through(scene, t, initial);
      return scene.result(t) === REFUSED || closes(scene, t);
    },
  };
}

/** `dispose()` */
const disposing = (): Op => ({
  text: 'dispose',
  next: (scene, t) => (scene.get(t, STAGE) === 0 ? disposes(scene, t) : closes(scene, t)),
});

/** Begins to dispose; `closes` goes on. */
function disposes(scene: Scene, t: number): false {
  scene.set(t, STAGE, COUNTING);
  scene.call(t, 'closeCounter', queueOf(scene));
  return false;
}

// --- Promises -------------------------------------------------------------------------------------------

const FULFILLED = 1;
/** The short while is over after which a promise looks again. */
const LATER = 13;

/** `waitAsync()`, or `tryWaitForAsync(ms)`. */
function waitAsync(timed = false): Op {
  const arrival = arrive(1, timed, true);
  return {
    ...arrival,
    text: timed ? 'tryWaitForAsync' : 'waitAsync',
    next(scene, t) {
      switch (scene.get(t, STAGE)) {
        case 0:
          scene.set(t, STAGE, COUNTING);
          scene.call(t, 'countDown', queueOf(scene));
          return false;
        case COUNTING:
          if (scene.result(t) === ADMITTED) {
            ready(scene, t, FULFILLED);
            return true;
          }
          if (scene.result(t) !== QUEUED) return closes(scene, t);
          scene.set(t, STAGE, QUEUEING);
          return arrival.next(scene, t);
        case QUEUEING:
          return arrival.next(scene, t);
        default:
          return closes(scene, t);
      }
    },
  };
}

/** What whoever has taken something does then. */
type Then = 'nothing' | 'signals' | 'disposes';

/** What follows the promise of the queue. True when it is over. */
function goesOn(scene: Scene, t: number, told: number, initial: number, then: Then): boolean {
  const answer = scene.result(t);
  const to = (stage: number): void => scene.set(t, STAGE, stage);
  const taken = (): boolean => {
    through(scene, t, initial);
    if (then === 'disposes') return disposes(scene, t);
    if (then === 'nothing') return true;
    to(SIGNALLING);
    countUp(scene, t, 1, NOTIFY.S);
    return false;
  };
  switch (scene.get(t, STAGE)) {
    case 0:
      if (told === FULFILLED) return taken();
      if (told !== LATER) return leave(scene, t, told === GIVEN_UP ? LEAVING : LEAVING_CLOSED);
      to(LOOKING);
      scene.call(t, 'tryAcquire', queueOf(scene), 1);
      return false;
    case LEAVING:
      if (answer !== REFUSED) count(scene, t, NAPS, 1);
      return true;
    case LEAVING_CLOSED:
      return answer === REFUSED ? isClosed(scene, t) : taken();
    case LOOKING:
      if (answer !== ADMITTED) return refused(scene, t);
      scene.admittedNow(t, 0, 1);
      return taken();
    case TELLING:
      return !settling(scene, t) && leave(scene, t, LEAVING_CLOSED);
    case SIGNALLING:
      if (!hands(scene, t)) return true;
      to(RELEASING);
      break;
    case RELEASING:
      break;
    default:
      return closes(scene, t);
  }
  return releasing(scene, t, scene.get(t, WIDTH), 0, false);
}

export const jobs = (initial: number, then: Then): Jobs => ({
  goOn: (scene, t, told) => goesOn(scene, t, told, initial, then),
  timed: true,
  isSet: (scene, t) => tally(scene, t, NAPS) > 0,
  fire(scene, t) {
    count(scene, t, NAPS, -1);
    ready(scene, t, LATER);
  },
});

function countUp(scene: Scene, t: number, permits: number, notify: number): void {
  count(scene, t, SIGNALLED, permits);
  scene.call(t, 'countUp', scene.semaphores[0] as number, permits, notify);
}

/** countUp has answered. Whether a release must follow. */
function hands(scene: Scene, t: number): boolean {
  const handed = scene.result(t);
  if (handed < 0) throw new Violation(`thread ${t}'s signal is answered ${handed}`);
  count(scene, t, HANDED, handed);
  scene.set(t, WIDTH, handed);
  return handed > 0;
}

function signal(permits: number, notify: number, ifTaken = false): Op {
  return {
    text: `signal(${permits}, ${notify})`,
    next(scene, t) {
      const phase = scene.get(t, PHASE);
      if (phase === 0) {
        if (ifTaken && tally(scene, t, TAKEN) === tally(scene, t, SIGNALLED)) return true;
        scene.set(t, PHASE, 1);
        countUp(scene, t, permits, notify);
        return false;
      }
      if (phase === 1) {
        if (!hands(scene, t)) return true;
        scene.set(t, PHASE, 2);
      }
      return releasing(scene, t, scene.get(t, WIDTH), 0, false);
    },
  };
}

/** One more than the value can be: refused, and nothing has changed. */
const signalTooMany = (count: number): Op =>
  call(
    'countUp',
    (scene) => [scene.semaphores[0] as number, count, 0],
    (answer, _, t) => {
      if (answer !== constant('ANSWER_OVER_MAX'))
        throw new Violation(`thread ${t}'s signal is answered ${answer}`);
    },
  );

function op(text: string, initial: number): Op[] {
  const [, letter, digits] = /^([WFYDSONRXMwfxduq])(\d*)$/.exec(text) ?? [];
  const count = digits ? Number(digits) : 1;
  switch (letter) {
    case 'W':
      return [wait(initial)];
    case 'F':
      return [wait(initial, true)];
    case 'Y':
      return [tryWait(initial)];
    case 'S':
    case 'O':
    case 'N':
      return [signal(count, NOTIFY[letter])];
    case 'R':
      return [signal(1, NOTIFY.S, true)];
    case 'M':
      return [signalTooMany(count)];
    case 'D':
      return [disposing()];
    case 'X':
      return [supervise()];
    case 'w':
      return [waitAsync()];
    case 'f':
      return [waitAsync(true)];
    case 'x':
      return [abort()];
    case 'd':
      return [eventLoop(jobs(initial, 'nothing'))];
    case 'u':
      return [eventLoop(jobs(initial, 'signals'))];
    case 'q':
      return [eventLoop(jobs(initial, 'disposes'))];
    default:
      throw new Error(`a program has no ${text}`);
  }
}

/** Of threads that died in their sleep nothing is left: who waits, and no more, is counted or has been handed something. */
function checkDeaths(scene: Scene): void {
  if (!(scene.model.undead || scene.model.asleep) || !scene.dead(0)) return;
  const { words } = scene.machine;
  const s = (scene.semaphores[0] as number) >> 2;
  const handed = words[s + (GRANT >> 2)] - words[s + (TICKET >> 2)];
  const waiting = words[(counter(scene) + 4) >> 2];
  if (waiting + handed !== 0)
    throw new Violation(`nobody waits, but ${waiting} are counted, ${handed} handed`);
}

/** What must be true at the end, with nobody dead. */
function check(scene: Scene, initial: number): void {
  if (scene.model.deaths) {
    checkDeaths(scene);
    return;
  }
  const { words } = scene.machine;
  const value = words[counter(scene) >> 2];
  const waiting = words[(counter(scene) + 4) >> 2];
  const [taken, handed] = [total(scene, TAKEN), total(scene, HANDED)];
  if (taken < handed) throw new Violation(`${handed} were handed something, and ${taken} are through`);
  if (scene.closed(0)) return;
  let sleeping = 0;
  scene.waiters(() => {
    sleeping++;
  });
  if (waiting !== sleeping) throw new Violation(`${sleeping} sleep, and ${waiting} are said to wait`);
  const left = initial + total(scene, SIGNALLED) - taken;
  if (value !== left) throw new Violation(`the value is ${value}, and should be ${left}`);
}

interface Line extends Pick<Model, 'long' | 'mayWait' | 'deaths' | 'mortal' | 'asleep' | 'undead'> {
  readonly name: string;
  readonly program: string;
  readonly initial?: number;
  readonly max?: number;
  readonly spin?: number;
  readonly buckets?: number;
  readonly elements?: number;
  /** At least so many must have taken something. */
  readonly least?: number;
}

function modelOf(line: Line): Model {
  const { name, program, initial = 0, max = 100, spin = 0, buckets = 1, least = 0, ...more } = line;
  const alike = partsOf(program);
  const programs = alike.map((part) => part.split(/\s+/).flatMap((word) => op(word, initial)));
  const promises = program.match(/[wf]/g)?.length ?? 0;
  const { elements = 2 * (programs.length + promises), ...rest } = more;
  return {
    ...rest,
    name: `p0514: ${name}`,
    programs,
    alike,
    arena: {
      buckets,
      objects: 1,
      elements,
      attached: program.includes('X') ? programs.length : 1,
    },
    objects: (scene) => {
      const kind = constant(max === 1 ? 'KIND_BINARY_SEMAPHORE' : 'KIND_COUNTING_SEMAPHORE');
      scene.semaphore({ permits: 0, threshold: max, spin, kind });
      scene.machine.hostStore32(counter(scene), initial);
    },
    end: (scene) => {
      check(scene, initial);
      if (total(scene, TAKEN) < least)
        throw new Violation(`${total(scene, TAKEN)} are through, not ${least}`);
    },
  };
}

const lines: readonly Line[] = [
  { name: 'a lock, 2x2', program: 'W S W S | W S W S', initial: 1, max: 1 },
  { name: 'a lock, 3x1', program: 'W S | W S | W S', initial: 1, max: 1, spin: 1 },
  { name: 'a lock, 3x1 and 1 more', long: true, program: 'W S W S | W S | W S', initial: 1, max: 1 },
  { name: 'a lock of 2, 3x1', program: 'W S | W S | W S', initial: 2, buckets: 2 },
  { name: 'signal of 2', program: 'W | W | S2', buckets: 2 },
  { name: 'signal of 3', program: 'W W | W | S3', buckets: 2 },
  { name: 'two signals', program: 'W | W | S | S' },
  { name: 'one', program: 'W | W | O O', least: 2 },
  { name: 'one of 2', program: 'W | W | O2', mayWait: true, least: 1 },
  { name: 'one of 2, then one', program: 'W | W | O2 O', least: 2 },
  { name: 'none', program: 'W | N', mayWait: true },
  { name: 'none, and who comes later', program: 'W | N W', mayWait: true, least: 1 },
  { name: 'none, then a signal', program: 'W | W | N S', least: 2 },
  { name: 'none, then one', program: 'W | W | N O', mayWait: true, least: 1 },
  { name: 'none, then a signal by another', program: 'W | N | S S', least: 1 },
  { name: 'none, then try', program: 'W | N Y', mayWait: true, least: 1 },
  { name: 'try', program: 'Y R | W S | W S', initial: 1, max: 1 },
  { name: 'too many', program: 'M W S M', initial: 1, max: 1 },
  { name: 'too many for 2', program: 'M2 S M', initial: 1, max: 2 },
  { name: 'timed, and nothing comes', program: 'F | F' },
  { name: 'timed', program: 'F | S' },
  { name: 'timed, two', program: 'F | F | S' },
  { name: 'timed, one behind', program: 'F | W | S S' },
  { name: 'a timed lock, 3x1', long: true, program: 'F R | F R | W S', initial: 1, max: 1 },
  { name: 'timed, one of 2', program: 'F | F | O2' },
  { name: 'dispose', program: 'W R | W R | D', initial: 1, max: 1 },
  { name: 'dispose of one that waits', program: 'W | D' },
  { name: 'dispose by two', program: 'W | D | D' },
  { name: 'dispose, timed', program: 'F R | W R | D', initial: 1, max: 1 },
  // The destructor's requirement: once unblocked, who waits need not have returned.
  { name: 'signal, then dispose', program: 'W | S D' },
  { name: 'signal of 2, then dispose', program: 'W | W | S2 D' },
  { name: 'signal, then dispose, timed', program: 'F | W | S D' },
  { name: 'die asleep', program: 'W | S | X', deaths: 1, mortal: [0], undead: true },
  { name: 'die', program: 'W | W | S S | X', deaths: 1, mortal: [0], long: true },
];

const promises: readonly Line[] = [
  { name: 'a signal', program: 'w d | S' },
  { name: 'a signal by its thread', program: 'w S d' },
  { name: 'a lock, 2x2', program: 'w u w u | w u w u', initial: 1, max: 1 },
  { name: 'a lock, and a thread', program: 'w u w u | W S W S', initial: 1, max: 1 },
  { name: 'a lock, 3', program: 'w u | w u | w u', initial: 1, max: 1, long: true },
  { name: 'a lock, and two threads', program: 'w u | W S | W S', initial: 1, max: 1 },
  { name: 'a lock, two of one and a thread', program: 'w w u | W S', initial: 1, max: 1 },
  { name: 'a lock, two of one and one', program: 'w w u | w u', initial: 1, max: 1 },
  { name: 'a lock, and who tries', program: 'w u | Y R | W S', initial: 1, max: 1 },
  { name: 'and its thread', program: 'w W d | S2' },
  { name: 'of one, signal of 2', program: 'w w d | S2' },
  { name: 'of one, two signals', program: 'w w d | S S' },
  { name: 'of one, two signallers', program: 'w w d | S | S' },
  { name: 'of one, one and one', program: 'w w d | O O', least: 2 },
  { name: 'of two, signal of 2', program: 'w d | w d | S2' },
  { name: 'of two, two signals', program: 'w d | w d | S S' },
  { name: 'of two, one of 2', program: 'w d | w d | O2', mayWait: true, least: 1 },
  { name: 'of two, one of 2, then one', program: 'w d | w d | O2 O', least: 2 },
  { name: 'and a thread, signal of 2', program: 'w d | W | S2' },
  { name: 'and a thread, one of 2', program: 'w d | W | O2', mayWait: true, least: 1 },
  { name: 'and a thread, one and one', program: 'w d | W | O O', least: 2 },
  { name: 'and a thread, signal by its thread', program: 'w S2 d | W' },
  { name: 'none', program: 'w d | N', mayWait: true },
  { name: 'none, and who comes later', program: 'w d | N w d', mayWait: true, least: 1 },
  { name: 'none, then a signal', program: 'w d | W | N S', least: 2 },
  { name: 'none, then one', program: 'w d | w d | N O', mayWait: true, least: 1 },
  { name: 'none, then a signal by another', program: 'w d | N | S S', least: 1 },
  { name: 'none, then try', program: 'w d | N Y', mayWait: true, least: 1 },
  { name: 'timed, and nothing comes', program: 'f d | f d' },
  { name: 'timed', program: 'f d | S' },
  { name: 'timed, over at once', program: 'f x d | S' },
  { name: 'timed, of one', program: 'f f d | S' },
  { name: 'timed, of two', program: 'f d | f d | S', long: true },
  { name: 'timed, and a thread', program: 'f d | F | S' },
  { name: 'timed, one behind', program: 'f d | w d | S', mayWait: true, least: 1 },
  { name: 'timed, a thread behind', program: 'f d | W | S S' },
  { name: 'timed, one behind of the same thread', program: 'f w d | S S' },
  {
    name: 'timed, over at once, one behind of the same thread',
    program: 'f w x d | S',
    mayWait: true,
    least: 1,
  },
  { name: 'timed, one before of the same thread', program: 'w f d | S', mayWait: true, least: 1 },
  { name: 'timed, and who comes later', program: 'f d | W | S', mayWait: true, least: 1 },
  { name: 'timed, one of 2', program: 'f d | f d | O2', long: true },
  { name: 'timed, none, then one', program: 'f d | w d | N O', mayWait: true, least: 1 },
  { name: 'a timed lock', program: 'f u | f u | W S', initial: 1, max: 1, long: true },
  { name: 'no room', program: 'w d | S', elements: 2 },
  { name: 'no room behind another', program: 'w w d | W | S2', elements: 3, mayWait: true },
  { name: 'dispose', program: 'w d | D' },
  { name: 'dispose, of one', program: 'w w d | D' },
  { name: 'dispose, and a thread', program: 'w d | W | D' },
  { name: 'dispose by its thread', program: 'w w D d | W' },
  { name: 'dispose by the first', program: 'w w q | S' },
  { name: 'dispose by the first, and a thread', program: 'w w q | W | S', mayWait: true },
  { name: 'dispose by two', program: 'w d | D | D' },
  { name: 'dispose, a lock', program: 'w u | w u | D', initial: 1, max: 1 },
  { name: 'dispose, a lock and a thread', program: 'w u | W R | D', initial: 1, max: 1 },
  { name: 'dispose, timed', program: 'f d | w d | D', long: true },
  { name: 'dispose, timed, of one', program: 'f w d | D' },
  { name: 'dispose, timed, over at once', program: 'f w x d | D' },
  { name: 'signal, then dispose', program: 'w d | S D' },
  { name: 'signal of 2, then dispose', program: 'w d | W | S2 D' },
  { name: 'signal of 2, then dispose, of one', program: 'w w d | S2 D' },
  { name: 'signal, then dispose, timed', program: 'f d | w d | S D', long: true },
  { name: 'signal and dispose', program: 'f d | S | D' },
  { name: 'killed asleep', program: 'w d | S | X', deaths: 1, mortal: [0], asleep: [0] },
  { name: 'killed asleep, of one', program: 'w w d | S S | X', deaths: 1, mortal: [0], asleep: [0] },
].map(({ name, ...line }) => ({ ...line, name: `promises, ${name}` }));

/** Thread 0 has counted itself, stands in line, and is dead; behind it stand promises of thread 1. */
const dead = (behind: number): Model => ({
  name: `p0514: a dead waiter, ${behind} behind it`,
  programs: [[], [supervise()]],
  arena: { buckets: 2, elements: 6, attached: 2 },
  deaths: 1,
  mortal: [0],
  leaves: true,
  objects: (scene) => {
    const s = scene.semaphore({ permits: 0, max: 3, kind: constant('KIND_COUNTING_SEMAPHORE') });
    scene.callNow(0, 'countDown', s);
    scene.callNow(0, 'acquire', s, 1);
    scene.callNow(0, 'enqueue', s, 1, QUEUED, 0);
    for (let i = 0; i < behind; i++) {
      scene.callNow(1, 'countDown', s);
      scene.callNow(1, 'arrive', s, 1, 0, 0);
    }
    scene.kill(0);
  },
  end: (scene) => {
    const waiting = scene.machine.words[(counter(scene) + 4) >> 2];
    if (waiting !== behind) throw new Violation(`${waiting} are counted as waiting, not ${behind}`);
  },
});

const letsGo = (): Op => call('detach', (scene, t) => [scene.attachment(t, 0)]);

/** When both threads have let go of the semaphore, which is closed, another object takes its place. */
const usedAgain: Model = {
  name: 'p0514: promises, the memory is used again',
  programs: [
    [waitAsync(), waitAsync(), eventLoop(jobs(0, 'nothing')), letsGo()],
    [
      disposing(),
      letsGo(),
      call('createObject', () => [constant('KIND_COUNTING_SEMAPHORE'), 0, 1, 0, 1, 0, 0, 0]),
    ],
  ],
  arena: { buckets: 1, objects: 1, elements: 6, attached: 2 },
  leaves: true,
  objects: (scene) => {
    scene.semaphore({ permits: 0, threshold: 1, kind: constant('KIND_COUNTING_SEMAPHORE') });
  },
};

export const p0514: readonly Model[] = [...[...lines, ...promises].map(modelOf), dead(0), dead(1), usedAgain];
