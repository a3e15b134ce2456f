/** Counts the bytes that a server needs for objects and requests: node processes/scripts/memory.mjs */
import { Redis } from 'ioredis';
import { Space } from 'taketurns-processes';
import { findServer } from '../examples/server.mjs';

const COUNT = 10_000;

const client = new Redis(await findServer());
const version = (await client.info('server')).match(/^(valkey|redis)_version:\S+/gm)?.at(-1);
const used = async () => Number(/used_memory_dataset:(\d+)/.exec(await client.info('memory'))?.[1]);

/** Prints the bytes for each of `count`, once the work is done. */
async function measure(what, count, work) {
  const before = await used();
  const result = await work();
  console.log(`${what}: ${Math.round((((await used()) - before) / count) * 10) / 10} bytes`);
  return result;
}

const all = (count, work) => Promise.all(Array.from({ length: count }, (_, i) => work(i)));
console.log(`${version}, ${COUNT} of each`);
const space = await Space.connect(client, { space: 'memory', lease: 60_000 });
const semaphore = await space.semaphore('many', COUNT);
await semaphore.runExclusive(() => {});
await measure('object that was opened (names of 10 bytes)', COUNT, () =>
  all(COUNT, (i) => space.semaphore(`name ${10_000 + i}`, 1)),
);
await measure('request that holds', COUNT, () => all(COUNT, () => semaphore.holdAsync()));
const end = new AbortController();
await measure('request that waits', COUNT, async () => {
  const waits = Array.from({ length: COUNT }, () => semaphore.holdAsync({ signal: end.signal }));
  for (const wait of waits) wait.catch(() => {});
  while (((await semaphore.inspect(0))?.waiting ?? 0) < COUNT) await null;
});
end.abort();
while ((await semaphore.inspect(0))?.waiting) await null;
await space.close();
await client.del(
  ['meta', 'objects', 'queue', 'records', 'sessions', 'leases', 'seqs'].map((key) => `tt:{memory.0}:${key}`),
);
client.disconnect();
