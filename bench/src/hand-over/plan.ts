// Runs the hand-over benchmark. In each round every row runs once, as in all benchmarks.

import { fileURLToPath } from 'node:url';
import { type NativeBinary, nativeHandOver } from '../native.js';
import { runJson } from '../program.js';
import type { Row } from '../rows/row.js';
import type { SectionOrder } from './program.js';
import type { HandOverResults } from './results.js';
import type { Section, Trials } from './trials.js';

const PROGRAM = fileURLToPath(new URL('./program.js', import.meta.url));
const PATIENCE_MS = 60_000;

export interface HandOverPlan {
  rows: readonly Row[];
  sections: readonly Section[];
  trials: number;
  runs: number;
}

/** Sections longer than this, in microseconds, have fewer trials. So all their trials together take no longer. */
const LONGEST_IN_FULL = 500;
const FEWEST = 5;

export function trialsFor({ microseconds }: Section, trials: number): number {
  return Math.max(FEWEST, Math.min(trials, Math.floor((trials * LONGEST_IN_FULL) / microseconds)));
}

export async function handOvers(
  { rows, sections, trials, runs }: HandOverPlan,
  native: NativeBinary,
  results: HandOverResults,
  progress: (what: string, run: number, runs: number) => void,
): Promise<void> {
  const orders: SectionOrder[] = sections.map((section) => ({
    ...section,
    trials: trialsFor(section, trials),
  }));
  const holding = orders.reduce((sum, order) => sum + order.trials * (order.microseconds / 1000), 0);
  const patience = Math.ceil(PATIENCE_MS + 4 * holding);
  const measure = (row: Row): Promise<Trials[]> =>
    row.kind === 'script'
      ? runJson<Trials[]>(process.execPath, [PROGRAM, row.name, JSON.stringify(orders)], patience)
      : inTurn(orders, (order) =>
          nativeHandOver((native as { binary: string }).binary, row.algorithm, order, patience),
        );
  const measurable = rows.filter(({ kind }) => kind === 'script' || 'binary' in native);
  const broken = new Set<string>();
  let count = 0;
  for (let round = 1; round <= runs; round++) {
    for (const row of measurable) {
      if (broken.has(row.name)) continue;
      progress(row.name, ++count, runs * measurable.length);
      try {
        const found = await measure(row);
        sections.forEach(({ by, microseconds }, index) => {
          results.runs.push({ row: row.name, round, by, microseconds, ...(found[index] as Trials) });
        });
      } catch (error) {
        broken.add(row.name);
        results.skipped.push({ row: row.name, at: `run ${round}`, why: (error as Error).message });
      }
    }
  }
}

async function inTurn<T, R>(all: readonly T[], act: (one: T) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  for (const one of all) done.push(await act(one));
  return done;
}
