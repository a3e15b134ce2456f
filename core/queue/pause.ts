/**
 * The delay between two polls. WebAssembly has no PAUSE, so a few dependent steps stand in for it. They last long
 * enough that polls do not load the line at full speed, and are short enough that a waiter sees a hand-over soon.
 */

const STEPS: u32 = 8;
export let pauseSink: u32 = 1;

export function pause(): void {
  let x = pauseSink;
  for (let i: u32 = 0; i < STEPS; i++) x = x * 1664525 + 1013904223;
  pauseSink = x;
}
