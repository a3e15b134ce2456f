/**
 * Counts how many waiters share a slot, by each hash of core/algorithms/hashes.ts. A hash is a function, so nothing is
 * measured. S semaphores have w waiters each. Their tickets start anywhere and then go up in step through a whole round
 * of the slots, since two semaphores that collide may then collide all the time. Prints, of 40 such starts, the share
 * of waiters that found another at their slot: median, least and most. Run it after a build.
 */
import { readFileSync } from 'node:fs';

const NAMES = ['multiplier', 'paired', 'orbit', 'gray', 'mixed'];
const STARTS = 40;
const STEPS = 64;
const FIRST_OBJECT = 2048;
const OBJECT_SIZE = 128;

const { hash } = new WebAssembly.Instance(
  new WebAssembly.Module(readFileSync(new URL('../build/algorithms.wasm', import.meta.url))),
  {
    env: { memory: new WebAssembly.Memory({ initial: 1, maximum: 65536, shared: true }) },
    core: { ticketTaken: new WebAssembly.Global({ value: 'i64', mutable: true }, 0n) },
  },
).exports;

/** Returns the share of waiters that are not the first at their slot, over a round from one start. */
function collisions(kind, slots, semaphores, waiters, random) {
  const start = Array.from({ length: semaphores }, () => random() % slots);
  let met = 0;
  for (let step = 0; step < STEPS; step++) {
    const taken = new Set();
    for (let s = 0; s < semaphores; s++) {
      for (let i = 0; i < waiters; i++) {
        const ticket = BigInt(start[s] + Math.floor((step * slots) / STEPS) + i);
        const slot = hash(kind, FIRST_OBJECT + s * OBJECT_SIZE, ticket, slots - 1);
        if (taken.has(slot)) met++;
        taken.add(slot);
      }
    }
  }
  return met / (STEPS * semaphores * waiters);
}

console.log(`| slots | semaphores x waiters | ${NAMES.join(' | ')} |`);
console.log(`| ---: | ---: |${' --- |'.repeat(NAMES.length)}`);
for (const slots of [2048, 64]) {
  for (const [semaphores, waiters] of [
    [1, 64],
    [8, 8],
    [64, 1],
    [64, 8],
  ]) {
    const columns = NAMES.map((_, kind) => {
      let seed = 12345;
      const random = () => {
        seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
        return seed >>> 8;
      };
      const shares = Array.from({ length: STARTS }, () => collisions(kind, slots, semaphores, waiters, random)).sort(
        (a, b) => a - b,
      );
      const [least, median, most] = [0, STARTS / 2, STARTS - 1].map((i) => shares[i].toFixed(3));
      return `${median} (${least}–${most})`;
    });
    console.log(`| ${slots} | ${semaphores} x ${waiters} | ${columns.join(' | ')} |`);
  }
}
