/**
 * A process of rolling.test.ts, with a build of its own: node rolling-program.mjs INDEX SERVER SPACE. It says `ready`
 * when it has joined the space, or why it was refused. Told `go`, it takes turns of a mutex, of a semaphore with 2
 * permits and of a read-write lock, and counts on the server who else is inside. Told `close`, it leaves.
 */
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';

const [index, server, space] = process.argv.slice(2);
const { Space } = await import(index);
const TURNS = 60;

const client = new Redis(server);
const say = (word, more) => console.log(JSON.stringify([word, more]));
const joined = await Space.connect(client, { space, lease: 3000 }).catch((error) => {
  say('refused', { code: error.code, message: error.message });
  client.disconnect();
});

async function takeTurns() {
  const [mutex, pool, lock] = [await joined.mutex('m'), await joined.semaphore('p', 2), await joined.rwLock('rw')];
  const faults = [];
  const within = async (name, most, work = () => {}) => {
    const inside = await client.incr(`${space}:${name}`);
    if (inside > most) faults.push(`${inside} inside ${name}`);
    await work();
    await client.decr(`${space}:${name}`);
  };
  const tasks = Array.from({ length: 2 }, async () => {
    for (let turn = 0; turn < TURNS; turn++) {
      const held = await mutex.holdAsync();
      await within('m', 1, () => client.rpush(`${space}:tokens`, String(held.token)));
      await held.unlock();
      await pool.runExclusive(() => within('p', 2));
      if (turn % 4 > 0) continue;
      const writing = await lock.writeAsync();
      await within('rw', 1);
      await writing.unlock();
      await (await lock.readAsync()).unlock();
    }
  });
  await Promise.all(tasks);
  say('done', faults);
}

if (joined) {
  joined.on('lost', ({ reason }) => say('lost', reason.message));
  say('ready');
  createInterface({ input: process.stdin }).on('line', async (word) => {
    if (word === 'go') await takeTurns();
    else {
      await joined.close();
      client.disconnect();
      process.exit();
    }
  });
}
