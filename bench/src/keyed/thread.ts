// A thread of `bench keyed`: it locks keys drawn at random until the time is over, and counts.

import { parentPort, workerData } from 'node:worker_threads';
import { Mutex, type MutexHandle } from 'taketurns';
import { KeyedMutex } from 'taketurns/keyed';
import { type Choice, drawer, keyOf, TABLE } from './subjects.js';

/** What a thread does: with mutexes, it takes the one of the number of the key. */
export interface Task {
  readonly choice: Choice;
  readonly keys: number;
  readonly seed: number;
  readonly milliseconds: number;
  readonly mutexes: readonly MutexHandle[] | undefined;
}

const { choice, keys, seed, milliseconds, mutexes } = workerData as Task;
const names = Array.from({ length: keys }, (_, i) => keyOf(i));
const draw = drawer(choice, keys, seed);
let held = 0;

/** What is done under the lock. */
function work(): void {
  for (let i = 0; i < 20; i++) held = Math.imul(held + i, 1664525);
}

let step: () => void;
if (mutexes === undefined) {
  const table = KeyedMutex.open(TABLE);
  step = () => {
    const guard = table.hold(names[draw()] as string);
    work();
    guard.unlock();
  };
} else {
  const locks = mutexes.map((handle) => Mutex.from(handle));
  step = () => {
    const lock = locks[draw() % locks.length] as Mutex;
    lock.lock();
    work();
    lock.unlock();
  };
}

/** Returns how many operations a second the thread does. */
function run(milliseconds: number): number {
  const begun = performance.now();
  let operations = 0;
  let passed = 0;
  do {
    for (let i = 0; i < 200; i++) step();
    operations += 200;
    passed = performance.now() - begun;
  } while (passed < milliseconds);
  return (1000 * operations) / passed;
}

run(milliseconds / 2);
parentPort?.postMessage(run(milliseconds));
