/** A view of an arena's memory by the numbers of the core, for state that the public interface hides. */
import { readFileSync } from 'node:fs';
import type { Arena } from 'taketurns';

/** Every number of the core, by name (scripts/words.mjs). */
export const layout: Readonly<Record<string, number>> = JSON.parse(
  readFileSync(new URL('../../build/words.json', import.meta.url), 'utf8'),
);

export function at(name: string): number {
  const value = layout[name];
  if (value === undefined) throw new Error(`no words.ts of core/ has a number ${name}`);
  return value;
}

/** Returns how many lists of names an arena for so many objects has, as core/arena/arena.ts computes it. */
export function nameHeads(objects: number): number {
  const step = at('NAME_HEADS_STEP');
  return Math.ceil(Math.max(objects, at('NAME_HEADS_LEAST')) / step) * step;
}

/** Returns the address of the first object of an arena for so many objects. */
export function firstObject(objects = 65_536): number {
  return at('NAME_HEADS') + 8 * nameHeads(objects);
}

/** Returns where a table of `lines` lines begins: at a page, or, if it is shorter, at a multiple of its length. */
function aligned(address: number, lines: number): number {
  const step = Math.min(lines * at('LINE'), 4096);
  return Math.ceil(address / step) * step;
}

export class Memory {
  readonly #words: Int32Array;
  readonly #longs: BigInt64Array;
  readonly #threads: number;
  readonly #chains: number;
  readonly #buckets: number;
  readonly #common: number;
  readonly #elements: number;

  /** How many overflow lines of its own each bucket has. */
  readonly rounds: number;

  constructor(arena: Arena) {
    const { buffer } = arena.handle.memory;
    this.#words = new Int32Array(buffer);
    this.#longs = new BigInt64Array(buffer);
    // core/arena/arena.ts places the regions in this order.
    const elements = this.word(at('H_ELEMENTS'));
    const objects = this.word(at('H_OBJECTS'));
    const names = firstObject(objects) + objects * at('OBJECT_SIZE');
    this.#threads = names + (objects + this.word(at('H_THREADS')) + 1) * at('NAME_SIZE');
    const afterThreads = this.#threads + (this.word(at('H_THREADS')) + 1) * at('THREAD_SIZE');
    this.#chains = aligned(afterThreads, this.word(at('H_CHAINS')));
    this.#buckets = aligned(this.#chains + this.word(at('H_CHAINS')) * at('LINE'), this.word(at('H_BUCKETS')));
    const buckets = this.word(at('H_BUCKETS'));
    this.rounds = Math.min(Math.max(Math.floor(elements / 8 / buckets), 1), 64);
    this.#common = this.#buckets + (1 + this.rounds) * buckets * at('LINE');
    this.#elements = this.#common + (Math.floor(elements / 6) + 1) * at('LINE');
    const end = this.#elements + elements * at('ELEMENT_SIZE');
    if (end !== this.word(at('H_END'))) throw new Error('test/support/memory.ts does not know this layout');
  }

  /**
   * Whether a thread that was declared dead has not been reaped to the end. Perhaps another thread is doing that now.
   */
  get burying(): boolean {
    for (let thread = 1; thread <= this.word(at('H_THREADS')); thread++)
      if ((this.word(this.record(thread)) & at('LIFE_STATE')) === at('DEAD')) return true;
    return false;
  }

  word(address: number): number {
    return Atomics.load(this.#words, address >> 2);
  }

  long(address: number): bigint {
    return Atomics.load(this.#longs, address >> 3);
  }

  /** Does only the first step of a release. The memory then is as if a thread had been preempted after this step. */
  beginRelease(semaphore: { readonly handle: { readonly address: number } }, permits: number): void {
    Atomics.add(this.#longs, (semaphore.handle.address + at('GRANT')) >> 3, BigInt(permits));
  }

  /** Writes a word of 8 bytes, for a thread that died in the middle of something. */
  write(address: number, value: bigint): void {
    Atomics.store(this.#longs, address >> 3, BigInt.asIntN(64, value));
  }

  /** Writes a word of 4 bytes. */
  store(address: number, value: number): void {
    Atomics.store(this.#words, address >> 2, value);
  }

  /** Returns the address of a chain. */
  chainAt(slot: number): number {
    return this.#chains + slot * at('LINE');
  }

  /** Returns the address of a thread's record. */
  record(thread: number): number {
    return this.#threads + thread * at('THREAD_SIZE');
  }

  /** Returns the addresses of the elements in a state. */
  elementsIn(state: number): number[] {
    return this.elements.flatMap((element, i) =>
      element.state === state ? [this.#elements + i * at('ELEMENT_SIZE')] : [],
    );
  }

  /** Returns the number of the bucket of the semaphore's next ticket, as core/queue/waiting-array.ts computes it. */
  nextBucket({ handle: { address } }: { readonly handle: { readonly address: number } }): number {
    const mixed = Math.imul(address / at('OBJECT_SIZE'), 0x9e3779b1) >>> 16;
    const ticket = Number(BigInt.asUintN(16, this.long(address + at('TICKET'))));
    return (mixed + ticket * 17) & (this.word(at('H_BUCKETS')) - 1);
  }

  /** Returns one word of each chain, by its name in the layout. */
  chainWords(name: string): number[] {
    return Array.from({ length: this.word(at('H_CHAINS')) }, (_, i) => this.word(this.chainAt(i) + at(name)));
  }

  /** Returns one word of each bucket, by its name in the layout. */
  bucketWords(name: string): number[] {
    return Array.from({ length: this.word(at('H_BUCKETS')) }, (_, i) =>
      this.word(this.#buckets + i * at('LINE') + at(name)),
    );
  }

  /** The largest number of lines after its bucket that a thread looks through. */
  get longestLook(): number {
    return Math.max(...this.bucketWords('B_EXTENT').map((word) => word & at('EXTENT_MASK')));
  }

  /** The elements that are entered in the common overflow lines now. */
  get cellsInCommon(): number {
    let count = 0;
    for (let line = this.#common; line < this.#elements; line += at('LINE')) {
      for (let cell = line + at('B_CELLS'); cell < line + at('LINE'); cell += 4) {
        if (this.word(cell) !== 0) count++;
      }
    }
    return count;
  }

  /** The cells of the whole array, overflow included, that hold an element now. */
  get cells(): number {
    let count = 0;
    for (let line = this.#buckets; line < this.#elements; line += at('LINE')) {
      for (let cell = line + at('B_CELLS'); cell < line + at('LINE'); cell += 4) {
        if (this.word(cell) !== 0) count++;
      }
    }
    return count;
  }

  doorbell(thread: number): number {
    return this.word(this.record(thread) + at('T_DOORBELL'));
  }

  /** Epoch, bare state and owner of every element that was ever in use; the owner is 0 if there is none. */
  get elements(): { epoch: bigint; state: number; owner: number }[] {
    return Array.from({ length: this.word(at('USED_ELEMENTS')) }, (_, i) => {
      const element = this.#elements + i * at('ELEMENT_SIZE');
      const state = this.long(element + at('E_STATE'));
      const owner = Number(BigInt.asUintN(64, this.long(element + at('E_REQUEST'))) >> 51n) % at('ASYNC');
      return { epoch: state / BigInt(at('EPOCH')), state: Number(state) % at('EPOCH'), owner };
    });
  }

  /** The states of the elements that stand for a waiter, a run of promises or a tombstone. */
  get standing(): number[] {
    const others = ['IDLE', 'RESERVED', 'ATTACHED'].map(at);
    return this.elements.map(({ state }) => state).filter((state) => !others.includes(state));
  }
}
