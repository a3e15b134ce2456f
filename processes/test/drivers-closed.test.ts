/** Connections of each client library that are closed while they are made: nothing stays behind. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis-5';
import { Redis as RedisV } from 'iovalkey';
import { createClient } from 'redis';
import { createClient as createClient5 } from 'redis-5';
import { expect, onTestFinished, test } from 'vitest';
import { startSentinel } from '../servers/servers.js';
import { driverOf } from '../src/drivers/recognise.js';
import { isNodeRedis, libraries } from './clients.ts';
import { textsOf } from './commands.ts';
import { onServers, until } from './setting.ts';

/** A server that takes connections and never says a word. */
async function mute(): Promise<{ readonly port: number; readonly sockets: readonly Socket[] }> {
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
  return { port: (server.address() as AddressInfo).port, sockets };
}

/** A port at which nobody listens. */
async function refused(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return port;
}

const host = '127.0.0.1';
const clients: [string, (port: number) => unknown][] = [
  ['ioredis 6', (port) => new Redis({ host, port, lazyConnect: true })],
  ['ioredis 5', (port) => new Redis5({ host, port, lazyConnect: true })],
  ['iovalkey', (port) => new RedisV({ host, port, lazyConnect: true })],
  ['node-redis 6', (port) => createClient({ socket: { host, port } })],
  ['node-redis 5', (port) => createClient5({ socket: { host, port } })],
];

test.each(clients)('a connection of %s that is closed while its socket is made leaves no socket', async (_, make) => {
  const { port, sockets } = await mute();
  const next = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));
  // The driver makes its sockets in one of these steps.
  for (const steps of [[], [next], [next, next], Array(5).fill(next)]) {
    const driver = driverOf(make(port));
    driver.watch({ up: () => {}, down: () => {} });
    driver.connect?.();
    for (const step of steps) await step();
    await driver.close();
  }
  const last = connect(port, host);
  await until(() => sockets.some(({ remotePort }) => remotePort === last.localPort));
  // Whatever the drivers have left would have come before.
  await until(() => sockets.every((socket) => socket.closed || socket.remotePort === last.localPort));
  last.destroy();
});

const PROGRAM = fileURLToPath(new URL('./closed-early-program.mjs', import.meta.url));
const FORMS: [library: string, forms: string[]][] = [
  ['ioredis', ['one server', 'sentinel', 'cluster']],
  ['ioredis-5', ['one server', 'sentinel', 'cluster']],
  ['iovalkey', ['one server', 'sentinel', 'cluster']],
  ['redis', ['one server', 'cluster']],
  ['redis-5', ['one server', 'cluster']],
  ['@valkey/valkey-glide', ['one server', 'cluster']],
];

test.each(FORMS.flatMap(([library, forms]) => forms.map((form) => [library, form] as const)))(
  'a process ends that could not connect by %s: %s',
  async (library, form) => {
    const { port } = await mute();
    const tries = [
      [port, 1],
      [port, 300],
      [await refused(), 50],
    ] as const;
    const ended = tries.map(async (args) => {
      const child = spawn(process.execPath, [PROGRAM, library, form, ...args.map(String)]);
      onTestFinished(() => {
        child.kill('SIGKILL');
      });
      const texts = textsOf(child);
      const [status] = await once(child, 'close');
      expect({ status, ...texts }).toEqual({ status: 0, stdout: 'UNREACHABLE\n', stderr: '' });
    });
    await Promise.all(ended);
  },
);

onServers(
  'sentinels',
  (setting) => {
    test.each(libraries.filter((library) => !isNodeRedis(library)))(
      'a sentinel that does not answer leaves time for the next one: $name',
      async ({ sentinel }) => {
        const asked = await startSentinel(setting.server, { replicas: 0 });
        const { port } = await mute();
        const user = await (sentinel as NonNullable<typeof sentinel>)(port, asked.port);
        const driver = driverOf(user.client);
        onTestFinished(async () => {
          await driver.close();
          user.close();
          await asked.kill();
        });
        await new Promise<void>((up) => driver.watch({ up, down: () => {} }));
      },
    );
  },
  'first',
);
