/** How the library affects the life of a process; test/unit/async.test.ts has the common cases. */
import { describe, expect, it } from 'vitest';
import { runProgram } from '../support/program.js';

describe('a process', () => {
  it('stays alive for a promise of one arena when those of another are settled', async () => {
    expect(await runProgram('two-arenas')).toEqual({ code: 0, out: 'done\n', err: '' });
  });

  it('ends after the last promise of a mutex has got the lock', async () => {
    expect(await runProgram('last-of-a-mutex')).toEqual({ code: 0, out: 'unlocked\n', err: '' });
  });

  it('may release in an exit handler', async () => {
    expect(await runProgram('release-on-exit')).toEqual({ code: 0, out: '1 available\n', err: '' });
  });

  it('may release and acquire in an exit handler that it adds when it exits', async () => {
    const { out } = await runProgram('exit-at-once');
    expect(out.trim().split('\n')).toEqual([
      'exit: 2 available, unlocked',
      'thrown',
      'throw: 2 available, unlocked',
      'thrown by a listener',
      'listener throws: 2 available, unlocked',
      'all listeners removed: 2 available, unlocked',
    ]);
  });

  it('can do no harm behind all exit handlers', async () => {
    const { out } = await runProgram('after-the-end');
    expect(out.trim().split('\n').sort()).toEqual(
      [
        'release: nothing',
        'abort: nothing',
        'acquire: DisposedError, the Semaphore "robust" has been disposed of',
        'open: Error, this thread has left the arena',
        'make: Error, this thread has left the arena',
        '2 of 2, 0 of 0, 0 waiting',
        '0 elements more, 1 thread',
      ].sort(),
    );
  });

  it('may wait for a permit in an exit handler', async () => {
    expect(await runProgram('acquire-on-exit')).toEqual({ code: 0, out: 'exit 0, 1 available\n', err: '' });
  });
});
