// The command `taketurns bench channels`. In each round every row runs once in each of its shapes, in a process of its own.

import { mkdirSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Command, InvalidArgumentError } from 'commander';
import { environment } from '../environment.js';
import { buildNative, type NativeBinary, nativeChannels } from '../native.js';
import { LEAST_SECONDS, MOST_SECONDS, readFile, readRows, readRuns, readSeconds } from '../options.js';
import { listRows, note, RESULTS } from '../output.js';
import { runJson } from '../program.js';
import { channelsTables } from './report.js';
import type { ChannelsFigures, ChannelsResults } from './results.js';
import { CHANNELS_ROWS, type ChannelsRow, nameOf, SHAPES, shapesOf } from './rows.js';

const FULL = { seconds: 0.5, runs: 5, shapes: [...SHAPES, '1:8'] };
const QUICK = { seconds: 0.15, runs: 3, shapes: ['1:1', '4:4'] };
const MOST_SIDE = 64;
const MOST_BUSY = 64;
const PROGRAM = fileURLToPath(new URL('./program.js', import.meta.url));
const PATIENCE_MS = 60_000;
/** Only this row is measured with eight receivers: how fair it is to them. */
const FAIR = nameOf('Channel', 'number');

interface Given {
  shapes?: string[];
  seconds?: number;
  runs?: number;
  rows?: ChannelsRow[];
  busy: number;
  native: boolean;
  quick?: boolean;
  list?: boolean;
  json?: string;
}

/** Reads senders and receivers, such as `1:1,4:4`. */
function readShapes(text: string): string[] {
  const shapes = text.split(',').map((part) => part.trim());
  const isShape = (shape: string): boolean =>
    /^[1-9]\d?:[1-9]\d?$/.test(shape) && Math.max(...shape.split(':').map(Number)) <= MOST_SIDE;
  if (shapes.every(isShape)) return [...new Set(shapes)];
  throw new InvalidArgumentError(`Allowed: senders:receivers, 1 to ${MOST_SIDE} of each, separated by commas.`);
}

function readBusy(text: string): number {
  const threads = text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isInteger(threads) && threads >= 0 && threads <= MOST_BUSY) return threads;
  throw new InvalidArgumentError(`Allowed: a whole number from 0 to ${MOST_BUSY}.`);
}

export function addChannels(bench: Command): void {
  bench
    .command('channels')
    .description('messages between threads: taketurns/channel beside postMessage and others')
    .option('--shapes <shapes>', `senders and receivers (default: ${FULL.shapes})`, readShapes)
    .option(
      '--seconds <seconds>',
      `length of an interval, ${LEAST_SECONDS} to ${MOST_SECONDS} (default: ${FULL.seconds})`,
      readSeconds,
    )
    .option('--runs <runs>', `processes for each row and shape (default: ${FULL.runs})`, readRuns)
    .option('--busy <threads>', 'so many threads compute beside the others', readBusy, 0)
    .option('--rows <names>', 'only these rows (default: all; see --list)', (text: string) =>
      readRows(CHANNELS_ROWS, text),
    )
    .option('--list', 'print the names of the rows and do nothing else')
    .option('--json <file>', 'write everything measured here (default: bench/results/channels.json)', readFile)
    .option('--quick', `a short form: ${QUICK.shapes}, ${QUICK.runs} runs of ${QUICK.seconds} seconds`)
    .option('--no-native', 'leave out the rows in C++')
    .action(act);
}

async function act(given: Given, command: Command): Promise<void> {
  if (given.list) return listRows(CHANNELS_ROWS);
  const { shapes, seconds, runs, busy } = { ...(given.quick ? QUICK : FULL), ...given };
  const rows = (given.rows ?? CHANNELS_ROWS).filter(({ kind }) => given.native || kind === 'script');
  if (rows.length === 0)
    command.error("error: options '--rows' and '--no-native' together leave no row. Allowed: at least one row.");
  mkdirSync(RESULTS, { recursive: true });
  const json = given.json ?? `${RESULTS}channels.json`;
  const wantsNative = rows.some(({ kind }) => kind === 'native');
  if (wantsNative) note('building the native rows');
  const native: NativeBinary = wantsNative ? await buildNative() : { missing: 'not asked for' };
  const results: ChannelsResults = {
    benchmark: 'channels',
    environment: environment('compiler' in native ? native.compiler : 'none'),
    options: { seconds, runs, busy, native: given.native, shapes, rows: rows.map(({ name }) => name) },
    rows: rows.map(({ name, family, measure, load }) => ({ name, family, measure, load })),
    runs: [],
    skipped: [],
  };
  const wanted = (row: ChannelsRow): string[] => {
    if (row.measure !== 'rate') return [...shapesOf(row)];
    return shapes.filter((shape) =>
      shape === '1:8' && !given.shapes ? row.name === FAIR : (row.shapes?.includes(shape) ?? true),
    );
  };
  const cells = rows.flatMap((row) => wanted(row).map((shape) => ({ row, shape })));
  const measure = (row: ChannelsRow, shape: string): Promise<ChannelsFigures> => {
    const patience = PATIENCE_MS + 4000 * seconds;
    if (row.kind === 'script')
      return runJson(process.execPath, [PROGRAM, row.name, shape, String(seconds), String(busy)], patience);
    if ('missing' in native) throw new Error(native.missing);
    return nativeChannels(native.binary, row, shape, seconds, busy, patience);
  };
  let done = 0;
  for (let round = 1; round <= runs; round++)
    for (const { row, shape } of cells) {
      note(`channels: ${row.name}${shape && `, ${shape}`}, run ${++done} of ${runs * cells.length}`);
      if (results.skipped.some((skipped) => skipped.row === row.name)) continue;
      try {
        results.runs.push({ row: row.name, shape, round, ...(await measure(row, shape)) });
      } catch (error) {
        results.skipped.push({ row: row.name, at: `${shape} run ${round}`.trim(), why: (error as Error).message });
      }
    }
  note('');
  console.log(channelsTables(results));
  writeFileSync(json, `${JSON.stringify(results)}\n`);
  console.log(`\neverything measured: ${relative('.', json)}`);
  if (results.runs.length === 0) process.exitCode = 1;
}
