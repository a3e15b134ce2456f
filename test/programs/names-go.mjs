/**
 * Opens very many names, one after another, in the default arena, and drops each of them. No name is disposed of. Then
 * opens names whose objects are not as they were made, drops the library objects, and opens the names again.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Arena, Mutex, Semaphore } from 'taketurns';
import { McsLock } from 'taketurns/algorithms';
import { Event, Once, RwLock, WaitGroup } from 'taketurns/sync';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc');
const NAMES = Number(process.argv[2] ?? 100_000);
const turn = () => new Promise((resolve) => setImmediate(resolve));
const used = () => Arena.default.stats().objects.used;

/** Lets the collector take what the program has dropped. */
async function collect(times = 4) {
  for (let i = 0; i < times; i++) {
    await turn();
    gc();
  }
  await turn();
}

const errors = [];
let most = 0;
for (let i = 0; i < NAMES; i++) {
  try {
    Mutex.open(`user:${i}`).runExclusive(() => {});
  } catch (error) {
    errors.push(error.message);
  }
  if (i % 10_000 === 0) {
    most = Math.max(most, used());
    // The collector of a busy machine may come late; the test is about what the library does once it came.
    await collect(1);
  }
}
await collect();
const left = used();

// A handle of the first may be on its way. The others are not as they were made.
const changed = {
  sent: () => Semaphore.open('sent', 1).handle,
  taken: () => Semaphore.open('taken', 2).acquire(),
  released: () => Semaphore.open('released', 0).release(),
  locked: () => Mutex.open('locked').lock(),
  'held in the queue': () => McsLock.open('held in the queue').lock(),
  set: () => Event.open('set').set(),
  done: () => Once.open('done').run(() => {}),
  'to do': () => WaitGroup.open('to do').add(),
  read: () => RwLock.open('read').lockRead(),
};
for (const change of Object.values(changed)) change();
// And these are as they were made.
const idle = {
  'a semaphore': () => Semaphore.open('a semaphore', 2).hold().release(),
  'a mutex': () => Mutex.open('a mutex').runExclusive(() => {}),
  'a lock': () => McsLock.open('a lock').run(() => {}),
  'an event': () => {
    const event = Event.open('an event');
    event.set();
    event.reset();
  },
  'a lock of readers': () => RwLock.open('a lock of readers').write().unlock(),
};
for (const use of Object.values(idle)) use();
const opened = used() - left;
await collect();
const stay = used() - left;
const found = {
  sent: Semaphore.open('sent').available,
  taken: Semaphore.open('taken').available,
  released: Semaphore.open('released').available,
  locked: Mutex.open('locked').locked,
  'held in the queue': McsLock.open('held in the queue').tryLock(),
  set: Event.open('set').isSet,
  done: Once.open('done').done,
  'to do': WaitGroup.open('to do').pending,
  read: RwLock.open('read').readers,
};
// What is given back by another library object goes at the next look.
Semaphore.open('taken').release();
Mutex.open('locked').unlock();
await collect();
Semaphore.open('one more', 1);
Semaphore.open('and one more', 1);
await collect();
Semaphore.open('one more', 1);
await collect();
const gone = ['taken', 'locked', ...Object.keys(idle)].filter((name) => {
  try {
    Semaphore.open(name);
    return false;
  } catch (error) {
    return /nothing of that name/.test(error.message);
  }
});
console.log(JSON.stringify({ errors, few: most <= 20_001, left, opened, stay, found, gone }));
