/**
 * Uninterruptible sections: an engine stops a thread only where it enters a function or goes round a loop, so between
 * taking a ticket and recording it there must be neither (R1 in core/queue/tickets.ts and core/queue/runs.ts), and likewise in
 * R2 to R4 (core/queue/cancelling.ts), R6 and R7 (core/memory/attachments.ts), R9 (core/queue/tickets.ts). A call that an exception cuts
 * short ends there too.
 *
 * They are checked over the code that the search runs (engine/wasm/uninterruptible.ts), on every way from the instruction that
 * takes the ticket to the store that records it, or to the return of who need not be recorded.
 */

import { CMPXCHG, NOTIFY, RMW, STORE } from './engine/wasm/code.js';
import type { Section } from './engine/wasm/uninterruptible.js';
import { constant } from './scene/layout.js';

/** The runs that the core relies on. */
export const sections: readonly Section[] = [
  ...['tickets/acquire', 'semaphore/acquireOne'].map((fn) => ({
    name: `R1, ${fn}`,
    fn,
    from: { kind: RMW, word: constant('TICKET') },
    to: [constant('E_STATE')],
  })),
  {
    name: 'R1, arrive',
    fn: 'runs/arrive',
    from: { kind: RMW, word: constant('TICKET') },
    to: [constant('E_STATE')],
  },
  // acquire has become part of queue. E_STATE lies where TICKET does, so that these runs end before it.
  {
    name: 'R1, queue',
    fn: 'mutex/queue',
    from: { kind: RMW, word: constant('TICKET') },
    to: [constant('E_STATE'), constant('E_HELD')],
  },
  ...['mutex/queue', 'runs/arrive'].map((fn) => ({
    name: `R8, ${fn}`,
    fn,
    from: { kind: RMW, word: constant('M_WORD') },
    to: [constant('E_REQUEST'), constant('E_HELD')],
  })),
  ...['mutex-head/take', 'mutex-head/returnHeadPermit'].map((fn) => ({
    name: `R8, ${fn}`,
    fn,
    from: { kind: CMPXCHG, word: constant('M_WORD') },
    to: [constant('GRANT')],
  })),
  {
    name: 'R2, takeBack',
    fn: 'cancelling/takeBack',
    from: { kind: CMPXCHG, word: constant('TICKET') },
    to: [constant('E_STATE')],
  },
  {
    name: 'R3, claim',
    fn: 'tombstones/claim',
    from: { kind: RMW, word: constant('GRANT') },
    to: [constant('E_STATE')],
  },
  // Whoever has granted or closed a request tells, though its call may be cut short where it enters a function.
  {
    name: 'R9, endWait',
    fn: 'waking/endWait',
    from: { kind: CMPXCHG, word: constant('E_STATE') },
    to: [constant('E_STATE'), constant('T_DOORBELL')],
    by: [NOTIFY],
  },
  { name: 'R4', fn: 'tombstones/merge', from: { kind: CMPXCHG, word: constant('E_STATE') }, to: [] },
  // What is taken has an owner, and a cell that is taken is known (the caller of enter stores it at once).
  {
    name: 'R5, take',
    fn: 'elements/reserve',
    from: { kind: CMPXCHG, word: constant('E_STATE') },
    to: [constant('E_REQUEST')],
  },
  { name: 'R5, enter', fn: 'waiting-array/enter', from: { kind: CMPXCHG, word: 0 }, to: [] },
  // The first store and the first exchange of life that these come to is that of the reference.
  {
    name: 'R6, create',
    fn: 'attachments/createObject',
    from: { kind: STORE, word: constant('O_LIFE') },
    to: [constant('E_STATE')],
  },
  ...['attachments/attach', 'attachments/detach'].map((fn) => ({
    name: `R6, ${fn}`,
    fn,
    from: { kind: CMPXCHG, word: constant('O_LIFE') },
    to: [constant('E_STATE')],
  })),
  ...(
    [
      ['tickets/acquireRobust', RMW, 'TICKET', 'E_HELD'],
      ['tickets/tryAcquireRobust', CMPXCHG, 'TICKET', 'E_HELD'],
      ['tickets/releaseRobust', RMW, 'GRANT', 'E_HELD'],
      ['releasing/settleRelease', CMPXCHG, 'TICKET', 'E_HELD'],
      ['parking/leaveQueue', STORE, 'E_HELD', 'E_STATE'],
      ['runs/drop', STORE, 'E_HELD', 'E_STATE'],
      ['runs/settle', STORE, 'E_HELD', 'E_START'],
    ] as const
  ).map(([fn, kind, from, to]) => ({
    name: `R7, ${fn}`,
    fn,
    from: { kind, word: constant(from) },
    to: [constant(to)],
  })),
  // What a dead thread held of a semaphore goes back to grant, and of a mutex to its word.
  {
    name: 'R7 and R8, owners, reaping/cleanUp',
    fn: 'reaping/cleanUp',
    from: { kind: RMW, word: constant('O_DEATHS') },
    to: [constant('GRANT'), constant('M_WORD')],
  },
];
