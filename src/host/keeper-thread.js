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
    const host = arena.core.hostOf(i);
    // Number 1 is the main thread.
    if (host > 1 && !arena.heard.has(host)) hear(arena, host);
  }
  forget(arena);
}

function hear(arena, host) {
  arena.heard.add(host);
  const channel = new BroadcastChannel(`taketurns:${arena.id}:${host}`);
  const symbol = Object.getOwnPropertySymbols(channel).find(({ description }) => description === 'kHandle');
  const { port1, port2 } = new MessageChannel();
  const ended = () => {
    reap(arena.core, host);
    arena.heard.delete(host);
    forget(arena);
  };
  port1.on('close', ended);
  // The answer is undefined if the channel has more than two members. Then the port closes without a death.
  if (channel[symbol].postMessage(port2, [port2]) === undefined) {
    port1.off('close', ended);
    port1.close();
    arena.heard.delete(host);
  }
  channel.close();
}

function reap(core, host) {
  for (let i = core.mostThreads(); i > 0; i--) {
    const life = core.lifeIfAlive(i);
    if (life !== 0 && core.hostOf(i) === host) core.reap(i, life, 0);
  }
}

// The next thread that attaches brings the memory again.
function forget(arena) {
  if (arena.heard.size === 0) arenas.delete(arena.id);
}

const door = new BroadcastChannel(workerData.door + (threadId + 1));
door.onmessage = ({ data }) => meet(data);
parentPort.on('message', meet);
