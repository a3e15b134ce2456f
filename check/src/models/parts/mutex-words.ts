/** The ghosts of the mutex's models: the owner, the waiters, and how often each waiter has been overtaken. */

import { Violation } from '../../engine/search/violation.js';
import { ANSWER_CLOSED, constant, TICKET } from '../../scene/layout.js';
import type { Scene } from '../../scene/scene.js';
import { globalIndex } from '../../scene/set-up.js';
import { GOT, LOCAL, MOST_PROMISES, PROMISES, QUEUE, TAKEN } from '../../scene/words.js';

/** The count of overtakings begins at this bit of the word's upper half. */
export const COUNT_BIT = 3;
export const M_WORD = constant('M_WORD');
const M_OWNER = constant('M_OWNER');
const M_OWNER_DIED = constant('M_OWNER_DIED');
/** The bits of the number of waiters that can change in a model. */
const FEW_WAITERS = 7 * constant('M_WAITER');
export const CONTENDED = constant('CONTENDED');

/** Whether the first promise in the thread's queue of promises is the head of the mutex. */
export const HEAD_PROMISE = GOT;
/** Whether the thread knows that it has the lock. */
export const HAS = GOT + 1;

// Words within one operation.
export const STAGE = LOCAL;
/** In STAGE: the thread is in a call that gives its lock to its own promise. */
export const UNLOCKING_TO_OWN = 15;
/** Not 0 while a promise is about to take a ticket: ALONE if the promise may cancel, 1 if not. */
export const ARRIVING = LOCAL + 1;
/** Whether the thread itself waits with a ticket. */
export const WAITS = LOCAL + 2;
/** How often the thread has been overtaken since it took this ticket. */
export const OVERTAKEN = LOCAL + 3;

// A promise has PROMISE words: its run; its kind (0 if the promise no longer waits, ALONE if it may cancel, else 1);
// its ticket; how often it was overtaken.
export const PROMISE = 4;
export const RUN = 0;
export const KIND = 1;
export const ITS_TICKET = 2;
const ITS_OVERTAKEN = 3;
export const ALONE = 2;

export function mutex(scene: Scene): number {
  return scene.semaphores[0];
}

export function ownerOf(scene: Scene): number {
  return scene.machine.words[(mutex(scene) + M_WORD) >> 2] & M_OWNER;
}

/**
 * Sets the guess of a thread to a word that says that nobody waits. The count of overtakings in this word is
 * `overtakings`, or else the count that the thread has seen last.
 */
export function setGuess(scene: Scene, t: number, overtakings?: number): void {
  const guess = globalIndex(scene.program, 'mutex/guess');
  const seen = scene.machine.getHi(t, guess) >> COUNT_BIT;
  scene.machine.set(t, guess, 0, (overtakings ?? seen) << COUNT_BIT);
}

/** Notes that the thread learns that it has the lock, and checks that no other thread has it. */
export function has(scene: Scene, t: number): true {
  if (ownerOf(scene) !== t + 1) throw new Violation(`thread ${t} learns that it has the lock`);
  for (let u = 0; u < scene.threads; u++) {
    if (!scene.dead(u) && scene.get(u, HAS) === 1) throw new Violation(`threads ${t} and ${u} have the lock`);
  }
  scene.set(t, HAS, 1);
  return true;
}

export function expectClosed(scene: Scene, t: number, answer: number): true {
  if (answer !== ANSWER_CLOSED || !scene.closed(0)) throw new Violation(`thread ${t} is answered ${answer}`);
  waitsNoMore(scene, t);
  return true;
}

function waitsNoMore(scene: Scene, t: number): void {
  scene.set(t, WAITS, 0);
  scene.set(t, OVERTAKEN, 0);
}

/** The first word of the n-th promise of a thread. */
export function promiseAt(n: number): number {
  return PROMISES + PROMISE * n;
}

/** Puts the promise that has just taken its ticket into the queue. */
export function queued(scene: Scene, t: number, run: number): void {
  const n = scene.get(t, QUEUE);
  if (n === MOST_PROMISES) throw new Error(`a model's thread has at most ${MOST_PROMISES} promises`);
  scene.set(t, promiseAt(n) + RUN, run);
  scene.set(t, QUEUE, n + 1);
}

/** Takes the n-th promise out of the queue. */
export function remove(scene: Scene, t: number, n = 0): void {
  const left = scene.get(t, QUEUE) - 1;
  scene.set(t, QUEUE, left);
  for (let i = promiseAt(n); i < promiseAt(MOST_PROMISES); i++)
    scene.set(t, i, i < promiseAt(left) ? scene.get(t, i + PROMISE) : 0);
}

/** Forgets the promise that was about to join the queue. */
export function forgetArrival(scene: Scene, t: number): void {
  for (let i = 0; i < PROMISE; i++) scene.set(t, promiseAt(scene.get(t, QUEUE)) + i, 0);
}

/** Notes that the n-th promise no longer waits, though it is still in the queue of the thread. */
function promiseWaitsNoMore(scene: Scene, t: number, n: number): void {
  for (let i = KIND; i < PROMISE; i++) scene.set(t, promiseAt(n) + i, 0);
}

/** The number of the promise that the thread is about to cancel, plus 1. */
export const CANCELLING = LOCAL + 4;

/** Checks each write to the mutex. */
export function wrote(scene: Scene, t: number, address: number, before: number, bypass: number): void {
  const m = mutex(scene);
  if (address === m + TICKET) {
    tookTicket(scene, t);
    return;
  }
  if (address !== m + M_WORD) return;
  const was = before & M_OWNER;
  const is = ownerOf(scene);
  const left = (before & FEW_WAITERS) > (scene.machine.words[address >> 2] & FEW_WAITERS);
  if (was === is) {
    if (left && is === t + 1 && scene.get(t, STAGE) === UNLOCKING_TO_OWN) took(scene, t, left, bypass);
    else if (left) cancelled(scene, t);
  } else if (was !== 0) {
    if (is !== 0) throw new Violation(`thread ${t} passes the lock from ${was} to ${is}`);
    if (was !== t + 1) {
      if (!scene.dead(was - 1)) throw new Violation(`thread ${t} unlocks for ${was}`);
      if ((scene.machine.words[address >> 2] & M_OWNER_DIED) === 0)
        throw new Violation(`thread ${t} frees the lock of dead ${was}, and the word does not say so`);
    }
  } else {
    if (is !== t + 1) throw new Violation(`thread ${t} makes ${is} the owner`);
    took(scene, t, left, bypass);
  }
}

function tookTicket(scene: Scene, t: number): void {
  const arriving = scene.get(t, ARRIVING);
  if (arriving === 0) {
    scene.set(t, WAITS, 1);
    scene.set(t, OVERTAKEN, 0);
    return;
  }
  const at = promiseAt(scene.get(t, QUEUE));
  scene.set(t, at + KIND, arriving);
  scene.set(t, at + ITS_TICKET, scene.get(t, TAKEN));
  scene.set(t, at + ITS_OVERTAKEN, 0);
}

/** Notes that a waiter has cancelled: the number of waiters has gone down by one, and nobody has taken the lock. */
function cancelled(scene: Scene, t: number): void {
  if (scene.get(t, CANCELLING) > 0) promiseWaitsNoMore(scene, t, scene.get(t, CANCELLING) - 1);
  else if (scene.get(t, HEAD_PROMISE) === 1) promiseWaitsNoMore(scene, t, 0);
  else waitsNoMore(scene, t);
}

/** Notes that thread t has taken the lock, and so has overtaken every waiter with a lower ticket. */
function took(scene: Scene, t: number, waited: boolean, bypass: number): void {
  let mine = 0x7fffffff;
  if (waited && scene.get(t, WAITS) === 1) {
    mine = scene.get(t, TAKEN);
    waitsNoMore(scene, t);
  } else if (waited) {
    mine = scene.get(t, promiseAt(0) + ITS_TICKET);
    promiseWaitsNoMore(scene, t, 0);
  }
  const count = (u: number, word: number): void => {
    const overtaken = scene.get(u, word) + 1;
    scene.set(u, word, overtaken);
    if (overtaken > bypass) throw new Violation(`a waiter of thread ${u} is overtaken ${overtaken} times`);
  };
  for (let u = 0; u < scene.threads; u++) {
    if (scene.dead(u)) continue;
    if (scene.get(u, WAITS) === 1 && scene.get(u, TAKEN) < mine) count(u, OVERTAKEN);
    for (let n = 0; n < MOST_PROMISES; n++) {
      const at = promiseAt(n);
      if (scene.get(u, at + KIND) !== 0 && scene.get(u, at + ITS_TICKET) < mine) count(u, at + ITS_OVERTAKEN);
    }
  }
}
