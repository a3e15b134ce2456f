// The rows of what people use today to let one thread at a time in, beside `Mutex` and `Semaphore`.

import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { LOCKS } from './locks.js';
import { AWAITED_RING, Ring } from './ring.js';
import { library, type Row, type ScriptRow } from './row.js';
import { type LockOfPromises, WebLock, webLocks } from './web-lock.js';

/** Asks a thread that has a mutex of `async-mutex` (workers/mutex-server.ts). */
class LockByMessages implements LockOfPromises {
  readonly #port: MessagePort;
  #granted: () => void = () => {};

  constructor(port: MessagePort) {
    this.#port = port;
    port.on('message', () => this.#granted());
  }

  lock(): Promise<void> {
    return new Promise((granted) => {
      this.#granted = granted;
      this.#port.postMessage('lock');
    });
  }

  unlock(): void {
    this.#port.postMessage('unlock');
  }
}

const promised: ScriptRow<LockOfPromises> = {
  ...library(
    'Mutex, promises',
    async () => {
      const { Mutex } = await import('taketurns');
      return {
        make: () => new Mutex(),
        from: (handle: never): LockOfPromises => {
          const mutex = Mutex.from(handle);
          return { lock: () => mutex.lockAsync(), unlock: () => mutex.unlock() };
        },
      };
    },
    ({ make }) => make(),
    false,
  ),
  promises: true,
};

let names = 0;

const locks: ScriptRow<LockOfPromises> = {
  kind: 'script',
  name: 'worker_threads.locks',
  family: 'JavaScript',
  promises: true,
  share: async () => {
    await webLocks();
    return { shared: `${process.pid}.${names++}` };
  },
  join: async (name) => ({ subject: new WebLock(await webLocks(), name as string) }),
};

const messages: ScriptRow<LockOfPromises> = {
  kind: 'script',
  name: 'async-mutex by messages',
  family: 'npm',
  promises: true,
  share: async () => {
    const server = new Worker(new URL('../workers/mutex-server.js', import.meta.url));
    return {
      shared: undefined,
      dispose: () => void server.terminate(),
      port: () => {
        const { port1, port2 } = new MessageChannel();
        server.postMessage(port1, [port1]);
        return port2;
      },
    };
  },
  join: async (_, port) => {
    const own = port as MessagePort;
    return { subject: new LockByMessages(own), leave: () => own.close() };
  },
};

const beside = (...names: string[]): Row[] => LOCKS.filter(({ name }) => names.includes(name));

export const TODAY: readonly Row[] = [
  ...beside('Mutex', 'Semaphore'),
  promised,
  locks,
  messages,
  ...beside('js-barging', 'multithreading', 'pthread_mutex'),
] as readonly Row[];

/** The floor of the rows of promises: each event loop wakes the next one, and does nothing else. */
const ring: ScriptRow<LockOfPromises> = {
  kind: 'script',
  name: AWAITED_RING,
  family: 'JavaScript',
  only: 'several',
  promises: true,
  share: async () => ({ shared: Ring.share() }),
  join: async (words) => {
    const member = new Ring(words as Int32Array);
    return {
      subject: { lock: () => member.acquireAsync(), unlock: () => member.release() },
      finish: () => member.leave(),
    };
  },
};

export const TODAY_BY_NAME: readonly Row[] = [ring] as readonly Row[];
