/** The calls by key, and event counts, in crowds of real threads. */
import { Arena } from 'taketurns';
import { EventCount, Sequencer } from 'taketurns/algorithms';
import { describe, expect, it } from 'vitest';
import { roundsOf } from '../support/rounds.js';
import { watch } from '../support/settled.js';
import { team, together } from '../support/team.js';
import { until } from '../support/until.js';

const CROWD = 6;
const crowd = team(CROWD);

describe.each(['address', 'looking', 'key', 'lazy', 'channel', 'location', 'alternating'])('waiting by %s', (way) => {
  describe.each([1, 4])('with %i slots', (slots) => {
    it.each([0, 100])('passes turns around, polling %i times', async (spin) => {
      const arena = new Arena({ slots, chains: slots });
      const turns = new Int32Array(new SharedArrayBuffer(4 * CROWD));
      // Two turns go round at a time, so that there is a race at each place.
      turns[0] = 1;
      turns[3] = 1;
      const rounds = roundsOf(400);
      await together(crowd, 'by-key', { arena: arena.handle, way, turns, rounds, spin });
      expect([...turns].reduce((sum, count) => sum + count)).toBe(CROWD * rounds + 2);
    });
  });
});

describe.each([1, 2, 5])('a ring of %i slots, of event counts and sequencers', (slots) => {
  it.each([
    [0, 1, 0],
    [0, 64, 0],
    [100, 64, 0],
    [0, 1, 1],
    [100, 64, 2],
  ])('loses nothing (polling %i times, %i buckets, threshold %i)', async (spin, buckets, threshold) => {
    const arena = new Arena({ slots: buckets, chains: buckets });
    const each = roundsOf(300);
    const ring = new Int32Array(new SharedArrayBuffer(4 * slots)).fill(-1);
    const seen = new Int32Array(new SharedArrayBuffer(4 * each * (CROWD / 2)));
    const put = new EventCount({ arena, spin, threshold });
    const taken = new EventCount({ arena, spin, threshold });
    await together(crowd, 'put-and-take', {
      put: put.handle,
      taken: taken.handle,
      putters: new Sequencer({ arena }).handle,
      takers: new Sequencer({ arena }).handle,
      ring,
      seen,
      each,
    });
    expect(seen.every((count) => count === 1)).toBe(true);
    expect(put.read()).toBe(BigInt(seen.length));
    expect(taken.read()).toBe(BigInt(seen.length));
  });
});

it.each([
  [64, 64],
  [1, 64],
  [64, 1],
])('a disposed event count rejects those that await it (%i buckets, %i chains)', async (slots, chains) => {
  const count = new EventCount({ spin: 0, arena: new Arena({ slots, chains }) });
  const waits = crowd.map((member, i) =>
    watch(member.run('await-value', { handle: count.handle, value: BigInt(i + 1) }), i),
  );
  await until(() => waits.every((wait) => wait.state === 'pending'), 'all have been asked');
  count.advance(2);
  await until(() => waits.slice(0, 2).every((wait) => wait.state !== 'pending'), 'two have come');
  count.dispose();
  await until(() => waits.every((wait) => wait.state !== 'pending'), 'all have been told');
  expect(waits.map(({ error }) => (error as Error | undefined)?.name)).toEqual([
    undefined,
    undefined,
    ...Array.from({ length: CROWD - 2 }, () => 'DisposedError'),
  ]);
});
