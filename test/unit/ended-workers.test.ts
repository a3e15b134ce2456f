/** When a program hears of the end of a worker, the library has noticed the end too (src/host/node.ts). */
import { expect, it } from 'vitest';
import { runProgram } from '../support/program.js';
import { roundsInCi } from '../support/rounds.js';

it('no object counts a worker of which the program has heard that it has ended', async () => {
  expect((await runProgram('dead-not-counted', [1, roundsInCi(4, 2)], 55_000)).out.trim()).toBe('right');
}, 60_000);
