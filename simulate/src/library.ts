/**
 * The library as one script, which each simulated thread evaluates for itself. It is made of dist/, with two changes: the
 * host is given from outside (`globalThis.$host`), and an embedded module is its name alone, since the simulation has
 * instances of its own (core.ts).
 *
 * A fault is put into the script by a patch: a piece of its text, and what stands in its place.
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
            return ['index.js', 'sync/index.js', 'p0514/index.js']
              .map((file) => `export * from ${JSON.stringify(dist + file)};`)
              .join('');
          const [, name] = /(core|sync|algorithms)-bytes\.js$/.exec(id) ?? [];
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

/** A piece of the bundled text, and what stands in its place. White space stands for any white space. */
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

/** Puts a patch into a text. @throws {Error} unless its piece is there exactly once. */
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
