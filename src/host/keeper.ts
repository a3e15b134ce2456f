/**
 * The keeper notices deaths on Node. It is a small thread that hears when a thread of an arena ends, in whatever way,
 * and reaps this thread. So a death is noticed even while every thread blocks that could hear of it from the runtime.
 *
 *     thread                              keeper
 *     opens a channel named after it
 *     says that it comes           ──►    joins the channel, sends a message port into it
 *     registers in the arena
 *     announces itself             ──►    finds its record, sends another port into the channel
 *     ...
 *     ends, and with it its channel ──►   the other ends of both ports close: reaps the thread
 *
 * Why a closed port proves a death. Node closes the channels of a thread when no code of the thread can run any more,
 * and a port that lies unread in a closed channel closes too. So the port stays open as long as the thread can run,
 * even if the thread never turns its event loop to read the port.
 *
 * The thread may die before the keeper joins its channel. A thread opens its channel before it registers. So if a
 * record names a thread, and the keeper finds no other member in the channel of this thread, then the thread is dead.
 * The keeper then counts the port as closed at once.
 *
 * The thread may also die after it has registered and before it announces itself. Then its first port closes, and the
 * keeper looks at all records.
 *
 * A thread that leaves an arena without dying gives its record back before it closes the channel. The keeper reaps only
 * the record that it has found, so it reaps nothing then.
 *
 * Why a named channel (BroadcastChannel). It leads straight from thread to thread, so only the keeper must turn its
 * event loop. Node's postMessageToThread goes through the main thread, which may block. Node sends a port into a named
 * channel only if the channel has exactly two members. Only the native object behind a BroadcastChannel tells whether
 * the port was sent; the keeper finds this object by its symbol.
 *
 * The first thread that shares an arena starts the keeper as its child; usually this is the main thread. The threads
 * that it starts inherit the name of the keeper. If the main thread shares no arena, several threads may each start a
 * keeper, and each keeper ends with its thread. So the first thread that shares an arena writes the name of its keeper
 * into the arena, and threads announce themselves to no other keeper.
 *
 * A thread first registers, and then looks for the name of the keeper. The sharing thread first writes the name, and
 * then tells the keeper, which looks for threads. So the thread finds the name, or the keeper finds the thread.
 *
 * A keeper ends with the thread that has started it. A thread can rely on a keeper of its own, and on the one that it
 * has inherited: the thread that has started this one ends later. Every other keeper is foreign, and may end first. A
 * thread replaces a keeper that is dead: it takes the name of the keeper out of the arena, and shares the arena again.
 * No thread replaces a keeper that lives, because two keepers must not reap in one arena (core/death/reaping.ts).
 *
 * - A thread that attaches looks whether a foreign keeper is dead.
 * - If the keeper ends later, its end of each port closes, and the first thread that turns its event loop hears of it.
 * - If the keeper ends before it has sent a port, a timer of the thread finds that the keeper is dead.
 *
 * If all threads block meanwhile, deaths go unnoticed.
 *
 * A foreign keeper is dead if no thread is in the channel of its starter. To look whether this is so, a thread joins the
 * channel twice, and sends a port. Node sends the port only if there is no third member. Afterwards nothing is left in
 * the channel: no message, for which a starter that blocks would need memory, and no member. Two threads that look at
 * the same instant may take each other for the starter. Then their timers look again.
 *
 * If the system has no room for the thread of a keeper, the next thread that shares an arena tries again. The new
 * keeper finds all threads.
 *
 * The keeper is registered in no arena and takes no record. It reaps by a core instance that is not registered
 * (core/death/reaping.ts). Its code is keeper-thread.js, which rolldown.threads.mjs turns into a text.
 */
import { setTimeout as startTimer } from 'node:timers';
import {
  BroadcastChannel,
  getEnvironmentData,
  isMainThread,
  MessageChannel,
  type MessagePort,
  setEnvironmentData,
  threadId,
  type Worker,
} from 'node:worker_threads';
import { VERSION } from '../border/numbers.js';
import type { Deaths, Line } from './host.js';
import { SOURCE } from './keeper-source.js';
import { startKeeper } from './start-keeper.js';
import { isWatched, keeperOf, unwatch } from './watched.js';

// Taken at load, because a test may replace timers.
const setTimeout = startTimer;

/**
 * The key of the environment data that hold the name of the keeper that this thread has started or inherited. The
 * name is the keeper's `threadId` + 1, or 0 while it is being started, and when no more are started.
 */
const KEY = `taketurns:keeper:${VERSION}`;
/** Together with the name of a keeper: the name of the channel on which threads announce themselves to this keeper. */
const DOOR = 'taketurns:keeper:';
/** Together with the name of a keeper: the name of the channel in which the thread is that has started this keeper. */
const STARTER = 'taketurns:starter:';
/** The milliseconds until a thread looks again whether a keeper lives that has sent no port. */
const AGAIN = 100;

interface Watched {
  readonly word: Int32Array;
  /** Shares the arena again. */
  share(): void;
}

/** The keeper, if this copy of the library in this thread has started it. */
let keeper: Worker | undefined;
let starts = 0;
/** How many channels without another member `leave` has made. */
let sinks = 0;
/** The arenas of this thread. */
const arenas = new Set<Watched>();

/** Lets the keeper know an arena that other threads are about to attach to. Starts a keeper if the thread has none. */
function watchOver(memory: WebAssembly.Memory, module: WebAssembly.Module): void {
  const word = keeperOf(memory);
  if (Atomics.load(word, 0) !== 0) return;
  if (getEnvironmentData(KEY) === undefined) start(module);
  const name = getEnvironmentData(KEY) as number | undefined;
  if (!name || Atomics.compareExchange(word, 0, 0, name) !== 0) return;
  // A message to a starting keeper waits until the keeper runs, but a message on a channel would be lost.
  if (keeper) keeper.postMessage(memory);
  else tell(name, memory);
}

function start(module: WebAssembly.Module): void {
  /** How many keepers a thread starts at most, if the keepers end before the thread. */
  const STARTS = 4;
  // The start of a worker copies the environment data, and this may call watchOver, which then finds no name.
  setEnvironmentData(KEY, 0);
  if (starts === STARTS) return;
  keeper = startKeeper(SOURCE, { module, door: DOOR });
  if (!keeper) {
    // The system may have no room for another thread now. The next call tries again.
    setEnvironmentData(KEY, undefined as never);
    return;
  }
  starts++;
  const name = keeper.threadId + 1;
  const channel = new BroadcastChannel(STARTER + name);
  channel.unref();
  keeper.on('exit', () => {
    channel.close();
    replace(name, arenas);
  });
  setEnvironmentData(KEY, name);
}

/** The native object behind a channel. Only this object tells whether a message has been sent. */
function handleOf(channel: BroadcastChannel): MessagePort | undefined {
  const symbol = Object.getOwnPropertySymbols(channel).find(({ description }) => description === 'kHandle') as never;
  return channel[symbol];
}

/**
 * Closes channels, and leaves them at once. `close` alone leaves a channel only at the next iteration of the event
 * loop, and until then messages pile up. What is sent nowhere is gone at once.
 */
function leave(...channels: BroadcastChannel[]): void {
  const nowhere = new BroadcastChannel(`${STARTER}${threadId}:${sinks++}:${Math.random()}`);
  const handles = channels.map(handleOf);
  if (handles[0]) handleOf(nowhere)?.postMessage(0, handles as MessagePort[]);
  for (const channel of [...channels, nowhere]) channel.close();
}

/** Whether the thread has ended that started a keeper, and the keeper with it. */
function isDead(name: number): boolean {
  const one = new BroadcastChannel(STARTER + name);
  const other = new BroadcastChannel(STARTER + name);
  const { port1, port2 } = new MessageChannel();
  const answer: unknown = handleOf(one)?.postMessage(port2, [port2]);
  leave(one, other);
  port1.close();
  return answer === true;
}

/** A keeper has ended. Shares again those of some arenas that name it. */
function replace(name: number, some: Iterable<Watched>): void {
  if (getEnvironmentData(KEY) === name) {
    keeper = undefined;
    setEnvironmentData(KEY, undefined as never);
  }
  for (const { word, share } of some) if (Atomics.compareExchange(word, 0, name, 0) === name) share();
}

/** Opens the channel by which the keeper hears of the death of this thread. Called before the thread registers. */
function openLine(memory: WebAssembly.Memory, id: bigint, share: () => void): Line | undefined {
  if (!isWatched(memory)) return undefined;
  const arena = { word: keeperOf(memory), share };
  const line: { close(): void }[] = [];
  /** The keeper whose port this thread has. */
  let heard = 0;
  const look = (): void => {
    const name = Atomics.load(arena.word, 0);
    if (name <= 0 || name === heard || name === getEnvironmentData(KEY) || !arenas.has(arena)) return;
    if (isDead(name)) replace(name, [arena]);
    setTimeout(look, AGAIN).unref();
  };
  const open = (): void => {
    const channel = new BroadcastChannel(`taketurns:${id}:${threadId + 1}`);
    channel.onmessage = ({ data }: { data: unknown }) => {
      const [port, name] = data as [MessagePort, number];
      heard = name;
      line.push(port);
      port.on('close', () => {
        if (!arenas.has(arena)) return;
        replace(name, [arena]);
        look();
      });
      port.unref();
    };
    channel.unref();
    line.push(channel);
  };
  const say = (comes?: true): void => {
    const name = Atomics.load(arena.word, 0);
    // The keeper that this thread has started ends with this thread.
    if (name <= 0 || name - 1 === keeper?.threadId) return;
    const isForeign = name !== getEnvironmentData(KEY);
    if (isForeign && isDead(name)) {
      replace(name, [arena]);
      say(comes);
      return;
    }
    if (isMainThread) open();
    tell(name, memory, id, comes);
    if (isForeign && !comes) setTimeout(look, AGAIN).unref();
  };
  arenas.add(arena);
  // The main thread ends with the whole process.
  if (!isMainThread) {
    open();
    say(true);
  }
  return {
    announce: say,
    close(): void {
      arenas.delete(arena);
      for (const end of line) end.close();
    },
  };
}

/** Tells a keeper of an arena. With an id, tells it of this thread too, which has registered or `comes` to register. */
function tell(name: number, memory: WebAssembly.Memory, id?: bigint, comes?: true): void {
  const door = new BroadcastChannel(DOOR + name);
  door.postMessage({ memory, name: id === undefined ? 0 : threadId + 1, id, comes });
  leave(door);
}

export const deaths: Deaths = { unwatch, isWatched, watchOver, openLine };
