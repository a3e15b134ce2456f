/**
 * The library as one script, which each simulated thread evaluates for itself. The script is bundled from dist/, with
 * two changes. First, the library gets its host from outside (`globalThis.$host`). Second, only the name of a
 * WebAssembly module stands in the place of the embedded module, because the simulation makes its own instances
 * (core.ts).
 *
 * A patch puts a fault into the script: it replaces a piece of the text by another.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Where `prepare` leaves what it has made. */
export const made = new URL('../dist/made/', import.meta.url);

const dist = fileURLToPath(new URL('../../dist/', import.meta.url));
const ENTRY = '\0entry';
const HOST = '\0host';

/** Bundles dist/. The script defines `library`, with the exports of all entries. */
export async function bundle(): Promise<string> {
  const { rolldown } = await import('rolldown');
  const build = await rolldown({
    input: ENTRY,
    plugins: [
      {
        name: 'simulate',
        resolveId: (id: string) => (id === ENTRY ? ENTRY : id === '#host' ? HOST : null),
        load(id: string) {
          if (id === HOST) return 'export const host = globalThis.$host;';
          if (id === ENTRY)
            return [
              'index.js',
              'keyed/index.js',
              'sync/index.js',
              'channel/index.js',
              'papers/p0514/index.js',
              'papers/algorithms/index.js',
            ]
              .map((file) => `export * from ${JSON.stringify(dist + file)};`)
              .join('');
          const [, name] = /(core|sync|channel|algorithms)-bytes\.js$/.exec(id) ?? [];
          if (name) return `export const ${name}Bytes = '${name}';`;
          return id.endsWith('decode.js') ? 'export const decode = (name) => name;' : null;
        },
      },
    ],
  });
  const { output } = await build.generate({ format: 'iife', name: 'library', comments: false });
  await build.close();
  return output[0].code;
}

/** A piece of the bundled text, and what to put in its place. White space in `find` matches any white space. */
export interface Patch {
  readonly find: string;
  readonly put: string;
}

let text: string | undefined;

/** The script that `prepare` has made, with these patches. */
export function libraryText(patches: readonly Patch[] = []): string {
  text ??= readFileSync(new URL('library.js', made), 'utf8');
  return patches.reduce(patched, text);
}

/**
 * Applies a patch to a text.
 *
 * @throws {Error} unless the text has the piece `find` exactly once
 */
export function patched(code: string, { find, put }: Patch): string {
  const pattern = find
    .trim()
    .split(/\s+/)
    .map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'))
    .join('\\s+');
  const found = [...code.matchAll(new RegExp(pattern, 'g'))];
  if (found.length !== 1) throw new Error(`the text of a patch must be there once, not ${found.length} times: ${find}`);
  return code.replace(new RegExp(pattern), () => put);
}
