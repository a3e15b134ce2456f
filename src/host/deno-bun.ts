/** This is the host of Deno and Bun: that of Node, but for the ends of threads. */
import type { Host, Sleeper } from './host.js';
import { host as node } from './node.js';
import * as ports from './ports.js';

const isBun = 'Bun' in globalThis;

/**
 * Deno leaves a terminated thread asleep in Atomics.wait for ever, with all its memory. A reaper wakes it, and the core
 * traps. The exception brings the thread back to its event loop, where it ends. What it does on the way, in a `finally`
 * say, must not reach the arena: the thread holds nothing any more.
 */
function endIfDead(core: Sleeper, thread: number, ended: () => void): void {
  const life = core.lifeIfAlive(thread);
  const dead = (): never => {
    throw new Error('this thread has been terminated');
  };
  core.trapIfDead();
  for (const name of ['park', 'parkFor', 'compete'] as const) {
    const call = core[name] as (...given: unknown[]) => number;
    core[name] = (...given: unknown[]) => {
      try {
        return call(...given);
      } catch (error) {
        if (core.lifeIfAlive(thread) === life) throw error;
        ended();
        for (const each of Object.keys(core)) Object.assign(core, { [each]: dead });
        return dead();
      }
    };
  }
}

export const host: Host = {
  ...node,
  threadName: ports.threadName,
  // Deno reports the `exit` of a thread at once, and lets it compute on for seconds; Bun, after its last step.
  grace: isBun ? 0 : node.grace,
  deaths: ports.isAble ? ports : undefined,
  ...(isBun ? {} : { endIfDead }),
  // A web worker of Bun reports its end by an event, after its last step.
  ...(isBun ? { whenClosed: (worker, run) => (worker as Worker).addEventListener('close', run) } : {}),
};
