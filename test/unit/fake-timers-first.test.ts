/** Fake timers that are there before the library is loaded do not catch it. Jest's are in package-tests/. */
import { describe, expect, it } from 'vitest';
import { isFake } from '../../dist/common/real-clock.js';
import { runProgram } from '../support/program.js';

describe('time-outs end in the real time, although there were fake timers before the library was loaded,', () => {
  it.each([
    ['of Sinon', 'sinon'],
    ['of node:test', 'node'],
  ])('%s', async (_, tool) => {
    const { code, out, err } = await runProgram('fake-timers-first', [tool]);
    expect([out, code], err).toEqual(['while they stand still\nafter that\n', 0]);
  });
});

it('true timers that a program has bound, as happy-dom does, are no fakes', () => {
  expect([setTimeout, setTimeout.bind(globalThis), performance.now.bind(performance)].map(isFake)).toEqual([
    false,
    false,
    false,
  ]);
});
