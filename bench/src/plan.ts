// Runs the benchmark. In each round every row runs once. So if the machine becomes slower or faster meanwhile (its
// clock, its other users), all rows are affected alike. And a benchmark that is stopped early has all rows, with fewer
// runs.

import { fileURLToPath } from 'node:url';
import { type NativeBinary, type NativeRun, nativeContention, nativePair } from './native.js';
import type { Options } from './options.js';
import { runJson } from './program.js';
import type { Lists, Store } from './record.js';
import { counted, type Probe, type Run } from './results.js';
import { BYPASS, TRACE_ROW, TRACED } from './rows/locks.js';
import { CALLS_FLOOR, FLOOR, measuredAt, NATIVE_FLOOR, type Row, type Wakes } from './rows/row.js';
import { type Kind, TimeLeft } from './time-left.js';
import { Host } from './workers/client.js';

const TIMER = fileURLToPath(new URL('./pairs/timer.js', import.meta.url));

/** The name that the native binary has for its loop of two locked instructions. */
const NATIVE_FLOOR_ALGORITHM = 'two-locked-instructions';

/** Reports which run comes next, and how many seconds all remaining runs take, if that is known. */
export type Progress = (table: string, what: string, run: number, runs: number, left?: number) => void;

/** What the tables of a run share. */
export interface Course {
  /** Where the measurements go. A measurement that the store has already is not made again. */
  store: Store;
  progress: Progress;
  /** Once this signal is aborted, the present run ends without a result, and no other run begins. */
  stop: AbortSignal;
}

/** One run of a row. */
interface Step {
  row: Row;
  of: number;
  round: number;
  probe: boolean;
}

/** Returns the runs in order: in each round all thread counts, and at each count all rows. */
function stepsOf({ benchmark, threads, runs, probes }: Options, rows: readonly Row[]): Step[] {
  const rounds = Array.from({ length: runs }, (_, index) => index + 1);
  return rounds.flatMap((round) =>
    threads.flatMap((of) =>
      rows
        .filter(({ only }) => measuredAt(only, of, threads.at(-1)))
        .flatMap((row) => {
          const step = { row, of, round, probe: false };
          const probed = round <= probes && !benchmark.crowdsOnly && !row.apart;
          return probed ? [step, { ...step, probe: true }] : [step];
        }),
    ),
  );
}

const isMissing = ({ row: { name: row }, of: threads, round, probe }: Step, store: Store): boolean =>
  !store.has(probe ? 'probes' : 'runs', probe && round === 1 ? { row, threads } : { row, threads, round });

const kindIn = ({ seconds, probeSeconds }: Options, { row, of, probe }: Step): Kind => ({
  script: row.kind === 'script',
  threads: of,
  seconds: probe ? probeSeconds : seconds,
});

/** What is still to be measured of contention: how many intervals, and about how many seconds they take. */
export function remaining(options: Options, store: Store): { intervals: number; seconds: number } {
  const missing = stepsOf(options, options.rows).filter((step) => isMissing(step, store));
  const kinds = missing.map((step) => kindIn(options, step));
  return { intervals: missing.length, seconds: new TimeLeft(options.warmUp).of(kinds) };
}

/** Measures contention: every row at every thread count. */
export async function contention(options: Options, native: NativeBinary, course: Course): Promise<void> {
  const { benchmark, seconds, probeSeconds, work } = options;
  const { workload } = benchmark;
  const { store, progress, stop } = course;
  const rows = options.rows.filter((row) => row.kind === 'script' || 'binary' in native);
  const steps = stepsOf(options, rows);
  const broken = new Set<string>();
  const due = (step: Step): boolean => !broken.has(step.row.name) && isMissing(step, store);
  const kindOf = (step: Step): Kind => kindIn(options, step);
  const timeLeft = new TimeLeft(options.warmUp);
  let kept: Host | undefined;

  // In the short form, one host process does all runs. Otherwise each run has its own host, which also does its probe.
  const host = (): Host => {
    kept ??= new Host();
    return kept;
  };
  const closeHost = (): void => {
    kept?.close();
    kept = undefined;
  };
  const measure = ({ row, of, probe }: Step): Promise<NativeRun & { admissions?: number; wakes?: Wakes }> =>
    row.kind === 'script'
      ? host().run({
          benchmark: benchmark.name,
          row: row.name,
          loop: probe ? 'probe' : 'measure',
          threads: of,
          seconds: probe ? probeSeconds : seconds,
          warmUp: options.warmUp,
          ...(work && { work }),
        })
      : nativeContention(
          (native as { binary: string }).binary,
          workload,
          row,
          of,
          probe ? probeSeconds : seconds,
          probe,
          work,
          stop,
        );

  stop.addEventListener('abort', closeHost);
  try {
    for (const [index, step] of steps.entries()) {
      if (stop.aborted) break;
      if (!due(step)) continue;
      const { row, of, round, probe } = step;
      const left = timeLeft.of(steps.slice(index).filter(due).map(kindOf));
      progress(workload, `${row.name}, ${counted(of)}`, index + 1, steps.length, left);
      const start = performance.now();
      try {
        const run = await measure(step);
        if (probe) store.add('probes', { ...probeOf(row, of, run), ...(round > 1 && { round }) });
        else store.add('runs', runOf(row, of, round, run));
        timeLeft.took(kindOf(step), (performance.now() - start) / 1000);
        const next = steps[index + 1];
        if (!options.quick && !(next?.probe && next.row === row)) closeHost();
      } catch (error) {
        closeHost();
        // After a stop, the end of the process is not a failure of the row.
        if (stop.aborted) break;
        // A row that failed once would fail again, and waiting for it costs minutes.
        broken.add(row.name);
        store.results.skipped.push({
          row: row.name,
          at: `${counted(of)}, run ${round}`,
          why: (error as Error).message,
        });
      }
    }
  } finally {
    stop.removeEventListener('abort', closeHost);
    closeHost();
  }
}

function runOf({ name: row }: Row, threads: number, round: number, run: NativeRun & { wakes?: Wakes }): Run {
  const { seconds, cpuSeconds, iterations, parts, wakes } = run;
  return { row, threads, round, seconds, cpuSeconds, iterations, parts, ...(wakes && { wakes }) };
}

function probeOf({ name: row }: Row, threads: number, seen: NativeRun & { admissions?: number }): Probe {
  return {
    row,
    threads,
    longestWaitMs: seen.longestWaitMs ?? Number.NaN,
    largestBypass: seen.largestBypass ?? Number.NaN,
    bypasses: seen.bypasses ?? [],
    ...(seen.admissions === undefined ? {} : { admissions: seen.admissions }),
    ...(seen.outOfOrder === undefined ? {} : { outOfOrder: seen.outOfOrder }),
  };
}

/**
 * Does one run with the most threads and a capacitor that logs the threads inside. The log is only drawn in a figure.
 */
export async function trace(options: Options, { store, progress, stop }: Course): Promise<void> {
  const { results } = store;
  if (stop.aborted || results.trace !== undefined) return;
  const { benchmark, warmUp } = options;
  const threads = options.threads.at(-1) as number;
  const host = new Host();
  progress('trace', counted(threads), 1, 1);
  try {
    const order = {
      benchmark: benchmark.name,
      row: TRACE_ROW.name,
      loop: 'measure',
      threads,
      warmUp,
    } as const;
    const { trace: found } = await host.run({ ...order, seconds: Math.min(options.seconds, 0.2) });
    if (found) store.addTrace({ ...found, lock: TRACED, bypass: BYPASS, threads });
  } catch (error) {
    results.skipped.push({ row: TRACE_ROW.name, at: 'trace', why: (error as Error).message });
  } finally {
    host.close();
  }
}

export async function pairs(options: Options, native: NativeBinary, course: Course): Promise<void> {
  const { benchmark, runs } = options;
  const seconds = Math.min(options.seconds / 2, 0.5);
  const script = (row: string) => scriptTiming(benchmark.name, 'pair', row, seconds);
  const binary = 'binary' in native ? native.binary : undefined;
  const timed: { row: string; time: () => Promise<number> }[] = options.rows.flatMap((row) => {
    if (row.only !== undefined || row.apart) return [];
    if (row.kind === 'script') return { row: row.name, time: () => script(row.name) };
    return binary ? { row: row.name, time: () => nativePair(binary, row.algorithm, seconds) } : [];
  });
  for (const row of [FLOOR, CALLS_FLOOR]) timed.push({ row, time: () => script(row) });
  if (binary) timed.push({ row: NATIVE_FLOOR, time: () => nativePair(binary, NATIVE_FLOOR_ALGORITHM, seconds) });
  await inTurn(runs, timed, 'pairs', course, 'pairs');
}

export async function asyncs(options: Options, course: Course): Promise<void> {
  const { benchmark } = options;
  const seconds = Math.min(options.seconds / 2, 0.5);
  for (const shape of ['uncontended', 'queued'] as const) {
    const timed = benchmark.asyncRows.map(({ name }) => ({
      row: name,
      time: () => scriptTiming(benchmark.name, shape, name, seconds),
    }));
    await inTurn(options.runs, timed, `promises, ${shape}`, course, 'asyncs', shape);
  }
}

/** Times release(64), and 64 times release(), of the rows that have both. */
export async function releases(options: Options, course: Course): Promise<void> {
  const { benchmark } = options;
  const seconds = Math.min(options.seconds / 2, 0.5);
  for (const shape of ['one step', 'loop'] as const) {
    const timed = options.rows
      .filter((row) => row.kind === 'script' && row.releasesMany)
      .map(({ name }) => ({ row: name, time: () => scriptTiming(benchmark.name, shape, name, seconds) }));
    await inTurn(options.runs, timed, `release of 64, ${shape}`, course, 'releases', shape);
  }
}

async function inTurn(
  rounds: number,
  timed: { row: string; time: () => Promise<number> }[],
  table: string,
  { store, progress, stop }: Course,
  list: 'pairs' | 'asyncs' | 'releases',
  shape?: string,
): Promise<void> {
  const broken = new Set<string>();
  let count = 0;
  for (let round = 1; round <= rounds; round++) {
    for (const { row, time } of timed) {
      count++;
      const key = { row, round, ...(shape && { shape }) };
      if (broken.has(row) || stop.aborted || store.has(list, key)) continue;
      progress(table, row, count, rounds * timed.length);
      try {
        store.add(list, { ...key, nanoseconds: await time() } as Lists[typeof list]);
      } catch (error) {
        if (stop.aborted) return;
        broken.add(row);
        store.results.skipped.push({ row, at: table, why: (error as Error).message });
      }
    }
  }
}

async function scriptTiming(benchmark: string, shape: string, row: string, seconds: number): Promise<number> {
  const args = [TIMER, benchmark, shape, row, String(seconds)];
  return (await runJson<{ nanoseconds: number }>(process.execPath, args, 60_000)).nanoseconds;
}
