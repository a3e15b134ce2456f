import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { refusal } from '../src/server-error.js';
import { Space } from '../src/space.js';
import { onServers } from './setting.js';

onServers(
  'cut',
  (setting) => {
    test('a connection that is cut while a process joins is no reason to fail', async () => {
      let cuts = 0;
      const listener = createServer((client) => {
        const server = connect(setting.server.port, '127.0.0.1');
        const end = () => {
          client.destroy();
          server.destroy();
        };
        for (const socket of [client, server]) socket.on('error', end).on('close', end);
        client.on('data', (data) => {
          // The question for the eviction policy, and later the first call of the script.
          if (cuts < 2 && /memory|EVALSHA/i.test(`${data}`)) {
            cuts++;
            end();
          } else server.write(data);
        });
        server.pipe(client);
      }).listen(0, '127.0.0.1');
      await once(listener, 'listening');
      const client = new Redis((listener.address() as { port: number }).port, '127.0.0.1', { lazyConnect: true });
      onTestFinished(() => void listener.close());
      const space = await Space.connect(client);
      const semaphore = await space.semaphore('db', 1);
      await (await semaphore.holdAsync()).release();
      await space.close();
      expect(cuts).toBe(2);
    });
  },
  'first',
);

test('a server that forgets the script has refused nothing for good', () => {
  expect(refusal(new Error('NOSCRIPT No matching script.'))).toBeUndefined();
});
