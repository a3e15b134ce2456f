/**
 * The errors of this package, and the checks of arguments. The errors that `taketurns` has too carry its mark, so
 * `instanceof` of a class of either package knows the errors of both, in any number of copies.
 */

const MARK = Symbol.for('taketurns:error');

/** Lets `instanceof` know the errors of this name of other copies, and of `taketurns`. */
function knowEverywhere(Class: abstract new (...args: never[]) => Error, name: string): void {
  (Class.prototype as { [MARK]?: string })[MARK] = name;
  Object.defineProperty(Class, Symbol.hasInstance, {
    value(this: unknown, error: { readonly [MARK]?: string } | null | undefined): boolean {
      return this === Class ? error?.[MARK] === name : Function.prototype[Symbol.hasInstance].call(this, error);
    },
  });
}

/** The time-out of a request has passed before its turn. The request has left the queue, and holds nothing. */
export class TimeoutError extends Error {
  /** `TimeoutError`. */
  override readonly name = 'TimeoutError';
}

/** The object, or the space, has been disposed of or closed. */
export class DisposedError extends Error {
  /** `DisposedError`. */
  override readonly name = 'DisposedError';
}

/** `cancelAll` has cancelled the request. It has left the queue, and holds nothing. */
export class CancelledError extends Error {
  /** `CancelledError`. */
  override readonly name = 'CancelledError';
}

/**
 * What the guard held is lost: the server could not be reached for 0.7 of the lease, or has taken it back, or a
 * failover has lost the grant. It may be another process's turn soon, or already.
 */
export class LeaseLostError extends Error {
  /** `LeaseLostError`. */
  override readonly name = 'LeaseLostError';
}

/** The server, or what the space needs of it, is not as it must be. `code` says what. */
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

knowEverywhere(TimeoutError, 'TimeoutError');
knowEverywhere(DisposedError, 'DisposedError');
knowEverywhere(CancelledError, 'CancelledError');
knowEverywhere(LeaseLostError, 'LeaseLostError');
knowEverywhere(SpaceError, 'SpaceError');

function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null) return String(value);
  return Array.isArray(value) ? 'an array' : `an object (${value.constructor?.name ?? 'no prototype'})`;
}

/** @internal The error for a bad argument: a `RangeError` if its `typeof` is right, else a `TypeError`. */
export function bad(type: string, what: string, expected: string, value: unknown): Error {
  const Kind = typeof value === type ? RangeError : TypeError;
  return new Kind(`${what} must be ${expected}, got ${show(value)}`);
}

/** @internal */
export function checkInteger(what: string, value: unknown, min: number, max: number): number {
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return value as number;
  throw bad('number', what, `an integer from ${min} to ${max}`, value);
}

/** @internal */
export function checkBoolean(what: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw bad('', what, 'true or false', value);
}

/** @internal */
export function checkFunction(what: string, value: unknown): void {
  if (typeof value !== 'function') throw bad('', what, 'a function', value);
}

/** @internal Checks that options are an object with no names but these. */
export function checkOptions(what: string, options: unknown, names: readonly string[]): void {
  // A signal, an array, or an object of this package is none, though it may have no name of its own.
  if (Object.prototype.toString.call(options) !== '[object Object]') {
    throw bad('', `${what}: options`, 'a plain object', options);
  }
  for (const name in options as object) {
    if (!names.includes(name))
      throw new TypeError(`${what}: there is no option ${show(name)}, only ${names.join(', ')}`);
  }
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
