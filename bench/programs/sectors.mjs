/**
 * Measures whether two cache lines of 64 bytes that form a sector of 128 bytes disturb each other:
 * `node bench/programs/sectors.mjs`. Two threads need a processor each. For each distance in bytes:
 *
 *     apart    each thread adds to a word of its own, and the two words are so far apart: nanoseconds for one addition
 *     beside   the threads take turns by one word, and each thread adds to a word of its own before it gives the turn
 *              away. Its word is so far from the turn: nanoseconds for one turn. If a processor fetched lines in pairs,
 *              each fetch of the turn would take the word beside it away from the other thread
 *
 * A distance of 8 is one line, 64 one sector, and from 128 on neither. The first word, or the turn, is at the start of a
 * sector. In "beside", the words of the two threads are on both sides of the turn: at a distance of 64, one of the two
 * words is in its sector. Distances take turns. Prints the median and the least of the rounds (default 40; the first argument is another number).
 */
import { isMainThread, Worker, workerData } from 'node:worker_threads';

const ROUNDS = Number(process.argv[2] ?? 40);
const DISTANCES = [8, 64, 128, 192, 256, 512];
const APART = 300_000;
const TURNS = 30_000;
/** Indices of 32-bit words: the phase and who is ready, each on a page of its own. The words under test come after. */
const PHASE = 0;
const READY = 1024;
const BASE = 4096;

/** Returns the words of a measurement: the turn, and that of each thread. */
function placesOf(kind, distance) {
  const words = distance / 4;
  return kind === 'apart' ? [undefined, BASE, BASE + words] : [BASE, BASE + words, BASE - words];
}

/** The work of one thread. Returns nanoseconds for each addition or turn. */
function work(memory, me, kind, [turn, ...own]) {
  const mine = own[me];
  const begun = process.hrtime.bigint();
  let count = APART;
  if (kind === 'apart') for (let i = 0; i < count; i++) Atomics.add(memory, mine, 1);
  else {
    count = TURNS;
    for (let i = me; i < count; i += 2) {
      while (Atomics.load(memory, turn) !== i);
      Atomics.add(memory, mine, 1);
      Atomics.store(memory, turn, i + 1);
    }
  }
  return Number(process.hrtime.bigint() - begun) / count;
}

const measurements = ['apart', 'beside'].flatMap((kind) => DISTANCES.map((distance) => ({ kind, distance })));

/** Both threads begin a measurement at the same moment. */
function meet(memory, phase) {
  if (Atomics.add(memory, READY, 1) === 1) {
    Atomics.store(memory, READY, 0);
    Atomics.store(memory, PHASE, phase);
  } else while (Atomics.load(memory, PHASE) !== phase);
}

function run(memory, me) {
  const times = measurements.map(() => []);
  let phase = 0;
  for (let round = 0; round <= ROUNDS; round++) {
    measurements.forEach(({ kind, distance }, i) => {
      const places = placesOf(kind, distance);
      meet(memory, ++phase);
      if (me === 0 && kind === 'beside') Atomics.store(memory, BASE, 0);
      meet(memory, ++phase);
      const took = work(memory, me, kind, places);
      if (round > 0) times[i].push(took); // the first round warms the loops
    });
  }
  return times;
}

const printed = (value) => value.toFixed(2).padStart(10);

if (isMainThread) {
  const memory = new Int32Array(new SharedArrayBuffer(64 * 1024));
  const worker = new Worker(new URL(import.meta.url), { workerData: memory, argv: process.argv.slice(2) });
  const done = new Promise((end) => worker.once('exit', end));
  const times = run(memory, 0);
  console.log('what      distance    median     least');
  measurements.forEach(({ kind, distance }, i) => {
    const sorted = times[i].sort((a, b) => a - b);
    console.log(kind.padEnd(8), `${distance}`.padStart(9), printed(sorted[sorted.length >> 1]), printed(sorted[0]));
  });
  await done;
} else run(workerData, 1);
