/**
 * Beats come from a thread of their own, so that a process which computes for long keeps its lease. The thread has a
 * client of its own, which a module of the user's makes. The thread sends the main thread no messages. It writes into
 * shared memory when the last answered beat was sent, and the main thread looks there before it gives up.
 *
 * The clocks of two threads may begin at different times. Each order says when the main thread gave it. The thread
 * assumes that the order was given at the moment it comes. So its idea of the main thread's clock is behind rather than
 * ahead, and the main thread gives up too early rather than too late.
 */
import { Worker } from 'node:worker_threads';

/** What the thread is told of a session: to beat for it, or (without sid) to stop. */
export interface BeatOrder {
  readonly partition: number;
  readonly sid: string;
  readonly conn: number;
  readonly keys: readonly string[];
  readonly channel: string;
  /** When the main thread gave the order, by its `performance.now`. */
  readonly at: number;
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

  /** Starts the thread. */
  constructor(client: string, lease: number, partitions: number) {
    this.#sentAt = new BigInt64Array(new SharedArrayBuffer(8 * partitions));
    const workerData: BeatData = { client, lease, sentAt: this.#sentAt.buffer as SharedArrayBuffer };
    const worker = new Worker(new URL('./heartbeat-thread.js', import.meta.url), { workerData });
    this.#worker = worker;
    this.ready = new Promise((resolve, reject) => {
      worker.once('message', () => {
        worker.unref();
        resolve();
      });
      worker.once('error', reject);
      worker.once('exit', (code) => reject(new Error(`the thread that beats has ended (${code})`)));
    });
    // Without the thread, the main thread beats itself. Whoever waits for `ready` hears of the error.
    worker.on('error', () => {});
    this.ready.catch(() => {});
  }

  order(order: Omit<BeatOrder, 'at'>): void {
    Atomics.store(this.#sentAt, order.partition, 0n);
    this.#worker.postMessage({ ...order, at: performance.now() } satisfies BeatOrder);
  }

  /**
   * When the last answered beat of the partition was sent, by the clock of `performance.now`; 0 if no beat was
   * answered.
   */
  lastOf(partition: number): number {
    return Number(Atomics.load(this.#sentAt, partition)) / 1000;
  }

  async stop(): Promise<void> {
    this.#worker.ref();
    await this.#worker.terminate();
  }
}
