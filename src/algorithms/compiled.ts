/**
 * The algorithms of the papers are compiled to a module of their own, which only programs that import them carry. A
 * thread makes one instance of it for each arena, beside that of the core, when it first needs one.
 */
import { mayNotBlock } from '../errors.js';
import { type Attachment, refuseToBlock } from '../runtime/attachment.js';
import { common } from '../runtime/common.js';
import { embedded, instanceOf } from '../runtime/embedded.js';
import { algorithmsBytes } from './algorithms-bytes.js';

/** The exports of algorithms.wasm; see the docstrings in core/algorithms/. Addresses and answers are int32. */
export interface Algorithms {
  adopt(thread: number): number;
  countDown(address: number, n: number): number;
  tryCountDown(address: number, n: number): number;
  countUp(address: number, n: number, notify: number): number;
  cancelWaiting(address: number, n: number): number;
  closeCounter(address: number): void;
  counted(address: number): number;
  prepare(): number;
  prepareLocation(): number;
  retire(): void;
  chainAcquire(address: number): number;
  chainRelease(address: number, permits: number): void;
  chainReleaseConservative(address: number): void;
  chainDispose(address: number): void;
  channelAcquire(address: number): number;
  channelRelease(address: number, permits: number): void;
  channelReleaseConservative(address: number): void;
  channelDispose(address: number): void;
  locationAcquire(address: number): number;
  locationRelease(address: number, permits: number): void;
  locationReleaseConservative(address: number): void;
  locationDispose(address: number): void;
  chainOf(key: number): number;
  chainEnter(key: number): number;
  chainLeave(key: number, element: number): void;
  chainAwait(element: number, polls: number): void;
  addressSignal(key: number, about: number, counter: bigint): void;
  addressSignalPolite(key: number, about: number, counter: bigint): void;
  keyMonitor(channel: number): bigint;
  keyWait(channel: number, sequence: bigint, polls: number): void;
  keyWaitLazy(channel: number, sequence: bigint, polls: number): bigint;
  keySignal(channel: number): void;
  keySignalPolite(channel: number): void;
  locationWait(location: number, polls: number, alternates: boolean): void;
  locationWakeAll(location: number): void;
  locationWakeAllPolite(location: number): void;
  lookUp(key: number): number;
  pause(): void;
  eventAdvance(address: number, n: number): void;
  eventRead(address: number): bigint;
  eventAwait(address: number, value: bigint): number;
  eventDispose(address: number): void;
  sequencerTicket(address: number): bigint;
  sequencerDispose(address: number): void;
  /** The way by which a waiter last left a chain, 1 to 4: core/algorithms/chains.ts. */
  readonly recovery: WebAssembly.Global<'i32'>;
  ticketAcquire(address: number): number;
  ticketAwait(address: number): number;
  ticketAwaitDelayed(address: number): number;
  ticketDelay(address: number): number;
  ticketRelease(address: number, permits: number): number;
  ticketPost(address: number): void;
  ticketDispose(address: number): void;
  twaAcquire(address: number): number;
  twaAcquireSequestered(address: number): number;
  twaAvailableSequestered(address: number): number;
  twaAwait(address: number): number;
  twaRelease(address: number, permits: number): number;
  twaPost(address: number): void;
  twaReleaseConservative(address: number, permits: number): number;
  twaDispose(address: number): void;
  twaIsSequestered(address: number): number;
  ttsLock(address: number): number;
  ttsTryLock(address: number): number;
  ttsUnlock(address: number): number;
  ttsDispose(address: number): void;
  ticketLock(address: number): number;
  ticketTryLock(address: number): number;
  ticketUnlock(address: number): number;
  ticketLockDispose(address: number): void;
  twaIsOnChains(address: number): number;
  twaLock(address: number): number;
  twaTryLock(address: number): number;
  twaUnlock(address: number): number;
  twaLockDispose(address: number): void;
  mcsLock(address: number): number;
  mcsTryLock(address: number): number;
  mcsUnlock(address: number): number;
  clhLock(address: number): number;
  clhTryLock(address: number): number;
  clhUnlock(address: number): number;
  lifoLock(address: number): number;
  lifoTryLock(address: number): number;
  lifoUnlock(address: number): number;
  recipLock(address: number): number;
  recipTryLock(address: number): number;
  recipUnlock(address: number): number;
  /** Disposes of an object whose waiters need no wake-up for that. */
  closeObject(address: number): number;
  isDisposed(address: number): number;
  neverPark(): void;
  returnNodes(): void;
  takeIfDue(address: number): number;
  capacitorDepart(address: number, bypass: number): number;
  capacitorIsIdle(address: number, bypass: number): number;
  laneOf(lanes: number): number;
  lanesRelease(address: number, permits: number, lanes: number): number;
  laneOpen(address: number, lane: number, index: number, lanes: number): void;
  hash(kind: number, semaphore: number, ticket: bigint, mask: number): number;
  placeOf(key: number): number;
  arriveAt(place: number): bigint;
  sleepAt(place: number, sequence: bigint, nanoseconds: bigint): void;
  departFrom(place: number): void;
  signalAt(place: number): void;
  closePlace(address: number): void;
}

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
const instances = common('algorithms', () => new WeakMap<Attachment, Algorithms>());

/** Returns the instance of the calling thread over the arena to which it is attached. */
export function algorithmsOf(attachment: Attachment): Algorithms {
  const { core, memory, thread, mayBlock } = attachment;
  const known = instances.get(attachment);
  if (known) return known;
  const instance = instanceOf<Algorithms>(module(), { env: { memory }, core: { ticketTaken: core.ticketTaken } });
  instance.adopt(thread);
  attachment.beforeEnd(instance.returnNodes);
  if (!mayBlock) {
    instance.neverPark();
    for (const name of BLOCKING) instance[name] = refuseToBlock;
    for (const name of LOCKING) instance[name] = refuseToLock;
  }
  attachment.beforeEnd((reason) => {
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
  instances.set(attachment, instance);
  return instance;
}

function refuseToLock(): never {
  throw mayNotBlock('tryLock');
}
