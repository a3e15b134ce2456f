/**
 * Runs random sequences of operations on a semaphore and on a plain model, a count of permits and a queue. After each
 * step both must report the same, and promises must have been settled in the model's order.
 */
import fc from 'fast-check';
import { Arena, DisposedError, Semaphore } from 'taketurns';
import { lastTicket } from 'taketurns/algorithms';
import { describe, expect, it } from 'vitest';
import { Memory } from '../support/memory.js';
import { tuned } from '../support/tuned.mjs';
import { reactions } from '../support/until.js';

class Model {
  available: number;
  readonly max: number;
  readonly queue: { label: number; n: number }[] = [];
  ticket: bigint;
  disposed = false;

  constructor(permits: number, max: number, ticket: bigint) {
    this.available = permits;
    this.max = max;
    this.ticket = ticket;
  }

  /** Returns whether the request gets its permits at once. */
  take(n: number): boolean {
    if (this.queue.length > 0 || n > this.available) return false;
    this.available -= n;
    this.ticket += BigInt(n);
    return true;
  }

  /** Returns the labels of the waiters whose turn has come. Permits that the head cannot use yet are kept for it. */
  give(n: number): number[] {
    this.available += n;
    const due: number[] = [];
    for (let head = this.queue[0]; head && head.n <= this.available; head = this.queue[0]) {
      this.available -= head.n;
      due.push(head.label);
      this.queue.shift();
    }
    return due;
  }
}

type Step =
  | { kind: 'tryAcquire' | 'acquire' | 'acquireAsync' | 'release'; which: number; n: number }
  | { kind: 'dispose'; which: number };

const SEMAPHORES = 3;
const MAX = 12;
const which = fc.nat({ max: SEMAPHORES - 1 });
const steps = fc.array(
  fc.oneof(
    {
      weight: 12,
      arbitrary: fc.record({
        kind: fc.constant('acquireAsync' as const),
        which,
        n: fc.integer({ min: 1, max: 6 }),
      }),
    },
    {
      weight: 10,
      arbitrary: fc.record({
        kind: fc.constant('release' as const),
        which,
        n: fc.integer({ min: 1, max: 8 }),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('tryAcquire' as const),
        which,
        n: fc.integer({ min: 1, max: 6 }),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('acquire' as const),
        which,
        n: fc.integer({ min: 1, max: 6 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('dispose' as const), which }) },
  ),
  { maxLength: 120 },
) as fc.Arbitrary<Step[]>;
const firstTickets = fc.constantFrom(0n, 2n ** 31n - 10n, 2n ** 32n - 10n, 2n ** 53n - 10n, 2n ** 61n);
const permits = fc.integer({ min: 0, max: 8 });

describe.each([1, 2, 64])('a waiting array of %i', (slots) => {
  const arena = new Arena({ objects: SEMAPHORES, threads: 2, waiters: 512, slots });
  const memory = new Memory(arena);

  it('behaves as the model does', async () => {
    await fc.assert(
      fc.asyncProperty(
        steps,
        firstTickets,
        fc.array(permits, { minLength: SEMAPHORES, maxLength: SEMAPHORES }),
        async (steps, firstTicket, permits) => {
          const log: string[] = [];
          const expected: string[] = [];
          const made = permits.map((permits) => {
            const max = permits % 2 ? MAX : 2 ** 31 - 1;
            return {
              semaphore: tuned(new Semaphore(permits, { arena, max }), { firstTicket }),
              model: new Model(permits, max, firstTicket),
            };
          });
          for (const [label, step] of steps.entries()) {
            const { semaphore, model } = made[step.which] as (typeof made)[number];
            if (step.kind === 'dispose') {
              semaphore.dispose();
              for (const waiter of model.queue) expected.push(`DisposedError ${waiter.label}`);
              model.queue.length = 0;
              model.available = 0;
              model.disposed = true;
            } else if (step.kind === 'acquireAsync') {
              const promise = semaphore.acquireAsync(step.n);
              const ticket = lastTicket(arena);
              promise.then(
                () => log.push(`in ${label}`),
                (error) => log.push(`${error.name} ${label}`),
              );
              if (model.disposed) {
                expected.push(`DisposedError ${label}`);
              } else {
                expect(ticket).toBe(model.ticket);
                if (model.take(step.n)) {
                  expected.push(`in ${label}`);
                } else {
                  model.ticket += BigInt(step.n);
                  model.queue.push({ label, n: step.n });
                }
              }
            } else if (step.kind === 'release') {
              const { n } = step;
              // As in the library, permits that waiters will take do not count as available.
              const owed = model.queue.reduce((sum, waiter) => sum + waiter.n, 0);
              if (!model.disposed && model.available - owed + n > model.max) {
                expect(() => semaphore.release(n)).toThrow(RangeError);
              } else {
                semaphore.release(n);
                if (!model.disposed) for (const due of model.give(n)) expected.push(`in ${due}`);
              }
            } else if (model.disposed) {
              expect(() => semaphore.tryAcquire(step.n)).toThrow(DisposedError);
              expect(() => semaphore.acquire(step.n)).toThrow(DisposedError);
            } else if (step.kind === 'tryAcquire') {
              expect(semaphore.tryAcquire(step.n)).toBe(model.take(step.n));
            } else if (model.take(step.n)) {
              // It would block for ever otherwise, since no other thread is here to release.
              semaphore.acquire(step.n);
              expect(lastTicket(arena)).toBe(model.ticket - BigInt(step.n));
            }
            await reactions();
            expect(log).toEqual(expected);
            expect(semaphore.waiting).toBe(model.queue.length);
            // Permits that the head cannot use yet are not available.
            expect(semaphore.available).toBe(model.queue.length ? 0 : model.available);
          }
          for (const { semaphore } of made) semaphore.dispose();
          await reactions();
          expect(memory.cells).toBe(0);
        },
      ),
      { numRuns: 150 },
    );
  });
});
