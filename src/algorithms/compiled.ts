/**
 * The algorithms of the papers are compiled to a module of their own, which only programs that import them carry. A
 * thread makes one instance of it for each arena, beside that of the core, when it first needs one.
 */

import type { Algorithms } from '../border/algorithms.js';
import { mayNotBlock } from '../errors.js';
import { common } from '../runtime/common.js';
import { embedded, instanceOf } from '../runtime/embedded.js';
import { type Membership, refuseToBlock } from '../runtime/membership.js';
import { algorithmsBytes } from './algorithms-bytes.js';

/** The functions that a thread must not call if it must not block. */
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
const LOCKING = [
  'ttsLock',
  'ticketLock',
  'twaLock',
  'mcsLock',
  'clhLock',
  'lifoLock',
  'recipLock',
] as const satisfies readonly (keyof Algorithms)[];

const module = embedded(algorithmsBytes);
const instances = common('algorithms', () => new WeakMap<Membership, Algorithms>());

/** Returns the instance of the calling thread over the arena to which it is attached. */
export function algorithmsOf(membership: Membership): Algorithms {
  const { core, memory, thread, mayBlock } = membership;
  const known = instances.get(membership);
  if (known) return known;
  const instance = instanceOf<Algorithms>(module(), { env: { memory }, core: { ticketTaken: core.ticketTaken } });
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
    // These are reached by keys, and not by an object that is closed.
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
