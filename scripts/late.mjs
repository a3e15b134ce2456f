/**
 * A plugin of rolldown for modules of functions that few threads need: whoever imports one of them gets functions of the
 * same names. At its first call, such a function loads the bundle that has the module. A thread that starts would pay for
 * the module, because V8 parses also what nobody calls.
 *
 * No tool does it: a bundler loads late only what a program imports by a promise, and these functions return at once.
 */
import { resolve } from 'node:path';

const LATE = '\0late:';

/** @param modules the files, by the names of their bundles: they are entries, too */
export function late(modules) {
  const names = new Map(Object.entries(modules).map(([name, file]) => [resolve(file), name]));
  return {
    name: 'late',
    async resolveId(source, importer) {
      if (importer?.startsWith(LATE)) return { id: source, external: true };
      const found = importer && (await this.resolve(source, importer, { skipSelf: true }));
      return names.has(found?.id) ? LATE + found.id : undefined;
    },
    async load(id) {
      if (!id.startsWith(LATE)) return undefined;
      const file = id.slice(LATE.length);
      const { exports } = await this.load({ id: file });
      return [
        `let module;
const loaded = () => (module ??= require('./${names.get(file)}.cjs'));`,
        ...exports.map((name) => `export const ${name} = (...given) => loaded().${name}(...given);`),
      ].join('\n');
    },
  };
}
