/**
 * Measures what a server spends on processes that do nothing, and on `inspect`, by its own counts of calls of the
 * script and their time: REDIS_URL=... node processes/scripts/costs.mjs 1000 50000
 * The arguments are the number of idle processes, and the number of requests in the partition of what is inspected.
 */
import { cpus } from 'node:os';
import { Redis } from 'ioredis';
import { Space } from '../dist/module/index.js';

const url = process.env.REDIS_URL ?? 'redis://localhost:6379';
const [idle = 1000, requests = 50_000] = process.argv.slice(2).map(Number);
const LEASE = 10_000;
const keys = ['meta', 'objects', 'queue', 'records', 'sessions', 'leases', 'seqs'].map((key) => `tt:{costs.0}:${key}`);
const admin = new Redis(url);
const clients = [];
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function join() {
  const client = new Redis(url, { lazyConnect: true });
  clients.push(client);
  return Space.connect(client, { space: 'costs', lease: LEASE, connectTimeout: 60_000 });
}

/** The calls of the script, the milliseconds that the server spent on them, and the milliseconds on all commands. */
async function spent(run) {
  await admin.config('RESETSTAT');
  await run();
  const stats = [...(await admin.info('commandstats')).matchAll(/cmdstat_(\w+\|?\w*):calls=(\d+),usec=(\d+)/g)];
  const of = (name, at) => stats.filter(([, each]) => name.test(each)).reduce((sum, each) => sum + Number(each[at]), 0);
  return {
    calls: of(/^eval/, 2),
    script: of(/^eval/, 3) / 1000,
    all: of(/^(eval|ping|s?publish|s?subscribe)/, 3) / 1000,
  };
}

const info = await admin.info('server');
console.log(`${cpus()[0]?.model}, ${/(?:valkey|redis)_version:.*/.exec(info)?.[0]}\n`);
await admin.del(keys);
const spaces = [];
while (spaces.length < idle)
  spaces.push(...(await Promise.all(Array.from({ length: Math.min(50, idle - spaces.length) }, join))));
await sleep(LEASE / 2);
const one = await spent(() => sleep(3 * LEASE));
console.log(`${idle} idle processes with a lease of ${LEASE / 1000} s, for ${(3 * LEASE) / 1000} s:`);
console.log(
  `  ${one.calls} calls, ${one.all.toFixed(0)} ms of the server, ${((100 * one.all) / (3 * LEASE)).toFixed(2)} % of one processor`,
);
await Promise.all(spaces.splice(2).map((space) => space.close()));

// The records of a session come before those of another session with a larger name.
const [mine, theirs] = spaces;
const [quiet, first, last] = [
  await mine.semaphore('quiet', 8),
  await mine.semaphore('first', 8),
  await mine.semaphore('last', 8),
];
const [many, mutex] = [await theirs.semaphore('many', requests), await mine.mutex('m')];
const lowest = await mutex.holdAsync();
const isMineFirst = (await theirs.mutex('n').then((other) => other.holdAsync())).proof > lowest.proof;
const early = isMineFirst ? mine : theirs;
const late = isMineFirst ? theirs : mine;
await (await early.semaphore('first', 8)).holdAsync();
for (let at = 0; at < requests; at += 1000) {
  await Promise.all(Array.from({ length: Math.min(1000, requests - at) }, () => many.holdAsync()));
}
await (await late.semaphore('last', 8)).holdAsync();
console.log(
  `\n| \`inspect\` with ${requests.toLocaleString('en')} requests in the partition | round trips | server, ms |`,
);
console.log('| --- | ---: | ---: |');
const row = async (name, look) => {
  const { calls, script } = await spent(look);
  console.log(`| ${name} | ${calls} | ${script.toFixed(2)} |`);
};
await row('an idle semaphore', () => quiet.inspect());
await row('a semaphore with a permit out, found first', () => first.inspect());
await row('a semaphore with a permit out, found last', () => last.inspect());
await row('a mutex that is held', () => mutex.inspect());
await row('`inspect(0)` of the busiest semaphore', () => many.inspect(0));
await row('`inspect(100)` of the busiest semaphore', () => many.inspect(100));
await row('`inspect()` of the space, with two sessions', () => mine.inspect());
await Promise.all(spaces.map((space) => space.close()));
await admin.del(keys);
for (const client of clients) client.disconnect();
admin.disconnect();
