/**
 * Measures operations whose cost once grew with the number of other things in the arena, such as objects and waiters
 * that have nothing to do with the operation. Each row has the cost beside many such things, the cost beside none, and
 * a figure with its allowed maximum. Each cost is the median, the least and the most of several runs. Run the script
 * after a build as `node bench/programs/cliffs.mjs`. `--runs 3` sets the number of runs, and numbers of rows select
 * these rows.
 */
import { isMainThread, MessageChannel, receiveMessageOnPort, Worker, workerData } from 'node:worker_threads';
import { Arena, Semaphore } from '../../dist/index.js';
import { tuned } from '../../test/support/tuned.mjs';

const MICROSECONDS = 1000;

/** Returns the microseconds that one call takes on average. */
function each(times, call) {
  const begun = performance.now();
  for (let i = 0; i < times; i++) call(i);
  return ((performance.now() - begun) * MICROSECONDS) / times;
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

/** Starts a worker that acquires `go` again and again, and each time releases permits of the semaphore. */
function releaser(go, semaphore, permits) {
  return new Worker(new URL(import.meta.url), {
    workerData: { job: 'post', go: go.handle, semaphore: semaphore.handle, permits },
  });
}

/** Starts a worker that acquires this number of permits again and again. */
function taker(semaphore, permits) {
  return new Worker(new URL(import.meta.url), {
    workerData: { job: 'take', semaphore: semaphore.handle, permits },
  });
}

/** Measures `Semaphore.from` of handles that came by one message each, and of one handle again and again. */
function messages() {
  const semaphore = new Semaphore(1, { arena: new Arena() });
  const { port1, port2 } = new MessageChannel();
  const receive = () => {
    port1.postMessage(semaphore.handle);
    return receiveMessageOnPort(port2).message;
  };
  const kept = [];
  const from = (handle) => kept.push(Semaphore.from(handle));
  // Each hundred is measured by itself, and the median taken, because the garbage collector runs now and then.
  const hundreds = (next) =>
    median(
      Array.from({ length: 15 }, () => {
        const handles = Array.from({ length: 100 }, next);
        return each(handles.length, (i) => from(handles[i]));
      }),
    );
  hundreds(receive);
  const beside = hundreds(receive);
  const alone = hundreds(() => semaphore.handle);
  port1.close();
  return [beside, alone];
}

const MADE = 100_000;
const BATCH = 2000;

/**
 * Measures how long it takes to make the first objects or names of a large arena, and to make some more when there are
 * 100,000 already.
 */
function creation(make) {
  const batch = () => {
    const arena = new Arena({ objects: MADE + 3 * BATCH });
    const kept = [];
    const some = (count) =>
      median(Array.from({ length: count / 100 }, () => each(100, () => kept.push(make(arena, kept.length)))));
    return some;
  };
  batch()(3 * BATCH);
  const some = batch();
  some(BATCH); // These calls do what is done once, such as touching pages for the first time.
  const first = some(BATCH);
  some(MADE - 2 * BATCH);
  return [some(BATCH), first];
}

/**
 * Measures `new` and `dispose` before and after a burst of 60,000 promises that wait at once. Each has a signal, and so
 * an element of its own.
 */
async function burst() {
  const arena = new Arena();
  // Each hundred is measured by itself, as in `messages`: the garbage collector runs most of all after a burst.
  const pair = () => median(Array.from({ length: 50 }, () => each(100, () => new Semaphore(1, { arena }).dispose())));
  pair();
  const before = pair();
  const semaphore = new Semaphore(0, { arena });
  const { signal } = new AbortController();
  const all = Array.from({ length: 60_000 }, () => semaphore.acquireAsync(1, { signal }));
  semaphore.release(60_000);
  await Promise.all(all);
  return [pair(), before];
}

/** Measures a promise that another thread grants, beside 5,000 semaphores on which promises of this thread wait. */
async function doorbell() {
  const arena = new Arena();
  const [go, semaphore] = [tuned(new Semaphore(0, { arena }), { spin: 0 }), new Semaphore(0, { arena })];
  const worker = releaser(go, semaphore, 1);
  const pass = async (times) => {
    const begun = performance.now();
    for (let i = 0; i < times; i++) {
      const promise = semaphore.acquireAsync();
      go.release();
      await promise;
    }
    return ((performance.now() - begun) * MICROSECONDS) / times;
  };
  await pass(2000);
  const alone = await pass(2000);
  const others = Array.from({ length: 5000 }, () => new Semaphore(0, { arena }));
  const waiting = others.map((other) => other.acquireAsync());
  await pass(100);
  const beside = await pass(2000);
  for (const other of others) other.release();
  await Promise.all(waiting);
  await worker.terminate();
  return [beside, alone];
}

/** Measures `release(n)` where one thread waits for exactly n permits. */
async function release(permits) {
  const semaphore = tuned(new Semaphore(0, { arena: new Arena() }), { spin: 0 });
  const worker = taker(semaphore, permits);
  const took = [];
  for (let i = 0; i < 400; i++) {
    // The waiter still has to enter its element in a bucket, and to fall asleep.
    while (semaphore.waiting === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    await new Promise((resolve) => setTimeout(resolve, 1));
    const begun = performance.now();
    semaphore.release(permits);
    took.push((performance.now() - begun) * MICROSECONDS);
  }
  await worker.terminate();
  return median(took);
}

const rows = [
  {
    what: 'Semaphore.from(handle), a handle by a message | the same handle again',
    figure: ([beside]) => [beside, 5, 'µs'],
    measure: messages,
  },
  {
    what: 'new Semaphore, after 100,000 | the first',
    figure: ([beside, alone]) => [beside / alone, 2, 'times'],
    measure: () => creation((arena) => new Semaphore(1, { arena })),
  },
  {
    what: 'Semaphore.open(name), after 100,000 | the first',
    figure: ([beside, alone]) => [beside / alone, 2, 'times'],
    measure: () => creation((arena, i) => Semaphore.open(`name ${i}`, 1, { arena })),
  },
  {
    what: 'new and dispose, after 60,000 have waited | before',
    figure: ([beside, alone]) => [beside / alone, 2, 'times'],
    measure: burst,
  },
  {
    what: 'a hand-over to a promise, beside 5,000 others | beside none',
    figure: ([beside, alone]) => [beside / alone, 2, 'times'],
    measure: doorbell,
  },
  {
    what: 'release(65536), one waits | release(1), one waits',
    figure: ([beside, alone]) => [beside / alone, 2, 'times'],
    measure: async () => [await release(65_536), await release(1)],
  },
];

async function main(args) {
  const runs = args[0] === '--runs' ? Number(args.splice(0, 2)[1]) : 5;
  const spread = (values) => {
    const sorted = values.toSorted((a, b) => a - b);
    return `${median(sorted).toFixed(2)} (${sorted[0].toFixed(2)} to ${sorted.at(-1).toFixed(2)})`;
  };
  console.log(
    '| | what, in µs | beside much | beside none | figure | at most |\n| ---: | --- | ---: | ---: | ---: | ---: |',
  );
  for (const [i, { what, figure, measure }] of rows.entries()) {
    if (args.length > 0 && !args.includes(String(i + 1))) continue;
    const found = [];
    for (let run = 0; run < runs; run++) found.push(await measure());
    const figures = found.map(figure);
    const [, most, unit] = figures[0];
    const columns = [0, 1].map((side) => spread(found.map((pair) => pair[side])));
    console.log(
      `| ${i + 1} | ${what.replace(' | ', '; beside none: ')} | ${columns.join(' | ')} | ${spread(figures.map(([value]) => value))} | ${most} ${unit} |`,
    );
  }
}

if (isMainThread) {
  await main(process.argv.slice(2));
} else if (workerData.job === 'post') {
  const [go, semaphore] = [Semaphore.from(workerData.go), Semaphore.from(workerData.semaphore)];
  while (true) {
    go.acquire();
    semaphore.release(workerData.permits);
  }
} else {
  const semaphore = Semaphore.from(workerData.semaphore);
  while (true) semaphore.acquire(workerData.permits);
}
