/** What the library does to the life of a process: test/unit/async.test.ts has the common cases. */
import { describe, expect, it } from 'vitest';
import { runProgram } from '../support/program.js';

describe('a process', () => {
  it('stays alive for a promise of one arena when those of another are settled', async () => {
    expect(await runProgram('two-arenas')).toEqual({ code: 0, out: 'done\n', err: '' });
  });

  it('may release in an exit handler', async () => {
    expect(await runProgram('release-on-exit')).toEqual({ code: 0, out: '1 available\n', err: '' });
  });

  it('may wait for a permit in an exit handler', async () => {
    expect(await runProgram('acquire-on-exit')).toEqual({ code: 0, out: 'exit 0, 1 available\n', err: '' });
  });
});
