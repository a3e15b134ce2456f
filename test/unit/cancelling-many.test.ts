/** Tens of thousands of requests that cancel, on one signal or in random order, leave nothing behind. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { Arena, Semaphore, TimeoutError } from 'taketurns';
import { describe, expect, it } from 'vitest';
import { tombstones, upTo } from '../support/cancelling.js';
import { failure } from '../support/failure.js';
import { at, Memory } from '../support/memory.js';
import { runProgram } from '../support/program.js';
import { roundsInCi } from '../support/rounds.js';
import { team } from '../support/team.js';
import { tuned } from '../support/tuned.mjs';
import { reactions, turn } from '../support/until.js';

const crowd = team(4, { core: true });

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

describe('what is left of a request', () => {
  // It runs in a process of its own, since the test runner has timers that come and go.
  it('is no listener and no timer', async () => {
    const { code, out, err } = await runProgram('leaves-nothing');
    expect(out.trim().split('\n')).toEqual([
      'at first: 0, 0',
      'four wait: 1, 4',
      'one has its permit: 1, 3',
      'TimeoutError',
      'one has cancelled, and one timer keeps the process alive for those who wait: 1, 4',
      'disposed of: 0, 0',
      'one waits: 1, 1',
      'AbortError',
      'aborted: 0, 0',
    ]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
  });

  it('does not keep the process alive, and one that waits does', async () => {
    expect(await runProgram('cancels')).toEqual({ code: 0, out: 'TimeoutError\n2\n', err: '' });
  });
});

describe('many requests', () => {
  // Node warns of a leak from the eleventh listener of one signal on.
  it('may share one signal', async () => {
    const warnings: string[] = [];
    const note = ({ name }: Error) => warnings.push(name);
    process.on('warning', note);
    const controller = new AbortController();
    const semaphore = new Semaphore(0);
    const promises = upTo(30).map(() => semaphore.acquireAsync(1, { signal: controller.signal }));
    await turn();
    controller.abort();
    await Promise.allSettled(promises);
    await turn();
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });
});

describe('tens of thousands that cancel on one exhausted semaphore', () => {
  const ROUNDS = 400;
  const BATCH = 100;

  it.each([
    ['one signal', true],
    ['one by one, from the back', false],
  ])('leave memory as it was: promises, %s', async (_, together) => {
    const arena = new Arena();
    const memory = new Memory(arena);
    const semaphore = new Semaphore(0, { arena });
    let [used, heap] = [0, 0];
    for (let round = 0; round < ROUNDS; round++) {
      const controllers = upTo(together ? 1 : BATCH).map(() => new AbortController());
      const promises = upTo(BATCH).map((i) =>
        semaphore.acquireAsync(1 + (i % 3), {
          signal: (controllers[i] ?? controllers[0])?.signal as AbortSignal,
        }),
      );
      for (const controller of controllers.reverse()) controller.abort();
      const outcomes = await Promise.allSettled(promises);
      if (outcomes.some(({ status }) => status === 'fulfilled')) throw new Error('nobody has released');
      // The runtime lets go of the signals between two iterations of the event loop.
      await turn();
      if (round === ROUNDS / 10) {
        used = memory.word(at('USED_ELEMENTS'));
        heap = heapUsed();
      }
    }
    expect(memory.word(at('USED_ELEMENTS'))).toBe(used);
    expect(memory.standing.length).toBeLessThanOrEqual(1);
    expect(semaphore.waiting).toBe(0);
    expect(semaphore.available).toBe(0);
    // Objects left by 36,000 requests would take more.
    expect(heapUsed() - heap).toBeLessThan(1e6);
    semaphore.release(7);
    expect(semaphore.available).toBe(7);
    expect(memory.standing).toEqual([]);
    expect(memory.cells).toBe(0);
  });

  it('leave memory as it was: threads', async () => {
    const arena = new Arena();
    const memory = new Memory(arena);
    const semaphore = tuned(new Semaphore(0, { arena }), { spin: 0 });
    const args = { handle: semaphore.handle, times: 10_000, timeout: 0.001 };
    const shorter = { ...args, times: 100 };
    await Promise.all(crowd.map((one) => one.run('time-out', shorter)));
    const used = memory.word(at('USED_ELEMENTS'));
    await Promise.all([
      ...crowd.map((one) => one.run('time-out', args)),
      (async () => {
        for (let i = 0; i < 100; i++) await failure(() => semaphore.acquireAsync(2, { timeout: 1 }));
      })(),
    ]);
    // Only a few are in use at any moment, and the pool does not grow for ever.
    expect(memory.word(at('USED_ELEMENTS')) - used).toBeLessThanOrEqual(32);
    expect(memory.standing.length).toBeLessThanOrEqual(1);
    semaphore.release(7);
    expect(semaphore.available).toBe(7);
    expect(memory.standing).toEqual([]);
    expect(memory.cells).toBe(0);
  });
});

function heapUsed(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

/**
 * Runs random sequences in one thread on a semaphore, and on a model that is a count of permits and a list. After each
 * step both must report the same, and promises must have been settled as the model says.
 */
describe('random requests, aborts and releases', () => {
  const step = fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({ kind: fc.constant('ask' as const), n: fc.integer({ min: 1, max: 5 }) }),
    },
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant('wait' as const), n: fc.integer({ min: 1, max: 3 }) }),
    },
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('abort' as const), n: fc.nat({ max: 30 }) }) },
    {
      weight: 5,
      arbitrary: fc.record({ kind: fc.constant('release' as const), n: fc.integer({ min: 1, max: 6 }) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('try' as const), n: fc.integer({ min: 1, max: 3 }) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('block' as const), n: fc.integer({ min: 1, max: 3 }) }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('turn' as const), n: fc.constant(0) }) },
  );

  it.each([1, 2, 1024])('behave as the model does (slots %i)', async (slots) => {
    const arena = new Arena({ slots });
    const memory = new Memory(arena);
    const property = fc.asyncProperty(
      fc.array(step, { maxLength: 60 }),
      fc.constantFrom(0n, 2n ** 32n - 20n, 2n ** 53n - 20n),
      async (steps, firstTicket) => {
        const semaphore = tuned(new Semaphore(0, { arena }), { spin: 0, firstTicket });
        let free = 0;
        let queue: { label: number; n: number; controller: AbortController | undefined }[] = [];
        const expected: string[] = [];
        const log: string[] = [];
        const serve = () => {
          for (let head = queue[0]; head && head.n <= free; head = queue[0]) {
            free -= head.n;
            expected.push(`${head.label} in`);
            queue.shift();
          }
        };
        for (const [label, { kind, n }] of steps.entries()) {
          const fits = queue.length === 0 && n <= free;
          switch (kind) {
            case 'ask':
            case 'wait': {
              const controller = kind === 'ask' ? new AbortController() : undefined;
              const promise = controller
                ? semaphore.acquireAsync(n, { signal: controller.signal })
                : semaphore.acquireAsync(n);
              promise.then(
                () => log.push(`${label} in`),
                () => log.push(`${label} out`),
              );
              queue.push({ label, n, controller });
              break;
            }
            case 'abort': {
              const who = queue[n];
              if (!who?.controller) break;
              queue = queue.filter((one) => one !== who);
              expected.push(`${who.label} out`);
              who.controller.abort();
              break;
            }
            case 'release':
              free += n;
              semaphore.release(n);
              break;
            case 'try':
              expect(semaphore.tryAcquire(n)).toBe(fits);
              if (fits) free -= n;
              break;
            case 'block':
              try {
                semaphore.acquire(n, { timeout: 0.001 });
                expect(fits).toBe(true);
                free -= n;
              } catch (error) {
                expect(error).toBeInstanceOf(TimeoutError);
                expect(fits).toBe(false);
              }
              break;
            case 'turn':
              await turn();
          }
          serve();
          expect(semaphore.waiting).toBe(queue.length);
          expect(semaphore.available).toBe(queue.length ? 0 : free);
          expect(tombstones(memory)).toBeLessThanOrEqual(queue.length + 1);
          await reactions();
          // Within one step the order is free: other tests check the order of runs and of single promises.
          expect(log.splice(0).toSorted()).toEqual(expected.splice(0).toSorted());
        }
        semaphore.dispose();
        await reactions();
        expect(log.toSorted()).toEqual(queue.map(({ label }) => `${label} out`).toSorted());
        expect(memory.standing).toEqual([]);
        expect(memory.cells).toBe(0);
      },
    );
    await fc.assert(property, { numRuns: roundsInCi(60, 20) });
  });
});
