/** Helpers that the jobs share. */
import { Arena, Mutex, Semaphore } from 'taketurns';

const CLASSES = { Mutex, Semaphore };
// See Member in test/support/team.ts.
if (!process.argv.includes('core')) {
  Object.assign(
    CLASSES,
    await import('taketurns/algorithms'),
    await import('taketurns/keyed'),
    await import('taketurns/p0514'),
    await import('taketurns/sync'),
  );
  const { Channel, number } = await import('taketurns/channel');
  CLASSES.Channel = { from: (handle) => Channel.from(handle, number) };
}

/** The library objects of each arena. In a thread an arena is one object, however often its handle arrives. */
const known = new Map();

/** Returns the library object for a handle. This thread keeps one for each shared object. */
export function attach(handle) {
  const { arena: where, address, generation } = handle.capacitor ?? handle;
  const arena = Arena.from(where);
  const key = `${handle.kind} ${address} ${generation}`;
  if (!known.has(arena)) known.set(arena, new Map());
  const objects = known.get(arena);
  if (!objects.has(key)) objects.set(key, CLASSES[handle.kind].from(handle));
  return objects.get(key);
}

/** Blocks until every party has come. */
export function meet(barrier, parties) {
  Atomics.add(barrier, 0, 1);
  Atomics.notify(barrier, 0);
  for (let come = Atomics.load(barrier, 0); come < parties; come = Atomics.load(barrier, 0)) {
    Atomics.wait(barrier, 0, come);
  }
}

/** Returns a generator of random numbers from 0 to 1, which differ with the seed. */
export function random(seed) {
  let x = (seed * 2654435761 + 12345) >>> 0 || 1;
  return () => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return (x >>> 0) / 2 ** 32;
  };
}

/** Does nothing for a while. */
export function spin(turns) {
  let x = 0;
  for (let i = 0; i < turns; i++) x = Math.imul(x + i, 1664525);
  return x;
}

const never = new Int32Array(new SharedArrayBuffer(4));

/** Sleeps for the shortest possible time. */
export function nap() {
  Atomics.wait(never, 0, 0, 0.05);
}

/** Polls for a condition that is about to become true. It sleeps now and then, so that other threads can run. */
export function poll(condition) {
  for (let i = 1; !condition(); i++) if (i % 2000 === 0) nap();
}

/** Appends a number to a shared log. Word 0 of the log is its length. */
export function note(log, entry) {
  Atomics.store(log, 1 + Atomics.add(log, 0, 1), entry);
}
