// The rows of the benchmark of hashes. Every hash is measured with 1, 8 and 64 semaphores. The semaphores of semabench
// that count collisions and futile wake-ups are rows too. To add a row, add an entry.

import { Arena, type ArenaOptions } from 'taketurns';
import { type HashPlace, type Row, type ScriptRow, wakesOf } from './row.js';
import { SEMAPHORES } from './semaphores.js';
import type { SemaphoreLike } from './subjects.js';

const SEMAPHORES_IN_STEP = [1, 8, 64];
const NAMES = ['multiplier', 'paired', 'orbit', 'gray', 'mixed'] as const;

interface SharedSemaphore extends SemaphoreLike {
  readonly handle: unknown;
  dispose(): void;
}

interface SemaphoreClass {
  new (permits: number, options?: object): SharedSemaphore;
  from(handle: never): SharedSemaphore;
}

/**
 * Makes several semaphores one subject. Each thread uses one semaphore after the other, all threads in the same order.
 * So the tickets of the semaphores advance together.
 */
class InStep implements SemaphoreLike {
  readonly #semaphores: readonly SemaphoreLike[];
  #at = 0;
  #held: SemaphoreLike;

  constructor(semaphores: readonly [SemaphoreLike, ...SemaphoreLike[]]) {
    this.#semaphores = semaphores;
    this.#held = semaphores[0];
  }

  acquire(): void {
    this.#held = this.#semaphores[this.#at] as SemaphoreLike;
    this.#at = this.#at + 1 === this.#semaphores.length ? 0 : this.#at + 1;
    this.#held.acquire();
  }

  release(): void {
    this.#held.release();
  }
}

/** The default number of slots of an arena, and a small one that makes waiters collide. */
const USUAL = 2048;
const FEW = 64;
let withFew: Arena | undefined;

function arenaWith(slots: number): Arena {
  if (slots === USUAL) return Arena.default;
  // The published types do not have the option `slots`.
  const sizes: ArenaOptions & { readonly slots: number } = { slots };
  withFew ??= new Arena(sizes);
  return withFew;
}

function inStep(
  { of, hash, slots, semaphores }: HashPlace,
  load: () => Promise<SemaphoreClass>,
): ScriptRow<SemaphoreLike> {
  const share = async (count: number, arena: Arena) => {
    const Semaphore = await load();
    const made = Array.from({ length: count }, () => new Semaphore(1, { hash, arena }));
    return {
      shared: made.map(({ handle }) => handle),
      dispose: () => {
        for (const semaphore of made) semaphore.dispose();
      },
      wakes: () => wakesOf(arena),
    };
  };
  return {
    kind: 'script',
    name: `${of} ${hash} x${semaphores}${slots === USUAL ? '' : ` of ${slots} slots`}`,
    family: 'taketurns',
    only: 'most',
    hash: { of, hash, slots, semaphores },
    share: () => share(semaphores, arenaWith(slots)),
    alone: () => share(1, Arena.default),
    join: async (handles) => {
      const Semaphore = await load();
      const all = (handles as never[]).map((handle) => Semaphore.from(handle));
      const leave = (): void => {
        for (const semaphore of all) semaphore.dispose();
      };
      return { subject: new InStep(all as [SharedSemaphore]), leave };
    },
  };
}

type Load = () => Promise<SemaphoreClass>;
const twa: Load = async () => (await import('taketurns/algorithms')).TwaSemaphore;
const chain: Load = async () => (await import('taketurns/algorithms')).ChainSemaphore;
const own: Load = async () => (await import('taketurns')).Semaphore;

const CLASSES: readonly [of: string, load: Load, hashes: readonly string[], slots: number][] = [
  ['TwaSemaphore', twa, NAMES, USUAL],
  ['ChainSemaphore', chain, NAMES, USUAL],
  // Semaphore has only this hash; it is here for comparison.
  ['Semaphore', own, ['multiplier'], USUAL],
  ['TwaSemaphore', twa, NAMES, FEW],
];

export const HASHES: readonly Row[] = [
  ...CLASSES.flatMap(([of, load, hashes, slots]) =>
    SEMAPHORES_IN_STEP.flatMap((semaphores) => hashes.map((hash) => inStep({ of, hash, slots, semaphores }, load))),
  ),
  ...SEMAPHORES.filter((row) => row.kind === 'script' && row.countsWakes),
];
