/**
 * What every runtime must be able to do, without a server and with each client library:
 *
 *     node processes/scripts/smoke.mjs URL
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis as Ioredis } from 'ioredis';
import { Redis as Ioredis5 } from 'ioredis-5';
import { Redis as Iovalkey } from 'iovalkey';
import { createClient } from 'redis';
import { createClient as createClient5 } from 'redis-5';
import { LeaseLostError, Space, TimeoutError } from 'taketurns-processes';

const url = process.argv[2];
const { hostname: host, port } = new URL(url);
const clients = {
  'ioredis 6': () => new Ioredis(url, { lazyConnect: true }),
  'ioredis 5': () => new Ioredis5(url, { lazyConnect: true }),
  iovalkey: () => new Iovalkey(url, { lazyConnect: true }),
  'node-redis 6': () => createClient({ url }),
  'node-redis 5': () => createClient5({ url }),
};
// GLIDE is native code, which not every runtime and platform has.
try {
  const { GlideClient, Logger } = await import('@valkey/valkey-glide');
  Logger.setLoggerConfig('off');
  clients.GLIDE = () => GlideClient.createClient({ addresses: [{ host, port: Number(port) }] });
} catch (error) {
  console.log(`GLIDE: not here: ${error.message.split('\n')[0]}`);
}

function expect(what, value, wanted) {
  if (value !== wanted) throw new Error(`${what}: ${value}, not ${wanted}`);
}

/** `join` joins a space as another process would. */
async function smoke(name, join) {
  const [a, b] = [await join(), await join()];
  const [mine, yours] = [await a.semaphore('db', 2), await b.semaphore('db', 2)];
  const held = await mine.holdAsync(2);
  expect('tryHold', await yours.tryHold(), undefined);
  const late = await yours.holdAsync({ timeout: 20 }).catch((error) => error);
  expect('time-out', late instanceof TimeoutError, true);
  const abort = new AbortController();
  const aborted = yours.holdAsync({ signal: abort.signal }).catch((error) => error);
  const waiting = yours.holdAsync();
  abort.abort('enough');
  expect('abort', await aborted, 'enough');
  await held.release(1);
  const next = await waiting;
  expect('order of tokens', next.token > held.token, true);
  held[Symbol.dispose ?? Symbol.for('Symbol.dispose')]();
  await next.release();
  expect('free', (await yours.inspect()).free, 2);

  const [lock, other] = [await a.rwLock('rw'), await b.rwLock('rw')];
  const [reading, reading2] = [await lock.readAsync(), await other.readAsync()];
  expect('tryWrite', await other.tryWrite(), undefined);
  await reading.unlock();
  await reading2.unlock();
  await (await other.writeAsync()).unlock();

  const mutexes = [await a.mutex('m'), await b.mutex('m')];
  let [inside, most, count] = [0, 0, 0];
  await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      mutexes[i % 2].runExclusive(async () => {
        most = Math.max(most, ++inside);
        await sleep(1);
        inside--;
        count++;
      }),
    ),
  );
  expect('at once', most, 1);
  expect('runs', count, 20);

  // Longer than a lease: the heartbeats keep it.
  const kept = await mutexes[0].holdAsync();
  await sleep(1300);
  expect('held by heartbeats', kept.held, true);
  await a.close();
  expect('lost by close', kept.signal.reason instanceof LeaseLostError, true);
  await (await mutexes[1].holdAsync({ timeout: 5000 })).unlock();
  await b.close();
  console.log(`${name}: ok`);
}

const directory = mkdtempSync('/tmp/tt-');
await smoke('without a server', () => Space.local({ directory }));
rmSync(directory, { recursive: true, force: true });

for (const [name, make] of Object.entries(clients)) {
  const made = [];
  await smoke(name, async () => {
    const client = await make();
    made.push(client);
    return Space.connect(client, { space: `smoke ${name}`, lease: 1000 });
  });
  for (const client of made) if (name === 'GLIDE') client.close();
}

// A thread that beats keeps what a busy process holds.
process.env.TEST_SERVER = url;
const heartbeat = new URL('../test/heartbeat-client.mjs', import.meta.url);
const space = await Space.connect(clients['ioredis 6'](), { space: 'smoke heartbeat', lease: 1000, heartbeat });
const held = await (await space.mutex('m')).holdAsync();
await sleep(300);
const end = performance.now() + 2500;
while (performance.now() < end);
expect('held by the thread', held.held, true);
await space.close();
console.log('heartbeat thread: ok');
console.log('done');
