/** The simulation: threads do not run one another's microtasks, runs can be repeated, no schedule is left out. */
import { expect, test } from 'vitest';
import { caseOf } from '../src/cases.js';
import { Bounded, Listed, Recorded, Uniform } from '../src/choices.js';
import { faults } from '../src/faults.js';
import { libraryText, patched } from '../src/library.js';
import type { Program } from '../src/program.js';
import { Realm } from '../src/realm.js';
import { World } from '../src/run.js';
import { Scheduler } from '../src/schedule.js';
import { search } from '../src/search.js';
import { ofWord, wordOf } from '../src/shrink.js';

/** Makes two threads that have nothing to do. */
function pair(): { readonly scheduler: Scheduler; readonly threads: Realm[] } {
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
  const scheduler = new Scheduler(memory);
  const threads = [1, 2].map((index) => new Realm(scheduler, index, memory, 'var library = {}', 0));
  scheduler.begin(threads, new Listed(new Map()), false);
  return { scheduler, threads };
}

test('a thread runs its own microtasks alone, also while another is on the stack', () => {
  const { scheduler, threads } = pair();
  const [one, two] = threads as [Realm, Realm];
  const log: string[] = [];
  const ping = one.tools.pending();
  const pong = two.tools.pending();
  one.tools.reacts(
    ping.promise,
    () => log.push('one'),
    () => {},
  );
  two.tools.reacts(
    pong.promise,
    () => log.push('two'),
    () => {},
  );
  scheduler.as(one, () => {
    ping.settle();
    scheduler.as(two, () => pong.settle());
    log.push('two has run');
  });
  expect(log).toEqual(['two', 'two has run', 'one']);
});

test('promises go to and fro between two threads, each in its own turn', () => {
  const { scheduler, threads } = pair();
  const log: number[] = [];
  const send = (round: number): void => {
    const to = threads[round % 2] as Realm;
    const { promise, settle } = to.tools.pending();
    to.tools.reacts(
      promise,
      () => {
        log.push(round);
        if (round < 9) send(round + 1);
      },
      () => {},
    );
    scheduler.add(to, () => 'ball', settle);
  };
  send(0);
  scheduler.run(() => {});
  expect(log).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test.each([
  ['all kinds', undefined],
  ['channels', ['Channel', 'Watch']],
])('a seed is the same run in a new world and in one that has run others, step by step: %s', (_, kinds) => {
  const used = new World();
  for (let seed = 1; seed <= 300; seed++) {
    const { program, choices } = caseOf(seed, kinds);
    used.run(program, choices);
  }
  for (const seed of [7, 77, 777, 7777, 5378]) {
    const first = new Recorded(caseOf(seed, kinds).choices);
    const { trace } = used.run(caseOf(seed, kinds).program, first, true);
    expect(trace.length).toBeGreaterThan(5);
    expect(new World().run(caseOf(seed, kinds).program, caseOf(seed, kinds).choices, true).trace).toEqual(trace);
    const { program, answers } = ofWord(wordOf({ program: caseOf(seed, kinds).program, answers: first.answers }));
    expect(used.run(program, new Listed(answers), true).trace).toEqual(trace);
  }
});

test('seeds are different runs', () => {
  const world = new World();
  const traces = [1, 2, 3, 4, 5, 6, 7, 8].map((seed) => {
    const { program, choices } = caseOf(seed);
    return world.run(program, choices, true).trace.join('\n');
  });
  expect(new Set(traces).size).toBe(8);
});

const two: Program = {
  objects: [{ kind: 'Semaphore', n: 1 }],
  threads: [[{ on: 0, call: 'acquireAsync' }], [{ on: 0, call: 'acquireAsync' }]],
};

/** Runs all schedules of a program, until one fails. */
function all(world: World, program: Program, preemptions: number): { runs: number; failure: Error | undefined } {
  const choices = new Bounded(preemptions);
  const traces = new Set<string>();
  do {
    const { failure, trace } = world.run(program, choices, true);
    if (failure) return { runs: traces.size + 1, failure };
    const text = trace.join('\n');
    expect(traces).not.toContain(text);
    traces.add(text);
  } while (choices.more());
  return { runs: traces.size, failure: undefined };
}

test('the bounded search runs each schedule once', () => {
  const world = new World();
  const without = all(world, two, 0);
  const once = all(world, two, 1);
  expect(without.failure).toBeUndefined();
  expect(once.failure).toBeUndefined();
  expect(without.runs).toBeGreaterThan(3);
  expect(once.runs).toBeGreaterThan(5 * without.runs);
});

test('the bounded search finds a fault that needs one preemption, and not without one', () => {
  const world = new World(faults['no-second-look']?.patches);
  expect(all(world, two, 0).failure).toBeUndefined();
  expect(all(world, two, 1).failure?.message).toContain('still waits, though its turn has come');
});

test('a patch must find its text once', () => {
  expect(patched('a  b; c;', { find: 'a b;', put: '$&' })).toBe('$& c;');
  expect(() => patched('a; a;', { find: 'a;', put: '' })).toThrow('2 times');
  expect(() => patched('b;', { find: 'a;', put: '' })).toThrow('0 times');
  for (const { patches } of Object.values(faults)) expect(libraryText(patches)).not.toBe(libraryText());
});

test('a thread that blocks where nobody can wake it is found', () => {
  const program: Program = {
    objects: [{ kind: 'Semaphore', n: 0, loose: true }],
    threads: [[{ on: 0, call: 'acquire', n: 1 }], []],
  };
  const { failure } = new World().run(program, new Uniform(1, 0));
  expect(failure?.message).toBe('thread 1 sleeps for ever');
});

test('a promise of the library that is rejected, and that nobody can handle, is a failure', async () => {
  const wanted = { seed: 1, runs: 2000, kinds: ['Mutex'] };
  const rejected = 'value.catch((error) => refuse(this.#mutex, error, this.reason))';
  const patches = [{ find: rejected, put: `(${rejected}, ${rejected})` }];
  const { found } = await search(patches, wanted);
  expect(found?.error.message).toBe('the library has rejected a promise that nobody handles');
  // The seed of the finding tells which run of the search failed. It makes the same run again.
  expect((await search(patches, { ...wanted, seed: found?.seed as number, runs: 1 })).found?.seed).toBe(found?.seed);
  expect((await search([], wanted)).found).toBeUndefined();
});
