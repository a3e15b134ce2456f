// The rows of the benchmark of hashes: every hash at 1, 8 and 64 semaphores, and the semaphores of semabench of which
// collisions and futile wake-ups are counted. To add a row, add an entry.

import { Arena } from 'taketurns';
import { type HashPlace, type Row, type ScriptRow, wakesOf } from './row.js';
import { SEMAPHORES, type SemaphoreLike } from './semaphores.js';

const SEMAPHORES_IN_STEP = [1, 8, 64];
const NAMES = ['multiplier', 'paired', 'orbit', 'gray', 'mixed'] as const;

interface SharedSemaphore extends SemaphoreLike {
  readonly handle: unknown;
  dispose(): void;
}

interface SemaphoreClass {
  new (permits: number, options?: object): SharedSemaphore;
  from(handle: never): SemaphoreLike;
}

/**
 * Several semaphores as one: each thread takes them in turn, all threads in the same order, so that their tickets go
 * up in step.
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

function inStep(
  { of, hash, semaphores }: HashPlace,
  load: () => Promise<SemaphoreClass>,
): ScriptRow<SemaphoreLike> {
  const share = async (count: number) => {
    const Semaphore = await load();
    const made = Array.from({ length: count }, () => new Semaphore(1, { hash }));
    return {
      shared: made.map(({ handle }) => handle),
      dispose: () => {
        for (const semaphore of made) semaphore.dispose();
      },
      wakes: () => wakesOf(Arena),
    };
  };
  return {
    kind: 'script',
    name: `${of} ${hash} x${semaphores}`,
    family: 'taketurns',
    only: 'most',
    hash: { of, hash, semaphores },
    share: () => share(semaphores),
    alone: () => share(1),
    join: async (handles) => {
      const Semaphore = await load();
      const [first, ...others] = (handles as never[]).map((handle) => Semaphore.from(handle));
      return { subject: new InStep([first as SemaphoreLike, ...others]) };
    },
  };
}

const CLASSES: readonly [of: string, load: () => Promise<SemaphoreClass>, hashes: readonly string[]][] = [
  ['TwaSemaphore', async () => (await import('taketurns/algorithms')).TwaSemaphore, NAMES],
  ['ChainSemaphore', async () => (await import('taketurns/algorithms')).ChainSemaphore, NAMES],
  // It has no choice; beside the others for comparison.
  ['Semaphore', async () => (await import('taketurns')).Semaphore, ['multiplier']],
];

export const HASHES: readonly Row[] = [
  ...CLASSES.flatMap(([of, load, hashes]) =>
    SEMAPHORES_IN_STEP.flatMap((semaphores) => hashes.map((hash) => inStep({ of, hash, semaphores }, load))),
  ),
  ...SEMAPHORES.filter((row) => row.kind === 'script' && row.countsWakes),
];
