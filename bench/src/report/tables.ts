// Formats the tables of the benchmark.

import Table from 'cli-table3';
import { BENCHMARKS } from '../benchmarks.js';
import { cells, counted, medianOf, type Probe, type Results, type Timing, threadCounts } from '../results.js';
import { FLOOR } from '../rows/row.js';
import { type Spread, spread, total } from '../statistics.js';
import { BAND_STARTS, BANDS } from '../workers/bypass-bands.js';
import { met, type Target, targets } from './targets.js';

/** Returns all tables for which the run has figures, each under its heading. The goals are there only `withTargets`. */
export function tables(results: Results, withTargets = false): string {
  const parts = [
    ...(BENCHMARKS[results.benchmark].crowdsOnly ? [] : contentionTables(results)),
    ...hashTables(results),
    ...futileTable(results),
    ...bypassTable(results),
    ...(results.pairs.length > 0 ? [pairTable(results)] : []),
    ...(results.asyncs.length > 0 ? [asyncTable(results)] : []),
    ...(results.releases?.length ? [releaseTable(results)] : []),
    ...(withTargets ? targetTable('ratios to reach', targets(results), ratio) : []),
    ...skippedLines(results),
  ];
  return parts.join('\n\n');
}

function contentionTables(results: Results): string[] {
  const measured = cells(results);
  return threadCounts(results).map((threads) => {
    const table = makeTable([
      'row',
      '\nruns',
      'iterations\nper second',
      '\nmin–max',
      'slowest\ntenth',
      '\nfairness',
      '\nmin–max',
      "Jain's\nindex",
      'longest\nwait, ms',
      'largest\nbypass',
      'out of\norder',
      'CPU\nseconds',
    ]);
    for (const cell of measured.filter((candidate) => candidate.threads === threads)) {
      const { row, runs, throughput, slowestPart, fairness, jain, cpuSeconds, probe } = cell;
      table.push([
        row,
        runs,
        rate(throughput.median),
        `${rate(throughput.min)}–${rate(throughput.max)}`,
        rate(slowestPart),
        fairness.median.toFixed(3),
        `${fairness.min.toFixed(2)}–${fairness.max.toFixed(2)}`,
        jain.median.toFixed(3),
        probe ? fixed(probe.longestWaitMs) : '',
        probe ? bypassOf(probe) : '',
        probe?.outOfOrder === undefined ? '' : String(probe.outOfOrder),
        cpuSeconds.median.toFixed(2),
      ]);
    }
    const { benchmark, work } = results;
    const steps = work ? `, ${work.inside} steps inside and ${work.outside} outside` : '';
    return `${BENCHMARKS[benchmark].workload}${steps}, ${counted(threads)}\n${table.toString()}`;
  });
}

/** Returns the tables of hashes, one for each number of semaphores. */
function hashTables(results: Results): string[] {
  const measured = cells(results);
  const places = results.rows.flatMap(({ name, hash }) => (hash ? [{ name, ...hash }] : []));
  return [...new Set(places.map(({ semaphores }) => semaphores))].flatMap((count) => {
    const table = makeTable([
      'class',
      '\nhash',
      '\nslots',
      'collisions\nper acquisition',
      'futile wake-ups\nper acquisition',
      '\nmin–max',
      'iterations\nper second',
      '\nmin–max',
      'and per\nCPU second',
      '\nmin–max',
    ]);
    const at = places.filter(({ semaphores }) => semaphores === count);
    const found = at.flatMap(({ name, ...place }) =>
      measured.filter(({ row }) => row === name).map((cell) => ({ ...place, ...cell })),
    );
    for (const { of, hash, slots, collisions, futile, throughput, perCpuSecond } of found) {
      table.push([
        of,
        hash,
        slots,
        share(collisions.median),
        share(futile.median),
        `${share(futile.min)}–${share(futile.max)}`,
        rate(throughput.median),
        `${rate(throughput.min)}–${rate(throughput.max)}`,
        rate(perCpuSecond.median),
        `${rate(perCpuSecond.min)}–${rate(perCpuSecond.max)}`,
      ]);
    }
    const threads = counted(found[0]?.threads ?? 0);
    const heading = `${threads}, each in turn on ${count === 1 ? '1 semaphore' : `${count} semaphores`}`;
    return found.length > 0 ? [`${heading}\n${table.toString()}`] : [];
  });
}

/** Returns the futile wake-ups: a line for each row that counts them, a column for each thread count. */
function futileTable(results: Results): string[] {
  const counts = threadCounts(results);
  const measured = cells(results);
  const table = makeTable(['row', ...counts.flatMap((threads) => [counted(threads), 'min–max'])]);
  for (const { name, hash } of results.rows) {
    const row = counts.map((threads) => measured.find((cell) => cell.row === name && cell.threads === threads));
    if (hash || row.every((cell) => cell === undefined || Number.isNaN(cell.futile.median))) continue;
    const columns = row.flatMap((cell) =>
      cell ? [share(cell.futile.median), `${share(cell.futile.min)}–${share(cell.futile.max)}`] : ['', ''],
    );
    table.push([name, ...columns]);
  }
  return table.length > 0 ? [`futile wake-ups per acquisition\n${table.toString()}`] : [];
}

/**
 * The columns of the table of bypasses: their headings, and the least bypass of each. Around the usual limit of 10 they
 * are narrow.
 */
const BYPASS_COLUMNS = [
  ['0', 0],
  ['1–3', 1],
  ['4–6', 4],
  ['7', 7],
  ['8', 8],
  ['9', 9],
  ['10–99', 10],
  ['100–999', 100],
  ['1000–', 1000],
  ['10,000–', 10_000],
  ['100,000–', 100_000],
] as const;

/** Returns the table of bypasses: how many admissions were in each column. A row has a line for each thread count. */
function bypassTable({ rows, probes }: Results): string[] {
  const table = makeTable(['row', 'threads', ...BYPASS_COLUMNS.map(([heading]) => heading), 'largest']);
  for (const { name } of rows) {
    for (const probe of probes) {
      if (probe.row !== name || probe.threads === 1 || probe.bypasses.length !== BANDS) continue;
      const counts = BYPASS_COLUMNS.map(([, from], column) => {
        const end = BYPASS_COLUMNS[column + 1]?.[1] ?? Number.POSITIVE_INFINITY;
        const within = (start: number) => start >= from && start < end;
        const count = total(probe.bypasses.filter((_, band) => within(BAND_STARTS[band] as number)));
        return count === 0 ? '' : rate(count);
      });
      table.push([name, probe.threads, ...counts, bypassOf(probe)]);
    }
  }
  return table.length > 0 ? [`admissions by how often they were overtaken\n${table.toString()}`] : [];
}

/** The largest bypass: exact if the row has tickets, else an upper bound. */
export function bypassOf({ largestBypass, outOfOrder }: Probe): string {
  return outOfOrder === undefined ? `≤ ${largestBypass}` : String(largestBypass);
}

function pairTable(results: Results): string {
  const table = makeTable(['row', 'ns', 'min–max', 'max / min', '/ sem_t', '/ floor']);
  const native = medianOf(results.pairs, 'sem_t');
  const floor = medianOf(results.pairs, FLOOR);
  for (const [row, { median, min, max }] of byRow(results.pairs)) {
    table.push([
      row,
      fixed(median),
      `${fixed(min)}–${fixed(max)}`,
      ratio(max / min),
      ratio(median / native),
      ratio(median / floor),
    ]);
  }
  return `${BENCHMARKS[results.benchmark].calls}, uncontended, nanoseconds\n${table.toString()}`;
}

function asyncTable(results: Results): string {
  const table = makeTable(['row', 'uncontended', 'min–max', '1,000 queued', 'min–max']);
  const uncontended = byRow(results.asyncs.filter(({ shape }) => shape === 'uncontended'));
  const queued = byRow(results.asyncs.filter(({ shape }) => shape === 'queued'));
  for (const row of new Set([...uncontended.keys(), ...queued.keys()])) {
    const columns = [uncontended.get(row), queued.get(row)].flatMap((found) =>
      found ? [fixed(found.median), `${fixed(found.min)}–${fixed(found.max)}`] : ['', ''],
    );
    table.push([row, ...columns]);
  }
  return `${BENCHMARKS[results.benchmark].asyncCalls} in one thread, nanoseconds\n${table.toString()}`;
}

function releaseTable({ releases = [] }: Results): string {
  const table = makeTable(['row', 'one step', 'min–max', 'loop of posts', 'min–max']);
  const oneStep = byRow(releases.filter(({ shape }) => shape === 'one step'));
  const loop = byRow(releases.filter(({ shape }) => shape === 'loop'));
  for (const row of new Set([...oneStep.keys(), ...loop.keys()])) {
    const columns = [oneStep.get(row), loop.get(row)].flatMap((found) =>
      found ? [fixed(found.median), `${fixed(found.min)}–${fixed(found.max)}`] : ['', ''],
    );
    table.push([row, ...columns]);
  }
  return `release of 64 permits, nobody waiting, nanoseconds\n${table.toString()}`;
}

/** Returns the table of targets, with the figure of each row, and whether the row reaches the target. */
export function targetTable(heading: string, all: readonly Target[], shown: (value: number) => string): string[] {
  const subjects = [...(all[0]?.found.keys() ?? [])];
  const table = makeTable(['to reach', '', ...subjects]);
  for (const target of all) {
    const values = subjects.map((row) => target.found.get(row) ?? Number.NaN);
    if (values.every(Number.isNaN)) continue;
    table.push([
      target.what,
      `${target.bound} ${target.wanted}`,
      ...values.map((value) => (Number.isNaN(value) ? '' : `${shown(value)} ${met(target, value) ? 'yes' : 'no'}`)),
    ]);
  }
  return table.length > 0 ? [`${heading}, from the medians of this run\n${table.toString()}`] : [];
}

/** Returns what was left out and why, each reason once. */
export function skippedLines({ skipped }: Pick<Results, 'skipped'>): string[] {
  if (skipped.length === 0) return [];
  const whys = [...new Set(skipped.map(({ why }) => why))];
  const lines = whys.map((why) => {
    const same = skipped.filter((each) => each.why === why);
    const rows = [...new Set(same.map(({ row }) => row))];
    return `skipped: ${rows.join(', ')} (${[...new Set(same.map(({ at }) => at))].join('; ')}): ${why}`;
  });
  return [lines.join('\n')];
}

function byRow(timings: readonly Timing[]): Map<string, Spread> {
  const rows = [...new Set(timings.map(({ row }) => row))];
  return new Map(
    rows.map((name) => [name, spread(timings.filter(({ row }) => row === name).map((timing) => timing.nanoseconds))]),
  );
}

export function makeTable(head: string[]) {
  return new Table({
    head,
    colAligns: head.map((_, column) => (column === 0 ? 'left' : 'right')),
    style: { head: [], border: [], compact: true },
  });
}

/** Formats iterations per second with three significant digits. */
export function rate(value: number): string {
  if (!Number.isFinite(value)) return '';
  for (const [unit, name] of [
    [1e6, ' M'],
    [1e3, ' k'],
  ] as const) {
    // 999,900 must become 1.00 M, not 1000 k.
    if (Number(value.toPrecision(3)) >= unit) return `${fixed(value / unit)}${name}`;
  }
  return fixed(value);
}

/** Formats a count per acquisition with four decimals. In a short run, further decimals would mean nothing. */
function share(value: number): string {
  if (!Number.isFinite(value)) return '';
  return value >= 10 ? fixed(value) : value.toFixed(4);
}

export function ratio(value: number): string {
  // Small ratios would look the same with two decimals, so they get two significant digits.
  if (value >= 0.0001 && value < 0.1) return String(Number(value.toPrecision(2)));
  return Number.isFinite(value) ? fixed(value) : '';
}

/** Formats microseconds; the text is empty if they were not measured. */
export function duration(value: number): string {
  return Number.isFinite(value) ? value.toFixed(Math.abs(value) < 100 ? 1 : 0) : '';
}

/** Formats three significant digits without an exponent; whole numbers below 1000 stay whole. */
export function fixed(value: number): string {
  if (Number.isInteger(value) || value >= 100) return value.toFixed(0);
  return value.toFixed(value >= 10 ? 1 : 2);
}
