/** No waiter is overtaken, neither by a thread that comes back at once nor by attempts. */
import { Arena, Semaphore } from 'taketurns';
import { describe, expect, it } from 'vitest';
import { roundsOf } from '../support/rounds.js';
import { team } from '../support/team.js';
import { tuned } from '../support/tuned.mjs';

const crowd = team(4, { core: true });
const [hog, victim] = [0, 1];

describe.each([0, 200])('polling %i times before parking', (spin) => {
  it('a thread that releases and comes back at once does not overtake the waiter', async () => {
    const semaphore = tuned(new Semaphore(1, { arena: new Arena() }), { spin });
    // Word 0 counts admissions of the hog, word 1 those of the victim. Word 2 says that the hog is done.
    const shared = new Int32Array(new SharedArrayBuffer(12));
    const args = { handle: semaphore.handle, shared, rounds: roundsOf(2000) };
    const [hogPassed, victimPassed] = await Promise.all([
      crowd[hog]?.run<number>('hog', args),
      crowd[victim]?.run<number>('victim', args),
    ]);
    expect(hogPassed, 'times that the hog got in before the victim in line').toBe(0);
    // The hog may have got in once between the victim's look at the count and its place in the queue.
    expect(victimPassed, 'most admissions of the hog during one wait').toBeLessThanOrEqual(1);
    expect(semaphore.available).toBe(1);
  });
});

it('an attempt never overtakes a waiter, however heavy', async () => {
  const semaphore = new Semaphore(3, { arena: new Arena() });
  semaphore.acquire();
  const heavy = semaphore.acquireAsync(3);
  // Two permits are free, but later requests may not have them.
  expect(semaphore.available).toBe(0);
  const refused = await Promise.all(
    crowd.map((member) => member.run<number>('attempts', { handle: semaphore.handle, rounds: roundsOf(20_000) })),
  );
  expect(refused).toEqual(crowd.map(() => roundsOf(20_000)));
  expect(semaphore.waiting).toBe(1);
  semaphore.release();
  await heavy;
  semaphore.release(3);
  expect(semaphore.available).toBe(3);
  expect(semaphore.tryAcquire(3)).toBe(true);
});
