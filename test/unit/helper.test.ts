/**
 * Old browsers lack Atomics.waitAsync; helper workers take its place. Node has no such workers, so a thread of Node
 * runs their code here.
 */
import { resolveObjectURL } from 'node:buffer';
import { Worker as Thread } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { until } from '../support/until.js';

const threads: Thread[] = [];

/** The part of a web worker that the helper needs. */
class FakeWorker {
  onmessage: ((event: { data: unknown }) => void) | undefined;
  onerror: ((event: { preventDefault(): void }) => void) | undefined;
  readonly #thread: Promise<Thread>;

  constructor(url: string) {
    this.#thread = this.#start(url);
  }

  async #start(url: string): Promise<Thread> {
    const code = await resolveObjectURL(url)?.text();
    const thread = new Thread(
      `const { parentPort } = require('node:worker_threads');
       let onmessage; const postMessage = (data) => parentPort.postMessage(data);
       ${code};
       parentPort.on('message', (data) => onmessage({ data }));`,
      { eval: true },
    );
    thread.on('message', (data) => this.onmessage?.({ data }));
    threads.push(thread);
    return thread;
  }

  async postMessage(data: unknown): Promise<void> {
    (await this.#thread).postMessage(data);
  }
}

/** A worker that a policy refuses: its error comes later. */
class RefusedWorker extends FakeWorker {
  constructor() {
    super('blob:nothing');
    setTimeout(() => this.onerror?.({ preventDefault: () => {} }));
  }

  override async postMessage(): Promise<void> {}
}

const words = (): Int32Array => new Int32Array(new SharedArrayBuffer(8));

let waitAsync: typeof import('../../src/host/helper.js').waitAsync;

async function load(Worker: unknown): Promise<void> {
  vi.stubGlobal('Worker', Worker);
  vi.resetModules();
  ({ waitAsync } = await import('../../src/host/helper.js'));
}

beforeEach(() => {
  threads.length = 0;
});

afterEach(async () => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  await Promise.all(threads.map((thread) => thread.terminate()));
});

describe('a helper', () => {
  beforeEach(() => load(FakeWorker));

  it('is not used when the word has changed already', () => {
    expect(waitAsync(words(), 0, 1).async).toBe(false);
    expect(threads).toHaveLength(0);
  });

  it('reports a notify, and is used again', async () => {
    const array = words();
    for (let i = 0; i < 3; i++) {
      const { async, value } = waitAsync(array, 1, 0);
      expect(async).toBe(true);
      // The word keeps its value, so only the notify can end the wait.
      await until(() => Atomics.notify(array, 1) === 1, 'it waits');
      await value;
    }
    expect(threads).toHaveLength(1);
  });

  it('sees a change that came before it', async () => {
    const array = words();
    const { value } = waitAsync(array, 0, 0);
    Atomics.store(array, 0, 1);
    await value;
  });

  it('waits on words of 64 bits, and for a time', async () => {
    const array = new BigInt64Array(new SharedArrayBuffer(8));
    const both = [waitAsync(array, 0, 0n, 20), waitAsync(array, 0, 0n, 20)];
    await Promise.all(both.map(({ value }) => value));
    expect(threads).toHaveLength(2);
  });
});

describe('a helper that is refused', () => {
  it.each([
    ['later', RefusedWorker],
    [
      'at once',
      class {
        constructor() {
          throw new Error('SecurityError');
        }
      },
    ],
  ])('%s: a timer polls, and the console gets one warning', async (_, Worker) => {
    await load(Worker);
    const told = vi.spyOn(console, 'error').mockImplementation(() => {});
    const array = words();
    const waits = [waitAsync(array, 0, 0), waitAsync(array, 0, 0), waitAsync(array, 1, 0, 10)];
    await waits[2]?.value;
    Atomics.store(array, 0, 1);
    await Promise.all(waits.map(({ value }) => value));
    expect(told).toHaveBeenCalledOnce();
    expect(told.mock.calls[0]?.[0]).toContain('worker-src');
  });
});
