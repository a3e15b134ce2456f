/**
 * Tells the errors of clients and servers apart: refusals that the caller must hear, server states that pass by
 * themselves, and lost connections.
 */
import { SpaceError } from './errors.js';
import type { Surroundings } from './surroundings.js';
import { VERSION } from './wire.js';

/**
 * The codes of states that pass: the server will serve the call later, or another server will. With NOSCRIPT the server
 * has done nothing, and the driver sends the text of the script next.
 */
const PASSING =
  /\b(NOSCRIPT|READONLY|LOADING|CLUSTERDOWN|MASTERDOWN|TRYAGAIN|NOREPLICAS|MISCONF|BUSY|MOVED|ASK|FAILOVER|max number of clients)\b/;

/** The words by which Redis 6 and 7 and Valkey refuse a command that the user's ACL does not allow. */
const FORBIDDEN = /NOPERM|ACL failure|can't run this command|can't access at least one/;

/**
 * Returns the error for the caller if the server has refused the call for good. Returns undefined if the connection was
 * lost, or if the server's state will pass.
 */
export function refusal(error: unknown): SpaceError | undefined {
  if (error instanceof SpaceError) return error;
  const text = error instanceof Error ? error.message : String(error);
  if (PASSING.test(text)) return undefined;
  if (FORBIDDEN.test(text)) return new SpaceError('NOPERM', `the server's user lacks a right: ${text}`, error);
  const inner = /\b(OOM|WRONGTYPE)\b/.exec(text);
  if (inner) return new SpaceError(inner[1] as string, text, error);
  const code = /^([A-Z]{3,})\s/.exec(text);
  return code ? new SpaceError(code[1] as string, text, error) : undefined;
}

/**
 * The error of a process whose settings are not those of the space. theirs: the version, the number of partitions and
 * the lease of the space.
 */
export function settingsDiffer(
  { space, partitions, lease }: Surroundings,
  theirs: readonly (string | number)[],
): SpaceError {
  const [has, asks] = [theirs, [VERSION, partitions, lease]].map(
    (words) => `version ${words[0]}, ${words[1]} partitions and a lease of ${words[2]} ms`,
  );
  return new SpaceError('SETTINGS', `the space ${JSON.stringify(space)} has ${has}, and this process asks for ${asks}`);
}
