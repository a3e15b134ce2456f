import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';

/** The built code of a folder, as Node loads it. */
const built = (folder: string) => [
  { find: /^(\.\.\/)+src\//, replacement: fileURLToPath(new URL(`${folder}/dist/`, import.meta.url)) },
];

/**
 * Files that take long. `npm test` without the name of a file leaves them out, so that it ends in less than six minutes
 * on two processors. `.ci/run` and `npm run test:whole` run all files.
 */
const LONG = [
  'bench/test/{application,bypass,channels,hand-over,locks,no-lock,record,sync,tasks}.test.ts',
  'check/test/{deadlocks,machine-core,published,simulate}.test.ts',
  'processes/test/{bad-days-program,chaos,cluster,dead,drivers-closed,drivers-disturbed,far,gives-up}.test.ts',
  'processes/test/{guardian,half-open}.test.ts',
  'processes/test/{local,local-chaos,local-files,rolling,stands-still,takeover,trouble}.test.ts',
  'simulate/test/faults.test.ts',
  'test/stress/**',
  'test/unit/{figures,snippets}.test.ts',
];
const isShort = process.env.npm_lifecycle_event === 'test' && process.argv.length === 3;

export default defineConfig({
  test: {
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
          globalSetup: ['bench/test/native-rows.setup.ts'],
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
