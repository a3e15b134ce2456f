/**
 * The objects of `taketurns/sync` are compiled to a module of their own, which only programs that import them carry. A
 * thread makes one instance of it for each arena, beside that of the core, when it first needs one.
 */
import { host } from '#host';
import type { Attachment } from '../runtime/attachment.js';
import { common } from '../runtime/common.js';
import { embedded, instanceOf } from '../runtime/embedded.js';
import { syncBytes } from './sync-bytes.js';

/**
 * The exports of sync.wasm; see the docstrings in core/kinds/phase, condition and rw-lock. Addresses
 * and answers are int32.
 */
export interface Sync {
  adopt(thread: number): number;
  trapIfDead(): void;
  setAwake(turns: number, near: number): void;
  clearPlaces(address: number, thread: number): void;
  isOf(condition: number, mutex: number): number;
  settleUp(address: number): void;
  notify(address: number, n: number): number;
  notifyOne(address: number): number;
  relay(address: number, all: boolean): void;
  putDown(address: number, attachment: number, carried: number, passesOn: boolean): void;
  waitingFor(address: number): number;
  readonly phaseSeen: WebAssembly.Global<'i32'>;
  phaseCount(address: number): number;
  deathsOf(address: number): number;
  awaitZero(address: number): number;
  announce(address: number, phase: number): number;
  sleepInPhase(address: number, phase: number, nanoseconds: bigint): number;
  takeOff(address: number, n: number, attachment: number): number;
  putOn(address: number, n: number, attachment: number): number;
  arm(address: number): number;
  arriveAt(address: number, hasAction: boolean, attachment: number): number;
  finishAction(address: number, phase: number): number;
  wasBroken(address: number, phase: number): number;
  breakPhase(address: number, phase: number): number;
  leaveBarrier(attachment: number): void;
  isFull(address: number): number;
  dropTask(attachment: number): void;
  begin(address: number, attachment: number): number;
  end(address: number, isDone: boolean, attachment: number): void;
  disposePhase(address: number): void;
  noteWaits(attachment: number, more: number, now: number): void;
  attachmentAfter(address: number, attachment: number): number;
  waitsBy(attachment: number): number;
  waitsSinceBy(attachment: number): number;
  heldByAttachment(attachment: number): number;
  threadOfAttachment(attachment: number): number;
  readonly drainSeen: WebAssembly.Global<'i32'>;
  placeFor(address: number): number;
  beginRead(address: number, place: number): number;
  tryRead(address: number, place: number): number;
  readToo(address: number, place: number): number;
  endWait(address: number, place: number): number;
  endRead(address: number, place: number): void;
  giveUpRead(address: number, place: number): void;
  shutGate(address: number): number;
  isDrained(address: number, phase: number): number;
  announceDrain(address: number, phase: number): number;
  drainReaders(address: number, phase: number, nanoseconds: bigint): number;
  openGate(address: number, keepsDied: boolean): void;
  stampOf(address: number): number;
  isStamp(address: number, stamp: number): number;
  readsBy(address: number, thread: number): number;
  hasDied(address: number): number;
  unreportedDeaths(address: number): number;
}

const module = embedded(syncBytes);
const instances = common('sync', () => new WeakMap<Attachment, Sync>());

/** Returns the instance of the calling thread over the arena to which it is attached. */
export function syncOf(attachment: Attachment): Sync {
  const known = instances.get(attachment);
  if (known) return known;
  const { memory, thread } = attachment;
  const instance = instanceOf<Sync>(module(), { env: { memory } });
  instance.adopt(thread);
  host.endIfDead?.(instance, ['sleepInPhase', 'drainReaders'], attachment);
  instances.set(attachment, instance);
  return instance;
}
