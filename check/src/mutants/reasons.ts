/**
 * Why a mutant that no model tells breaks nothing that is promised, by the mutant's name: the first pattern
 * that fits. A reason that fits no survivor is reported, as is a survivor without a reason.
 */
export const reasons: readonly (readonly [pattern: RegExp, reason: string])[] = [
  // --- Words that nobody else reads yet, or any more ---
  [
    /^objects\/createObject: (store (ticket|grant|kind|max|spin|threshold|initial)), swapped/,
    'The object is BUILDING: nobody reads it before the store of LIVE, which comes after all of these.',
  ],
  [
    /^(semaphore\/parkFor|semaphore\/acquire|runs\/arrive): store (start|request|end( #2)?), swapped/,
    'The element is RESERVED: nobody reads start, request and end before the store of state, which comes after all of these.',
  ],
  [
    /^arena\/create: store .*, swapped/,
    'create works on memory that no other thread knows yet, so the order of its stores is seen by nobody.',
  ],
  [
    /^(semaphore\/wakeDue|semaphore\/dispose|giving-up\/passOn): rmw grant, swapped with load cells/,
    'The element is CLAIMED: its cells are read and written by the claimant alone, and they are no part of what a look at grant decides.',
  ],
  [
    /^giving-up\/merge: (store cells #1, swapped with load end|store end, swapped with store cells #2|store cells #2, swapped with load state)/,
    'One of the two is MERGING, the other CLAIMED: their cells, end and state are read and written by the one who merges, alone.',
  ],
  [
    /^giving-up\/merge: store state #2, swapped with store state #3/,
    'The element that is given back stands in no cell any more, and who finds it in a pass over the pool leaves it alone, CLAIMED or IDLE; so nobody sees which of the two is stored first.',
  ],
  [
    /^giving-up\/giveUp(Run)?: store end, swapped with load state/,
    'Of the element of a waiter that gives up, others read end only when it is ABANDONED, which comes after both; of a promise, to count, and the store leaves its end as it was.',
  ],
  [
    /^giving-up\/giveUpRun: store end, dropped/,
    'A promise has its end in the element already, from arrive: the store is for threads, with which it shares this function.',
  ],
  [
    /^elements\/reserve: store request( #\d)?, dropped/,
    'Whose an element is while it is RESERVED: nobody reads that; request is written before it waits.',
  ],
  [
    /^arena\/unregister: load life, (zero|ones)/,
    'The record is free either way. Its epoch only counts its users; nobody reads it yet.',
  ],
  [
    /^names\/openName: (cmpxchg life #[23], loosened|load ticket, (zero|ones)|store grant, dropped)/,
    'The object that lost the race for the name: only this thread knows it, so nothing can have come between, nobody waits on it, and it is given back at once.',
  ],
  // --- A comparison further on decides ---
  [
    /^elements\/reserve: load state #2, zero/,
    'An element just counted in is IDLE in epoch 0, as the 0 says; if another has taken it by now, the cmpxchg fails.',
  ],
  [
    /^objects\/createObject: load life #2, zero/,
    'An object just counted in is FREE in generation 0, as the 0 says; if another has taken it by now, the cmpxchg fails.',
  ],
  [
    /^(elements\/reserve: (load state #2, ones|cmpxchg state #2, fails)|objects\/createObject: (load life #2, ones|cmpxchg life #2, fails))/,
    'The new element or object counts as taken by another, and is found by a later pass over those in use.',
  ],
  [
    /^(waiting-array\/enter: load cell|names\/draftName: load used), zero/,
    'The load only saves a cmpxchg in vain: that fails where another is, and the search goes on.',
  ],
  [
    /^waiting-array\/enter: load next, zero/,
    'A line is reserved in vain, and the cmpxchg on next gives the one that is there. A line less is free then; when none is left, the common lines take over.',
  ],
  [
    /^arena\/register: load threads used #1, (zero|ones)/,
    'The cmpxchg that raises the count fails on a wrong one, and the true one is loaded then.',
  ],
  [
    /^names\/openName: load head of names #2, zero/,
    'The look for an entry of whoever took the last place. That one may not be there yet, so the answer NAMES_FULL is possible at this point in the core as it is.',
  ],
  [
    /^giving-up\/giveUp(Run)?: cmpxchg state, loosened/,
    'Between the load and the exchange only GRANTED or CLOSED can come, and nobody but the owner acts on these. It gives up all the same; grant was moved before either, so it finds its tombstone due and passes the permits on, as if the time-out had come a step earlier.',
  ],
  // --- A closed semaphore ---
  [
    /^semaphore\/dispose: rmw grant, dropped/,
    'The width of a tombstone is added to a grant that is closed: it says so with or without it.',
  ],
  [
    /^algorithms\/(ticket-semaphore\/ticket|twa-semaphore\/twa)Dispose: load ticket, (zero|ones)/,
    'Counters of these semaphores are from 0 to little more than 2^61: grant comes to lie far below 0 and below ticket either way.',
  ],
  [
    /^algorithms\/(ticket-semaphore\/ticket|twa-semaphore\/twa)Dispose: cmpxchg life, loosened/,
    'closeObject, compiled in from the core. Two who dispose at once write the same; against who attaches and lets go, which only the core does, its own models tell it (semaphore/dispose).',
  ],
  // --- Only slower ---
  [/^names\/find: load bytes #[34],/, 'Eight bytes that seem to differ are compared byte by byte then.'],
  [/^names\/openName: load bytes,/, 'All names of one length hash alike, and stand in one list.'],
  [
    /^(semaphore\/acquire|runs\/arrive): rmw ticket #1, swapped/,
    'grant is read too early, so a turn that has come in between is not seen here. park and enterRun read it again, after entering the element; a promise that was queued is settled by the same.',
  ],
  [
    /^algorithms\/(twa-semaphore\/twaAcquire|ticket-semaphore\/ticketAcquire): rmw ticket, swapped/,
    'grant is read too early; the loop that follows reads it again before it sleeps, or sleeps only while it is that.',
  ],
  [
    /^algorithms\/(twa-semaphore\/twaAcquire: load grant #1, (zero|ones)|ticket-semaphore\/ticketAcquire: load grant #1, zero)/,
    'The short-cut for who is due at once is not taken; the loop that follows reads grant again, or compares with it when it sleeps. Counters of these semaphores are not below 0.',
  ],
  [
    /^(semaphore\/parkFor|algorithms\/(twa-semaphore\/twaAcquire|ticket-semaphore\/ticketAcquire)): load spin,/,
    'It does not poll before it sleeps.',
  ],
  [
    /^algorithms\/twa-semaphore\/twaAcquire: load threshold, ones/,
    'It takes itself for near (the threshold counts as 2^32 - 1): it polls grant, and looks at it once more before it sleeps.',
  ],
  [
    /^algorithms\/twa-semaphore\/twaAcquire: load sequence #1,/,
    'If the value is not the true one, the first sleep ends at once, and sequence is read again. If it is, nobody has poked the bucket since.',
  ],
  [
    /^algorithms\/twa-semaphore\/twaAcquire: load sequence #2,/,
    'It stops polling the sequence sooner or later; the number of polls is bounded.',
  ],
  [
    /^algorithms\/twa-semaphore\/twaAcquire: load sequence #3,/,
    'The sequence after polling: if the value is not the true one, the sleep that follows ends at once, and sequence is read again.',
  ],
  [
    /^algorithms\/twa-semaphore\/twaAcquire: rmw parked #2, swapped/,
    'The count of who is parked may include it until it has read the sequence: a notify more at most.',
  ],
  [
    /^algorithms\/twa-semaphore\/post: load threshold, zero/,
    'The bucket of the ticket that is due is poked whatever the threshold; only who is to warm up is another, or nobody.',
  ],
  [
    /^algorithms\/twa-semaphore\/post: rmw sequence #1, swapped/,
    'A waiter that counts itself as parked after that load reads grant after it too, and grant was moved before. Only a waiter that is not due can miss the poke, and its own comes when it is.',
  ],
  // --- One sleeper at most ---
  [
    /^semaphore\/(recover|wakeDue|dispose): notify doorbell(\/state)?, one/,
    'On an element only its owner sleeps, on a doorbell only its thread.',
  ],
];
