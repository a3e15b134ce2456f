/** This is the code of the keeper on Node; see keeper.ts. */
import { BroadcastChannel, MessageChannel, parentPort, threadId, workerData } from 'node:worker_threads';
import { eachThread, forget, meet } from './keeper-common.js';

/** The name of the main thread, which ends with the whole process. */
const MAIN = 1;
/** The milliseconds until the next try, if a channel has more members than the thread and this keeper. */
const AGAIN = 50;

function look(memory) {
  const met = meet(memory);
  if (!met) return;
  const { arena, core, isNew } = met;
  // The main thread may have told of itself before the door was open.
  if (isNew) greetMain(arena);
  eachThread(core, (thread, life, runtimeId) => {
    if (runtimeId > MAIN) hear(arena, thread, life, runtimeId);
  });
  forget(arena);
}

/** Sends a port and the name of this keeper into the channel of a thread. Returns whether that has arrived, or the thread is dead. */
function send(arena, runtimeId, port) {
  const channel = new BroadcastChannel(`taketurns:${arena.id}:${runtimeId}`);
  const symbol = Object.getOwnPropertySymbols(channel).find(({ description }) => description === 'kHandle');
  const answer = channel[symbol].postMessage([port, threadId + 1], [port]);
  channel.close();
  return answer !== undefined;
}

/** Gives a thread a port of a new channel, and calls `ended` when that closes, or the thread is dead already. */
function connect(arena, runtimeId, ended) {
  const { port1, port2 } = new MessageChannel();
  port1.on('close', ended);
  if (send(arena, runtimeId, port2)) return;
  // Another member leaves the channel only after a turn of its event loop. Then this port closes without a death.
  port1.off('close', ended);
  port1.close();
  setTimeout(connect, AGAIN, arena, runtimeId, ended);
}

/** Gives the main thread, if it listens, a port by which it hears when this keeper ends. */
function greetMain(arena) {
  connect(arena, MAIN, () => {});
}

function hear(arena, thread, life, runtimeId) {
  const key = `${thread}:${life}`;
  if (arena.heard.has(key)) return;
  arena.heard.add(key);
  connect(arena, runtimeId, () => {
    // The thread may have left the arena, and attached to it again. Then it has another record and another port.
    meet(arena.memory).core.reap(thread, life, 0);
    arena.heard.delete(key);
    forget(arena);
  });
}

const door = new BroadcastChannel(workerData.door + (threadId + 1));
door.onmessage = ({ data: { memory, name, id, comes } }) => {
  if (name === MAIN) greetMain({ id });
  else if (comes) connect({ id }, name, () => look(memory));
  else look(memory);
};
parentPort.on('message', look);
