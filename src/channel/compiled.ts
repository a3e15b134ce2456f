/**
 * The channel is compiled to a WebAssembly module of its own. A program that does not import `taketurns/channel` does
 * not carry this module. A thread makes one instance of the module for each arena, beside its instance of the core. It
 * makes the instance when it first needs one.
 */
import { host } from '#host';
import type { Channel } from '../border/channel.js';
import { common } from '../runtime/common.js';
import { embedded, instanceOf } from '../runtime/embedded.js';
import type { Membership } from '../runtime/membership.js';
import { channelBytes } from './channel-bytes.js';

/** The exports of the module. */
export type Module = Channel;

const compiled = embedded(channelBytes);
const instances = common('channel', () => new WeakMap<Membership, Module>());

/** Returns the calling thread's instance of the module for the arena of a membership. */
export function channelOf(membership: Membership): Module {
  const known = instances.get(membership);
  if (known) return known;
  const { memory, thread } = membership;
  const core = membership.core as unknown as WebAssembly.ModuleImports;
  // The new instance shares the pending call of the core, and sets it to none.
  membership.core.finishPendingCall();
  const instance = instanceOf<Module>(compiled(), { env: { memory }, core });
  instance.adopt(thread);
  host.onSleep?.(instance, ['sleepOn'], membership);
  instances.set(membership, instance);
  return instance;
}
