// Runs the benchmark. In each round every row runs once, so that drift of the machine (its clock, its other users)
// affects all rows alike.

import { fileURLToPath } from 'node:url';
import { type NativeBinary, type NativeRun, nativeContention, nativePair } from './native.js';
import type { Options } from './options.js';
import { runJson } from './program.js';
import { counted, type ReleaseTiming, type Results } from './results.js';
import { BYPASS, TRACE_ROW, TRACED } from './rows/locks.js';
import { CALLS_FLOOR, FLOOR, measuredAt, NATIVE_FLOOR, type Row, type Wakes } from './rows/row.js';
import { Host } from './workers/client.js';

const TIMER = fileURLToPath(new URL('./pairs/timer.js', import.meta.url));

/** The name in the binary of its loop of two locked instructions. */
const NATIVE_FLOOR_ALGORITHM = 'two-locked-instructions';

/** Reports the next run. */
export type Progress = (table: string, what: string, run: number, runs: number) => void;

/** Measures contention: every row at every thread count. */
export async function contention(
  options: Options,
  native: NativeBinary,
  results: Results,
  progress: Progress,
): Promise<void> {
  const { benchmark, threads, seconds, runs, work } = options;
  const { workload } = benchmark;
  const rows = options.rows.filter((row) => row.kind === 'script' || 'binary' in native);
  const probeSeconds = options.quick ? seconds / 2 : seconds;
  const at = (of: number): Row[] => rows.filter(({ only }) => measuredAt(only, of, threads.at(-1)));
  const probed = (row: Row): boolean => !benchmark.crowdsOnly && !row.apart;
  const all = threads.flatMap(at).reduce((sum, row) => sum + runs + (probed(row) ? 1 : 0), 0);
  const broken = new Set<string>();
  let kept: Host | undefined;
  let count = 0;

  // In the short form one host does all runs; otherwise each run has its own.
  const host = (): Host => {
    kept ??= new Host();
    return kept;
  };
  const closeHost = (): void => {
    kept?.close();
    kept = undefined;
  };
  const measure = (
    row: Row,
    of: number,
    probe: boolean,
  ): Promise<NativeRun & { admissions?: number; wakes?: Wakes }> =>
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
          row.algorithm,
          of,
          probe ? probeSeconds : seconds,
          probe,
          work,
        );

  try {
    for (let round = 1; round <= runs; round++) {
      for (const of of threads) {
        for (const row of at(of)) {
          if (broken.has(row.name)) continue;
          const step = (): void => progress(workload, `${row.name}, ${counted(of)}`, ++count, all);
          try {
            step();
            const run = await measure(row, of, false);
            const { iterations, cpuSeconds } = run;
            results.runs.push({
              row: row.name,
              threads: of,
              round,
              seconds: run.seconds,
              cpuSeconds,
              iterations,
              parts: run.parts,
              ...(run.wakes && { wakes: run.wakes }),
            });
            if (round === 1 && probed(row)) {
              step();
              const seen = await measure(row, of, true);
              results.probes.push({
                row: row.name,
                threads: of,
                longestWaitMs: seen.longestWaitMs ?? Number.NaN,
                largestBypass: seen.largestBypass ?? Number.NaN,
                bypasses: seen.bypasses ?? [],
                ...(seen.admissions === undefined ? {} : { admissions: seen.admissions }),
                ...(seen.outOfOrder === undefined ? {} : { outOfOrder: seen.outOfOrder }),
              });
            }
            if (!options.quick) closeHost();
          } catch (error) {
            // A row that failed once would fail again, and waiting for it costs minutes.
            broken.add(row.name);
            results.skipped.push({
              row: row.name,
              at: `${counted(of)}, run ${round}`,
              why: (error as Error).message,
            });
            closeHost();
          }
        }
      }
    }
  } finally {
    closeHost();
  }
}

/** Does one run with the most threads and a capacitor that logs the threads inside; it is drawn, not counted. */
export async function trace(options: Options, results: Results, progress: Progress): Promise<void> {
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
    if (found) results.trace = { ...found, lock: TRACED, bypass: BYPASS, threads };
  } catch (error) {
    results.skipped.push({ row: TRACE_ROW.name, at: 'trace', why: (error as Error).message });
  } finally {
    host.close();
  }
}

export async function pairs(
  options: Options,
  native: NativeBinary,
  results: Results,
  progress: Progress,
): Promise<void> {
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
  await inTurn(runs, timed, results, 'pairs', progress, (row, round, nanoseconds) =>
    results.pairs.push({ row, round, nanoseconds }),
  );
}

export async function asyncs(options: Options, results: Results, progress: Progress): Promise<void> {
  const { benchmark } = options;
  const seconds = Math.min(options.seconds / 2, 0.5);
  for (const shape of ['uncontended', 'queued'] as const) {
    const timed = benchmark.asyncRows.map(({ name }) => ({
      row: name,
      time: () => scriptTiming(benchmark.name, shape, name, seconds),
    }));
    await inTurn(options.runs, timed, results, `promises, ${shape}`, progress, (row, round, nanoseconds) =>
      results.asyncs.push({ row, shape, round, nanoseconds }),
    );
  }
}

/** Times release(64), and 64 times release(), of the rows that have both. */
export async function releases(options: Options, results: Results, progress: Progress): Promise<void> {
  const { benchmark } = options;
  const seconds = Math.min(options.seconds / 2, 0.5);
  const found: ReleaseTiming[] = [];
  results.releases = found;
  for (const shape of ['one step', 'loop'] as const) {
    const timed = options.rows

      .filter((row) => row.kind === 'script' && row.releasesMany)
      .map(({ name }) => ({ row: name, time: () => scriptTiming(benchmark.name, shape, name, seconds) }));
    await inTurn(options.runs, timed, results, `release of 64, ${shape}`, progress, (row, round, nanoseconds) =>
      found.push({ row, shape, round, nanoseconds }),
    );
  }
}

async function inTurn(
  rounds: number,
  timed: { row: string; time: () => Promise<number> }[],
  results: Results,
  table: string,
  progress: Progress,
  found: (row: string, round: number, nanoseconds: number) => void,
): Promise<void> {
  const broken = new Set<string>();
  let count = 0;
  for (let round = 1; round <= rounds; round++) {
    for (const { row, time } of timed) {
      if (broken.has(row)) continue;
      progress(table, row, ++count, rounds * timed.length);
      try {
        found(row, round, await time());
      } catch (error) {
        broken.add(row);
        results.skipped.push({ row, at: table, why: (error as Error).message });
      }
    }
  }
}

async function scriptTiming(benchmark: string, shape: string, row: string, seconds: number): Promise<number> {
  const args = [TIMER, benchmark, shape, row, String(seconds)];
  return (await runJson<{ nanoseconds: number }>(process.execPath, args, 60_000)).nanoseconds;
}
