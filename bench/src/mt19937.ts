// The Mersenne Twister mt19937. A step of this generator is the work that semabench does inside and outside the
// section.
//
// The generator is the same as C++ `std::mt19937` (624 words, twisted all at once when they are used up). So script and
// native rows do the same work. Its whole state, with the position, is one Uint32Array. If this array is over a
// SharedArrayBuffer, any thread that holds the permit can step the generator with plain loads and stores, because the
// semaphore under test orders them.

const SIZE = 624;
const SHIFT = 397;
const POSITION = SIZE;

/** The size of a generator's state in bytes. */
export const MT_BYTES = (SIZE + 1) * Uint32Array.BYTES_PER_ELEMENT;

/** Seeds `state` as `std::mt19937(seed)` does. */
export function mtSeed(state: Uint32Array, seed = 5489): void {
  let word = seed >>> 0;
  state[0] = word;
  for (let i = 1; i < SIZE; i++) {
    word = (Math.imul(1812433253, word ^ (word >>> 30)) + i) >>> 0;
    state[i] = word;
  }
  state[POSITION] = SIZE;
}

/** Advances `state` by one step and returns its output, an unsigned 32-bit integer. */
export function mtStep(state: Uint32Array): number {
  let at = state[POSITION] as number;
  if (at >= SIZE) {
    twist(state);
    at = 0;
  }
  let y = state[at] as number;
  state[POSITION] = at + 1;
  y ^= y >>> 11;
  y ^= (y << 7) & 0x9d2c5680;
  y ^= (y << 15) & 0xefc60000;
  y ^= y >>> 18;
  return y >>> 0;
}

/**
 * Whether the seeded `state` may have been stepped `steps` times. If two threads step it at the same time, steps are
 * lost. The function notices this, unless the number of lost steps is a multiple of 624.
 */
export function mtStepped(state: Uint32Array, steps: number): boolean {
  return state[POSITION] === (steps === 0 ? SIZE : ((steps - 1) % SIZE) + 1);
}

// There are two loops, so no index has to wrap, and all operations have 32 bits. Both together halve the time.
function twist(state: Uint32Array): void {
  const far = SIZE - SHIFT;
  for (let i = 0; i < far; i++) {
    state[i] = (state[i + SHIFT] as number) ^ mix(state[i] as number, state[i + 1] as number);
  }
  for (let i = far; i < SIZE - 1; i++) {
    state[i] = (state[i - far] as number) ^ mix(state[i] as number, state[i + 1] as number);
  }
  state[SIZE - 1] = (state[SHIFT - 1] as number) ^ mix(state[SIZE - 1] as number, state[0] as number);
}

function mix(word: number, next: number): number {
  const y = (word & 0x80000000) | (next & 0x7fffffff);
  return (y >>> 1) ^ (-(y & 1) & 0x9908b0df);
}
