/**
 * Opens mutexes by their names, locks each of them, and lets go of it, as after a garbage collection. Returns how often
 * another thread was inside at the same time.
 */
import { Arena, Mutex } from 'taketurns';
import { meet } from '../attach.mjs';

const closed = Symbol.for('taketurns:closed');

export default function openAndClose({ arena, names, rounds, inside, index, barrier, parties }) {
  const here = Arena.from(arena);
  const counts = new Int32Array(inside);
  let overlaps = 0;
  meet(barrier, parties);
  for (let i = 0; i < rounds; i++) {
    const which = (i + index) % names.length;
    const mutex = Mutex.open(names[which], { arena: here });
    mutex.lock();
    if (Atomics.add(counts, which, 1) !== 0) overlaps++;
    Atomics.sub(counts, which, 1);
    mutex.unlock();
    mutex[closed]();
  }
  return overlaps;
}
