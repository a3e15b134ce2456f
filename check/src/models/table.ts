/**
 * The table of models. To add one for what is there already, add a line; for a new primitive, add its ops to
 * scene/ops.ts first (docs/checking.md).
 */
import type { Model } from '../scene/scene.js';
import { allocator } from './allocator.js';
import { answers } from './answers.js';
import { interrupted } from './interrupted.js';
import { names } from './names.js';
import { type Line, modelOf } from './program.js';
import { tenants } from './tenants.js';
import { tombstones } from './tombstones.js';

const three = 'A R A R | A R A R | A R A R';
const mixed = 'A R A2 R | A2 R A R | A R A R';
/** The ticket at which the low half of a counter wraps, in the middle of the model. */
const WRAP = 2n ** 32n - 2n;

const semaphore: Line[] = [
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
  { name: '4x1', long: true, program: 'A R | A R | A R | A R', permits: [1], buckets: 2 },
  { name: '4x1 2 permits', long: true, program: 'A R | A R | A R | A R', permits: [2], buckets: 2 },
  { name: 'two semaphores', program: "A R A' R' | A' R' A R | A R", permits: [1, 1] },
  { name: 'heavy head', program: 'A3 R | A R | V | V', permits: [0], buckets: 2, mayWait: true },
  { name: 'heavy middle', long: true, program: 'A R | A2 R | A R | V', permits: [1], buckets: 2 },
  { name: 'release of 2', program: 'A | A | V2', permits: [0], buckets: 2 },
  { name: 'release of 3', program: 'A | A2 | V3', permits: [0], buckets: 2 },
  { name: 'two posters', program: 'A | A | V | V', permits: [0], buckets: 2 },
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
  { name: 'disposed of by two', program: 'A R | D | D', permits: [1] },
  { name: 'dispose of one of two', program: "A' R' | A' R' | D", permits: [1, 1] },
  { name: 'dispose heavy', long: true, program: 'A2 R | A R | D | V', permits: [1], buckets: 2 },
  { name: 'overflow', program: 'A R | A R | A R', permits: [1], cells: 1, extra: 8 },
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
  { name: 'run and posters', program: 'a1 a1 a1 d | V2 | V', permits: [0], buckets: 2 },
  { name: 'runs of other widths', program: 'a1 a2 a1 d | A R', permits: [2], buckets: 2 },
  { name: 'runs wrap', program: 'a1 a1 d | A R A R', permits: [1], first: WRAP },
  { name: 'promise and try', program: 'a1 d | Y R Y R | A R', permits: [1] },
  { name: 'run dispose', program: 'a1 a1 d | A R | D', permits: [1] },
  { name: 'promise dispose', program: 'a1 d | A R | D', permits: [1] },
  { name: '2x2 below 0', program: 'A R A R | A R A R', permits: [1], first: -4n },
  { name: '2x2 polling', program: 'A R A R | A R A R', permits: [1], spin: 1, first: -4n },
  { name: '1x3', program: 'A A A | V V V', permits: [0] },
  { name: 'heavy waiter', program: 'A2 | V2', permits: [0], buckets: 4 },
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
  { name: 'lines of 2', program: 'A | A | V2', permits: [0], cells: 0, fullLines: true, extra: 12 },
  { name: 'promise behind a waiter', program: 'A | a1 d | V V', permits: [0], buckets: 2 },
  { name: 'heavy run', program: 'a2 a2 d | V2', permits: [0], buckets: 2 },
  { name: 'promises dispose', program: 'a2 a1 d | D', permits: [0], buckets: 2 },
];

const givingUp: Line[] = [
  { name: 'give up: 2', program: 'B R | B R', permits: [1] },
  { name: 'give up: 3', long: true, program: 'B R | B R | B R', permits: [1] },
  { name: 'give up: 3, 2 buckets', program: 'B R | B R | B R', permits: [1], buckets: 2 },
  { name: 'give up: of 2, a release of 1', program: 'B R | B R | V', permits: [0] },
  { name: 'give up: of 2, a release of 2', program: 'B R | B R | V2', permits: [0] },
  { name: 'give up: of 2, two releases', long: true, program: 'B | B | V | V', permits: [0], buckets: 2 },
  {
    name: 'give up: of 2 with one behind, a release of 1',
    long: true,
    program: 'B | B | a1 V d',
    permits: [0],
    buckets: 2,
    mayWait: true,
  },
  {
    name: 'give up: of 2 with one behind, a release of 2',
    long: true,
    program: 'B | B | a1 V2 d',
    permits: [0],
    buckets: 2,
    mayWait: true,
  },
  {
    name: 'give up: of 3, a release of 2',
    long: true,
    program: 'B | B | B V2',
    permits: [0],
    buckets: 2,
    mayWait: true,
  },
  { name: 'give up: heavy head, partly granted', program: 'B3 R | A R | V | V', permits: [0], buckets: 2 },
  {
    name: 'give up: heavy head, two behind',
    long: true,
    program: 'B3 R | A R | A R | V2',
    permits: [0],
    buckets: 2,
  },
  { name: 'give up: heavy middle', program: 'A R | B2 R | A R', permits: [1], buckets: 2 },
  { name: 'give up: heavy and light', program: 'A R | B2 R | B R', permits: [2], buckets: 2 },
  { name: 'give up: an element used again', long: true, program: 'B R A R | B R | A R', permits: [1] },
  { name: 'give up: twice', long: true, program: 'B R B R | A R | A R', permits: [1] },
  { name: 'give up: no element left', program: 'B R | B R | A R', permits: [1], extra: 0 },
  { name: 'give up: woken for no reason', program: 'W R | A R | W R', permits: [1] },
  { name: 'give up: try', program: 'A R | Y R | B R', permits: [1] },
  { name: 'give up: try heavy', program: 'B2 R | Y2 R Y R | A R', permits: [2], buckets: 2 },
  { name: 'give up: dispose', program: 'A R | B R | D', permits: [1] },
  { name: 'give up: overflow', program: 'B R | A R | A R', permits: [1], cells: 1, extra: 8 },
  { name: 'give up: a promise', program: 't1 x d | A R', permits: [1] },
  { name: 'give up: a promise of 3', program: 't1 x d | A R | A R', permits: [1], buckets: 2 },
  { name: 'give up: a promise among others', program: 'a1 t1 a1 x d | A R', permits: [1], buckets: 2 },
  { name: 'give up: a heavy promise', program: 't3 x d | A R | V | V', permits: [0], buckets: 2 },
  { name: 'give up: a promise behind its own', program: 't1 a1 x d | V | V', permits: [0] },
  { name: 'give up: a thread behind its promise', program: 'a1 B R d | A R', permits: [1] },
  { name: 'give up: promises of two', program: 't1 x d | t1 x d | V', permits: [0] },
  { name: 'give up: a promise, dispose', program: 't1 x d | A R | D', permits: [1] },
  { name: 'give up: wrap', program: 'B R | B R | B R', permits: [1], first: WRAP, buckets: 2 },
];

const listings: Line[] = (['ticket', 'twa', 'conservative'] as const).flatMap((kind) => {
  const thresholds = kind === 'ticket' ? [0] : [0, 1, 2];
  return thresholds.flatMap((threshold): Line[] => {
    const name = (text: string): string => `${kind}${kind === 'ticket' ? '' : ` ${threshold}`}: ${text}`;
    return [
      { name: name('3x2'), long: true, program: three, permits: [1], kind, threshold },
      { name: name('3x2 2 permits'), long: true, program: three, permits: [2], kind, threshold, buckets: 2 },
      { name: name('4x1'), long: true, program: 'A R | A R | A R | A R', permits: [1], kind, threshold },
      {
        name: name('3x1 wrap, polling'),
        program: 'A R | A R | A R',
        permits: [1],
        kind,
        threshold,
        spin: 1,
        first: WRAP,
        buckets: 2,
      },
      {
        name: name('two semaphores'),
        program: "A R | A' R' | A R | A' R'",
        permits: [1, 1],
        kind,
        threshold,
      },
      { name: name('dispose'), program: 'A R | A R | D', permits: [1], kind, threshold },
      { name: name('dispose of waiters'), program: 'A | A | D', permits: [0], kind, threshold },
      // Whoever is not due sleeps, even after a poke; and only who is due is sure to be poked.
      { name: name('left waiting'), program: 'A | A | V', permits: [0], kind, threshold, mayWait: true },
      { name: name('4 buckets'), program: 'A | A | V V', permits: [0], kind, threshold, buckets: 4 },
      { name: name('dispose, polling'), program: 'A R | A R | D', permits: [1], kind, threshold, spin: 3 },
    ];
  });
});

export const models: readonly Model[] = [
  ...allocator,
  ...names,
  ...answers,
  ...interrupted,
  ...tenants,
  ...semaphore.map(modelOf),
  ...givingUp.map(modelOf),
  ...tombstones,
  ...listings.map(modelOf),
];
