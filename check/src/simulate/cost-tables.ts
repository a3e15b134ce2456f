/** Prints the counted costs as tables: by processors, and by word. */
import Table from 'cli-table3';
import type { Counted } from './simulation.js';

/** Costs with fewer processors than this are not compared: there may be no waiter then, or only the head. */
export const CROWD = 4;

/** Returns by how much the highest cost exceeds the lowest, from CROWD processors on: 0.2 is 20 % more. */
export function spread(counted: readonly Counted[]): number {
  const misses = counted.filter(({ configuration }) => configuration.processors >= CROWD).map((one) => one.misses);
  // If no data passes from one processor to another, there are no misses at all.
  return Math.max(...misses) === 0 ? 0 : Math.max(...misses) / Math.min(...misses) - 1;
}

/** The costs of one semaphore or lock under one schedule, by rising number of processors. */
export interface Row {
  readonly name: string;
  readonly schedule: string;
  readonly counted: readonly Counted[];
}

export function rows(counted: readonly Counted[]): Row[] {
  const names = new Set(counted.map(({ configuration }) => configuration.contender));
  return [...names].flatMap((name) =>
    (['round robin', 'random'] as const).map((schedule) => ({
      name,
      schedule,
      counted: counted
        .filter(({ configuration: c }) => c.contender === name && c.schedule === schedule)
        .sort((a, b) => a.configuration.processors - b.configuration.processors),
    })),
  );
}

export function table(counted: readonly Counted[], costs: 'misses' | 'upgrades'): string {
  const all = rows(counted);
  const processors = all[0]?.counted.map(({ configuration }) => String(configuration.processors)) ?? [];
  const text = new Table({
    head: [`${costs} per hand-over`, 'schedule', ...processors, ...(costs === 'misses' ? ['spread'] : [])],
    style: { head: [], border: [], compact: true },
    colAligns: ['left', 'left', ...processors.map(() => 'right' as const), 'right'],
  });
  for (const { name, schedule, counted: row } of all) {
    const cells = row.map((one) => one[costs].toFixed(2));
    if (costs === 'misses') cells.push(`${(100 * spread(row)).toFixed(0)} %`);
    text.push([name, schedule, ...cells]);
  }
  return text.toString();
}

/** Prints on which words the misses and upgrades of one configuration are. */
export function wordTable({ configuration, words }: Counted): string {
  const { contender, processors, schedule } = configuration;
  const text = new Table({
    head: [`${contender}, ${processors} processors, ${schedule}`, 'misses', 'upgrades'],
    style: { head: [], border: [], compact: true },
    colAligns: ['left', 'right', 'right'],
  });
  for (const [name, { misses, upgrades }] of words) text.push([name, misses.toFixed(2), upgrades.toFixed(2)]);
  return text.toString();
}
