import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    // One browser runs at a time, since each wants all processors.
    maxWorkers: 1,
    fileParallelism: false,
  },
});
