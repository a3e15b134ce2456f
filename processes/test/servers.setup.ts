/** Says once in each run which servers the tests use. */
import { MISSING } from '../servers/servers.ts';
import { serversOfTests } from './each-server.ts';

export function setup(): void {
  const found = serversOfTests().map(({ name, version, path }) => `${name} ${version} (${path})`);
  if (found.length > 0) console.log(`servers of the tests of taketurns-processes: ${found.join(', ')}`);
  else console.log(`${MISSING}. The tests of taketurns-processes that need a server are skipped.`);
}
