/** Objects that users freeze or print, and classes that users extend by names of their own: nothing goes wrong. */
import { expect, it } from 'vitest';
import { runProgram } from '../support/program.js';

it.each([
  ['frozen', 'tasks'],
  ['frozen', 'threads'],
  ['frozen', 'channels'],
  ['frozen', 'papers'],
  ['extended', 'tasks'],
  ['extended', 'threads'],
  ['extended', 'channels'],
  ['extended', 'papers'],
  ['shown', 'tasks'],
  ['shown', 'threads'],
  ['shown', 'channels'],
  ['shown', 'papers'],
])('a program with %s objects of %s does what it does with others, and ends', async (...args) => {
  expect(await runProgram('objects-in-hands', args)).toEqual({ code: 0, out: '', err: '' });
});
