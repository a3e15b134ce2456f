/** Promises of phase objects give up, and nothing else goes on: the process ends, and the memory of an arena goes. */
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
  // Other threads may know it, so it is not closed with the arena.
  event.handle;
  told[1] = await event.waitAsync({ timeout: 1 });
  memories.push(new WeakRef(arena.handle.memory));
  arena.dispose();
}
// What a variable of the loop held may live on until it is set again.
new Arena().dispose();
for (let i = 0; i < 10; i++) {
  await sleep(1);
  collect();
}
console.log(`${told.join(', ')}, ${memories.slice(0, 2).filter((memory) => memory.deref()).length} left`);
