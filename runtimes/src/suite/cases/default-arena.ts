/** The default arena. Workers inherit it if the runtime allows that. Otherwise one line of code gives it to them. */
import { Arena, Semaphore, type ThreadHandle } from 'taketurns';
import { equal, isError } from '../check.js';
import { threads } from '../globals.js';
import { test } from '../run.js';

test('default arena: a worker inherits it, or gets it by one line', async ({ team, note }) => {
  const semaphore = Semaphore.open('for strangers', 0);
  const worker = team.stranger();
  const { thread, error } = await worker.call<{ thread?: ThreadHandle; error?: string }>('askDefault');
  if (thread) {
    equal(thread.arena, Arena.default.thread.arena, 'the arena that it has inherited');
    note('inherited');
  } else {
    // Workers of worker_threads inherit the arena in every runtime that has them.
    equal([team.kind, threads === undefined || 'Deno' in globalThis], ['web', true], 'not inherited by');
    isError(new Error(error), 'Error', 'this worker has no default arena');
    await worker.join();
    note('handed over in one line');
  }
  await worker.call('openByName', 'for strangers');
  equal(semaphore.available, 1, 'released by the worker');
});
