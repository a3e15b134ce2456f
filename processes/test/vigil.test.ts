/** How long a process stays awake for what may come at once. Time and the event loop are made here. */
import { afterEach, expect, test, vi } from 'vitest';
import { Vigil } from '../src/local/vigil.js';
import { clock } from '../src/runtime/clock.js';

/** What the next iteration of the event loop calls. */
const calls = vi.hoisted(() => [] as (() => void)[]);
vi.mock('../src/runtime/ticks.js', () => ({ later: (run: () => void) => void calls.push(run) }));

let now = 1000;
vi.spyOn(clock, 'now').mockImplementation(() => now);
const goRound = (): void => {
  for (const call of calls.splice(0)) call();
};
/** Whether the event loop goes on without sleeping. */
const isAwake = (): boolean => calls.length > 0;
/** How many times `begin` does nothing. The next vigil has begun then. */
const rests = (vigil: Vigil): number => {
  let count = 0;
  for (vigil.begin(); !isAwake(); vigil.begin()) count++;
  return count;
};

/** Lets the vigil that has begun pass in vain. */
const waitInVain = (): void => {
  now += 1;
  goRound();
  expect(isAwake()).toBe(false);
};

afterEach(() => {
  calls.length = 0;
});

test('the event loop stays awake until what was expected comes', () => {
  const vigil = new Vigil();
  expect(isAwake()).toBe(false);
  vigil.begin();
  for (let at = 0; at < 10; at++) {
    expect(isAwake()).toBe(true);
    goRound();
  }
  vigil.end();
  goRound();
  expect(isAwake()).toBe(false);
});

test('the event loop sleeps when nothing comes for a moment', () => {
  const vigil = new Vigil();
  vigil.begin();
  now += 0.06;
  // Something else is expected meanwhile, and so the moment begins anew.
  vigil.begin();
  now += 0.06;
  expect(calls.length).toBe(1);
  goRound();
  expect(isAwake()).toBe(true);
  now += 0.06;
  goRound();
  expect(isAwake()).toBe(false);
});

test('who waits in vain waits awake ever more rarely', () => {
  const vigil = new Vigil();
  const found = Array.from({ length: 9 }, () => {
    const count = rests(vigil);
    waitInVain();
    return count;
  });
  expect(found).toEqual([0, 1, 3, 7, 15, 31, 63, 63, 63]);
});

test('who does not wait in vain waits awake more often', () => {
  const vigil = new Vigil();
  const found = [true, true, true, false, false, true].map((isInVain) => {
    const count = rests(vigil);
    if (isInVain) waitInVain();
    else vigil.end();
    goRound();
    return count;
  });
  expect(found).toEqual([0, 1, 3, 7, 0, 0]);
  // The two vigils have made 3 and then 1 of the 7.
  expect(rests(vigil)).toBe(3);
});

test('what comes while nobody waits awake changes nothing', () => {
  const vigil = new Vigil();
  vigil.begin();
  waitInVain();
  vigil.end();
  expect(rests(vigil)).toBe(1);
  waitInVain();
  vigil.end();
  expect(rests(vigil)).toBe(3);
});
