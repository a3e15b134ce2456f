/**
 * How threads wait and wake each other over waiting chains: Listing 3 of Dice and Kogan, Semaphores Augmented with a
 * Waiting Array. near-and-far.ts has the semaphore itself.
 *
 * A waiter waits under the key of its ticket until grant has passed a value, and a release signals the keys of the
 * tickets whose values grant has passed. Without collisions this wakes the threads of these tickets and no others. The
 * object says how chains are woken: WAKE_ALL is the listing, WAKE_PASS and WAKE_DUE are the refinements in its text.
 *
 * Before a waiter pushes its element, it may look at grant a few times more (O_LOOK). This spares the waiter the chain
 * if its turn is close. The listing calls such looks tantamount to global spinning, so they are bounded, and there are
 * none by default.
 */
import { GRANT } from '../arena/words';
import { pause } from '../queue/polling';
import { addressSignal, addressSignalPolite, addressWaitUntil, satisfied } from './chains';
import { dueSignal, dueWait } from './due-chains';
import { O_LOOK, O_WAKE, WAKE_DUE, WAKE_PASS } from './words';

/** Waits until grant has passed `value` or is closed, and returns a grant that proves it. The caller has looked. */
export function chainWait(s: usize, key: u32, value: i64, polls: i32): i64 {
  for (let looks = atomic.load<i32>(s, O_LOOK); looks > 0; looks--) {
    pause();
    const grant = atomic.load<i64>(s, GRANT);
    if (satisfied(grant, value)) return grant;
  }
  const wakes = atomic.load<i32>(s, O_WAKE);
  if (wakes !== WAKE_DUE) return addressWaitUntil(key, s, value, polls, wakes === WAKE_PASS);
  return dueWait(key, s, value, polls) ? value + 1 : -1;
}

/** Wakes the waiters under the key, after grant has come to this value. */
export function chainSignal(s: usize, key: u32, grant: i64, polite: bool): void {
  const wakes = atomic.load<i32>(s, O_WAKE);
  const about: usize = wakes === WAKE_PASS ? s : 0;
  if (wakes === WAKE_DUE) dueSignal(key);
  else if (polite) addressSignalPolite(key, about, grant);
  else addressSignal(key, about, grant);
}
