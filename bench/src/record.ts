// The record of a long run: a file of JSON lines. Each measurement is appended to it when it is finished. So a run that
// was stopped can go on later.
//
//   {"record":"taketurns-bench-1","benchmark":...,"configuration":{...},"machine":{...},"build":"..."}    the origin
//   {"sitting":{"date":...,"build":"...","load":...}}    a start of the program: what follows was measured in it
//   {"runs":{...}}        an interval, as in the results (results.ts)
//   {"probes":{...}}      the run that takes clocks and stamps
//   {"trace":{...}}       the run that logs the threads inside a capacitor
//   {"pairs":{...}}, {"asyncs":{...}}, {"releases":{...}}    a timing on one thread
//
// The first line is the origin. It says what the figures depend on. A file of another origin is refused, because its
// figures are not comparable. So all sittings of a record have one origin. The line of a sitting says when it was, and
// how busy the machine was before. A sitting that measures nothing has no line. Records of older versions have no
// sittings. Rows, thread counts and the number of runs are not part of the origin: they only say how
// much is measured. So a later start with the same file may ask for more of them, or for fewer.
//
// A line is written by one append after its measurement has ended. If the program is killed while it appends, the last
// line lacks its end. The next start cuts this line off, and measures that interval again.

import { appendFileSync, existsSync, readFileSync, truncateSync } from 'node:fs';
import { loadavg } from 'node:os';
import { gunzipSync } from 'node:zlib';
import type { AsyncTiming, Probe, ReleaseTiming, ResultRow, Results, Run, Timing } from './results.js';

const FORMAT = 'taketurns-bench-1';

/** What the figures of a record depend on. */
export interface Origin {
  benchmark: Results['benchmark'];
  configuration: Readonly<Record<string, unknown>>;
  machine: Readonly<Record<string, unknown>>;
  /** A digest of the code that is measured and that measures. */
  build: string;
}

/** A start of the program that has measured something. */
export interface Sitting {
  /** The time of its first measurement, in the form of ISO 8601. */
  date: string;
  build: string;
  /** The load of the machine in the minute before. */
  load: number;
}

/** The entries of each list. */
export interface Lists {
  runs: Run;
  probes: Probe;
  pairs: Timing;
  asyncs: AsyncTiming;
  releases: ReleaseTiming;
}

type List = keyof Lists;

const LISTS: readonly List[] = ['runs', 'probes', 'pairs', 'asyncs', 'releases'];

/** What distinguishes a measurement from the others of its list. */
export type Key = Pick<Run, 'row'> & { threads?: number; round?: number; shape?: string };

function keyOf(list: List, { row, threads, round, shape }: Key): string {
  return JSON.stringify([list, row, threads, round, shape]);
}

/** The error for a file that is no record, or that is a record of another origin. */
export class RecordError extends Error {}

/** Keeps the measurements of a run: in the results and, if there is a record, also in its file. */
export class Store {
  readonly results: Results;
  readonly #file: string | undefined;
  readonly #have = new Set<string>();
  /** What this sitting begins with, as long as it has no line in the file, and whether the file has no origin yet. */
  #begins: { origin: Origin; isNew: boolean } | undefined;
  readonly sittings: Sitting[] = [];

  /**
   * Reads the measurements that the file has already. The first that is added begins a new file. The file may have measurements that are not
   * `wanted`, because this run does not have their row or thread count. They stay in the file, and are not in the
   * results.
   *
   * @throws {RecordError} if the file is no record, or is a record of another origin; then the file is not changed
   */
  constructor(results: Results, record?: { file: string; origin: Origin; wanted: (key: Key) => boolean }) {
    this.results = results;
    this.#file = record?.file;
    if (record === undefined) return;
    const { file, origin, wanted } = record;
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    const lines = whole.split('\n').slice(0, -1);
    if (text !== '' && lines.length === 0) throw notRecord(file, 1);
    lines.forEach((line, index) => {
      const entry = parse(file, line, index + 1);
      if (index === 0) checkOrigin(file, entry, origin);
      else this.#read(file, entry, index + 1, wanted);
    });
    if (whole !== text) truncateSync(file, Buffer.byteLength(whole));
    this.#begins = { origin, isNew: text === '' };
  }

  /**
   * Reads a record of any machine and any build, to make its tables and figures again. The file may be compressed by
   * gzip. `rowsOf` returns the rows of a benchmark by its name, with those of the given names that are made only for a
   * run. The results have the rows that the record has.
   *
   * @throws {RecordError} if the file is no record
   */
  static read(
    file: string,
    rowsOf: (benchmark: string, names: readonly string[]) => readonly ResultRow[] | undefined,
  ): { results: Results; origin: Origin; sittings: readonly Sitting[] } {
    let bytes: Buffer;
    try {
      bytes = readFileSync(file);
    } catch (error) {
      throw new RecordError(`${file} cannot be read: ${(error as Error).message}. Allowed: a record.`);
    }
    const isCompressed = bytes[0] === 0x1f && bytes[1] === 0x8b;
    const lines = (isCompressed ? gunzipSync(bytes) : bytes).toString('utf8').split('\n').slice(0, -1);
    const [first, ...others] = lines.map((line, index) => parse(file, line, index + 1));
    const origin = first as unknown as Origin;
    const named = others.flatMap((entry) => LISTS.map((list) => (entry[list] as Key | undefined)?.row ?? ''));
    const known = first?.record === FORMAT ? rowsOf(origin.benchmark, [...new Set(named)]) : undefined;
    if (known === undefined) throw notRecord(file, 1);
    const { benchmark, configuration, machine } = origin;
    const results: Results = {
      benchmark,
      environment: machine as Results['environment'],
      options: { ...configuration },
      rows: [],
      runs: [],
      probes: [],
      pairs: [],
      asyncs: [],
      skipped: [],
    };
    const store = new Store(results);
    others.forEach((entry, index) => {
      store.#read(file, entry, index + 2, () => true);
    });
    const names = new Set([...results.runs, ...results.pairs].map(({ row }) => row));
    results.rows = known.flatMap((row) => {
      if (!names.has(row.name)) return [];
      if (typeof row.only !== 'object') return [row];
      // A row of the sweep is measured at some thread counts only.
      const threads = results.runs.flatMap((run) => (run.row === row.name ? [run.threads] : []));
      return [{ ...row, only: [...new Set(threads)] }];
    });
    return { results, origin, sittings: store.sittings };
  }

  has(list: List, key: Key): boolean {
    return this.#have.has(keyOf(list, key));
  }

  add<L extends List>(list: L, entry: Lists[L]): void {
    this.#keep(list, entry);
    this.#append({ [list]: entry });
  }

  /** Writes the line of this sitting, and before it the origin of a new file, if they are not there. */
  #begin(file: string): void {
    if (this.#begins === undefined) return;
    const { origin, isNew } = this.#begins;
    this.#begins = undefined;
    const sitting: Sitting = { date: new Date().toISOString(), build: origin.build, load: loadavg()[0] as number };
    this.sittings.push(sitting);
    const lines = [...(isNew ? [{ record: FORMAT, ...origin }] : []), { sitting }];
    appendFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  }

  addTrace(trace: NonNullable<Results['trace']>): void {
    this.results.trace = trace;
    this.#append({ trace });
  }

  #append(line: object): void {
    if (this.#file === undefined) return;
    this.#begin(this.#file);
    appendFileSync(this.#file, `${JSON.stringify(line)}\n`);
  }

  #keep<L extends List>(list: L, entry: Lists[L]): void {
    this.#have.add(keyOf(list, entry));
    const kept = (this.results[list] ?? []) as Lists[L][];
    kept.push(entry);
    Object.assign(this.results, { [list]: kept });
  }

  #read(file: string, entry: Record<string, unknown>, line: number, wanted: (key: Key) => boolean): void {
    if (entry.sitting !== undefined) {
      this.sittings.push(entry.sitting as Sitting);
      return;
    }
    if (entry.trace !== undefined) {
      this.results.trace = entry.trace as NonNullable<Results['trace']>;
      return;
    }
    const list = LISTS.find((name) => entry[name] !== undefined);
    if (list === undefined) throw notRecord(file, line);
    const found = entry[list] as Lists[List];
    if (this.has(list, found)) {
      throw new RecordError(
        `${file}, line ${line}: this measurement is in the file twice, so two programs have written to it at the same ` +
          'time. Allowed: a record that one program at a time has written, or a new file.',
      );
    }
    if (wanted(found)) this.#keep(list, found);
  }
}

function parse(file: string, line: string, number: number): Record<string, unknown> {
  try {
    const entry: unknown = JSON.parse(line);
    if (typeof entry === 'object' && entry !== null) return entry as Record<string, unknown>;
  } catch {}
  throw notRecord(file, number);
}

function notRecord(file: string, line: number): RecordError {
  return new RecordError(`${file}, line ${line}: it is no record of a benchmark. Allowed: a record, or a new file.`);
}

function checkOrigin(file: string, found: Record<string, unknown>, origin: Origin): void {
  if (found.record !== FORMAT) throw notRecord(file, 1);
  const { configuration, machine } = found as Partial<Origin>;
  const differences = [
    ...differ('benchmark', { name: found.benchmark }, { name: origin.benchmark }),
    ...differ('configuration', configuration, origin.configuration),
    ...differ('machine', machine, origin.machine),
    ...differ('build', { digest: found.build }, { digest: origin.build }),
  ];
  if (differences.length === 0) return;
  throw new RecordError(
    `${file} is the record of another run: ${differences.join('; ')}. Allowed: a record of the same configuration, ` +
      'machine and build, or a new file.',
  );
}

/** Describes in words how two parts of an origin differ. */
function differ(
  part: string,
  theirs: Readonly<Record<string, unknown>> = {},
  ours: Readonly<Record<string, unknown>>,
): string[] {
  const names = [...new Set([...Object.keys(theirs), ...Object.keys(ours)])];
  const text = (value: unknown): string => JSON.stringify(value) ?? 'nothing';
  return names
    .filter((name) => text(theirs[name]) !== text(ours[name]))
    .map((name) => `${part}: ${name} is ${text(theirs[name])} there, and ${text(ours[name])} here`);
}
