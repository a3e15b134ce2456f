/**
 * Why a mutant that no model tells breaks nothing that is promised, by the mutant's name: the first pattern
 * that fits. A reason that fits no survivor is reported, as is a survivor without a reason.
 */
export const reasons: readonly (readonly [pattern: RegExp, reason: string])[] = [
  // --- Words that nobody else reads yet, or any more ---
  [
    /^attachments\/createObject: store (ticket|grant|counter\/owner|parked\/limit|kind|max|spin|threshold|initial|robust\/hash|died|deaths|timeouts|departed), swapped/,
    'The object is BUILDING: nobody reads it before the store of LIVE, which comes after all of these.',
  ],
  [
    /^(tickets\/acquire|parking\/enqueue|tickets\/acquireRobust|mutex\/queue|runs\/arrive): store (start|request|end, counter( #2)?), swapped/,
    'The element is RESERVED: nobody reads start, request and end before the store of state, which comes after all of these.',
  ],
  [
    /^attachments\/(createObject|attach): store (request( #\d)?, swapped with store held|held, swapped with load state( #\d)?)/,
    'The element is RESERVED: nobody reads request and held before the store of ATTACHED, which comes after both.',
  ],
  [
    /store request( #\d)?, swapped with load state( #\d)?$/,
    'The element is given back. Of its state only the epoch is read, which nobody but its owner moves.',
  ],
  [
    /^arena\/create: store .*, swapped/,
    'create works on memory that no other thread knows yet, so the order of its stores is seen by nobody.',
  ],
  [
    /^tombstones\/claim: rmw grant, swapped with load cells/,
    'The element is CLAIMED: its cells are read and written by the claimant alone, and they are no part of what a look at grant decides.',
  ],
  [
    /^tombstones\/merge: (store cells #1, swapped with load end|store end, counter, swapped with store cells #2|store cells #2, swapped with store request)/,
    'One of the two is MERGING, the other CLAIMED: their cells, end, request and state are read and written by the one who merges, alone.',
  ],
  [
    /^tombstones\/merge: store state #2, swapped with store state #3/,
    'The element that is given back stands in no cell any more, and who finds it in a pass over the pool leaves it alone, CLAIMED or IDLE; so nobody sees which of the two is stored first.',
  ],
  [
    /^cancelling\/leaveTombstone: store end, counter, swapped with load state/,
    'Of the element of a waiter that cancels, others read end only when it is TOMBSTONE, which comes after both; of a promise, to count, and the store leaves its end as it was.',
  ],
  [
    /^cancelling\/cancelRun: store end, counter, dropped/,
    'A promise has its end in the element already, from arrive: the store is for threads, with which it shares this function.',
  ],
  [
    /^cancelling\/cancel(Run)?: store state( #1)?, swapped with rmw timeouts/,
    'The count of those who have cancelled is read by diagnostics alone, and says nothing about an element.',
  ],
  [
    /^parking\/parkFor: rmw futile wakes, dropped/,
    'The count of futile wake-ups is read by diagnostics alone; test/unit/inspect.test.ts looks at it.',
  ],
  [
    /^runs\/enterRun: (load start, swapped with store since|store since, swapped with store state)/,
    'since is read by diagnostics alone, one word at a time; the models "inspect: ..." check its value.',
  ],
  [
    /^reaping\/cleanUp: (rmw deaths #\d, swapped|rmw died #(2, swapped|1, swapped with rmw counter\/owner #4)|store held( #\d)?, swapped)/,
    'In an uninterruptible section, so no death can come between. held is read by who reaps alone, deaths by diagnostics; died is read by whoever is admitted, which needs the add to grant, and that comes after it.',
  ],
  [
    /^names\/openName: (cmpxchg life #[23], loosened|load ticket, (zero|ones)|store grant, dropped)/,
    'The object that lost the race for the name: only this thread knows it, so nothing can have come between, nobody waits on it, and it is given back at once.',
  ],
  [
    /^reaping\/reap: load life #5, swapped with store host/,
    'The record is DEAD: nobody but who reaps changes it.',
  ],
  [
    /^reaping\/reap: cmpxchg (life #2|reaper #2), loosened/,
    'The record is DEAD, or REAPER says that this thread reaps: nobody else changes that, unless this thread is dead itself, and then it does nothing.',
  ],
  [
    /^mutex-head\/(take|returnHeadPermit): store held, swapped with rmw grant/,
    'In an uninterruptible section, so no death can come between; held is read by its own thread, and by who reaps it.',
  ],
  [/^mutex\/queue: load held, zero/, 'A thread is the head once at most, and held is 0 before.'],
  [
    /^(cancelling\/cancelFor: store state #2|attachments\/restoreOwnerDeaths: rmw died), swapped with load kind/,
    'The kind of an object never changes, and a reference of the caller, or of the dead thread, keeps it.',
  ],
  [
    /^reaping\/cleanUp: (rmw doorbell|notify doorbell\/state), dropped/,
    'A thread cannot be stopped between the exchange that grants or closes and the notify, as both are compiled: no call and no loop lies between. So the waiter has been woken; the call is there in case that changes.',
  ],
  [
    /^reaping\/cleanUp: load kind #5, (zero|ones)/,
    'The sweep has woken the waiters, since grant is closed with life: no call and no loop lies between. dispose finds nobody then.',
  ],
  [
    /^reaping\/cleanUp: (load objects used, zero|load life #2, (zero|ones)|store, dropped)/,
    'Objects that a dead thread has not come to finish. As compiled no call and no loop lies between BUILDING and LIVE, so no thread can be stopped there; it is there in case that changes.',
  ],
  // --- A thread that is declared dead ---
  [
    /^(pending-call\/recover: cmpxchg life|arena\/unregister: cmpxchg life #[12]), loosened/,
    'The record is the own one of a thread that runs, ALIVE or ASLEEP, and comes to say what it should. Nobody else changes it then: who runs is not declared dead.',
  ],
  [
    /^(parking\/parkFor: (cmpxchg life #1, loosened|wait, (dropped|loosened))|mutex-head\/compete: (cmpxchg life #1, loosened|wait, (dropped|loosened)))/,
    'fallAsleep fails only for a thread that was declared dead while it was awake, against the contract of reap; the models with undead threads are of those that sleep.',
  ],
  [
    /^(parking\/parkFor: wait never|mutex-head\/compete: wait never), loosened/,
    'NEVER is always 0, so the comparison always holds.',
  ],
  // --- A comparison further on decides ---
  [
    /^elements\/reserve: load state #2, zero/,
    'An element just counted in is IDLE in epoch 0, as the 0 says; if another has taken it by now, the cmpxchg fails.',
  ],
  [
    /^attachments\/createObject: load life #2, zero/,
    'An object just counted in is FREE in generation 0, as the 0 says; if another has taken it by now, the cmpxchg fails.',
  ],
  [
    /^(elements\/reserve: (load state #2, ones|cmpxchg state #2, fails)|attachments\/createObject: (load life #2, ones|cmpxchg life #2, fails))/,
    'The new element or object counts as taken by another, and is found by a later pass over those in use.',
  ],
  [
    /^(waiting-array\/enter: load cell #2|names\/draftName: load used), zero/,
    'The load only saves a cmpxchg in vain: that fails where another is, and the search goes on.',
  ],
  [
    /^waiting-array\/enter: load next, zero/,
    'A line is reserved in vain, and the cmpxchg on next gives the one that is there. A line less is free then; when none is left, the common lines take over.',
  ],
  [
    /^registry\/register: load threads used #1, (zero|ones)/,
    'The cmpxchg that raises the count fails on a wrong one, and the true one is loaded then.',
  ],
  [
    /^names\/openName: load head of names #2, zero/,
    'The look for an entry of whoever took the last place. That one may not be there yet, so the answer NAMES_FULL is possible at this point in the core as it is.',
  ],
  [
    /^(cancelling\/(cancelRun|leaveTombstone)|reaping\/cleanUp): cmpxchg state, loosened/,
    'Between the load and the exchange only GRANTED or CLOSED can come, and nobody but the owner acts on these. It cancels all the same; grant was moved before either, so it finds its tombstone due and passes the permits on, as if the time-out had come a step earlier.',
  ],
  [/^attachments\/ownersDied: load died, ones/, 'The load only saves an exchange: of 0 for 0.'],
  // --- Turns: how long threads poll, and when a turn ends ---
  [
    /^mutex-pace\/(setLimit: (load pace|store turn)|turnLasted: (load|store))/,
    'It decides how long a turn lasts, within the limit, which the bound gives. check/test/mutex.test.ts ("a turn", "the pace") has the numbers.',
  ],
  [
    /^mutex-head\/(compete: load turn #\d|compete: rmw counter\/owner #1), (zero|ones|dropped)/,
    'It decides whether the head, which is awake, ends the turn by taking or reserving the lock. Else the limit ends it, or a lock that lies idle. check/test/mutex.test.ts ("reserves the lock when the turn is over").',
  ],
  [
    /^mutex-head\/compete: (load pace|store( pace)?), (zero|ones|dropped)/,
    'It decides whether the head reserves the lock before its first sleep, or before the second. check/test/mutex.test.ts ("as head sleeps when one owner has had the lock for all the polls").',
  ],
  [
    /^mutex-head\/compete: (load|store) vain( #\d)?, (zero|ones|dropped)/,
    'The count of vain polls is a hint (core/queue/polling.ts); check/test/polling.test.ts has the numbers.',
  ],
  [
    /^mutex-head\/(compete: load counter\/owner #[123]), (zero|ones)/,
    'It decides whether the head takes the free lock at once, which it always may, or looks once more before it sleeps.',
  ],
  [
    /^(mutex-head\/compete|mutex\/(queue|pollLimit)): load spin, (zero|ones)/,
    'It does not poll before it sleeps, or queues up. How it polls, check/test/mutex.test.ts looks at.',
  ],
  [
    /^(mutex-head\/compete|mutex\/queue): load( #\d)?, (zero|ones)/,
    'It decides whether to poll on; check/test/mutex.test.ts ("a thread that polls").',
  ],
  [
    /^mutex\/lock: load (parked\/limit #1|counter\/owner), (zero|ones)/,
    'It decides by which way the lock is taken: with a wrong limit the word is loaded, and looked at with the limit again; with a wrong word the thread goes on to queue, which looks for itself. That a right one is heeded: check/test/mutex.test.ts ("an owner").',
  ],
  [
    /^mutex\/lock: cmpxchg counter\/owner #[23], fails/,
    'The thread goes the slow way, to the next exchange or to queue, which looks for itself. That the quick way is taken: check/test/mutex.test.ts ("locks and unlocks by one access to the word each").',
  ],
  [
    /^mutex\/queue: load where, zero/,
    'The load only saves an or of a bit that is set already (core/queue/marks.ts).',
  ],
  [
    /^mutex-head\/compete: store wake, swapped with store head/,
    'Both come before the access that says that the head sleeps. Nobody looks at either before having seen that.',
  ],
  [
    /^(mutex\/(wakeHead|mutexDispose): cmpxchg counter\/owner|reaping\/cleanUp: cmpxchg counter\/owner #[23]), dropped/,
    'SLEEPING stays set: the next who unlocks wakes it once more, in vain.',
  ],
  [
    /^(mutex\/mutexDispose: cmpxchg counter\/owner|reaping\/cleanUp: cmpxchg counter\/owner #3), loosened/,
    'The word is closed by then: nobody takes the lock, the head reads CLOSED, which stays, and a queued waiter learns of it from its element.',
  ],
  // --- A closed semaphore ---
  [
    /^algorithms\/places\/closePlace: (load ticket, (zero|ones)|store grant, dropped)/,
    'closeObject, compiled in from the core. An AtomicSemaphore has no tickets and no grant: who waits looks at its life.',
  ],
  [
    /^algorithms\/places\/closePlace: cmpxchg life, loosened/,
    'closeObject again. Two who dispose at once write the same; against who attaches and lets go, which only the core does, its own models tell it (semaphore/dispose).',
  ],
  [
    /^algorithms\/places\/arriveAt: rmw parked\/parked\/limit, swapped/,
    'The sequence is read before the waiter is counted. A signal in between may not move it, but its word was changed before, and the look, which comes after both, sees that.',
  ],
  [
    /^algorithms\/places\/arriveAt: load counter\/owner\/sequence, (zero|ones)/,
    'With another sequence than the true one the sleep ends at once: the waiter polls instead.',
  ],
  [/^algorithms\/places\/sleepAt: wait .*, dropped/, 'The waiter polls instead of sleeping.'],
  [
    /^algorithms\/places\/(signalAt|closePlace): load parked\/(parked\/)?limit, ones/,
    'A notify where nobody sleeps.',
  ],
  [
    /^closing\/dispose: rmw grant, dropped/,
    'The width of a tombstone is added to a grant that is closed: it says so with or without it.',
  ],
  [
    /^algorithms\/[\w-]+\/\w+Dispose: load ticket( #1)?, (zero|ones)/,
    'closeObject, compiled in from the core. The first word is from 0 to little more than 2^61 of these kinds: grant comes to lie far below 0 and below it either way.',
  ],
  [
    /^algorithms\/[\w-]+\/\w+Dispose: cmpxchg life, loosened/,
    'closeObject again. Two who dispose at once write the same; against who attaches and lets go, which only the core does, its own models tell it (semaphore/dispose).',
  ],
  // --- The algorithms: nodes, gates, chains ---
  [
    /^algorithms\/[\w-]+\/\w+: notify (gate|start|bytes)( #\d)?, one/,
    'On a gate, and on the next of a queue node, only the owner of the element sleeps.',
  ],
  [
    /^algorithms\/nodes\/takeNode: store (start|bytes|end, counter), swapped/,
    'The node is new: nobody else knows it.',
  ],
  [
    /^algorithms\/(clh-lock|mcs-lock|reciprocating-lock|lifo-lock)\/\w+: store counter\/owner( #2)?, swapped with load/,
    'The owner word is compared with the own number by each thread: it tells only its owner something.',
  ],
  [
    /^algorithms\/reciprocating-lock\/(recipUnlock: store bytes, swapped|recipLock: store bytes, swapped with store end)/,
    'next and end of a node are read and written by its own thread alone.',
  ],
  [
    /^algorithms\/(parking\/park|nodes\/passGate|mcs-lock\/mcsUnlock): (cmpxchg (gate|start|bytes), (dropped|fails)|wait (gate|start|bytes), dropped)/,
    'The waiter polls instead of sleeping.',
  ],
  [/^algorithms\/capacitor\/capacitorAwait: wait grant, dropped/, 'The waiter polls instead of sleeping.'],
  [
    /^algorithms\/[\w-]+\/\w+: wait never, (dropped|loosened)/,
    'One turn of polling (relax.ts): it yields, or naps, for a moment. NEVER is always 0.',
  ],
  [
    /^algorithms\/[\w-]+\/\w+: rmw (futile wakes|collisions), dropped/,
    'A count that diagnostics alone read; test/unit/inspect.test.ts looks at it.',
  ],
  [
    /^algorithms\/[\w-]+\/\w+: load (due |channel |location )?head, ones/,
    'An exchange, or a look at those due, where nobody waits.',
  ],
  [
    /^algorithms\/(chains\/recover|channels\/waitOnce|locations\/locationLeave): load gate, zero/,
    'It takes the others off and wakes them, though its own gate is open: they look again, and its park returns at once.',
  ],
  [
    /^algorithms\/(chain-semaphore\/chainAcquire|channel-semaphore\/channelAcquire|capacitor\/capacitorArriveInLanes): (rmw ticket, swapped|load grant( #1)?, zero)/,
    'The short-cut for who is due at once is missed; who waits looks at grant again before it sleeps.',
  ],
  [
    /^algorithms\/channel-semaphore\/channelAcquire: load grant #1, ones/,
    'The same: closed is found out by the look that follows.',
  ],
  [/^algorithms\/[\w-]+\/\w+: load spin, (zero|ones)/, 'It says how long a waiter polls before it sleeps.'],
  // --- Only slower ---
  [/^names\/find: load bytes #[34],/, 'Eight bytes that seem to differ are compared byte by byte then.'],
  [/^names\/openName: load bytes,/, 'All names of one length hash alike, and stand in one list.'],
  [
    /^(tickets\/acquire(Robust)?|semaphore\/acquireOne|mutex\/queue|runs\/arrive): rmw ticket #1, swapped/,
    'grant is read too early, so a turn that has come in between is not seen here. enterUntilDue and enterRun read it again, after entering the element; a promise that was queued is settled by the same.',
  ],
  [
    /^algorithms\/(twa-semaphore\/twaAcquire|ticket-semaphore\/ticketAcquire): rmw ticket, swapped/,
    'grant is read too early; the loop that follows reads it again before it sleeps, or sleeps only while it is that.',
  ],
  [
    /^algorithms\/(twa-semaphore\/twaAcquire: load grant #1, (zero|ones)|ticket-semaphore\/ticketAcquire: load grant #1, zero)/,
    'The short-cut for who is due at once is not taken; the loop that follows reads grant again, or compares with it when it sleeps. Counters of these semaphores are not below 0.',
  ],
  [/^parking\/enqueue: load spin,/, 'It does not poll before it sleeps.'],
  [
    /^algorithms\/twa-semaphore\/twaAwait: load threshold, ones/,
    'It takes itself for near (the threshold counts as 2^32 - 1): it polls grant, and looks at it once more before it sleeps.',
  ],
  [
    /^algorithms\/twa-semaphore\/twaAwait: load sequence #1,/,
    'If the value is not the true one, the first sleep ends at once, and sequence is read again. If it is, nobody has poked the bucket since.',
  ],
  [
    /^algorithms\/twa-semaphore\/twaAwait: load sequence #2,/,
    'It stops polling the sequence sooner or later; the number of polls is bounded.',
  ],
  [
    /^algorithms\/twa-semaphore\/twaAwait: load sequence #3,/,
    'The sequence after polling: if the value is not the true one, the sleep that follows ends at once, and sequence is read again.',
  ],
  [
    /^algorithms\/twa-semaphore\/twaAwait: rmw parked #2, swapped/,
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
    /^(pending-call\/recover|waking\/endWait|closing\/dispose|reaping\/(bury|sweep|reap)|mutex\/(wakeHead|mutexDispose)): notify (doorbell|doorbell\/state|wake)( #\d)?, one/,
    'On an element only its owner sleeps, on a doorbell and on wake only its thread.',
  ],
];
