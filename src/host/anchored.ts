/** What common.ts does, for code that a host is made of, and that cannot import the host. */
import { VERSION } from '../border/numbers.js';

const KEY = Symbol.for(`taketurns:${VERSION}`);

/**
 * Returns the value of this name that all copies find at an anchor (`Host.anchor`). The first to ask makes the value.
 */
export function anchored<T extends object>(anchor: object, name: string, make: () => T): T {
  const { [KEY]: values = {} } = anchor as { [KEY]?: Record<string, unknown> };
  (anchor as { [KEY]?: Record<string, unknown> })[KEY] = values;
  values[name] ??= make();
  return values[name] as T;
}
