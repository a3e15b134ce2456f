/**
 * Models of a capacitor around an unfair lock, the inner lock. The ops do what src/papers/algorithms/capacitor-lock.ts
 * does around the core. Inside the capacitor is a semaphore, whose permits let threads go on to the inner lock.
 *
 *     L   locks: arrives at the capacitor, then locks the inner lock
 *     L0  locks in lane 0, as if the dice had chosen this lane; each lane is a capacitor of its own
 *     K   locks with the option whenContended: the thread passes an idle capacitor, if the inner lock is free
 *     Y   tryLock
 *     U   unlocks, if the thread has the lock: unlocks the inner lock, then departs from the capacitor
 *     X   departs without having arrived
 *     D   disposes of the capacitor
 *     A   only acquires the semaphore inside
 *     R   releases a permit of the semaphore inside, if the thread has one
 *
 * At every step the lock has at most one owner. A waiter is overtaken at most `bound` times: a thread overtakes the
 * waiter if the thread has a later ticket and gets the lock first. At the end nobody is inside the capacitor.
 *
 * No thread comes in while a thread of an earlier platoon is inside: the capacitor admits a ticket only after as many
 * threads have begun to depart as all earlier platoons have together. Departures of threads that have not arrived do
 * not count here. A thread that departs too often may let a platoon in early; a model in which this happens says so
 * (`early`).
 *
 * `each` bounds how often one given thread overtakes a given waiter while arrivals are sustained, that is, while all
 * threads have a ticket. If a thread draws a ticket while some other thread has none, this ticket is not counted,
 * because fewer threads circulate then.
 */

import { Violation } from '../engine/search/violation.js';
import {
  ADMITTED,
  ANSWER_CLOSED,
  ANSWER_NOT_HELD,
  constant,
  GRANT,
  OBJECT_SIZE,
  QUEUED,
  REFUSED,
  TICKET,
} from '../scene/layout.js';
import type { Model, Op } from '../scene/model.js';
import type { Scene } from '../scene/scene.js';
import { GOT, LOCAL, PHASE, PROMISES } from '../scene/words.js';
import { closed, digits, without } from './locks.js';
import { partsOf } from './parts/program.js';

/** The owner of the inner lock: thread + 1. */
export const HOLDER = PROMISES;
/** The threads that have a ticket and not the lock, in the order of the tickets: thread + 1, with 4 bits each. */
const QUEUE = PROMISES + 1;
/** How often each waiting thread has been overtaken: 4 bits for each thread. */
const PASSED = PROMISES + 2;

/** With `each`: how often thread b has overtaken thread a since a arrived, two bits for each pair of threads. */
const PAIRS = PROMISES + 3;
/** With `each`: the bit 1 << t if thread t has a ticket, and SUSTAINED << t if this ticket counts. */
const TICKETED = PROMISES + 4;
const SUSTAINED = 16;
/** How many departures have been refused. */
const REFUSALS = PROMISES + 5;
/** For each object: how many threads that had arrived have begun to depart. */
const DEPARTED = PROMISES + 6;
/** The ticket of the thread, counted from the first one, while the thread waits at the capacitor. */
const OWN_TICKET = LOCAL + 1;

const MORE = constant('MORE');
const O_DEPARTED = constant('O_DEPARTED');
const KIND = constant('KIND_CAPACITOR');
const WAKE_PASS = constant('WAKE_PASS');

/** The semaphore inside: the functions that src/papers/algorithms/platoons.ts calls. */
type Inside = 'ticket' | 'twa' | 'chain' | 'multilane';
const POSTS: Partial<Record<string, string>> = { ticketRelease: 'ticketPost', twaRelease: 'twaPost' };
/** The prefix of the functions by which threads arrive. */
const prefix = (inside: Inside): string => (inside === 'multilane' ? 'ticket' : inside);

interface Line {
  readonly name: string;
  readonly program: string;
  readonly bypass: number;
  /** How often a waiter may be overtaken; bypass - 1 by default. */
  readonly bound?: number;
  /** How often a given thread may overtake a given waiter while arrivals are sustained; not checked by default. */
  readonly each?: number;
  /** The semaphore inside; 'multilane' with lanes, else 'ticket' by default. */
  readonly inside?: Inside;
  readonly threshold?: number;
  readonly lanes?: number;
  /** Whether the lanes are capacitors of their own. */
  readonly random?: boolean;
  /** Whether a platoon may come in early, because a thread departs that has not arrived. */
  readonly early?: boolean;
  /** How many departures are refused; any number by default. */
  readonly refusals?: number;
  /** How many tickets are taken; any number by default. */
  readonly tickets?: number;
  readonly spin?: number;
  readonly first?: bigint;
  readonly buckets?: 1 | 2;
  readonly long?: boolean;
}

export function capacitorOf(scene: Scene): number {
  return ([...scene.watched][0] as number) - TICKET;
}

export function innerOf(scene: Scene): number {
  return capacitorOf(scene) + OBJECT_SIZE;
}

function laneOf(scene: Scene, i: number): number {
  return innerOf(scene) + (1 + i) * OBJECT_SIZE;
}

/** Notes that the thread has taken a ticket: it stands behind all threads that have a ticket already. */
export function arrived(scene: Scene, t: number): void {
  const queue = scene.get(0, QUEUE);
  scene.set(0, QUEUE, queue + (t + 1) * 16 ** digits(queue).filter((d) => d !== 0).length);
}

export function admitted(scene: Scene, t: number, bound: number): void {
  const holder = scene.get(0, HOLDER);
  if (holder !== 0) throw new Violation(`threads ${holder - 1} and ${t} both hold the lock`);
  scene.set(0, HOLDER, t + 1);
  const queue = scene.get(0, QUEUE);
  for (const who of digits(queue)) {
    if (who === t + 1 || who === 0) break;
    const passed = scene.get(0, PASSED) + 16 ** (who - 1);
    scene.set(0, PASSED, passed);
    if (((passed >> (4 * (who - 1))) & 15) > bound)
      throw new Violation(`thread ${who - 1} is overtaken more than ${bound} times`);
  }
  scene.set(0, QUEUE, without(queue, t + 1));
  scene.set(0, PASSED, scene.get(0, PASSED) & ~(15 << (4 * t)));
}

/** What the ops need to know of a model. */
interface Form {
  readonly inside: Inside;
  readonly lanes: number;
  readonly bypass: number;
  readonly bound: number;
  readonly each: number | undefined;
  readonly threads: number;
  /** How many departures of threads that have not arrived there are (`X`). */
  readonly strays: number;
  readonly early: boolean;
  /** The low word of the first ticket. */
  readonly first: number;
}

/** Notes that thread t has drawn a ticket from the word at an address. */
function drew(scene: Scene, t: number, address: number, { each, threads, first }: Form): void {
  arrived(scene, t);
  scene.set(t, OWN_TICKET, (scene.word(address) - 1 - first) | 0);
  if (each === undefined) return;
  const ticketed = scene.get(0, TICKETED) | (1 << t);
  const sustained = (ticketed & (SUSTAINED - 1)) === 2 ** threads - 1;
  const bit = SUSTAINED << t;
  scene.set(0, TICKETED, sustained ? ticketed | bit : ticketed & ~bit);
}

/** The ghost that counts the departures from the capacitor at an address. */
const departures = (scene: Scene, at: number): number => DEPARTED + (at - capacitorOf(scene)) / OBJECT_SIZE;

/** Checks that all threads of the platoons before that of thread t, which the capacitor admits, have left. */
function platoonComplete(scene: Scene, t: number, at: number, { bypass, early }: Form): void {
  const departed = scene.get(0, departures(scene, at));
  if (!early && scene.get(t, OWN_TICKET) >= bypass * (1 + Math.floor(departed / bypass)))
    throw new Violation(`thread ${t} comes in while a thread of an earlier platoon is inside`);
  scene.set(t, OWN_TICKET, 0);
}

/** Notes that thread t has no ticket any more, and waits no longer. */
function left(scene: Scene, t: number, { each }: Form): void {
  if (each !== undefined) scene.set(0, TICKETED, scene.get(0, TICKETED) & ~(1 << t));
}

/** Checks how often thread t has overtaken each thread before it, now that it gets the lock. */
function overtook(scene: Scene, t: number, { each, threads }: Form): void {
  if (each === undefined) return;
  let pairs = scene.get(0, PAIRS);
  if (scene.get(0, TICKETED) & (SUSTAINED << t)) {
    for (const who of digits(scene.get(0, QUEUE))) {
      if (who === t + 1 || who === 0) break;
      const shift = 2 * (threads * (who - 1) + t);
      if (((pairs >> shift) & 3) === each)
        throw new Violation(`thread ${t} overtakes thread ${who - 1} more than ${each} times`);
      pairs += 1 << shift;
    }
  }
  // Thread t waits no longer.
  scene.set(0, PAIRS, pairs & ~((4 ** threads - 1) << (2 * threads * t)));
}

/** The phases of an op. */
const IDLE = 1;
const TRY_INNER = 2;
const ARRIVE = 3;
const AWAIT = 4;
const LANE = 5;
const INNER = 6;
const DEPART = 8;
const RELEASE = 9;
const UNLOCK = 10;
const OPEN = 11;
const POST = 12;

/**
 * How a thread got the lock: past the capacitor (PAST), or through it (ARRIVED). If a lane is a capacitor of its own,
 * ARRIVED plus the number of the lane through which the thread came.
 */
const PAST = 1;
const ARRIVED = 2;

/** Arrives at the capacitor at an address. Returns undefined while the arrival is under way, and then the answer. */
function arriving(scene: Scene, t: number, at: number, trying: boolean, form: Form): number | undefined {
  const answer = scene.result(t);
  const call = (phase: number, name: string, ...args: number[]): undefined => {
    scene.set(t, PHASE, phase);
    scene.call(t, name, ...args);
  };
  switch (scene.get(t, PHASE)) {
    case ARRIVE:
      if (answer !== QUEUED) return answer;
      if (form.inside === 'multilane') return call(LANE, 'laneOf', form.lanes);
      return call(AWAIT, `${form.inside}Await`, at);
    case LANE:
      return call(AWAIT, 'ticketAwait', laneOf(scene, answer));
    case AWAIT:
      return answer;
    default:
      return call(ARRIVE, trying ? 'takeIfDue' : `${prefix(form.inside)}Acquire`, at);
  }
}

function locking(letter: string, lane: number | undefined, form: Form): Op {
  const trying = letter === 'Y';
  return {
    text: { L: 'lock', K: 'lock when contended', Y: 'tryLock' }[letter] as string,
    next(scene, t) {
      const at = lane === undefined ? capacitorOf(scene) : laneOf(scene, lane);
      const answer = scene.result(t);
      const call = (phase: number, name: string, ...args: number[]): false => {
        scene.set(t, PHASE, phase);
        scene.call(t, name, ...args);
        return false;
      };
      const got = (how: number): true => {
        overtook(scene, t, form);
        admitted(scene, t, form.bound);
        scene.set(t, GOT, how);
        return true;
      };
      const inner = (): false => call(INNER, trying ? 'ttsTryLock' : 'ttsLock', innerOf(scene));
      const refused = (): true => {
        if (answer !== ANSWER_CLOSED && answer !== REFUSED) throw new Violation(`thread ${t} is answered ${answer}`);
        if (answer === ANSWER_CLOSED && !closed(scene, at))
          throw new Violation(`thread ${t} learns that the capacitor is closed`);
        scene.set(0, QUEUE, without(scene.get(0, QUEUE), t + 1));
        scene.set(0, PASSED, scene.get(0, PASSED) & ~(15 << (4 * t)));
        left(scene, t, form);
        return true;
      };
      switch (scene.get(t, PHASE)) {
        case 0:
          if (letter === 'K') return call(IDLE, 'capacitorIsIdle', at, form.bypass);
          break;
        case IDLE:
          if (answer === 1) return call(TRY_INNER, 'ttsTryLock', innerOf(scene));
          break;
        case TRY_INNER:
          if (answer === ADMITTED) return got(PAST);
          break;
        case INNER:
          if (answer === ADMITTED) return got(ARRIVED + (lane ?? 0));
          if (answer !== REFUSED) throw new Violation(`thread ${t} is answered ${answer} by the inner lock`);
          refused();
          return departing(scene, t, at, form);
        case ARRIVE:
        case LANE:
        case AWAIT:
          break;
        default:
          return departing(scene, t, at, form);
      }
      const answered = arriving(scene, t, at, trying, form);
      if (answered === undefined) return false;
      if (answered !== ADMITTED) return refused();
      platoonComplete(scene, t, at, form);
      return inner();
    },
  };
}

/** Gives permits back to the semaphore inside the capacitor. Returns true when this is done. */
function releasing(scene: Scene, t: number, at: number, permits: number, { inside, lanes }: Form): boolean {
  const answer = scene.result(t);
  const phase = scene.get(t, PHASE);
  const call = (next: number, name: string, ...args: number[]): false => {
    scene.set(t, PHASE, next);
    scene.call(t, name, ...args);
    return false;
  };
  const release = inside === 'multilane' ? 'lanesRelease' : `${inside}Release`;
  switch (phase) {
    case RELEASE:
      if (inside === 'multilane') {
        if (answer < 0) return true;
        scene.set(t, LOCAL, answer);
        break;
      }
      return answer === MORE ? call(POST, POSTS[release] as string, at) : true;
    case OPEN:
      break;
    case POST:
      return true;
    default:
      return inside === 'multilane' ? call(RELEASE, release, at, permits, lanes) : call(RELEASE, release, at, permits);
  }
  // LOCAL is the number of the first lane, plus 64 for each lane that has been opened.
  const local = scene.get(t, LOCAL);
  const opened = local >> 6;
  if (opened === Math.min(permits, lanes)) return true;
  scene.set(t, LOCAL, local + 64);
  return call(OPEN, 'laneOpen', at, laneOf(scene, ((local & 63) + opened) % lanes), opened, lanes);
}

/** Departs from the capacitor at an address, after an arrival or not. Returns true when this is done. */
function departing(scene: Scene, t: number, at: number, form: Form, hasArrived = true): boolean {
  const phase = scene.get(t, PHASE);
  if (phase === DEPART) {
    const answer = scene.result(t);
    left(scene, t, form);
    if (answer === ADMITTED) return true;
    if (answer === ANSWER_NOT_HELD && form.strays > 0) {
      scene.set(0, REFUSALS, scene.get(0, REFUSALS) + 1);
      return true;
    }
    if (answer !== MORE) throw new Violation(`thread ${t}'s departure is answered ${answer}`);
  } else if (phase !== RELEASE && phase !== POST && phase !== OPEN) {
    const ghost = departures(scene, at);
    if (hasArrived) scene.set(0, ghost, scene.get(0, ghost) + 1);
    scene.set(t, PHASE, DEPART);
    scene.call(t, 'capacitorDepart', at, form.bypass);
    return false;
  }
  return releasing(scene, t, at, form.bypass, form);
}

function unlocking(form: Form): Op {
  return {
    text: 'unlock',
    next(scene, t) {
      const held = scene.get(t, GOT);
      switch (scene.get(t, PHASE)) {
        case 0:
          if (held === 0) return true;
          scene.set(0, HOLDER, 0);
          scene.set(t, PHASE, UNLOCK);
          scene.call(t, 'ttsUnlock', innerOf(scene));
          return false;
        case UNLOCK:
          if (scene.result(t) !== ADMITTED) throw new Violation(`thread ${t} does not hold the inner lock`);
          if (held === PAST) {
            scene.set(t, GOT, 0);
            return true;
          }
      }
      const random = form.lanes > 0 && form.inside !== 'multilane';
      const at = random ? laneOf(scene, held - ARRIVED) : capacitorOf(scene);
      if (!departing(scene, t, at, form)) return false;
      scene.set(t, GOT, 0);
      return true;
    },
  };
}

/**
 * Acquires the semaphore inside, which has as many permits as the bypass says. HOLDER counts the threads that have a
 * permit.
 */
function acquiring(form: Form): Op {
  return {
    text: 'acquire',
    next(scene, t) {
      const at = capacitorOf(scene);
      const answer = arriving(scene, t, at, false, form);
      if (answer === undefined) return false;
      if (answer === ADMITTED) {
        const inside = scene.get(0, HOLDER) + 1;
        if (inside > form.bypass) throw new Violation(`${inside} have permits`);
        scene.set(0, HOLDER, inside);
        scene.set(t, GOT, 1);
        if (form.bypass === 1 && digits(scene.get(0, QUEUE))[0] !== t + 1)
          throw new Violation(`thread ${t} is admitted out of turn`);
      } else if (!closed(scene, at)) throw new Violation(`thread ${t} learns that the semaphore is closed`);
      scene.set(0, QUEUE, without(scene.get(0, QUEUE), t + 1));
      return true;
    },
  };
}

function givingBack(form: Form): Op {
  return {
    text: 'release',
    next(scene, t) {
      if (scene.get(t, PHASE) === 0) {
        if (scene.get(t, GOT) === 0) return true;
        scene.set(t, GOT, 0);
        scene.set(0, HOLDER, scene.get(0, HOLDER) - 1);
      }
      return releasing(scene, t, capacitorOf(scene), 1, form);
    },
  };
}

/** Closes the words on which threads wait. */
function disposing({ inside, lanes }: Form): Op {
  return {
    text: 'dispose',
    next(scene, t) {
      const phase = scene.get(t, PHASE);
      if (phase > lanes) return true;
      scene.set(t, PHASE, phase + 1);
      const at = phase === 0 ? capacitorOf(scene) : laneOf(scene, phase - 1);
      scene.call(t, `${prefix(inside)}Dispose`, at);
      return false;
    },
  };
}

function op([letter = '', digit]: string, form: Form): Op {
  const lane = digit === undefined ? undefined : Number(digit);
  if (letter === 'U') return unlocking(form);
  if (letter === 'D') return disposing(form);
  if (letter === 'X')
    return { text: 'depart', next: (scene, t) => departing(scene, t, capacitorOf(scene), form, false) };
  if (letter === 'A') return acquiring(form);
  if (letter === 'R') return givingBack(form);
  if ('LKY'.includes(letter)) return locking(letter, lane, form);
  throw new Error(`a capacitor's program has no ${letter}`);
}

export function capacitorModel(line: Line): Model {
  const { bypass, lanes = 0, random = false, bound = bypass - 1, each, spin = 0, first = 0n, threshold = 0 } = line;
  const inside = line.inside ?? (lanes > 0 && !random ? 'multilane' : 'ticket');
  const parts = partsOf(line.program);
  const form: Form = {
    inside,
    lanes,
    bypass,
    bound,
    each,
    threads: parts.length,
    strays: line.program.split('X').length - 1,
    early: line.early ?? false,
    first: Number(BigInt.asIntN(32, first)),
  };
  return {
    name: `Capacitor: ${line.name}`,
    program: 'algorithms',
    programs: parts.map((part) => part.split(/\s+/).map((letter) => op(letter, form))),
    symmetric: parts,
    arena: { buckets: line.buckets ?? 1, elements: inside === 'chain' ? parts.length : 1, objects: 2 + lanes },
    long: line.long ?? false,
    objects: (scene) => {
      const wake = inside === 'chain' ? WAKE_PASS : 0;
      const at = scene.object(KIND, spin, threshold, bypass, first, 0, wake);
      scene.watched.add(at + TICKET);
      scene.object(constant('KIND_TTS_LOCK'), 0, 0);
      for (let i = 0; i < lanes; i++) {
        const lane = scene.object(KIND, spin, threshold, bypass, first);
        if (random) scene.watched.add(lane + TICKET);
      }
      if (inside === 'chain') for (let t = 0; t < parts.length; t++) scene.callNow(t, 'prepare');
    },
    written: (scene, t, address, before) => {
      if (scene.word(address) !== before) drew(scene, t, address, form);
    },
    end: (scene) => {
      if (scene.word(innerOf(scene)) !== 0 || scene.get(0, HOLDER) !== 0)
        throw new Violation('somebody is said to hold the lock at the end');
      const { refusals, tickets } = line;
      if (refusals !== undefined && scene.get(0, REFUSALS) !== refusals)
        throw new Violation(`${scene.get(0, REFUSALS)} departures are refused`);
      if (tickets !== undefined && scene.word(capacitorOf(scene) + TICKET) !== tickets)
        throw new Violation(`${scene.word(capacitorOf(scene) + TICKET)} tickets are taken`);
      for (const at of random ? [0, 1].map((i) => laneOf(scene, i)) : [capacitorOf(scene)]) {
        if (closed(scene, at)) continue;
        const inside = scene.word(at + TICKET) - (scene.word(at + GRANT) - bypass) - scene.word(at + O_DEPARTED);
        if (inside !== -form.strays) throw new Violation(`${inside} are said to be inside at the end`);
      }
      if (inside === 'multilane' && !closed(scene, capacitorOf(scene))) lanesAgree(scene, form, Number(first));
    },
  };
}

/** Checks that the grant of each lane has risen by `lanes` for each ticket of the lane that has been granted. */
function lanesAgree(scene: Scene, { lanes, bypass }: Form, first: number): void {
  const begin = first + bypass;
  const grant = scene.word(capacitorOf(scene) + GRANT) >>> 0;
  for (let i = 0; i < lanes; i++) {
    let granted = 0;
    for (let ticket = begin; ticket % 2 ** 32 !== grant; ticket++) if (ticket % lanes === i) granted++;
    if (scene.word(laneOf(scene, i) + GRANT) >>> 0 !== (begin + granted * lanes) % 2 ** 32)
      throw new Violation(`the grant of lane ${i} is not that of its tickets`);
  }
}

const three = 'L U L U | L U L U | L U L U';
const WRAP = 2n ** 32n - 2n;

/**
 * In a name such as `3x2, B = 4`, B is the size of the platoons (`bypass`). If there are fewer threads than B, a thread
 * can overtake another thread several times. If there are B threads or more, threads have to wait for a permit.
 */
export const models: readonly Model[] = (
  [
    { name: '2x1, B = 1', program: 'L U | L U', bypass: 1 },
    { name: '2x2, B = 1', program: 'L U L U | L U L U', bypass: 1 },
    { name: '2x1 polling, B = 1', program: 'L U | L U', bypass: 1, spin: 2 },
    { name: '2 lanes: 2x1, B = 1', program: 'L U | L U', bypass: 1, lanes: 2 },
    { name: '3x2, B = 1', program: three, bypass: 1, long: true },
    { name: '3x2, B = 2', program: three, bypass: 2, long: true },
    { name: '3x2, B = 3', program: three, bypass: 3, long: true },
    { name: '3x2, B = 4', program: three, bypass: 4, long: true },
    { name: '2x3, B = 2', program: 'L U L U L U | L U L U L U', bypass: 2 },
    { name: '2x4, B = 3', program: 'L U L U L U L U | L U L U L U L U', bypass: 3 },
    { name: 'polling', program: 'L U | L U | L U', bypass: 2, spin: 1 },
    { name: 'wrap', program: 'L U L U | L U L U', bypass: 2, first: WRAP },
    { name: 'try', program: 'L U | Y U Y U | L U', bypass: 2 },
    { name: 'misuse', program: 'X L U L U', bypass: 2, refusals: 1 },
    { name: 'misuse: the platoon is not complete', program: 'L U X L U L U', bypass: 3, refusals: 1 },
    { name: 'misuse: 2x2 and a stray', program: 'L U L U | L U L U | X', bypass: 2, bound: 9, early: true },
    { name: 'misuse: B = 1, a stray', program: 'L U L U | L U | X', bypass: 1, bound: 9, early: true },
    { name: 'dispose', program: 'L U | L U | D', bypass: 1 },
    ...[0, 1, 2].flatMap(
      (threshold) =>
        [
          { name: `twa ${threshold}: 2x1, B = 1`, program: 'L U | L U', bypass: 1, threshold, inside: 'twa' },
          {
            name: `twa ${threshold}: 2x1, B = 2, 2 buckets`,
            program: 'L U | L U',
            bypass: 2,
            threshold,
            inside: 'twa',
            buckets: 2,
          },
          { name: `twa ${threshold}: 3x1, B = 1`, program: 'L U | L U | L U', bypass: 1, threshold, inside: 'twa' },
          {
            name: `twa ${threshold}: 3x1 and 1, B = 2`,
            program: 'L U L U | L U | L U',
            bypass: 2,
            threshold,
            inside: 'twa',
            long: true,
          },
          {
            name: `twa ${threshold}: 4x1, B = 2, 2 buckets`,
            program: 'L U | L U | L U | L U',
            bypass: 2,
            threshold,
            inside: 'twa',
            buckets: 2,
            long: true,
          },
          { name: `twa ${threshold}: dispose`, program: 'L U | L U | D', bypass: 1, threshold, inside: 'twa' },
        ] as const,
    ),
    ...[0, 1].flatMap(
      (threshold) =>
        [
          { name: `chain ${threshold}: 2x1, B = 1`, program: 'L U | L U', bypass: 1, threshold, inside: 'chain' },
          {
            name: `chain ${threshold}: 3x1, B = 2`,
            program: 'L U | L U | L U',
            bypass: 2,
            threshold,
            inside: 'chain',
            long: true,
          },
          { name: `chain ${threshold}: dispose`, program: 'L U | L U | D', bypass: 1, threshold, inside: 'chain' },
        ] as const,
    ),
    { name: '1 lane: 3x1, B = 1', program: 'L U | L U | L U', bypass: 1, lanes: 1 },
    { name: '2 lanes: 3x2, B = 1', program: three, bypass: 1, lanes: 2, long: true },
    { name: '2 lanes: 3x2, B = 2', program: three, bypass: 2, lanes: 2, long: true },
    { name: '3 lanes: 3x1 and 1, B = 1', program: 'L U L U | L U | L U', bypass: 1, lanes: 3, long: true },
    {
      name: '2 lanes: wrap, polling',
      program: 'L U L U | L U L U',
      bypass: 1,
      lanes: 2,
      first: WRAP,
      spin: 1,
    },
    { name: '2 lanes: yielding', program: 'L U L U | L U L U', bypass: 1, lanes: 2, spin: -1 },
    { name: '2 lanes: dispose', program: 'L U | L U | D', bypass: 1, lanes: 2 },
    { name: '3 lanes: 2x2, B = 2', program: 'L U L U | L U L U', bypass: 2, lanes: 3 },
    { name: '2 lanes at random', program: 'L0 U L1 U | L1 U L0 U', bypass: 1, bound: 3, lanes: 2, random: true },
    {
      name: '2 lanes at random: in one lane',
      program: 'L0 U L0 U | L0 U | L1 U',
      bypass: 1,
      bound: 3,
      lanes: 2,
      random: true,
    },
    { name: 'a semaphore in 2 lanes: 3x1', program: 'A R | A R | A R', bypass: 1, lanes: 2 },
    { name: 'a semaphore in 2 lanes: 2x2', program: 'A R A R | A R A R', bypass: 1, lanes: 2, spin: 1 },
    { name: 'a semaphore in 2 lanes: 4x1, 2 permits', program: 'A R | A R | A R | A R', bypass: 2, lanes: 2 },
    { name: 'a semaphore in 3 lanes: wrap', program: 'A R A R | A R | A R', bypass: 1, lanes: 3, first: WRAP },
    { name: 'a semaphore in 2 lanes: dispose', program: 'A R | A R | D', bypass: 1, lanes: 2 },
    {
      name: 'when contended: 3x2, B = 1',
      program: 'K U K U | K U K U | K U K U',
      bypass: 1,
      bound: 2,
      long: true,
    },
    {
      name: 'when contended: 3x2, B = 2',
      program: 'K U K U | K U K U | K U K U',
      bypass: 2,
      bound: 3,
      long: true,
    },
    { name: 'when contended: one passes', program: 'K U K U K U | L U', bypass: 1, bound: 1 },
    { name: 'when contended: alone', program: 'K U L U K U', bypass: 2, tickets: 1 },
    { name: 'when contended: try', program: 'K U | Y U Y U | K U', bypass: 1, bound: 2 },
  ] satisfies Line[]
).map(capacitorModel);
