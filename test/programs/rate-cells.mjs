/**
 * Random histories of the cells of keyed rates (src/common/rate-cells.ts) in virtual time, and a check of each.
 *
 *     node test/programs/rate-cells.mjs [HISTORIES] [SEED] [MUTANT]
 *
 * Up to 60 keys take permits from a table of 16, 32 or 48 cells, so keys are forgotten and come back. Some are spent,
 * given back, or paused. Now and then the table moves to other memory, or the log of a cell gives way to a whole log, of
 * up to three windows. Beside the table stands a log of each key. The checks:
 *
 *     windows    no window of a key has a permit too many, and no burst is wider than it may be, whatever is forgotten
 *     in vain    nothing is refused that a limiter allows whose windows are longer by a sixth and the width of its burst,
 *                or by nothing if there are at most 7 permits; and after `due` the permits go
 *     room       a new key is refused only if the cells of its buckets count
 *
 * MUTANT is the number of a mutant below, a fault that is put into the built file. Prints a line of JSON; the exit code is
 * 1 if a check has failed.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { mutated } from './mutated.mjs';

/** What is wrong, the code, and the code in its place. */
export const mutants = [
  ['the log has room for one more', 'let over = permits - this.#permits;', 'let over = permits - this.#permits - 1;'],
  ['dates are rounded down', 'Math.ceil(((now - this.#floats[base])', 'Math.floor(((now - this.#floats[base])'],
  [
    'a run keeps its first date',
    'parts[this.#partOf(newest)] = part;',
    'if (isNew) parts[this.#partOf(newest)] = part;',
  ],
  ['uneven runs count as even ones', 'its > over && !this.#isUneven(run)', 'its > over'],
  ['what is given back leaves the run even', 'this.#permitsOf(count - 1) + UNEVEN', 'this.#permitsOf(count - 1)'],
  ['more than the burst counts as even', 'permits <= this.#burst', 'true'],
  ['the burst of a run is forgotten', 'its - over - this.#more', 'its - over'],
  ['a cell is free when its burst is over', 'floats[this.#cell + PAUSED], last)', 'floats[this.#cell + PAUSED])'],
  ['a cell is free when its log is over', 'Math.max(floats[this.#cell + NEXT], floats', 'Math.max(floats'],
  ['the base moves and the dates stay', 'this.#parts[this.#partOf(run)] -= by;', ';'],
  ['a pause is nothing', 'Math.max(now, floats[this.#cell + PAUSED], even)', 'Math.max(now, even)'],
  ['the second bucket is not looked into', ' || this.#findIn(region, buckets, this.#second(buckets))', ''],
  ['a run grows for ever', '(part - this.#from) * GRAIN >= PARTS', 'false'],
  ['a cell moves without its log', 'i < 2 * this.size', 'i < 8'],
  ['old runs of a restored log stay', 'this.#expire(date);', ''],
];

if (process.argv[1] === new URL(import.meta.url).pathname) await program();

async function program() {
  const [histories = 1000, seed = Date.now() % 1e9, mutant] = process.argv.slice(2).map(Number);
  const built = new URL('../../dist/common/', import.meta.url);
  const source = readFileSync(new URL('rate-cells.js', built), 'utf8').replaceAll("'./", `'${built}`);
  const folder = mkdtempSync(join(tmpdir(), 'cells-'));
  process.once('exit', () => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'cells.mjs'), mutated(source, mutants, mutant));
  const { RateCells } = await import(pathToFileURL(join(folder, 'cells.mjs')));

  let state = seed >>> 0;
  /** Returns a random number, 0 to below 1 (mulberry32). */
  const random = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
  const integer = (min, max) => min + Math.floor(random() * (max - min + 1));
  const TICK = 5;
  const told = { seed, histories: 0, taken: 0, refused: 0, noRoom: 0, forgotten: 0, faults: [] };

  const history = (number) => {
    const permits = random() < 0.5 ? integer(1, 7) : Math.floor(8 * 50 ** random());
    const per = Math.floor(10 * 1000 ** random());
    const burst = random() < 0.4 ? 1 : integer(1, permits);
    const fault = (what) => {
      if (told.faults.length < 10)
        told.faults.push(`history ${number}, ${permits} in ${per} ms, burst ${burst}: ${what}`);
    };
    const interval = per / permits;
    const cells = new RateCells({ permits, per, burst }, integer(0, 2 ** 31));
    let buckets = integer(1, 3);
    const memory = () => new Float64Array(cells.floatsOf(buckets));
    cells.use(memory());
    const keys = Array.from({ length: integer(1, 60) }, (_, i) => (i % 2 ? i : `key ${i}`));
    const logs = new Map(keys.map((key) => [key, { log: [], next: -Infinity, paused: -Infinity, strange: -Infinity }]));
    /** How much earlier than evenly permits may go. */
    const ahead = (k) => Math.max((burst - k) * interval, TICK);
    const count = (its, k, now) => {
      its.next = Math.max(its.next, now) + k * interval;
    };
    const widest = random() < 0.5 ? 1 : permits;
    const isStrange = random() < 0.5;
    // Rarely: permits of a restored log count for longer, and so hide other faults.
    const restores = isStrange && random() < 0.1;
    /** Each history has a pace of its own. */
    const step = (per / permits) * 4 ** (3 * random() - 1.5) * (4 / keys.length + 0.05);
    let time = random() < 0.5 ? 1e6 * random() : 1.8e12;
    for (let i = 0; i < 400; i++) {
      time += random() < 0.02 ? 3 * per * random() : step * random() ** 2 * 3;
      const now = time;
      const key = keys[Math.floor(random() ** 2 * keys.length)];
      const its = logs.get(key);
      const live = (window, at = now) => its.log.filter(({ date }) => date + window > at);
      const sum = (runs) => runs.reduce((all, { k }) => all + k, 0);
      cells.enter(key);
      const isKnown = cells.find(0, buckets);
      if (!isKnown && its.log.length > 0) told.forgotten++;
      const before = isKnown ? cells.due(1, now) : now;
      if (!isKnown && !cells.make(0, buckets, now)) {
        told.noRoom++;
        if (cells.roomAt(0, buckets) <= now) fault('a new key is refused although there is room');
        if (told.noRoom > 0 && keys.length <= 8) fault('a new key is refused beside 7 others');
        continue;
      }
      const dice = isStrange ? random() : 1;
      if (dice < 0.02) {
        cells.pause(per * random(), now);
        its.paused = cells.state(now).paused;
        its.strange = now;
      } else if (dice < 0.08) {
        const k = integer(1, permits);
        cells.spend(k, now);
        its.log.push({ date: now, k });
        count(its, k, now);
        its.strange = now;
      } else if (restores && dice < 0.13) {
        // As a key that comes back from a queue: its log may begin long ago.
        const { next, paused } = cells.state(now);
        cells.clear();
        cells.restore({ next, paused, runs: its.log.filter(({ k }) => k > 0).map(({ date, k }) => [date, k]) });
        its.strange = now;
      } else if (dice < (restores ? 0.17 : 0.12)) {
        let back = integer(1, permits);
        cells.spend(-back, now);
        its.next -= back * interval;
        for (const run of live(per)) {
          const given = Math.min(back, run.k);
          run.k -= given;
          back -= given;
        }
        its.strange = now;
      } else {
        const k = random() < 0.7 ? 1 : integer(1, widest);
        const due = cells.due(k, now);
        const has = cells.tryTake(k, now);
        if (has !== due <= now) fault('due does not say what tryTake does');
        if (has) {
          told.taken += k;
          if (now < its.paused) fault('permits go in a pause');
          const all = sum(live(per - 1e-3)) + k;
          if (all > permits) fault(`${all} permits in a window`);
          if (its.next - ahead(k) > now + 1e-3) fault(`${k} permits go ${its.next - ahead(k) - now} ms too early`);
          count(its, k, now);
          its.log.push({ date: now, k });
        } else {
          told.refused++;
          const longer = permits <= 7 ? per / 16_384 + 1e-3 : per / 3 + (burst + 1) * interval + TICK;
          const isFull = sum(live(per + longer)) + k > permits;
          // What was spent, given back or paused is told by the windows alone.
          const isPaused = its.strange > -Infinity;
          const isUneven = its.next - ahead(k) > now;
          if (!isFull && !isPaused && !isUneven) fault(`${k} permits are refused, although ${sum(live(per))} count`);
        }
        if (!has && due < Infinity && random() < 0.1 && cells.due(k, due + 1e-3) > due + 1e-3)
          fault('due was too early');
      }
      if (before > now && !isKnown) fault('a new key waits');
      its.log = its.log.filter(({ date }) => date + 3 * per > now);
      if (random() < 0.01) {
        const to = integer(1, 3);
        if (cells.moveTo(new Float64Array(cells.floatsOf(to)), buckets, to, now)) buckets = to;
      }
    }
    told.histories++;
  };
  for (let i = 0; i < histories && told.faults.length === 0; i++) history(i);
  console.log(JSON.stringify(told));
  process.exit(told.faults.length > 0 ? 1 : 0);
}
