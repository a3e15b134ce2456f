/** Models of requests that are cancelled by a time-out or by a signal. */
import type { Model } from '../scene/model.js';
import { type Line, modelOf, WRAP } from './parts/program.js';

const cancelling: readonly Line[] = [
  { name: 'cancel: 2', program: 'B R | B R', permits: [1] },
  { name: 'cancel: 3', long: true, program: 'B R | B R | B R', permits: [1] },
  { name: 'cancel: 3, 2 buckets', program: 'B R | B R | B R', permits: [1], buckets: 2 },
  { name: 'cancel: of 2, a release of 1', program: 'B R | B R | V', permits: [0] },
  { name: 'cancel: of 2, a release of 2', program: 'B R | B R | V2', permits: [0] },
  { name: 'cancel: of 2, two releases', long: true, program: 'B | B | V | V', permits: [0], buckets: 2 },
  {
    name: 'cancel: of 2 with one behind, a release of 1',
    long: true,
    program: 'B | B | a1 V d',
    permits: [0],
    buckets: 2,
    mayWait: true,
  },
  {
    name: 'cancel: of 2 with one behind, a release of 2',
    long: true,
    program: 'B | B | a1 V2 d',
    permits: [0],
    buckets: 2,
    mayWait: true,
  },
  {
    name: 'cancel: of 3, a release of 2',
    long: true,
    program: 'B | B | B V2',
    permits: [0],
    buckets: 2,
    mayWait: true,
  },
  {
    name: 'cancel: heavy head, partly granted',
    long: true,
    program: 'B3 R | A R | V | V',
    permits: [0],
    buckets: 2,
  },
  {
    name: 'cancel: heavy head, two behind',
    long: true,
    program: 'B3 | A | A | V2',
    permits: [0],
    buckets: 2,
  },
  { name: 'cancel: heavy, and light in its place', program: 'B2 R | A R | V2', permits: [0], buckets: 4 },
  {
    name: 'cancel: heavy, and two in its place',
    long: true,
    program: 'B2 | A | A | V2',
    permits: [0],
    buckets: 4,
    mayWait: true,
  },
  { name: 'cancel: heavy, and heavier in its place', program: 'B2 R | A3 | V3', permits: [0], buckets: 4 },
  // The tickets of the cancelled request go to two other requests, which stand in two buckets. A releasing thread must
  // not take the element of the cancelled request for the element of one of these two.
  {
    name: 'cancel: heavy, and two in its place, one a promise',
    program: 'B2 R | a1 A d | V2',
    permits: [0],
    buckets: 2,
  },
  { name: 'cancel: heavy middle', program: 'A R | B2 R | A R', permits: [1], buckets: 2 },
  { name: 'cancel: heavy and light', program: 'A R | B2 R | B R', permits: [2], buckets: 2 },
  { name: 'cancel: an element used again', long: true, program: 'B R A R | B R | A R', permits: [1] },
  { name: 'cancel: twice', long: true, program: 'B R B R | A R | A R', permits: [1] },
  { name: 'cancel: no element left', program: 'B R | B R | A R', permits: [1], extra: 0 },
  { name: 'cancel: one element left', program: 'B R | B R | A R', permits: [1], extra: 1 },
  { name: 'cancel: woken for no reason', program: 'W R | A R | W R', permits: [1] },
  { name: 'cancel: try', program: 'A R | Y R | B R', permits: [1] },
  { name: 'cancel: try heavy', program: 'B2 R | Y2 R Y R | A R', permits: [2], buckets: 2 },
  { name: 'cancel: dispose', program: 'A R | B R | D', permits: [1] },
  { name: 'cancel: overflow', program: 'B R | A R | A R', permits: [1], cells: 1, extra: 8 },
  { name: 'cancel: a promise', program: 't1 x d | A R', permits: [1] },
  { name: 'cancel: a promise of 3', program: 't1 x d | A R | A R', permits: [1], buckets: 2 },
  { name: 'cancel: a promise among others', program: 'a1 t1 a1 x d | A R', permits: [1], buckets: 2 },
  { name: 'cancel: a heavy promise', long: true, program: 't3 x d | A R | V | V', permits: [0], buckets: 2 },
  { name: 'cancel: a promise behind its own', program: 't1 a1 x d | V | V', permits: [0] },
  { name: 'cancel: a thread behind its promise', program: 'a1 B R d | A R', permits: [1] },
  // The thread that cancels wakes the waiters behind its request. On its way it finds its own promise, which is due
  // already. Nevertheless the thread that made this promise due must ring: a thread looks at an entered promise only
  // when its doorbell has rung.
  { name: 'cancel: a thread that listens', program: 'a1 l B d | a1 V2 d', permits: [0] },
  {
    name: 'cancel: a thread that listens, 2 buckets',
    program: 'a1 l B d | a1 V2 d',
    permits: [0],
    buckets: 2,
  },
  { name: 'cancel: a thread that listens, of 3', program: 'a1 l B d | A | V2', permits: [0] },
  { name: 'cancel: a heavy thread that listens', program: 'a1 l B2 d | a1 V3 d', permits: [0] },
  {
    name: 'cancel: a thread that listens, beside a tombstone',
    program: 'a1 l B d | t1 a1 x V2 d',
    permits: [0],
    buckets: 2,
  },
  {
    name: 'cancel: a thread that listens, behind a tombstone',
    program: 't1 a1 x l B d | a1 V2 d',
    permits: [0],
    buckets: 2,
  },
  { name: 'cancel: promises of two', program: 't1 x d | t1 x d | V', permits: [0] },
  { name: 'cancel: a promise, dispose', program: 't1 x d | A R | D', permits: [1] },
  { name: 'cancel: wrap', program: 'B R | B R | B R', permits: [1], first: WRAP, buckets: 2 },
];

export const models: readonly Model[] = cancelling.map(modelOf);
