// The command `taketurns bench draw`: makes the tables and figures of a kept record, and measures nothing.

import { writeFileSync } from 'node:fs';
import { basename, relative } from 'node:path';
import type { Command } from 'commander';
import { BENCHMARKS, type Benchmark, rowsOf } from './benchmarks.js';
import { readFile } from './options.js';
import { RecordError, Store } from './record.js';
import { figures } from './report/figures.js';
import { tables } from './report/tables.js';

export function addDraw(bench: Command): void {
  const command = bench
    .command('draw')
    .description('prints the tables and draws the figures of a kept record, of any machine and any build')
    .argument('<record>', 'the record: a file of JSON lines, or such a file compressed by gzip')
    .option('--json <file>', 'write everything that the record has here (default: nowhere)', readFile)
    .option('--svg <file>', 'draw the figure here (default: the name of the record, with .svg)', readFile)
    .action(
      async (
        record: string,
        { json, svg = basename(record).replace(/\.jsonl(\.gz)?$/, '.svg') }: { json?: string; svg?: string },
      ) => {
        try {
          const { results } = Store.read(record, (name, names) => {
            const benchmark = BENCHMARKS[name as Benchmark['name']] as Benchmark | undefined;
            if (benchmark === undefined) return undefined;
            const listed = rowsOf(benchmark);
            const others = names.filter((row) => listed.every((one) => one.name !== row));
            return [...listed, ...others.flatMap((row) => benchmark.unlisted?.(row) ?? [])];
          });
          console.log(tables(results, false));
          if (json !== undefined) writeFileSync(json, `${JSON.stringify(results)}\n`);
          for (const [suffix, drawn] of await figures(results)) {
            const file = svg.replace(/(\.svg)?$/, `${suffix}$1`);
            writeFileSync(file, drawn);
            console.log(`figure:              ${relative('.', file)}`);
          }
        } catch (error) {
          if (!(error instanceof RecordError)) throw error;
          command.error(`error: argument 'record': ${error.message}`);
        }
      },
    );
}
