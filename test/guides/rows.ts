/** The rows of a guide from another library: each row is a program of that library, and one of this library. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

type Program = () => unknown;

/**
 * What a row has: the program of the other library, that of this one, and the answer of both. If the page says that they
 * differ, the second answer is that of this library. A row of which the page says that there is nothing like it has null.
 */
type Row = null | readonly [theirs: Program, ours: Program, answer: unknown, oursIs?: unknown];

/** Tests each row of the first table of a page. The keys are the first cells of the rows. */
export function guide(page: string, rows: Readonly<Record<string, Row>>): void {
  const text = readFileSync(new URL(`../../docs/guides/${page}`, import.meta.url), 'utf8');
  const [, table = ''] = /^\| .*\|\n\| --- .*\|\n((?:\|.*\|\n)+)/m.exec(text) ?? [];
  const cells = new Map(
    table
      .trimEnd()
      .split('\n')
      .map((line) => line.slice(2, -2).split(' | ') as [string, string]),
  );

  it(`each row of ${page} has a program`, () => {
    expect(Object.keys(rows)).toEqual([...cells.keys()]);
  });

  for (const [cell, row] of Object.entries(rows)) {
    it(cell, async () => {
      if (row === null) {
        expect(cells.get(cell)).toMatch(/^nothing like it|taketurns-processes/);
        return;
      }
      const [theirs, ours, answer, oursIs = answer] = row;
      const [first, second] = await Promise.all([theirs(), ours()]);
      expect({ theirs: first, ours: second }).toEqual({ theirs: answer, ours: oursIs });
    });
  }
}

/** Makes a function limited, as `limiter.wrap` does. */
export type Wrap = (call: (n: number) => Promise<number>) => (n: number) => unknown;

/** How many of so many calls ran at once. */
export async function mostAtOnce(wrap: Wrap, calls: number): Promise<number> {
  let [running, most] = [0, 0];
  const call = wrap(async (n) => {
    most = Math.max(most, ++running);
    await pause(5);
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
