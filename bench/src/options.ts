// Reads the options of the command line. Each reader returns a value or throws an InvalidArgumentError. commander adds
// the name of the option and the given text to this error.

import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import type { Benchmark, Work } from './benchmarks.js';
import type { Row } from './rows/row.js';
import { MOST_THREADS } from './workers/board.js';

export const LEAST_SECONDS = 0.05;
export const MOST_SECONDS = 600;
export const MOST_RUNS = 1000;
export const MOST_BYPASS = 1_000_000;
export const MOST_STEPS = 100_000;
export const MOST_TRIALS = 1_000_000;
export const MOST_MICROSECONDS = 10_000_000;

export interface Options {
  benchmark: Benchmark;
  threads: number[];
  seconds: number;
  /** For how many milliseconds the loop runs before the interval, for each thread that is new to the row. */
  warmUp: number;
  /** The length of the intervals that take clocks and stamps. */
  probeSeconds: number;
  runs: number;
  /** How many rounds also have an interval with clocks and stamps. These are the first rounds. */
  probes: number;
  rows: Row[];
  /** The work, if it is not the default work of the benchmark. */
  work?: Work;
  native: boolean;
  /** Whether to measure contention, and whether to measure the tables on one thread. */
  contention: boolean;
  pairs: boolean;
  quick: boolean;
  /** Whether to print the goals as well. */
  targets: boolean;
  json: string;
  svg: string;
  /** The file of the record, if there is one. */
  record?: string;
}

function readNumber(text: string, least: number, most: number, whole: boolean): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (value >= least && value <= most && (!whole || Number.isInteger(value))) return value;
  throw new InvalidArgumentError(`Allowed: ${whole ? 'a whole number' : 'a number'} from ${least} to ${most}.`);
}

export const readSeconds = (text: string): number => readNumber(text, LEAST_SECONDS, MOST_SECONDS, false);

export const readWarmUp = (text: string): number => readNumber(text, 0, 10_000, true);

export const readRuns = (text: string): number => readNumber(text, 1, MOST_RUNS, true);

export const readInside = (text: string): number => readNumber(text, 1, MOST_STEPS, true);

export const readOutside = (text: string): number => readNumber(text, 0, MOST_STEPS, true);

/** Reads whole numbers from 1, separated by commas; returns each once, in ascending order. */
function readNumbers(text: string, most: number): number[] {
  try {
    const numbers = text.split(',').map((part) => readNumber(part, 1, most, true));
    return [...new Set(numbers)].sort((a, b) => a - b);
  } catch {
    throw new InvalidArgumentError(`Allowed: whole numbers from 1 to ${most}, separated by commas.`);
  }
}

export const readThreads = (text: string): number[] => readNumbers(text, MOST_THREADS);

export const readLimits = (text: string): number[] => readNumbers(text, MOST_BYPASS);

export const readTrials = (text: string): number => readNumber(text, 1, MOST_TRIALS, true);

export const readMicroseconds = (text: string): number[] => readNumbers(text, MOST_MICROSECONDS);

export const readMilliseconds = (text: string): number[] => readNumbers(text, MOST_MICROSECONDS / 1000);

interface Named {
  readonly name: string;
}

/**
 * Reads names of rows, separated by commas. In a name, `*` stands for any text. Returns each row once, in the order in
 * which the rows are declared.
 */
export function readRows<R extends Named>(all: readonly R[], text: string): R[] {
  const patterns = text.split(',').map((part) => part.trim());
  const matches = (pattern: string): ((row: Named) => boolean) => {
    const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
    const whole = new RegExp(`^${parts.join('.*')}$`);
    return ({ name }) => whole.test(name);
  };
  const unknown = patterns.find((pattern) => !all.some(matches(pattern)));
  if (unknown !== undefined) {
    const allowed = all.map((row) => row.name).join(', ');
    throw new InvalidArgumentError(
      `No row is called '${unknown}'. Allowed: ${allowed}; and patterns of them with * for any text.`,
    );
  }
  return all.filter((row) => patterns.some((pattern) => matches(pattern)(row)));
}

/** Reads the path of a file, and checks before the benchmark runs that the file can be written. */
export function readFile(text: string): string {
  const path = resolve(text);
  const folder = dirname(path);
  if (text.trim() === '' || (existsSync(path) && !statSync(path).isFile())) {
    throw new InvalidArgumentError('Allowed: the path of a file.');
  }
  try {
    accessSync(existsSync(path) ? path : folder, constants.W_OK);
  } catch {
    throw new InvalidArgumentError(`Allowed: a file in a folder that exists and may be written; ${folder} is not one.`);
  }
  return path;
}
