/**
 * The search finds faults that are put into the core. With and without reduction it comes to the same ends. Its traces
 * can be replayed.
 */
import { describe, expect, it } from 'vitest';
import { allInCi, WHOLE } from '../../test/support/rounds.js';
import { mutants } from '../src/engine/mutation/mutate.js';
import { search } from '../src/engine/search/search.js';
import { compact, parse, render, replay, shorten } from '../src/engine/search/trace.js';
import { Violation } from '../src/engine/search/violation.js';
import { StateTable } from '../src/engine/search/visited-states.js';
import { B, C, CMPXCHG, IMM, LOAD, NOTIFY, OP_ACCESS, type Program, STORE, STRIDE } from '../src/engine/wasm/code.js';
import { models } from '../src/models/all.js';
import { modelOf } from '../src/models/parts/program.js';
import { loadProgram, programOf } from '../src/programs.js';
import { Driver } from '../src/scene/driver.js';
import { constant } from '../src/scene/layout.js';
import type { Model, Op } from '../src/scene/model.js';
import { call } from '../src/scene/ops/calls.js';

const core = loadProgram('core');

function model(name: string): Model {
  const found = models.find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`no model ${name}`);
  return found;
}

/** Returns the core with one access of a function changed: the last of this kind, and to `word` if it is given. */
function faulty(fn: string, kind: number, change: (image: Int32Array, pc: number) => void, word?: number): Program {
  const image = core.image.slice();
  const { entry, end } = core.functions.find(({ name }) => name === fn) as { entry: number; end: number };
  let pc = end - STRIDE;
  while (pc >= entry && !(image[pc] === OP_ACCESS + kind && (word === undefined || image[pc + IMM] === word))) {
    pc -= STRIDE;
  }
  if (pc < entry) throw new Error(`no such access in ${fn}`);
  change(image, pc);
  return { ...core, image };
}

/** Returns the core with the nth access of this kind to a word changed as `npm run mutants -w check` changes it. */
function mutated(fn: string, kind: string, word: number, nth: number, change: string): Program {
  const all = mutants(core).filter(
    ({ site, change: its }) =>
      site.fn === fn && site.kind === kind && its === change && core.image[site.pc + IMM] === word,
  );
  const mutant = all[nth - 1];
  if (mutant === undefined) throw new Error(`no such access in ${fn}`);
  return mutant.make();
}

/** The offset of a word of an object that is always 0. */
const NOTHING = constant('O_TIMEOUTS') + 8;
/** A word of an element that a waiter does not use. */
const NO_WORD_OF_A_WAITER = constant('E_PASSED');
const readsNothing = (image: Int32Array, pc: number): void => {
  image[pc + IMM] = NOTHING;
};
const onlyLoads = (image: Int32Array, pc: number): void => {
  image[pc] = OP_ACCESS + LOAD;
};

const GRANT = constant('GRANT');
interface Plant {
  readonly fault: string;
  /** The name of the model that finds the fault. */
  readonly in: string;
  /** Whether the model is too large to be searched without reduction. */
  readonly deep?: boolean;
  readonly program: Program;
  readonly shows?: RegExp;
}

const all: Plant[] = [
  {
    fault: 'the look at grant after entering dropped',
    in: '3x1',
    program: faulty('queue/lookAtGrant', LOAD, readsNothing, GRANT),
  },
  {
    fault: 'the wake-up dropped',
    in: 'release of 2',
    program: faulty('queue/endWait', NOTIFY, onlyLoads),
  },
  {
    fault: 'tryAcquire looks at another word than grant',
    in: 'try',
    program: faulty(
      'queue/tryAcquire',
      LOAD,
      (image, pc) => {
        image[pc + IMM] = constant('O_LIFE');
      },
      GRANT,
    ),
  },
  {
    fault: 'a waiter does not say that it takes its tickets back',
    in: 'cancel: heavy, and two in its place, one a promise',
    program: faulty(
      'queue/takeBack',
      STORE,
      (image, pc) => {
        image[pc + IMM] = NO_WORD_OF_A_WAITER;
      },
      constant('E_LEAVING'),
    ),
  },
  {
    fault: 'a thread writes its number beside an extent that another has raised meanwhile',
    in: 'lines of 1 come and go',
    deep: true,
    program: mutated('queue/wakeDue', 'cmpxchg', constant('B_EXTENT'), 1, 'loosened'),
  },
  {
    fault: 'an extent is lowered that a waiter has raised meanwhile',
    in: 'lines come and go',
    program: mutated('queue/wakeDue', 'cmpxchg', constant('B_EXTENT'), 2, 'loosened'),
  },
  {
    fault: 'an extent is lowered below a line in which a waiter stands',
    in: 'lines come and go',
    program: mutated('queue/wakeDue', 'load', constant('B_CELLS'), 2, 'zero'),
  },
  {
    fault: 'an extent is raised to what another has lowered meanwhile',
    in: 'lines of 1 come and go',
    program: mutated('waiting-array/enter', 'cmpxchg', constant('B_EXTENT'), 1, 'loosened'),
  },
  {
    fault: 'the seats of a dead thread stay as they are',
    in: 'rw lock: a reader dies',
    program: mutated('rw-lock-seats/clearSeats', 'store', 0, 1, 'dropped'),
    shows: /rw-lock-seats\/clearSeats/,
  },
  {
    fault: 'a record is freed without a new life',
    in: 'registry',
    // The changed cmpxchg writes the value of the store before it: 0, the life of a record that was never used.
    program: faulty('registry/unregister', CMPXCHG, (image, pc) => {
      image[pc + C] = image[pc - 2 * STRIDE + B];
    }),
    shows: /goes from 0x1 to 0x0/,
  },
];

/** The plant that is `deep` takes longer than all others together. Only `npm run test:whole` searches it. */
const plants = all.filter(({ deep }) => WHOLE || !deep);

describe.each(plants)('$fault', ({ in: name, program, deep = false, shows = /object0\.(ticket|grant)/ }) => {
  const make = (): Driver => new Driver(program, model(name));

  it.each(deep ? [true] : [true, false])('is found, reduction %s', (reduce) => {
    expect(search(make, { reduce }).violation).toBeDefined();
  });

  it('gives a trace that replays to the same finding', () => {
    const { violation } = shorten(make, search(make));
    const schedule = violation?.schedule ?? [];
    expect(parse(compact(schedule))).toEqual(schedule);
    expect(replay(make(), schedule)).toBe(violation?.message);
    expect(render(make(), schedule)).toMatch(shows);
  });
});

describe('reduced or not', () => {
  it.each(
    allInCi([
      '2x2',
      'release of 2',
      'promise',
      'promises of one',
      'dispose of one of two',
      'registry',
      'twa 1: 3x1 wrap, polling',
    ]),
  )('%s comes to its end, with fewer states at most', (name) => {
    const make = (): Driver => new Driver(programOf(model(name)), model(name));
    const reduced = search(make);
    const whole = search(make, { reduce: false });
    expect(reduced.exhaustive && whole.exhaustive).toBe(true);
    expect(reduced.states).toBeLessThanOrEqual(whole.states);
  });

  // The states that reduction leaves out lead to no other ends. The search finds each state in which no thread can go
  // on.
  it.each(
    allInCi([
      '2x2',
      '2x2 polling',
      '2x2 below 0',
      'release of 2',
      'try',
      'promise',
      'promises of one',
      'dispose of one of two',
      'registry',
      'registry, a thread is killed',
      'cancel: 2',
      'mutex: 2x1 polling',
      'mutex: die',
      'mutex: promise',
      'p0514: a lock, 2x2',
      'places: simple_lock, 3x1',
      'twa 1: 3x1 wrap, polling',
      'McsLock: 2x2',
      // In these models ends are lost if the search does not come back to reliances that have proved wrong.
      'references',
      'first registrations of two',
      'ClhLock: dispose',
      'LifoLock: disposed of by two',
    ]),
  )('%s comes to the same ends', (name) => {
    const make = (): Driver => new Driver(programOf(model(name)), model(name));
    for (const symmetry of [0, 1] as const) {
      const reduced = search(make, { symmetry });
      const whole = search(make, { symmetry, reduce: false });
      expect(whole.ends).toBeGreaterThan(0);
      expect(reduced.ends).toBe(whole.ends);
    }
  });
});

describe('threads that run the same program', () => {
  const both = (name: string, options: object) =>
    ([1, -1, 0] as const).map((symmetry) =>
      search(() => new Driver(programOf(model(name)), model(name)), { ...options, symmetry }),
    );

  // If anything but records and elements distinguished the threads, one order would come to other states.
  it.each(
    allInCi([
      '2x2',
      '2x2 polling',
      'release of 2',
      'promises of one',
      'event count: two await one value',
      'TwaLock 0: 3x1',
      'location: 2x2',
      'channel: release of 2, 2 buckets',
      'Capacitor: 2 lanes: yielding',
      'mutex: 2x1 polling',
      'places: simple_lock, 3x1',
    ]),
  )('%s: come to as many states in either order, and to no more than in any order', (name) => {
    const [up, down, any] = both(name, { reduce: false });
    expect(up.exhaustive && any.exhaustive).toBe(true);
    expect([down.states, down.steps]).toEqual([up.states, up.steps]);
    expect(up.states).toBeLessThanOrEqual(any.states);
  });

  it('begin in order, which makes fewer states', () => {
    const [up, , any] = both('location: 2x2', {});
    expect(up.states).toBeLessThan(0.7 * any.states);
  });

  it('begin in any order where a thread looks for a free element', () => {
    const [up, , any] = both('McsLock: no nodes at hand, 2', {});
    expect(up.states).toBe(any.states);
  });

  it.each(plants)('hide no fault: $fault', ({ in: name, program }) => {
    for (const symmetry of [1, -1, 0] as const)
      expect(search(() => new Driver(program, model(name)), { symmetry }).violation).toBeDefined();
  });
});

describe('what the search must not overlook', () => {
  it('a check in one thread of the words of another, after a local step', () => {
    let seen = 0;
    const looks = call(
      'generation',
      (scene) => [scene.semaphores[0]],
      (_answer, scene) => {
        seen++;
        if (scene.finished(1)) throw new Violation('the other was first');
      },
    );
    const one: Model = {
      name: 'a look',
      programs: [[looks], [call('maxOf', (scene) => [scene.semaphores[0]])]],
      objects: (scene) => void scene.semaphore({ permits: 1 }),
    };
    expect(search(() => new Driver(core, one)).violation?.message).toBe('the other was first');
    expect(seen).toBeGreaterThan(0);
  });

  it('a thread that goes round for ever, though it could be killed', () => {
    const forEver: Op = {
      text: 'for ever',
      next: (scene, t) => {
        scene.call(t, 'tryAcquire', scene.semaphores[0], 1);
        return false;
      },
    };
    const spins: Model = {
      name: 'spins',
      programs: [[forEver]],
      objects: (scene) => void scene.semaphore({ permits: 0 }),
      deaths: 1,
      mayWait: true,
    };
    expect(search(() => new Driver(core, spins)).violation?.message).toMatch(/no end can be reached/);
  });

  it('the last of many threads', () => {
    const threads = 10;
    let order = 0;
    const step = (t: number): Op =>
      call(
        'maxOf',
        (scene) => [scene.semaphores[0]],
        (_answer, scene) => {
          order++;
          if (t === threads - 1 && !scene.finished(0)) throw new Violation('the last was first');
        },
      );
    const many: Model = {
      name: 'many',
      programs: Array.from({ length: threads }, (_, t) => [step(t)]),
      arena: { elements: threads },
      objects: (scene) => void scene.semaphore({ permits: 1 }),
      deaths: 1,
    };
    expect(search(() => new Driver(core, many)).violation?.message).toBe('the last was first');
    expect(order).toBeGreaterThan(0);
  });

  it('a deadlock, unless the model may end with waiters', () => {
    const line = { name: 'one waits', program: 'A', permits: [0] };
    expect(search(() => new Driver(core, modelOf(line))).violation?.message).toMatch(/deadlock/);
    expect(search(() => new Driver(core, modelOf({ ...line, mayWait: true }))).exhaustive).toBe(true);
  });
});

describe('the table of states', () => {
  it('knows a state again, whatever number its hash is', () => {
    const table = new StateTable(2);
    const hashes = [1, -1, 2 ** 31, 2 ** 32 - 5, -(2 ** 31) - 3].flatMap((lo) => [
      [lo, 7],
      [7, lo],
      [lo, lo],
    ]);
    const numbers = hashes.map(([lo, hi]) => table.add(lo as number, hi as number));
    expect(numbers).toEqual(hashes.map((_, i) => i));
    expect(hashes.map(([lo, hi]) => table.add(lo as number, hi as number))).toEqual(numbers);
  });
});

describe('a bound', () => {
  it('makes a result bounded, not exhaustive', () => {
    const make = (): Driver => new Driver(core, model('3x1'));
    expect(search(make, { states: 100 }).exhaustive).toBe(false);
    expect(search(make, { preemptions: 1 }).exhaustive).toBe(false);
  });
});

it('finds an answer that a function does not declare', () => {
  const lock = core.exports.get('lock') as number;
  const answers = new Map(core.answers).set(lock, new Set([constant('ADMITTED')]));
  const two = model('mutex: 2x2');
  expect(search(() => new Driver({ ...core, answers }, two)).violation).toMatchObject({
    message: expect.stringContaining(`the undeclared answer ${constant('CONTENDED')}`),
  });
});
