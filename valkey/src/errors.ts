/** The errors of this package, and the checks of arguments. */
import { bad, badType, knowEverywhere } from './common-errors.js';

export * from './common-errors.js';

/**
 * What the guard held is lost. The process could not reach the server for 0.7 of the lease, or the server has taken it
 * back, or a failover has lost the grant. It may soon be another process's turn, or it already is.
 */
export class LeaseLostError extends Error {
  /** `LeaseLostError`. */
  override readonly name = 'LeaseLostError';
}

/** The server is not as it must be, or the space is not. `code` says what is wrong. */
export class SpaceError extends Error {
  /** `SpaceError`. */
  override readonly name = 'SpaceError';

  /**
   * `UNREACHABLE`: no server. `SETTINGS`: the space has another version, lease or number of partitions. `EVICTION`: the
   * server may evict keys. `UNCONFIRMED`: too few replicas have confirmed the grant. Otherwise it is the code of the
   * server's error, such as `OOM`, `NOPERM`, `WRONGPASS` or `READONLY`.
   */
  readonly code: string;

  /** @internal */
  constructor(code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

knowEverywhere(LeaseLostError);
knowEverywhere(SpaceError);

/** @internal */
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
  throw bad('string', what, `a string of 1 to ${most} bytes of UTF-8 without NUL`, value);
}
