/**
 * Counts the pauses of a thread (core/queue/polling.ts). A pause does not touch memory. But each pause changes a global
 * the same number of times, so the value of the global tells how many pauses there were.
 */

/** How many times one pause changes the global. */
const STEPS = 8;

/** The global that a pause changes. */
export const PAUSE_SINK = 'polling/pauseSink';

/** Returns how many pauses have changed the global from one value to the other. */
export function pausesBetween(before: number, after: number): number {
  let count = 0;
  for (let x = before; x !== after; count++) {
    for (let i = 0; i < STEPS; i++) x = (Math.imul(x, 1664525) + 1013904223) | 0;
  }
  return count;
}

/** The patience that a machine needs for the longest delay of a TicketSemaphore: twice the delay's instructions. */
export const PATIENCE_WITH_DELAYS = 20_000_000;
