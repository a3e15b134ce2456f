/** What is called in a loop is called also if one of the calls throws. */
import { expect, it } from 'vitest';
import { callEach } from '../../src/common/each.js';
import { type Signal, whenAborted } from '../../src/common/signals.js';
import { RateLimiter } from '../../src/tasks/index.js';

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

it('cancelAll of a rate of tasks ends all waits, also if the stack is exhausted at one of them', async () => {
  const rate = new RateLimiter(1, 1_000_000);
  rate.spend(1);
  const ends: string[] = [];
  for (let i = 0; i < 3; i++)
    rate.takeAsync().then(
      () => ends.push('begun'),
      ({ name }) => ends.push(name),
    );
  const { delete: remove } = Map.prototype;
  let calls = 0;
  Map.prototype.delete = function (key) {
    if (++calls === 2) throw new RangeError('Maximum call stack size exceeded');
    return remove.call(this, key);
  };
  try {
    expect(() => rate.cancelAll()).toThrow('call stack');
  } finally {
    Map.prototype.delete = remove;
  }
  await turn();
  expect([ends, rate.waiting]).toEqual([Array(3).fill('CancelledError'), 0]);
});

it('a rate of tasks goes on when an exception has cut a call anywhere', async () => {
  const { max } = Math;
  let cuts = 0;
  for (let left = 1, isCut = true; isCut; left++) {
    const rate = new RateLimiter(2, 5, { burst: 2 });
    let calls = 0;
    Math.max = (...numbers) => {
      if (++calls === left) throw new RangeError('Maximum call stack size exceeded');
      return max(...numbers);
    };
    try {
      rate.tryTake();
    } catch {
      cuts++;
    } finally {
      Math.max = max;
    }
    isCut = calls >= left;
    await rate.takeAsync(2);
    await rate.takeAsync(2);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([left, rate.tryTake(2), rate.inspect().taken]).toEqual([left, true, 2]);
  }
  expect(cuts).toBeGreaterThan(3);
});
