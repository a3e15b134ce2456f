/** Reads the files of the project that the search needs. Where there are no files, another module replaces this one. */
import { readFileSync } from 'node:fs';

const read = (path: string): Uint8Array => readFileSync(new URL(`../../${path}`, import.meta.url));
const text = (path: string): string => new TextDecoder().decode(read(path));

/** Returns the constants of the core, by name. */
export function words(): Record<string, number> {
  return JSON.parse(text('build/words.json'));
}

/** Returns the answers that exports of a module may give, by their names (scripts/border.mjs). */
export function answersOf(name: string): Record<string, readonly number[]> {
  return JSON.parse(text('build/answers.json'))[name];
}

/** Returns a module as it ships, and its text format, which has the names. */
export function moduleFiles(name: string): { wasm: Uint8Array; wat: string } {
  return { wasm: read(`build/${name}.wasm`), wat: text(`build/${name}.wat`) };
}
