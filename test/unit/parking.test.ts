/** How a wait in the queue ends: the answers of the core, and those of src/runtime/parking.ts. */

import { expect, it } from 'vitest';
import type { Core } from '../../dist/border/core.js';
import * as numbers from '../../dist/border/numbers.js';
import { LEFT_AS_ASKED, LEFT_AT_TIMEOUT, type Parked } from '../../dist/runtime/parking.js';

/** The answers after which the request still stands in the queue, so that `cancel` must follow. */
type Standing = numbers.TIMED_OUT | numbers.LEAVE;

it('does not compile if a caller takes a request that still stands for one that has left', () => {
  const park = (answer: ReturnType<Core['parkFor']>): Parked | undefined => {
    if (answer !== numbers.TIMED_OUT && answer !== numbers.LEAVE) return answer;
    // @ts-expect-error: these answers of the core say that the request has not left.
    return answer satisfies Parked;
  };
  const none: [Extract<Parked, Standing>] extends [never] ? true : false = true;
  expect(none).toBe(true);
  expect(park(numbers.ADMITTED)).toBe(numbers.ADMITTED);
});

it('says with a number of its own that a request has left', () => {
  const answers = Object.values(numbers).filter((value) => typeof value === 'number');
  expect(answers).toContain(numbers.LEAVE);
  expect(answers).not.toContain(LEFT_AT_TIMEOUT);
  expect(answers).not.toContain(LEFT_AS_ASKED);
  expect(LEFT_AT_TIMEOUT).not.toBe(LEFT_AS_ASKED);
});
