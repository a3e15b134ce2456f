/**
 * Lists the uninterruptible sections that the core relies on. The sections of core/arena/, core/queue/, core/death/ and
 * the semaphore are written here. Those of each other kind are written beside the models of the kind (`sections` in the
 * files of models/), and this file adds them to the list.
 *
 * The runtime stops a thread only where the thread enters a function, goes round a loop or returns from a function. An
 * exception such as a stack overflow cuts a call short only where it enters a function. So a section contains no call,
 * no loop and no return. docs/internals/adding-a-primitive.md says what this demands of a new primitive. The sections
 * that are written here lie in these files:
 *
 *     R1           core/queue/queue.ts, runs.ts
 *     R2           core/queue/queue.ts
 *     R3, R4       core/queue/tombstones.ts
 *     R5           core/arena/elements.ts; core/queue/waiting-array.ts
 *     R6           core/arena/attachments.ts
 *     R7           core/queue/queue.ts, runs.ts; core/kinds/semaphore/robust.ts
 *     R8           core/queue/runs.ts; core/kinds/mutex/mutex-head.ts
 *     R9           core/queue/queue.ts
 *
 * The build inlines releaseOfDead (robust.ts) and releaseOfDeadOwner (mutex-head.ts) into cleanUp
 * (core/death/reaping.ts). So the list names cleanUp.
 *
 * engine/wasm/uninterruptible.ts checks the sections in the code that the search runs, on every path from the first
 * access of a section to the last. `returns` says why a path may return before the last access.
 */

import { CMPXCHG, NOTIFY, RMW, STORE } from './engine/wasm/code.js';
import type { Section } from './engine/wasm/uninterruptible.js';
import { sections as ofKinds } from './models/all.js';
import { constant } from './scene/layout.js';

const NO_MUTEX = 'an object of another kind counts no waiters';
const SETTLED = 'a request that does not wait has its permits already, or has taken its tickets back';
const NOTHING_HELD = 'the call has changed nothing, or the object is not robust';

export const sections: readonly Section[] = [
  ...['queue/acquire', 'queue/acquireOne'].map((fn) => ({
    name: `R1, ${fn}`,
    fn,
    from: { kind: RMW, word: constant('TICKET') },
    to: [constant('E_STATE')],
    returns: SETTLED,
  })),
  {
    name: 'R1, arrive',
    fn: 'runs/arrive',
    from: { kind: RMW, word: constant('TICKET') },
    to: [constant('E_STATE')],
    returns: SETTLED,
  },
  {
    name: 'R8, runs/arrive',
    fn: 'runs/arrive',
    from: { kind: RMW, word: constant('M_WORD') },
    to: [constant('E_REQUEST'), constant('E_HELD')],
    returns: SETTLED,
  },
  {
    name: 'R2, takeBack',
    fn: 'queue/takeBack',
    from: { kind: CMPXCHG, word: constant('TICKET') },
    to: [constant('E_STATE')],
  },
  {
    name: 'R2, leaveTombstone',
    fn: 'queue/leaveTombstone',
    from: { kind: CMPXCHG, word: constant('E_STATE') },
    to: [constant('M_WORD')],
    returns: NO_MUTEX,
  },
  {
    name: 'R2, cancelFor',
    fn: 'queue/cancelFor',
    from: { kind: CMPXCHG, word: constant('E_STATE') },
    to: [constant('M_WORD')],
    untilCall: ['queue/settleTombstone'],
  },
  {
    name: 'R3, claim',
    fn: 'tombstones/claim',
    from: { kind: RMW, word: constant('GRANT') },
    to: [constant('E_STATE')],
  },
  // A thread that grants or closes a request also notifies the waiter, even if an exception cuts its call short.
  {
    name: 'R9, endWait',
    fn: 'queue/endWait',
    from: { kind: CMPXCHG, word: constant('E_STATE') },
    to: [constant('E_STATE'), constant('T_DOORBELL')],
    by: [NOTIFY],
    returns: 'a waiter that does not sleep needs no notification',
  },
  { name: 'R4', fn: 'tombstones/merge', from: { kind: CMPXCHG, word: constant('E_STATE') }, to: [] },
  // A thread takes an element and writes itself into the element as its owner in one section. In the same way, a thread
  // enters an element in a cell, and writes the number of the cell into the element, in one section.
  {
    name: 'R5, take',
    fn: 'elements/reserve',
    from: { kind: CMPXCHG, word: constant('E_STATE'), bytes: 8 },
    to: [constant('E_REQUEST')],
  },
  {
    name: 'R5, enter',
    fn: 'waiting-array/enter',
    from: { kind: CMPXCHG, word: constant('B_CELLS') },
    // The address that the caller passes has the offset of E_CELLS in it.
    to: [0],
  },
  // As long as the compiled code has this section, no dead thread leaves an object half made. Without it,
  // freeUnfinished (core/arena/objects.ts) would have to free such objects.
  {
    name: 'R6, build',
    fn: 'attachments/createObject',
    from: { kind: CMPXCHG, word: constant('O_LIFE') },
    to: [constant('O_LIFE')],
    by: [STORE],
    returns: 'the check follows the paths for no object too, and an object is never at address 0',
  },
  // In these functions, the first store or the first exchange of O_LIFE counts the reference.
  {
    name: 'R6, create',
    fn: 'attachments/createObject',
    from: { kind: STORE, word: constant('O_LIFE') },
    to: [constant('E_STATE')],
  },
  {
    name: 'R6, attachments/attach',
    fn: 'attachments/attach',
    from: { kind: CMPXCHG, word: constant('O_LIFE') },
    to: [constant('E_STATE')],
  },
  {
    name: 'R6, attachments/detach',
    fn: 'attachments/detach',
    from: { kind: CMPXCHG, word: constant('O_LIFE') },
    to: [constant('E_STATE')],
    returns: 'the exchange has closed the object, and the thread stays attached',
  },
  ...(
    [
      ['queue/acquireRobust', RMW, 'TICKET', 'E_HELD'],
      ['queue/tryAcquireRobust', CMPXCHG, 'TICKET', 'E_HELD'],
      ['queue/drain', CMPXCHG, 'TICKET', 'E_HELD'],
      ['queue/reduce', RMW, 'TICKET', 'O_ADDED'],
      ['queue/releaseRobust', RMW, 'GRANT', 'E_HELD'],
      ['queue/add', RMW, 'GRANT', 'O_ADDED'],
      ['queue/wakeReleased', CMPXCHG, 'TICKET', 'E_HELD'],
      ['queue/leaveQueue', STORE, 'E_HELD', 'E_STATE'],
      ['runs/endRun', STORE, 'E_HELD', 'E_STATE'],
      ['runs/settle', STORE, 'E_HELD', 'E_START'],
    ] as const
  ).map(([fn, kind, from, to]) => ({
    name: `R7, ${fn}`,
    fn,
    from: { kind, word: constant(from) },
    to: [constant(to)],
    ...(kind === STORE ? {} : { returns: NOTHING_HELD }),
  })),
  // It ends with the function: no exception comes between its last write and the answer, which says who has the permits.
  { name: 'R7, releaseToOwn', fn: 'runs/releaseToOwn', from: { kind: CMPXCHG, word: constant('GRANT') }, to: [] },
  // What a dead thread held goes back to grant of a semaphore, and to the word of a mutex.
  {
    name: 'R7 and R8, owners, reaping/cleanUp',
    fn: 'reaping/cleanUp',
    from: { kind: RMW, word: constant('O_UNREPORTED_DEATHS') },
    to: [constant('E_HELD'), constant('M_WORD')],
  },
  ...ofKinds,
];
