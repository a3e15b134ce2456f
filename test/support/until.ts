/** Waits for the effects of other threads, with no assumption about how long these take. */
import { setTimeout as sleep } from 'node:timers/promises';

const DEADLINE = 20_000;

/** Polls until the condition holds. The deadline is for an event that never comes, not for a slow one. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const end = performance.now() + DEADLINE;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`never happened: ${what}`);
    await sleep(1);
  }
}

/** Lets all due promise reactions run, and one iteration of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Lets promise reactions run without an iteration of the event loop, so that nothing arrives from another thread. */
export async function reactions(): Promise<void> {
  for (let i = 0; i < 10; i++) await undefined;
}
