import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The built code of a folder, as Node loads it. */
const built = (folder: string) => [
  { find: /^(\.\.\/)+src\//, replacement: fileURLToPath(new URL(`${folder}/dist/`, import.meta.url)) },
];

/**
 * Files that take long. `npm test` without the name of a file leaves them out, so that it ends in less than six minutes
 * on two processors. `.ci/run` and `npm run test:whole` run all files.
 */
const LONG = [
  'bench/test/{application,bypass,channels,hand-over,locks,native,no-lock,record,sync,tasks}.test.ts',
  'check/test/{deadlocks,machine-core,published,simulate}.test.ts',
  'processes/test/{bad-days-program,chaos,cluster,dead,drivers-closed,drivers-disturbed,far,gives-up}.test.ts',
  'processes/test/{guardian,half-open}.test.ts',
  'processes/test/{local,local-chaos,local-files,rolling,stands-still,takeover,trouble}.test.ts',
  'simulate/test/faults.test.ts',
  'test/stress/**',
  'test/unit/{figures,snippets}.test.ts',
];
const isShort = process.env.npm_lifecycle_event === 'test' && process.argv.length === 3;

/** Short files whose tests wait or work for long. They begin first, so that no processor is idle at the end. */
const FIRST = [
  ...['bench/test/cli', 'check/test/search', 'test/tasks/rate-schedule'],
  ...['broker-script', 'drivers', 'examples', 'postgres', 'session', 'tables'].map((name) => `processes/test/${name}`),
  ...['copies', 'ended-workers', 'examples', 'hangs', 'new-user', 'report-mode'].map((name) => `test/unit/${name}`),
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number =>
      FIRST.some((path) => moduleId.includes(`/${path}`)) ? 0 : 1;
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    // Each file in a process of its own: on a main thread, as most users are, and with an arena of its own.
    pool: 'forks',
    testTimeout: 60_000,
    exclude: isShort ? [...configDefaults.exclude, ...LONG] : configDefaults.exclude,
    projects: [
      {
        extends: true,
        // The built code, as Node loads it, searches a quarter faster than what Vite makes of the sources.
        resolve: { alias: built('check') },
        test: {
          name: 'models',
          server: { deps: { external: [/check\/dist/] } },
          include: ['check/test/**/*.test.ts'],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        resolve: { alias: built('simulate') },
        test: {
          name: 'simulation',
          server: { deps: { external: [/simulate\/dist/] } },
          include: ['simulate/test/**/*.test.ts'],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'threads',
          include: ['test/**/*.test.ts', 'static-server/test/**/*.test.ts'],
          // They often wait, for other threads and processes.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'benchmarks',
          include: ['bench/test/**/*.test.ts'],
          // Only the long files need the native rows, and it takes long to compile them.
          globalSetup: isShort ? [] : ['bench/test/native-rows.setup.ts'],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'processes',
          include: ['processes/*/*.test.ts'],
          globalSetup: ['processes/test/servers.setup.ts'],
          hookTimeout: 60_000,
          // They mostly wait for servers.
          maxWorkers: 5,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
