// The native rows: builds their binary with any C++ compiler that it finds, and runs it.

import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Benchmark, Work } from './benchmarks.js';
import type { ChannelsFigures } from './channels/results.js';
import { BUSY_THREADS, type ChannelsRow, LOADED } from './channels/rows.js';
import type { SectionOrder } from './hand-over/program.js';
import type { Trials } from './hand-over/trials.js';
import { firstLine, runJson } from './program.js';
import type { Parts } from './results.js';
import type { NativeRow } from './rows/row.js';

const SOURCES = fileURLToPath(new URL('../native/', import.meta.url));
const BUILD = fileURLToPath(new URL('../build/', import.meta.url));

/**
 * The folder of a clone of P0514's reference implementation, https://github.com/ogiroux/semaphore, if the variable names
 * one. Its licence (two clauses, BSD) lets anybody build it. None of its code is part of this project.
 */
const REFERENCE = process.env.P0514_REFERENCE;
const BINARY = `${BUILD}native-bench${REFERENCE === undefined ? '' : '-with-reference'}`;

/**
 * Returns the flags of the compiler for a processor. On ARM a compiler calls functions that choose the atomic
 * instructions when the program runs, unless it may use those of this processor. The paper on capacitors has them in
 * line, too.
 */
export const flagsFor = (arch: string): string[] => [
  '-std=c++20',
  '-O3',
  '-pthread',
  ...(arch === 'arm64' ? ['-mcpu=native'] : []),
];
const FLAGS = flagsFor(process.arch);

export interface NativeRun {
  seconds: number;
  iterations: number[];
  parts: Parts;
  cpuSeconds: number;
  /** Of the process, in the interval; only native rows count them. */
  contextSwitches?: number;
  longestWaitMs?: number;
  largestBypass?: number;
  bypasses?: number[];
  outOfOrder?: number;
}

/** The binary, or the reason why there is none. */
export type NativeBinary = { binary: string; compiler: string } | { missing: string };

/** A source file, and the flags that it takes besides the usual ones. */
type Unit = readonly [file: string, flags: readonly string[]];

/**
 * Returns the files to compile. The reference implementation is C++14, and its header `semaphore` would take the place of
 * the standard one if its folder were searched. So only its own file searches the folder.
 */
export function unitsOf(sources: readonly string[], reference: string | undefined): Unit[] {
  const units = sources.filter((file) => file.endsWith('.cpp'));
  if (reference === undefined) return units.map((file) => [file, []]);
  const header = `-DTAKETURNS_P0514_REFERENCE="${reference}/include/semaphore"`;
  const own: Unit = [`${reference}/lib/semaphore.cpp`, ['-std=c++14', `-I${reference}/include`]];
  return [...units.map((file): Unit => [file, [header]]), own];
}

/** Builds the binary, unless it is newer than all of its sources. The source files are compiled in parallel. */
export async function buildNative(): Promise<NativeBinary> {
  const sources = existsSync(SOURCES)
    ? readdirSync(SOURCES)
        .filter((file) => /\.(cpp|hpp|h)$/.test(file))
        .map((file) => SOURCES + file)
    : [];
  const units = unitsOf(sources, REFERENCE && resolve(REFERENCE));
  if (sources.length === 0) return { missing: 'bench/native holds no C++ sources' };

  const compilers = [process.env.CXX, 'c++', 'g++', 'clang++'].filter((name) => name !== undefined && name !== '');
  for (const compiler of compilers as string[]) {
    const version = spawnSync(compiler, ['--version'], { encoding: 'utf8' });
    if (version.status !== 0) continue;
    const found = { binary: BINARY, compiler: firstLine(version.stdout) };
    const fresh = existsSync(BINARY) && sources.every((file) => statSync(file).mtimeMs < statSync(BINARY).mtimeMs);
    if (fresh) return found;
    mkdirSync(BUILD, { recursive: true });
    // Two processes may build at the same time. Each works in its own folder, and the binary that is finished last
    // stays.
    const folder = mkdtempSync(`${BUILD}native-`);
    const run = promisify(execFile);
    try {
      const objects = await Promise.all(
        units.map(async ([unit, flags]) => {
          const object = join(folder, `${basename(unit)}.o`);
          await run(compiler, [...FLAGS, ...flags, '-c', unit, '-o', object]);
          return object;
        }),
      );
      const linked = join(folder, basename(BINARY));
      await run(compiler, [...FLAGS, ...objects, '-o', linked]);
      renameSync(linked, BINARY);
      return found;
    } catch (error) {
      const why = (error as { stderr?: string }).stderr || String(error);
      return { missing: `${compiler} could not build bench/native: ${firstLine(why)}` };
    } finally {
      rmSync(folder, { recursive: true });
    }
  }
  return { missing: `no C++ compiler found (tried ${compilers.join(', ')}; CXX names another)` };
}

export function nativeContention(
  binary: string,
  workload: Benchmark['workload'],
  { algorithm, knobs }: Pick<NativeRow, 'algorithm' | 'knobs'>,
  threads: number,
  seconds: number,
  probe: boolean,
  work?: Work,
  stop?: AbortSignal,
): Promise<NativeRun> {
  const args = [workload, algorithm, '--threads', String(threads), '--seconds', String(seconds), ...knobs];
  if (work !== undefined) args.push('--inside', String(work.inside), '--outside', String(work.outside));
  return runJson(binary, probe ? [...args, '--probe'] : args, 60_000 + seconds * 2000, stop);
}

/**
 * Lets threads take turns with so many permits. Returns how many were inside at most.
 * @throws {Error} if these were more than there are permits.
 */
export async function nativePermits(
  binary: string,
  { algorithm, knobs }: Pick<NativeRow, 'algorithm' | 'knobs'>,
  permits: number,
  threads: number,
  trips: number,
): Promise<number> {
  const numbers = ['--permits', `${permits}`, '--threads', `${threads}`, '--trips', `${trips}`];
  return (await runJson<{ mostInside: number }>(binary, ['permits', algorithm, ...numbers, ...knobs], 60_000))
    .mostInside;
}

export async function nativePair(binary: string, algorithm: string, seconds: number): Promise<number> {
  const args = ['pair', algorithm, '--seconds', String(seconds)];
  return (await runJson<{ nanosecondsPerPair: number }>(binary, args, 60_000)).nanosecondsPerPair;
}

export async function nativeHandOver(
  binary: string,
  algorithm: string,
  { by, microseconds, trials }: SectionOrder,
  timeoutMs: number,
): Promise<Trials> {
  const args = ['hand-over', algorithm, `--${by}`, String(microseconds), '--trials', String(trials)];
  const { latencies, cpu, late } = await runJson<Required<Trials>>(binary, args, timeoutMs);
  return { latencies, ...(by === 'sleeping' && { cpu }), late };
}

export function nativeChannels(
  binary: string,
  { name, measure }: ChannelsRow,
  shape: string,
  seconds: number,
  busy: number,
  timeoutMs: number,
): Promise<ChannelsFigures> {
  const args = ['channels', name.replace(/:.*/, '')];
  if (measure === 'trip') {
    const threads = shape === LOADED[1] ? BUSY_THREADS : busy;
    return runJson(binary, [...args, '--trips', '3000', '--busy', String(threads)], timeoutMs);
  }
  const [senders = '1', receivers = '1'] = shape.split(':');
  const sides = ['--senders', senders, '--receivers', receivers, '--seconds', String(seconds)];
  return runJson(binary, [...args, ...sides, '--busy', String(busy)], timeoutMs);
}
