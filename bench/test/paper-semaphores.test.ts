// The semaphores of `--paper`: each row does what its name says.
import { Arena } from 'taketurns';
import { TwaSemaphore } from 'taketurns/algorithms';
import { describe, expect, it, vi } from 'vitest';
import { at, Memory } from '../../test/support/memory.js';
import { BENCHMARKS, scriptRow, usualRows } from '../src/benchmarks.js';
import { PAPER_SEMAPHORES } from '../src/rows/semaphores.js';
import type { SemaphoreLike } from '../src/rows/subjects.js';

const names = PAPER_SEMAPHORES.map(({ name }) => name);
const scripts = PAPER_SEMAPHORES.filter(({ kind }) => kind === 'script').map(({ name }) => name);

async function joined(name: string) {
  const row = scriptRow('semaphores', name);
  const made = await row.share();
  return { ...made, subject: (await row.join(made.shared)).subject as SemaphoreLike };
}

describe('the semaphores of --paper', () => {
  it.each(scripts)('%s has one permit', async (name) => {
    const { subject, dispose } = await joined(name);
    for (let i = 0; i < 50; i++) {
      subject.acquire();
      subject.release();
    }
    dispose?.();
  });

  it.each([
    ['TwaSemaphore', 1],
    ['TwaSemaphore threshold 0', 0],
    ['TwaSemaphore threshold 2', 2],
    ['TwaSemaphore threshold 4', 4],
  ])('%s has the threshold %i', async (name, threshold) => {
    const { shared } = await joined(name);
    const { address } = shared as { address: number };
    expect(new Memory(Arena.default).word(address + at('O_THRESHOLD'))).toBe(threshold);
  });

  it('post without the short-cut only where the name says so', async () => {
    const post = vi.spyOn(TwaSemaphore.prototype, 'releaseConservative');
    for (const [name, posts] of [
      ['TwaSemaphore', 0],
      ['TwaSemaphore conservative', 1],
    ] as const) {
      const { subject } = await joined(name);
      post.mockClear();
      subject.acquire();
      subject.release();
      expect(post, name).toHaveBeenCalledTimes(posts);
    }
    post.mockRestore();
  });

  it('are those of the listings beside native ones; their variants are in no usual run', () => {
    expect(names).toEqual(
      expect.arrayContaining([
        'TicketSemaphore',
        'ChainSemaphore',
        'ChainSemaphore all',
        'ChainSemaphore due',
        'ChannelSemaphore',
        'ChannelSemaphore lazy',
        'LocationSemaphore',
        'sem_t',
        'twa-futex',
        'ticket-futex',
      ]),
    );
    const usual = usualRows(BENCHMARKS.semaphores).map(({ name }) => name);
    const only = names.filter((name) => !usual.includes(name));
    expect(only).toEqual(
      expect.arrayContaining([
        'TwaSemaphore threshold 0',
        'TwaSemaphore threshold 2',
        'TwaSemaphore threshold 4',
        'TwaSemaphore conservative',
      ]),
    );
  });
});
