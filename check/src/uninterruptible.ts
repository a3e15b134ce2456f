/**
 * Lists the uninterruptible sections that the core relies on.
 *
 * The runtime stops a thread only where the thread enters a function, goes round a loop or returns from a function. An
 * exception such as a stack overflow cuts a call short only where it enters a function. So a section contains no call,
 * no loop and no return. docs/internals/adding-a-primitive.md has a table of the sections. These files have them:
 *
 *     R1           core/queue/tickets.ts, runs.ts; core/kinds/mutex/mutex.ts
 *     R2           core/queue/cancelling.ts
 *     R3, R4       core/queue/tombstones.ts
 *     R5           core/arena/elements.ts, names.ts; core/queue/waiting-array.ts
 *     R6           core/arena/attachments.ts
 *     R7           wherever permits are recorded
 *     R8           core/kinds/mutex/; core/queue/runs.ts; core/death/reaping.ts
 *     R9           core/queue/waking.ts; core/kinds/mutex/mutex.ts
 *     R11          core/kinds/phase/phase.ts; core/kinds/rw-lock/rw-lock.ts; core/death/reaping.ts
 *     R12          core/kinds/rw-lock/rw-lock.ts
 *     R13          core/kinds/counter/counter.ts
 *
 * engine/wasm/uninterruptible.ts checks the sections in the code that the search runs, on every path from the first
 * access of a section to the last. `returns` says why a path may return before the last access.
 */

import { CMPXCHG, NOTIFY, RMW, STORE } from './engine/wasm/code.js';
import type { Section } from './engine/wasm/uninterruptible.js';
import { constant } from './scene/layout.js';

const NO_MUTEX = 'an object of another kind counts no waiters';
const SETTLED = 'a request that does not wait has its permits already, or has taken its tickets back';
const NOTHING_HELD = 'the call has changed nothing, or the object is not robust';

export const sections: readonly Section[] = [
  ...['tickets/acquire', 'semaphore/acquireOne'].map((fn) => ({
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
  // acquire is inlined into queue. E_STATE has the offset of TICKET, so these sections end at an earlier store.
  {
    name: 'R1, queue',
    fn: 'mutex/queue',
    from: { kind: RMW, word: constant('TICKET') },
    to: [constant('E_STATE'), constant('E_HELD')],
    returns: SETTLED,
  },
  ...['mutex/queue', 'runs/arrive'].map((fn) => ({
    name: `R8, ${fn}`,
    fn,
    from: { kind: RMW, word: constant('M_WORD') },
    to: [constant('E_REQUEST'), constant('E_HELD')],
    returns: SETTLED,
  })),
  ...['mutex-head/takeLock', 'mutex-head/returnHeadPermit'].map((fn) => ({
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
    name: 'R2, leaveTombstone',
    fn: 'cancelling/leaveTombstone',
    from: { kind: CMPXCHG, word: constant('E_STATE') },
    to: [constant('M_WORD')],
    returns: NO_MUTEX,
  },
  {
    name: 'R2, cancelFor',
    fn: 'cancelling/cancelFor',
    from: { kind: CMPXCHG, word: constant('E_STATE') },
    to: [constant('M_WORD')],
    untilCall: 'cancelling/settleTombstone',
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
    fn: 'waking/endWait',
    from: { kind: CMPXCHG, word: constant('E_STATE') },
    to: [constant('E_STATE'), constant('T_DOORBELL')],
    by: [NOTIFY],
  },
  // After this exchange no other thread wakes the head: for all other threads the head is awake.
  {
    name: 'R9, wakeHead',
    fn: 'mutex/wakeHead',
    from: { kind: CMPXCHG, word: constant('M_WORD') },
    to: [0],
    by: [NOTIFY],
  },
  // The exchange of the phase word changes what the thread holds of the object. The store to E_HELD records the change.
  // The notify lies between these two accesses, so a thread that dies cannot leave it out.
  ...['phase/takeOff', 'phase/putOn', 'phase/arriveAt', 'phase/begin', 'phase/end', 'reaping/cleanUp'].map((fn) => ({
    name: `R11, ${fn}`,
    fn,
    from: { kind: CMPXCHG, word: constant('O_PHASE') },
    to: [constant('E_HELD')],
    returns: NOTHING_HELD,
    // For a dead writer of a RwLock, the reaper opens the gate, and its section ends at the notify. If the turn has
    // gone on already, nothing is written to E_HELD then, and detachDead goes on to closeObject.
    ...(fn === 'reaping/cleanUp' ? { untilCall: 'objects/closeObject' } : {}),
  })),
  ...['finishAction', 'breakPhase', 'disposePhase'].map((fn) => ({
    name: `R11, ${fn}`,
    fn: `phase/${fn}`,
    from: { kind: CMPXCHG, word: constant('O_PHASE') },
    to: [0],
    by: [NOTIFY],
    returns: 'nobody sleeps, so nobody is to be woken',
  })),
  {
    name: 'R11, openGate',
    fn: 'rw-lock/openGate',
    from: { kind: CMPXCHG, word: constant('O_PHASE') },
    to: [0],
    by: [NOTIFY],
    returns: 'nobody sleeps, so nobody is to be woken',
  },
  // A reader that leaves, or begins to wait, also wakes the writer, even if an exception cuts its call short. The store
  // goes to the reader's place. Its offset is part of the address, so `word` is 0.
  ...['beginRead', 'endRead', 'giveUpRead'].map((fn) => ({
    name: `R12, ${fn}`,
    fn: `rw-lock/${fn}`,
    from: { kind: STORE, word: 0 },
    to: [0],
    by: [NOTIFY],
    returns: 'the writer does not sleep, or the reader is in',
  })),
  // What a signal takes from the value for waiters is in the queue, or the signal has taken nothing.
  ...['countUp', 'countDown'].map((fn) => ({
    name: `R13, ${fn}`,
    fn: `counter/${fn}`,
    from: { kind: CMPXCHG, word: constant('O_COUNTER') },
    to: [constant('GRANT')],
    returns: 'nothing is handed on',
  })),
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
  // A reaper frees the entries of a dead thread that are not marked as published. So the mark and the exchange that
  // puts the entry in its list are one section.
  {
    name: 'R5, publish',
    fn: 'names/openName',
    from: { kind: RMW, word: constant('N_USED') },
    // The count of names is at a constant address, with no offset.
    to: [0, constant('N_USED')],
  },
  {
    name: 'R5, unlink',
    fn: 'names/findName',
    from: { kind: CMPXCHG, word: 0, bytes: 8 },
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
      ['tickets/drain', CMPXCHG, 'TICKET', 'E_HELD'],
      ['tickets/reduce', RMW, 'TICKET', 'O_ADDED'],
      ['tickets/releaseRobust', RMW, 'GRANT', 'E_HELD'],
      ['tickets/add', RMW, 'GRANT', 'O_ADDED'],
      ['releasing/settleRelease', CMPXCHG, 'TICKET', 'E_HELD'],
      ['parking/leaveQueue', STORE, 'E_HELD', 'E_STATE'],
      ['runs/endRun', STORE, 'E_HELD', 'E_STATE'],
      ['runs/settle', STORE, 'E_HELD', 'E_START'],
      ['condition/putDown', STORE, 'E_HELD', 'GRANT'],
    ] as const
  ).map(([fn, kind, from, to]) => ({
    name: `R7, ${fn}`,
    fn,
    from: { kind, word: constant(from) },
    to: [constant(to)],
    ...(kind === STORE ? {} : { returns: NOTHING_HELD }),
    // A thread that is the owner of its mutex again passes nothing on.
    ...(fn === 'condition/putDown' ? { untilCall: 'condition/relay' } : {}),
  })),
  // What a dead thread held goes back to grant of a semaphore, and to the word of a mutex.
  {
    name: 'R7 and R8, owners, reaping/cleanUp',
    fn: 'reaping/cleanUp',
    from: { kind: RMW, word: constant('O_UNREPORTED_DEATHS') },
    to: [constant('E_HELD'), constant('M_WORD')],
  },
  // A notification that a dead thread carried goes back to grant of the condition.
  {
    name: 'R7, passOn, reaping/cleanUp',
    fn: 'reaping/cleanUp',
    from: { kind: RMW, word: constant('GRANT') },
    to: [constant('E_HELD')],
  },
];
