// A group of tasks that ends at its first error, and waits for all tasks that have begun, as the errgroup of Go:
// `Promise.all` also rejects at the first error, but the other tasks go on then, and nobody waits for them.
// Run: node node_modules/taketurns/examples/error-group.mjs
// In a clone of the repository: node examples/error-group.mjs
import { setTimeout as sleep } from 'node:timers/promises';
import { Semaphore, WaitGroup } from 'taketurns/tasks';

class ErrorGroup {
  #stop = new AbortController();
  #running = new WaitGroup();
  #slots;

  /** At most so many tasks run at once. */
  constructor(most = Infinity) {
    this.#slots = new Semaphore(Math.min(most, 2 ** 31 - 1));
  }

  /** Runs a task, when there is a slot. The task gets a signal, which is aborted at the first error. */
  go(task) {
    const { signal } = this.#stop;
    const run = async () => {
      try {
        await task(signal);
      } catch (error) {
        this.#stop.abort(error); // before the slot goes to the next task. Only the first error counts
      }
    };
    this.#running.run(() => this.#slots.runExclusive(run, { signal })).catch(() => {}); // it was still waiting
  }

  /** Waits until all tasks have ended, and throws the first error. */
  async wait() {
    await this.#running.waitAsync();
    this.#stop.signal.throwIfAborted();
  }
}

const group = new ErrorGroup(2);
for (const n of [1, 2, 3, 4, 5])
  group.go(async (signal) => {
    console.log(`${n} begins`);
    await sleep(n * 20, undefined, { signal }).catch(() => console.log(`${n} is cancelled`));
    if (n === 2) throw new Error('2 has failed');
  });
await group.wait().catch((error) => console.log(error.message));
