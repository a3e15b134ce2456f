/**
 * The semaphores of P0514R1 (core/counter.ts): what src/p0514/semaphore.ts does, as small machines.
 *
 *     W wait        F tryWaitFor: every sleep may run out        Y tryWait       D dispose
 *     S signal      O signal(one)    N signal(none)              R signal if the thread has taken something
 *     S2 signal(2)                                               X reap whoever dies
 *
 * Checked beside what every scene checks of the queue: never more taken than was there and has been signalled; at
 * the end the value is what is left, and `waiting` those who sleep; whoever was handed something is through.
 */
import { ADMITTED, ANSWER_CLOSED, constant, GRANT, QUEUED, REFUSED, TICKET } from '../scene/layout.js';
import { acquire, acquireFor, call, releasing, supervise, tryAcquire } from '../scene/ops.js';
import { type Model, type Op, type Scene, Violation } from '../scene/scene.js';
import { GOT, LISTENING, LOCAL, PHASE, READY, RUNG } from '../scene/words.js';
import { partsOf } from './program.js';

const O_COUNTER = constant('O_COUNTER');
const NOTIFY = { S: constant('NOTIFY_ALL'), O: constant('NOTIFY_ONE'), N: constant('NOTIFY_NONE') };

// Words of a thread that stay between its operations.
const TAKEN = LISTENING;
const SIGNALLED = RUNG;
const HANDED = READY;
// And within one.
const STAGE = LOCAL + 4;
const WIDTH = LOCAL + 1;

const total = (scene: Scene, word: number): number =>
  scene.model.programs.reduce((sum, _, t) => sum + scene.get(t, word), 0);

const counter = (scene: Scene): number => (scene.semaphores[0] as number) + O_COUNTER;

function through(scene: Scene, t: number, initial: number): true {
  scene.set(t, TAKEN, scene.get(t, TAKEN) + 1);
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
          scene.call(t, 'countDown', scene.semaphores[0] as number);
          return false;
        case COUNTING:
          if (scene.result(t) === ADMITTED) return through(scene, t, initial);
          if (scene.result(t) !== QUEUED) return closed(scene, t);
          to(QUEUEING);
          return this.next(scene, t);
        case QUEUEING: {
          const got = scene.get(t, GOT);
          if (!queue.next(scene, t)) return false;
          if (scene.get(t, GOT) > got) return through(scene, t, initial);
          return leave(scene, t);
        }
        case LEAVING:
          if (scene.result(t) === REFUSED) return true;
          scene.set(t, PHASE, 0);
          to(LOOKING);
          return this.next(scene, t);
        case LOOKING: {
          const got = scene.get(t, GOT);
          if (!look.next(scene, t)) return false;
          if (scene.get(t, GOT) > got) return through(scene, t, initial);
          return leave(scene, t);
        }
        default:
          return scene.result(t) === REFUSED ? closed(scene, t) : through(scene, t, initial);
      }
    },
  };
}

/** What the queue has answered is no permit. */
function leave(scene: Scene, t: number): false {
  scene.set(t, STAGE, scene.result(t) === ANSWER_CLOSED ? LEAVING_CLOSED : LEAVING);
  scene.call(t, 'withdraw', scene.semaphores[0] as number);
  return false;
}

function closed(scene: Scene, t: number): true {
  if (scene.machine.words[(counter(scene) + 4) >> 2] > -0x20000000)
    throw new Violation(`thread ${t} is told that the semaphore is closed`);
  return true;
}

function tryWait(initial: number): Op {
  return call(
    'tryCountDown',
    (scene) => [scene.semaphores[0] as number],
    (answer, scene, t) => {
      if (answer === ADMITTED) through(scene, t, initial);
      else if (answer !== REFUSED) closed(scene, t);
    },
  );
}

function signal(count: number, notify: number, ifTaken = false): Op {
  return {
    text: `signal(${count}, ${notify})`,
    next(scene, t) {
      const phase = scene.get(t, PHASE);
      if (phase === 0) {
        if (ifTaken && scene.get(t, TAKEN) === scene.get(t, SIGNALLED)) return true;
        scene.set(t, PHASE, 1);
        scene.set(t, SIGNALLED, scene.get(t, SIGNALLED) + count);
        scene.call(t, 'countUp', scene.semaphores[0] as number, count, notify);
        return false;
      }
      if (phase === 1) {
        const handed = scene.result(t);
        if (handed < 0) throw new Violation(`thread ${t}'s signal is answered ${handed}`);
        if (handed === 0) return true;
        scene.set(t, HANDED, scene.get(t, HANDED) + handed);
        scene.set(t, WIDTH, handed);
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
  const [, letter, digits] = /^([WFYDSONRXM])(\d*)$/.exec(text) ?? [];
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
      return ['closeCounter', 'dispose'].map((name) =>
        call(name, (scene) => [scene.semaphores[0] as number]),
      );
    case 'X':
      return [supervise()];
    default:
      throw new Error(`a program has no ${text}`);
  }
}

/** Of threads that died in their sleep nothing is left: who waits, and no more, is counted or has been handed something. */
function checkDeaths(scene: Scene): void {
  if (!scene.model.undead || !scene.dead(0)) return;
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
  const sleeping = scene.model.programs.filter((_, t) => !scene.finished(t)).length;
  if (waiting !== sleeping) throw new Violation(`${sleeping} sleep, and ${waiting} are said to wait`);
  const left = initial + total(scene, SIGNALLED) - taken;
  if (value !== left) throw new Violation(`the value is ${value}, and should be ${left}`);
}

interface Line extends Pick<Model, 'long' | 'mayWait' | 'deaths' | 'mortal' | 'undead'> {
  readonly name: string;
  readonly program: string;
  readonly initial?: number;
  readonly max?: number;
  readonly spin?: number;
  readonly buckets?: number;
  /** At least so many must have taken something. */
  readonly least?: number;
}

function modelOf(line: Line): Model {
  const { name, program, initial = 0, max = 100, spin = 0, buckets = 1, least = 0, ...rest } = line;
  const alike = partsOf(program);
  const programs = alike.map((part) => part.split(/\s+/).flatMap((word) => op(word, initial)));
  return {
    ...rest,
    name: `p0514: ${name}`,
    programs,
    alike,
    arena: {
      buckets,
      objects: 1,
      elements: 2 * programs.length,
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

export const p0514: readonly Model[] = [...lines.map(modelOf), dead(0), dead(1)];
