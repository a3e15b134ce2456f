/**
 * The compiled algorithms of the papers: a module of their own, which only who imports them carries. A thread has
 * one instance of it for each arena, beside that of the core, made when it first needs one.
 */
import { type Attachment, refuseToBlock, refuseToLock } from '../engine/attachment.js';
import { embedded } from '../engine/embedded.js';
import { algorithmsBytes } from './algorithms-bytes.js';

/** The exports of algorithms.wasm; see the docstrings in core/algorithms/. Addresses and answers are int32. */
export interface Algorithms {
  adopt(thread: number): number;
  ticketAcquire(address: number): number;
  ticketRelease(address: number): void;
  ticketDispose(address: number): void;
  twaAcquire(address: number): number;
  twaRelease(address: number): void;
  twaReleaseConservative(address: number): void;
  twaDispose(address: number): void;
  ttsLock(address: number): number;
  ttsTryLock(address: number): number;
  ttsUnlock(address: number): number;
  ttsDispose(address: number): void;
  ticketLock(address: number): number;
  ticketTryLock(address: number): number;
  ticketUnlock(address: number): number;
  ticketLockDispose(address: number): void;
  twaLock(address: number): number;
  twaTryLock(address: number): number;
  twaUnlock(address: number): number;
  twaLockDispose(address: number): void;
  holds(address: number): number;
  capacitorArrive(address: number): number;
  capacitorTryArrive(address: number): number;
  capacitorArriveInLanes(address: number, lanes: number): number;
  capacitorAwait(lane: number): number;
  capacitorDepart(address: number): number;
  capacitorDepartFromLanes(address: number): number;
  capacitorOpenLane(address: number, lane: number, index: number, lanes: number): void;
  capacitorIsIdle(address: number): number;
  capacitorOwn(address: number, arrived: number): void;
  capacitorDisown(address: number): number;
  capacitorDispose(address: number): void;
}

/** What a thread must not call that may not block. */
const BLOCKING = ['ticketAcquire', 'twaAcquire'] as const satisfies readonly (keyof Algorithms)[];
const LOCKING = [
  'ttsLock',
  'ticketLock',
  'twaLock',
  'capacitorArrive',
  'capacitorArriveInLanes',
] as const satisfies readonly (keyof Algorithms)[];

const instantiate = embedded<Algorithms>(algorithmsBytes);
const instances = new WeakMap<Attachment, Algorithms>();

/** The calling thread's instance over the arena that it is attached to. */
export function algorithmsOf(attachment: Attachment): Algorithms {
  const { core, memory, thread, mayBlock } = attachment;
  let instance = instances.get(attachment);
  if (instance) return instance;
  instance = instantiate({ env: { memory }, core: { ticketTaken: core.ticketTaken } });
  instance.adopt(thread);
  if (!mayBlock) {
    for (const name of BLOCKING) instance[name] = refuseToBlock;
    for (const name of LOCKING) instance[name] = refuseToLock;
  }
  instances.set(attachment, instance);
  return instance;
}
