/** Keys, and what there is to tell about them, for the keyed locks of threads and for those of tasks. */
import { bad, badType, checkType, shown } from './errors.js';

/** A key: a string, or an integer from -9,007,199,254,740,991 to 9,007,199,254,740,991. `1` and `'1'` are two keys. */
export type Key = string | number;

/** What `inspect` tells about one key. */
export interface KeyStats {
  /** The key. */
  readonly key: Key;
  /** The number of permits of the key that are out. Of a mutex 1 if it is locked, else 0. */
  readonly out: number;
  /** The number of requests that wait for the key. */
  readonly waiting: number;
}

/** What `inspect` tells about all keys. */
export interface KeyedStats {
  /** The number of keys that are held or waited for. */
  readonly size: number;
  /** The number of requests that wait, for all keys together. */
  readonly waiting: number;
  /** The number of waits that ended by a time-out, a signal or `cancelAll`. */
  readonly timeouts: number;
  /** The keys that are held or waited for: the first 100. */
  readonly keys: readonly KeyStats[];
}

/** @internal The most keys that `inspect` lists. */
export const MOST_KEYS = 100;

/** @internal A key in the words of an error. */
export const keyText = (key: Key): string => `the key ${shown(key)}`;

/** @internal */
export function checkKey(kind: string, method: string, key: Key): void {
  if (typeof key === 'string' || Number.isSafeInteger(key)) return;
  const instead = {
    function: `the key comes first: ${method}(key, run)`,
    number: 'write String(key)',
    bigint: 'write String(key)',
    object: 'give what tells it from others, such as its id',
  } as const;
  const advice = instead[typeof key as keyof typeof instead];
  throw bad('number', `${kind}.${method}: key`, 'a string or a safe integer', key, advice);
}

/**
 * @internal Returns the key that `inspect` shall describe, or undefined if the call names none. A variable without a value
 * is a mistake of the caller, who would take the sums of all keys for those of one.
 */
export function keyToInspect(kind: string, given: readonly [key?: Key]): Key | undefined {
  if (given.length === 0) return undefined;
  const [key] = given;
  if (key === undefined)
    throw badType(`${kind}.inspect: key`, 'a string or a safe integer', key, 'for all keys write inspect()');
  checkKey(kind, 'inspect', key);
  return key;
}

/** @internal Checks the first arguments of `runExclusive`. Who forgets the key gives the function in its place. */
export function checkRun(kind: string, key: Key, run: unknown): void {
  const method = 'runExclusive';
  if (typeof key === 'function') checkKey(kind, method, key);
  checkType(`${kind}.${method}: run`, run, 'function', 'a function');
}

/**
 * @internal Returns each of the keys once, in the one order in which all calls take several keys: numbers before
 * strings, and ascending.
 */
export function inOrder(kind: string, method: string, keys: readonly Key[]): Key[] {
  if (!Array.isArray(keys))
    throw badType(`${kind}.${method}: keys`, 'an array', keys, `write ${method}([first, second])`);
  const sorted = [...new Set(keys)];
  for (const key of sorted) checkKey(kind, method, key);
  return sorted.sort((a, b) => (typeof a === typeof b ? (a < b ? -1 : 1) : typeof a === 'number' ? -1 : 1));
}
