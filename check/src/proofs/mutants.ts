/**
 * Faults that are put into the systems, one at a time. Of each, a check fails: so the proof says something about the
 * step. And a run shows that the fault is one, since it ends in the state that the claims exclude.
 */
import { capacitor } from './capacitor.js';
import type { Run, System } from './system.js';
import type { Term } from './terms.js';
import { isLost, waitingArray } from './waiting-array.js';

export interface Edit {
  /** The name of a step, or `first`: the first state. */
  readonly of: string;
  /** A part of a term of the step, or a whole value of the first state. */
  readonly find: Term;
  readonly put: Term;
}

export interface Mutant {
  readonly name: string;
  readonly system: System;
  readonly edits: readonly Edit[];
  /** The check that fails. */
  readonly fails: string;
  readonly run: Omit<Run, 'name'>;
}

type Values = Readonly<Record<string, Term>>;

const each = (values: Values, change: (value: Term) => Term): Values =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));

/** Returns the system with the fault. */
export function mutated({ name, system, edits }: Mutant): System {
  let result = system;
  for (const { of, find, put } of edits) {
    const before = result;
    const change = (term: Term) => term.replaceAll(find, put);
    result = {
      ...before,
      first: of === 'first' ? each(before.first, (value) => (value === find ? put : value)) : before.first,
      steps: before.steps.map((step) =>
        step.name === of ? { ...step, when: change(step.when), sets: each(step.sets, change) } : step,
      ),
    };
    if (JSON.stringify(result) === JSON.stringify(before))
      throw new Error(`${name}: '${find}' is not in '${of}' of the ${system.name}`);
  }
  return result;
}

const take = ['take a ticket'] as const;
const lock = (k: number) => ['get the lock', { k: `${k}` }] as const;
const leave = (k: number) => ['count a departure', { k: `${k}` }] as const;
const complete = (k: number) => ['take a platoon off the count', { k: `${k}` }] as const;
const give = (k: number, permits: number) => ['give permits', { k: `${k}`, permits: `${permits}` }] as const;

const TOO_OFTEN = '(>= overtaken B)';

const ofCapacitor: readonly Mutant[] = [
  {
    name: 'the semaphore begins with a permit too many',
    system: capacitor,
    edits: [{ of: 'first', find: 'B', put: '(+ B 1)' }],
    fails: 'the first state',
    run: { constants: { B: '1', watched: '0' }, steps: [take, take, lock(1)], shows: TOO_OFTEN },
  },
  {
    name: 'the last of a platoon gives a permit too many',
    system: capacitor,
    edits: [{ of: 'take a platoon off the count', find: '(store owes k B)', put: '(store owes k (+ B 1))' }],
    fails: 'step: take a platoon off the count',
    run: {
      constants: { B: '1', watched: '1' },
      steps: [take, lock(0), leave(0), complete(0), give(0, 2), take, take, lock(2)],
      shows: TOO_OFTEN,
    },
  },
  {
    name: 'a platoon ends with its last thread but one',
    system: capacitor,
    edits: [{ of: 'count a departure', find: '(>= (+ departed 1) B)', put: '(>= (+ departed 1) (- B 1))' }],
    fails: 'step: count a departure',
    run: {
      constants: { B: '2', watched: '0' },
      steps: [take, take, lock(1), leave(1), complete(1), give(1, 2), take, lock(2)],
      shows: TOO_OFTEN,
    },
  },
  {
    name: 'each thread gives its own permit back, as with a plain semaphore',
    system: capacitor,
    edits: [
      { of: 'count a departure', find: '(>= (+ departed 1) B)', put: 'true' },
      { of: 'take a platoon off the count', find: '(- departed B)', put: '(- departed 1)' },
      { of: 'take a platoon off the count', find: '(store owes k B)', put: '(store owes k 1)' },
    ],
    fails: 'step: count a departure',
    run: {
      constants: { B: '2', watched: '0' },
      steps: [take, take, lock(1), leave(1), complete(1), give(1, 1), take, lock(2)],
      shows: TOO_OFTEN,
    },
  },
  {
    name: 'a thread comes in when grant is at its ticket, and not above it',
    system: capacitor,
    edits: [{ of: 'get the lock', find: '(< k grant)', put: '(<= k grant)' }],
    fails: 'step: get the lock',
    run: { constants: { B: '1', watched: '0' }, steps: [take, take, lock(1)], shows: TOO_OFTEN },
  },
];

const take0 = ['a thread takes a ticket'] as const;
const looksFirst = ['the waiter looks for the first time'] as const;
const reads = ['the waiter reads the sequence'] as const;
const looks = ['the waiter looks at grant'] as const;
const counts = ['the waiter counts itself'] as const;
const looksAgain = ['the near waiter looks again'] as const;
const waits = ['the waiter waits'] as const;
const moves = ['a release moves grant', { n: '1' }] as const;
const readsTicket = ['a release reads ticket', { p: '0', seen: '1' }] as const;
const asksParked = ['a release looks whether a due ticket is parked', { p: '0', elsewhere: 'false' }] as const;
const endsOne = ['a release ends the first row', { p: '0' }] as const;
const endsTwo = ['a release ends the second row', { p: '0' }] as const;
const pokes = ['a release moves the sequence', { p: '0' }] as const;
const readsParked = (p: string) => ['somebody who pokes reads parked', { p, elsewhere: 'false' }] as const;
const notifies = ['somebody who pokes notifies', { p: '0' }] as const;

/** One waiter and one release of a semaphore without permits. With a threshold of 0 the waiter is far, else it is near. */
const scene = (threshold: number) => ({
  permits: '0',
  threshold: `${threshold}`,
  slots: '2048',
  forever: 'false',
  watched: '0',
});
/** A release that finds nobody in the first row, and no ticket in the second one. */
const findsNobody = [moves, readsTicket, asksParked, endsOne, endsTwo] as const;

const ofWaitingArray: readonly Mutant[] = [
  {
    name: 'a release does not notify',
    system: waitingArray,
    edits: [{ of: 'somebody who pokes notifies', find: ' Leaves ', put: ' waiter ' }],
    fails: 'step: somebody who pokes notifies',
    run: {
      constants: scene(0),
      steps: [
        ...[take0, looksFirst, reads, looks, counts, waits],
        ...[moves, readsTicket, endsOne, pokes, readsParked('0'), notifies, endsTwo],
      ],
      shows: isLost,
    },
  },
  {
    name: 'the threshold is compared the wrong way',
    system: waitingArray,
    edits: [
      {
        of: 'the waiter looks at grant',
        find: '(<= grant (- watched threshold))',
        put: '(>= grant (- watched threshold))',
      },
    ],
    fails: 'step: the waiter looks at grant',
    run: {
      constants: scene(1),
      steps: [take0, looksFirst, reads, looks, ...findsNobody, counts, waits],
      shows: isLost,
    },
  },
  {
    name: 'a near waiter does not look again after it has counted itself',
    system: waitingArray,
    edits: [{ of: 'the waiter counts itself', find: '(ite far Waits LooksAgain)', put: 'Waits' }],
    fails: 'step: the waiter counts itself',
    run: {
      constants: scene(1),
      steps: [take0, looksFirst, reads, looks, ...findsNobody, counts, waits],
      shows: isLost,
    },
  },
  {
    name: 'the waiter looks at grant before it reads the sequence',
    system: waitingArray,
    edits: [
      { of: 'the waiter looks for the first time', find: 'ReadsSequence', put: 'Looks' },
      { of: 'the waiter looks at grant', find: ' Decides)', put: ' ReadsSequence)' },
      { of: 'the waiter reads the sequence', find: 'Looks', put: 'Decides' },
      { of: 'the waiter takes itself off the count', find: 'ReadsSequence', put: 'Looks' },
    ],
    fails: 'step: the waiter reads the sequence',
    run: {
      constants: scene(0),
      steps: [
        ...[take0, looksFirst, looks],
        ...[moves, readsTicket, endsOne, pokes, readsParked('0'), endsTwo],
        ...[reads, counts, waits],
      ],
      shows: isLost,
    },
  },
  {
    name: 'a release compares ticket with the new grant',
    system: waitingArray,
    edits: [{ of: 'a release reads ticket', find: '(> seen p)', put: '(> seen (+ p (select given p)))' }],
    fails: 'step: a release reads ticket',
    run: {
      constants: scene(0),
      steps: [take0, looksFirst, reads, looks, counts, waits, moves, readsTicket],
      shows: isLost,
    },
  },
  {
    // What it has read is then at most what ticket is now.
    name: 'a release reads ticket before it moves grant',
    system: waitingArray,
    edits: [{ of: 'a release reads ticket', find: '(>= seen ticket)', put: '(<= seen ticket)' }],
    fails: 'step: a release reads ticket',
    run: {
      constants: scene(0),
      steps: [
        ...[take0, looksFirst, reads, looks, counts, waits],
        ...[moves, ['a release reads ticket', { p: '0', seen: '0' }] as const],
      ],
      shows: isLost,
    },
  },
  {
    name: 'a release leaves the first row out',
    system: waitingArray,
    edits: [{ of: 'a release reads ticket', find: '(ite forever', put: '(ite true' }],
    fails: 'step: a release reads ticket',
    run: {
      constants: scene(1),
      steps: [take0, looksFirst, reads, looks, counts, looksAgain, waits, moves, readsTicket, endsTwo],
      shows: isLost,
    },
  },
  {
    name: 'the second row begins a ticket too late',
    system: waitingArray,
    edits: [{ of: 'a release ends the first row', find: '(+ p threshold)', put: '(+ p threshold 1)' }],
    fails: 'step: a release ends the first row',
    run: {
      constants: scene(0),
      steps: [take0, looksFirst, reads, looks, counts, waits, moves, readsTicket, endsOne, endsTwo],
      shows: isLost,
    },
  },
  {
    name: 'whoever closes the semaphore does not move the sequence',
    system: waitingArray,
    edits: [{ of: 'the thread that has closed it moves the sequence', find: '(+ sequence 1)', put: 'sequence' }],
    fails: 'step: the thread that has closed it moves the sequence',
    run: {
      constants: scene(0),
      steps: [
        ...[take0, looksFirst, reads, looks],
        ['a thread closes the semaphore'],
        ['the thread that has closed it moves the sequence', { p: '(- 1)' }],
        readsParked('(- 1)'),
        ...[counts, waits],
      ],
      shows: isLost,
    },
  },
];

export const mutants: readonly Mutant[] = [...ofCapacitor, ...ofWaitingArray];

/** Runs of the systems without a fault. Together they take each step, so no step is impossible. */
export const runs: readonly { readonly system: System; readonly run: Run }[] = [
  {
    system: capacitor,
    run: {
      name: 'a thread is overtaken B - 1 times, and the next platoon comes in',
      constants: { B: '3', watched: '0' },
      steps: [
        ...[take, take, take, take, lock(1), lock(2), lock(0), leave(0), leave(1), leave(2)],
        ...[complete(2), give(2, 1), lock(3), give(2, 2)],
      ],
      shows: '(and (= overtaken (- B 1)) (= grant 6))',
    },
  },
  {
    system: waitingArray,
    run: {
      name: 'a far waiter sleeps and is woken',
      constants: scene(0),
      steps: [
        ...[take0, looksFirst, reads, looks, ['the far waiter polls'] as const, counts, waits],
        ...[moves, readsTicket, endsOne, pokes, readsParked('0'), notifies, endsTwo],
        ...[['the waiter takes itself off the count'] as const, reads, looks],
      ],
      shows: '(= waiter Ended)',
    },
  },
  {
    system: waitingArray,
    run: {
      name: 'a near waiter sleeps and is woken',
      constants: scene(1),
      steps: [
        ...[take0, looksFirst, reads, looks, ['the near waiter polls'] as const, looks, counts, looksAgain, waits],
        ...[moves, readsTicket, asksParked, pokes, readsParked('0'), notifies, endsOne, endsTwo],
        ...[['the waiter takes itself off the count'] as const, reads, looks],
      ],
      shows: '(= waiter Ended)',
    },
  },
  {
    system: waitingArray,
    run: {
      name: 'a waiter wakes for no reason, is poked by somebody else, and is woken by the close',
      constants: scene(0),
      steps: [
        ...[take0, looksFirst, reads, looks, ['another waiter counts itself'] as const, counts, waits],
        ['the waiter wakes for no reason'],
        ['the waiter takes itself off the count'],
        ...[['another waiter takes itself off the count'] as const, reads, looks, counts],
        ['somebody else moves the sequence', { p: '(- 2)' }],
        ...[waits, ['the waiter takes itself off the count'] as const, reads, looks, counts, waits],
        ['a thread closes the semaphore'],
        ['the thread that has closed it moves the sequence', { p: '(- 1)' }],
        readsParked('(- 1)'),
        ['somebody who pokes notifies', { p: '(- 1)' }],
        ...[['the waiter takes itself off the count'] as const, reads, looks],
      ],
      shows: '(= waiter Ended)',
    },
  },
];
