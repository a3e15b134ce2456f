/**
 * Why a mutant that no model tells breaks nothing that is promised, by the mutant's name: the first pattern
 * that fits. A reason that fits no survivor is reported, as is a survivor without a reason.
 */
export const reasons: readonly (readonly [pattern: RegExp, reason: string])[] = [
  // --- Words of what nobody else knows yet ---
  [
    /^objects\/createObject (7|8|9|10|11|12|13), .* swapped/,
    'The object is BUILDING: nobody reads it before the store of LIVE, which comes after all of these.',
  ],
  [
    /^(semaphore\/park [12]|semaphore\/acquire [45]|runs\/arrive 1[012]), store .* swapped/,
    'The element is RESERVED: nobody reads start, request and end before the store of state, which comes after all of these.',
  ],
  [
    /^arena\/create \d+, .* swapped/,
    'create works on memory that no other thread knows yet, so the order of its stores is seen by nobody.',
  ],
  [
    /^arena\/create 9, .* dropped/,
    'The kind of the closed object. It is never attached to and never disposed of, so its kind is never read.',
  ],
  // --- A comparison further on decides ---
  [
    /^elements\/reserve 6, load state: zero/,
    'An element just counted in is IDLE in epoch 0, as the 0 says; if another has taken it by now, the cmpxchg fails.',
  ],
  [
    /^(elements\/reserve (6, load state: ones|7, cmpxchg state: fails)|objects\/createObject (5, load life: ones|6, cmpxchg life: fails))/,
    'The new element or object counts as taken by another, and is found by the next pass over those in use.',
  ],
  [
    /^objects\/createObject 5, load life: zero/,
    'An object just counted in is FREE in generation 0, as the 0 says; if another has taken it by now, the cmpxchg fails.',
  ],
  [
    /^(waiting-array\/enter 1, load cell|names\/draftName 2, load used): zero/,
    'The load only saves a cmpxchg in vain: that fails where another is, and the search goes on.',
  ],
  [
    /^waiting-array\/enter 3, load next: zero/,
    'A line is reserved in vain, and the cmpxchg on next gives the one that is there. A line less is free then; when none is left, the common lines take over.',
  ],
  [
    /^arena\/register 4, load threads used: (zero|ones)/,
    'The cmpxchg that raises the count fails on a wrong one, and the true one is loaded then.',
  ],
  [
    /^arena\/unregister 6, load life: (zero|ones)/,
    'The record is free either way. Its epoch only counts its users; nobody reads it yet.',
  ],
  [
    /^names\/openName ((20|24), cmpxchg life: loosened|21, load ticket|22, store grant: dropped)/,
    'The object that lost the race for the name: only this thread knows it, so nothing can have come between, and nobody waits on it.',
  ],
  [
    /^names\/openName 6, load head of names: zero/,
    'The look for an entry of whoever took the last place. That one may not be there yet, so the answer NAMES_FULL is possible at this point in the core as it is.',
  ],
  // --- Only slower ---
  [/^names\/find [45], load bytes/, 'Eight bytes that seem to differ are compared byte by byte then.'],
  [/^names\/openName 2, load bytes/, 'All names of one length hash alike, and stand in one list.'],
  [
    /^semaphore\/acquire 1, .* swapped|^runs\/arrive 5, .* swapped/,
    'grant is read too early, so a turn that has come in between is not seen here. park and enterRun read it again, after entering the element; a promise that was queued is settled by the same.',
  ],
  [
    /^algorithms\/(twa-semaphore\/twaAcquire|ticket-semaphore\/ticketAcquire) 1, .* swapped/,
    'grant is read too early; the loop that follows reads it again before it sleeps.',
  ],
  [
    /^algorithms\/(twa-semaphore\/twaAcquire 2, load grant: (zero|ones)|ticket-semaphore\/ticketAcquire 2, load grant: zero)/,
    'The short-cut for who is due at once is not taken; the loop that follows reads grant again, or compares with it when it sleeps. Counters of these semaphores are not below 0.',
  ],
  [
    /^(semaphore\/park 7|algorithms\/twa-semaphore\/twaAcquire 4|algorithms\/ticket-semaphore\/ticketAcquire 3), load spin/,
    'It polls never, or longer, before it sleeps.',
  ],
  [
    /^algorithms\/twa-semaphore\/twaAcquire 3, load threshold/,
    'It takes itself for near or far wrongly, polls the other word, and sleeps as before.',
  ],
  [
    /^algorithms\/twa-semaphore\/twaAcquire 7, load sequence/,
    'It stops polling the sequence sooner or later; the number of polls is bounded.',
  ],
  [
    /^algorithms\/twa-semaphore\/twaAcquire (5|8|13), load sequence: zero/,
    'It sleeps only if the sequence is 0, that is, if nobody has ever poked the bucket, and polls otherwise.',
  ],
  [
    /^algorithms\/twa-semaphore\/twaAcquire ((5|8|13), load sequence|10, load grant): ones/,
    'It polls instead of sleeping.',
  ],
  [
    /^(semaphore\/park 11|algorithms\/twa-semaphore\/twaAcquire 11|algorithms\/ticket-semaphore\/ticketAcquire 4), wait .* dropped/,
    'It polls instead of sleeping.',
  ],
  [
    /^algorithms\/twa-semaphore\/twaAcquire 12, .* swapped/,
    'The count of who is parked may include it until it has read the sequence: a notify more at most.',
  ],
  [
    /^algorithms\/twa-semaphore\/post 3, load threshold: (zero|ones)/,
    'The bucket of the ticket that is due is poked whatever the threshold; only who is to warm up is another, or nobody.',
  ],
  [
    /^algorithms\/twa-semaphore\/(post [58]|twaDispose 5), rmw sequence: swapped/,
    'A waiter that counts itself as parked after that load reads grant after it too, and grant was moved before. Only a waiter that is not due can miss the poke, and its own comes when it is.',
  ],
  [
    /^algorithms\/(ticket-semaphore\/ticket|twa-semaphore\/twa)Dispose 3, load ticket/,
    'Counters of these semaphores are from 0 to little more than 2^61: grant comes to lie far below 0 and below ticket either way.',
  ],
  [
    /^algorithms\/(ticket-semaphore\/ticket|twa-semaphore\/twa)Dispose 2, cmpxchg life: loosened/,
    'closeObject, compiled in from the core. Two who dispose at once write the same; against who attaches and lets go, which only the core does, its own models tell it (semaphore/dispose 2).',
  ],
  // --- One sleeper at most ---
  [
    /^(semaphore\/recover 3|semaphore\/wakeDue 8|semaphore\/dispose 10), notify .*: one/,
    'On an element only its owner sleeps, on a doorbell only its thread.',
  ],
  // --- Not read ---
  [
    /^elements\/reserve [48], store request: dropped/,
    'Whose an element is while it is RESERVED: nobody reads that; request is written before it waits.',
  ],
];
