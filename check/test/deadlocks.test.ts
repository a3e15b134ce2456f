/** The models of the second look at a deadlock find looks that are wrong. */
import { describe, expect, it } from 'vitest';
import { confirm } from '../../dist/report/confirm.js';
import { search } from '../src/engine/search/search.js';
import { deadlockModel, type Look, lines } from '../src/models/deadlocks.js';
import { loadProgram } from '../src/programs.js';
import { Driver } from '../src/scene/driver.js';
import { constant } from '../src/scene/layout.js';

const core = loadProgram('core');

/** Returns what the search finds in a model with this look, and so many looks of a thread in one wait. */
function found(name: string, by?: Look, most?: number): string | undefined {
  const line = lines.find((candidate) => candidate.name === name);
  if (line === undefined) throw new Error(`no model ${name}`);
  const model = deadlockModel(line, by, most);
  return search(() => new Driver(core, model)).violation?.message;
}

const FALSE_ALARM = 'a deadlock is found, and there was none';

/** Reads the facts once, and that the threads sleep, but not that they still sleep. */
const once: Look = function* (sleepers, facts) {
  for (const { lifeAt, life } of sleepers) if ((yield lifeAt) !== life) return false;
  for (const { address, value, mask } of facts) if (((yield address) & mask) !== value) return false;
  return true;
};

/** Does not look whether the threads have woken and gone to sleep again. */
const withoutCount: Look = function* (sleepers, facts) {
  if (!(yield* once(sleepers, facts))) return false;
  for (const { lifeAt, life } of sleepers) if ((yield lifeAt) !== life) return false;
  return true;
};

/** Takes a thread that waits with a time-out for one that waits for ever. */
const withTimed: Look = function* (sleepers, facts) {
  const on = sleepers.map(({ sleepsAt }) => sleepsAt + constant('T_SLEEPS_ON') - constant('T_SLEEPS'));
  return yield* withoutCount(
    sleepers,
    facts.map((fact) => (on.includes(fact.address) ? { ...fact, value: fact.value & ~1, mask: fact.mask & ~1 } : fact)),
  );
};

describe('the second look at a deadlock', () => {
  it('is right in a model in which each wrong look is not', () => {
    expect(found('one lock after the other')).toBeUndefined();
    expect(found('crosswise, one with a time-out')).toBeUndefined();
  });

  it('gives false alarms if it does not look again whether the threads sleep', () => {
    expect(found('one lock after the other, twice', once)).toBe(FALSE_ALARM);
  });

  it('gives false alarms if it does not count how often they have gone to sleep', () => {
    expect(found('one lock after the other, twice', withoutCount)).toBe(FALSE_ALARM);
  });

  it('gives false alarms if it takes a time-out for none', () => {
    expect(found('crosswise, one with a time-out', withTimed)).toBe(FALSE_ALARM);
  });

  it('misses a deadlock if each thread looks only once: the others may not sleep yet', () => {
    expect(found('both look, one leaves')).toBeUndefined();
    expect(found('both look, one leaves', confirm, 1)).toMatch(/^deadlock: thread . sleeps for ever/);
    expect(found('one looks and leaves', confirm, 1)).toMatch(/^deadlock: thread . sleeps for ever/);
  });
});
