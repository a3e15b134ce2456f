/**
 * A thread may load this package several times: two copies in `node_modules`, or one copy in each context of `node:vm`,
 * as test runners do. For the arena, all copies are one thread. So the copies share what a thread has only once, above
 * all its memberships. If a thread locks a mutex through one copy, it is the owner through the other copy too.
 *
 * The copies find what they share in a property of an object that all of them see (`host.anchor`). The key of the
 * property contains the version of the layout. So copies of another version may be loaded too, and have arenas of their
 * own.
 *
 * Copies of one version call one another's objects. So whoever changes what the copies share must raise VERSION
 * (core/arena/words.ts), even if the layout stays the same.
 */
import { host } from '#host';
import { anchored } from '../host/anchored.js';

/** Returns the value of this name that the copies share. The first copy to ask makes the value. */
export function common<T extends object>(name: string, make: () => T): T {
  return anchored(host.anchor, name, make);
}
