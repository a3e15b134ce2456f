/**
 * Looks at the signal of a guard in several ways, right after the process was stopped for longer than its lease. Tells
 * what the signal says in each way. argv: the port of the server, the space, the lease.
 */
import { addAbortListener, once } from 'node:events';
import { readSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { Space } from 'taketurns-processes';

const [port, name, lease] = process.argv.slice(2);
const client = new Redis({ host: '127.0.0.1', port: Number(port), lazyConnect: true });
const space = await Space.connect(client, { space: name, lease: Number(lease) });
const mutex = await space.mutex('m');

/** Blocks the event loop until a byte arrives by descriptor 3. */
function standStill() {
  for (;;) {
    try {
      readSync(3, Buffer.alloc(1));
      return;
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
    }
  }
}

const reasonOf = async (promise) => {
  const error = await promise.then(
    () => 'went on',
    (error) => error,
  );
  return (error.name === 'AbortError' ? error.cause : error)?.name ?? error;
};

/** Each way returns the name of the error if the signal says that the lease is lost. Otherwise it returns 'went on'. */
const WAYS = {
  aborted: (signal) => (signal.aborted ? signal.reason.name : 'went on'),
  reason: (signal) => signal.reason?.name ?? 'went on',
  throwIfAborted: (signal) => reasonOf((async () => signal.throwIfAborted())()),
  any: (signal) => AbortSignal.any([signal, new AbortController().signal]).reason?.name ?? 'went on',
  fetch: (signal) => reasonOf(fetch('http://127.0.0.1:9/', { signal })),
  sleep: (signal) => reasonOf(sleep(1, undefined, { signal })),
  once: (signal) => reasonOf(once(process, 'never', { signal })),
  addEventListener: (signal) => {
    let heard = 'went on';
    signal.addEventListener('abort', () => {
      heard = signal.reason.name;
    });
    return heard;
  },
  onabort: (signal) => {
    let heard = 'went on';
    signal.onabort = ({ target }) => {
      heard = target.reason.name;
    };
    return heard;
  },
  addAbortListener: async (signal) => {
    let heard = 'went on';
    addAbortListener(signal, () => {
      heard = signal.reason.name;
    });
    await undefined;
    return heard;
  },
  listener: async (signal, stop) => {
    const heard = new Promise((resolve) => signal.addEventListener('abort', () => resolve(signal.reason.name)));
    const derived = AbortSignal.any([signal]);
    stop();
    return (await heard) === derived.reason.name ? derived.reason.name : 'went on';
  },
};

for (const [way, look] of Object.entries(WAYS)) {
  await mutex
    .runExclusive(async ({ signal }) => {
      const stop = () => {
        process.send(way);
        standStill();
      };
      if (look.length < 2) stop();
      process.send(`${way}: ${await look(signal, stop)}`);
    })
    .catch(() => {});
}
process.exit(0);
