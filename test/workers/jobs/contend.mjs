/** One of a crowd of threads: acquires and releases, and counts violations. See support/contest.ts. */
import { Arena } from 'taketurns';
import { lastTicket } from 'taketurns/algorithms';
import { attach, meet, nap, random, spin } from '../attach.mjs';

export default async function contend(args) {
  const {
    handle,
    shared,
    permits,
    from,
    to,
    ways,
    giving,
    rounds,
    think,
    besides,
    exclusive,
    index,
    barrier,
    parties,
  } = args;
  const semaphore = attach(handle);
  const arena = Arena.from(handle.arena);
  const draw = random(index + 1);
  const score = { admissions: 0, refusals: 0, outOfOrder: 0, tooMany: 0, mostHeld: 0 };
  const other = besides && attach(besides);
  const pending = other?.acquireAsync();
  meet(barrier, parties);
  for (let round = 0; round < rounds; round++) {
    const n = from + Math.floor(draw() * (to - from + 1));
    let ticket;
    switch (ways[Math.floor(draw() * ways.length)]) {
      case 'acquire':
        semaphore.acquire(n);
        ticket = lastTicket(arena);
        break;
      case 'acquireAsync': {
        const admitted = semaphore.acquireAsync(n);
        // The call has already taken the ticket, which is the place in the queue.
        ticket = lastTicket(arena);
        await admitted;
        break;
      }
      case 'tryAcquire':
        if (semaphore.tryAcquire(n)) {
          ticket = lastTicket(arena);
        } else {
          // A refused thread waits in line, so that every round ends in one admission.
          score.refusals++;
          semaphore.acquire(n);
          ticket = lastTicket(arena);
        }
        break;
    }
    score.admissions++;
    const width = BigInt(n);
    const held = Number(Atomics.add(shared, 0, width) + width);
    if (held > permits) score.tooMany++;
    if (held > score.mostHeld) score.mostHeld = held;
    const end = Atomics.exchange(shared, 1, ticket + width);
    if (exclusive && end !== ticket) score.outOfOrder++;
    // Now and then the thread sleeps while it holds, like a thread that the system has preempted.
    if (draw() < 0.01) nap();
    else if (draw() < 0.2) spin(draw() * 500);
    Atomics.sub(shared, 0, width);
    if (giving === 'conservative') semaphore.releaseConservative();
    else if (giving === 'pieces') for (let i = 0; i < n; i++) semaphore.release();
    else if (n === 1) semaphore.release();
    else semaphore.release(n);
    if (think) spin(draw() * think);
  }
  if (other) {
    other.release();
    await pending;
  }
  return score;
}
