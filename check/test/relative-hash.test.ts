/**
 * A search may count states as one state if they differ only in how far counters have come
 * (check/src/scene/relative-hash.ts). Such a search overlooks nothing: these states have the same choices, and the same
 * choice leads from all of them to states that again count as one.
 */
import { describe, expect, it } from 'vitest';
import { search } from '../src/engine/search/search.js';
import { IMM, LOAD, NOTIFY, OP_ACCESS, type Program, STRIDE } from '../src/engine/wasm/code.js';
import { mutexModel } from '../src/models/parts/mutex-model.js';
import { loadProgram } from '../src/programs.js';
import { Driver } from '../src/scene/driver.js';
import { StateHash } from '../src/scene/hashing.js';
import { constant } from '../src/scene/layout.js';
import { PrivateWords } from '../src/scene/private-words.js';
import { TICKETS } from '../src/scene/relative-hash.js';

const core = loadProgram('core');
const relative = { bypass: 1, forgets: true, relative: true };
const alike = mutexModel({ name: '2x2', program: 'L U L U | L U L U', ...relative });

interface Quotient {
  /** How many states there are by the usual hash. */
  states: number;
  /** How many states there are by the relative hash. */
  classes: number;
  /** How many of these relative states stand for states that go on in different ways. */
  split: number;
}

/** Visits every state by the usual hash. Compares the successors of all states that have the same relative hash. */
function quotient(model = alike): Quotient {
  const driver = new Driver(core, model);
  driver.symmetry(0);
  const usual = new StateHash(driver.machine, driver.ghosts, driver.threads);
  const states = new Set<string>();
  const successors = new Map<string, string>();
  const split = new Set<string>();
  const marks: number[] = [];
  const key = (): string => `${driver.hashLo},${driver.hashHi}`;
  const isNew = (): boolean => {
    usual.compute();
    // Both hashes keep the hashes of the threads in the same words, so the relative hash is computed again.
    driver.rehash();
    const before = states.size;
    return states.add(`${usual.lo},${usual.hi}`).size > before;
  };
  const visit = (depth: number): void => {
    const name = key();
    driver.mark(marks, 2 * depth);
    const choices = new Int32Array(3 * driver.threads);
    const count = driver.choices(choices);
    const next: string[] = [];
    for (const choice of choices.subarray(0, count)) {
      driver.apply(choice);
      next.push(`${choice}:${key()}`);
      if (isNew()) visit(depth + 1);
      driver.undo(marks, 2 * depth);
      driver.rehash();
    }
    const all = next.join(' ');
    if ((successors.get(name) ?? all) !== all) split.add(name);
    successors.set(name, all);
  };
  driver.rehash();
  isNew();
  visit(0);
  return { states: states.size, classes: successors.size, split: split.size };
}

describe('states that differ only in how far counters have come', () => {
  const { states, classes, split } = quotient();

  it('have successors that differ only in that', () => {
    expect(split).toBe(0);
    expect(classes).toBeLessThan(0.8 * states);
  });

  it('are one state of a search, which finds all of them and no others', () => {
    expect(search(() => new Driver(core, alike), { reduce: false, symmetry: 0 }).states).toBe(classes);
  });
});

describe('a relative model', () => {
  it.each([0, 1] as const)('comes to the same ends with and without reduction, order %i', (symmetry) => {
    const make = (): Driver => new Driver(core, alike);
    const whole = search(make, { symmetry, reduce: false });
    const reduced = search(make, { symmetry });
    expect(whole.exhaustive && reduced.exhaustive).toBe(true);
    expect(reduced.ends).toBe(whole.ends);
  });

  it('has as many states in either order of its threads', () => {
    const [up, down] = ([1, -1] as const).map((symmetry) =>
      search(() => new Driver(core, alike), { reduce: false, symmetry }),
    );
    expect([down.states, down.steps]).toEqual([up.states, up.steps]);
  });

  /** Returns the core with one access changed to a load of an unused word: the last of this kind in a function. */
  const without = (fn: string, kind: number, word?: number): Program => {
    const image = core.image.slice();
    const { entry, end } = core.functions.find(({ name }) => name === fn) as { entry: number; end: number };
    let at = end - STRIDE;
    while (image[at] !== OP_ACCESS + kind || (word !== undefined && image[at + IMM] !== word)) at -= STRIDE;
    expect(at).toBeGreaterThanOrEqual(entry);
    image[at] = OP_ACCESS + LOAD;
    image[at + IMM] = constant('O_TIMEOUTS') + 8;
    return { ...core, image };
  };

  it.each([
    ['the head is not woken', without('mutex/wakeHead', NOTIFY)],
    ['the next head is not woken', without('queue/endWait', NOTIFY)],
    ['a waiter does not look at grant again', without('queue/lookAtGrant', LOAD, constant('GRANT'))],
  ])('shows that %s', (_fault, program) => {
    expect(search(() => new Driver(program, alike)).violation?.message).toMatch(/deadlock|no end/);
  });
});

describe('private words', () => {
  const driver = new Driver(core, alike);
  const words = new PrivateWords(driver);
  const first = driver.spare(0) + constant('E_START');
  const kind = (driver.semaphores[0] as number) + constant('O_KIND');
  const ticket = (driver.semaphores[0] as number) + constant('TICKET');

  it('are those of a spare for its owner, and those that nobody writes', () => {
    expect([words.isPrivate(0, first), words.isPrivate(1, first)]).toEqual([true, false]);
    expect([words.isPrivate(0, kind), words.isPrivate(1, kind), words.isPrivate(0, ticket)]).toEqual([
      true,
      true,
      false,
    ]);
    expect(driver.machine.hostLoad32(ticket)).toBe(TICKETS);
  });

  it('are written by nobody else', () => {
    words.check(0, first);
    words.check(1, ticket);
    expect(() => words.check(1, first)).toThrow(/thread 1 writes .* private/);
    expect(() => words.check(0, kind)).toThrow(/thread 0 writes .* private/);
  });
});
