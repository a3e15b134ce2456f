/**
 * This file holds the library's own errors, and the checks of arguments. A bad argument is a `RangeError` or a
 * `TypeError`.
 */

/** The object has been disposed of, by this thread or another. */
export class DisposedError extends Error {
  /** `DisposedError`. */
  override readonly name = 'DisposedError';

  /** @internal */
  constructor(message = 'the semaphore has been disposed of') {
    super(message);
  }
}

/** The arena has no room left for another object, name, thread or waiter. Nothing was changed. */
export class ArenaFullError extends Error {
  /** `ArenaFullError`. */
  override readonly name = 'ArenaFullError';
}

/** The time-out of a request has passed before its turn. The request has left the queue, and holds nothing. */
export class TimeoutError extends Error {
  /** `TimeoutError`. */
  override readonly name = 'TimeoutError';
}

/** The name of an error of this library, on the prototype of its class in every copy of the library. */
const ERROR = Symbol.for('taketurns:error');

// A promise may be rejected by another copy of this package, or in another realm (runtime/common.ts). The caller's
// `instanceof` must know that error too. A subclass knows only its own.
for (const Class of [DisposedError, ArenaFullError, TimeoutError]) {
  const { name } = new Class('');
  Object.defineProperty(Class.prototype, ERROR, { value: name });
  Object.defineProperty(Class, Symbol.hasInstance, {
    value(this: unknown, error: { readonly [ERROR]?: string } | null | undefined): boolean {
      return this === Class ? error?.[ERROR] === name : Function.prototype[Symbol.hasInstance].call(this, error);
    },
  });
}

function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (value === null || typeof value !== 'object') return String(value);
  return Array.isArray(value) ? 'an array' : `an object (${value.constructor?.name ?? 'no prototype'})`;
}

/** @internal The error for a value that is not an integer, or is out of its range. */
export function badInteger(what: string, value: unknown, min: number, max: number, why = ''): Error {
  const Kind = typeof value === 'number' ? RangeError : TypeError;
  return new Kind(`${what} must be an integer from ${min} to ${max}${why}, got ${show(value)}`);
}

/** @internal Checks an integer argument. */
export function checkInteger(what: string, value: unknown, min: number, max: number): number {
  if (!Number.isInteger(value) || (value as number) < min || (value as number) > max) {
    throw badInteger(what, value, min, max);
  }
  return value as number;
}

/** @internal The error for an argument of the wrong type. */
export function badType(what: string, expected: string, value: unknown): TypeError {
  return new TypeError(`${what} must be ${expected}, got ${show(value)}`);
}

/** @internal Checks the type of an argument by its `typeof`. Null does not pass as an object. */
export function checkType(what: string, value: unknown, type: string, expected: string): void {
  if (typeof value !== type || value === null) throw badType(what, expected, value);
}

/** @internal */
export function checkOptions(what: string, options: unknown): void {
  if (typeof options !== 'object' || options === null) throw badType(`${what}: options`, 'an object', options);
}

/** @internal The error of a request for which there is no wait element. */
export function noRoom(): ArenaFullError {
  return new ArenaFullError('the arena has no room for another waiter: make it with more `waiters`');
}

/** @internal The error of a call that would block a thread that must not block. */
export function mayNotBlock(instead: string): TypeError {
  return new TypeError(`this thread may not block (a browser forbids it on the main thread): use ${instead}`);
}

/** @internal Checks that an argument is one of a few words. */
export function checkChoice<T extends string>(what: string, value: unknown, choices: readonly T[]): T {
  if (choices.includes(value as T)) return value as T;
  const Kind = typeof value === 'string' ? RangeError : TypeError;
  throw new Kind(`${what} must be ${choices.map(show).join(' or ')}, got ${show(value)}`);
}
