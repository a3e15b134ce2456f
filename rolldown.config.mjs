/** `rolldown -c` bundles the library for Node, Deno and Bun (scripts/for-node.mjs has what both packages share). */
import { fileURLToPath } from 'node:url';
import { forNode } from './scripts/for-node.mjs';
import { late } from './scripts/late.mjs';

/**
 * What most entries share is an entry itself. A bundle that is no entry gets a getter for each of its exports, of which
 * core.cjs has 170: each thread would pay about a millisecond for them when it starts.
 */
const CORE = { core: 'src/index.ts' };
const ENTRIES = {
  index: 'src/index.ts',
  algorithms: 'src/papers/algorithms/index.ts',
  channel: 'src/channel/index.ts',
  keyed: 'src/keyed/index.ts',
  metrics: 'src/metrics/index.ts',
  p0514: 'src/papers/p0514/index.ts',
  report: 'src/report/index.ts',
  share: 'src/share.ts',
  sync: 'src/sync/index.ts',
};
/** What a thread loads when it needs it (src/report/lazily.ts), and the thread of report mode. */
const LATER = {
  measure: 'src/report/measure.ts',
  reporter: 'src/report/reporter.ts',
  youngest: 'src/report/youngest.ts',
};
/** What a thread loads when it calls one of the functions (scripts/late.mjs): the answers of `inspect` and `stats`. */
const AT_FIRST_CALL = { stats: 'src/objects/stats.ts' };

/** Here every thread looks for deadlocks. */
const HOST = fileURLToPath(new URL('src/report/host-here.ts', import.meta.url));

/** `core` has what `taketurns` itself needs, and small modules that several other entries need. */
const SHARED = [
  { name: 'core', test: /\/src\/(index|look\/(case-mark|key-reading|labels)|border\/kinds)\.ts$/ },
  { name: 'looking', test: /\/src\/look\// },
  { name: 'counters', test: /\/src\/papers\//, minShareCount: 2 },
  { name: 'reporting', test: /\/src\/(metrics|report)\//, minShareCount: 2 },
];

export default [
  forNode({ ...CORE, ...ENTRIES, ...LATER, ...AT_FIRST_CALL }, SHARED, {
    plugins: [late(AT_FIRST_CALL)],
    resolve: { alias: { '#host': HOST } },
    // core.cjs also exports what the other bundles need.
    preserveEntrySignatures: 'allow-extension',
  }),
  // They need nothing of the others. So each is one file, and whoever loads it loads no other.
  forNode({ tasks: 'src/tasks/index.ts' }),
  forNode({ cli: 'src/report/cli.ts' }),
];
