/**
 * Tests on a server of Redis or Valkey: on one server, or on each that is installed (WHOLE). Without a server the tests
 * are reported as skipped. If CI is true, a test fails instead, so that nothing is left out there unnoticed.
 */
import { describe, test } from 'vitest';
import { type Binary, findServers, MISSING } from '../servers/servers.ts';

/** Whether this is `npm run test:whole`: then long lists are tested completely, and searches go to their ends. */
export const WHOLE = process.env.TAKETURNS_TESTS === 'whole';

/** The servers of this run: one, and in `npm run test:whole` each that is installed. */
export function serversOfTests(): Binary[] {
  return WHOLE ? findServers() : findServers().slice(0, 1);
}

const NONE: Binary = { name: 'redis', version: '', path: '' };

/** Describes tests for each server of this run, or for the first one only. */
export function onEachServer(tests: (binary: Binary) => void, which: 'all' | 'first' = 'all'): void {
  const found = serversOfTests();
  if (found.length === 0 && process.env.CI === 'true') {
    test('a server is installed', () => {
      throw new Error(MISSING);
    });
    return;
  }
  if (found.length === 0) describe.skip(MISSING, () => tests(NONE));
  for (const binary of which === 'all' ? found : found.slice(0, 1))
    describe(`${binary.name} ${binary.version}`, () => tests(binary));
}
