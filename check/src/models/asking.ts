/** Models of cancelAll: whoever waits when it begins leaves, and no permit is lost or made. */
import type { Model } from '../scene/model.js';
import { type Line, modelOf } from './program.js';

const asking: readonly Line[] = [
  { name: 'ask: 1', program: 'A R | K', permits: [0] },
  { name: 'ask: 1, and a release', program: 'A R | K | V', permits: [0] },
  { name: 'ask: 2', program: 'A R | A R | K', permits: [0] },
  { name: 'ask: 2 of 1 permit', program: 'A R | A R | K', permits: [1], mayWait: false },
  { name: 'ask: 3', long: true, program: 'A R | A R | A R | K', permits: [1], mayWait: false },
  { name: 'ask: 2, and a release of 1', long: true, program: 'A R | A R | K | V', permits: [0], buckets: 2 },
  { name: 'ask: 2, and a release of 2', long: true, program: 'A | A | K | V2', permits: [0], buckets: 2 },
  { name: 'ask: heavy, and a release of 1', long: true, program: 'A2 R | A R | K | V', permits: [0], buckets: 2 },
  // The first leaves a tombstone, which is not due.
  { name: 'ask: 2, twice', program: 'A R | A R | K K', permits: [0], buckets: 2 },
  { name: 'ask: by two', program: 'A R | K | K', permits: [0] },
  { name: 'ask: then a release', program: 'A R | A R | K V', permits: [0], buckets: 2 },
  { name: 'ask: a later request', program: 'A R | K A R', permits: [1], mayWait: false },
  { name: 'ask: and again', program: 'A R A R | K V', permits: [0] },
  { name: 'ask: timed', program: 'B R | A R | K', permits: [1], mayWait: false },
  { name: 'ask: timed, and a release', long: true, program: 'B R | A R | K | V', permits: [0], buckets: 2 },
  { name: 'ask: woken for no reason', program: 'W R | K | V', permits: [0] },
  { name: 'ask: polling', program: 'A R | A R | K', permits: [1], spin: 2, mayWait: false },
  // Two stand in line, and one element is left for the tombstone of the first, or none: then it waits on.
  { name: 'ask: one element left', program: 'A R | A R | K V', permits: [0], buckets: 2, extra: 1 },
  { name: 'ask: no element left', program: 'A R | A R | K V2', permits: [0], buckets: 2, extra: 0, full: true },
  {
    name: 'ask: no element left, dispose',
    long: true,
    program: 'A R | A R | K | D',
    permits: [0],
    extra: 0,
    full: true,
  },
  { name: 'ask: overflow', program: 'A R | A R | K', permits: [1], cells: 1, extra: 8 },
  { name: 'ask: dispose', program: 'A R | K | D', permits: [0] },
  { name: 'ask: dispose of 2', program: 'A R | A R | K | D', permits: [1], mayWait: false },
  { name: 'ask: a promise', program: 'a1 d | K', permits: [0] },
  { name: 'ask: a promise, and a release', program: 'a1 d | K | V', permits: [0] },
  { name: 'ask: promises', program: 'a1 a1 d | K', permits: [0] },
  { name: 'ask: promises, and a release', program: 'a1 a1 d | K | V', permits: [0], buckets: 2 },
  { name: 'ask: promises with one between', program: 'a1 a1 d | A R | K', permits: [1], buckets: 2, mayWait: false },
  { name: 'ask: promises of other widths', program: 'a1 a2 d | K V', permits: [0], buckets: 2 },
  { name: 'ask: promises that may cancel', program: 't1 t1 x d | K', permits: [0] },
  { name: 'ask: promises of two', program: 'a1 d | a1 d | K', permits: [0] },
  { name: 'ask: a promise, by its own thread', program: 'a1 K a1 d | V', permits: [0] },
  { name: 'ask: promises, by their own thread', long: true, program: 'a1 a1 K d | A R | V', permits: [0], buckets: 2 },
  { name: 'ask: a promise of a thread that listens', program: 'a1 l A d | K V2', permits: [0] },
  { name: 'ask: a promise, dispose', program: 'a1 d | K | D', permits: [0] },
  { name: 'ask: a waiter dies', program: 'A R | K | S', permits: [0], mortal: [0], robust: true },
  { name: 'ask: a waiter of 2 dies', program: 'A R | A R | K | S', permits: [1], mortal: [0], robust: true },
  { name: 'ask: who asks dies', program: 'A R | A R | K | S', permits: [1], mortal: [2], robust: true, mayWait: false },
  { name: 'ask: a waiter is undead', program: 'A R | K V | S', permits: [0], mortal: [0], undead: true },
  { name: 'ask: a releasing thread dies', program: 'A | K | V | S', permits: [0], mortal: [2] },
  { name: 'ask: who has a promise dies', program: 'a1 d | K | S', permits: [0], mortal: [0] },
  { name: 'ask: who asks dies, of a promise', program: 'a1 d | K V | S', permits: [0], mortal: [1] },
];

export const askings: readonly Model[] = asking.map(modelOf);
