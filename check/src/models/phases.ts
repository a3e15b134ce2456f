/**
 * Models of the phase word (core/kinds/phase/phase.ts): Latch, WaitGroup, Event, Barrier and Once. In the text of a
 * program, bars stand between the programs of two threads, and each letter stands for one op:
 *
 *     W  waits until the count is 0
 *     F  waits until the count is 0, with a time-out that may pass in each sleep
 *     q  begins a promise that waits until the count is 0; the thread goes on
 *     e  runs the event loop until the promise is settled
 *     C  takes 1 off the count (countDown, done, set)
 *     c  takes 1 off the count, if the count is above 0
 *     P  adds 1 to the count (add)
 *     A  arms (reset)
 *     H  adds 1 to the count, and the thread holds this 1 (hold)
 *     G  takes the 1 that the thread holds off the count
 *     B  arrives at a barrier and waits
 *     b  arrives at a barrier and waits; if the barrier breaks, a death must have been counted
 *     T  arrives at a barrier and waits, with a time-out that may pass in each sleep; then the barrier breaks
 *     L  arrives at a barrier with an action and waits
 *     E  leaves the barrier
 *     O  runs a function once
 *     Q  runs a function once, and the function throws
 *     D  disposes
 *     d  disposes, unless another thread has begun to dispose
 *     X  reaps each thread that dies
 *     Z  sleeps until the thread is killed
 *
 * Each wait gets the right answer: it goes on only if the count was 0 when the thread looked, or when the phase of the
 * wait is over. A round of a barrier is complete for all or broken for all. No two threads run the function of a Once
 * at the same time, and no thread runs it again after it has succeeded. At the end nobody sleeps.
 */

import { Violation } from '../engine/search/violation.js';
import { CMPXCHG, LOAD, NOTIFY, STORE } from '../engine/wasm/code.js';
import type { Section } from '../engine/wasm/uninterruptible.js';
import {
  ADMITTED,
  ANSWER_CLOSED,
  ATTACHED,
  constant,
  E_REQUEST,
  ELEMENT_SIZE,
  QUEUED,
  STATE_MASK,
} from '../scene/layout.js';
import type { Model, Op } from '../scene/model.js';
import { call } from '../scene/ops/calls.js';
import { awaitDeath, supervise } from '../scene/ops/deaths.js';
import type { Scene } from '../scene/scene.js';
import { globalIndex } from '../scene/set-up.js';
import { GOT, LOCAL, PHASE, PROMISES } from '../scene/words.js';
import { partsOf } from './parts/program.js';

const O_PHASE = constant('O_PHASE');
const O_MAX = constant('O_MAX');
const O_DEATHS = constant('O_DEATHS');
const COUNT = constant('PHASE_COUNT');
const TIMED_OUT = constant('TIMED_OUT');
const ARRIVED = constant('ARRIVED');
const BEGUN = constant('BEGUN');
const BROKEN = constant('ANSWER_BROKEN');
const OVER_MAX = constant('ANSWER_OVER_MAX');

/** The address of the object, which is the first of the arena. */
const at = (scene: Scene): number => scene.regions.objects;
const low = (scene: Scene): number => scene.machine.words[(at(scene) + O_PHASE) >> 2];
const high = (scene: Scene): number => scene.machine.words[(at(scene) + O_PHASE + 4) >> 2];
const count = (scene: Scene): number => low(scene) & COUNT;

const DISPOSED = 3;
/** The state of the object is above its references in the word of its life (core/arena/objects.ts). */
const isDisposed = (scene: Scene): boolean =>
  ((scene.machine.words[(at(scene) + constant('O_LIFE')) >> 2] >>> 24) & 3) === DISPOSED;

/** The phase that a thread waits for. */
const WAITS_FOR = LOCAL + 1;
/** How the rounds that the thread was in have ended, two bits for each round. This word outlives the op. */
const ENDED = GOT;
/** Whether the thread is one of the parties of a barrier, or has run the function of a Once to success. */
const RUNS = GOT + 1;
/** The phase when the thread last ended an op. */
const LAST = PROMISES;
/** The phase for whose end a promise of the thread waits, plus 1; 0 if no promise waits. */
const LISTENS_TO = PROMISES + 1;
/** A value of RUNS: the thread is in its call to leave the barrier, so it may have left. */
const LEAVES = 2;
const COMPLETE = 1;
const WAS_BROKEN = 2;

/** Returns the number of the thread's attachment to the object. */
function own(scene: Scene, t: number): number {
  const { words } = scene.machine;
  for (let e = scene.regions.elements; e < scene.regions.end; e += ELEMENT_SIZE) {
    const owner = (words[(e + E_REQUEST + 4) >> 2] >>> 19) & 0xfff;
    if ((words[e >> 2] & STATE_MASK) === ATTACHED && owner === t + 1)
      return (e - scene.regions.elements) / ELEMENT_SIZE + 1;
  }
  throw new Error(`thread ${t} is not attached`);
}

/** Returns what all threads hold together. */
function held(scene: Scene): number {
  const { words } = scene.machine;
  let sum = 0;
  for (let e = scene.regions.elements; e < scene.regions.end; e += ELEMENT_SIZE) {
    if ((words[e >> 2] & STATE_MASK) === ATTACHED) sum += words[(e + constant('E_HELD')) >> 2];
  }
  return sum;
}

function seen(scene: Scene, t: number): number {
  const phase = scene.machine.get(t, globalIndex(scene.program, 'phase/phaseSeen'));
  scene.set(t, WAITS_FOR, phase);
  return phase;
}

function sleep(scene: Scene, t: number, timed: boolean): void {
  scene.call(t, 'sleepInPhase', at(scene), seen(scene, t), timed ? 1 : -1, timed ? 0 : -1);
}

function checkClosed(scene: Scene): void {
  if (high(scene) > -0x20000000) throw new Violation('a wait is answered that the object is closed');
}

/** Checks the answer of a sleep. Returns whether the phase is over. */
function isOver(scene: Scene, t: number, timed: boolean): boolean {
  const answer = scene.result(t);
  if (answer === TIMED_OUT && timed) return false;
  if (answer === ANSWER_CLOSED) checkClosed(scene);
  else if (answer !== ADMITTED) throw new Violation(`a sleep is answered ${answer}`);
  else if (high(scene) === scene.get(t, WAITS_FOR)) throw new Violation('a sleep ends before its phase');
  else checkOpened(scene);
  return true;
}

/** Checks that a latch or an event, which is not open at first, has been opened. */
function checkOpened(scene: Scene): void {
  const kind = scene.machine.words[(at(scene) + constant('O_KIND')) >> 2];
  const isShut = kind === constant('KIND_LATCH') || kind === constant('KIND_EVENT');
  if (isShut && high(scene) === 0 && count(scene) !== 0)
    throw new Violation('a wait ends, and nothing has been opened');
}

/** Checks that the phase has not fallen since any op of any thread. */
function checkPhase(scene: Scene, t: number): void {
  for (let u = 0; u < scene.threads; u++) {
    if (high(scene) >= 0 && scene.get(u, LAST) > high(scene)) throw new Violation('the phase falls');
  }
  scene.set(t, LAST, high(scene));
}

function wait(timed: boolean): Op {
  return {
    text: timed ? 'wait for a time' : 'wait',
    next(scene, t) {
      const step = scene.get(t, PHASE);
      scene.set(t, PHASE, step + 1);
      if (step === 0) {
        scene.call(t, 'awaitZero', at(scene));
        return false;
      }
      if (step === 2) {
        isOver(scene, t, timed);
        return true;
      }
      const answer = scene.result(t);
      if (answer === ANSWER_CLOSED) checkClosed(scene);
      if (answer === ADMITTED) checkOpened(scene);
      if (answer !== QUEUED) return true;
      sleep(scene, t, timed);
      return false;
    },
  };
}

/**
 * Begins a promise. The thread looks at the count. If the promise must wait, LISTENS_TO says so, as #listen in
 * src/sync/phase-object.ts does.
 */
function ask(): Op {
  return {
    text: 'waitAsync',
    next(scene, t) {
      const step = scene.get(t, PHASE);
      scene.set(t, PHASE, step + 1);
      if (step === 0) {
        scene.call(t, 'awaitZero', at(scene));
        return false;
      }
      const answer = scene.result(t);
      if (answer === ANSWER_CLOSED) checkClosed(scene);
      if (answer === ADMITTED) checkOpened(scene);
      if (answer === QUEUED) scene.set(t, LISTENS_TO, seen(scene, t) + 1);
      return true;
    },
  };
}

/** The event loop of a thread, until its promise is settled. Here the thread learns that the phase is over. */
function awaitPromise(): Op {
  return {
    text: 'await the promise',
    next(scene, t) {
      const phase = scene.get(t, LISTENS_TO) - 1;
      if (phase < 0) return true;
      const step = scene.get(t, PHASE);
      if (step !== 1) {
        scene.call(t, 'announce', at(scene), phase);
        scene.set(t, PHASE, 1);
        return false;
      }
      const answer = scene.result(t);
      if (answer === QUEUED) {
        scene.hostWait(t, at(scene) + O_PHASE + 4, phase);
        scene.set(t, PHASE, 0);
        return false;
      }
      if (answer === ANSWER_CLOSED) checkClosed(scene);
      else if (answer !== ADMITTED) throw new Violation(`a promise is answered ${answer}`);
      else if (high(scene) === phase) throw new Violation('a promise ends before its phase');
      scene.set(t, LISTENS_TO, 0);
      return true;
    },
  };
}

/** Calls a function whose answer must be ADMITTED or `or`, or say that the object is closed. */
function change(name: string, args: (scene: Scene, t: number) => number[], or = ADMITTED): Op {
  return {
    text: name,
    next(scene, t) {
      if (scene.get(t, PHASE) === 0) {
        scene.set(t, PHASE, 1);
        scene.call(t, name, at(scene), ...args(scene, t));
        return false;
      }
      const answer = scene.result(t);
      checkPhase(scene, t);
      if (answer === ANSWER_CLOSED) checkClosed(scene);
      else if (answer !== ADMITTED && answer !== or) throw new Violation(`${name} is answered ${answer}`);
      return true;
    },
  };
}

function roundEnds(scene: Scene, t: number, how: number): void {
  const round = scene.get(t, WAITS_FOR) & 7;
  scene.set(t, ENDED, scene.get(t, ENDED) | (how << (2 * round)));
}

function arrive(hasAction: boolean, timed: boolean, onlyDeaths = false): Op {
  return {
    text: 'arrive and wait',
    next(scene, t) {
      const step = scene.get(t, PHASE);
      const answer = step === 0 ? 0 : scene.result(t);
      const go = (to: number): false => {
        scene.set(t, PHASE, to);
        return false;
      };
      switch (step) {
        case 0:
          scene.call(t, 'arriveAt', at(scene), Number(hasAction), own(scene, t));
          return go(1);
        case 1: {
          if (answer === ANSWER_CLOSED) checkClosed(scene);
          if (answer === BROKEN && count(scene) !== 0) throw new Violation('the barrier is not broken');
          if (answer < 0) return true;
          if (answer === QUEUED) {
            sleep(scene, t, false);
            return go(6);
          }
          seen(scene, t);
          scene.set(t, RUNS, 1);
          const isLast = answer - ARRIVED === scene.machine.words[(at(scene) + O_MAX) >> 2] - 1;
          if (!isLast) {
            sleep(scene, t, timed);
            return go(2);
          }
          if (!hasAction) {
            roundEnds(scene, t, COMPLETE);
            return true;
          }
          scene.call(t, 'finishAction', at(scene), scene.get(t, WAITS_FOR));
          return go(3);
        }
        case 2:
          if (!isOver(scene, t, timed)) {
            scene.call(t, 'breakPhase', at(scene), scene.get(t, WAITS_FOR));
            return go(4);
          }
          if (answer === ANSWER_CLOSED) return true;
          scene.call(t, 'wasBroken', at(scene), scene.get(t, WAITS_FOR));
          return go(5);
        case 3:
          if (answer === ANSWER_CLOSED) checkClosed(scene);
          else roundEnds(scene, t, answer === BROKEN ? WAS_BROKEN : COMPLETE);
          return true;
        case 4:
          if (answer !== 0) {
            roundEnds(scene, t, WAS_BROKEN);
            return true;
          }
          if (high(scene) === scene.get(t, WAITS_FOR)) throw new Violation('a party gives up, and breaks nothing');
          scene.call(t, 'wasBroken', at(scene), scene.get(t, WAITS_FOR));
          return go(5);
        case 5:
          if (answer !== 0 && onlyDeaths && scene.machine.words[(at(scene) + O_DEATHS) >> 2] === 0)
            throw new Violation('a death breaks the barrier, and is not counted');
          roundEnds(scene, t, answer !== 0 ? WAS_BROKEN : COMPLETE);
          return true;
        default:
          isOver(scene, t, false);
          scene.set(t, PHASE, 0);
          return this.next(scene, t);
      }
    },
  };
}

function runOnce(fails: boolean): Op {
  return {
    text: fails ? 'run, and fail' : 'run',
    next(scene, t) {
      const step = scene.get(t, PHASE);
      if (step === 0) {
        scene.set(t, PHASE, 1);
        scene.call(t, 'begin', at(scene), own(scene, t));
        return false;
      }
      if (step === 2) {
        isOver(scene, t, false);
        scene.set(t, PHASE, 0);
        return this.next(scene, t);
      }
      if (step === 3) return true;
      const answer = scene.result(t);
      if (answer === ANSWER_CLOSED) checkClosed(scene);
      if (answer === ADMITTED && count(scene) !== 0) throw new Violation('it has not been done, and is taken for done');
      if (answer === QUEUED) {
        sleep(scene, t, false);
        scene.set(t, PHASE, 2);
        return false;
      }
      if (answer !== BEGUN) return true;
      for (let u = 0; u < scene.threads; u++) {
        if (u !== t && !scene.dead(u) && scene.get(u, RUNS) !== 0) throw new Violation(`threads ${t} and ${u} run it`);
      }
      scene.set(t, RUNS, fails ? 0 : 1);
      scene.call(t, 'end', at(scene), Number(!fails), own(scene, t));
      scene.set(t, PHASE, 3);
      return false;
    },
  };
}

/**
 * Disposes of the object, unless another thread has begun to dispose of it. If the other thread dies, its reaper
 * completes the dispose.
 */
function disposeIfLive(): Op {
  return {
    text: 'dispose, unless that has begun',
    next(scene, t) {
      if (scene.get(t, PHASE) !== 0 || isDisposed(scene)) return true;
      scene.set(t, PHASE, 1);
      scene.call(t, 'disposePhase', at(scene));
      return false;
    },
  };
}

function op(letter: string): Op {
  switch (letter) {
    case 'W':
      return wait(false);
    case 'F':
      return wait(true);
    case 'q':
      return ask();
    case 'e':
      return awaitPromise();
    case 'C':
      return change('takeOff', () => [1, 0]);
    case 'c':
      return change('takeOff', () => [1, 0], OVER_MAX);
    case 'P':
      return change('putOn', () => [1, 0]);
    case 'H':
      return change('putOn', (scene, t) => [1, own(scene, t)]);
    case 'G':
      return change('takeOff', (scene, t) => [1, own(scene, t)]);
    case 'A':
      return change('arm', () => []);
    case 'B':
      return arrive(false, false);
    case 'b':
      return arrive(false, false, true);
    case 'T':
      return arrive(false, true);
    case 'L':
      return arrive(true, false);
    case 'E':
      return call(
        'leaveBarrier',
        (scene, t) => {
          scene.set(t, RUNS, LEAVES);
          return [own(scene, t)];
        },
        (_, scene, t) => scene.set(t, RUNS, 0),
      );
    case 'O':
      return runOnce(false);
    case 'Q':
      return runOnce(true);
    case 'X':
      return supervise();
    case 'Z':
      return awaitDeath();
    case 'D':
      return call('disposePhase', (scene) => [at(scene)]);
    case 'd':
      return disposeIfLive();
    default:
      throw new Error(`a program has no ${letter}`);
  }
}

interface More {
  readonly count?: number;
  readonly max?: number;
  /** Which threads may die. */
  readonly mortal?: readonly number[];
  /** How many may die, 1 by default. */
  readonly deaths?: number;
  readonly long?: boolean;
  readonly spin?: number;
  readonly undead?: boolean;
  /** Whether the first thread has arrived at the barrier in an earlier round, so that its death breaks it. */
  readonly member?: boolean;
}

function phase(kind: string, name: string, program: string, more: More = {}): Model {
  const parts = partsOf(program);
  const programs = parts.map((part) => part.split(/\s+/).map(op));
  return {
    name: `${kind.toLowerCase().replace('_', ' ')}: ${name}`,
    programs,
    // A thread that may die is unlike the others.
    ...(more.mortal === undefined ? { symmetric: parts } : {}),
    arena: { buckets: 1, elements: 2 * programs.length, attached: programs.length },
    long: more.long ?? false,
    ...(more.mortal === undefined ? {} : { deaths: more.deaths ?? 1, mortal: more.mortal }),
    undead: more.undead ?? false,
    objects: (scene) => {
      const number = constant(`KIND_${kind}`);
      const address = scene.object(number, more.spin ?? 0, 0, more.count ?? 0, 0n, 1);
      scene.machine.hostStore32(address + O_MAX, more.max ?? COUNT);
      for (let t = 1; t < programs.length; t++) scene.callNow(t, 'attach', address, 0, number);
      if (more.member) {
        scene.set(0, RUNS, 1);
        const e = scene.regions.elements + (own(scene, 0) - 1) * ELEMENT_SIZE;
        scene.machine.hostStore32(e + constant('E_HELD'), 1);
      }
    },
    end: (scene) => {
      const of = (letter: string): number => program.split(letter).length - 1;
      if (kind === 'WAIT_GROUP' && count(scene) !== (more.count ?? 0) + of('P') - of('C') + held(scene))
        throw new Violation(`the count is ${count(scene)} at the end`);
      let all = 0;
      for (let t = 0; t < scene.threads; t++) if (!scene.dead(t)) all |= scene.get(t, ENDED);
      if (all & (all >> 1) & 0x5555) throw new Violation('a round is complete for one and broken for another');
      if (kind !== 'BARRIER' || high(scene) <= -0x20000000) return;
      for (let t = 0; t < scene.threads; t++) {
        if (scene.dead(t) && scene.get(t, RUNS) === 1 && count(scene) !== 0)
          throw new Violation(`thread ${t} has died, and the barrier is not broken`);
        if (more.member && scene.get(0, RUNS) === 0 && count(scene) === 0)
          throw new Violation('the barrier is broken by a thread that has left');
      }
    },
  };
}

export const sections: readonly Section[] = [
  // The exchange of the phase word changes what the thread holds of the object. The store to E_HELD records the change.
  // The notify lies between these two accesses, so a thread that dies cannot leave it out.
  ...['phase/takeOff', 'phase/putOn', 'phase/arriveAt', 'phase/begin', 'phase/end', 'reaping/cleanUp'].map((fn) => ({
    name: `R11, ${fn}`,
    fn,
    from: { kind: CMPXCHG, word: constant('O_PHASE') },
    to: [constant('E_HELD')],
    returns: 'the call changes nothing that a thread holds',
    // For a dead writer of a RwLock, the reaper opens the gate, and its section ends at the notify. If the turn has
    // gone on already, nothing is written to E_HELD then, and ownerDied looks whether the object is disposed of.
    ...(fn === 'reaping/cleanUp' ? { to: [constant('E_HELD'), constant('O_LIFE')], by: [STORE, LOAD] } : {}),
  })),
  ...['finishAction', 'breakPhase', 'disposePhase'].map((fn) => ({
    name: `R11, ${fn}`,
    fn: `phase/${fn}`,
    from: { kind: CMPXCHG, word: constant('O_PHASE') },
    to: [0],
    by: [NOTIFY],
    returns: 'nobody sleeps, so nobody is to be woken',
  })),
];

export const models: readonly Model[] = [
  phase('LATCH', 'one waits', 'W | C', { count: 1 }),
  phase('LATCH', 'two wait', 'W | W | C', { count: 1 }),
  phase('LATCH', 'two count', 'W | C | C', { count: 2 }),
  phase('LATCH', 'two wait, two count', 'W | W | C | C', { count: 2 }),
  phase('LATCH', 'polls first', 'W | W | C', { count: 1, spin: 2 }),
  phase('LATCH', 'one gives up', 'F | W | C', { count: 1 }),
  phase('LATCH', 'disposed', 'W | F | D', { count: 1 }),
  phase('LATCH', 'a promise waits', 'q e | C', { count: 1 }),
  phase('LATCH', 'a promise and a thread wait', 'q e | W | C', { count: 1 }),
  phase('LATCH', 'a thread opens for its own promise', 'q C e | W', { count: 1 }),
  phase('LATCH', 'a promise waits, disposed', 'q e | W | D', { count: 1 }),
  phase('LATCH', 'a thread dies with a promise', 'q e | W | C X', { count: 1, mortal: [0] }),
  phase('LATCH', 'counted down and disposed', 'W | C | D', { count: 1 }),
  phase('LATCH', 'a waiter dies', 'W | W | C X', { count: 1, mortal: [0] }),
  phase('LATCH', 'the one that counts dies', 'W | c | c X', { count: 1, mortal: [1] }),
  phase('LATCH', 'a disposer dies', 'W | D | X D', { count: 1, mortal: [1] }),
  phase('LATCH', 'a disposer dies before two that wait', 'W | W | D | X d', { count: 1, mortal: [2] }),
  phase('EVENT', 'set', 'W | C A C', { count: 1 }),
  phase('EVENT', 'set by two', 'W | c A c | c', { count: 1 }),
  phase('EVENT', 'reset by two', 'A c | A', { count: 0 }),
  phase('EVENT', 'a promise waits, set and reset', 'q e | C A C', { count: 1 }),
  phase('EVENT', 'one gives up', 'F F | C A C', { count: 1 }),
  phase('EVENT', 'two wait, two set', 'W | F | c | c', { count: 1 }),
  phase('EVENT', 'one dies as it sets', 'W | c | X c', { count: 1, mortal: [1] }),
  phase('EVENT', 'disposed', 'W | q e | D', { count: 1 }),
  phase('EVENT', 'set, reset, set', 'W W | C A C', { count: 1 }),
  phase('WAIT_GROUP', 'used again', 'W | C P C', { count: 1 }),
  phase('WAIT_GROUP', 'a promise waits, used again', 'q e | C P C', { count: 1 }),
  phase('WAIT_GROUP', 'one gives up', 'F | W | C | C', { count: 2 }),
  phase('WAIT_GROUP', 'disposed', 'W | q e | D', { count: 1 }),
  phase('WAIT_GROUP', 'two tasks', 'P C W | P C W'),
  phase('WAIT_GROUP', 'held', 'H G W | H G W'),
  phase('WAIT_GROUP', 'a holder dies', 'H Z | X W', { mortal: [0] }),
  phase('WAIT_GROUP', 'a holder dies in its call', 'H G | W | X W', { mortal: [0] }),
  phase('WAIT_GROUP', 'a holder dies, and who reaps it', 'H Z | X | X', { count: 1, mortal: [0, 1], deaths: 2 }),
  phase('WAIT_GROUP', 'a holder of two dies, and another has one', 'H H Z | H G | X W', { mortal: [0] }),
  phase('WAIT_GROUP', 'one that has held dies', 'H G Z | P | X', { mortal: [0] }),
  phase('BARRIER', 'two', 'B B | B B', { count: 2, max: 2 }),
  phase('BARRIER', 'three', 'B | B | B', { count: 3, max: 3 }),
  phase('BARRIER', 'three, twice', 'B B | B B | B B', { count: 3, max: 3, long: true }),
  phase('BARRIER', 'more than parties', 'B | B | B | B', { count: 2, max: 2 }),
  phase('BARRIER', 'action', 'L L | L L', { count: 2, max: 2 }),
  phase('BARRIER', 'action, and one too many', 'L | L | L | L', { count: 2, max: 2 }),
  phase('BARRIER', 'one gives up', 'T | B', { count: 2, max: 2 }),
  phase('BARRIER', 'one gives up in the second round', 'B T | B B', { count: 2, max: 2 }),
  phase('BARRIER', 'two of three give up', 'T | T | B', { count: 3, max: 3 }),
  phase('BARRIER', 'one of four gives up', 'T | B | B', { count: 4, max: 4 }),
  phase('BARRIER', 'all give up, with an action', 'L | T | T', { count: 3, max: 3 }),
  phase('BARRIER', 'disposed', 'B | B | D', { count: 2, max: 2 }),
  phase('BARRIER', 'disposed while one runs the action', 'L | L | D', { count: 2, max: 2 }),
  phase('BARRIER', 'a party dies', 'B Z | B T | X', { count: 2, max: 2, mortal: [0], member: true }),
  phase('BARRIER', 'a party dies in its call', 'B B | b b | X', { count: 2, max: 2, mortal: [0], member: true }),
  phase('BARRIER', 'the one with the action dies', 'L L | B B | X', { count: 2, max: 2, mortal: [0], member: true }),
  phase('BARRIER', 'a new party dies', 'T Z | T | X', { count: 2, max: 2, mortal: [0] }),
  phase('BARRIER', 'a party leaves and dies', 'B E Z | B | X', { count: 2, max: 2, mortal: [0], member: true }),
  phase('ONCE', 'two', 'O | O', { count: 1, max: 2 }),
  phase('ONCE', 'three', 'O | O | O', { count: 1, max: 2 }),
  phase('ONCE', 'one fails', 'Q | O | O', { count: 1, max: 2 }),
  phase('ONCE', 'two fail', 'Q | Q | O', { count: 1, max: 2 }),
  phase('ONCE', 'one dies', 'O | O | X O', { count: 1, max: 2, mortal: [0] }),
  phase('ONCE', 'one fails and dies', 'Q Z | O | O | X', { count: 1, max: 2, mortal: [0] }),
  phase('ONCE', 'disposed', 'O | O | D', { count: 1, max: 2 }),
];
