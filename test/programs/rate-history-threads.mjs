/**
 * Eight threads take permits of rate limiters that they share, and the program checks the history of all takes:
 *
 *     - no window of `per` milliseconds has more than `permits` permits;
 *     - no window is idle while somebody waits: the threads always want more, so from one take to the next at most `per`
 *       milliseconds pass, and what the threads were late.
 *
 *     node test/programs/rate-history-threads.mjs [TAKES] [SEED]
 *
 * Each limiter has random numbers. The threads block, try, wait by promises and give up at random. Some of them block or
 * are busy, for up to three windows, while promises of them wait. Some are killed, also in the midst of a call. A thread knows when its permits were given, to the nanosecond: it sees each time that the library reads from
 * the clock, and the last one before a take returns is that of the take. Prints a line of JSON; the exit code is 1 if a
 * check has failed.
 */
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, threadId, Worker, workerData } from 'node:worker_threads';

const THREADS = 8;
/** How many windows of one limiter are filled at most. */
const WINDOWS = 50;

/** Returns a generator of random numbers, 0 to below 1 (mulberry32). */
function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
}

async function thread() {
  const { handle, log, takes, seed, widest } = workerData;
  const { hrtime } = process;
  let time = 0;
  process.hrtime = () => {
    const read = hrtime();
    time = read[0] * 1000 + read[1] / 1e6;
    return read;
  };
  const { RateLimiter } = await import('taketurns/keyed');
  const random = generator(seed);
  const limiter = RateLimiter.from(handle);
  const count = new Int32Array(log, 0, 1);
  const history = new Float64Array(log, 8);
  const late = (error) => {
    if (error.name !== 'TimeoutError') throw error;
  };
  const note = (permits) => {
    const at = Atomics.add(count, 0, 1);
    if (at >= takes) return;
    history[2 * at] = time;
    history[2 * at + 1] = permits;
  };
  const never = new Int32Array(new SharedArrayBuffer(4));
  const stand = (milliseconds) => {
    if (random() < 0.5) Atomics.wait(never, 0, 0, milliseconds);
    else for (const end = performance.now() + milliseconds; performance.now() < end; );
  };
  parentPort.postMessage(threadId);
  while (Atomics.load(count, 0) < takes) {
    const permits = 1 + Math.floor(random() * widest);
    const kind = random();
    let has = true;
    if (kind < 0.05) has = limiter.tryTake(permits);
    else if (kind < 0.1) {
      try {
        limiter.take(permits, { timeout: random() * 2 });
      } catch (error) {
        late(error);
        has = false;
      }
    } else if (kind < 0.15) await limiter.takeAsync(permits);
    else if (kind < 0.16) {
      const calls = [1, 1, 1].map((n) => limiter.limit(() => note(n), n)());
      stand(random() * 3 * limiter.per);
      await Promise.all(calls);
      continue;
    } else limiter.take(permits);
    if (has) note(permits);
  }
}

async function program() {
  const [takes = 20_000, seed = Date.now() % 1e9] = process.argv.slice(2).map(Number);
  const { Arena } = await import('taketurns');
  const { RateLimiter } = await import('taketurns/keyed');
  const random = generator(seed);
  const integer = (min, max) => min + Math.floor(random() * (max - min + 1));
  const told = { seed, takes: 0, permits: 0, limiters: 0, killed: 0, longestIdle: 0, wrong: [] };
  const arena = new Arena();
  while (told.takes < takes && told.wrong.length === 0) {
    const permits = Math.floor(10 * 1000 ** random());
    const per = integer(5, 50);
    const most = Math.min(takes - told.takes, WINDOWS * permits);
    const burst = random() < 0.5 ? 1 : integer(1, permits);
    const limiter = new RateLimiter(permits, per, { burst, arena });
    const log = new SharedArrayBuffer(8 + 16 * most);
    const widest = random() < 0.5 ? 1 : integer(1, 10);
    const start = async (i) => {
      const data = { handle: limiter.handle, log, takes: most, seed: seed + i + told.limiters * 100, widest };
      const worker = new Worker(fileURLToPath(import.meta.url), { workerData: data });
      const exited = once(worker, 'exit');
      await once(worker, 'message');
      return { worker, exited };
    };
    const workers = await Promise.all(Array.from({ length: THREADS }, (_, i) => start(i)));
    // A dead thread loses nothing: another one comes in its place.
    for (let i = 0; i < 2; i++) {
      await new Promise((resolve) => setTimeout(resolve, 1 + 20 * random()));
      await workers[i].worker.terminate();
      told.killed++;
      workers.push(await start(THREADS + i));
    }
    await Promise.all(workers.map(({ exited }) => exited));
    const all = new Float64Array(log, 8);
    const history = Array.from({ length: most }, (_, i) => [all[2 * i], all[2 * i + 1]])
      // A thread that was killed may not have noted its last take.
      .filter(([time]) => time > 0)
      .sort(([a], [b]) => a - b);
    check(history, { permits, per, burst }, told);
    told.limiters++;
    limiter.dispose();
  }
  console.log(JSON.stringify(told));
  if (told.wrong.length > 0) process.exitCode = 1;
}

function check(history, { permits, per, burst }, told) {
  const fail = (what) => told.wrong.push(`${permits} in ${per} ms, with a burst of ${burst}: ${what}`);
  let oldest = 0;
  let sum = 0;
  for (const [i, [time, n]] of history.entries()) {
    sum += n;
    told.takes++;
    told.permits += n;
    // Sums of times are rounded.
    for (; time - history[oldest][0] >= per - 1e-6; oldest++) sum -= history[oldest][1];
    if (sum > permits) fail(`${sum} permits in the window that ends at ${time}`);
    const idle = i === 0 ? 0 : time - history[i - 1][0];
    told.longestIdle = Math.max(told.longestIdle, idle);
    // The threads of a busy machine may be late, but not for ever.
    if (idle > per + 10_000) fail(`nobody has taken for ${idle} ms`);
    if (told.wrong.length > 5) return;
  }
}

if (isMainThread) await program();
else await thread();
