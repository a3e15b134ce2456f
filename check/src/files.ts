/** Reads the files of the project that the search needs. Another module replaces this where there are no files. */
import { readFileSync } from 'node:fs';

const read = (path: string): Uint8Array => readFileSync(new URL(`../../${path}`, import.meta.url));
const text = (path: string): string => new TextDecoder().decode(read(path));

/** Returns the text of core/memory/layout.ts, which has the constants of the core. */
export function layoutText(): string {
  return ['core/algorithms/words.ts', 'core/arena/words.ts', 'core/kinds/condition/words.ts', 'core/kinds/counter/words.ts', 'core/kinds/mutex/words.ts', 'core/kinds/phase/words.ts', 'core/kinds/rw-lock/words.ts', 'core/line/words.ts', 'core/answers.ts', 'core/kinds/numbers.ts'].map(text).join('\n');
}

/** Returns a module as it ships, and its text format, which has the names. */
export function moduleFiles(name: string): { wasm: Uint8Array; wat: string } {
  return { wasm: read(`build/${name}.wasm`), wat: text(`build/${name}.wat`) };
}
