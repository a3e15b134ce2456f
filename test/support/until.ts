/** Waiting for what other threads bring about, without a word about how long it takes. */
import { setTimeout as sleep } from 'node:timers/promises';

const DEADLINE = 20_000;

/** Polls until the condition holds. The deadline is for a thing that never happens, not for a slow one. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const end = performance.now() + DEADLINE;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`never happened: ${what}`);
    await sleep(1);
  }
}

/** Lets every promise reaction that is due run, and one turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Lets promise reactions run, but the event loop does not turn: nothing from another thread can come in. */
export async function reactions(): Promise<void> {
  for (let i = 0; i < 10; i++) await undefined;
}
