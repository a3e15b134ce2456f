// Where the benchmarks write, and what they tell meanwhile.

import { fileURLToPath } from 'node:url';
import type { Row } from './rows/row.js';

/** The folder of what was measured, unless told otherwise. */
export const RESULTS = fileURLToPath(new URL('../results/', import.meta.url));

let noted = 0;

/** Overwrites the line on a terminal; in a log file, a line every few seconds is enough. */
export function note(text: string): void {
  if (process.stderr.isTTY) {
    process.stderr.write(`\r\u001b[2K${text}`);
  } else if (text !== '' && performance.now() - noted > 5000) {
    noted = performance.now();
    process.stderr.write(`${text}\n`);
  }
}

export function listRows(rows: readonly Row[]): void {
  const width = Math.max(...rows.map((row) => row.name.length));
  for (const row of rows) console.log(`${row.name.padEnd(width)}  ${row.family}`);
}
