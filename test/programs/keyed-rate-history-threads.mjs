/**
 * Eight threads take permits of KeyedRateLimiters that they share, and the program checks the history of all calls:
 *
 *     windows    no window of a key has a permit too many
 *     bursts     no permits go earlier than evenly by more than the burst allows
 *     order      the dates of a key are in the order in which the calls got its cell, and each lies within its call
 *     in vain    nothing is refused that a limiter allows whose windows are longer by a third and the width of its burst,
 *                or by nothing if there are at most 7 permits
 *
 *     node test/programs/keyed-rate-history-threads.mjs [TAKES [SEED]]
 *
 * Each limiter has random numbers, and up to 20,000 keys, of which some are used often. The calls are for one permit or
 * more; with some limiters the threads also spend and pause. Now and then a thread blocks or is busy, and every 50 ms one
 * is killed, often in the midst of a call. The program runs the library as it was built, file by file, and looks at each
 * call of the cells with the lock, so it knows dates and their order exactly. `npm run chaos -w runtimes -- --rates` runs it in other
 * runtimes. Prints a line of JSON; the exit code is 1 if a check has failed.
 */
import process from 'node:process';
import { isMainThread, workerData } from 'node:worker_threads';
import { randomOf, Team, turn } from './workers/chaos-team.mjs';

const THREADS = 8;
/** Of a record: its kind, its number in the order of the calls, key, permits, date, and when the call began and ended. */
const RECORD = 7;
const [TAKEN, REFUSED, SPENT, PAUSED] = [1, 2, 3, 4];
/** Of the call that a thread is in: whether there is one, its key, its permits, and when it began. */
const CALL = 4;
/** So many records of one limiter. */
const MOST = 200_000;
/** For so many calls a thread does not turn its event loop. */
const CALLS = 500;
const TICK = 5;
const ROUNDING = 1e-6;
const hasOneClock = !('Deno' in globalThis || 'Bun' in globalThis);

const now = () => {
  if (!hasOneClock) return performance.timeOrigin + performance.now();
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
};

if (isMainThread) await program();
else await thread();

async function thread() {
  const { handle, counts, records, calls, place, seed, keys, widest, isStrange } = workerData;
  const { RateCells } = await import('../../dist/common/rate-cells.js');
  const { KeyedRateLimiter } = await import('../../dist/keyed/index.js');
  const random = randomOf(seed);
  const part = () => random(2 ** 30) / 2 ** 30;
  const [count, order, stop] = [0, 1, 2].map((i) => new Int32Array(counts, 4 * i, 1));
  const log = new Float64Array(records);
  const call = new Float64Array(calls, 8 * CALL * place, CALL);
  const never = new Int32Array(new SharedArrayBuffer(4));
  /** What the call has seen with the lock. */
  let seen;
  for (const method of ['tryTake', 'spend', 'pause']) {
    const original = RateCells.prototype[method];
    RateCells.prototype[method] = function (amount, date) {
      seen = { number: Atomics.add(order, 0, 1), date };
      return original.call(this, amount, date);
    };
  }
  const limiter = KeyedRateLimiter.from(handle);
  const note = (kind, key, permits, began) => {
    if (!seen) return;
    const at = Atomics.add(count, 0, 1);
    // One step, so a thread that is killed writes all of it or nothing.
    if (at < MOST) log.set([kind, seen.number, key, permits, seen.date, began, now()], at * RECORD);
  };
  while (Atomics.load(stop, 0) === 0 && Atomics.load(count, 0) < MOST) {
    await turn();
    for (let i = 0; i < CALLS; i++) {
      const key = Math.floor(part() ** 3 * keys);
      const permits = part() < 0.7 ? 1 : 1 + random(widest);
      const began = now();
      seen = undefined;
      call.set([1, key, permits, began]);
      const dice = isStrange ? part() : 1;
      // There may be no room for a key.
      try {
        if (dice < 0.003) {
          const ms = part() * limiter.per;
          limiter.pause(key, ms);
          note(PAUSED, key, ms, began);
        } else if (dice < 0.02) {
          limiter.spend(key, permits);
          note(SPENT, key, permits, began);
        } else if (limiter.tryTake(key, permits)) note(TAKEN, key, permits, began);
        else if (part() < 0.2) note(REFUSED, key, permits, began);
      } catch (error) {
        if (error.name !== 'ArenaFullError' && !/is not known to be dead/.test(error.message)) throw error;
      }
      call[0] = 0;
      if (part() < 0.001) {
        const ms = part() * 10;
        if (part() < 0.5) Atomics.wait(never, 0, 0, ms);
        else for (const end = now() + ms; now() < end; );
      }
    }
  }
}

async function program() {
  const [takes = 20_000, seed = Date.now() % 1e6] = process.argv.slice(2).map(Number);
  const { Arena } = await import('../../dist/index.js');
  const { KeyedRateLimiter } = await import('../../dist/keyed/index.js');
  const random = randomOf(seed);
  const integer = (min, max) => min + random(max - min + 1);
  const told = {
    seed,
    takes: 0,
    permits: 0,
    refused: 0,
    others: 0,
    limiters: 0,
    keys: 0,
    killed: 0,
    cut: 0,
    wrong: [],
  };
  const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  while (told.takes < takes && told.wrong.length === 0) {
    const arena = new Arena({ bytes: 2 ** 23 });
    const permits = random(2) ? integer(1, 7) : Math.floor(8 * 100 ** (random(1000) / 1000));
    const per = integer(2, 100);
    const burst = random(2) ? permits : integer(1, permits);
    const keys = Math.ceil(20_000 ** (random(1000) / 1000));
    const limiter = new KeyedRateLimiter(permits, per, {
      burst,
      keys: Math.max(16, integer(keys >> 1, 2 * keys)),
      arena,
    });
    const buffers = {
      handle: limiter.handle,
      counts: new SharedArrayBuffer(12),
      records: new SharedArrayBuffer(8 * RECORD * MOST),
      calls: new SharedArrayBuffer(8 * CALL * THREADS),
    };
    const rules = { keys, widest: random(2) ? 1 : Math.min(permits, 10), isStrange: random(3) === 0 };
    const calls = new Float64Array(buffers.calls);
    /** Calls that were cut by the death of their thread: what they have taken is not known. */
    const cut = [];
    const collect = (place) => {
      const [isIn, key, k, began] = calls.subarray(CALL * place, CALL * (place + 1));
      if (isIn) cut.push({ key, k, began, ended: now() });
      calls[CALL * place] = 0;
    };
    let life = 0;
    const team = new Team(new URL(import.meta.url), arena, random, { take: THREADS }, (_, place) => {
      collect(place);
      return { ...buffers, ...rules, seed: seed + 1000 * told.limiters + life++, way: 'tryTake' };
    });
    const wanted = Math.min(MOST, 4 * (takes - told.takes) + 1000);
    const words = new Int32Array(buffers.counts);
    // Where a limiter refuses nearly all, it takes long until there are many records.
    const end = Date.now() + 5000 + random(5000);
    await team.killUntil(() => Atomics.load(words, 0) >= wanted || Date.now() > end);
    Atomics.store(words, 2, 1);
    await team.end('take');
    await sleep(0);
    told.killed += team.killed.take;
    told.cut += cut.length;
    told.wrong.push(...team.failures.slice(0, 3));
    const log = new Float64Array(buffers.records);
    const most = Math.min(MOST, Atomics.load(words, 0));
    const byKey = new Map();
    for (let i = 0; i < most; i++) {
      const [kind, number, key, k, date, began, ended] = log.subarray(i * RECORD, (i + 1) * RECORD);
      if (kind === 0) continue;
      const of = byKey.get(key);
      const record = { kind, number, k, date, began, ended };
      if (of) of.push(record);
      else byKey.set(key, [record]);
    }
    for (const [key, history] of byKey) {
      history.sort((a, b) => a.number - b.number);
      check(
        key,
        history,
        cut.filter((call) => call.key === key),
        { permits, per, burst, ...rules },
        told,
      );
    }
    told.limiters++;
    told.keys += byKey.size;
    limiter.dispose();
  }
  console.log(JSON.stringify(told));
  process.exit(told.wrong.length > 0 ? 1 : 0);
}

/** Checks the history of one key, in the order of its calls. */
function check(key, history, cut, { permits, per, burst, isStrange }, told) {
  const fail = (what) => {
    if (told.wrong.length < 6)
      told.wrong.push(`${permits} in ${per} ms, with a burst of ${burst}: key ${key}: ${what}`);
  };
  const interval = per / permits;
  /** How much earlier than evenly permits may go. */
  const ahead = (k) => Math.max((burst - Math.min(k, burst)) * interval, TICK);
  const longer = permits <= 7 ? per / 16_384 + 1e-3 : per / 3 + (burst + 1) * interval + TICK;
  /** What has been taken: all of it, the first that a window has, and the first that may still count. */
  const taken = [];
  let [first, sum, old, all] = [0, 0, 0, 0];
  let [next, paused, latest] = [-Infinity, -Infinity, -Infinity];
  for (const { kind, k, date, began, ended } of history) {
    if (date < latest) fail(`the date ${date} comes after ${latest}`);
    latest = date;
    if (hasOneClock && (date < began - ROUNDING || date > ended + ROUNDING))
      fail(`the date ${date} is not within its call, ${began} to ${ended}`);
    for (; first < taken.length && date - taken[first].date >= per - ROUNDING; first++) sum -= taken[first].k;
    for (; old < taken.length && date - taken[old].date >= per + longer; old++) all -= taken[old].k;
    if (kind === PAUSED) {
      paused = Math.max(paused, date + k);
      told.others++;
    } else if (kind === REFUSED) {
      told.refused++;
      // A thread that was killed in a call for the key may have taken permits.
      const isUnsure = isStrange || cut.some((call) => call.began <= date && date <= call.ended + per + longer);
      if (!isUnsure && all + k <= permits && next - ahead(k) <= date)
        fail(`${k} permits are refused at ${date}, although ${all} count`);
    } else {
      if (kind === TAKEN) {
        told.takes++;
        told.permits += k;
        if (sum + k > permits) fail(`${sum + k} permits in the window that ends at ${date}`);
        if (next - ahead(k) > date + ROUNDING) fail(`${k} permits go ${next - ahead(k) - date} ms too early`);
        if (date < paused - ROUNDING) fail(`permits go at ${date}, in a pause until ${paused}`);
      } else told.others++;
      sum += k;
      all += k;
      next = Math.max(next, date) + k * interval;
      taken.push({ date, k });
    }
  }
}
