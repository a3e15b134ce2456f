/**
 * The same timer runs on three machines, and the work must be done once in each period. All take turns with a mutex of one
 * name, and whoever is first notes the period beside the work. The others find the note. If a machine dies before it
 * notes the period, the next one does the work (again).
 *
 *     node processes/examples/once-per-period.mjs
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { Space } from 'taketurns-processes';
import { findServer } from './server.mjs';

const PERIODS = 5;
const PERIOD = 100; // milliseconds. Yours may be a day

if (process.send === undefined) {
  const url = await findServer();
  const reports = [];
  const machines = [1, 2, 3].map(() => fork(fileURLToPath(import.meta.url), [url]));
  for (const machine of machines) machine.on('message', (period) => reports.push(period));
  await Promise.all(machines.map((machine) => once(machine, 'exit')));
  const client = new Redis(url);
  await client.del(`report ${process.pid}`);
  client.disconnect();
  console.log(`${PERIODS} periods, reports of ${reports.sort().join(' ')}`);
} else {
  const client = new Redis(process.argv[2]);
  const space = await Space.connect(client, { space: 'example-once-per-period' });
  const name = `report ${process.ppid}`;
  const mutex = await space.mutex(name, { ephemeral: true });
  for (let period = 1; period <= PERIODS; period++) {
    await mutex.runExclusive(async () => {
      // As a number, so that a machine whose timer is late does not do an old period again.
      if (Number(await client.get(name)) >= period) return;
      process.send(period); // here goes your work
      await client.set(name, period, 'EX', 60); // for longer than a few periods
    });
    await sleep(PERIOD);
  }
  await space.close();
  client.disconnect();
  process.disconnect();
}
