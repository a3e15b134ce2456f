/**
 * The worker, which is the same file in every runtime. It does one job after the other, and answers with the outcome.
 * Some jobs block the thread; that is part of the suite.
 */
import { threads } from './globals.js';
import type { Answer, Call } from './messages.js';

interface Port {
  postMessage(answer: Answer): void;
  on?(event: 'message', listener: (call: Call) => void): void;
  addEventListener(event: 'message', listener: (event: { data: Call }) => void): void;
}

const port = (threads?.parentPort ?? globalThis) as unknown as Port;

// If the page is to lack a feature, its workers lack it, too. A worker deletes the feature before it loads the library.
// Even before that it begins to listen, because messages that come earlier would be lost.
if (new URL(import.meta.url).searchParams.get('without') === 'waitAsync')
  delete (Atomics as { waitAsync?: unknown }).waitAsync;
const loaded = import('./jobs.js');

async function run({ id, job, args }: Call): Promise<void> {
  try {
    const { jobs } = await loaded;
    const work = jobs[job];
    if (work === undefined) throw new Error(`no job ${job}`);
    port.postMessage({ id, value: await work(...(args as never[])) });
  } catch (error) {
    const { name, message } = error as Error;
    port.postMessage({ id, error: { name, message } });
  }
}

if (port.on) port.on('message', run);
else port.addEventListener('message', ({ data }) => run(data));
