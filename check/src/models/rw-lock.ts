/**
 * Models of RwLock (core/kinds/rw-lock/rw-lock.ts). In the text of a program, bars stand between the programs of two
 * threads, and each letter stands for some ops. An apostrophe behind a letter means a second lock.
 *
 *     r  locks for reading
 *     s  locks for reading, with a time-out that may pass in each sleep
 *     y  tries to lock for reading, also while the thread reads
 *     u  unlocks, if the thread reads
 *     w  locks for writing: takes the turn, shuts the gate, and waits until the readers are gone
 *     t  locks for writing, with a time-out that may pass in each sleep
 *     v  tries to lock for writing
 *     W  locks for writing, and waits for the readers as a promise does
 *     o  unlocks: opens the gate if the thread writes, and gives the turn back if the thread has the turn
 *     p  takes the turn only (update)
 *     g  goes on as a writer, if the thread has the turn (upgrade)
 *     G  goes on as a writer, if the thread has the turn, with a time-out that may pass in the sleep
 *     d  goes on as a reader, if the thread writes (downgrade)
 *     K  goes on with the turn, if the thread writes (downgrade to update)
 *     k  goes on as a reader, if the thread has the turn and does not write
 *     a  begins a promise that locks for reading
 *     e  runs the event loop until the waiting promises of the thread read
 *     x  aborts one of the waiting promises
 *     m  writes two words, if the thread writes
 *     S  reads these two words without the lock, by a stamp
 *     D  disposes
 *     X  reaps each thread that dies
 *     Z  sleeps until the thread is killed
 *
 * A writer is alone. A reader waits for one writer at most: while a reader waits for the end of a phase, no writer of
 * another phase gets in. If a writer has died, each reader is told that the data may be half-written, until another
 * writer has written. At the end nobody sleeps, and a thread has a seat in its record if and only if the thread reads
 * or one of its promises waits.
 */

import { Violation } from '../engine/search/violation.js';
import { CMPXCHG, NOTIFY, STORE } from '../engine/wasm/code.js';
import type { Section } from '../engine/wasm/uninterruptible.js';
import { ADMITTED, ANSWER_CLOSED, constant, QUEUED, REFUSED, THREAD_SIZE, TIMED_OUT } from '../scene/layout.js';
import type { Model, Op } from '../scene/model.js';
import { acquire, acquireFor, tryAcquire } from '../scene/ops/acquire.js';
import { call } from '../scene/ops/calls.js';
import { awaitDeath, recordOf, supervise } from '../scene/ops/deaths.js';
import { release } from '../scene/ops/release.js';
import type { Scene } from '../scene/scene.js';
import { globalIndex } from '../scene/set-up.js';
import { GOT, LOCAL, PHASE, PROMISES, RESULT } from '../scene/words.js';
import { partsOf } from './parts/program.js';

const RW_LOCK = constant('KIND_RW_LOCK');
const O_PHASE = constant('O_PHASE');
const O_DRAIN = constant('O_DRAIN');
const T_SEATS = constant('T_SEATS');
const SHUT = constant('GATE_SHUT');
const OWNER_DIED = constant('OWNER_DIED');
const NO_STAMP = constant('NO_STAMP');
const MOVE = constant('MOVE');
/** Where the two words begin that writers write together (`m`) and readers read by a stamp (`S`). */
const DATA = constant('M_PACE');

const at = (scene: Scene, lock: number): number => scene.semaphores[lock];
const low = (scene: Scene, lock: number): number => scene.machine.words[(at(scene, lock) + O_PHASE) >> 2];
const high = (scene: Scene, lock: number): number => scene.machine.words[(at(scene, lock) + O_PHASE + 4) >> 2];

// The words that a thread has for each lock. They outlive the op.
const EACH = 6;
const READS = PROMISES;
/** How many promises of the thread wait. */
const WAITS = PROMISES + 1;
/** The phase for whose end the thread waits, plus 1; 0 if it waits for no phase. */
const FOR = PROMISES + 2;
const SEAT = PROMISES + 3;
const WRITES = PROMISES + 4;
const of = (lock: number): number => EACH * lock;

const SHUTS = 1;
const INSIDE = 2;

function checkClosed(scene: Scene, lock: number): void {
  if (high(scene, lock) > -0x20000000) throw new Violation('it is answered that the lock is closed');
}

function phaseSeen(scene: Scene, t: number): number {
  return scene.machine.get(t, globalIndex(scene.program, 'phase/phaseSeen'));
}

/** Notes that the thread reads `more` times more, and checks that it may read. */
function readsNow(scene: Scene, t: number, lock: number, more: number, answer: number): void {
  for (let u = 0; u < scene.threads; u++) {
    if (u === t || scene.get(u, WRITES + of(lock)) !== INSIDE) continue;
    if (!scene.dead(u)) throw new Violation(`thread ${t} reads, and thread ${u} writes`);
    if (answer === ADMITTED) throw new Violation(`thread ${t} is not told that thread ${u} has died as a writer`);
  }
  if (answer === OWNER_DIED && scene.ghosts.deaths === 0) throw new Violation('a death is told, and nobody has died');
  scene.set(t, READS + of(lock), scene.get(t, READS + of(lock)) + more);
  scene.set(t, FOR + of(lock), 0);
}

function writesNow(scene: Scene, t: number, lock: number, phase: number): void {
  for (let u = 0; u < scene.threads; u++) {
    if (u === t || scene.dead(u) || scene.terminated(u)) continue;
    if (scene.get(u, READS + of(lock)) > 0 || scene.get(u, WRITES + of(lock)) === INSIDE)
      throw new Violation(`threads ${t} and ${u} are inside`);
    const waitsFor = scene.get(u, FOR + of(lock));
    if (waitsFor !== 0 && waitsFor - 1 !== phase) throw new Violation(`a second writer passes the reader ${u}`);
  }
  scene.set(t, WRITES + of(lock), INSIDE);
}

type Step = (scene: Scene, t: number, answer: number, go: (to: number) => false) => boolean;

/**
 * Makes an op of steps. A step returns true when the op is done. Otherwise the step has begun a call or an access. Then
 * it names the next step by `go`, and returns what `go` returns.
 */
function stepwise(text: string, ...steps: readonly Step[]): Op {
  const next = (scene: Scene, t: number): boolean => {
    const step = scene.get(t, PHASE);
    const go = (to: number): false => {
      scene.set(t, PHASE, to);
      return false;
    };
    const done = (steps[step] as Step)(scene, t, step === 0 ? 0 : scene.result(t), go);
    if (done) forget(scene, t);
    return done;
  };
  return { text, next };
}

/** Clears words of the core that no step reads any more, so that equal states are seen to be equal. */
function forget(scene: Scene, t: number): void {
  scene.clear(t, 'phase/phaseSeen');
  scene.clear(t, 'rw-lock/drainSeen');
}

function seat(scene: Scene, t: number, lock: number): number {
  return scene.get(t, SEAT + of(lock)) || recordOf(scene, t) + T_SEATS;
}

const BEGUN = 1;
const SLEPT = 2;
const LATE = 3;
const GAVE_UP = 4;
const FOUND = 5;
const ENDS_WAIT = 6;
const LOOKED = 7;

function read(lock: number, how: 'for ever' | 'for a time' | 'try'): Op {
  const timed = how === 'for a time';
  const sleep = (scene: Scene, t: number, phase: number, go: (to: number) => false): false => {
    scene.set(t, FOR + of(lock), phase + 1);
    scene.call(t, 'sleepInPhase', at(scene, lock), phase, timed ? 1 : -1, timed ? 0 : -1);
    return go(SLEPT);
  };
  const giveUp = (scene: Scene, t: number, go: (to: number) => false): boolean => {
    // The promises of the thread wait on.
    if (scene.get(t, WAITS + of(lock)) > 0) return true;
    scene.set(t, FOR + of(lock), 0);
    scene.call(t, 'giveUpRead', at(scene, lock), seat(scene, t, lock));
    return go(GAVE_UP);
  };
  const over: Step = (scene, t, answer, go) => {
    if (answer !== ADMITTED) return giveUp(scene, t, go);
    if (high(scene, lock) === scene.get(t, FOR + of(lock)) - 1) throw new Violation('a sleep ends before its phase');
    scene.call(t, 'endReadWait', at(scene, lock), seat(scene, t, lock));
    return go(ENDS_WAIT);
  };
  return stepwise(
    `read, ${how}`,
    (scene, t, _, go) => {
      const reads = scene.get(t, READS + of(lock));
      if (reads > 0 && how === 'try') {
        scene.call(t, 'stampOf', at(scene, lock));
        return go(LOOKED);
      }
      if (reads > 0) {
        scene.set(t, READS + of(lock), reads + 1);
        return true;
      }
      if (scene.get(t, WAITS + of(lock)) > 0) return sleep(scene, t, scene.get(t, FOR + of(lock)) - 1, go);
      scene.call(t, how === 'try' ? 'tryRead' : 'beginRead', at(scene, lock), seat(scene, t, lock));
      return go(BEGUN);
    },
    (scene, t, answer, go) => {
      if (answer === MOVE) {
        scene.call(t, 'seatFor', at(scene, lock));
        return go(FOUND);
      }
      if (answer === ANSWER_CLOSED) checkClosed(scene, lock);
      else if (answer === QUEUED) return sleep(scene, t, phaseSeen(scene, t), go);
      else if (answer === ADMITTED || answer === OWNER_DIED) readsNow(scene, t, lock, 1, answer);
      else if (answer !== REFUSED || how !== 'try') throw new Violation(`a reader is answered ${answer}`);
      return true;
    },
    (scene, t, answer, go) => {
      if (answer === TIMED_OUT && timed) {
        scene.call(t, 'announce', at(scene, lock), scene.get(t, FOR + of(lock)) - 1);
        return go(LATE);
      }
      if (answer === ANSWER_CLOSED) checkClosed(scene, lock);
      return over(scene, t, answer, go);
    },
    over,
    () => true,
    (scene, t, answer, go) => {
      if (answer === 0) throw new Violation('no seat is free');
      scene.set(t, SEAT + of(lock), answer);
      scene.call(t, how === 'try' ? 'tryRead' : 'beginRead', at(scene, lock), answer);
      return go(BEGUN);
    },
    (scene, t, answer) => {
      const waiting = scene.get(t, WAITS + of(lock));
      scene.set(t, WAITS + of(lock), 0);
      readsNow(scene, t, lock, waiting + 1, answer);
      return true;
    },
    // A thread that reads may not read once more by a try while the gate is shut.
    (scene, t, answer) => {
      if (answer !== NO_STAMP) scene.set(t, READS + of(lock), scene.get(t, READS + of(lock)) + 1);
      return true;
    },
  );
}

function unread(lock: number): Op {
  return stepwise(
    'unlock',
    (scene, t, _, go) => {
      const reads = scene.get(t, READS + of(lock));
      if (reads === 0) return true;
      scene.set(t, READS + of(lock), reads - 1);
      if (reads > 1) return true;
      scene.call(t, 'endRead', at(scene, lock), seat(scene, t, lock));
      return go(1);
    },
    () => true,
  );
}

/** Begins a promise that is to read. The promise reads at once, or waits with the other promises of the thread. */
function ask(lock: number): Op {
  return stepwise(
    'readAsync',
    (scene, t, _, go) => {
      const waiting = scene.get(t, WAITS + of(lock));
      if (waiting > 0) {
        scene.set(t, WAITS + of(lock), waiting + 1);
        return true;
      }
      const name = scene.get(t, READS + of(lock)) > 0 ? 'readToo' : 'beginRead';
      scene.call(t, name, at(scene, lock), seat(scene, t, lock));
      return go(1);
    },
    (scene, t, answer) => {
      if (answer === ANSWER_CLOSED) checkClosed(scene, lock);
      else if (answer === QUEUED) {
        scene.set(t, FOR + of(lock), phaseSeen(scene, t) + 1);
        scene.set(t, WAITS + of(lock), 1);
      } else readsNow(scene, t, lock, 1, answer);
      return true;
    },
  );
}

/**
 * Waits until the waiting promises of the thread become readers. With `aborts`, one of the promises is aborted instead:
 * it leaves, unless the phase is over already.
 */
function settle(lock: number, aborts: boolean): Op {
  return stepwise(
    aborts ? 'abort' : 'await promises',
    (scene, t, _, go) => {
      if (scene.get(t, WAITS + of(lock)) === 0) return true;
      scene.call(t, 'announce', at(scene, lock), scene.get(t, FOR + of(lock)) - 1);
      return go(1);
    },
    (scene, t, answer, go) => {
      const phase = scene.get(t, FOR + of(lock)) - 1;
      const waiting = scene.get(t, WAITS + of(lock));
      if (answer === QUEUED && !aborts) {
        scene.hostWait(t, at(scene, lock) + O_PHASE + 4, phase);
        return go(0);
      }
      if (answer === ADMITTED) {
        scene.call(t, 'endReadWait', at(scene, lock), seat(scene, t, lock));
        return go(2);
      }
      if (answer === ANSWER_CLOSED) checkClosed(scene, lock);
      const left = answer === QUEUED ? waiting - 1 : 0;
      scene.set(t, WAITS + of(lock), left);
      if (left > 0) return true;
      scene.set(t, FOR + of(lock), 0);
      scene.call(t, 'giveUpRead', at(scene, lock), seat(scene, t, lock));
      return go(3);
    },
    (scene, t, answer) => {
      const waiting = scene.get(t, WAITS + of(lock));
      scene.set(t, WAITS + of(lock), 0);
      readsNow(scene, t, lock, waiting, answer);
      return true;
    },
    () => true,
  );
}

/** Shuts the gate, for a thread that has the turn, and waits for the readers. */
function shut(lock: number, how: 'for ever' | 'for a time' | 'try' | 'promise'): Op {
  const SAW = LOCAL + 2;
  const wait = (scene: Scene, t: number, go: (to: number) => false): false => {
    const timed = how === 'for a time';
    if (how === 'promise') scene.call(t, 'announceDrain', at(scene, lock), scene.get(t, SAW));
    else scene.call(t, 'drainReaders', at(scene, lock), scene.get(t, SAW), timed ? 1 : -1, timed ? 0 : -1);
    return go(2);
  };
  return stepwise(
    `shut, ${how}`,
    (scene, t, _, go) => {
      if (scene.get(t, GOT + lock) === 0) return true;
      scene.call(t, 'shutGate', at(scene, lock));
      return go(1);
    },
    (scene, t, answer, go) => {
      if (answer === ANSWER_CLOSED) {
        checkClosed(scene, lock);
        return true;
      }
      scene.set(t, SAW, phaseSeen(scene, t));
      scene.set(t, WRITES + of(lock), SHUTS);
      if (answer === ADMITTED) {
        writesNow(scene, t, lock, scene.get(t, SAW));
        return true;
      }
      if (how !== 'try') return wait(scene, t, go);
      scene.set(t, WRITES + of(lock), 0);
      scene.call(t, 'openGate', at(scene, lock), 1);
      return go(3);
    },
    (scene, t, answer, go) => {
      if (answer === ADMITTED) writesNow(scene, t, lock, scene.get(t, SAW));
      else if (answer === ANSWER_CLOSED) {
        checkClosed(scene, lock);
        scene.set(t, WRITES + of(lock), 0);
      } else if (answer === QUEUED && how === 'promise') {
        const seen = scene.machine.get(t, globalIndex(scene.program, 'rw-lock/drainSeen'));
        scene.hostWait(t, at(scene, lock) + O_DRAIN, seen);
        return go(4);
      } else if (answer === TIMED_OUT && how === 'for a time') {
        scene.set(t, WRITES + of(lock), 0);
        scene.call(t, 'openGate', at(scene, lock), 1);
        return go(3);
      } else throw new Violation(`a writer is answered ${answer}`);
      return true;
    },
    () => true,
    (scene, t, _, go) => wait(scene, t, go),
  );
}

function wrote(scene: Scene, t: number, lock: number): void {
  // From now on, no reader need be told of the writers that have died.
  for (let u = 0; u < scene.threads; u++) if (scene.dead(u)) scene.set(u, WRITES + of(lock), 0);
  scene.set(t, WRITES + of(lock), 0);
}

function open(lock: number): Op {
  return stepwise(
    'open',
    (scene, t, _, go) => {
      if (scene.get(t, WRITES + of(lock)) !== INSIDE) return true;
      wrote(scene, t, lock);
      scene.call(t, 'openGate', at(scene, lock), 0);
      return go(1);
    },
    () => true,
  );
}

/** Makes the thread, which writes, a reader. */
function goOnReading(lock: number): Op {
  return stepwise(
    'downgrade',
    (scene, t, _, go) => {
      if (scene.get(t, WRITES + of(lock)) !== INSIDE) return true;
      scene.call(t, 'endReadWait', at(scene, lock), seat(scene, t, lock));
      return go(1);
    },
    (scene, t, answer) => {
      scene.set(t, WRITES + of(lock), 0);
      readsNow(scene, t, lock, 1, answer);
      scene.set(t, WRITES + of(lock), INSIDE);
      return true;
    },
  );
}

function writeData(lock: number): Op {
  const store = (word: number): Step => {
    return (scene, t, _, go) => {
      const data = at(scene, lock) + DATA;
      scene.hostStore(t, data + 4 * word, scene.machine.words[(data + 4 * word) >> 2] + 1);
      return go(word + 2);
    };
  };
  // The thread may die while it looks at the stamp.
  const begin: Step = (scene, t, _, go) => {
    if (scene.get(t, WRITES + of(lock)) !== INSIDE) return true;
    scene.call(t, 'stampOf', at(scene, lock));
    return go(1);
  };
  return stepwise('write', begin, store(0), store(1), () => true);
}

function readData(lock: number): Op {
  const STAMP = LOCAL;
  const FIRST = LOCAL + 1;
  const SECOND = LOCAL + 2;
  return stepwise(
    'read by a stamp',
    (scene, t, _, go) => {
      scene.call(t, 'stampOf', at(scene, lock));
      return go(1);
    },
    (scene, t, answer, go) => {
      if (answer === ANSWER_CLOSED) checkClosed(scene, lock);
      if (answer <= 0) return true;
      scene.set(t, STAMP, answer);
      scene.hostLoad(t, at(scene, lock) + DATA);
      return go(2);
    },
    (scene, t, _, go) => {
      scene.set(t, FIRST, scene.get(t, RESULT));
      scene.hostLoad(t, at(scene, lock) + DATA + 4);
      return go(3);
    },
    (scene, t, _, go) => {
      scene.set(t, SECOND, scene.get(t, RESULT));
      scene.call(t, 'isStamp', at(scene, lock), scene.get(t, STAMP));
      return go(4);
    },
    (scene, t, answer) => {
      if (answer === 1 && scene.get(t, FIRST) !== scene.get(t, SECOND))
        throw new Violation('a stamp is valid, in vain');
      return true;
    },
  );
}

/** The ops that a letter of a program stands for. */
export function ops(text: string): Op[] {
  const lock = text.length > 1 ? 1 : 0;
  switch (text[0]) {
    case 'r':
      return [read(lock, 'for ever')];
    case 's':
      return [read(lock, 'for a time')];
    case 'y':
      return [read(lock, 'try')];
    case 'u':
      return [unread(lock)];
    case 'w':
      return [acquire(1, lock), shut(lock, 'for ever')];
    case 't':
      return [acquireFor(1, lock), shut(lock, 'for a time')];
    case 'v':
      return [tryAcquire(1, lock), shut(lock, 'try')];
    case 'W':
      return [acquire(1, lock), shut(lock, 'promise')];
    case 'o':
      return [open(lock), release(lock)];
    case 'p':
      return [acquire(1, lock)];
    case 'g':
      return [shut(lock, 'for ever')];
    case 'G':
      return [shut(lock, 'for a time')];
    case 'd':
      return [goOnReading(lock), open(lock), release(lock)];
    case 'K':
      return [open(lock)];
    case 'k':
      return [read(lock, 'for ever'), release(lock)];
    case 'a':
      return [ask(lock)];
    case 'e':
      return [settle(lock, false)];
    case 'x':
      return [settle(lock, true)];
    case 'm':
      return [writeData(lock)];
    case 'S':
      return [readData(lock)];
    case 'X':
      return [supervise()];
    case 'Z':
      return [awaitDeath()];
    case 'D':
      return [call('disposeAgain', (scene) => [at(scene, lock)])];
    default:
      throw new Error(`a program has no ${text}`);
  }
}

function checkEnd(scene: Scene, locks: number): void {
  for (let lock = 0; lock < locks; lock++) {
    const isClosed = high(scene, lock) <= -0x20000000;
    let shuts = false;
    for (let t = 0; t < scene.threads; t++) {
      const reads = !scene.dead(t) && scene.get(t, READS + of(lock)) > 0;
      const waits = !scene.dead(t) && scene.get(t, WAITS + of(lock)) > 0;
      if (!scene.dead(t) && scene.get(t, WRITES + of(lock)) !== 0) shuts = true;
      let has = 0;
      for (let p = recordOf(scene, t) + T_SEATS; p < recordOf(scene, t) + THREAD_SIZE; p += 8) {
        const word = scene.machine.words[(p + 4) >> 2];
        if ((word & ~3) === at(scene, lock)) has |= word & 3;
        else if (word !== 0 && !scene.semaphores.includes(word & ~3)) throw new Violation('a seat is of no lock');
      }
      if (has !== Number(reads) + 2 * Number(waits)) throw new Violation(`the seat of thread ${t} says ${has}`);
    }
    if (!isClosed && ((low(scene, lock) & SHUT) !== 0) !== shuts)
      throw new Violation('the gate is shut, and nobody writes');
  }
}

interface More {
  /** Which threads may die. */
  readonly mortal?: readonly number[];
  readonly deaths?: number;
  readonly spin?: number;
  readonly undead?: boolean;
  /** As in Settings; for a model whose writer is terminated in its sleep. The ghosts do not count its death. */
  readonly leaves?: boolean;
}

function lock(name: string, program: string, more: More = {}): Model {
  const parts = partsOf(program);
  const programs = parts.map((part) => part.split(/\s+/).flatMap(ops));
  const locks = program.includes("'") ? 2 : 1;
  const alike = more.mortal === undefined && !program.includes('D');
  return {
    name: `rw lock: ${name}`,
    programs,
    ...(alike ? { symmetric: parts } : {}),
    arena: {
      buckets: 1,
      elements: 2 * programs.length + (program.match(/t/g) ?? []).length,
      objects: locks,
      attached: programs.length,
    },
    leaves: more.leaves ?? false,
    ...(more.mortal === undefined ? {} : { deaths: more.deaths ?? 1, mortal: more.mortal }),
    undead: more.undead ?? false,
    objects: (scene) => {
      for (let i = 0; i < locks; i++)
        scene.semaphore({ permits: 1, kind: RW_LOCK, spin: more.spin ?? 0, robust: true });
    },
    end: (scene) => checkEnd(scene, locks),
  };
}

export const sections: readonly Section[] = [
  {
    name: 'R11, openGate',
    fn: 'rw-lock/openGate',
    from: { kind: CMPXCHG, word: constant('O_PHASE') },
    to: [0],
    by: [NOTIFY],
    returns: 'nobody sleeps, so nobody is to be woken',
  },
  // A reader that leaves, or begins to wait, also wakes the writer, even if an exception cuts its call short. The store
  // goes to the reader's seat. Its offset is part of the address, so `word` is 0.
  ...['beginRead', 'endRead', 'giveUpRead'].map((fn) => ({
    name: `R12, ${fn}`,
    fn: `rw-lock/${fn}`,
    from: { kind: STORE, word: 0 },
    to: [0],
    by: [NOTIFY],
    returns: 'the writer does not sleep, or the reader is in',
  })),
];

export const models: readonly Model[] = [
  lock('a reader and a writer', 'r u | w o'),
  lock('two readers and a writer', 'r u | r u | w o'),
  lock('a reader and two writers', 'r u | w o | w o'),
  lock('writer, reader, writer', 'w o w o | r u'),
  lock('a reader twice, a writer twice', 'r u r u | w o w o'),
  lock('polls first', 'r u | w o', { spin: 2 }),
  lock('reads twice', 'r r u u | w o'),
  lock('two that read twice', 'r r u u | r r u u | w o'),
  lock('reads, then writes', 'r u w o | r u w o'),
  lock('timed reader', 's u | w o'),
  lock('timed reader, twice a writer', 's u | w o w o'),
  lock('timed reader, two writers', 's u | w o | w o'),
  lock('timed writer', 'r u | t o'),
  lock('timed writer, and another', 'r u | t o | w o'),
  lock('timed writer between', 'w o | t o | r u'),
  lock('tries', 'y u | v o'),
  lock('tries of two locks', "y y' u u' | v o v' o'"),
  lock('tries among others', 'y u | v o | w o'),
  lock('a reader among tries', 'r u | v o v o'),
  lock('a writer among tries', 'y u y u | w o'),
  lock('tries that overlap', 'r y u u | w o'),
  lock('update beside a reader', 'p g o | r u'),
  lock('update beside two readers', 'p g o | r u | r u'),
  lock('two updates', 'p g o | p g o'),
  lock('two updates and a reader', 'p g o | p g o | r u'),
  lock('a timed upgrade', 'p G o | r u'),
  lock('an update and a writer', 'p o | w o | r u'),
  lock('downgrade', 'w d u | w o'),
  lock('downgrade beside a reader', 'w d u | w o | r u'),
  lock('downgrade of an update', 'p k u | w o'),
  lock('downgrade to update', 'w K o | w o | r u'),
  lock('downgrade to update, and upgrade', 'w K g o | w o | r u'),
  lock('a promise reads', 'a e u | w o'),
  lock('two promises read', 'a a u e u u | w o'),
  lock('a promise reads beside its thread', 'r a u e u | w o'),
  lock('a promise reads beside its thread, two writers', 'r a u e u | w o w o'),
  lock('a thread reads beside its promise', 'a r e u u | w o'),
  lock('an aborted promise', 'a x e u | w o'),
  lock('one of two is aborted', 'a a u x e u u | w o'),
  lock('one is aborted beside its thread', 'r a x u e u | w o'),
  lock('a promise reads, two writers', 'a e u | w o | w o'),
  lock('a promise writes', 'r u | W o'),
  lock('a promise writes, two readers', 'r u | r u | W o'),
  lock('two locks', "r r' u u' | w o w' o'"),
  lock('two locks, crosswise', "r r' u u' | w' o' w o"),
  lock('a stamp', 'S | w m o'),
  lock('a stamp, two writers', 'S | w m o | w m o'),
  lock('a stamp beside a timed writer', 'S | r u | t m o'),
  lock('disposed beside a reader', 'r u | w o | D'),
  lock('disposed by the writer, beside two readers', 'w D | r u | r u'),
  lock('disposed beside a drain', 'r r | w | D'),
  lock('disposed beside promises', 'a e u | W o | D'),
  lock('a reader dies', 'r u | w o | X', { mortal: [0] }),
  lock('a reader dies, another reads', 'r u | w o | X r u', { mortal: [0] }),
  lock('a waiting reader dies', 'r u | w o w o | X', { mortal: [0] }),
  lock('a promise that reads dies', 'a e u | w o | X', { mortal: [0] }),
  lock('a writer dies', 'w m o | r u | X', { mortal: [0] }),
  lock('a writer dies, another writes', 'w m o | w o | X r u', { mortal: [0] }),
  lock('a draining writer dies', 'w o | r u r u | X', { mortal: [0] }),
  lock('an updater dies', 'p g m o | r u | X w o', { mortal: [0] }),
  lock('one dies as it goes on reading', 'w m d u | w o | X', { mortal: [0] }),
  lock('a disposer dies', 'D | r u X | w o', { mortal: [0] }),
  lock('a disposer dies beside a drain', 'D | r X u | w o', { mortal: [0] }),
  lock('a reaper dies', 'r u | X | X | w o', { mortal: [0, 1], deaths: 2 }),
  lock('the reaper of a writer dies', 'w m o | X | X | r u', { mortal: [0, 1], deaths: 2 }),
  lock('a terminated reader', 'r u | w o w o | X', { mortal: [0], undead: true }),
  lock('a terminated writer', 'w o | r u | X', { mortal: [0], undead: true, leaves: true }),
];
