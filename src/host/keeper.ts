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
 * The first thread that shares an arena starts the keeper, as its child: usually the main thread. The keeper is
 * registered in no arena and takes no record. It reaps by a core instance that is not registered (core/death/reaping.ts).
 */
import {
  BroadcastChannel,
  getEnvironmentData,
  isMainThread,
  setEnvironmentData,
  threadId,
  Worker,
} from 'node:worker_threads';
import { isWatched, KEEPER, keeperOf } from './watched.js';

export { isWatched, unwatch } from './watched.js';

/** The environment data by which a worker knows that its program has a keeper. */
const KEY = 'taketurns:keeper';
/** The channel on which threads announce themselves. */
const DOOR = 'taketurns:keeper';
// This number is of core/memory/layout.ts, and a unit test compares it.
/** The address of the id of an arena. */
const H_ID = 8;

// The code of a keeper is a text, since a file of its own would be missing in a bundle.
/** What the keepers of all runtimes do. One forgets an arena of which it hears no thread; the next brings the memory again. */
export const COMMON = `
const { BroadcastChannel, MessageChannel, parentPort, threadId, workerData } = require('node:worker_threads');
const [main, me] = [1, threadId + 1];
const arenas = new Map();

function meet(memory) {
  const [id] = new BigInt64Array(memory.buffer, workerData.id, 1);
  let arena = arenas.get(id);
  if (!arena) {
    const core = new WebAssembly.Instance(workerData.module, { env: { memory } }).exports;
    if (!core.open()) return;
    const word = new Int32Array(memory.buffer, workerData.keeper, 1);
    const before = Atomics.compareExchange(word, 0, workerData.before, me);
    if (before !== workerData.before && before !== me) return;
    Atomics.notify(word, 0);
    arena = { id, core, heard: new Set() };
    arenas.set(id, arena);
  }
  return arena;
}

function forget(arena) {
  if (arena?.heard.size === 0) arenas.delete(arena.id);
}

function hearEndOf(arena, host, port) {
  const { core, heard } = arena;
  heard.add(host);
  const ended = () => {
    for (let i = core.mostThreads(); i > 0; i--) {
      const life = core.lifeIfAlive(i);
      if (life !== 0 && core.hostOf(i) === host) core.reap(i, life, 0);
    }
    heard.delete(host);
    forget(arena);
  };
  port.on('close', ended);
  return ended;
}
`;

// The answer to the port is undefined if the channel has more than two members. Then the port closes without a death.
const SOURCE = `${COMMON}
function look(memory) {
  const arena = meet(memory);
  if (!arena) return;
  for (let i = arena.core.mostThreads(); i > 0; i--) {
    const host = arena.core.hostOf(i);
    if (host > main && !arena.heard.has(host)) hear(arena, host);
  }
  forget(arena);
}

function hear(arena, host) {
  const channel = new BroadcastChannel('taketurns:' + arena.id + ':' + host);
  const symbol = Object.getOwnPropertySymbols(channel).find(({ description }) => description === 'kHandle');
  const { port1, port2 } = new MessageChannel();
  const ended = hearEndOf(arena, host, port1);
  if (channel[symbol].postMessage(port2, [port2]) === undefined) {
    port1.off('close', ended);
    port1.close();
    arena.heard.delete(host);
  }
  channel.close();
}

const door = new BroadcastChannel('${DOOR}');
door.onmessage = ({ data }) => look(data);
parentPort.on('message', look);
`;

let keeper: Worker | undefined;
let hasKeeper = getEnvironmentData(KEY) !== undefined;
/** What closes with this thread, and so tells of its death: channels, and the ports in them. */
export const kept: unknown[] = [];

/** Has the keeper know an arena that other threads are about to attach to, and starts it if the program has none. */
export function watchOver(memory: WebAssembly.Memory, module: WebAssembly.Module): void {
  if (Atomics.load(keeperOf(memory), 0) !== 0) return;
  if (keeper) keeper.postMessage(memory);
  else if (hasKeeper) tell(memory);
  else start(memory, module);
}

function start(memory: WebAssembly.Memory, module: WebAssembly.Module): void {
  // The start of a worker copies the environment data, which may call watchOver.
  hasKeeper = true;
  setEnvironmentData(KEY, threadId + 1);
  keeper = startKeeper(SOURCE, { module, before: 0 });
  keeper?.postMessage(memory);
}

interface Ours {
  readonly module: WebAssembly.Module;
  readonly before: number;
  readonly board?: Int32Array;
}

/** Starts a keeper. It writes its name to the word of each arena in place of the number `before`. */
export function startKeeper(source: string, data: Ours): Worker | undefined {
  try {
    const keeper = new Worker(source, {
      eval: true,
      name: 'taketurns',
      workerData: { ...data, id: H_ID, keeper: KEEPER },
      // Nothing that the program preloads, and no variable of the environment.
      execArgv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1, codeRangeSizeMb: 1, stackSizeMb: 1 },
    });
    keeper.on('error', () => {});
    keeper.unref();
    return keeper;
  } catch {
    return undefined; // The program may start no threads, so none can die.
  }
}

/** Opens the channel by which the keeper hears of the death of this thread. Called before the thread registers. */
export function openLine(memory: WebAssembly.Memory, id: bigint): () => void {
  // The main thread ends with the whole process.
  if (isMainThread || !isWatched(memory)) return () => {};
  const channel = new BroadcastChannel(`taketurns:${id}:${threadId + 1}`);
  channel.onmessage = ({ data }: { data: unknown }) => kept.push(data);
  channel.unref();
  kept.push(channel);
  return () => channel.close();
}

/** Tells the keeper of a thread that has registered. */
export function announce(memory: WebAssembly.Memory): void {
  if (!isMainThread && isWatched(memory)) tell(memory);
}

function tell(memory: WebAssembly.Memory): void {
  const door = new BroadcastChannel(DOOR);
  door.postMessage(memory);
  door.close();
}
