/**
 * Small models of reaping (core/death/reaping.ts). The first thread does something alone, falls asleep, and is killed
 * in its sleep. Then another thread reaps it while others go on. In some models the reaping thread is killed too, at
 * any point of the reaping. So each condition in which a dead thread can leave the arena costs only some hundred
 * states.
 */

import { Violation } from '../engine/search/violation.js';
import { ADMITTED, ALIVE, constant, FREE, GRANT, LIFE_STATE, QUEUED, STATE_MASK } from '../scene/layout.js';
import type { Model, Op } from '../scene/model.js';
import { call, listen } from '../scene/ops/calls.js';
import { reapNow, recordOf, supervise } from '../scene/ops/deaths.js';
import { eventLoop } from '../scene/ops/event-loop.js';
import { arrive, flush } from '../scene/ops/promises.js';
import type { Scene } from '../scene/scene.js';
import { globalIndex } from '../scene/set-up.js';
import { GOT } from '../scene/words.js';
import { type Line, modelOf } from './parts/program.js';

const REAPED = constant('REAPED');
const WAITING = constant('WAITING');

type Case = Pick<Line, 'name' | 'program'> & Partial<Line>;

/** Thread 0 is killed in its sleep and reaped, and no other thread uses what it has left. */
const alone: readonly Case[] = [
  { name: 'a holder', program: 'A Z | S', permits: [1] },
  { name: 'a holder of two objects', program: "A A' Z | S", permits: [1, 1] },
  { name: 'a holder of one of two objects', program: "A' Z | S", permits: [1, 1], before: 1 },
  { name: 'a holder of several', program: 'A A Y Z | S', permits: [3] },
  { name: 'a thread that has released', program: 'A R Z | S', permits: [1] },
  { name: 'a waiter', program: 'A | S' },
  { name: 'a heavy waiter', program: 'A3 | S', buckets: 4 },
  { name: 'a waiter with its second spare', program: 'a1 x A | S' },
  { name: 'promises', program: 'a1 a1 Z | S' },
  { name: 'promises that are entered', program: 'a1 a1 e Z | S' },
  { name: 'heavy promises that are entered', program: 'a2 a2 e Z | S', buckets: 4 },
  { name: 'promises of other widths', program: 'a1 a2 a1 Z | S', buckets: 2 },
  { name: 'a promise that is due', program: 'a1 d | V | S', robust: false },
  { name: 'promises of which one is due', program: 'a1 a1 d | V | S', robust: false },
  { name: 'a promise that is closed', program: 'a1 e Z | D | S' },
  { name: 'heavy promises that are closed', program: 'a2 a2 e Z | D | S', buckets: 4 },
  { name: 'a disposer', program: 'D Z | S' },
  { name: 'a disposer of its own promises', program: 'a1 a1 D Z | S' },
  { name: 'a thread that has left a tombstone', program: 't1 a1 x Z | S' },
  { name: 'a thread that has left tombstones', program: 't2 t1 a1 x2 x Z | S', buckets: 4 },
  { name: 'a thread that has cancelled and waits', program: 't1 a1 x A d | V3 | S' },
];

/** Thread 0 is killed in its sleep and reaped, while other threads run. */
const beside: readonly Case[] = [
  { name: 'a holder, before a waiter', program: 'A Z | A R | S', permits: [1] },
  { name: 'a holder, before a promise', program: 'A Z | a1 d | S', permits: [1] },
  { name: 'a holder, before a promise of the reaper', program: 'A Z | a1 e s d | S', permits: [1] },
  { name: 'a holder, before a promise of the next reaper', program: 'A Z | w a1 e s d', permits: [1] },
  { name: 'a holder, before a newcomer', program: 'A Z | w A R | S', permits: [1] },
  { name: 'a holder of two, before a newcomer', program: 'A2 Z | w A2 R | S', permits: [2], buckets: 2 },
  { name: 'a waiter, before a newcomer', program: 'A | w a1 V e d | S', robust: false },
  { name: 'a heavy waiter, before a newcomer', program: 'A2 | w a1 V e d | S', robust: false, buckets: 2 },
  { name: 'promises, before a newcomer', program: 'a1 a1 Z | w a1 V e d | S', robust: false },
  { name: 'promises that are entered, before a newcomer', program: 'a1 a1 e Z | w A | S V3' },
  {
    name: 'heavy promises that are entered, before a newcomer',
    program: 'a2 a2 e Z | w A | S V5',
    buckets: 4,
  },
  { name: 'a thread that has left a tombstone, before a newcomer', program: 't1 a1 x Z | w A | S V2' },
  { name: 'a waiter, then one that cancels', program: 'A | w B | S' },
  { name: 'a holder, while another disposes', program: 'A Z | D | S', permits: [1] },
  { name: 'a waiter, while another disposes', program: 'A | D | S' },
  // Neither promise is entered. So no thread but the reaper marks the part of the pool where the tombstone is.
  {
    name: 'a promise, before one of the thread that reaps, then disposed of',
    program: 'a1 Z | w a1 s d | D',
  },
  { name: 'a promise before a promise, then disposed of', program: 'a1 Z | a1 d | S | D', long: true },
];

/** Thread 0 is killed. The thread that reaps it is killed too, at any point. A third thread completes the reaping. */
const twice: readonly Case[] = [
  { name: 'a holder', program: 'A Z | S | S', permits: [1] },
  { name: 'a waiter', program: 'A | S | S' },
  { name: 'promises', program: 'a1 e Z | S | S' },
  { name: 'a tombstone', program: 't1 a1 x Z | S | S' },
  { name: 'a disposer', program: 'a1 e D Z | S | S' },
];

/**
 * A waiter is due and not woken. The dead thread had detached from the object of the waiter, so the reaper does not
 * wake this waiter.
 */
const stranger: Model = {
  name: 'killed: a thread that has detached',
  programs: [[], [], [supervise()]],
  arena: { objects: 1, elements: 4, attached: 3 },
  deaths: 1,
  mortal: [0],
  leaves: true,
  objects: (scene) => {
    const s = scene.semaphore({ permits: 0 });
    scene.callNow(1, 'acquire', s, 1);
    scene.callNow(1, 'enqueue', s, 1, QUEUED, 0);
    scene.callNow(0, 'letGo', scene.attachment(0, 0), 0);
    scene.machine.hostStore32(s + GRANT, 1);
    scene.kill(0);
  },
  end: (scene) => {
    if (((scene.machine.words[scene.spare(1) >> 2] as number) & STATE_MASK) !== WAITING)
      throw new Violation('the reaper cares for an object of another thread');
  },
};

/**
 * Thread 0 is declared dead and reaped while it is awake, and about to sleep. This happens in a runtime that has been
 * told to end a thread, and lets the thread run on. The thread must not sleep on an element that is no longer its own.
 */
const awake: Model = {
  name: 'reaped awake: a waiter that is about to sleep',
  programs: [[], []],
  arena: { objects: 1, elements: 4, attached: 2 },
  deaths: 1,
  mortal: [0],
  leaves: true,
  objects: (scene) => {
    const { machine } = scene;
    const s = scene.semaphore({ permits: 0 });
    scene.callNow(0, 'acquire', s, 1);
    scene.callNow(0, 'enqueue', s, 1, QUEUED, 0);
    scene.call(0, 'park', 0, 0);
    while (machine.pendingAddress(0) !== recordOf(scene, 0)) machine.step(0);
    if (scene.callNow(1, 'reap', 1, ALIVE, 0) !== REAPED) throw new Error('thread 0 is not reaped');
    scene.setReaped(0, true);
  },
  end: (scene) => {
    if (!scene.machine.frames(0).includes('threads/sleepOn'))
      throw new Violation('a thread that was declared dead goes on');
  },
};

/** Queues a request of thread 0 for a semaphore. */
function inLine(scene: Scene): void {
  const s = scene.semaphore({ permits: 0 });
  if (scene.callNow(0, 'acquire', s, 1) !== QUEUED) throw new Error('thread 0 does not wait');
}

/** Makes thread 0 the head of a mutex, which thread 1 has locked. */
function asHead(scene: Scene): void {
  const m = scene.semaphore({ permits: 1, kind: constant('KIND_MUTEX'), max: 1, robust: true });
  if (scene.callNow(1, 'lock', m) !== ADMITTED) throw new Error('the lock is not free');
  if (scene.callNow(0, 'queue', m, scene.attachment(0, 0)) !== constant('HEAD')) throw new Error('it is not the head');
}

/**
 * An exception has ended the sleep of thread 0, and its record still says ASLEEP. So the thread is declared dead and
 * reaped. Whatever the thread does in the library after its reaping changes nothing.
 */
const interrupted = (name: string, op: Op, ends: boolean, waits = inLine): Model => ({
  name: `reaped after an interruption: ${name}`,
  programs: [[op], []],
  arena: { objects: 1, elements: 4, attached: 2 },
  deaths: 1,
  mortal: [0],
  leaves: true,
  objects: (scene) => {
    const { machine } = scene;
    waits(scene);
    const record = recordOf(scene, 0);
    machine.hostStore32(record, machine.hostLoad32(record) + constant('ASLEEP') - ALIVE);
    if (scene.callNow(1, 'reap', 1, ALIVE, 1) !== REAPED) throw new Error('thread 0 is not reaped');
    // From now on another thread may get the record and the elements of thread 0.
    scene.setReaped(0, true);
  },
  end: (scene) => {
    if (scene.finished(0) !== ends) throw new Violation('a thread that was declared dead goes on, or does not end');
  },
});

/** An exception has ended the sleep of a thread, whose record says ASLEEP. Nobody reaps the thread, and it ends by itself. */
const endsAsleep: Model = {
  name: 'ends after an interruption',
  programs: [[call('unregister', () => [])]],
  arena: { objects: 1, elements: 2, attached: 1 },
  leaves: true,
  objects: (scene) => {
    inLine(scene);
    const record = recordOf(scene, 0);
    scene.machine.hostStore32(record, scene.machine.hostLoad32(record) + constant('ASLEEP') - ALIVE);
  },
  end: (scene) => {
    if ((scene.machine.hostLoad32(recordOf(scene, 0)) & LIFE_STATE) !== FREE)
      throw new Violation('the record of a thread that has ended is not free');
  },
};

/** The permit of dead thread 0 goes to an entered promise of its reaper. So the doorbell of the reaper must ring. */
const ownPromise: Model = {
  name: 'killed: a holder, before an entered promise of the reaper',
  programs: [
    [],
    [
      arrive(),
      flush(),
      reapNow(),
      {
        text: 'rung for',
        next(scene, t) {
          if (scene.machine.words[scene.doorbell(t) >> 2] === 0)
            throw new Violation('a promise is due, and its thread is not rung for');
          return true;
        },
      },
      eventLoop(),
    ],
    [listen(1)],
  ],
  arena: { objects: 1, elements: 5, attached: 3 },
  deaths: 1,
  mortal: [0],
  mayWait: true,
  leaves: true,
  objects: (scene) => {
    const s = scene.semaphore({ permits: 1, robust: true });
    scene.callNow(0, 'acquireRobust', s, 1, scene.attachment(0, 0));
    scene.kill(0);
  },
  end: (scene) => {
    if (scene.machine.words[scene.doorbell(1) >> 2] !== 0 && !scene.finished(2))
      throw new Violation('a doorbell is rung, and the listening thread is not rung for');
  },
};

/** Thread 0 is killed at any point, and reaped. */
const anywhere: readonly Case[] = [
  { name: 'acquire, release', program: 'A R | S', permits: [1] },
  { name: 'acquire again', program: 'A A R | S', permits: [2] },
  { name: 'promises', program: 'a1 a1 V2 d | S', robust: false },
  { name: 'a promise', program: 'a1 e V d | S', robust: false },
  { name: 'heavy promises', program: 'a2 a2 e V2 V2 d | S', buckets: 4, robust: false },
  { name: 'cancel, in time', program: 'B | S' },
  { name: 'cancel, a promise', program: 't1 a1 x V d | S', robust: false },
  { name: 'cancel, two', program: 't1 t1 a1 x x d | S V3' },
  { name: 'cancel, two, the other way', program: 't1 t1 a1 x2 x d | S V3', buckets: 2 },
  { name: 'cancel, the last', program: 't1 x t2 x | S', buckets: 4 },
  { name: 'dispose', program: 'a1 D d | S' },
  { name: 'dispose with tombstones', program: 't1 a1 x D d | S' },
  { name: 'the end', program: 'B E | S' },
];

/**
 * A promise of thread 2 stands behind an entered promise of thread 0. Thread 2 enters its promise while two threads
 * reap thread 0, one after the other.
 */
const meanwhile: Model = {
  name: 'reaped twice: a promise, while another enters its cell',
  programs: [[], [supervise()], [call('enterRun', (scene, t) => [scene.get(t, GOT)])], [supervise()]],
  arena: { objects: 1, elements: 8, buckets: 1, attached: 4 },
  deaths: 2,
  mortal: [0, 1],
  mayWait: true,
  leaves: true,
  objects: (scene) => {
    const s = scene.semaphore({ permits: 0 });
    const [first, second] = [0, 2].map((t) => scene.callNow(t, 'arrive', s, 1, 0, 0)) as [number, number];
    scene.callNow(0, 'enterRun', first);
    scene.set(2, GOT, second);
    scene.kill(0);
  },
};

/** A thread and the keeper, which is not registered, reap thread 0 at once. The thread may die meanwhile. */
const keeper = (name: string, waits: boolean): Model => ({
  name: `the keeper reaps: ${name}`,
  programs: [[], [supervise()], [supervise()]],
  arena: { objects: 1, elements: 8, buckets: 1, attached: 3 },
  deaths: 2,
  mortal: [0, 1],
  mayWait: true,
  leaves: true,
  objects: (scene) => {
    const s = scene.semaphore({ permits: 1, robust: true });
    scene.callNow(0, 'acquireRobust', s, 1, scene.attachment(0, 0));
    if (waits) scene.callNow(0, 'enterRun', scene.callNow(0, 'arrive', s, 1, 0, 0));
    scene.callNow(2, 'unregister');
    const { machine } = scene;
    const life = globalIndex(machine.program, 'threads/myLife');
    machine.set(2, life, constant('DEAD'));
    scene.kill(0);
  },
  end: (scene) => {
    if (scene.machine.hostLoad32(constant('REAPER')) !== 0 && !scene.dead(1))
      throw new Violation('the keeper reaps for ever');
  },
});

/** Two threads reap thread 0 at once. They have registered so often that their lives have the sign bit. */
const late: Model = {
  name: 'reaped at once: a holder, by threads whose lives have the sign bit',
  programs: [[], [supervise()], [supervise()]],
  arena: { objects: 1, elements: 8, buckets: 1, attached: 3 },
  deaths: 1,
  mortal: [0],
  objects: (scene) => {
    const s = scene.semaphore({ permits: 1, robust: true });
    scene.callNow(0, 'acquireRobust', s, 1, scene.attachment(0, 0));
    const { machine } = scene;
    const life = ALIVE - 2 ** 31;
    for (const t of [1, 2]) {
      machine.hostStore32(recordOf(scene, t), life);
      machine.set(t, globalIndex(machine.program, 'threads/myLife'), life);
    }
    scene.kill(0);
  },
};

const model = (kind: string, line: Case, more: Partial<Line>): Model =>
  modelOf({
    permits: [0],
    first: 16n,
    robust: true,
    mayWait: true,
    aged: true,
    mortal: [0],
    ...line,
    ...more,
    name: `${kind}: ${line.name}`,
  });

export const models: readonly Model[] = [
  stranger,
  ownPromise,
  awake,
  endsAsleep,
  interrupted('a promise', arrive(), false),
  interrupted(
    'its end',
    call('unregister', () => []),
    true,
  ),
  interrupted(
    'its end, as the head of a mutex',
    call('unregister', () => []),
    true,
    asHead,
  ),
  ...alone.map((line) => model('killed asleep', line, { asleep: [0] })),
  ...beside.map((line) => model('killed asleep', line, { asleep: [0] })),
  ...twice.map((line) => model('reaped twice', line, { asleep: [0], mortal: [0, 1], deaths: 2 })),
  meanwhile,
  keeper('a holder', false),
  keeper('a holder with a promise', true),
  late,
  ...anywhere.map((line) => model('killed', line, {})),
];
