/**
 * A thread may load this package several times: two copies in `node_modules`, or one in each context of `node:vm`, as
 * test runners do. To the arena, it is one thread all the same. So the copies share what a thread has once, above all
 * its memberships: a thread that locks a mutex through one copy is its owner through the other.
 *
 * The copies share through a property of an object that all of them see (`host.anchor`). Its key has the version of the
 * layout, so that another version lives beside this one and has arenas of its own.
 *
 * Copies of one version call one another's objects. So whoever changes what the copies share, and not the layout alone,
 * must raise VERSION too (core/arena/words.ts).
 */
import { host } from '#host';
import { VERSION } from '../border/numbers.js';

const KEY = Symbol.for(`taketurns:${VERSION}`);

/** Returns the value of this name that the copies share, which the first to ask makes. */
export function common<T extends object>(name: string, make: () => T): T {
  const anchor = host.anchor as { [KEY]?: Record<string, unknown> };
  anchor[KEY] ??= {};
  anchor[KEY][name] ??= make();
  return anchor[KEY][name] as T;
}
