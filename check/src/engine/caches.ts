/**
 * Simulates caches that the protocol MESI keeps coherent. Each processor has one cache, which is never full. A line of
 * a cache is in one of four states: M (modified), E (exclusive), S (shared), I (invalid).
 *
 *              state       own cache             other caches
 *     read    M, E, S      hit                   -
 *             I            miss -> S, or E if no other cache has the line    M, E -> S
 *     write   M, E         hit -> M              -
 *             S            upgrade -> M          -> I
 *             I            miss -> M             -> I
 *
 * If a cache has a line in M or E, no other cache has the line. So the simulation stores two facts about each line:
 * which caches have the line, and which cache, if any, has the line alone.
 */

export const HIT = 0;
export const MISS = 1;
export const UPGRADE = 2;
export type Outcome = typeof HIT | typeof MISS | typeof UPGRADE;

const NOBODY = -1;

export class Caches {
  readonly #processors: number;
  /** The bytes of a line. */
  readonly #line: number;
  /** Whether a processor has a line. */
  readonly #has: Uint8Array;
  /** How many processors have a line. */
  readonly #holders: Int32Array;
  /** The processor that has a line in M or E, or NOBODY. */
  readonly #owner: Int32Array;
  readonly #modified: Uint8Array;

  constructor(bytes: number, processors: number, line = 64) {
    const lines = Math.ceil(bytes / line);
    this.#line = line;
    this.#processors = processors;
    this.#has = new Uint8Array(lines * processors);
    this.#holders = new Int32Array(lines);
    this.#owner = new Int32Array(lines).fill(NOBODY);
    this.#modified = new Uint8Array(lines);
  }

  read(processor: number, address: number): Outcome {
    const line = Math.floor(address / this.#line);
    const mine = line * this.#processors + processor;
    if (this.#has[mine] !== 0) return HIT;
    this.#has[mine] = 1;
    this.#holders[line]++;
    this.#owner[line] = this.#holders[line] === 1 ? processor : NOBODY;
    this.#modified[line] = 0;
    return MISS;
  }

  write(processor: number, address: number): Outcome {
    const line = Math.floor(address / this.#line);
    const first = line * this.#processors;
    this.#modified[line] = 1;
    if (this.#owner[line] === processor) return HIT;
    const outcome = this.#has[first + processor] !== 0 ? UPGRADE : MISS;
    this.#has.fill(0, first, first + this.#processors);
    this.#has[first + processor] = 1;
    this.#holders[line] = 1;
    this.#owner[line] = processor;
    return outcome;
  }

  /** Says whether the processor has the line of this address. */
  has(processor: number, address: number): boolean {
    return this.#has[Math.floor(address / this.#line) * this.#processors + processor] !== 0;
  }

  stateOf(processor: number, address: number): 'M' | 'E' | 'S' | 'I' {
    const line = Math.floor(address / this.#line);
    if (!this.has(processor, address)) return 'I';
    if (this.#owner[line] !== processor) return 'S';
    return this.#modified[line] !== 0 ? 'M' : 'E';
  }
}
