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
 * lies unread in a closed channel closes too. So the port is open as long as the thread can run, even if the thread
 * never turns its event loop to read it. A thread opens its channel before it registers. So if a record names a thread
 * whose channel the keeper finds empty, that thread is dead as well, and its port closes at once. A thread that leaves
 * an arena gives its record back before it closes the channel, and the keeper reaps that record only.
 *
 * A named channel leads from thread to thread, and none of them must turn its event loop but the keeper. Node's
 * postMessageToThread goes by way of the main thread, which may block. Node sends a port into a named channel if that
 * has two members, which only the native side of a BroadcastChannel offers; the keeper looks for it by its symbol.
 *
 * The first thread that shares an arena starts the keeper, as its child: usually the main thread. The threads that it
 * starts inherit the name of the keeper. If the main thread shares no arena, several threads may start a keeper each,
 * which ends with its thread. So whoever shares an arena first writes the name of its own keeper into that arena, and
 * threads announce themselves to no other keeper.
 *
 * A thread registers, and then looks for that name. The sharing thread writes the name, and then tells the keeper,
 * which looks for threads. So the thread finds the name, or the keeper finds the thread.
 *
 * When a keeper ends before the program, the threads hear it by the same port, as soon as one turns its event loop.
 * That one takes the name out of the arena and shares the arena anew. While all of them block, deaths go unnoticed.
 *
 * The keeper is registered in no arena and takes no record. It reaps by a core instance that is not registered
 * (core/death/reaping.ts). Its code is keeper-thread.js, of which scripts/build-keeper.mjs makes a text.
 */
import {
  BroadcastChannel,
  getEnvironmentData,
  isMainThread,
  type MessagePort,
  setEnvironmentData,
  threadId,
  type Worker,
} from 'node:worker_threads';
import { VERSION } from '../border/numbers.js';
import type { Line } from './host.js';
import { SOURCE } from './keeper-source.js';
import { startKeeper } from './start-keeper.js';
import { isWatched, keeperOf } from './watched.js';

export { isWatched, unwatch } from './watched.js';

/**
 * The environment data that hold the name of the keeper of this thread, which it has started or inherited: the keeper's
 * `threadId` and 1. It is 0 if none could be started.
 */
const KEY = `taketurns:keeper:${VERSION}`;
/** With the name of a keeper, the name of the channel on which threads announce themselves to it. */
const DOOR = 'taketurns:keeper:';

/** The keeper, if this copy of the library in this thread has started it. */
let keeper: Worker | undefined;
let starts = 0;
/** The arenas of this thread: their words, and what shares them anew. */
const arenas = new Set<{ readonly word: Int32Array; share(): void }>();

/** Has the keeper know an arena that other threads are about to attach to, and starts it if the thread has none. */
export function watchOver(memory: WebAssembly.Memory, module: WebAssembly.Module): void {
  const word = keeperOf(memory);
  if (Atomics.load(word, 0) !== 0) return;
  if (getEnvironmentData(KEY) === undefined) start(module);
  const name = getEnvironmentData(KEY) as number;
  if (name === 0 || Atomics.compareExchange(word, 0, 0, name) !== 0) return;
  // A message to a keeper that is starting waits for it, but one on a channel would be lost.
  if (keeper) keeper.postMessage(memory);
  else tell(name, memory);
}

function start(module: WebAssembly.Module): void {
  /** How many keepers a thread starts, if they end before it. */
  const STARTS = 4;
  // The start of a worker copies the environment data, which may call watchOver. It finds no name yet.
  setEnvironmentData(KEY, 0);
  keeper = starts++ < STARTS ? startKeeper(SOURCE, { module, door: DOOR }) : undefined;
  if (!keeper) return;
  const name = keeper.threadId + 1;
  keeper.on('exit', () => ended(name));
  setEnvironmentData(KEY, name);
}

/** A keeper has ended. */
function ended(name: number): void {
  if (getEnvironmentData(KEY) === name) {
    keeper = undefined;
    setEnvironmentData(KEY, undefined as never);
  }
  for (const { word, share } of arenas) if (Atomics.compareExchange(word, 0, name, 0) === name) share();
}

/** Opens the channel by which the keeper hears of the death of this thread. Called before the thread registers. */
export function openLine(memory: WebAssembly.Memory, id: bigint, share: () => void): Line | undefined {
  if (!isWatched(memory)) return undefined;
  const arena = { word: keeperOf(memory), share };
  const line: { close(): void }[] = [];
  const open = (): void => {
    const channel = new BroadcastChannel(`taketurns:${id}:${threadId + 1}`);
    channel.onmessage = ({ data }: { data: unknown }) => {
      const port = data as MessagePort;
      const name = Atomics.load(arena.word, 0);
      line.push(port);
      port.on('close', () => {
        if (arenas.has(arena)) ended(name);
      });
      port.unref();
    };
    channel.unref();
    line.push(channel);
  };
  arenas.add(arena);
  // The main thread ends with the whole process.
  if (!isMainThread) open();
  return {
    announce(): void {
      const name = Atomics.load(arena.word, 0);
      // The keeper of this thread ends with it.
      if (name <= 0 || name - 1 === keeper?.threadId) return;
      if (isMainThread) open();
      tell(name, memory, id);
    },
    close(): void {
      arenas.delete(arena);
      for (const end of line) end.close();
    },
  };
}

/** Tells a keeper of an arena, and of the main thread if this is it. */
function tell(name: number, memory: WebAssembly.Memory, id?: bigint): void {
  const door = new BroadcastChannel(DOOR + name);
  door.postMessage({ memory, name: id === undefined ? 0 : threadId + 1, id });
  door.close();
}
