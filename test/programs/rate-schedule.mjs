/**
 * Random histories of the schedule of rates (src/common/schedule.ts) in virtual time, and a check of each.
 *
 *     node test/programs/rate-schedule.mjs [HISTORIES] [SEED] [MUTANT]
 *
 * Up to five threads are busy, block for ever, die while they wait, or die in the midst of a call. They ask for permits,
 * try, give up, spend, pause, resize, and dismiss all who wait. Their timers are late by up to 2 milliseconds. Beside the
 * schedule runs a second one (`Plain`), which does the same by lists and filters, without cells, plans or a journal. The
 * checks:
 *
 *     windows    no window of a history has a permit too many, by the times at which calls began and ended
 *     order      nobody begins before a request that came before it and still waits, unless that one was late or paused
 *     in vain    no thread sleeps longer than to the time at which its request could go, if all in front go on time; so
 *                no window is idle while somebody waits
 *     told       nobody is later than it was told when it asked, unless somebody was late or paused, or has spent
 *     the same   each answer is that of the second schedule: dates, what `dueIn` says, and what is taken
 *     an end     at the end nobody waits who could go, and nothing is left in the memory
 *     joins      what `tryJoin` takes, `tryTake` takes too, and leaves the same memory. What it does not take changes nothing
 *
 * MUTANT is the number of a mutant of rate-mutants.mjs, a fault that is put into the schedule. Prints a line of JSON; the exit
 * code is 1 if a check has failed.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { mutated } from './mutated.mjs';
import { mutants } from './rate-mutants.mjs';

const [histories = 2000, seed = Date.now() % 1e9, mutant] = process.argv.slice(2).map(Number);
const JITTER = 2;
const ROUNDING = 1e-6;

const source = readFileSync(new URL('../../src/common/schedule.ts', import.meta.url), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'schedule-'));
process.once('exit', () => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, 'schedule.mts'), mutated(source, mutants, mutant));
const options = [
  '--ignoreConfig',
  '--noCheck',
  '--target',
  'es2022',
  '--module',
  'esnext',
  '--moduleResolution',
  'bundler',
];
const tsc = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));
execFileSync(process.execPath, [tsc, ...options, join(folder, 'schedule.mts')], { stdio: 'inherit' });
const { Cells, Schedule, CELLS, SCHEDULE, CELL, BEGUN, DISMISSED, REFUSED } = await import(
  pathToFileURL(join(folder, 'schedule.mjs'))
);

let state = seed >>> 0;
/** Returns a random number, 0 to below 1 (mulberry32). */
function random() {
  state = (state + 0x6d2b79f5) >>> 0;
  let x = Math.imul(state ^ (state >>> 15), state | 1);
  x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
  return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
}
const integer = (min, max) => min + Math.floor(random() * (max - min + 1));
const oneOf = (...values) => values[integer(0, values.length - 1)];

/** The second schedule. */
class Plain {
  log = [];
  queue = [];
  next = -Infinity;
  dated = -Infinity;
  paused = -Infinity;
  open = 0;
  constructor(n, per, burst) {
    Object.assign(this, { n, per, burst });
  }
  get interval() {
    return this.per / this.n;
  }
  due(k, from) {
    const room = this.n - this.open;
    if (k > room) return Infinity;
    const ahead = Math.max((this.burst - Math.min(k, this.burst)) * this.interval, 5);
    let at = Math.max(from, this.paused, this.dated, this.next - ahead);
    for (;;) {
      const live = this.log.filter(({ date }) => date + this.per > at);
      if (live.reduce((sum, run) => sum + run.k, k) <= room) return at;
      at = Math.min(...live.map(({ date }) => date + this.per));
    }
  }
  count(k, date) {
    this.next = Math.max(this.next, date) + k * this.interval;
    this.dated = date;
  }
  give(request, date) {
    this.count(request.k, date);
    Object.assign(request, { isDated: true, date });
    this.log.push(request);
  }
  advance(now, me) {
    while (this.queue.length > 0) {
      const [head] = this.queue;
      const at = this.due(head.k, head.from);
      if (at > now) return;
      this.queue.shift();
      this.give(head, head === me ? now : at);
    }
  }
  tryTake(k, now) {
    this.advance(now);
    if (this.queue.length > 0 || this.due(k, now) > now) return false;
    this.spendSome(k, now);
    return true;
  }
  spendSome(k, now) {
    this.count(k, now);
    this.log.push({ k, date: now, isRun: true });
  }
  enqueue(request, now) {
    Object.assign(request, { isDated: false, from: now });
    this.queue.push(request);
    this.queue.sort((a, b) => a.ticket - b.ticket);
  }
  ask(request, now) {
    this.advance(now);
    this.enqueue(request, now);
    this.advance(now, request);
  }
  look(request, now) {
    this.advance(now, request);
    if (request.isDated && (request.date + this.per <= now || now < this.paused)) {
      this.log = this.log.filter((run) => run !== request);
      if (request.date + this.per > now) this.next -= request.k * this.interval;
      request.late = true;
      if (request.k > this.n) {
        request.dismissed = REFUSED;
        return false;
      }
      this.enqueue(request, now);
      this.dated = now;
      this.advance(now, request);
    }
    return request.isDated;
  }
  begin(request, now) {
    this.log = this.log.filter((run) => run !== request);
    if (request.stays) this.open += request.k;
    else this.run(request.k, now);
  }
  run(k, now) {
    this.dated = Math.max(this.dated, now);
    this.log.push({ k, date: now, isRun: true });
  }
  end(k, now) {
    this.advance(now);
    this.open -= k;
    this.run(k, now);
    this.moveUp(now);
  }
  leave(request, now) {
    this.advance(now);
    const wasLast = this.queue.length === 0 || this.queue.at(-1) === request;
    this.queue = this.queue.filter((other) => other !== request);
    if (request.isDated) {
      this.log = this.log.filter((run) => run !== request);
      if (request.date + this.per > now) this.next -= request.k * this.interval;
    }
    if (!wasLast) this.moveUp(now);
  }
  spend(k, now) {
    this.advance(now);
    if (k >= 0) return this.spendSome(k, now);
    this.next += k * this.interval;
    let left = -k;
    for (const run of this.log.filter(({ date }) => date + this.per > now).sort((a, b) => a.date - b.date)) {
      if (!run.isRun) continue;
      const given = Math.min(left, run.k);
      left -= given;
      run.k -= given;
    }
    this.moveUp(now);
  }
  moveUp(now) {
    this.dated = now;
    this.advance(now);
  }
  /** When each request of the queue goes, if all go on time. */
  plan(now) {
    const copy = Object.assign(new Plain(), this, { log: [...this.log], queue: [] });
    return new Map(
      this.queue.map((request) => {
        const date = copy.due(request.k, Math.max(now, copy.dated));
        if (date < Infinity) copy.give({ k: request.k }, date);
        else copy.open = Infinity;
        return [request, date];
      }),
    );
  }
  dueIn(k, now) {
    this.advance(now);
    const copy = Object.assign(new Plain(), this, { log: [...this.log], queue: [] });
    for (const date of [this.plan(now)].flatMap((plan) => [...plan])) {
      if (date[1] === Infinity) return Infinity;
      copy.give({ k: date[0].k }, date[1]);
    }
    return Math.max(copy.due(k, now) - now, 0);
  }
}

/** A thread that dies in the midst of a call. */
class Death extends Error {}
class MortalCells extends Cells {
  left = Infinity;
  set(index, value) {
    if (this.left-- <= 0) throw new Death();
    super.set(index, value);
  }
}

const faults = [];
const told = { histories: 0, requests: 0, begun: 0, late: 0, deaths: 0, looks: 0, wakes: 0, joins: 0, faults };

function history(number) {
  const fault = (...words) => {
    if (faults.length < 10) faults.push(`history ${number}: ${words.join(' ')}`);
  };
  let n = oneOf(1, 2, 3, 5, 10, 100, 250);
  let per = oneOf(20, 50, 100, 1000);
  let burst = oneOf(1, Math.ceil(n / 2), n);
  // With fewer runs than permits, permits count a little longer, and the second schedule does not know for how long.
  const grain = oneOf(1000, 1000, 1000, 4);
  const isExact = grain > n;
  const isSized = random() < 0.2;
  const mayOpen = random() < 0.3;
  const ROOM = 400;
  const end = CELLS + SCHEDULE + 1 + ROOM * CELL;
  const cells = new MortalCells(new Float64Array(end), 1, true);
  cells.begin(1 + CELLS + SCHEDULE, end);
  const threads = Array.from({ length: integer(1, 5) }, (_, id) => ({ id, free: 0 }));
  const events = [];
  let count = 0;
  const at = (time, run) => events.push({ time, run, number: count++ });
  const calls = []; // [begun, ended, permits]
  const requests = new Set();
  let now = 0;
  let isOnTime = !mayOpen;
  let sizedAt = -Infinity;
  let isPlanLast = false;
  const earlier = (who) => {
    if (isPlanLast) throw new Death();
    told.wakes++;
    for (const request of requests) {
      if (request.thread.id !== who) continue;
      request.wakesAt = now;
      at(now + random() * JITTER, () => look(request));
    }
  };
  const schedule = new Schedule(cells, 1 + CELLS, grain, { earlier });
  schedule.begin(n, per, burst);
  const plain = new Plain(n, per, burst);
  const works = (thread) => !thread.dead && !thread.blocked;

  /** Calls the schedule. If the thread dies in the call, the next one takes back what it has written. */
  function call(thread, run, risk = 0.01) {
    if (!works(thread)) return undefined;
    const others = threads.some((other) => other !== thread && works(other));
    cells.left = others && random() < risk ? integer(0, 15) : Infinity;
    isPlanLast = others && random() < risk / 2;
    try {
      return run();
    } catch (error) {
      if (!(error instanceof Death)) throw error;
      cells.left = Infinity;
      isPlanLast = false;
      die(thread);
      return undefined;
    } finally {
      cells.left = Infinity;
      isPlanLast = false;
    }
  }
  /** Whether the thread has made the call, and lives. */
  const did = (thread, run, risk) =>
    call(
      thread,
      () => {
        run();
        return true;
      },
      risk,
    );
  function die(thread) {
    thread.dead = true;
    told.deaths++;
    cells.rollback();
    n = schedule.permits;
    per = schedule.per;
    burst = schedule.burst;
    // What the dead thread's call has done is not known to the second schedule.
    isCompared = false;
    schedule.recover(now);
    bury(thread);
    for (const request of requests)
      if (
        works(request.thread) &&
        !request.isOpen &&
        request.wakesAt > Math.max(schedule.plannedDate(request.cell), now) + ROUNDING
      )
        fault('in vain:', 'after a death', request.wakesAt);
  }
  let isCompared = isExact;
  function bury(thread) {
    schedule.bury(thread.id, now);
    plain.advance(now);
    for (const request of [...requests].filter((other) => other.thread === thread)) {
      requests.delete(request);
      if (plain.queue.includes(request)) plain.queue = plain.queue.filter((other) => other !== request);
      else if (request.isOpen) {
        plain.open -= request.k;
        plain.run(request.k, now);
        calls.push([request.begun, now, request.k]);
      } else if (request.isDated) request.isRun = true;
    }
    plain.moveUp(now);
  }

  function check(what) {
    if (!isCompared) return;
    const plan = plain.plan(now);
    if (schedule.waiting !== plain.queue.length)
      fault('the same:', what, 'waiting', schedule.waiting, plain.queue.length);
    if (schedule.open !== plain.open) fault('the same:', what, 'open');
    for (const request of requests) {
      if (request.isOpen || !works(request.thread)) continue;
      const could = plan.get(request) ?? request.date;
      if (request.isDated !== schedule.isDated(request.cell) && !(request.isDated && request.date + plain.per <= now))
        fault('the same:', what, 'dated', request.ticket);
      else if (
        request.isDated &&
        schedule.isDated(request.cell) &&
        Math.abs(schedule.plannedDate(request.cell) - request.date) > ROUNDING
      )
        fault('the same:', what, 'date', schedule.plannedDate(request.cell), request.date);
      if (request.wakesAt > Math.max(could, now) + ROUNDING)
        fault('in vain:', what, 'until', request.wakesAt, 'in place of', could);
    }
  }

  /** Where there is one thread, `tryJoin` does what `tryTake` does, or nothing. */
  function checkJoin(permits, time) {
    const [joined, taken] = [1, 2].map(() => new Cells(cells.floats.slice(), 1, false));
    const [joins, takes] = [joined, taken].map((memory) => new Schedule(memory, 1 + CELLS, grain, {}));
    const has = joins.tryJoin(permits, time);
    if (has) {
      told.joins++;
      taken.reserve();
      if (!takes.tryTake(permits, time)) fault('joins:', permits, 'which are not free');
    }
    const differs = joined.floats.findIndex((float, i) => float !== taken.floats[i]);
    if (differs >= 0) fault('joins:', has, 'and differs in', differs - 1 - CELLS);
  }

  function begin(request) {
    told.begun++;
    if (request.stays) {
      request.begun = now;
      request.isOpen = true;
      request.wakesAt = now;
      at(now + random() * per, function ends() {
        if (!requests.has(request) || !works(request.thread)) return;
        if (now < request.thread.free) return at(request.thread.free, ends);
        call(request.thread, () => schedule.end(request.cell, now));
        if (!works(request.thread)) return;
        requests.delete(request);
        plain.end(request.k, now);
        calls.push([request.begun, now, request.k]);
        check('end');
      });
    } else {
      requests.delete(request);
      calls.push([now, now, request.k]);
    }
    for (const other of requests)
      if (
        other.ticket < request.ticket &&
        !other.late &&
        !other.isOpen &&
        !schedule.isDated(other.cell) &&
        works(other.thread) &&
        schedule.plannedDate(other.cell) > -Infinity &&
        plain.queue.includes(other) &&
        isCompared
      )
        fault('order:', request.ticket, 'before', other.ticket);
    if (
      isOnTime &&
      isCompared &&
      request.told !== undefined &&
      now > request.told + JITTER * (2 + (request.told - request.asked) / per) + 0.5 &&
      !request.wasBusy
    )
      fault('told:', 'for', request.told, 'and begun', now);
  }

  function look(request) {
    const { thread } = request;
    if (!requests.has(request) || request.isOpen || !works(thread)) return;
    if (now < thread.free) {
      request.wasBusy = true;
      isOnTime = false;
      at(thread.free + random() * 0.1, () => look(request));
      return;
    }
    told.looks++;
    const answer = call(thread, () => schedule.look(request.cell, now, request.stays));
    if (answer === undefined) return;
    const wasLate = request.late;
    const goes = request.dismissed === undefined && plain.look(request, now);
    if (request.late && !wasLate) {
      told.late++;
      isOnTime = false;
    }
    if (answer === BEGUN) {
      if (goes) plain.begin(request, now);
      else if (isCompared) fault('the same:', 'begins', request.ticket);
      begin(request);
    } else if (answer === DISMISSED || answer === REFUSED) {
      if (request.dismissed !== answer && isCompared) fault('the same:', 'dismissed', answer);
      requests.delete(request);
    } else {
      if (goes && isCompared) fault('the same:', 'does not begin', request.ticket);
      request.wakesAt = now + answer;
      const turn = (request.turn ?? 0) + 1;
      request.turn = turn;
      if (answer < Infinity)
        at(now + answer + random() * JITTER, () => {
          if (request.turn === turn) look(request);
        });
    }
    check('look');
  }

  function leave(request) {
    const { thread } = request;
    if (!requests.has(request) || request.isOpen || !works(thread)) return;
    if (now < thread.free) return at(thread.free, () => leave(request));
    if (random() < 0.5) {
      look(request);
      if (!requests.has(request) || request.isOpen || !works(thread)) return;
    }
    if (!did(thread, () => schedule.leave(request.cell, now))) return;
    requests.delete(request);
    plain.leave(request, now);
    check('leave');
  }

  function ask(thread, k) {
    told.requests++;
    const request = { k, thread, stays: mayOpen && random() < 0.5 };
    const due = call(thread, () => schedule.dueIn(k, now));
    if (due === undefined) return;
    const dueToo = plain.dueIn(k, now);
    if (isCompared && due !== dueToo && Math.abs(due - dueToo) > ROUNDING) fault('the same:', 'dueIn', due, dueToo);
    const cell = call(thread, () => schedule.ask(k, now, thread.id));
    if (cell === undefined) return;
    request.cell = cell;
    request.ticket = ++tickets;
    request.wakesAt = now;
    request.asked = now;
    if (due < Infinity) request.told = now + due;
    requests.add(request);
    plain.ask(request, now);
    check('ask');
    look(request);
    if (requests.has(request) && random() < 0.2) at(now + random() * per, () => leave(request));
  }
  let tickets = 0;

  function dismiss(state, most) {
    for (const request of plain.queue.filter(({ k }) => k > most)) request.dismissed = state;
    plain.queue = plain.queue.filter(({ k }) => k <= most);
  }

  const actions = integer(5, 60);
  for (let i = 0; i < actions; i++) {
    at(random() * per * 3, function act() {
      const thread = threads[integer(0, threads.length - 1)];
      if (!works(thread)) return;
      if (now < thread.free) return at(thread.free + 0.01, act);
      const others = threads.some((other) => other !== thread && works(other));
      const k = random() < 0.7 ? 1 : integer(1, n);
      const what = random();
      if (what < 0.1) {
        thread.free = now + random() * per * 2;
      } else if (what < 0.12 && others) {
        thread.blocked = true;
        isOnTime = false;
      } else if (what < 0.15 && others) {
        thread.dead = true;
        told.deaths++;
        isOnTime = false;
        at(now + random() * 20, () => {
          bury(thread);
          check('bury');
        });
      } else if (what < 0.17) {
        const pause = random() * per;
        if (did(thread, () => schedule.pause(pause, now))) {
          plain.advance(now);
          plain.paused = Math.max(plain.paused, now + pause);
        }
        isOnTime = false;
      } else if (what < 0.21) {
        const spent = oneOf(k, k, integer(-n, 2 * n));
        // What is spent into debt is in no window of those who wait.
        if (did(thread, () => schedule.spend(spent, now))) plain.spend(spent, now);
        // Others may use what is given back.
        if (spent < 0) sizedAt = Infinity;
        isOnTime = false;
      } else if (what < 0.23 && isSized) {
        const sizes = [oneOf(1, 3, 5, 10), oneOf(20, 50, 100)];
        const size = [...sizes, integer(1, sizes[0])];
        if (grain > 100) {
          const isDone = did(thread, () => schedule.resize(...size, now), 0.2);
          if (!isDone) {
            // It may have changed the numbers before it died.
            sizedAt = Infinity;
            return;
          }
          plain.advance(now);
          for (const run of plain.log) if (run.date + plain.per <= now) run.date = -Infinity;
          for (const run of plain.log.filter(({ isRun, date }) => !isRun && date > -Infinity)) {
            plain.log = plain.log.filter((other) => other !== run);
            plain.next -= run.k * plain.interval;
            run.late = true;
            plain.enqueue(run, now);
          }
          const debt = Math.max(plain.next - now, 0) / plain.interval;
          [plain.n, plain.per, plain.burst] = size;
          [n, per, burst] = size;
          plain.next = now + debt * plain.interval;
          dismiss(REFUSED, n);
          plain.moveUp(now);
          sizedAt = Math.max(sizedAt, now);
        }
        isOnTime = false;
      } else if (what < 0.24) {
        if (did(thread, () => schedule.dismiss(now))) {
          plain.advance(now);
          dismiss(DISMISSED, 0);
          plain.moveUp(now);
        }
      } else if (what < 0.34) {
        const taken = call(thread, () => schedule.tryTake(k, now));
        if (taken !== undefined) {
          if (plain.tryTake(k, now) !== taken && isCompared) fault('the same:', 'tryTake', taken);
          if (taken) calls.push([now, now, k]);
        }
      } else ask(thread, k);
      check(`action ${what.toFixed(2)}`);
      for (const permits of [1, k]) for (const time of [now, now - random() * per]) checkJoin(permits, time);
    });
  }
  for (let steps = 0; events.length > 0; steps++) {
    if (steps > 20_000) {
      fault('an end:', 'there is none');
      break;
    }
    let first = 0;
    for (let i = 1; i < events.length; i++)
      if (
        events[i].time < events[first].time ||
        (events[i].time === events[first].time && events[i].number < events[first].number)
      )
        first = i;
    const [event] = events.splice(first, 1);
    now = Math.max(now, event.time);
    event.run();
    if (faults.length > 9) return;
  }
  // A call that has begun in a thread that blocks for ever has no end.
  const endless = [...requests].some(({ isOpen, thread }) => isOpen && thread.blocked && !thread.dead);
  for (const { thread, ticket } of requests) if (works(thread) && !endless) fault('an end:', ticket, 'waits for ever');
  for (const thread of threads) bury(thread);
  now += 1e6;
  if (!schedule.isFresh(now)) fault('an end:', 'something is left');
  let cellsLeft = 0;
  while (cells.reserve()) {
    cells.take();
    cells.commit();
    cellsLeft++;
  }
  if (cellsLeft !== ROOM) fault('an end:', 'cells are lost', ROOM - cellsLeft);
  if (sizedAt === Infinity) return;
  // A permit counts from the begin of its call to a window after the end.
  const counted = calls.filter(([begun]) => begun > sizedAt);
  for (const [from] of counted) {
    const sum = counted.reduce(
      (all, [begun, ended, k]) => all + (begun <= from && ended + per > from + ROUNDING ? k : 0),
      0,
    );
    if (sum > n) {
      fault('windows:', sum, 'of', n, 'in', per);
      break;
    }
  }
}

/** A log has few runs, however many permits there are, and its permits count by the part of a window longer that a run takes. */
function runs() {
  const [per, grain] = [1000, 4];
  const end = CELLS + SCHEDULE + 1 + 100 * CELL;
  const cells = new Cells(new Float64Array(end), 1, true);
  cells.begin(1 + CELLS + SCHEDULE, end);
  const schedule = new Schedule(cells, 1 + CELLS, grain, {});
  schedule.begin(1000, per, 1000);
  for (let time = 0; time < 5 * per; time += 10) {
    if (!cells.reserve() || !schedule.tryTake(1, time)) return faults.push(`runs: none is free at ${time}`);
    const [least, most] = [per / 10, (per + per / grain) / 10];
    const taken = schedule.taken(time);
    if (time > 2 * per && (taken < least || taken > most))
      return faults.push(`runs: ${taken} permits count at ${time}`);
  }
  let room = 0;
  for (; cells.reserve(); room++) {
    cells.take();
    cells.commit();
  }
  if (100 - room > grain + 3) faults.push(`runs: there are ${100 - room}`);
}

runs();
for (; told.histories < histories && faults.length < (mutant === undefined ? 10 : 1); told.histories++)
  history(told.histories);
console.log(JSON.stringify({ seed, ...told }));
process.exitCode = faults.length > 0 ? 1 : 0;
