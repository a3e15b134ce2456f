/**
 * Words that are private once the threads have started: no thread writes the word, or only one thread does. If no other
 * thread may write a word, a thread that loads the word gets the same value whenever it makes the load. So the driver
 * makes such a load a part of the step before the load, and there are fewer states.
 *
 * This is for a mutex whose waiters have no time-outs, because there each thread keeps its spare element for good.
 * Every write is checked: a write to a private word by another thread is an error.
 */
import * as layout from './layout.js';
import type { Scene } from './scene.js';

const { B_CELLS, B_EXTENT, E_CELLS, E_REQUEST, E_START, LINE } = layout;

const CONSTANT = 0xff;
const WORDS_OF_OBJECT = ['O_KIND', 'O_MAX', 'O_SPIN', 'O_ROBUST', 'M_PACE'];
/** The words of a spare element that only its owner writes. */
const WORDS_OF_SPARE = [E_START, E_START + 4, E_REQUEST, E_REQUEST + 4, E_CELLS, E_CELLS + 4];

export class PrivateWords {
  /** For each word: 0 if several threads may write it, CONSTANT if none may, else the only thread that may, plus 1. */
  readonly #writer: Uint8Array;

  constructor(scene: Scene) {
    const { regions, threads } = scene;
    this.#writer = new Uint8Array(regions.end >> 2);
    const set = (address: number, who: number): void => {
      this.#writer[address >> 2] = who;
    };
    for (const word of WORDS_OF_OBJECT) set(scene.semaphores[0] + layout.constant(word), CONSTANT);
    for (let line = regions.buckets; line < regions.elements; line += LINE) {
      set(line + B_EXTENT, CONSTANT);
      // Waiters take the first free cell, so only as many cells are used as there are threads.
      for (let cell = line + B_CELLS + 4 * threads; cell < line + LINE; cell += 4) set(cell, CONSTANT);
    }
    for (let t = 0; t < threads; t++) for (const word of WORDS_OF_SPARE) set(scene.spare(t) + word, t + 1);
  }

  /** Whether a load of the word by t returns the same value whenever t makes the load. */
  isPrivate(t: number, address: number): boolean {
    const writer = this.#writer[address >> 2];
    return writer === CONSTANT || writer === t + 1;
  }

  /** Throws if t may not write to the word. */
  check(t: number, address: number): void {
    const writer = this.#writer[address >> 2];
    if (writer !== 0 && writer !== t + 1) throw new Error(`thread ${t} writes ${address}, which is taken for private`);
  }
}
