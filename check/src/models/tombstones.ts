/**
 * Small models of cancelling (core/queue/queue.ts). Most models have one thread, whose promises stand in the queue
 * one behind the other and cancel in a given order. So each way in which tombstones can lie and be joined costs only
 * some hundred states. The counters do not begin at 0, and the semaphore is not the first object. So none of these
 * values is the 0 that a load of empty memory gives.
 */

import { Violation } from '../engine/search/violation.js';
import { E_STATE, ELEMENT_SIZE, STATE_MASK, TICKET, TOMBSTONE } from '../scene/layout.js';
import type { Model } from '../scene/model.js';
import type { Scene } from '../scene/scene.js';
import { type Line, modelOf } from './parts/program.js';

const FIRST = 16n;
/**
 * A first ticket that is very far from 0. Closing sets grant to the present ticket plus CLOSED_DISTANCE. Here this sum
 * is not far below 0. So only the distance of grant from the ticket shows that the semaphore is closed.
 */
const FAR = 2n ** 62n;

const lines: readonly (Pick<Line, 'name' | 'program'> & Partial<Line>)[] = [
  { name: 'passed', program: 't1 a1 x V d' },
  { name: 'joined to the left', program: 't1 t1 a1 x x V d' },
  { name: 'joined to the left, 2 buckets', program: 't1 t1 a1 x x V d', buckets: 2 },
  { name: 'joined to the right', program: 't1 t1 a1 x2 x V d', buckets: 2 },
  { name: 'joined on both sides', program: 't1 t1 t1 a1 x x2 x V d', buckets: 2 },
  { name: 'heavy, joined to the left', program: 't2 t3 a1 x x V2 d' },
  { name: 'heavy, joined to the left, 4 buckets', program: 't2 t3 a1 x x V2 d', buckets: 4 },
  { name: 'heavy, joined to the right', program: 't2 t3 a1 x2 x V2 d', buckets: 4 },
  { name: 'heavy behind light', program: 't1 t3 t1 a1 x2 x x V d', buckets: 4 },
  { name: 'light behind heavy', program: 't3 t1 a1 x2 x V d', buckets: 4 },
  { name: 'elements used again', program: 't1 t1 a1 x x t1 a1 x V2 d', buckets: 2 },
  { name: 'elements used before', program: 't1 t1 a1 x x t1 a1 x V2 d', buckets: 2, aged: true },
  { name: 'of elements used before', program: 't1 t1 a1 x2 x d | V', buckets: 2, aged: true },
  { name: 'of a thread, of elements used before', program: 'B | a1 V d', buckets: 2, aged: true },
  { name: 'of threads', program: 'B B2 B', buckets: 4 },
  { name: 'of two threads', program: 'B | B', buckets: 2 },
  { name: 'of a thread and a promise behind it', program: 'B | a1 V d', buckets: 2 },
  { name: 'of two semaphores', program: "t1 t1 a1 x x V d | B' V'", permits: [0, 0], buckets: 2 },
  { name: 'passed by a releasing thread', program: 't1 a1 x d | V', buckets: 2 },
  { name: 'joined to the left and passed', program: 't1 t1 a1 x x d | V', buckets: 2 },
  { name: 'joined to the right and passed', program: 't1 t1 a1 x2 x d | V', buckets: 2 },
  { name: 'half joined and passed', program: 't1 t1 a1 x x d | V2', buckets: 2 },
  { name: 'two that cancel', program: 't1 x | t1 a1 x', buckets: 2 },
  { name: 'disposed of', program: 't1 t1 a1 x x D d', buckets: 2 },
  { name: 'disposed of by another', program: 't1 t1 a1 x x d | D', buckets: 2 },
  { name: 'disposed of, far above 0', program: 't1 a1 x D d', first: FAR },
  { name: 'disposed of, far below 0', program: 't1 a1 x D d', first: -FAR },
  { name: 'in an overflow line', program: 't1 t1 a1 x x V d', cells: 0, extra: 8 },
  { name: 'left in an overflow line', program: 't1 t1 a1 x x', cells: 0, extra: 8 },
  { name: 'in common lines', program: 't1 t1 a1 x x V d', cells: 0, extra: 8, linesCells: 0 },
];

/** The last request of the queue leaves no tombstone when it cancels. */
const last: readonly (Pick<Line, 'name' | 'program'> & Partial<Line>)[] = [
  { name: 'a promise', program: 't1 x' },
  { name: 'a promise in cells', program: 't2 e x', buckets: 4 },
  { name: 'a thread', program: 'B', extra: 0 },
  { name: 'a heavy thread, 2 buckets', program: 'B2', extra: 0, buckets: 2 },
];

const small = (line: Pick<Line, 'name' | 'program'> & Partial<Line>): Model =>
  modelOf({ permits: [0], mayWait: true, first: FIRST, before: 1, ...line });

function nothingLeft({ machine: { words }, regions: { elements, end }, semaphores: [address] }: Scene): void {
  const taken = words[(address + TICKET) >> 2] - Number(FIRST);
  if (taken !== 0) throw new Violation(`${taken} tickets are taken by nobody`);
  for (let e = elements; e < end; e += ELEMENT_SIZE) {
    if ((words[(e + E_STATE) >> 2] & STATE_MASK) === TOMBSTONE) throw new Violation('a tombstone is left');
  }
}

export const models: readonly Model[] = [
  ...lines.map((line) => small({ ...line, name: `tombstones: ${line.name}` })),
  ...last.map(
    (line): Model => ({
      ...small({ ...line, name: `last in line: ${line.name}` }),
      end: nothingLeft,
    }),
  ),
];
