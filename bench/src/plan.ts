// Runs the benchmark. Within a round each row has its turn before any has its next, so that drift of the machine
// (its clock, its other users) hits all alike.

import { fileURLToPath } from 'node:url';
import { type NativeBinary, type NativeRun, nativePair, nativeSemabench } from './native.js';
import type { Options } from './options.js';
import { runJson } from './program.js';
import { counted, type ReleaseTiming, type Results } from './results.js';
import { ASYNC_ROWS, FLOOR, NATIVE_FLOOR, type Row } from './rows/rows.js';
import { Host } from './semabench/client.js';

const TIMER = fileURLToPath(new URL('./pairs/timer.js', import.meta.url));

/** The binary's name for its own loop of two locked instructions. */
const NATIVE_FLOOR_ALGORITHM = 'two-locked-instructions';

/** Told what runs next. */
export type Progress = (table: string, what: string, run: number, runs: number) => void;

export async function semabench(
  options: Options,
  native: NativeBinary,
  results: Results,
  progress: Progress,
): Promise<void> {
  const { threads, seconds, runs } = options;
  const rows = options.rows.filter((row) => row.kind === 'script' || 'binary' in native);
  const probeSeconds = options.quick ? seconds / 2 : seconds;
  const all = rows.length * threads.length * (runs + 1);
  const broken = new Set<string>();
  let kept: Host | undefined;
  let count = 0;

  // One host for all runs where time is short, else one for each run.
  const host = (): Host => {
    kept ??= new Host();
    return kept;
  };
  const closeHost = (): void => {
    kept?.close();
    kept = undefined;
  };
  const measure = (row: Row, of: number, probe: boolean): Promise<NativeRun & { admissions?: number }> =>
    row.kind === 'script'
      ? host().run({
          row: row.name,
          loop: probe ? 'probe' : 'measure',
          threads: of,
          seconds: probe ? probeSeconds : seconds,
          warmUp: options.warmUp,
        })
      : nativeSemabench(
          (native as { binary: string }).binary,
          row.algorithm,
          of,
          probe ? probeSeconds : seconds,
          probe,
        );

  try {
    for (let round = 1; round <= runs; round++) {
      for (const of of threads) {
        for (const row of rows) {
          if (broken.has(row.name)) continue;
          const step = (): void => progress('semabench', `${row.name}, ${counted(of)}`, ++count, all);
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
            });
            if (round === 1) {
              step();
              const seen = await measure(row, of, true);
              results.probes.push({
                row: row.name,
                threads: of,
                longestWaitMs: seen.longestWaitMs ?? Number.NaN,
                largestBypass: seen.largestBypass ?? Number.NaN,
                ...(seen.admissions === undefined ? {} : { admissions: seen.admissions }),
                ...(seen.outOfOrder === undefined ? {} : { outOfOrder: seen.outOfOrder }),
              });
            }
            if (!options.quick) closeHost();
          } catch (error) {
            // What it did not do now it would not do next time either, and waiting for it costs minutes.
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

export async function pairs(
  options: Options,
  native: NativeBinary,
  results: Results,
  progress: Progress,
): Promise<void> {
  const seconds = Math.min(options.seconds / 2, 0.5);
  const binary = 'binary' in native ? native.binary : undefined;
  const timed: { row: string; time: () => Promise<number> }[] = options.rows.flatMap((row) => {
    if (row.kind === 'script') return { row: row.name, time: () => scriptTiming('pair', row.name, seconds) };
    return binary ? { row: row.name, time: () => nativePair(binary, row.algorithm, seconds) } : [];
  });
  timed.push({ row: FLOOR, time: () => scriptTiming('pair', FLOOR, seconds) });
  if (binary)
    timed.push({ row: NATIVE_FLOOR, time: () => nativePair(binary, NATIVE_FLOOR_ALGORITHM, seconds) });
  await inTurn(options.runs, timed, results, 'pairs', progress, (row, round, nanoseconds) =>
    results.pairs.push({ row, round, nanoseconds }),
  );
}

export async function asyncs(options: Options, results: Results, progress: Progress): Promise<void> {
  const seconds = Math.min(options.seconds / 2, 0.5);
  for (const shape of ['uncontended', 'queued'] as const) {
    const timed = ASYNC_ROWS.map(({ name }) => ({
      row: name,
      time: () => scriptTiming(shape, name, seconds),
    }));
    await inTurn(options.runs, timed, results, `promises, ${shape}`, progress, (row, round, nanoseconds) =>
      results.asyncs.push({ row, shape, round, nanoseconds }),
    );
  }
}

/** release(64) and 64 times release(), of the rows that have both. */
export async function releases(options: Options, results: Results, progress: Progress): Promise<void> {
  const seconds = Math.min(options.seconds / 2, 0.5);
  const found: ReleaseTiming[] = [];
  results.releases = found;
  for (const shape of ['one step', 'loop'] as const) {
    const timed = options.rows
      .filter(({ family }) => family === 'taketurns')
      .map(({ name }) => ({ row: name, time: () => scriptTiming(shape, name, seconds) }));
    await inTurn(
      options.runs,
      timed,
      results,
      `release of 64, ${shape}`,
      progress,
      (row, round, nanoseconds) => found.push({ row, shape, round, nanoseconds }),
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

async function scriptTiming(shape: string, row: string, seconds: number): Promise<number> {
  const args = [TIMER, shape, row, String(seconds)];
  return (await runJson<{ nanoseconds: number }>(process.execPath, args, 60_000)).nanoseconds;
}
