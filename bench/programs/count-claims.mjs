/**
 * Counts what claims of the papers speak of. docs/internals/claims.md has the claims.
 *
 *     node bench/programs/count-claims.mjs NAME           counts it, and prints the processor, Node and the load
 *     node bench/programs/count-claims.mjs NAME --keep    the same, and keeps what it prints in bench/records/claims/
 *
 * These names count in runs of this program, those of claims-in-cpp.mjs in C++, and those of claims-from-records.mjs in
 * the kept records of bench/records/, without a run:
 *
 *     S28    by which ways waiters leave their chain
 *     S32    what a signal costs if nobody waits
 *     S35    what the cache of one location spares
 *     S38    what the short-cut of Listing 2 spares if nobody waits
 *     S48    what a release without the short-cut costs, by the size of the array
 *     C9     how often threads wait at a capacitor
 *     C41    what backoff does to a test-and-test-and-set lock
 */
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { performance } from 'node:perf_hooks';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { ADMITTED, QUEUED } from '../../dist/border/numbers.js';
import { Arena } from '../../dist/index.js';
import { algorithmsOf } from '../../dist/papers/algorithms/compiled.js';
import {
  addressSignal,
  addressSignalPolite,
  CapacitorLock,
  ChainSemaphore,
  TtsLock,
  TwaSemaphore,
} from '../../dist/papers/algorithms/index.js';
import { Membership } from '../../dist/runtime/membership.js';

const RUNS = 11;

/** The calling thread's instance of the algorithms for the default arena. */
const algorithms = () => algorithmsOf(Membership.of(Arena.default.handle.memory));

/** Runs `turn` for so many seconds. Returns how often it ran. */
function repeat(seconds, turn) {
  const end = performance.now() + seconds * 1000;
  let turns = 0;
  do {
    for (let i = 0; i < 100; i++) turn();
    turns += 100;
  } while (performance.now() < end);
  return turns;
}

/** What each thread does. */
const jobs = {
  S32({ arena, form, seconds }) {
    const signal = form === 'polite' ? addressSignalPolite : addressSignal;
    const options = { arena: Arena.from(arena) };
    return { turns: repeat(seconds, () => signal(7, options)) };
  },

  S28({ handle, seconds }) {
    const semaphore = ChainSemaphore.from(handle);
    const { recovery, takeIfDue } = algorithms();
    const ways = { waits: 0, undone: 0, detached: 0, open: 0, flushed: 0 };
    const names = [undefined, 'undone', 'detached', 'open', 'flushed'];
    const turns = repeat(seconds, () => {
      if (takeIfDue(handle.address) !== ADMITTED) {
        recovery.value = 0;
        semaphore.acquire();
        ways.waits++;
        const way = names[recovery.value];
        if (way) ways[way]++;
      }
      semaphore.release();
    });
    return { turns, ...ways };
  },

  C9({ handle, seconds }) {
    // The capacitor takes its functions from this object when it is made.
    const instance = algorithms();
    const { twaAcquire } = instance;
    let waits = 0;
    instance.twaAcquire = (at) => {
      const answer = twaAcquire(at);
      if (answer === QUEUED) waits++;
      return answer;
    };
    const lock = CapacitorLock.from(handle);
    const turns = repeat(seconds, () => {
      lock.lock();
      lock.unlock();
    });
    return { turns, waits };
  },

  C41({ memory, most, section, seconds }) {
    const word = new Int32Array(memory);
    let sink = 0;
    const spend = (loops) => {
      for (let i = 0; i < loops; i++) sink += i;
    };
    // The delay doubles after each look that finds the lock held.
    const turns = repeat(seconds, () => {
      let delay = 1;
      while (Atomics.load(word, 0) !== 0 || Atomics.compareExchange(word, 0, 0, 1) !== 0) {
        if (most === 0) continue;
        spend(delay);
        delay = Math.min(most, 2 * delay);
      }
      spend(section);
      Atomics.store(word, 0, 0);
    });
    return { turns, sink };
  },
};

if (!isMainThread) {
  parentPort.on('message', (args) => {
    if (args === 'end') parentPort.close();
    else parentPort.postMessage(jobs[workerData](args));
  });
}

/** Has `count` threads do the job `RUNS` times. Returns the results: a list of runs, each a list of threads. */
async function measure(job, count, argsOf) {
  const workers = Array.from({ length: count }, () => new Worker(new URL(import.meta.url), { workerData: job }));
  const runs = [];
  for (let run = -1; run < RUNS; run++) {
    const args = argsOf();
    const results = await Promise.all(
      workers.map((worker) => {
        worker.postMessage(args);
        return once(worker, 'message').then(([result]) => result);
      }),
    );
    // The first run only warms up.
    if (run >= 0) runs.push(results);
  }
  for (const worker of workers) worker.postMessage('end');
  return runs;
}

const sum = (values) => values.reduce((a, b) => a + b, 0);
/** The median of the runs, and least and most. */
function spread(values, digits) {
  const sorted = values.toSorted((a, b) => a - b);
  const [median, least, most] = [sorted[sorted.length >> 1], sorted[0], sorted.at(-1)].map((x) => x.toFixed(digits));
  return `${median} (${least} to ${most})`;
}

/** Times ways to do a thing in turn. Prints the nanoseconds of each. */
function inTurns(what, loops, ways) {
  const found = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
  for (let run = -2; run < RUNS; run++) {
    for (const [name, way] of Object.entries(ways)) {
      const begun = performance.now();
      for (let i = 0; i < loops; i++) way();
      // The first runs only warm up.
      if (run >= 0) found[name].push(((performance.now() - begun) * 1e6) / loops);
    }
  }
  for (const [name, values] of Object.entries(found)) console.log(`${what}, ${name}: ${spread(values, 2)} ns`);
}

const claims = {
  async S28() {
    for (const threads of [2, 4, 16]) {
      const semaphore = new ChainSemaphore(1);
      const runs = await measure('S28', threads, () => ({ handle: semaphore.handle, seconds: 1 }));
      const total = (name) => sum(runs.flat().map((result) => result[name]));
      const ways = ['undone', 'detached', 'open', 'flushed'].map((name) => `${name} ${total(name)}`).join(', ');
      console.log(`${threads} threads: ${total('turns')} acquisitions, ${total('waits')} of them waited; ${ways}`);
    }
  },

  async S32() {
    for (const threads of [1, 2]) {
      for (const form of ['as printed', 'polite']) {
        const runs = await measure('S32', threads, () => ({ arena: Arena.default.handle, form, seconds: 0.3 }));
        const rates = runs.map((run) => sum(run.map(({ turns }) => turns)) / 0.3 / 1e6);
        console.log(`${threads} threads, signals on one empty chain, ${form}: ${spread(rates, 2)} M a second`);
      }
    }
  },

  S35() {
    const { lookUp } = algorithms();
    inTurns('two look-ups', 10_000_000, {
      'of one key': () => lookUp(7) + lookUp(7),
      'of two keys in turn': () => lookUp(7) + lookUp(8),
    });
  },

  S38() {
    const semaphore = new TwaSemaphore(0);
    inTurns('a release', 2_000_000, {
      'with the short-cut': () => semaphore.release(),
      'without it': () => semaphore.releaseConservative(),
    });
  },

  S48() {
    const ways = [9, 11, 13, 16].map((log) => {
      const slots = 2 ** log;
      const semaphore = new TwaSemaphore(0, { arena: new Arena({ slots }) });
      return [`without the short-cut, ${slots} slots`, () => semaphore.releaseConservative()];
    });
    inTurns('a release', 2_000_000, Object.fromEntries(ways));
  },

  async C9() {
    for (const threads of [2, 4, 8, 16]) {
      const lock = new CapacitorLock(new TtsLock(), { bypass: 10 });
      const runs = await measure('C9', threads, () => ({ handle: lock.handle, seconds: 1 }));
      const shares = runs.map((run) => (100 * sum(run.map(({ waits }) => waits))) / sum(run.map(({ turns }) => turns)));
      console.log(`${threads} threads, B = 10: ${spread(shares, 2)} percent of the arrivals waited`);
    }
  },

  async C41() {
    for (const section of [0, 100, 1000]) {
      for (const most of [0, 16, 256, 4096]) {
        const runs = await measure('C41', 2, () => ({ memory: new SharedArrayBuffer(4), most, section, seconds: 0.5 }));
        const rates = runs.map((run) => (2 * sum(run.map(({ turns }) => turns))) / 1e6);
        const shares = runs.map((run) => Math.min(...run.map((r) => r.turns)) / Math.max(...run.map((r) => r.turns)));
        console.log(
          `2 threads, section of ${section} loops, ${most === 0 ? 'no backoff' : `backoff up to ${most} loops`}: ` +
            `${spread(rates, 3)} M a second, fairness ${spread(shares, 3)}`,
        );
      }
    }
  },
};

if (isMainThread) {
  const [claim = '', keep] = process.argv.slice(2);
  const { FROM_RECORDS } = await import('./claims-from-records.mjs');
  const { IN_CPP } = await import('./claims-in-cpp.mjs');
  if (Object.hasOwn(FROM_RECORDS, claim)) {
    for (const line of FROM_RECORDS[claim]()) console.log(line);
    process.exit();
  }
  const measured = { ...claims, ...IN_CPP };
  if (!Object.hasOwn(measured, claim) || (keep !== undefined && keep !== '--keep')) {
    const names = [...Object.keys(measured), ...Object.keys(FROM_RECORDS)].join(', ');
    console.error(`give one of ${names}, and perhaps --keep; got ${process.argv.slice(2).join(' ')}`);
    process.exit(2);
  }
  const lines = [];
  const { log } = console;
  console.log = (line) => {
    lines.push(line);
    log(line);
  };
  const load = loadavg()[0].toFixed(1);
  console.log(`${cpus()[0].model}, ${cpus().length} processors, Node ${process.version}, load ${load}`);
  await measured[claim]();
  if (keep) {
    const folder = new URL('../records/claims/', import.meta.url);
    mkdirSync(folder, { recursive: true });
    writeFileSync(new URL(`${claim}.txt`, folder), `${lines.join('\n')}\n`);
  }
}
