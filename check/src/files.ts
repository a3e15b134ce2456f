/** The files of the project that the search reads. Where there is no file system, another module stands in for this one. */
import { readFileSync } from 'node:fs';

const read = (path: string): Uint8Array => readFileSync(new URL(`../../${path}`, import.meta.url));
const text = (path: string): string => new TextDecoder().decode(read(path));

/** core/memory/layout.ts, with the constants of the core. */
export function layoutText(): string {
  return text('core/memory/layout.ts');
}

/** A module as it ships, and the same as text, for the names in it. */
export function moduleFiles(name: string): { wasm: Uint8Array; wat: string } {
  return { wasm: read(`build/${name}.wasm`), wat: text(`build/${name}.wat`) };
}
