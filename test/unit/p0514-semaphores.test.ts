/** The clauses of P0514R1, 32.10.1, about binary_semaphore and counting_semaphore, each by its number. */
import { Arena, DisposedError, Semaphore, TimeoutError } from 'taketurns';
import { BinarySemaphore, CountingSemaphore, Notify } from 'taketurns/p0514';
import { describe, expect, it } from 'vitest';
import { algorithmsOf } from '../../dist/papers/algorithms/compiled.js';
import { failure } from '../support/failure.js';
import { membershipOf, replaceable } from '../support/membership.js';
import { at, Memory } from '../support/memory.js';
import { type Settling, watch } from '../support/settled.js';
import { Member, team, together } from '../support/team.js';
import { turn, until } from '../support/until.js';

const crowd = team(4);
const [first, second, third] = [0, 1, 2].map((i) => () => crowd[i] as NonNullable<(typeof crowd)[0]>);
const arenaOf = (semaphore: { handle: { arena: Parameters<typeof Arena.from>[0] } }) =>
  Arena.from(semaphore.handle.arena);

/** Waits until so many are lacking to takers, of whom so many (as many by default) stand in the queue. */
async function waiting(semaphore: BinarySemaphore | CountingSemaphore, count: number, takers = count): Promise<void> {
  const { address } = semaphore.handle;
  const memory = new Memory(arenaOf(semaphore));
  await until(() => memory.long(address + at('O_COUNTER')) >> 32n === BigInt(count), `${count} are counted as waiting`);
  await until(
    () =>
      memory.long(address + at('TICKET')) - memory.long(address + at('GRANT')) === BigInt(count) &&
      memory.standing.length === takers,
    `${takers} stand in the queue`,
  );
}

describe('1, 2: count_type and max', () => {
  it('max is 1, and the largest int32', () => {
    expect(BinarySemaphore.max).toBe(1);
    expect(CountingSemaphore.max).toBe(2 ** 31 - 1);
  });

  it('a greater value is a RangeError, where the paper leaves it undefined, and nothing has changed', () => {
    const binary = new BinarySemaphore(1);
    expect(() => binary.signal()).toThrow(/BinarySemaphore.signal: 1 more .* greater than 1 \(its max\); it is 1/);
    expect(binary.value).toBe(1);
    const counting = new CountingSemaphore(CountingSemaphore.max - 1);
    expect(() => counting.signal(2)).toThrow(RangeError);
    counting.signal();
    expect(counting.value).toBe(CountingSemaphore.max);
    expect(() => counting.signal(1, Notify.none)).toThrow(RangeError);
    expect(counting.tryWait()).toBe(true);
  });
});

describe('3: constructors', () => {
  it('begin at 0, or as desired', () => {
    expect(new BinarySemaphore().value).toBe(0);
    expect(new BinarySemaphore(1).value).toBe(1);
    expect(new CountingSemaphore().value).toBe(0);
    expect(new CountingSemaphore(CountingSemaphore.max).value).toBe(CountingSemaphore.max);
  });

  it('refuse a value out of range', () => {
    expect(() => new BinarySemaphore(2)).toThrow('BinarySemaphore: desired must be an integer from 0 to 1, got 2');
    expect(() => new CountingSemaphore(-1)).toThrow(RangeError);
    expect(() => new CountingSemaphore('1' as never)).toThrow(TypeError);
    expect(() => new CountingSemaphore(1, { spin: -1 })).toThrow(RangeError);
    expect(() => new CountingSemaphore(1, null as never)).toThrow(TypeError);
  });

  it('a handle is of its own kind', () => {
    const binary = new BinarySemaphore();
    expect(BinarySemaphore.from(binary.handle).tryWait()).toBe(false);
    expect(() => CountingSemaphore.from(binary.handle as never)).toThrow(/of a BinarySemaphore/);
  });
});

describe('references', () => {
  it('a thread has one, however many library objects it has', () => {
    const semaphore = new CountingSemaphore();
    const memory = new Memory(arenaOf(semaphore));
    const { handle } = semaphore;
    const references = () => (at('KEPT') - 1) & memory.word(handle.address + at('O_LIFE')) & 0xffffff;
    expect(references()).toBe(1);
    const others = [0, 1, 2].map(() => CountingSemaphore.from(handle));
    expect(references()).toBe(1);
    others[1]?.dispose();
    expect(references()).toBe(0);
    expect(semaphore.disposed).toBe(true);
    expect(memory.long(handle.address + at('O_LIFE')) >> 32n).toBe(BigInt(handle.generation + 1));
  });
});

describe("4: the destructor's requirement", () => {
  it('a thread that was unblocked before has its unit, though its wait has not returned', async () => {
    for (let i = 0; i < 200; i++) {
      const semaphore = new BinarySemaphore(0, { spin: i % 2 ? 0 : 200 });
      const { address } = semaphore.handle;
      const memory = new Memory(arenaOf(semaphore));
      const wait = first().run('call', { handle: semaphore.handle, method: 'wait' });
      // The waiter is only counted: it may not be in the queue yet.
      await until(() => memory.long(address + at('O_COUNTER')) >> 32n === 1n, 'it waits');
      semaphore.signal();
      semaphore.dispose();
      await wait;
    }
  });

  it('a thread that was handed all that it waits for, likewise', async () => {
    for (let i = 0; i < 100; i++) {
      const semaphore = new CountingSemaphore(1, { spin: i % 2 ? 0 : 200 });
      const { address } = semaphore.handle;
      const memory = new Memory(arenaOf(semaphore));
      const wait = first().run('call', { handle: semaphore.handle, method: 'wait', args: [3] });
      await until(() => memory.long(address + at('O_COUNTER')) >> 32n === 2n, 'it waits');
      semaphore.signal(2);
      semaphore.dispose();
      await wait;
    }
  });

  it('promises likewise', async () => {
    const semaphore = new CountingSemaphore();
    const waits = [semaphore.waitAsync(), semaphore.waitAsync()];
    semaphore.signal(2);
    semaphore.dispose();
    await Promise.all(waits);
  });

  it('a remaining waiter, which the paper forbids, gets a DisposedError', async () => {
    const semaphore = new CountingSemaphore();
    const { handle } = semaphore;
    const waits = [
      watch(first().run('call', { handle, method: 'wait' }), 0),
      watch(second().run('call', { handle, method: 'tryWaitFor', args: [1e6] }), 1),
      watch(third().run('call', { handle, method: 'waitAsync' }), 2),
    ];
    await waiting(semaphore, 3);
    const own = watch(semaphore.tryWaitForAsync(1e6), 3);
    semaphore.dispose();
    semaphore.dispose();
    await until(() => [...waits, own].every((wait) => wait.state === 'rejected'), 'all are told');
    for (const { error } of [...waits, own]) expect(error).toMatchObject({ name: 'DisposedError' });
    expect(() => semaphore.wait()).toThrow(DisposedError);
    expect(() => semaphore.tryWait()).toThrow(DisposedError);
    await expect(semaphore.waitAsync()).rejects.toThrow(DisposedError);
    await expect(semaphore.tryWaitForAsync(5)).rejects.toThrow(DisposedError);
    expect(() => semaphore.handle).toThrow(DisposedError);
    semaphore.signal();
    expect(semaphore.value).toBe(0);
    // Every thread has let go: the memory can be used again.
    const life = () => new Memory(Arena.from(handle.arena)).long(handle.address + at('O_LIFE')) >> 32n;
    await until(() => life() === BigInt(handle.generation + 1), 'all have let go');
  });
});

describe('7.1: signal adds', () => {
  it('1, or the count', () => {
    const semaphore = new CountingSemaphore(1);
    semaphore.signal();
    semaphore.signal(3);
    semaphore.signal(2, Notify.one);
    expect(semaphore.value).toBe(7);
  });

  it('a bad count or notify is an error', () => {
    const semaphore = new CountingSemaphore();
    for (const count of [-1, 1.5, 2 ** 31, Number.NaN]) expect(() => semaphore.signal(count)).toThrow(RangeError);
    expect(() => semaphore.signal(-1)).toThrow(
      'CountingSemaphore.signal: count must be an integer from 0 to 2147483647 (its max), got -1',
    );
    expect(() => semaphore.signal('2' as never)).toThrow(TypeError);
    expect(() => semaphore.signal(1, 'some' as never)).toThrow(/notify must be Notify.all/);
    expect(() => new BinarySemaphore().signal(1 as never)).toThrow(TypeError);
    expect(semaphore.value).toBe(0);
  });
});

describe('7.2: signal all', () => {
  it('unblocks as many as the value suffices for, in the order in which they came', async () => {
    const semaphore = new CountingSemaphore();
    const { handle } = semaphore;
    const log = new Int32Array(new SharedArrayBuffer(4 * 4));
    const waits: Settling<number>[] = [];
    for (let entry = 0; entry < 3; entry++) {
      waits.push(watch(crowd[entry]?.run('call', { handle, method: 'wait', log, entry }) as Promise<void>, entry));
      await waiting(semaphore, entry + 1);
    }
    semaphore.signal(2);
    await until(() => Atomics.load(log, 0) === 2, 'two are through');
    await waiting(semaphore, 1);
    expect([...log.subarray(1, 3)].sort()).toEqual([0, 1]);
    semaphore.signal();
    await until(() => waits.every(({ state }) => state === 'fulfilled'), 'the third is');
    expect(semaphore.value).toBe(0);
  });
});

describe('7.3: signal one', () => {
  it('unblocks one, though the value would suffice for two; the rest is left for later requests', async () => {
    const semaphore = new CountingSemaphore();
    const { handle } = semaphore;
    const waits = crowd.slice(0, 2).map((member, i) => watch(member.run('call', { handle, method: 'wait' }), i));
    await waiting(semaphore, 2);
    semaphore.signal(2, Notify.one);
    await until(() => waits.some(({ state }) => state === 'fulfilled'), 'one is through');
    await waiting(semaphore, 1);
    expect(semaphore.value).toBe(1);
    expect(semaphore.tryWait()).toBe(true);
    semaphore.signal(1, Notify.one);
    await until(() => waits.every(({ state }) => state === 'fulfilled'), 'both are');
  });
});

describe('7: signal none', () => {
  it('unblocks no waiter; a later signal unblocks two', async () => {
    const semaphore = new CountingSemaphore();
    const { handle } = semaphore;
    const waits = crowd.slice(0, 2).map((member, i) => watch(member.run('call', { handle, method: 'wait' }), i));
    await waiting(semaphore, 2);
    semaphore.signal(1, Notify.none);
    await waiting(semaphore, 2);
    expect(semaphore.value).toBe(1);
    semaphore.signal();
    await until(() => waits.every(({ state }) => state === 'fulfilled'), 'both are through');
    expect(semaphore.value).toBe(0);
  });

  it('a later try_wait gets what it added', () => {
    const semaphore = new BinarySemaphore();
    semaphore.signal(Notify.none);
    expect(semaphore.tryWait()).toBe(true);
    semaphore.signal(Notify.none);
    semaphore.wait();
    expect(semaphore.value).toBe(0);
  });
});

describe('signal of nothing, release(count = 0) in the paper', () => {
  it('adds nothing, and unblocks those for whom the value suffices', async () => {
    const semaphore = new CountingSemaphore();
    const { handle } = semaphore;
    const waits = crowd.slice(0, 3).map((member, i) => watch(member.run('call', { handle, method: 'wait' }), i));
    const through = () => waits.filter(({ state }) => state === 'fulfilled').length;
    await waiting(semaphore, 3);
    semaphore.signal(0);
    semaphore.signal(2, Notify.none);
    semaphore.signal(0, Notify.none);
    await waiting(semaphore, 3);
    expect(semaphore.value).toBe(2);
    semaphore.signal(0, Notify.one);
    await until(() => through() === 1, 'one is through');
    expect(semaphore.value).toBe(1);
    semaphore.signal(0);
    await until(() => through() === 2, 'two are');
    await waiting(semaphore, 1);
    expect(semaphore.value).toBe(0);
    semaphore.signal();
    await until(() => through() === 3, 'all are');
  });

  it('is allowed when the value is at its greatest', () => {
    const semaphore = new CountingSemaphore(CountingSemaphore.max);
    semaphore.signal(0);
    expect(semaphore.value).toBe(CountingSemaphore.max);
  });
});

describe('8: signal without notify', () => {
  it('is signal all', async () => {
    const semaphore = new CountingSemaphore();
    const waits = [semaphore.waitAsync(), semaphore.waitAsync()];
    semaphore.signal(2);
    await Promise.all(waits);
  });
});

describe('12, 13: try_wait', () => {
  it('takes 1 and returns true, unless the value is 0', () => {
    const semaphore = new CountingSemaphore(2);
    expect([semaphore.tryWait(), semaphore.tryWait(), semaphore.tryWait()]).toEqual([true, true, false]);
    expect(semaphore.value).toBe(0);
  });
});

describe('12: 1 or count, all or nothing', () => {
  it('try_wait takes the count if the value suffices, and nothing if not', () => {
    const semaphore = new CountingSemaphore(5);
    expect([semaphore.tryWait(3), semaphore.tryWait(3), semaphore.tryWaitFor(0, 3)]).toEqual([true, false, false]);
    expect(semaphore.value).toBe(2);
    expect([semaphore.tryWaitUntil(0, 2), semaphore.tryWait(CountingSemaphore.max)]).toEqual([true, false]);
    const full = new CountingSemaphore(CountingSemaphore.max);
    full.wait(CountingSemaphore.max);
    expect(full.value).toBe(0);
  });

  it('a loop over single units, which the paper allows too, blocks two threads that want both units', () => {
    const semaphore = new CountingSemaphore(2);
    const [first, second] = [CountingSemaphore.from(semaphore.handle), CountingSemaphore.from(semaphore.handle)];
    expect([first.tryWait(1), second.tryWait(1), first.tryWait(1), second.tryWait(1)]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    semaphore.signal(2);
    expect([first.tryWait(2), second.tryWait(2)]).toEqual([true, false]);
  });

  it('every wait takes its count, and at once if the value suffices', async () => {
    const semaphore = new CountingSemaphore(21);
    semaphore.wait(2);
    expect(semaphore.tryWaitFor(5, 3)).toBe(true);
    expect(semaphore.tryWaitUntil(Date.now() + 5, 4)).toBe(true);
    await semaphore.waitAsync(5);
    expect(await semaphore.tryWaitForAsync(5, 6)).toBe(true);
    expect(await semaphore.tryWaitUntilAsync(Number.POSITIVE_INFINITY, 1)).toBe(true);
    expect(semaphore.value).toBe(0);
  });

  it.each(['wait', 'tryWaitFor', 'tryWaitUntil', 'waitAsync', 'tryWaitForAsync', 'tryWaitUntilAsync'])(
    '%s blocks until all of it has been signalled, ahead of those that came later',
    async (method) => {
      const semaphore = new CountingSemaphore(1);
      const { handle } = semaphore;
      const time = method.includes('Until') ? [Number.POSITIVE_INFINITY] : method.includes('For') ? [1e6] : [];
      const heavy = watch(first().run('call', { handle, method, args: [...time, 3] }), 0);
      await waiting(semaphore, 2, 1);
      // What was there is put by for it.
      expect(semaphore.value).toBe(0);
      expect(semaphore.tryWait()).toBe(false);
      const light = watch(second().run('call', { handle, method: 'wait' }), 1);
      await waiting(semaphore, 3, 2);
      semaphore.signal();
      await waiting(semaphore, 2, 2);
      expect([heavy.state, light.state]).toEqual(['pending', 'pending']);
      semaphore.signal(1, Notify.one);
      await until(() => heavy.state === 'fulfilled', 'the heavy one is through');
      await waiting(semaphore, 1);
      expect(light.state).toBe('pending');
      semaphore.signal();
      await until(() => light.state === 'fulfilled', 'the light one is');
      expect(semaphore.value).toBe(0);
    },
  );

  it('a signal of one unblocks one that wants several', async () => {
    const semaphore = new CountingSemaphore();
    const wait = semaphore.waitAsync(3);
    semaphore.signal(3, Notify.one);
    await wait;
    expect(semaphore.value).toBe(0);
  });

  it.each(['tryWaitFor', 'tryWaitForAsync'] as const)('%s gives back what it has if the time is over', async (way) => {
    const semaphore = new CountingSemaphore(2);
    expect(await semaphore[way](1, 3)).toBe(false);
    expect(semaphore.value).toBe(2);
    const heavy = semaphore.tryWaitForAsync(20, 5);
    const light = semaphore.waitAsync(2);
    expect(semaphore.value).toBe(0);
    // The light one has what the heavy one gives back: nothing is signalled.
    expect(await heavy).toBe(false);
    await light;
    expect(semaphore.value).toBe(0);
    expect(new Memory(arenaOf(semaphore)).standing).toEqual([]);
  });

  it('18.5, 19: the last try of a timed wait takes what it lacks from the value', async () => {
    const { max } = CountingSemaphore;
    const semaphore = new CountingSemaphore();
    const wait = semaphore.tryWaitForAsync(20, 3);
    semaphore.signal();
    semaphore.signal(max, Notify.none);
    expect(await wait).toBe(true);
    expect(semaphore.value).toBe(max - 2);
    expect(new Memory(arenaOf(semaphore)).standing).toEqual([]);
  });

  it('18.5, 19: the last try of a timed wait takes a value that no signal has told it of', async () => {
    const semaphore = new CountingSemaphore();
    const wait = semaphore.tryWaitForAsync(20);
    semaphore.signal(1, Notify.none);
    expect(await wait).toBe(true);
    const core = replaceable(membershipOf(arenaOf(semaphore)).core);
    const { reserveSecond } = core;
    core.reserveSecond = () => {
      core.reserveSecond = reserveSecond;
      semaphore.signal(1, Notify.none);
      return reserveSecond();
    };
    expect(semaphore.tryWaitFor(20)).toBe(true);
    expect(semaphore.value).toBe(0);
  });

  it('what is no count is refused by its name, and nothing has changed', async () => {
    const semaphore = new CountingSemaphore(9);
    const binary = new BinarySemaphore(1);
    for (const [bad, Kind] of [
      [0, RangeError],
      [-1, RangeError],
      [1.5, RangeError],
      [Number.NaN, RangeError],
      [2 ** 31, RangeError],
      ['2', TypeError],
      [null, TypeError],
    ] as const) {
      const count = bad as number;
      expect(() => semaphore.wait(count)).toThrow(Kind);
      expect(() => semaphore.tryWait(count)).toThrow(Kind);
      for (const ms of [0, 5]) {
        expect(() => semaphore.tryWaitFor(ms, count)).toThrow(/tryWaitFor: count must be/);
        expect(() => semaphore.tryWaitUntil(ms, count)).toThrow(/tryWaitUntil: count must be/);
        await expect(semaphore.tryWaitForAsync(ms, count)).rejects.toThrow(Kind);
        await expect(semaphore.tryWaitUntilAsync(ms, count)).rejects.toThrow(Kind);
      }
      await expect(semaphore.waitAsync(count)).rejects.toThrow(/waitAsync: count must be an integer from 1 to/);
    }
    expect(() => binary.wait(2)).toThrow('BinarySemaphore.wait: count must be an integer from 1 to 1 (its max), got 2');
    expect(() => binary.tryWait(2)).toThrow(RangeError);
    await expect(binary.waitAsync(2)).rejects.toThrow(RangeError);
    binary.wait(1);
    expect([semaphore.value, binary.value]).toEqual([9, 0]);
  });

  it('more than can be waited for at a time is refused, and nothing has changed', async () => {
    const most = 2 ** 29 - 1;
    const semaphore = new CountingSemaphore(1);
    expect(() => semaphore.wait(most + 1)).toThrow(
      'CountingSemaphore: the value does not suffice for 536870912, and with 536870912 more, more than 536870911 ' +
        'would be waited for. Nothing was taken',
    );
    await expect(semaphore.waitAsync(CountingSemaphore.max)).rejects.toThrow(RangeError);
    expect(semaphore.value).toBe(1);
    const wait = semaphore.waitAsync(most);
    await expect(semaphore.tryWaitForAsync(5, 2)).rejects.toThrow(RangeError);
    semaphore.signal(most - 1);
    await wait;
    expect(semaphore.value).toBe(0);
  });
});

describe('18.1: a wait that finds the value above 0', () => {
  it('returns at once, however it waits', async () => {
    const semaphore = new CountingSemaphore(6);
    semaphore.wait();
    expect(semaphore.tryWaitFor(0)).toBe(true);
    expect(semaphore.tryWaitUntil(0)).toBe(true);
    await semaphore.waitAsync();
    expect(await semaphore.tryWaitForAsync(5)).toBe(true);
    expect(await semaphore.tryWaitUntilAsync(Number.POSITIVE_INFINITY)).toBe(true);
    expect(semaphore.value).toBe(0);
  });
});

describe('18.2: a spurious return', () => {
  it('is for timed waits alone: a wait that is woken for nothing goes on waiting', async () => {
    const semaphore = new BinarySemaphore(0, { spin: 0 });
    const { handle } = semaphore;
    const wait = watch(first().run('call', { handle, method: 'wait' }), 0);
    await waiting(semaphore, 1);
    // These are all words of the arena on which the thread may sleep.
    const words = new Int32Array(handle.arena.memory.buffer);
    let woken = 0;
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < words.length; i++) if (words[i] !== 0) woken += Atomics.notify(words, i);
      await turn();
      await waiting(semaphore, 1);
    }
    expect(woken).toBeGreaterThan(0);
    expect(wait.state).toBe('pending');
    semaphore.signal();
    await until(() => wait.state === 'fulfilled', 'it is through');
  });

  it('false is not returned before the time is over', async () => {
    const semaphore = new BinarySemaphore();
    const begun = performance.now();
    expect(semaphore.tryWaitFor(20)).toBe(false);
    expect(performance.now() - begun).toBeGreaterThanOrEqual(19);
    const then = Date.now() + 20;
    expect(await semaphore.tryWaitUntilAsync(then)).toBe(false);
    expect(Date.now()).toBeGreaterThanOrEqual(then - 1);
  });
});

describe('19: timed waits', () => {
  it('that cancel leave nothing behind', async () => {
    const semaphore = new CountingSemaphore();
    expect(semaphore.tryWaitFor(0)).toBe(false);
    expect(semaphore.tryWaitFor(1)).toBe(false);
    expect(semaphore.tryWaitUntil(Date.now() + 1)).toBe(false);
    expect(semaphore.tryWaitUntil(Date.now() - 1000)).toBe(false);
    expect(await semaphore.tryWaitForAsync(1)).toBe(false);
    expect(await semaphore.tryWaitForAsync(0)).toBe(false);
    expect(await semaphore.tryWaitUntilAsync(Date.now() + 2)).toBe(false);
    semaphore.signal();
    expect(semaphore.value).toBe(1);
    expect(semaphore.tryWait()).toBe(true);
    expect(new Memory(arenaOf(semaphore)).standing).toEqual([]);
  });

  it('return true when they are unblocked', async () => {
    const semaphore = new CountingSemaphore();
    const { handle } = semaphore;
    const timed = ['tryWaitFor', 'tryWaitForAsync'].map((method, i) =>
      (crowd[i] as NonNullable<(typeof crowd)[0]>).run<boolean>('call', { handle, method, args: [1e6] }),
    );
    await waiting(semaphore, 2);
    semaphore.signal(2);
    expect(await Promise.all(timed)).toEqual([true, true]);
  });

  it('refuse a value that is no time', async () => {
    const semaphore = new BinarySemaphore(1);
    for (const ms of [Number.NaN, 2 ** 31]) {
      expect(() => semaphore.tryWaitFor(ms)).toThrow(/tryWaitFor: ms must be/);
      await expect(semaphore.tryWaitForAsync(ms)).rejects.toThrow(RangeError);
    }
    for (const ms of ['1', '-1']) expect(() => semaphore.tryWaitFor(ms as never)).toThrow(TypeError);
    expect(() => semaphore.tryWaitUntil(Number.NaN)).toThrow(RangeError);
    expect(() => semaphore.tryWaitUntil(new Date() as never)).toThrow(TypeError);
    await expect(semaphore.tryWaitUntilAsync(Number.NaN)).rejects.toThrow(RangeError);
    expect(semaphore.value).toBe(1);
  });
});

describe('an exhausted stack', () => {
  it('ends a wait in the queue: what it wanted is counted no more, once', async () => {
    const semaphore = new CountingSemaphore();
    const arena = arenaOf(semaphore);
    const { address } = semaphore.handle;
    const memory = new Memory(arena);
    const { core } = membershipOf(arena);
    const { enqueue } = core;
    core.enqueue = (...given) => {
      core.enqueue = enqueue;
      expect(given).toHaveLength(4);
      throw new RangeError('Maximum call stack size exceeded');
    };
    expect(() => semaphore.wait()).toThrow('Maximum call stack');
    expect(memory.long(address + at('O_COUNTER'))).toBe(0n);
    expect(new Semaphore(1, { arena }).tryAcquire()).toBe(true);
    expect(() => new Semaphore(0, { arena }).acquire({ timeout: 1 })).toThrow(TimeoutError);
    expect(memory.long(address + at('O_COUNTER'))).toBe(0n);
    const waits = semaphore.waitAsync();
    semaphore.signal();
    await waits;
  });
});

describe('threads that end', () => {
  it('leave no tombstone behind, which would give its permits to the next object there', async () => {
    const arena = new Arena();
    const memory = new Memory(arena);
    const semaphore = new CountingSemaphore(0, { arena });
    expect(await Promise.all([semaphore.tryWaitForAsync(1), semaphore.tryWaitForAsync(10, 2)])).toEqual([false, false]);
    expect(memory.standing).toEqual([at('TOMBSTONE')]);
    arena.dispose();
    expect([memory.standing, memory.cells]).toEqual([[], 0]);
  });

  it('half way through dispose: the waiters learn of it', async () => {
    const semaphore = new CountingSemaphore();
    const { handle } = semaphore;
    const arena = arenaOf(semaphore);
    const waits = failure(() => semaphore.waitAsync());
    const member = new Member();
    arena.watch(member.worker);
    await member.run('call', { handle, method: 'tryWait' });
    // The first half of what its dispose does.
    algorithmsOf(membershipOf(arena)).closeCounter(handle.address as number);
    await member.kill();
    expect(await waits).toBeInstanceOf(DisposedError);
  });

  it.each(['wait', 'waitAsync'])('in %s of several: what they wanted is not waited for any more', async (way) => {
    const semaphore = new CountingSemaphore(1);
    const { handle } = semaphore;
    const memory = new Memory(arenaOf(semaphore));
    const member = new Member();
    arenaOf(semaphore).watch(member.worker);
    member.run('call', { handle, method: way, args: [4] });
    await waiting(semaphore, 3, 1);
    const behind = semaphore.waitAsync(2);
    await member.kill();
    await until(() => memory.long(handle.address + at('O_COUNTER')) === 1n << 32n, 'one is lacking to the other');
    semaphore.signal();
    await behind;
    expect(memory.long(handle.address + at('O_COUNTER'))).toBe(0n);
  });

  it.each(['wait', 'waitAsync'])('in %s are counted no more: a signal is for the remaining waiters', async (way) => {
    const semaphore = new CountingSemaphore();
    const { handle } = semaphore;
    const memory = new Memory(arenaOf(semaphore));
    const member = new Member();
    arenaOf(semaphore).watch(member.worker);
    member.run('call', { handle, method: way });
    await waiting(semaphore, 1);
    await member.kill();
    await until(() => memory.long(handle.address + at('O_COUNTER')) === 0n, 'it is counted no more');
    semaphore.signal();
    expect(semaphore.value).toBe(1);
  });
});

describe.each([
  ['BinarySemaphore', () => new BinarySemaphore(1), 1],
  ['CountingSemaphore', () => new CountingSemaphore(3), 3],
  ['BinarySemaphore, not polling', () => new BinarySemaphore(1, { spin: 0 }), 1],
] as const)('%s, by a crowd', (_, make, permits) => {
  it.each([
    ['wait', ['wait']],
    ['every way', ['wait', 'tryWait', 'tryWaitFor', 'tryWaitUntil', 'waitAsync', 'tryWaitForAsync']],
  ])('%s: never more inside than allowed, and the value is restored', async (_way, ways) => {
    const semaphore = make();
    const rounds = 400;
    const shared = new Int32Array(new SharedArrayBuffer(4));
    const scores = await together<{ taken: number; tooMany: number }>(crowd, 'lock-with', {
      handle: semaphore.handle,
      shared,
      ways,
      rounds,
      permits,
    });
    expect(scores).toEqual(crowd.map(() => ({ taken: rounds, tooMany: 0 })));
    expect(semaphore.value).toBe(permits);
    expect(new Memory(arenaOf(semaphore)).long(semaphore.handle.address + at('O_COUNTER'))).toBe(BigInt(permits));
  });
});
