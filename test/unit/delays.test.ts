/** What a timer is asked for is a whole number of milliseconds, and none below 0. */
import { expect, it, vi } from 'vitest';

const delays: number[] = [];
vi.mock('../../src/runtime/clock.js', async (original) => ({
  ...(await original<typeof import('../../src/runtime/clock.js')>()),
  setTimeout: (run: () => void, delay: number) => {
    delays.push(delay);
    return setTimeout(run, delay);
  },
}));
const { cancelOn } = await import('../../src/runtime/cancellation.js');

it.each([
  [0.5, 1],
  [0, 0],
  [-0.5, 0],
  [-3, 0],
  [2, 2],
])('a time-out of %s ms', async (timeout, delay) => {
  delays.length = 0;
  await new Promise<void>((over) =>
    cancelOn(
      timeout,
      undefined,
      () => over(),
      () => '',
    ),
  );
  expect(delays[0] === delay).toBe(true);
  for (const each of delays) expect(Number.isInteger(each) && each >= 0).toBe(true);
});
