/** What a thread of Deno or Bun does that waits for the keeper for too long (src/host/ports.ts). */
import { afterEach, expect, it, vi } from 'vitest';
import { KEEPER, UNWATCHED } from '../../src/border/numbers.js';

vi.mock('node:worker_threads', async (original) => ({
  ...(await original<typeof import('node:worker_threads')>()),
  isMainThread: false,
  threadId: 1,
  postMessageToThread: async () => {},
}));
const { deaths } = await import('../../src/host/ports.js');

const STARTING = -2;

/** An arena whose keeper starts. `meanwhile` happens while a thread waits for it. */
function late(meanwhile: (word: Int32Array) => void) {
  const memory = { buffer: new SharedArrayBuffer(1 << 16) } as unknown as WebAssembly.Memory;
  const word = new Int32Array(memory.buffer, KEEPER, 1);
  word[0] = STARTING;
  vi.spyOn(Atomics, 'wait').mockImplementation(() => {
    meanwhile(word);
    return 'timed-out';
  });
  const warnings = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const line = deaths?.openLine(memory, 1n, () => {});
  line?.close();
  return { isOpen: line !== undefined, name: word[0], warnings: warnings.mock.calls.length };
}

afterEach(() => {
  vi.restoreAllMocks();
});

it('it goes on with the keeper that comes just as it gives up', () => {
  expect(late((word) => Atomics.store(word, 0, 7))).toEqual({ isOpen: true, name: 7, warnings: 0 });
});

it('it says that no deaths are noticed if no keeper has come', () => {
  expect(late(() => {})).toEqual({ isOpen: false, name: UNWATCHED, warnings: 1 });
});

it('it says nothing if another thread has given up before', () => {
  const give = (word: Int32Array) => Atomics.store(word, 0, UNWATCHED);
  expect(late(give)).toEqual({ isOpen: false, name: UNWATCHED, warnings: 0 });
});
