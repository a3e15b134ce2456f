/**
 * The steps that programs are made of: what src/semaphore.ts and src/engine/doorbell.ts do around the core,
 * written as machines of a few phases, since the search must be able to stop between any two accesses.
 */

import { Violation } from '../engine/search/violation.js';
import {
  ADMITTED,
  ALIVE,
  ANSWER_CLOSED,
  ANSWER_FULL,
  constant,
  LIFE_STATE,
  MORE,
  QUEUED,
  REFUSED,
  STILL_AWAKE,
  THREAD_SIZE,
  TIMED_OUT,
} from './layout.js';
import type { Op, Waiting } from './model.js';
import type { Scene } from './scene.js';
import {
  GOT,
  LISTENING,
  LOCAL,
  MOST_PROMISES,
  PHASE,
  PROMISES,
  QUEUE,
  READY,
  REST_DUE,
  RESULT,
  RUNG,
} from './words.js';

const NEVER = constant('NEVER');

function admitted(scene: Scene, t: number, semaphore: number, width: number): void {
  scene.admittedNow(t, semaphore, width);
  scene.set(t, GOT + semaphore, scene.get(t, GOT + semaphore) + width);
}

/** Takes a ticket, as every acquire begins. */
function begin(scene: Scene, t: number, semaphore: number, n: number): void {
  const robust = scene.robust(t, semaphore);
  if (robust === 0 && n === 1) scene.call(t, 'acquireOne', scene.semaphores[semaphore]);
  else if (robust === 0) scene.call(t, 'acquire', scene.semaphores[semaphore], n);
  else scene.call(t, 'acquireRobust', scene.semaphores[semaphore], n, robust);
}

/** `acquire(n)`: blocks. A disposed semaphore ends it without permits. */
export function acquire(n = 1, semaphore = 0): Waiting {
  return {
    text: `acquire(${n})`,
    semaphore,
    width: n,
    next(scene, t) {
      const phase = scene.get(t, PHASE);
      const robust = scene.robust(t, semaphore);
      scene.set(t, PHASE, phase + 1);
      if (phase === 0) {
        begin(scene, t, semaphore, n);
        return false;
      }
      const answer = scene.result(t);
      if (answer === ADMITTED) {
        admitted(scene, t, semaphore, n);
        return true;
      }
      if (phase === 1) {
        scene.call(t, 'enqueue', scene.semaphores[semaphore], n, answer, robust);
        return false;
      }
      if (phase === 2 && answer === QUEUED) {
        scene.call(t, 'park', 0, robust);
        return false;
      }
      return expectClosed(scene, t, answer, semaphore);
    },
  };
}

/**
 * `acquire(n, { timeout })`: every sleep may run out, and then the request is given up; `patient` waits once
 * more first, as a thread does that was woken for no reason.
 */
export function acquireFor(n = 1, semaphore = 0, patient = false): Waiting {
  return {
    text: `acquire(${n}, timeout)`,
    semaphore,
    width: n,
    next(scene, t) {
      const at = scene.semaphores[semaphore];
      const phase = scene.get(t, PHASE);
      const answer = scene.result(t);
      const robust = scene.robust(t, semaphore);
      const to = (next: number): void => scene.set(t, PHASE, next);
      const parkFor = (): false => {
        scene.call(t, 'parkFor', 1, 0, 0, robust);
        return false;
      };
      if (phase === 0) {
        to(1);
        begin(scene, t, semaphore, n);
        return false;
      }
      if (answer === ADMITTED) {
        admitted(scene, t, semaphore, n);
        return true;
      }
      if (phase === 1) {
        to(2);
        scene.call(t, 'enqueue', at, n, answer, robust);
        return false;
      }
      if (phase === 2 && answer === QUEUED) {
        to(patient ? 3 : 4);
        return parkFor();
      }
      if (answer === TIMED_OUT) {
        if (phase === 3) {
          to(4);
          return parkFor();
        }
        to(5);
        scene.call(t, 'giveUp', at, robust);
        return false;
      }
      if (phase === 5 && answer === REFUSED) return true;
      if (phase === 5 && answer === ANSWER_FULL) {
        to(6);
        scene.call(t, 'park', 0, robust);
        return false;
      }
      return expectClosed(scene, t, answer, semaphore);
    },
  };
}

function expectClosed(scene: Scene, t: number, answer: number, semaphore: number): true {
  if (answer !== ANSWER_CLOSED) throw new Violation(`thread ${t} is answered ${answer}`);
  if (!scene.closed(semaphore)) throw new Violation(`thread ${t} is told that the semaphore is closed`);
  return true;
}

/** `tryAcquire(n)`: the release after it gives back what it got. */
export function tryAcquire(n = 1, semaphore = 0): Op {
  return {
    text: `tryAcquire(${n})`,
    next(scene, t) {
      if (scene.get(t, PHASE) === 0) {
        scene.set(t, PHASE, 1);
        const robust = scene.robust(t, semaphore);
        if (robust === 0) scene.call(t, 'tryAcquire', scene.semaphores[semaphore], n);
        else scene.call(t, 'tryAcquireRobust', scene.semaphores[semaphore], n, robust);
        return false;
      }
      const answer = scene.result(t);
      if (answer === REFUSED) return true;
      if (answer !== ADMITTED) return expectClosed(scene, t, answer, semaphore);
      admitted(scene, t, semaphore, n);
      return true;
    },
  };
}

// How far an op has got within a phase.
const STAGE = LOCAL; // of a release: 0 not begun, 1 in release, 2 in finishRelease, 3 settling promises
const WIDTH = LOCAL + 1; // of that release
const SETTLING = LOCAL + 2; // 0 not, 1 in settle, 2 giving up runs of a closed semaphore
const ANSWER = LOCAL + 3; // of arrive
const TOLD = LOCAL + 1; // of the event loop: what the continuation under way has been told
/** Of REST_DUE: what may not be entered is looked at. */
const UNDER_WAY = 2;
const RANG = LOCAL + 4; // of the event loop: the doorbell before it settles what is due

/** One release; true when it is done. */
export function releasing(scene: Scene, t: number, width: number, semaphore: number, own: boolean): boolean {
  const at = scene.semaphores[semaphore];
  const robust = own ? scene.robust(t, semaphore) : 0;
  const answer = scene.result(t);
  switch (scene.get(t, STAGE)) {
    case 0:
      scene.releasing(t, semaphore, width, own);
      scene.set(t, STAGE, 1);
      if (robust === 0 && width === 1) scene.call(t, 'releaseOne', at);
      else if (robust === 0) scene.call(t, 'release', at, width);
      else scene.call(t, 'releaseRobust', at, width, robust);
      return false;
    case 1:
      if (answer === ADMITTED) break;
      scene.set(t, STAGE, 2);
      scene.call(t, 'finishRelease', at, width, answer, semaphore === 0 ? firstRun(scene, t) : 0, robust);
      return false;
    case 2: {
      if (answer < 0) throw new Violation(`thread ${t}'s release is answered ${answer}`);
      if (answer === 0) break;
      const run = firstRun(scene, t);
      fulfil(scene, t, answer);
      if (firstRun(scene, t) === run) {
        scene.set(t, REST_DUE, 1);
        break;
      }
      if (!settle(scene, t)) break;
      scene.set(t, STAGE, 3);
      return false;
    }
    default:
      if (settling(scene, t)) return false;
      restSoon(scene, t);
  }
  scene.set(t, STAGE, 0);
  return true;
}

/** Gives back what the thread has got of this semaphore; nothing if it got nothing. */
export function release(semaphore = 0): Op {
  return {
    text: 'release',
    next(scene, t) {
      if (scene.get(t, STAGE) === 0) {
        const width = scene.get(t, GOT + semaphore);
        if (width === 0) return true;
        scene.set(t, GOT + semaphore, 0);
        scene.set(t, WIDTH, width);
      }
      return releasing(scene, t, scene.get(t, WIDTH), semaphore, true);
    },
  };
}

/** `release(n)` by a thread that holds nothing: makes permits. */
export function post(n = 1, semaphore = 0): Op {
  return { text: `post(${n})`, next: (scene, t) => releasing(scene, t, n, semaphore, false) };
}

// --- Promises, all on semaphore 0: what Promises and Doorbell do ------------------------------------------

function firstRun(scene: Scene, t: number): number {
  return scene.get(t, QUEUE) > 0 ? scene.get(t, PROMISES) : 0;
}

/** The run that the next promise may join: the last, unless that stands alone. */
function lastRun(scene: Scene, t: number): number {
  const last = PROMISES + 4 * (scene.get(t, QUEUE) - 1);
  return scene.get(t, QUEUE) > 0 && (scene.get(t, last + 1) & ALONE) === 0 ? scene.get(t, last) : 0;
}

/** Takes a promise out of the queue, the first by default. */
function shift(scene: Scene, t: number, from = PROMISES): void {
  const left = scene.get(t, QUEUE) - 1;
  scene.set(t, QUEUE, left);
  for (let i = from; i < PROMISES + 4 * MOST_PROMISES; i++) {
    scene.set(t, i, i < PROMISES + 4 * left ? scene.get(t, i + 4) : 0);
  }
}

/** Takes out a promise that is rejected, and whoever has caught that goes on. */
function reject(scene: Scene, t: number, why: number, at = PROMISES): void {
  if ((scene.get(t, at + 1) & CAUGHT) !== 0) ready(scene, t, why);
  shift(scene, t, at);
}

/** Fulfils so many promises of the first run. */
function fulfil(scene: Scene, t: number, count: number): void {
  const run = firstRun(scene, t);
  for (let i = 0; i < count; i++) {
    if (firstRun(scene, t) !== run || run === 0) {
      throw new Violation(`thread ${t} is told to fulfil ${count} promises of a run that has ${i}`);
    }
    const width = scene.get(t, PROMISES + 1) & (ALONE - 1);
    scene.admitted(t, 0, width, scene.get(t, PROMISES + 2), scene.get(t, PROMISES + 3));
    ready(scene, t, width);
    shift(scene, t);
  }
}

/** Queues a continuation, as a microtask: what it is told, in four bits each, the next one lowest. */
export function ready(scene: Scene, t: number, told: number): void {
  if (told > 15) throw new Error(`a model's promises ask for at most 15 permits, got ${told}`);
  const list = scene.get(t, READY);
  let bits = 0;
  while (((list >>> bits) & 15) !== 0) bits += 4;
  if (bits > 28) throw new Error("a model's thread has at most 8 continuations");
  scene.set(t, READY, list | (told << bits));
}

function restSoon(scene: Scene, t: number): void {
  if (scene.get(t, QUEUE) > 0) scene.set(t, REST_DUE, 1);
}

/** Begins to settle what is due. Whether a call is under way, which `settling` takes up. */
export function settle(scene: Scene, t: number): boolean {
  const run = firstRun(scene, t);
  scene.set(t, SETTLING, run === 0 ? 0 : 1);
  if (run !== 0) scene.call(t, 'settle', run, scene.robust(t, 0));
  return run !== 0;
}

/** Whether another call is under way. */
export function settling(scene: Scene, t: number): boolean {
  if (scene.get(t, SETTLING) === 2) return giveUpRuns(scene, t);
  const count = scene.result(t);
  if (count > 0) {
    fulfil(scene, t, count);
    return settle(scene, t);
  }
  if (count < 0) {
    expectClosed(scene, t, count, 0);
    return giveUpRuns(scene, t);
  }
  scene.set(t, SETTLING, 0);
  return false;
}

function giveUpRuns(scene: Scene, t: number): boolean {
  const run = firstRun(scene, t);
  scene.set(t, SETTLING, run === 0 ? 0 : 2);
  if (run === 0) return false;
  while (firstRun(scene, t) === run) reject(scene, t, TOLD_CLOSED);
  scene.call(t, 'dropRun', run);
  return true;
}

// In a promise's width.
const ALONE = 256; // it may give up, and has a run of its own
const CAUGHT = 512; // its rejection is caught

// What a continuation is told besides the width of a promise that is fulfilled: why it is rejected.
/** It has given up, or there was no room for it. */
export const GIVEN_UP = 14;
const TOLD_CLOSED = 15;

/** `acquireAsync(n)`, whose continuation `eventLoop` runs; that of a rejection, if it is `caught`. */
export function arrive(n = 1, alone = false, caught = false): Op {
  return {
    text: `acquireAsync(${n}${alone ? ', signal' : ''})`,
    next(scene, t) {
      const phase = scene.get(t, PHASE);
      scene.set(t, PHASE, phase + 1);
      if (phase === 0) {
        scene.call(t, 'arrive', scene.semaphores[0], n, alone ? 0 : lastRun(scene, t), scene.robust(t, 0));
        return false;
      }
      if (phase === 1) {
        const answer = scene.result(t);
        if (answer > 0) return queued(scene, t, answer, n | (alone ? ALONE : 0) | (caught ? CAUGHT : 0));
        scene.set(t, ANSWER, answer);
        if (settle(scene, t)) return false;
      } else {
        if (settling(scene, t)) return false;
        restSoon(scene, t);
      }
      const answer = scene.get(t, ANSWER);
      if (answer === ADMITTED) {
        scene.admittedNow(t, 0, n);
        ready(scene, t, n);
        return true;
      }
      if (caught) ready(scene, t, answer === ANSWER_FULL ? GIVEN_UP : TOLD_CLOSED);
      return (caught && answer === ANSWER_FULL) || expectClosed(scene, t, answer, 0);
    },
    // What its promises wait for is settled first.
    granted: (scene, t) => (scene.get(t, PHASE) > 1 && scene.get(t, ANSWER) === ADMITTED ? n : 0),
  };
}

function queued(scene: Scene, t: number, run: number, width: number): true {
  const waiting = scene.get(t, QUEUE);
  if (waiting === MOST_PROMISES) throw new Error(`a model's thread has at most ${MOST_PROMISES} promises`);
  const at = PROMISES + 4 * waiting;
  scene.set(t, at, run);
  scene.set(t, at + 1, width);
  scene.set(t, at + 2, scene.ticketLo(t));
  scene.set(t, at + 3, scene.ticketHi(t));
  scene.set(t, QUEUE, waiting + 1);
  if (waiting === 0) scene.set(t, REST_DUE, 1);
  return true;
}

/** Where the nth promise stands that may give up, or where the next one will, if there are not so many. */
function patient(scene: Scene, t: number, n = 1): number {
  const end = PROMISES + 4 * scene.get(t, QUEUE);
  let at = PROMISES - 4;
  for (let left = n; left > 0 && at < end; ) {
    at += 4;
    if (at < end && (scene.get(t, at + 1) & ALONE) !== 0) left--;
  }
  return at;
}

/** giveUpRun has answered. Whether another call is under way, which `settling` takes up. */
function gaveUp(scene: Scene, t: number, at: number): boolean {
  if (scene.result(t) === REFUSED) reject(scene, t, GIVEN_UP, at);
  else if (scene.result(t) !== ADMITTED) expectClosed(scene, t, scene.result(t), 0);
  return settle(scene, t);
}

/** The signal of the first promise that has one fires, or of the nth, if that promise waits. */
export function abort(n = 1): Op {
  return {
    text: n === 1 ? 'abort' : `abort ${n}`,
    next(scene, t) {
      const phase = scene.get(t, PHASE);
      scene.set(t, PHASE, phase + 1);
      const at = patient(scene, t, n);
      if (phase === 0) {
        if (at === PROMISES + 4 * scene.get(t, QUEUE)) return true;
        scene.call(t, 'giveUpRun', scene.get(t, at));
        return false;
      }
      if (phase === 1) {
        if (gaveUp(scene, t, at)) return false;
      } else if (settling(scene, t)) return false;
      restSoon(scene, t);
      return true;
    },
  };
}

/** What a thread does before it can sleep, of which nothing is due: its first run is entered. */
export function rest(): Op {
  return {
    text: 'rest',
    next(scene, t) {
      if (scene.get(t, PHASE) === 1) return true;
      scene.set(t, PHASE, 1);
      scene.call(t, 'enterRun', firstRun(scene, t), 0);
      return false;
    },
  };
}

// Phases of the event loop.
const NEXT = 0;
const RUNNING = 1; // a continuation
const LOADING = 2; // the doorbell
const RESTING = 3; // settling what is due
const ENTERING = 4; // the first run
const LISTEN = 5; // comparing the doorbell, as waitAsync does
const SLEEPING = 6;
const GIVING_UP = 7; // the time of the first promise that may give up is over
const GAVE_UP = 8; // settling what is due then
const LOOKING = 9; // after what stands in no run
const TAKING = 10; // what is noted as due

/** What a wait answers when its time has run out. */
export const RAN_OUT = 2;

/** What the event loop does besides waiting. */
export interface Jobs {
  /** Whether it ends where it would sleep, listening: a task of the thread comes next. */
  readonly pauses?: boolean;
  /** Goes on with a continuation that has been told this. Whether that is at its end. */
  goOn(scene: Scene, t: number, told: number): boolean;
  /** Whether promises that may give up do so when a sleep of the loop runs out. */
  readonly timed?: boolean;
  /** Whether a timer of a continuation is set, which goes before; and what it does: make a continuation ready. */
  isSet?(scene: Scene, t: number): boolean;
  fire?(scene: Scene, t: number): void;
  // How promises are settled; by default those of a semaphore, as here.
  firstRun?(scene: Scene, t: number): number;
  settle?(scene: Scene, t: number): boolean;
  settling?(scene: Scene, t: number): boolean;
  /** Begins to look after what stands in no run. Whether a call is under way, which `settling` takes up. */
  look?(scene: Scene, t: number): boolean;
}

const OF_SEMAPHORES = { firstRun, settle, settling };
type AllJobs = Jobs & typeof OF_SEMAPHORES;

const givesBack: Jobs = { goOn: (scene, t, width) => releasing(scene, t, width, 0, true) };

/**
 * The event loop, until no promise waits: continuations first, which by default give the permits back; then what
 * restSoon has put off; then sleep on the doorbell, as it was when the thread listened. A pending waitAsync is that
 * same sleep, begun earlier: rings only ever add, so a comparison made later finds out about any of them.
 */
export function eventLoop(own = givesBack): Op {
  const jobs = { ...OF_SEMAPHORES, ...own };
  return {
    text: own.pauses ? 'event loop, until it sleeps' : 'event loop',
    next(scene, t) {
      const to = (phase: number): void => scene.set(t, PHASE, phase);
      switch (scene.get(t, PHASE)) {
        case RUNNING:
          return jobs.goOn(scene, t, scene.get(t, TOLD)) && turn(scene, t, jobs);
        case LOADING:
          scene.set(t, RANG, scene.get(t, RESULT));
          if (scene.get(t, REST_DUE) === 0) {
            to(TAKING);
            scene.hostExchange(t, scene.due(t), 0);
            return false;
          }
          to(RESTING);
          return !jobs.settle(scene, t) && enter(scene, t, jobs);
        case TAKING: {
          // What is entered is looked at only if whoever rang has noted it.
          const due = scene.get(t, RESULT);
          const run = jobs.firstRun(scene, t);
          if (run === 0 || ((due >>> run) & 1) === 0) {
            return due === 0 ? beginListening(scene, t, jobs) : look(scene, t, jobs);
          }
          to(RESTING);
          return !jobs.settle(scene, t) && enter(scene, t, jobs);
        }
        case RESTING:
          return !jobs.settling(scene, t) && enter(scene, t, jobs);
        case ENTERING:
          if (scene.result(t) !== 0) {
            to(RESTING);
            jobs.settle(scene, t);
            return false;
          }
          return look(scene, t, jobs);
        case LOOKING:
          return !jobs.settling(scene, t) && beginListening(scene, t, jobs);
        case LISTEN:
          if (scene.get(t, RESULT) !== scene.get(t, RANG)) return load(scene, t);
          scene.set(t, LISTENING, 1);
          scene.set(t, RUNG, scene.get(t, RESULT));
          return turn(scene, t, jobs);
        case SLEEPING:
          if (scene.result(t) === RAN_OUT) return fire(scene, t, jobs);
          scene.set(t, LISTENING, 0);
          scene.set(t, RUNG, 0);
          return load(scene, t);
        case GIVING_UP:
          to(GAVE_UP);
          if (gaveUp(scene, t, patient(scene, t))) return false;
          restSoon(scene, t);
          return turn(scene, t, jobs);
        case GAVE_UP:
          if (settling(scene, t)) return false;
          restSoon(scene, t);
          return turn(scene, t, jobs);
        default:
          return turn(scene, t, jobs);
      }
    },
  };
}

/**
 * The event loop, until it sleeps or no promise waits. Another one that follows goes on in that sleep, and looks at nothing
 * before the doorbell has rung, as a thread does that has blocked in a task of its own meanwhile.
 */
export const listening = (): Op => eventLoop({ ...givesBack, pauses: true });

function load(scene: Scene, t: number): false {
  scene.set(t, PHASE, LOADING);
  scene.hostLoad(t, scene.doorbell(t));
  return false;
}

function enter(scene: Scene, t: number, jobs: AllJobs): boolean {
  const run = jobs.firstRun(scene, t);
  if (run === 0) return look(scene, t, jobs);
  scene.set(t, PHASE, ENTERING);
  scene.call(t, 'enterRun', run, 0);
  return false;
}

function look(scene: Scene, t: number, jobs: AllJobs): boolean {
  if (!jobs.look?.(scene, t)) return beginListening(scene, t, jobs);
  scene.set(t, PHASE, LOOKING);
  return false;
}

function beginListening(scene: Scene, t: number, jobs: AllJobs): boolean {
  if (scene.get(t, REST_DUE) === UNDER_WAY) scene.set(t, REST_DUE, 0);
  if (scene.get(t, QUEUE) === 0 || scene.get(t, LISTENING) === 1) return turn(scene, t, jobs);
  scene.set(t, PHASE, LISTEN);
  scene.hostLoad(t, scene.doorbell(t));
  return false;
}

/** A timer of the thread fires. */
function fire(scene: Scene, t: number, jobs: AllJobs): boolean {
  if (jobs.isSet?.(scene, t)) {
    jobs.fire?.(scene, t);
    return turn(scene, t, jobs);
  }
  scene.set(t, PHASE, GIVING_UP);
  scene.call(t, 'giveUpRun', scene.get(t, patient(scene, t)));
  return false;
}

/** What the event loop does next. */
function turn(scene: Scene, t: number, jobs: AllJobs): boolean {
  scene.set(t, PHASE, NEXT);
  scene.set(t, RESULT, 0);
  scene.set(t, RANG, 0);
  const list = scene.get(t, READY);
  scene.set(t, TOLD, list & 15);
  if (list !== 0) {
    scene.set(t, READY, list >>> 4);
    scene.set(t, PHASE, RUNNING);
    return jobs.goOn(scene, t, list & 15) && turn(scene, t, jobs);
  }
  if (scene.get(t, REST_DUE) === 1) {
    scene.set(t, REST_DUE, UNDER_WAY);
    return load(scene, t);
  }
  const isSet = jobs.isSet?.(scene, t) ?? false;
  const waiting = scene.get(t, QUEUE);
  if (waiting === 0) return !isSet || fire(scene, t, jobs);
  if (scene.get(t, LISTENING) === 0)
    throw new Violation(`thread ${t} sleeps without listening to its doorbell`);
  if (jobs.pauses) return true;
  scene.set(t, PHASE, SLEEPING);
  const mayGiveUp = jobs.timed === true && patient(scene, t) < PROMISES + 4 * waiting;
  scene.hostWait(t, scene.doorbell(t), scene.get(t, RUNG), isSet || mayGiveUp);
  return false;
}

/** `dispose()`; by the function of its kind. */
export function dispose(semaphore = 0, name = 'dispose'): Op {
  return {
    text: 'dispose',
    next(scene, t) {
      if (scene.get(t, PHASE) === 1) return true;
      scene.set(t, PHASE, 1);
      scene.call(t, name, scene.semaphores[semaphore]);
      return false;
    },
  };
}

const REAPING = LOCAL + 1; // thread + 1

/** Reaps whoever dies, when it does. */
export function supervise(): Op {
  return {
    text: 'reap',
    supervises: true,
    next(scene, t) {
      const reaping = scene.get(t, REAPING) - 1;
      if (reaping >= 0) {
        if (scene.terminated(reaping)) scene.setReaped(reaping, scene.result(t) !== STILL_AWAKE);
        scene.set(t, REAPING, 0);
      }
      const reaped = scene.get(t, LOCAL);
      for (let u = 0; u < scene.threads; u++) {
        const terminated = scene.terminated(u);
        if ((!scene.dead(u) && !terminated) || (reaped >> u) & 1) continue;
        scene.set(t, LOCAL, reaped | (1 << u));
        scene.set(t, REAPING, u + 1);
        scene.call(t, 'reap', u + 1, ALIVE, Number(terminated));
        return false;
      }
      return scene.allDead ? true : undefined;
    },
  };
}

export const recordOf = (scene: Scene, t: number): number => scene.regions.threads + (t + 1) * THREAD_SIZE;

/** An exception has ended the call that it was in, in its sleep: the record still says so. */
export const asleep = (): Op => ({
  text: 'asleep',
  next(scene, t) {
    if (scene.global(t, 'semaphore/amidst') === 0) return true;
    const record = recordOf(scene, t);
    const life = scene.machine.hostLoad32(record);
    const slept = (life & ~LIFE_STATE) | constant('ASLEEP');
    if (life === slept) return true;
    scene.hostCmpxchg(t, record, life, slept);
    return false;
  },
});

/** Stands for the waitAsync of another thread, whose doorbell has not rung yet. */
export function listen(of: number): Op {
  return {
    text: 'listen',
    next(scene, t) {
      if (scene.get(t, PHASE) === 1) return true;
      scene.set(t, PHASE, 1);
      scene.hostWait(t, scene.doorbell(of), 0);
      return false;
    },
  };
}

/** Sleeps until it is killed. */
export function awaitDeath(): Op {
  return {
    text: 'await death',
    supervises: true,
    next(scene, t) {
      if (scene.get(t, PHASE) === 1) return true;
      scene.set(t, PHASE, 1);
      scene.hostWait(t, NEVER, 0);
      return false;
    },
  };
}

/** Goes on when thread 0 is dead. */
export function mourn(): Op {
  return {
    text: 'mourn',
    supervises: true,
    next: (scene) => (scene.dead(0) ? true : undefined),
  };
}

/** Reaps thread 0 if it is dead by now. */
export function reapNow(): Op {
  return {
    text: 'reap now',
    next(scene, t) {
      if (scene.get(t, PHASE) === 1 || !scene.dead(0)) return true;
      scene.set(t, PHASE, 1);
      scene.call(t, 'reap', 1, ALIVE, 0);
      return false;
    },
  };
}

/** A call of one of the core's functions, whose answer the model looks at. */
export function call(
  name: string,
  args: (scene: Scene, t: number) => number[],
  then: (answer: number, scene: Scene, t: number) => void = () => {},
): Op {
  return {
    text: name,
    next(scene, t) {
      if (scene.get(t, PHASE) === 0) {
        scene.set(t, PHASE, 1);
        scene.call(t, name, ...args(scene, t));
        return false;
      }
      then(scene.result(t), scene, t);
      return true;
    },
  };
}

/** The functions of a semaphore of the listings. */
export interface Listing {
  readonly acquire: string;
  /** What must follow acquire when that answers QUEUED. */
  readonly await?: string;
  readonly release: string;
  /** What must follow release when that answers MORE. */
  readonly post?: string;
  readonly dispose: string;
}

/** `acquire` of a listing's semaphore: blocks, one permit at a time. */
export function acquireOf({ acquire: name, await: following }: Listing, semaphore = 0): Waiting {
  return {
    text: name,
    semaphore,
    width: 1,
    next(scene, t) {
      if (scene.get(t, PHASE) === 0) {
        scene.set(t, PHASE, 1);
        scene.call(t, name, scene.semaphores[semaphore]);
        return false;
      }
      if (following !== undefined && scene.result(t) === QUEUED) {
        scene.call(t, following, scene.semaphores[semaphore]);
        return false;
      }
      if (scene.result(t) !== ADMITTED) return expectClosed(scene, t, scene.result(t), semaphore);
      admitted(scene, t, semaphore, 1);
      return true;
    },
  };
}

/** Its release: of what was got, one permit, or of so many that nobody held. */
export function releaseOf({ release: name, post: following }: Listing, semaphore = 0, posted = 0): Op {
  return {
    text: posted === 0 ? name : `${name}(${posted})`,
    next(scene, t) {
      const phase = scene.get(t, PHASE);
      if (phase === 1 && following !== undefined && scene.result(t) === MORE) {
        scene.set(t, PHASE, 2);
        scene.call(t, following, scene.semaphores[semaphore]);
        return false;
      }
      if (phase > 0) return true;
      scene.set(t, PHASE, 1);
      const got = posted === 0 ? scene.get(t, GOT + semaphore) : 0;
      const width = posted === 0 ? 1 : posted;
      scene.releasing(t, semaphore, width, got > 0);
      if (got > 0) scene.set(t, GOT + semaphore, got - 1);
      if (name.endsWith('Conservative')) scene.call(t, name, scene.semaphores[semaphore]);
      else scene.call(t, name, scene.semaphores[semaphore], width);
      return false;
    },
  };
}
