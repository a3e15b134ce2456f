/**
 * Tells the errors of clients and servers apart: refusals that the caller must hear, server states that pass by
 * themselves, and lost connections.
 */
import { SpaceError } from '../errors.js';
import { FORMAT } from '../script/wire.js';
import type { Surroundings } from './surroundings.js';

/**
 * The codes of states that pass: the server will serve the call later, or another server will. With NOSCRIPT the server
 * has done nothing, and the driver sends the text of the script next. UNBLOCKED ends a WAIT for replicas, as the server
 * becomes a replica itself.
 */
const PASSING =
  /\b(NOSCRIPT|READONLY|LOADING|CLUSTERDOWN|MASTERDOWN|TRYAGAIN|NOREPLICAS|MISCONF|BUSY|UNBLOCKED|MOVED|ASK|FAILOVER|max number of clients)\b/;

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

/** The settings that all processes of a space have in common. */
export interface Settings {
  readonly partitions: number;
  /** In milliseconds. */
  readonly lease: number;
}

/** This process asks for other settings than those of the space. It may join if it asks for `settings`. */
export class SettingsError extends SpaceError {
  readonly settings: Settings;

  constructor(why: string, settings: Settings) {
    super('SETTINGS', why);
    this.settings = settings;
  }
}

/**
 * The error of a process whose settings are not those of the space. theirs: the format of the data, the number of
 * partitions and the lease of the space.
 */
export function settingsDiffer(
  { space, partitions, lease }: Surroundings,
  theirs: readonly (string | number)[],
): SpaceError {
  const { written, read } = FORMAT;
  const [theirFormat, theirPartitions, theirLease] = theirs.map(Number);
  const name = `the space ${JSON.stringify(space)}`;
  const others = `end all other processes of the space by close() first, or give this process another space`;
  if (theirFormat !== 1 && Number(theirFormat) <= read) {
    const settings = { partitions: Number(theirPartitions), lease: Number(theirLease) };
    if (theirPartitions !== partitions) {
      const why =
        `${name} has ${theirPartitions} partitions, and this process asks for ${partitions}: give Space.connect ` +
        `{ partitions: ${theirPartitions} }, or another space`;
      return new SettingsError(why, settings);
    }
    if (theirLease !== lease) {
      const why =
        `${name} has a lease of ${theirLease} ms, and this process asks for ${lease} ms: give Space.connect ` +
        `{ lease: ${theirLease} }; to change the lease, ${others}`;
      return new SettingsError(why, settings);
    }
  }
  const why =
    theirFormat === 1
      ? `processes of taketurns-valkey 0.2.0 use ${name}, and this version does not run beside them: end all of them by ` +
        `close(); if one of them has died, delete the keys that begin with "tt:{${space}."; or give this process ` +
        `another space`
      : Number(theirFormat) > read
        ? `the data of ${name} have format ${theirFormat}, and this version of taketurns-processes reads formats up to ` +
          `${read}: give this process a version that reads format ${theirFormat} (the changelog names it)`
        : `this version of taketurns-processes writes format ${written}, and a process of ${name} cannot read it: ` +
          `first give all processes a version that reads format ${written} (the changelog names it); else ${others}`;
  return new SpaceError('SETTINGS', why);
}
