/** The proxy of the chaos runs delivers bytes in their order, whatever it does to a connection. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';

const { Network } = (await import(
  '../build/processes/chaos/network.js' as string
)) as typeof import('../chaos/network.js');

/** Returns the server's end of a connection through a proxy, and what its other end has received when it closes. */
async function through() {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const network = await Network.start((listener.address() as AddressInfo).port);
  const client = connect(network.port, '127.0.0.1');
  onTestFinished(() => {
    client.destroy();
    network.stop();
    listener.close();
  });
  const [server] = (await once(listener, 'connection')) as [Socket];
  server.setNoDelay(true);
  // A cut may reset them.
  for (const socket of [client, server]) socket.on('error', () => {});
  let all = '';
  client.on('data', (data) => {
    all += data;
  });
  return { network, server, received: once(client, 'close').then(() => all) };
}

test('what is cut in the middle comes after what was delayed', async () => {
  const { network, server, received } = await through();
  network.delay(200, 100);
  server.write('first ');
  await sleep(20);
  network.halve();
  server.write('secondly');
  expect(await received).toBe('first seco');
});

test('nothing comes after the cut', async () => {
  const { network, server, received } = await through();
  network.delay(200, 1000);
  network.halve();
  server.write('firstly!');
  await sleep(20);
  server.write('second');
  expect(await received).toBe('firs');
});
