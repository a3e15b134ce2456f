/**
 * Tests on each server that is installed. Without any they are reported as skipped; where CI is true a test fails
 * instead, so that nothing is left out there unseen.
 */
import { describe, test } from 'vitest';
import { type Binary, findServers, MISSING } from '../servers/servers.ts';

/** `npm run test:whole`: long lists are tested whole, and searches are made to their end. */
export const WHOLE = process.env.TAKETURNS_TESTS === 'whole';

/** What of a long list is tested on a server: each has one of the servers, and in `npm run test:whole` all of them. */
export function dealt<T>(list: readonly T[], { name }: Binary): T[] {
  const servers = findServers();
  if (WHOLE || servers.length < 2) return [...list];
  return list.filter((_, i) => servers[i % servers.length]?.name === name);
}

const NONE: Binary = { name: 'redis', version: '', path: '' };

/** Describes tests for each server, or for the first one only. */
export function onEachServer(tests: (binary: Binary) => void, which: 'all' | 'first' = 'all'): void {
  const found = findServers();
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
