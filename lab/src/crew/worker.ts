/** A worker of the page. It attaches to the page's arena, and then does one job after the other. */
import { Arena } from 'taketurns';
import type { Job } from './job.js';
import type { Order, Reply, Welcome } from './messages.js';

const jobs = {
  starvation: async () => (await import('../starvation/thread.js')).starvation,
  queue: async () => (await import('../queue/thread.js')).queue,
  sync: async () => (await import('../sync/thread.js')).sync,
  channel: async () => (await import('../channel/thread.js')).channelJob,
  hang: async () => (await import('../hang/thread.js')).hang,
  bench: async () => (await import('../bench/thread.js')).bench,
};

const reply = (message: Reply): void => postMessage(message);

self.onmessage = async ({ data }: MessageEvent<Welcome | Order>) => {
  try {
    if ('arena' in data) {
      const arena = Arena.from(data.arena);
      reply({ hired: arena.thread });
      return;
    }
    const job = (await jobs[data.job]()) as Job<Order>;
    const run = await job(data);
    reply({ ready: true });
    await run();
    reply({ done: true });
  } catch (error) {
    reply({ error: error instanceof Error ? error.message : String(error) });
  }
};
