/**
 * Threads: the record of each thread, and which thread the caller is.
 *
 * A record says whether its thread is alive, sleeps, or is dead (the table in words.ts). The number `life` tells a
 * thread from every other thread that had the same index before. death/registry.ts has registration and its end.
 */
import { open, threads } from './arena';
import {
  ALIVE,
  ASLEEP,
  DEAD,
  LIFE_STATE,
  NEVER,
  T_DOORBELL,
  T_LIFE,
  T_RUNTIME_ID,
  T_SLEEPS,
  T_SLEEPS_ON,
  THREAD_SIZE,
  USED_THREADS,
} from './words';

/** The index of this thread in the registry, from 1 on; 0 if the thread is not registered. */
export let me: i32 = 0;
/** The life in the record of this thread, while the thread is registered; before that, the life in record 0. */
export let myLife: i32 = DEAD;
/** The index of this thread again, in the width of the words that name an owner: requests, and the word of a mutex. */
export let owner: i64 = 0;

/**
 * Whether this thread traps if it wakes after it was declared dead. Some runtimes never stop a sleeping thread. There
 * the reaper wakes the dead thread, the host catches the trap and ends the thread, and the memory of the thread is
 * freed (src/host/deno-bun.ts).
 */
let traps: bool = false;

/** Records that this thread has this record. */
export function become(thread: i32, life: i32): void {
  me = thread;
  myLife = life;
}

/** Sets the owner that requests of this thread carry from now on; 0 when the thread ends. */
export function setOwner(thread: i32): void {
  owner = thread as i64;
}

/** Opens the arena in the instance of another module, for a thread that the core has registered with this index. */
export function adopt(thread: i32): bool {
  if (!open()) return false;
  become(thread, lifeOf(thread));
  return true;
}

export function threadRecord(index: i32): usize {
  return threads + (index as usize) * THREAD_SIZE;
}

/**
 * Counts an event, T_COLLISIONS or T_FUTILE_WAKES, in the record of this thread. No other thread writes these words of
 * the record.
 */
export function count(word: usize): void {
  atomic.add<i32>(threadRecord(me) + word, 1);
}

/** Returns the address of the doorbell of this thread. */
export function doorbell(): usize {
  return threadRecord(me) + T_DOORBELL;
}

/**
 * Sleeps while the word has this value, for at most so many nanoseconds (-1: for ever). Meanwhile the record says that
 * the thread sleeps, and on which word, for those who look for deadlocks (src/report/). The last two bits of the
 * nanoseconds go there with the address of the word:
 *     1    the wait has no time limit: the thread sleeps on after the nanoseconds
 *     2    the thread is passive: if it waits in a deadlock, it does nothing about it
 *
 * In some runtimes a thread that was terminated in its sleep can still wake and run on. If the thread was declared dead
 * in its sleep, its element and the other words of its wait may belong to another thread by now. So the thread touches
 * nothing: it sleeps for ever on the word NEVER, or traps.
 * @replaced by src/host/deno-bun.ts: calls this function, and throws if the thread was terminated in its sleep
 * @replaced by src/report/long-sleeps.ts: may tell first, in report mode, where the thread sleeps
 */
export function sleepOn(word: usize, value: i32, nanoseconds: i64): void {
  const record = threadRecord(me);
  atomic.store<i32>(record, (word as i32) | ((nanoseconds as i32) & 3), T_SLEEPS_ON);
  atomic.add<i32>(record, 1, T_SLEEPS);
  mustChangeLife(myLife, myLife + (ASLEEP - ALIVE));
  atomic.wait<i32>(word, value, nanoseconds); // D5, D10
  stayAwake();
}

/** Records that the thread is awake. If the thread was declared dead, it goes no further, as after its sleep. */
export function stayAwake(): void {
  mustChangeLife(myLife + (ASLEEP - ALIVE), myLife);
}

/** Has this thread trap if it wakes after it was declared dead. */
export function trapIfDead(): void {
  traps = true;
}

/** Records that the thread is awake, if it is not. Returns whether no thread has declared it dead. */
export function wakeUp(): bool {
  return changeLife(myLife + (ASLEEP - ALIVE), myLife);
}

/**
 * Changes the life in the record of this thread, if it is not changed yet: an exception may have ended the last sleep
 * of the thread before it recorded that it is awake. Returns false if another thread has declared this one dead.
 */
function changeLife(from: i32, to: i32): bool {
  const life = atomic.cmpxchg<i32>(threadRecord(me), from, to, T_LIFE);
  return life === from || life === to;
}

/** Does the same, and returns only if no thread has declared this one dead. */
function mustChangeLife(from: i32, to: i32): void {
  while (!changeLife(from, to)) {
    if (traps) unreachable();
    // This returns only after a spurious wake-up.
    atomic.wait<i32>(NEVER, 0, -1);
  }
}

/** Returns the highest index that was ever in use. No registered thread has a higher one. */
export function mostThreads(): i32 {
  return atomic.load<i32>(USED_THREADS);
}

export function lifeOf(thread: i32): i32 {
  return atomic.load<i32>(threadRecord(thread), T_LIFE);
}

/** Returns whether a thread with this life is registered and not declared dead. */
function isAlive(life: i32): bool {
  return (((life & LIFE_STATE) - ALIVE) as u32) <= ((ASLEEP - ALIVE) as u32);
}

/** Returns whether a thread sleeps in this library. */
export function isAsleep(thread: i32): bool {
  return (lifeOf(thread) & LIFE_STATE) === ASLEEP;
}

/** Returns the life that the thread with this index has while it is awake, or 0 if no such thread is alive. */
export function lifeIfAlive(thread: i32): i32 {
  const life = lifeOf(thread);
  return isAlive(life) ? (life & ~LIFE_STATE) | ALIVE : 0;
}

/** Returns the id that a thread passed to register; 0 if the thread is not registered. */
export function runtimeIdOf(thread: i32): i32 {
  const id = atomic.load<i32>(threadRecord(thread), T_RUNTIME_ID);
  return isAlive(lifeOf(thread)) ? id : 0;
}

/** Returns how many threads are registered now. Racy by nature. */
export function threadCount(): i32 {
  const used = mostThreads();
  let alive = 0;
  for (let i = 1; i <= used; i++) if (isAlive(lifeOf(i))) alive++;
  return alive;
}

/**
 * The ticket that the thread took last, on whichever object. The core exports this global, and the module of the
 * algorithms shares it (scripts/build-core.mjs). JavaScript reads it, for programs that check the order of admissions.
 */
export let ticketTaken: i64 = -1;

export function setLastTicket(ticket: i64): void {
  ticketTaken = ticket;
}
