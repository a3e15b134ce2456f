// The rows of what people use today to let one thread at a time in, beside `Mutex` and `Semaphore`.

import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { LOCKS } from './locks.js';
import { library, type Row, type ScriptRow } from './row.js';

interface LockOfPromises {
  lock(): Promise<unknown>;
  unlock(): void;
}

/** The part of the Web Locks API that the row needs. The types of Node 20 lack it. */
interface LockManager {
  request(name: string, run: () => Promise<void>): Promise<void>;
}

export async function webLocks(): Promise<LockManager> {
  const { locks } = (await import('node:worker_threads')) as unknown as { locks?: LockManager };
  if (locks === undefined) throw new Error(`Node ${process.versions.node} has no worker_threads.locks: 24.5 has them`);
  return locks;
}

/** A name of the Web Locks API. The lock is held until a promise settles, which `unlock` does. */
export class WebLock implements LockOfPromises {
  readonly #locks: LockManager;
  readonly #name: string;
  #release: () => void = () => {};

  constructor(locks: LockManager, name: string) {
    this.#locks = locks;
    this.#name = name;
  }

  lock(): Promise<void> {
    return new Promise((granted, failed) => {
      this.#locks
        .request(this.#name, () => {
          const released = new Promise<void>((release) => {
            this.#release = release;
          });
          granted();
          return released;
        })
        .catch(failed);
    });
  }

  unlock(): void {
    this.#release();
  }
}

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
