/** One of a crowd of threads that lock and unlock, and count in words that only the lock guards. */
import { Arena } from 'taketurns';
import { CapacitorLock, lastTicket } from 'taketurns/algorithms';
import { attach, meet, nap, random, spin } from '../attach.mjs';

export default function lock(args) {
  const { handle, shared, rounds, trying, think, tickets, own, index, barrier, parties } = args;
  const lock = own ? CapacitorLock.from(handle, new OwnLock(own)) : attach(handle);
  const arena = tickets && Arena.from(handle.capacitor.arena);
  const draw = random(index + 1);
  let together = 0;
  meet(barrier, parties);
  for (let round = 0; round < rounds; round++) {
    if (!trying || draw() < 0.5 || !lock.tryLock()) lock.lock();
    // The access is not atomic: another thread inside would lose this write.
    const before = shared[0];
    if (shared[1] !== before) together++;
    shared[0] = before + 1;
    if (tickets) tickets[before] = lastTicket(arena);
    if (draw() < 0.01) nap();
    else if (draw() < 0.2) spin(draw() * 500);
    shared[1] = before + 1;
    lock.unlock();
    if (think) spin(draw() * think);
  }
  return together;
}

/** A lock that the library does not have, and that is not fair. */
class OwnLock {
  constructor(words) {
    this.words = words;
  }

  lock() {
    while (!this.tryLock()) Atomics.wait(this.words, 0, 1, 1);
  }

  tryLock() {
    return Atomics.compareExchange(this.words, 0, 0, 1) === 0;
  }

  unlock() {
    Atomics.store(this.words, 0, 0);
    Atomics.notify(this.words, 0, 1);
  }
}
