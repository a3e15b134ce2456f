/**
 * The objects of `taketurns/sync` are compiled to a WebAssembly module of their own. A program that does not import
 * `taketurns/sync` does not carry this module. A thread makes one instance of the module for each arena, beside its
 * instance of the core. It makes the instance when it first needs one.
 */
import { host } from '#host';
import type { Sync } from '../border/sync.js';
import { common } from '../runtime/common.js';
import { embedded, instanceOf } from '../runtime/embedded.js';
import type { Membership } from '../runtime/membership.js';
import { syncBytes } from './sync-bytes.js';

const compiled = embedded(syncBytes);
const instances = common('sync', () => new WeakMap<Membership, Sync>());

/** Returns the calling thread's instance of the module for the arena of a membership. */
export function syncOf(membership: Membership): Sync {
  const known = instances.get(membership);
  if (known) return known;
  const { memory, thread } = membership;
  const instance = instanceOf<Sync>(compiled(), { env: { memory } });
  instance.adopt(thread);
  host.onSleep?.(instance, ['sleepInPhase', 'drainReaders'], membership);
  instances.set(membership, instance);
  return instance;
}
