/** The errors of this package, and the checks of arguments. */
import { bad, badType, knowEverywhere } from '../../src/common/errors.js';

export * from '../../src/common/errors.js';

/**
 * What the guard held is lost. No heartbeat was answered for 0.85 of the lease, which an outage of 0.75 to 0.85 of the
 * lease causes; or the server has taken the permits back, or a failover has lost the grant. Another process may soon
 * hold them, or already does.
 */
export class LeaseLostError extends Error {
  /** `LeaseLostError`. */
  override readonly name = 'LeaseLostError';
}

/** Something is wrong with the server or with the space. `code` says what. */
export class SpaceError extends Error {
  /** `SpaceError`. */
  override readonly name = 'SpaceError';

  /**
   * `UNREACHABLE`: no server answers. `SETTINGS`: the space has another version, lease or number of partitions.
   * `EVICTION`: the server may evict the keys of the space. `UNCONFIRMED`: too few replicas have confirmed the grant.
   * Without a server: `DIRECTORY`: the folder of the space is not safe to use, or cannot be made. `JOURNAL`: a file in
   * it cannot be read. On PostgreSQL: `SCHEMA`: the database has no tables and functions of this version. `POOLER`: a
   * pooler stands between, so messages may not arrive. `ENCODING`: the database is not of UTF8. Otherwise the code of the
   * server's error, such as `OOM`, `NOPERM` or `WRONGPASS`, or of PostgreSQL its SQLSTATE, such as `3D000`.
   */
  readonly code: string;

  /** @internal */
  constructor(code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

knowEverywhere({ LeaseLostError, SpaceError });

/** @internal Checks a boolean. */
export function checkBoolean(what: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw badType(what, 'true or false', value);
}

const encoder = new TextEncoder();

/** @internal Checks a name: 1 to `most` bytes of UTF-8 without NUL. */
export function checkName(what: string, value: unknown, most: number): string {
  if (typeof value === 'string' && !value.includes('\0') && value.isWellFormed?.() !== false) {
    const bytes = encoder.encode(value).length;
    if (bytes >= 1 && bytes <= most) return value;
  }
  const instead = typeof value === 'number' ? 'the name comes first' : '';
  throw bad('string', what, `a string of 1 to ${most} bytes of UTF-8 without NUL`, value, instead);
}
