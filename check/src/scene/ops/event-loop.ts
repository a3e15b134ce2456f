/**
 * The event loop of a thread: what src/runtime/promises.ts does, in its order, written as a machine of a few phases, since
 * the search must be able to stop between any two accesses.
 */
import { Violation } from '../../engine/search/violation.js';
import type { Op } from '../model.js';
import type { Scene } from '../scene.js';
import { LISTENING, LOCAL, PHASE, PROMISES, QUEUE, READY, REST_DUE, RESULT, RUNG } from '../words.js';
import { firstRun, gaveUp, patient, restSoon, settle, settling } from './promises.js';
import { releasing } from './release.js';

const TOLD = LOCAL + 1; // what the continuation under way has been told
const RANG = LOCAL + 4; // the doorbell before the loop settles what is due
/** Of REST_DUE: what may not be entered is looked at. */
const UNDER_WAY = 2;

// Phases of the event loop.
const NEXT = 0;
const RUNNING = 1; // a continuation
const LOADING = 2; // the doorbell
const RESTING = 3; // settling what is due
const ENTERING = 4; // the first run
const LISTEN = 5; // comparing the doorbell, as waitAsync does
const SLEEPING = 6;
const GIVING_UP = 7; // the time of the first promise that may cancel is over
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
  /** Whether promises that may cancel do so when a sleep of the loop runs out. */
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
  scene.call(t, 'cancelRun', scene.get(t, patient(scene, t)));
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
