/**
 * The errors and the checks of arguments of tasks, threads and processes. A bad argument is a `RangeError` or a
 * `TypeError`. `checkOptions` refuses an option with a name that the class does not know, and says which name is near.
 */

/** The object has been disposed of, by this thread or another. */
export class DisposedError extends Error {
  /** `DisposedError`. */
  override readonly name = 'DisposedError';

  /** @internal @param message names what has been disposed of: each class has its own words. */
  constructor(message: string) {
    super(message);
  }
}

/** The time-out of a request has passed before its turn. The request has left the queue, and holds nothing. */
export class TimeoutError extends Error {
  /** `TimeoutError`. */
  override readonly name = 'TimeoutError';
}

/** @internal The error of a request that has waited too long. `wanted` says for what, and may say why in vain. */
export function timedOut(wanted: string, timeout: number, options?: ErrorOptions): TimeoutError {
  return new TimeoutError(`timed out after ${timeout} ms waiting for ${wanted}`, options);
}

/**
 * The channel is closed: nothing more can be sent, or every message has been received.
 * @since 0.3.0
 */
export class ClosedError extends Error {
  /** `ClosedError`. */
  override readonly name = 'ClosedError';

  /** @internal */
  constructor(message = 'the channel is closed') {
    super(message);
  }
}

/**
 * A `Barrier` is broken: a call of a round has given up, a thread has died, or the action has thrown. The barrier stays
 * broken.
 */
export class BrokenBarrierError extends Error {
  /** `BrokenBarrierError`. */
  override readonly name = 'BrokenBarrierError';
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
knowEverywhere({ DisposedError, TimeoutError, CancelledError, ClosedError, BrokenBarrierError });

/**
 * @internal Lets `instanceof` of these classes know the errors that the same classes make in other copies and realms. A
 * bundler may change the name of a class, but not the key here.
 */
export function knowEverywhere(classes: Readonly<Record<string, abstract new (...args: never[]) => Error>>): void {
  for (const [name, Class] of Object.entries(classes)) {
    Class.prototype[ERROR] = name;
    Object.defineProperty(Class, Symbol.hasInstance, {
      value(this: unknown, error: { readonly [ERROR]?: string } | null | undefined): boolean {
        return this === Class ? error?.[ERROR] === name : Function.prototype[Symbol.hasInstance].call(this, error);
      },
    });
  }
}

/** The most characters of a value that a text shows. */
const MOST_SHOWN = 99;

/** @internal Describes a value in a few words, whatever its getters and traps do. */
export function shown(value: unknown): string {
  try {
    return typeof value === 'string' ? inQuotes(value) : describe(value).slice(0, MOST_SHOWN);
  } catch {
    return 'an object';
  }
}

function inQuotes(text: string): string {
  if (text.length <= MOST_SHOWN) return quoted(text);
  return `${quoted(text.slice(0, MOST_SHOWN))}... (${text.length} characters)`;
}

/**
 * The characters that would change what else a terminal shows. This is no literal of a regular expression: an engine
 * compiles the properties in a literal when a program is loaded, which takes 0.3 milliseconds.
 */
const UNSHOWN = String.raw`[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]`;

/** @internal Returns a text in quotation marks, with escapes for characters that a terminal would not show. */
export function quoted(text: string): string {
  const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(text).replace(new RegExp(UNSHOWN, 'gu'), escaped);
}

function describe(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'function') return value.name ? `a function (${value.name})` : 'a function';
  if (typeof value !== 'object' || value === null) return String(value);
  return Array.isArray(value) ? 'an array' : `an object (${value.constructor?.name ?? 'no prototype'})`;
}

/**
 * @internal The error for a bad argument: a `RangeError` if its `typeof` is right, else a `TypeError`.
 * @param instead says what to write in place of this value, if that can be told.
 */
export function bad(type: string, what: string, expected: string, value: unknown, instead = ''): Error {
  const Kind = typeof value === type ? RangeError : TypeError;
  return new Kind(`${what} must be ${expected}, got ${shown(value)}${instead && `: ${instead}`}`);
}

/** @internal The error for a value that is not an integer, or is out of its range. */
export function badInteger(what: string, value: unknown, min: number, max: number, why = ''): Error {
  // No value is in an empty range. So the text tells both bounds, and names no value that the next call would refuse.
  const range = max < min ? `at least ${min} and at most ${max}` : `an integer from ${min} to ${max}`;
  return bad('number', what, range + why, value);
}

/** @internal Checks an integer argument. */
export function checkInteger(what: string, value: unknown, min: number, max: number, why?: string): number {
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return value as number;
  throw badInteger(what, value, min, max, why);
}

/** @internal The error for an argument of the wrong type. */
export function badType(what: string, expected: string, value: unknown, instead?: string): TypeError {
  return bad('', what, expected, value, instead);
}

/** @internal Checks the type of an argument by its `typeof`. Null does not pass as an object. */
export function checkType(what: string, value: unknown, type: string, expected: string, instead?: string): void {
  if (typeof value !== type || value === null) throw badType(what, expected, value, instead);
}

const NONE: readonly string[] = [];

/**
 * @internal
 * Checks that options are an object, and that the object has no other names than these. An object with a tag, such as
 * an AbortSignal or an Arena, is in the wrong place. Options for tests and measurements are `unnamed`: no error names
 * them.
 *
 * The library reads inherited options, and takes an undefined one for absent. So both are checked in the same way: what
 * `for in` names is given, unless it is undefined. That leaves out symbols, and the getters and methods of a class.
 */
export function checkOptions(
  what: string,
  options: unknown,
  names: readonly string[],
  unnamed: readonly string[] = NONE,
): void {
  let given = options;
  let near: string | undefined = '';
  // The first comparison says the same of the usual options, and is fast.
  let isBad = (options as object | null)?.constructor !== Object && {}.toString.call(options) !== '[object Object]';
  for (const name in options as object) {
    if (isBad || names.includes(name)) continue;
    // A page may have added properties to all objects.
    isBad = !(name in {}) && !unnamed.includes(name) && (options as Record<string, unknown>)[name] !== undefined;
    given = name;
    near = names.find((option) => isNear(option, name));
  }
  if (isBad)
    throw badType(
      `${what}: options`,
      `${names.length > 0 ? `of { ${names.join(', ')} }` : 'left out'}${near ? ` (perhaps ${near})` : ''}`,
      given,
      insteadOf(given, options, names),
    );
}

/** Says what to write in place of a value that stands where the options stand. */
function insteadOf(given: unknown, options: unknown, names: readonly string[]): string {
  // What is given is the name of an option.
  if (given !== options) return '';
  if (typeof given === 'number' && names.includes('timeout')) return `for a time-out write { timeout: ${given} }`;
  const isSignal = typeof (given as { aborted?: unknown } | null)?.aborted === 'boolean';
  return isSignal && names.includes('signal') ? 'write { signal }' : '';
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
  throw bad('string', what, choices.map(shown).join(' or '), value);
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
  // An AbortController has its signal in a property of this name.
  const instead = Object(signal) === signal && 'signal' in (signal as object) ? 'give its .signal' : '';
  if (!isSignal) throw badType(`${what}: signal`, 'an AbortSignal', signal, instead);
}
