/** `npx vitest run` in this folder: the tests of this workspace alone, as `npm test` at the root runs them. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // Each file in a process of its own, which ends the servers that it has started.
    pool: 'forks',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    include: ['*/*.test.ts'],
    globalSetup: ['test/servers.setup.ts'],
    maxWorkers: 5,
  },
});
