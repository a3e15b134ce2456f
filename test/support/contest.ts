/** Runs a crowd of threads that acquire and release, and count every admission (test/workers/jobs/contend.mjs). */
import { Arena, type Semaphore } from 'taketurns';
import type {
  ChainSemaphore,
  ChannelSemaphore,
  LocationSemaphore,
  MultilaneSemaphore,
  TicketSemaphore,
  TwaSemaphore,
} from 'taketurns/algorithms';
import { expect } from 'vitest';
import { at, Memory } from './memory.js';
import { roundsOf } from './rounds.js';
import { type Member, together } from './team.js';
import { until } from './until.js';

export interface Contest {
  readonly semaphore:
    | Semaphore
    | TicketSemaphore
    | TwaSemaphore
    | ChainSemaphore
    | ChannelSemaphore
    | LocationSemaphore
    | MultilaneSemaphore;
  /** How many permits the semaphore was made with. */
  readonly permits: number;
  /** The permits of the lightest request; 1 by default. `to` is the heaviest request, also 1 by default. */
  readonly from?: number;
  readonly to?: number;
  /** The calls to use; each request draws one of these. */
  readonly ways: readonly ('acquire' | 'tryAcquire' | 'acquireAsync')[];
  /** Releases all permits at once, or one by one, or in the conservative way of the listing. */
  readonly giving?: 'whole' | 'pieces' | 'conservative';
  /** How many rounds the whole tests have. A run may do only a part of them (rounds.ts). */
  readonly rounds: number;
  /** Another semaphore, without permits. Each thread has a promise that waits for this semaphore all the time. */
  readonly besides?: Semaphore;
  /** The turns of an empty loop between a release and the next request. 0 keeps the queue full. */
  readonly think?: number;
}

export interface Score {
  readonly admissions: number;
  readonly refusals: number;
  readonly outOfOrder: number;
  readonly tooMany: number;
  readonly mostHeld: number;
}

/** Runs the crowd and checks what must always hold. Returns the sums over all members. */
export async function contest(members: readonly Member[], c: Contest): Promise<Score> {
  const { semaphore, permits, from = 1, to = 1 } = c;
  const rounds = roundsOf(c.rounds);
  const { handle } = semaphore;
  const memory = new Memory(Arena.from(handle.arena));
  // A sequestered semaphore counts its tickets in O_TAKEN, which is 0 in all other semaphores.
  const ticket = () => memory.long(handle.address + at('TICKET')) + memory.long(handle.address + at('O_TAKEN'));
  const owed = () => ticket() - memory.long(handle.address + at('GRANT'));
  // If threads may wait, this thread holds all permits until the whole crowd is in line.
  const line = c.ways.some((way) => way !== 'tryAcquire');
  if (line) for (let i = 0; i < permits; i++) semaphore.acquire();
  const first = ticket();
  // Word 0 counts the permits that are held now. Word 1 has the first ticket after those of the latest admission.
  const shared = new BigInt64Array(new SharedArrayBuffer(16));
  shared[1] = first;
  const running = together<Score>(members, 'contend', {
    handle,
    shared,
    permits,
    from,
    to,
    ways: c.ways,
    giving: c.giving ?? 'whole',
    rounds,
    think: c.think ?? 0,
    besides: c.besides?.handle,
    // If no two requests can hold at the same time, they must be admitted in the order of their tickets.
    exclusive: from * 2 > permits,
  });
  if (line) {
    const all = () => ('waiting' in semaphore ? semaphore.waiting : Number(owed())) >= members.length;
    await Promise.race([running, until(all, 'the crowd stands in line')]);
    for (let i = 0; i < permits; i++) semaphore.release();
  }
  const scores = await running;
  const sum = (key: keyof Score) => scores.reduce((total, score) => total + score[key], 0);
  const score = {
    admissions: sum('admissions'),
    refusals: sum('refusals'),
    outOfOrder: sum('outOfOrder'),
    tooMany: sum('tooMany'),
    mostHeld: Math.max(...scores.map((one) => one.mostHeld)),
  };
  expect(score.tooMany, 'more permits held than were made').toBe(0);
  expect(score.outOfOrder, 'admissions out of ticket order').toBe(0);
  expect(score.admissions).toBe(members.length * rounds);
  expect(shared[0], 'permits still held').toBe(0n);
  if ('waiting' in semaphore) {
    await until(() => semaphore.waiting === 0, 'nobody waits');
  }
  expect(semaphore.available, 'permits at the end').toBe(permits);
  if (to === 1) expect(ticket() - first, 'tickets taken').toBe(BigInt(score.admissions));
  return score;
}
