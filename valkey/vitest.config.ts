import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // Each file in a process of its own, which ends the servers that it has started.
    pool: 'forks',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    include: ['test/**/*.test.ts'],
    maxWorkers: 2,
  },
});
