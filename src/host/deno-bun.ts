/** This is the host of Deno and Bun. It is the host of Node, except for the ends of threads. */
import type { Host, Mortal, Sleeper } from './host.js';
import { host as node } from './node.js';
import { deaths, threadName } from './ports.js';

const isBun = 'Bun' in globalThis;

/**
 * Deno leaves a terminated thread asleep in Atomics.wait for ever, with all its memory. A reaper wakes the thread,
 * and the core traps. The exception brings the thread back to its event loop, where the thread ends. On the way the
 * thread may still run code, for example in a `finally`. This code must not reach the arena, because the thread has
 * been reaped and holds nothing any more.
 */
function onSleep(module: Sleeper, sleeping: readonly string[], membership: Mortal): void {
  const { core, thread } = membership;
  const life = core.lifeIfAlive(thread);
  const functions = module as unknown as Record<string, (...given: unknown[]) => unknown>;
  const dead = (): never => {
    throw new Error('this thread has been terminated');
  };
  module.trapIfDead();
  for (const name of sleeping) {
    const call = functions[name] as (...given: unknown[]) => unknown;
    functions[name] = (...given) => {
      try {
        return call(...given);
      } catch (error) {
        if (core.lifeIfAlive(thread) === life) throw error;
        membership.endObjects();
        for (const each of Object.keys(functions)) functions[each] = dead;
        return dead();
      }
    };
  }
}

export const host: Host = {
  ...node,
  threadName,
  // Deno reports the `exit` of a thread at once, and lets the thread run on for seconds. Bun reports it after the last
  // step.
  grace: isBun ? 0 : node.grace,
  deaths,
  ...(isBun ? {} : { onSleep }),
  // A web worker of Bun reports its end by an event, after its last step.
  ...(isBun ? { whenClosed: (worker, run) => (worker as Worker).addEventListener('close', run) } : {}),
};
