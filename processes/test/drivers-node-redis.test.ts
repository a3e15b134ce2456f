/** The driver for node-redis with one server. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createClient } from 'redis';
import { createClient as createClient5 } from 'redis-5';
import { onTestFinished, test } from 'vitest';
import { driverOf } from '../src/drivers/recognise.js';
import { isNodeRedis, libraries } from './clients.ts';
import { testWithOneServer } from './drivers-suite.ts';
import { until } from './setting.ts';

testWithOneServer(libraries.filter((library) => isNodeRedis(library)));

const creates: [string, (options: object) => unknown][] = [
  ['6', (options) => createClient(options)],
  ['5', (options) => createClient5(options)],
];

test.each(creates)(
  'a connection of node-redis %s that is closed while its socket is made leaves no socket',
  async (_, create) => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      socket.on('error', () => {}).resume();
      sockets.push(socket);
    });
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const driver = driverOf(create({ socket: { host: '127.0.0.1', port } }));
    driver.watch({ up: () => {}, down: () => {} });
    driver.connect?.();
    // The driver makes its sockets now, and none is connected yet.
    await new Promise((resolve) => process.nextTick(resolve));
    await driver.close();
    const last = connect(port, '127.0.0.1');
    await until(() => sockets.some(({ remotePort }) => remotePort === last.localPort));
    // Whatever the driver has left would have come before.
    await until(() => sockets.every((socket) => socket.closed || socket.remotePort === last.localPort));
    last.destroy();
  },
);
