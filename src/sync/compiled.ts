/**
 * The objects of `taketurns/sync` are compiled to a module of their own, which only programs that import them carry. A
 * thread makes one instance of it for each arena, beside that of the core, when it first needs one.
 */
import { host } from '#host';
import type { Sync } from '../border/sync.js';
import { common } from '../runtime/common.js';
import { embedded, instanceOf } from '../runtime/embedded.js';
import type { Membership } from '../runtime/membership.js';
import { syncBytes } from './sync-bytes.js';

const module = embedded(syncBytes);
const instances = common('sync', () => new WeakMap<Membership, Sync>());

/** Returns the instance of the calling thread over the arena to which it is attached. */
export function syncOf(membership: Membership): Sync {
  const known = instances.get(membership);
  if (known) return known;
  const { memory, thread } = membership;
  const instance = instanceOf<Sync>(module(), { env: { memory } });
  instance.adopt(thread);
  host.endIfDead?.(instance, ['sleepInPhase', 'drainReaders'], membership);
  instances.set(membership, instance);
  return instance;
}
