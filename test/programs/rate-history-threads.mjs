/**
 * Eight threads take permits of rate limiters that they share, and the program checks the history of all takes:
 *
 *     windows    no window of `per` milliseconds has more than `permits` permits
 *     order      whoever asks gets a date no earlier than those who asked before, unless one of these was late by a
 *                window. `tryTake` takes nothing while somebody waits
 *     idle       no window is idle while somebody waits: the date of a request is at most a window after the date before
 *                it, and what the threads were late
 *     told       no date is later than it was told to the request, and what all in front may have been late
 *
 *     node test/programs/rate-history-threads.mjs [TAKES] [SEED]
 *
 * Each limiter has random numbers. The threads block, try, wait by promises and give up at random. Some of them block or
 * are busy, for up to three windows, while promises of them wait. Some are killed, also in the midst of a call. The
 * program runs the library as it was built, file by file, and looks at each call of the schedule with the lock: so it
 * knows the dates and their order exactly. How late threads are on this machine is told by one more thread, which only
 * sleeps for a millisecond at a time. Prints a line of
 * JSON, at a SIGTERM too; the exit code is 1 if a check has failed.
 */
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, threadId, Worker, workerData } from 'node:worker_threads';

const THREADS = 8;
/** More requests than may wait at a time: three of each thread, and some of dead ones. */
const MOST_IN_FRONT = 64;
/** Milliseconds. */
const ROUNDING = 1e-6;
/**
 * How many milliseconds later than the thread that only sleeps another one may wake. The system lets a thread that has
 * computed wait longer for a processor. A thread that nobody wakes looks again after a second.
 */
const AT_ONCE = 400;
const never = new Int32Array(new SharedArrayBuffer(4));
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

/** Of a take: when it began, its permits, its ticket or 0, when it asked, what it was told, its date, and how it went. */
const RECORD = 7;
const LATE = 1;
const STOOD = 2;

/** Notes each take of this thread in `records`, with the lock of the limiter. */
function observe(Schedule, BEGUN, { count, ticket, records, takes }) {
  const schedule = Schedule.prototype;
  const tickets = new Map();
  const state = { stands: false };
  const { tryTake, ask, look, leave, advance } = schedule;
  const write = (...record) => {
    const at = Atomics.add(count, 0, 1);
    if (at < takes) records.set(record, at * RECORD);
  };
  schedule.tryTake = function (permits, time) {
    const has = tryTake.call(this, permits, time);
    if (has) write(advance.call(this, time), permits, 0, 0, 0, 0, this.waiting > 0 ? LATE : 0);
    return has;
  };
  schedule.ask = function (permits, time, who) {
    const cell = ask.call(this, permits, time, who);
    const told = this.plannedDate(cell);
    const asked = advance.call(this, time);
    const turn = this.isDated(cell) ? asked : Number.NaN;
    tickets.set(cell, { ticket: Atomics.add(ticket, 0, 1) + 1, permits, asked, told, turn, how: 0 });
    return cell;
  };
  schedule.look = function (cell, time, stays) {
    const info = tickets.get(cell);
    const now = advance.call(this, time, cell);
    if (this.isDated(cell)) info.turn = this.plannedDate(cell);
    else if (!this.isWaiting(cell) && !this.isAway(cell)) info.how |= LATE;
    const before = info.turn;
    const isDated = this.isDated(cell);
    const answer = look.call(this, cell, time, stays);
    // It had to wait again, and may have begun all the same.
    if (isDated && (answer !== BEGUN || now - before >= this.per)) info.how |= LATE;
    if (state.stands) info.how |= STOOD;
    if (answer === BEGUN) {
      const turn = info.how & LATE ? now : info.turn;
      write(now, info.permits, info.ticket, info.asked, info.told, turn, info.how);
      tickets.delete(cell);
    }
    return answer;
  };
  schedule.leave = function (cell, time) {
    tickets.delete(cell);
    leave.call(this, cell, time);
  };
  return state;
}

async function thread() {
  const { handle, log, takes, seed, widest } = workerData;
  const { Schedule, BEGUN } = await import('../../dist/common/schedule.js');
  const { RateLimiter } = await import('../../dist/keyed/index.js');
  const random = generator(seed);
  const count = new Int32Array(log, 0, 1);
  const ticket = new Int32Array(log, 4, 1);
  const records = new Float64Array(log, 8);
  const state = observe(Schedule, BEGUN, { count, ticket, records, takes });
  const limiter = RateLimiter.from(handle);
  const late = (error) => {
    if (error.name !== 'TimeoutError') throw error;
  };
  const stand = (milliseconds) => {
    if (random() < 0.5) Atomics.wait(never, 0, 0, milliseconds);
    else for (const end = performance.now() + milliseconds; performance.now() < end; );
  };
  parentPort.postMessage(threadId);
  while (Atomics.load(count, 0) < takes) {
    const permits = 1 + Math.floor(random() * widest);
    const kind = random();
    if (kind < 0.05) limiter.tryTake(permits);
    else if (kind < 0.1) {
      try {
        limiter.take(permits, { timeout: random() * 2 });
      } catch (error) {
        late(error);
      }
    } else if (kind < 0.15) await limiter.takeAsync(permits);
    else if (kind < 0.16) {
      state.stands = true;
      const calls = [1, 1, 1].map((n) => limiter.limit(() => {}, n)());
      stand(random() * 3 * limiter.per);
      await Promise.all(calls);
      state.stands = false;
    } else limiter.take(permits);
  }
}

/** Sleeps for a millisecond at a time, and writes down how late it was at most. */
function witness() {
  const late = new Int32Array(workerData.late);
  for (;;) {
    const from = performance.now();
    Atomics.wait(never, 0, 0, 1);
    const most = Math.ceil(performance.now() - from - 1);
    if (most > Atomics.load(late, 0)) Atomics.store(late, 0, most);
  }
}

async function program() {
  const [takes = 20_000, seed = Date.now() % 1e9] = process.argv.slice(2).map(Number);
  const { Arena } = await import('../../dist/index.js');
  const { RateLimiter } = await import('../../dist/keyed/index.js');
  const random = generator(seed);
  const integer = (min, max) => min + Math.floor(random() * (max - min + 1));
  const told = {
    seed,
    takes: 0,
    permits: 0,
    limiters: 0,
    killed: 0,
    late: 0,
    longestIdle: 0,
    latestWake: 0,
    wrong: [],
  };
  const end = () => {
    console.log(JSON.stringify(told));
    process.exit(told.wrong.length > 0 ? 1 : 0);
  };
  process.on('SIGTERM', end);
  const arena = new Arena();
  const late = new Int32Array(new SharedArrayBuffer(4));
  const self = fileURLToPath(import.meta.url);
  const sleeper = new Worker(self, { workerData: { late: late.buffer } });
  while (told.takes < takes && told.wrong.length === 0) {
    const permits = Math.floor(10 * 1000 ** random());
    const per = integer(5, 50);
    const most = Math.min(takes - told.takes, WINDOWS * permits);
    const burst = random() < 0.5 ? 1 : integer(1, permits);
    const limiter = new RateLimiter(permits, per, { burst, arena });
    const log = new SharedArrayBuffer(8 + 8 * RECORD * most);
    const widest = random() < 0.5 ? 1 : integer(1, 10);
    Atomics.store(late, 0, 0);
    const start = async (i) => {
      const data = { handle: limiter.handle, log, takes: most, seed: seed + i + told.limiters * 100, widest };
      const worker = new Worker(self, { workerData: data });
      const exited = once(worker, 'exit');
      const stops = new Promise((_, reject) => worker.once('error', reject));
      stops.catch(() => {});
      await Promise.race([once(worker, 'message'), stops]);
      return { worker, exited };
    };
    const workers = await Promise.all(Array.from({ length: THREADS }, (_, i) => start(i)));
    // A dead thread loses nothing: another one comes in its place.
    let killed = 0;
    for (; killed < 2; killed++) {
      await new Promise((resolve) => setTimeout(resolve, 1 + 20 * random()));
      await workers[killed].worker.terminate();
      workers.push(await start(THREADS + killed));
    }
    told.killed += killed;
    await Promise.all(workers.map(({ exited }) => exited));
    const all = new Float64Array(log, 8);
    const history = Array.from({ length: most }, (_, i) => {
      const [begun, k, ticket, asked, promised, turn, how] = all.subarray(i * RECORD, (i + 1) * RECORD);
      return { begun, permits: k, ticket, asked, told: promised, turn, how };
    })
      // A thread that was killed may not have written its last take.
      .filter(({ permits: taken }) => taken > 0)
      .sort((a, b) => a.begun - b.begun);
    check(history, { permits, per, burst, killed, wake: Atomics.load(late, 0) + AT_ONCE }, told);
    told.latestWake = Math.max(told.latestWake, Atomics.load(late, 0));
    told.limiters++;
    limiter.dispose();
  }
  await sleeper.terminate();
  end();
}

/** @param wake how many milliseconds a thread may have been late when it woke. */
function check(history, { permits, per, burst, killed, wake }, told) {
  const fail = (what) => {
    if (told.wrong.length < 6) told.wrong.push(`${permits} in ${per} ms, with a burst of ${burst}: ${what}`);
  };
  let oldest = 0;
  let sum = 0;
  for (const { begun, permits: n, ticket, how } of history) {
    sum += n;
    told.takes++;
    told.permits += n;
    // Sums of times are rounded.
    for (; begun - history[oldest].begun >= per - ROUNDING; oldest++) sum -= history[oldest].permits;
    if (sum > permits) fail(`${sum} permits in the window that ends at ${begun}`);
    if (ticket === 0 && how === LATE) fail('tryTake has overtaken somebody who waits');
    if (ticket > 0 && how & LATE) told.late++;
  }
  const asked = history.filter(({ ticket }) => ticket > 0).sort((a, b) => a.ticket - b.ticket);
  const dates = history.map(({ begun }) => begun);
  let latest = Number.NEGATIVE_INFINITY;
  for (const [i, request] of asked.entries()) {
    const { turn, how } = request;
    if (how & LATE) continue;
    if (Number.isNaN(turn)) fail(`request ${request.ticket} has begun without a date`);
    if (turn < latest - ROUNDING)
      fail(`request ${request.ticket} has its date ${latest - turn} ms before an earlier one`);
    latest = Math.max(latest, turn);
    if (how & STOOD) continue;
    // The last take before this one, or when it asked.
    const before = Math.max(request.asked, dates[lastBefore(dates, turn)] ?? Number.NEGATIVE_INFINITY);
    const idle = turn - before;
    told.longestIdle = Math.max(told.longestIdle, idle);
    if (idle > per + 2 * wake) fail(`nobody has got a date for ${idle} ms though somebody waits`);
    // Those in front may have begun after their dates, and each may have woken late. Who was late by a window has used
    // up permits twice.
    let moved = wake;
    let twice = killed;
    for (const other of asked.slice(Math.max(i - MOST_IN_FRONT, 0), i + MOST_IN_FRONT)) {
      if (other.begun < request.asked || other.asked > turn) continue;
      if (other.how & LATE) twice++;
      else if (other.ticket < request.ticket) moved += other.begun - other.turn + wake;
    }
    // Runs of the log count by a part of a window longer.
    const windows = (turn - request.asked) / per + 2;
    const most = request.told + moved + twice * per + (windows * per) / 90;
    if (turn > most) fail(`request ${request.ticket} has its date ${turn - request.told} ms later than it was told`);
  }
}

/** The index of the last of these ascending times before a time, or -1. */
function lastBefore(times, time) {
  let [from, to] = [-1, times.length];
  while (to - from > 1) {
    const middle = (from + to) >> 1;
    if (times[middle] < time) from = middle;
    else to = middle;
  }
  return from;
}

if (isMainThread) await program();
else if (workerData.handle) await thread();
else witness();
