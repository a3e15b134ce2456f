/**
 * Computes hashes of 2 x 32 bits. The halves use different constants, so two states that collide in one half nearly
 * always differ in the other half.
 *
 * The hash of the memory is the xor of what the words contribute. A word that is 0 contributes nothing, and any other
 * word contributes mix(index, value). When a word changes, its old contribution is taken out by xor, and the new one is
 * put in. Everything except memory and globals is hashed in sequence.
 */

function finish(x: number, first: number, second: number): number {
  let h = x;
  h = Math.imul(h ^ (h >>> 16), first);
  h = Math.imul(h ^ (h >>> 15), second);
  return h ^ (h >>> 16);
}

// The finishers of MurmurHash3 and of "lowbias32". Their multipliers are odd, so no two words have the same result.
export function finishLo(x: number): number {
  return finish(x, 0x85ebca6b, 0xc2b2ae35);
}

export function finishHi(x: number): number {
  return finish(x, 0x21f0aaad, 0x735a2d97);
}

export function mixLo(index: number, value: number): number {
  return value === 0 ? 0 : finishLo(value + Math.imul(index + 1, 0x9e3779b1));
}

export function mixHi(index: number, value: number): number {
  return value === 0 ? 0 : finishHi(Math.imul(value, 0x2c1b3c6d) ^ Math.imul(index + 1, 0x297a2d39));
}

/** Adds a word to a sequence. */
export function nextLo(h: number, value: number): number {
  const x = Math.imul(h ^ value, 0xcc9e2d51);
  return x ^ (x >>> 15);
}

export function nextHi(h: number, value: number): number {
  const x = Math.imul((h << 13) + (h >>> 19) + value, 0x1b873593) + 0x6b43a9b5;
  return x ^ (x >>> 16);
}
