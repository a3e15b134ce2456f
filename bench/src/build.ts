// Computes a digest of all code on which the measured figures depend. Code that only makes reports is not part of it.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const LIBRARY = fileURLToPath(new URL('.', import.meta.resolve('taketurns')));
const BENCH = fileURLToPath(new URL('.', import.meta.url));
const NATIVE = fileURLToPath(new URL('../native/', import.meta.url));

/**
 * Returns the digest of the library, of the code of the benchmark that runs while it measures, and of the native rows.
 */
export function build(): string {
  const hash = createHash('sha256');
  for (const [folder, parts, kind] of [
    [LIBRARY, ['.'], /\.js$/],
    [BENCH, ['workers', 'rows', 'pairs', 'mt19937.js', 'native.js'], /\.js$/],
    [NATIVE, ['.'], /\.(cpp|hpp|h)$/],
  ] as const) {
    for (const file of parts.flatMap((part) => files(folder, part)).filter((name) => kind.test(name))) {
      hash
        .update(`${file}\0`)
        .update(readFileSync(join(folder, file)))
        .update('\0');
    }
  }
  return hash.digest('hex').slice(0, 16);
}

function files(folder: string, part: string): string[] {
  if (part.endsWith('.js')) return [part];
  if (!existsSync(join(folder, part))) return [];
  const found = readdirSync(join(folder, part), { recursive: true, encoding: 'utf8' });
  return found.map((name) => join(part, name)).sort();
}
