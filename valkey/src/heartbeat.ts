/**
 * Beats from a thread of their own, so that a process which computes for long keeps its lease. The thread has a client of
 * its own, made by a module of the user's. It tells nothing: it writes into shared memory when the last beat that was
 * answered was sent, and the main thread looks there before it gives up.
 *
 * The clocks of two threads may begin at different times. Each order says when the main thread gave it. The thread takes
 * it to be given when it comes, so its idea of the main thread's clock is behind rather than ahead, and the main thread
 * gives up too early rather than too late.
 */
import type { Worker } from 'node:worker_threads';

/** What the thread is told of a session: beat for it, or (without sid) stop. */
export interface BeatOrder {
  readonly partition: number;
  readonly sid: string;
  readonly conn: number;
  readonly keys: readonly string[];
  readonly channel: string;
  /** When the main thread gave it, by its `performance.now`. */
  readonly at: number;
}

/** What the thread is started with. */
export interface BeatData {
  readonly client: string;
  readonly lease: number;
  readonly sentAt: SharedArrayBuffer;
}

/**
 * The file of the thread. Its name is not where a bundler would find it: what the thread imports is known only when it
 * runs, so a bundle could not hold it.
 */
const THREAD = './heartbeat-thread.js';
const HERE = import.meta.url;

function missing({ message }: Error): Error | undefined {
  // Not the user's module, which this file fails to find.
  if (!/^Cannot find module '[^']*heartbeat-thread\.js'/.test(message)) return undefined;
  return new Error(`with \`heartbeat\` a bundler must leave taketurns-valkey external: ${message}`);
}

export class Heartbeat {
  /** Resolves when the thread's client is connected. Rejects with the error of the user's module, or of the client. */
  readonly ready: Promise<void>;
  readonly #worker: Worker;
  readonly #sentAt: BigInt64Array;

  private constructor(worker: Worker, sentAt: BigInt64Array) {
    this.#worker = worker;
    this.#sentAt = sentAt;
    this.ready = new Promise((resolve, reject) => {
      worker.once('message', () => {
        worker.unref();
        resolve();
      });
      worker.once('error', (error) => reject(missing(error) ?? error));
      worker.once('exit', (code) => reject(new Error(`the thread that beats has ended (${code})`)));
    });
    // Without the thread the process beats on itself. Who waits for `ready` hears of the error.
    worker.on('error', () => {});
    this.ready.catch(() => {});
  }

  /** Starts the thread. */
  static async start(client: string, lease: number, partitions: number): Promise<Heartbeat> {
    const { Worker } = await import('node:worker_threads');
    const sentAt = new BigInt64Array(new SharedArrayBuffer(8 * partitions));
    const workerData: BeatData = { client, lease, sentAt: sentAt.buffer };
    return new Heartbeat(new Worker(new URL(THREAD, HERE), { workerData }), sentAt);
  }

  order(order: Omit<BeatOrder, 'at'>): void {
    Atomics.store(this.#sentAt, order.partition, 0n);
    this.#worker.postMessage({ ...order, at: performance.now() } satisfies BeatOrder);
  }

  /** When the last beat of the partition was sent that was answered, by the clock of `performance.now`; 0 if none was. */
  lastOf(partition: number): number {
    return Number(Atomics.load(this.#sentAt, partition)) / 1000;
  }

  async stop(): Promise<void> {
    this.#worker.ref();
    await this.#worker.terminate();
  }
}
