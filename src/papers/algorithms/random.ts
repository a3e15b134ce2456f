/**
 * Random numbers that are cheap to draw: the xorshift generator by Marsaglia, with 32 bits of state in each thread.
 *
 * The state is never 0. The generator goes through all 32-bit numbers but 0 before it repeats one.
 */

const state = Int32Array.of(Math.floor(Math.random() * 2 ** 32) | 1);

/** Returns a number from -2 ** 31 to 2 ** 31 - 1, each but 0 as likely as any other. */
export function draw(): number {
  let x = state[0] as number;
  x ^= x << 13;
  x ^= x >>> 17;
  x ^= x << 5;
  state[0] = x;
  return x;
}

/** Returns the integer for which `draw() < limit` is true with this probability, 0 to 1. */
export function limitOf(probability: number): number {
  return Math.floor(probability * (2 ** 32 - 1) - 2 ** 31) | 0;
}
