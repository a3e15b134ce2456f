/**
 * A process or a thread of a space without a server, as local.test.ts tells it: `node local-program.mjs DIRECTORY`. Each
 * message is [id, what, ...arguments], and each answer is [id, result] or [id, undefined, error].
 */
import { existsSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { Space } from 'taketurns-processes';

const space = await Space.local({ space: 'test', directory: workerData ?? process.argv[2] });
const tell = (message) => (parentPort ? parentPort.postMessage(message) : process.send(message));
const held = new Map();
const events = [];
for (const event of ['lost', 'resumed', 'failover', 'error']) space.on(event, () => events.push(event));

const open = {
  mutex: (name) => space.mutex(name, { bypass: 0 }),
  robust: (name) => space.mutex(name, { robust: true, bypass: 0 }),
  semaphore: (name) => space.semaphore(name, 2),
};

const does = {
  async hold(kind, name, options) {
    const guard = await (await open[kind](name)).holdAsync(options);
    held.set(name, guard);
    return { token: `${guard.token}`, ownerDied: guard.ownerDied };
  },
  async unlock(name) {
    const guard = held.get(name);
    held.delete(name);
    await guard.unlock();
  },
  async holdAndSet(name, words) {
    const guard = await (await open.mutex(name)).holdAsync();
    Atomics.store(words, 0, 1);
    Atomics.notify(words, 0);
    await guard.unlock();
  },
  async inspect(kind, name) {
    const { free, waiting } = await (await open[kind](name)).inspect(0);
    return { free, waiting };
  },
  sessions: async () => (await space.inspect()).sessions.length,
  events: async () => events,
  /** Stands still until there is a file. */
  async block(file) {
    const word = new Int32Array(new SharedArrayBuffer(4));
    while (!existsSync(file)) Atomics.wait(word, 0, 0, 5);
  },
};

(parentPort ?? process).on('message', ([id, what, ...args]) => {
  does[what](...args).then(
    (result) => tell([id, result]),
    (error) => tell([id, undefined, `${error.name}: ${error.message}`]),
  );
});
tell([0]);
