/** What a thread of Deno or Bun does that waits for the keeper for too long (src/host/ports.ts). */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import { KEEPER, UNWATCHED } from '../../src/border/numbers.js';

/** The name of the keeper that the thread has inherited; `name` is 0 as long as this keeper starts. */
const board = vi.hoisted(() => new Int32Array(1));

vi.mock('node:worker_threads', async (original) => ({
  ...(await original<typeof import('node:worker_threads')>()),
  isMainThread: false,
  threadId: 1,
  getEnvironmentData: () => board,
  postMessageToThread: async (thread: number) => {
    if (thread === DEAD - 1) throw new Error('no such thread');
  },
}));
const { openLine } = await import('../../src/host/ports.js');

const STARTING = -3;
/** The names of keepers. */
const [DEAD, NEW] = [7, 9];

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
  const line = openLine(memory, 1n, () => {});
  line?.close();
  return { isOpen: line !== undefined, name: word[0], warnings: warnings.mock.calls.length };
}

afterEach(() => {
  vi.restoreAllMocks();
});

it('it goes on with the keeper that comes just as it gives up', () => {
  expect(late((word) => Atomics.store(word, 0, NEW))).toEqual({ isOpen: true, name: NEW, warnings: 0 });
});

it('it says that no deaths are noticed if no keeper has come', () => {
  expect(late(() => {})).toEqual({ isOpen: false, name: UNWATCHED, warnings: 1 });
});

it('it says nothing if another thread has given up before', () => {
  const give = (word: Int32Array) => Atomics.store(word, 0, UNWATCHED);
  expect(late(give)).toEqual({ isOpen: false, name: UNWATCHED, warnings: 0 });
});

it('it replaces a keeper that it has not inherited, and that has ended', async () => {
  const memory = { buffer: new SharedArrayBuffer(1 << 16) } as unknown as WebAssembly.Memory;
  const word = new Int32Array(memory.buffer, KEEPER, 1);
  word[0] = DEAD;
  const shares = vi.fn(() => {
    word[0] = NEW;
  });
  const line = openLine(memory, 1n, shares);
  await sleep(1);
  expect([word[0], shares.mock.calls.length]).toEqual([NEW, 1]);
  line?.close();
});

it('it leaves a keeper that it has inherited', async () => {
  const memory = { buffer: new SharedArrayBuffer(1 << 16) } as unknown as WebAssembly.Memory;
  const word = new Int32Array(memory.buffer, KEEPER, 1);
  word[0] = DEAD;
  board[0] = DEAD;
  const shares = vi.fn();
  const line = openLine(memory, 1n, shares);
  await sleep(1);
  expect([word[0], shares.mock.calls.length]).toEqual([DEAD, 0]);
  line?.close();
  board[0] = 0;
});
