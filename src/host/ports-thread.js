/** This is the code of the keeper of Deno and Bun; see ports.ts. */
import { MessageChannel, parentPort, threadId, workerData } from 'node:worker_threads';
import { eachThread, forget, meet } from './keeper-common.js';

const me = threadId + 1;

/** Writes the name of this keeper into an arena, unless that has another. */
function claim(memory) {
  const word = new Int32Array(memory.buffer, workerData.keeper, 1);
  const before = Atomics.compareExchange(word, 0, workerData.starting, me);
  Atomics.notify(word, 0);
  return before === workerData.starting || before === me;
}

// In Deno a port that comes by postMessageToThread is a port of the web platform, and has no event `close`. After the
// port has passed through a channel of worker_threads, it has this event.
const { port1, port2 } = new MessageChannel();
process.on('workerMessage', (message) => port1.postMessage(message, [message.port]));
port2.on('message', ({ memory, runtimeId, port }) => {
  const { arena } = (claim(memory) && meet(memory)) || {};
  if (!arena) return;
  arena.heard.add(port);
  let hasLeft = false;
  // The one message says that the thread has left the arena, and lives.
  port.on('message', () => {
    hasLeft = true;
  });
  port.on('close', () => {
    const { core } = meet(memory);
    eachThread(core, (thread, life, name) => {
      if (name === runtimeId && !hasLeft) core.reap(thread, life, 0);
    });
    arena.heard.delete(port);
    forget(arena);
  });
});
parentPort.on('message', claim);
Atomics.store(workerData.board, 0, me);
Atomics.notify(workerData.board, 0);
