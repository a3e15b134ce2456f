/** The clauses of P0514R1, 32.10.1, about atomic_wait, atomic_signal and atomic_semaphore. */
import { Arena, DisposedError } from 'taketurns';
import {
  AtomicSemaphore,
  atomicSignal,
  atomicTryWait,
  atomicTryWaitFor,
  atomicTryWaitForAsync,
  atomicTryWaitUntil,
  atomicTryWaitUntilAsync,
  atomicWait,
  atomicWaitAsync,
  CountingSemaphore,
  Notify,
} from 'taketurns/p0514';
import { describe, expect, it } from 'vitest';
import { at, Memory } from '../support/memory.js';
import { watch } from '../support/settled.js';
import { Member, team } from '../support/team.js';
import { until } from '../support/until.js';

const crowd = team(4);
const member = (i: number) => crowd[i] as NonNullable<(typeof crowd)[0]>;

const arrays = [
  ['Int8Array', Int8Array, -1, 5],
  ['Uint8Array', Uint8Array, 255, 5],
  ['Uint8ClampedArray', Uint8ClampedArray, 255, 5],
  ['Int16Array', Int16Array, -300, 5],
  ['Uint16Array', Uint16Array, 65535, 5],
  ['Int32Array', Int32Array, -70000, 5],
  ['Uint32Array', Uint32Array, 4294967295, 5],
  ['BigInt64Array', BigInt64Array, -(2n ** 62n), 5n],
  ['BigUint64Array', BigUint64Array, 2n ** 64n - 1n, 5n],
  ['Float32Array', Float32Array, Math.fround(0.1), 5],
  ['Float64Array', Float64Array, 0.1, 5],
] as const;

type Maker = new (buffer: SharedArrayBuffer, offset: number, length: number) => Int32Array;
/** Makes an array in the middle of its buffer, full of one value. */
function make(Class: unknown, value: unknown): Int32Array {
  const array = new (Class as Maker)(new SharedArrayBuffer(256), 64, 8);
  return array.fill(value as number);
}

describe.each(arrays)('%s', (_, Class, old, next) => {
  it('14: atomic_try_wait reports whether the word has changed', () => {
    const array = make(Class, old);
    expect(atomicTryWait(array, 3, old as number)).toBe(false);
    expect(atomicTryWait(array, 3, next as number)).toBe(true);
    array[3] = next as number;
    expect(atomicTryWait(array, 3, old as number)).toBe(true);
    expect(atomicTryWait(array, 2, old as number)).toBe(false);
  });

  it('9, 18, 20: atomic_wait blocks until atomic_signal', async () => {
    const array = make(Class, old);
    const semaphore = new AtomicSemaphore();
    const args = { array, index: 3, old, arena: Arena.default.handle };
    const waits = [
      member(0).run('wait-for-word', { ...args, method: 'atomicWait' }),
      member(1).run('wait-for-word', { ...args, method: 'atomicWaitAsync' }),
      member(2).run('wait-for-word', { ...args, method: 'wait', handle: semaphore.handle }),
      member(3).run('wait-for-word', { ...args, method: 'waitAsync', handle: semaphore.handle }),
    ].map((wait, i) => watch(wait, i));
    // A signal without a change wakes no waiter for good.
    atomicSignal(array, 3);
    semaphore.signal(array, 3);
    array[3] = next as number;
    // The word is changed by a plain write, before an atomic access of this thread.
    Atomics.add(new Int32Array(new SharedArrayBuffer(4)), 0, 1);
    atomicSignal(array, 3);
    semaphore.signal(array, 3);
    await until(() => waits.every(({ state }) => state === 'fulfilled'), 'all are through');
  });
});

describe('9: notify', () => {
  it('one unblocks the waiter of this word, whichever others share its bucket', async () => {
    // With one slot, every word has the same bucket.
    const arena = new Arena({ slots: 1 });
    const words = new Int32Array(new SharedArrayBuffer(64));
    const waits = crowd.map((m, i) =>
      watch(
        m.run('wait-for-word', {
          array: words,
          index: 4 * i,
          old: 0,
          arena: arena.handle,
          method: i % 2 ? 'atomicWaitAsync' : 'atomicWait',
        }),
        i,
      ),
    );
    for (let i = 3; i >= 0; i--) {
      Atomics.store(words, 4 * i, 1);
      atomicSignal(words, 4 * i, Notify.one, { arena });
      await until(() => waits[i]?.state === 'fulfilled', `${i} is through`);
      for (let other = 0; other < i; other++) expect(waits[other]?.state).toBe('pending');
    }
  });

  it('none unblocks no waiter, and does not touch the table; a later signal does', async () => {
    const words = new Uint8Array(new SharedArrayBuffer(1));
    const semaphore = new AtomicSemaphore();
    const memory = new Memory(Arena.default);
    const sequence = () => memory.long(semaphore.handle.address + at('O_PLACE'));
    const wait = watch(semaphore.waitAsync(words, 0, 0), 0);
    await until(() => memory.word(semaphore.handle.address + at('O_PARKED')) === 1, 'it waits');
    Atomics.store(words, 0, 1);
    semaphore.signal(words, 0, Notify.none);
    atomicSignal(words, 0, Notify.none);
    expect(sequence()).toBe(0n);
    expect(wait.state).toBe('pending');
    semaphore.signal(words, 0);
    expect(sequence()).toBe(1n);
    await until(() => wait.state === 'fulfilled', 'it is through');
    expect(memory.word(semaphore.handle.address + at('O_PARKED'))).toBe(0);
    semaphore.signal(words, 0);
    expect(sequence()).toBe(1n);
  });

  it('is found through an array of another width over the same 8 bytes', async () => {
    const buffer = new SharedArrayBuffer(16);
    const wait = watch(atomicWaitAsync(new Int32Array(buffer), 3, 0), 0);
    Atomics.store(new BigInt64Array(buffer), 1, -1n);
    atomicSignal(new BigInt64Array(buffer), 1);
    await until(() => wait.state === 'fulfilled', 'it is through');
  });
});

describe('14: the comparison is that of the bits that Atomics load', () => {
  it('floats are compared by their bits: 0 and -0 differ', () => {
    for (const array of [make(Float32Array, 0), make(Float64Array, 0)]) {
      expect(atomicTryWait(array, 0, -0)).toBe(true);
      array[0] = Number.NaN;
      expect(atomicTryWait(array, 0, Number.NaN)).toBe(false);
    }
  });

  it.each([Float32Array, Float64Array, Uint8ClampedArray])('a %o grows with its memory', (Class) => {
    const Growable = SharedArrayBuffer as unknown as new (
      length: number,
      options: { maxByteLength: number },
    ) => SharedArrayBuffer & { grow(length: number): void };
    const buffer = new Growable(8, { maxByteLength: 64 });
    const words = new Class(buffer as never);
    expect(atomicTryWait(words, 0, 0)).toBe(false);
    buffer.grow(64);
    const last = words.length - 1;
    expect(atomicTryWait(words, last, 0)).toBe(false);
    words[last] = 1;
    expect(atomicTryWait(words, last, 0)).toBe(true);
  });

  it('bad arguments are errors', () => {
    const words = make(Int8Array, 0);
    expect(() => atomicTryWait(words, 0, 128)).toThrow('old must be a value that a Int8Array can hold, got 128');
    expect(() => atomicTryWait(make(Float32Array, 0), 0, 0.1)).toThrow(RangeError);
    expect(() => atomicTryWait(words, 0, 0n as never)).toThrow(TypeError);
    expect(() => atomicTryWait(make(BigInt64Array, 0n), 0, 0)).toThrow(/old must be a bigint/);
    expect(() => atomicTryWait(words, 8, 0)).toThrow('index must be an integer from 0 to 7, got 8');
    expect(() => atomicTryWait(words, 0.5, 0)).toThrow(RangeError);
    expect(() => atomicSignal(words, -1)).toThrow(RangeError);
    expect(() => atomicSignal(words, 0, 'any' as never)).toThrow(TypeError);
    expect(() => atomicSignal(new Int32Array(4), 0)).toThrow(/over shared memory/);
    expect(() => atomicWait([0] as never, 0, 0 as never)).toThrow(/a typed array/);
    expect(() => atomicWait(new DataView(words.buffer) as never, 0, 0 as never)).toThrow(TypeError);
    expect(() => atomicTryWaitFor(words, 0, 0, '-1' as never)).toThrow(TypeError);
    expect(() => atomicTryWaitFor(words, 0, 0, 2 ** 31)).toThrow(RangeError);
    expect(() => atomicTryWaitUntil(words, 0, 0, Number.NaN)).toThrow(RangeError);
    expect(() => atomicWait(words, 0, 1, { arena: {} as never })).toThrow(TypeError);
  });
});

describe('19: timed forms', () => {
  it('take a negative time as one that is over', async () => {
    const words = make(Int32Array, 0);
    for (const ms of [-1, -Infinity]) {
      expect([atomicTryWaitFor(words, 0, 0, ms), atomicTryWaitFor(words, 0, 1, ms)]).toEqual([false, true]);
      const place = new AtomicSemaphore();
      expect(await place.tryWaitForAsync(words, 0, 0, ms)).toBe(false);
      const semaphore = new CountingSemaphore(1);
      expect([semaphore.tryWaitFor(ms), semaphore.tryWaitFor(ms)]).toEqual([true, false]);
      expect(await semaphore.tryWaitForAsync(ms)).toBe(false);
    }
  });

  it('report a change at once, and false not before the time is over', async () => {
    const words = make(Int16Array, 7);
    const semaphore = new AtomicSemaphore();
    const begun = performance.now();
    expect(atomicTryWaitFor(words, 0, 7, 10)).toBe(false);
    expect(performance.now() - begun).toBeGreaterThanOrEqual(9);
    expect(atomicTryWaitFor(words, 0, 7, 0)).toBe(false);
    expect(atomicTryWaitUntil(words, 0, 7, Date.now() + 2)).toBe(false);
    expect(await atomicTryWaitForAsync(words, 0, 7, 2)).toBe(false);
    expect(await atomicTryWaitUntilAsync(words, 0, 7, Date.now() + 2)).toBe(false);
    expect(semaphore.tryWaitFor(words, 0, 7, 2)).toBe(false);
    expect(semaphore.tryWaitUntil(words, 0, 7, Date.now() + 2)).toBe(false);
    expect(await semaphore.tryWaitForAsync(words, 0, 7, 2)).toBe(false);
    expect(await semaphore.tryWaitUntilAsync(words, 0, 7, Date.now() + 2)).toBe(false);
    expect(atomicTryWaitFor(words, 0, 8, 10)).toBe(true);
    expect(semaphore.tryWaitUntil(words, 0, 8, 0)).toBe(true);
    expect(semaphore.tryWait(words, 0, 8)).toBe(true);
    expect(new Memory(Arena.default).word(semaphore.handle.address + at('O_PARKED'))).toBe(0);
  });

  it('true when signalled in time', async () => {
    const words = make(Int16Array, 0);
    const args = { array: words, index: 0, old: 0, arena: Arena.default.handle, ms: 1e6 };
    const waits = ['atomicTryWaitFor', 'atomicTryWaitForAsync'].map((method, i) =>
      member(i).run<boolean>('wait-for-word', { ...args, method }),
    );
    Atomics.store(words, 0, 1);
    atomicSignal(words, 0);
    expect(await Promise.all(waits)).toEqual([true, true]);
  });
});

describe('4: the destructor', () => {
  it('rejects all waiters, and frees the memory when all have gone', async () => {
    const words = make(Int32Array, 0);
    const semaphore = new AtomicSemaphore();
    const { handle } = semaphore;
    const memory = new Memory(Arena.default);
    const args = { array: words, index: 0, old: 0, arena: Arena.default.handle, handle };
    const waits = ['wait', 'waitAsync', 'wait'].map((method, i) =>
      watch(member(i).run('wait-for-word', { ...args, method }), i),
    );
    const own = watch(semaphore.waitAsync(words, 0, 0), 3);
    await until(() => memory.word(handle.address + at('O_PARKED')) === 4, 'all wait');
    semaphore.dispose();
    semaphore.dispose();
    await until(() => [...waits, own].every(({ state }) => state === 'rejected'), 'all are told');
    for (const { error } of [...waits, own]) expect(error).toMatchObject({ name: 'DisposedError' });
    expect(() => semaphore.wait(words, 0, 0)).toThrow(DisposedError);
    expect(() => semaphore.handle).toThrow(DisposedError);
    expect(() => AtomicSemaphore.from(handle)).toThrow(DisposedError);
    semaphore.signal(words, 0);
    await until(
      () => memory.long(handle.address + at('O_LIFE')) >> 32n === BigInt(handle.generation + 1),
      'all have let go',
    );
  });
});

describe('3 (note), 18: a lock on an atomic', () => {
  it.each([
    ['the free functions', 2048, false],
    ['the free functions, one slot', 1, false],
    ['an AtomicSemaphore', 2048, true],
  ] as const)('by %s keeps threads apart, and loses no wake-up', async (_, slots, own) => {
    const arena = new Arena({ slots });
    const semaphores = own ? [new AtomicSemaphore({ arena }), new AtomicSemaphore({ arena })] : undefined;
    const rounds = 2000;
    // One lock is in bytes and one in words, at the same offset of two buffers: they always have the same key.
    const locks = [new Int8Array(new SharedArrayBuffer(8)), new Int32Array(new SharedArrayBuffer(8))];
    const inside = new Int32Array(new SharedArrayBuffer(8));
    const barrier = new Int32Array(new SharedArrayBuffer(4));
    const tooMany = await Promise.all(
      crowd.map((m, index) =>
        m.run<number>('simple-lock', {
          lock: locks[index % 2],
          inside,
          which: index % 2,
          rounds,
          arena: arena.handle,
          handle: semaphores?.[index % 2]?.handle,
          barrier,
          parties: crowd.length,
          index,
        }),
      ),
    );
    expect(tooMany).toEqual([0, 0, 0, 0]);
  });

  it('a thread that ends with a waiting promise leaves nothing', async () => {
    const semaphore = new AtomicSemaphore();
    const memory = new Memory(Arena.default);
    const parked = () => memory.word(semaphore.handle.address + at('O_PARKED'));
    const words = make(Int32Array, 0);
    const { handle } = semaphore;
    await expect(new Member().run('exit-waiting', { array: words, handle })).rejects.toThrow('exited');
    await until(() => parked() === 0, 'it has left its place');
  });
});
