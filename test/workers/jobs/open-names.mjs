/** Opens each name at the same moment as the others, and takes one permit of each. */
import { Arena, Semaphore } from 'taketurns';
import { meet } from '../attach.mjs';

/** The objects are kept here, so that none is freed before every thread has looked. */
const opened = [];

export default function openNames({ arena, names, permits, barrier, parties }) {
  const here = Arena.from(arena);
  const addresses = [];
  let taken = 0;
  for (const [i, name] of names.entries()) {
    meet(barrier, parties * (i + 1));
    const semaphore = Semaphore.open(name, permits, { arena: here });
    addresses.push(semaphore.handle.address);
    if (semaphore.tryAcquire()) taken++;
    opened.push(semaphore);
  }
  return { addresses, taken };
}
