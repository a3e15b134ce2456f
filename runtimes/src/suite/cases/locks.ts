/** The locks of the papers: exclusion, and the calls that the main thread may make. */
import { ClhLock, LifoLock, McsLock, ReciprocatingLock, TicketLock, TtsLock, TwaLock } from 'taketurns/algorithms';
import { equal, ok, throws } from '../check.js';
import { mayBlock } from '../globals.js';
import type { Handle, Lock } from '../objects.js';
import { test } from '../run.js';

for (const Class of [TtsLock, TicketLock, TwaLock, McsLock, ClhLock, LifoLock, ReciprocatingLock]) {
  test(`locks: ${Class.name}`, async ({ team }) => {
    const ROUNDS = 1000;
    const lock: Lock & { readonly handle: Handle } = new Class();
    const words = new Int32Array(new SharedArrayBuffer(8));
    const workers = await team.members(3);
    await team.together(workers, 'lockAndCount', lock.handle, words, ROUNDS);
    equal(words[0], workers.length * ROUNDS, 'increments');
    ok(lock.tryLock?.(), 'free at the end');
    equal(await workers[0]?.call('tryLock', lock.handle), false, 'of the main thread');
    lock.unlock();
    if (mayBlock) {
      lock.lock();
      lock.unlock();
    } else throws(() => lock.lock(), 'TypeError', 'tryLock');
  });
}
