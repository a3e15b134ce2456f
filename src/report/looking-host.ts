/**
 * The host of a thread that looks for deadlocks: the host of its runtime, with one more thing to do when the thread
 * attaches to an arena. In the bundles for Node, Deno and Bun this is the host (host-here.ts).
 * Elsewhere `watchDeadlocks` makes it so (this-thread.ts).
 */
import type { Host } from '../host/host.js';
import { label } from '../look/labels.js';
import { type LookTools, lookInSleeps, type OwnMembership } from './long-sleeps.js';
import { memoriesBeside } from './memberships.js';
import { isMeasured } from './settings.js';
import type { nameText } from './youngest.js';

/** What a host that looks for deadlocks has besides. */
export interface Looking extends LookTools {
  readonly nameText: typeof nameText;
  /** Tells the reporter of an arena to which the thread attaches, in report mode (report-mode.ts). */
  readonly tellArena?: ((memory: WebAssembly.Memory, id: bigint) => void) | undefined;
  /** The name of the thread; empty if it has none. */
  threadLabel: string;
}

/** Returns the properties that make a host one that looks for deadlocks. */
export function looking(host: Host, looking: Looking): Pick<Host, 'onSleep' | 'nameText'> & { looking: Looking } {
  const { onSleep, clock, anchor } = host;
  looking.beside = (memory) => memoriesBeside(anchor, memory);
  return {
    looking,
    nameText: looking.nameText,
    onSleep(module, sleeping, thread) {
      onSleep?.(module, sleeping, thread);
      const membership = thread as unknown as OwnMembership & { readonly id: bigint };
      const { memory, id } = membership;
      lookInSleeps(module, sleeping, membership, looking, clock.now);
      if (looking.onWait || isMeasured(new Int32Array(memory.buffer)))
        looking.measure?.(module, membership, looking, clock.now);
      if (looking.threadLabel) labelThread(thread, looking.threadLabel);
      if (sleeping.includes('park')) looking.tellArena?.(memory, id);
    },
  };
}

/** Writes the name of the calling thread where reports find it. */
export function labelThread(
  {
    core,
    memory,
    thread,
  }: Pick<OwnMembership, 'memory' | 'thread'> & { core: { lifeIfAlive(thread: number): number } },
  name: string,
): void {
  label(new Int32Array(memory.buffer), thread, core.lifeIfAlive(thread), name);
}
