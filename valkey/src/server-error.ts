/** Tells the errors of clients and servers apart: those that pass, those that the caller must hear, and lost connections. */
import { SpaceError } from './errors.js';
import type { Surroundings } from './surroundings.js';
import { VERSION } from './wire.js';

/** The server will do it later, or another server will, or (NOSCRIPT) it has done nothing and takes the text. */
const PASSING =
  /\b(NOSCRIPT|READONLY|LOADING|CLUSTERDOWN|MASTERDOWN|TRYAGAIN|NOREPLICAS|MISCONF|BUSY|MOVED|ASK|FAILOVER|max number of clients)\b/;

/** What a server of Redis 6 and 7 and Valkey says of a command that the user's rights do not allow. */
const FORBIDDEN = /NOPERM|ACL failure|can't run this command|can't access at least one/;

/**
 * The error for the caller if the server has refused the call for good, and undefined if the connection was lost or the
 * server's state will pass.
 */
export function refusal(error: unknown): SpaceError | undefined {
  const text = error instanceof Error ? error.message : String(error);
  if (PASSING.test(text)) return undefined;
  if (FORBIDDEN.test(text)) return new SpaceError('NOPERM', `the server's user lacks a right: ${text}`, error);
  const inner = /\b(OOM|WRONGTYPE)\b/.exec(text);
  if (inner) return new SpaceError(inner[1] as string, text, error);
  const code = /^([A-Z]{3,})\s/.exec(text);
  return code ? new SpaceError(code[1] as string, text, error) : undefined;
}

/** The others agree on other settings: a version, a number of partitions and a lease. */
export function settingsDiffer(
  { space, partitions, lease }: Surroundings,
  theirs: readonly (string | number)[],
): SpaceError {
  const [has, asks] = [theirs, [VERSION, partitions, lease]].map(
    (words) => `version ${words[0]}, ${words[1]} partitions and a lease of ${words[2]} ms`,
  );
  return new SpaceError('SETTINGS', `the space ${JSON.stringify(space)} has ${has}, and this process asks for ${asks}`);
}
