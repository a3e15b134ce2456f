/** The rows of a guide from another library: each row is a program of that library, and one of this library. */
import { existsSync, readFileSync } from 'node:fs';
import { type Transferable, Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';

type Program = () => unknown;

/**
 * What a row has: the program of the other library, that of this one, and the answer of both. If the page says that they
 * differ, the second answer is that of this library. A row of which the page says that there is nothing like it has null.
 * If the other side is of another language, or its program cannot be run here, a row has our program and its answer.
 */
type Compared = readonly [theirs: Program, ours: Program, answer: unknown, oursIs?: unknown];
type Row = null | Compared | readonly [ours: Program, answer: unknown];
export type Rows = Readonly<Record<string, Row>>;

const TABLE = /^\| .*\|\n(\| --- .*\|)\n((?:\|.*\|\n)+)/gm;
const WITHOUT_PROGRAM = /nothing|not needed|taketurns-processes/;

/** The tables of a page, without those of figures, whose columns are set flush right. Each row by its first cell. */
function tablesOf(text: string): Map<string, string>[] {
  return [...text.matchAll(TABLE)].flatMap(([, under = '', rows = '']) => {
    if (under.includes('--:')) return [];
    const cells = rows
      .trimEnd()
      .split('\n')
      .map((line) => line.slice(2, -2).split(' | '));
    const table = new Map(cells.map(([first = '', ...rest]) => [first, rest.join(' | ')]));
    if (table.size < cells.length) throw new Error('Two rows of a table have the same first cell.');
    return [table];
  });
}

/** Tests each row of each table of a page. The keys are the first cells of the rows. */
export function guide(page: string, ...tables: readonly Rows[]): void {
  const found = ['docs/guides', 'processes/docs'].map((at) => new URL(`../../${at}/${page}`, import.meta.url));
  const file = found.find((at) => existsSync(at));
  if (file === undefined) throw new Error(`There is no page ${page}.`);
  const ofPage = tablesOf(readFileSync(file, 'utf8'));

  it(`each row of ${page} has a program`, () => {
    expect(tables.map((rows) => Object.keys(rows))).toEqual(ofPage.map((rows) => [...rows.keys()]));
  });

  for (const [i, rows] of tables.entries()) {
    describe(`table ${i + 1}`, () => {
      for (const [cell, row] of Object.entries(rows)) {
        it(cell, async () => {
          if (row === null) {
            expect(ofPage[i]?.get(cell)).toMatch(WITHOUT_PROGRAM);
          } else if (row.length === 2) {
            const [ours, answer] = row;
            expect(await ours()).toEqual(answer);
          } else {
            const [theirs, ours, answer, oursIs = answer] = row;
            const [first, second] = await Promise.all([theirs(), ours()]);
            expect({ theirs: first, ours: second }).toEqual({ theirs: answer, ours: oursIs });
          }
        });
      }
    });
  }
}

type Sync = typeof import('taketurns/sync');
type Channels = typeof import('taketurns/channel');
type Library = typeof import('taketurns') & Sync & Omit<Channels, keyof Sync> & typeof import('taketurns/report');

export interface Elsewhere<T> {
  /** What the function has returned. */
  readonly answer: Promise<T>;
  /** The first thing that it has told. */
  readonly told: Promise<unknown>;
  /** Ends the thread, wherever it is. */
  die(): Promise<unknown>;
}

/** What a function gets in the other thread: the library, what was posted to it, and how it tells something. */
export type Inside<D> = Library & { data: D; tell: (what: unknown) => void };

/**
 * Runs a function in another thread, which ends with it. The function gets the library and what is posted to it, and uses
 * nothing else from outside: its text goes to the thread.
 */
export function elsewhere<T, D>(
  run: (inside: Inside<D>) => T | Promise<T>,
  data?: D,
  transfer: Transferable[] = [],
): Elsewhere<T> {
  const worker = new Worker(new URL('./elsewhere.mjs', import.meta.url), {
    workerData: { source: `${run}`, data },
    transferList: transfer as never,
  });
  const first = <V>(what: 'answer' | 'told'): Promise<V> => {
    const promise = new Promise<V>((resolve, reject) => {
      worker.on('message', (message) => message[what] && resolve(message[what][0]));
      worker.on('error', reject);
    });
    promise.catch(() => {}); // not each test wants both
    return promise;
  };
  return { answer: first('answer'), told: first('told'), die: () => worker.terminate() };
}

/** Makes a function limited, as `limiter.wrap` does. */
export type Wrap = (call: (n: number) => Promise<number>) => (n: number) => unknown;

/** How many of so many calls ran at once. */
export async function mostAtOnce(wrap: Wrap, calls: number): Promise<number> {
  let [running, most] = [0, 0];
  const call = wrap(async (n) => {
    most = Math.max(most, ++running);
    await pause(50); // so long that all begin that may, also on a busy machine
    running--;
    return n;
  });
  await Promise.all(Array.from({ length: calls }, (_, n) => call(n)));
  return most;
}

/** At which times calls have begun, in milliseconds: so many at once, and then others after a pause. */
export async function begins(wrap: Wrap, first: number, after = 0, then = 0): Promise<number[]> {
  const times: number[] = [];
  const call = wrap(async (n) => {
    times.push(performance.now());
    return n;
  });
  const many = (count: number) => Array.from({ length: count }, (_, n) => call(n));
  const all = many(first);
  if (then > 0) {
    await pause(after);
    all.push(...many(then));
  }
  await Promise.all(all);
  return times;
}

/** The most of these times within so many milliseconds. */
export function mostWithin(milliseconds: number, times: readonly number[]): number {
  return Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + milliseconds).length));
}

/** How long after the first the last of these times is. */
export function span(times: readonly number[]): number {
  return Math.max(...times) - Math.min(...times);
}

/** How a promise ends: with its value, or with the name of its error. */
export async function outcome(call: () => unknown): Promise<unknown> {
  try {
    return await call();
  } catch (error) {
    return error instanceof Error ? `refused: ${error.name}` : 'refused';
  }
}

/** Waits, by the timers of Node. */
export const pause = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));

/** A promise that is never settled. */
export const never = (): Promise<never> => new Promise(() => {});

/** The value, after so long that whatever else should happen has happened. */
export const later = <T>(value: T): Promise<T> => pause(50).then(() => value);

/** Whether a promise waits, or else its outcome. */
export const waits = (promise: Promise<unknown>): Promise<unknown> =>
  Promise.race([outcome(() => promise), later('waits')]);
