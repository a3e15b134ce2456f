/**
 * The event loop of a thread takes the steps of src/runtime/promises.ts, in the same order. It is written as a state
 * machine with a few phases, because the search must be able to stop between any two accesses.
 */
import { Violation } from '../../engine/search/violation.js';
import type { Op } from '../model.js';
import type { Scene } from '../scene.js';
import { FLUSH_DUE, LISTENING, LOCAL, NOTED, PHASE, PROMISES, QUEUE, READY, RESULT, RUNG } from '../words.js';
import { cancelled, firstRun, flushSoon, obey, patient, settle, settling } from './promises.js';
import { releasing } from './release.js';

const ANSWER = LOCAL + 1; // what the continuation under way learns
const RANG = LOCAL + 4; // the value of the doorbell before the loop settles the promises that are due
/** A value of FLUSH_DUE: the loop is settling runs that may not be entered in the waiting array yet. */
const UNDER_WAY = 2;

// The phases of the event loop.
const NEXT = 0;
const RUNNING = 1; // the loop runs a continuation
const LOADING = 2; // the loop loads the doorbell
const RESTING = 3; // the loop settles the promises that are due
const ENTERING = 4; // the loop enters the first run
const LISTEN = 5; // the loop compares the doorbell, as waitAsync does
const SLEEPING = 6;
const CANCELLING = 7; // the first promise that may cancel has timed out, and cancels
const CANCELLED_FIRST = 8; // after CANCELLING: the loop settles the promises that are due
const LOOKING = 9; // the loop looks after promises in no run
const TAKING = 10; // the loop takes the notes that say which runs are due
const OBEYING = 11; // the promises leave if cancelAll has been called

/** The answer of a wait that has timed out. */
export const RAN_OUT = 2;

/** What the event loop does besides waiting. */
export interface Jobs {
  /** Whether the loop ends where it would sleep, because a task of the thread follows. The thread listens meanwhile. */
  readonly pauses?: boolean;
  /** Goes on with a continuation, which learns `answer`. Returns whether the continuation is at its end. */
  goOn(scene: Scene, t: number, answer: number): boolean;
  /** Whether a sleep of the loop may time out, and then the first promise that may cancel is cancelled. */
  readonly timed?: boolean;
  /** Says whether a continuation has set a timer. This timer fires before a promise is cancelled. */
  isSet?(scene: Scene, t: number): boolean;
  /** Fires this timer: makes a continuation ready. */
  fire?(scene: Scene, t: number): void;
  // The functions below settle promises. By default they settle promises of a semaphore.
  firstRun?(scene: Scene, t: number): number;
  settle?(scene: Scene, t: number): boolean;
  settling?(scene: Scene, t: number): boolean;
  /** Begins to look whether cancelAll was called, so that promises must leave. Returns whether a call is under way. */
  obey?(scene: Scene, t: number): boolean;
  /**
   * Begins to look after promises in no run, if their bits are among those that releasing threads have noted. Returns
   * whether a call is under way. `settling` takes up its answer.
   */
  look?(scene: Scene, t: number, noted: number): boolean;
}

const OF_SEMAPHORES = { firstRun, settle, settling, obey };
type AllJobs = Jobs & typeof OF_SEMAPHORES;

const givesBack: Jobs = { goOn: (scene, t, width) => releasing(scene, t, width, 0, true) };

/**
 * Runs the event loop until no promise waits. Continuations come first; by default they give the permits back. Then
 * comes the work that flushSoon has put off. Then the loop sleeps until the doorbell differs from the value that it had
 * when the thread began to listen.
 *
 * In the library the thread begins its waitAsync, which compares the doorbell, earlier than in the model. This makes no
 * difference: each ring adds to the doorbell, so the later comparison of the model still sees the ring.
 */
export function eventLoop(own = givesBack): Op {
  const jobs = { ...OF_SEMAPHORES, ...own };
  return {
    text: own.pauses ? 'event loop, until it sleeps' : 'event loop',
    next(scene, t) {
      const to = (phase: number): void => scene.set(t, PHASE, phase);
      switch (scene.get(t, PHASE)) {
        case RUNNING:
          return jobs.goOn(scene, t, scene.get(t, ANSWER)) && turn(scene, t, jobs);
        case LOADING:
          scene.set(t, RANG, scene.get(t, RESULT));
          if (scene.get(t, FLUSH_DUE) === 0) {
            to(TAKING);
            scene.hostExchange(t, scene.due(t), 0);
            return false;
          }
          to(RESTING);
          scene.set(t, NOTED, -1);
          return !jobs.settle(scene, t) && enter(scene, t, jobs);
        case TAKING: {
          // If a run is entered in the waiting array, the thread looks at it only if a releasing thread has noted it.
          const due = scene.get(t, RESULT);
          const run = jobs.firstRun(scene, t);
          scene.set(t, NOTED, due);
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
          to(OBEYING);
          return !jobs.obey(scene, t) && look(scene, t, jobs);
        case OBEYING:
          return !jobs.settling(scene, t) && look(scene, t, jobs);
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
        case CANCELLING:
          to(CANCELLED_FIRST);
          if (cancelled(scene, t, patient(scene, t))) return false;
          flushSoon(scene, t);
          return turn(scene, t, jobs);
        case CANCELLED_FIRST:
          if (settling(scene, t)) return false;
          flushSoon(scene, t);
          return turn(scene, t, jobs);
        default:
          return turn(scene, t, jobs);
      }
    },
  };
}

/**
 * Runs the event loop until it would sleep or no promise waits. A later event loop op goes on with this sleep, and
 * looks at nothing before the doorbell has rung. So a model can have a thread that blocks in a task between two turns
 * of its event loop.
 */
export const listening = (): Op => eventLoop({ ...givesBack, pauses: true });

/** Runs the event loop until no promise waits. No continuation gives permits back. */
export const keeping = (): Op => eventLoop({ goOn: () => true });

function load(scene: Scene, t: number): false {
  scene.set(t, PHASE, LOADING);
  scene.hostLoad(t, scene.doorbell(t));
  return false;
}

function enter(scene: Scene, t: number, jobs: AllJobs): boolean {
  const run = jobs.firstRun(scene, t);
  if (run === 0) return look(scene, t, jobs);
  scene.set(t, PHASE, ENTERING);
  scene.call(t, 'enterRun', run);
  return false;
}

function look(scene: Scene, t: number, jobs: AllJobs): boolean {
  const noted = scene.get(t, NOTED);
  scene.set(t, NOTED, 0);
  if (!jobs.look?.(scene, t, noted)) return beginListening(scene, t, jobs);
  scene.set(t, PHASE, LOOKING);
  return false;
}

function beginListening(scene: Scene, t: number, jobs: AllJobs): boolean {
  if (scene.get(t, FLUSH_DUE) === UNDER_WAY) scene.set(t, FLUSH_DUE, 0);
  if (scene.get(t, QUEUE) === 0 || scene.get(t, LISTENING) === 1) return turn(scene, t, jobs);
  scene.set(t, PHASE, LISTEN);
  scene.hostLoad(t, scene.doorbell(t));
  return false;
}

/** Fires a timer of the thread. */
function fire(scene: Scene, t: number, jobs: AllJobs): boolean {
  if (jobs.isSet?.(scene, t)) {
    jobs.fire?.(scene, t);
    return turn(scene, t, jobs);
  }
  scene.set(t, PHASE, CANCELLING);
  scene.call(t, 'cancelRun', scene.get(t, patient(scene, t)));
  return false;
}

/** Begins what the event loop does next. */
function turn(scene: Scene, t: number, jobs: AllJobs): boolean {
  scene.set(t, PHASE, NEXT);
  scene.set(t, RESULT, 0);
  scene.set(t, RANG, 0);
  const list = scene.get(t, READY);
  scene.set(t, ANSWER, list & 15);
  if (list !== 0) {
    scene.set(t, READY, list >>> 4);
    scene.set(t, PHASE, RUNNING);
    return jobs.goOn(scene, t, list & 15) && turn(scene, t, jobs);
  }
  if (scene.get(t, FLUSH_DUE) === 1) {
    scene.set(t, FLUSH_DUE, UNDER_WAY);
    return load(scene, t);
  }
  const isSet = jobs.isSet?.(scene, t) ?? false;
  const waiting = scene.get(t, QUEUE);
  if (waiting === 0) return !isSet || fire(scene, t, jobs);
  if (scene.get(t, LISTENING) === 0) throw new Violation(`thread ${t} sleeps without listening to its doorbell`);
  if (jobs.pauses) return true;
  scene.set(t, PHASE, SLEEPING);
  const mayCancel = jobs.timed === true && patient(scene, t) < PROMISES + 4 * waiting;
  scene.hostWait(t, scene.doorbell(t), scene.get(t, RUNG), isSet || mayCancel);
  return false;
}
