/**
 * Beats from a thread of their own, so that a process which computes for long keeps its lease. The thread has a client of
 * its own, made by a module of the user's. It tells nothing: it writes into shared memory when the last beat that was
 * answered was sent, and the main thread looks there before it gives up.
 */
import type { Worker } from 'node:worker_threads';

/** What the thread is told of a session: beat for it, or (without sid) stop. */
export interface BeatOrder {
  readonly partition: number;
  readonly sid: string;
  readonly conn: number;
  readonly keys: readonly string[];
  readonly channel: string;
}

/** What the thread is started with. */
export interface BeatData {
  readonly client: string;
  readonly lease: number;
  readonly sentAt: SharedArrayBuffer;
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
      worker.once('error', reject);
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
    return new Heartbeat(new Worker(new URL('./heartbeat-thread.js', import.meta.url), { workerData }), sentAt);
  }

  order(order: BeatOrder): void {
    Atomics.store(this.#sentAt, order.partition, 0n);
    this.#worker.postMessage(order);
  }

  /** When the last beat of the partition was sent that was answered, by the clock of `performance.now`; 0 if none was. */
  lastOf(partition: number): number {
    const at = Atomics.load(this.#sentAt, partition);
    if (at === 0n) return 0;
    return performance.now() - Number(process.hrtime.bigint() - at) / 1e6;
  }

  async stop(): Promise<void> {
    this.#worker.ref();
    await this.#worker.terminate();
  }
}
