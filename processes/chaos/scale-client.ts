/** A process of `scale.ts`: waiters that take a semaphore of one permit again and again. */
import { Space } from '../src/index.js';
import { clientFor } from './connect.js';
import type { ScaleOrder } from './scale.js';

const { port, spaces, waiters, names, first } = JSON.parse(process.argv[2] as string) as ScaleOrder;
process.on('disconnect', () => process.exit());

const joined = await Promise.all(
  Array.from({ length: spaces }, () =>
    Space.connect(clientFor({ kind: 'server', port }), { space: 'scale', lease: 3_600_000, connectTimeout: 120_000 }),
  ),
);
const semaphores = await Promise.all(
  joined.map((space) => Promise.all(Array.from({ length: names }, (_, i) => space.semaphore(`name ${i}`, 1)))),
);
process.send?.({ memory: process.memoryUsage().heapUsed });
setInterval(() => process.send?.({ memory: process.memoryUsage().heapUsed }), 100).unref();
for (const mine of semaphores) {
  for (let task = 0; task < waiters; task++) {
    void (async () => {
      // If there are many names, each waiter begins with another name.
      for (let i = first * 7919 + task * 104_729; ; i++) {
        const held = await (mine[i % names] as (typeof mine)[0]).holdAsync();
        await held.release();
      }
    })();
  }
}
