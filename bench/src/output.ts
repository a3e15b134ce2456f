// Prints the progress of the benchmarks and their rows, and names the folder of their results.

import { fileURLToPath } from 'node:url';
import type { Family } from './rows/row.js';

/** The default folder of the results. */
export const RESULTS = fileURLToPath(new URL('../results/', import.meta.url));

let noted = 0;

/** Overwrites the line on a terminal. In a log file it writes a line every few seconds. */
export function note(text: string): void {
  if (process.stderr.isTTY) {
    process.stderr.write(`\r\u001b[2K${text}`);
  } else if (text !== '' && performance.now() - noted > 5000) {
    noted = performance.now();
    process.stderr.write(`${text}\n`);
  }
}

/** Prints the rows; `remark` adds a remark on a row. */
export function listRows<R extends { name: string; family: Family }>(
  rows: readonly R[],
  remark: (row: R) => string = () => '',
): void {
  const width = Math.max(...rows.map((row) => row.name.length));
  for (const row of rows) console.log(`${row.name.padEnd(width)}  ${row.family}${remark(row)}`);
}
