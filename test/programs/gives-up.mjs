/** Promises of phase objects give up, and nothing else is pending. The process ends, and an arena's memory is freed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Arena } from 'taketurns';
import { Event, Latch } from 'taketurns/sync';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

const told = [await new Latch(1).waitAsync({ timeout: 1 })];
const memories = [];
for (let i = 0; i < 3; i++) {
  const arena = new Arena();
  const event = new Event({ arena });
  // After this, other threads may know the event, so it is not closed with the arena.
  event.handle;
  told[1] = await event.waitAsync({ timeout: 1 });
  memories.push(new WeakRef(arena.handle.memory));
  arena.dispose();
}
// The runtime may keep the last value of a variable of the loop until something else takes its place.
new Arena().dispose();
for (let i = 0; i < 10; i++) {
  await sleep(1);
  collect();
}
console.log(`${told.join(', ')}, ${memories.slice(0, 2).filter((memory) => memory.deref()).length} left`);
