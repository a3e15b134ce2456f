/**
 * The keeper notices deaths on Node: a small thread that hears when a thread of an arena ends, in whatever way, and
 * reaps it. So a death is noticed also while every thread blocks that could hear it from the runtime.
 *
 *     thread                              keeper
 *     opens a channel named after it
 *     registers in the arena
 *     announces itself             ──►    finds its record, joins the channel, sends a message port into it
 *     ...
 *     ends, and with it its channel ──►   the other end of the port closes: reaps the thread
 *
 * Why it is a proof. Node closes the channels of a thread when no code of the thread can run any more, and a port that
 * lies unread in a closed channel closes too. So the port is open exactly as long as the thread can run, even if the
 * thread never turns its event loop to read it. A thread opens its channel before it registers. So if a record names a
 * thread whose channel the keeper finds empty, that thread is dead as well, and its port closes at once.
 *
 * A named channel leads from thread to thread, and none of them must turn its event loop but the keeper. Node's
 * postMessageToThread goes by way of the main thread, which may block. Node sends a port into a named channel if that
 * has two members, which only the native side of a BroadcastChannel offers; the keeper looks for it by its symbol.
 *
 * The code of the keeper is keeper-thread.js. scripts/build-keeper.mjs makes a text of it, since a file of its own would
 * be missing in a bundle.
 *
 * The first thread that shares an arena starts the keeper, as its child: usually the main thread. The threads that it
 * starts inherit the name of the keeper. If the main thread shares no arena, several threads may start a keeper each,
 * which ends with its thread. So whoever shares an arena first writes the name of its own keeper into that arena, and
 * threads announce themselves to no other keeper.
 *
 * A thread registers, and then looks for that name. The sharing thread writes the name, and then tells the keeper, which
 * looks for threads. So the thread finds the name, or the keeper finds the thread.
 *
 * The keeper is registered in no arena and takes no record. It reaps by a core instance that is not registered
 * (core/death/reaping.ts).
 */
import {
  BroadcastChannel,
  getEnvironmentData,
  isMainThread,
  setEnvironmentData,
  threadId,
  Worker,
} from 'node:worker_threads';
import { SOURCE } from './keeper-source.js';

// These numbers are of core/memory/layout.ts, and a unit test compares them.
const VERSION = 1;
/**
 * The environment data that hold the name of the keeper of this thread, which it has started or inherited: the keeper's
 * `threadId` and 1. It is 0 if none could be started. Each version has its own.
 */
const KEY = `taketurns:keeper:${VERSION}`;
/** With the name of a keeper, the name of the channel on which threads announce themselves to it. */
const DOOR = 'taketurns:keeper:';
/** The address of the word of an arena that names its keeper, and its value in an arena that wants none. */
const KEEPER = 456;
const UNWATCHED = -1;
/** The address of the id of an arena. */
const H_ID = 8;

/** The keeper, if this copy of the library in this thread has started it. */
let keeper: Worker | undefined;
/** Keep the channels of this thread, and the ports in them. Those close with the thread, or when it leaves the arena. */
const kept = new Set<() => void>();

function wordOf(memory: WebAssembly.Memory): Int32Array {
  return new Int32Array(memory.buffer, KEEPER, 1);
}

/** Makes an arena one that wants no keeper. */
export function unwatch(memory: WebAssembly.Memory): void {
  Atomics.store(wordOf(memory), 0, UNWATCHED);
}

/** Has the keeper know an arena that other threads are about to attach to, and starts it if the thread has none. */
export function watchOver(memory: WebAssembly.Memory, module: WebAssembly.Module): void {
  const word = wordOf(memory);
  if (Atomics.load(word, 0) !== 0) return;
  if (getEnvironmentData(KEY) === undefined) start(module);
  const name = getEnvironmentData(KEY) as number;
  if (name === 0 || Atomics.compareExchange(word, 0, 0, name) !== 0) return;
  // A message to a keeper that is starting waits for it, but one on a channel would be lost.
  if (keeper) keeper.postMessage(memory);
  else tell(name, memory);
}

function start(module: WebAssembly.Module): void {
  // The start of a worker copies the environment data, which may call watchOver. It finds no name yet.
  setEnvironmentData(KEY, 0);
  try {
    keeper = new Worker(SOURCE, {
      eval: true,
      name: 'taketurns',
      workerData: { module, door: DOOR, id: H_ID },
      // Nothing that the program preloads, and no variable of the environment.
      execArgv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1, codeRangeSizeMb: 1, stackSizeMb: 1 },
    });
  } catch {
    return; // The program may start no threads, so none can die.
  }
  keeper.on('error', () => {});
  keeper.unref();
  setEnvironmentData(KEY, keeper.threadId + 1);
}

/** Opens the channel by which the keeper hears of the death of this thread. Called before the thread registers. */
export function openLine(memory: WebAssembly.Memory, id: bigint): () => void {
  // The main thread ends with the whole process.
  if (isMainThread || Atomics.load(wordOf(memory), 0) === UNWATCHED) return () => {};
  const channel = new BroadcastChannel(`taketurns:${id}:${threadId + 1}`);
  const line: { close(): void }[] = [channel];
  const close = (): void => {
    kept.delete(close);
    for (const end of line) end.close();
  };
  channel.onmessage = ({ data }: { data: unknown }) => line.push(data as { close(): void });
  channel.unref();
  kept.add(close);
  return close;
}

/** Tells the keeper of a thread that has registered. */
export function announce(memory: WebAssembly.Memory): void {
  const name = Atomics.load(wordOf(memory), 0);
  if (!isMainThread && name > 0) tell(name, memory);
}

function tell(name: number, memory: WebAssembly.Memory): void {
  const door = new BroadcastChannel(DOOR + name);
  door.postMessage(memory);
  door.close();
}
