/** Computes the hash of a state from the memory, the ghosts and each thread. A step recomputes only what it changes. */
import type { Machine } from '../engine/machine/machine.js';
import type { Ghosts } from './ghosts.js';

export class StateHash {
  lo = 0;
  hi = 0;
  readonly #machine: Machine;
  readonly #ghosts: Ghosts;
  readonly #threads: number;

  constructor(machine: Machine, ghosts: Ghosts, threads: number) {
    this.#machine = machine;
    this.#ghosts = ghosts;
    this.#threads = threads;
  }

  /** Updates the hash after a change of thread t alone. */
  update(t: number): void {
    this.#hash(t);
    this.#combine();
  }

  /** Computes the hash after changes of any threads. */
  compute(): void {
    for (let t = 0; t < this.#threads; t++) this.#hash(t);
    this.#combine();
  }

  #hash(t: number): void {
    this.#machine.threadHash(t);
    this.#ghosts.setThreadHash(t, this.#machine.hashLo, this.#machine.hashHi);
  }

  #combine(): void {
    const ghosts = this.#ghosts;
    let lo = this.#machine.memoryHashLo ^ Math.imul(ghosts.hashLo, 0x85ebca6b);
    let hi = this.#machine.memoryHashHi ^ Math.imul(ghosts.hashHi, 0xc2b2ae35);
    lo ^= lo >>> 15;
    hi ^= hi >>> 13;
    for (let t = 0; t < this.#threads; t++) {
      lo = Math.imul(lo ^ ghosts.threadHashLo(t), 0x85ebca6b);
      lo ^= lo >>> 15;
      hi = Math.imul(hi ^ ghosts.threadHashHi(t), 0xc2b2ae35);
      hi ^= hi >>> 13;
    }
    this.lo = Math.imul(lo ^ (lo >>> 16), 0x7feb352d);
    this.hi = Math.imul(hi ^ (hi >>> 15), 0x846ca68b);
  }
}
