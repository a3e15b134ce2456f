// What piscina runs in its threads: a request to the cache, or to the server with few connections.

import { connect, type Socket } from 'node:net';
import { workerData } from 'piscina';
import { drawer } from '../keyed/subjects.js';
import type { LockLike } from '../rows/subjects.js';
import type { LockOfPromises } from '../rows/web-lock.js';
import { isPageOf, newPage, render, SharedCache } from './cache.js';
import { Histogram } from './histogram.js';
import { CACHE_ROWS, NO_LIMIT, NO_LOCK, POOL_ROWS, type Run } from './rows.js';

/** What the threads of a run share. */
export interface Setting {
  application: 'cache' | 'pool';
  row: string;
  shared: unknown;
  /** The times from the call of the lock, or of the pool, until the thread has it. */
  waits: SharedArrayBuffer;
  cache: { memory: SharedArrayBuffer; keys: number; capacity: number };
  port: number;
}

/** A request: its number, and how many pages or queries it needs. */
export interface Request {
  id: number;
  steps: number;
}

/** What has become of a request: how many of its pages were in the cache, or how many queries were answered. */
export interface Answer {
  done: number;
  hits: number;
}

const setting = workerData as Setting;
const waits = new Histogram(setting.waits);

function wrong(what: string): never {
  throw new Error(`${setting.row}: ${what}`);
}

async function cacheRequests(): Promise<(request: Request) => Answer | Promise<Answer>> {
  const { memory, keys, capacity } = setting.cache;
  const row = [...CACHE_ROWS, NO_LOCK].find(({ name }) => name === setting.row) ?? wrong('no such row');
  const { subject } = await row.join(setting.shared);
  const cache = new SharedCache(memory, keys, capacity);
  const page = newPage();
  const made = (key: number): void => {
    if (!isPageOf(key, page)) wrong(`the cache has another page for key ${key}`);
  };
  if (row.promises) {
    const lock = subject as LockOfPromises;
    const inside = async <T>(work: () => T): Promise<T> => {
      const begun = performance.now();
      await lock.lock();
      waits.add(performance.now() - begun);
      try {
        return work();
      } finally {
        lock.unlock();
      }
    };
    return async ({ id, steps }) => {
      const draw = drawer('zipf', keys, id + 1);
      let hits = 0;
      for (let step = 0; step < steps; step++) {
        const key = draw();
        if (await inside(() => cache.get(key, page))) {
          hits++;
        } else {
          render(key, page);
          await inside(() => cache.put(key, page));
        }
        made(key);
      }
      return { done: steps, hits };
    };
  }
  const lock = subject as LockLike;
  const inside = <T>(work: () => T): T => {
    const begun = performance.now();
    lock.lock();
    waits.add(performance.now() - begun);
    try {
      return work();
    } finally {
      lock.unlock();
    }
  };
  return ({ id, steps }) => {
    const draw = drawer('zipf', keys, id + 1);
    let hits = 0;
    for (let step = 0; step < steps; step++) {
      const key = draw();
      if (inside(() => cache.get(key, page))) {
        hits++;
      } else {
        render(key, page);
        inside(() => cache.put(key, page));
      }
      made(key);
    }
    return { done: steps, hits };
  };
}

/** A connection, which has one query at a time. */
class Connection {
  readonly #socket: Socket;
  #answered: (bytes: Buffer) => void = () => {};
  #failed: (error: Error) => void = () => {};

  constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.on('data', (bytes) => this.#answered(bytes));
    this.#socket.on('error', (error) => this.#failed(error));
    this.#socket.unref();
  }

  async query(id: number): Promise<void> {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(id);
    const answer = await new Promise<Buffer>((resolve, reject) => {
      this.#answered = resolve;
      this.#failed = reject;
      this.#socket.write(bytes);
    });
    if (!answer.equals(bytes)) wrong(`the server answered another query than ${id}`);
  }
}

async function poolRequests(): Promise<(request: Request) => Promise<Answer>> {
  const row = [...POOL_ROWS, NO_LIMIT].find(({ name }) => name === setting.row) ?? wrong('no such row');
  const run: Run = await row.join(setting.shared);
  const idle: Connection[] = [];
  return async ({ id, steps }) => {
    for (let step = 0; step < steps; step++) {
      const begun = performance.now();
      await run(async () => {
        waits.add(performance.now() - begun);
        const connection = idle.pop() ?? new Connection(setting.port);
        await connection.query(id * steps + step);
        idle.push(connection);
      });
    }
    return { done: steps, hits: 0 };
  };
}

export default await (setting.application === 'cache' ? cacheRequests() : poolRequests());
