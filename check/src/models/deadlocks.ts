/**
 * Models of the second look at a deadlock (src/report/confirm.ts). The very generator of the library runs here, one
 * load a step, beside threads that run the core. A thread of the program is a row of these:
 *
 *     L0   locks mutex 0 without a time limit, and first sleeps with an odd limit that may pass, as src/report/long-sleeps.ts
 *     B0   locks mutex 0 with a time-out, which may pass in each sleep. Then the thread does not get the lock
 *     U0   unlocks mutex 0, if the thread has it
 *     E0   locks mutex 0 as L0. When its limit has passed, the thread looks, and leaves if it finds the deadlock. If
 *          not, it sleeps and looks again. The first look comes at any time. A later one comes when no other thread
 *          can go on: each pause is longer than the one before, so in the end a thread sleeps for longer than the
 *          others run
 *     F0   does the same, but is not the thread that tells of the deadlock (src/report/youngest.ts), so it never leaves
 *     ?0   looks whether the first of the deadlocks that the model names is there
 *
 * and of the letters of the models of the mutex (parts/mutex-ops.ts) and of the RwLock (rw-lock.ts). The facts for
 * which a look looks are made by the library too, from a memory that the model makes: the words in it say what they
 * would say in the deadlock. So a look may begin in every state, whatever a first look of the library would have found
 * there.
 *
 * What is checked, at the end of each look:
 *     no false alarm    if the look has found the deadlock, there was a moment during the look at which each of its
 *                       threads was in a call without a time-out that waits for what the next thread holds, or was
 *                       killed in it. So none of the calls could end, but by a death
 *     no miss           if all this was so when the look began, and the threads slept for good, the look has found it
 *
 * And each thread that leaves a deadlock frees the others: nobody waits at the end.
 */

import { lookAt } from '../../../dist/look/look.js';
import { confirm, type Fact, type Sleeper } from '../../../dist/report/confirm.js';
import { circlesIn } from '../../../dist/report/deadlocks.js';
import { evidenceOf, stuckIn } from '../../../dist/report/waits-for.js';
import { PARKED } from '../engine/machine/status.js';
import { Violation } from '../engine/search/violation.js';
import { ADMITTED, CANCELLED, constant, E_HELD, E_REQUEST, ELEMENT_SIZE, T_SLEEPS_ON } from '../scene/layout.js';
import type { Model, Op } from '../scene/model.js';
import { recordOf } from '../scene/ops/deaths.js';
import type { Scene } from '../scene/scene.js';
import { LOCAL, OP, PHASE, PROMISES, RESULT } from '../scene/words.js';
import { mutexOp } from './parts/mutex-ops.js';
import { CONTENDED } from './parts/mutex-words.js';
import { partsOf } from './parts/program.js';
import { ops as rwLockOps } from './rw-lock.js';

const MUTEX = constant('KIND_MUTEX');
const RW_LOCK = constant('KIND_RW_LOCK');
const ALIVE = constant('ALIVE');
const ASLEEP = constant('ASLEEP');
const LIFE_STATE = constant('LIFE_STATE');
const HEAD = constant('HEAD');
const MORE = constant('MORE');
const M_WORD = constant('M_WORD');
const M_OWNER = constant('M_OWNER');
const M_HEAD = constant('M_HEAD');
const O_PHASE = constant('O_PHASE');
const O_DRAIN = constant('O_DRAIN');
const T_WAKE = constant('T_WAKE');
const T_SEATS = constant('T_SEATS');
const WAITING = constant('WAITING');
const GATE_SHUT = constant('GATE_SHUT');
const GATE_DRAINING = constant('GATE_DRAINING');
/** The flags of a seat, in its high half: its thread reads, or waits to read. */
const SEAT_READS = 1;
const SEAT_WAITS = 2;
/** The words of rw-lock.ts that say how often a thread reads its first lock, and that the thread writes. */
const READS = PROMISES;
const WRITES = PROMISES + 4;

/** Which mutexes the thread has, as bits. It outlives the ops. */
const HAS = PROMISES + 14;
/** How often the thread has looked in its wait. */
const LOOKS = PROMISES + 15;
/** A thread looks so often. At a later look no other thread can go on, so one of these is enough. */
const USUAL_LOOKS = 2;

// --- Deadlocks that a model names -------------------------------------------------------------------------

/** A thread of a deadlock: what it holds, what it waits for, and how. */
interface Part {
  readonly thread: number;
  readonly holds: number;
  readonly waits: number;
  /** `head` and `queue`: of a mutex. `drain`: a writer waits for readers. `read`: a reader waits for the writer. */
  readonly how: 'head' | 'queue' | 'drain' | 'read';
}

/** For what a look looks. */
interface Evidence {
  readonly parts: readonly Part[];
  readonly sleepers: readonly Sleeper[];
  readonly facts: readonly Fact[];
}

const attachmentAt = (scene: Scene, t: number, object: number): number =>
  scene.regions.elements + (scene.attachment(t, object) - 1) * ELEMENT_SIZE;

const hasPhase = (scene: Scene, object: number): boolean =>
  (scene.machine.hostLoad32(scene.semaphores[object] + constant('O_KIND')) & constant('HAS_PHASE')) !== 0;

/** Returns the evidence of a deadlock, as the library finds it in a memory with the words of the deadlock. */
function evidence(scene: Scene, parts: readonly Part[]): Evidence {
  const words = Int32Array.from(scene.machine.words.subarray(0, scene.regions.end >> 2));
  const set = (address: number, value: number): void => {
    words[address >> 2] = value;
  };
  for (const { thread, holds, waits, how } of parts) {
    const record = recordOf(scene, thread);
    const held = scene.semaphores[holds];
    const wanted = scene.semaphores[waits];
    set(record, (words[record >> 2] & ~LIFE_STATE) | ASLEEP);
    // What it holds: a mutex, or a RwLock as the writer that drains or writes; a reader has a seat.
    if (!hasPhase(scene, holds)) set(held + M_WORD, thread + 1);
    else if (how === 'drain' || parts.some((part) => part.waits === holds && part.how === 'read')) {
      set(attachmentAt(scene, thread, holds) + E_HELD, 1);
      set(held + O_PHASE, GATE_SHUT | words[(held + O_PHASE) >> 2]);
    } else set(record + T_SEATS + 4, held | SEAT_READS);
    // For what it waits.
    if (how === 'head') {
      set(record + T_SLEEPS_ON, (record + T_WAKE) | 1);
      set(attachmentAt(scene, thread, waits) + E_HELD, 1);
      set(wanted + M_HEAD, thread + 1);
    } else if (how === 'queue') {
      const e = scene.spare(thread);
      set(record + T_SLEEPS_ON, e | 1);
      set(e, (words[e >> 2] & ~15) | WAITING);
      const index = (wanted - scene.regions.objects) / constant('OBJECT_SIZE');
      set(e + E_REQUEST, ((index & 1) << 31) | 1);
      set(e + E_REQUEST + 4, ((thread + 1) << 19) | (index >> 1));
    } else {
      const own = attachmentAt(scene, thread, waits);
      set(own + constant('E_END'), 1);
      if (how === 'drain') {
        set(record + T_SLEEPS_ON, (wanted + O_DRAIN) | 1);
        set(own + E_HELD, 1);
        set(wanted + O_PHASE, GATE_SHUT | GATE_DRAINING);
      } else {
        set(record + T_SLEEPS_ON, (wanted + O_PHASE + 4) | 1);
        set(record + T_SEATS + 4, wanted | SEAT_WAITS);
      }
    }
  }
  const look = lookAt({ buffer: words.buffer } as WebAssembly.Memory, 0, 0);
  const stuck = stuckIn(look);
  const circle = circlesIn(stuck).find(({ cycle }) => cycle.length === parts.length);
  if (circle === undefined) throw new Error(`${scene.model.name}: the library finds no such deadlock`);
  const [sleepers, facts] = evidenceOf(stuck, circle.cycle);
  return { parts, sleepers, facts };
}

/** Whether a thread of a deadlock is in a call without a time-out that waits for what the next thread has. */
function isWaiting(scene: Scene, { parts }: Evidence, i: number): boolean {
  const { thread, holds, waits, how } = parts[i];
  const text = (scene.model as Model).programs[thread][scene.get(thread, OP)]?.text ?? '';
  const wants = how === 'drain' ? 'shut, for ever' : how === 'read' ? 'read, for ever' : `lock(${waits})`;
  // A thread that was killed makes no step either.
  const isIn = text === wants || (text === `${wants} or leave` && scene.get(thread, PHASE) !== cancelsHead);
  if (!scene.dead(thread) && !isIn) return false;
  if (!hasPhase(scene, holds))
    return (scene.machine.words[(scene.semaphores[holds] + M_WORD) >> 2] & M_OWNER) === thread + 1;
  return scene.get(thread, parts.at(i - 1)?.how === 'read' ? WRITES : READS) > 0;
}

/** Whether each thread of a deadlock is in a call that cannot end while the others are in theirs. */
const isThere = (scene: Scene, given: Evidence): boolean => given.parts.every((_, i) => isWaiting(scene, given, i));

/** Whether each thread of a deadlock sleeps, with no limit. The thread `me` looks. */
const allSleep = ({ machine }: Scene, { parts }: Evidence, me: number): boolean =>
  parts.every(({ thread }) => thread === me || (machine.status(thread) === PARKED && !machine.canTimeOut(thread)));

/** A faulty look, which a test uses to show that the models find it. */
export type Look = typeof confirm;

// Words of a look, besides PHASE, which counts its loads.
const SLEEPS = LOCAL; // what the first pass has read of each thread
const WAS_THERE = LOCAL + 3;
const ANSWER = LOCAL + 4;
const FOUND = 1;
// The bits of WAS_THERE.
const AT_FIRST = 1;
const ONCE = 2;

/**
 * Goes on with a look. Returns whether it is over; then ANSWER is FOUND or 0. `base` is the phase in which it begins.
 * The search cannot keep a generator in a state. So the generator begins anew in each step, and gets again what it has
 * got before: all these values are known but those of T_SLEEPS.
 */
function looking(scene: Scene, t: number, { sleepers, facts, ...rest }: Evidence, base: number, by: Look): boolean {
  const done = scene.get(t, PHASE) - base;
  const given: Evidence = { sleepers, facts, ...rest };
  const is = isThere(scene, given);
  const isCertain = is && allSleep(scene, given, t);
  if (done === 0) scene.set(t, WAS_THERE, isCertain ? AT_FIRST : 0);
  if (is) scene.set(t, WAS_THERE, scene.get(t, WAS_THERE) | ONCE);
  const steps = by(sleepers, facts);
  let step = steps.next();
  for (let i = 0; i < done; i++) {
    if (step.done) throw new Error('the look is over');
    const address = step.value;
    let value = i === done - 1 ? scene.get(t, RESULT) : known(given, scene, t, address);
    const asked = sleepers.findIndex(({ sleepsAt }) => sleepsAt === address);
    if (i === done - 1 && asked >= 0 && i < 2 * sleepers.length) scene.set(t, SLEEPS + asked, value);
    if (asked >= 0 && i < done - 1) value = scene.get(t, SLEEPS + asked);
    step = steps.next(value);
  }
  if (!step.done) {
    scene.set(t, PHASE, base + done + 1);
    scene.hostLoad(t, step.value);
    return false;
  }
  if (step.value && scene.get(t, WAS_THERE) === 0) throw new Violation('a deadlock is found, and there was none');
  if (!step.value && (scene.get(t, WAS_THERE) & AT_FIRST) !== 0 && isCertain)
    throw new Violation('a deadlock is there, and is not found');
  scene.set(t, ANSWER, step.value ? FOUND : 0);
  for (let i = 0; i < 4; i++) scene.set(t, LOCAL + i, 0);
  return true;
}

/** What a load in the past of a look has given: otherwise the look would have ended there. */
function known({ sleepers, facts }: Evidence, scene: Scene, t: number, address: number): number {
  const asked = sleepers.findIndex(({ sleepsAt }) => sleepsAt === address);
  if (asked >= 0) return scene.get(t, SLEEPS + asked);
  const life = sleepers.find(({ lifeAt }) => lifeAt === address)?.life;
  return life ?? (facts.find((fact) => fact.address === address) as Fact).value;
}

// --- Ops --------------------------------------------------------------------------------------------------

const begin = 0;
const tried = 1;
const reserves = 2;
const queued = 3;
const parks = 4;
const competes = 5;
const cancels = 6;
const cancelsHead = 7;
const parksAgain = 8;
const competesAgain = 9;
const wakes = 10;
/** The phases from here on are those of a look. */
const looks = 11;

type Go = (phase: number, name: string, ...args: number[]) => false;

function has(scene: Scene, t: number, i: number): true {
  const owner = scene.machine.words[(scene.semaphores[i] + M_WORD) >> 2] & M_OWNER;
  if (owner !== t + 1) throw new Violation(`thread ${t} learns that it has a lock`);
  scene.set(t, HAS, scene.get(t, HAS) | (1 << i));
  return true;
}

function calling(scene: Scene, t: number): Go {
  return (phase, name, ...args) => {
    scene.set(t, PHASE, phase);
    scene.call(t, name, ...args);
    return false;
  };
}

/** Locks a mutex, with a time-out or without. A first sleep without one has an odd limit, as in src/report/long-sleeps.ts. */
function lock(i: number, timed: boolean): Op {
  const limit = timed ? [2, 0] : [1, 0];
  return {
    text: timed ? `lock(${i}, timeout)` : `lock(${i})`,
    next(scene, t) {
      const m = scene.semaphores[i];
      const attachment = scene.attachment(t, i);
      const answer = scene.result(t);
      const go = calling(scene, t);
      switch (scene.get(t, PHASE)) {
        case begin:
          return go(tried, 'lock', m);
        case tried:
          if (answer === ADMITTED) return has(scene, t, i);
          if (answer !== CONTENDED) throw new Violation(`lock is answered ${answer}`);
          return timed ? go(reserves, 'reserveSecond') : go(queued, 'queue', m, attachment);
        case reserves:
          return go(queued, 'queue', m, attachment);
        case queued:
          if (answer === ADMITTED) return has(scene, t, i);
          if (answer === HEAD) return go(competes, 'compete', m, ...limit, attachment);
          return go(parks, 'parkFor', ...limit, 0, attachment);
        case parks:
          if (answer === ADMITTED) return go(competes, 'compete', m, ...limit, attachment);
          return timed ? go(cancels, 'cancel', m, attachment) : go(parksAgain, 'park', 0, attachment);
        case competes:
          if (answer === ADMITTED) return has(scene, t, i);
          if (timed) return go(cancelsHead, 'cancelHead', m, attachment);
          return go(competesAgain, 'compete', m, -1, -1, attachment);
        case cancels:
          return answer === CANCELLED || go(competes, 'compete', m, ...limit, attachment);
        case parksAgain:
          return go(competesAgain, 'compete', m, -1, -1, attachment);
        case competesAgain:
          if (answer !== ADMITTED) throw new Violation(`compete is answered ${answer}`);
          return has(scene, t, i);
        default:
          return true;
      }
    },
  };
}

/** Changes what the record of a thread says, as a thread does before and after it looks in the middle of its wait. */
function marking(scene: Scene, t: number, phase: number, from: number, to: number): false {
  const record = recordOf(scene, t);
  const epoch = scene.machine.hostLoad32(record) & ~LIFE_STATE;
  scene.set(t, PHASE, phase);
  scene.hostCmpxchg(t, record, epoch | from, epoch | to);
  return false;
}

/** Locks a mutex as `lock`, and leaves the queue if a look finds the deadlock. The thread waits as the head alone. */
function lockOrLeave(i: number, named: () => Evidence, by: Look, most: number, tells: boolean): Op {
  return {
    text: `lock(${i}) or leave`,
    next(scene, t) {
      const m = scene.semaphores[i];
      const attachment = scene.attachment(t, i);
      const answer = scene.result(t);
      const go = calling(scene, t);
      const phase = scene.get(t, PHASE);
      switch (phase) {
        case begin:
          return go(tried, 'lock', m);
        case tried:
          return answer === ADMITTED ? has(scene, t, i) : go(queued, 'queue', m, attachment);
        case queued:
          if (answer === ADMITTED) return has(scene, t, i);
          if (answer !== HEAD) throw new Error('this op is for the head alone');
          return go(competes, 'compete', m, 1, 0, attachment);
        case cancelsHead:
          return true;
        case competesAgain:
          return has(scene, t, i);
        case competes:
          if (answer === ADMITTED) {
            scene.set(t, LOOKS, 0);
            return has(scene, t, i);
          }
          return marking(scene, t, looks, ALIVE, ASLEEP);
        case wakes: {
          const found = scene.get(t, ANSWER) === FOUND;
          scene.set(t, ANSWER, 0);
          const count = scene.get(t, LOOKS) + 1;
          scene.set(t, LOOKS, 0);
          if (found && tells) return go(cancelsHead, 'cancelHead', m, attachment);
          if (found || count === most) return go(competesAgain, 'compete', m, -1, -1, attachment);
          scene.set(t, LOOKS, count);
          return go(competes, 'compete', m, 1, 0, attachment);
        }
        default:
          return looking(scene, t, named(), looks, by) && marking(scene, t, wakes, ASLEEP, ALIVE);
      }
    },
  };
}

/** Whether the sleep of a thread may end. A later look of its wait comes only if no other thread can go on. */
function mayTimeOut(scene: Scene, t: number): boolean {
  const { machine } = scene;
  const isLater = (u: number): boolean => scene.get(u, LOOKS) > 0;
  if (!isLater(t)) return true;
  for (let u = 0; u < scene.threads; u++) {
    if (u === t || scene.finished(u)) continue;
    if (machine.status(u) !== PARKED || (machine.canTimeOut(u) && !isLater(u))) return false;
  }
  return true;
}

function unlock(i: number): Op {
  return {
    text: `unlock(${i})`,
    next(scene, t) {
      const phase = scene.get(t, PHASE);
      const m = scene.semaphores[i];
      if (phase === 0) {
        if ((scene.get(t, HAS) & (1 << i)) === 0) return true;
        scene.set(t, HAS, scene.get(t, HAS) & ~(1 << i));
        return calling(scene, t)(1, 'unlock', m);
      }
      return phase === 1 && scene.result(t) === MORE ? calling(scene, t)(2, 'wakeHead', m) : true;
    },
  };
}

/** Looks for a deadlock of other threads. */
function look(named: (scene: Scene) => Evidence, by: Look): Op {
  return {
    text: 'look',
    next(scene, t) {
      if (!looking(scene, t, named(scene), 0, by)) return false;
      scene.set(t, ANSWER, 0);
      return true;
    },
  };
}

// --- Models -----------------------------------------------------------------------------------------------

interface Line {
  readonly name: string;
  readonly program: string;
  /** The deadlocks for which the looks `?0`, `?1`, ... look. */
  readonly deadlocks: readonly (readonly Part[])[];
  /** The first object is a RwLock. */
  readonly rwLock?: boolean;
  readonly mortal?: readonly number[];
  /** Nobody waits at the end. */
  readonly ends?: boolean;
  readonly long?: boolean;
}

/** Makes a model. `by` is the look: that of the library, or a faulty one. A thread looks at most so often in a wait. */
export function deadlockModel(line: Line, by: Look = confirm, most = USUAL_LOOKS): Model {
  const named: Evidence[] = [];
  const parts = partsOf(line.program);
  const op = (text: string): Op[] => {
    const number = Number(text.slice(1) || 0);
    switch (text[0]) {
      case 'L':
        return [lock(number, false)];
      case 'B':
        return [lock(number, true)];
      case 'E':
      case 'F':
        return [lockOrLeave(number, () => named[0], by, most, text[0] === 'E')];
      case 'U':
        return [unlock(number)];
      case '?':
        return [look(() => named[number], by)];
      case 'a':
      case 'd':
      case 'S':
        return [mutexOp(text)];
      default:
        return rwLockOps(text);
    }
  };
  const objects = line.program.includes('2') ? 3 : 2;
  return {
    name: `deadlocks: ${line.name}`,
    programs: parts.map((part) => part.split(/\s+/).flatMap(op)),
    arena: { buckets: 1, objects, elements: 2 * parts.length + 1, attached: parts.length },
    sleeps: true,
    mayWait: line.ends !== true,
    leaves: true,
    ...(line.mortal === undefined ? {} : { deaths: 1, mortal: line.mortal }),
    ...(line.long ? { long: true } : {}),
    mayTimeOut,
    objects: (scene) => {
      for (let i = 0; i < objects; i++)
        scene.semaphore({
          permits: 1,
          kind: line.rwLock && i === 0 ? RW_LOCK : MUTEX,
          max: 0x7fffffff,
          robust: true,
        });
      for (const [i, deadlock] of line.deadlocks.entries()) named[i] = evidence(scene, deadlock);
    },
  };
}

/** Two threads that lock two mutexes in opposite order. */
const CROSSWISE: readonly Part[] = [
  { thread: 0, holds: 0, waits: 1, how: 'head' },
  { thread: 1, holds: 1, waits: 0, how: 'head' },
];

export const lines: readonly Line[] = [
  { name: 'crosswise', program: 'L0 L1 U1 U0 | L1 L0 U0 U1 | ?0', deadlocks: [CROSSWISE] },
  {
    // The threads do not wait for each other, and come to the same words again and again.
    name: 'one lock after the other',
    program: 'L0 L1 U1 U0 | L1 U1 L0 U0 L1 U1 | ?0',
    deadlocks: [CROSSWISE],
    ends: true,
  },
  {
    name: 'one lock after the other, twice',
    program: 'L0 L1 U1 U0 L0 L1 | L0 U0 L1 U1 L0 | ?0',
    deadlocks: [CROSSWISE],
    long: true,
  },
  {
    name: 'crosswise, one with a time-out',
    program: 'L0 L1 U1 U0 | L1 B0 U0 U1 | ?0',
    deadlocks: [CROSSWISE],
    ends: true,
  },
  {
    name: 'crosswise, and one that has given up',
    program: 'L0 L1 | L1 B0 U0 L0 | ?0',
    deadlocks: [CROSSWISE],
    long: true,
  },
  {
    name: 'crosswise, and another before',
    program: 'L0 L1 | L1 L0 | L1 U1 | ?0',
    deadlocks: [
      [
        { thread: 0, holds: 0, waits: 1, how: 'queue' },
        { thread: 1, holds: 1, waits: 0, how: 'head' },
      ],
    ],
    long: true,
  },
  {
    name: 'three in a ring',
    program: 'L0 L1 | L1 L2 U2 U1 | L2 L0 U0 U2 | ?0',
    deadlocks: [
      [
        { thread: 0, holds: 0, waits: 1, how: 'head' },
        { thread: 1, holds: 1, waits: 2, how: 'head' },
        { thread: 2, holds: 2, waits: 0, how: 'head' },
      ],
    ],
    long: true,
  },
  {
    // The thread of the promise is not blocked: another task of it unlocks.
    name: 'a promise in the ring',
    program: 'L1 a U1 d | L0 L1 U1 U0 | ?0',
    deadlocks: [
      [
        { thread: 0, holds: 1, waits: 0, how: 'head' },
        { thread: 1, holds: 0, waits: 1, how: 'head' },
      ],
    ],
    ends: true,
  },
  {
    name: 'crosswise, one dies and is reaped',
    program: 'L0 L1 U1 U0 | L1 L0 U0 U1 | S | ?0',
    deadlocks: [CROSSWISE],
    mortal: [0],
  },
  {
    name: 'one looks and leaves',
    program: 'L0 L1 U1 U0 | L1 E0 U0 U1',
    deadlocks: [CROSSWISE],
    ends: true,
  },
  {
    // Each look may fail because the other thread looks as well.
    name: 'both look, one leaves',
    program: 'L0 F1 U1 U0 | L1 E0 U0 U1',
    deadlocks: [CROSSWISE],
    ends: true,
  },
  {
    // While a thread looks in the middle of its wait, its record says that it sleeps.
    name: 'one looks and leaves, another looks meanwhile',
    program: 'L0 L1 U1 U0 | L1 E0 U0 U1 | ?0',
    deadlocks: [CROSSWISE],
    ends: true,
  },
  {
    name: 'a writer that drains, and a reader',
    program: 'L1 w o U1 | r L1 U1 u | ?0',
    rwLock: true,
    deadlocks: [
      [
        { thread: 0, holds: 1, waits: 0, how: 'drain' },
        { thread: 1, holds: 0, waits: 1, how: 'head' },
      ],
    ],
  },
  {
    name: 'a writer, and a reader that waits',
    program: 'w L1 U1 o | L1 r u U1 | ?0',
    rwLock: true,
    deadlocks: [
      [
        { thread: 0, holds: 0, waits: 1, how: 'head' },
        { thread: 1, holds: 1, waits: 0, how: 'read' },
      ],
    ],
  },
];

export const models: readonly Model[] = lines.map((line) => deadlockModel(line));
