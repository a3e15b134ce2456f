import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'bench/test/**/*.test.ts', 'check/test/**/*.test.ts'],
    // Each file in a process of its own: on a main thread, as most users are, and with an arena of its own.
    pool: 'forks',
    testTimeout: 60_000,
    // The stress tests want both processors.
    maxWorkers: 1,
  },
});
