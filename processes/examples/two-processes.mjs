/**
 * Two processes take turns with a mutex of one name, first come, first served:
 *
 *     npm start -w processes
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { Space } from 'taketurns-processes';
import { findServer } from './server.mjs';

const TURNS = 5;

if (process.send === undefined) {
  const url = await findServer();
  console.log(`Two processes take turns on the server at ${url}:`);
  const children = ['A', 'B'].map((name) => fork(fileURLToPath(import.meta.url), [name, url]));
  // Both begin at once.
  await Promise.all(children.map((child) => once(child, 'message')));
  const log = [];
  for (const child of children) {
    child.on('message', ({ name, token }) => log.push({ name, token: BigInt(token) }));
    child.send('go');
  }
  const codes = await Promise.all(children.map((child) => once(child, 'exit')));
  log.sort((a, b) => (a.token < b.token ? -1 : 1));
  const twice = log.filter(({ name }, i) => i > 0 && name === log[i - 1].name).length;
  console.log(`The turns went ${log.map(({ name }) => name).join(' ')}; one process twice in a row: ${twice} times.`);
  process.exitCode = Math.max(...codes.map(([code]) => code ?? 1));
} else {
  const [name, url] = process.argv.slice(2);
  const client = new Redis(url);
  const space = await Space.connect(client, { space: 'example-two-processes', label: name });
  const mutex = await space.mutex(`turns of ${process.ppid}`, { bypass: 0, ephemeral: true });
  process.send('ready');
  await once(process, 'message');
  for (let i = 1; i <= TURNS; i++) {
    const held = await mutex.holdAsync();
    console.log(`  ${name} has turn ${i} with token ${held.token}`);
    await sleep(100);
    process.send({ name, token: String(held.token) });
    // Not awaited: the next request comes after it in the same call, and queues behind whoever waits.
    held.unlock();
  }
  await space.close();
  client.disconnect();
  process.disconnect();
}
