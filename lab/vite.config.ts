import { readFileSync } from 'node:fs';
import { defineConfig, type Plugin } from 'vite';
import { HEADERS } from './headers.mjs';

const FILES = '\0check-files';
const SYSTEM = '\0node-os';
const EVENTS = '\0node-events';
const THREADS = '\0node-threads';

/**
 * Lets the code of check/ and bench/ run in a browser. A module with the files that the search reads replaces
 * check/src/files.ts, and others replace modules of Node that rows import. The lab does not run all rows.
 */
function forBrowsers(): Plugin {
  const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url));
  // Only the lines of the text that name functions, globals and constants are needed.
  const lines = (path: string, which: RegExp) => (read(path).toString().match(which) ?? []).join('\n');
  const names = (name: string) => lines(`build/${name}.wat`, /^ \((?:import \S+ \S+ \(global|global|func) \$[^\s)]+/gm);
  const files = (name: string) =>
    JSON.stringify({ wasm: read(`build/${name}.wasm`).toString('base64'), wat: names(name) });
  return {
    name: 'for-browsers',
    enforce: 'pre',
    resolveId(source, importer) {
      if (/check\/dist\//.test(importer ?? '') && source.endsWith('/files.js')) return FILES;
      return { 'node:os': SYSTEM, events: EVENTS, 'node:worker_threads': THREADS }[source];
    },
    load(id) {
      if (id === SYSTEM) return 'export const availableParallelism = () => navigator.hardwareConcurrency;';
      if (id === THREADS)
        return 'export const { locks } = navigator, { Worker, MessageChannel, parentPort } = globalThis;';
      if (id === EVENTS) return 'export default class EventEmitter {}';
      if (id !== FILES) return undefined;
      return `
        const modules = { core: ${files('core')}, algorithms: ${files('algorithms')},
          channel: ${files('channel')}, sync: ${files('sync')} };
        const answers = ${read('build/answers.json')};
        export const answersOf = (name) => answers[name];
        export const words = () => (${read('build/words.json')});
        export const moduleFiles = (name) => ({
          wasm: Uint8Array.from(atob(modules[name].wasm), (c) => c.charCodeAt(0)),
          wat: modules[name].wat,
        });`;
    },
  };
}

/** Drops the links to the documentation, except for the lab of the site (site/), which has the documentation. */
function alone(): Plugin {
  return {
    name: 'alone',
    transformIndexHtml: (html) => (process.env.TAKETURNS_SITE ? html : html.replace(/^ *<a data-site .*<\/a>\n/gm, '')),
  };
}

export default defineConfig({
  // Relative paths let the page be served from any folder.
  base: './',
  plugins: [forBrowsers(), alone()],
  worker: { format: 'es', plugins: () => [forBrowsers()] },
  build: {
    target: 'es2022',
    chunkSizeWarningLimit: 1000,
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  server: { headers: HEADERS },
});
