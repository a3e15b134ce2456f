/**
 * Three processes read two values that belong together, and a fourth one writes them, one after the other. With a
 * read-write lock nobody sees one of them old and the other new.
 *
 *     node processes/examples/rw-lock.mjs
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { Space } from 'taketurns-processes';
import { findServer } from './server.mjs';

const READERS = 3;
const ROUNDS = 100;

if (process.send === undefined) {
  const url = await findServer();
  const roles = [...Array(READERS).fill('reader'), 'writer'];
  const results = await Promise.all(
    roles.map(async (role) => {
      const child = fork(fileURLToPath(import.meta.url), [role, url]);
      const [result] = await once(child, 'message');
      await once(child, 'exit');
      return { role, ...result };
    }),
  );
  const client = new Redis(url);
  await client.del(`net:${process.pid}`, `gross:${process.pid}`);
  client.disconnect();
  const sum = (name) => results.reduce((total, result) => total + (result[name] ?? 0), 0);
  console.log(`${sum('writes')} writes, ${sum('reads')} reads, ${sum('torn')} of them torn`);
} else {
  const [role, url] = process.argv.slice(2);
  const client = new Redis(url);
  const space = await Space.connect(client, { space: 'example-rw-lock' });
  const lock = await space.rwLock(`prices:${process.ppid}`, { ephemeral: true });
  const [net, gross] = [`net:${process.ppid}`, `gross:${process.ppid}`];
  let [reads, writes, torn] = [0, 0, 0];
  for (let i = 1; i <= ROUNDS; i++) {
    // From Node 24 on: await using held = await lock.writeAsync();
    const held = role === 'writer' ? await lock.writeAsync() : await lock.readAsync();
    try {
      if (role === 'writer') {
        await client.set(net, i);
        await client.set(gross, i);
        writes++;
      } else {
        if ((await client.get(net)) !== (await client.get(gross))) torn++;
        reads++;
      }
    } finally {
      held.unlock();
    }
  }
  process.send({ reads, writes, torn });
  await space.close();
  client.disconnect();
  process.disconnect();
}
