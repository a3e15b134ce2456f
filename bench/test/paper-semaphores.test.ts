// The semaphores of `--paper`, and those that are measured by name: each row does what its name says.
import { Arena } from 'taketurns';
import { TwaSemaphore } from 'taketurns/algorithms';
import { describe, expect, it, vi } from 'vitest';
import { at, Memory } from '../../test/support/memory.js';
import { BENCHMARKS, scriptRow, usualRows } from '../src/benchmarks.js';
import { PAPER_SEMAPHORES, SEMAPHORES_BY_NAME } from '../src/rows/semaphores.js';
import type { SemaphoreLike } from '../src/rows/subjects.js';

const special = [...PAPER_SEMAPHORES, ...SEMAPHORES_BY_NAME];
const scripts = special.filter(({ kind }) => kind === 'script').map(({ name }) => name);

const FOREVER = 2 ** 31 - 1;
const FAR_PARKS = at('FAR_PARKS');

async function joined(name: string) {
  const row = scriptRow('semaphores', name);
  const made = await row.share();
  return { ...made, subject: (await row.join(made.shared)).subject as SemaphoreLike };
}

describe('the semaphores of --paper, and those by name', () => {
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
    ['TwaSemaphore spin threshold 2', 2],
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

  it.each([
    ['TwaSemaphore', 100, 0],
    ['TicketSemaphore spin', FOREVER, 0],
    ['TwaSemaphore spin', FOREVER, 0],
    ['TwaSemaphore spin near', FOREVER, FAR_PARKS],
    ['TwaSemaphore spin threshold 0', FOREVER, 0],
    ['TicketSemaphore spin delay 10', FOREVER, 0],
    ['TwaSemaphore far parks', 100, FAR_PARKS],
    ['ChainSemaphore spin near', FOREVER, FAR_PARKS],
    ['ChannelSemaphore spin', FOREVER, 0],
    ['LocationSemaphore spin near', FOREVER, FAR_PARKS],
  ])('%s polls %i times, and its far waiters as its name says', async (name, spin, far) => {
    const { shared } = await joined(name);
    const { address } = shared as { address: number };
    const memory = new Memory(Arena.default);
    expect(memory.word(address + at('O_SPIN'))).toBe(spin);
    if (!name.startsWith('Ticket')) expect(memory.word(address + at('O_THRESHOLD')) & FAR_PARKS).toBe(far);
  });

  it('of --paper are the three curves of the figure, the far waiters that park, and native ones', () => {
    expect(PAPER_SEMAPHORES.map(({ name }) => name)).toEqual([
      'TicketSemaphore spin',
      'TwaSemaphore spin',
      'TwaSemaphore spin near',
      'sem_t',
      'ticket-spin',
      'twa-spin',
      'twa-spin near',
    ]);
  });

  it('are in no usual run, but for sem_t', () => {
    const usual = usualRows(BENCHMARKS.semaphores).map(({ name }) => name);
    expect(special.map(({ name }) => name).filter((name) => usual.includes(name))).toEqual(['sem_t']);
  });
});
