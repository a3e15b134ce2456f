/** Random programs find nothing wrong with the library as it is. `npm start -w simulate` runs more programs. */
import { expect, test } from 'vitest';
import { Listed } from '../src/choices.js';
import { World } from '../src/run.js';
import { search } from '../src/search.js';
import { failing, ofWord, report, shrink } from '../src/shrink.js';

const RUNS = process.env.TAKETURNS_TESTS === 'whole' ? 100_000 : 1000;

test('random programs find nothing', async () => {
  const { found } = await search([], { seed: 1, runs: RUNS });
  const world = new World();
  expect(found && report(world, shrink(world, found))).toBeUndefined();
});

/** A case that random programs reach too seldom for faults.test.ts: only some of 100,000 programs reach it. */
const RELAYED = [
  'eyJwcm9ncmFtIjp7Im9iamVjdHMiOlt7ImtpbmQiOiJNdXRleCIsImNhbGxiYWNrIjoiZ2l2ZXMgYmFjayJ9LHsia2luZCI6IkNv',
  'bmRpdGlvbiIsIm9mIjowfV0sInRocmVhZHMiOltbeyJvbiI6MSwiY2FsbCI6Im5vdGlmeSIsIm4iOjF9LHsib24iOjAsImNhbGwi',
  'OiJydW5FeGNsdXNpdmUifSx7Im9uIjowLCJjYWxsIjoiaG9sZEFzeW5jIn0seyJvbiI6MCwiY2FsbCI6ImxvY2tBc3luYyJ9LHsi',
  'b24iOjEsImNhbGwiOiJub3RpZnkiLCJuIjoyfSx7Im9uIjoxLCJjYWxsIjoid2FpdCIsInRpbWVvdXQiOjN9XSxbeyJvbiI6MSwi',
  'Y2FsbCI6Im5vdGlmeSIsIm4iOjJ9LHsib24iOjAsImNhbGwiOiJ0cnlMb2NrIn1dLFt7Im9uIjoxLCJjYWxsIjoid2FpdEFzeW5j',
  'In0seyJvbiI6MSwiY2FsbCI6Im5vdGlmeSIsIm4iOjF9XV19LCJhbnN3ZXJzIjpbWzIsNF0sWzE0LDJdLFszMiwxXSxbMzMsMV0s',
  'WzM1LDFdLFszNiwxXSxbMzcsMV0sWzQxLDFdLFs0MiwxXV19',
].join('');

test('a notify that notifies nobody, but passes on an earlier wake-up, settles the promise of its thread', () => {
  const { program, answers } = ofWord(RELAYED);
  const [find, put] = [
    'this.#promises.settle(); return notified;',
    'if (notified > 0) this.#promises.settle(); return notified;',
  ];
  // The call also plans a rest, which would settle the promise later.
  const planned = 'this.#promises.planRest(); if (count === 1)';
  const faults = [
    { find, put },
    { find: planned, put: 'if (count === 1)' },
  ];
  expect(failing(new World(faults), program, new Listed(answers))?.error.message).toMatch(
    /still waits, though its turn/,
  );
  expect(failing(new World(), program, new Listed(answers))).toBeUndefined();
});
