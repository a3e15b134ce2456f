// Formats the tables of the hand-over benchmark.

import { duration, fixed, makeTable, ratio, skippedLines, targetTable } from '../report/tables.js';
import { median, quantile } from '../statistics.js';
import { type HandOverResults, lengthOf, sectionsOf, trialsOf } from './results.js';
import { BARE, NATIVE_BARE } from './rows.js';
import { handOverTargets } from './targets.js';
import type { Section } from './trials.js';

const SPREAD = ['median', '10 %', '90 %', 'least', 'most'];

export function handOverTables(results: HandOverResults): string {
  return [
    ...sectionsOf(results).flatMap((section) =>
      section.by === 'computing' ? latencyTable(results, section) : cpuTable(results, section),
    ),
    ...targetTable('to reach', handOverTargets(results), fixed),
    ...skippedLines(results),
  ].join('\n\n');
}

function spreadOf(values: readonly number[]): string[] {
  return [median(values), ...[0.1, 0.9, 0, 1].map((share) => quantile(values, share))].map(duration);
}

function latencyTable(results: HandOverResults, section: Section): string[] {
  const table = makeTable(['row', ...SPREAD, '/ bare', 'trials', 'too late']);
  for (const { name, family } of results.rows) {
    const { latencies, late } = trialsOf(results, name, section);
    if (latencies.length + late === 0) continue;
    const bare = trialsOf(results, family === 'native' ? NATIVE_BARE : BARE, section);
    const over = median(latencies) / median(bare.latencies);
    table.push([name, ...spreadOf(latencies), ratio(over), latencies.length, late]);
  }
  const heading = `from unlock to lock after ${lengthOf(section)} of computing, microseconds`;
  return table.length > 0 ? [`${heading}\n${table.toString()}`] : [];
}

function cpuTable(results: HandOverResults, section: Section): string[] {
  const table = makeTable(['row', ...SPREAD, 'beyond\nbare', 'waits']);
  for (const { name, family } of results.rows) {
    const { cpu = [] } = trialsOf(results, name, section);
    if (cpu.length === 0) continue;
    const bare = trialsOf(results, family === 'native' ? NATIVE_BARE : BARE, section);
    table.push([name, ...spreadOf(cpu), duration(median(cpu) - median(bare.cpu ?? [])), cpu.length]);
  }
  const heading = `processor time of a waiter while the holder sleeps ${lengthOf(section)}, microseconds a wait`;
  return table.length > 0 ? [`${heading}\n${table.toString()}`] : [];
}
