/**
 * The registry: a thread takes a record when it registers, and frees it when it ends in an orderly way.
 */

import { ANSWER_FULL } from '../answers';
import { reserve, setSecondSpare, setSpare, spare } from '../arena/elements';
import { become, me, mostThreads, myLife, setOwner, threadRecord, wakeUp } from '../arena/threads';
import { ALIVE, FREE, H_THREADS, LIFE_EPOCH, LIFE_STATE, T_LIFE, T_RUNTIME_ID, USED_THREADS } from '../arena/words';
import { threadBegins, threadEnds } from '../kinds/kinds';
import { callEnded, noCall } from '../queue/pending-call';
import { cleanUp } from './reaping';

/**
 * Registers the calling thread, which its runtime knows by `runtimeId` (0: by none). Returns its index, or
 * ANSWER_FULL when records or elements have run out.
 */
export function register(runtimeId: i32): i32 {
  const capacity = atomic.load<i32>(H_THREADS);
  for (let i = 1; i <= capacity; i++) {
    const life = atomic.load<i32>(threadRecord(i), T_LIFE);
    if ((life & LIFE_STATE) !== FREE) continue;
    // A thread that looks for dead threads looks as far as the counter says, so the counter is raised first.
    let used = mostThreads();
    while (used < i) used = raise(used, i);
    if (atomic.cmpxchg<i32>(threadRecord(i), life, life + (ALIVE - FREE), T_LIFE) !== life) continue;
    atomic.store<i32>(threadRecord(i), runtimeId, T_RUNTIME_ID);
    become(i, life + (ALIVE - FREE));
    setOwner(i);
    noCall();
    threadBegins();
    setSpare(reserve());
    if (spare) return i;
    unregister();
    return ANSWER_FULL;
  }
  return ANSWER_FULL;
}

function raise(from: i32, to: i32): i32 {
  return atomic.cmpxchg<i32>(USED_THREADS, from, to) === from ? to : atomic.load<i32>(USED_THREADS);
}

/**
 * Ends this thread in an orderly way: the thread does for itself what a reaper does for a dead thread, and frees its
 * record. So it cancels its requests, gives back what it holds of robust objects, and detaches from all its objects. A
 * call that an exception has cut short is finished in the same way.
 */
export function unregister(): void {
  // An exception may have ended the last sleep of this thread. In this sleep the thread may have been declared dead.
  // Then its record and its elements belong to another thread by now, or soon.
  const alive = wakeUp();
  // What a pending call has left undone, cleanUp does.
  callEnded();
  setOwner(0);
  threadEnds();
  setSpare(0);
  setSecondSpare(0);
  if (alive) {
    cleanUp(me);
    // The runtime id is cleared before another thread can take the record. Otherwise a reader could take it for the
    // number of the next thread.
    atomic.store<i32>(threadRecord(me), 0, T_RUNTIME_ID);
    atomic.cmpxchg<i32>(threadRecord(me), myLife, myLife + (FREE - ALIVE) + LIFE_EPOCH, T_LIFE);
  }
  // The stale life makes every later exchange on a record fail.
  become(0, myLife);
}
