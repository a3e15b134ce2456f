/**
 * Counts how many waiters share a slot, by each hash of core/papers/hashes.ts. A hash is a function, so the script
 * computes and does not measure. S semaphores have w waiters each. Their first tickets are random. Then the tickets of
 * all semaphores go up by one together, through a whole round of the slots. In this way two semaphores that collide
 * once may collide all the time. The script prints which share of the waiters found another waiter at their slot: the
 * median, the least and the most of 40 random starts. Run the script after a build.
 *
 *     node bench/programs/hash-collisions.mjs           every hash, at 2048 slots
 *     node bench/programs/hash-collisions.mjs --sizes   the default hash, at 1 to 64 slots for each waiter
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Semaphore } from '../../dist/index.js';

const NAMES = ['multiplier', 'paired', 'orbit', 'gray', 'mixed'];
const STARTS = 40;
const STEPS = 64;
/** The default number of slots. */
const SLOTS = 2048;
/** How many slots there are for each waiter, in the table of sizes. 32 is the default with 64 waiters. */
const SLOTS_A_WAITER = [1, 8, 32, 64];
/** Semaphores and the waiters of each. */
const CROWDS = [
  [1, 64],
  [8, 8],
  [64, 1],
  [64, 8],
];

/** The objects of the default arena lie in a row, from the first on. */
const [FIRST_OBJECT, SECOND_OBJECT] = [new Semaphore(1), new Semaphore(1)].map(({ handle }) => handle.address);
const OBJECT_SIZE = SECOND_OBJECT - FIRST_OBJECT;

const memory = new WebAssembly.Memory({ initial: 1, maximum: 65536, shared: true });
const instanceOf = (name, core) => {
  const module = new WebAssembly.Module(readFileSync(new URL(`../../build/${name}.wasm`, import.meta.url)));
  return new WebAssembly.Instance(module, { env: { memory }, core }).exports;
};
const { hash } = instanceOf('algorithms', instanceOf('core'));

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

/** Returns the shares of all starts as text: the median, the least and the most. */
function shares(kind, slots, semaphores, waiters) {
  let seed = 12345;
  const random = () => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return seed >>> 8;
  };
  const found = Array.from({ length: STARTS }, () => collisions(kind, slots, semaphores, waiters, random)).sort(
    (a, b) => a - b,
  );
  const [least, median, most] = [0, STARTS / 2, STARTS - 1].map((i) => found[i].toFixed(3));
  return `${median} (${least}–${most})`;
}

function everyHash() {
  console.log(`| semaphores x waiters | ${NAMES.join(' | ')} |`);
  console.log(`| ---: |${' --- |'.repeat(NAMES.length)}`);
  for (const [semaphores, waiters] of CROWDS) {
    const columns = NAMES.map((_, kind) => shares(kind, SLOTS, semaphores, waiters));
    console.log(`| ${semaphores} x ${waiters} | ${columns.join(' | ')} |`);
  }
}

/**
 * Prints three shares: if all waiters are on one semaphore, on a few semaphores, and on one semaphore each. Beside them
 * it prints the share for slots drawn at random.
 */
function everySize() {
  const most = 64;
  const crowds = CROWDS.filter(([semaphores, waiters]) => semaphores * waiters === most);
  const heads = crowds.map(([semaphores, waiters]) => `${semaphores} x ${waiters}`);
  console.log(`| slots | at random | ${heads.join(' | ')} |`);
  console.log(`| ---: | ---: |${' --- |'.repeat(crowds.length)}`);
  for (const each of SLOTS_A_WAITER) {
    const slots = each * most;
    // Of `most` waiters, one is the first at each slot that is taken. The share is that of all other waiters.
    const random = 1 - (slots / most) * (1 - (1 - 1 / slots) ** most);
    const columns = crowds.map(([semaphores, waiters]) => shares(0, slots, semaphores, waiters));
    console.log(`| ${slots} | ${random.toFixed(3)} | ${columns.join(' | ')} |`);
  }
}

const { values } = parseArgs({ options: { sizes: { type: 'boolean', default: false } } });
if (values.sizes) everySize();
else everyHash();
