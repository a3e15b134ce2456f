/**
 * A short form of `npm run chaos:servers -w processes`: some faults, each for a second. The test uses the built
 * program, as the processes of a run do.
 */
import { expect, test } from 'vitest';
import type { Engine } from '../chaos/faults.js';
import { findPostgres } from '../servers/postgres.js';
import { onEachServer } from './each-server.js';
import { onPostgres } from './postgres-setting.js';

const { faultsFor, run } = (await import(
  '../build/processes/chaos/index.js' as string
)) as typeof import('../chaos/index.js');

/** The other faults need many servers, or seconds before the first fault. Only the command runs them. */
const SHORT = [
  'kill',
  'stop',
  'client-kill',
  'script-flush',
  'network',
  'restart-always',
  'restart-empty',
  'restart',
  'restart-loose',
  'promote',
  'promote-synchronous',
  'clock',
];

/** Above the patience of a run, so that a run says what it has waited for. */
const TIMEOUT = 240_000;

const testsOn = (server: Engine): void => {
  test.concurrent.each(faultsFor(server).filter(({ name }) => SHORT.includes(name)))(
    '$name',
    { timeout: TIMEOUT },
    async (fault) => {
      const result = await run({ server, fault, seconds: 1, processes: 3 });
      if (result.skipped !== undefined) {
        console.warn(result.skipped);
        return;
      }
      expect(result).toMatchObject({ faults: [], lostPermits: 0, forever: 0, disorder: 0 });
      expect(Math.max(...Object.values(result.counts))).toBeGreaterThan(0);
      expect(result.grants).toBeGreaterThan(0);
    },
  );
};

onEachServer(testsOn, 'first');
onPostgres(
  'faults of processes, servers and clocks',
  () => testsOn({ version: '', ...findPostgres(), name: 'postgresql' }),
  'in CI',
);
