/**
 * Models of the semaphores of P0514R1 (core/kinds/counter/counter.ts). In the text of a program, bars stand between the
 * programs of two threads. Each word stands for one op: a letter, and behind some letters a number. Without a number,
 * the word means 1.
 *
 *     W2  wait(2)
 *     F2  tryWaitFor(ms, 2), whose time may be over in each sleep
 *     Y2  tryWait(2)
 *     S2  signal(2), which notifies all waiters
 *     O2  signal(2, one), which notifies one waiter
 *     N2  signal(2, none), which notifies no waiter
 *     T2  signal(2, none), which may be refused because it is too many
 *     M2  signal(2), which must be refused because it is too many
 *     R2  signal(2), if the thread has taken more than it has signalled
 *     D   dispose
 *     X   reaps each thread that dies
 *     w2  waitAsync(2)
 *     f2  tryWaitForAsync(ms, 2), whose time may be over in each sleep of the event loop
 *     x   lets the time of the first waiting promise of tryWaitForAsync be over
 *     d   runs the event loop until no promise waits
 *     u   runs the event loop in the same way; each promise that takes permits then signals as many
 *     q   runs the event loop in the same way; each promise that takes permits then disposes
 *
 * The promises of one thread all wait for the same number, which may be 1 or 2.
 *
 * Besides the checks of the queue in every scene, the models check that takers take no more permits than there were at
 * first and have been signalled. At the end no permit is lost: each of them is in the value, in the queue, or taken.
 * The word `waiting` is the number of permits that the sleepers lack. Permits that have been handed on and are not
 * taken belong to sleepers that want more than they have been handed.
 */

import { Violation } from '../engine/search/violation.js';
import { CMPXCHG } from '../engine/wasm/code.js';
import type { Section } from '../engine/wasm/uninterruptible.js';
import { tombstones } from '../scene/invariants/tombstones.js';
import { constant, GRANT, QUEUED, TICKET } from '../scene/layout.js';
import type { Model, Op } from '../scene/model.js';
import { newObject } from '../scene/new-object.js';
import { call } from '../scene/ops/calls.js';
import { supervise } from '../scene/ops/deaths.js';
import { eventLoop } from '../scene/ops/event-loop.js';
import { abort } from '../scene/ops/promises.js';
import type { Scene } from '../scene/scene.js';
import { sleepers } from './parts/endpoints.js';
import {
  counter,
  disposing,
  HANDED,
  jobs,
  NOTIFY,
  SIGNALLED,
  signal,
  signalTooMany,
  TAKEN,
  total,
  tryWait,
  wait,
  waitAsync,
} from './parts/p0514-ops.js';
import { partsOf } from './parts/program.js';

/** The upper half of this constant: a counter whose upper half is below this is closed. */
const COUNTER_CLOSED_BELOW = constant('COUNTER_CLOSED_BELOW') / 2 ** 32;

function op(text: string, initial: number, width: number): Op[] {
  const [, letter, digits] = /^([WFYDSONTRXMwfxduq])(\d*)$/.exec(text) ?? [];
  const count = digits ? Number(digits) : 1;
  switch (letter) {
    case 'W':
      return [wait(initial, false, count)];
    case 'F':
      return [wait(initial, true, count)];
    case 'Y':
      return [tryWait(initial, count)];
    case 'S':
    case 'O':
    case 'N':
      return [signal(count, NOTIFY[letter])];
    case 'T':
      return [signal(count, NOTIFY.N, false, true)];
    case 'R':
      return [signal(count, NOTIFY.S, true)];
    case 'M':
      return [signalTooMany(count)];
    case 'D':
      return [disposing()];
    case 'X':
      return [supervise()];
    case 'w':
      return [waitAsync(false, count)];
    case 'f':
      return [waitAsync(true, count)];
    case 'x':
      return [abort()];
    case 'd':
      return [eventLoop(jobs(initial, 'nothing', width))];
    case 'u':
      return [eventLoop(jobs(initial, 'signals', width))];
    case 'q':
      return [eventLoop(jobs(initial, 'disposes', width))];
    default:
      throw new Error(`a program has no ${text}`);
  }
}

/**
 * How many permits the sleepers lack: the tickets that are not granted, less the tickets of tombstones. A negative
 * number counts permits that nobody has taken.
 */
function lacking(scene: Scene): number {
  const { words } = scene.machine;
  const at = scene.semaphores[0] as number;
  return words[(at + TICKET) >> 2] - words[(at + GRANT) >> 2] - tombstones(scene, scene.permits, 0, at);
}

/** The tickets of the sleepers. */
function standing(scene: Scene): number {
  let tickets = 0;
  scene.waiters((_, __, width) => {
    tickets += width;
  });
  return tickets;
}

/**
 * The permits that have been handed on and are still in the queue: they belong to sleepers that want more, or any taker
 * may take them.
 */
const inQueue = (scene: Scene): number => standing(scene) - lacking(scene);

/** Checks that every permit that was there at first or has been signalled is in the value, in the queue, or taken. */
function checkNothingLost(scene: Scene, initial: number): void {
  const value = scene.machine.words[counter(scene) >> 2];
  const left = initial + total(scene, SIGNALLED) - total(scene, TAKEN);
  if (value + inQueue(scene) !== left)
    throw new Violation(`the value is ${value}, in the queue are ${inQueue(scene)}, and there should be ${left}`);
}

/** Checks that the word `waiting` of the counter is exactly the number of permits that the live waiters lack. */
function checkWaiting(scene: Scene): void {
  const waiting = scene.machine.words[(counter(scene) + 4) >> 2];
  if (waiting !== lacking(scene)) throw new Violation(`${lacking(scene)} are lacking, and ${waiting} waited for`);
}

/**
 * Checks, in a model in which a thread may die at any step, that the word `waiting` counts at least as many permits as
 * the sleepers lack. If it counted fewer, a later signal would not reach some of the sleepers.
 */
function checkCounted(scene: Scene): void {
  const waiting = scene.machine.words[(counter(scene) + 4) >> 2];
  if (waiting < lacking(scene)) throw new Violation(`${lacking(scene)} are lacking, and ${waiting} waited for`);
}

/**
 * Checks that threads that died in their sleep have taken no permits with them: all permits that were handed to them
 * are there for other takers.
 */
function checkDeaths(scene: Scene, initial: number): void {
  if (!(scene.model.undead || scene.model.asleep) || !scene.dead(0)) return;
  checkWaiting(scene);
  checkNothingLost(scene, initial);
}

/** Whether the counter is closed. Who closes it disposes of the queue next, or has died in between. */
const isClosed = (scene: Scene): boolean => scene.machine.words[(counter(scene) + 4) >> 2] < COUNTER_CLOSED_BELOW;

/**
 * Checks the counter at the end. In a model with deaths, only some of the checks are made. `widest` is the highest
 * number of permits for which a taker waits.
 */
function check(scene: Scene, initial: number, widest: number): void {
  if (scene.model.deaths) {
    const [sleeper] = sleepers(scene);
    if (!isClosed(scene)) checkCounted(scene);
    else if (sleeper !== undefined) throw new Violation(`the counter is closed, and thread ${sleeper} sleeps`);
    checkDeaths(scene, initial);
    return;
  }
  const handed = total(scene, HANDED);
  if (scene.closed(0)) {
    // Permits that were handed on may be left in the queue. All of them were for the first taker in the queue, and they
    // are only a part of what this taker wants. So fewer permits are left than a taker wants.
    if (handed >= widest) throw new Violation(`${handed} were handed on, with which none is through`);
    return;
  }
  checkWaiting(scene);
  checkNothingLost(scene, initial);
  if (handed !== inQueue(scene)) throw new Violation(`${handed} are handed on, and ${inQueue(scene)} in the queue`);
}

interface Line extends Pick<Model, 'long' | 'mayWait' | 'deaths' | 'mortal' | 'asleep' | 'undead'> {
  readonly name: string;
  readonly program: string;
  readonly initial?: number;
  readonly max?: number;
  readonly spin?: number;
  readonly buckets?: number;
  readonly elements?: number;
  /** How many permits must have been taken at least, in all. */
  readonly least?: number;
}

function modelOf(line: Line): Model {
  const { name, program, initial = 0, max = 100, spin = 0, buckets = 1, least = 0, ...more } = line;
  const symmetric = partsOf(program);
  const widest = Math.max(1, ...[...program.matchAll(/[WFwf](\d)/g)].map(([, digit]) => Number(digit)));
  const programs = symmetric.map((part) => {
    const width = Number(/[wf](\d)/.exec(part)?.[1] ?? 1);
    return part.split(/\s+/).flatMap((word) => op(word, initial, width));
  });
  const promises = program.match(/[wf]/g)?.length ?? 0;
  const { elements = 2 * (programs.length + promises), ...rest } = more;
  return {
    ...rest,
    name: `p0514: ${name}`,
    programs,
    ...(program.includes('D') ? {} : { symmetric }),
    arena: {
      buckets,
      objects: 1,
      elements,
      attached: program.includes('X') ? programs.length : 1,
    },
    objects: (scene) => {
      const kind = constant(max === 1 ? 'KIND_BINARY_SEMAPHORE' : 'KIND_COUNTING_SEMAPHORE');
      scene.semaphore({ permits: 0, threshold: max, spin, kind });
      scene.machine.hostStore32(counter(scene), initial);
    },
    end: (scene) => {
      check(scene, initial, widest);
      if (total(scene, TAKEN) < least) throw new Violation(`${total(scene, TAKEN)} are through, not ${least}`);
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
  { name: 'none, and a later one', program: 'W | N W', mayWait: true, least: 1 },
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
  // The destructor requires that the waiters have been unblocked, not that they have returned.
  { name: 'signal, then dispose', program: 'W | S D' },
  { name: 'signal of 2, then dispose', program: 'W | W | S2 D' },
  { name: 'signal, then dispose, timed', program: 'F | W | S D' },
  { name: 'die asleep', program: 'W | S | X', deaths: 1, mortal: [0], undead: true },
  { name: 'die', program: 'W | W | S S | X', deaths: 1, mortal: [0], long: true },
  { name: 'a signaller dies', program: 'W | S | X', deaths: 1, mortal: [1], mayWait: true },
  { name: 'a signaller dies, and another signals', program: 'W | S | S | X', deaths: 1, mortal: [1], least: 1 },
  { name: 'a signaller dies, timed', program: 'F | S | X', deaths: 1, mortal: [1] },
  { name: 'a signaller of 2 dies', program: 'W | W | S2 | X', deaths: 1, mortal: [2], mayWait: true, long: true },
  { name: 'a signaller dies, and a disposer', program: 'W | S | D | X', deaths: 1, mortal: [1] },
  { name: 'a disposer dies', program: 'W | D | X', deaths: 1, mortal: [1], mayWait: true },
];

/** Takers that want more than 1 permit, among takers that want 1. */
const several: readonly Line[] = [
  { name: '2 at once', program: 'W2 | S2' },
  { name: '2, of two signals', program: 'W2 | S S' },
  { name: '2, of two signallers', program: 'W2 | S | S' },
  { name: '2 of 3', program: 'W2 | W | S3', buckets: 2 },
  { name: '2 and 1, of three signals', program: 'W2 | W | S S S', buckets: 2 },
  { name: '2 and 1, of two', program: 'W2 | W | S S', mayWait: true, least: 1 },
  { name: '2 and 2, of 3', program: 'W2 | W2 | S3', mayWait: true, least: 2 },
  { name: '2 and 2, of 1 and 3', program: 'W2 | W2 | S S3', least: 4 },
  { name: '3 and 1', program: 'W3 | W | S2 S2', buckets: 2, least: 4 },
  { name: '2, and 1 is there', program: 'W2 | S', initial: 1, least: 2 },
  { name: '2, and 1 is there, and one behind', program: 'W2 | W | S2', initial: 1, least: 3 },
  { name: '2, and 1 is there, which others want', program: 'W2 S2 | W S | Y R', initial: 1, mayWait: true },
  { name: '2 beside none, and a value for one before', program: 'W | N W2', mayWait: true },
  { name: 'a lock of 2, one takes both', program: 'W2 S2 | W S | W S', initial: 2 },
  { name: 'a lock of 2, two take both', program: 'W2 S2 W2 S2 | W2 S2', initial: 2, max: 2 },
  { name: '2, a signal of none, and one of nothing', program: 'W2 | N2 S0', least: 2 },
  { name: '1 and 1, a signal of none, and one of nothing', program: 'W | W | N2 S0', least: 2 },
  { name: 'nothing is signalled', program: 'W2 | N S0', mayWait: true },
  { name: 'nothing is signalled to none', program: 'W | N N0', mayWait: true },
  { name: '2, by one', program: 'W2 | O2', least: 2 },
  { name: '2, by one of 1 and 1', program: 'W2 | O O', least: 2 },
  { name: '2 and 2, by one of 4', program: 'W2 | W2 | O4', mayWait: true, least: 2 },
  { name: '2 and 1, by one of 2, twice', program: 'W2 | W | O2 O1', mayWait: true, least: 1 },
  { name: '3 and 2, by one of 5', program: 'W3 | W2 | O5', mayWait: true, least: 2 },
  { name: 'nothing is signalled to one', program: 'W | W | N2 O0 S0', least: 2 },
  { name: 'try 2', program: 'Y2 R2 | Y R | S', initial: 1 },
  { name: 'too many while 2 are there', program: 'M2 S M W2 S2', initial: 1, max: 2 },
  { name: '2 timed, and nothing comes', program: 'F2 | F2' },
  { name: '2 timed', program: 'F2 | S S' },
  { name: '2 timed, of 1', program: 'F2 | S' },
  { name: '2 timed, and one behind', program: 'F2 | W | S', mayWait: true },
  { name: '2 timed, and one behind gets it', program: 'F2 | W | S S0', mayWait: true },
  { name: '2 timed behind one', program: 'W | F2 | S S', least: 1, mayWait: true },
  { name: '2 timed, and one timed', program: 'F2 | F | S S', long: true },
  { name: '2 timed, twice, of 1', program: 'F2 | F2 | S' },
  { name: '2 timed, twice, of 3', program: 'F2 | F2 | S3', long: true },
  { name: '3 timed, of 1 and 1', program: 'F3 | S S' },
  { name: '3 timed, and one behind', program: 'F3 | W | S S', least: 1, mayWait: true, long: true },
  { name: '2 behind one timed', program: 'F | W2 | S2', least: 1, mayWait: true },
  { name: '2 timed, and 2 behind', program: 'F2 | W2 | S2', least: 0, mayWait: true },
  // Signals may have raised the value to the maximum. What a taker gives back then may raise the value further.
  { name: '2 timed, the value is full', program: 'F2 | S T2', max: 2 },
  { name: '2 timed, the value is full, and then too many', program: 'F2 | S T2 S0', max: 2 },
  { name: '2 timed, by one', program: 'F2 | O O' },
  { name: '2 timed, and 1 is there', program: 'F2 | S', initial: 1 },
  { name: '2 timed, and 1 is there, which another wants', program: 'F2 | W', initial: 1, least: 1 },
  { name: '2, dispose', program: 'W2 R2 | W R | D', initial: 2 },
  { name: '2, dispose of some that wait', program: 'W2 | W | D' },
  { name: '2, signal, then dispose', program: 'W2 | S2 D' },
  { name: '2 and 2, signal of one, then dispose', program: 'W2 | W2 | S2 D' },
  { name: '2 and 1, signal of 1, then dispose', program: 'W2 | W | S D' },
  { name: '2 and 1, signal of 2, then dispose', program: 'W2 | W | S2 D' },
  { name: '2 timed, signal, then dispose', program: 'F2 | S D' },
  { name: '2 timed, signals, and dispose', program: 'F2 | S S | D' },
  { name: '2, die asleep', program: 'W2 | S | X', deaths: 1, mortal: [0], undead: true, mayWait: true },
  { name: '2, die asleep, one behind', program: 'W2 | W | S | X', deaths: 1, mortal: [0], undead: true, mayWait: true },
  {
    name: '2, and 1 is there, die, one behind',
    program: 'W2 | W | S2 | X',
    initial: 1,
    deaths: 1,
    mortal: [0],
    mayWait: true,
  },
  { name: '2, die', program: 'W2 | W | S2 | X', deaths: 1, mortal: [0], mayWait: true, long: true },
  { name: 'promises, 2 at once', program: 'w2 d | S2' },
  { name: 'promises, 2, of two signals', program: 'w2 d | S S' },
  { name: 'promises, 2, and 1 is there', program: 'w2 d | S', initial: 1, least: 2 },
  { name: 'promises, 2 and 2 of one', program: 'w2 w2 d | S3 S', least: 4 },
  { name: 'promises, 2 and 2 of one, of 3', program: 'w2 w2 d | S3', mayWait: true, least: 2 },
  { name: 'promises, 2 and 2 of two, of 3', program: 'w2 d | w2 d | S3', mayWait: true, least: 2, long: true },
  { name: 'promises, 2, and a thread', program: 'w2 d | W | S3', least: 3 },
  { name: 'promises, 2 behind a thread', program: 'w2 d | W2 | S S3', least: 4 },
  { name: 'promises, 2, by one of 1 and 1', program: 'w2 d | O O', least: 2 },
  { name: 'promises, a lock of 2', program: 'w2 u | W S | W S', initial: 2, long: true },
  { name: 'promises, 2 timed', program: 'f2 d | S S' },
  { name: 'promises, 2 timed, of 1', program: 'f2 d | S' },
  { name: 'promises, 2 timed, over at once', program: 'f2 x d | S S' },
  { name: 'promises, 2 timed, and a thread', program: 'f2 d | W | S', mayWait: true },
  { name: 'promises, 2 timed, and a thread timed', program: 'f2 d | F | S S', long: true },
  { name: 'promises, 2 timed of one, of 3', program: 'f2 f2 d | S3' },
  { name: 'promises, 2 timed of two, of 3', program: 'f2 d | f2 d | S3', long: true },
  { name: 'promises, 2 timed, no room', program: 'f2 d | S', elements: 2 },
  { name: 'promises, 2, dispose', program: 'w2 d | W | D' },
  { name: 'promises, 2, signal, then dispose', program: 'w2 d | S2 D' },
  { name: 'promises, 2 and 2, signal of 2, then dispose', program: 'w2 w2 d | S2 D' },
  { name: 'promises, 2 timed, signals, then dispose', program: 'f2 d | S S D' },
  { name: 'promises, 2, a signaller dies', program: 'w2 d | S2 | X', deaths: 1, mortal: [1], mayWait: true },
  {
    name: 'promises, 2, killed asleep',
    program: 'w2 w2 d | S | X',
    deaths: 1,
    mortal: [0],
    asleep: [0],
    mayWait: true,
  },
  {
    name: 'promises, 2, killed asleep, of 3',
    program: 'w2 w2 d | S3 | X',
    deaths: 1,
    mortal: [0],
    asleep: [0],
    mayWait: true,
  },
].map(({ name, ...line }) => ({ ...line, name: `several, ${name}` }));

const promises: readonly Line[] = [
  { name: 'a signal', program: 'w d | S' },
  { name: 'a signal by its thread', program: 'w S d' },
  { name: 'a lock, 2x2', program: 'w u w u | w u w u', initial: 1, max: 1 },
  { name: 'a lock, and a thread', program: 'w u w u | W S W S', initial: 1, max: 1 },
  { name: 'a lock, 3', program: 'w u | w u | w u', initial: 1, max: 1, long: true },
  { name: 'a lock, and two threads', program: 'w u | W S | W S', initial: 1, max: 1 },
  { name: 'a lock, two of one and a thread', program: 'w w u | W S', initial: 1, max: 1 },
  { name: 'a lock, two of one and one', program: 'w w u | w u', initial: 1, max: 1 },
  { name: 'a lock, and one that tries', program: 'w u | Y R | W S', initial: 1, max: 1 },
  { name: 'and its thread', program: 'w W d | S2' },
  { name: 'of one, signal of 2', program: 'w w d | S2' },
  { name: 'of one, two signals', program: 'w w d | S S' },
  { name: 'of one, two signallers', program: 'w w d | S | S' },
  { name: 'of one, one and one', program: 'w w d | O O', least: 2 },
  { name: 'of two, signal of 2', program: 'w d | w d | S2' },
  { name: 'of two, two signals', program: 'w d | w d | S S' },
  { name: 'of two, one of 2', program: 'w d | w d | O2', mayWait: true, least: 1 },
  { name: 'of two, one of 2, then one', program: 'w d | w d | O2 O', least: 2 },
  { name: 'and a thread, signal of 2', program: 'w d | W | S2' },
  { name: 'and a thread, one of 2', program: 'w d | W | O2', mayWait: true, least: 1 },
  { name: 'and a thread, one and one', program: 'w d | W | O O', least: 2 },
  { name: 'and a thread, signal by its thread', program: 'w S2 d | W' },
  { name: 'none', program: 'w d | N', mayWait: true },
  { name: 'none, and a later one', program: 'w d | N w d', mayWait: true, least: 1 },
  { name: 'none, then a signal', program: 'w d | W | N S', least: 2 },
  { name: 'none, then one', program: 'w d | w d | N O', mayWait: true, least: 1 },
  { name: 'none, then a signal by another', program: 'w d | N | S S', least: 1 },
  { name: 'none, then try', program: 'w d | N Y', mayWait: true, least: 1 },
  { name: 'timed, and nothing comes', program: 'f d | f d' },
  { name: 'timed', program: 'f d | S' },
  { name: 'timed, over at once', program: 'f x d | S' },
  { name: 'timed, of one', program: 'f f d | S' },
  { name: 'timed, of two', program: 'f d | f d | S', long: true },
  { name: 'timed, and a thread', program: 'f d | F | S' },
  { name: 'timed, one behind', program: 'f d | w d | S', mayWait: true, least: 1 },
  { name: 'timed, a thread behind', program: 'f d | W | S S' },
  { name: 'timed, one behind of the same thread', program: 'f w d | S S' },
  {
    name: 'timed, over at once, one behind of the same thread',
    program: 'f w x d | S',
    mayWait: true,
    least: 1,
  },
  { name: 'timed, one before of the same thread', program: 'w f d | S', mayWait: true, least: 1 },
  { name: 'timed, and a later one', program: 'f d | W | S', mayWait: true, least: 1 },
  { name: 'timed, one of 2', program: 'f d | f d | O2', long: true },
  { name: 'timed, none, then one', program: 'f d | w d | N O', mayWait: true, least: 1 },
  { name: 'a timed lock', program: 'f u | f u | W S', initial: 1, max: 1, long: true },
  { name: 'no room', program: 'w d | S', elements: 2 },
  { name: 'no room behind another', program: 'w w d | W | S2', elements: 3, mayWait: true },
  { name: 'dispose', program: 'w d | D' },
  { name: 'dispose, of one', program: 'w w d | D' },
  { name: 'dispose, and a thread', program: 'w d | W | D' },
  { name: 'dispose by its thread', program: 'w w D d | W' },
  { name: 'dispose by the first', program: 'w w q | S' },
  { name: 'dispose by the first, and a thread', program: 'w w q | W | S', mayWait: true },
  { name: 'dispose by two', program: 'w d | D | D' },
  { name: 'dispose, a lock', program: 'w u | w u | D', initial: 1, max: 1 },
  { name: 'dispose, a lock and a thread', program: 'w u | W R | D', initial: 1, max: 1 },
  { name: 'dispose, timed', program: 'f d | w d | D', long: true },
  { name: 'dispose, timed, of one', program: 'f w d | D' },
  { name: 'dispose, timed, over at once', program: 'f w x d | D' },
  { name: 'signal, then dispose', program: 'w d | S D' },
  { name: 'signal of 2, then dispose', program: 'w d | W | S2 D' },
  { name: 'signal of 2, then dispose, of one', program: 'w w d | S2 D' },
  { name: 'signal, then dispose, timed', program: 'f d | w d | S D', long: true },
  { name: 'signal and dispose', program: 'f d | S | D' },
  { name: 'killed asleep', program: 'w d | S | X', deaths: 1, mortal: [0], asleep: [0] },
  { name: 'killed asleep, of one', program: 'w w d | S S | X', deaths: 1, mortal: [0], asleep: [0] },
].map(({ name, ...line }) => ({ ...line, name: `promises, ${name}` }));

/**
 * Thread 0 is counted as waiting, stands in the queue, and is dead. Behind thread 0 stand `behind` promises of the last
 * thread. If two threads reap, the first of them may die meanwhile.
 */
const dead = (behind: number, reapers = 1): Model => ({
  name: `p0514: a dead waiter, ${behind} behind it${reapers > 1 ? ', and its reaper' : ''}`,
  programs: [[], ...Array.from({ length: reapers }, () => [supervise()])],
  arena: { buckets: 2, elements: 4 + 2 * reapers, attached: 1 + reapers },
  deaths: reapers,
  mortal: reapers > 1 ? [0, 1] : [0],
  leaves: true,
  objects: (scene) => {
    const s = scene.semaphore({ permits: 0, max: 3, kind: constant('KIND_COUNTING_SEMAPHORE') });
    scene.callNow(0, 'countDown', s, 1);
    scene.callNow(0, 'acquire', s, 1);
    scene.callNow(0, 'enqueue', s, 1, QUEUED, 0);
    for (let i = 0; i < behind; i++) {
      scene.callNow(reapers, 'countDown', s, 1);
      scene.callNow(reapers, 'arrive', s, 1, 0, 0);
    }
    scene.kill(0);
  },
  end: (scene) => {
    const waiting = scene.machine.words[(counter(scene) + 4) >> 2];
    if (waiting !== behind) throw new Violation(`${waiting} are counted as waiting, not ${behind}`);
  },
});

const detaches = (): Op => call('letGo', (scene, t) => [scene.attachment(t, 0), 0]);

/** When both threads have detached from the closed semaphore, another object takes its place. */
const usedAgain: Model = {
  name: 'p0514: promises, the memory is used again',
  programs: [
    [waitAsync(), waitAsync(), eventLoop(jobs(0, 'nothing')), detaches()],
    [
      disposing(),
      detaches(),
      call('createObject', () => newObject({ kind: constant('KIND_COUNTING_SEMAPHORE'), threshold: 1 })),
    ],
  ],
  arena: { buckets: 1, objects: 1, elements: 6, attached: 2 },
  leaves: true,
  objects: (scene) => {
    scene.semaphore({ permits: 0, threshold: 1, kind: constant('KIND_COUNTING_SEMAPHORE') });
  },
};

export const sections: readonly Section[] = [
  // What a signal takes from the value for waiters is in the queue, or the signal has taken nothing.
  ...['countUp', 'countDown'].map((fn) => ({
    name: `R13, ${fn}`,
    fn: `counter/${fn}`,
    from: { kind: CMPXCHG, word: constant('O_COUNTER') },
    to: [constant('GRANT')],
    returns: 'nothing is handed on',
  })),
];

export const models: readonly Model[] = [
  ...[...lines, ...several, ...promises].map(modelOf),
  dead(0),
  dead(1),
  dead(0, 2),
  dead(1, 2),
  usedAgain,
];
