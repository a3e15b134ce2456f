/**
 * Takes permits of rate limiters of `taketurns/tasks`, and checks the history of all takes:
 *
 *     - no window of `per` milliseconds has more than `permits` permits;
 *     - no window is idle while somebody waits: from one take to the next at most `per` milliseconds pass, and what a
 *       timer was late;
 *     - takes of calls that wait come in the order of the calls;
 *     - nobody is later than `dueIn` has told at the call, but for what the timers were late.
 *
 *     node test/programs/rate-history.mjs [TAKES] [SEED] [real]
 *
 * Each limiter has random numbers, and 50 tasks that take, try, give up or pause at random. The clock is the program's
 * own: it jumps to the next timer. Timers fire early or late, and the clock may be coarse, or go back. With `real` the
 * clock and the timers are those of the engine; the clock stands still during an iteration of the event loop, so that
 * the program and the limiter see the same time. Prints a line of JSON; the exit code is 1 if a check has failed.
 */
const [takes = 100_000, seed = Date.now() % 1e9, kind] = process.argv.slice(2);
const isReal = kind === 'real';
const { setTimeout: setTimer, clearTimeout: clearTimer, setImmediate } = globalThis;
const realNow = performance.now.bind(performance);

let state = Number(seed) >>> 0;
/** Returns a random number, 0 to below 1 (mulberry32). */
function random() {
  state = (state + 0x6d2b79f5) >>> 0;
  let x = Math.imul(state ^ (state >>> 15), state | 1);
  x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
  return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
}
const integer = (min, max) => min + Math.floor(random() * (max - min + 1));
/** Returns an integer: each order of magnitude is as likely as another. */
const magnitude = (min, max) => Math.floor(min * (max / min) ** random());

/** The clock and the timers that the library gets. */
const clock = {
  time: isReal ? realNow() : 0,
  /** Milliseconds of which the clock that the library sees is a multiple; 0 for any. */
  grain: 0,
  /** How far the clock that the library sees has gone back. */
  back: 0,
  /** Which part of its time a timer leaves out at most, and by how many milliseconds it is late at most. */
  early: 0,
  late: 0,
  /** By how many milliseconds a timer has been late at most, since the limiter was made. */
  latest: 0,
  timers: new Set(),
};
const seen = () => (clock.grain ? Math.floor(clock.time / clock.grain) * clock.grain : clock.time) - clock.back;

function fire(timer) {
  clock.timers.delete(timer);
  clock.latest = Math.max(clock.latest, clock.time - timer.due);
  timer.run();
}

globalThis.performance = { now: seen };
globalThis.setTimeout = (run, milliseconds) => {
  const due = clock.time + Math.max(milliseconds, 1);
  const timer = { run, due, at: due - random() * clock.early * milliseconds + random() * clock.late };
  clock.timers.add(timer);
  if (isReal)
    timer.handle = setTimer(() => {
      clock.time = realNow();
      fire(timer);
    }, milliseconds);
  return timer;
};
globalThis.clearTimeout = (timer) => {
  // Where a call comes that serves those who wait, it ends their timer, which may be late already.
  if (clock.timers.delete(timer)) clock.latest = Math.max(clock.latest, clock.time - timer.due);
  if (isReal) clearTimer(timer?.handle);
};
const { RateLimiter, TimeoutError } = await import('taketurns/tasks');

/** Lets all promises go on, and then time pass. */
async function turn() {
  await new Promise((done) => setImmediate(done));
  if (isReal) {
    clock.time = realNow();
    return;
  }
  let next;
  for (const timer of clock.timers) if (!next || timer.at < next.at) next = timer;
  if (!next) return;
  clock.time = Math.max(clock.time, next.at);
  if (random() < 0.001) clock.back += random() * 1000;
  fire(next);
}
const pause = (milliseconds) => new Promise((done) => globalThis.setTimeout(done, milliseconds));

/** Milliseconds. */
const ROUNDING = 1e-6;
const wrong = [];
const told = { takes: 0, permits: 0, limiters: 0, timeouts: 0, longest: 0, latest: 0, wrong };

/** The takes of one limiter, as they happen. */
class History {
  /** When permits were taken, and how many: those of the last window. */
  #window = [];
  #oldest = 0;
  #sum = 0;
  #last = 0;
  /** Since when somebody waits. */
  #since = Infinity;
  #latestCall = 0;
  constructor(limiter) {
    this.limiter = limiter;
  }

  note(permits, call = Infinity) {
    const { per, permits: most } = this.limiter;
    this.check();
    this.#window.push([clock.time, permits]);
    this.#sum += permits;
    // By a coarse clock, two takes may seem a window apart that are nearly a grain less apart. Sums of times are rounded.
    for (; ; this.#oldest++) {
      const [time, n] = this.#window[this.#oldest];
      if (clock.time - time < per - clock.grain - ROUNDING || this.#oldest === this.#window.length - 1) break;
      this.#sum -= n;
    }
    if (this.#oldest > 10_000) {
      this.#window.splice(0, this.#oldest);
      this.#oldest = 0;
    }
    if (this.#sum > most) this.fail(`${this.#sum} permits in a window of ${per} ms, ${most} may go`);
    if (call < this.#latestCall) this.fail(`call ${call} after call ${this.#latestCall}`);
    if (call < Infinity) this.#latestCall = call;
    told.takes++;
    told.permits += permits;
    this.#last = clock.time;
  }

  /** Whoever waits has not waited for more than a window without a take. */
  check() {
    if (this.limiter.disposed || this.limiter.waiting === 0) {
      this.#since = Infinity;
      return;
    }
    this.#since = Math.min(this.#since, clock.time);
    const idle = clock.time - Math.max(this.#since, this.#last);
    told.longest = Math.max(told.longest, idle / this.limiter.per);
    for (const { due } of clock.timers) clock.latest = Math.max(clock.latest, clock.time - due);
    // A timer counts whole milliseconds. Two timers may be late: one that fires early leaves the rest to the next.
    const most = this.limiter.per + 2 * clock.latest + 2 * clock.grain + clock.back + 2;
    if (idle > most) this.fail(`nobody has taken for ${idle} ms though somebody waits, ${most} may pass`);
  }

  /**
   * A call has its permits.
   * @param due when it was to have them at the latest, as it was told.
   * @param inFront how many calls waited when it came.
   */
  noteDue(due, inFront) {
    const late = clock.time - due;
    // Each of those in front may have been late by a timer, and by two if one of these fired early.
    const most = (inFront + 1) * (2 * clock.latest + 2 * clock.grain + 2) + clock.back;
    told.latest = Math.max(told.latest, late / this.limiter.per);
    if (late > most) this.fail(`a take is ${late} ms later than it was told, ${most} may pass`);
  }

  fail(what) {
    const { limiter } = this;
    if (wrong.length < 10) wrong.push(`${limiter} with a burst of ${limiter.burst}: ${what}`);
  }
}

/** One limiter. */
async function round(left) {
  clock.grain = isReal || random() < 0.7 ? 0 : [0.1, 1, 5][integer(0, 2)];
  clock.early = random() < 0.5 ? 0 : random() / 2;
  clock.late = random() < 0.5 ? 0 : random() * 20;
  clock.latest = 0;
  clock.back = 0;
  const permits = isReal ? magnitude(1000, 200_000) : magnitude(1, 10_000);
  const per = isReal ? magnitude(5, 100) : magnitude(1, 60_000);
  const limiter = new RateLimiter(permits, per, { burst: random() < 0.3 ? 1 : integer(1, permits) });
  const history = new History(limiter);
  const widest = random() < 0.5 ? 1 : Math.min(permits, magnitude(1, 100));
  told.limiters++;
  let rest = left;
  let calls = 0;
  let running = 50;

  async function task() {
    while (rest > 0 && wrong.length === 0) {
      const n = integer(1, widest);
      const dice = random();
      if (dice < 0.05) await pause(random() * per);
      else if (dice < 0.15) {
        const waited = limiter.waiting > 0;
        if (limiter.tryTake(n)) {
          rest--;
          history.note(n);
          if (waited) history.fail('tryTake has overtaken');
        } else await pause(random() * 5);
      } else {
        const call = ++calls;
        const inFront = limiter.waiting;
        const due = clock.time + limiter.dueIn(n);
        const options = dice < 0.25 ? { timeout: random() * per } : undefined;
        try {
          await limiter.takeAsync(n, options);
          rest--;
          history.note(n, call);
          history.noteDue(due, inFront);
        } catch (error) {
          if (!(error instanceof TimeoutError)) throw error;
          told.timeouts++;
        }
      }
    }
    running--;
  }

  const tasks = Array.from({ length: running }, task);
  while (running > 0) {
    await turn();
    history.check();
  }
  await Promise.all(tasks);
  limiter.dispose();
}

function end() {
  console.log(JSON.stringify({ ...told, seed: Number(seed) }));
  process.exit(wrong.length ? 1 : 0);
}
process.on('SIGTERM', end);

while (told.takes < Number(takes) && wrong.length === 0) {
  await round(Math.min(Number(takes) - told.takes, integer(1, Math.max(10_000, Number(takes) / 100))));
}
end();
