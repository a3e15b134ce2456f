/**
 * One turn of a polling loop's delay. WebAssembly has no PAUSE, so a few dependent steps stand in for it:
 * long enough that the polled line is not asked for at full speed, short enough to see a hand-over soon.
 */

const STEPS: u32 = 8;
export let pauseSink: u32 = 1;

export function pause(): void {
  let x = pauseSink;
  for (let i: u32 = 0; i < STEPS; i++) x = x * 1664525 + 1013904223;
  pauseSink = x;
}
