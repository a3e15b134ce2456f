/**
 * The compiled core: its exports, the numbers it answers with (core/layout.ts has them too, and a unit test
 * compares the two), and how a thread gets an instance of it over an arena's memory.
 */
import { coreBytes } from './core-bytes.js';
import { embedded } from './embedded.js';

/** What the core's functions answer. */
export const ADMITTED = 0;
export const REFUSED = 2;
export const TIMED_OUT = 6;
export const ANSWER_CLOSED = -1;
export const ANSWER_FULL = -2;
export const ANSWER_OVER_MAX = -3;
export const ANSWER_STALE = -4;
export const ANSWER_WRONG_KIND = -5;
export const ANSWER_NOT_FOUND = -6;
export const ANSWER_MISMATCH = -7;
export const ANSWER_NAMES_FULL = -8;

/** Of arrive, once the thread has ended: this is not the core's. */
export const ANSWER_ENDED = -100;

/** Address of the object that is disposed of for ever; who has let go of an object points here. */
export const CLOSED_OBJECT = 512;
/** Offset of the bytes in a drafted name, and how many there is room for. */
export const NAME_BYTES = 20;
export const NAME_ROOM = 108;
/** Most permits that one semaphore can have, and that one request can ask for. */
export const LIMIT = 0x7fffffff;

/** The exports of core.wasm; see the docstrings in core/. Addresses and answers are int32. */
export interface Core {
  measure(objects: number, names: number, threads: number, buckets: number, elements: number): number;
  create(
    id: bigint,
    objects: number,
    names: number,
    threads: number,
    buckets: number,
    elements: number,
  ): void;
  open(): number;
  id(): bigint;
  register(): number;
  unregister(): void;
  doorbell(): number;
  threadCount(): number;
  createObject(
    kind: number,
    permits: number,
    max: number,
    spin: number,
    threshold: number,
    first: bigint,
  ): number;
  generation(address: number): number;
  maxOf(address: number): number;
  attachObject(address: number, generation: number, kind: number): number;
  detachObject(address: number): void;
  draftName(): number;
  openName(
    draft: number,
    length: number,
    kind: number,
    permits: number,
    max: number,
    spin: number,
    threshold: number,
  ): number;
  acquire(address: number, n: number): number;
  park(address: number, n: number, acquired: number): number;
  parkFor(address: number, n: number, acquired: number, nanoseconds: bigint): number;
  giveUp(address: number): number;
  giveUpRun(run: number): number;
  tryAcquire(address: number, n: number): number;
  arrive(address: number, n: number, last: number): number;
  settle(run: number): number;
  enterRun(run: number): number;
  dropRun(run: number): void;
  release(address: number, n: number): number;
  finishRelease(address: number, n: number, released: number, run: number): number;
  exceeds(address: number, n: number): number;
  available(address: number): number;
  waiting(address: number): number;
  dispose(address: number): void;
  /** The ticket that the thread took last; the algorithms' instance writes it too. */
  readonly ticketTaken: WebAssembly.Global<'i64'>;
}

const instanceOver = embedded<Core>(coreBytes);

/** An instance of the core for the calling thread, over the memory. */
export function instantiate(memory: WebAssembly.Memory): Core {
  return instanceOver({ env: { memory } });
}
