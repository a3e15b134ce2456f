/** Attaches to a mutex, locks it and leaves the arena, `times` times. At last it attaches again and keeps the lock. */
import { setTimeout } from 'node:timers/promises';
import { Arena, Mutex } from 'taketurns';

let mutex;

export default async function leaveAndLock({ handle, times, turn }) {
  for (let i = 0; i < times; i++) {
    Mutex.from(handle).lock();
    Arena.from(handle.arena).dispose();
    if (turn) await setTimeout(1);
  }
  mutex = Mutex.from(handle);
  mutex.lock();
}
