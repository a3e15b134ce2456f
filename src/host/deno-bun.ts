/** This is the host of Deno and Bun: that of Node, but for the ends of threads. */
import type { Host } from './host.js';
import { host as node } from './node.js';
import * as ports from './ports.js';

const isBun = 'Bun' in globalThis;

export const host: Host = {
  ...node,
  threadName: ports.threadName,
  // Deno reports the `exit` of a thread at once, and lets it compute on for seconds; Bun, after its last step.
  grace: isBun ? 0 : node.grace,
  deaths: ports.isAble ? ports : undefined,
  // A web worker of Bun reports its end by an event, after its last step.
  ...(isBun ? { whenClosed: (worker, run) => (worker as Worker).addEventListener('close', run) } : {}),
};
