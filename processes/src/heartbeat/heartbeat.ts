/**
 * A thread that beats, so that a process which computes for long keeps its lease. The thread has a client of its own,
 * which a module of the user makes. A busy main thread could not read messages from the thread. So the thread writes
 * the time at which it sent the last answered beat into shared memory, and the main thread reads this time before it
 * gives up its lease.
 *
 *     main thread --- BeatOrder: which session to beat for ---> thread --- beats ---> server
 *                 <-- `sentAt`, in shared memory, one number for each partition ---
 *
 * Why the main thread never gives up its lease too late: the clocks of two threads may begin at different times, and
 * the thread must write times of the main thread's clock. Each order says when the main thread gave it, and the thread
 * takes this as the time at which the order arrives. So the thread takes the main thread's clock to be behind what it
 * really shows, and the times that the thread writes are too early rather than too late.
 */
import { Worker } from 'node:worker_threads';
import type { EngineOptions } from '../options.js';
import { beside } from '../runtime/beside.js';
import { clock } from '../runtime/clock.js';

/**
 * What the main thread tells the thread: to beat for a session, or, if `sid` is '', to stop beating for the partition.
 */
export interface BeatOrder {
  readonly partition: number;
  readonly sid: string;
  readonly conn: number;
  readonly keys: readonly string[];
  readonly channel: string;
  /** When the main thread gave the order, by its clock. */
  readonly at: number;
}

/** The options of `Space.connect` that count for the connections of the thread too. It hears no messages. */
export type BeatOptions = Pick<EngineOptions, 'durable'> & { readonly listen?: false };

/** What the thread is started with. */
export interface BeatData {
  readonly client: string;
  readonly lease: number;
  readonly sentAt: SharedArrayBuffer;
  readonly options: BeatOptions;
}

export class Heartbeat {
  /** Resolves when the thread's client is connected. Rejects with the error of the user's module, or of the client. */
  readonly ready: Promise<void>;
  readonly #worker: Worker;
  readonly #sentAt: BigInt64Array;

  /** Starts the thread. */
  constructor(client: string, lease: number, partitions: number, options: BeatOptions = {}) {
    this.#sentAt = new BigInt64Array(new SharedArrayBuffer(8 * partitions));
    const workerData: BeatData = { client, lease, sentAt: this.#sentAt.buffer as SharedArrayBuffer, options };
    const worker = new Worker(beside('heartbeat-thread', import.meta.url), { workerData });
    this.#worker = worker;
    this.ready = new Promise((resolve, reject) => {
      worker.once('message', () => {
        worker.unref();
        resolve();
      });
      worker.once('error', reject);
      worker.once('exit', (code) => reject(new Error(`the thread that beats has ended (${code})`)));
    });
    // An error of the thread is not fatal, because the main thread beats too. Who waits for `ready` hears of the error.
    worker.on('error', () => {});
    this.ready.catch(() => {});
  }

  /** Gives the thread an order. */
  order(order: Omit<BeatOrder, 'at'>): void {
    Atomics.store(this.#sentAt, order.partition, 0n);
    this.#worker.postMessage({ ...order, at: clock.now() } satisfies BeatOrder);
  }

  /**
   * When the last answered beat of the partition was sent, by the clock of the main thread; 0 if no beat
   * was answered.
   */
  lastOf(partition: number): number {
    return Number(Atomics.load(this.#sentAt, partition)) / 1000;
  }

  async stop(): Promise<void> {
    this.#worker.ref();
    await this.#worker.terminate();
  }
}
