/**
 * The second look at a deadlock, and why there is no false alarm.
 *
 * A look (src/look/look.ts) finds threads each of which waits for something that others of them hold. But the look reads
 * one word after another, while threads run. So what it has found may never have been true at one moment. The second look
 * reads the words again, in this order:
 *
 *     1. of each thread: how often it has gone to sleep, and that it sleeps              n, ASLEEP
 *     2. each fact: what the threads sleep on, wait for and hold                       the same values as before
 *     3. of each thread: that it sleeps, and how often it has gone to sleep              ASLEEP, the same n
 *
 * Claim: if the second look finds all this, there was a moment at which every fact was true, and the threads could not
 * go on by themselves.
 *
 * A thread that goes to sleep stores the word, adds 1 to `sleeps`, and then says ASLEEP (sleepOn in
 * core/arena/threads.ts). It says ALIVE when it wakes. So between two loads that give the same n, the thread says
 * ASLEEP for one span of time at most. As both 1 and 3 find ASLEEP, the thread slept all the while between them, in one
 * sleep. A thread that sleeps takes nothing and gives nothing back. Every word of a fact is one that only a thread of
 * the deadlock writes, or that says that a wait goes on:
 *
 *     fact                                            who could change it between 1 and 3
 *     the thread sleeps on this word, with no limit    the thread itself, which sleeps
 *     the owner in the word of a mutex                 the owner, which sleeps
 *     permits, a turn or a task that a thread holds    the thread, which sleeps
 *     the place of a reader                            the reader, which sleeps
 *     the generation of the object                     nobody: a thread that sleeps for it has a reference to it
 *     the request WAITS, the gate is shut              who grants it, opens it, cancels it or disposes of the object
 *
 * The generation is that which the look has found before it read the name of the object. So the name that the deadlock is
 * told with is that of this object, and of no earlier one in its place (deadlocks.ts).
 *
 * The first five lines are true all the while between 1 and 3, since they were read in between. The last line may turn
 * false, but only once: no thread goes back to waiting while it sleeps. So when the second look read the first fact,
 * all facts were true. At this moment each thread slept without a time limit, and what it waited for was held by a
 * thread that slept too. A request is granted when its permits come back, and a gate opens when its writer leaves.
 * Nobody but those that sleep could do either. So the wait of no thread can end, unless another thread calls
 * `cancelAll` or `dispose`, adds permits, or a thread of the deadlock is terminated. The texts say so.
 *
 * A thread also says ASLEEP while it looks in the middle of its own wait (long-sleeps.ts). It takes nothing and gives nothing
 * back then either, and neither does it between its sleep and its look. So this counts as the same sleep, with the same
 * n.
 *
 * A deadlock over several arenas. A thread that blocks for something in one arena may hold something in another. It has
 * a record in each, and sleeps by the one record alone. Then the facts lie in several memories, and the claim is the
 * same: the loads and stores of all memories have one order, and a thread that sleeps changes no word of any arena.
 * What has to be shown besides is that the owner there, of another number, is the thread that sleeps here. A `threadId`
 * is that of one thread of the process for ever. So these are facts too: both records have the same `threadId`, and the
 * record there is alive, in the life that the look has seen. They are read after the facts that name this record as the
 * holder. If the thread was declared dead in between, its record there was given up, and perhaps another thread had it
 * and holds the same now; but a record never has the same life again, so the second look fails.
 *
 * The record of a thread also says ASLEEP if an exception of the embedder has ended its sleep (the `timeout` of
 * node:vm), until it sleeps again or its event loop turns. A deadlock with such a thread may be a false alarm.
 *
 * check/src/models/deadlocks.ts runs this very generator in every interleaving with threads that lock, give up and die.
 */

/** A word that must still have a value, in the bits of a mask. */
export interface Fact {
  readonly address: number;
  readonly value: number;
  readonly mask: number;
}

/** A thread that must sleep: the addresses of its words, and its life as it says ASLEEP. */
export interface Sleeper {
  readonly lifeAt: number;
  readonly life: number;
  readonly sleepsAt: number;
}

/**
 * Yields the addresses of the words to load, and gets the values. Returns whether all facts were true at one moment,
 * while all the threads slept.
 */
export function* confirm(sleepers: readonly Sleeper[], facts: readonly Fact[]): Generator<number, boolean, number> {
  const sleeps: number[] = [];
  for (const { sleepsAt, lifeAt, life } of sleepers) {
    sleeps.push(yield sleepsAt);
    if ((yield lifeAt) !== life) return false;
  }
  for (const { address, value, mask } of facts) if (((yield address) & mask) !== value) return false;
  for (const [i, { sleepsAt, lifeAt, life }] of sleepers.entries()) {
    if ((yield lifeAt) !== life) return false;
    if ((yield sleepsAt) !== sleeps[i]) return false;
  }
  return true;
}

/** The address of a word in the memory with this index, where facts lie in several memories. */
const MEMORY = 2 ** 32;
export const addressIn = (memory: number, address: number): number => memory * MEMORY + address;

/** Runs `confirm` over some memories. */
export function isConfirmed(
  memories: readonly Int32Array[],
  sleepers: readonly Sleeper[],
  facts: readonly Fact[],
): boolean {
  const steps = confirm(sleepers, facts);
  let step = steps.next();
  while (!step.done) {
    const words = memories[Math.floor(step.value / MEMORY)] as Int32Array;
    step = steps.next(Atomics.load(words, (step.value % MEMORY) >>> 2));
  }
  return step.value;
}
