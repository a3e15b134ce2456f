/**
 * Goes through bad days with `node --unhandled-rejections=strict`, and adds no listener that a user need not add. So if
 * the package leaves a rejection that nobody handles, this program ends. argv: the port and the process id of a server
 * that the program may stop.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { Space } from 'taketurns-processes';

const [port, pid] = process.argv.slice(2).map(Number);
const clients = [];
const ofIoredis = (options = {}) => {
  const client = new Redis({ host: '127.0.0.1', port, lazyConnect: true, ...options });
  clients.push(() => client.disconnect());
  return client;
};
const ofNodeRedis = () => createClient({ socket: { host: '127.0.0.1', port } });
const said = [];

/** Notes the error that the promise rejects with. */
async function note(what, promise) {
  const text = await promise.then(
    () => 'nothing',
    (error) => `${error?.name ?? error}${error?.code ? ` ${error.code}` : ''}`,
  );
  said.push(`${what}: ${text}`);
}

// Nobody listens to the `error` events of these clients. So the space must not let these clients connect.
await note('no server', Space.connect(ofIoredis({ port: 1 }), { connectTimeout: 200 }));
await note('wrong password', Space.connect(ofIoredis({ password: 'wrong', username: 'nobody' }), { space: 'a' }));
await note('no module', Space.connect(ofIoredis(), { space: 'a', heartbeat: new URL('./none.mjs', import.meta.url) }));
await note(
  'a beating client without a server',
  Space.connect(ofIoredis(), {
    space: 'a',
    connectTimeout: 1000,
    heartbeat: `data:text/javascript,import { Redis } from ${JSON.stringify(import.meta.resolve('ioredis'))};
      export default () => new Redis({ port: 1, host: '127.0.0.1', lazyConnect: true });`,
  }),
);

const lease = 1000;
for (const [name, client] of [
  ['ioredis', ofIoredis],
  ['node-redis', ofNodeRedis],
]) {
  const spaces = [];
  for (let i = 0; i < 2; i++) spaces.push(await Space.connect(client(), { space: name, lease }));
  const [a, b] = spaces;
  const [mine, yours] = [await a.semaphore('x', 1), await b.semaphore('x', 1)];
  const [m, n] = [await a.mutex('m', { robust: true }), await b.mutex('m', { robust: true })];
  const held = await mine.holdAsync();
  const locked = await m.holdAsync();
  m.onOwnerDied = n.onOwnerDied = () => Promise.reject(new Error('cannot be repaired'));

  // Waiters time out, are aborted and are cancelled.
  const abort = new AbortController();
  const waits = [
    note(`${name}, time-out`, yours.holdAsync(1, { timeout: 20 })),
    note(`${name}, aborted`, yours.holdAsync(1, { signal: abort.signal })),
    note(`${name}, cancelled`, n.holdAsync()),
  ];
  await sleep(100);
  abort.abort(new Error('enough'));
  await m.cancelAll();
  await Promise.all(waits);

  // The server stands still for two leases. All that is held is lost, and waiters go on waiting.
  const later = yours.holdAsync();
  const run = n.runExclusive(async () => {}, { timeout: 10_000 });
  run.catch(() => {});
  process.kill(pid, 'SIGSTOP');
  // Nobody awaits this release.
  held.release();
  const unsent = mine.holdAsync(1, { timeout: 50 });
  await note(`${name}, time-out without a server`, unsent);
  await sleep(2 * lease);
  process.kill(pid, 'SIGCONT');
  said.push(`${name}, lost: ${locked.signal.reason?.name}`);
  locked.unlock();
  const got = await later;
  got.release();
  // A holder has lost the robust mutex. So the next holder tries the repair, and the repair fails.
  await note(`${name}, repair`, run);
  m.onOwnerDied = n.onOwnerDied = undefined;
  await (await n.holdAsync()).unlock();
  said.push(`${name}, free: ${(await mine.inspect())?.free} ${(await m.inspect())?.free}`);

  // The space is closed while some of its requests wait and others hold.
  await mine.holdAsync();
  await m.holdAsync();
  const closing = [note(`${name}, closed`, mine.holdAsync()), note(`${name}, closed`, m.holdAsync())];
  await Promise.all([a.close(), ...closing]);
  await note(`${name}, after the close`, mine.holdAsync());
  await note(`${name}, opened after the close`, a.mutex('m'));
  await note(`${name}, inspected after the close`, mine.inspect());
  await (await yours.holdAsync()).release();

  // The server stands still while the space is closed.
  const last = await yours.holdAsync();
  process.kill(pid, 'SIGSTOP');
  last.release();
  const closed = b.close();
  await sleep(100);
  process.kill(pid, 'SIGCONT');
  await closed;
}
for (const close of clients) close();
console.log(said.join('\n'));
