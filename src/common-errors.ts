/**
 * The errors and the checks of arguments that `taketurns` and `taketurns-processes` have in common. Both packages take
 * them from this file: the build of `taketurns-processes` copies it. A bad argument is a `RangeError` or a `TypeError`.
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

/** The time-out of a request has passed before its turn. The request has left the queue, and holds nothing. */
export class TimeoutError extends Error {
  /** `TimeoutError`. */
  override readonly name = 'TimeoutError';
}

/** `cancelAll` has cancelled the request. It has left the queue, and holds nothing. */
export class CancelledError extends Error {
  /** `CancelledError`. */
  override readonly name = 'CancelledError';

  /** @internal @param reason becomes the `cause`. */
  constructor(reason?: unknown) {
    super('the request was cancelled by cancelAll', reason === undefined ? undefined : { cause: reason });
  }
}

/** The name of an error of this library, on the prototype of its class in every copy of the library. */
const ERROR = Symbol.for('taketurns:error');

// Another copy of this package, or another realm, may reject a promise (runtime/common.ts). The caller's `instanceof`
// must know the error of that copy too. A subclass knows only its own errors.
for (const Class of [DisposedError, TimeoutError, CancelledError]) knowEverywhere(Class);

/** @internal Lets `instanceof` of this class know the errors that the same class makes in other copies and realms. */
export function knowEverywhere(Class: new (...args: never[]) => Error): void {
  const { name } = new Class();
  (Class.prototype as { [ERROR]?: string })[ERROR] = name;
  Object.defineProperty(Class, Symbol.hasInstance, {
    value(this: unknown, error: { readonly [ERROR]?: string } | null | undefined): boolean {
      return this === Class ? error?.[ERROR] === name : Function.prototype[Symbol.hasInstance].call(this, error);
    },
  });
}

/** Describes a value in a few words, whatever its getters and traps do. */
function show(value: unknown): string {
  const MOST = 99;
  try {
    return describe(value).slice(0, MOST);
  } catch {
    return 'an object';
  }
}

function describe(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 99));
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'function') return `a function (${value.name})`;
  if (typeof value !== 'object' || value === null) return String(value);
  return Array.isArray(value) ? 'an array' : `an object (${value.constructor?.name ?? 'no prototype'})`;
}

/** @internal The error for a bad argument: a `RangeError` if its `typeof` is right, else a `TypeError`. */
export function bad(type: string, what: string, expected: string, value: unknown): Error {
  const Kind = typeof value === type ? RangeError : TypeError;
  return new Kind(`${what} must be ${expected}, got ${show(value)}`);
}

/** @internal The error for a value that is not an integer, or is out of its range. */
export function badInteger(what: string, value: unknown, min: number, max: number, why = ''): Error {
  return bad('number', what, `an integer from ${min} to ${max}${why}`, value);
}

/** @internal Checks an integer argument. */
export function checkInteger(what: string, value: unknown, min: number, max: number, why?: string): number {
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return value as number;
  throw badInteger(what, value, min, max, why);
}

/** @internal The error for an argument of the wrong type. */
export function badType(what: string, expected: string, value: unknown): TypeError {
  return bad('', what, expected, value);
}

/** @internal Checks the type of an argument by its `typeof`. Null does not pass as an object. */
export function checkType(what: string, value: unknown, type: string, expected: string): void {
  if (typeof value !== type || value === null) throw badType(what, expected, value);
}

/**
 * @internal
 * Checks that options are an object, and that the object has no other names than these. An object with a tag, such as
 * an AbortSignal or an Arena, is in the wrong place.
 *
 * The library reads inherited options, and takes an undefined one for absent. So both are checked in the same way: what
 * `for in` names is given, unless it is undefined. That leaves out symbols, and the getters and methods of a class.
 */
export function checkOptions(what: string, options: unknown, names: readonly string[]): void {
  let given = options;
  let near: string | undefined = '';
  // The first comparison says the same of the usual options, and is fast.
  let isBad = (options as object | null)?.constructor !== Object && {}.toString.call(options) !== '[object Object]';
  for (const name in options as object) {
    if (isBad || names.includes(name)) continue;
    // A page may have added properties to all objects. Only tests give a firstTicket.
    isBad = !(name in {}) && name !== 'firstTicket' && (options as Record<string, unknown>)[name] !== undefined;
    given = name;
    near = names.find((option) => isNear(option, name));
  }
  if (isBad) throw badType(`${what}: options`, `of { ${names.join(', ')} }${near ? ` (perhaps ${near})` : ''}`, given);
}

/** Whether a name begins and ends as an option does, so that more than half of the letters of the option are there. */
function isNear(option: string, name: string): boolean {
  let start = 0;
  let end = 0;
  while (option[start] === name[start]) start++;
  while (option.at(-1 - end) === name.at(-1 - end)) end++;
  return start + end > option.length / 2;
}

/** @internal Checks that an argument is one of a few words. */
export function checkChoice<T extends string>(what: string, value: unknown, choices: readonly T[]): T {
  if (choices.includes(value as T)) return value as T;
  throw bad('string', what, choices.map(show).join(' or '), value);
}

/**
 * @internal Checks a duration, and returns it. Joining the parts of its name at each call would take longer than the
 * check.
 */
export function checkMilliseconds(what: string, name: string, value: number): number {
  const LONGEST = 2 ** 31 - 1;
  if (typeof value === 'number' && ((value >= 0 && value <= LONGEST) || value === Infinity)) return value;
  throw bad('number', `${what}: ${name}`, `from 0 to ${LONGEST} milliseconds or Infinity`, value);
}

/** @internal How long a wait may take, before anything of it is checked. */
export interface Wait {
  readonly timeout?: number | undefined;
  readonly signal?: unknown;
}

const WAIT_OPTIONS = ['timeout', 'signal'];

/** @internal Checks the options of a wait, and returns its time-out. */
export function checkWait(what: string, options: Wait, names: readonly string[] = WAIT_OPTIONS): number {
  checkOptions(what, options, names);
  const { timeout = Infinity, signal } = options;
  checkMilliseconds(what, 'timeout', timeout);
  checkSignal(what, signal);
  return timeout;
}

/** @internal Checks the signal of a request, if it has one. The library uses these three properties, and the reason. */
export function checkSignal(what: string, signal: unknown): void {
  if (signal === undefined) return;
  const { aborted, addEventListener, removeEventListener } = (signal ?? {}) as Record<string, unknown>;
  const isSignal =
    typeof aborted === 'boolean' && typeof addEventListener === 'function' && typeof removeEventListener === 'function';
  if (!isSignal) throw badType(`${what}: signal`, 'an AbortSignal', signal);
}
