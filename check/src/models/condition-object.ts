/**
 * Models of the condition (core/kinds/condition/condition.ts). In the text of a program, bars stand between the
 * programs of two threads, and each letter stands for some ops:
 *
 *     w  waits
 *     f  waits, with a time-out that may pass in each sleep
 *     a  waitAsync
 *     t  waitAsync with a signal
 *     x  fires the signal of the first promise that has a signal
 *     d  runs the event loop until no promise waits
 *     n  notifies one
 *     N  notifies all
 *     D  disposes of the condition
 *     X  reaps each thread that dies
 *     Z  sleeps until the thread is killed
 *
 * These waits begin and end without the mutex. This makes no difference to the queue, because a wait relays when it is
 * over. Other models have the mutex, and a flag that belongs to the mutex:
 *
 *     W  locks, waits until the flag is set, unlocks
 *     S  locks, sets the flag, notifies all, unlocks
 *     s  locks, sets the flag, unlocks, notifies all
 *     M  disposes of the mutex
 *     C  disposes of the condition
 *     R  notifies again and again, until all other threads have ended
 *
 * An exclamation mark behind n or N says that an exception may end the call anywhere.
 *
 * No wait ends without a notification, and no notified wait sleeps for ever. No notification gets lost while somebody
 * waits. In models with the flag, nobody sleeps at the end.
 */

import { PARKED } from '../engine/machine/machine.js';
import { Violation } from '../engine/search/violation.js';
import { CMPXCHG, RMW, STORE } from '../engine/wasm/code.js';
import type { Section } from '../engine/wasm/uninterruptible.js';
import { tombstones } from '../scene/invariants/tombstones.js';
import { ADMITTED, ALIVE, constant, QUEUED, TICKET, TIMED_OUT } from '../scene/layout.js';
import type { Model, Op, Waiting } from '../scene/model.js';
import { acquire, acquireFor, admitted, expectClosed } from '../scene/ops/acquire.js';
import { call, dispose } from '../scene/ops/calls.js';
import { awaitDeath, supervise } from '../scene/ops/deaths.js';
import { eventLoop } from '../scene/ops/event-loop.js';
import { waits } from '../scene/ops/looks.js';
import { abort, arrive, REJECTED_CANCELLED } from '../scene/ops/promises.js';
import type { Scene } from '../scene/scene.js';
import { GOT, LISTENING, LOCAL, PHASE, PROMISES, QUEUE, RESULT, TAKEN } from '../scene/words.js';
import { mutexOp } from './parts/mutex-ops.js';
import { HAS } from './parts/mutex-words.js';
import { partsOf, takeCells } from './parts/program.js';

const CLOSED = constant('ANSWER_CLOSED');
/** More permits than any model notifies: the scene checks that no wait ends before its ticket is due. */
const PLENTY = 99;
/** In models without the mutex: how many waiters a thread has notified. */
const NOTIFIED = GOT + 1;
/**
 * How many waits of a thread have ended without a notification. With each of these waits one notification may have got
 * lost (settleUp).
 */
const GAVE_UP = PROMISES + 12;
/** In models with the mutex, where no thread has promises: whether a thread has set the flag. */
const FLAG = PROMISES + 13;
/** In the models of `carrying`: how many waits of a thread have ended after a notification. */
const ENDED = PROMISES + 12;
/** In the models of `carrying`: how many waiters a thread has notified. */
const TOLD = PROMISES + 13;
/** How many notifications the thread carries. */
const CARRIES = PROMISES + 14;
/** The answer of the call that took the ticket. */
const TAKEN_BY = PROMISES + 14;
/** In models without the mutex: whether a continuation is putting a notification down. */
const ENDING = LOCAL;
/** The run of the promises of a thread. */
const RUN = PROMISES + 15;

/** The index of the condition: a model with the mutex makes the mutex first, and then the condition. */
const index = (scene: Scene): number => scene.semaphores.length - 1;
const at = (scene: Scene): number => scene.semaphores[index(scene)];

const settleUp = (): Op => call('settleUp', (scene) => [at(scene)]);
/** Ends a wait in a model of `carrying`: puts one notification down, if the thread carries any. */
const putDown = (passesOn = 0): Op =>
  call('putDown', (scene, t) => {
    const carried = Math.min(scene.get(t, CARRIES), 1);
    scene.set(t, CARRIES, scene.get(t, CARRIES) - carried);
    return [at(scene), scene.robust(t, 1), carried, passesOn];
  });
/**
 * Notes that the thread carries the notification that its wait has got, and clears GOT: the operations of the mutex
 * would take GOT for a promise at the head.
 */
const carry = (): Op => ({
  text: 'carry',
  next(scene, t) {
    scene.set(t, CARRIES, scene.get(t, GOT));
    scene.set(t, GOT, 0);
    return true;
  },
});
/** Ends a wait. `GOT` says whether the wait has been notified. If so, the thread puts the notification down. */
const orPutDown = (): Op =>
  call('putDown', (scene, t) => [at(scene), scene.robust(t, index(scene)), scene.get(t, GOT), 0]);

function notify(most: number): Op {
  return call(
    most === 1 ? 'notifyOne' : 'notify',
    (scene) => (most === 1 ? [at(scene)] : [at(scene), most]),
    (answer, scene, t) => {
      if (answer === CLOSED) return;
      if (answer < 0 || answer > most) throw new Violation(`notify(${most}) is answered ${answer}`);
      if (index(scene) === 0) scene.set(t, NOTIFIED, scene.get(t, NOTIFIED) + answer);
    },
  );
}

/** The event loop. The continuation of a fulfilled promise puts the notification of this promise down. */
const loop = (): Op =>
  eventLoop({
    goOn(scene, t, answer) {
      if (answer === REJECTED_CANCELLED) scene.set(t, GAVE_UP, scene.get(t, GAVE_UP) + 1);
      if (answer !== 1 || scene.get(t, ENDING) === 1) {
        scene.set(t, ENDING, 0);
        return true;
      }
      scene.set(t, ENDING, 1);
      scene.call(t, 'putDown', at(scene), scene.robust(t, 0), 1, 0);
      return false;
    },
  });

/** A thread that has given up takes a notification, if one is left over. */
function orLeftOver(): Op {
  return {
    text: 'take what is left over',
    next(scene, t) {
      if (scene.get(t, PHASE) === 0) {
        if (scene.get(t, GOT) > 0 || scene.closed(0)) return true;
        scene.set(t, PHASE, 1);
        scene.call(t, 'tryAcquireRobust', at(scene), 1, scene.robust(t, 0));
        return false;
      }
      if (scene.result(t) === ADMITTED) admitted(scene, t, 0, 1);
      else scene.set(t, GAVE_UP, scene.get(t, GAVE_UP) + 1);
      return true;
    },
  };
}

/** Forgets how the last wait of the thread has ended, before its next wait. */
function forget(): Op {
  return {
    text: 'forget',
    next(scene, t) {
      scene.set(t, GOT, 0);
      return true;
    },
  };
}

/** Takes the ticket of a wait. `park` must follow. */
function begin(): Op {
  return call(
    'acquireRobust',
    (scene, t) => [at(scene), 1, scene.robust(t, index(scene))],
    (answer, scene, t) => scene.set(t, TAKEN_BY, answer),
  );
}

/** Parks a thread that has taken its ticket. */
function park(): Op {
  return {
    text: 'park',
    next(scene, t) {
      const phase = scene.get(t, PHASE);
      const robust = scene.robust(t, index(scene));
      scene.set(t, PHASE, phase + 1);
      if (phase === 0) scene.call(t, 'enqueue', at(scene), 1, scene.get(t, TAKEN_BY), robust);
      else if (phase === 2 || scene.result(t) !== QUEUED) {
        scene.set(t, GOT, Number(scene.result(t) === ADMITTED));
        return true;
      } else scene.call(t, 'park', 0, robust);
      return false;
    },
  };
}

/**
 * Does all of the ops if the flag is not set. The thread has the mutex, so nobody sets the flag meanwhile. If the mutex
 * has been disposed of, the thread does none of the ops.
 */
function unlessSet(ops: readonly Op[]): Op[] {
  const isSet = (scene: Scene): boolean =>
    Array.from({ length: scene.threads }, (_, u) => scene.get(u, FLAG)).some(Boolean);
  const skips = LISTENING;
  return ops.map((op, i) => ({
    text: op.text,
    next(scene, t) {
      if (i === 0 && scene.get(t, PHASE) === 0) scene.set(t, skips, Number(scene.get(t, HAS) === 0 || isSet(scene)));
      return scene.get(t, skips) === 1 || op.next(scene, t);
    },
  }));
}

/**
 * Notifies until all other threads have ended. When the mutex has been disposed of, only notifications wake the threads
 * that wait.
 */
function notifyUntilAlone(): Op {
  return {
    text: 'notify until nobody else is there',
    next(scene, t) {
      if (scene.threadNumbers.every((u) => u === t || scene.finished(u))) return true;
      scene.call(t, 'notify', at(scene), 9);
      return false;
    },
  };
}

function setFlag(): Op {
  return {
    text: 'set the flag',
    next(scene, t) {
      scene.set(t, FLAG, 1);
      return true;
    },
  };
}

/** Notifies at most `most`. The answer must be `notified`, and then `left` must still wait. */
function notifyExactly(most: number, notified: number, left: number): Op[] {
  const expects = (what: string, expected: number) => (answer: number, scene: Scene, t: number) => {
    if (answer !== expected) throw new Violation(`${what} is answered ${answer} instead of ${expected}`);
    if (what === 'notify') scene.set(t, NOTIFIED, scene.get(t, NOTIFIED) + answer);
  };
  return [
    waits((scene) => [at(scene)], notified + left),
    call(
      most === 1 ? 'notifyOne' : 'notify',
      (scene) => (most === 1 ? [at(scene)] : [at(scene), most]),
      expects('notify', notified),
    ),
    waits((scene) => [at(scene)], left),
  ];
}

/** Parks a thread whose request was queued before the start. With `timed` the thread may give up. */
function parkQueued(timed = false): Op {
  return {
    text: 'park',
    next(scene, t) {
      const phase = scene.get(t, PHASE);
      const answer = scene.result(t);
      const robust = scene.robust(t, 0);
      scene.set(t, PHASE, phase + 1);
      if (phase === 0 && timed) scene.call(t, 'parkFor', 1, 0, 0, robust);
      else if (phase === 0) scene.call(t, 'park', 0, robust);
      else if (answer === TIMED_OUT) scene.call(t, 'cancel', at(scene), robust);
      else {
        if (answer !== ADMITTED) return true;
        scene.ghosts.setHeld(0, scene.ghosts.held(0) + 1);
        scene.set(t, GOT, 1);
        return true;
      }
      return false;
    },
  };
}

function opsOf(letter: string): Op[] {
  if (letter.endsWith('!')) return opsOf(letter.slice(0, -1)).map((op) => ({ ...op, cut: () => {} }));
  switch (letter) {
    case 'w':
      return [settleUp(), acquire(1), orPutDown(), forget()];
    case 'f':
      return [settleUp(), acquireFor(1), orLeftOver(), orPutDown(), forget()];
    case 'a':
      return [settleUp(), arrive(1)];
    case 't':
      return [settleUp(), arrive(1, true, true)];
    case 'x':
      return [abort()];
    case 'd':
      return [loop()];
    case 'n':
      return [notify(1)];
    case 'N':
      return [notify(9)];
    case 'D':
      return [dispose(0)];
    case 'X':
      return [supervise()];
    case 'Z':
      return [awaitDeath()];
    case 'W':
      return [
        mutexOp('L'),
        ...unlessSet([settleUp(), begin(), mutexOp('U'), park(), carry(), mutexOp('L'), putDown()]),
        mutexOp('U'),
      ];
    case 'S':
      return [mutexOp('L'), setFlag(), notify(9), mutexOp('U')];
    case 's':
      return [mutexOp('L'), setFlag(), mutexOp('U'), notify(9)];
    case 'M':
      return [dispose(0, 'mutexDispose')];
    case 'C':
      return [dispose(1)];
    case 'R':
      return [notifyUntilAlone()];
    default:
      throw new Error(`a program has no ${letter}`);
  }
}

interface More {
  readonly mortal?: readonly number[];
  readonly undead?: boolean;
  readonly spin?: number;
  readonly buckets?: 1 | 2;
  readonly long?: boolean;
  /** Whether a notifier may die, so that nobody knows how many it has notified. */
  readonly unknown?: boolean;
}

function sum(scene: Scene, word: number): number {
  let all = 0;
  for (let t = 0; t < scene.threads; t++) all += scene.get(t, word);
  return all;
}

function sleeps(scene: Scene): boolean {
  for (let t = 0; t < scene.threads; t++) {
    if (!scene.dead(t) && (scene.get(t, QUEUE) > 0 || scene.machine.status(t) === PARKED)) return true;
  }
  return false;
}

function waiting(scene: Scene, s: number): number {
  let all = 0;
  scene.waiters((_t, semaphore, width) => {
    if (semaphore === s) all += width;
  });
  return all;
}

function checkNotified(scene: Scene, more: More): void {
  const ended = scene.ghosts.held(0);
  const notified = sum(scene, NOTIFIED);
  const deaths = scene.ghosts.deaths;
  if (!more.unknown && ended > notified)
    throw new Violation(`${ended} waits have ended, and ${notified} waiters were notified`);
  if (sleeps(scene) && ended + deaths + sum(scene, GAVE_UP) < notified)
    throw new Violation(`${notified} waiters were notified, ${ended} waits have ended, and others wait`);
}

function condition(name: string, program: string, more: More = {}): Model {
  const parts = partsOf(program);
  const programs = parts.map((part) => part.split(/\s+/).flatMap(opsOf));
  const hasMutex = /[WSs]/.test(program);
  const extra = (program.match(/[fat]/g) ?? []).length;
  return {
    name: `condition: ${name}`,
    programs,
    ...(more.mortal === undefined && !/[DM!]/.test(program) ? { symmetric: parts } : {}),
    arena: { buckets: more.buckets ?? 1, elements: 2 * programs.length + extra, attached: programs.length },
    long: more.long ?? false,
    ...(more.mortal === undefined ? {} : { deaths: 1, mortal: more.mortal }),
    ...(program.includes('!') ? { cuts: 1 } : {}),
    undead: more.undead ?? false,
    mayWait: !hasMutex,
    objects: (scene) => {
      if (hasMutex) scene.semaphore({ permits: 1, kind: constant('KIND_MUTEX'), max: 8, spin: 0, robust: true });
      const c = scene.semaphore({ permits: 0, kind: constant('KIND_CONDITION'), spin: more.spin ?? 0, robust: true });
      scene.ghosts.setMade(scene.semaphores.indexOf(c), PLENTY);
    },
    end: (scene) => {
      const s = index(scene);
      if (!hasMutex) checkNotified(scene, more);
      if (scene.closed(s)) return;
      // A wait that begins drops the notifications for which nobody has waited. So the ghost that says how many were
      // made is set anew, from what is there.
      const { words } = scene.machine;
      const free = scene.grantMinus(s, words[(at(scene) + TICKET) >> 2], words[(at(scene) + TICKET + 4) >> 2]);
      if (free > 0 && sleeps(scene)) throw new Violation('somebody waits, and notifications are left over');
      scene.ghosts.setMade(
        s,
        free + scene.ghosts.held(s) + waiting(scene, s) + tombstones(scene, scene.permits, s, at(scene)),
      );
    },
  };
}

/**
 * A model in which `waiting` and `notify` must tell exact numbers. Each letter stands for a thread whose request
 * is queued before the model starts. A thread with `w` waits. A thread with `g` has given up before the start, and has
 * left its tombstone. Another thread notifies at most `most` waiters. It must notify exactly `notified` of them, and
 * `left` must wait on.
 */
function queue(letters: string, most: number, notified: number, left: number): Model {
  const model = condition(`queue ${letters}, notify ${most}`, 'n');
  const all = [...letters];
  const threads = all.length + 1;
  return {
    ...model,
    programs: [
      ...all.map((letter) => (letter === 'w' ? [parkQueued(), orPutDown()] : [])),
      [...notifyExactly(most, notified, left), ...(left > 0 ? [notify(9)] : [])],
    ],
    symmetric: [...all.map((_, i) => String(i)), 'n'],
    arena: { buckets: 1, elements: 3 * threads, attached: threads },
    objects: (scene) => {
      model.objects?.(scene);
      all.forEach((letter, t) => {
        if (letter === 'g') scene.callNow(t, 'reserveSecond');
        const taken = scene.callNow(t, 'acquireRobust', at(scene), 1, scene.robust(t, index(scene)));
        scene.callNow(t, 'enqueue', at(scene), 1, taken, scene.robust(t, index(scene)));
      });
      all.forEach((letter, t) => {
        if (letter === 'g') scene.callNow(t, 'cancel', at(scene), scene.robust(t, 0));
      });
    },
  };
}

/**
 * The first of three waiters gives up while two threads notify at once. The second waiter stands in the same bucket as
 * the first. A thread that claims the tombstone of the first waiter looks no further in this bucket, so it does not
 * come to the second waiter.
 */
function besideTombstone(): Model {
  const model = condition('beside a tombstone that two claim', 'n');
  return {
    ...model,
    long: true,
    programs: [
      [parkQueued(true), orLeftOver(), orPutDown()],
      [parkQueued(), orPutDown()],
      [parkQueued(), orPutDown()],
      [notify(1)],
      [notify(2)],
    ],
    symmetric: ['f', 'w', 'v', 'n', 'N'],
    arena: { buckets: 2, elements: 9, attached: 5 },
    objects: (scene) => {
      model.objects?.(scene);
      scene.callNow(0, 'reserveSecond');
      const taken = [0, 1, 2].map((t) =>
        scene.callNow(t, 'acquireRobust', at(scene), 1, scene.robust(t, index(scene))),
      );
      // The last thread enters its cell before the first does.
      for (const t of [1, 2, 0]) scene.callNow(t, 'enqueue', at(scene), 1, taken[t] as number, scene.robust(t, 0));
    },
  };
}

/**
 * A notified thread has died and was reaped before the model starts. Nobody waited then, so its notification is gone:
 * the threads that wait in the model must not get it.
 */
function leftOver(): Model {
  const model = condition('what is left over', 'w');
  return {
    ...model,
    programs: [[], opsOf('w'), opsOf('w')],
    symmetric: ['', 'w', 'w'],
    arena: { buckets: 1, elements: 6, attached: 3 },
    deaths: 1,
    mortal: [],
    objects: (scene) => {
      model.objects?.(scene);
      const taken = scene.callNow(0, 'acquireRobust', at(scene), 1, scene.robust(0, 0));
      scene.callNow(0, 'enqueue', at(scene), 1, taken, scene.robust(0, 0));
      scene.callNow(2, 'notify', at(scene), 1);
      scene.kill(0);
      scene.callNow(1, 'reap', 1, ALIVE, 0);
    },
    end: (scene) => {
      const free = waiting(scene, 0);
      if (scene.ghosts.held(0) > 0) throw new Violation('a wait has ended, and nobody has notified');
      if (free !== 2) throw new Violation(`${free} of 2 wait`);
      const { words } = scene.machine;
      const tickets = scene.grantMinus(0, words[(at(scene) + TICKET) >> 2], words[(at(scene) + TICKET + 4) >> 2]);
      if (tickets !== -2) throw new Violation(`2 wait, and have ${-tickets} tickets`);
      scene.ghosts.setMade(0, 0);
    },
  };
}

/** Parks a thread that has taken this ticket, and was queued, before the start. */
function parkOn(ticket: number): Waiting {
  return {
    text: 'park',
    semaphore: 1,
    width: 1,
    next(scene, t) {
      const phase = scene.get(t, PHASE);
      scene.set(t, PHASE, 1);
      if (phase === 1) {
        if (scene.result(t) !== ADMITTED) return expectClosed(scene, t, scene.result(t), 1);
        scene.set(t, CARRIES, 1);
        return true;
      }
      scene.set(t, TAKEN, ticket);
      scene.call(t, 'park', 0, scene.robust(t, 1));
      return false;
    },
  };
}

/**
 * What the event loop does until all promises of an entered run are settled. The run has the tickets from `ticket` on.
 */
function settleAll(ticket: number, promises: number): Waiting {
  const begin = 0;
  const loaded = 1;
  const settled = 2;
  const entered = 3;
  const done = LOCAL;
  const bell = LOCAL + 1;
  return {
    text: 'settle',
    semaphore: 1,
    width: 1,
    next(scene, t) {
      const to = (phase: number): void => scene.set(t, PHASE, phase);
      const settle = (): false => {
        to(settled);
        scene.call(t, 'settle', scene.get(t, RUN), scene.robust(t, 1));
        return false;
      };
      switch (scene.get(t, PHASE)) {
        case begin:
          to(loaded);
          scene.set(t, TAKEN, ticket + scene.get(t, done));
          scene.hostLoad(t, scene.doorbell(t));
          return false;
        case loaded:
          scene.set(t, bell, scene.get(t, RESULT));
          return settle();
        case settled: {
          const count = scene.result(t);
          if (count < 0) return expectClosed(scene, t, count, 1);
          scene.set(t, done, scene.get(t, done) + count);
          scene.set(t, CARRIES, scene.get(t, done));
          if (scene.get(t, done) === promises) return true;
          if (count > 0) return settle();
          to(entered);
          scene.call(t, 'enterRun', scene.get(t, RUN));
          return false;
        }
        default:
          if (scene.result(t) !== 0) return settle();
          to(begin);
          scene.hostWait(t, scene.doorbell(t), scene.get(t, bell));
          return false;
      }
    },
  };
}

/**
 * What a thread does after its wait. The wait counts as ended if the thread was notified. It does not count if the
 * condition was disposed of.
 */
function endOf(letter: string): Op[] {
  if (letter === 'e') return [call('unregister', () => [])];
  if (letter === 'g') return [putDown(1)];
  const ended: Op = {
    text: 'ended',
    next(scene, t) {
      scene.set(t, ENDED, scene.get(t, ENDED) + Math.min(scene.get(t, CARRIES), 1));
      return true;
    },
  };
  return letter === 'v' ? [ended, putDown()] : [mutexOp('L'), ended, putDown(), mutexOp('U')];
}

function tell(most: number): Op {
  return call(
    'notify',
    (scene) => [at(scene), most],
    (answer, scene, t) => scene.set(t, TOLD, scene.get(t, TOLD) + Math.max(answer, 0)),
  );
}

/**
 * Models of threads that have been notified and wait for the mutex. One of them is killed, and its notifications go to
 * the next waiters. `waiters` has one text for each thread whose requests are queued before the start:
 *
 *     w       the thread blocks in one wait, then locks the mutex
 *     p, pp   the thread has one or two promises
 *     v       as w, but the thread does not lock the mutex after its wait
 *     e       as w, but the thread ends after its wait
 *     g       as w, but an exception has ended the wait
 *
 * `program` has the ops of the other threads:
 *
 *     n   notifies one
 *     b   notifies two
 *     L   locks the mutex
 *     U   unlocks the mutex
 *     D   disposes of the condition
 *     X   reaps each thread that dies
 */
function carrying(waiters: string, program: string, more: More = {}): Model {
  const texts = waiters.split(' ');
  const tickets = texts.map((_, i) => texts.slice(0, i).join('').length);
  const others = partsOf(program);
  const threads = texts.length + others.length;
  const model = condition(`${waiters}, carrying, ${program}`, 'W');
  const notifier = (letter: string): Op[] => {
    if (letter === 'n') return [tell(1)];
    if (letter === 'b') return [tell(2)];
    if (letter === 'D') return [dispose(1)];
    return letter === 'X' ? [supervise()] : [mutexOp(letter)];
  };
  return {
    ...model,
    programs: [
      ...texts.map((text, t) => [
        text[0] === 'p' ? settleAll(tickets[t] as number, text.length) : parkOn(tickets[t] as number),
        ...[...text].flatMap(endOf),
      ]),
      ...others.map((letters) => [...letters.replaceAll(' ', '')].flatMap(notifier)),
    ],
    symmetric: Array.from({ length: threads }, (_, t) => String(t)),
    arena: { buckets: 1, elements: 2 * threads + 2, attached: threads },
    deaths: program.includes('|') ? 2 : 1,
    mortal: more.mortal ?? [0],
    long: more.long ?? false,
    undead: more.undead ?? false,
    mayWait: true,
    objects: (scene) => {
      model.objects?.(scene);
      texts.forEach((text, t) => {
        if (text[0] !== 'p') {
          const taken = scene.callNow(t, 'acquireRobust', at(scene), 1, scene.robust(t, index(scene)));
          scene.callNow(t, 'enqueue', at(scene), 1, taken, scene.robust(t, index(scene)));
          return;
        }
        for (const _ of text)
          scene.set(t, RUN, scene.callNow(t, 'arrive', at(scene), 1, scene.get(t, RUN), scene.robust(t, 1)));
        scene.callNow(t, 'enterRun', scene.get(t, RUN));
      });
    },
    end: (scene) => {
      model.end?.(scene);
      const told = sum(scene, TOLD);
      const ended = sum(scene, ENDED);
      if (sleeps(scene) && !scene.closed(1) && ended < told)
        throw new Violation(`${told} waiters were notified, ${ended} waits have ended, and others wait`);
      // The waits of dead threads do not count: a notification that a dead thread carried may have ended another wait
      // too.
      const live = scene.threadNumbers.reduce((all, t) => all + (scene.dead(t) ? 0 : scene.get(t, ENDED)), 0);
      if (live > told && !more.unknown)
        throw new Violation(`${told} waiters were notified, and ${live} waits have ended`);
    },
  };
}

/**
 * A thread that carries a notification has died before the model begins. Its reaper may die too, and then another
 * thread reaps both. The notification must go to one of the two other waiters.
 */
function carriedByDead(): Model {
  const model = carrying('v v v', 'X | X', { mortal: [3], long: true });
  return {
    ...model,
    name: 'condition: carried by a dead thread, whose reaper dies',
    programs: [[], ...model.programs.slice(1)],
    objects: (scene) => {
      model.objects?.(scene);
      scene.callNow(4, 'notify', at(scene), 1);
      scene.callNow(0, 'park', 0, scene.robust(0, 1));
      scene.set(4, TOLD, 1);
      scene.kill(0);
    },
  };
}

/** Waiters stand in overflow lines: the bucket has no free cell, and each overflow line of the bucket has one. */
function inLines(name: string, program: string): Model {
  const model = condition(name, program);
  return {
    ...model,
    arena: { ...model.arena, elements: 12 },
    objects: (scene) => {
      model.objects?.(scene);
      const { buckets, lines, common } = scene.regions;
      takeCells(scene, 0, 13, buckets, lines);
      takeCells(scene, 1, 13, lines, common);
      scene.filler = 13;
    },
  };
}

export const sections: readonly Section[] = [
  {
    name: 'R7, condition/putDown',
    fn: 'condition/putDown',
    from: { kind: STORE, word: constant('E_HELD') },
    to: [constant('GRANT')],
    // A thread that is the owner of its mutex again passes nothing on.
    untilCall: ['condition/relay'],
  },
  // A notification that a dead thread carried goes back to grant of the condition.
  {
    name: 'R7, passOn, reaping/cleanUp',
    fn: 'reaping/cleanUp',
    from: { kind: RMW, word: constant('GRANT') },
    to: [constant('E_HELD')],
    // The compiler has put passForDead of a channel into the same function. It too adds to a grant, in R15.
    unlessAfter: { kind: CMPXCHG, word: constant('P_DONE') },
  },
];

export const models: readonly Model[] = [
  condition('one', 'w | n'),
  condition('two, one notified', 'w | w | n'),
  condition('two, all notified', 'w | w | N'),
  condition('two, notified one by one', 'w | w | n n'),
  condition('two, two notify', 'w | w | n | n', { long: true }),
  condition('three, all notified', 'w | w | w | N', { long: true }),
  condition('twice', 'w w | n n'),
  condition('a second wait', 'w w | w | N'),
  condition('one gives up', 'f | n'),
  condition('two, one gives up', 'f | w | n'),
  condition('two, one gives up, all notified', 'f | w | N', { long: true }),
  condition('two give up', 'f | f | N', { long: true }),
  condition('the middle gives up', 'w | f | w | N', { long: true }),
  condition('one gives up and waits again', 'f w | n'),
  condition('two, one gives up and waits again', 'f w | w | n', { long: true }),
  condition('polls first', 'w | w | N', { spin: 2 }),
  condition('two buckets', 'w | w | N', { buckets: 2 }),
  condition('promise', 'a d | N'),
  condition('promise and thread', 'a d | w | N'),
  condition('promises of one', 'a a d | N'),
  condition('promises of one, and thread', 'a a d | w | N', { long: true }),
  condition('promise that gives up, and thread', 't x d | w | N'),
  condition('a thread notifies its own promise', 'a N d | w', { long: true }),
  condition('disposed', 'w | w | D'),
  condition('notified and disposed', 'w | N | D'),
  condition('a waiter dies', 'w | w | N X', { mortal: [0] }),
  condition('a waiter dies, one notified', 'w | w | n X', { mortal: [0] }),
  condition('a waiter dies, asleep, before it is reaped', 'w | w | N X', { mortal: [0], undead: true }),
  condition('a notifier dies', 'w | N | X N', { mortal: [1], unknown: true }),
  condition('a notifier of two dies', 'w | w | N | X', { mortal: [2], unknown: true, long: true }),
  condition('a notify is cut short', 'n! n | w', { unknown: true }),
  condition('a notify of two is cut short', 'N! n | w | w', { unknown: true, long: true }),
  condition('a notify of two is cut short, and one gives up', 'N! n | f | w', { unknown: true, long: true }),
  besideTombstone(),
  leftOver(),
  inLines('in overflow lines', 'w | w | N'),
  inLines('in an overflow line', 'w | n'),
  queue('w', 9, 1, 0),
  queue('w', 1, 1, 0),
  queue('ww', 1, 1, 1),
  queue('gw', 1, 1, 0),
  queue('gw', 9, 1, 0),
  queue('ggw', 9, 1, 0),
  queue('wgw', 1, 1, 1),
  queue('wgw', 9, 2, 0),
  queue('wg', 9, 1, 0),
  carrying('w w', 'n X'),
  carrying('p w', 'n X'),
  carrying('pp v v', 'b X', { long: true }),
  carrying('w p', 'n X'),
  carrying('w v', 'L n U X'),
  carrying('w v v', 'b X', { long: true }),
  carrying('w v', 'n D X'),
  carrying('w v', 'n X', { undead: true }),
  carrying('e v', 'n', { mortal: [] }),
  carrying('e v', 'b', { mortal: [] }),
  carrying('e p', 'b', { mortal: [] }),
  carrying('g v', 'n', { mortal: [] }),
  carrying('g v', 'n X'),
  carriedByDead(),
  carrying('g v v', 'b', { mortal: [] }),
  condition('with the mutex', 'W | S'),
  condition('with the mutex, notified after it', 'W | s'),
  condition('with the mutex, two', 'W | W | S', { long: true }),
  condition('with the mutex, which is disposed of after it', 'W | C M'),
  condition('with the mutex, which is disposed of before it', 'W | W | M C'),
  condition('with the mutex, which is disposed of under it', 'W | M R'),
  condition('with the mutex, which is disposed of under it, two', 'W | W | M R', { long: true }),
  condition('with the mutex, which is disposed of while one notifies', 'W | S R | M'),
  condition('with the mutex, a waiter dies', 'W | S | X', { mortal: [0], long: true }),
  condition('with the mutex, the notifier dies', 'W | S | X S', { mortal: [1], long: true }),
];
