// The results of the hand-over benchmark, in the shape of its JSON file, which keeps every trial.

import type { Skipped } from '../results.js';
import type { Family } from '../rows/row.js';
import type { Section, Trials } from './trials.js';

/** The trials of one section in one run. */
export interface SectionRun extends Section, Trials {
  row: string;
  round: number;
}

export interface HandOverResults {
  benchmark: 'hand-over';
  environment: Record<string, string | number>;
  options: Record<string, unknown>;
  rows: { name: string; family: Family }[];
  runs: SectionRun[];
  skipped: Skipped[];
}

/** Returns all trials of a row in such a section, of every run. */
export function trialsOf({ runs }: HandOverResults, row: string, { by, microseconds }: Section): Trials {
  const found = runs.filter((run) => run.row === row && run.by === by && run.microseconds === microseconds);
  return {
    latencies: found.flatMap(({ latencies }) => latencies),
    cpu: found.flatMap(({ cpu = [] }) => cpu),
    late: found.reduce((sum, { late }) => sum + late, 0),
  };
}

/** Returns the measured sections, each once. */
export function sectionsOf({ runs }: HandOverResults): Section[] {
  const keys = new Set(runs.map(({ by, microseconds }) => `${by} ${microseconds}`));
  return [...keys].map((key) => {
    const [by, microseconds] = key.split(' ') as [Section['by'], string];
    return { by, microseconds: Number(microseconds) };
  });
}

/** Formats the length of a section: `20 µs`, `1 ms`. */
export function lengthOf({ microseconds }: Section): string {
  return microseconds < 1000 ? `${microseconds} µs` : `${microseconds / 1000} ms`;
}
