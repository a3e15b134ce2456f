/**
 * The host of a thread that looks for deadlocks: the host of its runtime, with one more thing to do when the thread
 * attaches to an arena. In the bundles for Node, Deno and Bun this is the host (host-here.ts).
 * Elsewhere `watchDeadlocks` makes it so (this-thread.ts).
 */
import type { Host } from '../host/host.js';
import { label } from '../look/labels.js';
import { type Watched, type Watcher, watchSleeps } from './long-sleeps.js';
import { memoriesBeside } from './memberships.js';
import { isMeasured } from './settings.js';
import type { nameText } from './youngest.js';

/** What a host that looks for deadlocks has besides. */
export interface Watching extends Watcher {
  readonly nameText: typeof nameText;
  /** Tells the reporter of an arena to which the thread attaches, in report mode (report-mode.ts). */
  readonly tellArena?: ((memory: WebAssembly.Memory, id: bigint) => void) | undefined;
  /** The name of the thread; empty if it has none. */
  threadLabel: string;
}

/** Returns the properties that make a host one that looks for deadlocks. */
export function watching(host: Host, watching: Watching): Pick<Host, 'onSleep' | 'nameText'> & { watching: Watching } {
  const { onSleep, clock, anchor } = host;
  watching.beside = (memory) => memoriesBeside(anchor, memory);
  return {
    watching,
    nameText: watching.nameText,
    onSleep(module, sleeping, thread) {
      onSleep?.(module, sleeping, thread);
      const membership = thread as unknown as Watched & { readonly id: bigint };
      const { memory, id } = membership;
      watchSleeps(module, sleeping, membership, watching, clock.now);
      if (watching.onWait || isMeasured(new Int32Array(memory.buffer)))
        watching.measure?.(module, membership, watching, clock.now);
      if (watching.threadLabel) labelThread(thread, watching.threadLabel);
      if (sleeping.includes('park')) watching.tellArena?.(memory, id);
    },
  };
}

/** Writes the name of the calling thread where reports find it. */
export function labelThread(
  { core, memory, thread }: Pick<Watched, 'memory' | 'thread'> & { core: { lifeIfAlive(thread: number): number } },
  name: string,
): void {
  label(new Int32Array(memory.buffer), thread, core.lifeIfAlive(thread), name);
}
