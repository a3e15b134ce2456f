/** This is the code of the keeper; see keeper.ts. */
import { BroadcastChannel, MessageChannel, parentPort, threadId, workerData } from 'node:worker_threads';

const arenas = new Map();

function meet(memory) {
  const [id] = new BigInt64Array(memory.buffer, workerData.id, 1);
  let arena = arenas.get(id);
  if (!arena) {
    const core = new WebAssembly.Instance(workerData.module, { env: { memory } }).exports;
    if (!core.open()) return;
    arena = { id, core, heard: new Set() };
    arenas.set(id, arena);
  }
  for (let i = arena.core.mostThreads(); i > 0; i--) {
    const life = arena.core.lifeIfAlive(i);
    const host = arena.core.hostOf(i);
    // Number 1 is the main thread. A thread that leaves the arena and attaches again has another life.
    if (life !== 0 && host > 1 && !arena.heard.has(`${i}:${life}`)) hear(arena, host, i, life);
  }
  forget(arena);
}

function hear(arena, host, index, life, tries = 20) {
  const key = `${index}:${life}`;
  arena.heard.add(key);
  const channel = new BroadcastChannel(`taketurns:${arena.id}:${host}`);
  const symbol = Object.getOwnPropertySymbols(channel).find(({ description }) => description === 'kHandle');
  const { port1, port2 } = new MessageChannel();
  const ended = () => {
    arena.core.reap(index, life, 0);
    arena.heard.delete(key);
    forget(arena);
  };
  port1.on('close', ended);
  // The answer is undefined if the channel has more than two members. Then the port closes without a death. A channel
  // that the thread has just closed, when it left the arena, is a member for some turns of its event loop.
  if (channel[symbol].postMessage(port2, [port2]) === undefined) {
    port1.off('close', ended);
    port1.close();
    if (tries > 0 && arena.core.lifeIfAlive(index) === life) setTimeout(hear, 10, arena, host, index, life, tries - 1);
    else arena.heard.delete(key);
  }
  channel.close();
}

// The next thread that attaches brings the memory again.
function forget(arena) {
  if (arena.heard.size === 0) arenas.delete(arena.id);
}

const door = new BroadcastChannel(workerData.door + (threadId + 1));
door.onmessage = ({ data }) => meet(data);
parentPort.on('message', meet);
