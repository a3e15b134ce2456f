/**
 * The algorithms of the papers are compiled to a WebAssembly module of their own. A program that does not import
 * `taketurns/algorithms` does not carry this module. A thread makes one instance of the module for each arena, beside
 * its instance of the core. It makes the instance when it first needs one.
 */

import type { Algorithms } from '../../border/algorithms.js';
import { common } from '../../runtime/common.js';
import { embedded, instanceOf } from '../../runtime/embedded.js';
import { mayNotBlock } from '../../runtime/errors.js';
import { type Membership, refuseToBlock } from '../../runtime/membership.js';
import { algorithmsBytes } from './algorithms-bytes.js';

/** The functions by which blocking calls begin or wait. On a thread that must not block, they throw. */
const BLOCKING = [
  'chainAcquire',
  'channelAcquire',
  'locationAcquire',
  'ticketAcquire',
  'twaAcquire',
  'twaAcquireSequestered',
  'chainEnter',
  'keyWait',
  'keyWaitLazy',
  'locationWait',
  'eventAwait',
] as const satisfies readonly (keyof Algorithms)[];
/** The same for locks. These functions throw another error, which names `tryLock`. */
const LOCKING = [
  'ttsLock',
  'ticketLock',
  'twaLock',
  'mcsLock',
  'clhLock',
  'lifoLock',
  'recipLock',
] as const satisfies readonly (keyof Algorithms)[];

const compiled = embedded(algorithmsBytes);
const instances = common('algorithms', () => new WeakMap<Membership, Algorithms>());

/** Returns the calling thread's instance of the module for the arena of a membership. */
export function algorithmsOf(membership: Membership): Algorithms {
  const { memory, thread, mayBlock } = membership;
  const known = instances.get(membership);
  if (known) return known;
  const core = membership.core as unknown as WebAssembly.ModuleImports;
  // The new instance shares the pending call of the core, and sets it to none.
  membership.core.finishPendingCall();
  const instance = instanceOf<Algorithms>(compiled(), { env: { memory }, core });
  instance.adopt(thread);
  membership.beforeEnd(instance.returnNodes);
  if (!mayBlock) {
    instance.neverPark();
    for (const name of BLOCKING) instance[name] = refuseToBlock;
    for (const name of LOCKING) instance[name] = refuseToLock;
  }
  membership.beforeEnd((reason) => {
    instance.retire();
    if (!reason) return;
    // When the thread leaves the arena, all its library objects are closed. Calls by a key use no library object, so
    // their functions must throw.
    const refuse = (): never => {
      throw reason;
    };
    for (const name of Object.keys(instance)) {
      if (/^(key|locationWa|prepare)/.test(name)) Object.assign(instance, { [name]: refuse });
    }
  });
  instances.set(membership, instance);
  return instance;
}

function refuseToLock(): never {
  throw mayNotBlock('tryLock');
}
