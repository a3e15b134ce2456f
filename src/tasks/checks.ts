/**
 * The checks of arguments. They do what those of ../common-errors.ts do, in fewer bytes: an error says less about an
 * object that was given. A program of a page carries these checks, and hardly anything else.
 */

/** Describes a value in a few words, whatever its getters and traps do. */
function show(value: unknown): string {
  if (Object(value) === value) return `a${typeof value === 'object' ? 'n object' : ' function'}`;
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 99)) : String(value);
}

/** The error for a bad argument: a `RangeError` if its `typeof` is right, else a `TypeError`. */
export function bad(type: string, what: string, expected: string, value: unknown): Error {
  return new (typeof value === type ? RangeError : TypeError)(`${what} must be ${expected}, got ${show(value)}`);
}

export function checkInteger(what: string, value: number, min: number, max: number, why = ''): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw bad('number', what, `an integer from ${min} to ${max}${why}`, value);
}

export function checkFunction(what: string, value: unknown): void {
  if (typeof value !== 'function') throw bad('', what, 'a function', value);
}

/** Checks that options are an object with no other names than these. An undefined property is absent. */
export function checkOptions(what: string, options: object, names: readonly string[]): void {
  let given: unknown = options;
  let isBad = Object(options) !== options;
  for (const name in options) {
    // A page may have added properties to all objects.
    if (isBad || names.includes(name) || name in {} || options[name as never] === undefined) continue;
    isBad = true;
    given = name;
  }
  if (isBad) throw bad('', `${what}: options`, `of { ${names.join(', ')} }`, given);
}
