/**
 * Makes 30,000 objects that no other thread can know, and drops them. Collects garbage now and then, and prints whether
 * these objects use only a little of a small arena at the end.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Arena, Mutex, Semaphore } from 'taketurns';
import { Capacitor, McsLock } from 'taketurns/algorithms';
import { CountingSemaphore } from 'taketurns/p0514';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc');
const OBJECTS = 2000;
const arena = new Arena({ objects: OBJECTS, waiters: 64 });
const turn = () => new Promise((resolve) => setTimeout(resolve));

const makers = [
  () => new Semaphore(1, { arena }),
  () => new Semaphore(1, { arena }).acquire(),
  () => new Semaphore(2, { arena, robust: true }).hold(),
  () => new Mutex({ arena }).lock(),
  () => new McsLock({ arena }),
  () => new CountingSemaphore(1, { arena }).signal(),
  () => new Capacitor(2, { arena, lanes: 2 }),
];

// Other threads may know the first object by its handle and the second by its name, and the third has a promise that
// waits. So all three stay.
const sent = new Semaphore(1, { arena }).handle;
Semaphore.open('named', 1, { arena });
const told = [];
(() => {
  const semaphore = new Semaphore(0, { arena });
  const copy = { release: () => semaphore.release() };
  semaphore.acquireAsync().then(() => told.push('admitted'));
  setTimeout(() => copy.release(), 1);
})();

for (let made = 0; made < 30_000; ) {
  for (let i = 0; i < 600; i++, made++) makers[made % makers.length]();
  await turn();
  gc();
  await turn();
}
await turn();
const kept = [Semaphore.from(sent).available, Semaphore.open('named', 1, { arena }).available];
const { used } = arena.stats().objects;

let full = 'not full';
try {
  for (let i = 0; i <= OBJECTS; i++) new Semaphore(1, { arena }).handle;
} catch (error) {
  full = `${error.name}: ${error.message}`;
}
console.log(JSON.stringify({ few: used < OBJECTS / 10, kept, told, full }));
