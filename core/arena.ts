/**
 * The arena: creation, the bases of its regions, and the registry of threads.
 *
 * One thread creates an arena in fresh zeroed memory, before anyone else can know of it; every thread,
 * the creator too, then opens it and registers. A thread's own state (its index, its spare elements, the
 * bases) lies in the globals of its own instance of this module, so it needs no lookup.
 *
 * A registered thread owns one RESERVED element, its spare, whenever it is outside acquire: taking a
 * ticket then never needs an allocation, which could fail with the ticket already taken.
 */
import { reserve } from './elements';
import {
  ALIVE,
  ANSWER_FULL,
  ASLEEP,
  CLOSED_COUNTER,
  CLOSED_DISTANCE,
  CLOSED_OBJECT,
  ELEMENT_SIZE,
  FREE,
  GRANT,
  H_BUCKETS,
  H_ELEMENTS,
  H_END,
  H_ID,
  H_MAGIC,
  H_NAMES,
  H_OBJECTS,
  H_THREADS,
  H_VERSION,
  LIFE_EPOCH,
  LIFE_STATE,
  LINE,
  M_CLOSED,
  MAGIC,
  NAME_HEADS,
  NAME_HEADS_LEAST,
  NAME_HEADS_STEP,
  NAME_SIZE,
  O_COUNTER,
  OBJECT_SIZE,
  T_DOORBELL,
  T_HOST,
  T_LIFE,
  THREAD_SIZE,
  USED_THREADS,
  VERSION,
} from './layout';
import { bury } from './reaping';
import { begin, end } from './semaphore';

/** Lists of names. */
export let headCount: u32 = 0;
export let objects: usize = 0;
export let objectCapacity: u32 = 0;
export let names: usize = 0;
export let nameCapacity: u32 = 0;
/** Entries for names, published or being written: one more for each thread than there are names. */
export let draftCapacity: u32 = 0;
export let threads: usize = 0;
export let chains: usize = 0;
export let buckets: usize = 0;
export let bucketMask: u32 = 0;
export let lines: usize = 0;
export let lineCapacity: u32 = 0;
export let common: usize = 0;
export let elements: usize = 0;
export let elementCapacity: u32 = 0;

/** Index of this thread in the registry, from 1 on; 0 if it is not there. */
export let me: i32 = 0;
/** Its record's life while it is. */
export let myLife: i32 = 0;
/** This thread's spare element. */
export let spare: usize = 0;
/** A further spare, at hand while async waiters come and go; 0 if none. */
export let second: usize = 0;

export function setSpare(e: usize): void {
  spare = e;
}

export function setSecond(e: usize): void {
  second = e;
}

/** Sizes to bases. Returns the bytes that the arena takes in all. */
function place(
  objectCount: u32,
  nameCount: u32,
  threadCount: u32,
  bucketCount: u32,
  elementCount: u32,
): usize {
  objectCapacity = objectCount;
  nameCapacity = nameCount;
  draftCapacity = nameCount + threadCount;
  bucketMask = bucketCount - 1;
  elementCapacity = elementCount;
  lineCapacity = elementCount / 8;
  // 12 cells a line and two cells an element at most: the common lines can always hold every element.
  const commonCount = elementCount / 6 + 1;
  headCount = (max(nameCount, NAME_HEADS_LEAST) + NAME_HEADS_STEP - 1) & -NAME_HEADS_STEP;
  objects = NAME_HEADS + (headCount as usize) * 4;
  names = objects + (objectCount as usize) * OBJECT_SIZE;
  threads = names + (draftCapacity as usize) * NAME_SIZE;
  chains = threads + ((threadCount as usize) + 1) * THREAD_SIZE;
  buckets = chains + (bucketCount as usize) * LINE;
  lines = buckets + (bucketCount as usize) * LINE;
  common = lines + (lineCapacity as usize) * LINE;
  elements = common + (commonCount as usize) * LINE;
  return elements + (elementCount as usize) * ELEMENT_SIZE;
}

/** The bytes that an arena of these sizes takes. */
export function measure(
  objectCount: u32,
  nameCount: u32,
  threadCount: u32,
  bucketCount: u32,
  elementCount: u32,
): u32 {
  return place(objectCount, nameCount, threadCount, bucketCount, elementCount) as u32;
}

/** Lays out an arena in zeroed memory that no other thread knows yet. */
export function create(
  id: i64,
  objectCount: u32,
  nameCount: u32,
  threadCount: u32,
  bucketCount: u32,
  elementCount: u32,
): void {
  const end = place(objectCount, nameCount, threadCount, bucketCount, elementCount);
  atomic.store<i64>(H_ID, id);
  atomic.store<u32>(H_OBJECTS, objectCount);
  atomic.store<u32>(H_NAMES, nameCount);
  atomic.store<u32>(H_THREADS, threadCount);
  atomic.store<u32>(H_BUCKETS, bucketCount);
  atomic.store<u32>(H_ELEMENTS, elementCount);
  atomic.store<u32>(H_END, end as u32);
  atomic.store<i64>(CLOSED_OBJECT, CLOSED_DISTANCE, GRANT);
  // One word for kinds that tell by different bits of it that they are closed.
  atomic.store<i64>(CLOSED_OBJECT, CLOSED_COUNTER | M_CLOSED, O_COUNTER);
  atomic.store<i32>(H_VERSION, VERSION);
  atomic.store<i32>(H_MAGIC, MAGIC);
}

/** Whether the memory holds an arena of this version; if so, learns its bases. */
export function open(): bool {
  if (atomic.load<i32>(H_MAGIC) !== MAGIC || atomic.load<i32>(H_VERSION) !== VERSION) return false;
  const end = place(
    atomic.load<u32>(H_OBJECTS),
    atomic.load<u32>(H_NAMES),
    atomic.load<u32>(H_THREADS),
    atomic.load<u32>(H_BUCKETS),
    atomic.load<u32>(H_ELEMENTS),
  );
  return end === (atomic.load<u32>(H_END) as usize) && end <= (memory.size() as usize) << 16;
}

/** Learns the bases in an instance of another module, for a thread that is registered already, with this index. */
export function adopt(thread: i32): bool {
  me = thread;
  return open();
}

export function id(): i64 {
  return atomic.load<i64>(H_ID);
}

export function threadRecord(index: i32): usize {
  return threads + (index as usize) * THREAD_SIZE;
}

/** The address of this thread's doorbell. */
export function doorbell(): usize {
  return threadRecord(me) + T_DOORBELL;
}

/** The thread is about to sleep. Whether nobody has declared it dead. */
export function fallAsleep(): bool {
  return atomic.cmpxchg<i32>(threadRecord(me), myLife, myLife + (ASLEEP - ALIVE), T_LIFE) === myLife;
}

/** The thread has slept. Whether nobody has declared it dead. */
export function wakeUp(): bool {
  const asleep = myLife + (ASLEEP - ALIVE);
  return atomic.cmpxchg<i32>(threadRecord(me), asleep, myLife, T_LIFE) === asleep;
}

/** Every thread registered now, and perhaps others: their index is from 1 to this. */
export function mostThreads(): i32 {
  return atomic.load<i32>(USED_THREADS);
}

export function lifeOf(thread: i32): i32 {
  return atomic.load<i32>(threadRecord(thread), T_LIFE);
}

/** Whether a thread with this life is registered, and not declared dead. */
function isAlive(life: i32): bool {
  return (life & LIFE_STATE) === ALIVE || (life & LIFE_STATE) === ASLEEP;
}

/** Whether a thread sleeps in park. */
export function isAsleep(thread: i32): bool {
  return (lifeOf(thread) & LIFE_STATE) === ASLEEP;
}

/** What tells a thread from all others that have or had its index; 0 if none that is alive has it. */
export function lifeIfAlive(thread: i32): i32 {
  const life = lifeOf(thread);
  return isAlive(life) ? (life & ~LIFE_STATE) | ALIVE : 0;
}

/** What a thread gave to register; 0 for one that is not registered. */
export function hostOf(thread: i32): i32 {
  const host = atomic.load<i32>(threadRecord(thread), T_HOST);
  return isAlive(lifeOf(thread)) ? host : 0;
}

/**
 * Registers the calling thread, which its runtime calls `host` (0: it has no name for it). Its index, or
 * ANSWER_FULL when records or elements have run out.
 */
export function register(host: i32): i32 {
  const capacity = atomic.load<i32>(H_THREADS);
  for (let i = 1; i <= capacity; i++) {
    const life = atomic.load<i32>(threadRecord(i), T_LIFE);
    if ((life & LIFE_STATE) !== FREE) continue;
    // The counter tells who looks for a dead thread how far to look, so it comes first.
    let used = mostThreads();
    while (used < i) used = raise(used, i);
    if (atomic.cmpxchg<i32>(threadRecord(i), life, life + (ALIVE - FREE), T_LIFE) !== life) continue;
    atomic.store<i32>(threadRecord(i), host, T_HOST);
    me = i;
    myLife = life + (ALIVE - FREE);
    begin(i);
    spare = reserve();
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
 * The orderly end of a thread: gives up whatever it waits for, gives back what it holds of robust objects,
 * lets go of all it is attached to, and frees its record.
 */
export function unregister(): void {
  end();
  wakeUp(); // An exception may have ended its last sleep.
  bury(me, false);
  spare = 0;
  second = 0;
  // Before another thread has the record: the name would be taken for its own until it has stored that.
  atomic.store<i32>(threadRecord(me), 0, T_HOST);
  atomic.cmpxchg<i32>(threadRecord(me), myLife, myLife + (FREE - ALIVE) + LIFE_EPOCH, T_LIFE);
  me = 0;
}

/** Threads registered now. Racy by nature. */
export function threadCount(): i32 {
  const used = mostThreads();
  let alive = 0;
  for (let i = 1; i <= used; i++) if (isAlive(lifeOf(i))) alive++;
  return alive;
}
