/**
 * Workers for one experiment. They share the page's default arena, and the arena watches them. So a crew can be
 * dismissed at any point: the arena puts in order what the workers leave behind.
 */
import { Arena, type ThreadHandle } from 'taketurns';
import type { Order, Reply, Welcome } from './messages.js';

type Answer = 'hired' | 'ready' | 'done';

export class Crew {
  readonly #workers: Worker[];
  readonly #done = new Set<Promise<unknown>>();

  private constructor(workers: Worker[]) {
    this.#workers = workers;
  }

  static async hire(count: number): Promise<Crew> {
    const workers = Array.from(
      { length: count },
      () => new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'lab' }),
    );
    const welcome: Welcome = { arena: Arena.default.handle };
    await Promise.all(
      workers.map(async (worker) => {
        const hired = answer(worker, 'hired');
        worker.postMessage(welcome);
        Arena.default.watch(worker, (await hired) as ThreadHandle);
      }),
    );
    return new Crew(workers);
  }

  get size(): number {
    return this.#workers.length;
  }

  /** Gives each worker its order, and what its order transfers. Resolves when all are ready. */
  async order(
    order: (thread: number) => Order,
    transfer: (thread: number) => Transferable[] = () => [],
  ): Promise<void> {
    const ready = this.#workers.map((worker, thread) => {
      const isReady = answer(worker, 'ready');
      const done = answer(worker, 'done');
      done.catch(() => {});
      this.#done.add(done);
      worker.postMessage(order(thread), transfer(thread));
      return isReady;
    });
    await Promise.all(ready);
  }

  /** Resolves when all workers have carried out their orders. Rejects as soon as one has failed. */
  async done(): Promise<void> {
    const pending = [...this.#done];
    await Promise.all(pending);
    for (const promise of pending) this.#done.delete(promise);
  }

  dismiss(): void {
    for (const worker of this.#workers) worker.terminate();
  }
}

function answer(worker: Worker, kind: Answer): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error, value?: unknown): void => {
      worker.removeEventListener('message', heard);
      worker.removeEventListener('error', failed);
      if (error) reject(error);
      else resolve(value);
    };
    const heard = ({ data }: MessageEvent<Reply>): void => {
      if ('error' in data) settle(new Error(data.error));
      else if (kind in data) settle(undefined, (data as Record<string, unknown>)[kind]);
    };
    const failed = (event: ErrorEvent): void => settle(new Error(event.message || 'a worker did not start'));
    worker.addEventListener('message', heard);
    worker.addEventListener('error', failed);
  });
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
