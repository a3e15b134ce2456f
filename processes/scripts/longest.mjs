/**
 * Measures how long the longest call of the script takes, by the server's slow log, for operations that ask for much, with
 * so many requests, objects and sessions: REDIS_URL=... node processes/scripts/longest.mjs 10 1000 100000
 */
import { cpus } from 'node:os';
import { Redis } from 'ioredis';
import { Space } from '../dist/module/index.js';
import { TURN } from '../dist/module/script.js';

const url = process.env.REDIS_URL ?? 'redis://localhost:6379';
const counts = process.argv.slice(2).map(Number);
if (counts.length === 0) counts.push(10, 1000, 100_000);
const admin = new Redis(url);
const KEYS = ['meta', 'objects', 'queue', 'records', 'sessions', 'leases', 'seqs'].map(
  (key) => `tt:{longest.0}:${key}`,
);
const hex = (value, width) => value.toString(16).padStart(width, '0');
const times = (count, make) => Array.from({ length: count }, (_, i) => make(i));
const clients = [];

async function join() {
  const client = new Redis(url);
  clients.push(client);
  return Space.connect(client, { space: 'longest', lease: 60_000, connectTimeout: 60_000 });
}

/** Operations of a session that no process has. */
const call = (sid, ...args) => admin.eval(TURN.text, 7, ...KEYS, sid, '0', 'tt:{longest.0}:c:', ...args);

/** Milliseconds of the longest call while `run` runs. */
async function longest(run) {
  await admin.config('SET', 'slowlog-log-slower-than', '200', 'slowlog-max-len', '1000000');
  await admin.slowlog('RESET');
  await run();
  const entries = await admin.slowlog('GET', '-1');
  await admin.config('SET', 'slowlog-log-slower-than', '-1');
  const calls = entries.filter(([, , , args]) => /^eval/i.test(args[0]));
  return Math.max(0.2, ...calls.map(([, , micros]) => micros / 1000));
}

const MEASURED = {
  async 'ask, all at once'({ mine, count }) {
    const all = await mine.semaphore('asked', count);
    return longest(() => Promise.all(times(count, () => all.holdAsync())));
  },
  async cancelAll(setting) {
    const { object } = await waiters(setting);
    return longest(() => object.cancelAll());
  },
  async dispose(setting) {
    const { object } = await waiters(setting);
    return longest(() => object.dispose());
  },
  async 'a process resumes'(setting) {
    await waiters(setting);
    const resumed = new Promise((resolve) => setting.theirs.on('resumed', resolve));
    return longest(async () => {
      await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
      await resumed;
    });
  },
  async 'a writer gives way to readers'({ mine, theirs, count }) {
    const [writer, readers] = [await mine.rwLock('rw'), await theirs.rwLock('rw')];
    const writing = await writer.writeAsync();
    const reading = Promise.all(times(count, () => readers.readAsync()));
    while ((await writer.inspect(0)).waiting < count);
    return longest(async () => {
      writing.unlock();
      await reading;
    });
  },
  async close({ mine, theirs, count }) {
    const all = await theirs.semaphore('held', count);
    await Promise.all(times(count, () => all.holdAsync()));
    return longest(() => theirs.close()).finally(() => mine.inspect());
  },
  async 'a dead session is found'({ mine, count }) {
    const sid = 'p00000000000dead';
    const opened = await call(
      sid,
      'O',
      '2',
      '1',
      '60000',
      'dead',
      '-',
      '0',
      'N',
      'db',
      's',
      String(count),
      '0',
      '0',
      '0',
    );
    for (let at = 0; at < count; at += 100)
      await call(sid, ...times(100, (i) => ['A', 'db', '-', hex(at + i, 10), '00000001']).flat());
    const [watcher] = [`p${hex(1, 15)}`];
    await call(watcher, 'O', '2', '1', '60000', 'watcher', '-', '0');
    // As if the watcher had lived through its silence.
    const seen = String(opened[0]).replace(/^O (\w+)/, (_, ticket) => ticket);
    const found = await longest(async () => {
      for (let left = '1'; left === '1'; ) left = String((await call(watcher, 'B', seen))[0]).split(' ')[2];
    });
    await call(watcher, 'X');
    await mine.inspect();
    return found;
  },
  async inspect(setting) {
    const { object } = await waiters(setting);
    return longest(() => object.inspect());
  },
  async 'inspect of a space with so many sessions'({ mine, count }) {
    for (let at = 0; at < count; at += 1000)
      await Promise.all(
        times(Math.min(1000, count - at), (i) =>
          call(`p${hex(0xabc0_0000 + at + i, 15)}`, 'O', '2', '1', '60000', 'l', '-', '0'),
        ),
      );
    return longest(() => mine.inspect());
  },
};

async function waiters({ mine, theirs, count }) {
  const [object, other] = [await mine.semaphore('db', 1), await theirs.semaphore('db', 1)];
  await object.holdAsync();
  for (let i = 0; i < count; i++) other.holdAsync().catch(() => {});
  while ((await object.inspect(0)).waiting < count);
  return { object };
}

const info = await admin.info('server');
console.log(`${cpus()[0]?.model}, ${/(?:valkey|redis)_version:.*/.exec(info)?.[0]}\n`);
console.log(`| longest call, ms | ${counts.map((count) => count.toLocaleString('en')).join(' | ')} |`);
console.log(`| --- | ${counts.map(() => '---:').join(' | ')} |`);
for (const [name, measure] of Object.entries(MEASURED)) {
  const found = [];
  for (const count of counts) {
    await admin.del(KEYS);
    const [mine, theirs] = [await join(), await join()];
    found.push((await measure({ mine, theirs, count })).toFixed(1));
    await admin.del(KEYS);
    await Promise.all([mine.close(), theirs.close()]);
    for (const client of clients.splice(0)) client.disconnect();
  }
  console.log(`| ${name} | ${found.join(' | ')} |`);
}
await admin.del(KEYS);
admin.disconnect();
