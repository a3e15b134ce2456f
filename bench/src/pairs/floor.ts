// The floors of the pair table in wasm, compiled from floor/floor.ts.

import { readFileSync } from 'node:fs';
import type { LockLike, SemaphoreLike } from '../rows/subjects.js';

const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
const bytes = readFileSync(new URL('../../build/floor.wasm', import.meta.url));
const { instance } = await WebAssembly.instantiate(bytes, { env: { memory } });

/** Does both instructions `pairs` times. */
export const run = instance.exports.run as (pairs: number) => bigint;
const take = instance.exports.take as (at: number) => void;
const give = instance.exports.give as (at: number) => void;

/**
 * Each method does one of the two instructions and nothing else. Every class over wasm takes at least this time.
 */
export class TwoCalls implements SemaphoreLike, LockLike {
  readonly #at = 0;
  readonly #take = take;
  readonly #give = give;

  acquire(): void {
    this.#take(this.#at);
  }

  release(): void {
    this.#give(this.#at);
  }

  lock(): void {
    this.#take(this.#at);
  }

  unlock(): void {
    this.#give(this.#at);
  }
}
