/** Models of the library's Semaphore, and of its promises. */
import type { Model } from '../scene/model.js';
import { type Line, modelOf, three, WRAP } from './parts/program.js';

const mixed = 'A R A2 R | A R A2 R | A2 R A R';

const semaphore: readonly Line[] = [
  { name: '2x2', program: 'A R A R | A R A R', permits: [1] },
  { name: '3x1', program: 'A R | A R | A R', permits: [1] },
  { name: '3x2', long: true, program: three, permits: [1] },
  { name: '3x2 2 buckets', long: true, program: three, permits: [1], buckets: 2 },
  { name: '3x2 2 permits', long: true, program: three, permits: [2] },
  { name: '3x2 2 permits 2 buckets', long: true, program: three, permits: [2], buckets: 2 },
  { name: '3x2 mixed', long: true, program: mixed, permits: [2] },
  { name: '3x2 mixed 2 buckets', long: true, program: mixed, permits: [2], buckets: 2 },
  { name: '3x2 wrap', long: true, program: three, permits: [1], buckets: 2, first: WRAP },
  { name: '3x1 polling', program: 'A R | A R | A R', permits: [1], spin: 2 },
  // Waiters poll for as long as polling pays, and are woken early (core/queue/polling.ts). A period of vain polls
  // begins with a trial. The four counts are the first and the last count of a trial, and the first and the last count
  // of the rest of the period.
  ...[0, 127, 128, 511].flatMap((vain): Line[] => {
    const line = (name: string, program: string, rest: Partial<Line> = {}): Line => ({
      name: `awake, ${vain} in vain: ${name}`,
      program,
      permits: [1],
      awake: { pauses: vain === 0 ? 4 : 16 >> (vain < 128 ? 3 : 0), vain },
      ...rest,
    });
    return [
      line('2x2', 'A R A R | A R A R'),
      line('3x1', 'A R | A R | A R', { buckets: 2 }),
      line('3x1 timed', 'B R | A R | B R', { long: true }),
      line('heavy', 'A2 R | A R | A2 R', { permits: [2], long: true }),
      // The two tickets of the heavy request are ahead of the light request. So the light request polls its element,
      // and not grant.
      line('light behind heavy', 'A2 | A | V3', { permits: [0], mayWait: true, long: vain > 127 }),
      line('light behind heavy, dispose', 'A2 | A | D', { permits: [0], long: vain > 0 }),
      line('a promise between', 'A R | a1 d | A R', { long: true }),
      line('dispose', 'A R | A R | D', {}),
      line('die', 'A R | A R | S', { mortal: [0, 1], mayWait: true }),
      line('die, of three', 'A R | A R | A R | S', { mortal: [0], mayWait: true, long: true }),
      line('undead', 'A R | A R | S', { mortal: [0, 1], undead: true, mayWait: true }),
    ];
  }),
  { name: '4x1', long: true, program: 'A R | A R | A R | A R', permits: [1], buckets: 2 },
  { name: '4x1 2 permits', long: true, program: 'A R | A R | A R | A R', permits: [2], buckets: 2 },
  { name: 'two semaphores', program: "A R A' R' | A' R' A R | A R", permits: [1, 1] },
  { name: 'heavy head', program: 'A3 R | A R | V | V', permits: [0], buckets: 2, mayWait: true },
  { name: 'heavy middle', long: true, program: 'A R | A2 R | A R | V', permits: [1], buckets: 2 },
  { name: 'release of 2', program: 'A | A | V2', permits: [0], buckets: 2 },
  { name: 'release of 3', program: 'A | A2 | V3', permits: [0], buckets: 2 },
  { name: 'two releasing threads', program: 'A | A | V | V', permits: [0], buckets: 2 },
  { name: 'try', program: 'A R | Y R | A R', permits: [1] },
  { name: 'try heavy', program: 'A2 R | Y R Y R | A R', permits: [2] },
  { name: 'try 2 heavy', program: 'A2 R | Y2 R Y R | A R', permits: [2], buckets: 2 },
  { name: 'dispose', program: 'A R | A R | D', permits: [1] },
  { name: 'dispose 3', long: true, program: 'A R | A R | A R | D', permits: [1] },
  {
    name: 'a thread is killed',
    long: true,
    program: 'A | A R | A R | V',
    permits: [1],
    mayWait: true,
    mortal: [0],
  },
  { name: 'dispose, a heavy waiter', program: 'A2 | D', permits: [1], buckets: 2 },
  { name: 'disposed of by two', program: 'A R | D | D', permits: [1] },
  { name: 'dispose of one of two', program: "A' R' | A' R' | D", permits: [1, 1] },
  { name: 'dispose heavy', long: true, program: 'A2 R | A R | D | V', permits: [1], buckets: 2 },
  { name: 'overflow', program: 'A R | A R | A R', permits: [1], cells: 1, extra: 8 },
  { name: 'lines come and go', program: 'A R | A R | A R', permits: [1], cells: 0, extra: 8 },
  { name: 'lines come and go, two release', program: 'A | A | V1 | V1', permits: [0], cells: 0, extra: 8 },
  { name: 'lines of 1 come and go', program: 'A R A R | A R | A R', permits: [1], cells: 0, linesCells: 1, extra: 8 },
  { name: 'overflow 3', long: true, program: 'A | A | A | V3', permits: [0], cells: 1, extra: 8 },
  { name: 'common lines', program: 'A R | A R | A R', permits: [1], cells: 1 },
  { name: 'promise', program: 'a1 d | A R', permits: [1] },
  { name: 'promises', program: 'a1 d | a1 d | A R', permits: [1] },
  { name: 'promises of one', program: 'a1 a1 d | A R', permits: [1] },
  { name: 'promises of one, 3', program: 'a1 a1 d | A R A R', permits: [1], buckets: 2 },
  { name: 'promise heavy', program: 'a2 d | A R | A R', permits: [2], buckets: 2 },
  { name: 'promises heavy', program: 'a1 a2 d | A R | V', permits: [1], buckets: 2 },
  { name: 'promise and own acquire', program: 'A a1 R d | A R', permits: [1] },
  { name: 'promises 3', program: 'a1 d | a1 d | a1 d', permits: [1] },
  { name: 'runs', program: 'a1 a1 d | a1 a1 d', permits: [1] },
  { name: 'runs, a stranger between', program: 'a1 a1 a1 d | A R A R', permits: [1] },
  { name: 'run and releasing threads', program: 'a1 a1 a1 d | V2 | V', permits: [0], buckets: 2 },
  // The thread itself settles the first promise of a run that is in the array. The other thread makes the second due.
  { name: 'a run that enters again', program: 'a1 a1 e V k | V', permits: [0] },
  { name: 'runs of other widths', program: 'a1 a2 a1 d | A R', permits: [2], buckets: 2 },
  { name: 'runs wrap', program: 'a1 a1 d | A R A R', permits: [1], first: WRAP },
  { name: 'promise and try', program: 'a1 d | Y R Y R | A R', permits: [1] },
  { name: 'run dispose', program: 'a1 a1 d | A R | D', permits: [1] },
  { name: 'promise dispose', program: 'a1 d | A R | D', permits: [1] },
  { name: '2x2 below 0', program: 'A R A R | A R A R', permits: [1], first: -4n },
  { name: '2x2 polling', program: 'A R A R | A R A R', permits: [1], spin: 1, first: -4n },
  { name: '2x1 polling below 0', program: 'A R | A R', permits: [1], spin: 1, first: -4n },
  { name: 'promises in overflow lines', program: 'a1 e V2 d | a1 d', permits: [0], cells: 0, extra: 8 },
  {
    name: 'runs, a cell that is taken again',
    program: 'a1 a1 e V V d | a1 e d',
    permits: [0],
    mayWait: true,
  },
  { name: '1x3', program: 'A A A | V V V', permits: [0] },
  { name: 'heavy waiter', program: 'A2 | V2', permits: [0], buckets: 4 },
  { name: 'heavy waiters, one release', program: 'A2 | A3 | V5', permits: [0], buckets: 4 },
  {
    name: 'heavy, light and heavy, one release',
    long: true,
    program: 'A2 | A | A2 | V5',
    permits: [0],
    buckets: 4,
  },
  {
    name: 'heavier than the buckets, and two behind',
    long: true,
    program: 'A3 | A | A | V5',
    permits: [0],
    buckets: 2,
  },
  {
    name: 'two in overflow lines',
    program: 'A2 | A',
    permits: [0],
    buckets: 4,
    cells: 0,
    extra: 13,
    mayWait: true,
  },
  { name: 'try of 2', program: 'A R | Y R Y R', permits: [1], first: -4n },
  { name: 'dispose of 2', program: 'A R | D', permits: [0], first: -(2n ** 62n) },
  { name: 'overflow of 2', program: 'A | A | V2', permits: [0], cells: 0, extra: 8 },
  { name: 'common lines of 2', program: 'A R | A R', permits: [1], cells: 0 },
  { name: 'promises below 0', program: 'a1 a1 d | A R', permits: [1], first: -4n },
  { name: 'promise, few elements', program: 'a1 d', permits: [1], extra: -1 },
  { name: 'promises, few elements', program: 'a1 a1 a1 d | V3', permits: [0], extra: -1 },
  { name: 'promises of two widths', program: 'a1 a2 a1 d | V4', permits: [0], buckets: 2 },
  { name: 'promises one by one', program: 'a1 d a1 d A R | A R A R', permits: [1] },
  { name: 'own promise and a stranger', program: 'a1 V2 d | A', permits: [0], buckets: 2, first: -4n },
  { name: 'heavy promise behind a waiter', program: 'A | a2 d | V2 V', permits: [0], buckets: 4 },
  { name: "2x2 polling in another's cell", program: 'A A | A | V V2', permits: [0], spin: 1 },
  { name: 'lines of 2', program: 'A | A | V2', permits: [0], cells: 0, linesCells: 0, extra: 12 },
  { name: 'promise behind a waiter', program: 'A | a1 d | V V', permits: [0], buckets: 2 },
  { name: 'an overflow line, again', program: 'a1 e V d a2 e V d', permits: [0], buckets: 1, cells: 0, extra: 16 },
  { name: 'heavy run', program: 'a2 a2 d | V2', permits: [0], buckets: 2 },
  { name: 'heavy run, 4 buckets', program: 'a2 a2 d | V2 V2', permits: [0], buckets: 4 },
  { name: 'promises dispose', program: 'a2 a1 d | D', permits: [0], buckets: 2 },
];

/**
 * Models of `drain`, `reduce` and `add`. `drain` takes the permits that are free. `reduce` takes tickets for which no
 * request stands, so later requests wait until these tickets have been granted. `add` makes permits.
 */
const changing: readonly Line[] = [
  { name: 'drain: two', program: 'F2 R | F2 R', permits: [2] },
  { name: 'drain: a release meanwhile', program: 'F R | V | A R', permits: [1] },
  { name: 'drain: behind a waiter', program: 'A2 R | F R | V', permits: [1], buckets: 2 },
  { name: 'drain: none, a waiter', program: 'A R | F R F R | A R', permits: [1] },
  { name: 'drain: dispose', program: 'F R | A R | D', permits: [1] },
  { name: 'drain: none, behind what is taken away', program: 'M F R P F R | A R', permits: [1] },
  { name: 'drain: wrap', program: 'F2 R F2 R | F2 R', permits: [2], first: WRAP },
  { name: 'drain: below 0', program: 'F2 R F2 R | F2 R', permits: [2], first: -4n },
  { name: 'drain: robust', program: 'A F R | F R | A R', permits: [2], robust: true },
  { name: 'drain: robust, holds already', program: 'A F R | V', permits: [2], robust: true },
  { name: 'drain: robust, die', program: 'F R | A R | S', permits: [2], mortal: [0], robust: true },
  { name: 'reduce: what is free', program: 'A R | M | A R', permits: [2] },
  { name: 'reduce: behind the waiters', program: 'A R | A R | M', permits: [1], mayWait: true },
  { name: 'reduce and add', program: 'A R | A R | M P', permits: [1] },
  { name: 'reduce and add, 2 buckets', program: 'A R | A R | M P', permits: [1], buckets: 2 },
  { name: 'reduce and add, two threads', program: 'A R | M | P', permits: [1] },
  { name: 'reduce and add, heavy', program: 'A2 R | M2 P2 | A R', permits: [2], buckets: 2 },
  { name: 'reduce and add, in parts', program: 'A2 | M2 P P | V', permits: [1], buckets: 2 },
  { name: 'reduce and add, timed', program: 'B R | A R | M P', permits: [1], long: true },
  { name: 'reduce and add, a timed request behind', program: 'M B R | V | P', permits: [0], buckets: 2 },
  { name: 'reduce and add, a tombstone on each side', program: 'B | M B P | V2', permits: [0], long: true },
  { name: 'reduce and add, try', program: 'Y R | A R | M P', permits: [1] },
  { name: 'reduce and add, promise', program: 'a1 d | A R | M P', permits: [1] },
  { name: 'reduce and add, own promises', program: 'a1 M a1 P d | A R', permits: [1] },
  { name: 'reduce and add, own promises made due', program: 'M a1 a1 P3 d | A', permits: [0], buckets: 2 },
  { name: 'reduce and add, polling', program: 'A R | A R | M P', permits: [1], spin: 1 },
  { name: 'reduce and add, wrap', program: 'A R | A R | M P', permits: [1], first: WRAP },
  { name: 'reduce and add, below 0', program: 'A R | A R | M P', permits: [1], first: -4n },
  { name: 'reduce and add, awake', program: 'A R | A R | M P', permits: [1], awake: { pauses: 4, vain: 0 } },
  { name: 'reduce: dispose', program: 'A R | M | D', permits: [1] },
  { name: 'add: dispose', program: 'A R | P | D', permits: [0] },
  { name: 'reduce and add, robust', program: 'A R | M P | A R', permits: [1], robust: true },
  { name: 'reduce and add, robust promises', program: 'M a1 P2 d R | A R', permits: [0], robust: true },
  { name: 'reduce and add, robust, die', program: 'A R | M P | S', permits: [1], mortal: [0], robust: true },
  { name: 'reduce, die', program: 'M | A R | P | S', permits: [1], mortal: [0], mayWait: true },
  { name: 'add, die', program: 'P | A R | S', permits: [0], mortal: [0], mayWait: true },
];

/** Models of semaphores with a max: a release looks first whether there is room. */
const bounded: readonly Line[] = [
  { name: 'max: 2x2', program: 'A R A R | A R A R', permits: [1], max: 1 },
  // The other thread takes a later ticket and gives it back, while the first looks for room.
  { name: 'max: the other comes again', program: 'A R | A R A R', permits: [2], max: 2 },
  { name: 'max: heavy', program: 'A2 R | A R | A2 R', permits: [2], max: 2, buckets: 2 },
  { name: 'max: wrap', program: 'A2 R A R | A R', permits: [2], max: 2, first: WRAP },
  { name: 'max: promise', program: 'a1 d | A R A R', permits: [1], max: 1 },
  { name: 'max: dispose', program: 'A R | A R | D', permits: [1], max: 1 },
  { name: 'max: permits that may be too many', program: 'V | V2 | A', permits: [0], max: 2 },
];

/**
 * Models of robust semaphores. The arena records the permits that a thread holds of such a semaphore. If the thread
 * acquires again, the new permits are added to the record.
 */
const robust: readonly Line[] = [
  { name: 'robust: 2 below 0', program: 'A R A R | A R A R', permits: [1], first: -4n },
  { name: 'robust: try of 2 below 0', program: 'A R | Y R Y R', permits: [1], first: -4n },
  { name: 'robust: acquires again', program: 'A A R | V', permits: [1] },
  { name: 'robust: acquires again, in time', program: 'A B R | V', permits: [1] },
  { name: 'robust: tries again', program: 'A Y R', permits: [2] },
  { name: 'robust: a promise behind its own', program: 'A a1 d R', permits: [2] },
  { name: 'robust: a promise that waits behind its own', program: 'A a1 d R | V', permits: [1] },
  { name: 'robust: promises behind its own', program: 'A a1 a1 d R | V', permits: [1] },
  { name: 'robust: promises behind its own, posted at once', program: 'A a1 a1 d R | V2', permits: [1] },
  { name: 'robust: dispose', program: 'A R | D', permits: [0] },
  { name: 'robust: elements used before', program: 'A a1 B R d | V2', permits: [1], aged: true },
].map((line) => ({ ...line, robust: true }));

export const models: readonly Model[] = [...semaphore, ...changing, ...bounded, ...robust].map(modelOf);
