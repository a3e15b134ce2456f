/** What is called in a loop is called also if one of the calls throws. */
import { describe, expect, it } from 'vitest';
import { callEach } from '../../src/common/each.js';
import { type Signal, whenAborted } from '../../src/common/signals.js';
import { RateLimiter, type WaitOptions } from '../../src/tasks/index.js';

const turn = () => new Promise((resolve) => setTimeout(resolve));

it('an error goes on to the caller, and those behind it are called', async () => {
  const called: string[] = [];
  let left = 1;
  const cut = () => {
    if (left-- > 0) throw new RangeError('Maximum call stack size exceeded');
    called.push('cut');
  };
  expect(() => callEach([() => called.push('first'), cut, () => called.push('last')])).toThrow('call stack');
  expect(called).toEqual(['first']);
  await turn();
  expect(called).toEqual(['first', 'cut', 'last']);
});

it('each is called once if none throws, and who leaves a Set is not called', async () => {
  const called: number[] = [];
  const all = new Set<() => void>();
  const third = () => called.push(3);
  all.add(() => called.push(1));
  all.add(() => all.delete(third));
  all.add(third);
  callEach(all);
  await turn();
  expect(called).toEqual([1]);
});

it('a signal ends all waits, also if the stack is exhausted at one of them', async () => {
  let abort = () => {};
  const signal: Signal = {
    aborted: false,
    reason: undefined,
    addEventListener: (_, listener) => {
      abort = listener;
    },
    removeEventListener() {},
  };
  const ended: number[] = [];
  let isCut = false;
  whenAborted(signal, () => {
    if (!isCut) {
      isCut = true;
      throw new RangeError('Maximum call stack size exceeded');
    }
    ended.push(1);
  });
  whenAborted(signal, () => ended.push(2));
  expect(abort).toThrow('call stack');
  await turn();
  expect(ended).toEqual([1, 2]);
});

describe('a call of a rate of tasks that is cut ends all waits', () => {
  const builtins: [Record<string, (...args: never[]) => unknown>, string][] = [
    [Map.prototype as never, 'get'],
    [Map.prototype as never, 'delete'],
    [Set.prototype as never, 'delete'],
    [Array.prototype as never, 'map'],
  ];
  /** The call, and how the waits end. */
  const acts: Record<string, [string, (rate: RateLimiter, abort: () => void) => void]> = {
    cancelAll: ['CancelledError', (rate) => rate.cancelAll()],
    'a signal': ['aborted', (_, abort) => abort()],
    spend: ['begun', (rate) => rate.spend(-3)],
  };
  it.each(Object.keys(acts))('%s', async (act) => {
    const [end, call] = acts[act] as (typeof acts)[string];
    let cuts = 0;
    for (const [owner, name] of builtins) {
      const original = owner[name] as (...args: never[]) => unknown;
      for (let left = 1, isCut = true; isCut; left++) {
        const rate = new RateLimiter(3, 1_000_000, { burst: 3 });
        rate.spend(3);
        let abort = () => {};
        const signal: Signal = {
          aborted: false,
          reason: { name: 'aborted' },
          addEventListener: (_, listener) => {
            abort = listener;
          },
          removeEventListener() {},
        };
        const ends: string[] = [];
        const ask = (waits: WaitOptions) =>
          void rate.takeAsync(waits).then(
            () => ends.push('begun'),
            ({ name }) => ends.push(name),
          );
        for (let i = 0; i < 3; i++) ask({ signal });
        let calls = 0;
        owner[name] = function (this: unknown, ...args: never[]) {
          if (++calls === left) throw new RangeError('Maximum call stack size exceeded');
          return original.apply(this, args);
        };
        try {
          call(rate, abort);
        } catch {
        } finally {
          owner[name] = original;
        }
        isCut = calls >= left;
        if (isCut) cuts++;
        // This one may get the cell of one that has not been told yet.
        ask({});
        await turn();
        const what = [name, left];
        expect([...what, ends, rate.waiting]).toEqual([...what, Array(3).fill(end), 1]);
        rate.spend(-rate.inspect().taken);
        await turn();
        // No cell of the others counts.
        expect([...what, ends.slice(3), rate.waiting, rate.inspect().taken]).toEqual([...what, ['begun'], 0, 1]);
        rate.dispose();
      }
    }
    expect(cuts).toBeGreaterThan(0);
  });
});
