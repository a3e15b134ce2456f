/**
 * Says why a mutant that survives all models is harmless. The first pattern that matches the name of a mutant gives its
 * reason. The report names reasons that match no survivor, and survivors without a reason.
 */
export const reasons: readonly (readonly [pattern: RegExp, reason: string])[] = [
  // --- Words that no other thread reads yet, or that no other thread reads any more ---
  [
    /^attachments\/createObject: store (ticket|grant|counter\/variant|parked\/limit|kind|max|spin|threshold|initial|robust\/hash|died|timeouts|where|owner\/taken), swapped/,
    'The object is BUILDING: no thread reads it before the store of LIVE, which comes after all of these.',
  ],
  [
    /^(queue\/(acquire(One|Robust)?|enqueue)|mutex\/queue|runs\/arrive): store (start|request|since|end, counter( #2)?), swapped/,
    'The element is RESERVED: no thread reads start, request, since and end before the store of state, which comes after all of these.',
  ],
  [
    /^attachments\/(createObject|attach): store (request( #\d)?, swapped with store held|held, swapped with load state( #\d)?)/,
    'The element is RESERVED: no thread reads request and held before the store of ATTACHED, which comes after both.',
  ],
  [
    /store request( #\d)?, swapped with load state( #\d)?$/,
    'The element is given back. The load needs only the epoch of its state, which its owner alone changes.',
  ],
  [
    /^arena\/create: store .*, swapped/,
    'create works on memory that no other thread knows yet, so no thread sees the order of its stores.',
  ],
  [
    /^tombstones\/claim: rmw grant, swapped with load cells/,
    'The element is CLAIMED: only the claiming thread reads and writes its cells, and the value of grant has nothing to do with them.',
  ],
  [
    /^tombstones\/merge: (store cells #1, swapped with load end|store end, counter, swapped with store cells #2|store cells #2, swapped with store request)/,
    'One of the two is MERGING, the other CLAIMED: only the merging thread reads and writes their cells, end, request and state.',
  ],
  [
    /^tombstones\/merge: store state #2, swapped with store state #3/,
    'The element that is given back stands in no cell any more. A thread that finds it in a pass over the pool leaves it alone, whether it is CLAIMED or IDLE. So no thread sees which of the two stores comes first.',
  ],
  [
    /^queue\/reduce: rmw ticket #1, swapped with load grant/,
    'No request stands for the tickets, so nobody need see the new grant. If the semaphore is disposed of in between, the call counts as one before that.',
  ],
  [
    /^queue\/parkFor: rmw futile wakes, dropped/,
    'Only diagnostics read the count of futile wake-ups; test/unit/inspect.test.ts checks it.',
  ],
  [
    /^reaping\/cleanUp: (rmw deaths #\d, swapped|rmw died #(2, swapped|1, swapped with rmw counter\/variant #\d)|rmw grant #\d, swapped with store held #\d|store held( #\d)?, swapped)/,
    'No death can come between, in an uninterruptible section. Only the reaping thread reads held, and only diagnostics read deaths. A thread that is admitted reads died, but only after the add to grant, which comes later.',
  ],
  [
    /^reaping\/cleanUp: load counter\/variant #4, (zero|ones)/,
    'What a dead thread carried for a condition goes on. Those before its ticket are looked at too, and nobody is forgotten.',
  ],
  [
    /^reaping\/reap: load life #5, swapped with store runtime id/,
    'The record is DEAD: only the reaping thread changes it.',
  ],
  [
    /^reaping\/reap: cmpxchg (life #2|reaper #2), loosened/,
    'The record is DEAD, or REAPER names this thread. No other thread changes that, unless this thread is dead itself, and then it does nothing.',
  ],
  [
    /^mutex-head\/(takeLock|returnHeadPermit): store held, swapped with rmw grant/,
    'No death can come between, in an uninterruptible section. Only its own thread and the thread that reaps it read held.',
  ],
  [
    /^(queue\/cancelFor: store state #2|kinds\/restoreOwnerDeaths: rmw died), swapped with load kind/,
    'The kind of an object never changes, and a reference of the caller or of the dead thread keeps the object alive.',
  ],
  [
    /^reaping\/cleanUp: ((rmw doorbell|notify (doorbell|state))( #\d)?, (dropped|swapped)|load gate, (zero|ones))/,
    'As compiled, no call, loop or return lies between the exchange that grants or closes and the notify, so no thread can be stopped there. The waiter has been woken; this call is there in case the compiled code changes.',
  ],
  [
    /^reaping\/cleanUp: (load objects used, zero|load life #3, (zero|ones)|store, dropped)/,
    'This code is for objects that a dead thread has left unfinished. As compiled, no call, loop or return lies between BUILDING and LIVE, which the check of the section "R6, build" shows. So no thread can be stopped there; the code is there in case that changes.',
  ],
  // --- A thread that gives what it has to its own promise ---
  [
    /^(runs\/(nextOfOwn: load (request|start|grant)|releaseToOwn: (load start|cmpxchg grant))|mutex-head\/unlockToOwn: (load|cmpxchg) counter\/variant)( #\d)?, (zero|ones|fails)/,
    'The call then refuses, and the thread goes on as if no promise of it waited.',
  ],
  [
    /^(runs\/releaseToOwn|mutex-head\/unlockToOwn): load held, (zero|ones)/,
    'No model gives back what its thread does not hold, and the library unlocks in this way only if its promise is the head. test/unit/robust.test.ts ("refuses to release for a promise") fails.',
  ],
  [
    /^(runs\/releaseToOwn|mutex-head\/unlockToOwn): load end(, counter)?( #\d)?, swapped/,
    'Only this thread changes the end of its run.',
  ],
  [
    /^(runs\/settle|mutex-head\/unlockToOwn): (load|store) since( #\d)?, (zero|ones|dropped|swapped)/,
    'Only diagnostics read since when a request waits. test/unit/inspect.test.ts ("how long the head of a mutex") fails.',
  ],
  // --- A thread that is declared dead ---
  [
    /^registry\/unregister: cmpxchg life #2, loosened/,
    'The record is that of the running thread itself, and ALIVE: wakeUp has just said so, and nobody who is awake is declared dead.',
  ],
  [
    /^threads\/sleepOn: store sleeps on, swapped with rmw sleeps/,
    'Both come before ASLEEP, and a look at a deadlock reads them of a thread that says ASLEEP (src/report/confirm.ts).',
  ],
  [/^threads\/mustChangeLife: wait never, loosened/, 'NEVER is always 0, so the comparison always holds.'],
  [
    /^attachments\/(attach|createObject): (store held, swapped with store end|store end, counter, swapped with load state)/,
    'The element is RESERVED: until it is ATTACHED, its own thread alone reads and writes these words.',
  ],
  // --- A later comparison decides ---
  [
    /^waiting-array\/enter: load cell, zero/,
    'The load only avoids a cmpxchg that would fail. It fails if another number is there, and the search goes on.',
  ],
  [
    /^registry\/register: load threads used #1, (zero|ones)/,
    'The cmpxchg that raises the count fails if the loaded count is wrong, and then the right one is loaded.',
  ],
  [
    /^names\/openName: store name, swapped/,
    'Both accesses go to the new object and its entry, which no other thread can see before the cmpxchg on the head.',
  ],
  [
    /^(queue\/(cancelFor|leaveTombstone)|runs\/cancelRun|reaping\/cleanUp): cmpxchg state, loosened/,
    'Between the load and the exchange the state can only become GRANTED or CLOSED, on which only the owner acts. The request is cancelled all the same. grant was moved before that, so the thread finds its tombstone due and passes the permits on, as if the time-out had come a step earlier.',
  ],
  [/^robust\/ownersDied: load died, ones/, 'The load only avoids an exchange of 0 for 0.'],
  [/^kinds\/letGo: load life #[12], ones/, 'The load only avoids an `and` of KEPT that would change nothing.'],
  [
    /^kinds\/letGo: load name, ones/,
    'An object without a name counts as a key only if the entry beside it still has the name of a key. It then stays while a death is to be told. No model uses the object of a key again for an object without a name. test/unit/keyed.test.ts ("an object that was a key") fails.',
  ],
  [
    /^kinds\/letGo: load (died #4, (zero|ones)|where, ones)/,
    'It decides whether the object of a key is used again. If the object is freed in place of that, the thread makes another. If the object is used again although an owner has died, only the count of deaths is wrong, which diagnostics show; a death that is still to be told keeps the object.',
  ],
  // --- Turns: how long threads poll, and when a turn ends ---
  [
    /^mutex-pace\/(setLimit: (load pace|store turn)|turnLasted: (load|store))/,
    'It decides how long a turn lasts, within the limit that the bypass bound sets. check/test/mutex.test.ts ("a turn", "the pace") has the numbers.',
  ],
  [
    /^mutex\/roomForWaiter: load counter\/variant, zero/,
    'No model has so many waiters, and a request for a mutex that is closed learns that a step later. test/unit/core-steps.test.ts fails.',
  ],
  [
    /^mutex\/queue: load asks, swapped with rmw counter\/variant/,
    'A cancelAll between the two counts as one before the request: no element stands for that yet.',
  ],
  [
    /^mutex\/queue: load grant, (zero|ones)/,
    'The request misses that it is the head at once, or that the mutex is closed. untilDue, which follows, reads grant again.',
  ],
  [
    /^mutex\/queue: rmw ticket #2, dropped/,
    'The mutex is closed: its tickets admit nobody, and roomForWaiter refuses later requests before they take one.',
  ],
  [/^queue\/parkFor: store, swapped with load/, 'The store only decides which sleepers are woken early (polling.ts).'],
  [
    /^mutex-head\/(compete: load turn #\d|compete: rmw counter\/variant #1), (zero|ones|dropped)/,
    'It decides whether the head, which is awake, ends the turn by taking or reserving the lock. Otherwise the limit or an idle lock ends it. check/test/mutex.test.ts ("reserves the lock when the turn is over").',
  ],
  [
    /^mutex-head\/compete: (load pace|store( pace)?), (zero|ones|dropped)/,
    'It decides whether the head reserves the lock before its first sleep, or before the second. check/test/mutex.test.ts ("as head sleeps when one owner has had the lock for all the polls").',
  ],
  [
    /: (load|store) sleepers( #\d)?, |, swapped with store sleepers/,
    'The mark of sleepers is a hint (core/queue/polling.ts); check/test/polling.test.ts has what it does.',
  ],
  [
    /^(mutex-head\/compete|queue\/poll): (load|store) vain( #\d)?, (zero|ones|dropped)/,
    'The count of vain polls is a hint (core/queue/polling.ts); check/test/polling.test.ts has the numbers.',
  ],
  [
    /^mutex-head\/(compete: load counter\/variant #[123]), (zero|ones)/,
    'It decides whether the head takes the free lock at once, which it always may, or looks at it once more before it sleeps.',
  ],
  [
    /^(mutex-head\/compete|mutex\/(queue|pollLimit)): load spin, (zero|ones)/,
    'The thread does not poll before it sleeps or queues up. check/test/mutex.test.ts checks how it polls.',
  ],
  [
    /^(mutex-head\/compete|mutex\/queue): load( #\d)?, (zero|ones)/,
    'It decides whether to poll on; check/test/mutex.test.ts ("a thread that polls").',
  ],
  [
    /^mutex\/lock: load (parked\/limit #1|counter\/variant), (zero|ones)/,
    'It decides how the lock is taken. With a wrong limit the thread loads the word and compares it with the limit again. With a wrong word it goes on to queue, which loads the word again. check/test/mutex.test.ts ("an owner") checks the right values.',
  ],
  [
    /^mutex\/lock: cmpxchg counter\/variant #[23], fails/,
    'The thread takes the slow path, to the next exchange or to queue, which loads the word again. check/test/mutex.test.ts ("locks and unlocks by one access to the word each") checks the fast path.',
  ],
  [
    /^mutex\/queue: load where, zero/,
    'The load only avoids setting a bit that is already set (core/arena/elements.ts).',
  ],
  [
    /^mutex-head\/compete: store wake, swapped with store head/,
    'Both come before the access that says that the head sleeps, and other threads read both only after that.',
  ],
  [
    /^mutex\/wakeHead: rmw counter\/variant, dropped/,
    'SLEEPING stays set: the next unlock wakes the head once more, in vain.',
  ],
  // --- A closed semaphore ---
  [
    /^papers\/places\/arriveAt: rmw parked\/parked\/limit, swapped/,
    'The sequence is read before the waiter is counted. A signal in between may not move the sequence. But the word has changed before the signal, and the waiter sees that when it looks at the word, after both.',
  ],
  [
    /^papers\/places\/(signalAt|closePlace): load parked\/(parked\/)?limit, ones/,
    'A notify without a sleeper has no effect.',
  ],
  // --- The algorithms: nodes, gates, chains ---
  [
    /^papers\/[\w-]+\/\w+: notify (gate|start|bytes)( #\d)?, one/,
    'Only the owner of the element sleeps on a gate, and on the next of a queue node.',
  ],
  [/^papers\/nodes\/takeNode: store (start|bytes|end, counter), swapped/, 'The node is new: no other thread knows it.'],
  [
    /^papers\/(clh-lock|mcs-lock|reciprocating-lock|lifo-lock)\/\w+: store owner\/taken( #2)?, swapped with load/,
    'Each thread only compares the owner word with its own number, so the value matters to the owner alone.',
  ],
  [
    /^papers\/reciprocating-lock\/(recipUnlock: store bytes, swapped|recipLock: store bytes, swapped with store end)/,
    'Only its own thread reads and writes next and end of a node.',
  ],
  [
    /^papers\/(gate\/park|nodes\/passGate|mcs-lock\/mcsUnlock): (cmpxchg (gate|start|bytes), (dropped|fails)|wait (gate|start|bytes), dropped)/,
    'The waiter polls instead of sleeping.',
  ],
  [
    /^papers\/[\w-]+\/\w+: wait never, (dropped|loosened)/,
    'The wait is one pause between polls (relax.ts): the thread yields or naps for a moment. NEVER is always 0.',
  ],
  [
    /^papers\/[\w-]+\/\w+: rmw (futile wakes|collisions)( #\d)?, dropped/,
    'Only diagnostics read the count; test/unit/inspect.test.ts checks it.',
  ],
  [
    /^papers\/[\w-]+\/\w+: load (due |channel |location )?head, ones/,
    'The thread makes an exchange, or a look at the waiters that are due, where there is no waiter.',
  ],
  [
    /^papers\/due-chains\/\w+: load due head, zero/,
    'The load is for a first try of the cmpxchg that pushes. It fails if an element is there, and answers which.',
  ],
  [
    /^papers\/due-chains\/wakeDue: load due posts #1, swapped with rmw due head/,
    'Nothing is evaluated between the two. A counter that was moved before that load is read after it, and the last load sees the posts of all others.',
  ],
  [
    /^papers\/chains\/recover: cmpxchg head, fails/,
    'The waiter gets off by way 2, 3 or 4 in place of 1. By way 4 it takes all off, itself among them, and wakes them; they look again.',
  ],
  [
    /^papers\/chains\/(addressWaitUntil|chainAwait): load passed, zero/,
    'A grant of 0 proves no ticket, so this waiter, or those below to whom it passes it on, read grant themselves.',
  ],
  [
    /^papers\/chains\/addressWaitUntil: load grant #2, zero/,
    'The waiter pushes itself once more, then reads grant as before its first sleep, and gets off the chain.',
  ],
  [
    /^papers\/hashes\/(bucketOf|chainSlotOf): load robust\/hash, (zero|ones)/,
    'Waiters and releasing threads come to their slot by this one function, so they agree on another slot. A release looks at enough tickets in a row to meet every slot by any of the hashes, if not more.',
  ],
  [
    /^papers\/event-count\/eventAwait: load grant, zero/,
    'A value that has been reached misses its short-cut. The waiter pushes itself, reads the count, and gets off the chain.',
  ],
  [
    /^papers\/(lifo-lock\/lifoTryLock|queue-lock\/queueTryLock): load ticket, zero/,
    'The load only avoids a cmpxchg that would fail.',
  ],
  [
    /^papers\/tts-lock\/ttsLock: cmpxchg ticket #1, fails/,
    'The thread takes the slow path, which loads the word and tries again.',
  ],
  [
    /^papers\/nodes\/returnNodes: load below, swapped with store request/,
    'The node is at hand: only its own thread reads and writes its link and its request.',
  ],
  [
    /^papers\/(chains\/recover|channels\/waitOnce|locations\/flush): load gate, zero/,
    'The waiter takes the others off the chain and wakes them, though its own gate is open. They look again, and its park returns at once.',
  ],
  // --- near-and-far.ts, and the lock over it ---
  [
    /^papers\/twa-lock\/twaIsOnChains: load/,
    'All threads go by it, so the lock has the other one of two ways to wait. test/unit/locks.test.ts checks that each lock has its own.',
  ],
  [
    /^papers\/twa-lock\/twaLock: (rmw ticket, swapped|load grant( #\d)?, (zero|ones))/,
    'A request that is due at once misses its short-cut. It looks at grant again, on a chain or at a bucket, before it sleeps.',
  ],
  [
    /^papers\/near-and-far\/(awaitTurn|post|releaseConservative): load threshold,/,
    'Only who polls grant changes. A release signals the tickets that become due in any case: as its first row, or as its second, if the threshold seems to be 0. test/stress/listings.test.ts checks which waiters leave their chains, and that none is woken in vain.',
  ],
  [
    /^papers\/near-and-far\/releaseConservative: rmw grant, swapped with load threshold/,
    'The threshold of an object never changes.',
  ],
  [
    /^papers\/near-and-far\/awaitTurn: load grant, zero/,
    'A waiter that polls grant sees that it is due only when it has gone to its chain, and looks again there.',
  ],
  [
    /^papers\/near-and-far\/dispose: load grant,/,
    'The value is passed along the chains. One that proves nothing makes a waiter read grant itself, and one below 0 says what is so: the semaphore is closed.',
  ],
  [
    /^papers\/near-and-far\/waitUntil: load bytes #\d,/,
    'They are O_LAZY, O_ALTERNATES and O_LOOK. A lazy waiter reads the sequence before grant as any other does. A waiter that alternates waits for its first element later. The looks at grant before the push only spare a push.',
  ],
  [
    /^papers\/near-and-far\/waitUntil: load grant #3, zero/,
    'It is a look before the push. A grant of 0 proves no ticket, and the waiter goes to its chain and looks again.',
  ],
  [
    /^papers\/near-and-far\/waitUntil: (store (gate|end, counter|start), swapped with|load due head, zero)/,
    'No other thread knows the element before the cmpxchg of due head, which fails if the head is not what the load said.',
  ],
  [
    /^papers\/near-and-far\/waitUntil: load grant #4, ones/,
    'The waiter on a chain of due waiters evaluates their conditions itself, though its own is not satisfied.',
  ],
  [
    /^papers\/(?!twa-semaphore\/)[\w-]+\/\w+: load spin, (zero|ones)/,
    'It only decides how long a waiter polls before it sleeps.',
  ],
  // --- Only slower ---
  [/^names\/openName: load bytes,/, 'All names of one length have the same hash, and stand in one list.'],
  [
    /^(queue\/acquire(One|Robust)?|mutex\/queue|runs\/arrive): rmw ticket #1, swapped/,
    'grant is read too early, so the thread does not see that it has become due in between. untilDue and enterRun read grant again after they have entered the element, and the same settles a queued promise.',
  ],
  [
    /^papers\/(twa-semaphore\/twa|ticket-semaphore\/ticket|ticket-lock\/ticket)(Acquire|AcquireSequestered|Take|Lock): rmw (ticket|owner\/taken), swapped/,
    'grant is read too early. The loop that follows reads it again before the thread sleeps, or the thread sleeps only while grant has that value.',
  ],
  [
    /^papers\/(twa-semaphore\/twa|ticket-semaphore\/ticket|ticket-lock\/ticket)(Acquire|AcquireSequestered|Take|Lock): load grant, (zero|ones)/,
    'A request that is due at once misses its short-cut. twaAwait or ticketAwait, which follows, reads grant again.',
  ],
  [
    /^papers\/ticket-semaphore\/awaitTurn: load grant #[12], zero/,
    'Tickets are not below 0, so a grant of 0 admits none. The waiter polls on, or its wait compares grant with 0 and returns at once, and it reads grant again.',
  ],
  [
    /^papers\/(ticket-semaphore\/ticketRelease|ticket-lock\/ticketUnlock): rmw grant, swapped with load spin$/,
    'O_SPIN never changes.',
  ],
  [
    /^papers\/twa-semaphore\/(twaIsSequestered|twaAvailableSequestered): load/,
    'It answers a question of the program, and no thread waits or is admitted by it. test/unit/twa-semaphore.test.ts checks the answers.',
  ],
  [
    /^papers\/ticket-semaphore\/(ticketAwaitDelayed|ticketDelay): load( counter\/variant)?, (zero|ones)/,
    'It only decides how long a waiter pauses between two looks at grant. check/test/delay.test.ts checks it.',
  ],
  [
    /^papers\/twa-semaphore\/twaAwait: load spin, ones/,
    'Every waiter then counts as near. So it looks at grant again before it sleeps, and a release always pokes the bucket of the ticket that is due.',
  ],
  [
    /^papers\/twa-semaphore\/twaAwait: load sequence #1,/,
    'If the value is wrong, the first sleep ends at once, and sequence is read again. If it is right, no thread has poked the bucket since.',
  ],
  [
    /^papers\/twa-semaphore\/twaAwait: load sequence #2,/,
    'The waiter stops polling the sequence sooner, and then looks at grant.',
  ],
  [
    /^papers\/twa-semaphore\/twaAwait: load sequence #3,/,
    'This is the sequence after polling. If the value is wrong, the sleep that follows ends at once, and sequence is read again.',
  ],
  [
    /^papers\/twa-semaphore\/twaAwait: rmw parked #2, swapped/,
    'The count of parked waiters may include this one until it has read the sequence. That makes one notify more at most.',
  ],
  [
    /^papers\/twa-semaphore\/post: load spin, zero/,
    'The bucket of the ticket that is due is poked whatever the threshold is. Only the waiter that warms up is another, or there is none.',
  ],
  // --- One sleeper at most ---
  [
    /^(queue\/(recover|endWait)|condition\/relay|closing\/dispose|reaping\/(cleanUp|sweep|reap)|mutex\/(wakeHead|mutexDispose)): notify (doorbell|doorbell\/(state|wake)|state|wake)( #\d)?, one/,
    'Only its owner sleeps on an element, and only its thread on a doorbell and on wake.',
  ],
  // --- Deaths as they happen in the runtimes, and in no model ---
  [
    /^reaping\/(cleanUp: notify state|reap: notify wake), (dropped|one)/,
    'No thread of a model sleeps on after its death. The case "dying: terminated workers that wait reach nothing any more" of runtimes/src/suite/cases fails in Deno. One thread sleeps there at most.',
  ],
  [
    /^arena\/create: store life, dropped/,
    'No model has a keeper, which is thread 0. test/unit/keeper.test.ts and reaping.test.ts fail.',
  ],
  // --- The phase word (kinds/phase/phase.ts) ---
  [
    /^phase\/sleepInPhase: (load (spin|vain #\d)|load|load bytes #1|store vain #\d), (zero|ones|dropped)/,
    'It decides how long a waiter polls before it sleeps.',
  ],
  [
    /^phase\/disposePhase: (load (life|ticket)|cmpxchg life|store grant)/,
    'A copy of objects/closeObject, which other models come to in the core. Nobody reads the grant of these kinds.',
  ],
  // --- Conditions ---
  [
    /^condition\/relay: (load (extent|cell|state|request|start) #1|load state #2), (zero|ones)/,
    'The relay takes the waiter for none, and goes on to the next: more are woken at once, and nobody is forgotten.',
  ],
  [
    /^condition\/(notify|notifyOne): load (counter\/variant|grant), (zero|ones)/,
    'The notifier relays, or calls notify, in vain.',
  ],
  [/^condition\/relay: cmpxchg counter\/variant, loosened/, 'Two relays at a time do no harm: one looks again.'],
  [
    /^condition\/relay: load (held|state #4), (zero|ones)/,
    'It decides how many tickets wakeDue skips. A relay looks at one.',
  ],
  [
    /^condition\/relay: (load|cmpxchg)( #[12])?, (zero|ones|dropped|loosened|fails)/,
    'The copy of trim in the relay: an extent stays as it is, or is lowered as in the core, where models look at it.',
  ],
  // --- RwLock (kinds/rw-lock/rw-lock.ts) ---
  [/^rw-lock\/announceDrain: load parked\/limit, (zero|ones)/, 'The writer looks again and again, and sleeps never.'],
  [
    /^rw-lock\/(beginRead: load counter\/variant #2|(endRead|giveUpRead): load counter\/variant), ones/,
    'A writer is woken that does not sleep.',
  ],
  [
    /^queue\/parkFor: store gate #2, dropped/,
    'The mark that the waiter may sleep stays. It costs later releases a notification in vain, and no more.',
  ],
  [/^rw-lock(-seats)?\/\w+: notify parked\/limit, one/, 'Only the writer that has the turn sleeps there.'],
  [
    /^rw-lock\/endReadWait: store bytes, swapped with load counter\/variant/,
    'The seat is in the way of every writer before as after.',
  ],
  [/^rw-lock\/tryRead: load bytes, zero/, 'The seat WAITS and no more, so it is free then.'],
  [
    /^rw-lock\/tryRead: load counter\/variant #1, zero/,
    'A reader that tries waits in its seat for a moment. It keeps a writer out no longer than any other reader.',
  ],
  [
    /^rw-lock\/(tryRead: load counter\/variant #[12]|stampOf: load counter\/variant|readToo: load counter\/variant), (zero|ones)/,
    'It asks in vain, or is let in with its thread. test/unit/rw-lock.test.ts fails.',
  ],
  // --- Overflow lines (queue/waiting-array.ts, trim) ---
  [
    /^(queue\/wakeDue: (cmpxchg extent #[12], loosened|load cell #2, zero)|waiting-array\/enter: cmpxchg extent, loosened)/,
    'check/test/search.test.ts plants this fault in the models "lines come and go" and "lines of 1 come and go", which have too many states for mutants.',
  ],
  [
    /^queue\/wakeDue: (load extent #2, (zero|ones)|cmpxchg extent #1, (dropped|fails)|load cell #2, ones)/,
    'The extent stays as it is, so later looks are longer than they need be. test/stress/order.test.ts looks at it.',
  ],
  [
    /^queue\/(wakeDue: load held, (zero|ones)|takeBack: store held, (dropped|swapped))/,
    'check/test/search.test.ts plants this fault in the model "cancel: heavy, and two in its place, one a promise", which has too many states for mutants.',
  ],
  [
    /^(queue\/(wakeReleased|parkFor|untilDue)|polling\/pollsOf): (load( (spin|vain|cell|life|request|ticket( #[23])?|grant #[12]))?( #\d)?|store( vain)?( #\d)?|notify), (zero|ones|dropped|one)/,
    'It decides how long a waiter polls, and which sleeping waiters are woken early, so that they poll when their turn comes. No safety rests on that; check/test/polling.test.ts looks at it.',
  ],
  [
    /^attachments\/createObject: store (where|vain|pace), (dropped|swapped)/,
    'A new object finds these words as they were left: a mark that is set already only makes dispose look further, and the two counts are hints.',
  ],
  [
    /^(?!closing).*: load where, zero/,
    'The load only saves an or of a bit that is set already (core/arena/elements.ts).',
  ],
  [
    /^closing\/endWaits: load where, ones/,
    'The marks only save looks at parts of the pool where no waiter of the object has been.',
  ],
  [
    /^queue\/wakeDue: load state #2, (zero|ones)/,
    'The releasing thread then looks into the bucket of each ticket, and skips none.',
  ],
  // --- Channels and watches ---
  [
    /^channel\/(tryClaim|claim): store (start|end, counter), swapped/,
    'In R14 no death can come between, and only the thread itself and its reaper read what it has claimed.',
  ],
  [
    /^(channel\/leaveSenders|reaping\/cleanUp): store below, swapped with rmw head/,
    'In R18 no death can come between, and only the thread itself and its reaper read as how many senders it counts.',
  ],
  [
    /^(channel\/pass|watch\/publish): load counter\/variant, swapped with cmpxchg/,
    'The peer of a linked end never changes.',
  ],
  [
    /^channel\/abandon: load (parked\/limit|departed), (zero|ones)/,
    'The load decides between ADMITTED and NEWS. Whoever calls abandon for a call that was cut short then looks itself whether the channel has ended, and is told of deaths by a later call. A sender that drops a place has nothing to end.',
  ],
  [
    /^channel\/abandon: store state, swapped with rmw turn/,
    'In R17 no exception comes between, and no thread goes by the count.',
  ],
  [
    /^channel\/pass: store state, swapped with store below #2/,
    'In R17 no death can come between, and only the thread itself and its reaper read what is unread.',
  ],
  [/^channel\/pass: cmpxchg bytes, fails/, 'The thread then marks its places, and passes them on in passOn.'],
  [/^channel\/pass: load owner\/taken, (zero|ones)/, 'The load only saves a call of passOn that finds no mark.'],
  [/^channel\/pass: load parked\/limit, zero/, 'The thread is told of a death at the other end by a later call.'],
  [
    /^channel\/pass: load departed, zero/,
    'Once the queue of the senders is closed, each pass that moves done is answered MORE, and its thread then looks whether the channel has ended. A pass out of turn leaves this to the thread that moves done past its place. Before that, whoever closes looks at the messages later.',
  ],
  [
    /^reaping\/cleanUp: load passed, (zero|ones)/,
    'E_PEER only shortens the search for the attachment to the other end.',
  ],
  [
    /^reaping\/cleanUp: store state #1, swapped with rmw parked\/limit/,
    'In R17 no death can come between, and a thread that is told of the loss earlier or later does nothing else.',
  ],
  [
    /^reaping\/cleanUp: store end, counter, swapped with rmw parked\/limit #2/,
    'In R20 no death can come between, and only the thread itself and its reaper read what is unread.',
  ],
  [
    /^closing\/closeQueue: load ticket, (zero|ones)/,
    'grant is far below each ticket either way, since a model takes few tickets.',
  ],
  [
    /^attachments\/createObject: store bytes, swapped with load life #2/,
    'No other thread knows the object before it is LIVE, and until then only this thread changes its life.',
  ],
  [/^channel\/pollFor: /, 'It decides how long a thread polls before it takes a ticket. No safety rests on that.'],
  [
    /^channel\/(sendWord: store start, swapped with load since|takeWord: store since, swapped with load start)/,
    'The place is the own one of the thread until pass, and the attachment always.',
  ],
  [
    /^pages\/pageCount: load (size of threads|end of the arena), (zero|ones)/,
    'The arena then counts up to a page more. test/unit/metrics.test.ts takes all pages of an arena.',
  ],
  [
    /^watch\/(publish|tell): rmw grant, swapped with load ticket #2/,
    'A thread that takes its ticket between the two finds the version newer when it stands in line.',
  ],
  [
    /^watch\/(publish|tell): load grant, (zero|ones)/,
    'Permits are left over then. A thread that gets one of them finds the version as it was, and begins again.',
  ],
];
