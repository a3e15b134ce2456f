/** Which of its waiting promises a thread checks when its doorbell rings. */
import { describe, expect, it } from 'vitest';
import type { Core } from '../../src/border/core.js';
import { Doorbell } from '../../src/runtime/doorbell.js';
import { Promises } from '../../src/runtime/promises.js';
import { at } from '../support/memory.js';
import { until } from '../support/until.js';

const RECORD = 64;

/** A thread with a fake core, which grants the runs in `due` and records the runs at which the thread has looked. */
class Thread {
  readonly due = new Set<number>();
  looked: number[] = [];
  /** The run that the next promise begins. */
  #next = 0;
  readonly #words: Int32Array;
  readonly #core: Core;
  readonly #doorbell: Doorbell;

  constructor() {
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
    this.#words = new Int32Array(memory.buffer);
    this.#core = {
      doorbell: () => RECORD + at('T_DOORBELL'),
      settle: (run: number) => {
        this.looked.push(run);
        return Number(this.due.delete(run));
      },
      arrive: () => this.#next,
      enterRun: () => 0,
      waitsSince: () => {},
      asks: () => 0,
    } as unknown as Core;
    this.#doorbell = new Doorbell(this.#core, memory);
  }

  /** Makes a promise in a run of this number, of a semaphore of its own. */
  wait(run: number): { promises: Promises; promise: Promise<void> } {
    const promises = new Promises(this.#core, this.#doorbell, { address: 0, robust: 0 } as never);
    return { promises, promise: this.waitToo(promises, run) };
  }

  /** Makes another promise in a run of this number. */
  waitToo(promises: Promises, run: number): Promise<void> {
    this.#next = run;
    return new Promise((resolve) => {
      expect(promises.arrive({} as never, 0, 1, () => resolve())).toBe(run);
    });
  }

  /** Does what core/queue/queue.ts does for a run that is due. */
  ring(run: number): void {
    this.due.add(run);
    const word = (RECORD + at('T_DUE')) / 4 + ((run >> 5) & 7);
    Atomics.or(this.#words, word, 1 << run);
    Atomics.add(this.#words, (RECORD + at('T_DOORBELL')) / 4, 1);
    Atomics.notify(this.#words, (RECORD + at('T_DOORBELL')) / 4);
  }

  /** Waits until the thread has entered all waiting runs, and listens. */
  async rests(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 1));
    this.looked = [];
  }
}

describe('a ring', () => {
  it('has the thread look at the run that is noted, and at others only if they share its bit', async () => {
    const thread = new Thread();
    const waiting = new Map(Array.from({ length: 600 }, (_, i) => [i + 1, thread.wait(i + 1)]));
    await thread.rests();
    for (const run of [5, 32, 255, 256, 600]) {
      thread.ring(run);
      await waiting.get(run)?.promise;
      expect(thread.looked).toContain(run);
      // Numbers are noted modulo 256.
      for (const other of thread.looked) expect(other % 256).toBe(run % 256);
      await thread.rests();
    }
    for (const run of waiting.keys()) thread.ring(run);
    await Promise.all([...waiting.values()].map(({ promise }) => promise));
  });

  it('for many at once has it look at each of them', async () => {
    const thread = new Thread();
    const waiting = Array.from({ length: 100 }, (_, i) => thread.wait(i + 1).promise);
    await thread.rests();
    for (let run = 1; run <= 50; run++) thread.ring(run);
    await Promise.all(waiting.slice(0, 50));
    expect(Math.max(...thread.looked)).toBeLessThanOrEqual(50);
    for (let run = 51; run <= 100; run++) thread.ring(run);
    await Promise.all(waiting);
  });

  it('has it look at the run that has become the first of its semaphore', async () => {
    const thread = new Thread();
    const { promises, promise } = thread.wait(1);
    const next = thread.waitToo(promises, 2);
    await thread.rests();
    thread.ring(1);
    await promise;
    await thread.rests();
    thread.ring(2);
    await next;
    expect(thread.looked).toEqual([2]);
  });
});

describe('a promise that has just begun to wait', () => {
  it('is looked at though no thread has noted it, and those that are entered are not', async () => {
    const thread = new Thread();
    const waiting = Array.from({ length: 100 }, (_, i) => thread.wait(i + 1).promise);
    await thread.rests();
    waiting.push(thread.wait(101).promise);
    await until(() => thread.looked.length > 0, 'the thread has looked');
    expect(thread.looked).toEqual([101]);
    for (let run = 1; run <= 101; run++) thread.ring(run);
    await Promise.all(waiting);
  });
});
