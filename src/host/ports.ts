/**
 * The keeper of Deno and Bun. It is the thread of keeper.ts, but hears of deaths in another way, because these
 * runtimes send no port into a named channel. Each thread sends the keeper one end of a message channel, and keeps the
 * other end.
 *
 *     thread                              keeper
 *     waits until there is a keeper
 *     sends a port with its name   ──►    knows which records belong to the port
 *     registers in the arena
 *     ...
 *     ends, and with it its port   ──►    the other end closes: reaps the thread
 *
 * Why a closed port proves a death. Deno and Bun close the ports of a thread only when no code of the thread can run
 * any more. (Its `exit` proves nothing: both runtimes report it to the parent before that. Nor do its Web Locks: Deno
 * gives them back before that. See docs/internals/runtimes.md.) A thread sends the port before it registers. So its
 * death is noticed wherever it dies, as soon as the message has arrived.
 *
 * Deno brings the message from thread to thread. In Bun the message passes the event loop of the main thread. So a
 * death is noticed only after the main thread has next turned its event loop. Web workers of Bun can send nothing.
 *
 * When a keeper is told of an arena, the word of the arena is STARTING until the keeper has written its name there. A
 * thread that attaches meanwhile waits until the name is there. If no keeper comes for a while, the thread gives up for
 * all threads of the arena, and says so: otherwise each of them would wait for as long.
 */
import {
  getEnvironmentData,
  isMainThread,
  MessageChannel,
  type MessagePort,
  setEnvironmentData,
  threadId,
  type Worker,
} from 'node:worker_threads';
import { KEEPER, UNWATCHED, VERSION } from '../border/numbers.js';
import type { Deaths, Line } from './host.js';
import { postMessageToThread as post } from './newer-threads.js';
import { SOURCE } from './ports-source.js';
import { startKeeper } from './start-keeper.js';
import { isWatched, keeperOf, randomName, unwatch } from './watched.js';

/** The environment data in which a worker finds the name of the keeper of its program. */
const KEY = `taketurns:keeper:${VERSION}`;
const STARTING = -2;
/** For how many milliseconds a thread waits for the keeper to come up. */
const PATIENCE = 2000;

/** Web workers of Deno claim in `worker_threads` to be the first thread. Their names are random, and negative. */
const isOfTheWeb = isMainThread && 'WorkerGlobalScope' in globalThis;
const isFirst = isMainThread && !isOfTheWeb;
export const threadName = isOfTheWeb ? randomName() : threadId + 1;

let keeper: Worker | undefined;
/** The one word of this memory is the name of the keeper, as soon as the keeper runs. */
let board = getEnvironmentData(KEY) as unknown as Int32Array | undefined;
/** The ports of this thread. They close when the thread ends. */
const ports = new Set<MessagePort>();

/** Lets the keeper know an arena that other threads are about to attach to. Starts a keeper if the program has none. */
function watchOver(memory: WebAssembly.Memory, module: WebAssembly.Module): void {
  const word = keeperOf(memory);
  if (Atomics.load(word, 0) !== 0) return;
  if (!board) {
    board = new Int32Array(new SharedArrayBuffer(4));
    setEnvironmentData(KEY, board as never);
    keeper = startKeeper(SOURCE, { module, board, keeper: KEEPER, starting: STARTING });
    if (!keeper) Atomics.store(board, 0, UNWATCHED);
  }
  if (keeper) {
    Atomics.compareExchange(word, 0, 0, STARTING);
    keeper.postMessage(memory);
  } else {
    // Another thread has started the keeper.
    Atomics.wait(board, 0, 0, PATIENCE);
    Atomics.compareExchange(word, 0, 0, Atomics.load(board, 0));
  }
}

/**
 * This thread has waited for the keeper for as long as it waits. Returns the name of the keeper if that has come
 * meanwhile: perhaps it has not written its name into this arena. Otherwise no deaths are noticed in the arena.
 */
function lateKeeper(word: Int32Array): number {
  const name = board ? Atomics.load(board, 0) : 0;
  if (name !== 0) return name;
  const before = Atomics.compareExchange(word, 0, STARTING, UNWATCHED);
  if (before !== STARTING) return before;
  process.emitWarning(
    `deaths of threads are not noticed: the thread that notices them has not started within ${PATIENCE} ms`,
    'TaketurnsWarning',
  );
  return UNWATCHED;
}

/** Sends the keeper the port by which it hears of the death of this thread. Called before the thread registers. */
function openLine(memory: WebAssembly.Memory): Line | undefined {
  if (!post || isFirst) return undefined;
  const word = keeperOf(memory);
  let keeper = Atomics.load(word, 0);
  if (keeper === STARTING && board) keeper = Atomics.load(board, 0) || STARTING;
  if (keeper === STARTING) {
    const isLate = Atomics.wait(word, 0, STARTING, PATIENCE) === 'timed-out';
    keeper = isLate ? lateKeeper(word) : Atomics.load(word, 0);
  }
  if (keeper <= 0) return undefined;
  const { port1, port2 } = new MessageChannel();
  ports.add(port1);
  post(keeper - 1, { memory, runtimeId: threadName, port: port2 }, [port2]).catch(() => {});
  return {
    announce() {},
    close() {
      ports.delete(port1);
      port1.postMessage('left');
      port1.close();
    },
  };
}

export const deaths: Deaths | undefined = post && { unwatch, isWatched, watchOver, openLine };
